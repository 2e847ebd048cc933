//===- GlobalProgram.h - The values of the unsharded program ----*- C++ -*-===//
//
// Every tensor of the unsharded function has a class. Values that are computed in the
// same way, whatever the ops are called and wherever they stand, have the same class; a
// value that only rearranges another is read through to it. A local op finds the class
// of its result under the same key.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PROOF_GLOBALPROGRAM_H
#define SHARDKIT_PROOF_GLOBALPROGRAM_H

#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Proof/DeviceOrders.h"
#include "shardkit/Proof/Relation.h"
#include "shardkit/Proof/Structured.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <set>

namespace mlir::spmd::proof {

struct ClassInfo {
  RankedTensorType type;
  std::optional<Location> loc;
  /// The op that computes it; null for an argument.
  Operation *op = nullptr;
  /// All elements are this one. Such a class has no shape: `type` is null.
  Attribute splat;
  /// The elements of a constant that is none of equal ones.
  ElementsAttr constant;
  bool isUndefined = false;
  /// Sizes of the loops of the op.
  llvm::SmallVector<int64_t, 4> loopSizes;
  /// Dims along which all elements are equal.
  llvm::SmallVector<bool, 4> isUniform;
  /// The value is `source` read at `sums`, whose loops are the dims of this value.
  std::optional<ClassId> source;
  SumList sums;
  /// True if only the partitioned program has it (getDefined()).
  bool isOwn = false;
  /// The element as a term over the dims of the value, which is read through to what this one reads.
  std::optional<TermId> definition;
  /// The element as a term over the dims of the value, of an op without reductions. It is read through to what it
  /// computes only where values are unfolded.
  std::optional<TermId> body;
  /// The value is one tensor per coordinate along these ranks, in a manual computation.
  llvm::SmallVector<RankDigit, 2> varying;
  /// The first value of a chain of reshapes, possibly itself.
  ClassId root = 0;
};

/// A value whose element i is element `offset + step * i` of another, per dim; outside of it, `padding`.
struct ViewUser {
  ClassId value;
  llvm::SmallVector<IndexForm, 4> offsets; ///< a constant, and scalars
  llvm::SmallVector<int64_t, 4> steps;
  Attribute padding; ///< null: no element is outside
};

/// A value that a manual computation has of another: per dim the index in the global value by the coordinates along
/// manual axes and the index in the region.
struct ManualUser {
  ClassId value;
  llvm::SmallVector<IndexForm, 4> forms;
  bool isInside; ///< `value` is that of the region; otherwise it is the result
};

/// The loops around an op; std::nullopt if something else is, so that it may not run.
std::optional<unsigned> getLoopDepth(Operation *op);

/// A loop or branch. Terms stand for scalars, classes for tensors.
struct RegionInfo {
  Operation *op = nullptr;
  /// Bounds and step, or the condition.
  llvm::SmallVector<TermId, 3> scalars;
  std::optional<TermId> induction;
  /// Values that are carried: before the loop, in an iteration, after it, as the op's results. A branch has the values
  /// of its regions in `inits` and `yields`.
  llvm::SmallVector<std::optional<ClassId>> inits, arguments, yields, results;
  llvm::SmallVector<std::optional<TermId>> scalarInits, scalarArguments, scalarYields, scalarResults;
  /// For scf.while, the values that the condition forwards, and the arguments of its body.
  llvm::SmallVector<std::optional<ClassId>> forwarded, bodyArguments;
  llvm::SmallVector<std::optional<TermId>> scalarForwarded, scalarBodyArguments;
};

/// The elements that a sort keeps of each block: `kept` of every `block`, the first ones of the order or its last ones.
struct Candidates {
  SmallVector<ClassId> operands;
  unsigned result;
  int64_t block, kept;
  bool last;
  bool operator==(const Candidates &) const = default;
};

/// The tuples that each block keeps in a reduction that keeps one of many: blocks follow each other along dim 0.
struct BlockChoice {
  SmallVector<int64_t> op;        ///< all terms of the reduction, and its blocks
  SmallVector<int64_t> selection; ///< how it selects
  unsigned result;
  ClassId of; ///< the result for all tuples
  int64_t numBlocks;
  SmallVector<int> loops; ///< The loop of each dim of `of`, or -1.
  bool operator==(const BlockChoice &) const = default;
};

/// Terms of unfolded values (Unfolding.cpp).
struct Unfolding {
  bool isOn = false;
  int64_t left = 0;  ///< Terms that may be written for this value.
  int64_t total = 0; ///< Terms that were written for all.
  llvm::DenseMap<TermId, TermId> elements;
  llvm::DenseMap<ClassId, std::optional<TermId>> values;
  /// The values of the unsharded program by type and term, of those up to `numRead`.
  llvm::DenseMap<std::pair<Type, TermId>, SmallVector<ClassId, 1>> classes;
  size_t numRead = 0;
  /// The terms over the loops of one element that were written over these sums.
  const SumList *at = nullptr;
  llvm::DenseMap<TermId, TermId> substituted;
};

class GlobalProgram {
public:
  /// `meshes` are those of the unsharded program.
  GlobalProgram(TermTable &terms, const MeshCache *meshes = nullptr) : terms(terms), meshes(meshes) {}

