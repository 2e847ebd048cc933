//===- AutoStages.cpp - Automatic stages ----------------------------------===//

#include "shardkit/Stages/AutoStages.h"

#include "shardkit/AutoSharding/ModuleSearch.h"
#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Cost/LiveBuffers.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Passes.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Stages/StageFunctions.h"
#include "shardkit/Stages/StageSearch.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <numeric>
#include <set>

using namespace mlir;
using namespace mlir::spmd;

static constexpr size_t kMaxCandidates = 128;
/// Work of the solver for a stage on one shape.
static constexpr double kSearchWork = 4e8;
/// The number of consecutive equal layers that are searched together.
static constexpr int64_t kMaxRepeats = 3;

static int64_t getTensorBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return 0;
  return type.getNumElements() * getElementBytes(type.getElementType());
}

/// The forward ops, in order, of a function in one stage.
static SmallVector<Operation *> getForwardOps(func::FuncOp func, const Stages &stages) {
  SmallVector<Operation *> ops;
  for (Operation &op : func.getBody().front()) {
    if (&op == stages.getFirstBackward())
      break;
    const StageAssignment *assigned = stages.get(&op);
    if (assigned && assigned->fragment == StageFragment::Forward)
      ops.push_back(&op);
  }
  return ops;
}

SmallVector<Operation *> spmd::getStageCandidates(func::FuncOp func, const Microbatches &microbatches,
                                                  const Stages &stages) {
  SmallVector<Operation *> candidates;
  for (auto boundary : func.getBody().front().getOps<StageBoundaryOp>())
    if (boundary.getCandidate() && !boundary.getBackward())
      candidates.push_back(boundary);
  if (!candidates.empty())
    return candidates;
  SmallVector<Operation *> ops = getForwardOps(func, stages);
  llvm::DenseMap<Operation *, int64_t> number;
  for (auto [i, op] : llvm::enumerate(ops))
    number[op] = i;
  // Bytes that cross after each op, as differences.
  std::vector<int64_t> crossing(ops.size() + 1, 0);
  for (auto [i, op] : llvm::enumerate(ops))
    for (Value value : op->getResults()) {
      int64_t last = i;
      for (Operation *user : value.getUsers()) {
        while (user && user->getBlock() != op->getBlock())
          user = user->getParentOp();
        if (auto it = number.find(user); it != number.end())
          last = std::max(last, it->second);
      }
      crossing[i] += getTensorBytes(value) * (last > int64_t(i));
      crossing[last] -= getTensorBytes(value) * (last > int64_t(i));
    }
  for (size_t i = 1; i < crossing.size(); ++i)
    crossing[i] += crossing[i - 1];
  // The first of each run of points that are crossed by less than those around it.
  SmallVector<std::pair<int64_t, int64_t>> points;
  for (int64_t i = 0; i + 1 < int64_t(ops.size()); ++i) {
    int64_t end = i;
    while (end + 1 < int64_t(ops.size()) && crossing[end + 1] == crossing[i])
      ++end;
    bool isMinimum =
        (i == 0 || crossing[i - 1] > crossing[i]) && end + 1 < int64_t(ops.size()) && crossing[end + 1] > crossing[i];
    if (isMinimum && crossing[i] > 0)
      points.push_back({crossing[i], i});
    i = end;
  }
  llvm::sort(points);
  if (points.size() > kMaxCandidates)
    points.resize(kMaxCandidates);
  llvm::sort(points, llvm::less_second());
  for (auto [bytes, i] : points)
    candidates.push_back(ops[i]);
  return candidates;
}

