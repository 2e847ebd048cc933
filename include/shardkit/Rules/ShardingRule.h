//===- ShardingRule.h - Factors of an op and its tensors --------*- C++ -*-===//
//
// A sharding rule describes the iteration space of an op as factors and each
// dimension of each operand and result as a product of factors, major to minor.
// Propagation, the choice of how an op computes, cost and partition all read
// it; none of them knows an op by name.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RULES_SHARDINGRULE_H
#define SHARDKIT_RULES_SHARDINGRULE_H

#include "shardkit/Layout/Layout.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::linalg {
class LinalgOp;
} // namespace mlir::linalg

namespace mlir::spmd {

/// What sharding a factor means.
enum class FactorKind : uint8_t {
  Parallel,  ///< every shard computes its own part
  Reduction, ///< shards hold partial results
  /// Places along it come from data: every shard reads or writes those that it
  /// owns. A result without the factor is partial: one shard has what was looked
  /// up, the others what changes nothing.
  Indexed,
  /// Every shard picks a candidate, and then all pick among these (argmax). Results
  /// are complete; the axes follow the order of the factor (no gaps).
  Selection,
  Whole ///< must not be sharded (ordered, windowed, opaque)
};

struct Factor {
  int64_t size;
  FactorKind kind;
  /// Whether a dim follows it in windows (DimWindow), or what a shard does depends
  /// on where its part begins: it is cut by whole axes.
  bool hasWindows = false;
  /// Whether axes may leave a rest, so that the last shards are padded. Found out
  /// only where something is given that way (`markUnevenFactors`).
  bool mayLeaveRest = false;
  /// What the elements of a shard must be a multiple of.
  int64_t granule = 1;
};

/// How a dim follows a factor that is not equal to it: place i of the factor reads
/// places stride * i + offset ... of the dim, `length` of them, as far as the dim
/// has them. A shard then reads a window of the dim, which may reach into what its
/// neighbours hold.
///   dim 2 * i + 3 * k of a convolution, k < 3      stride 2, offset 0, length 7
///   elements 5 to 9 of a slice                     stride 1, offset 5, length 1
///   a dim of 8, reversed                           stride -1, offset 7, length 1
/// Where the factor is finer than the dim, these places divided by `divisor`,
/// rounded down, the last one too; the length may then be below 1: none for some i.
///   a dim written at every third place from 2 on   divisor 3, offset 0, length -1
struct DimWindow {
  int64_t stride = 1, offset = 0, length = 1, divisor = 1;
  /// What a shard of `chunk` places of the factor reads where `count` shards cut it.
  /// If the divisor does not divide what a chunk moves by, windows that begin at
  /// equal steps must be longer than each of them needs.
  Window ofChunk(int64_t chunk, int64_t count) const;
};

/// Role of an operand beyond being read.
enum class OperandRole : uint8_t {
  Input,
  Init,      ///< accumulated into a result: counts once over partial shards
  ShapeOnly, ///< its elements are not read
};

class ShardingRule {
public:
  /// One tensor of the rule. Operands come first (the op's own operands, then
  /// tensors captured by its regions in order of first use), then results.
  struct Tensor {
    Value value;
    /// Null for what is no ranked tensor.
    RankedTensorType type;
    OperandRole role = OperandRole::Input;
    /// For results: how partial results over a reduction factor combine.
    ReductionKind reduction = ReductionKind::Sum;
    /// For an Init operand: the result that it initialises.
    int32_t result = -1;
    uint32_t firstDim = 0, numDims = 0;
  };

  unsigned numFactors() const { return factors.size(); }
  unsigned numOperands() const { return operandCount; }
  unsigned numResults() const { return tensors.size() - operandCount; }
  llvm::ArrayRef<Tensor> operands() const { return llvm::ArrayRef(tensors).take_front(operandCount); }
  llvm::ArrayRef<Tensor> results() const { return llvm::ArrayRef(tensors).drop_front(operandCount); }
  const Tensor &tensor(unsigned i) const { return tensors[i]; }
  /// Factors of dim `d` of tensor `t`, major to minor; empty for a dim of size 1
  /// or one that no factor describes (it stays whole).
  llvm::ArrayRef<int32_t> dimFactors(const Tensor &t, unsigned d) const {
    const Dim &dim = dims[t.firstDim + d];
    return llvm::ArrayRef(factorIds).slice(dim.first, dim.count);
  }
  /// How dim `d` of tensor `t` follows its only factor; null where they are equal.
  const DimWindow *getWindow(const Tensor &t, unsigned d) const {
    int32_t window = dims[t.firstDim + d].window;
    return window < 0 ? nullptr : &windows[window];
  }
  bool hasWindows() const {
    return llvm::any_of(factors, [](const Factor &f) { return f.hasWindows; });
  }
  const Factor &factor(int32_t f) const { return factors[f]; }
  bool hasFactor(const Tensor &t, int32_t f) const;
  /// True if `result` is partial over the axes of factor `f`.
  bool isPartial(const Tensor &result, int32_t f) const {
    return factors[f].kind == FactorKind::Reduction ||
           (factors[f].kind == FactorKind::Indexed && !hasFactor(result, f));
  }
  llvm::ArrayRef<Factor> getFactors() const { return factors; }
  /// Contractions and the like, whose compute is worth spreading.
  bool isContraction = false;
  /// Set where no interface describes the op: everything is whole.
  bool isFallback = false;

