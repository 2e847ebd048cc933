//===- GrowingElimination.cpp - Mini-buckets that grow --------------------===//

#include "GrowingElimination.h"
#include "Contraction.h"
#include "EliminationOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace mlir::spmd;
using namespace mlir::spmd::solver;

static constexpr int64_t kGrowth = 4;

GrowingElimination::GrowingElimination(Problem from, int64_t maxJoin, TablePool &pool, Reducer &reducer,
                                       int64_t firstJoin)
    : pool(pool), reducer(reducer), problem(std::move(from)), maxJoin(maxJoin), join(std::min(firstJoin, maxJoin)) {
  beginOrder();
}

void GrowingElimination::beginOrder() {
  order = getMinFillOrder(problem);
  tree.emplace(problem, order, INT64_MAX, shapes);
  outside.assign(problem.sizes.size(), 0);
  beginJoins();
}

void GrowingElimination::beginJoins() {
  joins = std::make_unique<Joins>();
  joins->elimination.emplace(problem, order, join, joins->memo);
}

bool GrowingElimination::run(int64_t maximum, const Clock &clock) {
  // Rounded up a little: repeated layers have equal limits, and so equal joins.
  std::vector<int64_t> limits;
  for (int64_t others : outside) {
    int64_t limit = std::max<int64_t>(maximum - problem.constant.time - others, 0) + 1;
    int64_t grain = std::max<int64_t>(1, int64_t(llvm::bit_floor(uint64_t(limit))) / 8);
    limits.push_back((limit + grain - 1) / grain * grain);
  }
  std::vector<TableId> tables = getTables(problem);
  llvm::DenseMap<TableId, TableId> copies;
  for (TableId &id : tables) {
    if (id == kNoTable)
      continue;
    auto [it, isNew] = copies.try_emplace(id);
    if (isNew)
      it->second = joins->pool.intern(pool.get(id));
    id = it->second;
  }
  last = joins->elimination->run(tables, clock.getWorkLeft(), &clock, limits);
  clock.spend(joins->memo.getWork());
  statistics.add(joins->memo.statistics);
  if (last.isOver || last.total.isImpossible())
    return !last.isOver;
  for (auto [bound, now] : llvm::zip_equal(outside, tree->getOutside(*joins->elimination, last)))
    bound = std::max(bound, now);
  return true;
}

bool GrowingElimination::grow() {
  std::vector<std::vector<bool>> possible = joins->elimination->getPossible(last);
  size_t all = 0, left = 0;
  for (const auto &choices : possible) {
    all += choices.size();
    left += llvm::count(choices, true);
  }
  // With fewer choices it is another problem, with another order.
  if (left < all - all / 8) {
    for (unsigned v = 0; v < problem.sizes.size(); ++v) {
      if (!llvm::is_contained(possible[v], false))
        continue;
      Table unary;
      if (problem.unary[v] == kNoTable)
        unary.time.assign(problem.sizes[v], 0);
      else
        unary = pool.get(problem.unary[v]);
      for (unsigned x = 0; x < problem.sizes[v]; ++x)
        if (!possible[v][x]) {
          unary.time[x] = kInf;
          if (!unary.bytes.empty())
            unary.bytes[x] = 0;
        }
      problem.unary[v] = pool.intern(std::move(unary));
    }
    reductions.push_back(reducer.reduce(std::move(problem)));
    problem = std::move(reductions.back().problem);
    beginOrder();
    return true;
  }
  if (join >= maxJoin)
    return false;
  join = std::min(join * kGrowth, maxJoin);
  beginJoins();
  return true;
}

std::vector<unsigned> GrowingElimination::getChoices() {
  std::vector<unsigned> choices(problem.sizes.size(), 0);
  if (!joins->elimination->trace(last, choices))
    return {};
  for (const Reduction &reduction : llvm::reverse(reductions))
    choices = reduction.expand(choices, pool);
  return choices;
}
