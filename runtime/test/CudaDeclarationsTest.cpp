//===- CudaDeclarationsTest.cpp - What is declared without CUDA's headers --===//
//
// Compares with the headers of an installed toolkit, in a file of its own since names
// clash; built where there is one.
//
//===----------------------------------------------------------------------===//

#include "CudaDeclarations.h"

#include "Cuda/CublasLtApi.h"
#include "Cuda/NcclApi.h"

#include <gtest/gtest.h>

namespace ours = shardkit::rt::cuda;

namespace {

TEST(CudaDeclarations, constantsAndSizesAreThoseOfTheHeaders) {
  std::map<std::string, int64_t> mine;
#define SK_CONSTANT(name) mine[#name] = int64_t(ours::name);
#define SK_SIZE(name) mine["sizeof " #name] = int64_t(sizeof(ours::name));
#define SK_OFFSET(type, member) mine[#type "." #member] = int64_t(offsetof(ours::type, member));
#include "CudaDeclarations.def"
  const std::map<std::string, int64_t> theirs = declarationsOfHeaders();
  ASSERT_EQ(mine.size(), theirs.size());
  for (const auto &[name, value] : theirs)
    EXPECT_EQ(mine[name], value) << name;
}

} // namespace
