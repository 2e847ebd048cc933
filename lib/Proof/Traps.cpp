//===- Traps.cpp - What could trap ----------------------------------------===//

#include "OpTerms.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

namespace {
/// The first and the last value of an index. Empty if the last one is smaller: no lane computes it.
struct IndexRange {
  int64_t low, high;
  bool isEmpty() const { return low > high; }
  bool isInside(int64_t size) const { return isEmpty() || (low >= 0 && high < size && !isUnknownSize(size)); }
};
} // namespace

/// std::nullopt if `term` is no integer constant, or a large one.
static std::optional<IndexRange> getConstant(const Term &term) {
  auto number = dyn_cast_or_null<IntegerAttr>(term.attribute);
  if (term.kind != Term::Kind::Constant || !number || number.getValue().getSignificantBits() > 63)
    return std::nullopt;
  int64_t value = number.getValue().getSExtValue();
  return IndexRange{value, value};
}

//===----------------------------------------------------------------------===//
// All lanes
//===----------------------------------------------------------------------===//

/// Narrows the range of `form` to where `guard` holds.
static void narrow(IndexRange &range, const IndexForm &form, const Guard &guard, const TermTable &terms) {
  auto [id, isTrue] = guard;
  const Term &term = terms[id];
  if (term.kind == Term::Kind::Select) {
    // A negation, or a conjunction.
    std::optional<bool> value = terms.getBool(term.operands[1]), other = terms.getBool(term.operands[2]);
    if (value == false && other == true)
      return narrow(range, form, {term.operands[0], !isTrue}, terms);
    if (other == false && isTrue) {
      narrow(range, form, {term.operands[0], true}, terms);
      narrow(range, form, {term.operands[1], true}, terms);
    }
    return;
  }
  if (term.kind == Term::Kind::Op && isTrue &&
      OperationName::getFromOpaquePointer(term.name).getStringRef() == "arith.andi") {
    for (TermId side : term.operands)
      narrow(range, form, {side, true}, terms);
    return;
  }
  if (term.kind != Term::Kind::Compare)
    return;
  bool isLess = term.numbers[0] == 0;
  auto atMost = [&](int64_t number) { range.high = std::min(range.high, number); };
  auto atLeast = [&](int64_t number) { range.low = std::max(range.low, number); };
  std::optional<IndexForm> difference = term.form.plus(form, -1), sum = term.form.plus(form);
  if (difference && difference->isConstant()) {
    // form + constant < 0, or = 0.
    int64_t number = -difference->getConstant();
    if (isLess)
      isTrue ? atMost(number - 1) : atLeast(number);
    else if (isTrue)
      range = {std::max(range.low, number), std::min(range.high, number)};
  } else if (sum && sum->isConstant() && isLess) {
    // constant - form < 0.
    int64_t number = sum->getConstant();
    isTrue ? atLeast(number + 1) : atMost(number);
  }
}

/// The values of an index in all lanes in which the guards hold, padding included; std::nullopt if data give it.
static std::optional<IndexRange> getRange(TermId id, ArrayRef<Guard> guards, const TermTable &terms) {
  const Term &term = terms[id];
  switch (term.kind) {
  case Term::Kind::Index: {
    auto [low, high] = term.form.getRange();
    IndexRange range{low, high};
    for (const Guard &guard : guards)
      narrow(range, term.form, guard, terms);
    bool isKnown = range.low > -kAnyIndex && range.high < kAnyIndex;
    // A digit of a number that is computed from such as have limits.
    ArrayRef<IndexTerm> digits = term.form.getTerms();
    if (!isKnown && digits.size() == 1 && digits[0].kind == IndexTerm::Kind::Data) {
      std::optional<IndexRange> number = getRange(digits[0].var, guards, terms);
      bool isWhole = digits[0].lo == 1 && digits[0].size == kAnyData;
      if (!number || number->isEmpty() || (!isWhole && number->low < 0))
        return number && number->isEmpty() ? number : std::nullopt;
      IndexRange digit = *number;
      if (!isWhole) {
        digit = {number->low / digits[0].lo, number->high / digits[0].lo};
        if (digit.high >= digits[0].size)
          digit = {0, digits[0].size - 1};
      }
      int64_t coef = digits[0].coef, constant = term.form.getConstant();
      int64_t ends[] = {constant + coef * digit.low, constant + coef * digit.high};
      return IndexRange{std::min(ends[0], ends[1]), std::max(ends[0], ends[1])};
    }
    return isKnown ? std::optional(range) : std::nullopt;
  }
  case Term::Kind::Op: {
    StringRef name = OperationName::getFromOpaquePointer(term.name).getStringRef();
    bool isDivision = name == "arith.divui", isRemainder = name == "arith.remui";
    if (!isDivision && !isRemainder)
      return std::nullopt;
    std::optional<IndexRange> range = getRange(term.operands[0], guards, terms),
                              by = getRange(term.operands[1], guards, terms);
    if (!range || !by || by->low != by->high || by->low <= 0 || range->isEmpty() || range->low < 0)
      return std::nullopt;
    if (isDivision)
      return IndexRange{range->low / by->low, range->high / by->low};
    return IndexRange{0, std::min(range->high, by->low - 1)};
  }
  case Term::Kind::Constant:
    return getConstant(term);
  case Term::Kind::Select: {
    SmallVector<Guard> taken(guards), other(guards);
    taken.push_back({term.operands[0], true});
    other.push_back({term.operands[0], false});
    std::optional<IndexRange> a = getRange(term.operands[1], taken, terms),
                              b = getRange(term.operands[2], other, terms);
    if (!a || !b)
      return std::nullopt;
    if (a->isEmpty() || b->isEmpty())
      return a->isEmpty() ? b : a;
    return IndexRange{std::min(a->low, b->low), std::max(a->high, b->high)};
  }
  default:
    return std::nullopt;
  }
}

