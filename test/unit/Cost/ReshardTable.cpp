//===- ReshardTable.cpp - docs/reference/ReshardTable.md ------------------===//
//
// SHARDKIT_WRITE_DOCS=1 writes the page; without it the test compares.
//
//===----------------------------------------------------------------------===//

#include "CheapestSequence.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace shardkit_test;

static constexpr int64_t size = 96, elementBytes = 4;

static std::string text(const Layout &layout, const Mesh &mesh) {
  return "`" + toString(*layout.toSharding(mesh), mesh) + "`";
}

static int64_t receivedBytes(const ReshardPlan &plan, int64_t devices) {
  int64_t bytes = 0;
  for (const PlanStep &step : plan)
    bytes += receivedElements(step.from, step.to, devices) * elementBytes;
  return bytes;
}

static void writeComplete(llvm::raw_ostream &os, const Mesh &m) {
  CostModel costs(m);
  os << "| from | to | plan | bytes | bound | us |\n"
     << "| --- | --- | --- | --- | --- | --- |\n";
  std::vector<Layout> layouts = wholeAxisLayouts(m, {size, size});
  for (const Layout &from : layouts)
    for (const Layout &to : layouts) {
      if (from == to)
        continue;
      ReshardPlan plan = costs.planReshard(from, to, elementBytes);
      os << "| " << text(from, m) << " | " << text(to, m) << " | " << kinds(plan) << " | "
         << receivedBytes(plan, m.numDevices()) << " | " << receivedElements(from, to, m.numDevices()) * elementBytes
         << " | " << llvm::format("%.2f", costs.getSeconds(plan, elementBytes) * 1e6) << " |\n";
    }
}

static void writePartial(llvm::raw_ostream &os, const Mesh &m) {
  CostModel costs(m);
  os << "| from | to | plan | us | cheapest of all, us |\n"
     << "| --- | --- | --- | --- | --- |\n";
  std::vector<Layout> layouts = wholeAxisLayouts(m, {size, size});
  for (unsigned axis : {0u, 1u}) {
    CheapestSequence oracle(m, axis, layouts, elementBytes);
    for (const Layout &from : oracle.getPartial())
      for (const Layout &to : layouts) {
        ReshardPlan plan = costs.planReshard(from, to, elementBytes);
        os << "| " << text(from, m) << " | " << text(to, m) << " | " << kinds(plan) << " | "
           << llvm::format("%.2f", costs.getSeconds(plan, elementBytes) * 1e6) << " | "
           << llvm::format("%.2f", oracle.getSeconds(from, to) * 1e6) << " |\n";
      }
  }
}

static std::string page() {
  std::string result;
  llvm::raw_string_ostream os(result);
  os << R"(# The reshard table

<!-- Written by ShardKitCostTests with SHARDKIT_WRITE_DOCS=1, checked by its test ReshardTable. -->

The plans of `CostModel::planReshard` (see [Reshards](../concepts/Reshards.md)) for a value of
96 x 96 f32 (36,864 bytes) on three meshes. The rows are all ordered pairs of the 11 layouts that
use full axes.

* *bytes*: received by all devices together in the plan.
* *bound*: the minimum for any plan, namely the elements that devices hold after the reshard and did
  not hold before it.
* *us*: predicted time in microseconds (alpha 10 us, beta 0.1 ns per byte on each axis).

The second table of each mesh has values that are partial over one axis. Its last column is the
predicted time of the cheapest sequence. That sequence is found by enumeration of up to three
collectives, and any slices, between these layouts.
)";
  for (auto sizes : std::initializer_list<std::initializer_list<int64_t>>{{2, 2}, {2, 4}, {3, 2}}) {
    Mesh m = mesh(sizes);
    os << "\n## " << m.axesToString() << "\n\n";
    writeComplete(os, m);
    os << "\n### Partial over one axis\n\n";
    writePartial(os, m);
  }
  return result;
}

TEST(ReshardTable, IsUpToDate) {
  const char *path = SHARDKIT_DOCS "/reference/ReshardTable.md";
  std::string expected = page();
  if (std::getenv("SHARDKIT_WRITE_DOCS"))
    std::ofstream(path) << expected;
  std::ifstream file(path);
  std::stringstream found;
  found << file.rdbuf();
  EXPECT_TRUE(found.str() == expected) << "docs/reference/ReshardTable.md is not what the planner answers, expected "
                                          "SHARDKIT_WRITE_DOCS=1 ShardKitCostTests to have been run";
}
