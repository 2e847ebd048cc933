//===- Replicated.cpp - Replicas that axes could shard --------------------===//

#include "shardkit/Report/Replicated.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"

#include "shardkit/Propagation/Propagation.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/ShardingRule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

class ReplicationFinder {
public:
  ReplicationFinder(func::FuncOp func, const PartitionedValues &values, std::vector<ReplicatedValue> &found)
      : func(func), values(values), found(found) {}

  void run() {
    if (!func.isPrivate()) // those of callees are values of the callers
      for (BlockArgument arg : func.getArguments())
        visit(arg);
    func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isConstantLike(op))
        for (Value result : op->getResults())
          visit(result);
    });
  }

private:
  /// A layout with its mesh; the mesh is null if it is unknown.
  struct Known {
    const Mesh *mesh = nullptr;
    Sharding sharding;
  };

  const Known &getLayout(Value value) {
    ShardingAttr attr = values.getLayout(value);
    auto [it, isNew] = known.try_emplace(attr);
    if (!isNew || !attr)
      return it->second;
    const Mesh *mesh = values.getMeshes().lookup(attr.getMesh());
    if (!mesh)
      return it->second;
    FailureOr<Sharding> sharding = toSharding(attr, *mesh, [&] { return emitError(value.getLoc()); });
    if (succeeded(sharding))
      it->second = {mesh, std::move(*sharding)};
    return it->second;
  }

  static bool names(ArrayRef<DimEntry> entries, int32_t axis) {
    return llvm::any_of(entries, [&](const DimEntry &entry) { return entry.axis == axis; });
  }

  static bool uses(const Sharding &sharding, int32_t axis) {
    return names(sharding.unreduced, axis) ||
           llvm::any_of(sharding.dims, [&](const DimSharding &dim) { return names(dim.entries, axis); });
  }

  bool isArgument(Value value) {
    auto arg = dyn_cast<BlockArgument>(value);
    return arg && arg.getOwner() == &func.getBody().front();
  }

  void visit(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || getBytes(type) == 0 || value.use_empty())
      return;
    Known layout = getLayout(value);
    if (!layout.mesh)
      return;
    SmallVector<int64_t> left(type.getShape());
    int64_t shards = 1;
    ReplicatedValue entry{{}, func.getName().str(), getBytes(type), 0, isArgument(value), {}, value.getLoc()};
    for (auto [axis, meshAxis] : llvm::enumerate(layout.mesh->axes)) {
      if (meshAxis.size == 1 || uses(layout.sharding, axis))
        continue;
      for (unsigned d = 0; d < left.size(); ++d) {
        if (left[d] % meshAxis.size != 0 || !canShard(value, d, *layout.mesh, axis))
          continue;
        left[d] /= meshAxis.size;
        shards *= meshAxis.size;
        entry.usable.emplace_back(meshAxis.name, d);
        break;
      }
    }
    if (shards == 1)
      return;
    static_cast<DescribedValue &>(entry) = values.describe(value);
    entry.wasted = entry.bytes - entry.bytes / shards;
    found.push_back(std::move(entry));
  }

  /// Whether all ops around a value could compute with the axis on its dim `d`.
  bool canShard(Value value, unsigned d, const Mesh &mesh, int32_t axis) {
    if (Operation *op = value.getDefiningOp(); op && !canShard(op, value, d, mesh, axis))
      return false;
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      // If a body captures the value, the op with that body is the user.
      while (!isHandOn(user) && !isFunctionLevel(user))
        user = user->getParentOp();
      return canShard(user, value, d, mesh, axis);
    });
  }

  /// Ops that do not restrict dims: loops, calls and terminators.
  static bool isHandOn(Operation *op) {
    return isControlFlow(op) || isa<func::CallOp, CollectiveOpInterface, scf::InParallelOp>(op) ||
           (op->hasTrait<OpTrait::IsTerminator>() && isFunctionLevel(op));
  }
  static bool isFunctionLevel(Operation *op) {
    Operation *parent = op->getParentOp();
    return isa<func::FuncOp, scf::InParallelOp>(parent) || isControlFlow(parent);
  }

  bool canShard(Operation *op, Value value, unsigned d, const Mesh &mesh, int32_t axis) {
    if (isHandOn(op))
      return true;
    auto [it, isNew] = rules.try_emplace(op);
    if (isNew)
      it->second = getShardingRule(op);
    const ShardingRule &rule = it->second;
    unsigned count = rule.numOperands() + rule.numResults();
    for (unsigned t = 0; t < count; ++t) {
      const ShardingRule::Tensor &tensor = rule.tensor(t);
      if (tensor.value != value)
        continue;
      int32_t factor = -1;
      for (int32_t f : rule.dimFactors(tensor, d))
        if (factor < 0 && rule.factor(f).size > 1)
          factor = f; // the major remaining factor is sharded next
      if (factor < 0 || rule.factor(factor).kind == FactorKind::Replicated ||
          rule.factor(factor).size % mesh.axes[axis].size != 0)
        return false;
      for (unsigned u = 0; u < count; ++u)
        if (rule.tensor(u).value && rule.tensor(u).value != value && usesElsewhere(rule, u, factor, mesh, axis))
          return false;
    }
    return true;
  }

  /// Whether tensor `u` of an op has the axis on a dim without that factor.
  bool usesElsewhere(const ShardingRule &rule, unsigned u, int32_t factor, const Mesh &mesh, int32_t axis) {
    const ShardingRule::Tensor &tensor = rule.tensor(u);
    const Known &layout = getLayout(tensor.value);
    if (!layout.mesh) // not known: whatever it uses
      return tensor.type && tensor.type.getRank() > 0;
    if (layout.mesh != &mesh) // another view of the devices: whatever it uses
      return llvm::any_of(layout.sharding.dims, [](const DimSharding &dim) { return !dim.entries.empty(); });
    if (names(layout.sharding.unreduced, axis))
      return true;
    for (auto [d, dim] : llvm::enumerate(layout.sharding.dims))
      if (names(dim.entries, axis) && !llvm::is_contained(rule.dimFactors(tensor, d), factor))
        return true;
    return false;
  }

  func::FuncOp func;
  const PartitionedValues &values;
  std::vector<ReplicatedValue> &found;
  llvm::DenseMap<Attribute, Known> known;
  llvm::DenseMap<Operation *, ShardingRule> rules;
};

} // namespace