FailureOr<SmallVector<Operation *>> spmd::chooseUniformSplitPoints(func::FuncOp func, const Microbatches &microbatches,
                                                                   const Stages &stages, int64_t count) {
  SmallVector<Operation *> candidates = getStageCandidates(func, microbatches, stages);
  if (int64_t(candidates.size()) + 1 < count)
    return func.emitError() << "the function has " << candidates.size()
                            << " candidates for stage boundaries, expected at least " << count - 1 << " for " << count
                            << " stages";
  // Compute up to each candidate.
  Mesh mesh;
  SmallVector<double> before;
  double total = 0;
  size_t next = 0;
  for (Operation &op : func.getBody().front()) {
    const StageAssignment *assigned = stages.get(&op);
    if (&op == stages.getFirstBackward())
      break;
    if (assigned && assigned->fragment == StageFragment::Forward)
      total += getComputeSeconds(&op, mesh, kDefaultTripCount);
    if (next < candidates.size() && candidates[next] == &op) {
      before.push_back(total);
      ++next;
    }
  }
  SmallVector<Operation *> splitPoints;
  size_t first = 0;
  for (int64_t k = 1; k < count; ++k) {
    // Leave as many candidates as there are remaining split points.
    size_t last = candidates.size() - (count - 1 - k), best = first;
    for (size_t i = first; i < last; ++i)
      if (std::abs(before[i] - total * k / count) < std::abs(before[best] - total * k / count))
        best = i;
    splitPoints.push_back(candidates[best]);
    first = best + 1;
  }
  return splitPoints;
}

//===----------------------------------------------------------------------===//
// Automatic stages
//===----------------------------------------------------------------------===//

namespace {

/// Searches the stages of a function, their devices and the shapes of their meshes.
///
/// Example: three candidates split a function into the layers A m m B, on a cluster of 4 devices.
///
///   1. readCluster: stages run on submeshes of 1, 2 or 4 devices.
///   2. findAxes: "data" and "model", which the user names. Submesh 2 has the shapes 2x1 and 1x2.
///   3. classifyLayers: A, m, m, B have the classes 0, 1, 1, 2, so that both m are evaluated once.
///   4. searchStages (StageSearch.h) finds a plan with lower bounds of the costs, for instance [A m] on 2
///      and [m B] on 2 devices. getBest evaluates these stages: --spmd-auto-shard on each shape.
///   5. With the exact costs the search is repeated, until all stages of its plan are evaluated.
class StageChooser {
public:
  StageChooser(func::FuncOp func, const Microbatches &microbatches, const Stages &single,
               const AutoStageOptions &options)
      : func(func), microbatches(microbatches), options(options), cluster(toMesh(options.cluster)),
        candidates(getStageCandidates(func, microbatches, single)) {}

  FailureOr<AutoStages> run();

private:
  /// A stage on one logical shape.
  struct Shape {
    Mesh mesh;
    double seconds = 0;          // for a microbatch
    int64_t peak = 0, saved = 0; // bytes: at most, and per further microbatch in flight
  };

  /// Submeshes are 1, 2, 4, ... devices of a host, or whole hosts. The cluster's first
  /// axis counts hosts where it has several.
  LogicalResult readCluster();
  void findAxes();

  /// Classifies layers independently of their position: by ops, types, attributes and operands.
  LogicalResult classifyLayers();

  /// Finds a lower bound on the time of each layer on each submesh: the computation of its ops,
  /// on as many devices of some shape as axes or sub-axes divide its loops. Axes that the user
  /// names shard any loop, with padding.
  void findMinSeconds(const Stages &stages);

  /// All ways to write n as a product over the axes, major axes large first. Of shapes that
  /// differ only in the names of axes the first, if the user names no axes.
  std::vector<SmallVector<int64_t>> getShapes(int64_t n);

  /// Links inside of a host are those of the minor axis of the cluster, links between hosts
  /// those of its first axis.
  Mesh makeMesh(ArrayRef<int64_t> sizes);

  /// A range of layers on each shape of a submesh; std::nullopt if there are no layouts.
  using Shapes = std::vector<std::optional<Shape>>;

  /// The best shape of a stage; null if none fits.
  FailureOr<const Shape *> getBest(int64_t first, int64_t last, int64_t submesh, int64_t inFlight);

  /// A key that is equal for ranges of layers with equal costs.
  std::vector<int64_t> makeKey(int64_t first, int64_t last, int64_t submesh, int64_t inFlight);

  /// Layers that repeat cost the same each: a range A m...m B with r equal layers m is
  /// searched as A m, m B, m and m m, and costs
  ///   (A m) + (m B) - (m) + (r - 1) ((m m) - (m)).
  FailureOr<const Shapes *> getShapesOf(int64_t first, int64_t last, int64_t submesh);

