//===- DeviceOrders.h - Meshes that list the devices differently -*- C++ -*-===//
//
// A digit of the rank on one mesh is digits of the rank on another, if the meshes list the
// devices in orders that only regroup digits. Otherwise the ranks on both are numbers of
// their own: the rank on order k has the digits from `kOrderStride` to the power of k on, and
// digits of two orders are taken to overlap.
//
//   <["x"=2, "y"=2]>                          rank 2 x + y
//   <["p"=2, "q"=2], device_ids=[0,2,1,3]>    p is y, and q is x
//   <["all"=4], device_ids=[1,2,3,0]>         an order of its own
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PROOF_DEVICEORDERS_H
#define SHARDKIT_PROOF_DEVICEORDERS_H

#include "shardkit/Proof/IndexForm.h"
#include <deque>

namespace mlir::spmd::proof {

class DeviceOrders {
public:
  /// Adds the order of a mesh; the first one is that of the ranks. False if it has other devices than the first one, or
  /// if there are more than `kMaxOrders` orders.
  bool add(const Mesh &mesh);
  /// True if some order has ranks of its own.
  bool areSeveral() const { return numOrders > 1; }

  /// Digits of the rank on `mesh` as digits of the ranks. std::nullopt where they cross, or if the mesh was not added.
  std::optional<IndexForm> translate(const IndexForm &form, const Mesh &mesh) const;
  std::optional<llvm::SmallVector<RankDigit, 2>> translate(llvm::ArrayRef<RankDigit> ranks, const Mesh &mesh) const;
  /// False as above.
  bool translate(Layout &layout, const Mesh &mesh) const;

private:
  /// Digits [lo, lo * size) of the rank on a mesh are digits from `newLo` on.
  struct Digit {
    int64_t lo, size, newLo;
  };
  struct Order {
    Mesh mesh;
    llvm::SmallVector<Digit, 4> digits; ///< Minor to major.
    int64_t stride = 0;                 ///< The stride of the digits of its own; 0: it has none.
  };
  const Order *find(const Mesh &mesh) const;
  /// The digits that the order of a mesh regroups; empty if it is not one of these.
  llvm::SmallVector<Digit, 4> getDigits(const Mesh &mesh) const;
  /// Makes the rank of an order a number of its own. False if there are too many.
  bool setOwn(Order &order);
  /// The coordinate along an axis of such an order may be one along an axis of the first mesh.
  void setCommonDigits(Order &order) const;
  /// Minor to major. False if digits cross.
  bool split(const RankDigit &rank, const Order &order, llvm::SmallVectorImpl<Digit> &pieces) const;

  std::deque<Order> orders;
  int64_t numOrders = 0;
};

} // namespace mlir::spmd::proof

#endif // SHARDKIT_PROOF_DEVICEORDERS_H
