//===- Terms.h - What a body computes ---------------------------*- C++ -*-===//
//
// The element that an op writes, as a term: constants, indices, elements of operands,
// and pure ops of these. Equal terms have equal numbers, in the global and in the local
// program, so comparing what two ops compute is comparing two numbers.
//
// A body is read into a term over its own loops. `TermFrame` then writes it over the
// global indices of these loops: an index is a sum of global indices, an operand is an
// element of a global value, and a comparison that holds for all indices is decided.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PROOF_TERMS_H
#define SHARDKIT_PROOF_TERMS_H

#include "shardkit/Layout/KeyedTable.h"
#include "shardkit/Proof/Sizes.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Operation.h"
#include <deque>
#include <functional>
#include <map>

namespace mlir::spmd::proof {

using TermId = unsigned;

/// An element of a value over loops: per dim a sum (as in Term::Kind::Sum).
using SumList = llvm::SmallVector<llvm::SmallVector<int64_t, 6>, 4>;

struct Term {
  enum class Kind : uint8_t {
    Unknown,   ///< the result of an op that is not modelled; equal to no other term
    Undefined, ///< an element of tensor.empty
    Constant,  ///< attribute
    Op,        ///< a pure op, with its attributes, of operands; numbers: the result
    Select,    ///< operands: condition, value, other value
    Scalar,    ///< a number of the program; numbers: its class
    Argument,  ///< element of an operand of the op; numbers: the operand
    Lookup,    ///< element at computed indices; numbers: the operand, or -1 and the class; operands: the indices
    Index,     ///< an index over ranks and loops: `form`
    Compare,   ///< form < 0 (numbers: 0), or form = 0 (numbers: 1)
    // Over global indices:
    Element,   ///< numbers: class, then per dim the constant, the number of loops, and (loop, factor) each
    Output,    ///< the element of the output before the op; operands: its first value
    Sum,       ///< an index: as a dim of Element
    SumCompare ///< numbers: 0 or 1 as in Compare, then as a dim of Element
  };
  Kind kind;
  Attribute attribute = {};
  const void *name = nullptr; ///< the op
  Type type = {};
  llvm::SmallVector<TermId, 3> operands = {};
  llvm::SmallVector<int64_t, 4> numbers = {};
  IndexForm form = {};
};

/// A sum as `Element` has it: the constant, the number of loops, and (loop, factor) each, without factors of 0.
llvm::SmallVector<int64_t, 6> makeSum(int64_t constant, const std::map<int64_t, int64_t> &factors);

/// Terms by number. Equal terms have one number.
class TermTable {
public:
  explicit TermTable(MLIRContext *context) : context(context) {}
  TermId get(Term term);
  const Term &operator[](TermId id) const { return terms[id]; }

  TermId getUnknown(Operation *op);
  TermId getUndefined() { return get({Term::Kind::Undefined}); }
  TermId getConstant(Attribute value);
  TermId getIndex(const IndexForm &form);
  /// A number that the program computes, as an index.
  TermId getComputedIndex(TermId number) { return getIndex(IndexForm::ofScalar(number)); }
  /// The index that a term of a body gives: its form, or that of data.
  IndexForm getForm(TermId id) const {
    return terms[id].kind == Term::Kind::Index ? terms[id].form : IndexForm::ofData(id);
  }
  /// form < 0, or form = 0.
  TermId getLess(const IndexForm &form);
  TermId getEqual(const IndexForm &form);
  TermId getNot(TermId id, MLIRContext *context);
  TermId getAnd(TermId a, TermId b, MLIRContext *context);
  /// 0 <= form < size.
  TermId getInside(const IndexForm &form, int64_t size, MLIRContext *context);
  /// The term below casts of integers.
  TermId skipCasts(TermId id) const;
  /// The terms that a term refers to: operands, and the numbers that its indices are sums of.
  llvm::SmallVector<TermId, 4> getReferences(TermId id) const;
  /// True if a term, or one that it refers to directly or not, has a property.
  bool anyTerm(TermId id, llvm::function_ref<bool(TermId)> hasProperty) const;
  /// An index op of an index that is not negative, and of a number: a form if it is one.
  TermId getIndexOp(StringRef name, TermId index, int64_t by);
  /// (index / lo) mod size of the global index of a loop, or index / lo where `size` is 0: as ops of indices give it.
  TermId getDigit(unsigned loop, int64_t lo, int64_t size);
  /// sum < 0, or sum = 0 (`kind` 1). One of two equal comparisons: -s < 0 holds where s - 1 < 0 does not.
  TermId getSumCompare(int64_t kind, llvm::SmallVector<int64_t, 6> sum);
  /// The class and the sums of an element.
  std::pair<unsigned, SumList> getElement(TermId id) const;
  /// The loops that a term over global indices depends on.
  llvm::SmallDenseSet<int64_t> findLoops(TermId id) const;
  bool hasLoops(TermId id) const;
  /// True if all devices compute the same by a converted term, at the same global indices.
  bool isOverGlobal(TermId id) const;
  /// True if an index of an element is a number that loops compute.
  bool hasLoopScalars(TermId element) const;
  TermId getArgument(unsigned operand);
  TermId getScalar(unsigned id);
  /// The coordinate of the device along ranks, in a manual computation.
  TermId getCoordinate(int64_t stride, int64_t size);
  TermId getSelect(TermId condition, TermId value, TermId other);
  TermId getOp(const void *name, StringRef text, Attribute attributes, Type type, llvm::ArrayRef<TermId> operands,
               int64_t result);
  /// The indices of a lookup, each as a sum, also those that are constant.
  llvm::SmallVector<TermId> getLookupIndices(llvm::ArrayRef<TermId> indices);
  std::optional<bool> getBool(TermId id) const;
  /// The op of an `Unknown` term that `id` contains; null if there is none.
  Operation *findUnknown(TermId id) const;

