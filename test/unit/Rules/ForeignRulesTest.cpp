//===- ForeignRulesTest.cpp - Rules of another dialect, checked by numbers ===//
//
// Ops as frameworks have them, in generic form and without classes, with rules as docs/guides/AddARule.md explains
// them. Each is computed in shards and compared; a wrong rule of the same op is found.
//
//===----------------------------------------------------------------------===//

#include "shardkit/InitAllDialects.h"
#include "shardkit/Rules/CheckRule.h"
#include "shardkit/Rules/IndexedOps.h"
#include "shardkit/Rules/Reshapes.h"
#include "shardkit/Rules/RuleBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"
#include <cmath>
#include <map>
#include <numeric>

using namespace mlir;
using namespace mlir::spmd;

namespace {

using In = ArrayRef<TensorValue>;
using Index = ArrayRef<int64_t>;

/// What the dialect knows of an op. The methods of the interface that an op does not have are null.
struct Description {
  ShardingRule (*getRule)(Operation *);
  TensorValues (*compute)(Operation *, In);
  void (*makeLocal)(Operation *, const TensorTypes &) = nullptr;
  void (*makeWindowLocal)(Operation *, const LocalWindow &) = nullptr;
  double windowPadding = 0;
  std::optional<Addressing> (*getAddressing)(Operation *) = nullptr;
};

int64_t getInt(Operation *op, StringRef name) { return op->getAttrOfType<IntegerAttr>(name).getInt(); }
void setInt(Operation *op, StringRef name, int64_t value) {
  op->setAttr(name, Builder(op->getContext()).getI64IntegerAttr(value));
}
RankedTensorType getType(Operation *op, unsigned result = 0) {
  return cast<RankedTensorType>(op->getResult(result).getType());
}
/// The sizes of the result, which an attribute holds.
void setShape(Operation *op, const TensorTypes &types) {
  op->setAttr("shape", DenseI64ArrayAttr::get(op->getContext(), types.getLocal(op->getResult(0)).getShape()));
}

/// One result, by a function of the index.
TensorValues each(Operation *op, llvm::function_ref<double(Index)> element) {
  TensorValue out(getType(op));
  forEachIndex(out.type.getShape(), [&](Index i) { out.at(i) = element(i); });
  return {out};
}
/// The element of `value` at an index whose dims are those of a tensor of the same rank, with dims of size 1 broadcast.
double broadcastAt(const TensorValue &value, Index index) {
  SmallVector<int64_t> own(index.take_back(value.type.getRank()));
  for (auto [i, size] : llvm::zip(own, value.type.getShape()))
    i = std::min(i, size - 1);
  return value.at(own);
}
double sum(int64_t size, llvm::function_ref<double(int64_t)> element) {
  double total = 0;
  for (int64_t i = 0; i < size; ++i)
    total += element(i);
  return total;
}
SmallVector<double> getRow(const TensorValue &value, int64_t row) {
  SmallVector<double> elements;
  for (int64_t k = 0; k < value.type.getDimSize(1); ++k)
    elements.push_back(value.at({row, k}));
  return elements;
}
/// The positions of the elements of a row, largest first.
SmallVector<int64_t> rank(ArrayRef<double> row) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(row.size()));
  llvm::stable_sort(order, [&](int64_t a, int64_t b) { return row[a] > row[b]; });
  return order;
}

//===----------------------------------------------------------------------===//
// The rules
//===----------------------------------------------------------------------===//

