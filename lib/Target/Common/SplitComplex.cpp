//===- SplitComplex.cpp - Complex numbers become real ones ----------------===//
//
// Every complex value becomes two, its real and its imaginary component, so that later
// passes fuse, vectorize and recognize contractions as for real numbers. At the boundary of
// the program and in collectives, the components are interleaved, as in a last dim of size
// 2: there they are split and joined. For example:
//
//   %r = complex.mul %a, %b      ->   %re = %a.re * %b.re - %a.im * %b.im
//                                     %im = %a.re * %b.im + %a.im * %b.re
//
//===----------------------------------------------------------------------===//

#include "shardkit/Target/Common/Passes.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETSPLITCOMPLEX
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::target;

static ComplexType getComplex(Type type) { return dyn_cast<ComplexType>(getElementTypeOrSelf(type)); }

/// The type of the components of a complex type, or any other type itself.
static Type getComponentType(Type type) {
  ComplexType complex = getComplex(type);
  if (!complex)
    return type;
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(complex.getElementType())) : complex.getElementType();
}

static bool hasComplex(TypeRange types) { return llvm::any_of(types, getComplex); }

RankedTensorType target::getPairedType(Type type) {
  ComplexType complex = getComplex(type);
  SmallVector<int64_t> shape;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    shape.append(tensor.getShape().begin(), tensor.getShape().end());
  shape.push_back(2);
  return RankedTensorType::get(shape, complex.getElementType());
}

namespace {
/// Splits the complex values of one function. It visits ops in order, and maps each complex
/// value to its components; an op is replaced as soon as its operands are split.
class Splitter {
public:
  explicit Splitter(func::FuncOp func) : func(func), b(func.getContext()) {}

  LogicalResult run();

private:
  using Components = std::array<Value, 2>;
  /// The components that a block yields: 0 or 1, or both.
  static constexpr int kBoth = -1;

  /// Whether an op only sums products of two operands. Upstream's test also accepts an
  /// operation on one of them (its conjugate).
  void findContractions();

  /// Replaces operations on complex scalars by operations on their components, except those
  /// that split and join complex numbers.
  LogicalResult lowerArithmetic();

  //===--------------------------------------------------------------------===//
  // Splitting and joining
  //===--------------------------------------------------------------------===//

  /// `pairs` has interleaved components; the value is of `type`.
  Components unpair(Location loc, Value pairs, Type type);
  Value pair(Location loc, Components components, Type type);
  std::tuple<SmallVector<OpFoldResult>, SmallVector<OpFoldResult>, SmallVector<OpFoldResult>>
  indexOf(Location loc, Value pairs, int component);

  /// Arguments and results are pairs.
  void splitSignature();

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  /// The replacement of `value` for component `component`.
  Value componentOf(Value value, int component) const;
  /// All components of all values in order.
  SmallVector<Value> allComponents(ValueRange values) const;
  static SmallVector<Type> allComponentTypes(TypeRange types);
  LogicalResult splitBlock(Block &block, int yieldedComponents);
  LogicalResult splitTerminator(Operation &op, int yieldedComponents);
  LogicalResult splitRegions(Operation &op, int yieldedComponents);
  LogicalResult splitOp(Operation &op);
  LogicalResult define(Operation &op, Components values);
  LogicalResult splitScalarConstant(complex::ConstantOp op);
  LogicalResult splitConstant(arith::ConstantOp op);

  /// Between complex numbers and their pairs (Bundle/DescribeCollectives.cpp).
  LogicalResult splitCast(UnrealizedConversionCastOp op);

  /// Clones the op for each component, with its regions.
  LogicalResult splitTwice(Operation &op);

  /// The same op on all components, with its regions.
  Operation *rebuild(Operation &op, ArrayRef<NamedAttribute> changed);
  LogicalResult splitBody(Operation &op);
  LogicalResult splitStructured(Operation &op);

  /// Any linalg op as a generic one.
  LogicalResult splitLinalg(linalg::LinalgOp op);

  /// Four real contractions, which libraries compute.
  LogicalResult splitContraction(linalg::LinalgOp op);
  Value negate(Location loc, Value value);

