//===- KernelModule.cpp - The kernels of a module -------------------------===//

#include "KernelModule.h"
#include "shardkit/Target/Common/OutlinedValues.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::spmd::cuda;

Value spmd::cuda::getThread(OpBuilder &b, Location loc) { return gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x); }

Value spmd::cuda::getGlobalThread(OpBuilder &b, Location loc, int64_t threads) {
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value first = arith::MulIOp::create(b, loc, block, arith::ConstantIndexOp::create(b, loc, threads));
  return arith::AddIOp::create(b, loc, first, getThread(b, loc));
}

gpu::GPUModuleOp KernelModule::getKernels() {
  if (!kernels) {
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    kernels = gpu::GPUModuleOp::create(b, module.getLoc(), "kernels");
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), b.getUnitAttr());
  }
  return kernels;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// The source buffer of a view, or of the base of one.
static Value rootOf(Value value) {
  while (true) {
    if (auto view = value.getDefiningOp<ViewLikeOpInterface>())
      value = view.getViewSource();
    else if (auto metadata = value.getDefiningOp<memref::ExtractStridedMetadataOp>())
      value = metadata.getSource();
    else
      return value;
  }
}

static bool isContiguous(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.hasStaticShape() && memref.getLayout().isIdentity();
}

/// The function with the argument `root`, if it is one.
static func::FuncOp getFunction(Value root) {
  return isa<BlockArgument>(root) ? dyn_cast<func::FuncOp>(cast<BlockArgument>(root).getOwner()->getParentOp())
                                  : func::FuncOp();
}

/// Whether a buffer starts at an address that the runtime or the arena aligned. The base of a view is the start of
/// its source.
static bool isAligned(Value value) {
  Value root = value.getDefiningOp<memref::ExtractStridedMetadataOp>() ? rootOf(value) : value;
  Operation *def = root.getDefiningOp();
  return def ? isa<memref::AllocOp, memref::GetGlobalOp>(def) : bool(getFunction(root));
}

/// Whether a buffer does not overlap other such buffers.
static bool isKnownBuffer(Value root) {
  func::FuncOp func = getFunction(root);
  return isAligned(root) &&
         (!func || func.getArgAttr(cast<BlockArgument>(root).getArgNumber(), LLVM::LLVMDialect::getNoAliasAttrName()));
}

/// Whether a kernel writes to the buffer of `parameter`.
static bool isWritten(BlockArgument parameter) {
  SmallVector<Value> views{parameter};
  for (unsigned i = 0; i < views.size(); ++i)
    for (OpOperand &use : views[i].getUses()) {
      Operation *user = use.getOwner();
      if (isa<ViewLikeOpInterface>(user) || isa<memref::ExtractStridedMetadataOp>(user)) {
        if (isa<MemRefType>(user->getResult(0).getType()))
          views.push_back(user->getResult(0));
      } else if (!isa<memref::LoadOp, vector::LoadOp, memref::DimOp>(user)) {
        return true;
      }
    }
  return false;
}

/// The failure word; a function gets its address once.
static Value getFailureWord(func::FuncOp func) {
  for (auto known : func.getBody().front().getOps<spmd::target::FailureWordOp>())
    return known;
  OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
  return spmd::target::FailureWordOp::create(b, func.getLoc(), LLVM::LLVMPointerType::get(func.getContext()));
}

/// Lowers the assertions of a kernel: a thread with a failed assertion writes it into the
/// failure word, and returns. Adds parameters to the kernel, and operands to `arguments`.
static void lowerAssertions(gpu::GPUFuncOp kernel, OpBuilder &host, SmallVectorImpl<Value> &arguments) {
  SmallVector<cf::AssertOp> assertions;
  kernel.walk([&](cf::AssertOp op) { assertions.push_back(op); });
  if (assertions.empty())
    return;
  auto pointer = LLVM::LLVMPointerType::get(kernel.getContext());
  auto add = [&](Value argument) -> Value {
    unsigned index = arguments.size();
    arguments.push_back(argument);
    (void)kernel.insertArgument(index, pointer, {}, kernel.getLoc());
    return kernel.getArgument(index);
  };
  Value word = add(getFailureWord(host.getInsertionBlock()->getParent()->getParentOfType<func::FuncOp>()));
  std::map<std::string, Value> texts;
  for (cf::AssertOp op : assertions) {
    Location loc = op.getLoc();
    std::string said = spmd::target::getText(op);
    Value &text = texts[said];
    if (!text)
      text = add(spmd::target::TextOp::create(host, loc, pointer, said));
    OpBuilder b(op);
    Value fails = arith::XOrIOp::create(b, loc, op.getArg(), arith::ConstantIntOp::create(b, loc, 1, 1));
    auto guard = scf::IfOp::create(b, loc, fails, /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());
    LLVM::StoreOp::create(b, loc, text, word, /*alignment=*/8, /*isVolatile=*/true);
    LLVM::InlineAsmOp::create(b, loc, TypeRange(), ValueRange(), "exit;", "", /*has_side_effects=*/true,
                              /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
                              ArrayAttr());
    op.erase();
  }
}