  /// Sizes that only the run knows.
  SizeTable sizes;
  /// The first and the last value that a number of the program may be, +-kAnyIndex where it has no limit.
  llvm::DenseMap<TermId, std::pair<int64_t, int64_t>> limitsOf;
  /// The limits of an index of a function: those of a closed form, or of a clamp.
  std::pair<int64_t, int64_t> getLimits(const IndexForm &form) const;

private:
  void findLoops(TermId id, llvm::SmallDenseSet<TermId> &seen, llvm::SmallDenseSet<int64_t> &loops) const;
  TermId getConjunction(TermId a, TermId b);
  /// arith.andi or arith.ori of an output and what is combined with it, so that it is seen to be a reduction.
  TermId getBoolOp(llvm::StringRef name, TermId a, TermId b);

  MLIRContext *context;
  mutable llvm::DenseMap<TermId, bool> loopsOf; ///< hasLoops() of a term
  KeyedTable<unsigned> ids;
  std::deque<Term> terms;
  llvm::DenseMap<int64_t, Operation *> unknown;
  llvm::DenseMap<const void *, std::string> names;
};

/// An equal term of a body, with simpler conditions. (Conditions.cpp)
TermId simplify(TermId id, TermTable &terms, MLIRContext *context);

/// The neutral element of the combiner `name` (as in "arith.addf") for a type; null if there is none.
TypedAttr getNeutral(StringRef name, Type type);
/// The same reduction by one name: those of booleans are and, or and xor.
ReductionKind getKindOf(ReductionKind kind, Type type);
std::optional<ReductionKind> getCombinerKind(StringRef name, Type type);
TypedAttr getNeutral(ReductionKind kind, Type type);
/// True if `value` is neutral in this reduction. A sum may start from either zero.
bool isNeutral(ReductionKind kind, Attribute value);

/// A condition, and what it is where an op runs.
using Guard = std::pair<TermId, bool>;

/// An op that some operands make undefined: a division, a read at an index. It runs where all guards hold.
struct Trap {
  Operation *op;
  llvm::SmallVector<Guard, 1> guards;
  /// The divisor, or the indices.
  llvm::SmallVector<TermId, 2> operands;
  /// The sizes of the dims that a read is of, one per index, and the dims if these are not all; a division has none.
  llvm::SmallVector<int64_t, 2> sizes = {};
  llvm::SmallVector<unsigned, 2> dims = {};
  /// True if all indices are known to be inside of the dims in all lanes of a local op. (Lanes.h)
  bool staysInside = false;
};
bool isIntegerDivision(OperationName op);

/// Reads scalars of a function and bodies of its ops.
class BodyReader {
public:
  /// `getOuter` gives the term of a value that is defined outside of what is read.
  BodyReader(TermTable &terms, std::function<TermId(Value)> getOuter) : terms(terms), getOuter(std::move(getOuter)) {}
  void set(Value value, TermId term) { values[value] = term; }
  void erase(Value value) { values.erase(value); }
  TermId get(Value value);
  /// Reads the ops of a block without its terminator.
  void read(Block &block);
  void read(Operation &op);
  llvm::SmallVector<Trap, 0> traps;
  /// True for scalars of a function: a computed index is a scalar of forms.
  bool isOfFunction = false;
  /// The form of an index op of a body: loop d.
  std::function<IndexForm(unsigned)> getLoopIndex;
  /// The rank digits of a coordinate op.
  std::function<std::optional<IndexForm>(Operation *)> getCoordinate;
  /// The term of a tensor of which the body reads an element; null: not modelled.
  std::function<std::optional<TermId>(Value, llvm::ArrayRef<TermId>)> getLookup;

private:
  std::optional<TermId> readIndexOp(Operation &op);
  std::optional<std::pair<int64_t, int64_t>> getClampLimits(Operation &op);
  TermTable &terms;
  std::function<TermId(Value)> getOuter;
  llvm::DenseMap<Value, TermId> values;
  llvm::SmallVector<Guard, 1> guards; ///< The guards of the current op.
};

/// Writes terms over the global indices of the loops of an op.
struct TermFrame {
  /// Per loop its global index; std::nullopt: the loop is not tied to an index.
  llvm::SmallVector<std::optional<IndexForm>, 4> loops;
  /// The assumed range of the global index of a loop: [first, last].
  llvm::SmallVector<std::optional<std::pair<int64_t, int64_t>>, 4> assumed;
  /// The term of an operand: an Element, a constant.
  std::function<TermId(unsigned operand)> getArgument;
  /// The term of an element of a full value at indices that are converted already.
  std::function<TermId(unsigned operand, llvm::ArrayRef<TermId>)> getLookup;
  /// The term of a selection by whether the device owns what one side reads; std::nullopt: as any.
  std::function<std::optional<TermId>(const Term &)> getOwned;
  MLIRContext *context = nullptr;
  /// A term is compared as another, equal one. False if it may not.
  std::function<bool(TermId from, TermId to)> replace;
  /// Set where a comparison was decided by what is assumed.
  bool usedAssumption = false;
  /// Set where two selections were joined by what a condition determines.
  bool usedEquation = false;
  /// Set where a term is left that is not over global indices alone.
  bool hasRest = false;

