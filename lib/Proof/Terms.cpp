//===- Terms.cpp - What a body computes -----------------------------------===//

#include "shardkit/Proof/Terms.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;
using TermKind = Term::Kind;

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

ReductionKind proof::getKindOf(ReductionKind kind, Type type) {
  if (!type.isInteger(1))
    return kind;
  switch (kind) {
  case ReductionKind::Sum:
    return ReductionKind::Xor;
  case ReductionKind::Prod:
  case ReductionKind::Max: // of 0 and -1
  case ReductionKind::UMin:
    return ReductionKind::And;
  case ReductionKind::Min:
  case ReductionKind::UMax:
    return ReductionKind::Or;
  default:
    return kind;
  }
}

std::optional<ReductionKind> proof::getCombinerKind(StringRef name, Type type) {
  std::optional<ReductionKind> kind = llvm::StringSwitch<std::optional<ReductionKind>>(name)
                                          .Case("arith.addf", ReductionKind::Sum)
                                          .Case("arith.addi", ReductionKind::Sum)
                                          .Case("arith.mulf", ReductionKind::Prod)
                                          .Case("arith.muli", ReductionKind::Prod)
                                          .Case("arith.andi", ReductionKind::And)
                                          .Case("arith.ori", ReductionKind::Or)
                                          .Case("arith.xori", ReductionKind::Xor)
                                          .Case("arith.maximumf", ReductionKind::Max)
                                          .Case("arith.minimumf", ReductionKind::Min)
                                          .Case("arith.maxsi", ReductionKind::Max)
                                          .Case("arith.minsi", ReductionKind::Min)
                                          .Case("arith.maxui", ReductionKind::UMax)
                                          .Case("arith.minui", ReductionKind::UMin)
                                          .Case("arith.maxnumf", ReductionKind::MaxNum)
                                          .Case("arith.minnumf", ReductionKind::MinNum)
                                          .Default(std::nullopt);
  return kind ? std::optional(getKindOf(*kind, type)) : std::nullopt;
}

TypedAttr proof::getNeutral(ReductionKind kind, Type type) {
  Builder b(type.getContext());
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    bool hasInfinity = APFloat::semanticsHasInf(semantics), hasNaN = APFloat::semanticsHasNaN(semantics);
    switch (kind) {
    case ReductionKind::Sum:
      return FloatAttr::get(floatType, APFloat::getZero(semantics, /*Negative=*/true));
    case ReductionKind::Prod:
      return FloatAttr::get(floatType, APFloat::getOne(semantics));
    case ReductionKind::Max:
      return hasInfinity ? FloatAttr::get(floatType, APFloat::getInf(semantics, /*Negative=*/true)) : FloatAttr();
    case ReductionKind::Min:
      return hasInfinity ? FloatAttr::get(floatType, APFloat::getInf(semantics)) : FloatAttr();
    case ReductionKind::MaxNum:
    case ReductionKind::MinNum:
      return hasNaN ? FloatAttr::get(floatType, APFloat::getNaN(semantics)) : FloatAttr();
    default:
      return {};
    }
  }
  if (!type.isIntOrIndex())
    return {};
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto get = [&](const APInt &value) { return IntegerAttr::get(type, value); };
  switch (kind) {
  case ReductionKind::Sum:
  case ReductionKind::Or:
  case ReductionKind::Xor:
  case ReductionKind::UMax:
    return get(APInt::getZero(width));
  case ReductionKind::Prod:
    return get(APInt(width, 1));
  case ReductionKind::And:
  case ReductionKind::UMin:
    return get(APInt::getAllOnes(width));
  case ReductionKind::Max:
    return get(APInt::getSignedMinValue(width));
  case ReductionKind::Min:
    return get(APInt::getSignedMaxValue(width));
  default:
    return {};
  }
}

bool proof::isNeutral(ReductionKind kind, Attribute value) {
  auto typed = dyn_cast_or_null<TypedAttr>(value);
  if (!typed)
    return false;
  if (auto number = dyn_cast<FloatAttr>(value)) {
    if (kind == ReductionKind::Sum)
      return number.getValue().isZero();
    if (kind == ReductionKind::MaxNum || kind == ReductionKind::MinNum)
      return number.getValue().isNaN();
  }
  TypedAttr neutral = getNeutral(kind, typed.getType());
  return neutral && neutral == typed;
}

TypedAttr proof::getNeutral(StringRef name, Type type) {
  std::optional<ReductionKind> kind = getCombinerKind(name, type);
  return kind ? getNeutral(*kind, type) : TypedAttr();
}

