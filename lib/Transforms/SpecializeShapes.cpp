//===- SpecializeShapes.cpp - Sizes that are given before compiling -------===//
//
// Arguments get static types; static types of other values follow by upstream's patterns,
// which move casts through ops, and by the patterns of this file.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Constraints.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Passes.h"
#include "shardkit/Rules/SymbolicSizes.h"
#include "shardkit/Support/Names.h"
#include "shardkit/Transforms/RefineShapes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDSPECIALIZESHAPESPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// The source of `value` if that is a cast that drops sizes, else null.
static Value getRefined(Value value) {
  auto cast = value.getDefiningOp<tensor::CastOp>();
  if (!cast)
    return {};
  auto from = dyn_cast<RankedTensorType>(cast.getSource().getType());
  auto to = dyn_cast<RankedTensorType>(cast.getType());
  return from && to && from != to && tensor::preservesStaticInformation(to, from) ? cast.getSource() : Value();
}

namespace {

/// For an op whose tensors all have one shape: a size that one of them has is that of all.
struct RefineSameShape : RewritePattern {
  explicit RefineSameShape(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!hasOneShape(op))
      return failure();
    SmallVector<int64_t> shape;
    bool refines = false;
    for (Value operand : op->getOperands()) {
      Value source = getRefined(operand);
      auto type = dyn_cast<RankedTensorType>((source ? source : operand).getType());
      if (!type)
        continue;
      refines |= source != nullptr;
      if (shape.empty())
        shape.assign(type.getShape().begin(), type.getShape().end());
      for (auto [known, size] : llvm::zip_equal(shape, type.getShape()))
        if (ShapedType::isDynamic(known))
          known = size;
        else if (!ShapedType::isDynamic(size) && size != known)
          return failure();
    }
    if (!refines)
      return failure();
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands()) {
      Value source = getRefined(operand);
      Value value = source ? source : operand;
      if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && type.getShape() != ArrayRef<int64_t>(shape))
        value = tensor::CastOp::create(rewriter, op->getLoc(), type.clone(shape), value);
      state.operands.push_back(value);
    }
    for (Type type : op->getResultTypes())
      state.types.push_back(cast<RankedTensorType>(type).clone(shape));
    state.attributes = op->getAttrDictionary().getValue();
    Operation *made = rewriter.create(state);
    SmallVector<Value> results;
    for (auto [value, type] : llvm::zip(made->getResults(), op->getResultTypes()))
      results.push_back(tensor::CastOp::create(rewriter, op->getLoc(), type, value));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// The sizes of a result that both branches have.
struct RefineBranches : OpRewritePattern<scf::IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::IfOp op, PatternRewriter &rewriter) const override {
    if (op.getNumResults() == 0)
      return failure();
    SmallVector<Type> types(op.getResultTypes());
    for (auto [i, type] : llvm::enumerate(types)) {
      Value first = getRefined(op.thenYield().getOperand(i));
      Value second = getRefined(op.elseYield().getOperand(i));
      if (first && second && first.getType() == second.getType())
        type = first.getType();
    }
    if (types == SmallVector<Type>(op.getResultTypes()))
      return failure();
    auto made = scf::IfOp::create(rewriter, op.getLoc(), types, op.getCondition(),
                                  /*withElseRegion=*/true);
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    for (unsigned r : {0, 1}) {
      Region &body = made->getRegion(r);
      body.takeBody(op->getRegion(r));
      Operation *yield = body.front().getTerminator();
      rewriter.modifyOpInPlace(yield, [&] {
        for (auto [i, type] : llvm::enumerate(types))
          if (type != op.getResult(i).getType())
            yield->setOperand(i, getRefined(yield->getOperand(i)));
      });
    }
    rewriter.setInsertionPointAfter(made);
    SmallVector<Value> results;
    for (auto [value, type] : llvm::zip(made.getResults(), op.getResultTypes()))
      results.push_back(value.getType() == type ? Value(value)
                                                : tensor::CastOp::create(rewriter, op.getLoc(), type, value));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// The type of a value if the argument of a loop has the assumed type, for ops that infer
/// their shapes from others.
class AssumedTypes {
public:
  AssumedTypes(BlockArgument arg, Type type) { known[arg] = type; }

