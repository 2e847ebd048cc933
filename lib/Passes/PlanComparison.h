//===- PlanComparison.h - Plans as they run ---------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_PASSES_PLANCOMPARISON_H
#define SHARDKIT_LIB_PASSES_PLANCOMPARISON_H

#include "shardkit/Passes.h"
#include <optional>

namespace mlir::spmd {

/// A plan: a module after propagation that differs from those of its comparison in layouts alone.
struct CandidatePlan {
  ModuleOp module;
  /// It replaces a plan that comes before it if its collectives take less than this fraction of the time.
  double maxFraction = 1;
};

/// Functions that were completed together, by name.
using FunctionNames = SmallVector<std::string, 1>;

/// The best plan of a group.
struct BestPlan {
  unsigned plan = 0; // its number
  /// Predicted seconds as it runs, and of the first plan; none if unknown. Of collectives, and of compute where the
  /// mesh has `flops`.
  std::optional<double> seconds, firstSeconds;
};

/// Whether layouts of a function are those of others too, by calls or a schedule.
bool areConnected(ModuleOp plan);

/// Replaces functions of `module` by those of another plan.
void replaceFunctions(ModuleOp module, ModuleOp plan, ArrayRef<std::string> names);

/// Gives the functions of `module` the plans that take the least time as they run: on copies, through all phases, with
/// collectives that are merged, hoisted and combined. A plan that fits into the memory of its mesh replaces one that
/// does not, whatever its cost, and is not replaced by one. Devices may compute more, as with small products that are
/// replicated, where collectives and compute together take less time: of all ops where the mesh has `flops`, else of
/// contractions. Groups are decided one by one; all functions together where calls or a schedule connect them.
/// `hides`: collectives take what is left of them after the compute that they overlap with, by the `spmd.overlap` of
/// the mesh. A plan whose phases fail is taken only if those of all plans do: then the first. Returns the best
/// plan of each group. Emits nothing.
std::vector<BestPlan> keepBestPlans(ModuleOp module, ArrayRef<CandidatePlan> plans, ArrayRef<FunctionNames> groups,
                                    const PhaseOptions &options, bool hides = true);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_PASSES_PLANCOMPARISON_H
