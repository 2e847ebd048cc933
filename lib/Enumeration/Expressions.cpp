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
/// Values of integers that are tried for an expression, and expressions that are computed for these in all.
static constexpr int64_t kMaxCases = 4096;
static constexpr size_t kMaxSubstituted = 1 << 22;
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

std::optional<int64_t> Expressions::getInteger(ExprId id) const {
  auto value = dyn_cast_or_null<IntegerAttr>(getValue(id));
  return value ? std::optional(value.getValue().sextOrTrunc(64).getSExtValue()) : std::nullopt;
}

/// Only the dims at indices that are not known are kept.
ExprId Expressions::getLookup(Type type, ArrayRef<int64_t> shape, ArrayRef<ExprId> elements, ArrayRef<ExprId> indices) {
  Expr expr{kLookup, {}, type, {}};
  SmallVector<int64_t> sizes;
  SmallVector<ExprId> rest(elements);
  int64_t inner = elements.size(), outer = 1;
  for (auto [size, index] : llvm::zip_equal(shape, indices)) {
    inner /= size;
    std::optional<int64_t> known = getInteger(index);
    if (!known) {
      sizes.push_back(size);
      expr.operands.push_back(index);
      outer *= size;
      continue;
    }
    SmallVector<ExprId> kept;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i)
        kept.push_back(rest[(o * size + *known) * inner + i]);
    rest = std::move(kept);
  }
  if (sizes.empty())
    return rest.front();
  expr.value = DenseI64ArrayAttr::get(type.getContext(), sizes);
  expr.operands.append(rest.begin(), rest.end());
  return get(std::move(expr));
}

ExprId Expressions::getSelect(ExprId condition, ExprId value, ExprId other, Type type) {
  if (auto known = dyn_cast_or_null<IntegerAttr>(getValue(condition)))
    return known.getValue().isZero() ? other : value;
  return value == other ? value : get({kSelect, {}, type, {condition, value, other}});
}

