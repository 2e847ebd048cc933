//===- Sorts.cpp - Sorts of dims and of their blocks ----------------------===//

#include "LocalOps.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// The order that a sort has, as a key.
static std::optional<SmallVector<int64_t>> getOrderKey(SortOp op) {
  llvm::DenseMap<Value, int64_t> numbers;
  auto pointer = [](const void *p) { return int64_t(intptr_t(p)); };
  SmallVector<int64_t> key{int64_t(op.getDimension())};
  Block &body = op->getRegion(0).front();
  for (Value argument : body.getArguments())
    numbers[argument] = numbers.size();
  for (Operation &nested : body) {
    key.append(
        {pointer(nested.getName().getAsOpaquePointer()), pointer(nested.getAttrDictionary().getAsOpaquePointer())});
    if (nested.getNumRegions())
      return std::nullopt;
    for (Value operand : nested.getOperands()) {
      // A number of the program around the sort is a constant of the order.
      auto constant = operand.getDefiningOp();
      Attribute value;
      if (auto it = numbers.find(operand); it != numbers.end())
        key.append({0, it->second});
      else if (constant && matchPattern(constant, m_Constant(&value)))
        key.append({1, pointer(value.getAsOpaquePointer())});
      else
        return std::nullopt;
    }
    for (Value result : nested.getResults())
      numbers[result] = numbers.size();
  }
  return key;
}

std::optional<SmallVector<int64_t>> GlobalProgram::getSortKey(SortOp op, ArrayRef<ClassId> operands) const {
  std::optional<SmallVector<int64_t>> order = getOrderKey(op);
  if (!order)
    return std::nullopt;
  SmallVector<int64_t> key{SortKey, int64_t(operands.size())};
  key.append(operands.begin(), operands.end());
  key.append(*order);
  return key;
}

void GlobalProgram::addSort(SortOp op) {
  SmallVector<ClassId> operands;
  for (Value input : op->getOperands())
    if (std::optional<ClassId> id = getClass(input))
      operands.push_back(*id);
  std::optional<SmallVector<int64_t>> key;
  if (operands.size() == op->getNumOperands())
    key = getSortKey(op, operands);
  int64_t dim = op.getDimension(), sorted = op.getSortedSize(), kept = op.getKeptSize();
  for (auto [r, result] : llvm::enumerate(op->getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!key || !type || !type.hasStaticShape()) {
      addOpaque(result);
      continue;
    }
    // All elements in their order, of which the op may keep the first or the last ones.
    key->push_back(r);
    SmallVector<ClassId, 1> &known = keys[*key];
    key->pop_back();
    ClassId all = known.empty() ? create({}) : known.front();
    if (known.empty()) {
      SmallVector<int64_t> shape(type.getShape());
      shape[dim] = sorted;
      classes[all].type = type.clone(shape);
      classes[all].loc = op.getLoc();
      for (int64_t size : shape)
        classes[all].isUniform.push_back(size == 1);
      known.push_back(all);
    }
    values[result] = kept == sorted ? all : addSlice(all, type, dim, op.getLast() ? sorted - kept : 0);
  }
}

ClassId GlobalProgram::getCandidates(const Candidates &of, RankedTensorType type) {
  for (auto &[id, known] : candidates)
    if (known == of && classes[id].type == type)
      return id;
  ClassInfo info;
  info.type = type;
  info.loc = classes[of.operands[of.result]].loc;
  info.isOwn = true;
  for (int64_t size : type.getShape())
    info.isUniform.push_back(size == 1);
  ClassId id = create(std::move(info));
  for (ClassId operand : of.operands)
    for (const RankDigit &rank : classes[operand].varying)
      if (!without(classes[id].varying, rank))
        classes[id].varying = unite(classes[id].varying, rank);
  candidates.emplace(id, of);
  return id;
}

const Candidates *GlobalProgram::findCandidates(ClassId id) const {
  auto it = candidates.find(id);
  return it == candidates.end() ? nullptr : &it->second;
}

namespace {
/// Looks for the sort of the unsharded program that a local one is, or is a part of:
///
///   1. `matchWhole`   every device has all of the dim
///   2. `matchBlocks`  a device has one block of the dim, and keeps candidates of it
///   3. `matchAgain`   every device has the candidates of all blocks: what all of them keep is among these, in its
///   order
class SortMatch {
public:
  SortMatch(SortOp op, LocalValues &values)
      : op(op), values(values), global(values.global), dim(op.getDimension()), sortedSize(op.getSortedSize()),
        kept(op.getKeptSize()) {}
  void match();

private:
  bool isSplat(const Fact &fact) const { return global[fact.value].splat || global[fact.value].isUndefined; }
  /// True if every device has all elements along the dim, as many as are sorted here.
  bool isWhole(const Fact &fact) const;
  /// True if a device has one of equal blocks, which are in the order of the dim.
  bool isBlock(const Fact &fact) const;
  /// The classes of all operands in the layout of `first`; constants have any. Empty if one has no such fact.
  SmallVector<ClassId> getClassesLike(const Fact &first) const;
  void matchWhole(const Fact &first);
  void matchBlocks(const Fact &first);
  void matchAgain(const Fact &first);
  /// Adds what the sort `key` of the unsharded program gives, in the layout of `first` along the other dims.
  void addSorted(SmallVector<int64_t> key, const Fact &first, StringRef rule);

  SortOp op;
  LocalValues &values;
  GlobalProgram &global;
  unsigned dim;
  int64_t sortedSize, kept;                ///< elements along the dim, of the operands and of the results
  std::vector<SmallVector<Fact, 2>> facts; ///< of the operands
};
} // namespace

void proof::visitSort(SortOp op, LocalValues &values) { SortMatch(op, values).match(); }

