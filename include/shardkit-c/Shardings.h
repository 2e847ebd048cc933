/*===- Shardings.h - Meshes and shardings through MLIR's C API -----*- C -*-===*\
 *
 * Builds and reads the attributes of a model, and computes with layouts: local types, the owners of
 * an element, the moves of a reshard. Errors are diagnostics of the context
 * (mlirContextAttachDiagnosticHandler), and a null object or a failure.
 *
 *     SkDimEntry x = {mlirStringRefCreateFromCString("x"), 1, 0};
 *     SkDimSharding dims[] = {{1, &x}, {0}};
 *     MlirAttribute rows = skShardingAttrGet(location, mlirStringRefCreateFromCString("pod"), 2, dims);
 *     MlirType local = skShardingGetLocalType(rows, type, module);  // #spmd.sharding<@pod, [{"x"}, {}]>
 *
 * Any attribute of the dialect can be made of its text, by mlirAttributeParseGet. Ranks are
 * positions in the mesh's list of devices.
 *
\*===----------------------------------------------------------------------===*/

#ifndef SHARDKIT_C_SHARDINGS_H
#define SHARDKIT_C_SHARDINGS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names of the attributes that carry shardings, #spmd.sharding: of an argument or result of a
 * function, and one for each result of an op, an array. A #spmd.rule on an op replaces its rule. */
#define SK_SHARDING "spmd.sharding"
#define SK_SHARDINGS "spmd.shardings"
#define SK_SHARDING_RULE "spmd.sharding_rule"

typedef struct SkMeshAxis {
  MlirStringRef name;
  int64_t size;
} SkMeshAxis;

/* Axes are major to minor. Without ids, device k has id k. */
MLIR_CAPI_EXPORTED MlirAttribute skMeshAttrGet(MlirContext context, intptr_t numAxes, const SkMeshAxis *axes,
                                               intptr_t numDeviceIds, const int64_t *deviceIds);
MLIR_CAPI_EXPORTED bool skAttributeIsAMesh(MlirAttribute attribute);
MLIR_CAPI_EXPORTED intptr_t skMeshAttrGetNumAxes(MlirAttribute mesh);
MLIR_CAPI_EXPORTED SkMeshAxis skMeshAttrGetAxis(MlirAttribute mesh, intptr_t axis);
MLIR_CAPI_EXPORTED intptr_t skMeshAttrGetNumDeviceIds(MlirAttribute mesh); /* 0: without ids */
MLIR_CAPI_EXPORTED int64_t skMeshAttrGetDeviceId(MlirAttribute mesh, intptr_t rank);

/* An axis "x" is {"x", 1, 0}, its sub-axis "x":(pre)size is {"x", pre, size}, and a stride is {"", 1, size}. */
typedef struct SkDimEntry {
  MlirStringRef axis;
  int64_t pre, size;
} SkDimEntry;

/* Entries major to minor. Propagation may add axes to an open dim. Priority 0 is the strongest. */
typedef struct SkDimSharding {
  intptr_t numEntries;
  const SkDimEntry *entries;
  bool isOpen;
  int64_t priority;
} SkDimSharding;

/* A sharding on the mesh with this symbol. Null, after an error at `location`, if an entry is not valid. */
MLIR_CAPI_EXPORTED MlirAttribute skShardingAttrGet(MlirLocation location, MlirStringRef mesh, intptr_t rank,
                                                   const SkDimSharding *dims);
MLIR_CAPI_EXPORTED bool skAttributeIsASharding(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirStringRef skShardingAttrGetMesh(MlirAttribute sharding);
MLIR_CAPI_EXPORTED intptr_t skShardingAttrGetRank(MlirAttribute sharding);
MLIR_CAPI_EXPORTED intptr_t skShardingAttrGetNumEntries(MlirAttribute sharding, intptr_t dim);
MLIR_CAPI_EXPORTED SkDimEntry skShardingAttrGetEntry(MlirAttribute sharding, intptr_t dim, intptr_t entry);
MLIR_CAPI_EXPORTED bool skShardingAttrIsOpen(MlirAttribute sharding, intptr_t dim);
MLIR_CAPI_EXPORTED int64_t skShardingAttrGetPriority(MlirAttribute sharding, intptr_t dim);
/* Axes over which the value must be replicated, or is a partial result. */
MLIR_CAPI_EXPORTED intptr_t skShardingAttrGetNumReplicated(MlirAttribute sharding);
MLIR_CAPI_EXPORTED SkDimEntry skShardingAttrGetReplicated(MlirAttribute sharding, intptr_t entry);
MLIR_CAPI_EXPORTED intptr_t skShardingAttrGetNumUnreduced(MlirAttribute sharding);
MLIR_CAPI_EXPORTED SkDimEntry skShardingAttrGetUnreduced(MlirAttribute sharding, intptr_t entry);

/* Ops, not in a block yet: a mesh, a constraint on a value, and a reshard of it. */
MLIR_CAPI_EXPORTED MlirOperation skMeshOpCreate(MlirLocation location, MlirStringRef name, MlirAttribute mesh);
MLIR_CAPI_EXPORTED MlirOperation skWithShardingConstraintOpCreate(MlirLocation location, MlirValue input,
                                                                  MlirAttribute sharding);
MLIR_CAPI_EXPORTED MlirOperation skReshardOpCreate(MlirLocation location, MlirValue input, MlirAttribute sharding);

/* The sharding that a value has: of an argument of a function, or that of a pass on the result of an op. Null if none.
 */
MLIR_CAPI_EXPORTED MlirAttribute skValueGetSharding(MlirValue value);

/* `module` is one that has the mesh of the sharding, and `type` a ranked tensor. One error at the module if they do not
 * fit each other. */

/* The type of a shard: uneven dims have the size of the largest. Null after an error. */
MLIR_CAPI_EXPORTED MlirType skShardingGetLocalType(MlirAttribute sharding, MlirType type, MlirOperation module);
/* The number of devices that own an element, and the first `max` of their ranks in rising order. -1 after an error. */
MLIR_CAPI_EXPORTED intptr_t skShardingGetOwners(MlirAttribute sharding, MlirType type, MlirOperation module,
                                                const int64_t *index, intptr_t max, int64_t *ranks);
/* The indices of a dim that a device owns, as intervals [begin, end) in rising order: their number, -1 after an error.
 * The first `max` pairs are written. */
MLIR_CAPI_EXPORTED intptr_t skShardingGetIntervals(MlirAttribute sharding, MlirType type, MlirOperation module,
                                                   int64_t rank, intptr_t dim, intptr_t max, int64_t *beginsAndEnds);

/* The move of a reshard of a value, as JSON: {"kinds": ["all_gather"], "axes": ["x"], "bytes": 64, "seconds": 1e-5}.
 * Bytes are those of the cost formulas. */
MLIR_CAPI_EXPORTED MlirLogicalResult skGetReshard(MlirAttribute from, MlirAttribute to, MlirType type,
                                                  MlirOperation module, MlirStringCallback callback, void *data);

#ifdef __cplusplus
}
#endif

#endif /* SHARDKIT_C_SHARDINGS_H */