  /// All shapes of a stage; with `inFlight`, what fits into memory.
  LogicalResult evaluate(int64_t first, int64_t last, int64_t submesh, Shapes &out, int64_t inFlight = 0);

  /// Searches the layouts of a stage; false where there are none. `inFlight`: within the
  /// memory of the mesh, that many microbatches under way.
  FailureOr<bool> solve(func::FuncOp stage, Shape &shape, int64_t inFlight);

  /// True if the axes of the batch divide each microbatch of the arguments and results, whose
  /// buffers hold all microbatches.
  bool splitsEvenly(func::FuncOp stage, const Mesh &mesh);

  /// Seconds to receive the values of other stages for a microbatch, each byte once, over links
  /// between hosts.
  double getTransferSeconds(func::FuncOp stage, const Mesh &mesh);

  /// Bytes of forward values that backward ops read, on one device.
  static int64_t getSavedBytes(func::FuncOp stage);

  /// As the memory report counts it: the partitioned stage.
  void measureMemory(func::FuncOp stage, const Mesh &mesh, Shape &shape);

  func::FuncOp func;
  const Microbatches &microbatches;
  const AutoStageOptions &options;
  Mesh cluster;
  SmallVector<Operation *> candidates;
  SmallVector<std::string> axes;
  llvm::StringSet<> named; // by axis resources and shardings
  int64_t perHost = 1;
  SmallVector<int64_t> submeshes;
  std::vector<int64_t> layerClass;
  /// Per submesh, a lower bound on the time of the layers before each, for a microbatch.
  std::vector<std::vector<double>> minSecondsBefore;
  /// By classes of layers, ends, submesh and microbatches in flight (0: without a limit).
  std::map<std::vector<int64_t>, Shapes> known;
};

FailureOr<AutoStages> StageChooser::run() {
  if (failed(readCluster()))
    return failure();
  findAxes();
  if (failed(classifyLayers()))
    return failure();
  StageProblem problem;
  problem.numLayers = candidates.size() + 1;
  problem.numDevices = cluster.numDevices();
  problem.numMicrobatches = microbatches.getCount();
  problem.submeshes = submeshes;
  if (options.numStages > 0)
    problem.numStages = options.numStages;
  // Layouts are searched only for the stages of the currently best plan. A stage that was not
  // searched has the time of its computation as a lower bound.
  std::map<std::array<int64_t, 4>, std::optional<double>> exact;
  auto cost = [&](int64_t first, int64_t last, int64_t submesh, int64_t inFlight) -> std::optional<double> {
    auto it = exact.find({first, last, submesh, inFlight});
    return it != exact.end() ? it->second : minSecondsBefore[submesh][last + 1] - minSecondsBefore[submesh][first];
  };
  std::string error;
  std::optional<StagePlan> plan;
  for (bool isKnown = false; !isKnown;) {
    plan = searchStages(problem, cost, error);
    if (!plan)
      return func.emitError() << error;
    isKnown = true;
    for (auto [s, stage] : llvm::enumerate(plan->stages)) {
      int64_t inFlight = std::min<int64_t>(microbatches.getCount(), plan->stages.size() - s);
      auto [it, isNew] = exact.try_emplace({stage.firstLayer, stage.lastLayer, stage.submesh, inFlight});
      if (!isNew)
        continue;
      isKnown = false;
      FailureOr<const Shape *> best = getBest(stage.firstLayer, stage.lastLayer, stage.submesh, inFlight);
      if (failed(best))
        return failure();
      if (*best)
        it->second = (*best)->seconds;
    }
  }
  AutoStages result;
  result.objective = plan->objective;
  int64_t device = 0;
  for (auto [s, stage] : llvm::enumerate(plan->stages)) {
    if (s > 0)
      result.splitPoints.push_back(candidates[stage.firstLayer - 1]);
    int64_t inFlight = std::min<int64_t>(microbatches.getCount(), plan->stages.size() - s);
    FailureOr<const Shape *> best = getBest(stage.firstLayer, stage.lastLayer, stage.submesh, inFlight);
    Mesh mesh = (*best)->mesh;
    mesh.deviceIds.clear();
    for (int64_t i = 0; i < submeshes[stage.submesh]; ++i)
      mesh.deviceIds.push_back(cluster.device(device++));
    result.meshes.push_back(std::move(mesh));
    result.seconds.push_back(stage.seconds);
  }
  return result;
}

LogicalResult StageChooser::readCluster() {
  int64_t devices = cluster.numDevices();
  perHost = devices;
  if (auto hosts = options.cluster->getAttrOfType<DictionaryAttr>(kHostsAttr)) {
    if (auto count = hosts.getAs<IntegerAttr>("devices_per_host"))
      perHost = count.getInt();
  } else if (cluster.axes.size() > 1) {
    perHost = devices / cluster.axes.front().size;
  }
  for (int64_t n = 1; n <= std::min(perHost, devices); n *= 2)
    submeshes.push_back(n);
  if (submeshes.back() != perHost)
    submeshes.push_back(perHost);
  for (int64_t n = 2 * perHost; n <= devices; n += perHost)
    submeshes.push_back(n);
  if (submeshes.back() != devices)
    submeshes.push_back(devices);
  return success();
}

void StageChooser::findAxes() {
  axes = options.axes;
  auto takeAxis = [&](StringRef axis) {
    if (named.insert(axis).second && options.axes.empty())
      axes.push_back(axis.str());
  };
  auto take = [&](Attribute attr) {
    if (auto resources = dyn_cast_or_null<AxisResourcesAttr>(attr))
      for (int64_t i = 0; i < resources.getNumEntries(); ++i)
        llvm::for_each(resources.getAxes(i), takeAxis);
    if (auto sharding = dyn_cast_or_null<ShardingAttr>(attr))
      sharding.walk([&](DimEntryAttr entry) { takeAxis(entry.getAxis()); });
  };
  auto takeAll = [&](DictionaryAttr attrs) {
    take(attrs ? attrs.get(kAxisResourcesAttr) : Attribute());
    take(attrs ? attrs.get(kShardingAttr) : Attribute());
  };
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    takeAll(func.getArgAttrDict(i));
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    takeAll(func.getResultAttrDict(i));
  func.walk([&](Operation *op) {
    if (auto constraint = dyn_cast<WithShardingConstraintOp>(op)) {
      take(constraint.getAxisResourcesAttr());
      take(constraint.getShardingAttr());
    }
    if (auto boundary = dyn_cast<StageBoundaryOp>(op))
      take(boundary.getAxisResourcesAttr());
  });
  if (!options.axes.empty())
    return;
  // In the order of the cluster where it has them; two at least.
  auto indexOf = [&](const std::string &name) {
    auto it = llvm::find_if(cluster.axes, [&](const MeshAxis &axis) { return axis.name == name; });
    return it - cluster.axes.begin();
  };
  llvm::stable_sort(axes, [&](const auto &a, const auto &b) { return indexOf(a) < indexOf(b); });
  for (const MeshAxis &axis : cluster.axes)
    if (axes.size() < 2 && !llvm::is_contained(axes, axis.name))
      axes.push_back(axis.name);
}

LogicalResult StageChooser::classifyLayers() {
  Microbatches copy = microbatches;
  FailureOr<Stages> stages = Stages::assign(func, copy, ArrayRef<Operation *>(candidates));
  if (failed(stages))
    return failure();
  std::vector<std::string> texts(candidates.size() + 1);
  llvm::DenseMap<Value, std::pair<int64_t, int64_t>> made; // layer, number in it
  std::vector<int64_t> count(texts.size(), 0);
  std::vector<llvm::DenseMap<Value, int64_t>> argumentNumbers(texts.size());
  llvm::DenseMap<Value, llvm::SmallSetVector<int64_t, 2>> computedOn; // by argument
  for (Operation &op : func.getBody().front())
    if (const StageAssignment *assigned = stages->get(&op); assigned && assigned->fragment != StageFragment::Apply)
      for (Value operand : Stages::getRead(&op))
        if (isa<BlockArgument>(operand) || copy.get(operand).kind == MicrobatchState::Same)
          for (Value source : stages->getSources(operand))
            computedOn[source].insert(assigned->stage);
  auto writeArgument = [&](llvm::raw_ostream &os, BlockArgument arg, int64_t layer) {
    auto [it, isNew] = argumentNumbers[layer].try_emplace(arg, argumentNumbers[layer].size());
    os << "a" << it->second;
    if (!isNew)
      return;
    os << ":" << arg.getType();
    for (StringRef name : {kAxisResourcesAttr, kShardingAttr, kSegmentsAttr})
      if (Attribute attr = func.getArgAttr(arg.getArgNumber(), name))
        os << "," << attr;
    // The other layers that contribute to its gradient.
    for (int64_t stage : computedOn[arg])
      if (stage != layer && stages->isTraining())
        os << ",s" << stage - layer;
  };
  for (Operation &op : func.getBody().front()) {
    const StageAssignment *assigned = stages->get(&op);
    if (!assigned)
      continue;
    int64_t layer = assigned->stage;
    llvm::raw_string_ostream os(texts[layer]);
    os << op.getName() << " " << toString(assigned->fragment) << " ";
    for (NamedAttribute attr : op.getAttrs())
      os << attr.getName().strref() << "=" << attr.getValue() << " ";
    for (Value operand : Stages::getRead(&op)) {
      if (auto it = made.find(operand); it != made.end())
        os << (layer - it->second.first) << "." << it->second.second << " ";
      else
        for (Value source : stages->getSources(operand))
          writeArgument(os, cast<BlockArgument>(source), layer);
      if (!made.contains(operand))
        if (Operation *same = operand.getDefiningOp())
          os << same->getName() << same->getAttrDictionary();
    }
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) { os << inner->getName() << inner->getAttrDictionary(); });
    for (Value result : op.getResults()) {
      os << ">" << result.getType() << " ";
      made[result] = {layer, count[layer]++};
    }
    os << ";";
  }
  llvm::StringMap<int64_t> classes;
  for (const std::string &text : texts)
    layerClass.push_back(classes.try_emplace(text, classes.size()).first->second);
  findMinSeconds(*stages);
  return success();
}

