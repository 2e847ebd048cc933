//===- ShardingRule.h - Factors of an op and its tensors --------*- C++ -*-===//
//
// A sharding rule describes the iteration space of an op as factors and each
// dimension of each operand and result as a product of factors, major to minor.
// Propagation, the choice of factor shardings, cost and partition all read it; none
// of them handles an op by name.
//
// How shardings follow from a rule, for %c = matmul %a, %b on mesh <"x"=2, "y"=4>:
//   1. rule:      ([i, k], [k, j]) -> ([i, j]) {i=8, j=16, k=32}, reduction = {k}
//   2. operands:  %a is [{"x"}, {}], %b is [{}, {"y"}]: factors i = {"x"}, j = {"y"}, k = {}
//   3. result:    dims i and j get the axes of their factors: %c is [{"x"}, {"y"}]
// With %a [{"x"}, {"y"}] and %b [{"y"}, {}], k = {"y"}: the shards of %c are partial results,
// [{"x"}, {}], unreduced = {"y"}.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RULES_SHARDINGRULE_H
#define SHARDKIT_RULES_SHARDINGRULE_H

#include "shardkit/Layout/Layout.h"
#include "shardkit/Rules/OpForms.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::spmd {

/// The meaning of sharding a factor.
enum class FactorKind : uint8_t {
  Parallel,  ///< every device computes its slice of the factor
  Reduction, ///< devices compute partial results
  /// Data select elements along it: every device reads or writes the elements of its
  /// shard. A result without the factor is partial: one device has the element, the
  /// others the neutral element. If a dim follows it in windows, their owners send them, and
  /// results are complete.
  Indexed,
  /// Every device selects candidates, then all select among these (argmax, top-k). Results
  /// are complete; the axes follow the order of the factor (no strides).
  Selection,
  Replicated ///< must not be sharded (ordered, windowed, opaque)
};

/// The content that padding lanes of a factor may have while the op runs, as its rule specifies.
enum class PaddingContent : uint8_t {
  /// Not specified. A pure op of another dialect may run on padding of floats along a parallel
  /// factor; of other types it may not, as they may be indices.
  Unknown,
  /// Anything: no element of a result outside of the padding depends on it, and no value traps
  /// or is an address.
  Harmless,
  /// For a reduction: the neutral element of the result, in all operands that have the factor.
  Neutral,
  /// For a parallel factor: zero in operands of integers, which is an address in bounds; else as Harmless.
  Zero,
};

struct Factor {
  int64_t size;
  FactorKind kind;
  /// True if a dim follows it in windows (DimWindow), or if the computation of a shard
  /// depends on its first index: it may be sharded by full axes only.
  bool hasWindows = false;
  PaddingContent padding = PaddingContent::Unknown;
  /// True if axes need not divide it, so that the last shards are padded. Determined
  /// only if a given sharding needs it (`markUnevenFactors`).
  bool allowsPadding = false;
  /// Shards must have a multiple of this number of elements.
  int64_t granule = 1;
  /// Shards, with their padding, must have at least this number: the candidates of a selection.
  int64_t minShard = 1;
};

/// The relation of a dim to a factor that it is not equal to: index i of the factor reads
/// `length` indices of the dim from stride * i + offset on, clipped to the dim. A shard
/// then reads a window of the dim, which may reach into the shards of its neighbors.
///   dim 2 * i + 3 * k of a convolution, k < 3      stride 2, offset 0, length 7
///   elements 5 to 9 of a slice                     stride 1, offset 5, length 1
///   a dim of 8, reversed                           stride -1, offset 7, length 1
///   3 elements from a run-time index on, for all   stride 0, offset 0 (added to it), length 3
/// If the factor is finer than the dim, the first and the last of these indices are
/// divided by `divisor` and rounded down; the length may then be below 1 (no index for
/// some i).
///   a dim written at every third index from 2 on   divisor 3, offset 0, length -1
struct DimWindow {
  int64_t stride = 1, offset = 0, length = 1, divisor = 1;
  bool operator==(const DimWindow &) const = default;
  /// The window of a shard of `chunk` indices of the factor that is split into `count`
  /// shards. If the divisor does not divide the step of a chunk, windows that begin at
  /// equal steps must be longer than each of them needs.
  Window ofChunk(int64_t chunk, int64_t count) const;
};

/// Role of an operand beyond being read.
enum class OperandRole : uint8_t {
  Input,
  Init,      ///< accumulated into a result: added once over partial shards
  ShapeOnly, ///< its elements are not read
};

class ShardingRule {
public:
  /// One tensor of the rule. Operands come first (the op's own operands, then
  /// tensors captured by its regions in order of first use), then results.
  struct Tensor {
    Value value;
    /// Null for values other than ranked tensors.
    RankedTensorType type;
    OperandRole role = OperandRole::Input;
    /// For results: how partial results over a reduction factor combine.
    ReductionKind reduction = ReductionKind::Sum;
    /// For an Init operand: the result that it initializes.
    int32_t result = -1;
    uint32_t firstDim = 0, numDims = 0;
  };

