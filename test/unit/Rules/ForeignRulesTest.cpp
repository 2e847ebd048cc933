//===- ForeignRulesTest.cpp - Rules of another dialect, checked by numbers ===//
//
// Ops as frameworks have them, each with the rule that docs/guides/AddARule.md leads to, in at most ten lines. Each is
// computed in shards and compared; a wrong rule is found.
//
// 36 of them were first written from that guide alone, before any was compiled, when it had less of what they need:
//
//   right numbers, each dim sharded that the op allows    22
//   right numbers, fewer dims sharded                      9   uneven sums and maxima (5), rows at indices (3), flip
//   wrong, or did not compile                              5   grouped linear and rope, which the notation could not
//                                                              express; reshape, pooling and pad, by methods unnamed
//
//===----------------------------------------------------------------------===//

#include "shardkit/InitAllDialects.h"
#include "shardkit/Rules/CheckRule.h"
#include "shardkit/Rules/IndexedOps.h"
#include "shardkit/Rules/Reshapes.h"
#include "shardkit/Rules/RuleBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"
#include <cmath>
#include <map>
#include <numeric>

using namespace mlir;
using namespace mlir::spmd;

namespace foreign {

using In = ArrayRef<TensorValue>;
using Index = ArrayRef<int64_t>;

/// A pure op of the dialect: any numbers of operands and results, attributes by name.
template <typename Derived>
struct Base : Op<Derived, OpTrait::ZeroRegions, OpTrait::VariadicOperands, OpTrait::VariadicResults,
                 ShardingRuleOpInterface::Trait, ConditionallySpeculatable::Trait, OpTrait::AlwaysSpeculatableImplTrait,
                 MemoryEffectOpInterface::Trait> {
  using Op<Derived, OpTrait::ZeroRegions, OpTrait::VariadicOperands, OpTrait::VariadicResults,
           ShardingRuleOpInterface::Trait, ConditionallySpeculatable::Trait, OpTrait::AlwaysSpeculatableImplTrait,
           MemoryEffectOpInterface::Trait>::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}

  double getFloat(StringRef name) { return (*this)->template getAttrOfType<FloatAttr>(name).getValueAsDouble(); }
  int64_t getInt(StringRef name) { return (*this)->template getAttrOfType<IntegerAttr>(name).getInt(); }
  void setInt(StringRef name, int64_t value) {
    (*this)->setAttr(name, Builder((*this)->getContext()).getI64IntegerAttr(value));
  }
  SmallVector<int64_t> getInts(StringRef name) {
    return llvm::to_vector((*this)->template getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef());
  }
  SmallVector<OpFoldResult> getSizes(StringRef name) {
    return getAsIndexOpFoldResult((*this)->getContext(), getInts(name));
  }
  void setInts(StringRef name, ArrayRef<int64_t> values) {
    (*this)->setAttr(name, Builder((*this)->getContext()).getDenseI64ArrayAttr(values));
  }
  void setInt(StringRef name, unsigned position, int64_t value) {
    SmallVector<int64_t> values = getInts(name);
    values[position] = value;
    setInts(name, values);
  }
  RankedTensorType getType(unsigned result = 0) { return cast<RankedTensorType>((*this)->getResult(result).getType()); }
  ArrayRef<int64_t> getInputShape(unsigned operand = 0) {
    return cast<RankedTensorType>((*this)->getOperand(operand).getType()).getShape();
  }
  /// A letter for each dim of the first operand.
  std::string getLetters() { return std::string("abcdef").substr(0, getInputShape().size()); }

  /// As many dims without a factor. Three dots in a row are the leading dims.
  std::string getDots() {
    std::string dots;
    for (size_t d = 0; d < getInputShape().size(); ++d)
      dots += " .";
    return dots;
  }

  /// One result, by a function of the index.
  TensorValues each(llvm::function_ref<double(Index)> element) {
    TensorValue out(getType());
    forEachIndex(out.type.getShape(), [&](Index i) { out.at(i) = element(i); });
    return {out};
  }
};

#define FOREIGN_OP(Class, mnemonic)                                                                                    \
  using Base::Base;                                                                                                    \
  static StringRef getOperationName() { return "foreign." mnemonic; }

double sum(int64_t size, llvm::function_ref<double(int64_t)> element) {
  double total = 0;
  for (int64_t i = 0; i < size; ++i)
    total += element(i);
  return total;
}
double max(int64_t size, llvm::function_ref<double(int64_t)> element) {
  double most = -1e30;
  for (int64_t i = 0; i < size; ++i)
    most = std::max(most, element(i));
  return most;
}
SmallVector<int64_t> with(Index index, unsigned dim, int64_t i) {
  SmallVector<int64_t> changed(index);
  changed[dim] = i;
  return changed;
}
/// The element at an index of the result, whose last dims are those of `value`, with dims of size 1 broadcast.
double broadcastAt(const TensorValue &value, Index index) {
  SmallVector<int64_t> own(index.take_back(value.type.getRank()));
  for (auto [i, size] : llvm::zip(own, value.type.getShape()))
    i = std::min(i, size - 1);
  return value.at(own);
}
SmallVector<int64_t> append(Index index, int64_t i) {
  SmallVector<int64_t> longer(index);
  longer.push_back(i);
  return longer;
}
/// The positions of the elements of row `i` of the last dim, largest first.
SmallVector<int64_t> rank(const TensorValue &x, Index i) {
  const unsigned last = i.size() - 1;
  auto order = llvm::to_vector(llvm::seq<int64_t>(x.type.getDimSize(last)));
  llvm::stable_sort(order, [&](int64_t a, int64_t b) { return x.at(with(i, last, a)) > x.at(with(i, last, b)); });
  return order;
}

//===----------------------------------------------------------------------===//
// Elementwise and broadcast
//===----------------------------------------------------------------------===//

struct Clamp : Base<Clamp> {
  FOREIGN_OP(Clamp, "clamp")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "..."); }
  TensorValues compute(In x) {
    return each([&](Index i) { return std::min(std::max(x[0].at(i), getFloat("low")), getFloat("high")); });
  }
};

struct Mul : Base<Mul> {
  FOREIGN_OP(Mul, "mul")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "..."); }
  TensorValues compute(In x) {
    return each([&](Index i) { return broadcastAt(x[0], i) * broadcastAt(x[1], i); });
  }
};

// Any value of the condition selects.
struct Where : Base<Where> {
  FOREIGN_OP(Where, "where")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "...").allowPadding(); }
  TensorValues compute(In x) {
    return each([&](Index i) { return broadcastAt(x[0], i) ? broadcastAt(x[1], i) : broadcastAt(x[2], i); });
  }
};

// Integers trap in a division by zero: there is 1 in the padding of the divisor.
struct FloorDiv : Base<FloorDiv> {
  FOREIGN_OP(FloorDiv, "floor_div")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "..."); }
  std::optional<PaddingNeeds> getPaddingNeeds(const ShardingRule &rule, int32_t f) {
    if (!rule.hasFactor(rule.operands()[1], f))
      return PaddingNeeds();
    return PaddingNeeds{{{1, IntegerAttr::get(getType().getElementType(), 1)}}};
  }
  TensorValues compute(In x) {
    return each([&](Index i) {
      EXPECT_LE(x[1].at(i), 3) << "padding";
      return std::floor(x[0].at(i) / x[1].at(i));
    });
  }
};