void StageChooser::findMinSeconds(const Stages &stages) {
  std::vector<std::vector<SmallVector<int64_t>>> shapes;
  for (int64_t devices : submeshes)
    shapes.push_back(getShapes(devices));
  // By class of layer, submesh and shape.
  std::map<int64_t, std::vector<std::vector<double>>> seconds;
  llvm::DenseMap<int64_t, int64_t> layerOf; // the first of its class
  for (auto [layer, layerKind] : llvm::enumerate(layerClass))
    if (layerOf.try_emplace(layerKind, layer).second)
      for (const auto &list : shapes)
        seconds[layerKind].emplace_back(list.size(), 0);
  for (Operation &op : func.getBody().front()) {
    const StageAssignment *assigned = stages.get(&op);
    if (!assigned || assigned->fragment == StageFragment::Apply)
      continue;
    int64_t layerKind = layerClass[assigned->stage];
    double alone = getComputeSeconds(&op, cluster, kDefaultTripCount);
    if (layerOf[layerKind] != assigned->stage || alone == 0)
      continue;
    ShardingRule rule = getShardingRule(&op);
    bool isLoop = op.getNumRegions() > 0 && !isa<linalg::LinalgOp>(op);
    auto getMaxSplit = [&](int64_t axis, int64_t size) {
      int64_t divisor = isLoop || named.contains(axes[axis]) ? size : 1;
      for (unsigned f = 0; f < rule.numFactors(); ++f) {
        int64_t loop = rule.factor(f).size;
        divisor = std::max(divisor, ShapedType::isDynamic(loop) ? size : std::gcd(size, loop));
      }
      return divisor;
    };
    for (auto [submesh, list] : llvm::enumerate(shapes))
      for (auto [i, sizes] : llvm::enumerate(list)) {
        double devices = 1;
        for (auto [axis, size] : llvm::enumerate(sizes))
          devices *= getMaxSplit(axis, size);
        seconds[layerKind][submesh][i] += alone / devices;
      }
  }
  minSecondsBefore.assign(submeshes.size(), {0});
  for (int64_t layerKind : layerClass)
    for (auto [submesh, list] : llvm::enumerate(minSecondsBefore))
      list.push_back(list.back() + *llvm::min_element(seconds[layerKind][submesh]));
}

