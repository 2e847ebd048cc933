//===- Conversion.cpp - Attributes to plain layouts and back --------------===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Constraints.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/Verification.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mlir::spmd;

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

Mesh spmd::toMesh(StringRef name, MeshAttr attr) {
  Mesh mesh;
  mesh.name = name.str();
  for (MeshAxisAttr axis : attr.getAxes())
    mesh.axes.push_back({axis.getName().str(), axis.getSize()});
  bool iota = true;
  for (auto [rank, device] : llvm::enumerate(attr.getDeviceIds()))
    iota &= device == (int64_t)rank;
  // A list of the wrong length is kept for the verifier.
  if (!iota || (int64_t)attr.getDeviceIds().size() != mesh.numDevices())
    mesh.deviceIds.assign(attr.getDeviceIds().begin(), attr.getDeviceIds().end());
  return mesh;
}

Mesh spmd::toMesh(MeshOp op) {
  Mesh mesh = toMesh(op.getSymName(), op.getMesh());
  auto costs = [](std::optional<ArrayAttr> attr, SmallVector<double> &out) {
    if (attr)
      for (Attribute cost : *attr)
        out.push_back(cast<FloatAttr>(cost).getValueAsDouble());
  };
  costs(op.getAlpha(), mesh.alpha);
  costs(op.getBeta(), mesh.beta);
  if (FloatAttr flops = op.getFlopsAttr())
    mesh.flops = flops.getValueAsDouble();
  if (FloatAttr bandwidth = op.getBandwidthAttr())
    mesh.bandwidth = bandwidth.getValueAsDouble();
  if (IntegerAttr memory = op.getMemoryAttr())
    mesh.memory = memory.getInt();
  return mesh;
}

MeshAttr spmd::toAttr(MLIRContext *context, const Mesh &mesh) {
  SmallVector<MeshAxisAttr> axes;
  for (const MeshAxis &axis : mesh.axes)
    axes.push_back(MeshAxisAttr::get(context, axis.name, axis.size));
  ArrayRef<int64_t> ids = mesh.deviceIds;
  bool iota = llvm::all_of(llvm::enumerate(ids), [](auto id) { return id.value() == int64_t(id.index()); });
  return MeshAttr::get(context, axes, iota ? ArrayRef<int64_t>() : ids);
}

MeshOp spmd::createMesh(OpBuilder &b, Location loc, StringRef name, const Mesh &mesh) {
  auto costs = [&](ArrayRef<double> list) { return list.empty() ? ArrayAttr() : b.getF64ArrayAttr(list); };
  auto rate = [&](std::optional<double> value) { return value ? b.getF64FloatAttr(*value) : FloatAttr(); };
  return MeshOp::create(b, loc, b.getStringAttr(name), toAttr(b.getContext(), mesh), costs(mesh.alpha),
                        costs(mesh.beta), rate(mesh.flops), rate(mesh.bandwidth),
                        mesh.memory ? b.getI64IntegerAttr(*mesh.memory) : IntegerAttr());
}

/// The nearest symbol table, possibly the op itself. MLIR's lookup stops at unregistered ops, since they may be symbol
/// tables.
static Operation *getNearestSymbolTable(Operation *op) {
  while (op && !op->hasTrait<OpTrait::SymbolTable>())
    op = op->getParentOp();
  return op;
}

MeshOp spmd::lookupMesh(Operation *from, FlatSymbolRefAttr mesh) {
  Operation *table = getNearestSymbolTable(from);
  return table ? dyn_cast_or_null<MeshOp>(SymbolTable::lookupSymbolIn(table, mesh)) : MeshOp();
}

MeshOp spmd::lookupMesh(Operation *from, FlatSymbolRefAttr mesh, SymbolTableCollection &symbolTable) {
  Operation *table = getNearestSymbolTable(from);
  return table ? symbolTable.lookupSymbolIn<MeshOp>(table, mesh) : MeshOp();
}

//===----------------------------------------------------------------------===//
// Attributes to structs
//===----------------------------------------------------------------------===//

FailureOr<DimEntries> spmd::toDimEntries(ArrayRef<DimEntryAttr> attrs, const Mesh &mesh, EmitErrorFn emitError) {
  DimEntries entries;
  for (DimEntryAttr attr : attrs) {
    if (attr.isStride()) {
      entries.push_back(DimEntry::stride(attr.getSize()));
      continue;
    }
    std::optional<unsigned> axis = mesh.findAxis(attr.getAxis());
    if (!axis) {
      emitUnknownAxis(attr.getAxis(), mesh, emitError);
      return failure();
    }
    if (attr.isFullAxis())
      entries.push_back({(int32_t)*axis, 1, mesh.axes[*axis].size});
    else
      entries.push_back({(int32_t)*axis, attr.getPre(), attr.getSize()});
  }
  return entries;
}

