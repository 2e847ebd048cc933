//===- BoundaryOrder.cpp - Signatures on reordered meshes -----------------===//

#include "shardkit/Partition/BoundaryOrder.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"

using namespace mlir;
using namespace mlir::spmd;

LogicalResult BoundaryOrder::readValue(DictionaryAttr attrs, Location loc, FlatSymbolRefAttr &mesh) {
  if (!attrs)
    return success();
  // What propagation completed may be written on another mesh.
  for (StringRef name : {kShardingAttr, kUserShardingAttr})
    if (auto attr = attrs.getAs<ShardingAttr>(name); attr && meshes.isReordered(attr.getMesh()))
      mesh = attr.getMesh();
  if (!mesh)
    return success();
  if (auto attr = attrs.getAs<ShardingAttr>(kShardingAttr); attr && !attr.getUnreduced().empty())
    return emitError(loc) << "the sharding " << attr << " is unreduced, and mesh " << mesh
                          << " lists the devices in another order than mesh " << meshes.getFirstName()
                          << ", expected a complete value, or one order";
  if (func->hasAttr(kScheduleAttr) || func->hasAttr(kFragmentAttr))
    return emitError(loc) << "mesh " << mesh << " lists the devices in another order than mesh "
                          << meshes.getFirstName() << ", expected one order in each stage of a pipeline";
  for (StringRef name : {kLoadAttr, kSegmentsAttr, kSegmentAttr, kSegmentsOfAttr})
    if (attrs.get(name))
      return emitError(loc) << "mesh " << mesh << " lists the devices in another order than mesh "
                            << meshes.getFirstName() << ", expected one order for an argument with " << name;
  return success();
}

LogicalResult BoundaryOrder::read() {
  if (!meshes.hasReordered())
    return success();
  // Ranks of the function are those of this mesh, whatever meshes its collectives name.
  func->setAttr(kRankMeshAttr, meshes.getFirstName());
  if (func.isPrivate())
    return success();
  arguments.resize(func.getNumArguments());
  results.resize(func.getNumResults());
  for (auto [i, mesh] : llvm::enumerate(arguments))
    if (failed(readValue(func.getArgAttrDict(i), func.getArgument(i).getLoc(), mesh)))
      return failure();
  for (auto [i, mesh] : llvm::enumerate(results))
    if (failed(readValue(func.getResultAttrDict(i), func.getLoc(), mesh)))
      return failure();
  return verifyNotCalled();
}

LogicalResult BoundaryOrder::verifyNotCalled() {
  FlatSymbolRefAttr reordered;
  for (FlatSymbolRefAttr mesh : llvm::concat<FlatSymbolRefAttr>(arguments, results))
    if (!reordered)
      reordered = mesh;
  if (!reordered)
    return success();
  auto uses = SymbolTable::getSymbolUses(func, func->getParentOfType<ModuleOp>());
  for (const SymbolTable::SymbolUse &use : uses.value_or(SymbolTable::UseRange({})))
    if (auto call = dyn_cast<func::CallOp>(use.getUser()))
      return call.emitError() << "mesh " << reordered << " of public function @" << func.getSymName()
                              << " lists the devices in another order than mesh " << meshes.getFirstName()
                              << ", expected one order in a function that is called, or --inline";
  return success();
}

FailureOr<ShardingAttr> BoundaryOrder::express(ShardingAttr attr, FlatSymbolRefAttr mesh, Location loc) {
  FailureOr<Sharding> sharding = meshes.read(attr, [&] { return emitError(loc); });
  if (failed(sharding))
    return failure();
  if (llvm::all_of(sharding->dims, [](const DimSharding &dim) { return deviceFactor(dim.entries) == 1; }))
    return ShardingAttr();
  return meshes.getAttr(*sharding, mesh);
}

LogicalResult BoundaryOrder::apply() {
  SignatureAttrs signature(func);
  OpBuilder b(func.getContext());
  bool isChanged = false;
  auto move = [&](Value value, NamedAttrList &attrs, ShardingAttr from, ShardingAttr to) -> Value {
    return CollectivePermuteOp::create(b, value.getLoc(), value.getType(), value,
                                       cast<TypeAttr>(attrs.get(kGlobalTypeAttr)), from, to, IntegerAttr());
  };
  for (auto [i, mesh] : llvm::enumerate(arguments)) {
    NamedAttrList &attrs = signature.arg(i);
    auto attr = dyn_cast_or_null<ShardingAttr>(attrs.get(kShardingAttr));
    if (!mesh || !attr)
      continue;
    BlockArgument argument = func.getArgument(i);
    FailureOr<ShardingAttr> there = express(attr, mesh, argument.getLoc());
    if (failed(there))
      return failure();
    if (!*there)
      continue;
    isChanged = true;
    attrs.set(kShardingAttr, *there);
    b.setInsertionPointToStart(&func.getBody().front());
    Value moved = move(argument, attrs, *there, attr);
    argument.replaceAllUsesExcept(moved, moved.getDefiningOp());
  }
  for (auto [i, mesh] : llvm::enumerate(results)) {
    NamedAttrList &attrs = signature.result(i);
    auto attr = dyn_cast_or_null<ShardingAttr>(attrs.get(kShardingAttr));
    if (!mesh || !attr)
      continue;
    FailureOr<ShardingAttr> there = express(attr, mesh, func.getLoc());
    if (failed(there))
      return failure();
    if (!*there)
      continue;
    isChanged = true;
    attrs.set(kShardingAttr, *there);
    for (Block &block : func.getBody())
      if (auto end = dyn_cast<func::ReturnOp>(block.getTerminator())) {
        b.setInsertionPoint(end);
        end->setOperand(i, move(end.getOperand(i), attrs, attr, *there));
      }
  }
  if (isChanged)
    signature.write();
  return success();
}