const std::map<std::string, Description> &getDescriptions() {
  static const std::map<std::string, Description> descriptions = {
      // Elementwise.
      {"gelu",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "...").allowPadding(); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) { return in[0].at(i) * 0.5 * std::erfc(-in[0].at(i) / std::sqrt(2)); });
        }}},
      {"mul",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "...").allowPadding(); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) { return broadcastAt(in[0], i) * broadcastAt(in[1], i); });
        }}},
      {"where",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "...").allowPadding(); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) { return in[0].at(i) != 0 ? in[1].at(i) : in[2].at(i); });
        }}},
      {"cast_to_int",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "...").allowPadding(); },
        [](Operation *op, In in) { return each(op, [&](Index i) { return std::trunc(in[0].at(i)); }); }}},
      {"add_bias",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "...n,n->...n").allowPadding(); },
        [](Operation *op, In in) { return each(op, [&](Index i) { return in[0].at(i) + in[1].at(i.back()); }); }}},
      // The divisor of padding may be zero: only factors that divide evenly are sharded.
      {"floor_div",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "..."); },
        [](Operation *op, In in) { return each(op, [&](Index i) { return in[0].at(i) / (in[1].at(i) + 1); }); }}},
      // Contractions. The padding of a sum is zero in all operands.
      {"matmul",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "mk,kn->mn").contraction().allowPadding(); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) {
            return sum(in[1].type.getDimSize(0), [&](int64_t k) { return in[0].at({i[0], k}) * in[1].at({k, i[1]}); });
          });
        }}},
      {"linear",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "...k,nk->...n").contraction().allowPadding(); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) {
            return sum(in[1].type.getDimSize(1),
                       [&](int64_t k) { return in[0].at({i[0], i[1], k}) * in[1].at({i[2], k}); });
          });
        }}},
      {"attention_scores",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "bqhd,bkhd->bhqk").contraction().allowPadding(); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) {
            return sum(in[0].type.getDimSize(3),
                       [&](int64_t d) { return in[0].at({i[0], i[2], i[1], d}) * in[1].at({i[0], i[3], i[1], d}); });
          });
        }}},
      {"bilinear",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "bi,oij,bj->bo").contraction().allowPadding(); },
        [](Operation *op, In in) {
          return each(op, [&](Index b) {
            return sum(in[1].type.getDimSize(1), [&](int64_t i) {
              return sum(in[1].type.getDimSize(2),
                         [&](int64_t j) { return in[0].at({b[0], i}) * in[1].at({b[1], i, j}) * in[2].at({b[0], j}); });
            });
          });
        }}},
      {"outer",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "i,j->ij").allowPadding(); },
        [](Operation *op, In in) { return each(op, [&](Index i) { return in[0].at(i[0]) * in[1].at(i[1]); }); }}},
      // The last operand is added once.
      {"gemm",
       {[](Operation *op) -> ShardingRule {
          return RuleBuilder(op, "mk,kn,mn->mn").contraction().init(2).allowPadding();
        },
        [](Operation *op, In in) {
          return each(op, [&](Index i) {
            return in[2].at(i) +
                   sum(in[1].type.getDimSize(0), [&](int64_t k) { return in[0].at({i[0], k}) * in[1].at({k, i[1]}); });
          });
        }}},
      // Weights of integers with a scale per column.
      {"quantized_matmul",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "mk,kn,n->mn").contraction().allowPadding(); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) {
            return in[2].at(i[1]) *
                   sum(in[1].type.getDimSize(0), [&](int64_t k) { return in[0].at({i[0], k}) * in[1].at({k, i[1]}); });
          });
        }}},
      // Reductions.
      {"sum",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "mk->m").allowPadding(); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) {
            return sum(in[0].type.getDimSize(1), [&](int64_t k) { return in[0].at({i[0], k}); });
          });
        }}},
      {"amax",
       {[](Operation *op) -> ShardingRule {
          return RuleBuilder(op, "mk->m.").reduction(ReductionKind::Max).allowPadding();
        },
        [](Operation *op, In in) {
          return each(op, [&](Index i) { return *llvm::max_element(getRow(in[0], i[0])); });
        }}},
      {"prod",
       {[](Operation *op) -> ShardingRule {
          return RuleBuilder(op, "mk->m").reduction(ReductionKind::Prod).allowPadding();
        },
        [](Operation *op, In in) {
          return each(op, [&](Index i) {
            return std::exp(sum(in[0].type.getDimSize(1), [&](int64_t k) { return std::log(in[0].at({i[0], k})); }));
          });
        }}},
      {"any",
       {[](Operation *op) -> ShardingRule {
          return RuleBuilder(op, "mk->m").reduction(ReductionKind::Or).allowPadding();
        },
        [](Operation *op, In in) {
          return each(op, [&](Index i) { return *llvm::max_element(getRow(in[0], i[0])); });
        }}},
      // `count` stays the size of the global dim: each shard divides its partial sum by it.
      {"mean",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "mk->m").allowPadding().localAttributes(); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) {
            return sum(in[0].type.getDimSize(1), [&](int64_t k) { return in[0].at({i[0], k}); }) / getInt(op, "count");
          });
        }}},
      // Rows.
      {"softmax",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "m.->m.").allowPadding(); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) {
            return std::exp(in[0].at(i)) /
                   sum(in[0].type.getDimSize(1), [&](int64_t k) { return std::exp(in[0].at({i[0], k})); });
          });
        }}},
      {"layer_norm",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "m.,.,.->m.").allowPadding(); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) {
            const int64_t size = in[0].type.getDimSize(1);
            double mean = sum(size, [&](int64_t k) { return in[0].at({i[0], k}); }) / size;
            double variance = sum(size, [&](int64_t k) { return std::pow(in[0].at({i[0], k}) - mean, 2); }) / size;
            return (in[0].at(i) - mean) / std::sqrt(variance + 1e-5) * in[1].at(i[1]) + in[2].at(i[1]);
          });
        }}},
      {"cumsum",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "m.->m.").allowPadding(); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) { return sum(i[1] + 1, [&](int64_t k) { return in[0].at({i[0], k}); }); });
        }}},
      {"sort",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "m.->m.,m.").allowPadding(); },
        [](Operation *op, In in) {
          TensorValue values(getType(op)), positions(getType(op, 1));
          forEachIndex(values.type.getShape(), [&](Index i) {
            SmallVector<double> row = getRow(in[0], i[0]);
            positions.at(i) = rank(row)[i[1]];
            values.at(i) = row[rank(row)[i[1]]];
          });
          return TensorValues{values, positions};
        }}},
      // `k`, of the result, is no size of a dim that may be sharded.
      {"topk",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "m.->m.").allowPadding().localAttributes(); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) {
            SmallVector<double> row = getRow(in[0], i[0]);
            return row[rank(row)[i[1]]];
          });
        }}},
      // Labels are addresses: there are none in padding.
      {"cross_entropy",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "b.,b->b"); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) {
            SmallVector<double> row = getRow(in[0], i[0]);
            return std::log(sum(row.size(), [&](int64_t k) { return std::exp(row[k]); })) - row[in[1].at(i)];
          });
        }}},
      // Moves.
      {"permute",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "bij->bji").allowPadding(); },
        [](Operation *op, In in) { return each(op, [&](Index i) { return in[0].at({i[0], i[2], i[1]}); }); }}},
      {"view",
       {getReshapeRule,
        [](Operation *op, In in) {
          TensorValue out(getType(op));
          out.elements = in[0].elements;
          return TensorValues{out};
        }}},
      {"cat",
       {[](Operation *op) {
          ShardingRule rule = getConcatRule(op, 1);
          for (unsigned f = 0; f < rule.numFactors(); ++f)
            rule.setPadding(f, PaddingContent::Harmless);
          return rule;
        },
        [](Operation *op, In in) {
          const int64_t first = in[0].type.getDimSize(1);
          return each(op, [&](Index i) { return i[1] < first ? in[0].at(i) : in[1].at({i[0], i[1] - first}); });
        }}},
      {"full",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "->mn").allowPadding().localAttributes(); },
        [](Operation *op, In) {
          auto type = RankedTensorType::get(op->getAttrOfType<DenseI64ArrayAttr>("shape").asArrayRef(),
                                            getType(op).getElementType());
          return TensorValues{TensorValue(type, 3)};
        },
        setShape}},
      {"expand",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "n->mn").allowPadding().localAttributes(); },
        [](Operation *op, In in) {
          auto type = RankedTensorType::get(op->getAttrOfType<DenseI64ArrayAttr>("shape").asArrayRef(),
                                            getType(op).getElementType());
          TensorValue out(type);
          forEachIndex(type.getShape(), [&](Index i) { out.at(i) = in[0].at(i[1]); });
          return TensorValues{out};
        },
        setShape}},
      // Each group of channels is in one shard: `groups` becomes their number there.
      {"group_max",
       {[](Operation *op) -> ShardingRule {
          const int64_t size = getType(op).getDimSize(0) / getInt(op, "groups");
          return RuleBuilder(op, "cn->cn").replicate("n").granule('c', size).localAttributes();
        },
        [](Operation *op, In in) {
          const int64_t size = getType(op).getDimSize(0) / getInt(op, "groups");
          return each(op, [&](Index i) {
            double most = -INFINITY;
            for (int64_t c = i[0] / size * size; c < i[0] / size * size + size; ++c)
              most = std::max(most, in[0].at({c, i[1]}));
            return most;
          });
        },
        [](Operation *op, const TensorTypes &types) {
          Value x = op->getOperand(0);
          setInt(op, "groups",
                 getInt(op, "groups") * types.getLocal(x).getDimSize(0) / types.getGlobal(x).getDimSize(0));
        }}},
      // Gathers.
      {"embedding",
       {[](Operation *op) -> ShardingRule {
          return RuleBuilder(op, ".d,b->bd").padding("d", PaddingContent::Harmless);
        },
        [](Operation *op, In in) {
          return each(op, [&](Index i) { return in[0].at({int64_t(in[1].at(i[0])), i[1]}); });
        }}},
      {"index_rows",
       {[](Operation *op) { return getAddressingRule(op, *cast<ShardingRuleOpInterface>(op).getAddressing()); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) { return in[0].at({int64_t(in[1].at(i[0])), i[1]}); });
        },
        nullptr, nullptr, 0,
        [](Operation *op) -> std::optional<Addressing> {
          return Addressing{/*writes=*/false,  /*tableOperand=*/0,  /*indicesOperand=*/1,
                            op->getOperand(0), op->getOperand(1),   op->getResult(0),
                            /*batch=*/0,       /*hasTuples=*/false, /*coordinate=*/{0, -1},
                            /*along=*/{-1, 1}};
        }}},
      // Windows.
      {"conv1d",
       {[](Operation *op) -> ShardingRule {
          DimWindow window{getInt(op, "stride"), -getInt(op, "padding"),
                           cast<RankedTensorType>(op->getOperand(1).getType()).getDimSize(0)};
          return RuleBuilder(op, "b.c,.cd->bid")
              .window(0, 1, 'i', window)
              .contraction()
              .allowPadding()
              .localAttributes();
        },
        [](Operation *op, In in) {
          return each(op, [&](Index i) {
            return sum(in[1].type.getDimSize(0), [&](int64_t j) {
              const int64_t at = getInt(op, "stride") * i[1] + j - getInt(op, "padding");
              return at < 0 || at >= in[0].type.getDimSize(1)
                         ? 0
                         : sum(
                               in[0].type.getDimSize(2),
                               [&](int64_t c) { return in[0].at({i[0], at, c}) * in[1].at({j, c, i[2]}); });
            });
          });
        },
        nullptr, [](Operation *op, const LocalWindow &) { setInt(op, "padding", 0); }}},
      {"max_pool1d",
       {[](Operation *op) -> ShardingRule {
          DimWindow window{/*stride=*/2, -getInt(op, "padding"), /*length=*/3};
          return RuleBuilder(op, "b.->bi").window(0, 1, 'i', window).allowPadding().localAttributes();
        },
        [](Operation *op, In in) {
          return each(op, [&](Index i) {
            double most = -1e30;
            for (int64_t j = 0; j < 3; ++j)
              if (int64_t at = 2 * i[1] + j - getInt(op, "padding"); at >= 0 && at < in[0].type.getDimSize(1))
                most = std::max(most, in[0].at({i[0], at}));
            return most;
          });
        },
        nullptr, [](Operation *op, const LocalWindow &) { setInt(op, "padding", 0); }, -1e30}},
      {"narrow",
       {[](Operation *op) -> ShardingRule {
          return RuleBuilder(op, "m.->mi")
              .window(0, 1, 'i', {1, getInt(op, "start"), 1})
              .allowPadding()
              .localAttributes();
        },
        [](Operation *op, In in) {
          return each(op, [&](Index i) { return in[0].at({i[0], i[1] + getInt(op, "start")}); });
        },
        nullptr, [](Operation *op, const LocalWindow &) { setInt(op, "start", 0); }}},
      {"flip",
       {[](Operation *op) -> ShardingRule {
          return RuleBuilder(op, "m.->mi").window(0, 1, 'i', {-1, getType(op).getDimSize(1) - 1, 1}).allowPadding();
        },
        [](Operation *op, In in) {
          return each(op, [&](Index i) { return in[0].at({i[0], in[0].type.getDimSize(1) - 1 - i[1]}); });
        },
        nullptr, [](Operation *, const LocalWindow &) {}}},
      // Element i of the result is element i / repeats; a shard begins with a whole one.
      {"repeat_interleave",
       {[](Operation *op) -> ShardingRule {
          DimWindow window{1, 0, 1, /*divisor=*/getInt(op, "repeats")};
          return RuleBuilder(op, ".->i").window(0, 0, 'i', window).granule('i', window.divisor).localAttributes();
        },
        [](Operation *op, In in) { return each(op, [&](Index i) { return in[0].at(i[0] / getInt(op, "repeats")); }); },
        nullptr, [](Operation *, const LocalWindow &) {}}},
      // The place in the matrix is not known to a shard.
      {"tril",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "b..->b..").allowPadding(); },
        [](Operation *op, In in) { return each(op, [&](Index i) { return i[2] <= i[1] ? in[0].at(i) : 0; }); }}},

      // Wrong ones.
      {"wrong_parallel",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "mn->mn"); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) { return sum(i[1] + 1, [&](int64_t k) { return in[0].at({i[0], k}); }); });
        }}},
      {"wrong_kind",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "mk->m"); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) { return *llvm::max_element(getRow(in[0], i[0])); });
        }}},
      {"wrong_dims",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "ij->ij"); },
        [](Operation *op, In in) { return each(op, [&](Index i) { return in[0].at({i[1], i[0]}); }); }}},
      {"wrong_padding",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "k->").padding("k", PaddingContent::Neutral); },
        [](Operation *op, In in) {
          return each(
              op, [&](Index) { return sum(in[0].elements.size(), [&](int64_t k) { return std::exp(in[0].at(k)); }); });
        }}},
      {"wrong_window",
       {[](Operation *op) -> ShardingRule {
          return RuleBuilder(op, "m.->mi").window(0, 1, 'i', {1, 0, 1}).localAttributes();
        },
        [](Operation *op, In in) {
          return each(op, [&](Index i) { return in[0].at({i[0], i[1] + getInt(op, "start")}); });
        },
        nullptr, [](Operation *op, const LocalWindow &) { setInt(op, "start", 0); }}},
      {"wrong_sizes",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "->mn").localAttributes(); },
        [](Operation *op, In) {
          auto type = RankedTensorType::get(op->getAttrOfType<DenseI64ArrayAttr>("shape").asArrayRef(),
                                            getType(op).getElementType());
          return TensorValues{TensorValue(type, 3)};
        }}},
      {"wrong_init",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "mk,m->m"); },
        [](Operation *op, In in) {
          return each(op, [&](Index i) {
            return in[1].at(i) + sum(in[0].type.getDimSize(1), [&](int64_t k) { return in[0].at({i[0], k}); });
          });
        }}},
      {"wrong_form",
       {[](Operation *op) -> ShardingRule { return RuleBuilder(op, "mn->m"); },
        [](Operation *op, In in) { return each(op, [&](Index i) { return in[0].at(i); }); }}},
  };
  return descriptions;
}

