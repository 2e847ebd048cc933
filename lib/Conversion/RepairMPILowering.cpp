//===- RepairMPILowering.cpp - Upstream's lowering with Open MPI ----------===//

#include "shardkit/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_REPAIRMPILOWERINGPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Loads all of the communicator that a call of MPI_Comm_split stores at its last operand.
void loadFullCommunicators(LLVM::CallOp split) {
  Value memory = split.getArgOperands().back();
  for (Operation *user : llvm::make_early_inc_range(memory.getUsers())) {
    auto load = dyn_cast<LLVM::LoadOp>(user);
    if (!load || !load.getType().isInteger(32))
      continue;
    for (Operation *extension : llvm::make_early_inc_range(load->getUsers())) {
      auto extended = dyn_cast<LLVM::SExtOp>(extension);
      if (!extended)
        continue;
      OpBuilder b(load);
      extended.replaceAllUsesWith(LLVM::LoadOp::create(b, load.getLoc(), extended.getType(), memory).getResult());
      extended.erase();
    }
    if (load->use_empty())
      load.erase();
  }
}

struct RepairPass : public spmd::impl::RepairMPILoweringPassBase<RepairPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<std::string> renamed;
    for (auto global : module.getOps<LLVM::GlobalOp>()) {
      auto type = dyn_cast<LLVM::LLVMStructType>(global.getGlobalType());
      StringRef name = global.getSymName(), prefix = "ompi_mpi_", right = "ompi_mpi_op_";
      if (!type || !type.isIdentified() || type.getName() != "ompi_predefined_op_t" || !name.starts_with(prefix) ||
          name.starts_with(right))
        continue;
      std::string mended = (right + name.drop_front(prefix.size())).str();
      renamed[name] = mended;
      global.setSymName(mended);
    }
    SmallVector<LLVM::CallOp> splits;
    module.walk([&](Operation *op) {
      if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
        if (auto it = renamed.find(address.getGlobalName()); it != renamed.end())
          address.setGlobalName(it->second);
      } else if (auto call = dyn_cast<LLVM::CallOp>(op)) {
        // A communicator of MPICH is an integer of 32 bits, which upstream passes as one.
        if (call.getCallee() == "MPI_Comm_split" && isa<LLVM::LLVMPointerType>(call.getArgOperands()[0].getType()))
          splits.push_back(call);
      }
    });
    llvm::for_each(splits, loadFullCommunicators);
  }
};

} // namespace