/// True if a divisor is neither 0 nor -1.
static bool isDivisor(const Term &term) {
  if (term.kind == Term::Kind::Index)
    return term.form.isConstant() && term.form.getConstant() > 0;
  if (term.kind == Term::Kind::Sum)
    return term.numbers[1] == 0 && term.numbers[0] > 0;
  auto number = dyn_cast_or_null<IntegerAttr>(term.attribute);
  return term.kind == Term::Kind::Constant && number && !number.getValue().isZero() && !number.getValue().isAllOnes();
}

bool proof::isHarmless(const Trap &trap, const TermTable &terms) {
  if (isIntegerDivision(trap.op->getName()))
    return isDivisor(terms[trap.operands[0]]);
  if (trap.staysInside)
    return true;
  return !trap.sizes.empty() && llvm::all_of(llvm::zip_equal(trap.operands, trap.sizes), [&](auto pair) {
    std::optional<IndexRange> range = getRange(std::get<0>(pair), trap.guards, terms);
    return range && range->isInside(std::get<1>(pair));
  });
}

/// Checks the indices of a read that loops and ranks give: they must be inside of the local tensor in all lanes.
/// Whether lanes inside of the dims read what the unsharded program does says nothing of this.
static bool checkIndices(const OpTerms &op, const Trap &trap, Attempt &attempt) {
  if (trap.sizes.empty())
    return true;
  const TermTable &terms = op.values.terms;
  for (auto [d, index, size] : llvm::enumerate(trap.operands, trap.sizes)) {
    const Term &term = terms[index];
    std::optional<IndexRange> range = getRange(index, trap.guards, terms);
    if (term.kind != Term::Kind::Index || !range || range->isInside(size))
      continue;
    // Of a size that only the run knows, the unsharded program has as much.
    bool isKnown = !isUnknownSize(size);
    if (!isKnown && op.hasAll(trap.op->getOperand(0), trap.dims.empty() ? d : trap.dims[d]))
      continue;
    attempt.fail(5, trap.guards.empty() && isKnown ? Outcome::Refused : Outcome::Undecided,
                 "reads at " + term.form.toString(op.values.mesh) + ", which is not inside of the local tensor of " +
                     Twine(size) + " elements in all lanes",
                 "trap");
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Lanes of padding
//===----------------------------------------------------------------------===//

/// The values of an index that is converted for the lanes of `frame`.
static std::optional<IndexRange> getRange(const Term &term, const TermFrame &frame) {
  if (term.kind == Term::Kind::Constant)
    return getConstant(term);
  if (term.kind != Term::Kind::Sum)
    return std::nullopt;
  IndexRange range{term.numbers[0], term.numbers[0]};
  for (int64_t i = 0; i < term.numbers[1]; ++i) {
    int64_t loop = term.numbers[2 + 2 * i], factor = term.numbers[3 + 2 * i];
    if (loop < 0 || !frame.assumed[loop])
      return std::nullopt;
    auto [low, high] = *frame.assumed[loop];
    range.low += factor * (factor < 0 ? high : low);
    range.high += factor * (factor < 0 ? low : high);
  }
  return range;
}

/// True if `trap` may run in the lanes of `frame`, with an operand that does harm.
static bool mayTrap(const Trap &trap, TermFrame &frame, TermTable &terms) {
  bool runs = llvm::none_of(trap.guards, [&](const Guard &guard) {
    std::optional<bool> known = terms.getBool(frame.convert(guard.first, terms));
    return known && *known != guard.second;
  });
  if (!runs)
    return false;
  if (isIntegerDivision(trap.op->getName()))
    return !isDivisor(terms[frame.convert(trap.operands[0], terms)]);
  return llvm::any_of(llvm::zip_equal(trap.operands, trap.sizes), [&](auto pair) {
    auto [operand, size] = pair;
    if (std::optional<IndexRange> range = getRange(operand, trap.guards, terms); range && range->isInside(size))
      return false;
    std::optional<IndexRange> range = getRange(terms[terms.skipCasts(frame.convert(operand, terms))], frame);
    return !range || !range->isInside(size);
  });
}

/// Checks the lanes in which the index of `loop` is beyond its dim, or before it.
static bool checkOutside(OpTerms &op, ArrayRef<const Trap *> traps, unsigned loop, bool above, Attempt &attempt) {
  TermFrame frame = op.getFrameOutside(loop, above);
  llvm::SmallBitVector outside(op.getNumLoops());
  outside.set(loop);
  (void)op.convert(frame, outside);
  for (const Trap *trap : traps) {
    if (!mayTrap(*trap, frame, op.values.terms))
      continue;
    const LoopIndex &index = op.loops[loop];
    // Under a name that the operand does not have here, these lanes may be inside.
    attempt.fail(5, Outcome::Undecided,
                 trap->op->getName().getStringRef() + " of the content of padding (loop " + Twine(loop) + ": " +
                     index.form->toString(op.values.mesh) + " beyond " + Twine(*index.size) + ")",
                 "trap");
    return false;
  }
  return true;
}

/// Checks slices from where the program computes on. On all of a dim they are those of the unsharded program, which is
/// undefined beyond the dim. A shard must have all that is read, or written.
static bool checkOffsets(OpTerms &op, Attempt &attempt) {
  Value sliced = op.structured.ranges.empty() ? Value() : op.op.getOperand(0);
  auto insert = dyn_cast<tensor::InsertSliceOp>(op.op);
  if (insert)
    sliced = insert.getDest();
  if (!sliced)
    return true;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(sliced.getType()).getShape();
  for (const Structured::Range &range : op.structured.ranges) {
    if (!range.first.hasScalar() || (!insert && op.hasAll(sliced, range.dim)) ||
        op.values.global.isInBounds(range, shape[range.dim]))
      continue;
    // The loop runs through all of the dim, if that is as long as in the unsharded program.
    const LoopIndex *loop = insert ? &op.loops[range.dim] : nullptr;
    if (loop && loop->form == IndexForm::ofLoop(range.dim, shape[range.dim]) && loop->size == shape[range.dim]) {
      op.usedAssumption = true;
      continue;
    }
    int64_t low = op.values.terms.getLimits(range.first).first, high = op.values.terms.getLimits(range.last).second;
    if (low >= 0 && high < shape[range.dim])
      continue;
    attempt.fail(5, Outcome::Undecided,
                 "the slice begins at " + range.first.toString(op.values.mesh) +
                     " and may be beyond the local tensor of " + Twine(shape[range.dim]) + " elements",
                 "trap");
    return false;
  }
  return true;
}

bool proof::checkTraps(OpTerms &op, Attempt &attempt) {
  if (!checkOffsets(op, attempt))
    return false;
  SmallVector<const Trap *> traps;
  for (const Trap &trap : op.structured.traps) {
    if (isHarmless(trap, op.values.terms))
      continue;
    if (!checkIndices(op, trap, attempt))
      return false;
    // The index is that of the unsharded program only on the device that owns the element. Of equal elements that
    // program may read from a larger tensor.
    if (auto read = dyn_cast<tensor::ExtractOp>(trap.op))
      for (auto [d, index] : llvm::enumerate(trap.operands)) {
        bool isSharded = op.isShardedLookup(read.getTensor(), d);
        if (!isSharded && op.isReadBy(index, trap.sizes[d]))
          continue;
        std::optional<IndexRange> range = getRange(index, trap.guards, op.values.terms);
        if (!(isSharded || op.isUniformLookup(read.getTensor(), d)) || (range && range->isInside(trap.sizes[d])))
          continue;
        attempt.fail(5, Outcome::Undecided,
                     isSharded ? "reads a shard at an index that may be beyond it"
                               : "reads one of equal elements at an index that may be beyond the local tensor",
                     isSharded ? "trap" : "lookup");
        return false;
      }
    traps.push_back(&trap);
  }
  if (traps.empty())
    return true;
  // The sizes of the loops say which lanes are padding.
  op.usedAssumption = true;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    std::optional<std::pair<int64_t, int64_t>> range = op.getRange(loop);
    if (!range)
      continue;
    std::optional<int64_t> size = op.loops[loop].size;
    auto [low, high] = *range;
    if (size && op.loops[loop].form->isInside(*size))
      continue;
    if (!size) {
      attempt.fail(1, Outcome::Undecided, "a division or a look-up in windows", "trap");
      return false;
    }
    if ((low < 0 && !checkOutside(op, traps, loop, /*above=*/false, attempt)) ||
        (high >= *size && !checkOutside(op, traps, loop, /*above=*/true, attempt)))
      return false;
  }
  return true;
}
