//===- AutoStages.cpp - Where stages end, and on what they run ------------===//

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

static constexpr size_t kMostCandidates = 128;
/// Of the solver, for a stage on one shape.
static constexpr double kSearchWork = 4e8;
/// Equal layers one behind the other that are searched together.
static constexpr int64_t kMostRepeats = 3;

static int64_t getTensorBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return 0;
  return type.getNumElements() * getElementBytes(type.getElementType());
}

/// The ops of the forward part in order, of a function in one stage.
static SmallVector<Operation *> getForwardOps(func::FuncOp func, const Stages &stages) {
  SmallVector<Operation *> ops;
  for (Operation &op : func.getBody().front()) {
    if (&op == stages.getTurn())
      break;
    const StagePlace *place = stages.get(&op);
    if (place && place->part == PipelinePart::Forward)
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
  // Bytes that cross behind each op, as differences.
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
    bool isLeast =
        (i == 0 || crossing[i - 1] > crossing[i]) && end + 1 < int64_t(ops.size()) && crossing[end + 1] > crossing[i];
    if (isLeast && crossing[i] > 0)
      points.push_back({crossing[i], i});
    i = end;
  }
  llvm::sort(points);
  if (points.size() > kMostCandidates)
    points.resize(kMostCandidates);
  llvm::sort(points, llvm::less_second());
  for (auto [bytes, i] : points)
    candidates.push_back(ops[i]);
  return candidates;
}

FailureOr<SmallVector<Operation *>> spmd::chooseUniformCuts(func::FuncOp func, const Microbatches &microbatches,
                                                            const Stages &stages, int64_t count) {
  SmallVector<Operation *> candidates = getStageCandidates(func, microbatches, stages);
  if (int64_t(candidates.size()) + 1 < count)
    return func.emitError() << "the function can be cut at " << candidates.size() << " places, expected at least "
                            << count - 1 << " for " << count << " stages";
  // Compute up to each candidate.
  Mesh mesh;
  SmallVector<double> before;
  double total = 0;
  size_t next = 0;
  for (Operation &op : func.getBody().front()) {
    const StagePlace *place = stages.get(&op);
    if (&op == stages.getTurn())
      break;
    if (place && place->part == PipelinePart::Forward)
      total += getComputeSeconds(&op, mesh, kDefaultTripCount);
    if (next < candidates.size() && candidates[next] == &op) {
      before.push_back(total);
      ++next;
    }
  }
  SmallVector<Operation *> cuts;
  size_t first = 0;
  for (int64_t k = 1; k < count; ++k) {
    // As many candidates are left as cuts.
    size_t last = candidates.size() - (count - 1 - k), best = first;
    for (size_t i = first; i < last; ++i)
      if (std::abs(before[i] - total * k / count) < std::abs(before[best] - total * k / count))
        best = i;
    cuts.push_back(candidates[best]);
    first = best + 1;
  }
  return cuts;
}

//===----------------------------------------------------------------------===//
// Automatic stages
//===----------------------------------------------------------------------===//

namespace {

class StageChooser {
public:
  StageChooser(func::FuncOp func, const Microbatches &microbatches, const Stages &whole,
               const AutoStageOptions &options)
      : func(func), microbatches(microbatches), options(options), cluster(toMesh(options.cluster)),
        candidates(getStageCandidates(func, microbatches, whole)) {}

