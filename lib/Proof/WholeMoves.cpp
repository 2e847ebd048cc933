//===- WholeMoves.cpp - Shards that change devices, and that are joined ---===//

#include "LocalOps.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// Indices of the moved value, dim by dim: no loops of an op have these numbers.
static constexpr unsigned kFirstOwn = 1u << 20;

/// `form` without the terms of ranks.
static SmallVector<IndexTerm> getLocalTerms(const IndexForm &form) {
  return llvm::filter_to_vector(form.getTerms(),
                                [](const IndexTerm &term) { return term.kind != IndexTerm::Kind::Rank; });
}

namespace {
/// The digits of the device that a device receives from, by its own digits.
struct Senders {
  SmallVector<IndexForm::Renamed, 4> toOwn, fromOwn;
  std::optional<IndexForm> apply(const IndexForm &form) const {
    std::optional<IndexForm> own = form.rename(toOwn);
    return own ? own->rename(fromOwn) : std::nullopt;
  }
};
} // namespace

/// std::nullopt if some device has a shard that others have, too, or receives other elements than one shard.
static std::optional<Senders> readSenders(const Move &move, int64_t numDevices) {
  SmallVector<IndexForm, 4> from = getIndexForms(move.from), to = getIndexForms(move.to);
  if (from.size() != to.size() || !move.from.partial.empty() || !move.to.partial.empty() || !move.added.empty())
    return std::nullopt;
  Senders senders;
  int64_t numFrom = 1, numTo = 1;
  for (auto [d, source, target] : llvm::enumerate(from, to)) {
    if (source.getConstant() || target.getConstant() || !source.isBijective() || !target.isBijective() ||
        source.getRange() != target.getRange() || getLocalTerms(source) != getLocalTerms(target))
      return std::nullopt;
    for (const IndexTerm &term : source.getTerms())
      if (term.kind == IndexTerm::Kind::Rank && getOrder(term.lo) == 0) {
        senders.toOwn.push_back(
            {term.kind, term.var, term.lo, term.size, IndexTerm::Kind::Loop, kFirstOwn + unsigned(d), term.coef});
        numFrom *= term.size;
      }
    for (const IndexTerm &term : target.getTerms())
      if (term.kind == IndexTerm::Kind::Rank && getOrder(term.lo) == 0) {
        senders.fromOwn.push_back(
            {IndexTerm::Kind::Loop, kFirstOwn + unsigned(d), term.coef, term.size, term.kind, term.var, term.lo});
        numTo *= term.size;
      }
  }
  if (numFrom != numDevices || numTo != numDevices)
    return std::nullopt;
  return senders;
}

std::optional<Fact> proof::applyPermutation(const Fact &fact, const Move &move, int64_t numDevices) {
  std::optional<Senders> senders = readSenders(move, numDevices);
  if (!senders)
    return std::nullopt;
  auto hasOther = [](ArrayRef<RankDigit> ranks) {
    return llvm::any_of(ranks, [](const RankDigit &rank) { return getOrder(rank.stride) > 0; });
  };
  auto usesOwn = [](const IndexForm &form) {
    return llvm::any_of(form.getTerms(), [](const IndexTerm &term) {
      return term.kind == IndexTerm::Kind::Loop && term.var >= kFirstOwn;
    });
  };
  Fact moved = fact;
  for (DimFact &dim : moved.dims) {
    if (!dim.form)
      continue;
    if (dim.form->hasScalar() || hasOther(dim.form->getRanks()))
      return std::nullopt;
    dim.form = senders->apply(*dim.form);
    if (!dim.form || usesOwn(*dim.form))
      return std::nullopt;
  }
  moved.partial.clear();
  if (hasOther(fact.partial))
    return std::nullopt;
  for (const RankDigit &rank : fact.partial) {
    std::optional<IndexForm> form = senders->apply(IndexForm::ofRank(rank));
    if (!form || usesOwn(*form))
      return std::nullopt;
    moved.partial = unite(moved.partial, form->getRanks());
  }
  return moved;
}

//===----------------------------------------------------------------------===//
// Windows that are joined
//===----------------------------------------------------------------------===//

/// Where the elements of a dim begin of which a value has `extent` in a row; std::nullopt if they are not in a row.
static std::optional<IndexForm> getBegin(const DimFact &dim, unsigned d, int64_t extent) {
  if (!dim.form || dim.form->hasScalar())
    return std::nullopt;
  std::optional<IndexForm> begin = dim.form->plus(IndexForm::ofLoop(d, extent), -1);
  return begin && !begin->uses(IndexTerm::Kind::Loop, d) ? begin : std::nullopt;
}

/// The same elements in all dims but `d`, over the same ranks.
static bool isBeside(const Fact &a, const Fact &b, unsigned d) {
  if (a.value != b.value || a.partial != b.partial || a.kind != b.kind || a.dims.size() != b.dims.size())
    return false;
  for (auto [i, dims] : llvm::enumerate(llvm::zip_equal(a.dims, b.dims))) {
    auto &[x, y] = dims;
    if (x.size != y.size || (i != d && x.form != y.form))
      return false;
  }
  return true;
}

/// Adds to the padding of dims what `other` has in lanes outside of them.
static void joinPadding(Fact &fact, const Fact &other, SmallVectorImpl<bool> &isKnown) {
  for (auto [i, dims] : llvm::enumerate(llvm::zip_equal(fact.dims, other.dims))) {
    auto &[dim, part] = dims;
    if (!part.hasPadding())
      continue;
    dim.padding = isKnown[i] && dim.padding != part.padding ? Attribute() : part.padding;
    isKnown[i] = true;
  }
}

void proof::visitWindowConcat(tensor::ConcatOp op, LocalValues &values) {
  unsigned d = op.getDim();
  OperandRange inputs = op.getInputs();
  auto getExtent = [&](Value value) { return cast<RankedTensorType>(value.getType()).getDimSize(d); };
  for (const Fact &first : SmallVector<Fact, 2>(values.getFacts(inputs[0]))) {
    std::optional<IndexForm> begin =
        first.dims.size() > d ? getBegin(first.dims[d], d, getExtent(inputs[0])) : std::nullopt;
    if (!begin)
      continue;
    Fact joined = first;
    for (DimFact &dim : joined.dims)
      dim.padding = {};
    SmallVector<bool> isKnown(joined.dims.size(), false);
    joinPadding(joined, first, isKnown);
    int64_t offset = getExtent(inputs[0]);
    bool isJoined = true;
    for (Value input : inputs.drop_front()) {
      ArrayRef<Fact> facts = values.getFacts(input);
      const Fact *next = llvm::find_if(facts, [&](const Fact &fact) {
        return isBeside(first, fact, d) && getBegin(fact.dims[d], d, getExtent(input)) == begin->plus(offset);
      });
      if (next == facts.end()) {
        isJoined = false;
        break;
      }
      joinPadding(joined, *next, isKnown);
      offset += getExtent(input);
    }
    std::optional<IndexForm> form = isJoined ? begin->plus(IndexForm::ofLoop(d, offset)) : std::nullopt;
    if (!form)
      continue;
    joined.dims[d].form = form;
    values.addFact(op.getResult(), joined);
    values.count("windows in a row");
  }
}
