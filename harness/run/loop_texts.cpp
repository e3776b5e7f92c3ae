// SPDX-License-Identifier: Apache-2.0
#include "harness/run/loop_texts.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <charconv>
#include <cstdint>
#include <sstream>
#include <system_error>

#include "harness/code/sha256.hpp"
#include "harness/error.hpp"
#include "harness/machine/files.hpp"

namespace assay {
namespace {

// As gzip(1) writes it, without a name and a time, so that the same loops make the same file.
std::string gzipped(const std::string& text) {
  constexpr int kGzip = 16 + MAX_WBITS;
  z_stream stream = {};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(ExitCode::failed, "zlib does not start: is there memory left?");
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END)
    throw Error(ExitCode::failed, "zlib could not pack the loops of this run");
  return packed;
}

constexpr std::uint64_t kStep = 16;  // bytes of an instruction

}  // namespace

std::string shortened_loop(const std::string& text) {
  std::string shorter, expected;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto digits = line.find_first_not_of("0123456789abcdef");
    std::uint64_t address = 0;
    if (digits == line.npos || digits < 4 || line.compare(digits, 2, "  ") != 0 ||
        std::from_chars(line.data(), line.data() + digits, address, 16).ec != std::errc())
      return text;
    if (!shorter.empty()) shorter += '\n';
    shorter += line.compare(0, digits, expected) == 0 ? line.substr(digits + 2) : line;
    expected = fmt::format("{:04x}", address + kStep);
  }
  return shorter;
}

void LoopTexts::take_from(Json& measurement) {
  const auto sass = measurement.find("sass");
  if (sass == measurement.end() || !sass->is_object() || !sass->contains("text")) return;
  std::string text = (*sass)["text"];
  while (text.ends_with('\n')) text.pop_back();
  sass->erase("text");
  if (text.empty()) return;
  const std::string hash = sha256(text);
  (*sass)["loop_sha256"] = hash;
  hashes_.emplace(std::move(text), hash);
}

void LoopTexts::write(const std::filesystem::path& folder) const {
  if (hashes_.empty()) return;
  std::string all;
  for (const auto& [text, hash] : hashes_) all += "== " + hash + "\n" + shortened_loop(text) + "\n";
  write_atomically(folder / kLoopsFile, gzipped(all));
}

}  // namespace assay