struct ChannelBias : Base<ChannelBias> {
  FOREIGN_OP(ChannelBias, "channel_bias")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "nc...,c->nc..."); }
  TensorValues compute(In x) {
    return each([&](Index i) { return x[0].at(i) + x[1].at(i[1]); });
  }
};

// Zero points and results are integers, of which none is an address.
struct Quantize : Base<Quantize> {
  FOREIGN_OP(Quantize, "quantize")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "mc,c,c->mc").allowPadding(); }
  TensorValues compute(In x) {
    return each([&](Index i) { return std::round(x[0].at(i) / (x[1].at(i[1]) + 3)) + x[2].at(i[1]); });
  }
};

struct Expand : Base<Expand> {
  FOREIGN_OP(Expand, "expand")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "n->mnk").localAttributes(); }
  void makeLocal(const TensorTypes &types) { setInts("shape", types.getLocal(getResult(0)).getShape()); }
  TensorValues compute(In x) {
    TensorValue out(RankedTensorType::get(getInts("shape"), getType().getElementType()));
    forEachIndex(out.type.getShape(), [&](Index i) { out.at(i) = x[0].at(i[1]); });
    return {out};
  }
};

struct Full : Base<Full> {
  FOREIGN_OP(Full, "full")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "->...").localAttributes(); }
  void makeLocal(const TensorTypes &types) { setInts("shape", types.getLocal(getResult(0)).getShape()); }
  TensorValues compute(In) {
    return {TensorValue(RankedTensorType::get(getInts("shape"), getType().getElementType()), 3)};
  }
};

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

struct MatmulNT : Base<MatmulNT> {
  FOREIGN_OP(MatmulNT, "matmul_nt")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "bmk,bnk->bmn").contraction().allowPadding(); }
  TensorValues compute(In x) {
    return each([&](Index i) {
      return sum(x[0].type.getDimSize(2),
                 [&](int64_t k) { return x[0].at({i[0], i[1], k}) * x[1].at({i[0], i[2], k}); });
    });
  }
};

struct Linear : Base<Linear> {
  FOREIGN_OP(Linear, "linear")
  ShardingRule getShardingRule() {
    return RuleBuilder(*this, "...k,nk->...n").contraction().allowPadding().localAttributes();
  }
  void makeLocal(const TensorTypes &types) {
    setInt("out_features", types.getLocal(getOperand(1)).getDimSize(0));
    setInt("in_features", types.getLocal(getOperand(1)).getDimSize(1));
  }
  TensorValues compute(In x) {
    const int64_t n = getInt("out_features"), last = getType().getRank() - 1;
    return each([&](Index i) {
      return i.back() >= n ? NAN : sum(getInt("in_features"), [&](int64_t k) {
        return x[0].at(with(i, last, k)) * x[1].at({i.back(), k});
      });
    });
  }
};

// x[m, g * k] and w[g, n, k] to [m, g * n].
struct GroupedLinear : Base<GroupedLinear> {
  FOREIGN_OP(GroupedLinear, "grouped_linear")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "m(gk),gnk->m(gn)").contraction().allowPadding(); }
  TensorValues compute(In x) {
    const int64_t n = x[1].type.getDimSize(1), size = x[1].type.getDimSize(2);
    return each([&](Index i) {
      const int64_t g = i[1] / n;
      return sum(size, [&](int64_t k) { return x[0].at({i[0], g * size + k}) * x[1].at({g, i[1] % n, k}); });
    });
  }
};

// Rows of x[m, k] are sorted by group; the last operand has the number of each group's.
struct RaggedMatmul : Base<RaggedMatmul> {
  FOREIGN_OP(RaggedMatmul, "ragged_matmul")
  ShardingRule getShardingRule() { return RuleBuilder(*this, ".k,.kn,.->.n").contraction().allowPadding(); }
  TensorValues compute(In x) {
    return each([&](Index i) {
      int64_t g = 0;
      for (double end = x[2].at(0); i[0] >= end && g + 1 < x[2].type.getDimSize(0); end += x[2].at(g))
        ++g;
      return sum(x[0].type.getDimSize(1), [&](int64_t k) { return x[0].at({i[0], k}) * x[1].at({g, k, i[1]}); });
    });
  }
};

struct Bilinear : Base<Bilinear> {
  FOREIGN_OP(Bilinear, "bilinear")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "bi,oij,bj->bo").contraction().allowPadding(); }
  TensorValues compute(In x) {
    return each([&](Index b) {
      return sum(x[1].type.getDimSize(1), [&](int64_t i) {
        return sum(x[1].type.getDimSize(2),
                   [&](int64_t j) { return x[0].at({b[0], i}) * x[1].at({b[1], i, j}) * x[2].at({b[0], j}); });
      });
    });
  }
};

// The last operand is added once. Weights are integers with a scale per column.
struct QuantizedGemm : Base<QuantizedGemm> {
  FOREIGN_OP(QuantizedGemm, "quantized_gemm")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "mk,kn,n,mn->mn").contraction().init(3).allowPadding(); }
  TensorValues compute(In x) {
    return each([&](Index i) {
      return x[3].at(i) + x[2].at(i[1]) * sum(x[1].type.getDimSize(0),
                                              [&](int64_t k) { return x[0].at({i[0], k}) * x[1].at({k, i[1]}); });
    });
  }
};

// Query heads h * r share the h heads of keys and values. Sums over d and t are not those of the result.
struct Attention : Base<Attention> {
  FOREIGN_OP(Attention, "attention")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "b(hr)s.,bh..,bh.e->b(hr)se"); }
  TensorValues compute(In x) {
    const int64_t shared = x[0].type.getDimSize(1) / x[1].type.getDimSize(1), d = x[0].type.getDimSize(3);
    return each([&](Index i) {
      const int64_t h = i[1] / shared, t = x[1].type.getDimSize(2);
      auto weight = [&](int64_t k) {
        return std::exp(sum(d, [&](int64_t c) { return x[0].at({i[0], i[1], i[2], c}) * x[1].at({i[0], h, k, c}); }));
      };
      return sum(t, [&](int64_t k) { return weight(k) * x[2].at({i[0], h, k, i[3]}); }) / sum(t, weight);
    });
  }
};

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

// Over `axis`, which stays as a dim of size 1.
struct Sum : Base<Sum> {
  FOREIGN_OP(Sum, "sum")
  ShardingRule getShardingRule() {
    std::string from = getLetters(), to = from;
    to[getInt("axis")] = '.';
    return RuleBuilder(*this, from + "->" + to).allowPadding();
  }
  TensorValues compute(In x) {
    const int64_t axis = getInt("axis");
    return each(
        [&](Index i) { return sum(x[0].type.getDimSize(axis), [&](int64_t k) { return x[0].at(with(i, axis, k)); }); });
  }
};

struct AMax : Base<AMax> {
  FOREIGN_OP(AMax, "amax")
  ShardingRule getShardingRule() {
    return RuleBuilder(*this, "...k->...").reduction(ReductionKind::Max).allowPadding();
  }
  TensorValues compute(In x) {
    return each(
        [&](Index i) { return max(x[0].type.getShape().back(), [&](int64_t k) { return x[0].at(append(i, k)); }); });
  }
};

struct Prod : Base<Prod> {
  FOREIGN_OP(Prod, "prod")
  ShardingRule getShardingRule() {
    return RuleBuilder(*this, "...k->...").reduction(ReductionKind::Prod).allowPadding();
  }
  TensorValues compute(In x) {
    return each([&](Index i) {
      double product = 1;
      for (int64_t k = 0; k < x[0].type.getShape().back(); ++k)
        product *= x[0].at(append(i, k));
      return product;
    });
  }
};

