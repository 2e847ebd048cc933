//===- TensorOps.cpp - Runs ops of one device on numbers ------------------===//

#include "Interpreter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::enumeration;

/// A tensor whose element at each index is given.
static Tensor build(ArrayRef<int64_t> shape, Type type, llvm::function_ref<Number(ArrayRef<int64_t>)> get) {
  Numbers numbers{type, {}};
  forEachIndex(shape, [&](ArrayRef<int64_t> index) { numbers.list.push_back(get(index)); });
  return {Index(shape), std::make_shared<Numbers>(std::move(numbers))};
}

static Tensor ofScalar(Column numbers) { return {{}, std::move(numbers)}; }

static Number at(const Tensor &tensor, ArrayRef<int64_t> index) {
  return (*tensor.numbers)[getFlatIndex(index, tensor.shape)];
}

static bool isInside(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::zip_equal(index, shape),
                      [](auto dim) { return std::get<0>(dim) >= 0 && std::get<0>(dim) < std::get<1>(dim); });
}

std::optional<Interpreter::Results> Interpreter::compute(Operation &op, unsigned device) {
  auto isRead = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return isNumeric(tensor ? tensor.getElementType() : type);
  };
  if (!llvm::all_of(llvm::concat<const Type>(op.getOperandTypes(), op.getResultTypes()), isRead))
    return std::nullopt;
  for (Value operand : op.getOperands())
    if (!find(device, operand))
      return std::nullopt;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return computeLoops(structured, *this, device);
  if (auto sort = dyn_cast<SortOp>(op))
    return computeSort(sort, device);
  std::optional<Tensor> tensor = computeTensor(op, device);
  return tensor ? std::optional(Results{*tensor}) : std::nullopt;
}

std::optional<Index> Interpreter::getResultShape(Operation &op, unsigned device) {
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  if (!type)
    return Index();
  Index shape(type.getShape());
  auto getSizes = [&](ArrayRef<OpFoldResult> sizes) {
    Index all;
    for (OpFoldResult size : sizes)
      all.push_back(getInteger(device, size));
    return all;
  };
  auto getShape = [&](Value value) { return find(device, value)->shape; };
  if (isa<tensor::CastOp>(op)) {
    Index source = getShape(op.getOperand(0));
    bool fits = llvm::all_of(llvm::zip_equal(source, shape), [](auto sizes) {
      return ShapedType::isDynamic(std::get<1>(sizes)) || std::get<0>(sizes) == std::get<1>(sizes);
    });
    return fits ? std::optional(source) : std::nullopt;
  }
  if (type.hasStaticShape())
    return shape;
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    shape = getSizes(empty.getMixedSizes());
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    shape = getSizes(expand.getMixedOutputShape());
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    Index source = getShape(collapse.getSrc());
    for (auto [size, group] : llvm::zip_equal(shape, collapse.getReassociationIndices())) {
      size = 1;
      for (int64_t d : group)
        size *= source[d];
    }
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    Index sizes = getSizes(slice.getMixedSizes());
    shape.clear();
    for (auto [d, size] : llvm::enumerate(sizes))
      if (!dropped[d])
        shape.push_back(size);
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Index low = getSizes(pad.getMixedLowPad()), high = getSizes(pad.getMixedHighPad());
    shape = getShape(pad.getSource());
    for (auto [size, before, after] : llvm::zip_equal(shape, low, high))
      size += before + after;
  } else if (isa<tensor::GenerateOp, tensor::SplatOp>(op)) {
    ValueRange sizes = isa<tensor::SplatOp>(op) ? op.getOperands().drop_front() : op.getOperands();
    for (int64_t &size : shape)
      if (ShapedType::isDynamic(size)) {
        size = getInteger(device, sizes.front());
        sizes = sizes.drop_front();
      }
  } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    shape = getShape(concat.getInputs().front());
    for (Value input : concat.getInputs().drop_front())
      shape[concat.getDim()] += getShape(input)[concat.getDim()];
  } else {
    // What computes element by element, or nothing.
    for (Value operand : op.getOperands())
      if (auto tensor = dyn_cast<RankedTensorType>(operand.getType()); tensor && tensor.getRank() == type.getRank()) {
        shape = getShape(operand);
        break;
      }
  }
  return why.empty() && llvm::all_of(shape, [](int64_t size) { return size >= 0; }) ? std::optional(shape)
                                                                                    : std::nullopt;
}

std::optional<Tensor> Interpreter::computeConstant(Attribute value, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return ofScalar(std::make_shared<Numbers>(Numbers{type, {domain.getConstant(value)}}));
  auto elements = dyn_cast<DenseElementsAttr>(value);
  if (!elements)
    return std::nullopt;
  Numbers numbers{tensor.getElementType(), {}};
  if (elements.isSplat())
    numbers.list.push_back(domain.getConstant(elements.getSplatValue<Attribute>()));
  else
    for (Attribute element : elements.getValues<Attribute>())
      numbers.list.push_back(domain.getConstant(element));
  return Tensor{Index(tensor.getShape()), std::make_shared<Numbers>(std::move(numbers))};
}

