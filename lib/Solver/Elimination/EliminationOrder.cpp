//===- EliminationOrder.cpp - In which order variables go -----------------===//

#include "EliminationOrder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include <cmath>
#include <queue>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;

namespace {
/// Neighbors, in a list for iteration and, if there are many, a set for look-ups.
class Neighbours {
public:
  bool contains(unsigned v) const {
    if (!set.empty())
      return set.contains(v);
    return llvm::is_contained(list, v);
  }
  void insert(unsigned v) {
    list.push_back(v);
    if (!set.empty()) {
      set.insert(v);
    } else if (list.size() > 16) {
      set.insert(list.begin(), list.end());
    }
    position.clear();
  }
  void erase(unsigned v) {
    // A hub has one removal per neighbor, so that a search through its long list is avoided.
    if (list.size() <= 16) {
      auto it = llvm::find(list, v);
      *it = list.back();
      list.pop_back();
    } else {
      if (position.empty())
        for (unsigned i = 0; i < list.size(); ++i)
          position[list[i]] = i;
      unsigned i = position.lookup(v);
      position.erase(v);
      list[i] = list.back();
      if (list[i] != v)
        position[list[i]] = i;
      list.pop_back();
    }
    if (!set.empty())
      set.erase(v);
    if (list.size() <= 16) {
      set.clear();
      position.clear();
    }
  }
  unsigned size() const { return list.size(); }
  auto begin() const { return list.begin(); }
  auto end() const { return list.end(); }

private:
  llvm::SmallVector<unsigned, 6> list;
  llvm::DenseSet<unsigned> set;
  llvm::DenseMap<unsigned, unsigned> position;
};

struct Entry {
  double first, second; // criteria to minimize
  unsigned v;
  bool operator>(const Entry &other) const {
    return std::tie(first, second, v) > std::tie(other.first, other.second, other.v);
  }
};
} // namespace

static int64_t countCommon(const Neighbours &a, const Neighbours &b) {
  const Neighbours &small = a.size() <= b.size() ? a : b;
  const Neighbours &large = a.size() <= b.size() ? b : a;
  return llvm::count_if(small, [&](unsigned v) { return large.contains(v); });
}

namespace {
/// The graph of what is not eliminated yet. Counts are kept up to date.
class Game {
public:
  Game(const Problem &problem, bool bySize);

  /// The variable that goes next; kNoVar if none is left.
  unsigned getNext();
  /// The log2 of the entries of its join, as a multiple of 2^-20.
  double getWeight(unsigned v) const { return weight[v]; }
  const Neighbours &getNeighbours(unsigned v) const { return neighbours[v]; }
  /// Its neighbours become neighbours of each other.
  void eliminate(unsigned v);
  /// It is just left out.
  void remove(unsigned v);

private:
  Entry getEntry(unsigned v) const {
    double fillIn = fill[v];
    return bySize ? Entry{weight[v], fillIn, v} : Entry{fillIn, weight[v], v};
  }
  void push(unsigned v) { queue.push(getEntry(v)); }

  bool bySize;
  std::vector<Neighbours> neighbours;
  std::vector<int64_t> fill; // edges that the neighbours of a variable lack among them
  std::vector<double> logSize, weight;
  std::vector<bool> done;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
};
} // namespace

/// Bits of a double depend on the order of a sum; sizes are added as multiples of 2^-20.
static double getLog(double size) { return std::floor(std::log2(size) * (1 << 20)); }

Game::Game(const Problem &problem, bool bySize)
    : bySize(bySize), neighbours(problem.sizes.size()), fill(problem.sizes.size(), 0),
      done(problem.sizes.size(), false) {
  unsigned n = problem.sizes.size();
  for (const Problem::Edge &edge : problem.edges) {
    neighbours[edge.a].insert(edge.b);
    neighbours[edge.b].insert(edge.a);
  }
  for (unsigned v = 0; v < n; ++v) {
    int64_t degree = neighbours[v].size(), twice = 0;
    for (unsigned u : neighbours[v])
      twice += countCommon(neighbours[v], neighbours[u]);
    fill[v] = degree * (degree - 1) / 2 - twice / 2;
    logSize.push_back(getLog(problem.sizes[v]));
  }
  weight = logSize;
  for (unsigned v = 0; v < n; ++v) {
    for (unsigned u : neighbours[v])
      weight[v] += logSize[u];
    push(v);
  }
}

