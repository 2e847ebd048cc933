//===- ClosedForm.cpp - Collectives as nested loops -----------------------===//

#include "shardkit/Dialect/SPMD/IR/ClosedForm.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Layout/MeshTransfer.h"
#include "shardkit/Layout/MeshViews.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::spmd;

SmallVector<RankDigit, 2> ClosedForm::getDigits() const {
  if (isReordered())
    return {{1, devices}};
  SmallVector<RankDigit, 2> digits(group);
  llvm::append_range(digits, transfer.spread);
  for (const TransferAtom &atom : transfer.atoms) {
    if (atom.srcIsRank)
      digits.push_back({atom.srcStride, atom.size});
    if (atom.dstIsRank)
      digits.push_back({atom.dstStride, atom.size});
  }
  for (const TransferSegment &segment : transfer.segments)
    for (const auto *side : {&segment.src, &segment.dst})
      for (const TransferDigit &digit : *side)
        if (digit.isRank)
          digits.push_back({digit.stride, digit.size});
  llvm::erase_if(digits, [](const RankDigit &digit) { return digit.size <= 1; });
  joinRanks(digits);
  return digits;
}

SmallVector<SmallVector<int64_t>> ClosedForm::getDeviceGroups() const {
  return spmd::getDeviceGroups(getDigits(), devices);
}

SmallVector<SmallVector<int64_t>> spmd::getDeviceGroups(ArrayRef<RankDigit> digits, int64_t devices) {
  llvm::MapVector<int64_t, SmallVector<int64_t>> groups; // by their first rank
  for (int64_t rank = 0; rank < devices; ++rank) {
    int64_t first = rank;
    for (const RankDigit &digit : digits)
      first -= rank / digit.stride % digit.size * digit.stride;
    groups[first].push_back(rank);
  }
  SmallVector<SmallVector<int64_t>> result;
  for (auto &[first, ranks] : groups)
    result.push_back(std::move(ranks));
  return result;
}

/// The move between two orders of the devices. Ranks are those of the mesh of the function, by default of the source.
static LogicalResult moveBetweenOrders(CollectiveOpInterface op, const MeshCache &meshes, const Mesh &fromMesh,
                                       const Mesh &toMesh, ClosedForm &form) {
  auto func = op->getParentOfType<FunctionOpInterface>();
  auto name = func ? func->getAttrOfType<FlatSymbolRefAttr>(kRankMeshAttr) : FlatSymbolRefAttr();
  const Mesh *mesh = name ? meshes.lookup(name) : &fromMesh;
  std::optional<Transfer> transfer = computeMeshTransfer(form.from, form.devices, form.to, form.devices);
  if (!transfer || !mesh)
    return op.emitError() << "is a reduction between meshes @" << fromMesh.name << " and @" << toMesh.name
                          << ", which list the devices in different orders, expected one order";
  if (!fromMesh.sameDevices(*mesh))
    form.sourceOrder = *rankOrder(fromMesh, *mesh);
  if (!toMesh.sameDevices(*mesh))
    form.destinationOrder = *rankOrder(toMesh, *mesh);
  form.transfer = std::move(*transfer);
  form.group.push_back({1, form.devices});
  return success();
}

FailureOr<ClosedForm> spmd::getClosedForm(CollectiveOpInterface op, const MeshCache &meshes) {
  auto emit = [&] { return op.emitError(); };
  const Mesh *fromMesh = meshes.lookupOrEmit(op.getFromMesh(), emit);
  const Mesh *toMesh = meshes.lookupOrEmit(op.getToMesh(), emit);
  ClosedForm form;
  if (!fromMesh || !toMesh || failed(op.getLayouts(*fromMesh, *toMesh, form.from, form.to)))
    return failure();
  form.kind = op.getKind();
  form.reduction = op.getReduction();
  form.inElements = form.from.numLocalElements();
  form.outElements = form.to.numLocalElements();
  form.devices = fromMesh->numDevices();
  if (!fromMesh->sameDevices(*toMesh)) {
    // Ranks are those of the source mesh.
    ShardingError error;
    std::optional<MeshViews> views = MeshViews::get({fromMesh, toMesh}, error);
    if (views && views->isReordered(1)) {
      if (failed(moveBetweenOrders(op, meshes, *fromMesh, *toMesh, form)))
        return failure();
      return form;
    }
    std::optional<Sharding> target = form.to.toSharding(*toMesh);
    if (views && target)
      target = views->toCommon(*target, 1);
    if (!views || !target)
      return op.emitError() << "meshes @" << fromMesh->name << " and @" << toMesh->name
                            << " do not list the same devices in orders that permute axes, "
                               "expected views of one mesh";
    form.to = Layout::get(*target, views->getCommon(), form.to.shape);
  }
  removeCommonDigits(form.from, form.to);
  std::optional<Transfer> transfer = computeTransfer(form.from, form.to);
  if (!transfer)
    return op.emitError("the partial ranks of this collective are not rank digits, "
                        "expected axes or sub-axes");
  form.transfer = std::move(*transfer);
  form.group = form.reduction ? form.transfer.reduce : getMovedRanks(form.from, form.to);
  return form;
}
