//===- Selections.cpp - Reductions that keep one of many ------------------===//

#include "Selections.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// A number as a term: an index is a sum of it alone.
static TermId skipSum(TermId id, const TermTable &terms) {
  const Term &term = terms[id];
  bool isNumber = term.kind == Term::Kind::Sum && term.numbers[0] == 0 && term.numbers[1] == 1 && term.numbers[2] < 0 &&
                  term.numbers[3] == 1;
  return isNumber ? TermId(-1 - term.numbers[2]) : id;
}

namespace {
/// Reads the terms of an op as a selection.
class SelectionReader {
public:
  SelectionReader(Selection &selection, TermTable &terms) : selection(selection), terms(terms) {}
  bool read(ArrayRef<TermId> ids);

private:
  /// The side that is not an output, of each result: one term.
  bool readTaken(TermId id, unsigned result);
  bool readFirst();
  bool hasOutput(TermId id) const;
  /// The term with components of the other tuple as arguments.
  std::optional<TermId> convert(TermId id);

  Selection &selection;
  TermTable &terms;
  SmallVector<std::optional<TermId>> taken, outputs;
};
} // namespace

bool SelectionReader::hasOutput(TermId id) const {
  return terms.anyTerm(id, [&](TermId next) { return terms[next].kind == Term::Kind::Output; });
}

bool SelectionReader::readTaken(TermId given, unsigned result) {
  TermId id = skipSum(given, terms);
  const Term &term = terms[id];
  if (term.kind == Term::Kind::Output) {
    outputs[result] = id;
    return term.numbers[0] == int64_t(result);
  }
  if (term.kind == Term::Kind::Select && hasOutput(id))
    return readTaken(term.operands[1], result) && readTaken(term.operands[2], result);
  if (hasOutput(id) || (taken[result] && *taken[result] != id))
    return false;
  taken[result] = id;
  return true;
}

bool SelectionReader::readFirst() {
  for (auto [output, type] : llvm::zip_equal(outputs, selection.types)) {
    const Term &first = terms[terms[*output].operands[0]];
    if (first.kind == Term::Kind::Constant)
      selection.first.push_back(first.attribute);
    else if (first.kind == Term::Kind::Sum && first.numbers[1] == 0 && type.isIndex())
      selection.first.push_back(IntegerAttr::get(type, first.numbers[0]));
    else
      return false;
  }
  return true;
}

bool SelectionReader::read(ArrayRef<TermId> ids) {
  taken.resize(ids.size());
  outputs.resize(ids.size());
  for (auto [r, id] : llvm::enumerate(ids))
    if (!readTaken(id, r) || !taken[r] || !outputs[r])
      return false;
  if (!readFirst())
    return false;
  for (TermId id : ids) {
    std::optional<TermId> converted = convert(id);
    if (!converted)
      return false;
    selection.terms.push_back(*converted);
  }
  for (std::optional<TermId> each : taken)
    selection.taken.push_back(*each);
  return true;
}

std::optional<TermId> SelectionReader::convert(TermId given) {
  TermId id = skipSum(given, terms);
  Term term = terms[id]; // the table grows
  if (auto it = llvm::find(taken, id); it != taken.end())
    return terms.getArgument(it - taken.begin());
  if (terms.getBool(id))
    return id;
  if (term.kind == Term::Kind::Output) {
    term.operands.clear();
    return terms.get(term);
  }
  StringRef name =
      term.kind == Term::Kind::Op ? OperationName::getFromOpaquePointer(term.name).getStringRef() : StringRef();
  bool isModelled = llvm::is_contained({"arith.cmpf", "arith.cmpi", "arith.xori"}, name);
  if (term.kind != Term::Kind::Select && !isModelled)
    return std::nullopt;
  SmallVector<TermId, 3> operands;
  for (TermId operand : term.operands) {
    std::optional<TermId> converted = convert(operand);
    if (!converted)
      return std::nullopt;
    operands.push_back(*converted);
  }
  if (term.kind == Term::Kind::Select)
    return terms.getSelect(operands[0], operands[1], operands[2]);
  auto getComponent = [&](TermId side) {
    auto kind = terms[side].kind;
    return kind == Term::Kind::Output || kind == Term::Kind::Argument ? terms[side].numbers[0] : -1;
  };
  // One component of both tuples is compared.
  if (name != "arith.xori" && (getComponent(operands[0]) < 0 || getComponent(operands[0]) != getComponent(operands[1])))
    return std::nullopt;
  return terms.getOp(term.name, name, term.attribute, term.type, operands, term.numbers[0]);
}