//===----------------------------------------------------------------------===//
// TermTable
//===----------------------------------------------------------------------===//

SmallVector<TermId> TermTable::getLookupIndices(ArrayRef<TermId> indices) {
  SmallVector<TermId> sums;
  for (TermId index : indices) {
    if (terms[index].kind == Term::Kind::Index && terms[index].form.isConstant()) {
      Term term{Term::Kind::Sum};
      term.numbers = {terms[index].form.getConstant(), 0};
      index = get(term);
    }
    sums.push_back(index);
  }
  return sums;
}

TermId TermTable::get(Term term) {
  SmallVector<int64_t, 16> key{int64_t(term.kind), int64_t(intptr_t(term.attribute.getAsOpaquePointer())),
                               int64_t(intptr_t(term.name)), int64_t(intptr_t(term.type.getAsOpaquePointer())),
                               int64_t(term.operands.size())};
  key.append(term.operands.begin(), term.operands.end());
  key.push_back(term.numbers.size());
  key.append(term.numbers.begin(), term.numbers.end());
  term.form.appendKey(key);
  auto [id, isNew] = ids.try_emplace(key, terms.size());
  if (isNew)
    terms.push_back(std::move(term));
  return id;
}

TermId TermTable::getUnknown(Operation *op) {
  Term term{TermKind::Unknown};
  term.numbers.push_back(terms.size());
  TermId id = get(term);
  unknown[id] = op;
  return id;
}

Operation *TermTable::findUnknown(TermId id) const {
  SmallVector<TermId> stack{id};
  llvm::DenseSet<TermId> seen;
  while (!stack.empty()) {
    TermId next = stack.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (terms[next].kind == TermKind::Unknown)
      return unknown.lookup(next);
    stack.append(terms[next].operands.begin(), terms[next].operands.end());
  }
  return nullptr;
}

TermId TermTable::getConstant(Attribute value) {
  Term term{TermKind::Constant};
  term.attribute = value;
  return get(term);
}

TermId TermTable::getIndex(const IndexForm &form) {
  Term term{TermKind::Index};
  term.form = form;
  return get(term);
}

TermId TermTable::getArgument(unsigned operand) {
  Term term{TermKind::Argument};
  term.numbers.push_back(operand);
  return get(term);
}

TermId TermTable::getScalar(unsigned id) {
  Term term{TermKind::Scalar};
  term.numbers.push_back(id);
  return get(term);
}

std::optional<bool> TermTable::getBool(TermId id) const {
  if (terms[id].kind != TermKind::Constant)
    return std::nullopt;
  auto value = dyn_cast_or_null<IntegerAttr>(terms[id].attribute);
  if (!value || !value.getType().isInteger(1))
    return std::nullopt;
  return !value.getValue().isZero();
}

TermId TermTable::getSelect(TermId condition, TermId value, TermId other) {
  if (value == other)
    return value;
  if (std::optional<bool> known = getBool(condition))
    return *known ? value : other;
  Term term{TermKind::Select};
  term.operands = {condition, value, other};
  return get(term);
}

TermId TermTable::getOp(const void *name, StringRef text, Attribute attributes, Type type, ArrayRef<TermId> operands,
                        int64_t result) {
  if (operands.size() == 2) {
    TermId lhs = operands[0], rhs = operands[1];
    if (Attribute neutral = getNeutral(text, type)) {
      if (terms[rhs].kind == TermKind::Constant && terms[rhs].attribute == neutral)
        return lhs;
      if (terms[lhs].kind == TermKind::Constant && terms[lhs].attribute == neutral)
        return rhs;
    }
    auto asInteger = [&](TermId id) {
      return terms[id].kind == TermKind::Constant ? dyn_cast_or_null<IntegerAttr>(terms[id].attribute) : IntegerAttr();
    };
    auto asFloat = [&](TermId id) {
      return terms[id].kind == TermKind::Constant ? dyn_cast_or_null<FloatAttr>(terms[id].attribute) : FloatAttr();
    };
    for (TermId side : {lhs, rhs})
      if (IntegerAttr number = asInteger(side);
          number && number.getValue().isZero() && (text == "arith.muli" || text == "arith.andi"))
        return side;
    if (FloatAttr a = asFloat(lhs), b = asFloat(rhs); a && b && text == "arith.mulf") {
      APFloat product = a.getValue();
      product.multiply(b.getValue(), APFloat::rmNearestTiesToEven);
      return getConstant(FloatAttr::get(a.getType(), product));
    }
    bool isBool = type && type.isInteger(1);
    if (isBool && (text == "arith.andi" || text == "arith.ori"))
      for (auto [side, other] : {std::pair(lhs, rhs), std::pair(rhs, lhs)})
        if (std::optional<bool> known = getBool(side))
          return *known == (text == "arith.andi") ? other : side;
  }
  Term term{TermKind::Op};
  term.name = name;
  term.attribute = attributes;
  term.type = type;
  term.operands.assign(operands.begin(), operands.end());
  term.numbers.push_back(result);
  return get(term);
}

