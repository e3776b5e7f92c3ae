// SPDX-License-Identifier: Apache-2.0
// Golden forms of copies: boxes of tensors to and from shared memory, plain bytes, reductions,
// atomics.
#include <algorithm>
#include <cstring>

#include "harness/model/copy/box.hpp"
#include "harness/model/copy/tensor_map.hpp"
#include "harness/model/tests/golden/forms.hpp"
#include "harness/model/violation.hpp"

namespace assay::model::golden {
namespace {

using std::string;

constexpr int kRoom = 16384;  // bytes of shared memory that are compared
constexpr int kCases = 16;
constexpr int kTensorAt = 1024;  // in the input, behind the map and the coordinates of each case

constexpr const char* kNames[] = {"u8",  "u16", "u32",  "s32",     "u64",  "s64",     "f16",
                                  "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz"};

std::uint64_t bytes_of(const TensorMap& m) {
  std::uint64_t last = global_bits(m.type) / 8 * m.extents[0];
  for (int i = 1; i < m.rank; ++i)
    last = m.strides[static_cast<std::size_t>(i - 1)] * m.extents[static_cast<std::size_t>(i)];
  return last;
}

string label(const TensorMap& m) {
  string text = string(kNames[static_cast<int>(m.type)]) + "/" + std::to_string(m.rank) + "d/";
  for (int i = 0; i < m.rank; ++i)
    text += (i ? "x" : "") + std::to_string(m.extents[static_cast<std::size_t>(i)]);
  if (m.mode == MapMode::tiled) {
    text += "/box";
    for (int i = 0; i < m.rank; ++i)
      text += (i ? "x" : "") + std::to_string(m.box[static_cast<std::size_t>(i)]);
  } else {
    text += "/c" + std::to_string(m.channels) + "p" + std::to_string(m.pixels);
  }
  for (int i = 0; i < m.rank; ++i)
    text += (i ? "" : "/e") + std::to_string(m.steps[static_cast<std::size_t>(i)]);
  return text + "/s" + std::to_string(static_cast<int>(m.swizzle)) + (m.fill_nan ? "/nan" : "");
}

// Strides without gaps but for 16 or 32 bytes.
TensorMap tensor(MapElement type, std::vector<std::uint64_t> extents,
                 std::vector<std::uint32_t> box, MapSwizzle swizzle) {
  TensorMap m;
  m.type = type;
  m.rank = static_cast<int>(extents.size());
  std::uint64_t stride = extents[0] * global_bits(type) / 8;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    m.extents[i] = extents[i];
    if (i < box.size()) m.box[i] = box[i];
    if (i == 0)
      stride = (stride + 15) / 16 * 16 + 16;
    else
      stride *= extents[i];
    if (i + 1 < extents.size()) m.strides[i] = stride;
  }
  m.swizzle = swizzle;
  return m;
}

string head(const string& extra) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 room[" +
         std::to_string(kRoom) +
         "];\n.shared .align 8 .b64 bar;\n"
         ".visible .entry form(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %in, %out, %off, %x, "
         "%m;\n.reg .b32 %t, %c, %i, %s, %b, %w<4>, %k<8>;\n.reg .pred %p, %one;\n.reg .b16 "
         "%h<3>;\n" +
         extra +
         "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\nmov.u32 %c, "
         "%ctaid.x;\nmov.u32 %s, room;\nmov.u32 %b, bar;\nmov.b64 %m, %in;\nsetp.eq.u32 %one, %t, "
         "0;\n"
         "mul.wide.u32 %off, %c, 32;\nadd.s64 %x, %in, %off;\n"
         "ld.global.v4.u32 {%k0, %k1, %k2, %k3}, [%x+128];\nld.global.v4.u32 {%k4, %k5, %k6, %k7}, "
         "[%x+144];\n";
}

const char* kFill =  // shared memory with a pattern, then an mbarrier
    "mov.u32 %i, 0;\n$fill:\nmad.lo.u32 %w0, %t, 4, %i;\nadd.u32 %w1, %w0, %s;\nmul.lo.u32 %w2, "
    "%w0, 0x9e3779b1;\nst.shared.u32 [%w1], %w2;\nadd.u32 %i, %i, 128;\nsetp.lt.u32 %p, %i, "
    "16384;\n@%p bra $fill;\n"
    "@%one mbarrier.init.shared::cta.b64 [%b], 1;\n@%one "
    "fence.mbarrier_init.release.cluster;\nfence.proxy.async;\nbar.sync 0;\n";
const char* kWait =
    "$wait:\nmbarrier.try_wait.parity.shared::cta.b64 %p, [%b], 0;\n@!%p bra $wait;\n";
const char* kCopyOut =  // what shared memory holds
    "bar.sync 0;\nmul.wide.u32 %off, %c, 16384;\nadd.s64 %out, %out, %off;\nmul.wide.u32 %off, %t, "
    "4;\nadd.s64 %out, %out, %off;\nmov.u32 %i, 0;\n"
    "$copy:\nmad.lo.u32 %w0, %t, 4, %i;\nadd.u32 %w1, %w0, %s;\nld.shared.u32 %w2, "
    "[%w1];\nst.global.u32 [%out], %w2;\nadd.s64 %out, %out, 128;\nadd.u32 %i, %i, "
    "128;\nsetp.lt.u32 %p, %i, 16384;\n@%p bra $copy;\nret;\n}\n";

void put(Form& f, std::size_t at, const void* from, std::size_t bytes) {
  if (f.input.size() < at + bytes) f.input.resize(at + bytes);
  std::memcpy(f.input.data() + at, from, bytes);
}

// Map, coordinates of each case around the tensor's edges, and the tensor's random bytes.
void fill(Form& f, TensorMap m, std::uint64_t tensor_bytes) {
  m.address = 0x100000;  // patched where the form runs
  const TensorMapBytes map = encode(m);
  put(f, 0, map.data(), 128);
  Random random(f.name);
  for (int c = 0; c < f.cases; ++c)
    for (int i = 0; i < 8; ++i) {
      std::int32_t at = 0;
      if (i < m.rank) {
        const auto extent = static_cast<std::int64_t>(m.extents[static_cast<std::size_t>(i)]);
        const auto box =
            static_cast<std::int64_t>(m.mode == MapMode::tiled ? m.box[static_cast<std::size_t>(i)]
                                      : i == 0                 ? m.channels
                                                               : 4);
        at = static_cast<std::int32_t>(
            static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(extent + 2 * box))) -
            box);
        if (c == 0) at = 0;
        if (m.mode != MapMode::tiled) {
          // Of im2col the corners bound the first pixel.
          const bool corner = i > 0 && i < m.rank - 1;
          const auto k = static_cast<std::size_t>(corner ? i - 1 : 0);
          const std::int64_t least = corner ? m.lower[k] : 0;
          const std::int64_t most = extent + (corner ? m.upper[k] : 0);
          at = static_cast<std::int32_t>(least + static_cast<std::int64_t>(random.below(
                                                     static_cast<std::uint64_t>(most - least))));
        }
        // Silicon stops at a first coordinate that is not on 16 bytes of its row.
        const auto unit = static_cast<std::int32_t>(std::max(1u, 128 / global_bits(m.type)));
        if (i == 0) at = at / unit * unit;
      } else if (i >= 5) {
        at = static_cast<std::int32_t>(random.below(3));  // im2col offsets
      }
      put(f, static_cast<std::size_t>(128 + c * 32 + i * 4), &at, 4);
    }
  f.input.resize(kTensorAt + tensor_bytes + 64);
  for (std::size_t at = kTensorAt; at < f.input.size(); ++at)
    f.input[at] = static_cast<std::uint8_t>(random.next() >> 20);
  // Numbers, where they are numbers: reductions must not meet every NaN there is.
  if (m.type == MapElement::f32 || m.type == MapElement::tf32 || m.type == MapElement::f32_ftz)
    for (std::size_t at = kTensorAt; at + 4 <= f.input.size(); at += 4) {
      const std::uint32_t word = draw(random, Draw::f32);
      std::memcpy(f.input.data() + at, &word, 4);
    }
}

