//===- LocalValues.cpp - What is known of local values --------------------===//

#include "LocalValues.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// Layouts per pair of sizes that are kept.
static constexpr size_t kMaxSeenForms = 8;

/// More facts of one value are not kept: a value has few names.
static constexpr size_t kMaxFacts = 8;

LocalValues::LocalValues(GlobalProgram &global, TermTable &terms, const MeshCache &meshes, Proof &proof)
    : global(global), terms(terms), meshes(meshes),
      reader(terms, [this](Value value) { return getOuterScalar(value); }), proof(proof) {
  reader.isOfFunction = true;
  reader.getCoordinate = [this](Operation *op) { return getCoordinate(op); };
  reader.getLookup = [this](Value tensor, ArrayRef<TermId> indices) { return getLookup(tensor, indices); };
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

ArrayRef<Fact> LocalValues::getFacts(Value value) const {
  auto it = facts.find(value);
  return it == facts.end() ? ArrayRef<Fact>() : ArrayRef<Fact>(it->second);
}

bool LocalValues::isHeld(ClassId id) const {
  return llvm::any_of(facts, [&](const auto &entry) {
    return llvm::any_of(entry.second, [&](const Fact &fact) { return fact.value == id; });
  });
}

void LocalValues::addFact(Value value, Fact fact) {
  // Elements of different indices are no partial results of one, nor are those that a coordinate tells apart.
  auto isOfPartial = [&](const DimFact &dim) { return dim.form && overlap(dim.form->getRanks(), fact.partial); };
  if (llvm::any_of(fact.dims, isOfPartial) || overlap(global[fact.value].varying, fact.partial))
    return;
  SmallVector<Fact, 2> &list = facts[value];
  if (list.size() >= kMaxFacts || llvm::is_contained(list, fact))
    return;
  list.push_back(fact);
  ArrayRef<int64_t> localShape = cast<RankedTensorType>(value.getType()).getShape();
  for (auto [d, dim] : llvm::enumerate(fact.dims))
    addSeenForm(dim, d, localShape[d]);
  if (!fact.partial.empty() && fact.kind == ReductionKind::Sum && seenPartials.size() < kMaxSeenForms &&
      !llvm::is_contained(seenPartials, fact.partial))
    seenPartials.push_back(fact.partial);
  for (const ViewUser &user : global.getViewUsers(fact.value)) {
    Fact view{user.value, {}, fact.partial, fact.kind};
    bool fits = true;
    for (auto [d, dim] : llvm::enumerate(fact.dims)) {
      int64_t size = global[user.value].type.getDimSize(d);
      if (user.offsets[d] == IndexForm(0) && user.steps[d] == 1 && size == dim.size) {
        view.dims.push_back(dim);
        continue;
      }
      std::optional<IndexForm> form;
      if (dim.form)
        form = dim.form->plus(user.offsets[d], -1);
      if (form)
        form = form->exactlyDividedBy(user.steps[d]);
      fits &= form && !form->hasScalar();
      if (!fits)
        break;
      // A part of the view, and not a part of something else next to it.
      auto [low, high] = form->getRange();
      fits &= low > -localShape[d] && high < size + localShape[d];
      // Outside of a slice there are other elements. The padding of the view is that of the local value.
      fits &= !user.padding || !dim.hasPadding() || dim.padding == user.padding;
      view.dims.push_back({size, form, user.padding ? dim.padding : Attribute()});
    }
    if (fits)
      addFact(value, view);
  }
  addManualFacts(value, fact);
  if (std::optional<Fact> source = getSourceFact(fact))
    addFact(value, *source);
  if (global.isAdded(fact.value))
    addEqualFacts(value, fact);
}

void LocalValues::addEqualFacts(Value value, const Fact &fact) {
  for (ClassId equal : SmallVector<ClassId, 2>(global.findEqual(fact.value))) {
    if (!global.areEqual(equal, fact.value))
      continue;
    Fact other = fact;
    other.value = equal;
    bool fits = true;
    for (auto [dim, isUniform] : llvm::zip_equal(other.dims, global[equal].isUniform)) {
      fits &= dim.form || isUniform;
      // Equal elements are so inside of the dim.
      if (isUniform && !dim.hasPadding())
        dim.form = std::nullopt;
    }
    if (!fits)
      continue;
    addFact(value, other);
    count("ops that are divided in another way");
  }
}

std::optional<Fact> LocalValues::getSourceFact(const Fact &fact) const {
  const ClassInfo &info = global[fact.value];
  if (!info.source || !global[*info.source].type || info.sums.size() != fact.dims.size() ||
      global[*info.source].type.getRank() != int64_t(fact.dims.size()))
    return std::nullopt;
  Fact source{*info.source, {}, fact.partial, fact.kind};
  bool isPart = false;
  for (auto [d, dim] : llvm::enumerate(fact.dims)) {
    ArrayRef<int64_t> sum = info.sums[d];
    int64_t size = global[*info.source].type.getDimSize(d);
    // A dim of which the slice has all keeps its padding.
    if (size == dim.size && sum[0] == 0 && sum[1] == 1 && sum[2] == int64_t(d) && sum[3] == 1) {
      source.dims.push_back(dim);
      continue;
    }
    bool isSlice = sum[1] == 0 ? dim.size == 1 : sum[1] == 1 && sum[2] == int64_t(d) && sum[3] > 0;
    // Padding of the slice is not what is next to it.
    if (!isSlice || !dim.form || dim.hasPadding() || dim.form->hasScalar())
      return std::nullopt;
    source.dims.push_back({size, dim.form->times(sum[1] ? sum[3] : 1).plus(sum[0]), {}});
    if (sum[1] == 0)
      source.dims.back().form = IndexForm(sum[0]);
    isPart |= size != dim.size;
  }
  return isPart ? std::optional(source) : std::nullopt;
}

ArrayRef<IndexForm> LocalValues::getSeenForms(int64_t size, int64_t chunk) const {
  auto it = seenForms.find({size, chunk});
  return it == seenForms.end() ? ArrayRef<IndexForm>() : ArrayRef<IndexForm>(it->second);
}

void LocalValues::addSeenForm(const DimFact &dim, unsigned d, int64_t chunk) {
  if (!dim.form || !dim.form->hasRank() || dim.form->hasScalar() || dim.form->getConstant() != 0 ||
      !dim.form->isBijective())
    return;
  std::optional<IndexForm> form = dim.form->rename({{IndexTerm::Kind::Loop, d, 1, chunk, IndexTerm::Kind::Loop, 0, 1}});
  SmallVector<IndexForm, 2> &forms = seenForms[{dim.size, chunk}];
  if (form && forms.size() < kMaxSeenForms && !llvm::is_contained(forms, *form))
    forms.push_back(*form);
}

void LocalValues::addUniformFact(Value value, ClassId id) {
  Fact fact{id, {}, {}};
  fact.dims.resize(cast<RankedTensorType>(value.getType()).getRank());
  addFact(value, fact);
}

void LocalValues::copy(Value from, Value to) {
  facts[to] = facts.lookup(from);
  if (const Gap *gap = getGap(from))
    gaps[to] = Gap(*gap);
}

//===----------------------------------------------------------------------===//
// Gaps
//===----------------------------------------------------------------------===//

const Gap *LocalValues::getGap(Value value) const {
  auto it = gaps.find(value);
  return it == gaps.end() ? nullptr : &it->second;
}

void LocalValues::setGap(Operation *op, Outcome outcome, const Twine &why, StringRef kind) {
  setGap(op, Gap{op, outcome, why.str(), kind.str()});
}

void LocalValues::setGap(Operation *op, const Gap &gap) {
  Gap copied = gap; // not in the table that grows
  for (Value result : op->getResults())
    if (isa<RankedTensorType>(result.getType()) && getFacts(result).empty())
      gaps[result] = copied;
}

const Gap *LocalValues::getGapBehind(Operation *op) const {
  for (Value operand : op->getOperands())
    if (const Gap *gap = getGap(operand))
      return gap;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &nested : block) {
        for (Value result : nested.getResults())
          if (const Gap *gap = getGap(result))
            return gap;
        if (const Gap *gap = getGapBehind(&nested))
          return gap;
      }
  return nullptr;
}

