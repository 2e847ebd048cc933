/*===- Dialects.h - Dialects and passes for MLIR's C API -----------*- C -*-===*\
 *
 * Makes ShardKit's dialects and passes known to a context of MLIR's C API, which the same library exports.
 *
 *     MlirDialectRegistry registry = mlirDialectRegistryCreate();
 *     skRegisterAllDialects(registry);
 *     MlirContext context = mlirContextCreateWithRegistry(registry, true);
 *     skRegisterAllPasses();
 *
\*===----------------------------------------------------------------------===*/

#ifndef SHARDKIT_C_DIALECTS_H
#define SHARDKIT_C_DIALECTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* mlirGetDialectHandle__spmd__(), the dialect spmd alone. */
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(SPMD, spmd);

/* Adds the dialect spmd, the upstream dialects that models are made of, and the interfaces that ShardKit attaches to
 * their ops; and StableHLO in generic form, with the sharding rules of its ops. */
MLIR_CAPI_EXPORTED void skRegisterAllDialects(MlirDialectRegistry registry);

/* Registers ShardKit's passes and pipelines by their names, for mlirParsePassPipeline and
 * mlirOpPassManagerAddPipeline. */
MLIR_CAPI_EXPORTED void skRegisterAllPasses(void);

#ifdef __cplusplus
}
#endif

#endif /* SHARDKIT_C_DIALECTS_H */