std::vector<SmallVector<int64_t>> StageChooser::getShapes(int64_t n) {
  std::vector<SmallVector<int64_t>> shapes;
  SmallVector<int64_t> sizes(axes.size(), 1);
  std::set<std::vector<std::tuple<int64_t, double, double>>> seen;
  auto isNew = [&] {
    Mesh mesh = makeMesh(sizes);
    std::vector<std::tuple<int64_t, double, double>> links;
    for (auto [a, axis] : llvm::enumerate(mesh.axes))
      links.push_back({axis.size, mesh.alpha.empty() ? 0 : mesh.alpha[a], mesh.beta.empty() ? 0 : mesh.beta[a]});
    llvm::sort(links);
    return seen.insert(links).second || !named.empty();
  };
  auto fill = [&](auto &&self, size_t axis, int64_t remaining) -> void {
    if (axis + 1 == axes.size()) {
      sizes[axis] = remaining;
      if (isNew())
        shapes.push_back(sizes);
      return;
    }
    for (int64_t size = remaining; size >= 1; --size)
      if (remaining % size == 0) {
        sizes[axis] = size;
        self(self, axis + 1, remaining / size);
      }
  };
  fill(fill, 0, n);
  return shapes;
}

Mesh StageChooser::makeMesh(ArrayRef<int64_t> sizes) {
  Mesh mesh;
  mesh.name = "stage";
  int64_t stride = 1;
  for (int64_t size : sizes)
    stride *= size;
  for (auto [name, size] : llvm::zip(axes, sizes)) {
    mesh.axes.push_back({name, size});
    stride /= size;
    bool isOutside = stride * size > perHost;
    auto take = [&](ArrayRef<double> from, SmallVectorImpl<double> &to) {
      if (!from.empty())
        to.push_back(isOutside ? from.front() : from.back());
    };
    take(cluster.alpha, mesh.alpha);
    take(cluster.beta, mesh.beta);
  }
  mesh.flops = cluster.flops;
  mesh.bandwidth = cluster.bandwidth;
  mesh.memory = cluster.memory;
  return mesh;
}

