//===- InsertProbes.cpp - Probes in a program and its counterpart ---------===//
//
// Both programs get the same probes in the same order: the values of one run are compared with those of the other as
// they are made. The sharded function is partitioned with its probes, each a use of a value like any other, so that no
// later pass can separate a probe from what it is said to see.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDINSERTPROBESPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// Larger constants, and tensors with one number, have no probe, which would make them values in memory.
static constexpr int64_t kMaxConstantBytes = 1 << 16;

/// Whether a run can compare values of the type.
static bool isComparable(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getNumElements() == 0)
    return false;
  Type element = tensor.getElementType();
  if (element.isF64() || element.isF32() || element.isF16() || element.isBF16() || element.isIndex())
    return true;
  return element.isSignlessInteger() && llvm::is_contained({1u, 8u, 16u, 32u, 64u}, element.getIntOrFloatBitWidth());
}

/// Whether the results of an op have probes.
static bool isProbed(Operation *op) {
  if (isa<tensor::EmptyOp>(op))
    return false;
  if (!op->hasTrait<OpTrait::ConstantLike>() && !isa<linalg::FillOp>(op))
    return true;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && type.hasStaticShape() &&
         type.getNumElements() * getElementBytes(type.getElementType()) <= kMaxConstantBytes;
}

/// Calls `fn` for the ops of a block, and of the loops and branches in it, in program order.
static void forEachOp(Block &block, llvm::function_ref<void(Operation *)> fn) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          forEachOp(inner, fn);
    fn(&op);
  }
}

/// Whether a function can have a counterpart; a warning if not.
static bool verifyFunction(func::FuncOp func) {
  auto warn = [&](Location loc) {
    return emitWarning(loc) << "values of function @" << func.getName() << " are not compared: ";
  };
  if (!func.getBody().hasOneBlock()) {
    warn(func.getLoc()) << "it has several blocks, expected one";
    return false;
  }
  for (BlockArgument arg : func.getArguments())
    if (auto tensor = dyn_cast<RankedTensorType>(arg.getType()); tensor && !tensor.hasStaticShape()) {
      warn(arg.getLoc()) << "an argument has type " << tensor << ", expected known sizes (--shapes)";
      return false;
    }
  return !func.walk([&](Operation *op) {
                if (!isa<ManualComputationOp, func::CallOp, FragmentOp, StageOutputOp>(op))
                  return WalkResult::advance();
                warn(op->getLoc()) << op->getName() << " has no unsharded counterpart, expected a function without it";
                return WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Fills an empty tensor whose elements could be seen: those that slices and loops do not write.
static void fillEmpty(tensor::EmptyOp empty) {
  auto type = dyn_cast<RankedTensorType>(empty.getType());
  Type element = type.getElementType();
  bool isOverwritten = llvm::all_of(empty->getUses(), [](OpOperand &use) {
    if (isa<linalg::SoftmaxOp>(use.getOwner()))
      return true;
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return op && op.isDpsInit(&use) && !op.payloadUsesValueFromOperand(&use);
  });
  if (isOverwritten || !isComparable(type))
    return;
  OpBuilder b(empty);
  b.setInsertionPointAfter(empty);
  Value zero = arith::ConstantOp::create(b, empty.getLoc(), b.getZeroAttr(element));
  auto fill = linalg::FillOp::create(b, empty.getLoc(), zero, empty.getResult());
  for (StringRef name : {kShardingsAttr, kOriginsAttr})
    if (Attribute attr = empty->getDiscardableAttr(name))
      fill->setDiscardableAttr(name, attr);
  empty.getResult().replaceAllUsesExcept(fill.getResult(0), fill);
}

namespace {
/// What reports call a value, or this module, where no earlier phase has named it.
class ProbeNames {
public:
  explicit ProbeNames(ModuleOp module) : state(module) {
    haveOrigins = module
                      .walk([](Operation *op) {
                        return op->hasAttr(kOriginsAttr) ? WalkResult::interrupt() : WalkResult::advance();
                      })
                      .wasInterrupted();
  }

  std::string get(OpResult result) {
    // A reshard has the value of its operand.
    if (auto reshard = dyn_cast<ReshardOp>(result.getOwner())) {
      auto input = dyn_cast<OpResult>(reshard.getInput());
      return input ? get(input) : print(reshard.getInput());
    }
    auto origins = result.getOwner()->getAttrOfType<ArrayAttr>(kOriginsAttr);
    if (auto name = origins ? dyn_cast<StringAttr>(origins[result.getResultNumber()]) : StringAttr())
      return name.str();
    // A number of this module would be that of another value there.
    if (haveOrigins)
      return result.getOwner()->getName().getStringRef().str();
    std::string name = print(result), user = getName(result.getLoc());
    return user.empty() ? name : name + " (" + user + ")";
  }

private:
  static std::string getName(Location loc) {
    auto name = loc->findInstanceOf<NameLoc>();
    return name ? name.getName().str() : "";
  }
  std::string print(Value value) {
    std::string text;
    llvm::raw_string_ostream os(text);
    value.printAsOperand(os, state);
    return text;
  }

  AsmState state;
  bool haveOrigins;
};

struct InsertProbesPass : public spmd::impl::SPMDInsertProbesPassBase<InsertProbesPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyInput(module, Phase::Resharded, getArgument())))
      return signalPassFailure();
    if (int phase = getPhase(module); phase != int(Phase::Resharded)) {
      emitError(module.getLoc()) << getArgument() << " of a module in phase \"" << (phase < 0 ? "" : kPhases[phase])
                                 << "\", expected \"resharded\"; run --spmd-insert-reshards first";
      return signalPassFailure();
    }
    SmallVector<func::FuncOp> functions;
    for (func::FuncOp func : getProgramFunctions(module)) {
      if (func.isExternal() || func.isPrivate() || func->hasAttr(kUnshardedAttr))
        continue;
      if (verifyFunction(func))
        functions.push_back(func);
    }
    for (func::FuncOp func : functions)
      forEachOp(func.getBody().front(), [](Operation *op) {
        if (auto empty = dyn_cast<tensor::EmptyOp>(op))
          fillEmpty(empty);
      });
    std::vector<SmallVector<std::string>> names = readNames(module, functions);
    for (auto [func, ofFunction] : llvm::zip_equal(functions, names))
      if (failed(insertProbes(func, ofFunction)))
        return signalPassFailure();
  }

private:
  static std::vector<SmallVector<std::string>> readNames(ModuleOp module, ArrayRef<func::FuncOp> functions);
  LogicalResult insertProbes(func::FuncOp func, ArrayRef<std::string> names);
};
} // namespace

