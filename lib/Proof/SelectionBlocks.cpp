//===- SelectionBlocks.cpp - Selections in blocks ------------------------===//

#include "Selections.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

static std::optional<Selection> readSelection(const OpTerms &op) {
  SmallVector<Type> types;
  for (Value result : op.op.getResults())
    types.push_back(getElementTypeOrSelf(result.getType()));
  return Selection::read(op.inside, types, op.values.terms);
}

static SmallVector<int64_t> getKey(const Selection &selection) {
  SmallVector<int64_t> key(selection.terms.begin(), selection.terms.end());
  for (Attribute first : selection.first)
    key.push_back(intptr_t(first.getAsOpaquePointer()));
  for (Type type : selection.types)
    key.push_back(intptr_t(type.getAsOpaquePointer()));
  return key;
}

namespace {
/// The number of the block of a device, by its rank.
struct Blocks {
  IndexForm number;
  bool areInOrder; ///< the blocks follow each other in the order of the iterations
};
} // namespace

/// std::nullopt if the reduced loops of a device are no block.
static std::optional<Blocks> getBlocks(const OpTerms &op) {
  std::optional<unsigned> sharded;
  bool isFirst = true, isOutermost = true;
  for (unsigned l = 0; l < op.getNumLoops(); ++l) {
    if (!op.structured.isReduction[l])
      continue;
    const std::optional<IndexForm> &form = op.loops[l].form;
    if (form && form->hasRank()) {
      if (sharded)
        return std::nullopt;
      sharded = l;
      isOutermost = isFirst;
    } else if (form && *form != IndexForm::ofLoop(l, op.structured.extents[l])) {
      return std::nullopt;
    }
    isFirst = false;
  }
  if (!sharded)
    return std::nullopt;
  const IndexForm &form = *op.loops[*sharded].form;
  int64_t extent = op.structured.extents[*sharded];
  // Blocks of consecutive iterations.
  std::optional<IndexForm> number = form.plus(IndexForm::ofLoop(*sharded, extent), -1);
  number = number ? number->exactlyDividedBy(extent) : std::nullopt;
  if (number && number->getConstant() == 0 && number->isBijective() && !number->uses(IndexTerm::Kind::Loop, *sharded))
    return Blocks{*number, isOutermost};
  // Others are numbered by the digits of the rank, in the order of their factors.
  SmallVector<IndexTerm, 4> ranks;
  for (const IndexTerm &term : form.getTerms())
    if (term.kind == IndexTerm::Kind::Rank)
      ranks.push_back(term);
  llvm::sort(ranks, [](const IndexTerm &a, const IndexTerm &b) { return a.coef < b.coef; });
  int64_t stride = 1;
  for (IndexTerm &term : ranks) {
    term.coef = stride;
    stride *= term.size;
  }
  return Blocks{IndexForm::ofTerms(0, ranks), false};
}

std::optional<Fact> proof::getBlockChoice(const OpTerms &op, unsigned r, const Fact &fact,
                                          ArrayRef<int64_t> loopSizes) {
  GlobalProgram &global = op.values.global;
  if (fact.dims.empty() || !op.owned.empty() || !op.masked.empty() || op.partialKind)
    return std::nullopt;
  std::optional<Blocks> blocks = getBlocks(op);
  std::optional<Selection> selection = blocks ? readSelection(op) : std::nullopt;
  if (!selection)
    return std::nullopt;
  SelectionLaws laws = getLaws(*selection, op.values.terms);
  if (!laws.inBlocks || (!blocks->areInOrder && !laws.inAnyOrder))
    return std::nullopt;
  // What stands after the rows of a block are those of the next one.
  Fact choice = fact;
  DimFact &rows = choice.dims[0];
  if (rows.size == 1 && !rows.form)
    rows.form = IndexForm(0);
  if (!rows.form || rows.hasPadding() || rows.form->hasScalar() || isUnknownSize(rows.size))
    return std::nullopt;
  rows.form = rows.form->plus(blocks->number, rows.size);
  if (!rows.form)
    return std::nullopt;
  BlockChoice of{{}, getKey(*selection), r, fact.value, blocks->number.getRange().second + 1, {}};
  of.op.assign(op.inside.begin(), op.inside.end());
  of.op.append(loopSizes.begin(), loopSizes.end());
  for (unsigned l = 0; l < op.getNumLoops(); ++l)
    if (op.structured.isReduction[l] && op.loops[l].form)
      op.loops[l].form->appendKey(of.op);
  blocks->number.appendKey(of.op);
  llvm::append_range(of.loops, op.structured.resultLoops[r]);
  rows.size *= of.numBlocks;
  choice.value = global.getBlockChoice(of);
  // Elements of different rows of a choice are taken to differ.
  for (auto [d, dim] : llvm::enumerate(choice.dims)) {
    dim.padding = {};
    if (!dim.form && dim.size != 1)
      return std::nullopt;
  }
  return choice;
}

