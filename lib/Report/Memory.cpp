//===- Memory.cpp - What a device holds at once ---------------------------===//

#include "shardkit/Report/Memory.h"
#include "KnownSizes.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"

#include "shardkit/Cost/LiveBuffers.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

class ModuleMemory {
public:
  ModuleMemory(ModuleOp module, const PartitionedValues &values, const KnownSizes &sizes, unsigned top)
      : values(values), sizes(sizes), top(top) {
    for (auto func : module.getOps<func::FuncOp>())
      functions[func.getName()] = func;
  }

  HeldBytes compute(func::FuncOp func, FunctionMemory *memory = nullptr) {
    // Recursive functions are rejected before.
    auto [it, isNew] = known.try_emplace(func, HeldBytes{});
    if (!isNew && !memory)
      return it->second;
    LiveBuffers buffers(func, [&](func::CallOp call) {
      func::FuncOp callee = functions.lookup(call.getCallee());
      return callee && !callee.isExternal() ? compute(callee) : HeldBytes{};
    });
    HeldBytes held;
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
    std::vector<const LiveBuffer *> live;
    for (const LiveBuffer &buffer : buffers.getBuffers())
      if (buffer.begin <= peak && peak <= buffer.end && buffer.bytes > 0)
        live.push_back(&buffer);
    SmallVector<Value> atPeak;
    for (const LiveBuffer *buffer : live)
      if (buffer->value) // What a callee holds has no sizes.
        atPeak.push_back(buffer->value);
    memory->formula = sizes.getFormula(func, atPeak);
    llvm::stable_sort(live, [](auto *a, auto *b) { return a->bytes > b->bytes; });
    for (const LiveBuffer *buffer : ArrayRef(live).take_front(top)) {
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
  const KnownSizes &sizes;
  unsigned top;
  llvm::DenseMap<StringRef, func::FuncOp> functions;
  llvm::DenseMap<func::FuncOp, HeldBytes> known;
};

} // namespace

std::vector<FunctionMemory> spmd::computeMemory(ModuleOp module, const PartitionedValues &values,
                                                const KnownSizes &sizes, unsigned top) {
  ModuleMemory memory(module, values, sizes, top);
  std::vector<FunctionMemory> result;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || func.isPrivate())
      continue;
    FunctionMemory entry{func.getName().str(), 0, 0, "", "", func.getLoc(), {}, 0, ""};
    memory.compute(func, &entry);
    result.push_back(std::move(entry));
  }
  return result;
}