void KernelModule::replace(Operation *op, StringRef name, const LaunchShape &shape, Body body, ValueRange others) {
  // Used values: parameters, and values to recompute in program order.
  SetVector<Value> above(others.begin(), others.end());
  for (Value operand : op->getOperands())
    above.insert(operand);
  getUsedValuesDefinedAbove(op->getRegions(), above);
  OpBuilder host(op);
  Location loc = op->getLoc();
  SmallVector<Value> arguments; // operands of the launch
  SmallVector<Value> empty;
  SetVector<Operation *> recomputed;
  struct Strided {
    Value buffer;
    unsigned base, offset; // parameters; the dynamic sizes and strides follow the offset
  };
  SmallVector<Strided> strided;
  for (unsigned i = 0; i < above.size(); ++i) {
    Value value = above[i];
    Operation *def = value.getDefiningOp();
    auto memref = dyn_cast<MemRefType>(value.getType());
    if (spmd::target::isEmptyBuffer(value.getType())) {
      empty.push_back(value);
    } else if (spmd::target::isRecomputed(def)) {
      recomputed.insert(def);
      for (Value operand : def->getOperands())
        above.insert(operand);
    } else if (memref && !isContiguous(memref)) {
      auto metadata = memref::ExtractStridedMetadataOp::create(host, loc, value);
      strided.push_back({value, unsigned(arguments.size()), 0});
      arguments.push_back(metadata.getBaseBuffer());
      strided.back().offset = arguments.size();
      arguments.push_back(metadata.getOffset());
      llvm::append_range(arguments, metadata.getSizes());
      llvm::append_range(arguments, metadata.getStrides());
    } else {
      arguments.push_back(value);
    }
  }
  SmallVector<Operation *> order(recomputed.begin(), recomputed.end());
  llvm::sort(order, [](Operation *x, Operation *y) {
    if (x == y)
      return false;
    if (x->getBlock() == y->getBlock())
      return x->isBeforeInBlock(y);
    return DominanceInfo().properlyDominates(x, y);
  });

  // Parameters of contiguous buffers first, then those of strided ones.
  auto kernel = gpu::GPUFuncOp::create(host, loc, "kernel", host.getFunctionType(ValueRange(arguments).getTypes(), {}));
  kernel->remove();
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), host.getUnitAttr());
  kernel.setKnownBlockSizeAttr(host.getDenseI32ArrayAttr({int32_t(shape.threads), 1, 1}));
  if (std::optional<int64_t> blocks = getConstantIntValue(shape.blocks))
    if (*blocks > 0)
      kernel.setKnownGridSizeAttr(host.getDenseI32ArrayAttr({int32_t(*blocks), 1, 1}));
  Block *entry = &kernel.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(entry);
  IRMapping mapping;
  for (auto [i, value] : llvm::enumerate(arguments))
    mapping.map(value, entry->getArgument(i));
  for (const Strided &entryOf : strided) {
    auto type = cast<MemRefType>(entryOf.buffer.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    (void)type.getStridesAndOffset(strides, offset);
    unsigned at = entryOf.offset;
    auto pick = [&](int64_t known) -> OpFoldResult {
      Value dynamic = entry->getArgument(at++);
      return ShapedType::isDynamic(known) ? OpFoldResult(dynamic) : b.getIndexAttr(known);
    };
    OpFoldResult start = pick(offset);
    SmallVector<OpFoldResult> sizes, steps;
    for (int64_t size : type.getShape())
      sizes.push_back(pick(size));
    for (int64_t stride : strides)
      steps.push_back(pick(stride));
    Value view = memref::ReinterpretCastOp::create(b, loc, type, entry->getArgument(entryOf.base), start, sizes, steps);
    mapping.map(entryOf.buffer, view);
  }
  for (Value value : empty)
    mapping.map(value, memref::AllocaOp::create(b, loc, cast<MemRefType>(value.getType())));
  for (Operation *def : order)
    b.clone(*def, mapping);
  body(b, mapping);
  gpu::ReturnOp::create(b, loc);
  lowerAssertions(kernel, host, arguments);

  bool areKnown = llvm::all_of(
      arguments, [](Value value) { return !isa<MemRefType>(value.getType()) || isKnownBuffer(rootOf(value)); });
  for (auto [i, value] : llvm::enumerate(arguments)) {
    if (!isa<MemRefType>(value.getType()))
      continue;
    if (isContiguous(value.getType()) && isAligned(value))
      kernel.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(16));
    if (!areKnown || llvm::count_if(arguments, [&, value = value](Value other) {
                       return isa<MemRefType>(other.getType()) && rootOf(other) == rootOf(value);
                     }) != 1)
      continue;
    bool written = isWritten(entry->getArgument(i));
    if (written && shape.communicates)
      continue;
    kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    if (!written)
      kernel.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
  }

  std::string text;
  llvm::raw_string_ostream os(text);
  kernel->print(os, OpPrintingFlags().printGenericOpForm().useLocalScope());
  auto [it, isNew] = known.try_emplace(text, kernel);
  if (isNew) {
    kernel.setName((name + "_" + Twine(known.size() - 1)).str());
    getKernels().push_back(kernel);
  } else {
    kernel.erase();
  }
  host.setInsertionPoint(op);
  auto constant = [&](int64_t i) -> Value { return arith::ConstantIndexOp::create(host, loc, i); };
  Value one = constant(1);
  gpu::LaunchFuncOp::create(
      host, loc, it->second, gpu::KernelDim3{getValueOrCreateConstantIndexOp(host, loc, shape.blocks), one, one},
      gpu::KernelDim3{constant(shape.threads), one, one}, /*dynamicSharedMemorySize=*/Value(), arguments);
  op->erase();
}
