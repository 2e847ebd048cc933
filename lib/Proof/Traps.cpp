//===- Traps.cpp - What could trap in lanes of padding --------------------===//

#include "OpTerms.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// True if an operand of a trap, converted for lanes of padding, does no harm there: a divisor that is neither 0 nor
/// -1, an index that is not read from padding.
static bool isHarmless(const Trap &trap, TermId operand, const TermTable &terms) {
  const Term &term = terms[operand];
  bool isIndex = term.kind == Term::Kind::Sum || term.kind == Term::Kind::Index;
  if (isIntegerDivision(trap.op)) {
    auto number = dyn_cast_or_null<IntegerAttr>(term.attribute);
    bool isConstant =
        term.kind == Term::Kind::Constant && number && !number.getValue().isZero() && !number.getValue().isAllOnes();
    bool isConstantIndex = term.kind == Term::Kind::Sum && term.numbers[1] == 0 && term.numbers[0] > 0;
    return isConstant || isConstantIndex;
  }
  // A cast of a masked index is one.
  const Term *cast = &term;
  while (cast->kind == Term::Kind::Op && cast->operands.size() == 1)
    cast = &terms[cast->operands[0]];
  auto number = dyn_cast_or_null<IntegerAttr>(cast->attribute);
  return isIndex || (cast->kind == Term::Kind::Constant && number && number.getValue().isZero());
}

/// True if `trap` may run in the lanes of `frame`, with an operand that does harm.
static bool mayTrap(const Trap &trap, TermFrame &frame, TermTable &terms) {
  bool runs = llvm::none_of(trap.guards, [&](const std::pair<TermId, bool> &guard) {
    std::optional<bool> known = terms.getBool(frame.convert(guard.first, terms));
    return known && *known != guard.second;
  });
  return runs && !llvm::all_of(trap.operands,
                               [&](TermId operand) { return isHarmless(trap, frame.convert(operand, terms), terms); });
}

/// Checks the lanes in which the index of `loop` is beyond its dim, or before it.
static bool checkOutside(OpTerms &terms, unsigned loop, bool above, Attempt &attempt) {
  TermFrame frame = terms.getFrameOutside(loop, above);
  llvm::SmallBitVector outside(terms.getNumLoops());
  outside.set(loop);
  (void)terms.convert(frame, outside);
  for (const Trap &trap : terms.structured.traps) {
    if (!mayTrap(trap, frame, terms.values.terms))
      continue;
    const LoopIndex &index = terms.loops[loop];
    attempt.fail(5, isIntegerDivision(trap.op) ? Outcome::Refused : Outcome::Undecided,
                 trap.op->getName().getStringRef() + " of the content of padding (loop " + Twine(loop) + ": " +
                     index.form->toString(terms.values.mesh) + " beyond " + Twine(*index.size) + ")",
                 "trap");
    return false;
  }
  return true;
}

bool proof::checkTraps(OpTerms &terms, Attempt &attempt) {
  if (terms.structured.traps.empty())
    return true;
  for (unsigned loop = 0; loop < terms.getNumLoops(); ++loop) {
    std::optional<std::pair<int64_t, int64_t>> range = terms.getRange(loop);
    if (!range)
      continue;
    std::optional<int64_t> size = terms.loops[loop].size;
    auto [low, high] = *range;
    if (size && low >= 0 && high < *size)
      continue;
    if (!size) {
      attempt.fail(1, Outcome::Undecided, "a division or a look-up in windows", "trap");
      return false;
    }
    if ((low < 0 && !checkOutside(terms, loop, /*above=*/false, attempt)) ||
        (high >= *size && !checkOutside(terms, loop, /*above=*/true, attempt)))
      return false;
  }
  return true;
}
