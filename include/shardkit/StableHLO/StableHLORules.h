//===- StableHLORules.h - Rules for StableHLO text --------------*- C++ -*-===//
//
// StableHLO is not linked. A dialect of its name, and one named chlo, take any op and attribute in
// generic form as it is, and give the ops their ShardingRuleOpInterface by name:
//
//   python: jax.jit(f).lower(x).compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True)
//   "stablehlo.add"(%a, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
//
// A compiler that links StableHLO itself has no use for this library: two dialects cannot have one
// name.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_STABLEHLO_STABLEHLORULES_H
#define SHARDKIT_STABLEHLO_STABLEHLORULES_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::spmd {

/// Adds the dialects stablehlo and chlo, which know their ops' sharding rules only.
void registerStableHLORules(DialectRegistry &registry);

} // namespace mlir::spmd

#endif // SHARDKIT_STABLEHLO_STABLEHLORULES_H
