//===- Collectives.cpp - What collectives give ----------------------------===//

#include "LocalOps.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

namespace {
/// A collective, applied to one fact of its operand after the other.
class CollectiveVisitor {
public:
  CollectiveVisitor(CollectiveOpInterface op, LocalValues &values)
      : op(*op.getOperation()), input(this->op.getOperand(0)), result(this->op.getResult(0)),
        reduction(op.getReduction()), collective(op), values(values) {}

  void visit();

private:
  bool readMove();
  /// The layouts of the collective. A dim whose size only the run knows is not sharded: it counts as one element.
  LogicalResult getLayouts(const Mesh &from, const Mesh &to);
  /// Offsets of windows that the program computes. False if one is not known.
  bool readOffsets(HaloExchangeOp halo);
  /// An operand of which all devices have the same elements.
  void moveUniform(const Fact &fact);
  /// A constant in its dims, with zeros around it, is a value that only the partitioned program has.
  void padUniform(Attribute value);
  /// True if the collective moves `fact`, or says why not.
  bool moveFact(const Fact &fact);
  /// Facts of slices of which the operand has all: those that a collective of smaller dims moves.
  SmallVector<Fact, 1> getSliceFacts();
  /// The operand as values of other shapes, which have its elements in the same order.
  SmallVector<Fact, 1> getReshapedFacts();
  /// A partial operand of equal elements is reduced, or stays what it is.
  void reduceUniform(const Fact &fact);
  /// The ranks along which it moves or reduces.
  SmallVector<RankDigit, 4> getMovedRanks() const;
  /// A collective along the axes of a manual computation is one of the user.
  void moveManual(const Fact &fact);
  /// True if the collective writes zeros around what it moves.
  bool addsZeros() const;

  Operation &op;
  Value input, result;
  std::optional<ReductionKind> reduction;
  CollectiveOpInterface collective;
  LocalValues &values;
  Move move;
  std::string why;
  bool isRefused = true; ///< no fact fails for something that is not modelled
};
} // namespace

LogicalResult CollectiveVisitor::getLayouts(const Mesh &from, const Mesh &to) {
  auto setType = [](Value value, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(value.getType());
    value.setType(type.clone(shape));
    return SmallVector<int64_t>(type.getShape());
  };
  auto isKnown = [](int64_t size) { return isUnknownSize(size) ? 1 : size; };
  SmallVector<int64_t> shapes[2];
  for (auto [value, shape] : llvm::zip_equal(ArrayRef<Value>{input, result}, MutableArrayRef(shapes)))
    shape = setType(value, llvm::map_to_vector(cast<RankedTensorType>(value.getType()).getShape(), isKnown));
  LogicalResult found = collective.getLayouts(from, to, move.from, move.to);
  setType(input, shapes[0]);
  setType(result, shapes[1]);
  return found;
}

bool CollectiveVisitor::readMove() {
  const Mesh *from = values.meshes.lookup(collective.getFromMesh()), *to = values.meshes.lookup(collective.getToMesh());
  const DeviceOrders &orders = values.global.orders;
  if (!from || !to || failed(getLayouts(*from, *to)) || !orders.translate(move.from, *from) ||
      !orders.translate(move.to, *to))
    return false;
  if (auto halo = dyn_cast<HaloExchangeOp>(op); halo && !readOffsets(halo))
    return false;
  move.isLocal = collective.getKind() == CollectiveKind::AllSlice;
  Type element = cast<RankedTensorType>(result.getType()).getElementType();
  move.from.partialKind = getKindOf(move.from.partialKind, element);
  if (!isa<ComplexType>(element))
    move.zero = Builder(op.getContext()).getZeroAttr(element);
  if (reduction)
    reduction = getKindOf(*reduction, element);
  return true;
}

bool CollectiveVisitor::readOffsets(HaloExchangeOp halo) {
  auto next = halo.getDynamicOffsets().begin();
  move.added.resize(move.to.shape.size());
  for (auto [d, offset] : llvm::zip_equal(halo.getDims(), halo.getOffsets())) {
    if (!ShapedType::isDynamic(offset))
      continue;
    const Term &term = values.terms[values.reader.get(*next++)];
    if (term.kind != Term::Kind::Index)
      return false;
    move.added[d] = term.form;
  }
  return true;
}