  func::FuncOp func;
  OpBuilder b;
  DenseMap<Value, Components> components;
  DenseSet<Operation *> contractions;
  SmallVector<Operation *> replaced; ///< Each before its nested ops and its users.
  SmallVector<BlockArgument> replacedArguments;
};

struct SplitComplex : spmd::impl::SpmdTargetSplitComplexBase<SplitComplex> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    const bool isComplex = func.walk([](Operation *op) {
                                 return hasComplex(op->getOperandTypes()) || hasComplex(op->getResultTypes())
                                            ? WalkResult::interrupt()
                                            : WalkResult::advance();
                               })
                               .wasInterrupted();
    if ((isComplex || hasComplex(func.getArgumentTypes())) && failed(Splitter(func).run()))
      signalPassFailure();
  }
};
} // namespace

LogicalResult Splitter::run() {
  findContractions();
  if (failed(lowerArithmetic()))
    return failure();
  splitSignature();
  if (failed(splitBlock(func.getBody().front(), kBoth)))
    return failure();
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  for (BlockArgument arg : llvm::reverse(replacedArguments))
    arg.getOwner()->eraseArgument(arg.getArgNumber());
  return success();
}

void Splitter::findContractions() {
  func.walk([&](linalg::LinalgOp op) {
    if (!linalg::isaContractionOpInterface(op) || !llvm::all_of(op->getOperandTypes(), getComplex))
      return;
    Block *body = op.getBlock();
    auto add = body->getTerminator()->getOperand(0).getDefiningOp<complex::AddOp>();
    if (!add || body->getOperations().size() != 3)
      return;
    Value x = body->getArgument(0), y = body->getArgument(1), sum = body->getArgument(2);
    auto product = add.getLhs() == sum   ? add.getRhs().getDefiningOp<complex::MulOp>()
                   : add.getRhs() == sum ? add.getLhs().getDefiningOp<complex::MulOp>()
                                         : complex::MulOp();
    if (product &&
        ((product.getLhs() == x && product.getRhs() == y) || (product.getLhs() == y && product.getRhs() == x)))
      contractions.insert(op);
  });
}

LogicalResult Splitter::lowerArithmetic() {
  MLIRContext *context = func.getContext();
  RewritePatternSet patterns(context);
  populateComplexToStandardConversionPatterns(patterns);
  ConversionTarget conversion(*context);
  conversion.addIllegalDialect<complex::ComplexDialect>();
  conversion.addLegalOp<complex::CreateOp, complex::ReOp, complex::ImOp, complex::ConstantOp, complex::BitcastOp>();
  conversion.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(func, conversion, std::move(patterns));
}

Splitter::Components Splitter::unpair(Location loc, Value pairs, Type type) {
  Type component = getComponentType(type);
  auto tensor = dyn_cast<RankedTensorType>(component);
  Components result;
  for (int i : {0, 1}) {
    if (!tensor) {
      Value at = arith::ConstantIndexOp::create(b, loc, i);
      result[i] = tensor::ExtractOp::create(b, loc, pairs, at);
      continue;
    }
    auto [offsets, sizes, strides] = indexOf(loc, pairs, i);
    result[i] = tensor::ExtractSliceOp::create(b, loc, tensor, pairs, offsets, sizes, strides);
  }
  return result;
}

Value Splitter::pair(Location loc, Components components, Type type) {
  RankedTensorType pairs = getPairedType(type);
  auto tensor = dyn_cast<RankedTensorType>(components[0].getType());
  if (!tensor)
    return tensor::FromElementsOp::create(b, loc, pairs, ValueRange(components));
  SmallVector<OpFoldResult> shape = tensor::getMixedSizes(b, loc, components[0]);
  shape.push_back(b.getIndexAttr(2));
  Value result = tensor::EmptyOp::create(b, loc, shape, pairs.getElementType());
  for (int i : {0, 1}) {
    auto [offsets, sizes, strides] = indexOf(loc, result, i);
    result = tensor::InsertSliceOp::create(b, loc, components[i], result, offsets, sizes, strides);
  }
  return result;
}