//===----------------------------------------------------------------------===//
// BodyReader
//===----------------------------------------------------------------------===//

bool proof::isIntegerDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
             arith::FloorDivSIOp>(op);
}

TermId BodyReader::get(Value value) {
  auto known = values.find(value);
  if (known != values.end())
    return known->second;
  TermId term = getOuter(value);
  values[value] = term;
  return term;
}

void BodyReader::read(Block &block) {
  for (Operation &op : block.without_terminator())
    read(op);
}

/// Index arithmetic as forms; std::nullopt if the op is not one, or not of forms.
std::optional<TermId> BodyReader::readIndexOp(Operation &op) {
  SmallVector<const IndexForm *, 2> forms;
  for (Value operand : op.getOperands()) {
    const Term &term = terms[get(operand)];
    if (!operand.getType().isIndex() || term.kind != TermKind::Index)
      return std::nullopt;
    forms.push_back(&term.form);
  }
  auto done = [&](const std::optional<IndexForm> &form) -> std::optional<TermId> {
    return form ? std::optional(terms.getIndex(*form)) : std::nullopt;
  };
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    std::function<std::optional<IndexForm>(AffineExpr)> evaluate = [&](AffineExpr expr) -> std::optional<IndexForm> {
      if (auto constant = dyn_cast<AffineConstantExpr>(expr))
        return IndexForm(constant.getValue());
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        return *forms[dim.getPosition()];
      if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
        return *forms[map.getNumDims() + symbol.getPosition()];
      auto binary = cast<AffineBinaryOpExpr>(expr);
      std::optional<IndexForm> lhs = evaluate(binary.getLHS()), rhs = evaluate(binary.getRHS());
      if (!lhs || !rhs)
        return std::nullopt;
      switch (expr.getKind()) {
      case AffineExprKind::Add:
        return lhs->plus(*rhs);
      case AffineExprKind::Mul:
        return rhs->isConstant() ? std::optional(lhs->times(rhs->getConstant())) : std::nullopt;
      case AffineExprKind::FloorDiv:
        return rhs->isConstant() ? lhs->dividedBy(rhs->getConstant()) : std::nullopt;
      case AffineExprKind::Mod:
        return rhs->isConstant() ? lhs->modulo(rhs->getConstant()) : std::nullopt;
      default:
        return std::nullopt;
      }
    };
    return done(evaluate(map.getResult(0)));
  }
  if (forms.size() != 2)
    return std::nullopt;
  const IndexForm &lhs = *forms[0], &rhs = *forms[1];
  if (isa<arith::AddIOp>(op))
    return done(lhs.plus(rhs));
  if (isa<arith::SubIOp>(op))
    return done(lhs.plus(rhs, -1));
  if (isa<arith::MulIOp>(op)) {
    if (rhs.isConstant())
      return done(lhs.times(rhs.getConstant()));
    if (lhs.isConstant())
      return done(rhs.times(lhs.getConstant()));
    return std::nullopt;
  }
  if (isa<arith::DivUIOp, arith::DivSIOp>(op) && rhs.isConstant())
    return done(lhs.dividedBy(rhs.getConstant()));
  if (isa<arith::RemUIOp, arith::RemSIOp>(op) && rhs.isConstant())
    return done(lhs.modulo(rhs.getConstant()));
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    Builder b(op.getContext());
    auto below = [&](const IndexForm &a, const IndexForm &c, int64_t plus, int64_t kind) -> std::optional<TermId> {
      std::optional<IndexForm> difference = a.plus(c, -1);
      if (!difference)
        return std::nullopt;
      Term term{TermKind::Compare};
      term.numbers.push_back(kind);
      term.form = difference->plus(plus);
      return terms.get(term);
    };
    auto isNotNegative = [](const IndexForm &form) { return !form.hasScalar() && form.getRange().first >= 0; };
    auto negate = [&](std::optional<TermId> term) -> std::optional<TermId> {
      if (!term)
        return std::nullopt;
      return terms.getSelect(*term, terms.getConstant(b.getBoolAttr(false)), terms.getConstant(b.getBoolAttr(true)));
    };
    switch (compare.getPredicate()) {
    case arith::CmpIPredicate::ult:
      if (!isNotNegative(lhs) || !isNotNegative(rhs))
        return std::nullopt;
      [[fallthrough]];
    case arith::CmpIPredicate::slt:
      return below(lhs, rhs, 0, 0);
    case arith::CmpIPredicate::ule:
      if (!isNotNegative(lhs) || !isNotNegative(rhs))
        return std::nullopt;
      [[fallthrough]];
    case arith::CmpIPredicate::sle:
      return below(lhs, rhs, -1, 0);
    case arith::CmpIPredicate::ugt:
      if (!isNotNegative(lhs) || !isNotNegative(rhs))
        return std::nullopt;
      [[fallthrough]];
    case arith::CmpIPredicate::sgt:
      return below(rhs, lhs, 0, 0);
    case arith::CmpIPredicate::uge:
      if (!isNotNegative(lhs) || !isNotNegative(rhs))
        return std::nullopt;
      [[fallthrough]];
    case arith::CmpIPredicate::sge:
      return below(rhs, lhs, -1, 0);
    case arith::CmpIPredicate::eq:
      return below(lhs, rhs, 0, 1);
    case arith::CmpIPredicate::ne:
      return negate(below(lhs, rhs, 0, 1));
    }
  }
  return std::nullopt;
}

