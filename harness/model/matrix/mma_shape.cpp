// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/mma_shape.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "harness/model/violation.hpp"

namespace assay::model::matrix {

bool is_shape(std::string_view word) {
  return word.size() > 2 && word[0] == 'm' && word[1] >= '0' && word[1] <= '9';
}

Shape shape_of(std::string_view text) {
  Shape shape{};
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto read = [&](char letter, int& size) {
    if (at == end || *at != letter) return false;
    const auto [next, error] = std::from_chars(at + 1, end, size);
    at = next;
    return error == std::errc();
  };
  if (!read('m', shape.m) || !read('n', shape.n) || !read('k', shape.k) || at != end)
    throw Violation("matrix.shape",
                    "'" + std::string(text) + "' is no shape of a matrix instruction");
  return shape;
}

bool lists(std::string_view list, std::string_view word) {
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(' ', at), list.size());
    if (list.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace assay::model::matrix