std::optional<Tensor> Interpreter::computeTensor(Operation &op, unsigned device) {
  if (op.getNumResults() != 1)
    return std::nullopt;
  Type type = op.getResult(0).getType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::optional<Index> found = getResultShape(op, device);
  if (!found)
    return std::nullopt;
  const Index &shape = *found;
  Attribute constant;
  if (matchPattern(&op, m_Constant(&constant)))
    return computeConstant(constant, type);
  if (isa<tensor::EmptyOp>(op))
    return Tensor{Index(shape),
                  std::make_shared<Numbers>(getUndefined(tensor.getElementType(), ShapedType::getNumElements(shape)))};
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp, tensor::CastOp, tensor::SplatOp,
          WithShardingConstraintOp, PropagationBarrierOp, ReshardOp>(op))
    return Tensor{Index(shape), get(device, op.getOperand(0))};
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return computeSlice(slice, shape, device);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return computeInsert(insert, device);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return computePad(pad, shape, device);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return computeConcat(concat, shape, device);
  if (auto generate = dyn_cast<tensor::GenerateOp>(op)) {
    Column column = computeAtIndices(generate.getBody().front(), shape, device);
    return column ? std::optional(Tensor{Index(shape), column}) : std::nullopt;
  }
  if (isa<tensor::FromElementsOp>(op))
    return build(shape, tensor.getElementType(),
                 [&](ArrayRef<int64_t> index) { return (*get(device, op.getOperand(getFlatIndex(index, shape))))[0]; });
  if (isa<tensor::DimOp>(op)) {
    int64_t d = getInteger(device, op.getOperand(1));
    const Index &sizes = find(device, op.getOperand(0))->shape;
    if (d < 0 || d >= int64_t(sizes.size()))
      return std::nullopt;
    return ofScalar(getIndexColumn(sizes[d]));
  }
  // What computes element by element: the dims do not count.
  if (op.getNumRegions() || (tensor && !op.hasTrait<OpTrait::Elementwise>()))
    return std::nullopt;
  Column result = LoopBody(*this, device).runOp(op);
  return result ? std::optional(Tensor{Index(shape), result}) : std::nullopt;
}

std::optional<Tensor> Interpreter::computeSlice(tensor::ExtractSliceOp op, ArrayRef<int64_t> shape, unsigned device) {
  const Tensor source = *find(device, op.getSource());
  Type type = source.numbers->type, indexType = IndexType::get(op.getContext());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  bool isRead = true;
  Tensor result = build(shape, type, [&](ArrayRef<int64_t> index) {
    SmallVector<Column> from;
    unsigned next = 0;
    for (auto [d, offset, step] : llvm::enumerate(op.getMixedOffsets(), op.getMixedStrides())) {
      Number at = getScalar(device, offset);
      if (!dropped[d])
        at = domain.combine("arith.addi", indexType, at,
                            domain.getIndex(op.getContext(), index[next++] * getInteger(device, step)));
      from.push_back(std::make_shared<Numbers>(Numbers{indexType, {at}}));
    }
    std::optional<Number> element = isRead ? LoopBody(*this, device).readElement(source, from, 0) : std::nullopt;
    isRead = element.has_value();
    return element.value_or(Number{.integer = 0});
  });
  return isRead ? std::optional(result) : std::nullopt;
}

/// Where data give an offset, an element is selected among those that may be written there.
std::optional<Tensor> Interpreter::computeInsert(tensor::InsertSliceOp op, unsigned device) {
  const Tensor source = *find(device, op.getSource()), dest = *find(device, op.getDest());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<Number> offsets;
  SmallVector<std::optional<int64_t>> known;
  SmallVector<int64_t> steps, choices; // per dim, the elements of the source that may be at an index
  unsigned next = 0;
  for (auto [d, offset, step] : llvm::enumerate(op.getMixedOffsets(), op.getMixedStrides())) {
    offsets.push_back(getScalar(device, offset));
    steps.push_back(getInteger(device, step));
    int64_t size = dropped[d] ? 1 : source.shape[next++];
    known.push_back(domain.getInteger(offsets.back()));
    choices.push_back(known.back() ? 1 : size);
    if (size > 0 && !addBounds(offsets.back(), 0, dest.shape[d] - 1 - (size - 1) * steps.back()))
      return std::nullopt;
  }
  if (!spend(ShapedType::getNumElements(choices) * ShapedType::getNumElements(dest.shape)))
    return std::nullopt;
  return build(dest.shape, dest.numbers->type, [&](ArrayRef<int64_t> index) {
    Number element = at(dest, index);
    forEachIndex(choices, [&](ArrayRef<int64_t> choice) {
      Index from;
      std::optional<Number> condition;
      for (auto [d, i] : llvm::enumerate(index)) {
        int64_t distance = known[d] ? i - *known[d] : choice[d] * steps[d];
        if (distance % steps[d] != 0 || (dropped[d] && distance != 0))
          return;
        if (!dropped[d])
          from.push_back(distance / steps[d]);
        if (known[d])
          continue;
        Number isHere = domain.isEqual(offsets[d], i - distance, op.getContext());
        condition =
            condition ? domain.combine("arith.andi", IntegerType::get(op.getContext(), 1), *condition, isHere) : isHere;
      }
      if (!isInside(from, source.shape))
        return;
      Number written = at(source, from);
      element = condition ? domain.select(*condition, written, element, dest.numbers->type) : written;
    });
    return element;
  });
}

