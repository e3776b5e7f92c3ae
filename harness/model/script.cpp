// SPDX-License-Identifier: Apache-2.0
#include "harness/model/script.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <random>
#include <sstream>

#include "harness/model/copy/tensor_map.hpp"
#include "harness/model/semantics/number.hpp"

namespace assay::model {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Violation("arguments", "argument '" + text + "': " + why +
                                   "; write u32:16, f32:0.5, bf16[256x64], f32[1024]=zero, "
                                   "u8[64]=none or map(0, box=64x64, swizzle=128)");
}

// Words between commas, without blanks.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (const char c : text) {
    if (words.empty()) words.emplace_back();
    if (c == ',')
      words.emplace_back();
    else if (c != ' ')
      words.back() += c;
  }
  return words;
}

std::vector<std::uint64_t> extents(const std::string& all, const std::string& text) {
  std::vector<std::uint64_t> values;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t used = 0;
    try {
      values.push_back(std::stoull(text.substr(at), &used));
    } catch (const std::exception&) {
      refuse(all, "'" + text + "' is no extent");
    }
    at += used;
    if (at < text.size() && text[at] != 'x') refuse(all, "'" + text + "' is no extent");
    ++at;
  }
  if (values.empty() || values.size() > 5) refuse(all, "an array has 1 to 5 extents");
  return values;
}

struct Made {
  Address address = 0;
  Number type;
  std::string type_name;
  std::vector<std::uint64_t> extents;  // outermost first
};

// The type that arguments and elements of arrays may have: whole bytes, one number.
bool parse_element(const std::string& word, Number& type) {
  return parse_number(word, type) && type.count == 1 && type.bits % 8 == 0 && type.bits <= 64;
}

Made make_array(Gpu& gpu, const std::string& text, std::size_t index, std::mt19937_64& generator) {
  Made made;
  const auto open = text.find('['), close = text.find(']');
  made.type_name = text.substr(0, open);
  if (!parse_element(made.type_name, made.type))
    refuse(text, "'" + made.type_name + "' is no type");
  made.extents = extents(text, text.substr(open + 1, close - open - 1));
  std::uint64_t count = 1;
  const auto width = static_cast<std::size_t>(made.type.bits / 8);
  for (const std::uint64_t e : made.extents) {
    if (e == 0) refuse(text, "the array has no elements");
    if (e > (std::uint64_t{1} << 31) / width / count) refuse(text, "the array is too large");
    count *= e;
  }
  made.address = gpu.allocate("argument " + std::to_string(index), count * width);
  const std::string fill = text.substr(close + 1);
  if (fill == "=none") return made;
  if (!fill.empty() && fill != "=zero" && fill != "=random")
    refuse(text, "'" + fill + "' is no filling");
  std::vector<std::uint8_t> bytes(count * width, 0);
  if (fill != "=zero") {
    std::normal_distribution<double> normal(0, made.type.floating() ? 1 : 32);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t bits = from_double(made.type, normal(generator), Rounding::nearest, true);
      std::memcpy(bytes.data() + i * width, &bits, width);
    }
  }
  gpu.write(made.address, bytes);
  return made;
}

TensorMapBytes make_map(const std::string& text, const std::vector<Made>& arrays) {
  if (!text.ends_with(')')) refuse(text, "a map ends with ')'");
  auto words = split(text.substr(4, text.size() - 5));
  if (words.empty()) words.emplace_back();
  char* end = nullptr;
  const std::size_t index = std::strtoul(words[0].c_str(), &end, 10);
  if (words[0].empty() || *end != '\0' || index >= arrays.size() || arrays[index].address == 0)
    refuse(text, "argument '" + words[0] + "' is no array");
  const Made& of = arrays[index];
  TensorMap map;
  static constexpr std::pair<const char*, MapElement> kTypes[] = {
      {"u8", MapElement::u8},   {"e4m3", MapElement::u8},  {"e5m2", MapElement::u8},
      {"s8", MapElement::u8},   {"u16", MapElement::u16},  {"u32", MapElement::u32},
      {"s32", MapElement::s32}, {"f16", MapElement::f16},  {"f32", MapElement::f32},
      {"f64", MapElement::f64}, {"bf16", MapElement::bf16}};
  bool known = false;
  for (const auto& [name, element] : kTypes)
    if (of.type_name == name) {
      map.type = element;
      known = true;
    }
  if (!known) refuse(text, "a tensor map of " + of.type_name);
  map.rank = static_cast<int>(of.extents.size());
  map.address = of.address;
  std::uint64_t stride = static_cast<std::uint64_t>(of.type.bits / 8);
  for (std::size_t i = 0; i < of.extents.size(); ++i) {
    map.extents[i] = of.extents[of.extents.size() - 1 - i];
    stride *= map.extents[i];
    if (i + 1 < of.extents.size()) map.strides[i] = stride;
  }
  for (std::size_t k = 1; k < words.size(); ++k) {
    const auto equals = words[k].find('=');
    const std::string key = words[k].substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : words[k].substr(equals + 1);
    if (key == "box") {
      const auto box = extents(text, value);
      if (box.size() != of.extents.size()) refuse(text, "the box has another rank than the array");
      for (const std::uint64_t extent : box)
        if (extent > 256) refuse(text, "a box has at most 256 elements in a dimension");
      for (std::size_t i = 0; i < box.size(); ++i)
        map.box[i] = static_cast<std::uint32_t>(box[box.size() - 1 - i]);
    } else if (key == "swizzle") {
      if (value != "0" && value != "32" && value != "64" && value != "128")
        refuse(text, "a swizzle is 0, 32, 64 or 128");
      map.swizzle = value == "32"    ? MapSwizzle::bytes32
                    : value == "64"  ? MapSwizzle::bytes64
                    : value == "128" ? MapSwizzle::bytes128
                                     : MapSwizzle::none;
    } else {
      refuse(text, "'" + key + "' is no property of a map");
    }
  }
  return encode(map);
}

