//===- Verification.cpp - Legality of shardings, with diagnostics ---------===//

#include "shardkit/Dialect/SPMD/IR/Verification.h"
#include "OpSyntax.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::spmd;

std::string spmd::nearestNames(StringRef name, ArrayRef<StringRef> known) {
  unsigned best = ~0u;
  SmallVector<StringRef> nearest;
  for (StringRef candidate : known) {
    unsigned distance = name.edit_distance(candidate);
    if (candidate.starts_with(name) || name.starts_with(candidate))
      distance = std::min(distance, 1u);
    if (distance < best) {
      best = distance;
      nearest.clear();
    }
    if (distance == best)
      nearest.push_back(candidate);
  }
  if (best > std::max<size_t>(2, name.size() / 3))
    nearest.assign(known.begin(), known.end());
  return llvm::join(llvm::map_range(nearest, [](StringRef n) { return "\"" + n.str() + "\""; }), ", ");
}

void spmd::emitUnknownMesh(FlatSymbolRefAttr name, Operation *from, EmitErrorFn emitError) {
  // Builds the list of meshes, which is acceptable on errors.
  if (MeshCache(from).lookupOrEmit(name, emitError))
    emitError() << "mesh " << name << " has the name of an earlier symbol, expected one of its own";
}

void spmd::emitUnknownAxis(StringRef name, const Mesh &mesh, EmitErrorFn emitError) {
  InFlightDiagnostic diag = emitError();
  diag << "unknown axis \"" << name << "\", expected one of ";
  llvm::interleaveComma(mesh.axes, diag, [&](const MeshAxis &axis) { diag << "\"" << axis.name << "\""; });
  diag.attachNote() << "available axes: " << mesh.axesToString();
}

/// `axis "x"` or `axes "x", "y":(1)2`.
static std::string describeAxes(ArrayRef<DimEntry> entries, const Mesh &mesh) {
  DimEntries axes;
  llvm::copy_if(entries, std::back_inserter(axes), [](const DimEntry &e) { return !e.isStride(); });
  return (axes.size() == 1 ? "axis " : "axes ") + toString(axes, mesh);
}

/// `1, 2, 3, 6`
static std::string listDivisors(int64_t size) {
  SmallVector<int64_t> small, large;
  for (int64_t d = 1; d * d <= size; ++d)
    if (size % d == 0) {
      small.push_back(d);
      if (d * d != size)
        large.push_back(size / d);
    }
  small.append(large.rbegin(), large.rend());
  return llvm::join(llvm::map_range(small, [](int64_t d) { return std::to_string(d); }), ", ");
}

LogicalResult spmd::verifyShardingOf(const Sharding &sharding, Type type, const Mesh &mesh, const Twine &what,
                                     EmitErrorFn emitError, bool allowUneven) {
  if (auto shaped = dyn_cast<ShapedType>(type); shaped && !shaped.hasRank())
    return emitError() << "sharding of " << what << " of type " << type << ", expected a ranked type";
  SmallVector<int64_t> shape(getShape(type));
  // sharding_c3
  if (sharding.dims.size() != shape.size())
    return emitError() << "sharding of " << what << " has " << sharding.dims.size() << " dimensions, expected "
                       << shape.size() << ", the rank of " << type;
  // A dynamic dimension is assumed to be divisible by the axes.
  for (auto [size, dim] : llvm::zip_equal(shape, sharding.dims))
    if (ShapedType::isDynamic(size))
      size = std::max<int64_t>(totalFactor(dim.entries), 1);

  // sharding_c2, and sharding_c4 for strides and sub-axes
  if (std::optional<ShardingError> error = verifySharding(sharding, mesh, shape, /*allowUneven=*/true)) {
    InFlightDiagnostic diag = emitError();
    diag << "illegal sharding of " << what << ": " << error->message;
    diag.attachNote() << "available axes: " << mesh.axesToString();
    if (error->dim >= 0 && StringRef(error->reason).ends_with("not_dividing"))
      diag.attachNote() << "legal axis products for size " << shape[error->dim] << ": "
                        << listDivisors(shape[error->dim]);
    return diag;
  }
  if (allowUneven)
    return success();

  // sharding_c4
  for (auto [i, size, dim] : llvm::enumerate(shape, sharding.dims)) {
    DimEntries entries = canonicalize(dim.entries);
    int64_t devices = deviceFactor(entries);
    int64_t factor = totalFactor(entries);
    if (devices == 1 || size % factor == 0)
      continue;
    InFlightDiagnostic diag = emitError();
    diag << "dim " << i << " of " << what << " (size " << size << ") cannot be split by " << describeAxes(entries, mesh)
         << " (size " << devices << "), expected a multiple of " << factor;
    diag.attachNote() << "legal axis products for size " << size << ": " << listDivisors(size);
    return diag;
  }
  return success();
}

LogicalResult spmd::verifyReductionOf(ReductionKind kind, Type type, EmitErrorFn emitError) {
  Type element = getElementTypeOrSelf(type);
  bool isFloat = isa<FloatType>(element);
  bool isInteger = element.isIntOrIndex();
  bool legal = true;
  switch (kind) {
  case ReductionKind::Sum:
  case ReductionKind::Prod:
    break;
  case ReductionKind::And:
  case ReductionKind::Or:
  case ReductionKind::Xor:
  case ReductionKind::UMax:
  case ReductionKind::UMin:
    legal = isInteger;
    break;
  case ReductionKind::Max:
  case ReductionKind::Min:
    legal = isInteger || isFloat;
    break;
  case ReductionKind::MaxNum:
  case ReductionKind::MinNum:
    legal = isFloat;
    break;
  }
  if (legal)
    return success();
  InFlightDiagnostic diag = emitError() << "reduction " << stringifyReductionKind(kind) << " is not defined for "
                                        << element << ", expected one that is";
  diag.attachNote() << "reductions for " << element << ": "
                    << (isInteger ? "sum, prod, and, or, xor, max, min, umax, "
                                    "umin"
                        : isFloat ? "sum, prod, max, min, maxnum, minnum"
                                  : "sum, prod");
  return diag;
}

LogicalResult spmd::verifyShardingOf(ShardingAttr attr, Type type, const Mesh &mesh, const Twine &what,
                                     EmitErrorFn emitError, bool allowUneven) {
  // sharding_c2
  FailureOr<Sharding> sharding = toSharding(attr, mesh, emitError);
  if (failed(sharding) || failed(verifyShardingOf(*sharding, type, mesh, what, emitError, allowUneven)))
    return failure();
  // sharding_c6
  return attr.getUnreduced().empty() ? success() : verifyReductionOf(attr.getUnreducedKind(), type, emitError);
}

//===----------------------------------------------------------------------===//
// For op verifiers
//===----------------------------------------------------------------------===//

FailureOr<Mesh> spmd::getMeshOrEmit(Operation *op, FlatSymbolRefAttr name, SymbolTableCollection &symbolTable) {
  // sharding_c1
  MeshOp mesh = lookupMesh(op, name, symbolTable);
  if (!mesh) {
    emitUnknownMesh(name, op, [&] { return op->emitOpError(); });
    return failure();
  }
  return toMesh(mesh);
}

LogicalResult spmd::verifySharding(Operation *op, ShardingAttr sharding, Type type, const Twine &what,
                                   SymbolTableCollection &symbolTable, bool allowUneven) {
  FailureOr<Mesh> mesh = getMeshOrEmit(op, sharding.getMesh(), symbolTable);
  if (failed(mesh))
    return failure();
  return verifyShardingOf(sharding, type, *mesh, what, [&] { return op->emitOpError(); }, allowUneven);
}
