//===- CollectiveConversion.cpp - Collectives of other compilers ----------===//

#include "shardkit/Conversion/CollectiveConversion.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Rules/Sorts.h"
#include "shardkit/Transforms/IdleCollectives.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::spmd;

CollectiveEmitter::~CollectiveEmitter() = default;

Value CollectiveEmitter::emitCoordinate(RewriterBase &b, Operation *op, const RankDigit &digit) {
  Location loc = op->getLoc();
  Value rank = emitRank(b, op);
  Value stride = arith::ConstantIndexOp::create(b, loc, digit.stride);
  Value size = arith::ConstantIndexOp::create(b, loc, digit.size);
  return arith::RemUIOp::create(b, loc, arith::DivUIOp::create(b, loc, rank, stride), size);
}

/// The collectives run where they are started.
static void inlineStarted(RewriterBase &rewriter, StartOp start) {
  Operation *end = start.getBody().front().getTerminator();
  SmallVector<Value> results(end->getOperands());
  rewriter.replaceOp(start.getDone(), results);
  rewriter.eraseOp(end);
  rewriter.inlineBlockBefore(&start.getBody().front(), start);
  rewriter.eraseOp(start);
}

/// An elementwise function of tensors of one shape.
static Value emitElementwise(OpBuilder &b, Location loc, ValueRange inputs, Type element,
                             llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> emit) {
  auto type = cast<RankedTensorType>(inputs.front().getType()).clone(element);
  SmallVector<AffineMap> maps(inputs.size() + 1, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), element);
  return linalg::GenericOp::create(b, loc, TypeRange(type), inputs, empty, maps, loops,
                                   [&](OpBuilder &body, Location at, ValueRange args) {
                                     linalg::YieldOp::create(body, at, emit(body, at, args.drop_back()));
                                   })
      .getResult(0);
}

/// A collective of complex numbers, as one of each component.
static FailureOr<Value> emitComponents(RewriterBase &b, CollectiveEmitter &emitter,
                                       const CollectiveToEmit &collective) {
  auto type = cast<ComplexType>(collective.inputType.getElementType());
  if (collective.form.reduction.value_or(ReductionKind::Sum) != ReductionKind::Sum) {
    collective.op->emitError() << "combines elements of " << type << " by a reduction that is not one of their "
                               << "components, expected a sum";
    return failure();
  }
  Location loc = collective.op->getLoc();
  Type component = type.getElementType();
  CollectiveToEmit own = collective;
  own.inputType = own.inputType.clone(component);
  own.resultType = own.resultType.clone(component);
  SmallVector<Value, 2> components;
  for (bool isReal : {true, false}) {
    own.input =
        emitElementwise(b, loc, collective.input, component, [&](OpBuilder &body, Location at, ValueRange args) {
          return isReal ? complex::ReOp::create(body, at, args[0]).getResult()
                        : complex::ImOp::create(body, at, args[0]).getResult();
        });
    FailureOr<Value> value = emitter.emit(b, own);
    if (failed(value))
      return failure();
    components.push_back(*value);
  }
  return emitElementwise(b, loc, components, type, [&](OpBuilder &body, Location at, ValueRange args) {
    return complex::CreateOp::create(body, at, type, args[0], args[1]).getResult();
  });
}

namespace {

class ConvertCollective : public OpInterfaceRewritePattern<CollectiveOpInterface> {
public:
  ConvertCollective(MLIRContext *context, CollectiveEmitter &emitter)
      : OpInterfaceRewritePattern(context), emitter(emitter) {}

  LogicalResult matchAndRewrite(CollectiveOpInterface op, PatternRewriter &rewriter) const override {
    auto fail = [&] {
      emitter.setFailed();
      return failure();
    };
    auto inputType = cast<RankedTensorType>(op->getOperand(0).getType());
    auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
    if (!inputType.hasStaticShape() || !resultType.hasStaticShape()) {
      op.emitError() << "moves a value of unknown size, expected sizes that are known: run "
                        "--spmd-specialize-shapes on the program before";
      return fail();
    }
    FailureOr<ClosedForm> form = getClosedForm(op, emitter.getMeshes());
    if (failed(form))
      return fail();
    CollectiveToEmit collective{op,        op->getOperand(0), op->getOperands().drop_front(),
                                inputType, resultType,        std::move(*form)};
    const bool isSplit = isa<ComplexType>(inputType.getElementType()) && !emitter.takesComplex(collective);
    FailureOr<Value> result =
        isSplit ? emitComponents(rewriter, emitter, collective) : emitter.emit(rewriter, collective);
    if (failed(result))
      return fail();
    rewriter.replaceOp(op, *result);
    return success();
  }

private:
  CollectiveEmitter &emitter;
};

class ConvertCoordinate : public OpRewritePattern<DeviceCoordinateOp> {
public:
  ConvertCoordinate(MLIRContext *context, CollectiveEmitter &emitter) : OpRewritePattern(context), emitter(emitter) {}