// Throws Violation where the type cannot hold it: what is cut off without a word is another launch.
std::uint64_t integer(const std::string& text, const Number& type, const std::string& value) {
  if (value.empty() || (value[0] != '-' && (value[0] < '0' || value[0] > '9')))
    refuse(text, "'" + value + "' is no number");
  const bool is_signed = type.kind == Number::Kind::signed_;
  const bool negative = value.starts_with('-');
  const std::uint64_t all = type.bits >= 64 ? ~0ULL : (1ULL << type.bits) - 1;
  char* end = nullptr;
  errno = 0;
  const std::uint64_t bits = std::strtoull(value.c_str(), &end, 0);  // of "-1" the complement
  if (end == value.c_str() || *end != '\0') refuse(text, "'" + value + "' is no number");
  const std::uint64_t size = negative ? 0 - bits : bits;
  const std::uint64_t most = negative ? (is_signed ? all / 2 + 1 : 0) : is_signed ? all / 2 : all;
  if (errno == ERANGE || size > most)
    refuse(text, "'" + value + "' is beyond " + std::to_string(type.bits) +
                     (is_signed ? " bits with a sign" : " bits without a sign"));
  return bits;
}

}  // namespace

std::vector<Argument> make_arguments(Gpu& gpu, const std::vector<std::string>& texts,
                                     std::uint64_t seed) {
  std::vector<Argument> arguments;
  const auto push = [&](const void* value, std::size_t bytes, std::size_t align) {
    const auto* first = static_cast<const std::uint8_t*>(value);
    arguments.push_back({{first, first + bytes}, align});
  };
  std::vector<Made> arrays;
  std::mt19937_64 generator(seed + 1);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i];
    arrays.emplace_back();
    if (text.starts_with("map(")) {
      const TensorMapBytes map = make_map(text, arrays);
      push(&map, 128, 128);
    } else if (text.find('[') != std::string::npos && text.find(']') != std::string::npos) {
      arrays.back() = make_array(gpu, text, i, generator);
      push(&arrays.back().address, 8, 8);
    } else {
      const auto colon = text.find(':');
      Number type;
      if (colon == std::string::npos || !parse_element(text.substr(0, colon), type))
        refuse(text, "it is neither a number nor an array");
      const std::string value = text.substr(colon + 1);
      std::uint64_t bits = 0;
      if (type.floating()) {
        char* end = nullptr;
        bits = from_double(type, std::strtod(value.c_str(), &end));
        if (end == value.c_str() || *end != '\0') refuse(text, "'" + value + "' is no number");
      } else {
        bits = integer(text, type, value);
      }
      const auto width = static_cast<std::size_t>(type.bits / 8);
      push(&bits, width, width);
    }
  }
  return arguments;
}

Arguments parse_arguments(Gpu& gpu, const std::vector<std::string>& texts, std::uint64_t seed) {
  Arguments all;
  for (const Argument& a : make_arguments(gpu, texts, seed))
    all.push(a.bytes.data(), a.bytes.size(), a.align);
  return all;
}