void CollectiveVisitor::visit() {
  StringRef name = op.getName().getStringRef();
  if (values.passGap(op, input))
    return;
  if (!readMove())
    return values.setGap(&op, Outcome::Undecided,
                         "a collective that is not modelled: windows at run time, or several orders of devices", name);
  for (const Fact &fact : SmallVector<Fact, 2>(values.getFacts(input))) {
    const ClassInfo &info = values.global[fact.value];
    if (info.splat || info.isUndefined) {
      moveUniform(fact);
      continue;
    }
    if (overlap(info.varying, getMovedRanks())) {
      isRefused = false;
      why = "moves elements of a manual computation along its axes, as none of its collectives does";
      moveManual(fact);
      continue;
    }
    (void)moveFact(fact);
  }
  if (values.getFacts(result).empty())
    for (const Fact &fact : getSliceFacts())
      if (moveFact(fact))
        values.count("slice that only the partitioned program has");
  if (values.getFacts(result).empty())
    for (const Fact &fact : getReshapedFacts())
      if (moveFact(fact))
        values.count("reshape");
  values.setGap(&op, isRefused ? Outcome::Refused : Outcome::Undecided, why, name);
}

bool CollectiveVisitor::moveFact(const Fact &fact) {
  bool isModelled = true;
  std::string reason;
  if (std::optional<Fact> moved = applyMove(fact, move, values.mesh, reason, isModelled)) {
    values.addFact(result, *moved);
    values.count("collective");
    return true;
  }
  if (isa<CollectivePermuteOp>(op) && values.mesh)
    if (std::optional<Fact> moved = applyPermutation(fact, move, values.mesh->numDevices())) {
      values.addFact(result, *moved);
      values.count("permutation of devices");
      return true;
    }
  isRefused &= isModelled;
  if (why.empty())
    why = reason;
  return false;
}

SmallVector<Fact, 1> CollectiveVisitor::getSliceFacts() {
  SmallVector<Fact, 1> slices;
  for (const Fact &fact : values.getFacts(input)) {
    // One dim is smaller, and no lane is outside of what the slice has of it.
    std::optional<unsigned> smaller;
    bool isSlice = values.global[fact.value].type != nullptr;
    for (auto [d, dim, size] : llvm::enumerate(fact.dims, move.from.shape)) {
      if (dim.size == size || isUnknownSize(dim.size))
        continue;
      isSlice &= !smaller && dim.form && size < dim.size && !dim.form->hasScalar();
      smaller = d;
    }
    if (!isSlice || !smaller || overlap(values.global[fact.value].varying, getMovedRanks()))
      continue;
    Fact slice = fact;
    DimFact &dim = slice.dims[*smaller];
    int64_t offset = dim.form->getRange().first;
    dim = {move.from.shape[*smaller], dim.form->plus(-offset), {}};
    if (offset < 0 || dim.hasPadding())
      continue;
    RankedTensorType type = values.global[fact.value].type;
    SmallVector<int64_t> shape(type.getShape());
    shape[*smaller] = dim.size;
    slice.value = values.global.addSlice(fact.value, type.clone(shape), *smaller, offset);
    slices.push_back(slice);
  }
  return slices;
}

SmallVector<Fact, 1> CollectiveVisitor::getReshapedFacts() {
  SmallVector<Fact, 1> reshaped;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(input.getType()).getShape();
  for (const Fact &fact : SmallVector<Fact, 2>(values.getFacts(input)))
    for (ClassId other : values.global.getReshapes(fact.value)) {
      // A constant of equal elements has no shape.
      RankedTensorType type = values.global[other].type;
      ArrayRef<int64_t> global = type ? type.getShape() : ArrayRef<int64_t>();
      if (!type || fact.dims.size() != shape.size() || global.size() != shape.size() ||
          overlap(values.global[fact.value].varying, getMovedRanks()))
        continue;
      std::optional<Fact> as = applyReshape(fact, shape, shape, other, global);
      if (as && hasFormsOf(*as, values.global[other]))
        reshaped.push_back(*as);
    }
  return reshaped;
}