struct Any : Base<Any> {
  FOREIGN_OP(Any, "any")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "...k->...").reduction(ReductionKind::Or).allowPadding(); }
  TensorValues compute(In x) {
    return each(
        [&](Index i) { return max(x[0].type.getShape().back(), [&](int64_t k) { return x[0].at(append(i, k)); }); });
  }
};

// The mean of shards is not that of all.
struct Mean : Base<Mean> {
  FOREIGN_OP(Mean, "mean")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "...k->...").replicate("k"); }
  TensorValues compute(In x) {
    const int64_t size = x[0].type.getShape().back();
    return each([&](Index i) { return sum(size, [&](int64_t k) { return x[0].at(append(i, k)); }) / size; });
  }
};

// `count` stays that of the full dim: each shard divides its partial sum by it.
struct ScaledSum : Base<ScaledSum> {
  FOREIGN_OP(ScaledSum, "scaled_sum")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "...k->...").allowPadding().localAttributes(); }
  TensorValues compute(In x) {
    return each([&](Index i) {
      return sum(x[0].type.getShape().back(), [&](int64_t k) { return x[0].at(append(i, k)); }) / getInt("count");
    });
  }
};

struct ArgMax : Base<ArgMax> {
  FOREIGN_OP(ArgMax, "argmax")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "...k->...").replicate("k"); }
  TensorValues compute(In x) {
    return each([&](Index i) { return rank(x[0], append(i, 0)).front(); });
  }
};

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

struct CumSum : Base<CumSum> {
  FOREIGN_OP(CumSum, "cumsum")
  ShardingRule getShardingRule() {
    const std::string dims = getLetters();
    return RuleBuilder(*this, dims + "->" + dims).replicate(dims.substr(getInt("axis"), 1));
  }
  TensorValues compute(In x) {
    const int64_t axis = getInt("axis");
    return each([&](Index i) { return sum(i[axis] + 1, [&](int64_t k) { return x[0].at(with(i, axis, k)); }); });
  }
};

struct Softmax : Base<Softmax> {
  FOREIGN_OP(Softmax, "softmax")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "...d->...d").replicate("d"); }
  TensorValues compute(In x) {
    const int64_t last = getType().getRank() - 1, size = getType().getDimSize(last);
    return each([&](Index i) {
      return std::exp(x[0].at(i)) / sum(size, [&](int64_t k) { return std::exp(x[0].at(with(i, last, k))); });
    });
  }
};

struct LayerNorm : Base<LayerNorm> {
  FOREIGN_OP(LayerNorm, "layer_norm")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "...d,d,d->...d").replicate("d"); }
  TensorValues compute(In x) {
    const int64_t last = getType().getRank() - 1, size = getType().getDimSize(last);
    return each([&](Index i) {
      const double mean = sum(size, [&](int64_t k) { return x[0].at(with(i, last, k)); }) / size;
      const double variance =
          sum(size, [&](int64_t k) { return std::pow(x[0].at(with(i, last, k)) - mean, 2); }) / size;
      return (x[0].at(i) - mean) / std::sqrt(variance + 1e-5) * x[1].at(i.back()) + x[2].at(i.back());
    });
  }
};

struct RmsNorm : Base<RmsNorm> {
  FOREIGN_OP(RmsNorm, "rms_norm")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "...d,d->...d").replicate("d"); }
  TensorValues compute(In x) {
    const int64_t last = getType().getRank() - 1, size = getType().getDimSize(last);
    return each([&](Index i) {
      const double square = sum(size, [&](int64_t k) { return std::pow(x[0].at(with(i, last, k)), 2); }) / size;
      return x[0].at(i) / std::sqrt(square + getFloat("epsilon")) * x[1].at(i.back());
    });
  }
};

// Of x[n, g * c, h], less the largest element of each of the g groups of channels.
struct GroupNorm : Base<GroupNorm> {
  FOREIGN_OP(GroupNorm, "group_norm")
  ShardingRule getShardingRule() {
    return RuleBuilder(*this, "n(gc).->n(gc).").size('g', getInt("groups")).replicate("c").localAttributes();
  }
  void makeLocal(const TensorTypes &types) {
    const Value x = getOperand(0);
    setInt("groups", getInt("groups") * types.getLocal(x).getDimSize(1) / types.getGlobal(x).getDimSize(1));
  }
  TensorValues compute(In x) {
    const int64_t size = getType().getDimSize(1) / getInt("groups"), h = getType().getDimSize(2);
    return each([&](Index i) {
      auto inGroup = [&](int64_t k) { return x[0].at({i[0], i[1] / size * size + k / h, k % h}); };
      return x[0].at(i) - max(size * h, inGroup);
    });
  }
};

struct Sort : Base<Sort> {
  FOREIGN_OP(Sort, "sort")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "...d->...d,...d").replicate("d"); }
  TensorValues compute(In x) {
    TensorValue values(getType(0)), positions(getType(1));
    forEachIndex(values.type.getShape(), [&](Index i) {
      positions.at(i) = rank(x[0], i)[i.back()];
      values.at(i) = x[0].at(with(i, i.size() - 1, positions.at(i)));
    });
    return {values, positions};
  }
};

// `k` is not the size of a dim that may be sharded.
struct TopK : Base<TopK> {
  FOREIGN_OP(TopK, "top_k")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "...d->...k,...k").replicate("dk").localAttributes(); }
  TensorValues compute(In x) {
    TensorValue values(getType(0)), positions(getType(1));
    forEachIndex(values.type.getShape(), [&](Index i) {
      positions.at(i) = rank(x[0], i)[i.back()];
      values.at(i) = x[0].at(with(i, i.size() - 1, positions.at(i)));
    });
    return {values, positions};
  }
};

// Of x[b, s, h, 2 * p], the halves of the last dim rotate: each shard has a slice of both.
struct Rope : Base<Rope> {
  FOREIGN_OP(Rope, "rope")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "bsh(rp),sp,sp->bsh(rp)").replicate("r"); }
  TensorValues compute(In x) {
    const int64_t half = x[1].type.getDimSize(1);
    return each([&](Index i) {
      const int64_t p = i[3] % half;
      const double low = x[0].at(with(i, 3, p)), high = x[0].at(with(i, 3, p + half));
      const double cosine = x[1].at({i[1], p}), sine = x[2].at({i[1], p});
      return i[3] < half ? low * cosine - high * sine : high * cosine + low * sine;
    });
  }
};

//===----------------------------------------------------------------------===//
// Rows that data address
//===----------------------------------------------------------------------===//

/// The element of a tensor whose index is data, in bounds also where it is padding.
double lookUp(const TensorValue &table, SmallVector<int64_t> index) {
  for (auto [i, size] : llvm::zip(index, table.type.getShape()))
    EXPECT_TRUE(i >= 0 && i < size);
  return table.at(index);
}

// x[m, k] at index[m, j] of each row. The padding of indices holds zeros.
struct Gather : Base<Gather> {
  FOREIGN_OP(Gather, "gather")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "m.,mj->mj").padding("mj", PaddingContent::Zero); }
  TensorValues compute(In x) {
    return each([&](Index i) { return lookUp(x[0], {i[0], int64_t(x[1].at(i))}); });
  }
};

struct Embedding : Base<Embedding> {
  FOREIGN_OP(Embedding, "embedding")
  ShardingRule getShardingRule() { return RuleBuilder(*this, ".d,...->...d").padding("...", PaddingContent::Zero); }
  TensorValues compute(In x) {
    return each([&](Index i) { return lookUp(x[0], {int64_t(x[1].at(i.drop_back())), i.back()}); });
  }
};

