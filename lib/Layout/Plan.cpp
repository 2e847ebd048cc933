//===- Plan.cpp - Collectives that lead from one layout to another --------===//
//
// in -(slice)-> A -(reduce)-> -(slice)-> -(exchange)-> M -(gather)-> out
//
// Slices come first, also before a reduction: taking a part commutes with
// combining, and the reduction then moves less.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Layout/Plan.h"
#include "Atoms.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir::spmd;
using namespace mlir::spmd::detail;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

using Steps = SmallVector<PlanStep, 3>;
using Ranks = SmallVector<RankDigit, 2>;

llvm::StringRef mlir::spmd::stringifyCollectiveKind(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllSlice:
    return "all_slice";
  case CollectiveKind::AllGather:
    return "all_gather";
  case CollectiveKind::AllReduce:
    return "all_reduce";
  case CollectiveKind::ReduceScatter:
    return "reduce_scatter";
  case CollectiveKind::AllToAll:
    return "all_to_all";
  case CollectiveKind::CollectivePermute:
    return "collective_permute";
  case CollectiveKind::Exchange:
    return "exchange";
  }
  return "";
}

static bool isNamed(CollectiveKind kind) {
  return kind != CollectiveKind::Exchange;
}

/// Appends a step that leads from `cur` to `next`, unless it is none.
static void addStep(Steps &steps, CollectiveKind kind, Layout &cur,
                    Layout next, Ranks group) {
  if (cur == next)
    return;
  coalesce(group);
  steps.push_back({kind, std::move(cur), next, std::move(group)});
  cur = std::move(next);
}

static Layout withDigits(const Layout &layout, const Atoms &atoms,
                         const Owners &owners) {
  Layout result;
  result.shape = layout.shape;
  result.digits = atoms.digits(owners);
  result.uneven = layout.uneven;
  result.partial = layout.partial;
  result.partialKind = layout.partialKind;
  return result;
}

//===----------------------------------------------------------------------===//
// Complete values, layouts that cut each other evenly
//===----------------------------------------------------------------------===//

/// `in` plus every digit of out whose place is local and whose rank digit is
/// not `busy` (owns something or is partial).
static Owners slice(const Atoms &atoms, const Owners &in, const Owners &out,
                    ArrayRef<bool> busy) {
  Owners result = in;
  for (unsigned i = 0; i < atoms.numIndex(); ++i)
    if (in[i] < 0 && out[i] >= 0 && !busy[out[i]])
      result[i] = out[i];
  return result;
}

static SmallVector<bool, 12> ownedRanks(const Atoms &atoms,
                                        const Owners &owners) {
  SmallVector<bool, 12> owned(atoms.numRank(), false);
  for (int p : owners)
    if (p >= 0)
      owned[p] = true;
  return owned;
}

/// What an exchange a -> m is called.
//   a -> m, x = y = 2, 8x8            | name
//   [{"x"}, {}] -> [{}, {"x"}]        | all_to_all: moves to a local place
//   [{"x", "y"}, {}] -> [{"x"}, {"y"}]| all_to_all, in groups of y
//   [{"x"}, {}] -> [{"y"}, {}]        | collective_permute: whole blocks
//   [{"x"}, {"y"}] -> [{"y"}, {"x"}]  | collective_permute
//   [{"x"}, {"y"}] -> [{}, {"x", "y"}]| exchange: the place of y is taken
static CollectiveKind nameExchange(const Atoms &atoms, const Owners &a,
                                   const Owners &m) {
  bool sameAtoms = true, toLocal = true;
  for (unsigned i = 0; i < atoms.numIndex(); ++i) {
    sameAtoms &= (a[i] >= 0) == (m[i] >= 0);
    toLocal &= a[i] == m[i] || a[i] < 0 || m[i] < 0;
  }
  if (sameAtoms)
    return CollectiveKind::CollectivePermute;
  if (toLocal && ownedRanks(atoms, a) == ownedRanks(atoms, m))
    return CollectiveKind::AllToAll;
  return CollectiveKind::Exchange;
}

static Ranks movedRanks(const Atoms &atoms, const Owners &a, const Owners &m) {
  SmallVector<bool, 12> moved(atoms.numRank(), false);
  for (unsigned i = 0; i < atoms.numIndex(); ++i) {
    if (a[i] == m[i])
      continue;
    if (a[i] >= 0)
      moved[a[i]] = true;
    if (m[i] >= 0)
      moved[m[i]] = true;
  }
  Ranks result;
  for (unsigned p = 0; p < atoms.numRank(); ++p)
    if (moved[p])
      result.push_back(atoms.rankDigit(p));
  return result;
}