const Description *find(Operation *op) {
  auto it = getDescriptions().find(op->getName().stripDialect().str());
  return it == getDescriptions().end() ? nullptr : &it->second;
}

//===----------------------------------------------------------------------===//
// The dialect
//===----------------------------------------------------------------------===//

struct Model : ShardingRuleOpInterface::FallbackModel<Model> {
  ShardingRule getShardingRule(Operation *op) const { return find(op)->getRule(op); }
  std::optional<PaddingNeeds> getPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f) const {
    return getDefaultPaddingNeeds(op, rule, f);
  }
  void makeLocal(Operation *op, const TensorTypes &types) const {
    if (auto makeLocal = find(op)->makeLocal)
      makeLocal(op, types);
  }
  WindowForm getWindowForm(Operation *op) const {
    return find(op)->makeWindowLocal ? WindowForm::InPlace : WindowForm::None;
  }
  void makeWindowLocal(Operation *op, const LocalWindow &window) const { find(op)->makeWindowLocal(op, window); }
  TypedAttr getWindowPadding(Operation *op, unsigned, unsigned) const {
    return Builder(op->getContext()).getF32FloatAttr(find(op)->windowPadding);
  }
  PadForm getPadForm(Operation *, OpBuilder &) const { return {}; }
  std::optional<Addressing> getAddressing(Operation *op) const {
    return find(op)->getAddressing ? find(op)->getAddressing(op) : std::nullopt;
  }
};