unsigned Game::getNext() {
  for (; !queue.empty(); queue.pop()) {
    const Entry &top = queue.top();
    Entry now = getEntry(top.v);
    if (!done[top.v] && !(now > top) && !(top > now))
      return top.v;
  }
  return kNoVar;
}

void Game::eliminate(unsigned v) {
  llvm::SmallVector<unsigned, 16> around(neighbours[v].begin(), neighbours[v].end());
  llvm::sort(around);
  llvm::SmallVector<unsigned, 32> changed(around.begin(), around.end());
  for (unsigned i = 0; i < around.size(); ++i)
    for (unsigned j = i + 1; j < around.size(); ++j) {
      unsigned a = around[i], b = around[j];
      if (neighbours[a].contains(b))
        continue;
      // A common neighbor has one missing edge fewer; each of both gets a neighbor that not all others have.
      const Neighbours &small = neighbours[a].size() <= neighbours[b].size() ? neighbours[a] : neighbours[b];
      const Neighbours &large = &small == &neighbours[a] ? neighbours[b] : neighbours[a];
      int64_t common = 0;
      for (unsigned c : small)
        if (large.contains(c)) {
          ++common;
          --fill[c];
          changed.push_back(c);
        }
      fill[a] += neighbours[a].size() - common;
      fill[b] += neighbours[b].size() - common;
      weight[a] += logSize[b];
      weight[b] += logSize[a];
      neighbours[a].insert(b);
      neighbours[b].insert(a);
    }
  // All around are neighbours of each other now: what a neighbour has besides them
  // does not know `v`.
  for (unsigned u : around) {
    fill[u] -= int64_t(neighbours[u].size()) - int64_t(around.size());
    weight[u] -= logSize[v];
    neighbours[u].erase(v);
  }
  done[v] = true;
  neighbours[v] = Neighbours();
  llvm::sort(changed);
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  for (unsigned u : changed)
    if (!done[u])
      push(u);
}

void Game::remove(unsigned v) {
  llvm::SmallVector<unsigned, 16> around(neighbours[v].begin(), neighbours[v].end());
  for (unsigned u : around) {
    fill[u] -= int64_t(neighbours[u].size()) - 1 - countCommon(neighbours[u], neighbours[v]);
    weight[u] -= logSize[v];
  }
  for (unsigned u : around)
    neighbours[u].erase(v);
  done[v] = true;
  neighbours[v] = Neighbours();
  for (unsigned u : around)
    push(u);
}

std::vector<unsigned> solver::getMinFillOrder(const Problem &problem, bool bySize) {
  Game game(problem, bySize);
  std::vector<unsigned> order;
  order.reserve(problem.sizes.size());
  for (unsigned v = game.getNext(); v != kNoVar; v = game.getNext()) {
    order.push_back(v);
    game.eliminate(v);
  }
  return order;
}

std::vector<unsigned> solver::getOrderWithin(const Problem &problem, int64_t maxJoin,
                                             llvm::MutableArrayRef<unsigned> timesLeftOut) {
  Game game(problem, /*bySize=*/true);
  std::vector<unsigned> order;
  for (unsigned v = game.getNext(); v != kNoVar; v = game.getNext()) {
    if (game.getWeight(v) <= getLog(maxJoin)) {
      order.push_back(v);
      game.eliminate(v);
      continue;
    }
    // Among those in its join.
    auto getRank = [&](unsigned u) { return std::tuple(timesLeftOut[u], -int64_t(game.getNeighbours(u).size()), u); };
    unsigned out = v;
    for (unsigned u : game.getNeighbours(v))
      if (getRank(u) < getRank(out))
        out = u;
    ++timesLeftOut[out];
    game.remove(out);
  }
  return order;
}
