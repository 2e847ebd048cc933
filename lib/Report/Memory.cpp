//===- Memory.cpp - What a device holds at once ---------------------------===//
//
// Ops are numbered in program order, one number where an op begins and one where
// it ends, with its body in between. A buffer is an interval of these numbers;
// the sum over all intervals has its peak somewhere.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Report/Memory.h"

#include "shardkit/Rules/ControlFlow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

struct Buffer {
  int64_t begin, end, bytes;
  Value value; // that it was made for; null for what a callee holds
  Operation *call = nullptr;
  int64_t nested = -1;    // the last op that reads it in its body
  int64_t lastWrite = -1; // by an op in place: a list of these
  bool writable = true;
};

/// What a caller has to know of a function.
struct Held {
  int64_t peak = 0, arguments = 0;
};

class FunctionBuffers {
public:
  FunctionBuffers(func::FuncOp func, llvm::function_ref<Held(func::CallOp)> callee)
      : func(func), callee(callee) {
    for (Block &block : func.getBody())
      number(block);
    end = ops.size();
    for (BlockArgument arg : func.getArguments())
      if (int i = add(arg, 0, end); i >= 0) {
        buffers[i].writable = false;
        argumentBytes += buffers[i].bytes;
      }
    for (Block &block : func.getBody()) {
      for (BlockArgument arg : block.getArguments())
        if (!block.isEntryBlock()) // a branch may hand it on at any time
          add(arg, 0, end);
      visit(block);
    }
  }

  /// First position with the most bytes; 0 in an empty function.
  int64_t findPeak(int64_t &bytes) {
    std::vector<int64_t> change(end + 2);
    for (const Buffer &buffer : buffers) {
      change[buffer.begin] += buffer.bytes;
      change[buffer.end + 1] -= buffer.bytes;
    }
    int64_t peak = 0, now = 0;
    bytes = 0;
    for (int64_t i = 0; i <= end; ++i)
      if ((now += change[i]) > bytes) {
        bytes = now;
        peak = i;
      }
    return peak;
  }

  Operation *getOp(int64_t position) const {
    return position < int64_t(ops.size()) ? ops[position] : nullptr;
  }
  ArrayRef<Buffer> getBuffers() const { return buffers; }
  /// What a buffer holds at a position: the value that was written there last.
  Value getHeld(const Buffer &buffer, int64_t position) const {
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
  void number(Block &block) {
    for (Operation &op : block) {
      int64_t begin = ops.size();
      ops.push_back(&op);
      if (hasBodies(&op))
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            number(inner);
      positions[&op] = {begin, int64_t(ops.size())};
      ops.push_back(&op);
    }
  }

  /// Bodies of other ops compute elements, or are run as they are.
  static bool hasBodies(Operation *op) { return isControlFlow(op) || isa<scf::InParallelOp>(op); }

  int64_t beginOf(Operation *op) const { return positions.find(op)->second.first; }
  int64_t endOf(Operation *op) const { return positions.find(op)->second.second; }

  /// Has a buffer end where the last op ends that uses one of its values, at the
  /// end of the function where that is in another block of it.
  void extend(Buffer &buffer, Value value, int64_t least) {
    buffer.end = std::max(buffer.end, least);
    for (Operation *user : value.getUsers()) {
      Operation *here = value.getParentBlock()->findAncestorOpInBlock(*user);
      if (!here) {
        buffer.begin = 0; // a branch back may come before
        buffer.end = end;
        continue;
      }
      buffer.end = std::max(buffer.end, endOf(here));
      if (here != user)
        buffer.nested = std::max(buffer.nested, endOf(here));
    }
  }

  /// A buffer of its own for a value from `begin` to its last use, to `least` at
  /// least; -1 for what is no tensor, or not static.
  int add(Value value, int64_t begin, int64_t least) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return -1;
    if (!type.hasStaticShape()) {
      ++dynamicValues;
      return -1;
    }
    bufferOf[value] = buffers.size();
    buffers.push_back({begin, least, getBytes(type), value});
    extend(buffers.back(), value, least);
    return buffers.size() - 1;
  }

