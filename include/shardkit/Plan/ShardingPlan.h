//===- ShardingPlan.h - What users say, before a mesh is chosen -*- C++ -*-===//
//
// Axis resources in the IR and the rules of a plan file become the same struct,
// which `resolveSpec` turns into a sharding. No later pass knows either.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PLAN_SHARDINGPLAN_H
#define SHARDKIT_PLAN_SHARDINGPLAN_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// What is said of one value.
struct ShardingSpec {
  explicit ShardingSpec(Location loc) : loc(loc) {}

  /// Symbolic, or a sharding in full; neither if only `compute` or `regather` is given.
  AxisResourcesAttr resources;
  ShardingAttr sharding;
  /// How the op of the value computes; null if that is left open.
  FactorsAttr compute;
  /// Operands of that op that are resharded for it anew; null: none is.
  DenseI64ArrayAttr regather;
  /// Mesh of the axis resources; empty for the default one.
  std::string mesh;
  /// Where it is written, and how messages about it start ("rule 3: ").
  Location loc;
  std::string prefix;

  InFlightDiagnostic emitError() const { return mlir::emitError(loc) << prefix; }
};

/// What a rule is about. A boundary has the names of the values that cross there.
enum class PlanTarget { Argument, Result, Value, Boundary };
inline constexpr PlanTarget kPlanTargets[] = {PlanTarget::Argument, PlanTarget::Result, PlanTarget::Value,
                                              PlanTarget::Boundary};
/// `argument`, `result`, `value`, `boundary`: also the keys of the file.
llvm::StringRef stringifyPlanTarget(PlanTarget target);

struct PlanRule {
  explicit PlanRule(Location loc) : spec(loc) {}

  std::string function = "*"; // pattern
  PlanTarget target = PlanTarget::Argument;
  std::string name; // pattern
  /// For values named `op#N`: the hash of the function that was counted.
  std::string hash;
  ShardingSpec spec;
};

/// A pipeline stage of a function.
struct PlanStage {
  explicit PlanStage(Location loc) : loc(loc) {}

  std::string function; // a name
  int64_t stage = 0;
  std::string mesh; // empty: not said
  /// The values behind the last of which the stage ends, and which cross to the next;
  /// none for the last stage.
  llvm::SmallVector<std::string, 1> until;
  std::string hash; // as of a rule
  Location loc;
  std::string prefix;

  InFlightDiagnostic emitError() const { return mlir::emitError(loc) << prefix; }
};

struct PlanMesh {
  Mesh mesh;
  Location loc;
};

/// A plan file. docs/Plans.md has the schema.
struct ShardingPlan {
  llvm::SmallVector<PlanMesh, 1> meshes;
  std::vector<PlanStage> stages;
  std::vector<PlanRule> rules;
};

/// Reads a plan; on failure one error at a place in `file` has been emitted.
FailureOr<ShardingPlan> readPlan(llvm::StringRef text, llvm::StringRef file, MLIRContext *context);
/// One line per mesh and rule; the same plan gives the same bytes.
void writePlan(const ShardingPlan &plan, llvm::raw_ostream &os);

/// What the annotations of a module say: those that the user gave, or (`all`)
/// the completed ones together with how ops compute.
FailureOr<ShardingPlan> exportPlan(ModuleOp module, bool all);
/// Writes the plan into the module as shardings, constraints and meshes.
LogicalResult applyPlan(const ShardingPlan &plan, ModuleOp module);

} // namespace mlir::spmd

#endif // SHARDKIT_PLAN_SHARDINGPLAN_H
