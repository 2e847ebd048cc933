//===- Shardings.cpp - Meshes and shardings through MLIR's C API ----------===//

#include "shardkit-c/Shardings.h"
#include "shardkit/Cost/LayoutTable.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/JSON.h"
#include <string_view>

using namespace mlir;
using namespace mlir::spmd;

static constexpr bool areEqual(StringLiteral a, std::string_view b) {
  return std::string_view(a.data(), a.size()) == b;
}
static_assert(areEqual(kShardingAttr, SK_SHARDING) && areEqual(kShardingsAttr, SK_SHARDINGS) &&
              areEqual(kRuleAttr, SK_SHARDING_RULE));

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

MlirAttribute skMeshAttrGet(MlirContext context, intptr_t numAxes, const SkMeshAxis *axes, intptr_t numDeviceIds,
                            const int64_t *deviceIds) {
  SmallVector<MeshAxisAttr> list;
  for (const SkMeshAxis &axis : ArrayRef(axes, numAxes))
    list.push_back(MeshAxisAttr::get(unwrap(context), unwrap(axis.name), axis.size));
  return wrap(Attribute(MeshAttr::get(unwrap(context), list, ArrayRef(deviceIds, numDeviceIds))));
}

bool skAttributeIsAMesh(MlirAttribute attribute) { return isa_and_nonnull<MeshAttr>(unwrap(attribute)); }

static MeshAttr toMeshAttr(MlirAttribute mesh) { return cast<MeshAttr>(unwrap(mesh)); }

intptr_t skMeshAttrGetNumAxes(MlirAttribute mesh) { return toMeshAttr(mesh).getAxes().size(); }

SkMeshAxis skMeshAttrGetAxis(MlirAttribute mesh, intptr_t axis) {
  MeshAxisAttr attr = toMeshAttr(mesh).getAxes()[axis];
  return {wrap(attr.getName()), attr.getSize()};
}

intptr_t skMeshAttrGetNumDeviceIds(MlirAttribute mesh) { return toMeshAttr(mesh).getDeviceIds().size(); }

int64_t skMeshAttrGetDeviceId(MlirAttribute mesh, intptr_t rank) { return toMeshAttr(mesh).getDeviceIds()[rank]; }

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

MlirAttribute skShardingAttrGet(MlirLocation location, MlirStringRef mesh, intptr_t rank, const SkDimSharding *dims) {
  MLIRContext *context = unwrap(location)->getContext();
  auto emitError = [&] { return mlir::emitError(unwrap(location)); };
  SmallVector<DimShardingAttr> list;
  for (const SkDimSharding &dim : ArrayRef(dims, rank)) {
    SmallVector<DimEntryAttr> entries;
    for (const SkDimEntry &entry : ArrayRef(dim.entries, dim.numEntries)) {
      if (failed(DimEntryAttr::verify(emitError, unwrap(entry.axis), entry.pre, entry.size)))
        return {};
      entries.push_back(DimEntryAttr::get(context, unwrap(entry.axis), entry.pre, entry.size));
    }
    if (failed(DimShardingAttr::verify(emitError, entries, dim.isOpen, dim.priority)))
      return {};
    list.push_back(DimShardingAttr::get(context, entries, dim.isOpen, dim.priority));
  }
  return wrap(Attribute(ShardingAttr::get(context, FlatSymbolRefAttr::get(context, unwrap(mesh)), list)));
}

bool skAttributeIsASharding(MlirAttribute attribute) { return isa_and_nonnull<ShardingAttr>(unwrap(attribute)); }

static ShardingAttr toShardingAttr(MlirAttribute sharding) { return cast<ShardingAttr>(unwrap(sharding)); }

static SkDimEntry wrapEntry(DimEntryAttr entry) { return {wrap(entry.getAxis()), entry.getPre(), entry.getSize()}; }

MlirStringRef skShardingAttrGetMesh(MlirAttribute sharding) {
  return wrap(toShardingAttr(sharding).getMesh().getValue());
}

intptr_t skShardingAttrGetRank(MlirAttribute sharding) { return toShardingAttr(sharding).getRank(); }

intptr_t skShardingAttrGetNumEntries(MlirAttribute sharding, intptr_t dim) {
  return toShardingAttr(sharding).getDims()[dim].getEntries().size();
}

SkDimEntry skShardingAttrGetEntry(MlirAttribute sharding, intptr_t dim, intptr_t entry) {
  return wrapEntry(toShardingAttr(sharding).getDims()[dim].getEntries()[entry]);
}