std::optional<Selection> Selection::read(ArrayRef<TermId> ids, ArrayRef<Type> types, TermTable &table) {
  Selection selection;
  selection.types.assign(types.begin(), types.end());
  auto isNumber = [](Type type) { return isa<FloatType, IntegerType, IndexType>(type); };
  if (ids.empty() || !llvm::all_of(types, isNumber) || !SelectionReader(selection, table).read(ids))
    return std::nullopt;
  return selection;
}

//===----------------------------------------------------------------------===//
// Laws
//===----------------------------------------------------------------------===//

namespace {
/// Evaluates a selection on tuples of few values per component.
class LawFinder {
public:
  LawFinder(const Selection &selection, const TermTable &terms) : selection(selection), terms(terms) {}
  SelectionLaws find();

private:
  /// The values of each component: those of all orders that three of them and the first one may have.
  void setValues();
  SmallVector<Attribute> getValues(unsigned component) const;
  bool isCompared(unsigned component) const;
  /// The number of a tuple by those of its values.
  unsigned getNumber(ArrayRef<unsigned> values) const;
  unsigned select(unsigned state, unsigned other) const;
  std::optional<Attribute> evaluate(TermId id, ArrayRef<Attribute> state, ArrayRef<Attribute> other) const;
  SmallVector<Attribute> getTuple(unsigned number) const;
  bool fillTable();
  /// The tuples that selections lead to from the first one.
  SmallVector<unsigned> findStates() const;

  const Selection &selection;
  const TermTable &terms;
  SmallVector<SmallVector<Attribute>> values;
  unsigned numTuples = 1, first = 0;
  std::vector<unsigned> table;
};
} // namespace

bool LawFinder::isCompared(unsigned component) const {
  SmallVector<TermId> stack(selection.terms.begin(), selection.terms.end());
  while (!stack.empty()) {
    const Term &term = terms[stack.pop_back_val()];
    bool isComparison = term.kind == Term::Kind::Op;
    for (TermId operand : term.operands) {
      const Term &side = terms[operand];
      if (isComparison && (side.kind == Term::Kind::Output || side.kind == Term::Kind::Argument) &&
          side.numbers[0] == int64_t(component))
        return true;
      stack.push_back(operand);
    }
  }
  return false;
}

SmallVector<Attribute> LawFinder::getValues(unsigned component) const {
  Type type = selection.types[component];
  Attribute given = selection.first[component];
  SmallVector<Attribute> list{given};
  auto add = [&](Attribute value) {
    if (!llvm::is_contained(list, value))
      list.push_back(value);
  };
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType) {
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    APInt origin = cast<IntegerAttr>(given).getValue();
    // Next to the first value and to zero, where signs and wraps are.
    for (int64_t step = -3; step <= 3; ++step) {
      add(IntegerAttr::get(type, origin + APInt(width, step, /*isSigned=*/true, /*implicitTrunc=*/true)));
      add(IntegerAttr::get(type, APInt(width, step, /*isSigned=*/true, /*implicitTrunc=*/true)));
    }
    for (int64_t step = 0; step < 3; ++step) {
      add(IntegerAttr::get(type, APInt::getSignedMinValue(width) + APInt(width, step, false, true)));
      add(IntegerAttr::get(type, APInt::getSignedMaxValue(width) - APInt(width, step, false, true)));
    }
    return list;
  }
  const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
  APFloat one = APFloat::getOne(semantics), up = cast<FloatAttr>(given).getValue(), down = up;
  for (APFloat value : {APFloat::getZero(semantics), APFloat::getZero(semantics, /*Negative=*/true), one, neg(one)})
    add(FloatAttr::get(floatType, value));
  if (APFloat::semanticsHasNaN(semantics))
    add(FloatAttr::get(floatType, APFloat::getNaN(semantics)));
  if (APFloat::semanticsHasInf(semantics))
    for (bool isNegative : {false, true})
      add(FloatAttr::get(floatType, APFloat::getInf(semantics, isNegative)));
  for (unsigned step = 0; step < 3; ++step) {
    up.next(/*nextDown=*/false);
    down.next(/*nextDown=*/true);
    add(FloatAttr::get(floatType, up));
    add(FloatAttr::get(floatType, down));
  }
  return list;
}

void LawFinder::setValues() {
  for (unsigned c = 0; c < selection.types.size(); ++c) {
    values.push_back(getValues(c));
    // What is not compared tells tuples apart.
    if (!isCompared(c))
      values.back().truncate(std::min<size_t>(values.back().size(), 4));
    numTuples *= values.back().size();
  }
}

