//===- DeviceOrders.cpp - Meshes that list the devices differently --------===//

#include "shardkit/Proof/DeviceOrders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using namespace mlir::spmd::proof;

const DeviceOrders::Order *DeviceOrders::find(const Mesh &mesh) const {
  auto it = llvm::find_if(orders, [&](const Order &order) { return order.mesh.sameDevices(mesh); });
  return it == orders.end() ? nullptr : &*it;
}

llvm::SmallVector<DeviceOrders::Digit, 4> DeviceOrders::getDigits(const Mesh &mesh) const {
  // The rank on the first mesh by the rank on this one.
  int64_t count = mesh.numDevices();
  llvm::SmallVector<int64_t> rankOf(count), ranks;
  for (int64_t rank = 0; rank < count; ++rank)
    rankOf[orders.front().mesh.device(rank)] = rank;
  for (int64_t rank = 0; rank < count; ++rank)
    ranks.push_back(rankOf[mesh.device(rank)]);
  llvm::SmallVector<Digit, 4> digits;
  for (int64_t lo = 1; lo < count;) {
    int64_t step = ranks[lo], size = 2;
    while (size * lo < count && ranks[size * lo] == size * step)
      ++size;
    while ((count / lo) % size)
      --size;
    if (size == 1)
      return {};
    digits.push_back({lo, size, step});
    lo *= size;
  }
  for (int64_t rank = 0; rank < count; ++rank) {
    int64_t sum = 0;
    for (const Digit &digit : digits)
      sum += rank / digit.lo % digit.size * digit.newLo;
    if (sum != ranks[rank])
      return {};
  }
  return digits;
}

void DeviceOrders::setCommonDigits(Order &order) const {
  const Mesh &mesh = order.mesh;
  int64_t count = mesh.numDevices(), lo = 1;
  llvm::SmallVector<int64_t> rankOf(count);
  for (int64_t rank = 0; rank < count; ++rank)
    rankOf[orders.front().mesh.device(rank)] = rank;
  llvm::SmallVector<Digit, 4> digits;
  for (const MeshAxis &axis : llvm::reverse(mesh.axes)) {
    if (axis.size == 1)
      continue;
    int64_t newLo = order.stride * lo, other = 1;
    for (const MeshAxis &first : llvm::reverse(orders.front().mesh.axes)) {
      auto isSame = [&](int64_t rank) {
        return rank / lo % axis.size == rankOf[mesh.device(rank)] / other % axis.size;
      };
      if (first.size == axis.size && llvm::all_of(llvm::seq<int64_t>(0, count), isSame))
        newLo = other;
      other *= first.size;
    }
    Digit *last = digits.empty() ? nullptr : &digits.back();
    if (last && last->newLo * last->size == newLo)
      last->size *= axis.size;
    else
      digits.push_back({lo, axis.size, newLo});
    lo *= axis.size;
  }
  order.digits = digits;
}

/// True if the devices are all from 0 on.
static bool hasAllDevices(const Mesh &mesh) {
  llvm::SmallVector<int64_t> devices(mesh.deviceIds.begin(), mesh.deviceIds.end());
  llvm::sort(devices);
  return llvm::equal(devices, llvm::seq<int64_t>(0, devices.size()));
}

bool DeviceOrders::setOwn(Order &order) {
  if (order.stride == 0) {
    if (numOrders >= kMaxOrders || order.mesh.numDevices() >= kOrderStride)
      return false;
    order.stride = 1;
    for (int64_t k = 0; k < numOrders; ++k)
      order.stride *= kOrderStride;
    ++numOrders;
  }
  order.digits.assign(1, {1, order.mesh.numDevices(), order.stride});
  return true;
}

