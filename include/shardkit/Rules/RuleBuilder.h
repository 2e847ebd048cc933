//===- RuleBuilder.h - Rules in index notation ------------------*- C++ -*-===//
//
// The rule of most ops is one line, with a letter for each loop, as in einsum:
//
//   "mk,nk->mn"            a product with a transposed weight: k is a reduction
//   "...k,kn->...n"        the same with any number of leading dims
//   "..."                  elementwise: all operands and results, dims of size 1 are broadcast
//   "bi->b"                a reduction
//   "bij->bji"             a transpose
//   "b.->b."               rows are parallel, the other dim is never sharded
//
// Letters that all results have are parallel; those that none has are reductions; others are
// replicated. A `.` is a dim without a factor. Dims of size 1 next to longer ones of the same
// letter are broadcast. `...` are the leading dims, aligned at their ends. Operands that the
// text leaves out are unsharded.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RULES_RULEBUILDER_H
#define SHARDKIT_RULES_RULEBUILDER_H

#include "shardkit/Rules/ShardingRule.h"

namespace mlir::spmd {

/// Builds the rule of an op from index notation:
///
///   ShardingRule getShardingRule(Operation *op) const { return RuleBuilder(op, "mk,nk->mn").contraction(); }
///
/// A text that does not fit the op becomes a rule that does not, which propagation reports.
class RuleBuilder {
public:
  RuleBuilder(Operation *op, StringRef dims);

  /// How partial results combine; sums by default.
  RuleBuilder &reduction(ReductionKind kind);
  /// These letters are never sharded.
  RuleBuilder &replicate(StringRef letters);
  /// The content that padding of these letters may have (by default `PaddingContent::Unknown`).
  RuleBuilder &padding(StringRef letters, PaddingContent content);
  /// The op may run on padded shards: along parallel letters with any content, along reductions with
  /// the neutral element in all operands that have them. `padding` comes before this.
  RuleBuilder &allowPadding();
  /// Shards of a letter have a multiple of `granule` indices.
  RuleBuilder &granule(char letter, int64_t granule);
  /// Dim `dim` of an operand, a `.` in the text, is read in windows along a letter. The op
  /// implements `getWindowForm`.
  RuleBuilder &window(unsigned operand, unsigned dim, char letter, DimWindow window);
  /// An operand that is accumulated into a result, or not read.
  RuleBuilder &init(unsigned operand, unsigned result = 0, OperandRole role = OperandRole::Init);
  /// The op is worth sharding over all axes.
  RuleBuilder &contraction();
  /// Attributes hold no sizes, or `makeLocal` adjusts them.
  RuleBuilder &localAttributes();

  operator ShardingRule() const;

private:
  /// A dim: a letter, a leading dim (counted from the last), or none.
  using Index = int32_t;
  static constexpr Index none = -1, leading = 256;
  using Tensor = SmallVector<Index, 4>;

  /// The dims of a text for `value`, which is null past the last.
  static Tensor parse(StringRef text, Value value);
  void parseTensors(StringRef text, ValueRange values, std::vector<Tensor> &tensors);
  /// The size of a letter: that of the first dim that is not broadcast.
  int64_t getSize(Index index) const;
  FactorKind getKind(Index index) const;
  void addDims(ShardingRule &rule, Value value, const Tensor &dims, int32_t operand) const;

  struct Windowed {
    unsigned operand, dim;
    Index index;
    DimWindow window;
  };
  struct Init {
    unsigned operand, result;
    OperandRole role;
  };
  Operation *op;
  std::vector<Tensor> operands, results;
  /// Letters in order of first use; the position is the factor.
  SmallVector<Index> indices;
  ReductionKind kind = ReductionKind::Sum;
  SmallVector<Index> replicated;
  SmallVector<std::pair<Index, PaddingContent>> contents;
  SmallVector<std::pair<Index, int64_t>> granules;
  SmallVector<Windowed> windows;
  SmallVector<Init> inits;
  bool isContraction = false, hasLocalAttributes = false, allowsPadding = false;
};

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_RULEBUILDER_H