void BodyReader::read(Operation &op) {
  auto set = [&](TermId term) { values[op.getResult(0)] = term; };
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (constant.getType().isIndex())
      return set(terms.getIndex(cast<IntegerAttr>(constant.getValue()).getInt()));
    return set(terms.getConstant(constant.getValue()));
  }
  if (auto index = dyn_cast<linalg::IndexOp>(op); index && getLoopIndex)
    return set(terms.getIndex(getLoopIndex(index.getDim())));
  if (isa<DeviceCoordinateOp>(op)) {
    std::optional<IndexForm> form = getCoordinate ? getCoordinate(&op) : std::nullopt;
    return set(form ? terms.getIndex(*form) : terms.getUnknown(&op));
  }
  if (auto select = dyn_cast<arith::SelectOp>(op); select && select.getCondition().getType().isInteger(1))
    return set(terms.getSelect(get(select.getCondition()), get(select.getTrueValue()), get(select.getFalseValue())));
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<TermId> indices;
    for (Value index : extract.getIndices())
      indices.push_back(get(index));
    ArrayRef<int64_t> shape = extract.getTensor().getType().getShape();
    traps.push_back({&op, guards, {indices.begin(), indices.end()}, {shape.begin(), shape.end()}});
    std::optional<TermId> term = getLookup ? getLookup(extract.getTensor(), indices) : std::nullopt;
    return set(term ? *term : terms.getUnknown(&op));
  }
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && op.getNumResults() && !branch.getElseRegion().empty()) {
    TermId condition = get(branch.getCondition());
    guards.push_back({condition, true});
    read(*branch.thenBlock());
    guards.back().second = false;
    read(*branch.elseBlock());
    guards.pop_back();
    for (auto [result, value, other] :
         llvm::zip_equal(op.getResults(), branch.thenYield().getOperands(), branch.elseYield().getOperands()))
      values[result] = terms.getSelect(condition, get(value), get(other));
    return;
  }
  if (std::optional<TermId> term = readIndexOp(op))
    return set(*term);
  if (isIntegerDivision(&op))
    traps.push_back({&op, guards, {get(op.getOperand(1))}});
  bool isPure = op.getNumRegions() == 0 && isMemoryEffectFree(&op) && op.getNumResults() > 0 &&
                llvm::none_of(op.getOperandTypes(), [](Type type) { return isa<ShapedType>(type); });
  if (!isPure) {
    for (Value result : op.getResults())
      values[result] = terms.getUnknown(&op);
    return;
  }
  SmallVector<TermId> operands;
  for (Value operand : op.getOperands())
    operands.push_back(get(operand));
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    values[result] = terms.getOp(op.getName().getAsOpaquePointer(), op.getName().getStringRef(), op.getAttrDictionary(),
                                 result.getType(), operands, i);
}

