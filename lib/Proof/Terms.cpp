//===- Terms.cpp - Terms by number ---------------------------------------===//

#include "shardkit/Proof/Terms.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;
using TermKind = Term::Kind;

SmallVector<TermId> TermTable::getLookupIndices(ArrayRef<TermId> indices) {
  SmallVector<TermId> sums;
  for (TermId index : indices) {
    // Over scalars alone: they are not converted.
    if (terms[index].kind == Term::Kind::Index)
      if (std::optional<SmallVector<int64_t, 6>> sum = TermFrame().express(terms[index].form)) {
        Term term{Term::Kind::Sum};
        term.numbers.assign(sum->begin(), sum->end());
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
    llvm::append_range(stack, getReferences(next));
  }
  return nullptr;
}

TermId TermTable::getLess(const IndexForm &form) {
  Term term{TermKind::Compare};
  term.numbers.push_back(0);
  term.form = form;
  return get(term);
}

TermId TermTable::getEqual(const IndexForm &form) {
  Term term{TermKind::Compare};
  term.numbers.push_back(1);
  term.form = form;
  return get(term);
}

TermId TermTable::getNot(TermId id, MLIRContext *context) {
  return getSelect(id, getConstant(BoolAttr::get(context, false)), getConstant(BoolAttr::get(context, true)));
}

TermId TermTable::getAnd(TermId a, TermId b, MLIRContext *context) {
  return getSelect(a, b, getConstant(BoolAttr::get(context, false)));
}

TermId TermTable::getInside(const IndexForm &form, int64_t size, MLIRContext *context) {
  return getAnd(getNot(getLess(form), context), getLess(form.plus(-size)), context);
}

TermId TermTable::skipCasts(TermId id) const {
  while (terms[id].kind == TermKind::Op && terms[id].operands.size() == 1 &&
         llvm::is_contained({"arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui"},
                            OperationName::getFromOpaquePointer(terms[id].name).getStringRef()))
    id = terms[id].operands[0];
  return id;
}

SmallVector<TermId, 4> TermTable::getReferences(TermId id) const {
  const Term &term = terms[id];
  SmallVector<TermId, 4> references(term.operands.begin(), term.operands.end());
  for (const IndexTerm &index : term.form.getTerms())
    if (index.kind == IndexTerm::Kind::Data || index.kind == IndexTerm::Kind::Scalar)
      references.push_back(index.var);
  // Sums, after what precedes them.
  ArrayRef<int64_t> sums(term.numbers);
  if (term.kind == TermKind::Element || term.kind == TermKind::SumCompare)
    sums = sums.drop_front();
  else if (term.kind != TermKind::Sum)
    return references;
  while (!sums.empty()) {
    for (int64_t i = 0; i < sums[1]; ++i)
      if (int64_t loop = sums[2 + 2 * i]; loop < 0)
        references.push_back(-1 - loop);
    sums = sums.drop_front(2 + 2 * sums[1]);
  }
  return references;
}

std::pair<unsigned, SumList> TermTable::getElement(TermId id) const {
  const Term &term = terms[id];
  std::pair<unsigned, SumList> element(term.numbers[0], SumList());
  for (size_t i = 1; i < term.numbers.size();) {
    size_t length = 2 + 2 * term.numbers[i + 1];
    element.second.emplace_back(ArrayRef(term.numbers).slice(i, length));
    i += length;
  }
  return element;
}

void TermTable::findLoops(TermId id, llvm::SmallDenseSet<TermId> &seen, llvm::SmallDenseSet<int64_t> &loops) const {
  if (!seen.insert(id).second)
    return;
  const Term &term = terms[id];
  auto add = [&](ArrayRef<int64_t> sum) {
    for (int64_t i = 0; i < sum[1]; ++i)
      if (sum[2 + 2 * i] >= 0)
        loops.insert(sum[2 + 2 * i]);
  };
  if (term.kind == TermKind::Element)
    for (ArrayRef<int64_t> sum : getElement(id).second)
      add(sum);
  else if (term.kind == TermKind::Sum)
    add(term.numbers);
  else if (term.kind == TermKind::SumCompare)
    add(ArrayRef(term.numbers).drop_front());
  for (const IndexTerm &index : term.form.getTerms())
    if (index.kind == IndexTerm::Kind::Loop)
      loops.insert(index.var);
  // Operands, and scalars, which may be ones that the loops compute.
  for (TermId reference : getReferences(id))
    findLoops(reference, seen, loops);
}

llvm::SmallDenseSet<int64_t> TermTable::findLoops(TermId id) const {
  llvm::SmallDenseSet<TermId> seen;
  llvm::SmallDenseSet<int64_t> loops;
  findLoops(id, seen, loops);
  return loops;
}

bool TermTable::hasLoops(TermId id) const {
  auto known = loopsOf.find(id);
  if (known != loopsOf.end())
    return known->second;
  bool has = !findLoops(id).empty();
  loopsOf[id] = has;
  return has;
}

bool TermTable::anyTerm(TermId id, function_ref<bool(TermId)> hasProperty) const {
  SmallVector<TermId> stack{id};
  llvm::SmallDenseSet<TermId> seen;
  while (!stack.empty()) {
    TermId next = stack.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (hasProperty(next))
      return true;
    llvm::append_range(stack, getReferences(next));
  }
  return false;
}

bool TermTable::isOverGlobal(TermId id) const {
  return !anyTerm(id, [&](TermId next) {
    const Term &term = terms[next];
    bool isCoordinate = term.kind == TermKind::Scalar && term.numbers[0] == -1;
    return isCoordinate || term.kind == TermKind::Unknown || term.kind == TermKind::Argument ||
           (term.kind == TermKind::Lookup && term.numbers[0] >= 0) || term.form.hasRank() ||
           llvm::any_of(term.form.getTerms(),
                        [](const IndexTerm &digit) { return digit.kind == IndexTerm::Kind::Loop; });
  });
}

bool TermTable::hasLoopScalars(TermId element) const {
  return llvm::any_of(getReferences(element), [&](TermId scalar) { return hasLoops(scalar); });
}

TermId TermTable::getSumCompare(int64_t kind, SmallVector<int64_t, 6> sum) {
  bool isLess = kind == 0;
  if (sum[1] == 0)
    return getConstant(BoolAttr::get(context, isLess ? sum[0] < 0 : sum[0] == 0));
  bool isNegated = sum.back() < 0; // by the sign of the last factor
  if (isNegated) {
    sum[0] = isLess ? -sum[0] - 1 : -sum[0];
    for (size_t i = 3; i < sum.size(); i += 2)
      sum[i] = -sum[i];
  }
  Term result{TermKind::SumCompare};
  result.numbers.push_back(kind);
  result.numbers.append(sum.begin(), sum.end());
  TermId id = get(result);
  return isNegated && isLess ? getNot(id, context) : id;
}

SmallVector<int64_t, 6> proof::makeSum(int64_t constant, const std::map<int64_t, int64_t> &factors) {
  SmallVector<int64_t, 6> sum{constant, 0};
  for (auto [loop, factor] : factors)
    if (factor) {
      ++sum[1];
      sum.append({loop, factor});
    }
  return sum;
}

TermId TermTable::getCoordinate(int64_t stride, int64_t size) {
  Term term{TermKind::Scalar};
  term.numbers = {-1, stride, size};
  return get(term);
}

TermId TermTable::getIndexOp(StringRef text, TermId index, int64_t by) {
  bool isDivision = text == "arith.divui";
  IndexForm form = getForm(index);
  if (std::optional<IndexForm> result = isDivision ? form.dividedBy(by, true) : form.modulo(by, true))
    return getIndex(*result);
  OperationName name(text, context);
  TermId op = getOp(name.getAsOpaquePointer(), text, DictionaryAttr::get(context), IndexType::get(context),
                    {index, getIndex(by)}, 0);
  return getIndex(IndexForm::ofData(op));
}

TermId TermTable::getDigit(unsigned loop, int64_t lo, int64_t size) {
  auto getSum = [&](int64_t constant) {
    Term term{TermKind::Sum};
    term.numbers = {constant, 0};
    return get(term);
  };
  auto getIndexOp = [&](StringRef text, TermId operand, int64_t by) {
    OperationName name(text, context);
    return getOp(name.getAsOpaquePointer(), text, DictionaryAttr::get(context), IndexType::get(context),
                 {operand, getSum(by)}, 0);
  };
  Term index{TermKind::Sum};
  index.numbers = {0, 1, loop, 1};
  TermId digit = get(index);
  if (lo != 1)
    digit = getIndexOp("arith.divui", digit, lo);
  if (size != 0)
    digit = getIndexOp("arith.remui", digit, size);
  return digit;
}

TermId TermTable::getConstant(Attribute value) {
  Term term{TermKind::Constant};
  term.attribute = value;
  return get(term);
}

TermId TermTable::getIndex(const IndexForm &form) {
  // A selection of indices is one index.
  ArrayRef<IndexTerm> digits = form.getTerms();
  bool isData = form.getConstant() == 0 && digits.size() == 1 && digits[0].kind == IndexTerm::Kind::Data &&
                form == IndexForm::ofData(digits[0].var);
  if (isData && terms[digits[0].var].kind == TermKind::Select)
    return digits[0].var;
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

/// What a conjunction requires, in `conjuncts`.
static void getConjuncts(TermId id, const TermTable &terms, SmallVectorImpl<TermId> &conjuncts) {
  const Term &term = terms[id];
  if (term.kind != TermKind::Select || terms.getBool(term.operands[2]) != false)
    return conjuncts.push_back(id);
  getConjuncts(term.operands[0], terms, conjuncts);
  getConjuncts(term.operands[1], terms, conjuncts);
}

TermId TermTable::getBoolOp(StringRef name, TermId a, TermId b) {
  Term term{TermKind::Op};
  term.name = OperationName(name, context).getAsOpaquePointer();
  term.attribute = DictionaryAttr::get(context);
  term.type = IntegerType::get(context, 1);
  term.operands = {a, b};
  term.numbers.push_back(0);
  return get(term);
}

TermId TermTable::getConjunction(TermId a, TermId b) {
  SmallVector<TermId> conjuncts;
  getConjuncts(a, *this, conjuncts);
  getConjuncts(b, *this, conjuncts);
  // In one order.
  llvm::sort(conjuncts);
  conjuncts.erase(llvm::unique(conjuncts), conjuncts.end());
  llvm::erase_if(conjuncts, [&](TermId id) { return conjuncts.size() > 1 && getBool(id) == true; });
  auto isOutput = [&](TermId id) { return terms[id].kind == TermKind::Output; };
  if (llvm::count_if(conjuncts, isOutput) == 1 && conjuncts.size() > 1) {
    TermId output = *llvm::find_if(conjuncts, isOutput);
    llvm::erase(conjuncts, output);
    TermId rest = conjuncts.front();
    for (TermId id : llvm::drop_begin(conjuncts))
      rest = getConjunction(rest, id);
    return getBoolOp("arith.andi", output, rest);
  }
  TermId all = conjuncts.pop_back_val();
  for (TermId id : conjuncts)
    if (getBool(id) == false)
      return id;
  while (!conjuncts.empty()) {
    Term term{TermKind::Select};
    if (getBool(all) == false)
      return all;

    term.operands = {conjuncts.pop_back_val(), all, getConstant(BoolAttr::get(context, false))};
    all = get(term);
  }
  return all;
}

TermId TermTable::getSelect(TermId condition, TermId value, TermId other) {
  if (value == other)
    return value;
  if (std::optional<bool> known = getBool(condition))
    return *known ? value : other;
  if (getBool(value) == true && getBool(other) == false)
    return condition;
  if (getBool(other) == false)
    return getConjunction(condition, value);
  if (getBool(value) == true && (terms[condition].kind == TermKind::Output) != (terms[other].kind == TermKind::Output))
    return terms[condition].kind == TermKind::Output ? getBoolOp("arith.ori", condition, other)
                                                     : getBoolOp("arith.ori", other, condition);
  // One side of two conditions.
  const Term &inner = terms[value];
  if (inner.kind == TermKind::Select && inner.operands[2] == other) {
    TermId both = getConjunction(condition, inner.operands[0]);
    return getSelect(both, terms[value].operands[1], other);
  }
  Term term{TermKind::Select};
  term.operands = {condition, value, other};
  return get(term);
}

/// The result of an op of constants, as MLIR folds it; null if it does not.
static Attribute fold(const void *name, Attribute attributes, Type type, ArrayRef<Attribute> constants) {
  MLIRContext *context = type.getContext();
  OperationState state(UnknownLoc::get(context), OperationName::getFromOpaquePointer(name));
  Block block;
  for (Attribute constant : constants) {
    auto typed = dyn_cast_or_null<TypedAttr>(constant);
    if (!typed || isa<ShapedType>(typed.getType()))
      return {};
    state.operands.push_back(block.addArgument(typed.getType(), state.location));
  }
  state.addTypes(type);
  if (auto dictionary = dyn_cast_or_null<DictionaryAttr>(attributes))
    state.addAttributes(dictionary.getValue());
  Operation *op = Operation::create(state);
  SmallVector<OpFoldResult> results;
  Attribute value;
  if (succeeded(op->fold(constants, results)) && results.size() == 1) {
    value = dyn_cast<Attribute>(results[0]);
    if (!value) // an operand
      value = constants[cast<BlockArgument>(cast<Value>(results[0])).getArgNumber()];
  }
  op->destroy();
  return value;
}

TermId TermTable::getOp(const void *name, StringRef text, Attribute attributes, Type type, ArrayRef<TermId> operands,
                        int64_t result) {
  auto getConstantOf = [&](TermId id) {
    return terms[id].kind == TermKind::Constant ? terms[id].attribute : Attribute();
  };
  SmallVector<Attribute, 2> constants = llvm::map_to_vector<2>(operands, getConstantOf);
  if (type && result == 0 && !constants.empty() && !llvm::is_contained(constants, Attribute()))
    if (Attribute value = fold(name, attributes, type, constants))
      return getConstant(value);
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
    for (TermId side : {lhs, rhs})
      if (IntegerAttr number = asInteger(side);
          number && number.getValue().isZero() && (text == "arith.muli" || text == "arith.andi"))
        return side;
    // Conjunctions and disjunctions are selections, as those of bounds are.
    bool isBool = type && type.isInteger(1);
    if (isBool && (text == "arith.andi" || text == "arith.ori")) {
      for (auto [side, other] : {std::pair(lhs, rhs), std::pair(rhs, lhs)})
        if (std::optional<bool> known = getBool(side))
          return *known == (text == "arith.andi") ? other : side;
      TermId constant = getConstant(BoolAttr::get(type.getContext(), text == "arith.ori"));
      return text == "arith.andi" ? getSelect(lhs, rhs, constant) : getSelect(lhs, constant, rhs);
    }
  }
  Term term{TermKind::Op};
  term.name = name;
  term.attribute = attributes;
  term.type = type;
  term.operands.assign(operands.begin(), operands.end());
  // Canonicalization swaps them.
  if (operands.size() == 2 && OperationName::getFromOpaquePointer(name).hasTrait<OpTrait::IsCommutative>())
    llvm::sort(term.operands);
  term.numbers.push_back(result);
  return get(term);
}
