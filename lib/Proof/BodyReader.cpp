//===- BodyReader.cpp - What a body computes -----------------------------===//

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Proof/Terms.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;
using TermKind = Term::Kind;

template <typename... Ops> static bool isOneOf(OperationName op) {
  return ((op.getTypeID() == TypeID::get<Ops>()) || ...);
}

bool proof::isIntegerDivision(OperationName op) {
  return isOneOf<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
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

/// An affine expression of forms.
static std::optional<IndexForm> evaluate(AffineExpr expr, unsigned numDims, ArrayRef<IndexForm> operands) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return IndexForm(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[numDims + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<IndexForm> lhs = evaluate(binary.getLHS(), numDims, operands),
                           rhs = evaluate(binary.getRHS(), numDims, operands);
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
  case AffineExprKind::CeilDiv:
    if (lhs->isConstant() && rhs->isConstant() && rhs->getConstant() > 0)
      return IndexForm(llvm::divideCeilSigned(lhs->getConstant(), rhs->getConstant()));
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Index arithmetic as forms; std::nullopt if the op is not one, or not of forms.
std::optional<TermId> BodyReader::readIndexOp(Operation &op) {
  SmallVector<IndexForm, 2> forms;
  for (Value operand : op.getOperands()) {
    TermId id = get(operand);
    if (!operand.getType().isIndex() || (isOfFunction && terms[id].kind != TermKind::Index) ||
        terms[id].kind == TermKind::Unknown)
      return std::nullopt;
    forms.push_back(terms.getForm(id));
  }
  if (forms.empty() || op.getNumResults() != 1)
    return std::nullopt;
  auto done = [&](const std::optional<IndexForm> &form) -> std::optional<TermId> {
    return form ? std::optional(terms.getIndex(*form)) : std::nullopt;
  };
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    return done(evaluate(map.getResult(0), map.getNumDims(), forms));
  }
  if (forms.size() != 2)
    return std::nullopt;
  const IndexForm &lhs = forms[0], &rhs = forms[1];
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
    if (std::optional<IndexForm> quotient = lhs.dividedBy(rhs.getConstant(), isa<arith::DivUIOp>(op)))
      return done(quotient);
  if (isa<arith::RemUIOp, arith::RemSIOp>(op) && rhs.isConstant())
    if (std::optional<IndexForm> rest = lhs.modulo(rhs.getConstant(), isa<arith::RemUIOp>(op)))
      return done(rest);
  // Of an index that is not negative, the sign does not count.
  bool isNumber = !lhs.hasScalar() && lhs.getRange().first >= 0 && rhs.isConstant() && rhs.getConstant() > 0;
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op) && isNumber)
    return terms.getIndexOp("arith.divui", terms.getIndex(lhs), rhs.getConstant());
  if (isa<arith::RemUIOp, arith::RemSIOp>(op) && isNumber)
    return terms.getIndexOp("arith.remui", terms.getIndex(lhs), rhs.getConstant());
  if (isa<arith::RemUIOp, arith::RemSIOp>(op))
    return std::nullopt;
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
      // As a number without sign, a negative one is larger than any.
      if (!isNotNegative(lhs) && rhs.isConstant() && rhs.getConstant() >= 0)
        return terms.getInside(lhs, rhs.getConstant(), op.getContext());
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

std::pair<int64_t, int64_t> TermTable::getLimits(const IndexForm &form) const {
  std::pair<int64_t, int64_t> limits(form.getConstant(), form.getConstant());
  for (const IndexTerm &term : form.getTerms()) {
    std::pair<int64_t, int64_t> digit(0, term.size - 1);
    if (term.kind == IndexTerm::Kind::Scalar) {
      auto known = limitsOf.find(term.var);
      digit = known == limitsOf.end() ? std::pair(-kAnyIndex, kAnyIndex) : known->second;
    } else if (term.kind == IndexTerm::Kind::Data) {
      digit = {-kAnyIndex, kAnyIndex};
    } else if (isUnknownSize(term.size)) {
      digit.second = kAnyIndex;
    }
    if (term.coef < 0)
      std::swap(digit.first, digit.second);
    auto add = [&](int64_t &limit, int64_t number, int64_t unlimited) {
      if (std::abs(limit) == kAnyIndex || std::abs(number) == kAnyIndex ||
          llvm::MulOverflow(number, term.coef, number) || llvm::AddOverflow(limit, number, limit) ||
          std::abs(limit) >= kAnyIndex)
        limit = unlimited;
    };
    add(limits.first, digit.first, -kAnyIndex);
    add(limits.second, digit.second, kAnyIndex);
  }
  return limits;
}

/// The limits of a minimum or maximum of indices of a function; std::nullopt if it is none.
std::optional<std::pair<int64_t, int64_t>> BodyReader::getClampLimits(Operation &op) {
  bool isMax = isa<affine::AffineMaxOp, arith::MaxSIOp>(op);
  if (!isOfFunction || !(isMax || isa<affine::AffineMinOp, arith::MinSIOp>(op)))
    return std::nullopt;
  SmallVector<IndexForm> forms;
  for (Value operand : op.getOperands()) {
    const Term &term = terms[get(operand)];
    if (!operand.getType().isIndex() || term.kind != TermKind::Index)
      return std::nullopt;
    forms.push_back(term.form);
  }
  AffineMap map;
  if (auto max = dyn_cast<affine::AffineMaxOp>(op))
    map = max.getMap();
  if (auto min = dyn_cast<affine::AffineMinOp>(op))
    map = min.getMap();
  if (map) {
    SmallVector<IndexForm> results;
    for (AffineExpr expr : map.getResults()) {
      std::optional<IndexForm> form = evaluate(expr, map.getNumDims(), forms);
      if (!form)
        return std::nullopt;
      results.push_back(*form);
    }
    forms = results;
  }
  std::pair<int64_t, int64_t> limits = terms.getLimits(forms.front());
  for (const IndexForm &form : llvm::drop_begin(forms)) {
    auto [low, high] = terms.getLimits(form);
    limits = isMax ? std::pair(std::max(limits.first, low), std::max(limits.second, high))
                   : std::pair(std::min(limits.first, low), std::min(limits.second, high));
  }
  return limits;
}

void BodyReader::read(Operation &op) {
  auto set = [&](TermId term) { values[op.getResult(0)] = term; };
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (constant.getType().isIndex())
      return set(terms.getIndex(cast<IntegerAttr>(constant.getValue()).getInt()));
    return set(terms.getConstant(constant.getValue()));
  }
  if (Attribute value;
      op.getNumResults() == 1 && !isa<ShapedType>(op.getResult(0).getType()) && matchPattern(&op, m_Constant(&value)))
    return set(terms.getConstant(value));
  if (auto index = dyn_cast<linalg::IndexOp>(op); index && getLoopIndex)
    return set(terms.getIndex(getLoopIndex(index.getDim())));
  if (isa<DeviceCoordinateOp>(op)) {
    std::optional<IndexForm> form = getCoordinate ? getCoordinate(&op) : std::nullopt;
    return set(form ? terms.getIndex(*form) : terms.getUnknown(&op));
  }
  if (auto select = dyn_cast<arith::SelectOp>(op); select && select.getCondition().getType().isInteger(1))
    return set(terms.getSelect(get(select.getCondition()), get(select.getTrueValue()), get(select.getFalseValue())));
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    std::optional<int64_t> d = dim.getConstantIndex();
    bool isKnown = type && d && *d >= 0 && *d < type.getRank() && !type.isDynamicDim(*d);
    return set(isKnown ? terms.getIndex(terms.sizes.getForm(type.getDimSize(*d))) : terms.getUnknown(&op));
  }
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
  if (isIntegerDivision(op.getName()))
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
  std::optional<std::pair<int64_t, int64_t>> limits = getClampLimits(op);
  if (limits && limits->first == limits->second)
    return set(terms.getIndex(limits->first));
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    TermId term = terms.getOp(op.getName().getAsOpaquePointer(), op.getName().getStringRef(), op.getAttrDictionary(),
                              result.getType(), operands, i);
    if (limits)
      terms.limitsOf[term] = *limits;
    if (result.getType().isIndex())
      term = isOfFunction ? terms.getComputedIndex(term) : terms.getIndex(IndexForm::ofData(term));
    values[result] = term;
  }
}