FailureOr<const StageChooser::Shape *> StageChooser::getBest(int64_t first, int64_t last, int64_t submesh,
                                                             int64_t inFlight) {
  FailureOr<const Shapes *> shapes = getShapesOf(first, last, submesh);
  if (failed(shapes))
    return failure();
  auto choose = [](const Shapes &shapes, llvm::function_ref<bool(const Shape &)> fits) {
    const Shape *best = nullptr;
    for (const std::optional<Shape> &shape : shapes)
      if (shape && fits(*shape) && (!best || shape->seconds < best->seconds))
        best = &*shape;
    return best;
  };
  const Shape *best = choose(**shapes, [&](const Shape &shape) {
    return !cluster.memory || shape.peak + (inFlight - 1) * shape.saved <= *cluster.memory;
  });
  if (best || !cluster.memory)
    return best;
  // Again within the limit.
  auto [it, isNew] = known.try_emplace(makeKey(first, last, submesh, inFlight));
  if (isNew && failed(evaluate(first, last, submesh, it->second, inFlight)))
    return failure();
  return choose(it->second, [](const Shape &) { return true; });
}

std::vector<int64_t> StageChooser::makeKey(int64_t first, int64_t last, int64_t submesh, int64_t inFlight) {
  std::vector<int64_t> key(layerClass.begin() + first, layerClass.begin() + last + 1);
  key.insert(key.end(), {first == 0 ? -1 : -2, last + 1 == int64_t(layerClass.size()) ? -1 : -2, submesh, inFlight});
  return key;
}

