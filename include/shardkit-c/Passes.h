/*===- Passes.h - Passes with options, and reports -----------------*- C -*-===*\
 *
 *     SkPassOption options[] = {{"conflicts", "basic"}};
 *     MlirStringRef modules = mlirStringRefCreateFromCString("builtin.module");
 *     MlirPassManager pm = mlirPassManagerCreateOnOperation(context, modules);
 *     MlirOpPassManager passes = mlirPassManagerGetAsOpPassManager(pm);
 *     if (mlirLogicalResultIsSuccess(skAddPass(passes, "spmd-propagate", 1, options, print, NULL)))
 *       mlirPassManagerRunOnOp(pm, module);
 *
\*===----------------------------------------------------------------------===*/

#ifndef SHARDKIT_C_PASSES_H
#define SHARDKIT_C_PASSES_H

#include "mlir-c/Pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An option by its name and its value as text: "8", "true", "x,y". */
typedef struct SkPassOption {
  const char *name, *value;
} SkPassOption;

/* Adds a registered pass or pipeline (skRegisterAllPasses), such as spmd-propagate or spmd-default-pipeline. Fails for
 * an unknown name or option, for a value of another type, and for a pass of another op than that of the manager, with
 * one message to `onError`, and adds nothing. Passes of functions are nested in a manager of modules. */
MLIR_CAPI_EXPORTED MlirLogicalResult skAddPass(MlirOpPassManager passes, const char *name, intptr_t numOptions,
                                               const SkPassOption *options, MlirStringCallback onError, void *data);

/* The report of a module as JSON (docs/reference/Report.md): shardings, collectives, bytes, predicted times and memory.
 * A copy of the module is partitioned by the default pipeline if the module is not. Fails after a diagnostic. */
MLIR_CAPI_EXPORTED MlirLogicalResult skGetReport(MlirOperation module, MlirStringCallback callback, void *data);

#ifdef __cplusplus
}
#endif

#endif /* SHARDKIT_C_PASSES_H */