string braces(int rank, const char* from = "%k") {
  string text = "{";
  for (int i = 0; i < rank; ++i) text += (i ? ", " : "") + string(from) + std::to_string(i);
  return text + "}";
}

Form load(const TensorMap& m) {
  Form f;
  f.name = (m.mode == MapMode::tiled ? "tma_load/" : "tma_im2col/") + label(m);
  f.cases = kCases;
  f.output_bytes = kRoom;
  f.map_of_input = kTensorAt;
  TensorCopy copy;
  copy.mode = m.mode == MapMode::tiled ? CopyMode::tile : CopyMode::im2col;
  copy.dimensions = m.rank;
  const std::uint32_t bytes = transaction_bytes(m, copy);
  string p = head("") + kFill +
             "@!%one bra $wait;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], " +
             std::to_string(bytes) + ";\n";
  const bool images = m.mode != MapMode::tiled;
  string offsets;
  if (images) {
    p += "cvt.u16.u32 %h0, %k5;\ncvt.u16.u32 %h1, %k6;\ncvt.u16.u32 %h2, %k7;\n";
    offsets = ", " + braces(m.rank - 2, "%h");
  }
  p += "cp.async.bulk.tensor." + std::to_string(m.rank) + "d.shared::cluster.global." +
       (images ? "im2col" : "tile") + ".mbarrier::complete_tx::bytes [%s], [%m, " + braces(m.rank) +
       "], [%b]" + offsets + ";\n";
  f.ptx = p + kWait + kCopyOut;
  fill(f, m, bytes_of(m));
  return f;
}