/// The layout M that the exchange leads to, between `a` (already sliced) and
/// `out`: out plus digits that are gathered last. Those that stay where `a` has
/// them cost nothing extra: recv(A, M) + recv(M, out) = |out| - |M and A|, and
/// what A and out share lies in M.
static Owners chooseExchange(const Atoms &atoms, const Owners &a,
                             const Owners &out) {
  unsigned n = atoms.numIndex();
  auto inOut = ownedRanks(atoms, out);
  Owners stay = out;
  for (unsigned i = 0; i < n; ++i)
    if (a[i] >= 0 && out[i] < 0 && !inOut[a[i]])
      stay[i] = a[i];
  if (stay == a || isNamed(nameExchange(atoms, a, stay)))
    return stay; // no exchange at all, or a named one

  // Whole blocks permuted, then gathered: digits of `a` that out leaves free
  // and whose place out gives to others take the places left by those.
  //   [{"x"}, {"y"}] -> [{}, {"x"}]: M = [{"y"}, {"x"}]
  Owners permuted = stay;
  auto placed = ownedRanks(atoms, permuted);
  for (unsigned i = 0; i < n; ++i) {
    if (a[i] < 0 || placed[a[i]])
      continue;
    for (unsigned j = n; j-- > 0;)
      if (a[j] >= 0 && permuted[j] < 0 &&
          atoms.indexSize(j) == atoms.rankSize(a[i])) {
        permuted[j] = a[i];
        placed[a[i]] = true;
        break;
      }
  }
  if (permuted != stay && isNamed(nameExchange(atoms, a, permuted)) &&
      commonElements(atoms, permuted, a) == commonElements(atoms, out, a))
    return permuted;
  // Nothing has a name: one exchange does it all.
  return out;
}

static void planAligned(const Atoms &atoms, Layout &cur, const Layout &goal,
                        Steps &steps) {
  const Owners &in = atoms.from, &out = atoms.to;
  auto busy = ownedRanks(atoms, in);
  atoms.rankAtoms(cur.partial, busy);
  Owners a = slice(atoms, in, out, busy);
  addStep(steps, CollectiveKind::AllSlice, cur, withDigits(cur, atoms, a),
          movedRanks(atoms, in, a));
  Owners m = chooseExchange(atoms, a, out);
  if (m != a)
    addStep(steps, nameExchange(atoms, a, m), cur, withDigits(cur, atoms, m),
            movedRanks(atoms, a, m));
  addStep(steps, CollectiveKind::AllGather, cur, withDigits(cur, atoms, out),
          movedRanks(atoms, m, out));
}

//===----------------------------------------------------------------------===//
// Complete values, any layouts
//===----------------------------------------------------------------------===//

/// The most digits of `cur` (in order) that `goal` cuts evenly. Where cuts do
/// not divide (3x4 against 2x6, or "x":(1)2 against "x":(3)2 of x = 6) only the
/// digits concerned are gathered; what remains can be planned in closed form.
/// This may receive more than exact intersections would.
static Layout keepAligned(const Layout &cur, const Layout &goal,
                          const Mesh *mesh) {
  SmallVector<Digit, 8> pieces;
  int64_t b = 1;
  for (unsigned d = cur.shape.size(); d-- > 0;) {
    int64_t top = b * cur.shape[d];
    for (const Digit &digit : cur.digits) {
      SmallVector<int64_t, 8> borders{std::max(digit.lo, b),
                                      std::min(digit.hi, top)};
      if (borders[0] >= borders[1])
        continue;
      for (const Digit &other : goal.digits)
        for (int64_t c : {other.lo, other.hi})
          if (c > borders[0] && c < borders[1] && c % digit.lo == 0 &&
              digit.hi % c == 0)
            borders.push_back(c);
      llvm::sort(borders);
      int64_t lo = borders.front();
      for (int64_t c : borders) {
        if (c == lo || c % lo != 0 || borders.back() % c != 0)
          continue;
        pieces.push_back({lo, c, digit.stride * (lo / digit.lo)});
        lo = c;
      }
    }
    b = top;
  }
  Layout kept = cur;
  kept.digits.clear();
  // Digits that stay where they are first, then major ones.
  llvm::sort(pieces, [&](const Digit &x, const Digit &y) {
    bool stays = llvm::is_contained(goal.digits, x);
    if (stays != llvm::is_contained(goal.digits, y))
      return stays;
    return x.lo > y.lo;
  });
  for (const Digit &piece : pieces) {
    auto before = kept.digits;
    kept.digits.push_back(piece);
    coalesce(kept.digits);
    if (!align(kept, goal, /*atDims=*/true, mesh))
      kept.digits = before;
  }
  return kept;
}

