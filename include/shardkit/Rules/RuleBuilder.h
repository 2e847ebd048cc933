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
//   "m(gk),gnk->m(gn)"     a product per group; dim 1 of the first operand is g * k long
//
// Letters that all results have are parallel; those that none has are reductions; others are
// replicated. A `.` is a dim without a factor. Dims of size 1 next to longer ones of the same
// letter are broadcast. `...` are the leading dims, aligned at their ends. Letters in parentheses
// are the factors of one dim, major to minor: the size of one of them may be that of no dim if
// the others are known. Operands that the text leaves out are unsharded.
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
/// A text that does not fit the op, and a method that names a letter or dim which the text does not have, becomes a
/// rule that does not fit, which propagation and `checkShardingRule` report.
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
  /// The size of a letter that no dim has alone: 'g' of "(gk)".
  RuleBuilder &size(char letter, int64_t size);
  /// Shards of a letter have a multiple of `granule` indices.
  RuleBuilder &granule(char letter, int64_t granule);
  /// Dim `dim` of an operand, a `.` in the text, is read in windows along a letter. The op
  /// implements `getWindowForm`. Windows `{}` of a dim as long as the factor are the letter itself.
  RuleBuilder &window(unsigned operand, unsigned dim, char letter, DimWindow window);
  /// An operand that is accumulated into a result, or not read.
  RuleBuilder &init(unsigned operand, unsigned result = 0, OperandRole role = OperandRole::Init);
  /// The op is worth sharding over all axes.
  RuleBuilder &contraction();
  /// Attributes hold no sizes, or `makeLocal` adjusts them.
  RuleBuilder &localAttributes();

  operator ShardingRule() const;

private:
  /// A letter, or a leading dim (counted from the last).
  using Index = int32_t;
  static constexpr Index leading = 256;
  static constexpr int64_t kUnknown = -1;
  /// The factors of a dim, major to minor; none for `.`.
  using Dim = SmallVector<Index, 1>;
  using Tensor = SmallVector<Dim, 4>;

  /// The dims of a text for `value`, which is null past the last.
  Tensor parse(StringRef text, Value value);
  Dim parseGroup(StringRef letters);
  Index parseLetter(char letter);
  void parseTensors(StringRef text, ValueRange values, std::vector<Tensor> &tensors);
  /// Keeps the first.
  void fail(const Twine &message);
  /// A method that names what the text does not have, or a letter without a size; empty if there is none.
  std::string findError(llvm::ArrayRef<int64_t> sizes) const;
  /// The factor of a letter; -1 for one that the text does not have.
  int32_t getFactor(Index index) const;
  void forEachDim(llvm::function_ref<void(const Dim &, int64_t size)> function) const;
  /// The sizes of all factors: those given, those of the first dim that has a factor alone and is not broadcast, and
  /// what remains of a dim whose other factors are known; `kUnknown` for others.
  SmallVector<int64_t> getSizes() const;
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
  SmallVector<std::pair<Index, int64_t>> granules, givenSizes;
  SmallVector<Windowed> windows;
  SmallVector<Init> inits;
  std::string error;
  bool isContraction = false, hasLocalAttributes = false, allowsPadding = false;
};

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_RULEBUILDER_H
