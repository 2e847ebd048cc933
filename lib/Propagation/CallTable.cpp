//===- CallTable.cpp - Callees from the view of callers -------------------===//

#include "shardkit/Propagation/CallTable.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Propagation/Propagation.h"

#include "shardkit/Rules/ControlFlow.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace mlir::spmd;

CallTable::CallTable(ModuleOp module) : module(module) {
  llvm::SmallDenseSet<StringAttr> called;
  for (auto func : module.getOps<func::FuncOp>()) {
    functions[func.getSymNameAttr()] = func;
    auto &index = indices[func] = std::make_unique<FunctionIndex>(func);
    for (func::CallOp call : index->calls)
      called.insert(call.getCalleeAttr().getAttr());
  }
  for (auto func : module.getOps<func::FuncOp>()) {
    bool annotated = false;
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      annotated |= bool(func.getArgAttr(i, kShardingAttr));
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      annotated |= bool(func.getResultAttr(i, kShardingAttr));
    if (func.isPrivate() && !func.isExternal() && !annotated && called.contains(func.getSymNameAttr()))
      specialized.insert(func);
  }
}

void CallTable::takeMeshes(func::FuncOp func) {
  FunctionIndex &index = *indices[func];
  for (func::CallOp call : index.calls) {
    func::FuncOp callee = getCallee(call);
    if (!callee)
      continue;
    index.takeSignature(call, callee);
    for (auto &[mesh, loc] : getIndex(callee).meshes)
      index.addMesh(mesh, call.getLoc());
  }
}

LogicalResult CallTable::verify(const MeshCache &meshes) {
  enum State { New, Active, Done };
  llvm::DenseMap<Operation *, State> states;
  std::function<LogicalResult(func::FuncOp)> visit = [&](func::FuncOp func) -> LogicalResult {
    states[func] = Active;
    for (func::CallOp call : getIndex(func).calls) {
      func::FuncOp callee = getCallee(call);
      if (!callee || states.lookup(callee) == Done)
        continue;
      if (states.lookup(callee) == Active) {
        InFlightDiagnostic diag = call.emitError() << "call of @" << callee.getName()
                                                   << " is recursive, expected calls without recursion";
        diag.attachNote(callee.getLoc()) << "callee is here";
        return failure();
      }
      if (failed(visit(callee)))
        return failure();
    }
    takeMeshes(func);
    states[func] = Done;
    return success();
  };
  for (auto func : module.getOps<func::FuncOp>())
    if (states.lookup(func) == New && failed(visit(func)))
      return failure();
  return groups.read(module, meshes, [&](func::FuncOp func) -> const FunctionIndex & { return getIndex(func); });
}

FailureOr<std::optional<FunctionMeshes>> CallTable::getMeshes(ArrayRef<func::FuncOp> group,
                                                              const MeshCache &meshes) const {
  SmallVector<const FunctionIndex *> functions;
  for (func::FuncOp func : group)
    functions.push_back(&getIndex(func));
  return FunctionIndex::getMeshes(functions, meshes);
}

//===----------------------------------------------------------------------===//
// Rules of calls
//===----------------------------------------------------------------------===//

namespace {
/// Classes of dims that are sharded together.
class DimClasses {
public:
  using Dim = std::pair<void *, unsigned>;

  void unite(Value a, unsigned i, Value b, unsigned j) {
    classes.unionSets({a.getAsOpaquePointer(), i}, {b.getAsOpaquePointer(), j});
  }
  void unite(Value a, Value b) {
    if (auto type = dyn_cast<RankedTensorType>(a.getType()))
      for (int64_t d = 0; d < type.getRank(); ++d)
        unite(a, d, b, d);
  }
  void unite(ValueRange a, ValueRange b) {
    for (auto [x, y] : llvm::zip(a, b))
      unite(x, y);
  }
  void add(const ShardingRule &rule) {
    SmallVector<std::pair<Value, unsigned>> first(rule.numFactors());
    for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t) {
      const ShardingRule::Tensor &tensor = rule.tensor(t);
      // A zero that several ops start from has a layout for each of them.
      if (isConstantLike(tensor.value.getDefiningOp()))
        continue;
      for (unsigned d = 0; d < tensor.numDims; ++d) {
        // A dim of several factors: the major one of size > 1.
        int32_t factor = -1;
        for (int32_t f : rule.dimFactors(tensor, d))
          if (rule.factor(f).size != 1) {
            factor = f;
            break;
          }
        if (factor < 0 || rule.factor(factor).kind == FactorKind::Replicated)
          continue;
        if (!first[factor].first)
          first[factor] = {tensor.value, d};
        else
          unite(first[factor].first, first[factor].second, tensor.value, d);
      }
    }
  }
  Dim getLeader(Value value, unsigned d) {
    classes.insert({value.getAsOpaquePointer(), d});
    return classes.getLeaderValue({value.getAsOpaquePointer(), d});
  }

private:
  llvm::EquivalenceClasses<Dim> classes;
};
} // namespace