  LogicalResult matchAndRewrite(DeviceCoordinateOp op, PatternRewriter &rewriter) const override {
    const Mesh *mesh = emitter.getMeshes().lookupOrEmit(op.getMeshAttr(), [&] { return op.emitError(); });
    std::optional<unsigned> axis = mesh ? mesh->findAxis(op.getAxis()) : std::nullopt;
    if (!axis) {
      emitter.setFailed();
      return failure();
    }
    rewriter.replaceOp(op, emitter.emitCoordinate(rewriter, op, {mesh->axisStride(*axis), mesh->axes[*axis].size}));
    return success();
  }

private:
  CollectiveEmitter &emitter;
};

struct InlineStarted : public OpRewritePattern<StartOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StartOp start, PatternRewriter &rewriter) const override {
    inlineStarted(rewriter, start);
    return success();
  }
};

} // namespace

void spmd::populateSPMDCollectiveConversion(RewritePatternSet &patterns, CollectiveEmitter &emitter) {
  patterns.add<ConvertCollective, ConvertCoordinate>(patterns.getContext(), emitter);
  patterns.add<InlineStarted>(patterns.getContext());
}

static LogicalResult verifyConverted(ModuleOp module) {
  WalkResult walk = module.walk([&](Operation *op) {
    if (!isa_and_nonnull<SPMDDialect>(op->getDialect()) || isa<MeshOp>(op))
      return WalkResult::advance();
    InFlightDiagnostic diag = op->emitError() << "'" << op->getName() << "' cannot be converted, expected ";
    if (isa<SendOp, RecvOp, ScheduleOp>(op))
      diag << "a program of one mesh: stages send through channels of ShardKit's runtime";
    else
      diag << "collectives, spmd.device_coordinate and meshes alone";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult spmd::verifyConvertible(ModuleOp module, StringRef pass) {
  const int phase = getPhase(module);
  if (phase >= int(Phase::Partitioned))
    return verifyLowered(module, Phase::Partitioned, "--" + Twine(pass));
  return module.emitError() << "--" << pass << " of a module in phase \""
                            << (phase < 0 ? StringRef("written") : StringRef(kPhases[phase]))
                            << "\", expected a local program: run --spmd-default-pipeline before";
}

/// Broadcasts that the emitter has an op for.
static LogicalResult convertBroadcasts(CollectiveEmitter &emitter) {
  SmallVector<BroadcastOp> broadcasts;
  emitter.getModule().walk([&](BroadcastOp op) { broadcasts.push_back(op); });
  IRRewriter rewriter(emitter.getModule().getContext());
  for (BroadcastOp op : broadcasts) {
    FailureOr<SmallVector<RankDigit>> digits = getBroadcastDigits(op, emitter.getMeshes());
    rewriter.setInsertionPoint(op);
    FailureOr<Value> value = failed(digits) ? FailureOr<Value>() : emitter.emitBroadcast(rewriter, op, *digits);
    if (failed(value))
      return failure();
    if (*value)
      rewriter.replaceOp(op, *value);
  }
  return success();
}

/// Upstream lowers bitcasts of arith alone.
static void expandBitcasts(ModuleOp module) {
  module.walk([](tensor::BitcastOp op) {
    if (!getElementTypeOrSelf(op.getSource()).isSignlessIntOrFloat() ||
        !getElementTypeOrSelf(op).isSignlessIntOrFloat())
      return;
    OpBuilder b(op);
    op.replaceAllUsesWith(arith::BitcastOp::create(b, op.getLoc(), op.getType(), op.getSource()).getResult());
    op.erase();
  });
}

LogicalResult spmd::convertCollectives(CollectiveEmitter &emitter) {
  ModuleOp module = emitter.getModule();
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(removeIdleCollectives(func, emitter.getMeshes())))
      return failure();
  if (failed(convertBroadcasts(emitter)) || failed(expandBroadcasts(module, emitter.getMeshes())))
    return failure();
  expandSorts(module);
  expandBitcasts(module);
  // The walk below visits the collectives of a body where they are then.
  SmallVector<StartOp> starts;
  module.walk([&](StartOp start) { starts.push_back(start); });
  IRRewriter rewriter(module.getContext());
  for (StartOp start : starts)
    inlineStarted(rewriter, start);
  RewritePatternSet patterns(module.getContext());
  populateSPMDCollectiveConversion(patterns, emitter);
  walkAndApplyPatterns(module, std::move(patterns));
  return failure(emitter.hasFailed() || failed(verifyConverted(module)));
}