Form store(const TensorMap& m, const string& reduction, int variant) {
  Form f;
  f.name = (reduction.empty() ? "tma_store/" : "tma_reduce." + reduction + "/") + label(m) + "/v" +
           std::to_string(variant);
  f.cases = 1;
  f.output_bytes = static_cast<int>((bytes_of(m) + 255) / 256 * 256);
  f.map_of_output = 0;
  // Shared memory takes what lies behind the map.
  string p = head("") + kFill + "add.s64 %x, %in, " + std::to_string(kTensorAt) +
             ";\nmul.wide.u32 %off, %t, 4;\nadd.s64 %x, %x, %off;\nmov.u32 %i, 0;\n"
             "$take:\nld.global.u32 %w0, [%x];\nmad.lo.u32 %w1, %t, 4, %i;\nadd.u32 %w1, %w1, "
             "%s;\nst.shared.u32 [%w1], %w0;\nadd.s64 %x, %x, 128;\nadd.u32 %i, %i, "
             "128;\nsetp.lt.u32 %p, %i, 16384;\n@%p bra $take;\n"
             "fence.proxy.async.shared::cta;\nbar.sync 0;\n@!%one ret;\n";
  const string space = ".global.shared::cta";
  const int times = reduction.empty() ? 1 : 2;
  for (int k = 0; k < times; ++k) {
    p += reduction.empty()
             ? "cp.async.bulk.tensor." + std::to_string(m.rank) + "d" + space + ".tile.bulk_group"
             : "cp.reduce.async.bulk.tensor." + std::to_string(m.rank) + "d" + space + "." +
                   reduction + ".tile.bulk_group";
    p += " [%m, " + braces(m.rank) +
         "], [%s];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
  }
  f.ptx = p + "ret;\n}\n";
  f.name += "";
  const string name = f.name;
  fill(f, m, kRoom);
  return f;
}

}  // namespace

