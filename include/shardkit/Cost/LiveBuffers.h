//===- LiveBuffers.h - Live ranges of buffers -------------------*- C++ -*-===//
//
// Positions number the ops in program order: one for the begin of an op and one for its end,
// with its body in between. A buffer is live over an interval of positions.
//
//   position 0 1   %a = fill          buffer of %a: [0, 5]
//            2 3   %b = matmul(%a)    buffer of %b: [2, 7]
//            4 5   %c = add(%a, %b)   buffer of %c: [4, 7], peak at 4: all three
//            6 7   return %b, %c
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_COST_LIVEBUFFERS_H
#define SHARDKIT_COST_LIVEBUFFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::spmd {

/// Bytes of a ranked tensor of static shape, 0 for any other type.
int64_t getBytes(Type type);

/// True for an op whose result is a view of its operand.
bool isView(Operation *op);

/// A buffer of a local program.
struct LiveBuffer {
  int64_t begin, end, bytes;
  Value value; // its first value; null for the buffers of a callee
  Operation *call = nullptr;
  int64_t nested = -1;    // end of the last op that reads it in its body
  int64_t lastWrite = -1; // index of the last write in place, which links to the one before
  bool writable = true;
};

/// The bytes of a function, as its callers count them.
struct HeldBytes {
  int64_t peak = 0, arguments = 0;
};

/// The buffers of a function in local view. A buffer is live from its definition to its last
/// use, arguments and constants throughout. An op in destination style writes in place if the
/// buffer of its output ends there and is not an argument or a constant. Views and casts share
/// the buffer of their operand (docs/reference/Report.md). Of groups that are computed in turn (`spmd.groups`) one is
/// in memory.
/// Linear in ops and uses.
class LiveBuffers {
public:
  LiveBuffers(func::FuncOp func, llvm::function_ref<HeldBytes(func::CallOp)> callee)
      : LiveBuffers(ArrayRef<func::FuncOp>(func), callee) {}
  /// A number for arguments that stay in memory between calls, the same for one value of several functions.
  using GetResident = llvm::function_ref<std::optional<int64_t>(BlockArgument)>;
  /// The buffers of functions that run one after the other, the positions of each after those of
  /// the one before. What a function has is not held by the others, but for one buffer of each resident argument.
  LiveBuffers(ArrayRef<func::FuncOp> funcs, llvm::function_ref<HeldBytes(func::CallOp)> callee,
              GetResident getResident = nullptr);

  /// The first position of the peak, and its bytes; 0 in an empty function.
  int64_t findPeak(int64_t &bytes) const;

  Operation *getOp(int64_t position) const { return position < int64_t(ops.size()) ? ops[position] : nullptr; }
  ArrayRef<LiveBuffer> getBuffers() const { return buffers; }
  /// First and last position of an op.
  std::pair<int64_t, int64_t> getSpan(Operation *op) const { return positions.find(op)->second; }
  /// The value in a buffer at a position: the one of the last write before it.
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
  void add(func::FuncOp func);
  void keepResident(GetResident getResident);
  void number(Block &block);
  int64_t beginOf(Operation *op) const { return positions.find(op)->second.first; }
  int64_t endOf(Operation *op) const { return positions.find(op)->second.second; }
  /// Extends a buffer to the last use of one of its values, to the end of the function if that
  /// is in another block of it.
  void extend(LiveBuffer &buffer, Value value, int64_t minEnd);
  /// Adds a buffer for a value from `begin` to its last use, at least to `minEnd`; -1 if the
  /// value is not a tensor of static shape.
  int add(Value value, int64_t begin, int64_t minEnd);
  /// Lets a value share the buffer of another one, if that has any.
  void share(Value value, Value with, int64_t minEnd);
  /// Adds a result, which is written into the buffer of `init` if that ends at the op.
  void write(Value result, Value init, Operation *op);
  /// Adds an iteration argument: its bytes count outside of the loop, and it is writable after
  /// its last use in the body.
  void carry(BlockArgument arg);
  void visit(Block &block);
  void visit(Operation *op);

  llvm::function_ref<HeldBytes(func::CallOp)> callee;
  std::vector<Operation *> ops; // by position, each op twice; null between functions
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> positions;
  int64_t first = 0, end = 0; // positions where the visited function begins and ends
  std::vector<LiveBuffer> buffers;
  struct Write {
    int64_t position;
    Value value;
    int64_t before;
  };
  std::vector<Write> writes;
  llvm::DenseMap<Value, int64_t> bufferOf;
};

/// The peak bytes of a device in a function, including its callees.
int64_t getPeakBytes(func::FuncOp func);

} // namespace mlir::spmd

#endif // SHARDKIT_COST_LIVEBUFFERS_H
