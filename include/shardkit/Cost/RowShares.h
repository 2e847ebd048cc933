//===- RowShares.h - Rows that groups need of collectives -------*- C++ -*-===//

#ifndef SHARDKIT_COST_ROWSHARES_H
#define SHARDKIT_COST_ROWSHARES_H

#include "shardkit/Cost/CostModel.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

namespace mlir::spmd {

/// Groups of which the result is rows: a smaller row moves with all others.
inline constexpr int64_t kMinRowBits = 256;

/// The fraction of its rows that a collective in local view moves to a device, on average: those that groups
/// (`spmd.groups`) of the device need, of those that groups of the others have made. 1 where another op reads the
/// result, and where the value is not a sum of groups.
///
///   %x = spmd.all_gather %tokens          2 of 8 groups a row, 2 of them here: half of the rows
///   %h = %x[row, k] * %w[group, k, n]     {spmd.groups = {groups = 8, used = 2, loop = 0, row_operands = [0]}}
///   %y = sum over groups of %h
///   %z = spmd.reduce_scatter %y           half of the rows
///
/// `cost`: that of all rows.
double getRowShare(CollectiveOpInterface op, const CollectiveCost &cost);

/// The cost of a collective that moves such a fraction of its rows; `latency`: the seconds that do not depend on bytes.
CollectiveCost scaleToRows(CollectiveCost cost, double latency, double share);

} // namespace mlir::spmd

#endif // SHARDKIT_COST_ROWSHARES_H