FailureOr<const StageChooser::Shapes *> StageChooser::getShapesOf(int64_t first, int64_t last, int64_t submesh) {
  auto [it, isNew] = known.try_emplace(makeKey(first, last, submesh, 0));
  Shapes &result = it->second; // stays where it is
  if (!isNew)
    return &result;
  // The longest run.
  int64_t begin = first, length = 0;
  for (int64_t i = first; i <= last;) {
    int64_t end = i;
    while (end <= last && layerClass[end] == layerClass[i])
      ++end;
    if (end - i > length) {
      begin = i;
      length = end - i;
    }
    i = end;
  }
  if (length <= kMaxRepeats) {
    if (failed(evaluate(first, last, submesh, result)))
      return failure();
    return &result;
  }
  int64_t end = begin + length; // after the run
  auto front = getShapesOf(first, begin, submesh);
  auto back = getShapesOf(end - 1, last, submesh);
  auto one = getShapesOf(begin + 1, begin + 1, submesh);
  auto two = getShapesOf(begin + 1, begin + 2, submesh);
  if (failed(front) || failed(back) || failed(one) || failed(two))
    return failure();
  for (size_t i = 0; i < (*two)->size(); ++i) {
    const auto &a = (**front)[i], &b = (**back)[i], &m1 = (**one)[i], &m2 = (**two)[i];
    std::optional<Shape> &sum = result.emplace_back();
    if (!a || !b || !m1 || !m2)
      continue;
    sum = *a;
    auto add = [&](auto field) {
      (*sum).*field += (*b).*field - (*m1).*field +
                       (length - 1) * std::max<decltype((*a).*field + 0)>((*m2).*field - (*m1).*field, 0);
    };
    add(&Shape::seconds);
    add(&Shape::peak);
    add(&Shape::saved);
  }
  return &result;
}

LogicalResult StageChooser::evaluate(int64_t first, int64_t last, int64_t submesh, Shapes &out, int64_t inFlight) {
  SmallVector<Operation *> splitPoints;
  if (first > 0)
    splitPoints.push_back(candidates[first - 1]);
  if (last + 1 < int64_t(layerClass.size()))
    splitPoints.push_back(candidates[last]);
  Microbatches copy = microbatches;
  FailureOr<Stages> stages = Stages::assign(func, copy, ArrayRef<Operation *>(splitPoints));
  if (failed(stages))
    return failure();
  auto name = FlatSymbolRefAttr::get(func.getContext(), "stage");
  FailureOr<OwningOpRef<func::FuncOp>> stage = buildStageFunction(func, copy, *stages, first > 0, name);
  if (failed(stage))
    return failure();
  for (ArrayRef<int64_t> sizes : getShapes(submeshes[submesh])) {
    Shape shape;
    shape.mesh = makeMesh(sizes);
    FailureOr<bool> found = solve((*stage).get(), shape, inFlight);
    if (failed(found))
      return failure();
    out.push_back(*found ? std::optional(std::move(shape)) : std::nullopt);
  }
  return success();
}

FailureOr<bool> StageChooser::solve(func::FuncOp stage, Shape &shape, int64_t inFlight) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(func.getLoc());
  OpBuilder b = OpBuilder::atBlockBegin(module->getBody());
  Mesh mesh = shape.mesh;
  mesh.memory.reset();
  createMesh(b, func.getLoc(), "stage", mesh);
  func::FuncOp copy = stage.clone();
  module->getBody()->push_back(copy);
  module.get()->setAttr(kPhaseAttr, b.getStringAttr("annotated"));
  std::optional<double> objective;
  {
    // A shape without layouts is not an error: another one may have some.
    ScopedDiagnosticHandler quiet(func.getContext(), [](Diagnostic &) { return success(); });
    PassManager pm(func.getContext());
    pm.enableVerifier(false);
    pm.addPass(createSPMDResolveAxisResourcesPass());
    if (failed(pm.run(*module)) || failed(mlir::verify(*module)))
      return false;
    SearchOptions search;
    search.allowRecompute = true; // compute counts
    search.gap = 0.02;
    search.workLimit = kSearchWork;
    if (inFlight > 0)
      search.memoryBudget = *shape.mesh.memory - (inFlight - 1) * getSavedBytes(copy);
    auto finish = [&](FunctionSearch &functionSearch, CallOperandLayouts &handed) -> LogicalResult {
      SearchResult result = functionSearch.run();
      if (result.choices.empty())
        return failure();
      objective = result.objective;
      functionSearch.write(result, handed);
      return success();
    };
    if (failed(searchModule(*module, search, finish)) || !objective || !splitsEvenly(copy, mesh))
      return false;
  }
  shape.seconds = *objective / microbatches.getCount() + getTransferSeconds(stage, mesh);
  if (shape.mesh.memory)
    measureMemory(copy, mesh, shape);
  return true;
}

