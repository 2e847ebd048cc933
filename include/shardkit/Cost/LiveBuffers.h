//===- LiveBuffers.h - What a device holds at a time -----------*- C++ -*--===//
//
// Ops are numbered in program order, one number where an op begins and one where
// it ends, with its body in between. A buffer is an interval of these numbers;
// the sum over all intervals has its peak somewhere.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_COST_LIVEBUFFERS_H
#define SHARDKIT_COST_LIVEBUFFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::spmd {

/// Bytes of a ranked tensor of static shape, 0 for any other type.
int64_t getBytes(Type type);

/// True for an op whose result is its operand, seen otherwise.
bool isView(Operation *op);

/// A buffer of a local program.
struct LiveBuffer {
  int64_t begin, end, bytes;
  Value value; // that it was made for; null for what a callee holds
  Operation *call = nullptr;
  int64_t nested = -1;    // the last op that reads it in its body
  int64_t lastWrite = -1; // by an op in place: a list of these
  bool writable = true;
};

/// What a caller has to know of a function.
struct HeldBytes {
  int64_t peak = 0, arguments = 0;
};

/// The buffers of a function in local view. A buffer is counted from the op that
/// makes it to its last use, arguments and constants throughout; an op in destination
/// style whose output buffer ends there, and is no argument or constant, writes in
/// place; views and casts share the buffer of what they look at (docs/reference/Report.md).
/// Linear in ops and uses.
class LiveBuffers {
public:
  LiveBuffers(func::FuncOp func, llvm::function_ref<HeldBytes(func::CallOp)> callee);

  /// First position with the most bytes; 0 in an empty function.
  int64_t findPeak(int64_t &bytes) const;

  Operation *getOp(int64_t position) const { return position < int64_t(ops.size()) ? ops[position] : nullptr; }
  ArrayRef<LiveBuffer> getBuffers() const { return buffers; }
  /// First and last position of an op.
  std::pair<int64_t, int64_t> getSpan(Operation *op) const { return positions.find(op)->second; }
  /// What a buffer holds at a position: the value that was written there last.
  Value getHeld(const LiveBuffer &buffer, int64_t position) const {
    Value held = buffer.value;
    for (int64_t w = buffer.lastWrite; w >= 0; w = writes[w].before)
      if (writes[w].position <= position) {
        held = writes[w].value;
        break;
      }
    return held;
  }

  int64_t argumentBytes = 0, dynamicValues = 0;

private:
  void number(Block &block);
  int64_t beginOf(Operation *op) const { return positions.find(op)->second.first; }
  int64_t endOf(Operation *op) const { return positions.find(op)->second.second; }
  /// Has a buffer end where the last op ends that uses one of its values, at the
  /// end of the function where that is in another block of it.
  void extend(LiveBuffer &buffer, Value value, int64_t least);
  /// A buffer of its own for a value from `begin` to its last use, to `least` at
  /// least; -1 for what is no tensor, or not static.
  int add(Value value, int64_t begin, int64_t least);
  /// Lets a value share the buffer of another, which has one or is undefined.
  void share(Value value, Value with, int64_t least);
  /// A result that is written into the buffer of `init` if that ends at the op.
  void write(Value result, Value init, Operation *op);
  /// What a body gets of a value that a loop carries: counted around the loop, and
  /// free to be written when the body is done with it.
  void carry(BlockArgument arg);
  void visit(Block &block);
  void visit(Operation *op);

  func::FuncOp func;
  llvm::function_ref<HeldBytes(func::CallOp)> callee;
  std::vector<Operation *> ops; // by position, each op twice
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> positions;
  int64_t end = 0;
  std::vector<LiveBuffer> buffers;
  struct Write {
    int64_t position;
    Value value;
    int64_t before;
  };
  std::vector<Write> writes;
  llvm::DenseMap<Value, int64_t> bufferOf;
};

/// The most bytes that a device holds at once in a function, and in what it calls.
int64_t getPeakBytes(func::FuncOp func);

} // namespace mlir::spmd

#endif // SHARDKIT_COST_LIVEBUFFERS_H