// The same with sharded rows: partition replaces the op by loops.
struct Lookup : Base<Lookup> {
  FOREIGN_OP(Lookup, "lookup")
  ShardingRule getShardingRule() { return getAddressingRule(*this, *getAddressing()); }
  std::optional<Addressing> getAddressing() { return getLookupAddressing(*this, /*table=*/0, /*indices=*/1); }
  TensorValues compute(In x) {
    return each([&](Index i) { return lookUp(x[0], {int64_t(x[1].at(i.drop_back())), i.back()}); });
  }
};

/// Rows of updates at indices of dim 0.
Addressing getWriteAddressing(Operation *op) {
  Addressing addressing = getLookupAddressing(op, /*table=*/0, /*indices=*/1);
  addressing.writes = true;
  addressing.rows = op->getOperand(2);
  return addressing;
}

// Rows of updates replace rows of sharded rows, the last one of equal indices: partition replaces the op by loops.
struct IndexCopy : Base<IndexCopy> {
  FOREIGN_OP(IndexCopy, "index_copy")
  ShardingRule getShardingRule() { return getAddressingRule(*this, *getAddressing()); }
  std::optional<Addressing> getAddressing() { return getWriteAddressing(*this); }
  TensorValues compute(In x) {
    TensorValue out = x[0];
    forEachIndex(x[2].type.getShape(), [&](Index i) { out.at({int64_t(x[1].at(i[0])), i[1]}) = x[2].at(i); });
    return {out};
  }
};

// Rows of updates are partial sums: zeros are added to row 0 for their padding.
struct ScatterAdd : Base<ScatterAdd> {
  FOREIGN_OP(ScatterAdd, "scatter_add")
  ShardingRule getShardingRule() { return RuleBuilder(*this, ".d,n,nd->.d").init(0).allowPadding(); }
  TensorValues compute(In x) {
    TensorValue out = x[0];
    forEachIndex(x[2].type.getShape(), [&](Index i) {
      SmallVector<int64_t> index{int64_t(x[1].at(i[0])), i[1]};
      out.at(index) = lookUp(out, index) + x[2].at(i);
    });
    return {out};
  }
};

// An index outside is a row of zeros.
struct OneHot : Base<OneHot> {
  FOREIGN_OP(OneHot, "one_hot")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "...->... .").allowPadding().localAttributes(); }
  TensorValues compute(In x) {
    return each([&](Index i) { return x[0].at(i.drop_back()) == i.back(); });
  }
};

struct CrossEntropy : Base<CrossEntropy> {
  FOREIGN_OP(CrossEntropy, "cross_entropy")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "b.,b->b").padding("b", PaddingContent::Zero); }
  TensorValues compute(In x) {
    return each([&](Index i) {
      const double total = sum(x[0].type.getDimSize(1), [&](int64_t k) { return std::exp(x[0].at({i[0], k})); });
      return std::log(total) - lookUp(x[0], {i[0], int64_t(x[1].at(i))});
    });
  }
};

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

// x[b, c, h, w] and w[f, c, k, l]. Each attribute has one number per dim, so that one can become local alone.
struct Conv2d : Base<Conv2d> {
  FOREIGN_OP(Conv2d, "conv2d")
  DimWindow getWindow(unsigned d) {
    const int64_t reach = (getInputShape(1)[2 + d] - 1) * getInts("dilations")[d];
    return {getInts("strides")[d], -getInts("paddings")[d], reach + 1};
  }
  ShardingRule getShardingRule() {
    RuleBuilder rule = RuleBuilder(*this, "bc..,fc..->bfij").contraction().allowPadding().localAttributes();
    return rule.window(0, 2, 'i', getWindow(0)).window(0, 3, 'j', getWindow(1));
  }
  WindowForm getWindowForm() { return WindowForm::InPlace; }
  void makeWindowLocal(const LocalWindow &window) { setInt("paddings", window.dim - 2, 0); }
  TensorValues compute(In x) {
    const SmallVector<int64_t> s = getInts("strides"), d = getInts("dilations"), p = getInts("paddings");
    return each([&](Index i) {
      double total = 0;
      forEachIndex(x[1].type.getShape().drop_front(), [&](Index k) {
        const int64_t h = s[0] * i[2] + d[0] * k[1] - p[0], w = s[1] * i[3] + d[1] * k[2] - p[1];
        if (h >= 0 && h < x[0].type.getDimSize(2) && w >= 0 && w < x[0].type.getDimSize(3))
          total += x[0].at({i[0], k[0], h, w}) * x[1].at({i[1], k[0], k[1], k[2]});
      });
      return total;
    });
  }
};

// x[b, g * c, n] and w[g * f, c, k], a sum over the channels of each group. The number of groups is local too.
struct GroupedConv1d : Base<GroupedConv1d> {
  FOREIGN_OP(GroupedConv1d, "grouped_conv1d")
  ShardingRule getShardingRule() {
    RuleBuilder rule(*this, "b(gc).,(gf)c.->b(gf)i");
    return rule.window(0, 2, 'i', {1, 0, getInputShape(1)[2]}).contraction().allowPadding().localAttributes();
  }
  void makeLocal(const TensorTypes &types) {
    setInt("groups", types.getLocal(getOperand(0)).getDimSize(1) / types.getLocal(getOperand(1)).getDimSize(1));
  }
  WindowForm getWindowForm() { return WindowForm::InPlace; }
  TensorValues compute(In x) {
    const int64_t c = x[1].type.getDimSize(1), f = x[1].type.getDimSize(0) / getInt("groups");
    return each([&](Index i) {
      return sum(c * x[1].type.getDimSize(2), [&](int64_t k) {
        return x[0].at({i[0], i[1] / f * c + k % c, i[2] + k / c}) * x[1].at({i[1], k % c, k / c});
      });
    });
  }
};

// Elements outside do not count.
struct MaxPool : Base<MaxPool> {
  FOREIGN_OP(MaxPool, "max_pool")
  ShardingRule getShardingRule() {
    DimWindow window{getInt("stride"), -getInt("padding"), getInt("size")};
    return RuleBuilder(*this, "... .->...i").window(0, getType().getRank() - 1, 'i', window).localAttributes();
  }
  WindowForm getWindowForm() { return WindowForm::InPlace; }
  void makeWindowLocal(const LocalWindow &) { setInt("padding", 0); }
  TypedAttr getWindowPadding(unsigned, unsigned) { return FloatAttr::get(getType().getElementType(), -1e30); }
  TensorValues compute(In x) {
    const int64_t last = getType().getRank() - 1;
    return each([&](Index i) {
      return max(getInt("size"), [&](int64_t k) {
        const int64_t at = getInt("stride") * i.back() + k - getInt("padding");
        return at >= 0 && at < x[0].type.getDimSize(last) ? x[0].at(with(i, last, at)) : -1e30;
      });
    });
  }
};

