//===- OutlineLayers.cpp - Equal layers of a program as one function ------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Target/Common/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include <list>
#include <unordered_map>

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETOUTLINELAYERS
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::target;

/// Operands, and what the regions of an op use of the values outside.
static SetVector<Value> getUsedValues(Operation *op) {
  SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  return used;
}

/// A value that a layer computes for itself: constants, empty and filled tensors, and the numbers that are computed
/// from them or read from tensors.
static bool isRecomputed(Operation *op) {
  if (!op || op->getNumResults() == 0 || isa<bufferization::AllocTensorOp>(op))
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op))
    return true;
  if (!isPure(op))
    return false;
  if (llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>))
    return op->getNumRegions() == 0;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && !hasAssertion(linalgOp) && llvm::all_of(getUsedValues(op), [](Value used) {
           Operation *def = used.getDefiningOp();
           return def && !isa<linalg::LinalgOp>(def) && isRecomputed(def); // Not along a chain of layers.
         });
}

/// The attribute that is not the same in equal layers: the number of a collective.
static std::optional<int64_t> getCollective(Operation *op) {
  if (!isa<CollectiveOp, StartOp, DoneOp>(op))
    return std::nullopt;
  return op->getAttrOfType<IntegerAttr>("id").getInt();
}

/// Equal for ops of two layers that differ only in the values they use.
static llvm::hash_code hashOf(Operation *op, unsigned depth = 0) {
  llvm::hash_code hash = llvm::hash_value(op->getName().getAsOpaquePointer());
  if (getCollective(op))
    hash = llvm::hash_combine(hash, op->getNumOperands());
  else
    hash = llvm::hash_combine(hash, op->getDiscardableAttrDictionary(), op->hashProperties());
  for (Type type : op->getResultTypes())
    hash = llvm::hash_combine(hash, type);
  for (Value operand : op->getOperands()) {
    hash = llvm::hash_combine(hash, operand.getType());
    if (Operation *def = operand.getDefiningOp(); depth < 4 && isRecomputed(def))
      hash = llvm::hash_combine(hash, hashOf(def, depth + 1));
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        hash = llvm::hash_combine(hash, hashOf(&inner, depth + 1));
  return hash;
}

namespace {
/// Consecutive equal layers: `count` of `period` ops each, from op number `begin`.
struct Layers {
  size_t begin = 0, period = 0, count = 0;
  size_t end() const { return begin + period * count; }
  size_t saved() const { return period * (count - 1); }
};

/// The layers of one function.
class LayerOutliner {
public:
  LayerOutliner(ModuleOp module, func::FuncOp func, int64_t minOps, size_t &numFunctions)
      : module(module), func(func), minOps(minOps), numFunctions(numFunctions) {
    for (Operation &op : func.getBody().front().without_terminator())
      if (!isRecomputed(&op)) {
        numbers[&op] = ops.size();
        ops.push_back(&op);
        hashes.push_back(hashOf(&op));
      }
  }

  /// Finds layers, and makes functions of them.
  void run() {
    // What is before and after equal layers may have others: an encoder, and a decoder.
    SmallVector<std::pair<size_t, size_t>> ranges{{0, ops.size()}};
    SmallVector<Layers> found;
    while (!ranges.empty()) {
      auto [begin, end] = ranges.pop_back_val();
      Layers layers = find(begin, end);
      if (layers.count < 2 || int64_t(layers.saved()) < minOps)
        continue;
      found.push_back(layers);
      ranges.push_back({begin, layers.begin});
      ranges.push_back({layers.end(), end});
    }
    std::list<std::vector<Layer>> all;
    std::vector<SmallVector<Layer *>> groups;
    for (const Layers &layers : found)
      addFunctions(layers, all.emplace_back(layers.count), groups);
    for (ArrayRef<Layer *> group : groups)
      for (Layer *layer : group)
        replace(*layer);
  }

private:
  /// A layer as a function, and what a call of it takes.
  struct Layer {
    ArrayRef<Operation *> ops;
    SetVector<Operation *> body; ///< The ops, and recomputed ones before their first user.
    SetVector<Value> inputs;
    SmallVector<Value> results;
    SmallVector<int64_t> tied; ///< Of each result, the input that may share its memory, or -1.
    int64_t firstCollective = 0;
    func::FuncOp function;
  };

  Layers find(size_t begin, size_t end);
  size_t addToFirst(const Layers &layers, size_t begin);
  void moveBefore(Operation *op, Operation *at);
  size_t crossingBytes(size_t cut, size_t next) const;
  bool isUsedOutside(Value value, ArrayRef<Operation *> layer);
  bool describe(Layer &layer);
  static bool areEqual(const Layer &a, const Layer &b);
  func::FuncOp makeFunction(const Layer &layer);
  void addFunctions(const Layers &layers, std::vector<Layer> &all, std::vector<SmallVector<Layer *>> &groups);
  void replace(Layer &layer);

  ModuleOp module;
  func::FuncOp func;
  int64_t minOps;
  size_t &numFunctions;
  SmallVector<Operation *> ops; ///< Those of the block that are not recomputed.
  SmallVector<llvm::hash_code> hashes;
  DenseMap<Operation *, size_t> numbers;
  DenseMap<Value, Value> replaced;
};
} // namespace

/// Bytes of values that ops before `cut` define and those from there up to `next` use.
size_t LayerOutliner::crossingBytes(size_t cut, size_t next) const {
  SetVector<Value> used;
  for (size_t i = cut; i < next; ++i) {
    used.insert_range(ops[i]->getOperands());
    getUsedValuesDefinedAbove(ops[i]->getRegions(), used);
  }
  size_t bytes = 0;
  for (Value value : used) {
    auto it = value.getDefiningOp() ? numbers.find(value.getDefiningOp()) : numbers.end();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (it != numbers.end() && it->second < cut && it->second + (next - cut) >= cut && type)
      bytes += type.getNumElements() * llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  }
  return bytes;
}

/// The equal layers that save most ops; between layers go as few bytes as possible.
Layers LayerOutliner::find(size_t begin, size_t end) {
  std::unordered_map<size_t, size_t> last;
  llvm::MapVector<size_t, size_t> distances;
  for (size_t i = begin; i < end; ++i) {
    auto [it, isNew] = last.try_emplace(size_t(hashes[i]), i);
    if (!isNew)
      ++distances[i - std::exchange(it->second, i)];
  }
  SmallVector<std::pair<size_t, size_t>> periods(distances.begin(), distances.end());
  llvm::sort(periods, [](auto a, auto b) {
    return std::pair(a.second * a.first, b.first) > std::pair(b.second * b.first, a.first);
  });
  constexpr size_t kMostPeriods = 32;
  Layers best;
  size_t bestEnd = 0;
  for (auto [period, count] : ArrayRef(periods).take_front(kMostPeriods))
    for (size_t i = begin; i + period < end;) {
      size_t run = i;
      while (i + period < end && hashes[i] == hashes[i + period])
        ++i;
      Layers layers{run, period, (i - run) / period + 1};
      const bool isShorter = layers.saved() == best.saved() && period < best.period;
      if (layers.count > 1 && (layers.saved() > best.saved() || isShorter)) {
        best = layers;
        bestEnd = i + period;
      }
      i = std::max(i, run + 1);
    }
  if (best.count < 2)
    return best;
  const size_t first = best.begin - addToFirst(best, begin);
  best.count = (bestEnd - first) / best.period;
  size_t fewest = SIZE_MAX;
  for (size_t at = first; at + best.period * best.count <= bestEnd; ++at)
    if (size_t bytes = crossingBytes(at + best.period, at + 2 * best.period); bytes < fewest) {
      fewest = bytes;
      best.begin = at;
    }
  return best;
}

/// Moves an op, with the recomputed ops that it and its regions use.
void LayerOutliner::moveBefore(Operation *op, Operation *at) {
  for (Value value : getUsedValues(op))
    if (Operation *def = value.getDefiningOp(); isRecomputed(def) && at->isBeforeInBlock(def))
      moveBefore(def, at);
  op->moveBefore(at);
}

/// The first layer also has what all layers share, such as a conversion of the mask. Such ops move before it, so that
/// equal ops before `layers` are one sequence with them: returns their number.
size_t LayerOutliner::addToFirst(const Layers &layers, size_t begin) {
  SmallVector<size_t> own, shared; // Last first.
  for (size_t i = layers.begin; i > begin && own.size() < layers.period && shared.size() < layers.period;) {
    const bool isEqual = hashes[--i] == hashes[layers.begin + layers.period - 1 - own.size()];
    (isEqual ? own : shared).push_back(i);
  }
  DenseSet<Operation *> equal;
  for (size_t i : own)
    equal.insert(ops[i]);
  auto dependsOnEqual = [&](Operation *op) {
    SetVector<Value> used = getUsedValues(op);
    for (unsigned k = 0; k < used.size(); ++k) {
      Operation *def = used[k].getDefiningOp();
      if (equal.contains(def))
        return true;
      if (isRecomputed(def))
        used.insert_range(getUsedValues(def));
    }
    return false;
  };
  for (size_t i : shared)
    if (!isMemoryEffectFree(ops[i]) || dependsOnEqual(ops[i])) {
      llvm::erase_if(own, [&](size_t k) { return k < i; });
      break;
    }
  if (own.empty())
    return 0;
  llvm::erase_if(shared, [&](size_t i) { return i < own.back(); });
  SmallVector<std::pair<Operation *, llvm::hash_code>> order;
  for (const SmallVector<size_t> &part : {shared, own})
    for (size_t i : llvm::reverse(part))
      order.emplace_back(ops[i], hashes[i]);
  for (auto [op, hash] : ArrayRef(order).take_front(shared.size()))
    moveBefore(op, ops[own.back()]);
  const size_t start = own.back();
  for (auto [k, entry] : llvm::enumerate(order)) {
    std::tie(ops[start + k], hashes[start + k]) = entry;
    numbers[entry.first] = start + k;
  }
  return own.size();
}

bool LayerOutliner::isUsedOutside(Value value, ArrayRef<Operation *> layer) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *op = func.getBody().front().findAncestorOpInBlock(*user);
    auto it = numbers.find(op);
    if (it != numbers.end())
      return it->second < numbers.lookup(layer.front()) || it->second > numbers.lookup(layer.back());
    if (op->hasTrait<OpTrait::IsTerminator>())
      return true;
    return llvm::any_of(op->getResults(), [&](Value result) { return isUsedOutside(result, layer); });
  });
}