bool StageChooser::splitsEvenly(func::FuncOp stage, const Mesh &mesh) {
  auto isEven = [&](Type type, DictionaryAttr attrs) {
    auto slot = attrs ? attrs.getAs<SlotAttr>(kSlotAttr) : SlotAttr();
    auto attr = attrs ? attrs.getAs<ShardingAttr>(kShardingAttr) : ShardingAttr();
    if (!slot || !attr || !slot.isMicrobatch())
      return true;
    FailureOr<Sharding> sharding = toSharding(attr, mesh, [&] { return emitError(stage.getLoc()); });
    int64_t dim = slot.getDim();
    return succeeded(sharding) && divides(sharding->dims[dim].entries, cast<RankedTensorType>(type).getDimSize(dim));
  };
  for (unsigned i = 0; i < stage.getNumArguments(); ++i)
    if (!isEven(stage.getArgumentTypes()[i], stage.getArgAttrDict(i)))
      return false;
  for (unsigned i = 0; i < stage.getNumResults(); ++i)
    if (!isEven(stage.getResultTypes()[i], stage.getResultAttrDict(i)))
      return false;
  return true;
}

double StageChooser::getTransferSeconds(func::FuncOp stage, const Mesh &mesh) {
  double alpha = cluster.alpha.empty() ? CostModel::kDefaultAlpha : cluster.alpha.front();
  double beta = cluster.beta.empty() ? CostModel::kDefaultBeta : cluster.beta.front();
  double seconds = 0;
  for (unsigned i = 0; i < stage.getNumArguments(); ++i)
    if (auto slot = stage.getArgAttrOfType<SlotAttr>(i, kSlotAttr); slot && slot.isValue())
      seconds += alpha + beta * getTensorBytes(stage.getArgument(i)) / mesh.numDevices();
  return seconds;
}

int64_t StageChooser::getSavedBytes(func::FuncOp stage) {
  int64_t bytes = 0;
  llvm::DenseMap<Operation *, int> fragmentOf;
  int fragment = 0;
  for (Operation &op : stage.getBody().front()) {
    fragment += isa<FragmentOp>(op);
    fragmentOf[&op] = fragment;
  }
  for (Operation &op : stage.getBody().front())
    if (fragmentOf[&op] == 1 && !isConstantLike(&op))
      for (Value value : op.getResults())
        if (llvm::any_of(value.getUsers(), [&](Operation *user) { return fragmentOf.lookup(user) == 2; }))
          bytes += getTensorBytes(value);
  return bytes;
}

void StageChooser::measureMemory(func::FuncOp stage, const Mesh &mesh, Shape &shape) {
  auto module = stage->getParentOfType<ModuleOp>();
  ScopedDiagnosticHandler quiet(func.getContext(), [](Diagnostic &) { return success(); });
  PassManager pm(func.getContext());
  pm.enableVerifier(false);
  pm.addPass(createSPMDInsertReshardsPass());
  pm.addPass(createSPMDPartitionPass());
  if (failed(pm.run(module)))
    return;
  for (auto local : module.getOps<func::FuncOp>()) {
    int64_t peak = 0;
    LiveBuffers(local, [](func::CallOp) { return HeldBytes(); }).findPeak(peak);
    shape.peak = peak;
    shape.saved = getSavedBytes(local);
  }
}

} // namespace

FailureOr<AutoStages> spmd::chooseStages(func::FuncOp func, const Microbatches &microbatches, const Stages &stages,
                                         const AutoStageOptions &options) {
  return StageChooser(func, microbatches, stages, options).run();
}
