//===- Simulator.h - Layouts, plans and transfers by brute force -*- C++ -*--===//
//
// The oracle of the tests: owners are enumerated element by element, a plan is run on
// local buffers.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_TEST_UNIT_LAYOUT_SIMULATOR_H
#define SHARDKIT_TEST_UNIT_LAYOUT_SIMULATOR_H

#include "shardkit/Layout/ReshardPlan.h"
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace mlir::spmd {
void PrintTo(const Layout &layout, std::ostream *os);
} // namespace mlir::spmd

namespace shardkit_test {

using namespace mlir::spmd;
using Shape = llvm::SmallVector<int64_t, 4>;

/// A mesh with axes "x", "y", "z" of these sizes.
Mesh mesh(std::initializer_list<int64_t> sizes);
Mesh namedMesh(std::vector<std::pair<std::string, int64_t>> axes);

/// Parses a sharding; a test failure if it is malformed or illegal.
Sharding sharding(const std::string &text, const Mesh &mesh);
DimEntries entries(const std::string &text, const Mesh &mesh);
Layout layout(const std::string &text, const Mesh &mesh, llvm::ArrayRef<int64_t> shape);

/// Sum over ranks, and the maximum, of elements that `to` has and `from` not.
MoveVolume bruteVolume(const Layout &from, const Layout &to, int64_t numDevices);

/// Local buffers of all ranks (padding is `pad`).
using Buffers = std::vector<std::vector<int64_t>>;
constexpr int64_t pad = -999;
/// Buffers of a value whose element i is value(i). If the layout is partial, the ranks of
/// a group hold different terms of its sum.
Buffers makeBuffers(const Layout &layout, int64_t numDevices);
/// The expected contents for a complete layout.
int64_t elementValue(int64_t index);
/// True if both buffers are equal except for padding.
bool sameBuffers(const Layout &layout, const Buffers &a, const Buffers &b);

/// Runs one step by its transfer (sum for reductions). Counts the elements that
/// ranks read from other ranks. With an order, `in` is by rank in the layout
/// before and the result by rank in the layout after. `sent` counts by sender.
Buffers runTransfer(const Transfer &transfer, int64_t localElements, const Buffers &in, int64_t &received,
                    llvm::ArrayRef<int64_t> order = {}, std::vector<int64_t> *sent = nullptr);

/// Checks a plan step by step and runs it. All failures name the plan. With a
/// mesh, every intermediate layout is one of its shardings.
void checkPlan(const Layout &from, const Layout &to, int64_t numDevices, bool expectBound, const Mesh *mesh = nullptr);
/// Every layout that a complete value can have on the mesh: all sub-axes, strides
/// and orders; with `uneven` also dims that the axes do not divide.
std::vector<Layout> allLayouts(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, bool uneven);
std::string toString(llvm::ArrayRef<PlanStep> plan);
/// `all_slice all_gather`
std::string kinds(llvm::ArrayRef<PlanStep> plan);

/// Random input, the same in every run.
class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}
  int64_t below(int64_t n) { return engine() % n; }
  template <typename T> T pick(std::initializer_list<T> list) { return *(list.begin() + below(list.size())); }
  Mesh mesh();
  Shape shape(unsigned maxRank, int64_t maxElements);
  /// A legal sharding; with uneven dims or partial ranks on request.
  Sharding sharding(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, bool uneven, bool partial);

private:
  std::mt19937 engine;
};

} // namespace shardkit_test

#endif // SHARDKIT_TEST_UNIT_LAYOUT_SIMULATOR_H