  Type get(Value value) {
    auto [it, isNew] = known.try_emplace(value, value.getType());
    if (!isNew)
      return it->second;
    Type type = value.getType();
    if (Value refined = getRefined(value))
      type = get(refined);
    else if (auto result = dyn_cast<OpResult>(value))
      type = infer(result);
    return known[value] = type;
  }

private:
  Type infer(OpResult result) {
    Operation *op = result.getOwner();
    if (auto dest = dyn_cast<DestinationStyleOpInterface>(op))
      return get(dest.getTiedOpOperand(result)->get());
    if (hasOneShape(op))
      for (Value operand : op->getOperands())
        if (auto type = dyn_cast<RankedTensorType>(get(operand)); type && type.hasStaticShape())
          return cast<RankedTensorType>(result.getType()).clone(type.getShape());
    return result.getType();
  }
  llvm::DenseMap<Value, Type> known;
};

/// A loop argument whose initial and yielded values have one shape.
struct RefineLoop : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> inits(op.getInitArgs());
    for (auto [init, arg, yielded] : llvm::zip(inits, op.getRegionIterArgs(), op.getYieldedValues()))
      if (Value refined = getRefined(init);
          refined && AssumedTypes(arg, refined.getType()).get(yielded) == refined.getType())
        init = refined;
    if (inits == SmallVector<Value>(op.getInitArgs()))
      return failure();
    auto made = scf::ForOp::create(rewriter, op.getLoc(), op.getLowerBound(), op.getUpperBound(), op.getStep(), inits);
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    made.getRegion().takeBody(op.getRegion());
    Operation *yield = made.getBody()->getTerminator();
    SmallVector<Value> results;
    for (auto [i, init] : llvm::enumerate(inits)) {
      BlockArgument arg = made.getRegionIterArg(i);
      Type old = arg.getType(), type = init.getType();
      Value result = made.getResult(i);
      if (old != type) {
        rewriter.setInsertionPointToStart(made.getBody());
        arg.setType(type);
        auto inside = tensor::CastOp::create(rewriter, op.getLoc(), old, arg);
        rewriter.replaceAllUsesExcept(arg, inside, inside);
        rewriter.setInsertionPoint(yield);
        rewriter.modifyOpInPlace(yield, [&, i = i] {
          yield->setOperand(i, tensor::CastOp::create(rewriter, op.getLoc(), type, yield->getOperand(i)));
        });
        rewriter.setInsertionPointAfter(made);
        result = tensor::CastOp::create(rewriter, op.getLoc(), old, result);
      }
      results.push_back(result);
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

static void writeType(func::FuncOp func) {
  SmallVector<Type> results(func.getResultTypes());
  for (Block &block : func.getBody())
    if (auto op = dyn_cast<func::ReturnOp>(block.getTerminator()))
      llvm::copy(op.getOperandTypes(), results.begin());
  func.setFunctionType(FunctionType::get(func.getContext(), func.getBody().front().getArgumentTypes(), results));
}

static void refineResults(func::FuncOp func) {
  SmallVector<Operation *> returns;
  for (Block &block : func.getBody())
    if (isa<func::ReturnOp>(block.getTerminator()))
      returns.push_back(block.getTerminator());
  if (returns.size() != 1)
    return; // they may have different sizes
  for (OpOperand &operand : returns.front()->getOpOperands())
    if (Value refined = getRefined(operand.get()))
      operand.set(refined);
  writeType(func);
}

void spmd::setArgumentType(func::FuncOp func, BlockArgument arg, RankedTensorType type) {
  OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
  Type old = arg.getType();
  if (old == type)
    return;
  arg.setType(type);
  Value cast = tensor::CastOp::create(b, arg.getLoc(), old, arg);
  arg.replaceAllUsesExcept(cast, cast.getDefiningOp());
  writeType(func);
}

void spmd::refineShapes(ArrayRef<func::FuncOp> funcs) {
  if (funcs.empty())
    return;
  MLIRContext *context = funcs.front()->getContext();
  RewritePatternSet patterns(context);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, context);
  patterns.add<RefineSameShape, RefineBranches, RefineLoop>(context);
  FrozenRewritePatternSet frozen(std::move(patterns));
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  for (func::FuncOp func : funcs) {
    (void)applyPatternsGreedily(func, frozen, config);
    refineResults(func);
  }
}

namespace {

struct SpecializeShapesPass : public spmd::impl::SPMDSpecializeShapesPassBase<SpecializeShapesPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyInput(module, Phase::Annotated, getArgument())))
      return signalPassFailure();
    if (shapes.empty())
      return;
    if (getPhase(module) < int(Phase::Annotated))
      makeConstraintsOfShardings(module);
    llvm::SmallSetVector<func::FuncOp, 4> changed;
    for (StringRef option : shapes)
      if (failed(readShape(option, changed)))
        return signalPassFailure();
    refineShapes(changed.getArrayRef());
  }

