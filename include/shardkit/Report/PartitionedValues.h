//===- PartitionedValues.h - What is known of local values ------*- C++ -*-===//

#ifndef SHARDKIT_REPORT_PARTITIONEDVALUES_H
#define SHARDKIT_REPORT_PARTITIONEDVALUES_H

#include "shardkit/Cost/LiveBuffers.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace mlir::spmd {

class ValueNames;

/// A value of a partitioned program as reports describe it. Texts are empty where
/// they are not known.
struct DescribedValue {
  std::string name, globalType, sharding, localType, loc;
};

/// Names, layouts and global types of the values of a partitioned module, from
/// what arguments and results carry and what --spmd-partition=keep-layouts left
/// on ops. The module must not change in between.
class PartitionedValues {
public:
  /// `fromSource`: names are those that ops carry of an earlier phase
  /// (`spmd.origins`), not the numbers that this module prints.
  PartitionedValues(ModuleOp module, bool fromSource);
  ~PartitionedValues();

  /// Whether ops carry the layouts of what they compute.
  bool knowLayouts() const { return layoutsOnOps; }
  /// Null where it is not known.
  ShardingAttr getLayout(Value value) const;
  RankedTensorType getGlobalType(Value value) const;
  /// A collective goes by its kind and id, what partition itself made by its op.
  std::string getName(Value value) const;
  DescribedValue describe(Value value) const;
  const MeshCache &getMeshes() const { return meshes; }

private:
  Attribute lookup(Value value, StringRef onArgument, StringRef onOp) const;
  MeshCache meshes;
  bool fromSource, layoutsOnOps;
  std::unique_ptr<ValueNames> names;
};

/// Writes what the tensors of a module are called on their ops (`spmd.origins`).
void noteOrigins(ModuleOp module);

/// `<@pod, [...]>`: a sharding as reports print it.
std::string getShardingText(Attribute sharding);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_PARTITIONEDVALUES_H
