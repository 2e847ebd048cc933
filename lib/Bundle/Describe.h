//===- Describe.h - What the manifest says of a function --------*- C++ -*-===//

#ifndef SHARDKIT_LIB_BUNDLE_DESCRIBE_H
#define SHARDKIT_LIB_BUNDLE_DESCRIBE_H

#include "shardkit/Bundle/Manifest.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// An argument that is made of stored tensors: by a function, or of parts of one.
struct LoadedArgument {
  std::string function;
  unsigned argument;
  /// All but the entry points.
  shardkit::manifest::Load load;
  /// To be compiled, the first where `load` has neither pieces nor host calls. Null
  /// where the module lacks it.
  func::FuncOp shardFunction, loadFunction;
};
/// The arguments with parts or loading functions of the public functions of a partitioned
/// module. Without `pieces` all loading functions are to be compiled but those of
/// host functions.
FailureOr<std::vector<LoadedArgument>> describeLoading(ModuleOp module, const MeshCache &meshes, bool pieces);

/// Arguments, results, mesh and collectives of a partitioned function. Numbers
/// the collectives in program order where their ids are absent or not dense. `loading`
/// says how parts of weights are loaded.
FailureOr<shardkit::manifest::Function> describeFunction(func::FuncOp func, const MeshCache &meshes,
                                                         llvm::ArrayRef<LoadedArgument> loading);

/// A schedule, and what the arguments and results of its parts are of their stages.
/// `functions` are all of the module that the manifest has.
LogicalResult describePipeline(ScheduleOp schedule, const MeshCache &meshes,
                               std::vector<shardkit::manifest::Function> &functions, shardkit::manifest::Pipeline &out);
/// Of an argument that is a part of a weight, or several side by side, and of a result that
/// updates one: the parts with their types. `localType`: that of the argument or result.
llvm::SmallVector<std::pair<SegmentAttr, Type>> getParts(DictionaryAttr attrs, Type localType);
/// What describeFunction says of a value: type, layout, extents. `value` has its name.
LogicalResult describeValue(func::FuncOp func, Type localType, DictionaryAttr attrs, Location loc,
                            const MeshCache &meshes, shardkit::manifest::Value &value);
/// The loops and digits of a move.
void describeMove(const Transfer &transfer, shardkit::manifest::Collective &out);

/// Local-view spmd ops become spmd_rt ops. The collectives are numbered.
LogicalResult lowerCollectives(func::FuncOp func, const MeshCache &meshes);

/// The collectives of a function in program order.
llvm::SmallVector<CollectiveOpInterface> collectivesOf(func::FuncOp func);

/// The runtime moves 8-bit floats as bytes, and combines them in f32; of complex numbers it
/// moves and adds up the pairs (target::getPairedType).
LogicalResult widenCollectives(func::FuncOp func);

LogicalResult describeCollective(CollectiveOpInterface op, const MeshCache &meshes,
                                 shardkit::manifest::Collective &out);

/// "f32", ..., or nothing for a type that cannot cross the boundary.
std::optional<std::string> dtypeName(Type type);
/// The same for stored tensors, which have more types.
std::optional<std::string> storedTypeName(Type type);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_BUNDLE_DESCRIBE_H
