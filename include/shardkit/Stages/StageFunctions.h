//===- StageFunctions.h - One function per stage ----------------*- C++ -*-===//

#ifndef SHARDKIT_STAGES_STAGEFUNCTIONS_H
#define SHARDKIT_STAGES_STAGEFUNCTIONS_H

#include "shardkit/Stages/Stages.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// Makes a function of each stage of `func`, whose ops are local to a microbatch
/// (Microbatches::makeLocal): `meshes[k modulo their number]` is that of stage k. Adds
/// them to the module before `func`, which stays. Where it `isCut`, shardings on meshes of no stage are
/// meant on each stage's own. `schedule` is the name of what they are parts of.
LogicalResult buildStageFunctions(func::FuncOp func, Microbatches &microbatches, Stages &stages,
                                  ArrayRef<FlatSymbolRefAttr> meshes, bool isCut, FlatSymbolRefAttr schedule);

/// The function of stage `stage` alone, on `mesh`; it belongs to no module yet.
FailureOr<OwningOpRef<func::FuncOp>> buildStageFunction(func::FuncOp func, Microbatches &microbatches, Stages &stages,
                                                        int64_t stage, FlatSymbolRefAttr mesh);

/// Makes functions of the parts of the local stages of a schedule, and its instruction lists.
LogicalResult splitStages(ScheduleOp schedule);

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_STAGEFUNCTIONS_H