void SortMatch::match() {
  for (Value operand : op->getOperands()) {
    if (values.passGap(*op, operand))
      return;
    facts.emplace_back(values.getFacts(operand));
  }
  for (const Fact &first : facts.front()) {
    if (isSplat(first) || !global[first.value].type || !first.partial.empty() || first.dims.size() <= dim)
      continue;
    if (isWhole(first)) {
      matchWhole(first);
      matchAgain(first);
    } else if (isBlock(first)) {
      matchBlocks(first);
    }
  }
  values.setGap(op, Outcome::Undecided, "no sort of the unsharded program has these operands along a full dim",
                op->getName().getStringRef());
}

bool SortMatch::isWhole(const Fact &fact) const {
  const DimFact &along = fact.dims[dim];
  return along.size == sortedSize && (!along.form || *along.form == IndexForm::ofLoop(dim, along.size));
}

bool SortMatch::isBlock(const Fact &fact) const {
  const DimFact &along = fact.dims[dim];
  if (!along.form || !along.form->hasRank() || along.form->getConstant() != 0 || !along.form->isBijective() ||
      along.form->getRange().second + 1 != along.size || !global[fact.value].varying.empty())
    return false;
  // The index in the block is the smallest digit.
  return llvm::all_of(along.form->getTerms(), [&](const IndexTerm &term) {
    return term.kind == IndexTerm::Kind::Rank ? term.coef % sortedSize == 0
                                              : term.coef == 1 && term.lo == 1 && term.size == sortedSize;
  });
}

SmallVector<ClassId> SortMatch::getClassesLike(const Fact &first) const {
  SmallVector<ClassId> classes;
  for (ArrayRef<Fact> choices : facts) {
    const Fact *like = llvm::find_if(choices, [&](const Fact &fact) {
      if (!fact.partial.empty() || fact.dims.size() != first.dims.size())
        return false;
      return isSplat(fact) || llvm::all_of(llvm::zip_equal(fact.dims, first.dims), [](auto pair) {
               auto [is, should] = pair;
               // The only index of a dim of one element.
               bool isOne = is.size == 1 && !is.hasPadding() && !should.hasPadding();
               // Without a form all elements along the dim are equal.
               return is.size == should.size && (!is.form || is.form == should.form || isOne);
             });
    });
    if (like == choices.end())
      return {};
    classes.push_back(like->value);
  }
  return classes;
}

void SortMatch::addSorted(SmallVector<int64_t> key, const Fact &first, StringRef rule) {
  for (auto [r, result] : llvm::enumerate(op->getResults())) {
    key.push_back(r);
    ArrayRef<ClassId> found = global.find(key);
    key.pop_back();
    if (found.empty())
      continue;
    Fact sorted = first;
    sorted.value = found.front();
    int64_t size = global[sorted.value].type.getDimSize(dim);
    sorted.dims[dim] = {size, IndexForm::ofLoop(dim, kept).plus(op.getLast() ? size - kept : 0), {}};
    if (size == 1)
      sorted.dims[dim].form = std::nullopt;
    for (DimFact &part : sorted.dims)
      part.padding = {};
    values.addFact(result, sorted);
    values.count(rule);
  }
}

void SortMatch::matchWhole(const Fact &first) {
  SmallVector<ClassId> classes = getClassesLike(first);
  if (classes.empty())
    return;
  if (std::optional<SmallVector<int64_t>> key = global.getSortKey(op, classes))
    addSorted(*key, first, "sort of a dim that every device has");
}

void SortMatch::matchBlocks(const Fact &first) {
  SmallVector<ClassId> classes = getClassesLike(first);
  std::optional<SmallVector<int64_t>> key;
  if (!classes.empty())
    key = global.getSortKey(op, classes);
  if (!key)
    return;
  int64_t block = sortedSize;
  for (auto [r, result] : llvm::enumerate(op->getResults())) {
    key->push_back(r);
    bool isSorted = !global.find(*key).empty();
    key->pop_back();
    if (!isSorted || !global[classes[r]].type)
      continue;
    Fact candidates = first;
    DimFact &along = candidates.dims[dim];
    IndexForm form = IndexForm::ofLoop(dim, kept);
    for (const IndexTerm &term : first.dims[dim].form->getTerms())
      if (term.kind == IndexTerm::Kind::Rank)
        form = *form.plus(IndexForm::ofRank({term.lo, term.size}), term.coef / block * kept);
    along = {along.size / block * kept, form, {}};
    SmallVector<int64_t> shape;
    for (DimFact &part : candidates.dims) {
      part.padding = {};
      shape.push_back(part.size);
    }
    candidates.value =
        global.getCandidates({classes, unsigned(r), block, kept, op.getLast()}, global[classes[r]].type.clone(shape));
    values.addFact(result, candidates);
    values.count("sort of each block of a dim");
  }
}

void SortMatch::matchAgain(const Fact &first) {
  const Candidates *given = global.findCandidates(first.value);
  if (!given || given->result != 0 || given->operands.size() != op->getNumOperands())
    return;
  Candidates of = *given;
  // The first ones of all are among the first ones of each block, if no fewer are kept there.
  bool hasAll = of.kept == of.block;
  if (!hasAll && (of.last != op.getLast() || kept > of.kept))
    return;
  SmallVector<ClassId> classes = getClassesLike(first);
  for (auto [n, id] : llvm::enumerate(classes)) {
    of.result = n;
    const Candidates *other = global.findCandidates(id);
    if (!other || !(*other == of))
      return;
  }
  if (std::optional<SmallVector<int64_t>> key = classes.empty() ? std::nullopt : global.getSortKey(op, of.operands))
    addSorted(*key, first, "sort of the candidates of all blocks");
}