  /// Adds the arguments and ops of a function.
  void add(func::FuncOp func);
  /// Adds the ops of a block; its arguments have classes already.
  void add(Block &block);

  std::optional<ClassId> getClass(Value value) const;
  TermId getScalar(Value value);
  const ClassInfo &operator[](ClassId id) const { return classes[id]; }
  size_t size() const { return classes.size(); }
  unsigned getNumOps() const { return numOps; }
  /// The orders of the devices of all meshes.
  DeviceOrders orders;

  ClassId getSplat(Attribute value);
  /// The class of a constant, which both programs may have.
  ClassId getConstant(ElementsAttr value);
  ClassId getUndefined();
  /// The element of a class at sums over loops: read through to the value that it rearranges.
  TermId getElement(ClassId id, const SumList &sums);
  /// The term of an element at indices that data give.
  TermId getLookup(ClassId id, ArrayRef<TermId> indices);
  /// True if the program reads or writes these indices of a dim, whatever it computes: it is undefined where they are
  /// not in [0, size).
  bool isInBounds(const Structured::Range &range, int64_t size) const;
  /// True if the program reads a dim of `size` at this index over loops of these sizes, whatever it computes.
  bool isRead(TermId index, int64_t size, llvm::function_ref<std::optional<int64_t>(int64_t)> getLoopSize) const;
  /// The ops of one name.
  ArrayRef<Operation *> getOps(OperationName name) const;
  /// Classes under a key.
  ArrayRef<ClassId> find(ArrayRef<int64_t> key) const;
  ArrayRef<RegionInfo> getRegions() const { return regions; }
  /// True if the program asserts a condition inside of as many loops, and under no other one.
  bool isAsserted(TermId condition, unsigned depth) const { return assertions.contains({condition, depth}); }
  ArrayRef<ViewUser> getViewUsers(ClassId id) const { return viewUsers[id]; }
  ArrayRef<ManualUser> getManualUsers(ClassId id) const { return manualUsers[id]; }
  /// The key of a collective of a value in a manual computation.
  SmallVector<int64_t> getCollectiveKey(ClassId id, CollectiveKind kind, std::optional<ReductionKind> reduction,
                                        const Layout &from, const Layout &to) const;
  /// The key of a sort of values of these classes, without the number of its result.
  std::optional<SmallVector<int64_t>> getSortKey(SortOp op, ArrayRef<ClassId> operands) const;
  /// The value of candidates, which the unsharded program does not have.
  ClassId getCandidates(const Candidates &candidates, RankedTensorType type);
  /// The candidates that a value is of; null if it is none.
  const Candidates *findCandidates(ClassId id) const;
  /// The value of a choice, which the unsharded program does not have.
  ClassId getBlockChoice(const BlockChoice &choice);
  /// The choice that a value, or what it is a reshape of, is of; null if it is none.
  const BlockChoice *findBlockChoice(ClassId id) const;
  /// Values that are reshapes of the same one, that one included.
  ArrayRef<ClassId> getReshapes(ClassId id) const { return reshapes[classes[id].root]; }
  /// A value of this type whose elements are those of a term over its dims, which the unsharded program does not have.
  ClassId getDefined(RankedTensorType type, TermId definition);
  /// The values of the unsharded program, at most a few, that are computed like `id`, which only the partitioned one
  /// has: by ops that are divided in another way, each of which computes element by element (Unfolding.cpp).
  ArrayRef<ClassId> findEqual(ClassId id);
  /// True if two values are computed like each other, element by element.
  bool areEqual(ClassId a, ClassId b);
  /// True if a value was added for the partitioned program.
  bool isAdded(ClassId id) const { return id >= numProgramClasses; }
  /// A reshape of a value, in row-major order.
  ClassId addReshape(ClassId source, RankedTensorType type, std::optional<Location> loc);
  /// A slice of `type` along one dim.
  ClassId addSlice(ClassId source, RankedTensorType type, unsigned dim, int64_t offset);
  /// The reshape of a value to one dim of all elements.
  ClassId getFlat(ClassId id);
  /// The class of a value that reads `source` at `sums`, if it is all of that but for dims of one element.
  std::optional<ClassId> getUnitReshape(ClassId source, const SumList &sums, RankedTensorType type,
                                        std::optional<Location> loc);

