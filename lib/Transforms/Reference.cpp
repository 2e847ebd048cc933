//===- Reference.cpp - The unsharded program of a comparison --------------===//

#include "shardkit/Transforms/Reference.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

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

static LogicalResult verifyNoSegments(func::FuncOp func) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (func.getArgAttr(i, kSegmentAttr) || func.getArgAttr(i, kSegmentsOfAttr))
      return func.emitError() << "function @" << func.getName()
                              << " has segments of a weight, expected the program before "
                                 "--spmd-split-segments to compile a reference of it";
  return success();
}

/// Replaces each result that updates an argument with segments by its segments.
static void splitResults(func::FuncOp func) {
  Operation *terminator = func.getBody().back().getTerminator();
  OpBuilder b(terminator);
  // From the last result on, so that the numbers of earlier ones stay.
  for (unsigned r = func.getNumResults(); r-- > 0;) {
    auto tied = func.getResultAttrOfType<IntegerAttr>(r, kTiedAttr);
    auto segments = tied ? func.getArgAttrOfType<SegmentsAttr>(tied.getInt(), kSegmentsAttr) : SegmentsAttr();
    if (!segments || !segments.hasEffect())
      continue;
    Value full = terminator->getOperand(r);
    auto type = cast<RankedTensorType>(full.getType());
    int64_t offset = 0, dim = segments.getDim();
    unsigned at = r;
    for (int64_t size : segments.getSizes()) {
      SmallVector<int64_t> shape(type.getShape());
      shape[dim] = size;
      SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)), steps(shape.size(), b.getIndexAttr(1));
      offsets[dim] = b.getIndexAttr(offset);
      Value segment = tensor::ExtractSliceOp::create(b, terminator->getLoc(), type.clone(shape), full, offsets,
                                                     getAsIndexOpFoldResult(func.getContext(), shape), steps);
      offset += size;
      (void)func.insertResult(++at, segment.getType(), {});
      terminator->insertOperands(at, segment);
    }
    (void)func.eraseResult(r);
    terminator->eraseOperand(r);
  }
}

/// Replaces each argument with segments and a loading function by its stored tensors.
static void loadArguments(func::FuncOp func, ModuleOp module) {
  Block &body = func.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  for (unsigned i = func.getNumArguments(); i-- > 0;) {
    auto segments = func.getArgAttrOfType<SegmentsAttr>(i, kSegmentsAttr);
    auto name = func.getArgAttrOfType<FlatSymbolRefAttr>(i, kLoadAttr);
    auto load = name ? module.lookupSymbol<func::FuncOp>(name.getAttr()) : func::FuncOp();
    if (!segments || !segments.hasEffect() || !load)
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

namespace {
/// The attributes of a signature that say which sizes the run knows: the code of the reference needs them.
class SizeAttributes {
public:
  explicit SizeAttributes(ModuleOp module) {
    for (auto func : module.getOps<func::FuncOp>()) {
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        arguments.push_back(select(func.getArgAttrDict(i)));
      for (unsigned i = 0; i < func.getNumResults(); ++i)
        results.push_back(select(func.getResultAttrDict(i)));
    }
  }

  void restore(ModuleOp module) {
    size_t argument = 0, result = 0;
    for (auto func : module.getOps<func::FuncOp>()) {
      SignatureAttrs signature(func);
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        signature.arg(i).append(arguments[argument++]);
      for (unsigned i = 0; i < func.getNumResults(); ++i)
        signature.result(i).append(results[result++]);
      signature.write();
    }
  }

private:
  static SmallVector<NamedAttribute, 2> select(DictionaryAttr attrs) {
    SmallVector<NamedAttribute, 2> selected;
    for (StringRef name : {kSizeAttr, kBoundAttr, kHintAttr, kGlobalSizesAttr})
      if (std::optional<NamedAttribute> attr = attrs ? attrs.getNamed(name) : std::nullopt)
        selected.push_back(*attr);
    return selected;
  }

  std::vector<SmallVector<NamedAttribute, 2>> arguments, results;
};
} // namespace

OwningOpRef<ModuleOp> spmd::makeReference(ModuleOp module) {
  // A local program has lost it.
  if (failed(verifyInput(module, Phase::Resharded, "with-reference")))
    return {};
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(takeReferences(*copy)))
    return {};
  for (auto func : copy->getOps<func::FuncOp>()) {
    if (failed(verifyNoSegments(func)))
      return {};
    if (func.isExternal())
      continue;
    splitResults(func);
    loadArguments(func, *copy);
  }
  PassManager pm(module.getContext());
  // Blocks that follow each other become one, as in the sharded program.
  if (llvm::any_of(copy->getOps<func::FuncOp>(),
                   [](func::FuncOp func) { return !func.isExternal() && !func.getBody().hasOneBlock(); }))
    pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  // Functions that only the sharded program calls need no unsharded form.
  pm.addPass(createSymbolDCEPass());
  if (failed(pm.run(*copy)))
    return {};
  SizeAttributes sizes(*copy);
  PassManager strip(module.getContext());
  strip.addPass(createSPMDStripPass());
  if (failed(strip.run(*copy)))
    return {};
  sizes.restore(*copy);
  return copy;
}

void spmd::dropReferences(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    func->removeAttr(kReferenceAttr);
}
