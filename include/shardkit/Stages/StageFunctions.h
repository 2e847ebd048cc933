//===- StageFunctions.h - One function per stage ----------------*- C++ -*-===//

#ifndef SHARDKIT_STAGES_STAGEFUNCTIONS_H
#define SHARDKIT_STAGES_STAGEFUNCTIONS_H

#include "shardkit/Stages/Stages.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// Makes a function of each stage of `func`, whose ops are local to a microbatch
/// (Microbatches::makeLocal): `meshes[k modulo their number]` is that of stage k. Inserts them
/// before `func`, which stays. If `func` is split (`isSplit`), shardings on the mesh of no stage
/// are moved to the mesh of the stage. `schedule` is the name of the schedule they belong to.
LogicalResult buildStageFunctions(func::FuncOp func, Microbatches &microbatches, Stages &stages,
                                  ArrayRef<FlatSymbolRefAttr> meshes, bool isSplit, FlatSymbolRefAttr schedule);

/// The function of stage `stage` alone, on `mesh`; it belongs to no module yet.
FailureOr<OwningOpRef<func::FuncOp>> buildStageFunction(func::FuncOp func, Microbatches &microbatches, Stages &stages,
                                                        int64_t stage, FlatSymbolRefAttr mesh);

/// Makes functions of the fragments of the local stages of a schedule, and its instruction lists.
LogicalResult outlineStages(ScheduleOp schedule);

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_STAGEFUNCTIONS_H