/// Adds to the numbers of the collectives of a layer.
static void renumber(ArrayRef<Operation *> layer, int64_t added) {
  for (Operation *op : layer)
    op->walk([&](Operation *inner) {
      if (std::optional<int64_t> id = getCollective(inner))
        inner->setAttr("id", Builder(op->getContext()).getI64IntegerAttr(*id + added));
    });
}

/// False where the layer cannot be a function. Its collectives are then numbered from 0.
bool LayerOutliner::describe(Layer &layer) {
  // Recomputed ops precede their first user, wherever they are in the program.
  DenseSet<Operation *> own(layer.ops.begin(), layer.ops.end());
  bool isLegal = true;
  constexpr unsigned kMostDepth = 64;
  std::function<void(Operation *, unsigned)> add = [&](Operation *op, unsigned depth) {
    isLegal &= depth < kMostDepth && layer.body.size() < 8 * layer.ops.size();
    if (!isLegal || layer.body.contains(op))
      return;
    for (Value value : getUsedValues(op)) {
      Operation *def = value.getDefiningOp();
      if (def && own.contains(def))
        continue;
      if (isRecomputed(def)) {
        add(def, depth + 1);
      } else {
        auto type = dyn_cast<RankedTensorType>(value.getType());
        isLegal &= type && type.hasStaticShape() && !isa_and_nonnull<StartOp>(def);
        layer.inputs.insert(value);
      }
    }
    layer.body.insert(op);
  };
  for (Operation *op : layer.ops)
    add(op, 0);
  for (Operation *op : layer.ops)
    for (Value result : op->getResults())
      if (isUsedOutside(result, layer.ops)) {
        auto type = dyn_cast<RankedTensorType>(result.getType());
        isLegal &= type && type.hasStaticShape() && !isa<StartOp>(op);
        layer.results.push_back(result);
      }
  if (!isLegal || layer.results.empty())
    return false;

  std::optional<int64_t> first;
  for (Operation *op : layer.ops)
    op->walk([&](Operation *inner) {
      if (std::optional<int64_t> id = getCollective(inner))
        first = std::min(first.value_or(*id), *id);
    });
  layer.firstCollective = first.value_or(0);
  renumber(layer.ops, -layer.firstCollective);
  // A result that is tied to an argument of the program, through the layer.
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  layer.tied.assign(layer.results.size(), -1);
  for (auto [i, result] : llvm::enumerate(layer.results))
    for (OpOperand &use : result.getUses()) {
      if (use.getOwner() != ret)
        continue;
      auto tied = func.getResultAttrOfType<IntegerAttr>(use.getOperandNumber(), kTiedAttr);
      auto input = tied ? llvm::find(layer.inputs, func.getArgument(tied.getInt())) : layer.inputs.end();
      if (input != layer.inputs.end())
        layer.tied[i] = input - layer.inputs.begin();
    }
  return true;
}