  /// A form as a sum of global indices: constant, count, pairs of loop and factor. Loop -1 - i is scalar i. With
  /// `terms`, digits of a global index are such scalars.
  std::optional<llvm::SmallVector<int64_t, 6>> express(const IndexForm &form, TermTable *terms = nullptr);
  TermId convert(TermId id, TermTable &terms);
  /// `form` with data as scalars of converted terms; std::nullopt if a digit of them is left.
  std::optional<IndexForm> convertData(const IndexForm &form, TermTable &terms);
  /// The sum of an index, with data and with coordinates of manual computations.
  std::optional<llvm::SmallVector<int64_t, 6>> expressIndex(const IndexForm &form, TermTable &terms);
  /// The smallest and the largest value of a sum by what is assumed; std::nullopt if they are not known.
  std::optional<std::pair<int64_t, int64_t>> getRange(llvm::ArrayRef<int64_t> sum) const;

private:
  TermId convertOnce(TermId id, TermTable &terms);
  /// Takes digits of the global index of `loop` out of `rest`: (index / lo) mod size, times a factor.
  using SumFactors = llvm::SmallVector<std::pair<int64_t, int64_t>, 4>;
  void takeDigits(unsigned loop, IndexForm &rest, TermTable &terms, SumFactors &factors);
  /// Takes all of the global index of `loop` out of `rest`, times a factor. False if it is not a multiple.
  bool takeWhole(unsigned loop, IndexForm &rest, SumFactors &factors) const;
  /// A sum in which digits of loops, or of the rank as coordinates of a manual computation, may be scalars.
  std::optional<llvm::SmallVector<int64_t, 6>> expressAs(const IndexForm &form, TermTable *digits,
                                                         TermTable *coordinates);
  /// As `convert`, where the converted `condition` is `isTrue`: the indices of loops have smaller ranges there.
  TermId convertWhere(TermId condition, bool isTrue, TermId id, TermTable &terms);
  /// True if two terms are equal where `condition` holds: it may determine numbers of the program by indices of loops.
  bool areEqualWhere(TermId condition, TermId a, TermId b, TermTable &terms);
  /// A loop, or a scalar (-1 - its term), times `divisor` is the sum `by`.
  struct Equation {
    int64_t determined = 0, divisor = 1;
    llvm::SmallVector<int64_t, 6> by;
    llvm::SmallVector<int64_t, 6> apply(llvm::ArrayRef<int64_t> sum) const;
  };
  /// Writes a term with what an equation determines. False if it may not.
  bool apply(const Equation &equation, TermId &id, TermTable &terms, llvm::DenseMap<TermId, TermId> &memo) const;
  llvm::DenseMap<TermId, TermId> converted;
  /// Terms that were converted under other ranges.
  std::map<llvm::SmallVector<int64_t>, llvm::DenseMap<TermId, TermId>> convertedWhere;
};

} // namespace mlir::spmd::proof

#endif // SHARDKIT_PROOF_TERMS_H
