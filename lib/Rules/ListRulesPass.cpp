//===- ListRulesPass.cpp - Which upstream ops have a rule -----------------===//

#include "shardkit/Passes.h"
#include "shardkit/Rules/ShardingRule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDLISTRULESPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

struct ListRulesPass : public spmd::impl::SPMDListRulesPassBase<ListRulesPass> {
  void runOnOperation() override {
    static constexpr StringRef dialects[] = {"arith", "complex", "func", "linalg", "math", "scf", "tensor", "tosa"};
    SmallVector<RegisteredOperationName> names(
        llvm::make_filter_range(getContext().getRegisteredOperations(),
                                [](auto name) { return llvm::is_contained(dialects, name.getDialectNamespace()); }));
    llvm::sort(names, [](auto a, auto b) { return a.getStringRef() < b.getStringRef(); });
    for (RegisteredOperationName name : names)
      llvm::outs() << name << ' '
                   << (name.hasInterface<ShardingRuleOpInterface>() ? "rule"
                       : name.hasTrait<OpTrait::Elementwise>()      ? "elementwise"
                                                                    : "none")
                   << '\n';
    markAllAnalysesPreserved();
  }
};

} // namespace