std::vector<Form> load_forms() {
  std::vector<Form> all;
  const auto add = [&](const TensorMap& m) {
    try {
      (void)encode([&] {
        TensorMap at = m;
        at.address = 0x100000;
        return at;
      }());
      all.push_back(load(m));
    } catch (const Violation&) {  // the driver would refuse it too
    }
  };
  using E = MapElement;
  using S = MapSwizzle;
  for (const E type : {E::u8, E::u16, E::u32, E::s32, E::u64, E::s64, E::f16, E::f32, E::f64,
                       E::bf16, E::f32_ftz, E::tf32, E::tf32_ftz})
    for (const bool nan : {false, true}) {
      if (nan && !is_float(type)) continue;
      const auto inner = 64u * 8 / global_bits(type);
      TensorMap m = tensor(type, {inner + 16u, 20}, {inner, 12}, S::bytes64);
      m.fill_nan = nan;
      add(m);
    }
  for (const S swizzle : {S::none, S::bytes32, S::bytes64, S::bytes128}) {
    const std::uint32_t row = swizzle == S::none      ? 48
                              : swizzle == S::bytes32 ? 16
                              : swizzle == S::bytes64 ? 32
                                                      : 64;
    add(tensor(E::bf16, {200}, {row}, swizzle));
    add(tensor(E::bf16, {200, 40}, {row, 16}, swizzle));
    add(tensor(E::bf16, {72, 12, 9}, {row, 5, 3}, swizzle));
    add(tensor(E::bf16, {72, 7, 6, 5}, {row, 3, 2, 3}, swizzle));
    add(tensor(E::bf16, {72, 5, 4, 4, 3}, {row, 2, 2, 2, 2}, swizzle));
    for (const std::uint32_t step : {2u, 3u}) {
      TensorMap m = tensor(E::u16, {160, 60}, {row, 12}, swizzle);
      m.steps[1] = step;
      add(m);
      m.steps[1] = 1;
      m.steps[0] = step;
      add(m);
    }
  }
  // Convolutions: channels, columns, rows, images.
  for (const S swizzle : {S::none, S::bytes64, S::bytes128})
    for (const int variant : {0, 1, 2}) {
      TensorMap m = tensor(E::bf16, {64, 10, 9, 4}, {}, swizzle);
      m.mode = MapMode::im2col;
      m.channels = swizzle == S::bytes64 ? 32 : 64;
      m.pixels = 24 + 8u * static_cast<unsigned>(variant);
      m.lower = {-1, -1, 0};
      m.upper = {variant == 0 ? -1 : -2, variant == 2 ? 0 : -1, 0};
      add(m);
    }
  return all;
}

std::vector<Form> store_forms() {
  std::vector<Form> all;
  using E = MapElement;
  using S = MapSwizzle;
  for (int variant = 0; variant < 12; ++variant) {
    for (const S swizzle : {S::none, S::bytes32, S::bytes64, S::bytes128}) {
      const std::uint32_t row = swizzle == S::none      ? 48
                                : swizzle == S::bytes32 ? 16
                                : swizzle == S::bytes64 ? 32
                                                        : 64;
      all.push_back(store(tensor(E::bf16, {200, 40}, {row, 16}, swizzle), "", variant));
      all.push_back(store(tensor(E::u16, {72, 12, 9}, {row, 5, 3}, swizzle), "", variant));
    }
    all.push_back(store(tensor(E::f32, {40, 30}, {16, 8}, S::none), "add", variant));
    all.push_back(store(tensor(E::u32, {40, 30}, {16, 8}, S::bytes64), "add", variant));
    all.push_back(store(tensor(E::s32, {40, 30}, {16, 8}, S::none), "min", variant));
    all.push_back(store(tensor(E::s32, {40, 30}, {16, 8}, S::none), "max", variant));
    all.push_back(store(tensor(E::u32, {40, 30}, {16, 8}, S::none), "xor", variant));
    all.push_back(store(tensor(E::bf16, {80, 30}, {32, 8}, S::bytes64), "add", variant));
    all.push_back(store(tensor(E::f16, {80, 30}, {32, 8}, S::bytes64), "add", variant));
  }
  return all;
}

std::vector<Form> more_tensor_forms() {
  std::vector<Form> all;
  using E = MapElement;
  using S = MapSwizzle;
  const auto reduce = [&](E type, const char* operation) {
    const auto row = 256u / global_bits(type);
    all.push_back(store(tensor(type, {row + 9u, 30}, {row, 8}, S::none), operation, 0));
  };
  for (const char* operation : {"inc", "dec"}) reduce(E::u32, operation);
  for (const char* operation : {"and", "or", "xor"})
    for (const E type : {E::u32, E::u64}) reduce(type, operation);
  for (const char* operation : {"min", "max"})
    for (const E type : {E::u32, E::u64, E::s64, E::f16, E::bf16}) reduce(type, operation);
  for (const E type : {E::s32, E::u64, E::f32_ftz}) reduce(type, "add");
  // By a cache policy, and prefetched before.
  Form f = load(tensor(E::bf16, {200, 40}, {64, 16}, S::bytes128));
  f.name += "/hint";
  const string copy = ".mbarrier::complete_tx::bytes [%s]", end = "], [%b];\n";
  const string coordinates = "[%m, {%k0, %k1}]";
  f.ptx.replace(f.ptx.find("cp.async.bulk.tensor"), 0,
                "cp.async.bulk.prefetch.tensor.2d.L2.global.tile " + coordinates +
                    ";\ncreatepolicy.fractional.L2::evict_first.b64 %x, 1.0;\n");
  f.ptx.replace(f.ptx.find(copy), copy.size() - 5, ".mbarrier::complete_tx::bytes.L2::cache_hint ");
  f.ptx.replace(f.ptx.find(", [%b];"), 7, ", [%b], %x;");
  all.push_back(std::move(f));
  return all;
}