// Of `low` and `high` zeros around each dim. Partition replaces the op.
struct Pad : Base<Pad> {
  FOREIGN_OP(Pad, "pad")
  ShardingRule getShardingRule() {
    RuleBuilder rule(*this, getDots() + "->" + getLetters());
    for (auto [d, low] : llvm::enumerate(getInts("low")))
      rule.window(0, d, getLetters()[d], {/*stride=*/1, -low});
    return rule.localAttributes();
  }
  WindowForm getWindowForm() { return WindowForm::Pad; }
  PadForm getPadForm(OpBuilder &) { return {getSizes("low"), getSizes("high"), Value()}; }
  TensorValues compute(In x) {
    const SmallVector<int64_t> low = getInts("low");
    return each([&](Index i) {
      SmallVector<int64_t> at(i);
      for (auto [d, size] : llvm::enumerate(x[0].type.getShape()))
        if (at[d] -= low[d]; at[d] < 0 || at[d] >= size)
          return 0.0;
      return x[0].at(at);
    });
  }
};

// Elements start + stride * i of one dim.
struct Slice : Base<Slice> {
  FOREIGN_OP(Slice, "slice")
  ShardingRule getShardingRule() {
    std::string to = getLetters(), from = to;
    from[getInt("dim")] = '.';
    DimWindow window{getInt("stride"), getInt("start")};
    RuleBuilder rule(*this, from + "->" + to);
    return rule.window(0, getInt("dim"), to[getInt("dim")], window).localAttributes();
  }
  WindowForm getWindowForm() { return WindowForm::InPlace; }
  void makeLocal(const TensorTypes &types) { setInt("size", types.getLocal(getResult(0)).getDimSize(getInt("dim"))); }
  void makeWindowLocal(const LocalWindow &) { setInt("start", 0); }
  TensorValues compute(In x) {
    const int64_t dim = getInt("dim");
    EXPECT_EQ(getInt("size"), getType().getDimSize(dim));
    return each([&](Index i) { return x[0].at(with(i, dim, getInt("start") + getInt("stride") * i[dim])); });
  }
};

// The window of an index is its opposite.
struct Flip : Base<Flip> {
  FOREIGN_OP(Flip, "flip")
  ShardingRule getShardingRule() {
    return RuleBuilder(*this, "... .->...i").window(0, getType().getRank() - 1, 'i', {-1, getInputShape().back() - 1});
  }
  WindowForm getWindowForm() { return WindowForm::InPlace; }
  TensorValues compute(In x) {
    const int64_t last = getType().getRank() - 1, size = x[0].type.getDimSize(last);
    return each([&](Index i) { return x[0].at(with(i, last, size - 1 - i.back())); });
  }
};

// Element i of the result is element i / repeats; a shard begins with a whole one.
struct RepeatInterleave : Base<RepeatInterleave> {
  FOREIGN_OP(RepeatInterleave, "repeat_interleave")
  ShardingRule getShardingRule() {
    DimWindow window{1, 0, 1, /*divisor=*/getInt("repeats")};
    return RuleBuilder(*this, ".->i").window(0, 0, 'i', window).granule('i', window.divisor).localAttributes();
  }
  WindowForm getWindowForm() { return WindowForm::InPlace; }
  TensorValues compute(In x) {
    return each([&](Index i) { return x[0].at(i[0] / getInt("repeats")); });
  }
};

// y[c, i] sums x[(i + padding - k) / stride] * w[c, k] where that is an index; a shard begins at a multiple of the
// stride.
struct TransposedConv1d : Base<TransposedConv1d> {
  FOREIGN_OP(TransposedConv1d, "transposed_conv1d")
  ShardingRule getShardingRule() {
    const int64_t taps = getInputShape(1)[1], stride = getInt("stride");
    RuleBuilder rule(*this, ".,ck->ci");
    return rule.window(0, 0, 'i', {1, getInt("padding") - taps + 1, taps, stride}).granule('i', stride).replicate("k");
  }
  WindowForm getWindowForm() { return WindowForm::InPlace; }
  void makeWindowLocal(const LocalWindow &window) {
    setInt("padding", getInt("padding") - getInt("stride") * window.window.offset);
  }
  TensorValues compute(In x) {
    return each([&](Index i) {
      return sum(x[1].type.getDimSize(1), [&](int64_t k) {
        const int64_t at = i[1] + getInt("padding") - k, stride = getInt("stride");
        const bool isRead = at >= 0 && at % stride == 0 && at / stride < x[0].type.getDimSize(0);
        return isRead ? x[0].at({at / stride}) * x[1].at({i[0], k}) : 0;
      });
    });
  }
};

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

// Rows [b, 1, d] replace those of a cache [b, s, d] at a position, a scalar.
struct CacheUpdate : Base<CacheUpdate> {
  FOREIGN_OP(CacheUpdate, "cache_update")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "b.d,b.d,->b.d"); }
  TensorValues compute(In x) {
    return each([&](Index i) {
      return x[i[1] == int64_t(x[2].at({}))].at({i[0], i[1] == int64_t(x[2].at({})) ? 0 : i[1], i[2]});
    });
  }
};

struct Transpose : Base<Transpose> {
  FOREIGN_OP(Transpose, "transpose")
  ShardingRule getShardingRule() {
    std::string from = getLetters(), to;
    for (int64_t d : getInts("permutation"))
      to += from[d];
    return RuleBuilder(*this, from + "->" + to);
  }
  TensorValues compute(In x) {
    return each([&](Index i) {
      SmallVector<int64_t> at(i);
      for (auto [d, from] : llvm::enumerate(getInts("permutation")))
        at[from] = i[d];
      return x[0].at(at);
    });
  }
};

struct Reshape : Base<Reshape> {
  FOREIGN_OP(Reshape, "reshape")
  ShardingRule getShardingRule() {
    ShardingRule rule = getReshapeRule(*this);
    rule.hasLocalAttributes = true;
    return rule;
  }
  void makeLocal(const TensorTypes &types) { setInts("shape", types.getLocal(getResult(0)).getShape()); }
  TensorValues compute(In x) {
    TensorValue out(RankedTensorType::get(getInts("shape"), getType().getElementType()));
    out.elements = x[0].elements;
    return {out};
  }
};

struct Concat : Base<Concat> {
  FOREIGN_OP(Concat, "concat")
  ShardingRule getShardingRule() { return getConcatRule(*this, getInt("dim")); }
  WindowForm getWindowForm() { return WindowForm::Concat; }
  TensorValues compute(In x) {
    const int64_t dim = getInt("dim");
    return each([&](Index i) {
      int64_t at = i[dim];
      const TensorValue *part = x.begin();
      for (; at >= part->type.getDimSize(dim); ++part)
        at -= part->type.getDimSize(dim);
      return part->at(with(i, dim, at));
    });
  }
};

struct Stack : Base<Stack> {
  FOREIGN_OP(Stack, "stack")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "mn,mn->m.n"); }
  TensorValues compute(In x) {
    return each([&](Index i) { return x[i[1]].at({i[0], i[2]}); });
  }
};

// Results of one size: each shard has a slice of all of them.
struct Chunk : Base<Chunk> {
  FOREIGN_OP(Chunk, "chunk")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "m(cn)->mn,mn,mn").replicate("c"); }
  TensorValues compute(In x) {
    TensorValues parts;
    for (OpResult result : (*this)->getResults()) {
      TensorValue &part = parts.emplace_back(getType(result.getResultNumber()));
      forEachIndex(part.type.getShape(), [&](Index i) {
        part.at(i) = x[0].at({i[0], result.getResultNumber() * part.type.getDimSize(1) + i[1]});
      });
    }
    return parts;
  }
};

// Results of any sizes: `sizes` has those of an unsharded dim.
struct Split : Base<Split> {
  FOREIGN_OP(Split, "split")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "m.->m.,m.").localAttributes(); }
  TensorValues compute(In x) {
    TensorValue first(getType(0)), second(getType(1));
    const int64_t size = getInts("sizes")[0];
    forEachIndex(x[0].type.getShape(),
                 [&](Index i) { (i[1] < size ? first.at(i) : second.at({i[0], i[1] - size})) = x[0].at(i); });
    return {first, second};
  }
};

