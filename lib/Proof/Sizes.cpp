//===- Sizes.cpp - Sizes that only the run knows --------------------------===//

#include "shardkit/Proof/Sizes.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

int64_t SizeTable::get(const IndexForm &size) {
  if (size.isConstant())
    return size.getConstant();
  auto it = llvm::find(forms, size);
  if (it == forms.end()) {
    forms.push_back(size);
    it = std::prev(forms.end());
  }
  return kFirstUnknownSize + (it - forms.begin());
}

IndexForm SizeTable::getForm(int64_t size) const {
  return isUnknownSize(size) ? forms[size - kFirstUnknownSize] : IndexForm(size);
}

namespace {
/// Finds the sizes of results, dim by dim.
class SizeReader {
public:
  SizeReader(SizeTable &sizes, llvm::function_ref<std::optional<IndexForm>(Value)> getIndex)
      : sizes(sizes), getIndex(getIndex) {}

  /// The shape of result `r`, with dynamic sizes where they are not known.
  SmallVector<int64_t> read(Operation *op, unsigned r);

private:
  int64_t getSize(OpFoldResult size);
  SmallVector<int64_t> getSizes(ArrayRef<OpFoldResult> mixed);
  SmallVector<int64_t> readSlice(tensor::ExtractSliceOp op);
  SmallVector<int64_t> readPad(tensor::PadOp op);
  SmallVector<int64_t> readConcat(tensor::ConcatOp op);
  SmallVector<int64_t> readCollapse(tensor::CollapseShapeOp op);
  SmallVector<int64_t> readCollective(CollectiveOpInterface op);

  SizeTable &sizes;
  llvm::function_ref<std::optional<IndexForm>(Value)> getIndex;
};
} // namespace

/// Known sizes in the global type that a collective names, as those of the operand in layout `from`.
static void setGlobalSizes(Operation *op, ArrayRef<int64_t> operand, const Layout &from) {
  auto attr = op->getAttrOfType<TypeAttr>("global_type");
  auto type = attr ? dyn_cast<RankedTensorType>(attr.getValue()) : RankedTensorType();
  if (!type || type.getRank() != int64_t(operand.size()))
    return;
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, known, whole, local] : llvm::zip_equal(shape, operand, from.shape, from.localShape()))
    if (ShapedType::isDynamic(size) && !ShapedType::isDynamic(known) && !isUnknownSize(known) && local > 0 &&
        known % local == 0)
      size = known / local * whole;
  op->setAttr("global_type", TypeAttr::get(type.clone(shape)));
}

static ArrayRef<int64_t> getSizesOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

int64_t SizeReader::getSize(OpFoldResult size) {
  if (auto attr = dyn_cast<Attribute>(size))
    return cast<IntegerAttr>(attr).getInt();
  std::optional<IndexForm> form = getIndex(cast<Value>(size));
  return form ? sizes.get(*form) : ShapedType::kDynamic;
}

SmallVector<int64_t> SizeReader::getSizes(ArrayRef<OpFoldResult> mixed) {
  return llvm::map_to_vector(mixed, [&](OpFoldResult size) { return getSize(size); });
}

SmallVector<int64_t> SizeReader::readSlice(tensor::ExtractSliceOp op) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<int64_t> shape;
  for (auto [d, size] : llvm::enumerate(op.getMixedSizes()))
    if (!dropped[d])
      shape.push_back(getSize(size));
  return shape;
}

SmallVector<int64_t> SizeReader::readPad(tensor::PadOp op) {
  SmallVector<int64_t> shape;
  for (auto [size, low, high] :
       llvm::zip_equal(getSizesOf(op.getSource()), op.getMixedLowPad(), op.getMixedHighPad())) {
    int64_t before = getSize(low), after = getSize(high);
    std::optional<IndexForm> sum;
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(before) && !ShapedType::isDynamic(after))
      sum = sizes.getForm(size).plus(sizes.getForm(before));
    sum = sum ? sum->plus(sizes.getForm(after)) : std::nullopt;
    shape.push_back(sum ? sizes.get(*sum) : ShapedType::kDynamic);
  }
  return shape;
}

SmallVector<int64_t> SizeReader::readConcat(tensor::ConcatOp op) {
  SmallVector<int64_t> shape(getSizesOf(op.getInputs().front()));
  std::optional<IndexForm> sum = IndexForm(0);
  for (Value input : op.getInputs()) {
    int64_t size = getSizesOf(input)[op.getDim()];
    sum = sum && !ShapedType::isDynamic(size) ? sum->plus(sizes.getForm(size)) : std::nullopt;
  }
  shape[op.getDim()] = sum ? sizes.get(*sum) : ShapedType::kDynamic;
  return shape;
}