ExprId Expressions::getBag(StringRef name, Type type, ArrayRef<ExprId> operands) {
  std::optional<ReductionKind> kind = proof::getCombinerKind(name, type);
  SmallVector<ExprId, 2> all, bag;
  for (ExprId operand : operands)
    if (list[operand].name == name && list[operand].type == type)
      all.append(list[operand].operands.begin(), list[operand].operands.end());
    else
      all.push_back(operand);
  // Constants of integers are one constant: nothing is rounded.
  std::optional<int64_t> constant;
  for (ExprId operand : all) {
    Attribute value = getValue(operand);
    if (std::optional<int64_t> known = getInteger(operand))
      constant = constant ? combine(name, type, {.integer = *constant}, {.integer = *known}).integer : *known;
    else if (!value || !proof::isNeutral(*kind, value))
      bag.push_back(operand);
  }
  if (constant) {
    ExprId id = getConstant(IntegerAttr::get(type, *constant));
    if (bag.empty() || (*constant == 0 && (name == "arith.muli" || name == "arith.andi")))
      return id;
    if (!proof::isNeutral(*kind, getValue(id)))
      bag.push_back(id);
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
  if (!isa<FloatType>(type))
    return getBag("arith.muli", type, {id, getConstant(IntegerAttr::get(type, -1))});
  if (auto number = dyn_cast_or_null<FloatAttr>(getValue(id)))
    return getConstant(FloatAttr::get(type, -number.getValue()));
  return get({kNegate, {}, type, {id}});
}

Attribute Expressions::fold(OperationName name, DictionaryAttr attributes, Type type, ArrayRef<ExprId> operands) const {
  SmallVector<Attribute> constants;
  for (ExprId operand : operands)
    if (!constants.emplace_back(getValue(operand)))
      return {};
  Block block;
  OperationState state(UnknownLoc::get(type.getContext()), name);
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
static Attribute compareWithItself(OperationName name, DictionaryAttr attributes, Type type,
                                   ArrayRef<ExprId> operands) {
  if (name.getStringRef() != arith::CmpIOp::getOperationName() || operands[0] != operands[1])
    return {};
  using P = arith::CmpIPredicate;
  auto predicate = attributes.getAs<arith::CmpIPredicateAttr>("predicate").getValue();
  bool isTrue = llvm::is_contained({P::eq, P::sle, P::sge, P::ule, P::uge}, predicate);
  return IntegerAttr::get(type, isTrue ? -1 : 0);
}

ExprId Expressions::getOp(Operation *op, Type type, ArrayRef<ExprId> operands) {
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attr : op->getAttrs())
    if (!attr.getName().getValue().starts_with("spmd."))
      kept.push_back(attr);
  return getOp(op->getName(), DictionaryAttr::get(op->getContext(), kept), type, operands);
}

ExprId Expressions::getOp(OperationName op, DictionaryAttr attributes, Type type, ArrayRef<ExprId> operands) {
  StringRef name = op.getStringRef();
  if (name == kSelect)
    return getSelect(operands[0], operands[1], operands[2], type);
  if (Attribute value = fold(op, attributes, type, operands))
    return getConstant(value);
  if (Attribute value = compareWithItself(op, attributes, type, operands))
    return getConstant(value);
  if (name == "arith.subf" || name == "arith.subi")
    return getBag(name == "arith.subf" ? "arith.addf" : "arith.addi", type,
                  {operands[0], getNegated(operands[1], type)});
  if (name == kNegate)
    return getNegated(operands[0], type);
  if (operands.size() == 2 && proof::getCombinerKind(name, type))
    return getBag(name, type, operands);
  return get({name, attributes, type, SmallVector<ExprId, 2>(operands)});
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

void Expressions::assumeRange(ExprId id, int64_t min, int64_t max) {
  const Expr &expr = list[id];
  // What a conversion is of, and an index less a constant, has a range as well.
  auto fits = [&](Type type, int64_t low, int64_t high) {
    unsigned width = getWidth(type);
    return width >= 64 || (low >= -(int64_t(1) << (width - 1)) && high < int64_t(1) << (width - 1));
  };
  bool isConversion =
      llvm::is_contained({"arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui"}, expr.name);
  if (isConversion && (min >= 0 || !expr.name.ends_with("ui")) && fits(list[expr.operands[0]].type, min, max))
    return assumeRange(expr.operands[0], min, max);
  if (expr.name == "arith.addi" && expr.operands.size() == 2)
    for (unsigned i : {0, 1})
      if (std::optional<int64_t> known = getInteger(expr.operands[i]))
        if (fits(expr.type, min - *known, max - *known))
          return assumeRange(expr.operands[1 - i], min - *known, max - *known);
  auto [it, isNew] = ranges.try_emplace(id, min, max);
  it->second = {std::max(it->second.first, min), std::min(it->second.second, max)};
  if (it->second.first == it->second.second)
    setAssumptions(ranges);
}

void Expressions::setAssumptions(std::map<ExprId, Range> assumed) {
  ranges = std::move(assumed);
  known.clear();
  for (auto [id, range] : ranges)
    if (range.first == range.second)
      known[id] = getConstant(IntegerAttr::get(list[id].type, range.first));
}

std::optional<int64_t> Expressions::findInteger(ExprId id) {
  std::optional<int64_t> constant = getInteger(id);
  return constant || known.empty() ? constant : getInteger(substitute(id, known));
}

/// Where a minimum and a maximum have constants among their operands, these are bounds.
std::optional<Expressions::Range> Expressions::getRange(ExprId id) const {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  auto getBounds = [&](auto getBounds, ExprId id) -> Range {
    if (auto assumed = ranges.find(id); assumed != ranges.end())
      return assumed->second;
    if (std::optional<int64_t> constant = getInteger(id))
      return {*constant, *constant};
    const Expr &expr = list[id];
    if (expr.name == "arith.index_cast" || expr.name == "arith.extsi")
      return getBounds(getBounds, expr.operands[0]);
    bool isMin = expr.name == "affine.min" || expr.name == "arith.minsi";
    if (!isMin && expr.name != "affine.max" && expr.name != "arith.maxsi")
      return {kMin, kMax};
    SmallVector<Range> operands, bounds;
    for (ExprId operand : expr.operands)
      operands.push_back(getBounds(getBounds, operand));
    bounds = operands;
    if (auto attributes = dyn_cast_or_null<DictionaryAttr>(expr.value)) {
      bounds.clear();
      AffineMap map = attributes.getAs<AffineMapAttr>("map").getValue();
      for (AffineExpr result : map.getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(result);
        auto symbol = dyn_cast<AffineSymbolExpr>(result);
        auto constant = dyn_cast<AffineConstantExpr>(result);
        bounds.push_back(dim        ? operands[dim.getPosition()]
                         : symbol   ? operands[map.getNumDims() + symbol.getPosition()]
                         : constant ? Range(constant.getValue(), constant.getValue())
                                    : Range(kMin, kMax));
      }
    }
    Range range = bounds.front();
    for (Range other : bounds)
      range = isMin ? Range(std::min(range.first, other.first), std::min(range.second, other.second))
                    : Range(std::max(range.first, other.first), std::max(range.second, other.second));
    return range;
  };
  Range range = getBounds(getBounds, id);
  return range.first == kMin || range.second == kMax ? std::nullopt : std::optional(range);
}

void Expressions::assumeDefined(ExprId id) {
  const Expr expr = list[id];
  if (expr.name != kLookup)
    return;
  for (auto [d, size] : llvm::enumerate(cast<DenseI64ArrayAttr>(expr.value).asArrayRef()))
    assumeRange(expr.operands[d], 0, size - 1);
}

bool Expressions::forEachCase(ArrayRef<ExprId> of, llvm::function_ref<bool(Values &)> accept) {
  SmallVector<ExprId> work(of), split;
  llvm::DenseSet<ExprId> seen;
  int64_t numCases = 1;
  while (!work.empty()) {
    ExprId id = work.pop_back_val();
    if (!seen.insert(id).second)
      continue;
    auto range = ranges.find(id);
    if (range == ranges.end()) {
      work.append(list[id].operands.begin(), list[id].operands.end());
      continue;
    }
    numCases *= range->second.second - range->second.first + 1;
    // Nothing follows from a program that is never defined.
    if (numCases < 1 || numCases > kMaxCases)
      return false;
    split.push_back(id);
  }
  numSubstituted += seen.size();
  for (int64_t n = 0; n < numCases; ++n) {
    Values values;
    int64_t rest = n;
    for (ExprId id : split) {
      auto [min, max] = ranges.at(id);
      values[id] = getConstant(IntegerAttr::get(list[id].type, min + rest % (max - min + 1)));
      rest /= max - min + 1;
    }
    if (numSubstituted > kMaxSubstituted || !accept(values))
      return false;
  }
  return true;
}

ExprId Expressions::substitute(ExprId id, Values &values) {
  if (auto known = values.find(id); known != values.end())
    return known->second;
  const Expr expr = list[id]; // the list grows
  auto note = [&](ExprId value) { return values[id] = value; };
  ++numSubstituted;
  if (expr.name.empty())
    return note(id);
  if (expr.name == kSelect) {
    ExprId condition = substitute(expr.operands[0], values);
    if (std::optional<int64_t> known = getInteger(condition))
      return note(substitute(expr.operands[*known ? 1 : 2], values));
  }
  SmallVector<ExprId, 2> operands(expr.operands);
  if (expr.name == kLookup) {
    ArrayRef<int64_t> shape = cast<DenseI64ArrayAttr>(expr.value).asArrayRef();
    auto indices = MutableArrayRef(operands).take_front(shape.size());
    bool isInside = true, isKnown = true;
    for (auto [index, size] : llvm::zip_equal(indices, shape)) {
      index = substitute(index, values);
      std::optional<int64_t> known = getInteger(index);
      isKnown &= known.has_value();
      isInside &= !known || (*known >= 0 && *known < size);
    }
    if (!isInside) // not read
      return note(id);
    auto elements = MutableArrayRef(operands).drop_front(shape.size());
    if (!isKnown)
      for (ExprId &element : elements)
        element = substitute(element, values);
    ExprId found = getLookup(expr.type, shape, elements, indices);
    return note(isKnown ? substitute(found, values) : found);
  }
  for (ExprId &operand : operands)
    operand = substitute(operand, values);
  if (operands == expr.operands)
    return note(id);
  if (auto attributes = dyn_cast_or_null<DictionaryAttr>(expr.value))
    return note(getOp(OperationName(expr.name, expr.type.getContext()), attributes, expr.type, operands));
  return note(expr.name == kSelect   ? getSelect(operands[0], operands[1], operands[2], expr.type)
              : expr.name == kNegate ? getNegated(operands[0], expr.type)
                                     : getBag(expr.name, expr.type, operands));
}

bool Expressions::isInRange(ExprId id, int64_t min, int64_t max) {
  return forEachCase({id}, [&](Values &values) {
    std::optional<int64_t> known = getInteger(substitute(id, values));
    return known && *known >= min && *known <= max;
  });
}

ExprId Expressions::getEqual(ExprId a, ExprId b) {
  MLIRContext *context = list[a].type.getContext();
  NamedAttribute predicate(StringAttr::get(context, "predicate"),
                           arith::CmpIPredicateAttr::get(context, arith::CmpIPredicate::eq));
  return getOp(OperationName(arith::CmpIOp::getOperationName(), context), DictionaryAttr::get(context, predicate),
               IntegerType::get(context, 1), {a, b});
}

bool Expressions::isDefined(const Expr &expr, Values &values) {
  if (expr.name == kLookup)
    return llvm::all_of(llvm::enumerate(cast<DenseI64ArrayAttr>(expr.value).asArrayRef()), [&](auto dim) {
      std::optional<int64_t> index = getInteger(substitute(expr.operands[dim.index()], values));
      return index && *index >= 0 && *index < dim.value();
    });
  std::optional<int64_t> divisor =
      expr.operands.size() == 2 ? getInteger(substitute(expr.operands[1], values)) : std::nullopt;
  // The least integer divided by -1 overflows.
  return proof::isIntegerDivision(OperationName(expr.name, expr.type.getContext())) && divisor && *divisor != 0 &&
         *divisor != -1;
}

bool Expressions::isDefined(ExprId id) {
  const Expr expr = list[id];
  return forEachCase(expr.operands, [&](Values &values) { return isDefined(expr, values); });
}

bool Expressions::areEqualInAllCases(ExprId a, ExprId b) {
  return !ranges.empty() && forEachCase({a, b}, [&](Values &values) {
    ExprId is = substitute(a, values), should = substitute(b, values);
    if (is == should)
      return true;
    std::optional<ExprId> isExpanded = expand(is), shouldExpanded = expand(should);
    return isExpanded && isExpanded == shouldExpanded;
  });
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
