//===- Phases.cpp - What the IR still needs before a bundle ---------------===//

#include "Phases.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/DroppedDims.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Report/Report.h"
#include "shardkit/Transforms/InlineCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

LogicalResult spmd::runPhases(ModuleOp module, const PhaseOptions &options, std::string *report) {
  auto run = [&](const PhaseOptions &options, Phase last) {
    PassManager pm(module.getContext());
    buildPhases(pm, Phase(getPhase(module)), options, last);
    return pm.run(module);
  };
  if (!report)
    return run(options, Phase::Final);
  // Values are called what they are called after propagation, as in --spmd-report.
  bool fromSource = getPhase(module) < int(Phase::Partitioned);
  PhaseOptions keeping = options;
  keeping.keepLayouts = true;
  if (fromSource) {
    if (failed(run(keeping, Phase::Propagated)))
      return failure();
    noteOrigins(module);
  }
  if (failed(run(keeping, Phase::Final)))
    return failure();
  PartitionedValues values(module, fromSource);
  ReportOptions reportOptions;
  reportOptions.tripCount = options.tripCount;
  FailureOr<Report> built = buildReport(module, values, reportOptions);
  if (failed(built))
    return failure();
  llvm::raw_string_ostream os(*report);
  printJSON(*built, reportOptions.top, os);
  module.walk([](Operation *op) {
    for (StringRef name : {kLayoutsAttr, kGlobalTypesAttr, kOriginsAttr})
      op->removeDiscardableAttr(name);
  });
  return success();
}

LogicalResult spmd::specializeShapes(ModuleOp module, ArrayRef<std::string> shapes) {
  if (shapes.empty())
    return success();
  makeDroppedDimsExplicit(module);
  PassManager pm(module.getContext());
  pm.addPass(createSPMDShardingsToConstraintsPass());
  addInliner(pm);
  pm.addPass(createSymbolDCEPass());
  SPMDSpecializeShapesPassOptions options;
  llvm::append_range(options.shapes, shapes);
  pm.addPass(createSPMDSpecializeShapesPass(options));
  return pm.run(module);
}

/// Functions that name another one as their reference get its body.
static LogicalResult takeReferences(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>()) {
    auto name = func->getAttrOfType<FlatSymbolRefAttr>(kReferenceAttr);
    if (!name)
      continue;
    auto other = module.lookupSymbol<func::FuncOp>(name.getAttr());
    if (!other || other.isExternal() || other->hasAttr(kReferenceAttr) ||
        other.getFunctionType() != func.getFunctionType())
      return func.emitError() << "spmd.reference of @" << func.getName() << " is " << name
                              << ", expected a function of type " << func.getFunctionType()
                              << " with a body and no reference of its own";
    Region body;
    IRMapping map;
    other.getBody().cloneInto(&body, map);
    func.getBody().takeBody(body);
  }
  return success();
}

/// Where arguments are split into parts, references take the stored tensors and give
/// the parts of results that update them.
static LogicalResult splitSegments(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>()) {
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (func.getArgAttr(i, kSegmentAttr) || func.getArgAttr(i, kSegmentsOfAttr))
        return func.emitError() << "function @" << func.getName()
                                << " has parts of a weight, expected the program before "
                                   "--spmd-split-segments to compile a reference of it";
    if (func.isExternal())
      continue;
    Block &body = func.getBody().front();
    OpBuilder b = OpBuilder::atBlockBegin(&body);
    Operation *terminator = func.getBody().back().getTerminator();
    // From the last on: places of those before stay.
    for (unsigned r = func.getNumResults(); r-- > 0;) {
      auto tied = func.getResultAttrOfType<IntegerAttr>(r, kTiedAttr);
      auto segments = tied ? func.getArgAttrOfType<SegmentsAttr>(tied.getInt(), kSegmentsAttr) : SegmentsAttr();
      if (!segments || segments.getSizes().size() < 2)
        continue;
      Value whole = terminator->getOperand(r);
      auto type = cast<RankedTensorType>(whole.getType());
      OpBuilder end(terminator);
      int64_t offset = 0, dim = segments.getDim();
      unsigned at = r;
      for (int64_t size : segments.getSizes()) {
        SmallVector<int64_t> shape(type.getShape());
        shape[dim] = size;
        SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)), steps(shape.size(), b.getIndexAttr(1));
        offsets[dim] = b.getIndexAttr(offset);
        Value part = tensor::ExtractSliceOp::create(end, terminator->getLoc(), type.clone(shape), whole, offsets,
                                                    getAsIndexOpFoldResult(func.getContext(), shape), steps);
        offset += size;
        (void)func.insertResult(++at, part.getType(), {});
        terminator->insertOperands(at, part);
      }
      (void)func.eraseResult(r);
      terminator->eraseOperand(r);
    }
    for (unsigned i = func.getNumArguments(); i-- > 0;) {
      auto segments = func.getArgAttrOfType<SegmentsAttr>(i, kSegmentsAttr);
      auto name = func.getArgAttrOfType<FlatSymbolRefAttr>(i, kLoadAttr);
      auto load = name ? module.lookupSymbol<func::FuncOp>(name.getAttr()) : func::FuncOp();
      if (!segments || segments.getSizes().size() < 2 || !load)
        continue;
      unsigned at = i;
      SmallVector<Value> stored;
      for (Type type : load.getArgumentTypes()) {
        (void)func.insertArgument(++at, type, {}, func.getArgument(i).getLoc());
        stored.push_back(body.getArgument(at));
      }
      auto call = func::CallOp::create(b, func.getArgument(i).getLoc(), load, stored);
      func.getArgument(i).replaceAllUsesWith(call.getResult(0));
      (void)func.eraseArgument(i);
    }
  }
  return success();
}

OwningOpRef<ModuleOp> spmd::makeReference(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(takeReferences(*copy)) || failed(splitSegments(*copy)))
    return {};
  PassManager pm(module.getContext());
  // What only the sharded program calls need not have an unsharded form.
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createSPMDStripPass());
  if (failed(pm.run(*copy)))
    return {};
  return copy;
}

void spmd::dropReferences(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    func->removeAttr(kReferenceAttr);
}