SmallVector<RankDigit, 4> CollectiveVisitor::getMovedRanks() const {
  SmallVector<RankDigit, 4> ranks(move.from.partial.begin(), move.from.partial.end());
  for (auto [from, to] : llvm::zip(getIndexForms(move.from), getIndexForms(move.to)))
    if (from != to) {
      ranks.append(from.getRanks());
      ranks.append(to.getRanks());
    }
  return ranks;
}

void CollectiveVisitor::moveManual(const Fact &fact) {
  GlobalProgram &global = values.global;
  ArrayRef<ClassId> found =
      global.find(global.getCollectiveKey(fact.value, collective.getKind(), reduction, move.from, move.to));
  if (found.empty() || !fact.partial.empty())
    return;
  // The other devices must have the same elements of their tensors.
  SmallVector<RankDigit, 4> ranks = getMovedRanks();
  if (llvm::any_of(fact.dims, [&](const DimFact &dim) { return dim.form && overlap(dim.form->getRanks(), ranks); }))
    return;
  SmallVector<IndexForm, 4> from = getIndexForms(move.from), to = getIndexForms(move.to);
  Fact moved{found.front(), {}, {}};
  for (auto [d, dim] : llvm::enumerate(fact.dims)) {
    int64_t size = global[moved.value].type.getDimSize(d);
    bool isFull = !dim.form || *dim.form == IndexForm::ofLoop(d, dim.size);
    if (from[d] != to[d] && !isFull)
      return;
    moved.dims.push_back(from[d] == to[d] ? dim : DimFact{size, IndexForm::ofLoop(d, size), {}});
    moved.dims.back().padding = {};
    if (global[moved.value].isUniform[d] && !moved.dims.back().hasPadding())
      moved.dims.back().form = std::nullopt;
  }
  values.addFact(result, moved);
  values.count("collective of a manual computation");
}

void CollectiveVisitor::moveUniform(const Fact &fact) {
  if (!fact.partial.empty())
    return reduceUniform(fact);
  const ClassInfo &info = values.global[fact.value];
  bool staysEqual = !reduction || info.isUndefined || isIdempotent(*reduction) || isNeutral(*reduction, info.splat);
  if (!staysEqual) {
    why = "reduces a constant that all devices have";
  } else if (addsZeros() && info.splat != move.zero) {
    padUniform(info.splat);
  } else {
    values.addFact(result, fact);
  }
}

void CollectiveVisitor::padUniform(Attribute value) {
  isRefused = false;
  why = "a window of a constant, with zeros around it";
  bool isAtRunTime = llvm::any_of(move.added, [](const auto &added) { return added.has_value(); });
  if (!value || !move.zero || reduction || isAtRunTime || llvm::any_of(move.from.shape, isUnknownSize))
    return;
  auto type = cast<RankedTensorType>(result.getType()).clone(move.from.shape);
  Fact padded{values.global.getDefined(type, values.terms.getConstant(value)), {}, {}};
  for (auto [form, size] : llvm::zip_equal(getIndexForms(move.to), move.from.shape)) {
    DimFact dim{size, form, {}};
    if (dim.hasPadding())
      dim.padding = move.zero;
    else
      dim.form = std::nullopt;
    padded.dims.push_back(dim);
  }
  values.addFact(result, padded);
  values.count("constant with zeros around it");
}

void CollectiveVisitor::reduceUniform(const Fact &fact) {
  std::optional<SmallVector<RankDigit, 2>> rest = without(fact.partial, move.from.partial);
  if (!reduction || *reduction != fact.kind || !rest) {
    why = "the operand is partial over " + proof::toString(fact.partial, values.mesh);
    return;
  }
  if (addsZeros() && values.global[fact.value].splat != move.zero) {
    isRefused = false;
    why = "a window of a constant, with zeros around it";
    return;
  }
  Fact reduced = fact;
  reduced.partial = *rest;
  if (rest->empty())
    reduced.kind = ReductionKind::Sum;
  values.addFact(result, reduced);
}

bool CollectiveVisitor::addsZeros() const {
  return llvm::any_of(llvm::zip_equal(getIndexForms(move.to), move.to.shape), [](auto dim) {
    auto [low, high] = std::get<0>(dim).getRange();
    return low < 0 || high >= std::get<1>(dim);
  });
}

void proof::visitCollective(CollectiveOpInterface op, LocalValues &values) { CollectiveVisitor(op, values).visit(); }
