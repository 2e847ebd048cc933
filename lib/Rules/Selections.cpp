//===- Selections.cpp - Reductions that pick one of many ------------------===//

#include "shardkit/Rules/Selections.h"
#include "shardkit/Rules/Reductions.h"
#include "shardkit/Rules/ShardingRule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// An element: a float, or an integer extended to 64 bits.
struct Element {
  double number = 0;
  int64_t integer = 0;
  bool operator==(const Element &o) const {
    return integer == o.integer && std::signbit(number) == std::signbit(o.number) &&
           (number == o.number || (std::isnan(number) && std::isnan(o.number)));
  }
};

/// Three values on a line suffice to distinguish three candidates: per sign, since
/// integers are compared signed or unsigned.
SmallVector<Element> getDomain(Type type) {
  SmallVector<Element> domain;
  if (isa<FloatType>(type)) {
    for (double number : {-1.0, -0.0, 0.0, 1.0, std::nan("")})
      domain.push_back({number, 0});
  } else {
    bool boolean = type.isInteger(1);
    for (int64_t integer = boolean ? 0 : -3; integer < (boolean ? 2 : 3); ++integer)
      domain.push_back({0, integer});
  }
  return domain;
}

bool compare(arith::CmpFPredicate predicate, double a, double b) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::OEQ:
    return !unordered && a == b;
  case P::OGT:
    return !unordered && a > b;
  case P::OGE:
    return !unordered && a >= b;
  case P::OLT:
    return !unordered && a < b;
  case P::OLE:
    return !unordered && a <= b;
  case P::ONE:
    return !unordered && a != b;
  case P::ORD:
    return !unordered;
  case P::UEQ:
    return unordered || a == b;
  case P::UGT:
    return unordered || a > b;
  case P::UGE:
    return unordered || a >= b;
  case P::ULT:
    return unordered || a < b;
  case P::ULE:
    return unordered || a <= b;
  case P::UNE:
    return unordered || a != b;
  case P::UNO:
    return unordered;
  case P::AlwaysTrue:
    return true;
  }
  llvm_unreachable("unknown predicate");
}

bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return a == b;
  case P::ne:
    return a != b;
  case P::slt:
    return a < b;
  case P::sle:
    return a <= b;
  case P::sgt:
    return a > b;
  case P::sge:
    return a >= b;
  case P::ult:
    return uint64_t(a) < uint64_t(b);
  case P::ule:
    return uint64_t(a) <= uint64_t(b);
  case P::ugt:
    return uint64_t(a) > uint64_t(b);
  case P::uge:
    return uint64_t(a) >= uint64_t(b);
  }
  llvm_unreachable("unknown predicate");
}

/// True for ops that only compare and select: their results depend on the order of
/// elements only. Logic is on booleans.
bool isOrderOnly(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return !compare.getLhs().getType().isInteger(1);
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return op->getResult(0).getType().isInteger(1);
  return isa<arith::CmpFOp, arith::SelectOp>(op);
}

/// The ops of a selection on numbered values: the current elements of the outputs, the
/// elements of the candidate, constants, and results.
class Evaluator {
public:
  Evaluator(const Selection &selection, ArrayRef<Value> held) {
    for (Value value : llvm::concat<const Value>(held, selection.candidate))
      numberOf(value);
    for (Operation *op : selection.ops) {
      Step &step = steps.emplace_back(Step{op, {}, 0});
      for (auto [i, operand] : llvm::enumerate(op->getOperands()))
        step.operands[i] = numberOf(operand);
      step.result = numberOf(op->getResult(0));
    }
  }

  /// The yielded values, for current elements of the outputs and a candidate.
  void run(ArrayRef<Element> held, ArrayRef<Element> candidate, ValueRange yielded, SmallVectorImpl<Element> &result) {
    llvm::copy(held, values.begin());
    llvm::copy(candidate, values.begin() + held.size());
    for (const Step &step : steps)
      values[step.result] = evaluate(step);
    result.clear();
    for (Value value : yielded)
      result.push_back(values[numbers.lookup(value)]);
  }

private:
  struct Step {
    Operation *op;
    unsigned operands[3], result;
  };