FailureOr<Sharding> spmd::toSharding(ShardingAttr attr, const Mesh &mesh, EmitErrorFn emitError) {
  Sharding sharding;
  sharding.dims.reserve(attr.getDims().size());
  for (DimShardingAttr dim : attr.getDims()) {
    FailureOr<DimEntries> entries = toDimEntries(dim.getEntries(), mesh, emitError);
    if (failed(entries))
      return failure();
    sharding.dims.push_back({std::move(*entries), dim.getOpen(), dim.getPriority()});
  }
  FailureOr<DimEntries> replicated = toDimEntries(attr.getReplicated(), mesh, emitError);
  if (failed(replicated))
    return failure();
  FailureOr<DimEntries> unreduced = toDimEntries(attr.getUnreduced(), mesh, emitError);
  if (failed(unreduced))
    return failure();
  sharding.replicated = std::move(*replicated);
  sharding.unreduced = std::move(*unreduced);
  sharding.unreducedKind = attr.getUnreducedKind();
  return sharding;
}

FailureOr<SmallVector<DimEntries>> spmd::toFactors(FactorsAttr attr, const Mesh &mesh, EmitErrorFn emitError) {
  SmallVector<DimEntries> factors;
  for (DimShardingAttr factor : attr.getFactors()) {
    FailureOr<DimEntries> entries = toDimEntries(factor.getEntries(), mesh, emitError);
    if (failed(entries))
      return failure();
    factors.push_back(std::move(*entries));
  }
  return factors;
}

//===----------------------------------------------------------------------===//
// Structs to attributes
//===----------------------------------------------------------------------===//

SmallVector<DimEntryAttr> spmd::toAttrs(MLIRContext *context, ArrayRef<DimEntry> entries, const Mesh &mesh) {
  SmallVector<DimEntryAttr> attrs;
  for (const DimEntry &entry : entries) {
    if (entry.isStride()) {
      attrs.push_back(DimEntryAttr::stride(context, entry.size));
      continue;
    }
    const MeshAxis &axis = mesh.axes[entry.axis];
    bool isFull = entry.pre == 1 && entry.size == axis.size;
    attrs.push_back(isFull ? DimEntryAttr::fullAxis(context, axis.name)
                           : DimEntryAttr::get(context, axis.name, entry.pre, entry.size));
  }
  return attrs;
}

DimShardingAttr spmd::toAttr(MLIRContext *context, const DimSharding &dim, const Mesh &mesh) {
  return DimShardingAttr::get(context, toAttrs(context, dim.entries, mesh), dim.open, dim.priority);
}

ShardingAttr spmd::toAttr(MLIRContext *context, FlatSymbolRefAttr mesh, const Sharding &sharding,
                          const Mesh &layoutMesh) {
  SmallVector<DimShardingAttr> dims;
  dims.reserve(sharding.dims.size());
  for (const DimSharding &dim : sharding.dims)
    dims.push_back(toAttr(context, dim, layoutMesh));
  return ShardingAttr::get(context, mesh, dims, toAttrs(context, sharding.replicated, layoutMesh),
                           sharding.unreduced.empty() ? ReductionKind::Sum : sharding.unreducedKind,
                           toAttrs(context, sharding.unreduced, layoutMesh));
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> spmd::getShape(Type type) {
  if (auto shaped = dyn_cast_or_null<ShapedType>(type); shaped && shaped.hasRank())
    return shaped.getShape();
  return {};
}

RankedTensorType spmd::getTypeWithShape(Type type, ArrayRef<int64_t> shape) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(shape, tensor.getElementType(), tensor.getEncoding());
  return RankedTensorType::get(shape, type);
}

//===----------------------------------------------------------------------===//
// Elements and locations
//===----------------------------------------------------------------------===//

int64_t spmd::getElementBytes(Type elementType) {
  if (auto complex = dyn_cast<ComplexType>(elementType))
    return 2 * getElementBytes(complex.getElementType());
  if (!elementType.isIntOrFloat())
    return 8;
  return (elementType.getIntOrFloatBitWidth() + 7) / 8;
}

std::string spmd::getLocationText(Location loc) {
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
  if (auto name = dyn_cast<NameLoc>(loc)) {
    std::string child = getLocationText(name.getChildLoc());
    return name.getName().str() + (child.empty() ? "" : " (" + child + ")");
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return getLocationText(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location inner : fused.getLocations())
      if (std::string text = getLocationText(inner); !text.empty())
        return text;
  return "";
}