  /// Lets a value share the buffer of another, which has one or is undefined.
  void share(Value value, Value with, int64_t least) {
    auto it = bufferOf.find(with);
    if (it == bufferOf.end())
      return;
    int64_t i = it->second;
    bufferOf[value] = i;
    extend(buffers[i], value, least);
  }

  /// A result that is written into the buffer of `init` if that ends at the op.
  void write(Value result, Value init, Operation *op) {
    auto it = bufferOf.find(init);
    if (it != bufferOf.end()) {
      const Buffer &buffer = buffers[it->second];
      unsigned reads = llvm::count_if(op->getOperands(), [&](Value operand) {
        auto other = bufferOf.find(operand);
        return other != bufferOf.end() && other->second == it->second;
      });
      if (buffer.writable && buffer.end == endOf(op) && buffer.nested != endOf(op) && reads == 1) {
        int64_t i = it->second;
        writes.push_back({beginOf(op), result, buffers[i].lastWrite});
        buffers[i].lastWrite = writes.size() - 1;
        return share(result, init, endOf(op));
      }
    }
    add(result, beginOf(op), endOf(op));
  }

  /// What a body gets of a value that a loop carries: counted around the loop, and
  /// free to be written when the body is done with it.
  void carry(BlockArgument arg) {
    if (!arg || !isa<RankedTensorType>(arg.getType()))
      return;
    bufferOf[arg] = buffers.size();
    int64_t begin = beginOf(arg.getOwner()->getParentOp());
    buffers.push_back({begin, begin, 0, arg});
    extend(buffers.back(), arg, begin);
  }

  void visit(Block &block) {
    for (Operation &op : block)
      visit(&op);
  }

  void visit(Operation *op) {
    auto addResults = [&](int64_t begin) {
      for (Value result : op->getResults())
        add(result, begin, endOf(op));
    };
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      addResults(beginOf(op));
      for (auto [arg, init] : llvm::zip(loop.getBeforeArguments(), loop.getInits())) {
        write(arg, init, op);
        carry(arg);
      }
      for (BlockArgument arg : loop.getAfterArguments())
        carry(arg);
    } else if (auto loop = dyn_cast<LoopLikeOpInterface>(op); loop && hasBodies(op)) {
      for (OpOperand &init : loop.getInitsMutable())
        if (OpResult result = loop.getTiedLoopResult(&init)) {
          write(result, init.get(), op);
          carry(loop.getTiedLoopRegionIterArg(&init));
        }
    } else if (hasBodies(op)) {
      addResults(endOf(op)); // takes over what a branch yields
    } else if (isa<tensor::EmptyOp>(op) || isSplat(op)) {
      return; // nothing is kept before an op writes there
    } else if (isa<arith::ConstantOp, tosa::ConstOp>(op)) {
      for (Value result : op->getResults())
        if (int i = add(result, 0, end); i >= 0)
          buffers[i].writable = false;
      return;
    } else if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
                   tensor::ReshapeOp, tosa::ReshapeOp>(op)) {
      return share(op->getResult(0), op->getOperand(0), endOf(op));
    } else if (auto start = dyn_cast<StartOp>(op)) {
      addResults(beginOf(op));
      // What is read while it runs is kept until it is done.
      for (Operation &member : start.getBody().front().without_terminator())
        if (auto it = bufferOf.find(member.getOperand(0)); it != bufferOf.end())
          buffers[it->second].end = std::max(buffers[it->second].end, endOf(start.getDone()));
      return;
    } else if (isa<DoneOp>(op)) {
      for (auto [result, begun] : llvm::zip(op->getResults(), op->getOperands()))
        share(result, begun, endOf(op));
      return;
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      Held held = callee(call);
      buffers.push_back({beginOf(op), beginOf(op), held.peak - held.arguments, Value(), op});
      return addResults(endOf(op));
    } else if (auto style = dyn_cast<DestinationStyleOpInterface>(op);
               style && style.hasPureTensorSemantics()) {
      for (OpResult result : op->getResults())
        if (OpOperand *init = style.getTiedOpOperand(result))
          write(result, init->get(), op);
      return;
    } else {
      return addResults(beginOf(op));
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        visit(block);
  }

  static bool isSplat(Operation *op) {
    DenseElementsAttr elements;
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    else if (auto constant = dyn_cast<tosa::ConstOp>(op))
      elements = dyn_cast<DenseElementsAttr>(constant.getValues());
    return elements && elements.isSplat();
  }

  func::FuncOp func;
  llvm::function_ref<Held(func::CallOp)> callee;
  std::vector<Operation *> ops; // by position, each op twice
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> positions;
  int64_t end = 0;
  std::vector<Buffer> buffers;
  struct Write {
    int64_t position;
    Value value;
    int64_t before;
  };
  std::vector<Write> writes;
  llvm::DenseMap<Value, int64_t> bufferOf;
};

