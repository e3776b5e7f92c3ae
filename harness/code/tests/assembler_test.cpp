// SPDX-License-Identifier: Apache-2.0
#include "harness/code/assembler.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "harness/code/cubin.hpp"
#include "harness/code/tests/samples.hpp"
#include "harness/error.hpp"

namespace assay {
namespace {
namespace fs = std::filesystem;

class AssemblerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("assay-assembler-" + std::to_string(getpid()) + "-" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    setenv("ASSAY_CACHE_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("ASSAY_CACHE_DIR");
    fs::remove_all(folder_);
  }
  fs::path folder_;
};

TEST_F(AssemblerTest, AssemblesForEveryTarget) {
  for (const Target target : all_gpu_targets()) {
    const DeviceCode code = device_code(assemble(samples::fma_chain(target), target).cubin);
    EXPECT_EQ(code.arch, name(target));
    EXPECT_EQ(code.kernels, std::vector<std::string>{"fma_chain"});
  }
}

TEST_F(AssemblerTest, SecondTimeComesFromTheCache) {
  const std::string ptx = samples::fma_chain(Target::sm_90a);
  const Assembled first = assemble(ptx, Target::sm_90a);
  const Assembled second = assemble(ptx, Target::sm_90a);
  EXPECT_FALSE(first.from_cache);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(first.cubin, second.cubin);
  EXPECT_FALSE(assemble(ptx + "// another text\n", Target::sm_90a).from_cache);
}

TEST_F(AssemblerTest, ATruncatedCacheFileIsReplaced) {
  const std::string ptx = samples::fma_chain(Target::sm_90a);
  const Assembled first = assemble(ptx, Target::sm_90a);
  for (const auto& file : fs::directory_iterator(folder_))
    fs::resize_file(file.path(), fs::file_size(file.path()) / 2);
  const Assembled second = assemble(ptx, Target::sm_90a);
  EXPECT_FALSE(second.from_cache);
  EXPECT_EQ(first.cubin, second.cubin);
  EXPECT_TRUE(assemble(ptx, Target::sm_90a).from_cache);
}

TEST_F(AssemblerTest, AnUnwritableCacheIsNoError) {
  std::ofstream(folder_) << "a file where the folder should be";
  const Assembled result = assemble(samples::fma_chain(Target::sm_90a), Target::sm_90a);
  EXPECT_FALSE(result.from_cache);
  EXPECT_FALSE(result.cubin.empty());
}

TEST_F(AssemblerTest, RejectionCarriesTheAssemblersWords) {
  const Assembled result = try_assemble(samples::wgmma_bf16(), Target::sm_120a);
  EXPECT_TRUE(result.cubin.empty());
  EXPECT_NE(result.log, "");
  try {
    assemble(samples::loop_kernel(Target::sm_90a, "wrong", "frobnicate.f32 %f0, %f1;\n"),
             Target::sm_90a);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::failed);
    EXPECT_NE(std::string(error.what()).find("frobnicate"), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
}

TEST_F(AssemblerTest, ManyThreadsAgree) {
  const std::vector<Target> targets = all_gpu_targets();
  std::vector<std::vector<char>> cubins(3 * targets.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < cubins.size(); ++i)
      threads.emplace_back([&, i] {
        const Target target = targets[i % targets.size()];
        cubins[i] = assemble(samples::fma_chain(target), target).cubin;
      });
  }
  for (std::size_t i = targets.size(); i < cubins.size(); ++i)
    EXPECT_EQ(cubins[i], cubins[i - targets.size()]);
}

}  // namespace
}  // namespace assay