static bool usesRank(const Layout &layout, const RankDigit &rank) {
  auto overlaps = [&](const RankDigit &other) { return overlap(rank, other); };
  return llvm::any_of(layout.digits,
                      [&](const Digit &d) {
                        return overlaps({d.stride, d.size()});
                      }) ||
         llvm::any_of(layout.uneven,
                      [&](const UnevenDim &u) {
                        return llvm::any_of(u.ranks, overlaps);
                      }) ||
         llvm::any_of(layout.partial, overlaps);
}

/// The interval of a dim in the index.
static std::pair<int64_t, int64_t> dimInterval(ArrayRef<int64_t> shape,
                                               unsigned dim) {
  int64_t b = 1;
  for (int64_t size : shape.drop_front(dim + 1))
    b *= size;
  return {b, b * shape[dim]};
}

static bool dimIsLocal(const Layout &layout, unsigned dim) {
  auto [lo, hi] = dimInterval(layout.shape, dim);
  return llvm::none_of(layout.digits,
                       [lo = lo, hi = hi](const Digit &digit) {
                         return digit.lo < hi && digit.hi > lo;
                       }) &&
         llvm::none_of(layout.uneven,
                       [dim](const UnevenDim &u) { return u.dim == dim; });
}

/// Where the cuts of two layouts do not divide, slices can still come first in
/// dims that are local in `cur`, over ranks that it leaves alone.
static void sliceLocalDims(Layout &cur, const Layout &goal, Steps &steps) {
  Layout next = cur;
  Ranks group;
  for (unsigned d = 0; d < cur.shape.size(); ++d) {
    if (!dimIsLocal(cur, d))
      continue;
    auto [b, top] = dimInterval(cur.shape, d);
    for (const Digit &digit : goal.digits) {
      int64_t lo = std::max(digit.lo, b), hi = std::min(digit.hi, top);
      if (lo >= hi)
        continue;
      RankDigit rank{digit.stride * (lo / digit.lo), hi / lo};
      if (usesRank(cur, rank))
        continue;
      next.digits.push_back({lo, hi, rank.stride});
      group.push_back(rank);
    }
  }
  coalesce(next.digits);
  addStep(steps, CollectiveKind::AllSlice, cur, std::move(next),
          std::move(group));
}

static void addUneven(Layout &layout, const UnevenDim &u, Ranks &group) {
  group.append(u.ranks.begin(), u.ranks.end());
  layout.uneven.push_back(u);
  llvm::sort(layout.uneven, [](const UnevenDim &x, const UnevenDim &y) {
    return x.dim < y.dim;
  });
}

/// Leads a value to `goal`, which has the same partial ranks.
static void planComplete(Layout cur, const Layout &goal, const Mesh *mesh,
                         Steps &steps) {
  if (cur == goal)
    return;

  // Uneven dims that change are gathered, then sliced again: two uneven layouts
  // of a dim are never slices of each other.
  Layout target = goal;
  if (!cur.uneven.empty() || !goal.uneven.empty()) {
    Layout next = cur;
    Ranks gathered, sliced;
    llvm::erase_if(next.uneven, [&](const UnevenDim &u) {
      if (llvm::is_contained(goal.uneven, u))
        return false;
      gathered.append(u.ranks.begin(), u.ranks.end());
      return true;
    });
    addStep(steps, CollectiveKind::AllGather, cur, next, std::move(gathered));
    // Where nothing is in the way the slice comes first, else last.
    for (const UnevenDim &u : goal.uneven)
      if (!llvm::is_contained(next.uneven, u) && dimIsLocal(next, u.dim) &&
          llvm::none_of(u.ranks, [&](const RankDigit &rank) {
            return usesRank(next, rank);
          }))
        addUneven(next, u, sliced);
    addStep(steps, CollectiveKind::AllSlice, cur, next, std::move(sliced));
    target.uneven = cur.uneven;
  }

  auto atoms = align(cur, target, /*atDims=*/true, mesh);
  if (!atoms) {
    sliceLocalDims(cur, target, steps);
    Layout kept = keepAligned(cur, target, mesh);
    Ranks group;
    for (const Digit &digit : cur.digits)
      group.push_back({digit.stride, digit.size()});
    Ranks stays;
    for (const Digit &digit : kept.digits)
      stays.push_back({digit.stride, digit.size()});
    if (auto rest = subtract(group, stays))
      group.assign(rest->begin(), rest->end());
    addStep(steps, CollectiveKind::AllGather, cur, kept, std::move(group));
    atoms = align(cur, target, /*atDims=*/true, mesh);
    if (!atoms)
      return; // `goal` is no layout of its shape
  }
  planAligned(*atoms, cur, target, steps);

  Ranks sliced;
  for (const UnevenDim &u : goal.uneven)
    if (!llvm::is_contained(cur.uneven, u))
      sliced.append(u.ranks.begin(), u.ranks.end());
  if (!sliced.empty())
    addStep(steps, CollectiveKind::AllSlice, cur, goal, std::move(sliced));
}