  unsigned numberOf(Value value) {
    auto [it, isNew] = numbers.try_emplace(value, values.size());
    if (isNew) {
      APInt constant; // boolean
      bool isConstant = matchPattern(value, m_ConstantInt(&constant));
      values.push_back({0, isConstant ? int64_t(constant.getZExtValue()) : 0});
    }
    return it->second;
  }

  Element evaluate(const Step &step) const {
    auto get = [&](unsigned i) -> const Element & { return values[step.operands[i]]; };
    if (auto cmp = dyn_cast<arith::CmpFOp>(step.op))
      return {0, compare(cmp.getPredicate(), get(0).number, get(1).number)};
    if (auto cmp = dyn_cast<arith::CmpIOp>(step.op))
      return {0, compare(cmp.getPredicate(), get(0).integer, get(1).integer)};
    if (isa<arith::AndIOp>(step.op))
      return {0, get(0).integer & get(1).integer};
    if (isa<arith::OrIOp>(step.op))
      return {0, get(0).integer | get(1).integer};
    if (isa<arith::XOrIOp>(step.op))
      return {0, get(0).integer ^ get(1).integer};
    assert(isa<arith::SelectOp>(step.op) && "as isOrderOnly requires");
    return get(0).integer ? get(1) : get(2);
  }

  llvm::SmallDenseMap<Value, unsigned, 16> numbers;
  SmallVector<Element, 16> values;
  SmallVector<Step, 8> steps;
};

/// True if `element` may represent the init. One that is not zero is below, between or
/// above all values that it is compared with.
bool mayBeInit(const Element &element, Type type, Attribute init) {
  auto value = dyn_cast_or_null<FloatAttr>(init);
  if (!value || !isa<FloatType>(type) || value.getValue().isZero())
    return true;
  return std::isnan(element.number) == value.getValue().isNaN() && element.number != 0;
}

/// A selection on all pairs of candidates of the domain.
struct Table {
  Table(const Selection &selection, ArrayRef<Value> held, ValueRange yielded);
  size_t times(size_t a, size_t b) const { return product[a * tuples.size() + b]; }

  SmallVector<SmallVector<Element, 2>> tuples; ///< Empty if there are too many.
  std::vector<size_t> product;
};

Table::Table(const Selection &selection, ArrayRef<Value> held, ValueRange yielded) {
  SmallVector<SmallVector<Element>> domains;
  size_t count = 1;
  for (Value value : held) {
    domains.push_back(getDomain(value.getType()));
    count *= domains.back().size();
  }
  if (count > 64)
    return;
  for (size_t i = 0; i < count; ++i) {
    tuples.emplace_back();
    size_t remaining = i;
    for (const auto &domain : domains) {
      tuples.back().push_back(domain[remaining % domain.size()]);
      remaining /= domain.size();
    }
  }
  product.resize(count * count);
  Evaluator evaluator(selection, held);
  SmallVector<Element, 2> result;
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b) {
      evaluator.run(tuples[a], tuples[b], yielded, result);
      product[a * count + b] = llvm::find(tuples, result) - tuples.begin();
    }
}

/// Outputs hold values that are reached from their init. A shard that starts from the init
/// too yields a b with, for all a and b that are reached and every candidate e,
///   a (b e) = (a b) e,  a init = a
/// which makes a (init e1 .. en) = a e1 .. en.
bool isSound(const Table &table, ArrayRef<Value> held, ArrayRef<Attribute> inits) {
  size_t count = table.tuples.size();
  auto times = [&](size_t a, size_t b) { return table.times(a, b); };
  std::vector<bool> checked(count * count);
  for (size_t init = 0; init < count; ++init) {
    bool isInit = true;
    for (unsigned i = 0; i < held.size(); ++i)
      isInit &= mayBeInit(table.tuples[init][i], held[i].getType(), inits[i]);
    if (!isInit)
      continue;
    llvm::SmallSetVector<size_t, 32> reached;
    reached.insert(init);
    for (size_t i = 0; i < reached.size(); ++i)
      for (size_t e = 0; e < count; ++e)
        reached.insert(times(reached[i], e));
    for (size_t a : reached) {
      if (times(a, init) != a)
        return false;
      for (size_t b : reached) {
        if (checked[a * count + b])
          continue; // another init
        checked[a * count + b] = true;
        for (size_t e = 0; e < count; ++e)
          if (times(a, times(b, e)) != times(times(a, b), e))
            return false;
      }
    }
  }
  return count > 0;
}