bool DeviceOrders::add(const Mesh &mesh) {
  int64_t count = mesh.numDevices();
  auto known = llvm::find_if(orders, [&](const Order &order) { return order.mesh.sameDevices(mesh); });
  if (known != orders.end()) {
    // The axes of a view may divide the digits of another one.
    int64_t stride = 1;
    for (const MeshAxis &axis : llvm::reverse(mesh.axes)) {
      llvm::SmallVector<Digit> pieces;
      if (axis.size > 1 && !split({stride, axis.size}, *known, pieces))
        return setOwn(*known);
      stride *= axis.size;
    }
    return true;
  }
  Order order{mesh, {}};
  if (orders.empty()) {
    order.digits.push_back({1, count, 1});
    order.stride = 1;
    numOrders = 1;
    orders.push_back(order);
    return true;
  }
  if (count != orders.front().mesh.numDevices() || !hasAllDevices(mesh) || !hasAllDevices(orders.front().mesh))
    return false;
  order.digits = getDigits(mesh);
  if (order.digits.empty()) {
    if (!setOwn(order))
      return false;
    setCommonDigits(order);
  }
  orders.push_back(order);
  return true;
}

bool DeviceOrders::split(const RankDigit &rank, const Order &order, llvm::SmallVectorImpl<Digit> &pieces) const {
  for (const Digit &digit : order.digits) {
    int64_t lo = std::max(rank.stride, digit.lo), hi = std::min(rank.stride * rank.size, digit.lo * digit.size);
    if (lo >= hi)
      continue;
    if (lo % digit.lo || lo % rank.stride || hi % lo || (digit.lo * digit.size) % hi || (rank.stride * rank.size) % hi)
      return false;
    pieces.push_back({lo, hi / lo, digit.newLo * (lo / digit.lo)});
  }
  return true;
}

std::optional<IndexForm> DeviceOrders::translate(const IndexForm &form, const Mesh &mesh) const {
  const Order *order = find(mesh);
  if (!order)
    return std::nullopt;
  if (order == &orders.front())
    return form;
  llvm::SmallVector<IndexForm::Renamed, 4> map;
  for (const Digit &digit : order->digits)
    map.push_back({IndexTerm::Kind::Rank, 0, digit.lo, digit.size, IndexTerm::Kind::Rank, 0, digit.newLo});
  return form.rename(map);
}

std::optional<llvm::SmallVector<RankDigit, 2>> DeviceOrders::translate(llvm::ArrayRef<RankDigit> ranks,
                                                                       const Mesh &mesh) const {
  const Order *order = find(mesh);
  if (order && order == &orders.front())
    return llvm::SmallVector<RankDigit, 2>(ranks.begin(), ranks.end());
  llvm::SmallVector<RankDigit, 2> result;
  int64_t count = 1;
  for (const RankDigit &rank : ranks) {
    llvm::SmallVector<Digit> pieces;
    if (!order || !split(rank, *order, pieces))
      return std::nullopt;
    for (const Digit &piece : llvm::reverse(pieces))
      result.push_back({piece.newLo, piece.size});
    count *= rank.size;
  }
  // All devices are all devices in any order.
  if (order && count == order->mesh.numDevices() && count > 1)
    result.assign(1, {1, count});
  return result;
}

bool DeviceOrders::translate(Layout &layout, const Mesh &mesh) const {
  const Order *order = find(mesh);
  if (!order)
    return false;
  if (order == &orders.front())
    return true;
  llvm::SmallVector<spmd::Digit, 4> digits;
  for (const spmd::Digit &digit : layout.digits) {
    llvm::SmallVector<Digit> pieces;
    if (!split({digit.stride, digit.size()}, *order, pieces))
      return false;
    for (const Digit &piece : pieces) {
      int64_t lo = digit.lo * (piece.lo / digit.stride);
      digits.push_back({lo, lo * piece.size, piece.newLo});
    }
  }
  coalesce(digits);
  layout.digits = digits;
  for (UnevenDim &dim : layout.uneven) {
    llvm::SmallVector<RankDigit, 2> ranks;
    for (const RankDigit &rank : dim.ranks) {
      llvm::SmallVector<Digit> pieces;
      if (!split(rank, *order, pieces))
        return false;
      for (const Digit &piece : llvm::reverse(pieces))
        ranks.push_back({piece.newLo, piece.size});
    }
    dim.ranks = ranks;
  }
  std::optional<llvm::SmallVector<RankDigit, 2>> partial = translate(layout.partial, mesh);
  if (!partial)
    return false;
  layout.partial = *partial;
  coalesce(layout.partial);
  return true;
}