/// The loop of a sum; -1 for the only index of a dim, std::nullopt for another sum.
static std::optional<int64_t> getLoop(ArrayRef<int64_t> sum) {
  if (sum[0] != 0 || sum[1] > 1)
    return std::nullopt;
  if (sum[1] == 0)
    return -1;
  return sum[2] >= 0 && sum[3] == 1 ? std::optional(sum[2]) : std::nullopt;
}

namespace {
/// Compares what a selection takes with the choices of all blocks.
class ChoiceReader {
public:
  ChoiceReader(const OpTerms &op) : op(op), global(op.values.global) {}
  std::optional<ClassId> read(unsigned r);

private:
  /// The sums of a term at the number of a block, and at the dims of a choice.
  std::optional<SumList> getSums(TermId term, const BlockChoice &choice) const;
  /// True if the loop runs over all blocks, in their order.
  bool isOverBlocks(std::optional<int64_t> loop, int64_t numBlocks) const;
  /// True if the dims of a result are those of its choice, and the results are those of one tuple.
  bool readDims(unsigned result, const SumList &sums, const BlockChoice &choice);

  const OpTerms &op;
  GlobalProgram &global;
  std::map<int, int64_t> loopOf; ///< by the loops of the choice, those of the op
};
} // namespace

std::optional<SumList> ChoiceReader::getSums(TermId term, const BlockChoice &choice) const {
  auto [id, sums] = op.values.terms.getElement(term);
  RankedTensorType type = global[choice.of].type;
  if (global[id].type.getRank() == type.getRank() + 1 && global[id].type.getShape().drop_front() == type.getShape())
    return sums;
  // One row per block is read through.
  if (global[id].root != id || type.getDimSize(0) != 1)
    return std::nullopt;
  sums.insert(std::next(sums.begin()), SmallVector<int64_t, 6>{0, 0});
  return sums;
}

bool ChoiceReader::isOverBlocks(std::optional<int64_t> loop, int64_t numBlocks) const {
  if (!loop || *loop < 0 || !op.structured.isReduction[*loop] || op.structured.extents[*loop] != numBlocks ||
      op.loops[*loop].form != IndexForm::ofLoop(*loop, numBlocks))
    return false;
  for (unsigned l = 0; l < op.getNumLoops(); ++l)
    if (op.structured.isReduction[l] && int64_t(l) != *loop)
      return false;
  return true;
}

bool ChoiceReader::readDims(unsigned result, const SumList &sums, const BlockChoice &choice) {
  ArrayRef<int> resultLoops = op.structured.resultLoops[result];
  ArrayRef<int64_t> shape = global[choice.of].type.getShape();
  if (resultLoops.size() != shape.size() || sums.size() != shape.size() + 1)
    return false;
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (size == 1)
      continue;
    std::optional<int64_t> loop = getLoop(sums[d + 1]);
    if (!loop || *loop < 0 || *loop != resultLoops[d] || choice.loops[d] < 0 ||
        loopOf.try_emplace(choice.loops[d], *loop).first->second != *loop)
      return false;
    // What was assumed of the loop is that it is in this dim.
    if (op.usedAssumption && op.loops[*loop].size != size)
      return false;
  }
  return true;
}

std::optional<ClassId> ChoiceReader::read(unsigned r) {
  std::optional<Selection> selection = readSelection(op);
  if (!selection || op.partialKind || !op.owned.empty() || !op.masked.empty())
    return std::nullopt;
  std::optional<ClassId> found;
  const BlockChoice *first = nullptr;
  for (auto [k, taken] : llvm::enumerate(selection->taken)) {
    if (op.values.terms[taken].kind != Term::Kind::Element)
      return std::nullopt;
    const BlockChoice *choice = global.findBlockChoice(op.values.terms.getElement(taken).first);
    if (!choice || choice->result != k || choice->selection != getKey(*selection) ||
        (first && (first->op != choice->op || first->numBlocks != choice->numBlocks)))
      return std::nullopt;
    std::optional<SumList> sums = getSums(taken, *choice);
    if (!sums || !isOverBlocks(getLoop((*sums)[0]), choice->numBlocks) || !readDims(k, *sums, *choice))
      return std::nullopt;
    first = choice;
    if (k == r)
      found = choice->of;
  }
  return found;
}

std::optional<ClassId> proof::findChoice(const OpTerms &op, unsigned r) { return ChoiceReader(op).read(r); }