struct ForeignDialect : Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ForeignDialect)
  explicit ForeignDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ForeignDialect>()) {
    allowUnknownOperations();
  }
  static StringRef getDialectNamespace() { return "foreign"; }
  void *getRegisteredInterfaceForOp(TypeID id, OperationName name) override {
    const bool isKnown = getDescriptions().count(name.stripDialect().str());
    return isKnown && id == ShardingRuleOpInterface::getInterfaceID()
               ? static_cast<ShardingRuleOpInterface::Concept *>(&model)
               : nullptr;
  }
  Model model;
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
  /// Checks the rule of an op: its operands and results as `7x4xf32, 4xf32`.
  FailureOr<RuleCheck> check(StringRef name, StringRef operands, StringRef results, StringRef attributes = "",
                             ArrayRef<std::vector<double>> elements = {}) {
    auto toTypes = [](StringRef list) {
      SmallVector<StringRef> items;
      list.split(items, ", ", -1, /*KeepEmpty=*/false);
      return llvm::map_to_vector(items, [](StringRef item) { return "tensor<" + item.str() + ">"; });
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
    auto interpret = [](Operation *op, In in) { return FailureOr(find(op)->compute(op, in)); };
    return checkShardingRule(op, interpret, given);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string message;
};

// Dims of 7 and 5 are not even for 2 or 3 shards. The last numbers: in how many ways the op was sharded, and which of
// its factors are not computed in shards.
TEST_F(ForeignRulesTest, NumbersAreThoseOfTheOp) {
  struct Case {
    StringRef name, operands, results, attributes;
    unsigned cases, unchecked = 0;
    std::vector<std::vector<double>> elements = {};
  };
  for (const Case &c : std::vector<Case>{
           {"gelu", "7x5xf32", "7x5xf32", "", 5},
           {"mul", "7x1xf32, 5xf32", "7x5xf32", "", 5},
           {"where", "7x5xi1, 7x5xf32, 7x5xf32", "7x5xf32", "", 5},
           {"cast_to_int", "7x5xf32", "7x5xi32", "", 5},
           {"add_bias", "2x7x5xf32, 5xf32", "2x7x5xf32", "", 9},
           {"floor_div", "7x6xi32, 7x6xi32", "7x6xi32", "", 2},
           {"matmul", "7x5xf32, 5x4xf32", "7x4xf32", "", 10},
           {"linear", "2x7x5xf32, 3x5xf32", "2x7x3xf32", "", 14},
           {"attention_scores", "2x5x3x7xf32, 2x4x3x7xf32", "2x3x5x4xf32", "", 20},
           {"bilinear", "7x5xf32, 3x5x4xf32, 7x4xf32", "7x3xf32", "", 15},
           {"outer", "7xf32, 5xf32", "7x5xf32", "", 5},
           {"gemm", "7x5xf32, 5x4xf32, 7x4xf32", "7x4xf32", "", 10},
           {"quantized_matmul", "7x5xf32, 5x4xi8, 4xf32", "7x4xf32", "", 10},
           {"sum", "7x5xf32", "7xf32", "", 5},
           {"amax", "7x5xf32", "7x1xf32", "", 5},
           {"prod", "7x5xf32", "7xf32", "", 5, 0, {std::vector<double>(35, 1.25)}},
           {"any", "7x5xi1", "7xi1", "", 5},
           {"mean", "7x5xf32", "7xf32", "count = 5", 5},
           {"softmax", "7x5xf32", "7x5xf32", "", 2},
           {"layer_norm", "7x5xf32, 5xf32, 5xf32", "7x5xf32", "", 2},
           {"cumsum", "7x5xf32", "7x5xf32", "", 2},
           {"sort", "7x5xf32", "7x5xf32, 7x5xi32", "", 2},
           {"topk", "7x5xf32", "7x3xf32", "k = 3", 2},
           {"cross_entropy", "6x5xf32, 6xi32", "6xf32", "", 2},
           {"permute", "2x7x5xf32", "2x5x7xf32", "", 9},
           {"view", "12x7xf32", "3x4x7xf32", "", 8},
           {"cat", "7x4xf32, 7x4xf32", "7x8xf32", "", 4},
           {"full", "", "7x5xf32", "shape = array<i64: 7, 5>", 5},
           {"expand", "5xf32", "7x5xf32", "shape = array<i64: 7, 5>", 5},
           {"group_max", "6x5xf32", "6x5xf32", "groups = 3", 1},
           {"embedding", "6x5xf32, 7xi32", "7x5xf32", "", 2, 0},
           {"index_rows", "6x5xf32, 7xi32", "7x5xf32", "", 2, 1},
           {"conv1d", "2x7x3xf32, 3x3x5xf32", "2x7x5xf32", "stride = 1, padding = 1", 14},
           {"conv1d", "2x9x3xf32, 3x3x5xf32", "2x4x5xf32", "stride = 2, padding = 0", 14},
           {"max_pool1d", "3x11xf32", "3x6xf32", "padding = 1", 5},
           {"narrow", "3x9xf32", "3x5xf32", "start = 2", 5},
           {"flip", "3x7xf32", "3x7xf32", "", 5},
           {"repeat_interleave", "6xf32", "12xf32", "repeats = 2", 2},
           {"tril", "7x4x4xf32", "7x4x4xf32", "", 2},
       }) {
    FailureOr<RuleCheck> checked = check(c.name, c.operands, c.results, c.attributes, c.elements);
    ASSERT_TRUE(succeeded(checked)) << c.name.str() << ": " << message;
    EXPECT_EQ(checked->cases, c.cases) << c.name.str();
    EXPECT_EQ(checked->unchecked.size(), c.unchecked) << c.name.str();
  }
}

TEST_F(ForeignRulesTest, WrongRulesAreFound) {
  struct Case {
    StringRef name, operands, results, attributes, message;
  };
  for (
      const Case &c : std::vector<Case>{
          {"wrong_parallel", "4x6xf32", "4x6xf32", "",
           "the sharding rule of foreign.wrong_parallel gives wrong numbers: with factor 1 (size 6) in 2 shards, "
           "element [0, 3] of result #0 is "},
          {"wrong_kind", "4x6xf32", "4xf32", "", "with factor 1 (size 6) in 2 shards, element [0] of result #0 is "},
          {"wrong_dims", "6x6xf32", "6x6xf32", "",
           "gives wrong numbers: with factor 0 (size 6) in 2 shards, element [0"},
          {"wrong_padding", "7xf32", "f32", "", "with factor 0 (size 7) in 2 shards, element [] of result #0 is "},
          {"wrong_window", "4x9xf32", "4x6xf32", "start = 2", "with factor 1 (size 6) in 2 shards, element [0, 0] of"},
          {"wrong_sizes", "", "4x6xf32", "shape = array<i64: 4, 6>",
           "the interpreter gives 24 elements of type 'tensor<4x6xf32>' for result #0 of foreign.wrong_sizes, expected "
           "'tensor<2x6xf32>'"},
          {"wrong_init", "4x6xf32, 4xf32", "4xf32", "", "with factor 1 (size 6) in 2 shards, element [0] of result #0"},
          {"wrong_form", "4x6xf32", "4x6xf32", "",
           "the sharding rule of foreign.wrong_form does not fit: it describes 1 dims of result #0, expected 2"},
          {"matmul", "?x4xf32, 4x6xf32", "?x6xf32", "",
           "has a value of type 'tensor<?x4xf32>', expected tensors of static"},
      }) {
    EXPECT_TRUE(failed(check(c.name, c.operands, c.results, c.attributes))) << c.name.str();
    EXPECT_TRUE(StringRef(message).contains(c.message)) << c.name.str() << ": " << message;
  }
}

} // namespace