SmallVector<int64_t> SizeReader::readCollapse(tensor::CollapseShapeOp op) {
  SmallVector<int64_t> shape;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    int64_t product = 1;
    for (int64_t d : group) {
      int64_t size = getSizesOf(op.getSrc())[d];
      bool isKnown = product == 1 || size == 1 || !(isUnknownSize(size) || isUnknownSize(product));
      product = ShapedType::isDynamic(size) || ShapedType::isDynamic(product) || !isKnown ? ShapedType::kDynamic
                                                                                          : product * size;
    }
    shape.push_back(product);
  }
  return shape;
}

/// A collective gives a device as many indices of a dim as its layouts have, each of which stands for as many elements.
SmallVector<int64_t> SizeReader::readCollective(CollectiveOpInterface op) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  ArrayRef<int64_t> operand = getSizesOf(op->getOperand(0));
  MeshCache meshes(op);
  const Mesh *fromMesh = meshes.lookup(op.getFromMesh()), *toMesh = meshes.lookup(op.getToMesh());
  Layout from, to;
  if (!fromMesh || !toMesh || failed(op.getLayouts(*fromMesh, *toMesh, from, to)))
    return shape;
  for (auto [size, known, before, after] : llvm::zip_equal(shape, operand, from.localShape(), to.localShape())) {
    bool isSame = before == after, isExact = before > 0 && known % before == 0;
    if (ShapedType::isDynamic(size) && !ShapedType::isDynamic(known) && (isSame || (isExact && !isUnknownSize(known))))
      size = isSame ? known : known / before * after;
  }
  setGlobalSizes(op, operand, from);
  return shape;
}

SmallVector<int64_t> SizeReader::read(Operation *op, unsigned r) {
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return getSizes(empty.getMixedSizes());
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return readSlice(slice);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return readPad(pad);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return readConcat(concat);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return readCollapse(collapse);
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return readCollective(collective);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return getSizes(expand.getMixedOutputShape());
  auto type = cast<RankedTensorType>(op->getResult(r).getType());
  SmallVector<int64_t> shape(type.getShape());
  auto fill = [&](auto values) {
    auto value = values.begin();
    for (int64_t &size : shape)
      if (ShapedType::isDynamic(size) && value != values.end())
        size = getSize(Value(*value++));
    return shape;
  };
  if (auto generate = dyn_cast<tensor::GenerateOp>(op))
    return fill(generate.getDynamicExtents());
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return fill(splat.getDynamicSizes());
  // The sizes of an operand.
  Value like;
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    like = insert.getDest();
  else if (auto style = dyn_cast<DestinationStyleOpInterface>(op))
    like = style.getDpsInits()[r];
  else if (auto loop = dyn_cast<scf::ForOp>(op))
    like = loop.getInitArgs()[r];
  else if (auto sort = dyn_cast<SortOp>(op))
    like = sort.getInputs()[r];
  else if (op->hasTrait<OpTrait::Elementwise>() ||
           isa<tensor::CastOp, WithShardingConstraintOp, PropagationBarrierOp, DoneOp>(op))
    for (Value operand : op->getOperands().drop_front(isa<DoneOp>(op) ? r : 0))
      if (!like && isa<RankedTensorType>(operand.getType()))
        like = operand;
  if (like && isa<RankedTensorType>(like.getType()) && getSizesOf(like).size() == shape.size())
    for (auto [size, known] : llvm::zip_equal(shape, getSizesOf(like)))
      if (ShapedType::isDynamic(size))
        size = known;
  return shape;
}

void proof::resolveSizes(Operation *op, SizeTable &sizes,
                         llvm::function_ref<std::optional<IndexForm>(Value)> getIndex) {
  SizeReader reader(sizes, getIndex);
  for (auto [r, result] : llvm::enumerate(op->getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || type.hasStaticShape())
      continue;
    bool isNegative = false;
    SmallVector<int64_t> shape = reader.read(op, r);
    for (int64_t size : shape)
      isNegative |= size < 0 && !ShapedType::isDynamic(size);
    if (!isNegative)
      result.setType(type.clone(shape));
  }
  // What a loop carries has one size if it starts with a known one: each iteration yields its type.
  if (auto loop = dyn_cast<scf::ForOp>(op))
    for (auto [argument, init] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
      if (isa<RankedTensorType>(argument.getType()))
        argument.setType(init.getType());
}
