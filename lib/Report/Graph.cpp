//===- Graph.cpp - A function as a drawing --------------------------------===//

#include "Graph.h"

#include "shardkit/Propagation/Propagation.h"
#include "shardkit/Rules/ControlFlow.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

constexpr size_t kFoldFrom = 300; // ops
constexpr size_t kMaxNodes = 2000;
constexpr size_t kWindow = 8; // equal ops that suggest a period

bool hasTensors(Operation *op) {
  return llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) ||
         llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
}

/// Draws the ops of one function as a graph.
///
/// 1. Folds: in a function with many ops, finds the period of its repeated ops, such as the
///    layers of a model, and draws each repetition once (24 equal layers: one layer, x24).
/// 2. Nodes and edges, in program order; the page places them.
class Drawing {
public:
  Drawing(func::FuncOp func, const PartitionedValues &values);
  FunctionGraph run();

private:
  void collect(Block &block);
  llvm::hash_code getSignature(Operation *op);

  /// Finds the most frequent period and draws its repetitions once. False if there is
  /// none.
  bool fold();

  /// The node of the op that defines a value, or of an argument. -1 if it is not
  /// drawn.
  int64_t getNode(Value value);
  int64_t nodeOf(Operation *op);
  void addNodes();

  func::FuncOp func;
  const PartitionedValues &values;
  FunctionGraph graph;
  std::vector<Operation *> ops;
  llvm::DenseMap<Operation *, size_t> index;
  std::vector<size_t> representative;
  std::vector<int64_t> times;
  llvm::DenseMap<size_t, unsigned> nodes; // by op
  llvm::DenseMap<Value, unsigned> argumentNodes;
};

} // namespace

Drawing::Drawing(func::FuncOp func, const PartitionedValues &values) : func(func), values(values) {
  for (Block &block : func.getBody())
    collect(block);
}

FunctionGraph Drawing::run() {
  // The representative of each op: itself, or an equal op one or more periods before.
  representative.resize(ops.size());
  times.assign(ops.size(), 1);
  for (size_t i = 0; i < ops.size(); ++i)
    representative[i] = i;
  if (ops.size() > kFoldFrom)
    for (int round = 0; round < 4; ++round)
      if (!fold())
        break;
  addNodes();
  return std::move(graph);
}

void Drawing::collect(Block &block) {
  for (Operation &op : block) {
    if (!hasTensors(&op) || isConstantLike(&op))
      continue;
    index[&op] = ops.size();
    ops.push_back(&op);
    if (isControlFlow(&op) || isa<scf::InParallelOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          collect(inner);
  }
}

llvm::hash_code Drawing::getSignature(Operation *op) {
  llvm::hash_code hash = llvm::hash_combine(op->getName(), op->getBlock());
  for (Type type : op->getOperandTypes())
    hash = llvm::hash_combine(hash, type);
  for (Value result : op->getResults())
    hash = llvm::hash_combine(hash, result.getType(), values.getLayout(result));
  return hash;
}

bool Drawing::fold() {
  // Runs of ops that are still drawn, one after the other.
  std::vector<size_t> drawn;
  for (size_t i = 0; i < ops.size(); ++i)
    if (representative[i] == i && times[i] == 1)
      drawn.push_back(i);
  std::vector<size_t> signatures;
  for (size_t i : drawn)
    signatures.push_back(getSignature(ops[i]));
  size_t n = drawn.size();
  if (n <= kFoldFrom)
    return false;
  llvm::DenseMap<size_t, size_t> lastAt;
  llvm::MapVector<size_t, size_t> votes;
  for (size_t i = 0; i + kWindow <= n; ++i) {
    // Shifted, as the map reserves two keys.
    size_t hash = size_t(llvm::hash_combine_range(signatures.begin() + i, signatures.begin() + i + kWindow)) >> 2;
    auto [it, isNew] = lastAt.try_emplace(hash, i);
    if (!isNew) {
      ++votes[i - it->second];
      it->second = i;
    }
  }
  size_t period = 0, most = 0;
  for (auto [p, count] : votes)
    if (count > most || (count == most && p < period)) {
      period = p;
      most = count;
    }
  if (period == 0)
    return false;
  bool any = false;
  for (size_t i = 0; i + period < n;) {
    size_t j = i;
    while (j + period < n && signatures[j] == signatures[j + period] &&
           // No folded op is in between.
           drawn[j + period] - drawn[j] == drawn[i + period] - drawn[i])
      ++j;
    size_t repeats = (j - i) / period + 1;
    if (repeats < 2) {
      i = j + 1;
      continue;
    }
    for (size_t k = i; k < i + repeats * period; ++k) {
      size_t first = i + (k - i) % period;
      representative[drawn[k]] = drawn[first];
      times[drawn[k]] = repeats;
    }
    any = true;
    i += repeats * period;
  }
  return any;
}

int64_t Drawing::getNode(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto arg = cast<BlockArgument>(value);
    Operation *parent = arg.getOwner()->getParentOp();
    if (!isa<func::FuncOp>(parent))
      return nodeOf(parent); // an iteration argument
    auto [it, isNew] = argumentNodes.try_emplace(value, graph.nodes.size());
    if (isNew)
      graph.nodes.push_back({nullptr, value});
    return it->second;
  }
  return nodeOf(op);
}

int64_t Drawing::nodeOf(Operation *op) {
  auto it = index.find(op);
  if (it == index.end())
    return -1;
  auto node = nodes.find(representative[it->second]);
  return node == nodes.end() ? -1 : int64_t(node->second);
}

void Drawing::addNodes() {
  for (size_t i = 0; i < ops.size(); ++i) {
    if (representative[i] != i)
      continue;
    if (graph.nodes.size() >= kMaxNodes) {
      ++graph.notDrawn;
      continue;
    }
    SmallVector<std::pair<int64_t, Value>> sources;
    auto addSource = [&](Value value) {
      if (!isa<RankedTensorType>(value.getType()))
        return;
      int64_t from = getNode(value);
      if (from >= 0 && !llvm::is_contained(sources, std::pair(from, value)))
        sources.emplace_back(from, value);
    };
    for (Value operand : ops[i]->getOperands())
      addSource(operand);
    // Ops of a loop or branch are below it.
    if (Operation *parent = ops[i]->getParentOp(); sources.empty() && nodeOf(parent) >= 0)
      sources.emplace_back(nodeOf(parent), Value());
    unsigned node = graph.nodes.size();
    nodes[i] = node;
    graph.nodes.push_back({ops[i], Value(), times[i]});
    for (auto [from, value] : sources)
      if (from != node)
        graph.edges.push_back({unsigned(from), node, value});
  }
}

FunctionGraph spmd::buildGraph(func::FuncOp func, const PartitionedValues &values) {
  return Drawing(func, values).run();
}