// Elements move around the end of the dim.
struct Roll : Base<Roll> {
  FOREIGN_OP(Roll, "roll")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "...d->...d").replicate("d").localAttributes(); }
  TensorValues compute(In x) {
    const int64_t last = getType().getRank() - 1, size = getType().getDimSize(last);
    return each([&](Index i) { return x[0].at(with(i, last, (i.back() + size - getInt("shift")) % size)); });
  }
};

// A shard does not know its position in the matrix.
struct Tril : Base<Tril> {
  FOREIGN_OP(Tril, "tril")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "...mn->...mn").replicate("mn"); }
  TensorValues compute(In x) {
    return each([&](Index i) { return i.back() <= i.drop_back().back() + getInt("diagonal") ? x[0].at(i) : 0; });
  }
};

struct Inverse : Base<Inverse> {
  FOREIGN_OP(Inverse, "inverse")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "..->.."); }
  TensorValues compute(In x) {
    const double determinant = x[0].at({0, 0}) * x[0].at({1, 1}) - x[0].at({0, 1}) * x[0].at({1, 0});
    return each([&](Index i) { return (i[0] == i[1] ? 1 : -1) * x[0].at({1 - i[1], 1 - i[0]}) / determinant; });
  }
};

//===----------------------------------------------------------------------===//
// Wrong rules
//===----------------------------------------------------------------------===//

// A scan is not parallel along its dim.
struct WrongParallel : Base<WrongParallel> {
  FOREIGN_OP(WrongParallel, "wrong_parallel")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "mn->mn"); }
  TensorValues compute(In x) {
    return each([&](Index i) { return sum(i[1] + 1, [&](int64_t k) { return x[0].at({i[0], k}); }); });
  }
};

// The partial results of a maximum are not summed.
struct WrongKind : Base<WrongKind> {
  FOREIGN_OP(WrongKind, "wrong_kind")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "mk->m"); }
  TensorValues compute(In x) {
    return each([&](Index i) { return max(x[0].type.getDimSize(1), [&](int64_t k) { return x[0].at({i[0], k}); }); });
  }
};

struct WrongDims : Base<WrongDims> {
  FOREIGN_OP(WrongDims, "wrong_dims")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "ij->ij"); }
  TensorValues compute(In x) {
    return each([&](Index i) { return x[0].at({i[1], i[0]}); });
  }
};

// The exponential of a neutral element is not neutral.
struct WrongPadding : Base<WrongPadding> {
  FOREIGN_OP(WrongPadding, "wrong_padding")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "k->").allowPadding(); }
  TensorValues compute(In x) {
    return each(
        [&](Index) { return sum(x[0].elements.size(), [&](int64_t k) { return std::exp(x[0].elements[k]); }); });
  }
};

struct WrongInit : Base<WrongInit> {
  FOREIGN_OP(WrongInit, "wrong_init")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "mk,m->m"); }
  TensorValues compute(In x) {
    return each([&](Index i) {
      return x[1].at(i) + sum(x[0].type.getDimSize(1), [&](int64_t k) { return x[0].at({i[0], k}); });
    });
  }
};

// `makeLocal` is missing.
struct WrongSizes : Base<WrongSizes> {
  FOREIGN_OP(WrongSizes, "wrong_sizes")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "->mn").localAttributes(); }
  TensorValues compute(In) {
    return {TensorValue(RankedTensorType::get(getInts("shape"), getType().getElementType()), 3)};
  }
};

// The window begins at `start`.
struct WrongWindow : Base<WrongWindow> {
  FOREIGN_OP(WrongWindow, "wrong_window")
  ShardingRule getShardingRule() { return RuleBuilder(*this, "m.->mi").window(0, 1, 'i', {}).localAttributes(); }
  WindowForm getWindowForm() { return WindowForm::InPlace; }
  void makeWindowLocal(const LocalWindow &) { setInt("start", 0); }
  TensorValues compute(In x) {
    return each([&](Index i) { return x[0].at({i[0], i[1] + getInt("start")}); });
  }
};

/// Reads columns, where its addressing is that of rows.
struct WrongLookup : Base<WrongLookup> {
  FOREIGN_OP(WrongLookup, "wrong_lookup")
  ShardingRule getShardingRule() { return getAddressingRule(*this, *getAddressing()); }
  std::optional<Addressing> getAddressing() { return getLookupAddressing(*this, /*table=*/0, /*indices=*/1); }
  TensorValues compute(In x) {
    const int64_t last = x[0].type.getDimSize(1) - 1;
    return each([&](Index i) { return x[0].at({i.back(), std::min(int64_t(x[1].at(i.drop_back())), last)}); });
  }
};

/// Adds rows, where its addressing replaces them.
struct WrongWrite : Base<WrongWrite> {
  FOREIGN_OP(WrongWrite, "wrong_write")
  ShardingRule getShardingRule() { return getAddressingRule(*this, *getAddressing()); }
  std::optional<Addressing> getAddressing() { return getWriteAddressing(*this); }
  TensorValues compute(In x) {
    TensorValue out = x[0];
    forEachIndex(x[2].type.getShape(), [&](Index i) { out.at({int64_t(x[1].at(i[0])), i[1]}) += x[2].at(i); });
    return {out};
  }
};

/// Scales the rows that it reads, where its addressing does not.
struct ScaledLookup : Base<ScaledLookup> {
  FOREIGN_OP(ScaledLookup, "scaled_lookup")
  ShardingRule getShardingRule() { return getAddressingRule(*this, *getAddressing()); }
  std::optional<Addressing> getAddressing() { return getLookupAddressing(*this, /*table=*/0, /*indices=*/1); }
  TensorValues compute(In x) {
    return each([&](Index i) { return 2 * lookUp(x[0], {int64_t(x[1].at(i.drop_back())), i.back()}); });
  }
};

/// Rules that do not fit, by the attribute `wrong`.
struct Misfit : Base<Misfit> {
  FOREIGN_OP(Misfit, "misfit")
  StringRef getWrong() { return (*this)->getAttrOfType<StringAttr>("wrong").getValue(); }
  ShardingRule getShardingRule() {
    if (getWrong().contains("addressing"))
      return getAddressingRule(*this, *getAddressing());
    if (getWrong() == "concat dim")
      return getConcatRule(*this, 5);
    return RuleBuilder(*this, "m.->mi").window(0, 1, 'i', {});
  }
  WindowForm getWindowForm() {
    return getWrong() == "pad"      ? WindowForm::Pad
           : getWrong() == "slice"  ? WindowForm::Slice
           : getWrong() == "concat" ? WindowForm::Concat
                                    : WindowForm::None;
  }
  std::optional<Addressing> getAddressing() {
    if (!getWrong().contains("addressing"))
      return std::nullopt;
    Addressing addressing = getLookupAddressing(*this, 0, getWrong() == "addressing operand" ? 7 : 1);
    if (getWrong() == "addressing rows")
      addressing.rows = addressing.table;
    else
      addressing.batch = 0;
    return addressing;
  }
  TensorValues compute(In) { return {}; }
};

using Compute = TensorValues (*)(Operation *, In);
std::map<std::string, Compute> &getComputes() {
  static std::map<std::string, Compute> computes;
  return computes;
}

