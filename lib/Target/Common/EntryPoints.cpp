//===- EntryPoints.cpp - Entry points with the sk_program ABI -------------===//

#include "shardkit/Target/Common/Passes.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETENTRYPOINTS
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;

namespace {
struct EntryPoints : spmd::impl::SpmdTargetEntryPointsBase<EntryPoints> {
  /// Returns the status of a failed call from the function.
  static void checkStatus(LLVM::CallOp call) {
    Block *block = call->getBlock();
    OpBuilder b(call->getContext());
    Location loc = call.getLoc();
    Block *rest = block->splitBlock(std::next(call->getIterator()));
    Block *fail = b.createBlock(rest);
    LLVM::ReturnOp::create(b, loc, call.getResult());
    b.setInsertionPointToEnd(block);
    Value zero = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
    Value ok = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, call.getResult(), zero);
    LLVM::CondBrOp::create(b, loc, ok, rest, ValueRange{}, fail, ValueRange{},
                           std::pair<uint32_t, uint32_t>(1 << 20, 1));
  }

  /// Records the buffers that an entry point reads, to detect a manifest that differs.
  static void defineBuffers(OpBuilder &b, Location loc, StringRef symbol, ArrayRef<int64_t> counts) {
    auto type = LLVM::LLVMArrayType::get(b.getI64Type(), counts.size());
    LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::External, ("sk_buffers_" + symbol).str(),
                           b.getI64TensorAttr(counts));
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    auto ptr = LLVM::LLVMPointerType::get(context);
    SmallVector<LLVM::CallOp> calls;
    llvm::StringSet<> layers;
    for (auto func : module.getOps<LLVM::LLVMFuncOp>())
      if (func->hasAttr(spmd::target::kLayerAttr))
        layers.insert(func.getSymName());
    module.walk([&](LLVM::CallOp call) {
      if (call.getCallee() && layers.contains(*call.getCallee()))
        calls.push_back(call);
      // The done reports a failed start.
      if (call.getCallee() && call.getCallee()->starts_with("sk_") && call.getCallee() != "sk_coordinate" &&
          !call.getCallee()->starts_with("sk_collective_start") && !call.getCallee()->starts_with("sk_collective_done"))
        calls.push_back(call);
    });
    for (LLVM::CallOp call : calls)
      checkStatus(call);

    OpBuilder b(context);
    auto i32 = b.getI32Type();
    for (auto func : llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
      auto symbols = func->getAttrOfType<ArrayAttr>(spmd::target::kSymbolsAttr);
      if (!symbols)
        continue;
      Location loc = func.getLoc();
      func.setLinkage(LLVM::Linkage::Internal);
      func->removeAttr(spmd::target::kSymbolsAttr);
      auto numArgs = func->getAttrOfType<IntegerAttr>("spmd_rt.num_args").getInt();
      func->removeAttr("spmd_rt.num_args");
      auto arena = func->getAttrOfType<IntegerAttr>(spmd::target::kArenaBytesAttr);
      int64_t numBuffers = func.getNumArguments() - 1 - (arena ? 1 : 0);
      StringRef first;
      b.setInsertionPointAfter(func);
      for (auto symbol : symbols.getAsRange<StringAttr>()) {
        defineBuffers(b, loc, symbol.getValue(), {numArgs, numBuffers - numArgs, arena ? arena.getInt() : 0});
        if (!first.empty()) {
          // A program with another name.
          auto alias = LLVM::AliasOp::create(b, loc, LLVM::LLVMFunctionType::get(i32, {ptr, ptr, ptr, ptr}),
                                             LLVM::Linkage::External, symbol.getValue());
          OpBuilder::InsertionGuard guard(b);
          b.createBlock(&alias.getInitializer());
          Value address = LLVM::AddressOfOp::create(b, loc, ptr, first);
          LLVM::ReturnOp::create(b, loc, address);
          continue;
        }
        first = symbol.getValue();
        auto entry = LLVM::LLVMFuncOp::create(b, loc, first, LLVM::LLVMFunctionType::get(i32, {ptr, ptr, ptr, ptr}));
        OpBuilder::InsertionGuard guard(b);
        Block *block = entry.addEntryBlock(b);
        b.setInsertionPointToStart(block);
        // (ctx, arguments..., results..., arena)
        SmallVector<Value> operands{block->getArgument(0)};
        auto load = [&](Value table, int64_t i) {
          Value at = LLVM::GEPOp::create(b, loc, ptr, ptr, table, ArrayRef<LLVM::GEPArg>{int32_t(i)});
          operands.push_back(LLVM::LoadOp::create(b, loc, ptr, at));
        };
        for (int64_t i = 0; i < numBuffers; ++i)
          load(block->getArgument(i < numArgs ? 1 : 2), i < numArgs ? i : i - numArgs);
        if (arena)
          operands.push_back(block->getArgument(3));
        auto call = LLVM::CallOp::create(b, loc, func, operands);
        LLVM::ReturnOp::create(b, loc, call.getResult());
      }
    }
  }
};
} // namespace