SmallVector<Attribute> LawFinder::getTuple(unsigned number) const {
  SmallVector<Attribute> tuple;
  for (const SmallVector<Attribute> &list : values) {
    tuple.push_back(list[number % list.size()]);
    number /= list.size();
  }
  return tuple;
}

std::optional<Attribute> LawFinder::evaluate(TermId id, ArrayRef<Attribute> state, ArrayRef<Attribute> other) const {
  const Term &term = terms[id];
  if (std::optional<bool> known = terms.getBool(id))
    return term.attribute;
  if (term.kind == Term::Kind::Output)
    return state[term.numbers[0]];
  if (term.kind == Term::Kind::Argument)
    return other[term.numbers[0]];
  SmallVector<Attribute, 3> operands;
  for (TermId operand : term.operands) {
    std::optional<Attribute> value = evaluate(operand, state, other);
    if (!value)
      return std::nullopt;
    operands.push_back(*value);
  }
  auto getTruth = [](Attribute value) { return !cast<IntegerAttr>(value).getValue().isZero(); };
  if (term.kind == Term::Kind::Select)
    return getTruth(operands[0]) ? operands[1] : operands[2];
  MLIRContext *context = operands[0].getContext();
  StringRef name = OperationName::getFromOpaquePointer(term.name).getStringRef();
  if (name == "arith.xori")
    return BoolAttr::get(context, getTruth(operands[0]) != getTruth(operands[1]));
  auto attributes = dyn_cast_or_null<DictionaryAttr>(term.attribute);
  if (!attributes)
    return std::nullopt;
  // Predicates of both kinds are numbers.
  if (auto predicate = attributes.getAs<arith::CmpFPredicateAttr>("predicate"); predicate && name == "arith.cmpf")
    return BoolAttr::get(context,
                         arith::applyCmpPredicate(predicate.getValue(), cast<FloatAttr>(operands[0]).getValue(),
                                                  cast<FloatAttr>(operands[1]).getValue()));
  if (auto predicate = attributes.getAs<arith::CmpIPredicateAttr>("predicate"); predicate && name == "arith.cmpi")
    return BoolAttr::get(context,
                         arith::applyCmpPredicate(predicate.getValue(), cast<IntegerAttr>(operands[0]).getValue(),
                                                  cast<IntegerAttr>(operands[1]).getValue()));
  return std::nullopt;
}

bool LawFinder::fillTable() {
  constexpr unsigned kMaxTuples = 512;
  if (numTuples > kMaxTuples)
    return false;
  for (unsigned state = 0; state < numTuples; ++state)
    for (unsigned other = 0; other < numTuples; ++other) {
      SmallVector<Attribute> a = getTuple(state), b = getTuple(other);
      unsigned number = 0, stride = 1;
      for (auto [term, list] : llvm::zip_equal(selection.terms, values)) {
        std::optional<Attribute> value = evaluate(term, a, b);
        auto it = value ? llvm::find(list, *value) : list.end();
        if (it == list.end())
          return false;
        number += stride * (it - list.begin());
        stride *= list.size();
      }
      table.push_back(number);
    }
  return true;
}

unsigned LawFinder::select(unsigned state, unsigned other) const { return table[state * numTuples + other]; }

SmallVector<unsigned> LawFinder::findStates() const {
  SmallVector<unsigned> states{first};
  llvm::SmallBitVector seen(numTuples);
  seen.set(first);
  for (size_t i = 0; i < states.size(); ++i)
    for (unsigned other = 0; other < numTuples; ++other)
      if (unsigned next = select(states[i], other); !seen[next]) {
        seen.set(next);
        states.push_back(next);
      }
  return states;
}

SelectionLaws LawFinder::find() {
  setValues();
  if (!fillTable())
    return {};
  SelectionLaws laws{true, true};
  SmallVector<unsigned> states = findStates();
  for (unsigned a : states) {
    laws.inBlocks &= select(a, first) == a;
    for (unsigned b : states)
      for (unsigned x = 0; x < numTuples && laws.inBlocks; ++x)
        laws.inBlocks = select(select(a, b), x) == select(a, select(b, x));
    for (unsigned x = 0; x < numTuples && laws.inAnyOrder; ++x)
      for (unsigned y = 0; y < numTuples && laws.inAnyOrder; ++y)
        laws.inAnyOrder = select(select(a, x), y) == select(select(a, y), x);
  }
  return laws;
}

SelectionLaws proof::getLaws(const Selection &selection, const TermTable &table) {
  return LawFinder(selection, table).find();
}