  //===--- building -------------------------------------------------------===//
  int32_t addFactor(int64_t size, FactorKind kind = FactorKind::Parallel) {
    factors.push_back({size, kind});
    return factors.size() - 1;
  }
  void setKind(int32_t f, FactorKind kind) { factors[f].kind = kind; }
  void setMayLeaveRest(int32_t f, bool may) { factors[f].mayLeaveRest = may; }
  /// Operands are added before results.
  Tensor &addOperand(Value value) {
    ++operandCount;
    return addTensor(value);
  }
  Tensor &addResult(Value value) { return addTensor(value); }
  /// Describes the next dim of the tensor added last.
  void addDim(llvm::ArrayRef<int32_t> dimFactorIds) {
    dims.push_back({(uint32_t)factorIds.size(), (uint32_t)dimFactorIds.size(), -1});
    factorIds.append(dimFactorIds.begin(), dimFactorIds.end());
    ++tensors.back().numDims;
  }
  /// Describes all dims of the tensor added last by a factor each, in order.
  void addDims(llvm::ArrayRef<int32_t> factorPerDim) {
    for (int32_t f : factorPerDim)
      addDim(f < 0 ? llvm::ArrayRef<int32_t>() : llvm::ArrayRef<int32_t>(f));
  }

  /// Describes the next dim as windows along a factor.
  void addWindows(int32_t f, DimWindow window) {
    addDim(f);
    dims.back().window = windows.size();
    windows.push_back(window);
    setHasWindows(f);
  }
  void setHasWindows(int32_t f) { factors[f].hasWindows = true; }
  void setGranule(int32_t f, int64_t granule) { factors[f].granule = granule; }