std::tuple<SmallVector<OpFoldResult>, SmallVector<OpFoldResult>, SmallVector<OpFoldResult>>
Splitter::indexOf(Location loc, Value pairs, int component) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, pairs);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)), strides(sizes.size(), b.getIndexAttr(1));
  sizes.back() = b.getIndexAttr(1);
  offsets.back() = b.getIndexAttr(component);
  return {offsets, sizes, strides};
}

void Splitter::splitSignature() {
  Block &body = func.getBody().front();
  b.setInsertionPointToStart(&body);
  for (unsigned i = 0; i < body.getNumArguments(); ++i) {
    BlockArgument arg = body.getArgument(i);
    if (!getComplex(arg.getType()))
      continue;
    Value pairs = body.insertArgument(++i, getPairedType(arg.getType()), arg.getLoc());
    components[arg] = unpair(arg.getLoc(), pairs, arg.getType());
    replacedArguments.push_back(arg);
  }
  auto paired = [](TypeRange types) {
    return llvm::map_to_vector(types, [](Type type) { return getComplex(type) ? Type(getPairedType(type)) : type; });
  };
  func.setFunctionType(b.getFunctionType(paired(func.getArgumentTypes()), paired(func.getResultTypes())));
}

Value Splitter::componentOf(Value value, int component) const {
  auto known = components.find(value);
  return known == components.end() ? value : known->second[component];
}

SmallVector<Value> Splitter::allComponents(ValueRange values) const {
  SmallVector<Value> result;
  for (Value value : values)
    if (auto known = components.find(value); known != components.end())
      llvm::append_range(result, known->second);
    else
      result.push_back(value);
  return result;
}

SmallVector<Type> Splitter::allComponentTypes(TypeRange types) {
  SmallVector<Type> result;
  for (Type type : types)
    result.append(getComplex(type) ? 2 : 1, getComponentType(type));
  return result;
}

LogicalResult Splitter::splitBlock(Block &block, int yieldedComponents) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    b.setInsertionPoint(&op);
    LogicalResult split = op.hasTrait<OpTrait::IsTerminator>() ? splitTerminator(op, yieldedComponents) : splitOp(op);
    if (failed(split))
      return failure();
  }
  return success();
}

LogicalResult Splitter::splitTerminator(Operation &op, int yieldedComponents) {
  if (op.getNumRegions()) // scf.forall.in_parallel, scf.reduce: on tensors the former alone.
    return splitRegions(op, yieldedComponents);
  if (!hasComplex(op.getOperandTypes()))
    return success();
  SmallVector<Value> operands;
  if (isa<func::ReturnOp>(op)) {
    for (Value value : op.getOperands()) {
      auto known = components.find(value);
      operands.push_back(known == components.end() ? value : pair(op.getLoc(), known->second, value.getType()));
    }
  } else if (yieldedComponents == kBoth) {
    operands = allComponents(op.getOperands());
  } else {
    for (Value value : op.getOperands())
      operands.push_back(componentOf(value, yieldedComponents));
  }
  op.setOperands(operands);
  return success();
}

LogicalResult Splitter::splitRegions(Operation &op, int yieldedComponents) {
  for (Region &region : op.getRegions())
    for (Block &block : region)
      if (failed(splitBlock(block, yieldedComponents)))
        return failure();
  return success();
}