  FailureOr<AutoStages> run() {
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
    // Stages are searched where a plan has them that is the best as far as is known: a
    // stage that was not searched takes the time of its compute at least.
    std::map<std::array<int64_t, 4>, std::optional<double>> exact;
    auto cost = [&](int64_t first, int64_t last, int64_t submesh, int64_t inFlight) -> std::optional<double> {
      auto it = exact.find({first, last, submesh, inFlight});
      return it != exact.end() ? it->second : leastBefore[submesh][last + 1] - leastBefore[submesh][first];
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
        result.cuts.push_back(candidates[stage.firstLayer - 1]);
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

private:
  /// A stage on one logical shape.
  struct Shape {
    Mesh mesh;
    double seconds = 0;          // of a microbatch
    int64_t peak = 0, saved = 0; // bytes: at most, and per further microbatch in flight
  };

  /// Submeshes are 1, 2, 4, ... devices of a host, or whole hosts. The cluster's first
  /// axis counts hosts where it has several.
  LogicalResult readCluster() {
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

  void findAxes() {
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
    auto place = [&](const std::string &name) {
      auto it = llvm::find_if(cluster.axes, [&](const MeshAxis &axis) { return axis.name == name; });
      return it - cluster.axes.begin();
    };
    llvm::stable_sort(axes, [&](const auto &a, const auto &b) { return place(a) < place(b); });
    for (const MeshAxis &axis : cluster.axes)
      if (axes.size() < 2 && !llvm::is_contained(axes, axis.name))
        axes.push_back(axis.name);
  }

  /// What a layer is, whatever its place: ops, types, attributes and who reads what.
  LogicalResult classifyLayers() {
    Microbatches own = microbatches;
    FailureOr<Stages> stages = Stages::assign(func, own, ArrayRef<Operation *>(candidates));
    if (failed(stages))
      return failure();
    std::vector<std::string> texts(candidates.size() + 1);
    llvm::DenseMap<Value, std::pair<int64_t, int64_t>> made; // layer, number in it
    std::vector<int64_t> count(texts.size(), 0);
    std::vector<llvm::DenseMap<Value, int64_t>> argumentNumbers(texts.size());
    llvm::DenseMap<Value, llvm::SmallSetVector<int64_t, 2>> computedOn; // by argument
    for (Operation &op : func.getBody().front())
      if (const StagePlace *place = stages->get(&op); place && place->part != PipelinePart::Apply)
        for (Value operand : Stages::getRead(&op))
          if (isa<BlockArgument>(operand) || own.get(operand).kind == MicrobatchState::Same)
            for (Value source : stages->getSources(operand))
              computedOn[source].insert(place->stage);
    auto writeArgument = [&](llvm::raw_ostream &os, BlockArgument arg, int64_t layer) {
      auto [it, isNew] = argumentNumbers[layer].try_emplace(arg, argumentNumbers[layer].size());
      os << "a" << it->second;
      if (!isNew)
        return;
      os << ":" << arg.getType();
      for (StringRef name : {kAxisResourcesAttr, kShardingAttr, kSegmentsAttr})
        if (Attribute attr = func.getArgAttr(arg.getArgNumber(), name))
          os << "," << attr;
      // Who else makes a part of its gradient.
      for (int64_t stage : computedOn[arg])
        if (stage != layer && stages->isTraining())
          os << ",s" << stage - layer;
    };
    for (Operation &op : func.getBody().front()) {
      const StagePlace *place = stages->get(&op);
      if (!place)
        continue;
      int64_t layer = place->stage;
      llvm::raw_string_ostream os(texts[layer]);
      os << op.getName() << " " << stringifyPipelinePart(place->part) << " ";
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
    findLeast(*stages);
    return success();
  }

  /// What each layer takes on each submesh at least: what its ops compute, on as many
  /// devices of some shape as axes, or parts of them, divide what they loop over. Axes that
  /// the user names cut whatever he says, with padding.
  void findLeast(const Stages &stages) {
    std::vector<std::vector<SmallVector<int64_t>>> shapes;
    for (int64_t devices : submeshes)
      shapes.push_back(getShapes(devices));
    // By class of layer, submesh and shape.
    std::map<int64_t, std::vector<std::vector<double>>> seconds;
    llvm::DenseMap<int64_t, int64_t> layerOf; // the first of its class
    for (auto [layer, own] : llvm::enumerate(layerClass))
      if (layerOf.try_emplace(own, layer).second)
        for (const auto &list : shapes)
          seconds[own].emplace_back(list.size(), 0);
    for (Operation &op : func.getBody().front()) {
      const StagePlace *place = stages.get(&op);
      if (!place || place->part == PipelinePart::Apply)
        continue;
      int64_t own = layerClass[place->stage];
      double alone = getComputeSeconds(&op, cluster, kDefaultTripCount);
      if (layerOf[own] != place->stage || alone == 0)
        continue;
      ShardingRule rule = getShardingRule(&op);
      bool isLoop = op.getNumRegions() > 0 && !isa<linalg::LinalgOp>(op);
      auto getMost = [&](int64_t axis, int64_t size) {
        int64_t most = isLoop || named.contains(axes[axis]) ? size : 1;
        for (unsigned f = 0; f < rule.numFactors(); ++f) {
          int64_t loop = rule.factor(f).size;
          most = std::max(most, ShapedType::isDynamic(loop) ? size : std::gcd(size, loop));
        }
        return most;
      };
      for (auto [submesh, list] : llvm::enumerate(shapes))
        for (auto [i, sizes] : llvm::enumerate(list)) {
          double devices = 1;
          for (auto [axis, size] : llvm::enumerate(sizes))
            devices *= getMost(axis, size);
          seconds[own][submesh][i] += alone / devices;
        }
    }
    leastBefore.assign(submeshes.size(), {0});
    for (int64_t own : layerClass)
      for (auto [submesh, list] : llvm::enumerate(leastBefore))
        list.push_back(list.back() + *llvm::min_element(seconds[own][submesh]));
  }

  /// All ways to write n as a product over the axes, major axes large first; of those that
  /// differ in the names of axes alone the first, where nobody names them.
  std::vector<SmallVector<int64_t>> getShapes(int64_t n) {
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
    auto fill = [&](auto &&self, size_t axis, int64_t rest) -> void {
      if (axis + 1 == axes.size()) {
        sizes[axis] = rest;
        if (isNew())
          shapes.push_back(sizes);
        return;
      }
      for (int64_t size = rest; size >= 1; --size)
        if (rest % size == 0) {
          sizes[axis] = size;
          self(self, axis + 1, rest / size);
        }
    };
    fill(fill, 0, n);
    return shapes;
  }

  /// Links inside of a host are the cluster's minor ones, between hosts those of its
  /// first axis.
  Mesh makeMesh(ArrayRef<int64_t> sizes) {
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
    mesh.memory = cluster.memory;
    return mesh;
  }

  /// Of a range of layers on each shape of a submesh; nothing where there are no layouts.
  using Shapes = std::vector<std::optional<Shape>>;

  /// The best shape of a stage; null where none fits.
  FailureOr<const Shape *> getBest(int64_t first, int64_t last, int64_t submesh, int64_t inFlight) {
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

  /// What is the same for ranges that are alike.
  std::vector<int64_t> makeKey(int64_t first, int64_t last, int64_t submesh, int64_t inFlight) {
    std::vector<int64_t> key(layerClass.begin() + first, layerClass.begin() + last + 1);
    key.insert(key.end(), {first == 0 ? -1 : -2, last + 1 == int64_t(layerClass.size()) ? -1 : -2, submesh, inFlight});
    return key;
  }

  /// Layers that repeat cost the same each: a range A m...m B with r equal layers m is
  /// searched as A m, m B, m and m m, and costs
  ///   (A m) + (m B) - (m) + (r - 1) ((m m) - (m)).
  FailureOr<const Shapes *> getShapesOf(int64_t first, int64_t last, int64_t submesh) {
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
    if (length <= kMostRepeats) {
      if (failed(evaluate(first, last, submesh, result)))
        return failure();
      return &result;
    }
    int64_t end = begin + length; // behind the run
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

  /// All shapes of a stage; with `inFlight`, what fits into memory.
  LogicalResult evaluate(int64_t first, int64_t last, int64_t submesh, Shapes &out, int64_t inFlight = 0) {
    SmallVector<Operation *> cuts;
    if (first > 0)
      cuts.push_back(candidates[first - 1]);
    if (last + 1 < int64_t(layerClass.size()))
      cuts.push_back(candidates[last]);
    Microbatches own = microbatches;
    FailureOr<Stages> stages = Stages::assign(func, own, ArrayRef<Operation *>(cuts));
    if (failed(stages))
      return failure();
    auto name = FlatSymbolRefAttr::get(func.getContext(), "stage");
    FailureOr<OwningOpRef<func::FuncOp>> stage = buildStageFunction(func, own, *stages, first > 0, name);
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

  /// Searches the layouts of a stage; false where there are none. `inFlight`: within the
  /// memory of the mesh, that many microbatches under way.
  FailureOr<bool> solve(func::FuncOp stage, Shape &shape, int64_t inFlight) {
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
      // What a shape cannot do is no error: another one can.
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
      auto finish = [&](FunctionSearch &own, HandedLayouts &handed) -> LogicalResult {
        SearchResult result = own.run();
        if (result.choices.empty())
          return failure();
        objective = result.objective;
        own.write(result, handed);
        return success();
      };
      if (failed(searchModule(*module, search, finish)) || !objective || !cutsEvenly(copy, mesh))
        return false;
    }
    shape.seconds = *objective / microbatches.getCount() + getTransferSeconds(stage, mesh);
    if (shape.mesh.memory)
      measureMemory(copy, mesh, shape);
    return true;
  }

  /// What microbatches have parts of is held for all of them: the axes of the batch divide each part.
  bool cutsEvenly(func::FuncOp stage, const Mesh &mesh) {
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

  /// What comes from other stages for a microbatch, each byte once, over links between
  /// hosts.
  double getTransferSeconds(func::FuncOp stage, const Mesh &mesh) {
    double alpha = cluster.alpha.empty() ? CostModel::kDefaultAlpha : cluster.alpha.front();
    double beta = cluster.beta.empty() ? CostModel::kDefaultBeta : cluster.beta.front();
    double seconds = 0;
    for (unsigned i = 0; i < stage.getNumArguments(); ++i)
      if (auto slot = stage.getArgAttrOfType<SlotAttr>(i, kSlotAttr); slot && slot.isValue())
        seconds += alpha + beta * getTensorBytes(stage.getArgument(i)) / mesh.numDevices();
    return seconds;
  }

  /// Values that the backward part reads of the forward part, on one device.
  static int64_t getSavedBytes(func::FuncOp stage) {
    int64_t bytes = 0;
    llvm::DenseMap<Operation *, int> partOf;
    int part = 0;
    for (Operation &op : stage.getBody().front()) {
      part += isa<FragmentOp>(op);
      partOf[&op] = part;
    }
    for (Operation &op : stage.getBody().front())
      if (partOf[&op] == 1 && !isConstantLike(&op))
        for (Value value : op.getResults())
          if (llvm::any_of(value.getUsers(), [&](Operation *user) { return partOf.lookup(user) == 2; }))
            bytes += getTensorBytes(value);
    return bytes;
  }

  /// As the memory report counts it: the partitioned stage.
  void measureMemory(func::FuncOp stage, const Mesh &mesh, Shape &shape) {
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
  /// Per submesh, what the layers before each take at least, for a microbatch.
  std::vector<std::vector<double>> leastBefore;
  /// By classes of layers, ends, submesh and microbatches in flight (0: without a limit).
  std::map<std::vector<int64_t>, Shapes> known;
};

} // namespace

FailureOr<AutoStages> spmd::chooseStages(func::FuncOp func, const Microbatches &microbatches, const Stages &stages,
                                         const AutoStageOptions &options) {
  return StageChooser(func, microbatches, stages, options).run();
}