/// Whether two layers are one function.
bool LayerOutliner::areEqual(const Layer &a, const Layer &b) {
  if (a.body.size() != b.body.size() || a.inputs.size() != b.inputs.size() || a.results.size() != b.results.size() ||
      a.tied != b.tied)
    return false;
  DenseMap<Value, Value> equal;
  auto mark = [&](Value x, Value y) { equal[x] = y; };
  auto check = [&](Value x, Value y) { return success(equal.lookup(x) == y); };
  for (auto [x, y] : llvm::zip_equal(a.inputs, b.inputs)) {
    if (x.getType() != y.getType())
      return false;
    mark(x, y);
  }
  for (auto [x, y] : llvm::zip_equal(a.body, b.body))
    if (!OperationEquivalence::isEquivalentTo(x, y, check, mark, OperationEquivalence::IgnoreLocations))
      return false;
  return llvm::all_of(llvm::zip_equal(a.results, b.results),
                      [&](auto pair) { return equal.lookup(std::get<0>(pair)) == std::get<1>(pair); });
}

func::FuncOp LayerOutliner::makeFunction(const Layer &layer) {
  OpBuilder b(module.getContext());
  Location loc = layer.ops.front()->getLoc();
  ValueRange inputs(layer.inputs.getArrayRef()), results(layer.results);
  auto function = func::FuncOp::create(loc, "layer_" + std::to_string(numFunctions++),
                                       b.getFunctionType(inputs.getTypes(), results.getTypes()));
  function.setPrivate();
  function->setAttr(kLayerAttr, b.getUnitAttr());
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  for (auto [i, tied] : llvm::enumerate(layer.tied))
    if (tied >= 0)
      function.setResultAttr(i, kTiedAttr, b.getI64IntegerAttr(tied));
  Block *block = function.addEntryBlock();
  b.setInsertionPointToStart(block);
  IRMapping mapping;
  mapping.map(layer.inputs.getArrayRef(), block->getArguments());
  for (Operation *op : layer.body)
    b.clone(*op, mapping);
  func::ReturnOp::create(b, loc, llvm::map_to_vector(layer.results, [&](Value v) { return mapping.lookup(v); }));
  module.push_back(function);
  return function;
}