LogicalResult Splitter::splitOp(Operation &op) {
  const bool touches = hasComplex(op.getOperandTypes()) || hasComplex(op.getResultTypes());
  const bool binds = llvm::any_of(op.getRegions(), [](Region &region) {
    return llvm::any_of(region, [](Block &block) { return hasComplex(block.getArgumentTypes()); });
  });
  if (!touches && !binds)
    return splitRegions(op, kBoth);
  if (touches)
    replaced.push_back(&op);
  if (auto create = dyn_cast<complex::CreateOp>(op))
    return define(op, {create.getReal(), create.getImaginary()});
  if (isa<complex::ReOp, complex::ImOp>(op)) {
    op.getResult(0).replaceAllUsesWith(componentOf(op.getOperand(0), isa<complex::ImOp>(op)));
    return success();
  }
  if (auto constant = dyn_cast<complex::ConstantOp>(op))
    return splitScalarConstant(constant);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return splitConstant(constant);
  if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op))
    return splitCast(cast);
  if (isa<tensor::DimOp, tensor::RankOp>(op)) {
    replaced.pop_back();
    op.setOperand(0, componentOf(op.getOperand(0), 0));
    return success();
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (contractions.contains(&op))
      return splitContraction(linalgOp);
    if (op.getNumResults() == 1 && getComplex(op.getResult(0).getType()) &&
        llvm::hasSingleElement(*linalgOp.getBlock()))
      return splitTwice(op); // No computation.
    return splitLinalg(linalgOp);
  }
  if (isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp, scf::ForallOp>(op))
    return splitStructured(op);
  // Ops that only move elements.
  if (isa<tensor::TensorDialect>(op.getDialect()) || isa<arith::SelectOp>(op))
    return splitTwice(op);
  return op.emitError() << "'" << op.getName()
                        << "' cannot be compiled on complex numbers, expected upstream linalg, tensor, scf or complex"
                           ", but not complex.bitcast";
}

LogicalResult Splitter::define(Operation &op, Components values) {
  components[op.getResult(0)] = values;
  return success();
}

LogicalResult Splitter::splitScalarConstant(complex::ConstantOp op) {
  Components values;
  for (int i : {0, 1})
    values[i] = arith::ConstantOp::create(b, op.getLoc(), cast<TypedAttr>(op.getValue()[i]));
  return define(*op, values);
}

LogicalResult Splitter::splitConstant(arith::ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  auto type = cast<ShapedType>(getComponentType(op.getType()));
  if (!elements || !isa<FloatType>(type.getElementType()))
    return op.emitError() << "a constant of type " << op.getType()
                          << " cannot be compiled, expected one of complex floats that are written out";
  Components values;
  for (int i : {0, 1}) {
    SmallVector<APFloat> component;
    auto add = [&](std::complex<APFloat> value) { component.push_back(i ? value.imag() : value.real()); };
    if (elements.isSplat())
      add(elements.getSplatValue<std::complex<APFloat>>());
    else
      for (std::complex<APFloat> value : elements.getValues<std::complex<APFloat>>())
        add(value);
    values[i] = arith::ConstantOp::create(b, op.getLoc(), DenseElementsAttr::get(type, component));
  }
  return define(*op, values);
}

LogicalResult Splitter::splitCast(UnrealizedConversionCastOp op) {
  Value from = op.getInputs().front(), to = op.getResult(0);
  if (getComplex(to.getType()))
    return define(*op, unpair(op.getLoc(), from, to.getType()));
  to.replaceAllUsesWith(pair(op.getLoc(), components.at(from), from.getType()));
  return success();
}

LogicalResult Splitter::splitTwice(Operation &op) {
  std::array<SmallVector<Value>, 2> results;
  for (int i : {0, 1}) {
    IRMapping mapping;
    for (Value operand : op.getOperands())
      mapping.map(operand, componentOf(operand, i));
    b.setInsertionPoint(&op);
    Operation *copy = b.clone(op, mapping);
    for (Value result : copy->getResults()) {
      result.setType(getComponentType(result.getType()));
      results[i].push_back(result);
    }
    for (Region &region : copy->getRegions())
      for (Block &block : region) {
        for (BlockArgument arg : block.getArguments())
          if (getComplex(arg.getType())) { // Only this component is yielded.
            arg.setType(getComponentType(arg.getType()));
            components[arg] = {arg, arg};
          }
        if (failed(splitBlock(block, i)))
          return failure();
      }
  }
  for (auto [result, real, imaginary] : llvm::zip_equal(op.getResults(), results[0], results[1]))
    components[result] = {real, imaginary};
  return success();
}

Operation *Splitter::rebuild(Operation &op, ArrayRef<NamedAttribute> changed) {
  OperationState state(op.getLoc(), op.getName(), allComponents(op.getOperands()),
                       allComponentTypes(op.getResultTypes()));
  NamedAttrList attributes(op.getAttrDictionary());
  for (NamedAttribute attribute : changed)
    attributes.set(attribute.getName(), attribute.getValue());
  state.addAttributes(attributes);
  for (Region &region : op.getRegions())
    state.addRegion()->takeBody(region);
  b.setInsertionPoint(&op);
  Operation *copy = b.create(state);
  size_t next = 0;
  for (Value result : op.getResults()) {
    if (getComplex(result.getType())) {
      components[result] = {copy->getResult(next), copy->getResult(next + 1)};
      next += 2;
    } else {
      result.replaceAllUsesWith(copy->getResult(next++));
    }
  }
  return copy;
}

