//===- Requirements.cpp - Requirements of options -------------------------===//

#include "shardkit/AutoSharding/FunctionSearch.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/OpQueries.h"
#include "shardkit/Support/Names.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::spmd;

static constexpr double kNever = std::numeric_limits<double>::infinity();

namespace {

/// Builds the requirements of the options of a search.
///
///   batch-axes=data, argument x: tensor<8x4xf32>
///     layouts of x cost 0 seconds if dim 0 is sharded by {"data"} first, else infinity
class RequirementBuilder {
public:
  using ClassId = Propagation::ClassId;

  RequirementBuilder(FunctionPropagation &functions, const SearchOptions &options, FunctionMeshes &meshes,
                     const ShardingProblem &problem);

  FailureOr<std::vector<OptionRequirement>> run();

private:
  LogicalResult runOnFunction();
  Value getArgument(unsigned i) { return func.getArgument(i); }
  std::string nameOf(unsigned argument) { return "argument " + getArgumentName(func, argument); }
  bool isWeight(unsigned i) { return bool(func.getArgAttr(i, kWeightAttr)); }
  std::string batchText() { return meshes.toString(batch); }

  void remarkSkipped(Location loc, const Twine &text);

  using Allows = std::function<bool(const Sharding &)>;

  /// Requires that a value class is stored in a layout that `allows` accepts; false if its domain has none.
  bool require(ClassId valueClass, Allows allows, Location loc, std::string text);
  LogicalResult readBatchAxes();
  LogicalResult shardInputs();

  //===--- ZeRO ------------------------------------------------------------===//

  /// Results of an op of this shape that are computed element by element from operands
  /// of this shape.
  static bool isElementwise(const Propagation::Node &node);

  /// Ops by what defines and reads a value, once.
  void index();
  const Propagation::Node *getElementwise(Operation *op);

  /// An argument that is updated, and from which nothing is computed but updates, element
  /// by element.
  bool isState(unsigned argument);

  /// Gradients: values of the shape of a weight that its update is computed from, element
  /// by element, and that are not themselves computed so.
  void collectGradients(Value update, ArrayRef<int64_t> shape, llvm::SetVector<Value> &gradients);

  /// The number of the prime sub-axes that shard any dim.
  static size_t countSharding(ArrayRef<DimEntry> digits, const Sharding &sharding, const Mesh &mesh);

  bool isSmall(RankedTensorType type) const {
    return type.hasStaticShape() && type.getNumElements() < options.smallValueThreshold;
  }

  void shard(Value value, bool toShard, const std::string &what);
  void shardState();

  //===--- the rest --------------------------------------------------------===//

  void shardWeights();
  void followPropagation();

  FunctionPropagation &functions;
  func::FuncOp func; // that is visited
  const SearchOptions &options;
  FunctionMeshes &meshes;
  const Mesh &mesh;
  Propagation &propagation;
  LayoutTable &table;
  const ShardingProblem &problem;
  DimEntries batch, digits;                   // the axes, and their prime sub-axes
  llvm::DenseMap<unsigned, unsigned> updates; // argument -> the result that it is tied to
  llvm::DenseMap<Operation *, unsigned> nodeOf;
  std::vector<OptionRequirement> requirements;
};

} // namespace

RequirementBuilder::RequirementBuilder(FunctionPropagation &functions, const SearchOptions &options,
                                       FunctionMeshes &meshes, const ShardingProblem &problem)
    : functions(functions), options(options), meshes(meshes), mesh(meshes.getMesh()),
      propagation(functions.getPropagation()), table(propagation.getTable()), problem(problem) {}

/// Functions of stages are private too, and no other function calls them.
static bool isCalled(func::FuncOp func) {
  return func.isPrivate() && func->getParentOfType<ModuleOp>()
                                 .walk([&](func::CallOp call) {
                                   return call.getCallee() == func.getName() ? WalkResult::interrupt()
                                                                             : WalkResult::advance();
                                 })
                                 .wasInterrupted();
}