// tensormap.replace of each field, in shared memory that holds a map: the bits that it leaves.
std::vector<Form> tensor_map_forms() {
  std::vector<Form> all;
  TensorMap m = tensor(MapElement::bf16, {72, 5, 4, 4, 3}, {32, 2, 2, 2, 2}, MapSwizzle::bytes64);
  m.address = 0x100000;
  const TensorMapBytes map = encode(m);
  const auto add = [&](const string& name, const string& value, const string& replacement,
                       bool published = false) {
    Form f = thread_form(
        name,
        "mov.u32 %s, room;\nmad.lo.u32 %w, %t, 4, %s;\nst.shared.b32 [%w], %a0;\n" + value +
            "bar.sync 0;\nsetp.eq.u32 %p, %t, 0;\n@%p " + replacement + ";\nbar.sync 0;\n" +
            (published ? "mul.wide.u32 %x, %t, 48;\nsub.s64 %x, %in, %x;\nmov.u32 %c, "
                         "0;\ntensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release"
                         ".gpu.sync.aligned [%x], [%s], 128;\nbar.sync 0;\nmul.wide.u32 %y, %t, "
                         "4;\nadd.s64 %x, %x, %y;\nld.global.b32 %o0, [%x];\n"
                       : "ld.shared.b32 %o0, [%w];\n"),
        1, Draw::bits,
        ".shared .align 128 .b8 room[128];\n.reg .b32 %s, %w;\n.reg .b64 %x, %y;\n.reg .pred "
        "%p;\n");
    for (std::size_t thread = 0; thread < f.input.size() / 48; ++thread)
      std::memcpy(f.input.data() + thread * 48, map.data() + thread % 32 * 4, 4);
    all.push_back(std::move(f));
  };
  const auto field = [](const string& name, const string& type) {
    return "tensormap.replace.tile." + name + ".shared::cta.b1024." + type + " [%s], ";
  };
  add("tensormap.replace.global_address",
      "and.b32 %a4, %a4, -16;\nand.b32 %a5, %a5, 0xffffff;\nmov"
      ".b64 %q2, {%a4, %a5};\n",
      field("global_address", "b64") + "%q2");
  add("tensormap.replace.rank", "rem.u32 %a4, %a4, 5;\n", field("rank", "b32") + "%a4");
  for (const char* at : {"0", "1", "2", "3", "4"}) {
    const string k = at;
    add("tensormap.replace.box_dim/" + k, "and.b32 %a4, %a4, 255;\nadd.u32 %a4, %a4, 1;\n",
        field("box_dim", "b32") + k + ", %a4");
    add("tensormap.replace.global_dim/" + k, "max.u32 %a4, %a4, 1;\n",
        field("global_dim", "b32") + k + ", %a4");
    add("tensormap.replace.element_stride/" + k, "and.b32 %a4, %a4, 7;\nadd.u32 %a4, %a4, 1;\n",
        field("element_stride", "b32") + k + ", %a4");
    if (k != "4")
      add("tensormap.replace.global_stride/" + k,
          "and.b32 %a4, %a4, -16;\nand.b32 %a5, %a5, 127;\nmov.b64 %q2, {%a4, %a5};\n",
          field("global_stride", "b64") + k + ", %q2");
  }
  for (int k = 0; k < 13; ++k)
    add("tensormap.replace.elemtype/" + std::to_string(k), "",
        field("elemtype", "b32") + std::to_string(k));
  for (int k = 0; k < 3; ++k)
    add("tensormap.replace.interleave_layout/" + std::to_string(k), "",
        field("interleave_layout", "b32") + std::to_string(k));
  for (int k = 0; k < 4; ++k)
    add("tensormap.replace.swizzle_mode/" + std::to_string(k), "",
        field("swizzle_mode", "b32") + std::to_string(k), k == 3);
  for (int k = 0; k < 2; ++k)
    add("tensormap.replace.fill_mode/" + std::to_string(k), "",
        field("fill_mode", "b32") + std::to_string(k));
  return all;
}

}  // namespace assay::model::golden
