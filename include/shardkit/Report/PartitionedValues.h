//===- PartitionedValues.h - Names and layouts of local values --*- C++ -*-===//

#ifndef SHARDKIT_REPORT_PARTITIONEDVALUES_H
#define SHARDKIT_REPORT_PARTITIONEDVALUES_H

#include "shardkit/Cost/LiveBuffers.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace mlir::spmd {

class ValueNames;

/// The description of a value of a partitioned program in reports. Unknown texts are
/// empty.
struct DescribedValue {
  std::string name, globalType, sharding, localType, loc;
};

/// Names, layouts and global types of the values of a partitioned module, from the
/// attributes of arguments and results and those that --spmd-partition=keep-layouts
/// keeps on ops. The module must not change in between.
class PartitionedValues {
public:
  /// `fromSource`: names are those of an earlier phase (`spmd.origins` of ops), not
  /// those that this module prints.
  PartitionedValues(ModuleOp module, bool fromSource);
  ~PartitionedValues();

  /// Whether ops have the layouts of their results.
  bool knowLayouts() const { return layoutsOnOps; }
  /// Null if it is unknown.
  ShardingAttr getLayout(Value value) const;
  RankedTensorType getGlobalType(Value value) const;
  /// The name of a collective is its kind and id; that of a value that --spmd-partition
  /// created is its op.
  std::string getName(Value value) const;
  DescribedValue describe(Value value) const;
  const MeshCache &getMeshes() const { return meshes; }

private:
  Attribute lookup(Value value, StringRef onArgument, StringRef onOp) const;
  MeshCache meshes;
  bool fromSource, layoutsOnOps;
  std::unique_ptr<ValueNames> names;
};

/// Writes the names of the tensors of a module on their ops (`spmd.origins`).
void recordOrigins(ModuleOp module);

/// `<@pod, [...]>`: a sharding as reports print it.
std::string getShardingText(Attribute sharding);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_PARTITIONEDVALUES_H
