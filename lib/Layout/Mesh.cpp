//===- Mesh.cpp -----------------------------------------------------------===//

#include "shardkit/Layout/Mesh.h"
#include "shardkit/Layout/Sharding.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>

using namespace mlir::spmd;

int64_t Mesh::numDevices() const {
  int64_t n = 1;
  for (const MeshAxis &axis : axes)
    n *= axis.size;
  return n;
}

int64_t Mesh::axisStride(unsigned i) const {
  int64_t stride = 1;
  for (unsigned j = i + 1; j < axes.size(); ++j)
    stride *= axes[j].size;
  return stride;
}

std::optional<unsigned> Mesh::findAxis(llvm::StringRef axisName) const {
  for (unsigned i = 0; i < axes.size(); ++i)
    if (axes[i].name == axisName)
      return i;
  return std::nullopt;
}

bool Mesh::sameDevices(const Mesh &other) const {
  int64_t n = numDevices();
  if (n != other.numDevices())
    return false;
  if (deviceIds.empty() && other.deviceIds.empty())
    return true;
  for (int64_t rank = 0; rank < n; ++rank)
    if (device(rank) != other.device(rank))
      return false;
  return true;
}

std::string Mesh::axesToString() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (unsigned i = 0; i < axes.size(); ++i) {
    os << (i ? ", \"" : "\"");
    os.write_escaped(axes[i].name);
    os << "\"=" << axes[i].size;
  }
  return text;
}

static std::optional<ShardingError> verifyCosts(llvm::ArrayRef<double> costs, const Mesh &mesh, const char *what) {
  if (costs.empty())
    return std::nullopt;
  if (costs.size() != mesh.axes.size())
    return ShardingError{"cost_count", std::string(what) + " has " + std::to_string(costs.size()) +
                                           " entries, expected one for each of the " +
                                           std::to_string(mesh.axes.size()) + " axes"};
  for (double cost : costs)
    if (!(cost > 0))
      return ShardingError{"cost_not_positive", std::string(what) + " has an entry that is not positive, expected "
                                                                    "seconds greater than 0"};
  return std::nullopt;
}

std::optional<ShardingError> mlir::spmd::verifyMesh(const Mesh &mesh) {
  int64_t devices = 1;
  for (unsigned i = 0; i < mesh.axes.size(); ++i) {
    const MeshAxis &axis = mesh.axes[i];
    if (axis.name.empty())
      return ShardingError{"axis_name", "axis " + std::to_string(i) +
                                            " has an empty name, expected a "
                                            "distinct name for each axis"};
    if (*mesh.findAxis(axis.name) != i)
      return ShardingError{"axis_name", "axis name \"" + axis.name +
                                            "\" is used twice, expected a distinct name "
                                            "for each axis"};
    if (axis.size < 1)
      return ShardingError{"axis_size", "axis \"" + axis.name + "\" has size " + std::to_string(axis.size) +
                                            ", expected a positive size"};
    if (llvm::MulOverflow(devices, axis.size, devices) || devices > std::numeric_limits<int32_t>::max())
      return ShardingError{"axis_size", "the mesh has more than 2147483647 devices, expected smaller axes"};
  }
  if (!mesh.deviceIds.empty()) {
    if (static_cast<int64_t>(mesh.deviceIds.size()) != devices)
      return ShardingError{"device_count", "device_ids has " + std::to_string(mesh.deviceIds.size()) +
                                               " entries, expected " + std::to_string(devices) + " for axes " +
                                               mesh.axesToString()};
    llvm::DenseSet<int64_t> seen;
    for (int64_t id : mesh.deviceIds) {
      if (id < 0)
        return ShardingError{"device_negative",
                             "device id " + std::to_string(id) + " is negative, expected ids from 0"};
      if (!seen.insert(id).second)
        return ShardingError{"device_repeated", "device id " + std::to_string(id) +
                                                    " occurs twice, expected distinct ids (a "
                                                    "repeated device is a strided sharding)"};
    }
  }
  if (auto error = verifyCosts(mesh.alpha, mesh, "alpha"))
    return error;
  if (auto error = verifyCosts(mesh.beta, mesh, "beta"))
    return error;
  if (mesh.flops && !(*mesh.flops > 0))
    return ShardingError{"cost_not_positive", "flops is not positive, expected a positive rate"};
  if (mesh.bandwidth && !(*mesh.bandwidth > 0))
    return ShardingError{"cost_not_positive", "bandwidth is not positive, expected a positive rate"};
  if (mesh.memory && *mesh.memory <= 0)
    return ShardingError{"cost_not_positive", "memory is not positive, expected bytes per device"};
  return std::nullopt;
}