private:
  /// NAME=8x16: sets the sizes of each argument of that name of a public function.
  LogicalResult readShape(StringRef option, llvm::SmallSetVector<func::FuncOp, 4> &changed) {
    Location loc = getOperation().getLoc();
    auto [name, text] = option.split('=');
    SmallVector<int64_t> shape;
    SmallVector<StringRef> sizes;
    text.split(sizes, 'x', /*MaxSplit=*/-1, /*KeepEmpty=*/true);
    for (StringRef size : sizes)
      if (shape.emplace_back(); size.getAsInteger(10, shape.back()) || shape.back() < 0)
        return emitError(loc) << "shape '" << option << "', expected NAME=SIZExSIZE...";
    bool found = false;
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isPrivate() || func.isExternal())
        continue;
      for (BlockArgument arg : func.getArguments()) {
        if (spmd::getArgumentName(func, arg.getArgNumber()) != name)
          continue;
        auto type = dyn_cast<RankedTensorType>(arg.getType());
        if (!type || failed(verifyCompatibleShape(type.getShape(), shape)))
          return emitError(arg.getLoc()) << "argument '" << name << "' has type " << arg.getType()
                                         << ", expected one that the given shape " << text << " fits";
        found = true;
        if (auto known = type.clone(shape); known != type) {
          setArgumentType(func, arg, known);
          dropSymbols(func, arg, known);
        }
        changed.insert(func);
      }
    }
    if (found)
      return success();
    return emitError(loc) << "no public function has an argument '" << name
                          << "', expected a spmd.name, a spmd.weight or arg0, arg1, ...";
  }

  /// Drops the names of sizes that are known now, their bounds and hints.
  static void dropSymbols(func::FuncOp func, BlockArgument arg, RankedTensorType type) {
    auto symbols = func.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), kDimSymbolsAttr);
    if (!symbols)
      return;
    Builder b(func.getContext());
    SmallVector<Attribute> left(symbols.begin(), symbols.end());
    for (auto [d, name] : llvm::enumerate(left))
      if (!type.isDynamicDim(d))
        name = b.getStringAttr("");
    func.setArgAttr(arg.getArgNumber(), kDimSymbolsAttr, b.getArrayAttr(left));
    for (StringRef attr : {kBoundsAttr, kHintsAttr}) {
      auto given = func->getAttrOfType<DictionaryAttr>(attr);
      if (!given)
        continue;
      NamedAttrList needed(given);
      llvm::SmallDenseSet<StringAttr> named;
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        if (auto others = func.getArgAttrOfType<ArrayAttr>(i, kDimSymbolsAttr))
          for (auto other : others.getAsRange<StringAttr>())
            named.insert_range(parseDimSymbols(other)->names);
      for (auto dim : symbols.getAsRange<StringAttr>())
        for (StringAttr name : parseDimSymbols(dim)->names)
          if (!named.contains(name))
            needed.erase(name);
      func->setAttr(attr, needed.getDictionary(func.getContext()));
    }
  }
};

} // namespace