//===----------------------------------------------------------------------===//
// Partial values
//===----------------------------------------------------------------------===//

/// A place for a digit of `size` in a local part of `layout`, the one from
/// which the way to `goal` receives least. Places in uneven dims are none.
static std::optional<std::pair<int64_t, int64_t>>
freePlace(const Atoms &atoms, const Layout &layout, const Layout &goal,
          const RankDigit &rank) {
  std::optional<std::pair<int64_t, int64_t>> best;
  int64_t bestVolume = 0;
  for (unsigned i = atoms.numIndex(); i-- > 0;) {
    int64_t lo = atoms.index[i], hi = atoms.index[i + 1];
    if (atoms.indexSize(i) % rank.size != 0 ||
        llvm::any_of(layout.digits,
                     [&](const Digit &digit) {
                       return digit.lo < hi && digit.hi > lo;
                     }) ||
        llvm::any_of(layout.uneven, [&](const UnevenDim &u) {
          auto [b, top] = dimInterval(layout.shape, u.dim);
          return b < hi && top > lo;
        }))
      continue;
    Layout placed = layout;
    placed.digits.push_back({hi / rank.size, hi, rank.stride});
    coalesce(placed.digits);
    int64_t volume =
        receivedElements(placed, goal, atoms.rank.back());
    if (!best || volume < bestVolume) {
      best = {hi / rank.size, hi};
      bestVolume = volume;
    }
  }
  return best;
}

/// Combines the ranks `reduce`. Each is scattered onto the place that `goal`
/// gives it; if that place is taken, or (with `scatterAll`) if goal gives it
/// none, onto a free place; else the value is replicated over it.
static void planReduction(Layout &cur, const Layout &goal,
                          ArrayRef<RankDigit> reduce, bool scatterAll,
                          const Mesh *mesh, Steps &steps) {
  auto partialLess = [&](Layout layout, ArrayRef<RankDigit> done) {
    auto rest = subtract(layout.partial, done);
    layout.partial.clear();
    if (rest)
      layout.partial.assign(rest->begin(), rest->end());
    if (layout.partial.empty())
      layout.partialKind = ReductionKind::Sum;
    return layout;
  };
  Ranks all(reduce.begin(), reduce.end());
  auto atoms = align(cur, goal, /*atDims=*/true, mesh);
  if (!atoms) {
    sliceLocalDims(cur, goal, steps);
    Layout next = partialLess(cur, reduce);
    addStep(steps, CollectiveKind::AllReduce, cur, next, all);
    return;
  }

  auto busy = ownedRanks(*atoms, atoms->from);
  atoms->rankAtoms(cur.partial, busy);
  for (const UnevenDim &u : cur.uneven)
    atoms->rankAtoms(u.ranks, busy);
  Owners a = slice(*atoms, atoms->from, atoms->to, busy);
  // Not into a dim that is still cut unevenly.
  for (const UnevenDim &u : cur.uneven) {
    auto [lo, hi] = dimInterval(cur.shape, u.dim);
    for (unsigned i = 0; i < atoms->numIndex(); ++i)
      if (atoms->index[i] < hi && atoms->index[i + 1] > lo)
        a[i] = atoms->from[i];
  }
  addStep(steps, CollectiveKind::AllSlice, cur, withDigits(cur, *atoms, a),
          movedRanks(*atoms, atoms->from, a));

  SmallVector<bool, 12> reduced(atoms->numRank(), false);
  atoms->rankAtoms(reduce, reduced);
  Layout scattered = cur;
  Ranks scatter, rest;
  SmallVector<RankDigit, 2> displaced;
  for (unsigned p = atoms->numRank(); p-- > 0;) {
    if (!reduced[p])
      continue;
    int place = -1;
    for (unsigned i = 0; i < atoms->numIndex(); ++i)
      if (atoms->to[i] == static_cast<int>(p))
        place = i;
    RankDigit rank = atoms->rankDigit(p);
    bool inUneven = place >= 0 && llvm::any_of(cur.uneven, [&](auto &u) {
                      auto [lo, hi] = dimInterval(cur.shape, u.dim);
                      return atoms->index[place] < hi &&
                             atoms->index[place + 1] > lo;
                    });
    if (place >= 0 && a[place] < 0 && !inUneven) {
      scattered.digits.push_back(
          {atoms->index[place], atoms->index[place + 1], rank.stride});
      scatter.push_back(rank);
    } else if (place >= 0 || scatterAll) {
      displaced.push_back(rank);
    } else {
      rest.push_back(rank);
    }
  }
  coalesce(scattered.digits);
  Layout complete = goal; // only its digits matter below
  complete.partial.clear();
  for (const RankDigit &rank : displaced) {
    Layout probe = scattered;
    probe.partial.clear();
    auto place = freePlace(*atoms, probe, complete, rank);
    if (!place) {
      rest.push_back(rank);
      continue;
    }
    scattered.digits.push_back({place->first, place->second, rank.stride});
    coalesce(scattered.digits);
    scatter.push_back(rank);
  }
  if (!scatter.empty())
    addStep(steps, CollectiveKind::ReduceScatter, cur,
            partialLess(scattered, scatter), scatter);
  if (!rest.empty()) {
    Layout next = partialLess(cur, rest);
    addStep(steps, CollectiveKind::AllReduce, cur, next, rest);
  }
}