FailureOr<std::vector<OptionRequirement>> RequirementBuilder::run() {
  for (func::FuncOp each : functions.getFunctions()) {
    func = each;
    updates.clear();
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      if (auto tied = func.getResultAttrOfType<IntegerAttr>(i, kTiedAttr))
        updates[tied.getInt()] = i;
    if (failed(runOnFunction()))
      return failure();
  }
  if (options.smallValueThreshold > 0 || options.deviationPenalty > 0)
    followPropagation();
  return std::move(requirements);
}

LogicalResult RequirementBuilder::runOnFunction() {
  // Inputs and state of the program are arguments of functions that no other one calls.
  if (!isCalled(func)) {
    if (failed(readBatchAxes()) || (!batch.empty() && failed(shardInputs())))
      return failure();
    if (options.zeroStage > 0)
      shardState();
  }
  if (!options.allowReplicatedWeights)
    shardWeights();
  return success();
}

void RequirementBuilder::remarkSkipped(Location loc, const Twine &text) {
  remark::missed(loc, remark::RemarkOpts::name("auto-shard-skipped").category("spmd").function(func.getName()))
      << remark::add("{0}", text.str());
}

bool RequirementBuilder::require(ClassId valueClass, Allows allows, Location loc, std::string text) {
  if (llvm::none_of(problem.getDomain(valueClass), [&](LayoutId id) { return allows(table.get(id)); }))
    return false;
  LayoutTable &layouts = table;
  requirements.push_back({{valueClass, [&layouts, allows = std::move(allows)](
                                           LayoutId id) { return allows(layouts.get(id)) ? 0 : kNever; }},
                          loc,
                          std::move(text)});
  return true;
}

LogicalResult RequirementBuilder::readBatchAxes() {
  if (options.batchAxes.empty())
    return success();
  MLIRContext *context = func.getContext();
  Builder b(context);
  SmallVector<StringRef> names(options.batchAxes.begin(), options.batchAxes.end());
  for (auto [i, name] : llvm::enumerate(names))
    if (llvm::is_contained(ArrayRef(names).take_front(i), name))
      return emitError(func.getLoc()) << "axis \"" << name << "\" is repeated in batch-axes, "
                                      << "expected distinct axes";
  for (auto op : func->getParentOfType<ModuleOp>().getOps<MeshOp>()) {
    Mesh candidate = toMesh(op);
    if (!llvm::all_of(names, [&](StringRef name) { return candidate.findAxis(name).has_value(); }))
      continue;
    // A mesh of other devices is not the function's.
    ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
    auto entries = meshes.readAxes(FlatSymbolRefAttr::get(op.getSymNameAttr()), b.getStrArrayAttr(names),
                                   [&] { return op.emitError(); });
    if (failed(entries))
      continue;
    batch = canonicalize(*entries);
    for (const DimEntry &entry : batch)
      for (int64_t rest = entry.size, pre = entry.pre, p = 2; rest > 1; ++p)
        for (; rest % p == 0; rest /= p, pre *= p)
          digits.push_back({entry.axis, pre, p});
    return success();
  }
  return emitError(func.getLoc()) << "no mesh of function @" << func.getName() << " has the batch-axes "
                                  << llvm::join(names, ", ") << ", expected some of "
                                  << meshes.getCostMesh().axesToString();
}

