//===- Interpreter.h - Runs a program on numbers ----------------*- C++ -*-===//
// Internal to the enumeration of elements.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_ENUMERATION_INTERPRETER_H
#define SHARDKIT_LIB_ENUMERATION_INTERPRETER_H

#include "Domain.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Layout/Layout.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <memory>

namespace mlir::spmd::enumeration {

using Column = std::shared_ptr<const Numbers>;
using Index = SmallVector<int64_t, 4>;

/// A tensor, or a scalar, which has no dims.
struct Tensor {
  Index shape;
  Column numbers;
};

/// Calls `visit` with each index of a shape, in row-major order.
void forEachIndex(ArrayRef<int64_t> shape, llvm::function_ref<void(ArrayRef<int64_t>)> visit);
int64_t getFlatIndex(ArrayRef<int64_t> index, ArrayRef<int64_t> shape);

/// Runs a program on all devices, op by op.
class Interpreter {
public:
  /// `mesh` has the ranks of the devices; null if there is one device. `maxNumbers` may be computed.
  Interpreter(Operation *module, const Mesh *mesh, bool isUnsharded, Domain &domain, int64_t maxNumbers);

  unsigned getNumDevices() const { return devices.size(); }
  /// Runs the ops of a block on these devices. False if an op is not one of those that are read: `why` says so.
  bool run(Block &block, ArrayRef<unsigned> on);
  void set(unsigned device, Value value, Tensor tensor) { devices[device][value] = std::move(tensor); }
  /// Null if the value was not computed.
  const Tensor *find(unsigned device, Value value) const;
  Column get(unsigned device, Value value) const;
  /// Fails if the integer is not known.
  int64_t getInteger(unsigned device, OpFoldResult value);
  Number getScalar(unsigned device, OpFoldResult value) const;
  /// The rank of a device on a mesh; std::nullopt if the mesh does not have it.
  std::optional<int64_t> getRank(unsigned device, const Mesh &mesh) const;

  std::optional<int64_t> getCoordinate(DeviceCoordinateOp op, unsigned device) const;

  Numbers getUndefined(Type type, size_t count);
  Column getIndexColumn(int64_t index);
  bool fail(const Twine &reason);
  /// Notes that what is computed is undefined: true if the program goes on.
  bool failUndefined(const Twine &reason);
  /// Counts computed numbers. False beyond those that may be.
  bool spend(int64_t count);
  int64_t getNumComputed() const { return maxNumbers - left; }
  /// Notes that a scalar is computed that some operands make undefined.
  bool addTrap(Number scalar, bool isCertain);
  /// Notes that the program is undefined where an index is not in [min, max].
  bool addBounds(Number index, int64_t min, int64_t max);

  Domain &domain;
  std::string why;
  /// Notes that the program is not defined for these arguments, whatever it goes on with.
  bool failAlways(const Twine &reason);
  /// True if the program is undefined for these arguments.
  bool isUndefined = false;
  /// The integer that is not known, if it is why the program is not run.
  std::optional<Number> open;

private:
  using Results = SmallVector<Tensor, 1>;
  bool run(Operation &op, ArrayRef<unsigned> on);
  bool runFor(scf::ForOp op, ArrayRef<unsigned> on);
  bool runWhile(scf::WhileOp op, ArrayRef<unsigned> on);
  bool runIf(scf::IfOp op, ArrayRef<unsigned> on);
  /// Runs both regions, and selects by a condition that is not known.
  bool runBothSides(scf::IfOp op, ArrayRef<unsigned> on);
  bool runCall(Operation &op, ArrayRef<unsigned> on);
  bool runCollective(CollectiveOpInterface op, ArrayRef<unsigned> on);
  /// Each device has the part of its coordinates along the manual axes.
  bool runManual(ManualComputationOp op, ArrayRef<unsigned> on);
  std::optional<Layout> readManualLayout(ManualComputationOp op, ShardingAttr attr, Type global);
  void copy(ValueRange from, ValueRange to, ArrayRef<unsigned> on);
  /// An integer that all devices have; std::nullopt if they differ.
  std::optional<int64_t> getCommon(Value value, ArrayRef<unsigned> on);

  // TensorOps.cpp
  /// The shape of the result of an op; std::nullopt if it is not known.
  std::optional<Index> getResultShape(Operation &op, unsigned device);
  /// What an op of one device gives.
  std::optional<Results> compute(Operation &op, unsigned device);
  std::optional<Tensor> computeConstant(Attribute value, Type type);
  std::optional<Tensor> computeTensor(Operation &op, unsigned device);
  std::optional<Tensor> computeSlice(tensor::ExtractSliceOp op, ArrayRef<int64_t> shape, unsigned device);
  std::optional<Tensor> computeInsert(tensor::InsertSliceOp op, unsigned device);
  std::optional<Tensor> computePad(tensor::PadOp op, ArrayRef<int64_t> shape, unsigned device);
  Tensor computeConcat(tensor::ConcatOp op, ArrayRef<int64_t> shape, unsigned device);
  /// The value that a block yields at each index of a shape; its arguments are the indices.
  Column computeAtIndices(Block &block, ArrayRef<int64_t> shape, unsigned device);
  std::optional<Results> computeSort(SortOp op, unsigned device);

  Operation *module;
  MeshCache meshes;
  const Mesh *mesh;
  std::vector<llvm::DenseMap<Value, Tensor>> devices;
  bool isUnsharded;
  unsigned numOpenBranches = 0; ///< those around an op whose condition is not known
  int64_t maxNumbers, left;
};

/// Runs a body in all iterations of parallel loops at once, on one device.
class LoopBody {
public:
  LoopBody(Interpreter &program, unsigned device) : program(program), domain(program.domain), device(device) {}
  void set(Value value, Column column) { scope[value] = std::move(column); }
  Column get(Value value) const;
  /// Runs all ops but the terminator.
  bool run(Block &block);
  /// The result of one op; null if it is not one of those that are read.
  Column runOp(Operation &op) { return run(op) ? get(op.getResult(0)) : nullptr; }
  /// The element of a tensor at indices, in iteration `i`.
  std::optional<Number> readElement(const Tensor &tensor, ArrayRef<Column> indices, size_t i);
  /// The indices of loops, as integers.
  SmallVector<Column> loops;

private:
  bool run(Operation &op);
  bool runBranch(scf::IfOp op);
  bool areIntegers(ArrayRef<Column> columns);
  bool runAffine(Operation &op, ArrayRef<Column> operands);
  bool runExtract(tensor::ExtractOp op);
  /// Whether an iteration takes the branches around an op.
  enum Taken : int64_t { No, Yes, Maybe };
  Taken isTaken(size_t i) const { return active ? Taken((*active)[i].integer) : Yes; }

  Interpreter &program;
  Domain &domain;
  unsigned device;
  llvm::DenseMap<Value, Column> scope;
  Column active; ///< of each iteration; null: all take them
};

/// The results of a structured op.
std::optional<SmallVector<Tensor, 1>> computeLoops(linalg::LinalgOp op, Interpreter &program, unsigned device);
/// An affine expression over columns of integers.
Column evaluate(AffineExpr expr, ArrayRef<Column> dims, ArrayRef<Column> symbols);

} // namespace mlir::spmd::enumeration

#endif // SHARDKIT_LIB_ENUMERATION_INTERPRETER_H