/// Elements that all devices receive in a plan, per device.
static double planVolume(ArrayRef<PlanStep> steps, int64_t numDevices) {
  double volume = 0;
  for (const PlanStep &step : steps) {
    double k = 1;
    for (const RankDigit &rank : step.group)
      k *= rank.size;
    if (step.kind == CollectiveKind::AllReduce)
      volume += 2 * (k - 1) / k * step.from.numLocalElements();
    else if (step.kind == CollectiveKind::ReduceScatter)
      volume += (k - 1) / k * step.from.numLocalElements();
    else
      volume += static_cast<double>(
                    receivedElements(step.from, step.to, numDevices)) /
                numDevices;
  }
  return volume;
}

/// A multiple of all rank digits.
static int64_t coveredRanks(const Layout &a, const Layout &b) {
  int64_t n = 1;
  auto cover = [&](int64_t end) { n = std::lcm(n, end); };
  for (const Layout *layout : {&a, &b}) {
    for (const Digit &digit : layout->digits)
      cover(digit.stride * digit.size());
    for (const RankDigit &rank : layout->partial)
      cover(rank.stride * rank.size);
    for (const UnevenDim &u : layout->uneven)
      for (const RankDigit &rank : u.ranks)
        cover(rank.stride * rank.size);
  }
  return n;
}

/// Ranks that are partial on both sides, with one kind: they stay partial.
static Ranks commonPartial(const Layout &from, const Layout &to) {
  if (from.partialKind == to.partialKind)
    if (auto rest = subtract(from.partial, to.partial))
      if (auto stays = subtract(from.partial, *rest))
        return *stays;
  return {};
}

/// `a` less `b`, which is a part of it.
static Ranks without(ArrayRef<RankDigit> a, ArrayRef<RankDigit> b) {
  return b.empty() ? Ranks(a) : *subtract(a, b);
}

Ranks mlir::spmd::addedPartial(const Layout &from, const Layout &to) {
  return without(to.partial, commonPartial(from, to));
}

Steps mlir::spmd::planReshard(const Layout &from, const Layout &to,
                              const Mesh *mesh) {
  Steps steps;
  if (from == to)
    return steps;
  if (from.partial.empty() && to.partial.empty()) {
    planComplete(from, to, mesh, steps);
    return steps;
  }

  Layout goal = to;
  goal.partial = commonPartial(from, to);
  goal.partialKind = goal.partial.empty() ? ReductionKind::Sum : from.partialKind;
  Ranks reduce = without(from.partial, goal.partial);

  auto plan = [&](bool scatterAll) {
    Steps result;
    Layout cur = from;
    if (!reduce.empty())
      planReduction(cur, goal, reduce, scatterAll, mesh, result);
    planComplete(cur, goal, mesh, result);
    return result;
  };
  steps = plan(false);
  // Between scatter and gather, the other half of an all-reduce, an exchange
  // moves less.
  bool reduces = false, exchanges = false;
  for (const PlanStep &step : steps) {
    reduces |= step.kind == CollectiveKind::AllReduce;
    exchanges |= step.kind == CollectiveKind::AllToAll ||
                 step.kind == CollectiveKind::CollectivePermute ||
                 step.kind == CollectiveKind::Exchange;
  }
  if (reduces && exchanges) {
    Steps other = plan(true);
    int64_t devices = coveredRanks(from, goal);
    if (planVolume(other, devices) < planVolume(steps, devices))
      steps = std::move(other);
  }
  return steps;
}