LogicalResult RequirementBuilder::shardInputs() {
  llvm::SmallDenseSet<unsigned> wanted;
  SmallVector<std::string> known;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    known.push_back(getArgumentName(func, i));
  // Other public functions may have the argument.
  auto hasArgument = [](func::FuncOp other, StringRef name) {
    return llvm::any_of(llvm::seq(other.getNumArguments()),
                        [&](unsigned i) { return getArgumentName(other, i) == name; });
  };
  for (const std::string &name : options.batchArguments) {
    auto it = llvm::find(known, name);
    if (it == known.end()) {
      if (llvm::any_of(func->getParentOfType<ModuleOp>().getOps<func::FuncOp>(), [&](func::FuncOp other) {
            return !other.isPrivate() && !other.isExternal() && hasArgument(other, name);
          }))
        continue;
      SmallVector<StringRef> refs(known.begin(), known.end());
      return emitError(func.getLoc()) << "unknown argument \"" << name << "\" in batch-arguments, "
                                      << "expected a name such as " << listNearest(name, refs);
    }
    wanted.insert(it - known.begin());
  }
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    Value value = getArgument(i);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    bool isNamed = wanted.contains(i);
    // What other functions share is state, not an input.
    if (options.batchArguments.empty() ? isWeight(i) || updates.contains(i) || functions.isShared(value) : !isNamed)
      continue;
    if (!type || type.getRank() == 0 || !propagation.contains(value)) {
      if (isNamed)
        return emitError(value.getLoc()) << nameOf(i) << " has no dim to shard, expected a tensor "
                                         << "of rank 1 or more in batch-arguments";
      continue;
    }
    bool can = require(
        propagation.getId(value),
        [entries = batch](const Sharding &sharding) { return isPrefix(entries, sharding.dims[0].entries); },
        value.getLoc(), "batch-axes shards dim 0 of " + nameOf(i) + " by " + batchText());
    if (can)
      continue;
    InFlightDiagnostic diag = emitError(value.getLoc())
                              << "dim 0 of " << nameOf(i) << ", " << type << ", cannot be sharded by " << batchText();
    if (!type.isDynamicDim(0) && type.getDimSize(0) % deviceFactor(batch) != 0)
      return diag << ", expected a size divisible by " << deviceFactor(batch)
                  << " or the inputs with a batch in batch-arguments";
    return diag << ", as its sharding is "
                << meshes.toString(
                       propagation.getShardings().get(propagation.getClass(propagation.getId(value)).userSharding))
                << ", expected one that leaves dim 0 open";
  }
  return success();
}

bool RequirementBuilder::isElementwise(const Propagation::Node &node) {
  return node.hasOpRule && llvm::all_of(node.rule->getFactors(),
                                        [](const Factor &factor) { return factor.kind == FactorKind::Parallel; });
}

void RequirementBuilder::index() {
  for (unsigned id = 0; id < propagation.getNumNodes(); ++id)
    if (propagation.getNode(id).hasOpRule)
      nodeOf[propagation.getNode(id).op] = id;
}

const Propagation::Node *RequirementBuilder::getElementwise(Operation *op) {
  auto it = op ? nodeOf.find(op) : nodeOf.end();
  if (it == nodeOf.end())
    return nullptr;
  const Propagation::Node &node = propagation.getNode(it->second);
  return isElementwise(node) ? &node : nullptr;
}

bool RequirementBuilder::isState(unsigned argument) {
  if (!updates.contains(argument))
    return false;
  auto shape = cast<RankedTensorType>(getArgument(argument).getType()).getShape();
  SmallVector<Value> open{getArgument(argument)};
  llvm::SmallDenseSet<Value> seen{getArgument(argument)};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (user == func.front().getTerminator()) {
        if (!func.getResultAttr(use.getOperandNumber(), kTiedAttr))
          return false;
        continue;
      }
      if (!isConstraintLike(user) && !getElementwise(user))
        return false;
      for (Value result : user->getResults()) {
        auto type = dyn_cast<RankedTensorType>(result.getType());
        if (!type || type.getShape() != shape)
          return false;
        if (seen.insert(result).second)
          open.push_back(result);
      }
    }
  }
  return true;
}

void RequirementBuilder::collectGradients(Value update, ArrayRef<int64_t> shape, llvm::SetVector<Value> &gradients) {
  SmallVector<Value> open{update};
  llvm::SmallDenseSet<Value> seen{update};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || isConstantLike(op))
      continue;
    if (!isConstraintLike(op) && !getElementwise(op)) {
      if (propagation.contains(value))
        gradients.insert(value);
      continue;
    }
    // The destination of an op is not an operand of the update.
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (type && type.getShape() == shape && seen.insert(operand.get()).second)
        open.push_back(operand.get());
    }
  }
}