class ModuleMemory {
public:
  ModuleMemory(ModuleOp module, const PartitionedValues &values, unsigned top)
      : values(values), top(top) {
    for (auto func : module.getOps<func::FuncOp>())
      functions[func.getName()] = func;
  }

  Held compute(func::FuncOp func, FunctionMemory *memory = nullptr) {
    // A function that calls itself holds nothing more there: it is refused before.
    auto [it, isNew] = known.try_emplace(func, Held{});
    if (!isNew && !memory)
      return it->second;
    FunctionBuffers buffers(func, [&](func::CallOp call) {
      func::FuncOp callee = functions.lookup(call.getCallee());
      return callee && !callee.isExternal() ? compute(callee) : Held{};
    });
    Held held;
    int64_t peak = buffers.findPeak(held.peak);
    held.arguments = buffers.argumentBytes;
    known[func] = held;
    if (!memory)
      return held;
    memory->peakBytes = held.peak;
    memory->argumentBytes = held.arguments;
    memory->dynamicValues = buffers.dynamicValues;
    if (Operation *op = buffers.getOp(peak)) {
      memory->location = op->getLoc();
      memory->at = getLocationText(op->getLoc());
      memory->op = op->getName().getStringRef();
    }
    std::vector<const Buffer *> live;
    for (const Buffer &buffer : buffers.getBuffers())
      if (buffer.begin <= peak && peak <= buffer.end && buffer.bytes > 0)
        live.push_back(&buffer);
    llvm::stable_sort(live, [](auto *a, auto *b) { return a->bytes > b->bytes; });
    for (const Buffer *buffer : ArrayRef(live).take_front(top)) {
      HeldValue held;
      if (buffer->value) {
        static_cast<DescribedValue &>(held) = values.describe(buffers.getHeld(*buffer, peak));
      } else {
        held.name = "inside @" + cast<func::CallOp>(buffer->call).getCallee().str();
        held.loc = getLocationText(buffer->call->getLoc());
      }
      held.bytes = buffer->bytes;
      memory->largest.push_back(std::move(held));
    }
    return held;
  }

private:
  const PartitionedValues &values;
  unsigned top;
  llvm::DenseMap<StringRef, func::FuncOp> functions;
  llvm::DenseMap<func::FuncOp, Held> known;
};

} // namespace

std::vector<FunctionMemory> spmd::computeMemory(ModuleOp module, const PartitionedValues &values,
                                                unsigned top) {
  ModuleMemory memory(module, values, top);
  std::vector<FunctionMemory> result;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || func.isPrivate())
      continue;
    FunctionMemory own{func.getName().str(), 0, 0, "", "", func.getLoc(), {}, 0};
    memory.compute(func, &own);
    result.push_back(std::move(own));
  }
  return result;
}