  /// The key of an op that is not taken apart, by the classes and terms of its operands; std::nullopt if it has
  /// effects, or if a value that it uses is unknown.
  std::optional<SmallVector<int64_t>> getOpaqueKey(Operation *op,
                                                   llvm::function_ref<std::optional<int64_t>(Value)> get);
  /// The key of result `r` of a structured op, by its converted terms and result sums.
  SmallVector<int64_t> getKey(const Structured &op, unsigned r, ArrayRef<TermId> terms, const SumList &result,
                              ArrayRef<bool> isUnit) const;
  /// The key of a concatenation, and its shape.
  std::optional<SmallVector<int64_t>> getConcatKey(ArrayRef<ClassId> inputs, unsigned dim,
                                                   SmallVectorImpl<int64_t> &shape);
  /// The fresh class of a value that no op computes.
  ClassId addOpaque(Value value);
  void setClass(Value value, ClassId id) { values[value] = id; }

private:
  /// The first number of a key.
  enum KeyTag : int64_t { StructuredKey, OpaqueKey, CollectiveKey, SortKey };

  // GlobalClasses.cpp
  ClassId create(ClassInfo info);
  /// A term over dims, at sums over other loops in place of these.
  TermId substitute(TermId id, const SumList &at);
  TermId substituteOnce(TermId id, const SumList &at);
  /// An element, without a look at what was unfolded before.
  TermId readElement(ClassId id, const SumList &sums);

  /// The ranks over which what a term reads varies.
  SmallVector<RankDigit, 2> getVarying(TermId id) const;

  // Unfolding.cpp
  /// The element over the dims of a value as a term that reads through all ops that compute element by element;
  /// std::nullopt if that is too long.
  std::optional<TermId> unfold(ClassId id);
  Unfolding unfolding;
  size_t numProgramClasses = ~size_t(0);
  SmallVector<int64_t, 6> compose(ArrayRef<int64_t> sum, const SumList &at);
  /// The index in the first value of a chain of reshapes, of which `id` divides dims. std::nullopt unless all but one
  /// of the indices of a divided dim are constants.
  std::optional<SumList> getRootSums(ClassId id, const SumList &sums) const;
  // GlobalStructured.cpp
  void addStructured(Operation *op, const Structured &structured);
  /// The term of an op over the dims of its result; std::nullopt if these are not loops of it.
  std::optional<TermId> getBody(TermId term, const SumList &result, unsigned numLoops);
  ScalarReader getScalars();
  // Sorts.cpp
  void addSort(SortOp op);
  void addManual(ManualComputationOp op); // ManualValues.cpp
  bool addCollective(CollectiveOpInterface op);

  TermTable &terms;
  const MeshCache *meshes;
  llvm::DenseSet<std::pair<TermId, unsigned>> assertions;
  /// The ranks of the manual axes around the ops that are added.
  llvm::SmallVector<RankDigit, 2> varying;
  std::vector<SmallVector<ManualUser, 1>> manualUsers;
  std::vector<ClassInfo> classes;
  std::vector<SmallVector<ViewUser, 1>> viewUsers;
  std::vector<SmallVector<ClassId, 1>> reshapes; // those of each root
  llvm::DenseMap<Value, ClassId> values;
  llvm::DenseMap<OperationName, SmallVector<Operation *, 4>> ops;
  std::set<SmallVector<int64_t>> ranges, reads;
  /// Adds an op. (GlobalProgram.cpp)
  void add(Operation &op);
  llvm::DenseMap<Attribute, ClassId> splats, constants;
  llvm::DenseMap<std::pair<Type, TermId>, ClassId> defined;
  std::map<ClassId, Candidates> candidates;
  std::map<ClassId, BlockChoice> choices;
  std::optional<ClassId> undefined;
  void addRegionOp(Operation &op);
  TermId createScalar(Type type);
  std::optional<IndexForm> getCoordinate(Operation *op) const;
  std::optional<IndexForm> getIndexForm(Value value);
  std::vector<RegionInfo> regions;
  KeyedTable<SmallVector<ClassId, 1>> keys;
  std::unique_ptr<BodyReader> reader;
  unsigned numOps = 0, numScalars = 0;
};

/// True if a value has no elements: any statement on them holds.
bool hasNoElements(Type type);
/// The first value of a result that no iteration writes to; null if there are iterations.
Value getUnwritten(OpResult result);
/// The annotation that `op` is: its result is its operand.
std::optional<Value> getAnnotated(Operation *op);
/// The elements of a constant tensor; null if `op` is none.
ElementsAttr getElements(Operation *op);
/// True if the op is a row-major reshape of its first operand, of static sizes.
bool isReshape(Operation *op);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_PROOF_GLOBALPROGRAM_H