size_t RequirementBuilder::countSharding(ArrayRef<DimEntry> digits, const Sharding &sharding, const Mesh &mesh) {
  return llvm::count_if(digits, [&](const DimEntry &digit) {
    return llvm::any_of(sharding.dims, [&](const DimSharding &dim) { return overlaps(digit, dim.entries, mesh); });
  });
}

void RequirementBuilder::shard(Value value, bool toShard, const std::string &what) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 0 || isSmall(type))
    return;
  std::string stage = "zero-stage=" + std::to_string(options.zeroStage);
  bool can = require(
      propagation.getId(value),
      [toShard, digits = digits, &mesh = mesh](const Sharding &sharding) {
        return countSharding(digits, sharding, mesh) == (toShard ? digits.size() : 0);
      },
      value.getLoc(), stage + (toShard ? " shards " : " does not shard ") + what + " by " + batchText());
  if (!can)
    remarkSkipped(value.getLoc(), what + (toShard ? " cannot be sharded by " : " has to be sharded by ") + batchText() +
                                      ", " + stage + " leaves it unchanged");
}

void RequirementBuilder::shardState() {
  index();
  llvm::SetVector<Value> gradients;
  unsigned states = 0;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    Value value = getArgument(i);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() == 0 || !propagation.contains(value) || !updates.contains(i))
      continue;
    if (isState(i)) {
      ++states;
      shard(value, true, "optimizer state, " + nameOf(i) + ",");
    } else if (isWeight(i)) {
      shard(value, options.zeroStage >= 3, "weight, " + nameOf(i) + ",");
    } else {
      continue;
    }
    Value update = func.front().getTerminator()->getOperand(updates[i]);
    collectGradients(update, type.getShape(), gradients);
  }
  for (Value gradient : gradients)
    shard(gradient, options.zeroStage >= 2, "a gradient");
  if (states == 0)
    emitWarning(func.getLoc()) << "zero-stage=" << options.zeroStage << " found no optimizer state in @"
                               << func.getName() << ": no argument is tied to a result and read "
                               << "only by updates";
}

void RequirementBuilder::shardWeights() {
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    Value value = getArgument(i);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!isWeight(i) || !type || type.getRank() == 0 || !propagation.contains(value) || isSmall(type))
      continue;
    bool can = require(
        propagation.getId(value),
        [](const Sharding &sharding) {
          return llvm::any_of(sharding.dims, [](const DimSharding &dim) { return deviceFactor(dim.entries) > 1; });
        },
        value.getLoc(), "allow-replicated-weights=false shards " + nameOf(i));
    if (!can)
      remarkSkipped(value.getLoc(), "weight, " + nameOf(i) + ", cannot be sharded and stays replicated");
  }
}

void RequirementBuilder::followPropagation() {
  llvm::DenseMap<ClassId, Value> valueOf;
  for (func::FuncOp each : functions.getFunctions())
    each.walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (propagation.contains(result))
          valueOf.try_emplace(propagation.getId(result), result);
    });
  for (ClassId id = 0; id < propagation.getNumClasses(); ++id) {
    RankedTensorType type = propagation.getClass(id).type;
    LayoutId followed = table.intern(propagation.get(id));
    Value value = valueOf.lookup(id);
    Location loc = value ? value.getLoc() : func.getLoc();
    if (isSmall(type)) {
      if (!llvm::is_contained(problem.getDomain(id), followed))
        continue;
      requirements.push_back({{id, [followed](LayoutId layout) { return layout == followed ? 0 : kNever; }},
                              loc,
                              "small-value-threshold keeps the propagated sharding of a value"});
    } else if (options.deviationPenalty > 0) {
      double price = options.deviationPenalty;
      requirements.push_back({{id, [followed, price](LayoutId layout) { return layout == followed ? 0 : price; }},
                              loc,
                              "deviation-penalty"});
    }
  }
}

FailureOr<std::vector<OptionRequirement>> spmd::getRequirements(FunctionPropagation &functions,
                                                                const SearchOptions &options, FunctionMeshes &meshes,
                                                                const ShardingProblem &problem) {
  return RequirementBuilder(functions, options, meshes, problem).run();
}
