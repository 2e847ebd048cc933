//===- Expressions.cpp - Elements as expressions --------------------------===//

#include "Expressions.h"

#include "shardkit/Proof/Terms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::enumeration;

/// Operands that sums of products may have in all.
static constexpr size_t kMaxExpanded = 1 << 20;
static constexpr StringLiteral kLookup = "lookup", kSelect = "arith.select", kNegate = "arith.negf";

ExprId Expressions::get(Expr expr) {
  size_t hash = llvm::hash_combine(expr.name, expr.value.getAsOpaquePointer(), expr.type.getAsOpaquePointer(),
                                   llvm::hash_combine_range(expr.operands.begin(), expr.operands.end()));
  // The map has two values of its own.
  SmallVector<ExprId, 1> &known = ids[hash & ~size_t(0) >> 2];
  for (ExprId id : known)
    if (list[id] == expr)
      return id;
  known.push_back(list.size());
  list.push_back(std::move(expr));
  return known.back();
}

ExprId Expressions::getConstant(Attribute value) { return get({{}, value, cast<TypedAttr>(value).getType(), {}}); }

ExprId Expressions::getLeaf(Type type) {
  list.push_back({{}, {}, type, {}});
  return list.size() - 1;
}

ExprId Expressions::getLookup(Type type, ArrayRef<ExprId> elements, ArrayRef<ExprId> indices) {
  Expr expr{kLookup, {}, type, SmallVector<ExprId, 2>(indices)};
  expr.operands.append(elements.begin(), elements.end());
  return get(std::move(expr));
}

ExprId Expressions::getSelect(ExprId condition, ExprId value, ExprId other, Type type) {
  if (auto known = dyn_cast_or_null<IntegerAttr>(getValue(condition)))
    return known.getValue().isZero() ? other : value;
  return value == other ? value : get({kSelect, {}, type, {condition, value, other}});
}

ExprId Expressions::getBag(StringRef name, Type type, ArrayRef<ExprId> operands) {
  std::optional<ReductionKind> kind = proof::getCombinerKind(name, type);
  SmallVector<ExprId, 2> bag;
  for (ExprId operand : operands) {
    if (list[operand].name == name && list[operand].type == type)
      bag.append(list[operand].operands.begin(), list[operand].operands.end());
    else if (Attribute value = getValue(operand); !value || !proof::isNeutral(*kind, value))
      bag.push_back(operand);
  }
  llvm::sort(bag);
  if (isIdempotent(*kind))
    bag.erase(llvm::unique(bag), bag.end());
  if (bag.empty())
    return operands.front(); // neutral ones alone
  return bag.size() == 1 ? bag.front() : get({OperationName(name, type.getContext()).getStringRef(), {}, type, bag});
}

ExprId Expressions::getNegated(ExprId id, Type type) {
  if (list[id].name == kNegate)
    return list[id].operands[0];
  if (auto number = dyn_cast_or_null<FloatAttr>(getValue(id)))
    return getConstant(FloatAttr::get(type, -number.getValue()));
  return get({kNegate, {}, type, {id}});
}

Attribute Expressions::fold(Operation *op, DictionaryAttr attributes, Type type, ArrayRef<ExprId> operands) const {
  SmallVector<Attribute> constants;
  for (ExprId operand : operands)
    if (!constants.emplace_back(getValue(operand)))
      return {};
  Block block;
  OperationState state(op->getLoc(), op->getName());
  for (Attribute constant : constants)
    state.operands.push_back(block.addArgument(cast<TypedAttr>(constant).getType(), state.location));
  state.addTypes(type);
  state.addAttributes(attributes.getValue());
  Operation *copy = Operation::create(state);
  SmallVector<OpFoldResult> results;
  Attribute value;
  if (succeeded(copy->fold(constants, results)) && results.size() == 1) {
    value = dyn_cast<Attribute>(results[0]);
    if (!value) // an operand
      value = constants[cast<BlockArgument>(cast<Value>(results[0])).getArgNumber()];
  }
  copy->destroy();
  return isa_and_nonnull<IntegerAttr, FloatAttr>(value) ? value : Attribute(); // not poison
}

/// An integer is equal to itself, whatever it is; null if that is not what the op compares.
static Attribute compareWithItself(Operation *op, Type type, ArrayRef<ExprId> operands) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || operands[0] != operands[1])
    return {};
  using P = arith::CmpIPredicate;
  bool isTrue = llvm::is_contained({P::eq, P::sle, P::sge, P::ule, P::uge}, compare.getPredicate());
  return IntegerAttr::get(type, isTrue ? -1 : 0);
}