struct ForeignDialect : Dialect {
  static StringRef getDialectNamespace() { return "foreign"; }
  explicit ForeignDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ForeignDialect>()) {
    add<Clamp, Mul, Where, FloorDiv, ChannelBias, Quantize, Expand, Full>();
    add<MatmulNT, Linear, GroupedLinear, RaggedMatmul, Bilinear, QuantizedGemm, Attention>();
    add<Sum, AMax, Prod, Any, Mean, ScaledSum, ArgMax>();
    add<CumSum, Softmax, LayerNorm, RmsNorm, GroupNorm, Sort, TopK, Rope>();
    add<Gather, Embedding, Lookup, IndexCopy, ScatterAdd, OneHot, CrossEntropy>();
    add<Conv2d, GroupedConv1d, TransposedConv1d, MaxPool, Pad, Slice, Flip, RepeatInterleave>();
    add<CacheUpdate, Transpose, Reshape, Concat, Stack, Chunk, Split, Roll, Tril, Inverse>();
    add<WrongParallel, WrongKind, WrongDims, WrongPadding, WrongInit, WrongSizes, WrongWindow, WrongLookup, WrongWrite,
        ScaledLookup, Misfit>();
  }
  template <typename... Ops> void add() {
    addOperations<Ops...>();
    ((getComputes()[Ops::getOperationName().str()] = [](Operation *op, In in) { return cast<Ops>(op).compute(in); }),
     ...);
  }
};

class ForeignRulesTest : public testing::Test {
protected:
  ForeignRulesTest() {
    DialectRegistry registry;
    spmd::registerAllDialects(registry);
    registry.insert<ForeignDialect, func::FuncDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) { message = diagnostic.str(); });
  }
  /// Checks the rule of an op: its operands and results as `7x4xf32, 4xf32, index`.
  FailureOr<RuleCheck> check(StringRef name, StringRef operands, StringRef results, StringRef attributes = "",
                             ArrayRef<std::vector<double>> elements = {}) {
    auto toTypes = [](StringRef list) {
      SmallVector<StringRef> items;
      list.split(items, ", ", -1, /*KeepEmpty=*/false);
      return llvm::map_to_vector(
          items, [](StringRef item) { return item == "index" ? item.str() : "tensor<" + item.str() + ">"; });
    };
    SmallVector<std::string> types = toTypes(operands), arguments, uses;
    for (auto [i, type] : llvm::enumerate(types)) {
      uses.push_back("%a" + std::to_string(i));
      arguments.push_back(uses.back() + ": " + type);
    }
    std::string text;
    llvm::raw_string_ostream(text) << "func.func @f(" << llvm::join(arguments, ", ")
                                   << ") {\n  %r:" << results.count(", ") + 1 << " = \"foreign." << name << "\"("
                                   << llvm::join(uses, ", ") << ") {" << attributes << "} : ("
                                   << llvm::join(types, ", ") << ") -> (" << llvm::join(toTypes(results), ", ")
                                   << ")\n  return\n}";
    message.clear();
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return failure();
    Operation *op = &cast<func::FuncOp>(module->getBody()->front()).getBody().front().front();
    TensorValues given;
    for (auto [operand, own] : llvm::zip(op->getOperands(), elements)) {
      given.emplace_back(cast<RankedTensorType>(operand.getType()));
      given.back().elements = own;
    }
    auto interpret = [](Operation *op, In in) {
      return FailureOr(getComputes().at(op->getName().getStringRef().str())(op, in));
    };
    return checkShardingRule(op, interpret, given);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string message;
};

// Dims of 7 and 5 are not even for 2 or 3 shards. The last numbers: in how many ways the op was sharded, and how many
// of its factors are not computed in shards.
TEST_F(ForeignRulesTest, NumbersAreThoseOfTheOp) {
  struct Case {
    StringRef name, operands, results, attributes;
    unsigned cases, unchecked = 0;
    std::vector<std::vector<double>> elements = {};
  };
  std::vector<double> seven(7), divisors(7);
  std::iota(seven.begin(), seven.end(), -3);
  for (auto [i, divisor] : llvm::enumerate(divisors))
    divisor = 1 + i % 3;
  for (const Case &c : std::vector<Case>{
           {"clamp", "7x5xf32", "7x5xf32", "low = -0.5 : f32, high = 0.25 : f32", 5},
           {"mul", "7x1xf32, 5xf32", "7x5xf32", "", 5},
           {"where", "7x1xi1, 7x5xf32, 5xf32", "7x5xf32", "", 5},
           {"floor_div", "7xi32, 7xi32", "7xi32", "", 2, 0, {seven, divisors}},
           {"channel_bias", "2x5x7xf32, 5xf32", "2x5x7xf32", "", 9},
           {"quantize", "7x5xf32, 5xf32, 5xi32", "7x5xi8", "", 5},
           {"expand", "5xf32", "7x5x4xf32", "shape = array<i64: 7, 5, 4>", 10},
           {"full", "", "7x5xf32", "shape = array<i64: 7, 5>", 5},
           {"matmul_nt", "3x7x5xf32, 3x4x5xf32", "3x7x4xf32", "", 15},
           {"linear", "2x7x5xf32, 3x5xf32", "2x7x3xf32", "in_features = 5, out_features = 3", 14},
           {"grouped_linear", "7x8xf32, 2x6x4xf32", "7x12xf32", "", 13},
           {"ragged_matmul", "7x5xf32, 3x5x4xf32, 3xi32", "7x4xf32", "", 5, 0},
           {"bilinear", "7x5xf32, 3x5x4xf32, 7x4xf32", "7x3xf32", "", 15},
           {"quantized_gemm", "7x5xf32, 5x4xi8, 4xf32, 7x4xf32", "7x4xf32", "", 10},
           {"attention", "2x4x5x3xf32, 2x2x7x3xf32, 2x2x7x5xf32", "2x4x5x5xf32", "", 18},
           {"sum", "7x5x4xf32", "7x1x4xf32", "axis = 1", 10},
           {"amax", "7x5xf32", "7xf32", "", 5},
           {"prod", "7x5xf32", "7xf32", "", 5},
           {"any", "7x5xi1", "7xi1", "", 5},
           {"mean", "7x5xf32", "7xf32", "", 2},
           {"scaled_sum", "7x5xf32", "7xf32", "count = 5", 5},
           {"argmax", "7x5xf32", "7xi64", "", 2},
           {"cumsum", "7x5x4xf32", "7x5x4xf32", "axis = 1", 5},
           {"softmax", "7x4x5xf32", "7x4x5xf32", "", 5},
           {"layer_norm", "7x5xf32, 5xf32, 5xf32", "7x5xf32", "", 2},
           {"rms_norm", "7x5xf32, 5xf32", "7x5xf32", "epsilon = 0.1 : f32", 2},
           {"group_norm", "5x12x3xf32", "5x12x3xf32", "groups = 6", 5},
           {"sort", "7x5xf32", "7x5xf32, 7x5xi64", "", 2},
           {"top_k", "7x5xf32", "7x3xf32, 7x3xi64", "k = 3", 2},
           {"rope", "2x5x3x8xf32, 5x4xf32, 5x4xf32", "2x5x3x8xf32", "", 13},
           {"gather", "7x5xf32, 7x3xi64", "7x3xf32", "", 5},
           {"embedding", "6x5xf32, 7x3xi64", "7x3x5xf32", "", 10},
           {"lookup", "6x5xf32, 7x3xi64", "7x3x5xf32", "", 15},
           {"index_copy", "6x5xf32, 7xi64, 7x5xf32", "6x5xf32", "", 5},
           {"scatter_add", "6x5xf32, 7xi64, 7x5xf32", "6x5xf32", "", 5},
           {"one_hot", "7xi64", "7x3xf32", "depth = 3", 2},
           {"cross_entropy", "7x5xf32, 7xi64", "7xf32", "", 2},
           {"conv2d", "2x3x9x7xf32, 5x3x3x2xf32", "2x5x5x8xf32",
            "strides = array<i64: 2, 1>, paddings = array<i64: 1, 2>, dilations = array<i64: 1, 3>", 20},
           {"grouped_conv1d", "3x8x9xf32, 12x4x3xf32", "3x12x7xf32", "groups = 2", 19},
           {"max_pool", "3x11xf32", "3x6xf32", "size = 3, stride = 2, padding = 1", 5},
           {"pad", "7x5xf32", "7x8xf32", "low = array<i64: 0, 2>, high = array<i64: 0, 1>", 2, 1},
           {"slice", "3x9x5xf32", "3x4x5xf32", "dim = 1, start = 2, stride = 2, size = 4", 10},
           {"flip", "3x7xf32", "3x7xf32", "", 5},
           {"repeat_interleave", "6xf32", "12xf32", "repeats = 2", 2},
           {"transposed_conv1d", "8xf32, 7x5xf32", "7x24xf32", "stride = 3, padding = 2", 4},
           {"cache_update", "7x4x5xf32, 7x1x5xf32, index", "7x4x5xf32", "", 5},
           {"transpose", "2x7x5xf32", "5x2x7xf32", "permutation = array<i64: 2, 0, 1>", 9},
           {"reshape", "12x7xf32", "3x4x7xf32", "shape = array<i64: 3, 4, 7>", 8},
           {"reshape", "7x6x5xf32", "42x5xf32", "shape = array<i64: 42, 5>", 5},
           {"concat", "7x5xf32, 7x3xf32", "7x8xf32", "dim = 1", 2, 1},
           {"concat", "7x4xf32, 7x4xf32", "7x8xf32", "dim = 1", 4},
           {"stack", "7x5xf32, 7x5xf32", "7x2x5xf32", "", 5},
           {"chunk", "7x12xf32", "7x4xf32, 7x4xf32, 7x4xf32", "", 4},
           {"split", "7x8xf32", "7x5xf32, 7x3xf32", "sizes = array<i64: 5, 3>", 2},
           {"roll", "7x5xf32", "7x5xf32", "shift = 2", 2},
           {"tril", "7x4x4xf32", "7x4x4xf32", "diagonal = 1", 2},
           {"inverse", "2x2xf32", "2x2xf32", "", 0},
       }) {
    FailureOr<RuleCheck> checked = check(c.name, c.operands, c.results, c.attributes, c.elements);
    EXPECT_TRUE(succeeded(checked)) << c.name.str() << ": " << message;
    if (failed(checked))
      continue;
    EXPECT_EQ(checked->cases, c.cases) << c.name.str();
    EXPECT_EQ(checked->unchecked.size(), c.unchecked) << c.name.str();
  }
}

