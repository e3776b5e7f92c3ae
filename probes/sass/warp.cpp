// SPDX-License-Identifier: Apache-2.0
// Exchange between the lanes of a warp: shuffle, vote, match, reduction, transposition.
//
// All lanes hold the same value, but for rows that say "different", where each xors its number in:
// some of these instructions take as long as there are values.

#include "probes/sass/rows.hpp"

namespace assay::scalar {
namespace {

constexpr Word kFullWarp = 0xffffffff;

StepBits same() {
  return [](Bits d, Bits, Bits, int) { return d; };
}

std::vector<InstructionRow> shuffle_rows() {
  const auto form = [](const std::string& name, const std::string& operands, const char* opcode) {
    return row("shfl/" + name, "shfl.sync." + operands + ", -1;", kWord, same(), one(opcode),
               {.d0 = 0x12345678, .a = 7});
  };
  return {form("idx_b32", "idx.b32 <d>, <d>, <a>, 31", "SHFL.IDX"),
          form("up_b32", "up.b32 <d>, <d>, 1, 0", "SHFL.UP"),
          form("down_b32", "down.b32 <d>, <d>, 1, 31", "SHFL.DOWN"),
          form("bfly_b32", "bfly.b32 <d>, <d>, 1, 31", "SHFL.BFLY"),
          form("bfly_b32_far", "bfly.b32 <d>, <d>, 16, 31", "SHFL.BFLY"),
          form("bfly_b32_segments_of_8", "bfly.b32 <d>, <d>, 1, 0x181f", "SHFL.BFLY")};
}

std::vector<InstructionRow> vote_rows() {
  const auto form = [](const std::string& name, const std::string& ptx, const char* opcode,
                       StepBits step) {
    return row("vote/" + name, ptx, kPredicate, std::move(step), one(opcode), {.d0 = 0});
  };
  const auto flip = [](Bits d, Bits, Bits, int) { return Bits{d == 0}; };
  const auto truth = [](Bits, Bits, Bits, int) { return Bits{1}; };
  return {
      form("any", "vote.sync.any.pred <d>, !<d>, -1;", "VOTE.ANY", flip),
      form("all", "vote.sync.all.pred <d>, !<d>, -1;", "VOTE.ALL", flip),
      form("uni", "vote.sync.uni.pred <d>, <d>, -1;", "VOTE.EQ", truth),
      per_step("ISETP + VOTE",
               row("vote/ballot",
                   "{ .reg .pred %p; setp.lt.u32 %p, <d>, <a>; "
                   "vote.sync.ballot.b32 <d>, %p, -1; }",
                   kWord, lanes<Word>([](Word d, Word a, Word) { return d < a ? kFullWarp : 0; }),
                   each_of({{"ISETP.GE.U32", 1}, {"VOTE.ANY", 1}}), {.d0 = 1, .a = 5}))};
}

std::vector<InstructionRow> match_rows() {
  const auto everyone = [](Bits, Bits, Bits, int) { return Bits{kFullWarp}; };
  const auto everyone_twice = [](Bits, Bits, Bits, int) { return ~Bits{0}; };
  return {row("match/any_b32", "match.any.sync.b32 <d>, <d>, -1;", kWord, everyone,
              one("MATCH.ANY"), {.d0 = 5}),
          // Each lane matches itself alone.
          per_step("MATCH + LOP3", row("match/any_b32_different",
                                       "{ .reg .b32 %t; mov.u32 %t, %laneid; xor.b32 <d>, <d>, %t; "
                                       "match.any.sync.b32 <d>, <d>, -1; mov.u32 %t, %lanemask_eq; "
                                       "xor.b32 <d>, <d>, %t; }",
                                       kWord, [](Bits, Bits, Bits, int) { return Bits{0}; },
                                       one("MATCH.ANY"), {.d0 = 64})),
          row("match/all_b32", "{ .reg .pred %p; match.all.sync.b32 <d>|%p, <d>, -1; }", kWord,
              everyone, one("MATCH.ALL"), {.d0 = 5}),
          per_step("MATCH.U64 + moves",
                   row("match/any_b64",
                       "{ .reg .b32 %t; match.any.sync.b64 %t, <d>, -1; mov.b64 <d>, {%t, %t}; }",
                       kDoubleWord, everyone_twice, one("MATCH.ANY.U64"), {.d0 = 5})),
          per_step("MATCH.U64 + moves",
                   row("match/all_b64",
                       "{ .reg .b32 %t; .reg .pred %p; match.all.sync.b64 %t|%p, <d>, -1; "
                       "mov.b64 <d>, {%t, %t}; }",
                       kDoubleWord, everyone_twice, one("MATCH.ALL.U64"), {.d0 = 5}))};
}

// The result is in a uniform register, from where a move brings it back; minima and maxima are
// another instruction on some targets.
std::vector<InstructionRow> reduction_rows() {
  const auto form = [](const std::string& name, const std::string& operation, const char* opcode,
                       const char* with_credux, StepBits step, Values values) {
    const auto with_move = [](const char* reduction) {
      return each_of({{reduction, 1}, {"MOV|IMAD.U32|IMAD.MOV|UMOV", 1}});
    };
    return per_step(
        std::string(opcode) + " + move",
        row("redux/" + name, "redux.sync." + operation + " <d>, <d>, -1;", kWord, std::move(step),
            by_feature(Feature::credux, with_move(with_credux), with_move(opcode)), values));
  };
  const auto sum = lanes<Word>([](Word d, Word, Word) { return 32 * d; });
  const auto zero = [](Bits, Bits, Bits, int) { return Bits{0}; };
  constexpr Values kStart{.d0 = 0x12345};
  std::vector<InstructionRow> all = {
      form("add_u32", "add.u32", "REDUX.SUM", "REDUX.SUM", sum, kStart),
      form("add_s32", "add.s32", "REDUX.SUM.S32", "REDUX.SUM.S32", sum, kStart),
      form("min_u32", "min.u32", "REDUX.MIN", "CREDUX.MIN", same(), kStart),
      form("max_u32", "max.u32", "REDUX.MAX", "CREDUX.MAX", same(), kStart),
      form("min_s32", "min.s32", "REDUX.MIN.S32", "CREDUX.MIN.S32", same(), kStart),
      form("max_s32", "max.s32", "REDUX.MAX.S32", "CREDUX.MAX.S32", same(), kStart),
      form("and_b32", "and.b32", "REDUX", "REDUX", same(), kStart),
      form("or_b32", "or.b32", "REDUX.OR", "REDUX.OR", same(), kStart),
      form("xor_b32", "xor.b32", "REDUX.XOR", "REDUX.XOR", zero, kStart)};
  const auto of_floats = [&](const std::string& name, const std::string& operation,
                             const char* opcode) {
    InstructionRow made = form(name, operation, opcode, opcode, same(), {.d0 = 1.5});
    made.chain = kF32;
    return made;
  };
  all.push_back(per_step("REDUX + move + LOP3",
                         row("redux/add_u32_different",
                             "{ .reg .b32 %t; mov.u32 %t, %laneid; xor.b32 <d>, <d>, %t; "
                             "redux.sync.add.u32 <d>, <d>, -1; }",
                             kWord, lanes<Word>([](Word d, Word, Word) {
                               Word sum = 0;
                               for (Word lane = 0; lane < 32; ++lane) sum += d ^ lane;
                               return sum;
                             }),
                             each_of({{"REDUX.SUM", 1}, {"LOP3", 1}}), {.d0 = 0x12345})));
  return joined({all, only_with(Feature::redux_f32,
                                {of_floats("min_f32", "min.f32", "CREDUX.MIN.F32"),
                                 of_floats("max_f32", "max.f32", "CREDUX.MAX.F32"),
                                 of_floats("max_f32_abs", "max.abs.f32", "CREDUX.MAXABS.F32"),
                                 of_floats("max_f32_nan", "max.NaN.f32", "CREDUX.MAX.F32.NAN")})});
}

// On some targets ptxas puts beside the loop a way for warps found divergent (BRA.DIV), where
// routines are called; the loop that a whole warp takes holds the instruction itself.
std::vector<InstructionRow> with_way_for_divergence(std::vector<InstructionRow> rows) {
  for (InstructionRow& row : rows) {
    row.calls = [](Target target) { return has(target, Feature::divergence_routines); };
    row.sass = [sass = row.sass](Target target) {
      std::vector<SassRule> rules = sass(target);
      if (has(target, Feature::divergence_routines))
        for (SassRule& rule : rules) rule.at_most = INT_MAX;
      return rules;
    };
  }
  return rows;
}

}  // namespace

std::vector<InstructionRow> warp_rows() {
  return joined({with_way_for_divergence(
                     joined({shuffle_rows(), vote_rows(), match_rows(), reduction_rows()})),
                 {row("movm/b16", "movmatrix.sync.aligned.m8n8.trans.b16 <d>, <d>;", kF16x2, same(),
                      one("MOVM.16.MT88"))}});
}

}  // namespace assay::scalar
