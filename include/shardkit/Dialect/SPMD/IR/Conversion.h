//===- Conversion.h - Attributes to plain layouts and back ------*- C++ -*-===//
//
// Passes work on the structs of the layout library: attributes are read once
// and written once per pass.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_CONVERSION_H
#define SHARDKIT_DIALECT_SPMD_IR_CONVERSION_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "llvm/ADT/MapVector.h"
#include <memory>

namespace mlir::spmd {

// Names of discardable attributes.
inline constexpr llvm::StringLiteral kShardingAttr = "spmd.sharding";
inline constexpr llvm::StringLiteral kShardingsAttr = "spmd.shardings";
/// What propagation hands on of the operands of a manual computation.
inline constexpr llvm::StringLiteral kOperandShardingsAttr = "spmd.operand_shardings";
inline constexpr llvm::StringLiteral kUserShardingAttr = "spmd.user_sharding";
inline constexpr llvm::StringLiteral kFactorShardingsAttr = "spmd.factor_shardings";
/// On an op: the operands that are brought to where it needs them anew, although an op before it has them there.
inline constexpr llvm::StringLiteral kReshardPerUseAttr = "spmd.reshard_per_use";
/// What auto-shard says of a function: objective, lower bound, status.
inline constexpr llvm::StringLiteral kSolverAttr = "spmd.solver";
/// On a module: the mesh shapes that auto-shard tried, the best one first.
inline constexpr llvm::StringLiteral kMeshShapesAttr = "spmd.mesh_shapes";
/// On a mesh: the bandwidths that its link costs are derived from.
inline constexpr llvm::StringLiteral kHostsAttr = "spmd.hosts";
inline constexpr llvm::StringLiteral kPhaseAttr = "spmd.phase";
inline constexpr llvm::StringLiteral kTiedAttr = "spmd.tied";
inline constexpr llvm::StringLiteral kWeightAttr = "spmd.weight";
inline constexpr llvm::StringLiteral kNameAttr = "spmd.name";
inline constexpr llvm::StringLiteral kGlobalTypeAttr = "spmd.global_type";
inline constexpr llvm::StringLiteral kRangeAttr = "spmd.range";
inline constexpr llvm::StringLiteral kRuleAttr = "spmd.sharding_rule";
/// On a slice that is one of several equal parts: its cut dims are read in windows
/// of a dim that is cut as it is, not as a digit of the dim.
inline constexpr llvm::StringLiteral kWindowsAttr = "spmd.windows";
inline constexpr llvm::StringLiteral kAxisResourcesAttr = "spmd.axis_resources";
inline constexpr llvm::StringLiteral kReferenceAttr = "spmd.reference";
inline constexpr llvm::StringLiteral kMicrobatchAttr = "spmd.microbatch";
/// On arguments and results of stages: what they are of the program.
inline constexpr llvm::StringLiteral kSlotAttr = "spmd.slot";
/// On a function: the mesh that its axis resources resolve against.
inline constexpr llvm::StringLiteral kMeshAttr = "spmd.mesh";
/// On a function: the schedule that it is a part of.
inline constexpr llvm::StringLiteral kScheduleAttr = "spmd.schedule";
inline constexpr llvm::StringLiteral kSegmentsAttr = "spmd.segments";
// What --spmd-split-segments and --spmd-merge-contractions leave of it.
inline constexpr llvm::StringLiteral kSegmentAttr = "spmd.segment";
inline constexpr llvm::StringLiteral kSegmentsOfAttr = "spmd.segments_of";
inline constexpr llvm::StringLiteral kLoadAttr = "spmd.load";
/// The loading function of an argument as each device runs it.
inline constexpr llvm::StringLiteral kShardFunctionAttr = "spmd.shard_function";
inline constexpr llvm::StringLiteral kStageAttr = "spmd.stage";
// What partition leaves on ops for reports, a list of one entry per result: the
// layout and the global type of the value (unit for what is no tensor), and what
// the value was called before.
inline constexpr llvm::StringLiteral kLayoutsAttr = "spmd.layouts";
inline constexpr llvm::StringLiteral kGlobalTypesAttr = "spmd.global_types";
inline constexpr llvm::StringLiteral kOriginsAttr = "spmd.origins";

/// Values of `spmd.phase`, in order.
inline constexpr llvm::StringLiteral kPhases[] = {"annotated", "propagated", "resharded", "partitioned", "final"};
/// Position in kPhases of the phase of the module that holds `op`; -1 where it
/// has none (as the user wrote it).
int getPhase(Operation *op);

/// Writes `id = N` on the collectives inside `root`, from 0 in program order.
void numberCollectives(Operation *root);

/// Turns each `spmd.shardings` that a user wrote on an op into constraints on
/// its results: upstream rewrites may drop or merge the attribute, never the
/// constraint. The first pass that sees a module as written does it.
void makeConstraintsOfShardings(Operation *root);
/// The same for the ops that carry one, known already.
void makeConstraintsOfShardings(llvm::ArrayRef<Operation *> annotated);
/// Pins a value for all its users by a constraint.
WithShardingConstraintOp pinValue(OpBuilder &b, Value value, ShardingAttr sharding, Location loc);

using EmitErrorFn = llvm::function_ref<InFlightDiagnostic()>;

/// The mesh as plain data. An iota device list becomes an empty one. Costs are
/// per axis.
Mesh toMesh(MeshOp op);
Mesh toMesh(llvm::StringRef name, MeshAttr attr);

/// A mesh as an op, called `name`; an iota device list is left out.
MeshOp createMesh(OpBuilder &b, Location loc, llvm::StringRef name, const Mesh &mesh);
MeshAttr toAttr(MLIRContext *context, const Mesh &mesh);

/// The mesh called `mesh` in the nearest symbol table; null if there is none.
/// Scans the module: passes use a MeshCache.
MeshOp lookupMesh(Operation *from, FlatSymbolRefAttr mesh);
MeshOp lookupMesh(Operation *from, FlatSymbolRefAttr mesh, SymbolTableCollection &symbolTable);

/// Names become indices of mesh axes, whole axes get their size. Reports
/// unknown axes; everything else is verifySharding's business.
FailureOr<Sharding> toSharding(ShardingAttr attr, const Mesh &mesh, EmitErrorFn emitError);
FailureOr<DimEntries> toDimEntries(llvm::ArrayRef<DimEntryAttr> entries, const Mesh &mesh, EmitErrorFn emitError);
FailureOr<llvm::SmallVector<DimEntries>> toFactors(FactorsAttr attr, const Mesh &mesh, EmitErrorFn emitError);

/// The inverse: whole axes are written without a sub-axis.
ShardingAttr toAttr(MLIRContext *context, FlatSymbolRefAttr mesh, const Sharding &sharding, const Mesh &layoutMesh);
llvm::SmallVector<DimEntryAttr> toAttrs(MLIRContext *context, llvm::ArrayRef<DimEntry> entries, const Mesh &mesh);
DimShardingAttr toAttr(MLIRContext *context, const DimSharding &dim, const Mesh &mesh);

/// Shape of a value: that of a ranked shaped type, empty for a scalar.
llvm::ArrayRef<int64_t> getShape(Type type);
inline llvm::ArrayRef<int64_t> getShape(Value value) { return getShape(value.getType()); }
/// `type` with another shape.
RankedTensorType getTypeWithShape(Type type, llvm::ArrayRef<int64_t> shape);

/// Bytes of one element in memory (booleans take a byte, index 8).
int64_t getElementBytes(Type elementType);
/// Where a location is, for reports: `model.mlir:12:8`; empty if unknown.
std::string getLocationText(Location loc);

/// The meshes of a symbol table as plain data: built once per pass, stable
/// addresses, in program order.
class MeshCache {
public:
  MeshCache() = default;
  /// `op` is the module, or any op inside it.
  explicit MeshCache(Operation *op);

  /// Null if there is no mesh of that name.
  const Mesh *lookup(FlatSymbolRefAttr name) const;
  const Mesh *lookup(llvm::StringRef name) const;
  MeshOp lookupOp(FlatSymbolRefAttr name) const;
  /// As lookup, with an error that lists the meshes there are.
  const Mesh *lookupOrEmit(FlatSymbolRefAttr name, EmitErrorFn emitError) const;

  bool empty() const { return meshes.empty(); }
  size_t size() const { return meshes.size(); }
  /// Pairs of op and plain mesh, in program order.
  struct Entry {
    MeshOp op;
    std::unique_ptr<Mesh> mesh;
  };
  llvm::ArrayRef<Entry> entries() const { return meshes; }

private:
  llvm::SmallVector<Entry, 2> meshes;
  llvm::StringMap<unsigned> index;
};

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_CONVERSION_H