  unsigned numFactors() const { return factors.size(); }
  unsigned numOperands() const { return operandCount; }
  unsigned numResults() const { return tensors.size() - operandCount; }
  llvm::ArrayRef<Tensor> operands() const { return llvm::ArrayRef(tensors).take_front(operandCount); }
  llvm::ArrayRef<Tensor> results() const { return llvm::ArrayRef(tensors).drop_front(operandCount); }
  const Tensor &tensor(unsigned i) const { return tensors[i]; }
  /// Factors of dim `d` of tensor `t`, major to minor; empty for a dim of size 1 or one
  /// that no factor describes (it must not be sharded).
  llvm::ArrayRef<int32_t> dimFactors(const Tensor &t, unsigned d) const {
    const Dim &dim = dims[t.firstDim + d];
    return llvm::ArrayRef(factorIds).slice(dim.first, dim.count);
  }
  /// The window of dim `d` of tensor `t` along its only factor; null if they are equal.
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
           (factors[f].kind == FactorKind::Indexed && !factors[f].hasWindows && !hasFactor(result, f));
  }
  llvm::ArrayRef<Factor> getFactors() const { return factors; }
  /// True for ops with the arithmetic intensity of contractions, which are worth sharding
  /// over all axes.
  bool isContraction = false;
  /// True if no attribute of an op of another dialect holds a size or offset of its tensors, or
  /// if `makeLocal` adjusts those that do. Else factors whose size appears in one are replicated
  /// (GlobalSizes.h).
  bool hasLocalAttributes = false;
  /// Set if no interface describes the op: all its values are replicated.
  bool isFallback = false;
  /// The reason why a description does not fit the op, for `verifyShardingRule`; empty if it does.
  std::string error;

  //===--- building -------------------------------------------------------===//
  int32_t addFactor(int64_t size, FactorKind kind = FactorKind::Parallel) {
    factors.push_back({size, kind});
    return factors.size() - 1;
  }
  void setKind(int32_t f, FactorKind kind) { factors[f].kind = kind; }
  void setPadding(int32_t f, PaddingContent content) { factors[f].padding = content; }
  void setAllowsPadding(int32_t f, bool may) { factors[f].allowsPadding = may; }
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
  void setMinShard(int32_t f, int64_t size) { factors[f].minShard = size; }

  //===--- interning (RuleTable) ------------------------------------------===//
  /// Appends all members that depend on types, not on values, as numbers.
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

/// The rule of any op: the one that its `spmd.sharding_rule` specifies, else the builtin
/// one.
ShardingRule getShardingRule(Operation *op);
/// The builtin rule of an op: that of its interface, the elementwise one if it has the
/// trait `Elementwise`, else a rule that replicates every operand, captured tensor and
/// result (`isFallback`).
ShardingRule getBuiltinShardingRule(Operation *op);
/// All tensors have the shape of the (first) result; scalar operands are shared.
ShardingRule getElementwiseShardingRule(Operation *op);
/// Concatenation along dim `joined`. Equal operands are digits of the dim (number of the
/// operand, index in it), others are read in windows along the result.
ShardingRule getConcatRule(Operation *op, unsigned joined);

/// The needs by the `padding` of a factor: the default of ShardingRuleOpInterface.
std::optional<PaddingNeeds> getDefaultPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f);

/// Whether the rule that an op of another dialect has by its ShardingRuleOpInterface fits its
/// types and forms. `emitError` may be null. Propagation emits the error; elsewhere the op is
/// replicated.
LogicalResult verifyShardingRule(Operation *op, const ShardingRule &rule,
                                 llvm::function_ref<InFlightDiagnostic()> emitError);

/// Adjusts sizes in attributes and constant operands of `op` to the local types of its operands
/// and results, as its ShardingRuleOpInterface does, and replaces `tensor.dim` of a static dim by
/// the global size. A rule permits sharding of a dim only if the op covers it fully, so that the
/// size becomes the local one. Does not change the types of the op.
void makeAttributesLocal(Operation *op, const TensorTypes &types);

/// True for ShardKit's own and upstream's dialects, whose rules are those of lib/Rules.
bool hasBuiltinRules(StringRef dialect);

/// Replicates factors that no op can shard: those of two dims of one tensor (a diagonal),
/// and those of a tensor without elements.
void replicateUnshardable(ShardingRule &rule);

/// True for a tensor without elements. Its only layout is the replicated one.
bool hasNoElements(RankedTensorType type);

void registerShardingRules(DialectRegistry &registry);
void registerLinalgShardingRules(DialectRegistry &registry);
void registerElementwiseShardingRules(DialectRegistry &registry);
void registerRelayoutShardingRules(DialectRegistry &registry);
void registerTensorShardingRules(DialectRegistry &registry);
void registerTensorIndexShardingRules(DialectRegistry &registry);
void registerCollectiveShardingRules(DialectRegistry &registry);
void registerSortShardingRules(DialectRegistry &registry);
void registerTosaShardingRules(DialectRegistry &registry);

} // namespace mlir::spmd

#include "shardkit/Rules/ShardingRuleOpInterface.h.inc"

#endif // SHARDKIT_RULES_SHARDINGRULE_H
