//===- Lanes.cpp - Indices, lane by lane ----------------------------------===//

#include "Lanes.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;
using TermKind = Term::Kind;

/// Lanes that are evaluated per index.
static constexpr int64_t kMaxLanes = int64_t(1) << 12;

namespace {
class Lanes {
public:
  Lanes(const TermTable &terms, ArrayRef<int64_t> extents) : terms(terms), extents(extents) {}

  /// True if the index of dim `dim` of each read of operand `argument` in `roots` is in [0, size).
  bool areReadsInside(ArrayRef<TermId> roots, unsigned argument, unsigned dim, int64_t size);
  /// True if an index is in [0, size) where the guards hold.
  bool isInside(TermId index, ArrayRef<Guard> guards, int64_t size);

private:
  /// Takes the digits of ranks and loops that give an index as those of a lane. False if data do, or if there are too
  /// many lanes.
  bool addDigits(TermId index);
  bool forEachLane(llvm::function_ref<bool()> visit);
  /// The values in the current lane; std::nullopt if others than the digits of lanes give them.
  std::optional<int64_t> getNumber(TermId id) const;
  std::optional<int64_t> getNumber(const IndexForm &form) const;
  std::optional<bool> getBool(TermId id) const;
  /// True if all reads that are part of a term in this lane are inside.
  bool check(TermId id, llvm::DenseSet<TermId> &seen) const;

  const TermTable &terms;
  ArrayRef<int64_t> extents;
  SmallVector<IndexTerm> digits; ///< without coefficients
  int64_t numLanes = 1;
  int64_t rank = 0;
  SmallVector<int64_t> loops;
  // What check() looks for.
  unsigned argument = 0, dim = 0;
  int64_t size = 0;
};
} // namespace

bool Lanes::addDigits(TermId index) {
  bool areKnown = true;
  (void)terms.anyTerm(index, [&](TermId id) {
    const Term &term = terms[id];
    areKnown &= llvm::is_contained(
        {TermKind::Index, TermKind::Compare, TermKind::Op, TermKind::Select, TermKind::Constant}, term.kind);
    for (const IndexTerm &digit : term.form.getTerms()) {
      if (digit.kind == IndexTerm::Kind::Data)
        continue;
      areKnown &= digit.kind != IndexTerm::Kind::Scalar && !isUnknownSize(digit.size) && getOrder(digit.lo) == 0;
      IndexTerm plain = digit;
      plain.coef = 1;
      if (digit.kind == IndexTerm::Kind::Loop) // all of the loop
        plain = {digit.kind, digit.var, 1, extents[digit.var], 1};
      if (!areKnown || llvm::is_contained(digits, plain))
        continue;
      // Digits of ranks that overlap are one number.
      for (const IndexTerm &other : digits)
        areKnown &= other.kind != plain.kind || plain.kind == IndexTerm::Kind::Loop || other.hi() <= plain.lo ||
                    plain.hi() <= other.lo;
      digits.push_back(plain);
      numLanes *= plain.size;
      areKnown &= plain.size > 0 && numLanes <= kMaxLanes;
    }
    return !areKnown;
  });
  return areKnown;
}

bool Lanes::forEachLane(llvm::function_ref<bool()> visit) {
  loops.assign(extents.size(), -1);
  for (int64_t lane = 0; lane < numLanes; ++lane) {
    int64_t rest = lane;
    rank = 0;
    for (const IndexTerm &digit : digits) {
      if (digit.kind == IndexTerm::Kind::Rank)
        rank += rest % digit.size * digit.lo;
      else
        loops[digit.var] = rest % digit.size;
      rest /= digit.size;
    }
    if (!visit())
      return false;
  }
  return true;
}

std::optional<int64_t> Lanes::getNumber(const IndexForm &form) const {
  int64_t sum = form.getConstant();
  for (const IndexTerm &term : form.getTerms()) {
    std::optional<int64_t> value;
    if (term.kind == IndexTerm::Kind::Rank) {
      bool isKnown = llvm::any_of(digits, [&](const IndexTerm &digit) {
        return digit.kind == term.kind && digit.lo <= term.lo && term.hi() <= digit.hi();
      });
      value = isKnown ? std::optional(rank) : std::nullopt;
    } else if (term.kind == IndexTerm::Kind::Loop) {
      value = loops[term.var] >= 0 ? std::optional(loops[term.var]) : std::nullopt;
    } else if (term.kind == IndexTerm::Kind::Data) {
      value = getNumber(TermId(term.var));
    }
    bool isWhole = term.kind == IndexTerm::Kind::Data && term.lo == 1 && term.size == kAnyData;
    if (!value || (!isWhole && *value < 0))
      return std::nullopt;
    sum += term.coef * (isWhole ? *value : *value / term.lo % term.size);
  }
  return sum;
}

