// SPDX-License-Identifier: Apache-2.0
// Instructions on random inputs, to be run on silicon and in the model and compared bit by bit.
//
// A form is a kernel that reads its inputs, executes one instruction, and writes what it left. Each
// of its CTAs is a case with inputs of its own. scripts/record_golden.py runs the forms on a GPU;
// of every case a hash of the outputs is kept (silicon.txt).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::model::golden {

// How far an approximation may be from the right number: |right| * relative + absolute.
struct Approximation {
  std::string type;
  double relative = 0, absolute = 0;
  std::vector<std::uint64_t> right;  // of each value that is left, as bits
  std::vector<bool> stated;          // whether there is a bound for its arguments
};

struct Form {
  std::string name;
  std::string ptx;  // a module with the kernel `form`
  int cases = 0;    // CTAs, or clusters
  int threads = 32;
  int shared_bytes = 0;  // dynamic
  std::vector<std::uint8_t> input;
  int output_bytes = 0;  // of one case
  // A tensor map at the input's begin: its address is that of the input or output plus this.
  int map_of_input = -1, map_of_output = -1;
  // What a case leaves are small numbers of so many bits, and silicon.txt keeps each; 0: the hash.
  int values_of = 0;
  Approximation approximation = {};
};

// splitmix64: the same numbers everywhere.
class Random {
 public:
  explicit Random(std::string_view name) {
    for (const char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  }
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  }
  std::uint64_t below(std::uint64_t n) { return next() % n; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325ull;
};

// How inputs are drawn: any bits; floating-point numbers near 1 with now and then a special one;
// special ones most of the time.
enum class Draw : std::uint8_t {
  bits,
  f32,
  f64,
  f16,
  bf16,
  e4m3,
  e5m2,
  small,
  special_f32,
  special_f64,
  special_f16,
  special_bf16
};

// A word of 32 bits, filled with numbers of the kind.
std::uint32_t draw(Random& random, Draw kind);

// One instruction of one thread: `body` reads %a0, %a1, ... (32 bits) and %q0, %q1, ... (64 bits,
// of pairs of them), and writes %o0, ... Register k is drawn as the k-th of `kinds`, or as its
// last.
Form thread_form(const std::string& name, const std::string& body, int outputs,
                 std::vector<Draw> kinds = {Draw::bits}, const std::string& declarations = {});
inline Form thread_form(const std::string& name, const std::string& body, int outputs, Draw kind,
                        const std::string& declarations = {}) {
  return thread_form(name, body, outputs, std::vector<Draw>{kind}, declarations);
}

// Instructions that make metadata of a sparse A in register `to`, any that are valid, out of the
// number in `from`; `x` and `y` are written too.
std::string metadata(const std::string& type, const std::string& from, const std::string& to,
                     const std::string& x, const std::string& y);

std::vector<Form> integer_forms();
std::vector<Form> floating_forms();
std::vector<Form> conversion_forms();
std::vector<Form> warp_forms();
std::vector<Form> matrix_forms();
std::vector<Form> wgmma_forms();
std::vector<Form> load_forms();
std::vector<Form> store_forms();
std::vector<Form> atomic_forms();
std::vector<Form> comparison_forms();
std::vector<Form> bit_forms();
std::vector<Form> approximate_forms();
std::vector<Form> async_forms();
std::vector<Form> together_forms();
std::vector<Form> tensor_map_forms();
std::vector<Form> more_tensor_forms();
std::vector<Form> wmma_forms();
std::vector<Form> measured_forms();
std::vector<Form> special_forms();
std::vector<Form> more_matrix_forms();
std::vector<Form> all_forms();

}  // namespace assay::model::golden
