//===- Outline.cpp - Loop nests of a long function as functions -----------===//

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardkit/Target/CPU/Passes.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCPUOUTLINE
#include "shardkit/Target/CPU/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;

/// Constants and views are computed again inside.
static bool isRecomputed(Operation *op) {
  return op && (op->hasTrait<OpTrait::ConstantLike>() ||
                (isa<ViewLikeOpInterface>(op) && !isa<memref::ViewOp>(op)));
}

/// The buffer that a memref is a view of.
static Value rootOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view || isa<memref::ViewOp>(op))
      break;
    value = view.getViewSource();
  }
  return value;
}

static bool isParameter(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (memref)
    return memref.hasStaticShape() && memref.getLayout().isIdentity();
  return type.isIntOrIndexOrFloat();
}

namespace {
struct Outline : spmd::impl::SpmdCpuOutlineBase<Outline> {
  using Base::Base;

  static bool isNest(Operation &op) {
    if (op.getNumResults() || !(isa<scf::ForOp>(op) || isa<linalg::LinalgOp>(op)))
      return false;
    // Calls leave the function early when they fail; allocations are planned
    // for the function that they stand in.
    return !op.walk([](Operation *inner) {
                return isa<func::CallOp, memref::AllocOp, memref::AllocaOp>(inner)
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              }).wasInterrupted();
  }

  void outline(Operation *nest, ModuleOp module) {
    // What it uses: parameters, and values to compute again in program order.
    SetVector<Value> above;
    for (Value operand : nest->getOperands())
      above.insert(operand);
    getUsedValuesDefinedAbove(nest->getRegions(), above);
    SmallVector<Value> params;
    SetVector<Operation *> recomputed;
    for (unsigned i = 0; i < above.size(); ++i) {
      Value value = above[i];
      Operation *def = value.getDefiningOp();
      if (isRecomputed(def)) {
        recomputed.insert(def);
        for (Value operand : def->getOperands())
          above.insert(operand);
      } else if (isParameter(value.getType())) {
        params.push_back(value);
      } else {
        return;
      }
    }
    SmallVector<Operation *> order(recomputed.begin(), recomputed.end());
    llvm::sort(order, [](Operation *a, Operation *b) {
      return a != b && a->isBeforeInBlock(b);
    });

    OpBuilder b(nest);
    Location loc = nest->getLoc();
    auto func = func::FuncOp::create(
        loc, "nest", b.getFunctionType(ValueRange(params).getTypes(), {}));
    func.setPrivate();
    // The parts that a program is compiled in have such functions each.
    func->setAttr("llvm.linkage",
                  LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
    for (auto [i, param] : llvm::enumerate(params))
      if (isa<MemRefType>(param.getType()) &&
          llvm::count_if(params, [&](Value other) {
            return rootOf(other) == rootOf(param);
          }) == 1)
        func.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    Block *body = func.addEntryBlock();
    IRMapping mapping;
    mapping.map(params, body->getArguments());
    b.setInsertionPointToStart(body);
    for (Operation *op : order)
      b.clone(*op, mapping);
    b.clone(*nest, mapping);
    func::ReturnOp::create(b, loc);

    std::string text;
    llvm::raw_string_ostream os(text);
    func->print(os, OpPrintingFlags().printGenericOpForm().useLocalScope());
    auto [it, isNew] = nests.try_emplace(text, func);
    if (isNew) {
      func.setSymName("nest_" + std::to_string(nests.size() - 1));
      module.push_back(func);
    } else {
      func.erase();
    }
    b.setInsertionPoint(nest);
    func::CallOp::create(b, loc, it->second, params);
    nest->erase();
  }

  void runOnOperation() override {
    nests.clear();
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> funcs(module.getOps<func::FuncOp>());
    for (func::FuncOp func : funcs) {
      if (func.isExternal() || !func.getBody().hasOneBlock())
        continue;
      SmallVector<Operation *> found;
      for (Operation &op : func.getBody().front())
        if (isNest(op))
          found.push_back(&op);
      if (int64_t(found.size()) < minNests)
        continue;
      for (Operation *nest : found)
        outline(nest, module);
    }
  }
  std::map<std::string, func::FuncOp> nests;
};
} // namespace