/// Calls `fn` for the values of a function that have probes.
static void forEachValue(func::FuncOp func, llvm::function_ref<void(OpResult)> fn) {
  forEachOp(func.getBody().front(), [&](Operation *op) {
    if (isProbed(op))
      for (OpResult result : op->getResults())
        if (isComparable(result.getType()))
          fn(result);
  });
}

std::vector<SmallVector<std::string>> InsertProbesPass::readNames(ModuleOp module, ArrayRef<func::FuncOp> functions) {
  ProbeNames names(module);
  std::vector<SmallVector<std::string>> list(functions.size());
  for (auto [func, ofFunction] : llvm::zip_equal(functions, list))
    forEachValue(func, [&](OpResult result) { ofFunction.push_back(names.get(result)); });
  return list;
}

LogicalResult InsertProbesPass::insertProbes(func::FuncOp func, ArrayRef<std::string> names) {
  ModuleOp module = getOperation();
  int64_t id = 0;
  SmallVector<OpResult> values;
  forEachValue(func, [&](OpResult result) { values.push_back(result); });
  OpBuilder b(func.getContext());
  Operation *last = nullptr;
  for (OpResult value : values) {
    Operation *op = value.getOwner();
    // Those of several results in their order.
    b.setInsertionPointAfter(last && last->getOperand(0).getDefiningOp() == op ? last : op);
    last = ProbeOp::create(b, value.getLoc(), b.getI64IntegerAttr(id), b.getStringAttr(names[id]),
                           b.getStringAttr(op->getName().getStringRef()), value, ShardingAttr(), TypeAttr());
    ++id;
  }
  // The counterpart is stripped in a module of its own.
  OwningOpRef<ModuleOp> alone = ModuleOp::create(module.getLoc());
  func::FuncOp counterpart = func.clone();
  alone->push_back(counterpart);
  PassManager pm(func.getContext());
  SPMDStripPassOptions options;
  options.keepProbes = true;
  pm.addPass(createSPMDStripPass(options));
  if (failed(pm.run(*alone)))
    return failure();
  counterpart->remove();
  counterpart.setSymName((func.getName() + ".unsharded").str());
  counterpart.setPrivate();
  StringAttr name = SymbolTable(module).insert(counterpart);
  func->setAttr(kUnshardedAttr, FlatSymbolRefAttr::get(name));
  return success();
}