/// The same for a shard that starts from its first candidate: e1 (e2 .. en).
bool isAssociative(const Table &table) {
  size_t count = table.tuples.size();
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b)
      for (size_t e = 0; e < count; ++e)
        if (table.times(a, table.times(b, e)) != table.times(table.times(a, b), e))
          return false;
  return count > 0;
}

Table getTable(linalg::LinalgOp op, const Selection &selection) {
  return Table(selection, SmallVector<Value>(op.getRegionOutputArgs()), op.getBlock()->getTerminator()->getOperands());
}

} // namespace

std::optional<Selection> spmd::getSelection(linalg::LinalgOp op) {
  unsigned numInputs = op.getNumDpsInputs(), count = op.getNumDpsInits();
  if (op.getNumReductionLoops() == 0 || count == 0 || count > 2 || op->getNumRegions() != 1)
    return std::nullopt;
  Block *body = op.getBlock();
  ArrayRef<BlockArgument> arguments = body->getArguments();
  SmallVector<Value> held(arguments.drop_front(numInputs));
  for (Value value : held)
    if (!value.getType().isIntOrIndexOrFloat())
      return std::nullopt;
  // Ops that depend on the current elements of the outputs, and their other operands.
  Selection selection;
  llvm::SmallSetVector<Value, 8> dependent(held.begin(), held.end()), read;
  for (Operation &inner : body->without_terminator()) {
    if (inner.getNumRegions() > 0)
      return std::nullopt;
    if (llvm::none_of(inner.getOperands(), [&](Value value) { return dependent.contains(value); }))
      continue;
    if (!isOrderOnly(&inner))
      return std::nullopt;
    for (Value value : inner.getOperands())
      if (!dependent.contains(value) && !(value.getType().isInteger(1) && matchPattern(value, m_Constant())))
        read.insert(value);
    dependent.insert(inner.getResult(0));
    selection.ops.push_back(&inner);
  }
  // An output keeps its element or gets that of the candidate.
  ValueRange yielded = body->getTerminator()->getOperands();
  for (unsigned i = 0; i < count; ++i) {
    Value candidate;
    SmallVector<Value> stack{yielded[i]};
    while (!stack.empty()) {
      Value value = stack.pop_back_val();
      if (value == held[i])
        continue;
      auto select = value.getDefiningOp<arith::SelectOp>();
      if (select && dependent.contains(value)) {
        stack.append({select.getTrueValue(), select.getFalseValue()});
        continue;
      }
      if (dependent.contains(value) || (candidate && candidate != value))
        return std::nullopt;
      candidate = value;
    }
    if (!candidate || !dependent.contains(yielded[i]) || llvm::is_contained(selection.candidate, candidate))
      return std::nullopt;
    selection.candidate.push_back(candidate);
  }
  for (Value value : read)
    if (!llvm::is_contained(selection.candidate, value))
      return std::nullopt;
  return selection;
}

bool spmd::isSelection(linalg::LinalgOp op) {
  std::optional<Selection> selection = getSelection(op);
  if (!selection)
    return false;
  SmallVector<Attribute> inits;
  for (Value init : op.getDpsInits())
    inits.push_back(getFillElement(init));
  return isSound(getTable(op, *selection), SmallVector<Value>(op.getRegionOutputArgs()), inits);
}

bool spmd::isAssociativeSelection(linalg::LinalgOp op) {
  std::optional<Selection> selection = getSelection(op);
  return selection && isAssociative(getTable(op, *selection));
}

SmallVector<Value> spmd::pickOne(OpBuilder &b, linalg::LinalgOp op, const Selection &selection, ValueRange held,
                                 ValueRange candidate) {
  IRMapping map;
  map.map(selection.candidate, candidate);
  map.map(op.getRegionOutputArgs(), held);
  // Constants may be in the body.
  for (Operation *inner : selection.ops) {
    for (Value operand : inner->getOperands())
      if (!map.contains(operand) && operand.getParentBlock() == op.getBlock())
        b.clone(*operand.getDefiningOp(), map);
    b.clone(*inner, map);
  }
  SmallVector<Value> picked;
  for (Value value : op.getBlock()->getTerminator()->getOperands())
    picked.push_back(map.lookup(value));
  return picked;
}