  //===--- interning (RuleTable) ------------------------------------------===//
  /// All that the rule says of types, not of values, as numbers.
  void appendKey(llvm::SmallVectorImpl<int64_t> &key) const;
  void dropValues() {
    for (Tensor &tensor : tensors)
      tensor.value = Value();
  }

private:
  Tensor &addTensor(Value value) {
    tensors.push_back({});
    tensors.back().value = value;
    if (value)
      tensors.back().type = llvm::dyn_cast<RankedTensorType>(value.getType());
    tensors.back().firstDim = dims.size();
    return tensors.back();
  }
  llvm::SmallVector<Factor, 8> factors;
  llvm::SmallVector<Tensor, 4> tensors;
  struct Dim {
    uint32_t first, count;
    int32_t window;
  };
  llvm::SmallVector<Dim, 12> dims;
  llvm::SmallVector<DimWindow, 0> windows;
  llvm::SmallVector<int32_t, 12> factorIds;
  unsigned operandCount = 0;
};

/// The rule of any op: the one that `spmd.sharding_rule` on it says, else its
/// own.
ShardingRule getShardingRule(Operation *op);
/// An op's own rule: its interface's, the elementwise one where it has the trait
/// `Elementwise`, else a rule that keeps every operand, captured tensor and
/// result whole (`isFallback`).
ShardingRule getOwnShardingRule(Operation *op);
/// All tensors have the shape of the (first) result; scalar operands are shared.
ShardingRule getElementwiseShardingRule(Operation *op);
/// Dims of two row-major shapes of equal element count that hold the same part of
/// the index: from the common border behind it to the one in front of it, half-open.
///   6x5 and 2x3x5: [0, 1) and [0, 2), [1, 2) and [2, 3)
struct ReshapeGroup {
  unsigned fromBegin, fromEnd, toBegin, toEnd;
  int64_t size; // dynamic for a size that is not known, the same on both sides
  /// Whether the borders inside divide each other, so that its dims are products of
  /// common factors: 2x6 and 4x3, not 4x6 and 3x8.
  bool refines;
};
/// Groups, major to minor; nothing where sizes are not known, except one on either
/// side at the same place, or where there are no elements.
std::optional<llvm::SmallVector<ReshapeGroup>> getReshapeGroups(llvm::ArrayRef<int64_t> from,
                                                                llvm::ArrayRef<int64_t> to);
/// Factors of two such shapes, a list per dim: every border between two dims of one
/// that is also a border of the other or divides one of its dims is a border between
/// factors. The lists of dims in groups that do not refine are empty (splitReshapes
/// takes such reshapes apart).
///   12 and 3x4: [(a b)], [a][b]     2x6 and 4x3: [a][(b c)], [(a b)][c]
struct ReshapeFactors {
  ReshapeFactors(ShardingRule &rule, llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);
  llvm::SmallVector<llvm::SmallVector<int32_t, 2>> from, to;
};
/// True for ops that keep the elements in row-major order: the ops of which
/// splitReshapes takes some apart.
bool isReshape(Operation *op);
/// Replaces a reshape whose dims have no common factors by a collapse to the groups
/// of dims and an expand from them: on a joined dim every digit can be said. So is
/// one of dynamic shape where its groups are known. Others stay. `onReplace`: called
/// with a result before it is replaced, and with what replaces it.
void splitReshapes(llvm::ArrayRef<Operation *> reshapes, llvm::function_ref<void(Value, Value)> onReplace = {});

/// Tensors that are joined along dim `joined`. Equal parts are the digits of the dim
/// (part, place in it), others are read in windows along the result.
ShardingRule getConcatRule(Operation *op, unsigned joined);

//===--- ops with a body over an index space ------------------------------===//
// Structured ops, tensor.generate and tensor.pad: factor k of their own rule is
// loop k (dim k of the result), whatever its kind; indexed factors come behind.

/// The region that runs over an index space, null for other ops.
Region *getIndexedBody(Operation *op);
/// True if the body of the op reads the place it computes.
bool readsIndices(Operation *op);
/// Loop whose index a value in the body is, -1 if it is none.
int64_t getLoopOfIndex(Operation *op, Value index);
/// Adds the tensors that the body captures as operands, in order of first use: a
/// dim that is read at exactly the index of loop k, of `sizes[k]`, by every use
/// has factor k; one that is read at one other place per run of the body has an
/// indexed factor, the same for all dims of that size that are read at that
/// place, if the op can do without what another shard owns (IndexedOps.h); others
/// have none.
void addCapturedOperands(ShardingRule &rule, Operation *op, llvm::ArrayRef<int64_t> sizes);

/// What holds whatever the op: a factor that one tensor has on two dims (a
/// diagonal) cannot be cut, nor can the dims of a tensor without elements.
void keepUncuttableWhole(ShardingRule &rule);

/// True for a tensor without elements. It has no layout but the whole one.
bool hasNoElements(RankedTensorType type);

/// Neutral element of a reduction for elements of `type` (an integer, index or
/// float type).
TypedAttr getNeutralElement(ReductionKind kind, Type type);
/// The value x for which op(acc, x) is acc, bit by bit: a sum that starts from
/// -0.0 stays -0.0.
TypedAttr getExactNeutral(ReductionKind kind, Type type);
/// The same as a scalar constant; of complex numbers too, which have sums and products.
Value createExactNeutral(OpBuilder &b, Location loc, ReductionKind kind, Type type);
/// The element that a tensor holds everywhere, if it is a fill or splat of a constant.
Attribute getFillElement(Value value);
/// True if `value` is known to hold the neutral element (or nothing defined)
/// everywhere: a fill or splat of it, or tensor.empty.
bool isNeutralFill(Value value, ReductionKind kind);
/// The kind of reduction that a scalar op computes, if it is one; booleans are
/// treated as what they are (a sum of i1 is xor).
std::optional<ReductionKind> matchCombiner(Operation *op);
/// How partial results of output `i` of a structured op combine: the yielded value
/// must be one associative op of the accumulator and a value that does not depend
/// on it.
std::optional<ReductionKind> matchReduction(linalg::LinalgOp op, unsigned i);

void registerShardingRules(DialectRegistry &registry);
void registerLinalgShardingRules(DialectRegistry &registry);
void registerElementwiseShardingRules(DialectRegistry &registry);
void registerRelayoutShardingRules(DialectRegistry &registry);
void registerTensorShardingRules(DialectRegistry &registry);
void registerTensorIndexShardingRules(DialectRegistry &registry);
void registerCollectiveShardingRules(DialectRegistry &registry);
void registerTosaShardingRules(DialectRegistry &registry);

} // namespace mlir::spmd

#include "shardkit/Rules/ShardingRuleOpInterface.h.inc"

#endif // SHARDKIT_RULES_SHARDINGRULE_H