bool LocalValues::passGap(Operation &op, Value operand) {
  if (!getFacts(operand).empty())
    return false;
  if (const Gap *gap = getGap(operand))
    setGap(&op, *gap);
  else
    setGap(&op, Outcome::Undecided, "a value of another region", "region");
  return true;
}

void LocalValues::forget(Value value) {
  facts.erase(value);
  gaps.erase(value);
  reader.erase(value);
}

void LocalValues::forget(Operation *op) {
  for (Value result : op->getResults())
    forget(result);
  for (Region &region : op->getRegions())
    clear(region);
}

void LocalValues::clear(Region &region) {
  for (Block &block : region) {
    for (Value argument : block.getArguments())
      forget(argument);
    for (Operation &op : block)
      forget(&op);
  }
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

ScalarReader LocalValues::getScalars() {
  ScalarReader scalars;
  scalars.get = [this](Value value) { return reader.get(value); };
  scalars.getCoordinate = [this](Operation *op) { return getCoordinate(op); };
  return scalars;
}

TermId LocalValues::getOuterScalar(Value value) {
  Operation *op = value.getDefiningOp();
  return terms.getUnknown(op ? op : value.getParentBlock()->getParentOp());
}

std::optional<IndexForm> LocalValues::getCoordinate(Operation *op) {
  auto coordinate = cast<DeviceCoordinateOp>(op);
  const Mesh *of = meshes.lookup(coordinate.getMeshAttr());
  std::optional<IndexForm> form = of ? IndexForm::ofAxis(*of, coordinate.getAxis()) : std::nullopt;
  return form ? global.orders.translate(*form, *of) : std::nullopt;
}

std::optional<TermId> LocalValues::getLookup(Value tensor, ArrayRef<TermId> indices) {
  // An index that ranks give is inside of the local tensor on all devices, or the read is not modelled. One that data
  // give is that of the unsharded program, which has a tensor of the same sizes if the local one is full.
  auto sizes = cast<RankedTensorType>(tensor.getType()).getShape();
  bool areInside = true;
  SmallVector<bool, 4> isData;
  for (auto [index, size] : llvm::zip_equal(indices, sizes)) {
    const Term &term = terms[index];
    bool isForm = term.kind == Term::Kind::Index && !term.form.hasScalar();
    isData.push_back(!isForm);
    areInside &= !isForm || term.form.isInside(size);
  }
  if (!areInside)
    return std::nullopt;
  for (const Fact &fact : getFacts(tensor)) {
    const ClassInfo &info = global[fact.value];
    // The unsharded program may have more equal elements than the local one.
    bool mayBeBeyond = llvm::any_of(
        llvm::enumerate(isData), [&](auto dim) { return dim.value() && (!info.type || info.isUniform[dim.index()]); });
    if (mayBeBeyond)
      continue;
    if (info.splat && fact.partial.empty())
      return global.getLookup(fact.value, {});
    if (!fact.isFull())
      continue;
    return global.getLookup(fact.value, terms.getLookupIndices(indices));
  }
  return std::nullopt;
}
