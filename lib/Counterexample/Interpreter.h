//===- Interpreter.h - Runs a program on numbers ----------------*- C++ -*-===//
// Internal to the search for counterexamples.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_COUNTEREXAMPLE_INTERPRETER_H
#define SHARDKIT_LIB_COUNTEREXAMPLE_INTERPRETER_H

#include "Numbers.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <memory>
#include <random>

namespace mlir::spmd::example {

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

/// Runs a program on all devices, op by op. Floats are computed in double precision, whatever their type is. What
/// tensor.empty and paddings hold is drawn at random.
class Interpreter {
public:
  /// An unsharded program, or one of `numDevices`. `mesh` has the ranks of the devices; null if there is one device.
  Interpreter(Operation *module, const Mesh *mesh, unsigned seed);

  unsigned getNumDevices() const { return devices.size(); }
  /// Runs the ops of a block on these devices. False if an op is not one of those that are read: `why` says so.
  bool run(Block &block, ArrayRef<unsigned> on);
  void set(unsigned device, Value value, Tensor tensor) { devices[device][value] = std::move(tensor); }
  /// Null if the value was not computed.
  const Tensor *find(unsigned device, Value value) const;
  Column get(unsigned device, Value value) const;
  int64_t getInteger(unsigned device, OpFoldResult value) const;
  /// The rank of a device on a mesh; std::nullopt if the mesh does not have it.
  std::optional<int64_t> getRank(unsigned device, const Mesh &mesh) const;

  /// Numbers that no program may depend on.
  Numbers drawUndefined(Type type, size_t count);
  bool fail(const Twine &reason);
  /// Notes that what is computed is undefined. Only that of a single device fails.
  bool failUndefined(const Twine &reason);
  /// Counts computed numbers. False beyond those that may be.
  bool spend(int64_t count);

  std::string why;
  /// True if the program is undefined for these arguments.
  bool isUndefined = false;

private:
  using Results = SmallVector<Tensor, 1>;
  bool run(Operation &op, ArrayRef<unsigned> on);
  bool runFor(scf::ForOp op, ArrayRef<unsigned> on);
  bool runWhile(scf::WhileOp op, ArrayRef<unsigned> on);
  bool runIf(scf::IfOp op, ArrayRef<unsigned> on);
  bool runCall(Operation &op, ArrayRef<unsigned> on);
  bool runCollective(CollectiveOpInterface op, ArrayRef<unsigned> on);
  void copy(ValueRange from, ValueRange to, ArrayRef<unsigned> on);
  /// An integer that all devices have; std::nullopt if they differ.
  std::optional<int64_t> getCommon(Value value, ArrayRef<unsigned> on) const;

  // TensorOps.cpp
  /// What an op of one device gives.
  std::optional<Results> compute(Operation &op, unsigned device);
  std::optional<Tensor> computeConstant(Attribute value, Type type);
  std::optional<Tensor> computeTensor(Operation &op, unsigned device);
  std::optional<Tensor> computeSlice(tensor::ExtractSliceOp op, unsigned device);
  Tensor computeInsert(tensor::InsertSliceOp op, unsigned device);
  std::optional<Tensor> computePad(tensor::PadOp op, unsigned device);
  Tensor computeConcat(tensor::ConcatOp op, unsigned device);
  /// The value that a block yields at each index of a shape; its arguments are the indices.
  Column computeAtIndices(Block &block, ArrayRef<int64_t> shape, unsigned device);
  std::optional<Results> computeSort(SortOp op, unsigned device);

  Operation *module;
  MeshCache meshes;
  const Mesh *mesh;
  llvm::DenseMap<int64_t, unsigned> deviceOfId;
  std::vector<llvm::DenseMap<Value, Tensor>> devices;
  std::mt19937_64 random;
  int64_t left;
};

/// Runs a body in all iterations of parallel loops at once, on one device.
class LoopBody {
public:
  LoopBody(Interpreter &program, unsigned device) : program(program), device(device) {}
  void set(Value value, Column column) { scope[value] = std::move(column); }
  Column get(Value value) const;
  /// Runs all ops but the terminator.
  bool run(Block &block);
  /// The result of one op; null if it is not one of those that are read.
  Column runOp(Operation &op) { return run(op) ? get(op.getResult(0)) : nullptr; }
  /// The indices of loops.
  SmallVector<Column> loops;

private:
  bool run(Operation &op);
  bool runBranch(scf::IfOp op);
  bool runExtract(tensor::ExtractOp op);

  Interpreter &program;
  unsigned device;
  llvm::DenseMap<Value, Column> scope;
  Column active; ///< whether a branch is taken; null: in all iterations
};

/// The results of a structured op.
std::optional<SmallVector<Tensor, 1>> computeLoops(linalg::LinalgOp op, Interpreter &program, unsigned device);
/// An affine expression over columns.
Column evaluate(AffineExpr expr, ArrayRef<Column> dims, ArrayRef<Column> symbols);

} // namespace mlir::spmd::example

#endif // SHARDKIT_LIB_COUNTEREXAMPLE_INTERPRETER_H