Column Interpreter::computeAtIndices(Block &block, ArrayRef<int64_t> shape, unsigned device) {
  LoopBody body(*this, device);
  std::vector<Numbers> indices(shape.size(), Numbers{IndexType::get(module->getContext()), {}});
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    for (auto [numbers, i] : llvm::zip_equal(indices, index))
      numbers.list.push_back(domain.getIndex(module->getContext(), i));
  });
  for (auto [argument, numbers] : llvm::zip_equal(block.getArguments(), indices))
    body.set(argument, std::make_shared<Numbers>(std::move(numbers)));
  return body.run(block) ? body.get(block.getTerminator()->getOperand(0)) : nullptr;
}

std::optional<Tensor> Interpreter::computePad(tensor::PadOp op, ArrayRef<int64_t> shape, unsigned device) {
  const Tensor source = *find(device, op.getSource());
  Column padding = computeAtIndices(op.getRegion().front(), shape, device);
  if (!padding)
    return std::nullopt;
  return build(shape, source.numbers->type, [&](ArrayRef<int64_t> index) {
    Index from;
    for (auto [i, low] : llvm::zip_equal(index, op.getMixedLowPad()))
      from.push_back(i - getInteger(device, low));
    return isInside(from, source.shape) ? at(source, from) : (*padding)[getFlatIndex(index, shape)];
  });
}

Tensor Interpreter::computeConcat(tensor::ConcatOp op, ArrayRef<int64_t> shape, unsigned device) {
  auto type = cast<RankedTensorType>(op.getType());
  return build(shape, type.getElementType(), [&](ArrayRef<int64_t> index) {
    Index from(index);
    for (Value input : op.getInputs()) {
      const Tensor &part = *find(device, input);
      if (from[op.getDim()] < part.shape[op.getDim()])
        return at(part, from);
      from[op.getDim()] -= part.shape[op.getDim()];
    }
    return domain.getUndefined(type.getElementType()); // not reached
  });
}

/// Sorts each row by insertion: any order ends.
std::optional<Interpreter::Results> Interpreter::computeSort(SortOp op, unsigned device) {
  int64_t dim = op.getDimension(), size = op.getSortedSize(), kept = op.getKeptSize();
  SmallVector<const Tensor *> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(find(device, input));
  Block &order = op.getOrder().front();
  bool isRead = true;
  auto isBefore = [&](Index a, Index b, int64_t i, int64_t j) {
    a[dim] = i;
    b[dim] = j;
    LoopBody body(*this, device);
    for (auto [k, input] : llvm::enumerate(inputs))
      for (unsigned side : {0, 1})
        body.set(order.getArgument(2 * k + side),
                 std::make_shared<Numbers>(Numbers{input->numbers->type, {at(*input, side ? b : a)}}));
    isRead = isRead && body.run(order);
    std::optional<int64_t> isFirst =
        isRead ? domain.getInteger((*body.get(order.getTerminator()->getOperand(0)))[0]) : std::nullopt;
    isRead = isRead && isFirst;
    return isRead && *isFirst != 0;
  };
  std::map<Index, SmallVector<int64_t>> rows;
  Index rowShape(inputs[0]->shape);
  rowShape[dim] = 1;
  forEachIndex(rowShape, [&](ArrayRef<int64_t> row) {
    SmallVector<int64_t> &sorted = rows[Index(row)];
    for (int64_t i = 0; i < size; ++i) {
      size_t to = sorted.size();
      while (to > 0 && isBefore(Index(row), Index(row), i, sorted[to - 1]))
        --to;
      sorted.insert(sorted.begin() + to, i);
    }
  });
  if (!isRead)
    return std::nullopt;
  Results results;
  Index shape(inputs[0]->shape);
  shape[dim] = kept;
  for (const Tensor *input : inputs)
    results.push_back(build(shape, input->numbers->type, [&](ArrayRef<int64_t> index) {
      Index row(index), from(index);
      row[dim] = 0;
      from[dim] = rows[row][index[dim] + (op.getLast() ? size - kept : 0)];
      return at(*input, from);
    }));
  return results;
}
