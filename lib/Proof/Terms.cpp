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

TermId TermTable::getCoordinate(int64_t stride, int64_t size) {
  Term term{TermKind::Scalar};
  term.numbers = {-1, stride, size};
  return get(term);
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
  if (getBool(value) == true && getBool(other) == false)
    return condition;
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
  term.numbers.push_back(result);
  return get(term);
}
