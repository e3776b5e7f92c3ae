// SPDX-License-Identifier: Apache-2.0
#include "harness/model/tensor_memory/allocation.hpp"

#include <gtest/gtest.h>

#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

// 9.7.16.1.2: "The unit of allocation is 32 columns and the number ... must be a power of 2".
TEST(ModelTensorAllocation, TakesPowersOfTwoFrom32To512) {
  for (const int columns : {0, 16, 31, 33, 48, 96, 1024})
    EXPECT_THROW(TensorAllocator().allocate(columns), Violation) << columns;
  for (const int columns : {32, 64, 128, 256, 512})
    EXPECT_EQ(TensorAllocator().allocate(columns), 0u) << columns;
}

// 9.7.16.7.1: "blocks if the requested amount ... is not available and unblocks as soon as ...".
TEST(ModelTensorAllocation, BlocksUntilThereIsRoom) {
  TensorAllocator memory;
  const auto first = memory.allocate(256), second = memory.allocate(256);
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_TRUE(memory.holds({127, 511}));
  EXPECT_FALSE(memory.allocate(32).has_value());
  memory.release(*first, 256);
  EXPECT_FALSE(memory.holds({0, 0}));
  EXPECT_TRUE(memory.allocate(32).has_value());
  EXPECT_EQ(memory.left().size(), 2u);
}

// "The number of columns allocated should not increase between any two allocations".
TEST(ModelTensorAllocation, DoesNotGrow) {
  TensorAllocator memory;
  memory.release(*memory.allocate(64), 64);
  EXPECT_THROW(memory.allocate(128), Violation);
  EXPECT_TRUE(memory.allocate(64).has_value());
}

// "The operand taddr must point to a previous Tensor Memory allocation".
TEST(ModelTensorAllocation, ReleasesWhatWasAllocated) {
  TensorAllocator memory;
  const std::uint32_t address = *memory.allocate(128);
  EXPECT_THROW(memory.release(address + 32, 32), Violation);
  EXPECT_THROW(memory.release(address, 64), Violation);
  memory.release(address, 128);
  EXPECT_THROW(memory.release(address, 128), Violation);
  EXPECT_TRUE(memory.left().empty());
}

// "it is illegal for a CTA to perform tcgen05.alloc after any of its constituent threads execute
// tcgen05.relinquish_alloc_permit".
TEST(ModelTensorAllocation, EndsWithThePermit) {
  TensorAllocator memory;
  const std::uint32_t address = *memory.allocate(32);
  memory.relinquish();
  EXPECT_THROW(memory.allocate(32), Violation);
  EXPECT_NO_THROW(memory.release(address, 32));
}

}  // namespace
}  // namespace assay::model