std::vector<ReplicatedValue> spmd::findReplicated(ModuleOp module, const PartitionedValues &values) {
  std::vector<ReplicatedValue> found;
  for (auto func : getProgramFunctions(module))
    if (!func.isExternal())
      ReplicationFinder(func, values, found).run();
  llvm::stable_sort(found, [](auto &a, auto &b) { return a.wasted > b.wasted; });
  return found;
}

/// Limit of the values that an error lists, the most wasteful first.
static constexpr size_t kMaxNotes = 5;

LogicalResult spmd::verifyReplicated(ArrayRef<ReplicatedValue> replicated, ArrayRef<FunctionMemory> functions,
                                     double maxPercent) {
  bool isFine = true;
  for (const FunctionMemory &function : functions) {
    SmallVector<const ReplicatedValue *> arguments;
    int64_t wasted = 0;
    for (const ReplicatedValue &value : replicated)
      if (value.isArgument && value.function == function.function) {
        arguments.push_back(&value);
        wasted += value.wasted;
      }
    double percent = 100.0 * wasted / std::max<int64_t>(function.argumentBytes, 1);
    if (percent <= maxPercent)
      continue;
    isFine = false;
    InFlightDiagnostic diag = emitError(arguments.front()->location);
    diag << llvm::formatv("{0:F1} %", percent).str() << " of the arguments of @" << function.function << ", " << wasted
         << " of " << function.argumentBytes
         << " bytes of a device, are replicas that axes could shard, expected at most "
         << llvm::formatv("{0:F1} %", maxPercent).str();
    for (const ReplicatedValue *value : ArrayRef(arguments).take_front(kMaxNotes))
      diag.attachNote(value->location) << value->name << " of " << value->localType << " could be sharded by "
                                       << value->getUsableText() << ", " << value->wasted << " bytes less";
  }
  return success(isFine);
}

std::string ReplicatedValue::getUsableText() const {
  std::string text;
  for (auto &[axis, dim] : usable)
    text += (text.empty() ? "" : ", ") + axis + " on dim " + std::to_string(dim);
  return text;
}