ExprId Expressions::getOp(Operation *op, Type type, ArrayRef<ExprId> operands) {
  StringRef name = op->getName().getStringRef();
  if (name == kSelect)
    return getSelect(operands[0], operands[1], operands[2], type);
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attr : op->getAttrs())
    if (!attr.getName().getValue().starts_with("spmd."))
      kept.push_back(attr);
  auto attributes = DictionaryAttr::get(op->getContext(), kept);
  if (Attribute value = fold(op, attributes, type, operands))
    return getConstant(value);
  if (Attribute value = compareWithItself(op, type, operands))
    return getConstant(value);
  if (name == "arith.subf" && operands.size() == 2)
    return getBag("arith.addf", type, {operands[0], getNegated(operands[1], type)});
  if (name == kNegate)
    return getNegated(operands[0], type);
  if (operands.size() == 2 && proof::getCombinerKind(name, type)) {
    for (ExprId operand : operands)
      if (auto number = dyn_cast_or_null<IntegerAttr>(getValue(operand));
          number && number.getValue().isZero() && (name == "arith.muli" || name == "arith.andi"))
        return operand;
    return getBag(name, type, operands);
  }
  return get({name, attributes, type, SmallVector<ExprId, 2>(operands)});
}

//===----------------------------------------------------------------------===//
// Sums of products
//===----------------------------------------------------------------------===//

static bool isSum(StringRef name) { return name == "arith.addf" || name == "arith.addi"; }
static bool isProduct(StringRef name) { return name == "arith.mulf" || name == "arith.muli"; }

std::optional<ExprId> Expressions::expandEach(const Expr &sum, llvm::function_ref<ExprId(ExprId)> get) {
  SmallVector<ExprId> parts;
  numExpanded += sum.operands.size();
  if (numExpanded > kMaxExpanded)
    return std::nullopt;
  for (ExprId part : sum.operands)
    parts.push_back(get(part));
  Type type = list[parts.front()].type;
  return getBag(isa<FloatType>(type) ? "arith.addf" : "arith.addi", type, parts);
}

/// Sums among the factors are multiplied out, one after the other.
std::optional<ExprId> Expressions::expandProduct(const Expr &expr, ArrayRef<ExprId> factors) {
  const ExprId *sum = llvm::find_if(factors, [&](ExprId factor) { return isSum(list[factor].name); });
  if (sum == factors.end())
    return getBag(expr.name, expr.type, factors);
  SmallVector<ExprId> products;
  const SmallVector<ExprId, 2> parts = list[*sum].operands;
  numExpanded += parts.size();
  if (numExpanded > kMaxExpanded)
    return std::nullopt;
  SmallVector<ExprId> each(factors);
  for (ExprId part : parts) {
    each[sum - factors.begin()] = part;
    std::optional<ExprId> product = expandProduct(expr, each);
    if (!product)
      return std::nullopt;
    products.push_back(*product);
  }
  return getBag(isa<FloatType>(expr.type) ? "arith.addf" : "arith.addi", expr.type, products);
}

std::optional<ExprId> Expressions::expand(ExprId id) {
  if (auto known = expanded.find(id); known != expanded.end())
    return known->second;
  const Expr expr = list[id]; // the list grows
  SmallVector<ExprId, 2> operands;
  for (ExprId operand : expr.operands) {
    std::optional<ExprId> next = expand(operand);
    if (!next)
      return expanded[id] = std::nullopt;
    operands.push_back(*next);
  }
  auto isOfSum = [&] { return isSum(list[operands[0]].name); };
  std::optional<ExprId> result;
  if (expr.name.empty())
    result = id;
  else if (isProduct(expr.name))
    result = expandProduct(expr, operands);
  else if (expr.name == kNegate)
    result = isOfSum() ? expandEach(list[operands[0]], [&](ExprId part) { return getNegated(part, expr.type); })
                       : getNegated(operands[0], expr.type);
  else if (expr.name == "arith.extf" && isOfSum())
    result =
        expandEach(list[operands[0]], [&](ExprId part) { return get({expr.name, expr.value, expr.type, {part}}); });
  else if (proof::getCombinerKind(expr.name, expr.type) && operands.size() > 1)
    result = getBag(expr.name, expr.type, operands);
  else
    result = get({expr.name, expr.value, expr.type, operands});
  return expanded[id] = result;
}