/// Calls the function of a layer in place of its ops.
void LayerOutliner::replace(Layer &layer) {
  OpBuilder b(layer.ops.front());
  Location loc = layer.ops.front()->getLoc();
  SmallVector<Value> inits;
  for (Value result : layer.results) {
    auto type = cast<RankedTensorType>(result.getType());
    inits.push_back(tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType()));
  }
  SmallVector<Value> inputs;
  for (Value input : layer.inputs)
    inputs.push_back(replaced.lookup_or(input, input));
  auto call =
      CallOp::create(b, loc, TypeRange(ValueRange(inits)), FlatSymbolRefAttr::get(layer.function),
                     b.getI64IntegerAttr(layer.firstCollective), b.getDenseI64ArrayAttr(layer.tied), inputs, inits);
  for (auto [result, called] : llvm::zip_equal(layer.results, call.getResults())) {
    result.replaceAllUsesWith(called);
    replaced[result] = called;
  }
  // Users that remain are recomputed ops that only the layer needed.
  SetVector<Operation *> dead(layer.ops.begin(), layer.ops.end());
  for (unsigned k = 0; k < dead.size(); ++k)
    for (Operation *user : dead[k]->getUsers())
      dead.insert(func.getBody().front().findAncestorOpInBlock(*user));
  for (Operation *op : dead)
    op->dropAllReferences();
  for (Operation *op : dead)
    op->erase();
}

void LayerOutliner::addFunctions(const Layers &layers, std::vector<Layer> &all,
                                 std::vector<SmallVector<Layer *>> &groups) {
  std::vector<SmallVector<Layer *>> found;
  for (size_t i = 0; i < layers.count; ++i) {
    Layer &layer = all[i];
    layer.ops = ArrayRef(ops).slice(layers.begin + i * layers.period, layers.period);
    if (!describe(layer))
      continue;
    auto group = llvm::find_if(found, [&](ArrayRef<Layer *> known) { return areEqual(*known.front(), layer); });
    if (group == found.end())
      found.push_back({&layer});
    else
      group->push_back(&layer);
  }
  for (SmallVector<Layer *> &group : found) {
    if (group.size() < 2) {
      renumber(group.front()->ops, group.front()->firstCollective);
      continue;
    }
    func::FuncOp function = makeFunction(*group.front());
    for (Layer *layer : group)
      layer->function = function;
    groups.push_back(std::move(group));
  }
}

namespace {
struct OutlineLayers : spmd::impl::SpmdTargetOutlineLayersBase<OutlineLayers> {
  using Base::Base;
  void runOnOperation() override {
    size_t numFunctions = 0;
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!func.isExternal() && func.getBody().hasOneBlock())
        LayerOutliner(getOperation(), func, minOps, numFunctions).run();
  }
};
} // namespace
