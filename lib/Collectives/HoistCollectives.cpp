//===- HoistCollectives.cpp - Loop-invariant collectives --------------------===//
//
// A loop-invariant collective moves before the loop, if the larger value fits into the
// memory budget together with the live values of the loop. If a function exceeds its
// budget, gathers move into the only loop that reads them.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Collectives/Placement.h"
#include "shardkit/Cost/LiveBuffers.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Passes.h"
#include "shardkit/Support/PassDebugging.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDHOISTCOLLECTIVESPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

#undef DEBUG_TYPE // of other sources of a batch
#define DEBUG_TYPE "spmd-hoist-collectives"

using namespace mlir;
using namespace mlir::spmd;

/// True if a scalar is known to be the same on every device.
static bool isUniform(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Operation *parent = arg.getOwner()->getParentOp();
    if (isa<func::FuncOp>(parent))
      return !isa<TensorType>(arg.getType());
    auto loop = dyn_cast<scf::ForOp>(parent);
    return loop && arg == loop.getInductionVar() &&
           llvm::all_of(ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}, isUniform);
  }
  Operation *def = value.getDefiningOp();
  return def->hasTrait<OpTrait::ConstantLike>() ||
         (isa_and_nonnull<arith::ArithDialect>(def->getDialect()) && !isa<TensorType>(value.getType()) &&
          llvm::all_of(def->getOperands(), isUniform));
}

/// True if all devices run the loop equally often: its bounds are equal on all devices,
/// or each iteration has a collective.
static bool runsAlike(scf::ForOp loop) {
  return llvm::any_of(*loop.getBody(),
                      [](Operation &op) {
                        auto collective = dyn_cast<CollectiveOpInterface>(op);
                        return collective && collective.getKind() != CollectiveKind::AllSlice;
                      }) ||
         llvm::all_of(ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}, isUniform);
}

namespace {

struct HoistCollectivesPass : public spmd::impl::SPMDHoistCollectivesPassBase<HoistCollectivesPass> {
  using Base::Base;

  static bool fits(func::FuncOp func, std::optional<int64_t> budget) {
    return !budget || getPeakBytes(func) <= *budget;
  }

  /// Moves invariant collectives out of a loop, with the views of their operands.
  void hoist(scf::ForOp loop, func::FuncOp func, std::optional<int64_t> budget) {
    for (Operation &op : llvm::make_early_inc_range(loop.getBody()->without_terminator())) {
      if ((!isa<CollectiveOpInterface>(op) && !isView(&op)) ||
          !llvm::all_of(op.getOperands(), [&](Value value) { return loop.isDefinedOutsideOfLoop(value); }))
        continue;
      Operation *next = op.getNextNode();
      op.moveBefore(loop);
      // An unknown size counts as too large.
      auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
      if (!fits(func, budget) || (budget && type && !type.hasStaticShape())) {
        op.moveBefore(next);
        continue;
      }
      SPMD_LOG() << "moves " << describeValue(op.getResult(0)) << " before the loop at " << loop.getLoc();
      SPMD_COUNT(hoistedCollectives, isa<CollectiveOpInterface>(op));
    }
  }

  /// The loop in the block of `op` that contains all users of its result, if there is
  /// one.
  static scf::ForOp getOnlyLoop(Operation *op) {
    Operation *only = nullptr;
    for (Operation *user : op->getUsers()) {
      Operation *here = getUserIn(op->getBlock(), user);
      if (here == user || (only && here != only))
        return nullptr;
      only = here;
    }
    return dyn_cast_or_null<scf::ForOp>(only);
  }

  /// Moves gathers into loops, the largest first, until the function fits.
  void sink(func::FuncOp func, int64_t budget) {
    SmallVector<Operation *> gathers;
    func.walk([&](CollectiveOpInterface op) {
      if (getBytes(op->getResult(0).getType()) > getBytes(op->getOperand(0).getType()))
        gathers.push_back(op);
    });
    llvm::stable_sort(gathers, [](Operation *a, Operation *b) {
      return getBytes(a->getResult(0).getType()) > getBytes(b->getResult(0).getType());
    });
    for (Operation *op : gathers) {
      if (getPeakBytes(func) <= budget)
        return;
      // The outermost loop first; inner ones if that reduces the peak.
      while (scf::ForOp loop = getOnlyLoop(op)) {
        if (!runsAlike(loop))
          break;
        int64_t before = getPeakBytes(func);
        Operation *next = op->getNextNode();
        op->moveBefore(getFirstUser(op->getResults(), loop.getBody()));
        if (int64_t after = getPeakBytes(func); after < before) {
          SPMD_LOG() << "moves " << describeValue(op->getResult(0)) << " into the loop at " << loop.getLoc() << ": "
                     << before << " live bytes become " << after;
          SPMD_COUNT(sunkGathers, 1);
          continue;
        }
        op->moveBefore(next);
        break;
      }
    }
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (memoryBudget < 0) {
      emitError(module.getLoc()) << "memory-budget=" << memoryBudget.getValue()
                                 << ", expected a number of bytes, 0 for the mesh's memory";
      return signalPassFailure();
    }
    if (failed(verifyLocalView(module, getArgument())))
      return signalPassFailure();
    MeshCache meshes(module);
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      std::optional<int64_t> budget = getMemoryBudget(func, memoryBudget, meshes);
      func.walk([&](scf::ForOp loop) { hoist(loop, func, budget); }); // inner ones first
      if (fits(func, budget))
        continue;
      sink(func, *budget);
      if (int64_t peak = getPeakBytes(func); peak > *budget)
        remark::missed(func.getLoc(),
                       remark::RemarkOpts::name("memory-budget").category("spmd").function(func.getName()))
            << remark::add("{0} bytes are live at once, the budget is {1}", peak, *budget)
            << remark::metric("Bytes", peak) << remark::suggest("shard the largest values along further axes");
    }
  }
};

} // namespace