const CallTable::Summary &CallTable::getSummary(func::FuncOp func) {
  auto [it, isNew] = summaries.try_emplace(func);
  if (!isNew)
    return it->second;
  DimClasses classes;
  func.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      func::FuncOp callee = getCallee(call);
      if (callee && !keepsSignature(callee))
        classes.add(getRule(call));
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      classes.unite(loop.getInitArgs(), loop.getRegionIterArgs());
      classes.unite(loop.getYieldedValues(), loop.getRegionIterArgs());
      classes.unite(loop.getResults(), loop.getRegionIterArgs());
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      classes.unite(loop.getInits(), loop.getBeforeArguments());
      classes.unite(loop.getConditionOp().getArgs(), loop.getAfterArguments());
      classes.unite(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
      classes.unite(loop.getResults(), loop.getAfterArguments());
    } else if (auto loop = dyn_cast<scf::ForallOp>(op); loop && isControlFlow(op)) {
      for (auto [i, arg] : llvm::enumerate(loop.getRegionIterArgs())) {
        llvm::SmallBitVector unsharded = getPartlyWrittenDims(loop, i);
        for (unsigned d = 0; d < unsharded.size(); ++d)
          if (!unsharded.test(d)) {
            classes.unite(loop.getOutputs()[i], d, arg, d);
            classes.unite(loop.getResult(i), d, arg, d);
          }
      }
    } else if (isControlFlow(op)) {
      for (Region &region : op->getRegions())
        if (!region.empty())
          classes.unite(region.front().getTerminator()->getOperands(), op->getResults());
    } else if (!isConstantLike(op) && op != func && !op->hasTrait<OpTrait::IsTerminator>()) {
      ShardingRule rule = getShardingRule(op);
      if (!rule.isFallback)
        classes.add(rule);
    }
  });
  // A dim that is not related to others is a class.
  llvm::DenseMap<DimClasses::Dim, int32_t> numbers;
  Summary summary;
  auto add = [&](Value value) {
    summary.tensors.emplace_back();
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (int64_t d = 0; d < type.getRank(); ++d)
        summary.tensors.back().push_back(
            numbers.try_emplace(classes.getLeader(value, d), numbers.size()).first->second);
  };
  for (BlockArgument arg : func.getArguments())
    add(arg);
  if (func.getBody().hasOneBlock())
    for (Value value : func.getBody().front().getTerminator()->getOperands())
      add(value);
  return summaries[func] = std::move(summary);
}

ShardingRule CallTable::getRule(func::CallOp call) {
  Summary summary = getSummary(getCallee(call));
  ShardingRule rule;
  llvm::DenseMap<int32_t, int32_t> factors;
  auto describe = [&](Value value, ArrayRef<int32_t> dims) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    for (auto [size, number] : llvm::zip(type.getShape(), dims)) {
      auto [it, isNew] = factors.try_emplace(number, 0);
      if (isNew)
        it->second = rule.addFactor(size, ShapedType::isDynamic(size) ? FactorKind::Replicated : FactorKind::Parallel);
      // Dims of different sizes that are related only in part.
      if (rule.factor(it->second).size == size)
        rule.addDim({it->second});
      else
        rule.addDim({});
    }
  };
  unsigned t = 0;
  for (Value operand : call.getOperands()) {
    rule.addOperand(operand);
    describe(operand, summary.tensors[t++]);
  }
  for (Value result : call.getResults()) {
    rule.addResult(result);
    describe(result, t < summary.tensors.size() ? ArrayRef<int32_t>(summary.tensors[t++]) : ArrayRef<int32_t>());
  }
  replicateUnshardable(rule);
  // Arguments and results may be sharded unevenly: the callee reshards where it cannot compute on padded shards.
  for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f)
    rule.setAllowsPadding(f, !ShapedType::isDynamic(rule.factor(f).size));
  return rule;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

std::pair<func::FuncOp, bool> CallTable::specialize(func::FuncOp callee, ArrayRef<ShardingAttr> arguments,
                                                    ArrayRef<ShardingAttr> results) {
  MLIRContext *context = module.getContext();
  SmallVector<Attribute> key;
  for (ArrayRef<ShardingAttr> list : {arguments, results})
    for (ShardingAttr attr : list)
      key.push_back(attr ? Attribute(attr) : UnitAttr::get(context));
  func::FuncOp &copy = copies[{callee, ArrayAttr::get(context, key)}];
  if (copy)
    return {copy, false};
  copy = callee.clone();
  std::string name;
  do
    name = (callee.getName() + "_spmd" + Twine(numCopies[callee]++)).str();
  while (functions.contains(StringAttr::get(context, name)));
  copy.setSymName(name);
  copy.setPrivate();
  for (auto [i, attr] : llvm::enumerate(arguments))
    if (attr)
      copy.setArgAttr(i, kShardingAttr, attr);
  for (auto [i, attr] : llvm::enumerate(results))
    if (attr)
      copy.setResultAttr(i, kShardingAttr, attr);
  module.insert(callee, copy);
  functions[copy.getSymNameAttr()] = copy;
  indices[copy] = std::make_unique<FunctionIndex>(copy);
  takeMeshes(copy);
  return {copy, true};
}

void CallTable::eraseUnused() {
  if (specialized.empty())
    return;
  // Callers of a function that is erased are copies or erased themselves; calls
  // with scalars stand in bodies too.
  llvm::SmallDenseSet<StringAttr> called;
  module.walk([&](func::CallOp call) {
    if (!specialized.contains(call->getParentOfType<func::FuncOp>()))
      called.insert(call.getCalleeAttr().getAttr());
  });
  llvm::DenseSet<Operation *> loading = getLoadingFunctions(module);
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (specialized.contains(func) && !called.contains(func.getSymNameAttr()) && !loading.contains(func))
      func.erase();
}
