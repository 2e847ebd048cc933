//===- ShardingPlan.h - User shardings before a mesh is chosen --*- C++ -*-===//
//
// Axis resources in the IR and the rules of a plan file become the same struct,
// which `resolveSpec` converts to a sharding. No later pass handles either.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PLAN_SHARDINGPLAN_H
#define SHARDKIT_PLAN_SHARDINGPLAN_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// The sharding that is specified for one value.
struct ShardingSpec {
  explicit ShardingSpec(Location loc) : loc(loc) {}

  /// Axis resources, or a sharding; neither if only `factorShardings` or `reshardPerUse` is given.
  AxisResourcesAttr resources;
  ShardingAttr sharding;
  /// The factor shardings of the op that defines the value; null if not given.
  FactorsAttr factorShardings;
  /// Operands of that op that are resharded for it again; null if there are none.
  DenseI64ArrayAttr reshardPerUse;
  /// Mesh of the axis resources; empty for the default one.
  std::string mesh;
  /// Its location, and the prefix of messages about it ("rule 3: ").
  Location loc;
  std::string prefix;

  InFlightDiagnostic emitError() const { return mlir::emitError(loc) << prefix; }
};

/// The kind of entity that a rule applies to. A boundary has the names of its operands.
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
  /// For values named `op#N`: the hash of the function whose ops were numbered.
  std::string hash;
  ShardingSpec spec;
};

/// A pipeline stage of a function.
struct PlanStage {
  explicit PlanStage(Location loc) : loc(loc) {}

  std::string function; // a name
  int64_t stage = 0;
  std::string mesh; // empty: not given
  /// The values that enter the next stage; this stage ends after the last of them. Empty
  /// for the last stage.
  llvm::SmallVector<std::string, 1> until;
  std::string hash; // as in PlanRule
  Location loc;
  std::string prefix;

  InFlightDiagnostic emitError() const { return mlir::emitError(loc) << prefix; }
};

struct PlanMesh {
  Mesh mesh;
  Location loc;
  std::optional<double> overlap = std::nullopt; // `spmd.overlap`
};

/// A plan file. docs/reference/Plans.md has the schema.
struct ShardingPlan {
  llvm::SmallVector<PlanMesh, 1> meshes;
  std::vector<PlanStage> stages;
  std::vector<PlanRule> rules;
};

/// Reads a plan; on failure one error at a location in `file` has been emitted.
FailureOr<ShardingPlan> readPlan(llvm::StringRef text, llvm::StringRef file, MLIRContext *context);
/// One line per mesh and rule; the same plan gives the same bytes.
void writePlan(const ShardingPlan &plan, llvm::raw_ostream &os);

/// The annotations of a module as a plan: those of the user, or (`all`) the propagated
/// ones together with the factor shardings of ops.
FailureOr<ShardingPlan> exportPlan(ModuleOp module, bool all);
/// Writes the plan into the module as shardings, constraints and meshes.
LogicalResult applyPlan(const ShardingPlan &plan, ModuleOp module);

} // namespace mlir::spmd

#endif // SHARDKIT_PLAN_SHARDINGPLAN_H
