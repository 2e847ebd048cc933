//===- Relation.cpp - What a local value holds ----------------------------===//

#include "shardkit/Proof/Relation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// Lanes of a window that are looked at.
static constexpr int64_t kMaxLanes = int64_t(1) << 14;

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

std::string proof::toString(llvm::ArrayRef<RankDigit> ranks, const Mesh *mesh) {
  std::string text = "{";
  DimEntries entries;
  bool areAxes = mesh && llvm::all_of(ranks, [&](const RankDigit &rank) { return appendAxes(rank, *mesh, entries); });
  if (areAxes)
    return text + spmd::toString(entries, *mesh) + "}";
  for (const RankDigit &rank : ranks)
    text +=
        (text.size() > 1 ? ", rank / " : "rank / ") + std::to_string(rank.stride) + " mod " + std::to_string(rank.size);
  return text + "}";
}

bool proof::overlap(llvm::ArrayRef<RankDigit> a, llvm::ArrayRef<RankDigit> b) {
  for (const RankDigit &x : a)
    for (const RankDigit &y : b)
      if ((x.stride < y.stride * y.size && y.stride < x.stride * x.size) ||
          (x.size > 1 && y.size > 1 && getOrder(x.stride) != getOrder(y.stride)))
        return true;
  return false;
}

llvm::SmallVector<RankDigit, 2> proof::unite(llvm::ArrayRef<RankDigit> a, llvm::ArrayRef<RankDigit> b) {
  llvm::SmallVector<RankDigit, 2> all(a.begin(), a.end());
  all.append(b.begin(), b.end());
  coalesce(all);
  return all;
}

std::optional<llvm::SmallVector<RankDigit, 2>> proof::without(llvm::ArrayRef<RankDigit> ranks,
                                                              llvm::ArrayRef<RankDigit> removed) {
  llvm::SmallVector<RankDigit, 2> rest(ranks.begin(), ranks.end());
  for (const RankDigit &digit : removed) {
    int64_t lo = digit.stride, hi = digit.stride * digit.size;
    if (lo == hi)
      continue;
    auto it = llvm::find_if(rest, [&](const RankDigit &other) {
      int64_t otherHi = other.stride * other.size;
      return other.stride <= lo && hi <= otherHi && lo % other.stride == 0 && otherHi % hi == 0;
    });
    if (it == rest.end())
      return std::nullopt;
    RankDigit below{it->stride, lo / it->stride}, above{hi, it->stride * it->size / hi};
    rest.erase(it);
    if (below.size > 1)
      rest.push_back(below);
    if (above.size > 1)
      rest.push_back(above);
  }
  coalesce(rest);
  return rest;
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

bool Fact::isFull() const {
  if (!partial.empty())
    return false;
  for (auto [d, dim] : llvm::enumerate(dims))
    if (dim.form && *dim.form != IndexForm::ofLoop(d, dim.size))
      return false;
  return true;
}

bool Fact::hasUnknownPadding() const {
  return llvm::any_of(dims, [](const DimFact &dim) { return dim.hasPadding() && !dim.padding; });
}

std::string Fact::toString(const Mesh *mesh) const {
  std::string text = "[";
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (d)
      text += ", ";
    text += dim.form ? dim.form->toString(mesh) : "any";
  }
  text += "]";
  if (!partial.empty())
    text += ", partial " + stringifyReductionKind(kind).str() + " over " + proof::toString(partial, mesh);
  return text;
}

Fact proof::getFact(ClassId value, const Layout &layout) {
  Fact fact{value, {}, {}};
  for (auto [form, size] : llvm::zip_equal(getIndexForms(layout), layout.shape))
    fact.dims.push_back({size, form, {}});
  fact.partial.assign(layout.partial.begin(), layout.partial.end());
  if (!fact.partial.empty())
    fact.kind = layout.partialKind;
  return fact;
}

