//===- MovePricesTest.cpp - Moves priced by their kind --------------------===//

#include "shardkit/Cost/MovePrices.h"
#include "CheapestSequence.h"
#include <random>

using namespace shardkit_test;

/// Full axes, each on a dim in [0, shape.size()) or unused, in a random order; for sums some of
/// the unused ones are partial.
static Sharding randomSharding(const Mesh &mesh, const Shape &shape, bool isSum, std::mt19937 &random) {
  Sharding sharding;
  sharding.dims.resize(shape.size());
  std::vector<int32_t> axes(mesh.axes.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::shuffle(axes.begin(), axes.end(), random);
  for (int32_t axis : axes) {
    DimEntry entry{axis, 1, mesh.axes[axis].size};
    size_t dim = random() % (shape.size() + 1);
    if (dim == shape.size()) {
      if (isSum && random() % 2)
        sharding.unreduced.push_back(entry);
      continue;
    }
    DimEntries longer = sharding.dims[dim].entries;
    longer.push_back(entry);
    // One in eight leaves a rest.
    if (divides(longer, shape[dim]) || random() % 8 == 0)
      sharding.dims[dim].entries = longer;
  }
  llvm::sort(sharding.unreduced);
  return sharding;
}

TEST(MovePrices, EqualPlansOfTheFullValue) {
  std::mt19937 random(7);
  unsigned scaled = 0;
  for (auto sizes : {std::vector<int64_t>{4, 4, 4}, {2, 4}, {2, 3, 2}, {8, 8}}) {
    Mesh m;
    for (auto [i, size] : llvm::enumerate(sizes))
      m.axes.push_back({std::string(1, char('x' + i)), size});
    for (bool links : {false, true}) {
      if (links)
        for (size_t i = 0; i < sizes.size(); ++i) {
          m.alpha.push_back(1e-5 * (i + 1));
          m.beta.push_back(1e-10 / (i + 1));
        }
      for (auto [alpa, xla] : {std::pair(false, false), {true, false}, {false, true}}) {
        CostModel costs(m, {alpa, xla, {}});
        MovePrices prices(costs, m);
        for (int i = 0; i < 250; ++i) {
          Shape shape;
          for (size_t d = 0, rank = 1 + random() % 4; d < rank; ++d)
            shape.push_back(std::vector<int64_t>{1, 5, 12, 24, 64, 96, 1024, 3072}[random() % 8]);
          Sharding from = randomSharding(m, shape, true, random);
          Sharding to = randomSharding(m, shape, false, random);
          for (int64_t bytes : {1, 4, 8}) {
            ReshardPlan plan = costs.planReshard(Layout::get(from, m, shape), Layout::get(to, m, shape), bytes);
            double seconds = costs.getSeconds(plan, bytes);
            EXPECT_NEAR(prices.getSeconds(from, to, shape, bytes), seconds, 1e-9 * seconds)
                << Layout::get(from, m, shape).toString() << "  ->  " << Layout::get(to, m, shape).toString() << " of "
                << bytes << " bytes\n"
                << toString(plan);
            scaled += seconds > 0;
          }
        }
      }
    }
  }
  EXPECT_GT(scaled, 7500u);
}