std::optional<int64_t> Lanes::getNumber(TermId id) const {
  const Term &term = terms[id];
  switch (term.kind) {
  case TermKind::Index:
    return getNumber(term.form);
  case TermKind::Constant: {
    auto number = dyn_cast_or_null<IntegerAttr>(term.attribute);
    bool isIndex = number && number.getType().isIndex();
    return isIndex ? std::optional(number.getInt()) : std::nullopt;
  }
  case TermKind::Select: {
    std::optional<bool> condition = getBool(term.operands[0]);
    return condition ? getNumber(term.operands[*condition ? 1 : 2]) : std::nullopt;
  }
  case TermKind::Op: {
    StringRef name = OperationName::getFromOpaquePointer(term.name).getStringRef();
    if (term.operands.size() != 2 || (name != "arith.divui" && name != "arith.remui"))
      return std::nullopt;
    std::optional<int64_t> number = getNumber(term.operands[0]), by = getNumber(term.operands[1]);
    if (!number || !by || *number < 0 || *by <= 0)
      return std::nullopt;
    return name == "arith.divui" ? *number / *by : *number % *by;
  }
  default:
    return std::nullopt;
  }
}

std::optional<bool> Lanes::getBool(TermId id) const {
  const Term &term = terms[id];
  if (std::optional<bool> known = terms.getBool(id))
    return known;
  if (term.kind == TermKind::Compare) {
    std::optional<int64_t> number = getNumber(term.form);
    return number ? std::optional(term.numbers[0] == 0 ? *number < 0 : *number == 0) : std::nullopt;
  }
  if (term.kind != TermKind::Select)
    return std::nullopt;
  std::optional<bool> condition = getBool(term.operands[0]);
  if (condition)
    return getBool(term.operands[*condition ? 1 : 2]);
  // A conjunction of which one part does not hold.
  bool isFalse = terms.getBool(term.operands[2]) == false && getBool(term.operands[1]) == false;
  return isFalse ? std::optional(false) : std::nullopt;
}

bool Lanes::check(TermId id, llvm::DenseSet<TermId> &seen) const {
  if (!seen.insert(id).second)
    return true;
  const Term &term = terms[id];
  if (term.kind == TermKind::Select)
    if (std::optional<bool> condition = getBool(term.operands[0]))
      return check(term.operands[0], seen) && check(term.operands[*condition ? 1 : 2], seen);
  if (term.kind == TermKind::Lookup && term.numbers[0] == int64_t(argument)) {
    std::optional<int64_t> at = getNumber(term.operands[dim]);
    if (!at || *at < 0 || *at >= size)
      return false;
  }
  return llvm::all_of(terms.getReferences(id), [&](TermId next) { return check(next, seen); });
}

bool Lanes::areReadsInside(ArrayRef<TermId> roots, unsigned ofArgument, unsigned ofDim, int64_t ofSize) {
  argument = ofArgument;
  dim = ofDim;
  size = ofSize;
  bool areKnown = !isUnknownSize(size);
  for (TermId root : roots)
    (void)terms.anyTerm(root, [&](TermId id) {
      const Term &term = terms[id];
      if (areKnown && term.kind == TermKind::Lookup && term.numbers[0] == int64_t(argument))
        areKnown = addDigits(term.operands[dim]);
      return !areKnown;
    });
  return areKnown && forEachLane([&] {
           llvm::DenseSet<TermId> seen;
           return llvm::all_of(roots, [&](TermId root) { return check(root, seen); });
         });
}

bool Lanes::isInside(TermId index, ArrayRef<Guard> guards, int64_t ofSize) {
  if (isUnknownSize(ofSize) || !addDigits(index))
    return false;
  return forEachLane([&] {
    for (auto [condition, isTrue] : guards)
      if (std::optional<bool> holds = getBool(condition); holds && *holds != isTrue)
        return true;
    std::optional<int64_t> at = getNumber(index);
    return at && *at >= 0 && *at < ofSize;
  });
}

void proof::findReadsInside(Structured &structured, const TermTable &terms) {
  for (Trap &trap : structured.traps)
    trap.staysInside = !trap.sizes.empty() && llvm::all_of(llvm::zip_equal(trap.operands, trap.sizes), [&](auto pair) {
      return Lanes(terms, structured.extents).isInside(std::get<0>(pair), trap.guards, std::get<1>(pair));
    });
  for (auto [a, argument] : llvm::enumerate(structured.arguments)) {
    if (!argument.isLookup)
      continue;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(argument.value.getType()).getShape();
    for (auto [d, size] : llvm::enumerate(shape))
      argument.readsInside.push_back(Lanes(terms, structured.extents).areReadsInside(structured.terms, a, d, size));
  }
}