bool skShardingAttrIsOpen(MlirAttribute sharding, intptr_t dim) {
  return toShardingAttr(sharding).getDims()[dim].getOpen();
}

int64_t skShardingAttrGetPriority(MlirAttribute sharding, intptr_t dim) {
  return toShardingAttr(sharding).getDims()[dim].getPriority();
}

intptr_t skShardingAttrGetNumReplicated(MlirAttribute sharding) {
  return toShardingAttr(sharding).getReplicated().size();
}

SkDimEntry skShardingAttrGetReplicated(MlirAttribute sharding, intptr_t entry) {
  return wrapEntry(toShardingAttr(sharding).getReplicated()[entry]);
}

intptr_t skShardingAttrGetNumUnreduced(MlirAttribute sharding) {
  return toShardingAttr(sharding).getUnreduced().size();
}

SkDimEntry skShardingAttrGetUnreduced(MlirAttribute sharding, intptr_t entry) {
  return wrapEntry(toShardingAttr(sharding).getUnreduced()[entry]);
}

//===----------------------------------------------------------------------===//
// Ops and values
//===----------------------------------------------------------------------===//

MlirOperation skMeshOpCreate(MlirLocation location, MlirStringRef name, MlirAttribute mesh) {
  OpBuilder b(unwrap(location)->getContext());
  OperationState state(unwrap(location), MeshOp::getOperationName());
  state.addAttribute("sym_name", b.getStringAttr(unwrap(name)));
  state.addAttribute("mesh", unwrap(mesh));
  return wrap(Operation::create(state));
}

/// An op of one tensor, whose type its result has.
static MlirOperation createOp(StringRef name, MlirLocation location, MlirValue input, MlirAttribute sharding) {
  OperationState state(unwrap(location), name);
  state.addOperands(unwrap(input));
  state.addTypes(unwrap(input).getType());
  state.addAttribute("sharding", unwrap(sharding));
  return wrap(Operation::create(state));
}

MlirOperation skWithShardingConstraintOpCreate(MlirLocation location, MlirValue input, MlirAttribute sharding) {
  return createOp(WithShardingConstraintOp::getOperationName(), location, input, sharding);
}

MlirOperation skReshardOpCreate(MlirLocation location, MlirValue input, MlirAttribute sharding) {
  return createOp(ReshardOp::getOperationName(), location, input, sharding);
}

