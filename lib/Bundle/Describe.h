//===- Describe.h - Functions and schedules in the manifest -----*- C++ -*-===//

#ifndef SHARDKIT_LIB_BUNDLE_DESCRIBE_H
#define SHARDKIT_LIB_BUNDLE_DESCRIBE_H

#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/rt/Manifest/Manifest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// An argument that is computed from stored tensors: by a function, or from segments of one.
struct LoadedArgument {
  std::string function;
  unsigned argument;
  /// All but the entry points.
  shardkit::rt::LoadInfo load;
  /// The functions to compile; the first one if `load` has neither pieces nor host calls. Null
  /// if the module lacks it.
  func::FuncOp shardFunction, loadFunction;
};
/// The arguments with segments or loading functions of the public functions of a partitioned
/// module. Without `pieces` all loading functions are compiled except for host functions.
FailureOr<std::vector<LoadedArgument>> describeLoading(ModuleOp module, const MeshCache &meshes, bool pieces);

/// Writes the elements of all arguments with `spmd.constant` to a file of the bundle, each constant once.
LogicalResult writeConstants(ModuleOp module, llvm::StringRef dir, shardkit::rt::Manifest &out);

/// An expression of size arguments, by their numbers, as manifests have it.
shardkit::rt::SizeExpr getSizeExpr(AffineExpr size);

/// What an argument of a program with these attributes is.
shardkit::rt::ValueKind getArgumentKind(DictionaryAttr attrs);

/// The index of a mesh in the manifest, which it is added to if it is new.
int64_t addMesh(const Mesh &mesh, shardkit::rt::Manifest &manifest);

/// Arguments, results, mesh and collectives of a partitioned function. Assigns ids to the
/// collectives in program order if ids are absent or not dense. `loading` has the load of each
/// segmented weight. Adds the mesh to `manifest`.
FailureOr<shardkit::rt::FunctionInfo> describeFunction(func::FuncOp func, const MeshCache &meshes,
                                                       llvm::ArrayRef<LoadedArgument> loading,
                                                       shardkit::rt::Manifest &manifest);

/// Whether each result element of the op is an element of an operand or a constant.
bool onlyMovesElements(Operation *op);

/// The relative error that rounding is expected to cause in each result of an unsharded function of one block
/// (Manifest.md, `rounding`); empty for other functions.
std::vector<double> estimateRounding(func::FuncOp func);

/// The probes of a function, by their numbers.
llvm::SmallVector<ProbeOp> getProbes(func::FuncOp func);
/// The same as estimateRounding for the values that the probes of an unsharded function see.
std::vector<double> estimateProbeRounding(func::FuncOp func);
/// What the value of a probe is computed from: the probes of the nearest values before it, and the collectives on the
/// way from these.
struct ProbePath {
  std::vector<int64_t> inputs, collectives;
};
/// Those of all probes of a partitioned function whose collectives have their ids.
std::vector<ProbePath> tracePaths(func::FuncOp func);

/// A schedule. `out` has the described functions of its fragments; sets their slots.
LogicalResult describePipeline(ScheduleOp schedule, const MeshCache &meshes, shardkit::rt::Manifest &manifest,
                               shardkit::rt::PipelineInfo &out);
/// The segments, with their types, of an argument that holds one or several segments of a weight
/// next to each other, and of a result that updates one. `localType` is that of the argument or
/// result.
llvm::SmallVector<std::pair<SegmentAttr, Type>> getSegments(DictionaryAttr attrs, Type localType);
/// Type, layout and extents of a value. `value` has its name.
LogicalResult describeValue(func::FuncOp func, Type localType, DictionaryAttr attrs, Location loc,
                            const MeshCache &meshes, shardkit::rt::ValueInfo &value);
/// The loops and digits of a move.
void describeMove(const Transfer &transfer, shardkit::rt::CollectiveInfo &out);

/// Local-view spmd ops become spmd_rt ops. The collectives are numbered.
LogicalResult lowerCollectives(func::FuncOp func, const MeshCache &meshes);

/// The collectives of a function in program order.
llvm::SmallVector<CollectiveOpInterface> collectivesOf(func::FuncOp func);

/// The runtime moves 8-bit floats as bytes, and combines them in f32; of complex numbers it
/// moves and adds up the pairs (target::getPairedType).
LogicalResult widenCollectives(func::FuncOp func);

LogicalResult describeCollective(CollectiveOpInterface op, const MeshCache &meshes, shardkit::rt::CollectiveInfo &out);

/// The type of elements in memory; std::nullopt for a type that programs cannot exchange.
std::optional<shardkit::rt::DType> getDType(Type type);
/// The same for stored tensors, which have more types.
std::optional<shardkit::rt::DType> getStoredDType(Type type);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_BUNDLE_DESCRIBE_H
