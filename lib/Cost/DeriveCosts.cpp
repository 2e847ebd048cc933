//===- DeriveCosts.cpp - Link costs from the bandwidths of hosts ----------===//

#include "shardkit/Cost/DeriveCosts.h"
#include "shardkit/Cost/CostModel.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDDERIVECOSTSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

SmallVector<double> spmd::getBetas(const Mesh &mesh, const HostLinks &links) {
  int64_t devices = mesh.numDevices();
  int64_t hosts = 1;
  for (int64_t rank = 0; rank < devices; ++rank)
    hosts = std::max(hosts, mesh.device(rank) / links.devicesPerHost + 1);
  SmallVector<double> betas;
  for (unsigned a = 0; a < mesh.axes.size(); ++a) {
    int64_t size = mesh.axes[a].size, stride = mesh.axisStride(a);
    // How many groups send over a link at once: out of a host, into it; for rings over
    // the link from host h to the next, and back.
    std::vector<int64_t> out(hosts, 0), in(hosts, 0);
    auto add = [&](std::vector<int64_t> &changes, int64_t begin, int64_t length) {
      // A stretch of links, around the end; as differences.
      ++changes[begin];
      if (begin + length < hosts) {
        --changes[begin + length];
      } else if (begin + length > hosts) {
        ++changes[0];
        --changes[begin + length - hosts];
      }
    };
    for (int64_t rank = 0; size > 1 && rank < devices; ++rank) {
      int64_t place = rank / stride % size;
      int64_t next = rank + (place + 1 == size ? -place : 1) * stride;
      int64_t from = mesh.device(rank) / links.devicesPerHost;
      int64_t to = mesh.device(next) / links.devicesPerHost;
      if (from == to)
        continue;
      if (links.topology == HostTopology::Tree) {
        ++out[from];
        ++in[to];
        continue;
      }
      // The shorter way round; of two equal ones the way up.
      int64_t up = (to - from + hosts) % hosts;
      if (2 * up <= hosts)
        add(out, from, up);
      else
        add(in, to, hosts - up);
    }
    int64_t most = 0;
    for (std::vector<int64_t> *load : {&out, &in}) {
      int64_t sum = 0;
      for (int64_t change : *load)
        most = std::max(most, sum = links.topology == HostTopology::Ring ? sum + change : change);
    }
    betas.push_back(std::max(1 / links.intra, most / links.inter));
  }
  return betas;
}

FailureOr<HostLinks> spmd::readHostLinks(MeshOp op) {
  auto attr = op->getAttrOfType<DictionaryAttr>(kHostsAttr);
  auto error = [&]() {
    return op.emitOpError() << kHostsAttr << " is " << op->getAttr(kHostsAttr)
                            << ", expected {devices_per_host = N : i64, inter = BYTES_PER_SECOND : f64, "
                               "intra = BYTES_PER_SECOND : f64, topology = \"tree\" or \"ring\"}";
  };
  if (!attr || attr.size() != 4)
    return error();
  auto devices = attr.getAs<IntegerAttr>("devices_per_host");
  auto intra = attr.getAs<FloatAttr>("intra"), inter = attr.getAs<FloatAttr>("inter");
  auto topology = attr.getAs<StringAttr>("topology");
  if (!devices || !intra || !inter || !topology || (topology != "tree" && topology != "ring"))
    return error();
  HostLinks links{devices.getInt(), intra.getValueAsDouble(), inter.getValueAsDouble(),
                  topology == "tree" ? HostTopology::Tree : HostTopology::Ring};
  if (links.devicesPerHost <= 0)
    return op.emitOpError() << "has " << links.devicesPerHost << " devices per host, expected a positive number";
  for (auto [name, bandwidth] : {std::pair("intra", links.intra), std::pair("inter", links.inter)})
    if (!(bandwidth > 0) || !std::isfinite(bandwidth))
      return op.emitOpError() << name << "-host bandwidth is " << bandwidth
                              << ", expected a positive number of bytes per second";
  return links;
}

void spmd::writeHostLinks(MeshOp op, const HostLinks &links) {
  Builder b(op.getContext());
  bool isTree = links.topology == HostTopology::Tree;
  op->setAttr(kHostsAttr,
              b.getDictionaryAttr({b.getNamedAttr("devices_per_host", b.getI64IntegerAttr(links.devicesPerHost)),
                                   b.getNamedAttr("intra", b.getF64FloatAttr(links.intra)),
                                   b.getNamedAttr("inter", b.getF64FloatAttr(links.inter)),
                                   b.getNamedAttr("topology", b.getStringAttr(isTree ? "tree" : "ring"))}));
}

LogicalResult spmd::deriveCosts(MeshOp op) {
  auto links = readHostLinks(op);
  if (failed(links))
    return failure();
  op.setBetaAttr(Builder(op.getContext()).getF64ArrayAttr(getBetas(toMesh(op), *links)));
  return success();
}

void spmd::remarkDefaultCosts(func::FuncOp func, const Mesh &costs) {
  if (!costs.alpha.empty() && !costs.beta.empty())
    return;
  remark::analysis(func.getLoc(), remark::RemarkOpts::name("default-cost").category("spmd").function(func.getName()))
      << remark::add("mesh @{0} has no link costs: alpha = {1:E1} s, beta = {2:E1} "
                     "s/byte on every axis",
                     costs.name, CostModel::kDefaultAlpha, CostModel::kDefaultBeta)
      << remark::suggest("give the mesh alpha and beta");
}

namespace {
struct DeriveCostsPass : public spmd::impl::SPMDDeriveCostsPassBase<DeriveCostsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto op : module.getOps<MeshOp>()) {
      if (op.getBeta())
        continue;
      if (!op->hasAttr(kHostsAttr))
        writeHostLinks(op, {devicesPerHost, intraHost, interHost, topology});
      if (failed(deriveCosts(op)))
        return signalPassFailure();
    }
  }
};
} // namespace