MlirAttribute skValueGetSharding(MlirValue value) {
  ShardingAttr attr;
  if (auto arg = dyn_cast<BlockArgument>(unwrap(value))) {
    if (auto func = dyn_cast_or_null<FunctionOpInterface>(arg.getOwner()->getParentOp());
        func && arg.getOwner()->isEntryBlock())
      attr = func.getArgAttrOfType<ShardingAttr>(arg.getArgNumber(), kShardingAttr);
  } else {
    auto result = cast<OpResult>(unwrap(value));
    auto list = result.getOwner()->getAttrOfType<ArrayAttr>(kShardingsAttr);
    if (list && result.getResultNumber() < list.size())
      attr = dyn_cast<ShardingAttr>(list[result.getResultNumber()]);
  }
  return wrap(Attribute(attr));
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

namespace {
/// Shardings of one type, on the meshes of a module.
class ReadShardings {
public:
  /// Fails after one error.
  LogicalResult read(ArrayRef<MlirAttribute> shardings, MlirType type, MlirOperation op);

  FunctionMeshes &getMeshes() { return *meshes; }
  RankedTensorType type;
  SmallVector<LayoutId, 2> ids;
  Layout getLayout() { return Layout::get(table->get(ids.front()), meshes->getMesh(), type.getShape()); }

private:
  std::unique_ptr<MeshCache> cache;
  std::unique_ptr<FunctionMeshes> meshes;

public:
  std::unique_ptr<LayoutTable> table;
};
} // namespace

LogicalResult ReadShardings::read(ArrayRef<MlirAttribute> shardings, MlirType wanted, MlirOperation op) {
  auto module = dyn_cast_or_null<ModuleOp>(unwrap(op));
  assert(module && "layouts are those of the meshes of a module");
  auto emitError = [&] { return mlir::emitError(module.getLoc()); };
  type = dyn_cast_or_null<RankedTensorType>(unwrap(wanted));
  if (!type || !type.hasStaticShape())
    return emitError() << "expected a ranked tensor of static shape, got " << unwrap(wanted);
  SmallVector<std::pair<FlatSymbolRefAttr, Location>> named;
  for (MlirAttribute attr : shardings) {
    if (!skAttributeIsASharding(attr))
      return emitError() << "expected a #spmd.sharding, got " << unwrap(attr);
    named.emplace_back(toShardingAttr(attr).getMesh(), module.getLoc());
  }
  cache = std::make_unique<MeshCache>(module);
  FailureOr<FunctionMeshes> read = FunctionMeshes::get(module, named, *cache);
  if (failed(read))
    return failure();
  meshes = std::make_unique<FunctionMeshes>(std::move(*read));
  table = std::make_unique<LayoutTable>(*meshes);
  for (MlirAttribute attr : shardings) {
    FailureOr<ShardingOnMesh> onMesh = cache->read(toShardingAttr(attr), emitError);
    if (failed(onMesh))
      return failure();
    if (auto error = verifySharding(onMesh->sharding, *onMesh->mesh, type.getShape(), /*allowUneven=*/true))
      return emitError() << error->message;
    FailureOr<LayoutId> id = table->read(toShardingAttr(attr), type, emitError);
    if (failed(id))
      return failure();
    ids.push_back(*id);
  }
  return success();
}

MlirType skShardingGetLocalType(MlirAttribute sharding, MlirType type, MlirOperation module) {
  ReadShardings read;
  if (failed(read.read(sharding, type, module)))
    return {};
  return wrap(Type(read.type.clone(read.getLayout().localShape())));
}

intptr_t skShardingGetIntervals(MlirAttribute sharding, MlirType type, MlirOperation module, int64_t rank, intptr_t dim,
                                intptr_t max, int64_t *beginsAndEnds) {
  ReadShardings read;
  if (failed(read.read(sharding, type, module)))
    return -1;
  if (dim < 0 || dim >= read.type.getRank() || rank < 0 || rank >= read.getMeshes().getMesh().numDevices()) {
    emitError(unwrap(module)->getLoc()) << "dim " << dim << " of rank " << rank << " of " << read.type
                                        << " does not exist";
    return -1;
  }
  if (read.type.getNumElements() == 0)
    return 0;
  auto intervals = read.getLayout().getOwnedIntervals(dim, rank, read.type.getDimSize(dim));
  for (auto [i, interval] : llvm::enumerate(ArrayRef(intervals).take_front(max))) {
    beginsAndEnds[2 * i] = interval.first;
    beginsAndEnds[2 * i + 1] = interval.second;
  }
  return intervals.size();
}

intptr_t skShardingGetOwners(MlirAttribute sharding, MlirType type, MlirOperation module, const int64_t *index,
                             intptr_t max, int64_t *ranks) {
  ReadShardings read;
  if (failed(read.read(sharding, type, module)))
    return -1;
  for (int64_t d = 0; d < read.type.getRank(); ++d)
    if (index[d] < 0 || index[d] >= read.type.getDimSize(d)) {
      emitError(unwrap(module)->getLoc())
          << "index " << index[d] << " of dim " << d << " of " << read.type << " does not exist";
      return -1;
    }
  Layout layout = read.getLayout();
  intptr_t count = 0;
  for (int64_t rank = 0; rank < read.getMeshes().getMesh().numDevices(); ++rank) {
    bool owns = llvm::all_of(llvm::seq<int64_t>(0, read.type.getRank()), [&](int64_t d) {
      auto intervals = layout.getOwnedIntervals(d, rank, read.type.getDimSize(d));
      return llvm::any_of(intervals, [&](auto of) { return of.first <= index[d] && index[d] < of.second; });
    });
    if (owns && count++ < max)
      ranks[count - 1] = rank;
  }
  return count;
}

MlirLogicalResult skGetReshard(MlirAttribute from, MlirAttribute to, MlirType type, MlirOperation module,
                               MlirStringCallback callback, void *data) {
  ReadShardings read;
  if (failed(read.read({from, to}, type, module)))
    return mlirLogicalResultFailure();
  LayoutTable::Move move = read.table->getMove(read.ids[0], read.ids[1], read.type);
  auto split = [](StringRef text) {
    llvm::json::Array items;
    SmallVector<StringRef> parts;
    text.split(parts, ',', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts)
      items.push_back(part);
    return items;
  };
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(
      llvm::json::Object{{"kinds", split(move.kinds)},
                         {"axes", split(move.axes)},
                         {"bytes", move.bytes},
                         {"seconds", read.table->getSeconds(read.ids[0], read.ids[1], read.type)}});
  callback(wrap(StringRef(text)), data);
  return mlirLogicalResultSuccess();
}
