/*===- Rules.h - Sharding rules, checked by numbers ----------------*- C -*-===*\
 *
 * skCheckShardingRule computes an op in shards, as its sharding rule permits, and compares the
 * results with those of the full op. A function of the caller computes both.
 *
\*===----------------------------------------------------------------------===*/

#ifndef SHARDKIT_C_RULES_H
#define SHARDKIT_C_RULES_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A ranked tensor of static shape and its elements, as numbers in row-major order. */
typedef struct SkTensor {
  MlirType type;
  double *elements;
} SkTensor;

/* Writes the elements of the results of `op`, which is alone in a function of a module and has local attributes and
 * types. Fails after a diagnostic. */
typedef MlirLogicalResult (*SkInterpreter)(MlirOperation op, intptr_t numOperands, const SkTensor *operands,
                                           intptr_t numResults, SkTensor *results, void *data);

/* Whether an op has a sharding rule of its own. */
MLIR_CAPI_EXPORTED bool skOperationHasShardingRule(MlirOperation op);

/* The number of ways in which the op was sharded with equal results. -1 after an error at the op: the rule does not fit
 * it, gives other numbers, or the interpreter failed. Operands have elements of constants, or numbers without symmetry.
 */
MLIR_CAPI_EXPORTED intptr_t skCheckShardingRule(MlirOperation op, SkInterpreter interpret, void *data);

#ifdef __cplusplus
}
#endif

#endif /* SHARDKIT_C_RULES_H */
