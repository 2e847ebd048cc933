//===- LiveBuffers.cpp - Live ranges of buffers ---------------------------===//

#include "shardkit/Cost/LiveBuffers.h"

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/GroupRegions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::spmd;

int64_t spmd::getBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() ? tensor.getNumElements() * getElementBytes(tensor.getElementType()) : 0;
}

bool spmd::isView(Operation *op) { return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op); }

/// Bodies of other ops compute elements, or are run as they are.
static bool hasBodies(Operation *op) { return isControlFlow(op) || isa<scf::InParallelOp>(op); }

static bool isSplat(Operation *op) {
  DenseElementsAttr elements;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  else if (auto constant = dyn_cast<tosa::ConstOp>(op))
    elements = dyn_cast<DenseElementsAttr>(constant.getValues());
  return elements && elements.isSplat();
}

LiveBuffers::LiveBuffers(ArrayRef<func::FuncOp> funcs, llvm::function_ref<HeldBytes(func::CallOp)> callee,
                         GetResident getResident)
    : callee(callee) {
  for (func::FuncOp func : funcs) {
    if (func != funcs.front())
      ops.push_back(nullptr); // the end of the one before
    add(func);
  }
  if (getResident && funcs.size() > 1)
    keepResident(getResident);
}

void LiveBuffers::keepResident(GetResident getResident) {
  llvm::DenseSet<int64_t> seen;
  for (LiveBuffer &buffer : buffers) {
    auto argument = dyn_cast_or_null<BlockArgument>(buffer.value);
    std::optional<int64_t> resident = argument ? getResident(argument) : std::nullopt;
    if (!resident)
      continue;
    buffer.begin = 0, buffer.end = end;
    if (!seen.insert(*resident).second)
      buffer.bytes = 0; // the first one stands for it
  }
}

void LiveBuffers::add(func::FuncOp func) {
  first = ops.size();
  for (Block &block : func.getBody())
    number(block);
  end = ops.size();
  for (BlockArgument arg : func.getArguments())
    if (int i = add(arg, first, end); i >= 0) {
      buffers[i].writable = false;
      argumentBytes += buffers[i].bytes;
    }
  for (Block &block : func.getBody()) {
    for (BlockArgument arg : block.getArguments())
      if (!block.isEntryBlock()) // a branch may forward it at any time
        add(arg, first, end);
    visit(block);
  }
}

int64_t LiveBuffers::findPeak(int64_t &bytes) const {
  std::vector<int64_t> change(end + 2);
  for (const LiveBuffer &buffer : buffers) {
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

void LiveBuffers::number(Block &block) {
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

void LiveBuffers::extend(LiveBuffer &buffer, Value value, int64_t minEnd) {
  buffer.end = std::max(buffer.end, minEnd);
  for (Operation *user : value.getUsers()) {
    Operation *here = value.getParentBlock()->findAncestorOpInBlock(*user);
    if (!here) {
      buffer.begin = first; // a branch back may come before
      buffer.end = end;
      continue;
    }
    buffer.end = std::max(buffer.end, endOf(here));
    if (here != user)
      buffer.nested = std::max(buffer.nested, endOf(here));
  }
}

int LiveBuffers::add(Value value, int64_t begin, int64_t minEnd) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return -1;
  if (!type.hasStaticShape()) {
    ++dynamicValues;
    return -1;
  }
  bufferOf[value] = buffers.size();
  buffers.push_back({begin, minEnd, getBytes(type) / getGroupsInTurn(value, type), value});
  extend(buffers.back(), value, minEnd);
  return buffers.size() - 1;
}

void LiveBuffers::share(Value value, Value with, int64_t minEnd) {
  auto it = bufferOf.find(with);
  if (it == bufferOf.end())
    return;
  int64_t i = it->second;
  bufferOf[value] = i;
  extend(buffers[i], value, minEnd);
}

void LiveBuffers::write(Value result, Value init, Operation *op) {
  auto it = bufferOf.find(init);
  if (it != bufferOf.end()) {
    const LiveBuffer &buffer = buffers[it->second];
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

void LiveBuffers::carry(BlockArgument arg) {
  if (!arg || !isa<RankedTensorType>(arg.getType()))
    return;
  bufferOf[arg] = buffers.size();
  int64_t begin = beginOf(arg.getOwner()->getParentOp());
  buffers.push_back({begin, begin, 0, arg});
  extend(buffers.back(), arg, begin);
}

void LiveBuffers::visit(Block &block) {
  for (Operation &op : block)
    visit(&op);
}

void LiveBuffers::visit(Operation *op) {
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
    return; // not live before an op writes to it
  } else if (isa<arith::ConstantOp, tosa::ConstOp>(op)) {
    for (Value result : op->getResults())
      if (int i = add(result, first, end); i >= 0)
        buffers[i].writable = false;
    return;
  } else if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp, tensor::ReshapeOp, tosa::ReshapeOp,
                 WithShardingConstraintOp, PropagationBarrierOp>(op)) {
    return share(op->getResult(0), op->getOperand(0), endOf(op));
  } else if (auto start = dyn_cast<StartOp>(op)) {
    addResults(beginOf(op));
    // Operands are live until the collective is done.
    for (Operation &member : start.getBody().front().without_terminator())
      if (auto it = bufferOf.find(member.getOperand(0)); it != bufferOf.end())
        buffers[it->second].end = std::max(buffers[it->second].end, endOf(start.getDone()));
    return;
  } else if (isa<DoneOp>(op)) {
    for (auto [result, begun] : llvm::zip(op->getResults(), op->getOperands()))
      share(result, begun, endOf(op));
    return;
  } else if (auto call = dyn_cast<func::CallOp>(op)) {
    HeldBytes held = callee(call);
    buffers.push_back({beginOf(op), beginOf(op), held.peak - held.arguments, Value(), op});
    return addResults(endOf(op));
  } else if (auto style = dyn_cast<DestinationStyleOpInterface>(op); style && style.hasPureTensorSemantics()) {
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

//===----------------------------------------------------------------------===//
// Functions and their callees
//===----------------------------------------------------------------------===//

static HeldBytes getHeldBytes(func::FuncOp func, llvm::DenseMap<Operation *, HeldBytes> &known) {
  // A function that calls itself holds nothing more there: it is refused before.
  auto [it, isNew] = known.try_emplace(func, HeldBytes{});
  if (!isNew)
    return it->second;
  LiveBuffers buffers(func, [&](func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    return callee && !callee.isExternal() ? getHeldBytes(callee, known) : HeldBytes{};
  });
  HeldBytes held;
  buffers.findPeak(held.peak);
  held.arguments = buffers.argumentBytes;
  return known[func] = held;
}

int64_t spmd::getPeakBytes(func::FuncOp func) {
  llvm::DenseMap<Operation *, HeldBytes> known;
  return getHeldBytes(func, known).peak;
}