TEST_F(ForeignRulesTest, FactorsWithFewerShardingsAreListed) {
  FailureOr<RuleCheck> rope = check("rope", "2x5x3x8xf32, 5x4xf32, 5x4xf32", "2x5x3x8xf32");
  ASSERT_TRUE(succeeded(rope)) << message;
  EXPECT_EQ(rope->even.size(), 1u); // the halves
  EXPECT_TRUE(rope->replicated.empty());
  // An attribute may hold the number of rows.
  FailureOr<RuleCheck> mul = check("mul", "7x5xf32, 5xf32", "7x5xf32", "count = 7");
  ASSERT_TRUE(succeeded(mul)) << message;
  EXPECT_EQ(mul->replicated, (SmallVector<int32_t, 2>{0}));
}

TEST_F(ForeignRulesTest, WrongRulesAreFound) {
  struct Case {
    StringRef name, operands, results, attributes, message;
  };
  for (const Case &c : std::vector<Case>{
           {"wrong_parallel", "4x6xf32", "4x6xf32", "",
            "the sharding rule of foreign.wrong_parallel gives wrong numbers: with factor 1 (size 6) in 2 shards, "
            "element [0, 3] of result #0 is "},
           {"wrong_kind", "4x6xf32", "4xf32", "", "with factor 1 (size 6) in 2 shards, element [0] of result #0 is "},
           {"wrong_dims", "6x6xf32", "6x6xf32", "",
            "gives wrong numbers: with factor 0 (size 6) in 2 shards, element [0"},
           {"wrong_padding", "7xf32", "f32", "", "with factor 0 (size 7) in 2 shards, element [] of result #0 is "},
           {"wrong_window", "4x9xf32", "4x6xf32", "start = 2", "with factor 1 (size 6) in 2 shards, element [0, 0] of"},
           {"wrong_sizes", "", "4x6xf32", "shape = array<i64: 4, 6>",
            "the interpreter gives 24 elements of type 'tensor<4x6xf32>' for result #0 of foreign.wrong_sizes, "
            "expected 'tensor<2x6xf32>'"},
           {"wrong_init", "4x6xf32, 4xf32", "4xf32", "",
            "with factor 1 (size 6) in 2 shards, element [0] of result #0"},
           {"wrong_lookup", "6x6xf32, 7xi64", "7x6xf32", "", "in 2 shards, element [0, "},
           {"wrong_write", "6x5xf32, 7xi64, 7x5xf32", "6x5xf32", "",
            "(size 6) in 2 shards, element [0, 0] of result #0"},
           {"scaled_lookup", "6x5xf32, 7xi64", "7x5xf32", "", "(size 6) in 2 shards, element [0, 0] of result #0"},
           {"misfit", "4x9xf32", "4x6xf32", "wrong = \"pad\"",
            "does not fit: getPadForm has padding for 0 and 0 dims, expected all dims of operand #0, low and high"},
           {"misfit", "4x9xf32", "4x6xf32", "wrong = \"slice\"",
            "getWindowForm is that of slices of upstream, expected InPlace, Pad or Concat"},
           {"misfit", "4x9xf32, 4x3xf32", "4x12xf32", "wrong = \"concat\"",
            "getWindowForm is Concat, expected the rule of getConcatRule"},
           {"misfit", "4x9xf32, 4x3xf32", "4x12xf32", "wrong = \"concat dim\"",
            "getConcatRule joins dim 5, expected operands that have it"},
           {"misfit", "6x5xf32, 7xi64", "7x5xf32", "wrong = \"addressing\"",
            "getAddressing has 0 batch dims, expected 1, the dims of the indices that the rows have too"},
           {"misfit", "6x5xf32, 7xi64", "7x5xf32", "wrong = \"addressing operand\"",
            "the table, indices and rows of its addressing are not all ranked tensors of the op"},
           {"misfit", "6x5xf32, 7xi64", "7x5xf32", "wrong = \"addressing rows\"",
            "getAddressing reads rows, expected them to be the one result"},
           {"matmul_nt", "2x?x4xf32, 2x6x4xf32", "2x?x6xf32", "",
            "has a value of type 'tensor<2x?x4xf32>', expected tensors of static"},
       }) {
    EXPECT_TRUE(failed(check(c.name, c.operands, c.results, c.attributes))) << c.name.str();
    EXPECT_TRUE(StringRef(message).contains(c.message)) << c.name.str() << ": " << message;
  }
}

} // namespace foreign