//===----------------------------------------------------------------------===//
// TermFrame
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t, 6>> TermFrame::express(const IndexForm &form) const {
  IndexForm rest = form;
  SmallVector<int64_t, 6> sum{0, 0};
  for (auto [i, loop] : llvm::enumerate(loops)) {
    if (!loop || loop->isConstant())
      continue;
    // The factor is that of any digit of the loop, a local one if there is one.
    const IndexTerm *pivot = nullptr;
    for (const IndexTerm &term : loop->getTerms())
      if (!pivot || term.kind == IndexTerm::Kind::Loop)
        pivot = &term;
    int64_t factor = 0;
    for (const IndexTerm &term : rest.getTerms())
      if (term.kind == pivot->kind && term.var == pivot->var && term.lo <= pivot->lo &&
          pivot->lo < std::max(term.hi(), term.lo + 1)) {
        int64_t coef = term.coef * (pivot->lo / term.lo);
        if (coef % pivot->coef)
          return std::nullopt;
        factor = coef / pivot->coef;
      }
    if (factor == 0)
      continue;
    std::optional<IndexForm> next = rest.plus(*loop, -factor);
    if (!next)
      return std::nullopt;
    rest = *next;
    ++sum[1];
    sum.append({int64_t(i), factor});
  }
  for (const IndexTerm &term : rest.getTerms()) {
    if (term.kind != IndexTerm::Kind::Scalar)
      return std::nullopt;
    ++sum[1];
    sum.append({-1 - int64_t(term.var), term.coef});
  }
  sum[0] = rest.getConstant();
  return sum;
}

TermId TermFrame::convert(TermId id, TermTable &terms) {
  auto known = converted.find(id);
  if (known != converted.end())
    return known->second;
  TermId result = convertOnce(id, terms);
  converted[id] = result;
  return result;
}

TermId TermFrame::convertOnce(TermId id, TermTable &terms) {
  Term term = terms[id];
  auto decide = [&](bool value) { return terms.getConstant(BoolAttr::get(context, value)); };
  switch (term.kind) {
  case TermKind::Argument:
    return getArgument(term.numbers[0]);
  case TermKind::Lookup: {
    if (term.numbers[0] < 0) // of the function around the op
      return id;
    SmallVector<TermId> indices;
    for (TermId operand : term.operands)
      indices.push_back(convert(operand, terms));
    return getLookup(term.numbers[0], indices);
  }
  case TermKind::Index: {
    std::optional<SmallVector<int64_t, 6>> sum = express(term.form);
    if (!sum) {
      hasRest = true;
      return id;
    }
    Term result{TermKind::Sum};
    result.numbers.assign(sum->begin(), sum->end());
    return terms.get(result);
  }
  case TermKind::Compare: {
    std::optional<SmallVector<int64_t, 6>> sum = express(term.form);
    bool isLess = term.numbers[0] == 0;
    auto byRange = [&](int64_t low, int64_t high) -> std::optional<bool> {
      if (isLess ? high < 0 : low == 0 && high == 0)
        return true;
      if (isLess ? low >= 0 : low > 0 || high < 0)
        return false;
      return std::nullopt;
    };
    if (!term.form.hasScalar()) {
      auto [low, high] = term.form.getRange();
      if (std::optional<bool> known = byRange(low, high))
        return decide(*known);
    }
    if (!sum) {
      hasRest = true;
      return id;
    }
    int64_t low = (*sum)[0], high = (*sum)[0];
    bool known = true;
    for (int64_t i = 0; i < (*sum)[1] && known; ++i) {
      int64_t loop = (*sum)[2 + 2 * i], factor = (*sum)[3 + 2 * i];
      known = loop >= 0 && assumed[loop].has_value();
      if (known) {
        low += factor * (factor < 0 ? assumed[loop]->second : assumed[loop]->first);
        high += factor * (factor < 0 ? assumed[loop]->first : assumed[loop]->second);
      }
    }
    if (known)
      if (std::optional<bool> decided = byRange(low, high)) {
        usedAssumption = true;
        return decide(*decided);
      }
    Term result{TermKind::SumCompare};
    result.numbers.push_back(term.numbers[0]);
    result.numbers.append(sum->begin(), sum->end());
    return terms.get(result);
  }
  case TermKind::Select: {
    TermId condition = convert(term.operands[0], terms);
    // Only the side that is taken counts.
    if (std::optional<bool> known = terms.getBool(condition))
      return convert(term.operands[*known ? 1 : 2], terms);
    return terms.getSelect(condition, convert(term.operands[1], terms), convert(term.operands[2], terms));
  }
  case TermKind::Op: {
    SmallVector<TermId> operands;
    for (TermId operand : term.operands)
      operands.push_back(convert(operand, terms));
    return terms.getOp(term.name, OperationName::getFromOpaquePointer(term.name).getStringRef(), term.attribute,
                       term.type, operands, term.numbers[0]);
  }
  default:
    return id;
  }
}
