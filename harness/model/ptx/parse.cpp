// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "harness/model/ptx/body.hpp"

namespace assay::model {

bool Instruction::has(std::string_view part) const {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

bool parse_type(std::string_view word, Type& type) {
  if (word == "pred") {
    type = {Type::Kind::predicate, 1};
    return true;
  }
  if (word.size() < 2) return false;
  Type::Kind kind{};
  switch (word[0]) {
    case 'b':
      kind = Type::Kind::bits;
      break;
    case 'u':
      kind = Type::Kind::unsigned_;
      break;
    case 's':
      kind = Type::Kind::signed_;
      break;
    case 'f':
      kind = Type::Kind::floating;
      break;
    default:
      return false;
  }
  int bits = 0;
  for (char c : word.substr(1)) {
    if (c < '0' || c > '9' || bits > 100) return false;
    bits = bits * 10 + (c - '0');
  }
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128) return false;
  type = {kind, bits};
  return true;
}

namespace {

class Parser : public BodyReader {
 public:
  using BodyReader::BodyReader;

  Module parse() {
    while (peek().kind != Token::Kind::end) top_level();
    return std::move(module_);
  }

 private:
  void top_level() {
    if (accept(";")) return;
    const std::string directive = word();
    if (directive == ".version") {
      module_.version = std::string(next().text);
    } else if (directive == ".target") {
      module_.target = std::string(next().text);
      while (accept(",")) next();
    } else if (directive == ".address_size") {
      integer();
    } else if (directive == ".file") {
      file();
    } else if (directive == ".section") {
      while (peek().text != "{" && peek().kind != Token::Kind::end) next();
      skip_braces();
    } else if (directive == ".pragma" || directive == ".alias") {
      skip_statement();
    } else {
      back();
      declaration();
    }
  }

  void file() {
    const auto index = static_cast<int>(integer());
    if (peek().kind != Token::Kind::string) fail("expected a file name");
    module_.files[index] = std::string(next().text);
    while (accept(",")) integer();
  }

  // Linking words, then a variable or a function.
  void declaration() {
    bool external = false;
    for (;;) {
      const std::string at(peek().text);
      if (at == ".visible" || at == ".weak" || at == ".common" || at == ".noreturn") {
        next();
      } else if (at == ".extern") {
        external = true;
        next();
      } else {
        break;
      }
    }
    if (peek().text == ".entry" || peek().text == ".func") {
      function();
    } else if (auto space = state_space(peek().text)) {
      next();
      Variable v = variable(*space);
      v.external = external;
      module_.variables.push_back(std::move(v));
      while (accept(",")) module_.variables.push_back(variable_of_same_kind());
      expect(";");
    } else {
      fail("expected a function or a variable");
    }
  }

  std::vector<Variable> parameters() {
    std::vector<Variable> list;
    expect("(");
    while (!accept(")")) {
      if (accept(".reg")) {
        fail("parameters in registers are not modelled");
      }
      expect(".param");
      list.push_back(variable(Variable::Space::parameter));
      accept(",");
      if (peek().kind == Token::Kind::end) fail("a parameter list has no end");
    }
    return list;
  }

  void function() {
    auto f = std::make_unique<Function>();
    f->entry = word() == ".entry";
    if (peek().text == "(") f->results = parameters();
    f->name = word();
    if (peek().text == "(") f->parameters = parameters();
    for (;;) {
      const std::string at(peek().text);
      if (at == ".maxntid" || at == ".reqntid") {
        triple(f->max_threads);
      } else if (at == ".reqnctapercluster") {
        triple(f->required_cluster);
      } else if (at == ".explicitcluster") {
        next();
        f->explicit_cluster = true;
      } else if (at == ".minnctapersm") {
        next();
        f->min_ctas = static_cast<int>(integer());
      } else if (at == ".maxnreg" || at == ".maxclusterrank") {
        next();
        integer();
      } else if (at == ".noreturn" || at == ".blocksareclusters") {
        next();
      } else if (at == ".pragma") {
        skip_statement();
      } else {
        break;
      }
    }
    if (accept(";")) {  // a declaration
      if (!module_.function_of.contains(f->name)) module_.function_of[f->name] = std::move(f);
      return;
    }
    expect("{");
    const auto known = module_.function_of.find(f->name);
    if (known != module_.function_of.end() && !known->second->body.empty())
      fail("'" + f->name + "' has a body already");
    body(*f);
    module_.function_of[f->name] = std::move(f);
  }
  void triple(int (&values)[3]) {
    next();
    for (int& value : values) value = 1;
    for (int& value : values) {
      value = static_cast<int>(integer());
      if (!accept(",")) break;
    }
  }

  Module module_;
};

}  // namespace

Module parse_ptx(std::string_view text) { return Parser(text).parse(); }

}  // namespace assay::model