Launch parse_launch(const std::string& text, const Launch& before) {
  Launch launch = before;
  launch.shape.early = false;
  const auto no = [&](const std::string& why) {
    throw Violation("arguments", "launch '" + text + "': " + why +
                                     "; write second(0, 2), early, grid=4x2, block=256");
  };
  const auto number = [&](const std::string& word, const std::string& value) {
    int n = 0;
    const char* end = value.data() + value.size();
    const auto [at, error] = std::from_chars(value.data(), end, n);
    if (error != std::errc{} || at != end || n < 0) no("'" + word + "' has no number");
    return n;
  };
  std::string rest = text;
  const auto open = text.find('('), close = text.find(')');
  if (open != text.npos && close != text.npos && open < close) {
    launch.places.clear();
    launch.all = false;
    for (const std::string& word : split(text.substr(open + 1, close - open - 1)))
      launch.places.push_back(static_cast<std::size_t>(number(word, word)));
    rest = text.substr(0, open) + text.substr(close + 1);
  }
  const auto words = split(rest);
  if (words.empty() || words[0].empty()) no("it names no kernel");
  launch.kernel = words[0];
  for (std::size_t k = 1; k < words.size(); ++k) {
    const auto equals = words[k].find('=');
    const std::string key = words[k].substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : words[k].substr(equals + 1);
    std::array<int, 3>* const shape = key == "grid"      ? &launch.shape.grid
                                      : key == "block"   ? &launch.shape.block
                                      : key == "cluster" ? &launch.shape.cluster
                                                         : nullptr;
    if (shape != nullptr) {
      *shape = {1, 1, 1};
      std::istringstream all(value);
      std::size_t at = 0;
      for (std::string part; std::getline(all, part, 'x'); ++at) {
        if (at == 3) no("'" + words[k] + "' has more than three dimensions");
        (*shape)[at] = number(words[k], part);
      }
      if (at == 0) no("'" + words[k] + "' has no number");
    } else if (key == "shared") {
      launch.shape.dynamic_shared_bytes = static_cast<std::uint32_t>(number(words[k], value));
    } else if (words[k] == "early") {
      launch.shape.early = true;
    } else {
      no("'" + words[k] + "' is none of early, grid=, block=, cluster= and shared=");
    }
  }
  return launch;
}

namespace {

// Where the last parameter of a kernel ends.
std::size_t parameter_bytes(const Function& kernel) {
  std::size_t bytes = 0;
  for (const Variable& p : kernel.parameters) {
    const auto align = static_cast<std::size_t>(std::max(p.align, 1));
    bytes = (bytes + align - 1) / align * align + static_cast<std::size_t>(p.bytes);
  }
  return bytes;
}

}  // namespace

Outcome run_launches(Gpu& gpu, const std::vector<Launch>& launches,
                     const std::vector<std::string>& arguments, const Options& options) {
  const std::vector<Argument> made = make_arguments(gpu, arguments, options.seed);
  std::vector<Arguments> arguments_of;
  std::vector<bool> taken(made.size());
  for (const Launch& launch : launches) {
    const std::string kernel = gpu.kernel(launch.kernel);
    const std::size_t bytes = parameter_bytes(gpu.function(kernel));
    Arguments& own = arguments_of.emplace_back();
    for (const std::size_t place : launch.places) {
      if (place >= made.size())
        throw Violation("arguments", launch.kernel + " takes argument " + std::to_string(place) +
                                         ", and there are " + std::to_string(made.size()) +
                                         ", counted from 0");
      own.push(made[place].bytes.data(), made[place].bytes.size(), made[place].align);
      const bool fits = own.bytes().size() <= bytes;
      if (!fits && !launch.all)
        throw Violation("arguments", kernel + " takes " + std::to_string(bytes) +
                                         " bytes of arguments, which end before argument " +
                                         std::to_string(place) + ", counted from 0");
      taken[place] = taken[place] || fits;
    }
  }
  if (const auto left = std::ranges::find(taken, false); left != taken.end()) {
    const auto place = static_cast<std::size_t>(left - taken.begin());
    throw Violation("arguments", "argument " + std::to_string(place) + ", counted from 0, '" +
                                     arguments[place] + "', is more than the kernel takes");
  }
  Outcome all;
  for (std::size_t k = 0; k < launches.size(); ++k) {
    const Launch& launch = launches[k];
    Options with = options;
    if (k + 1 < launches.size()) with.trace = nullptr;
    Outcome one = gpu.launch(gpu.kernel(launch.kernel), launch.shape, arguments_of[k], with);
    std::ranges::move(one.findings, std::back_inserter(all.findings));
    all.instructions += one.instructions;
    all.operations += one.operations;
    all.finished = one.finished;
    all.second.insert(one.second.begin(), one.second.end());
    if (!one.finished) break;
  }
  return all;
}

}  // namespace assay::model
