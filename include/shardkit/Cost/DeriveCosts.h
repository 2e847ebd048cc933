//===- DeriveCosts.h - Link costs from the bandwidths of hosts -*- C++ -*--===//
//
// Collectives run as rings: a device sends to the next one along an axis. All groups of
// an axis run at once and share the links between hosts. The bandwidth of the axis is their
// share of the narrowest link that they cross (docs/rationale/Search.md).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_COST_DERIVECOSTS_H
#define SHARDKIT_COST_DERIVECOSTS_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Layout/Mesh.h"
#include "shardkit/Options.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

struct HostLinks {
  /// Device d is on host d / devicesPerHost.
  int64_t devicesPerHost = 1;
  /// Bytes per second: of a device within its host, of a link between hosts each way.
  double intra = 0, inter = 0;
  HostTopology topology = HostTopology::Tree;
};

/// Seconds per byte of each axis; linear in devices. Axes of size 1 have those of the
/// links within a host.
llvm::SmallVector<double> getBetas(const Mesh &mesh, const HostLinks &links);

/// Reads `spmd.hosts` of a mesh. Emits an error if it is malformed or does not fit the mesh.
FailureOr<HostLinks> readHostLinks(MeshOp op);
/// Writes `spmd.hosts`.
void writeHostLinks(MeshOp op, const HostLinks &links);
/// Derives `beta` from `spmd.hosts`.
LogicalResult deriveCosts(MeshOp op);

/// Emits a remark if the choices for a function rest on default costs. Called once per
/// function: by the search, else by insert-reshards.
void remarkDefaultCosts(func::FuncOp func, const Mesh &costs);

} // namespace mlir::spmd

#endif // SHARDKIT_COST_DERIVECOSTS_H