Fact proof::getFullFact(ClassId value, ArrayRef<int64_t> shape) {
  Fact fact{value, {}, {}};
  for (auto [d, size] : llvm::enumerate(shape))
    fact.dims.push_back({size, IndexForm::ofLoop(d, size), {}});
  return fact;
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

/// The variable of an index of the collective's own value.
static constexpr unsigned kOwn = 1u << 20;

/// Digits of ranks and of the local index as digits of the own index, and back.
static void appendRenames(const IndexForm &form, bool toOwn, llvm::SmallVectorImpl<IndexForm::Renamed> &map,
                          bool ranksOnly = false) {
  for (const IndexTerm &term : form.getTerms()) {
    if (ranksOnly && term.kind != IndexTerm::Kind::Rank)
      continue;
    if (toOwn)
      map.push_back({term.kind, term.var, term.lo, term.size, IndexTerm::Kind::Loop, kOwn, term.coef});
    else
      map.push_back({IndexTerm::Kind::Loop, kOwn, term.coef, term.size, term.kind, term.var, term.lo});
  }
}

/// True if the indices of a dim depend on those of the local tensor.
static bool hasLoop(const IndexForm &form) {
  return llvm::any_of(form.getTerms(), [](const IndexTerm &term) { return term.kind == IndexTerm::Kind::Loop; });
}

/// True if a window of what each device has of a dim reaches beyond that only where it reaches beyond the dim. `own` is
/// the index in the dim of what a device has, of `size` elements, and `target` the one that a lane of the window has.
///
///   shards of 3 of 6, window of 4 from -1 on     own 3 x + i, target x + i0 - 1: lanes -1 of 0 and 6 of 1
static bool reachesPaddingOnly(const IndexForm &own, const IndexForm &target, int64_t size, const DimFact &dim) {
  if (own.hasScalar() || target.hasScalar() || isUnknownSize(size) || isUnknownSize(dim.size))
    return false;
  // Digits that both have, as factors of a sum that has no other use.
  std::optional<IndexForm> both = target.plus(own, kFirstUnknownSize);
  if (!both)
    return false;
  llvm::SmallVector<IndexTerm> digits;
  int64_t count = 1;
  for (const IndexTerm &term : both->getTerms())
    if (term.kind == IndexTerm::Kind::Rank || term.var != kOwn) {
      digits.push_back(term);
      count *= term.size;
      if (count > kMaxLanes || getOrder(term.lo) > 0)
        return false;
    }
  int64_t rankSize = 1;
  for (const IndexTerm &term : digits)
    rankSize = std::max(rankSize, int64_t(term.var) + 1);
  for (int64_t lane = 0; lane < count; ++lane) {
    int64_t rank = 0, rest = lane;
    llvm::SmallVector<int64_t> loops(rankSize, 0);
    for (const IndexTerm &term : digits) {
      (term.kind == IndexTerm::Kind::Rank ? rank : loops[term.var]) += rest % term.size * term.lo;
      rest /= term.size;
    }
    int64_t local = target.evaluate(rank, loops);
    if (local >= 0 && local < size)
      continue;
    // The index that the device would have there.
    std::optional<IndexForm> at = own.substitute(kOwn, size, IndexForm(local));
    if (!at)
      return false;
    int64_t index = at->evaluate(rank, loops);
    if (index >= 0 && index < dim.size)
      return false;
  }
  return true;
}

std::optional<Fact> proof::applyMove(const Fact &fact, const Move &move, const Mesh *mesh, std::string &why,
                                     bool &isModelled) {
  isModelled = true;
  Fact result = fact;
  if (fact.dims.size() != move.from.shape.size() || move.from.shape.size() != move.to.shape.size()) {
    isModelled = false;
    why = "a collective that changes the rank of a value";
    return std::nullopt;
  }
  // Reductions.
  llvm::SmallVector<RankDigit, 2> reduced(move.from.partial.begin(), move.from.partial.end());
  if (!reduced.empty()) {
    std::optional<llvm::SmallVector<RankDigit, 2>> rest = without(fact.partial, reduced);
    if (rest && fact.kind == move.from.partialKind) {
      result.partial = *rest;
      // Lanes of padding are combined as well.
      for (DimFact &dim : result.dims)
        if (!isIdempotent(fact.kind) && !(fact.kind == ReductionKind::Sum && dim.padding == move.zero))
          dim.padding = {};
    } else if (!rest && !overlap(fact.partial, reduced) && isIdempotent(move.from.partialKind)) {
      // Combining equal values changes nothing. Shards of different elements are not equal.
      for (const DimFact &dim : fact.dims)
        if (dim.form && overlap(dim.form->getRanks(), reduced)) {
          why = "combines different elements: the operand is sharded over " + proof::toString(reduced, mesh);
          // A reduction of one local element may have been folded away before.
          isModelled = hasLoop(*dim.form);
          return std::nullopt;
        }
    } else {
      // A sum of one local element may be that element under another name.
      isModelled = llvm::none_of(fact.dims, [&](const DimFact &dim) {
        return dim.form && overlap(dim.form->getRanks(), reduced) && !hasLoop(*dim.form);
      });
      why = "reduces (" + stringifyReductionKind(move.from.partialKind).str() + ") over " +
            proof::toString(reduced, mesh) + ", but the operand is " +
            (fact.partial.empty() ? std::string("complete")
                                  : "partial (" + stringifyReductionKind(fact.kind).str() + ") over " +
                                        proof::toString(fact.partial, mesh));
      return std::nullopt;
    }
  }
  llvm::SmallVector<IndexForm, 4> from = getIndexForms(move.from), to = getIndexForms(move.to);
  for (auto [d, form] : llvm::enumerate(to))
    if (d < move.added.size() && move.added[d]) {
      std::optional<IndexForm> sum = form.plus(*move.added[d]);
      if (!sum) {
        isModelled = false;
        return std::nullopt;
      }
      form = *sum;
    }
  // The ranks along which data move: those of dims that change.
  llvm::SmallVector<RankDigit, 4> moved;
  for (auto [source, target] : llvm::zip_equal(from, to))
    if (source != target) {
      moved.append(source.getRanks());
      moved.append(target.getRanks());
    }
  if (overlap(result.partial, moved)) {
    why = "moves elements along " + proof::toString(result.partial, mesh) + ", over which the operand is partial";
    return std::nullopt;
  }
  bool addsPadding = false;
  for (auto [d, dim] : llvm::enumerate(result.dims)) {
    int64_t size = move.from.shape[d];
    const IndexForm &source = from[d], &target = to[d];
    if (!dim.form) {
      // Around equal elements are zeros as well.
      if (moved.empty() || target.isInside(size))
        continue;
      isModelled = false;
      why = "pads some of dim " + std::to_string(d) + ", whose elements are equal";
      if (size != dim.size)
        return std::nullopt;
      isModelled = true;
      dim.form = target;
      dim.padding = move.zero;
      addsPadding = true;
      continue;
    }
    // Ranks of this dim that the collective does not take from it.
    auto movesOthers = [&](const IndexForm &others) {
      if (move.isLocal || !overlap(others.getRanks(), moved))
        return false;
      why = "moves elements along " + proof::toString(moved, mesh) + ", but dim " + std::to_string(d) +
            " of the operand is " + dim.form->toString(mesh);
      // The one local element of a dim may be meant as one of another dim.
      isModelled = hasLoop(*dim.form);
      return true;
    };
    if (source == target) {
      if (movesOthers(*dim.form))
        return std::nullopt;
      // Elements alone move.
      if (!moved.empty() && dim.padding != move.zero)
        dim.padding = {};
      continue;
    }
    bool fromEven = source.isBijective() && source.getConstant() == 0 && source.getRange().second == size - 1;
    // The index of the global value by that of the own value.
    std::optional<IndexForm> own;
    bool isOuter = true; // the own value is not all of the dim
    if (fromEven) {
      for (const RankDigit &rank : source.getRanks())
        if (!overlap(dim.form->getRanks(), rank) && size > 1) {
          why = "moves shards of dim " + std::to_string(d) + " along " + proof::toString(rank, mesh) +
                ", along which they are equal";
          isModelled = false; // equal shards may be meant
          return std::nullopt;
        }
      llvm::SmallVector<IndexForm::Renamed, 4> map;
      appendRenames(source, /*toOwn=*/true, map);
      own = dim.form->rename(map);
      isOuter = !own || *own != IndexForm::ofLoop(kOwn, dim.size) || size != dim.size;
    } else if (source == *dim.form && size == dim.size) {
      own = IndexForm::ofLoop(kOwn, size);
      isOuter = false;
    }
    if (!own) {
      // The elements of the owners may be the same all the same.
      isModelled = false;
      why = "expects dim " + std::to_string(d) + " as " + source.toString(mesh) + ", but the operand has " +
            dim.form->toString(mesh);
      return std::nullopt;
    }
    if (movesOthers(*own))
      return std::nullopt;
    auto [low, high] =
        target.getConstant() || target.hasScalar() ? std::pair<int64_t, int64_t>(-1, size) : target.getRange();
    bool keepsPadding = false;
    bool toEven = !target.hasScalar() && target.isBijective() && low == 0 && high == size - 1;
    std::optional<IndexForm> next;
    if (toEven) {
      llvm::SmallVector<IndexForm::Renamed, 4> map;
      appendRenames(target, /*toOwn=*/false, map);
      next = own->rename(map);
    } else {
      bool isBeyond = target.hasScalar() || target.getRange().first < 0 || target.getRange().second >= size;
      keepsPadding = isOuter && isBeyond && reachesPaddingOnly(*own, target, size, dim);
      if (isOuter && isBeyond && !keepsPadding) {
        isModelled = false;
        why = "pads some of dim " + std::to_string(d) + " of " + std::to_string(dim.size) + ", " +
              dim.form->toString(mesh);
        return std::nullopt;
      }
      // The index in all of a dim. That of one element has no digits which could be replaced.
      next = isOuter ? own->substitute(kOwn, size, target) : std::optional(target);
    }
    if (!next || next->uses(IndexTerm::Kind::Loop, kOwn)) {
      isModelled = false;
      why = "digits of dim " + std::to_string(d) + " that cross";
      return std::nullopt;
    }
    if (keepsPadding)
      dim.padding = dim.hasPadding() && dim.padding != move.zero ? Attribute() : move.zero;
    else
      dim.padding = isOuter ? Attribute() : move.zero;
    dim.form = *next;
    addsPadding |= dim.hasPadding();
  }
  // A lane that is outside of two dims has the zero of the one that moved.
  if (addsPadding)
    for (DimFact &dim : result.dims)
      if (dim.padding != move.zero)
        dim.padding = {};
  return result;
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

std::optional<Fact> proof::applyReshape(const Fact &fact, llvm::ArrayRef<int64_t> localShape,
                                        llvm::ArrayRef<int64_t> localResult, ClassId value,
                                        llvm::ArrayRef<int64_t> globalResult) {
  Fact result{value, {}, fact.partial, fact.kind};
  size_t a = 0, b = 0, rankIn = localShape.size(), rankOut = localResult.size();
  while (a < rankIn || b < rankOut) {
    // The smallest groups of dims that have equal numbers of elements on both sides, globally and locally.
    size_t beginIn = a, beginOut = b;
    int64_t globalIn = 1, globalOut = 1, localIn = 1, localOut = 1;
    // Products of sizes that only the run knows are not told apart.
    bool isKnown = true;
    auto multiply = [&](int64_t &product, int64_t size) {
      isKnown &= !(isUnknownSize(product) && size != 1) && !(isUnknownSize(size) && product != 1);
      product *= isKnown ? size : 1;
    };
    auto takeIn = [&] {
      multiply(globalIn, fact.dims[a].size);
      multiply(localIn, localShape[a++]);
    };
    auto takeOut = [&] {
      multiply(globalOut, globalResult[b]);
      multiply(localOut, localResult[b++]);
    };
    if (a < rankIn)
      takeIn();
    if (b < rankOut)
      takeOut();
    while (globalIn != globalOut || localIn != localOut) {
      if (!isKnown)
        return std::nullopt;
      if ((globalIn < globalOut || (globalIn == globalOut && localIn < localOut)) && a < rankIn)
        takeIn();
      else if (b < rankOut && (globalOut < globalIn || localOut < localIn))
        takeOut();
      else
        return std::nullopt;
    }
    if (!isKnown)
      return std::nullopt;
    // Dims of one element may stand on either side.
    while (b == rankOut && a < rankIn && fact.dims[a].size == 1 && localShape[a] == 1)
      takeIn();
    while (a == rankIn && b < rankOut && globalResult[b] == 1 && localResult[b] == 1)
      ++b;
    // A dim next to dims of one element stays as it is.
    llvm::SmallVector<unsigned, 4> dimsIn, dimsOut;
    for (size_t d = beginIn; d < a; ++d) {
      if (fact.dims[d].size != 1 || localShape[d] != 1)
        dimsIn.push_back(d);
      else if (fact.dims[d].hasPadding())
        return std::nullopt; // some devices have none of the value
    }
    for (size_t d = beginOut; d < b; ++d)
      if (globalResult[d] != 1 || localResult[d] != 1)
        dimsOut.push_back(d);
    if (dimsIn.size() <= 1 && dimsOut.size() == dimsIn.size()) {
      for (size_t d = beginOut; d < b; ++d) {
        if (!llvm::is_contained(dimsOut, d)) {
          result.dims.push_back({1, IndexForm(0), {}});
          continue;
        }
        DimFact dim = fact.dims[dimsIn[0]];
        if (dim.form)
          dim.form = dim.form->rename(
              {{IndexTerm::Kind::Loop, dimsIn[0], 1, localShape[dimsIn[0]], IndexTerm::Kind::Loop, unsigned(d), 1}});
        result.dims.push_back(dim);
      }
      continue;
    }
    bool allAny = true, noneAny = true;
    for (size_t d = beginIn; d < a; ++d)
      if (fact.dims[d].size != 1)
        (fact.dims[d].form ? allAny : noneAny) = false;
    if (allAny) {
      for (size_t d = beginOut; d < b; ++d)
        result.dims.push_back({globalResult[d], std::nullopt, {}});
      continue;
    }
    // Of equal elements any will do: each device has all of them.
    bool areWhole = llvm::all_of(llvm::seq<size_t>(beginIn, a),
                                 [&](size_t d) { return fact.dims[d].form || localShape[d] == fact.dims[d].size; });
    if (!noneAny && !areWhole)
      return std::nullopt;
    // One index of the group, by ranks and one local index.
    IndexForm flat;
    llvm::SmallVector<IndexForm::Renamed, 4> flatten, expand;
    int64_t globalStride = 1, localStride = 1;
    for (size_t d = a; d-- > beginIn;) {
      const DimFact &dim = fact.dims[d];
      if (dim.hasPadding() || (dim.form && dim.form->hasScalar()))
        return std::nullopt;
      flatten.push_back(
          {IndexTerm::Kind::Loop, unsigned(d), 1, localShape[d], IndexTerm::Kind::Loop, kOwn, localStride});
      if (dim.form || dim.size > 1) {
        std::optional<IndexForm> renamed = dim.form.value_or(IndexForm::ofLoop(d, dim.size)).rename(flatten.back());
        std::optional<IndexForm> sum = renamed ? flat.plus(*renamed, globalStride) : std::nullopt;
        if (!sum)
          return std::nullopt;
        flat = *sum;
      }
      globalStride *= dim.size;
      localStride *= localShape[d];
    }
    localStride = 1;
    for (size_t d = b; d-- > beginOut;) {
      if (localResult[d] > 1)
        expand.push_back(
            {IndexTerm::Kind::Loop, kOwn, localStride, localResult[d], IndexTerm::Kind::Loop, unsigned(d), 1});
      localStride *= localResult[d];
    }
    std::optional<IndexForm> expanded = flat.rename(expand);
    if (!expanded || expanded->uses(IndexTerm::Kind::Loop, kOwn))
      return std::nullopt;
    llvm::SmallVector<DimFact, 4> dims(b - beginOut);
    int64_t stride = 1;
    for (size_t d = b; d-- > beginOut;) {
      std::optional<IndexForm> digit = expanded->dividedBy(stride);
      digit = digit ? digit->modulo(globalResult[d]) : std::nullopt;
      if (!digit)
        return std::nullopt;
      // Each dim has an index of its own.
      for (const IndexTerm &term : digit->getTerms())
        if (term.kind == IndexTerm::Kind::Loop && term.var != d)
          return std::nullopt;
      dims[d - beginOut] = {globalResult[d], *digit, {}};
      stride *= globalResult[d];
    }
    result.dims.append(dims.begin(), dims.end());
  }
  if (result.dims.size() != globalResult.size())
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// The digits that are zero in all lanes that are inside of all dims: with another value of one, the index is beyond
/// its dim.
static llvm::SmallVector<IndexTerm, 4> findZeroDigits(const Fact &fact) {
  llvm::SmallVector<IndexTerm, 4> zeros;
  for (const DimFact &dim : fact.dims) {
    if (!dim.form || dim.form->hasScalar() || dim.form->getRange().first < dim.form->getConstant())
      continue;
    for (const IndexTerm &term : dim.form->getTerms())
      if (dim.form->getConstant() + term.coef >= dim.size)
        zeros.push_back(term);
  }
  return zeros;
}

/// `form` where these digits are zero.
static IndexForm dropDigits(const IndexForm &form, llvm::ArrayRef<IndexTerm> zeros) {
  llvm::SmallVector<IndexTerm, 4> kept;
  for (const IndexTerm &term : form.getTerms())
    if (llvm::none_of(zeros, [&](const IndexTerm &zero) {
          return zero.kind == term.kind && zero.var == term.var && zero.lo <= term.lo && term.hi() <= zero.hi();
        }))
      kept.push_back(term);
  return IndexForm::ofTerms(form.getConstant(), kept);
}

bool proof::haveSameElements(const Fact &found, const Fact &expected, int64_t numDevices,
                             llvm::ArrayRef<int64_t> localShape, int64_t &rank, llvm::SmallVectorImpl<int64_t> &index) {
  bool same = found.dims.size() == expected.dims.size();
  if (!same)
    return false;
  unsigned rankOfValue = found.dims.size();
  llvm::SmallVector<std::pair<int64_t, llvm::SmallVector<int64_t>>> lanes;
  llvm::SmallVector<int64_t> zero(rankOfValue, 0);
  lanes.push_back({0, zero});
  llvm::SmallVector<IndexTerm, 4> zeros = findZeroDigits(expected);
  for (auto [d, pair] : llvm::enumerate(llvm::zip_equal(found.dims, expected.dims))) {
    auto &[a, b] = pair;
    if (!a.form || (b.form && dropDigits(*a.form, zeros) == dropDigits(*b.form, zeros)))
      continue;
    // Only the first index is inside of a dim of one element.
    if (!b.form || (b.size == 1 && *a.form == IndexForm(0)))
      continue;
    same = false;
    for (const IndexForm *form : {&*a.form, &*b.form})
      for (const IndexTerm &term : form->getTerms()) {
        if (term.kind == IndexTerm::Kind::Rank)
          lanes.push_back({term.lo, zero});
        if (term.kind == IndexTerm::Kind::Loop && term.lo < localShape[d]) {
          lanes.push_back({0, zero});
          lanes.back().second[d] = term.lo;
        }
      }
  }
  if (same)
    return true;
  // Of ranks in several orders, not all choices of digits are those of a device.
  rank = -1;
  if (llvm::any_of(lanes, [](const auto &lane) { return getOrder(lane.first) > 0; }))
    return false;
  for (auto &[laneRank, lane] : lanes) {
    bool differs = false, inside = true;
    for (auto [a, b] : llvm::zip_equal(found.dims, expected.dims)) {
      if (!a.form || !b.form || a.form->hasScalar() || b.form->hasScalar())
        continue;
      int64_t is = a.form->evaluate(laneRank, lane), should = b.form->evaluate(laneRank, lane);
      differs |= is != should;
      inside &= should >= 0 && should < b.size;
    }
    if (differs && inside && laneRank < numDevices) {
      rank = laneRank;
      index.assign(lane.begin(), lane.end());
      return false;
    }
  }
  rank = -1;
  return false;
}