LogicalResult Splitter::splitBody(Operation &op) {
  for (Region &region : op.getRegions())
    for (Block &block : region) {
      for (unsigned i = 0; i < block.getNumArguments(); ++i) {
        BlockArgument arg = block.getArgument(i);
        if (!getComplex(arg.getType()))
          continue;
        Type component = getComponentType(arg.getType());
        components[arg] = {block.insertArgument(i + 1, component, arg.getLoc()),
                           block.insertArgument(i + 2, component, arg.getLoc())};
        replacedArguments.push_back(arg);
        i += 2;
      }
      if (failed(splitBlock(block, kBoth)))
        return failure();
    }
  return success();
}

LogicalResult Splitter::splitStructured(Operation &op) {
  SmallVector<NamedAttribute> changed;
  if (auto forall = dyn_cast<scf::ForallOp>(op)) {
    SmallVector<int32_t> segments;
    for (OperandRange segment :
         {forall.getDynamicLowerBound(), forall.getDynamicUpperBound(), forall.getDynamicStep(), forall.getOutputs()})
      segments.push_back(allComponentTypes(segment.getTypes()).size());
    changed.push_back(b.getNamedAttr("operandSegmentSizes", b.getDenseI32ArrayAttr(segments)));
  }
  return splitBody(*rebuild(op, changed));
}

LogicalResult Splitter::splitLinalg(linalg::LinalgOp op) {
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands())
    maps.append(getComplex(operand.get().getType()) ? 2 : 1, op.getMatchingIndexingMap(&operand));
  SmallVector<Value> inputs = allComponents(op.getDpsInputs()), inits = allComponents(op.getDpsInits());
  auto generic = linalg::GenericOp::create(b, op.getLoc(), allComponentTypes(op->getResultTypes()), inputs, inits, maps,
                                           op.getIteratorTypesArray());
  generic.getRegion().takeBody(op->getRegion(0));
  size_t next = 0;
  for (Value result : op->getResults()) {
    if (getComplex(result.getType())) {
      components[result] = {generic.getResult(next), generic.getResult(next + 1)};
      next += 2;
    } else {
      result.replaceAllUsesWith(generic.getResult(next++));
    }
  }
  return splitBody(*generic);
}

LogicalResult Splitter::splitContraction(linalg::LinalgOp op) {
  Location loc = op.getLoc();
  Components lhs = components.at(op.getDpsInputOperand(0)->get()), rhs = components.at(op.getDpsInputOperand(1)->get()),
             init = components.at(op.getDpsInits()[0]);
  auto multiply = [&](Value x, Value y, Value sum) -> Value {
    auto body = [](OpBuilder &inner, Location at, ValueRange values) {
      Value product = arith::MulFOp::create(inner, at, values[0], values[1]);
      linalg::YieldOp::create(inner, at, ValueRange(arith::AddFOp::create(inner, at, values[2], product)));
    };
    return linalg::GenericOp::create(b, loc, sum.getType(), ValueRange{x, y}, sum, op.getIndexingMapsArray(),
                                     op.getIteratorTypesArray(), body)
        .getResult(0);
  };
  Value negative = negate(loc, lhs[1]);
  return define(*op, {multiply(negative, rhs[1], multiply(lhs[0], rhs[0], init[0])),
                      multiply(lhs[1], rhs[0], multiply(lhs[0], rhs[1], init[1]))});
}

Value Splitter::negate(Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, value), type.getElementType());
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto body = [](OpBuilder &inner, Location at, ValueRange values) {
    linalg::YieldOp::create(inner, at, ValueRange(arith::NegFOp::create(inner, at, values[0])));
  };
  return linalg::GenericOp::create(b, loc, type, value, empty, maps, iterators, body).getResult(0);
}
