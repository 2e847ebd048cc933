//===- LowerToDeviceCalls.cpp - PTX, and calls of the device runtime ------===//

#include "shardkit/Target/Cuda/Passes.h"
#include "shardkit/rt/abi.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCUDALOWERTODEVICECALLS
#include "shardkit/Target/Cuda/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;

namespace {
/// Lowers the host code of a program.
///
///   gpu.launch_func @k blocks in (%n) args(%a, %b)  ->  sk_launch(ctx, @kernel_k, grid, args)
///   memref.copy %a, %b                              ->  sk_copy(ctx, b, a, bytes)
///   memref.load %a[%i]                              ->  sk_read(ctx, &local, a + i, bytes)
///   memref.get_global @c                            ->  sk_constant(ctx, @constant_c)
struct LowerToDeviceCalls : spmd::impl::SpmdCudaLowerToDeviceCallsBase<LowerToDeviceCalls> {
  using Base::Base;

  //===--------------------------------------------------------------------===//
  // Constants of the host
  //===--------------------------------------------------------------------===//

  /// A constant of type `type`, whose value `fill` returns.
  LLVM::GlobalOp addGlobal(Location loc, Type type, const Twine &name, Attribute value, int64_t alignment,
                           function_ref<Value(OpBuilder &)> fill = nullptr);
  LLVM::GlobalOp addText(Location loc, const Twine &name, StringRef text, int64_t alignment = 1);
  /// A struct with the fields `values`.
  static Value makeStruct(OpBuilder &b, Location loc, LLVM::LLVMStructType type, ArrayRef<Value> values);

  /// sk_kernel_module.
  void addModule(gpu::GPUModuleOp kernels, StringRef ptx);

  /// The sk_kernel of a kernel, once for each.
  LLVM::GlobalOp kernelGlobal(gpu::LaunchFuncOp launch);

  //===--------------------------------------------------------------------===//
  // Calls
  //===--------------------------------------------------------------------===//

  func::CallOp call(OpBuilder &b, Operation *op, StringRef name, ArrayRef<Value> arguments);
  /// Memory on the stack of the host function of `op`.
  Value stack(Operation *op, Type type);
  Value number(OpBuilder &b, Location loc, Value index) { return arith::IndexCastOp::create(b, loc, i64, index); }

  /// Memory for the arguments of launches. A launch copies them, so that all launches of a
  /// function share it.
  struct Arguments {
    Value values, addresses; ///< 8 bytes each; addresses[i] points to values[i].
  };
  Arguments argumentsOf(func::FuncOp func);
  Value element(OpBuilder &b, Location loc, Type type, Value array, int64_t i) {
    return LLVM::GEPOp::create(b, loc, ptr, type, array, ArrayRef<LLVM::GEPArg>{int32_t(i)});
  }

  void convertLaunch(gpu::LaunchFuncOp launch);
  Value bytesOf(OpBuilder &b, Location loc, Value buffer);
  void convertCopy(memref::CopyOp copy);
  /// Whether `buffer` is an argument that is a size that only the run knows: it is in host memory.
  static bool isSizeArgument(Value buffer);
  void convertLoad(memref::LoadOp load);

  /// The bytes of a constant are on the host; its users get a copy on the device.
  void convertConstant(memref::GetGlobalOp get);
  void runOnOperation() override;

  Type ptr, i32, i64;
  LLVM::LLVMStructType moduleType;
  LLVM::GlobalOp deviceModule;
  std::map<std::string, LLVM::GlobalOp> kernelGlobals;
  DenseMap<Operation *, Arguments> arguments; ///< The memory of each function.
};
} // namespace

LLVM::GlobalOp LowerToDeviceCalls::addGlobal(Location loc, Type type, const Twine &name, Attribute value,
                                             int64_t alignment, function_ref<Value(OpBuilder &)> fill) {
  OpBuilder b = OpBuilder::atBlockBegin(getOperation().getBody());
  auto global =
      LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name.str(), value, alignment);
  if (fill) {
    Block *block = b.createBlock(&global.getInitializerRegion());
    b.setInsertionPointToStart(block);
    LLVM::ReturnOp::create(b, loc, fill(b));
  }
  return global;
}

LLVM::GlobalOp LowerToDeviceCalls::addText(Location loc, const Twine &name, StringRef text, int64_t alignment) {
  std::string bytes = text.str() + '\0';
  return addGlobal(loc, LLVM::LLVMArrayType::get(IntegerType::get(&getContext(), 8), bytes.size()), name,
                   StringAttr::get(&getContext(), bytes), alignment);
}

Value LowerToDeviceCalls::makeStruct(OpBuilder &b, Location loc, LLVM::LLVMStructType type, ArrayRef<Value> values) {
  Value result = LLVM::UndefOp::create(b, loc, type);
  for (auto [i, value] : llvm::enumerate(values))
    result = LLVM::InsertValueOp::create(b, loc, result, value, ArrayRef<int64_t>{int64_t(i)});
  return result;
}

void LowerToDeviceCalls::addModule(gpu::GPUModuleOp kernels, StringRef ptx) {
  Location loc = kernels.getLoc();
  LLVM::GlobalOp text = addText(loc, "ptx", ptx, 8);
  moduleType = LLVM::LLVMStructType::getLiteral(&getContext(), {i32, i32, ptr, i64});
  deviceModule = addGlobal(loc, moduleType, "device_module", {}, 8, [&](OpBuilder &b) {
    return makeStruct(b, loc, moduleType,
                      {LLVM::ConstantOp::create(b, loc, i32, SK_ABI_VERSION), LLVM::ConstantOp::create(b, loc, i32, 0),
                       LLVM::AddressOfOp::create(b, loc, ptr, text.getSymName()),
                       LLVM::ConstantOp::create(b, loc, i64, int64_t(ptx.size() + 1))});
  });
}

LLVM::GlobalOp LowerToDeviceCalls::kernelGlobal(gpu::LaunchFuncOp launch) {
  StringRef name = launch.getKernelName().getValue();
  LLVM::GlobalOp &global = kernelGlobals[name.str()];
  if (global)
    return global;
  Location loc = launch.getLoc();
  LLVM::GlobalOp text = addText(loc, "name_" + name, name);
  auto block = LLVM::LLVMArrayType::get(i32, 3);
  auto type = LLVM::LLVMStructType::getLiteral(&getContext(), {ptr, ptr, block, i32, i32, i32});
  int64_t threads = *getConstantIntValue(launch.getBlockSizeX());
  int64_t shared = launch.getDynamicSharedMemorySize() ? *getConstantIntValue(launch.getDynamicSharedMemorySize()) : 0;
  return global = addGlobal(loc, type, "kernel_" + name, {}, 8, [&](OpBuilder &b) {
           Value shape = LLVM::UndefOp::create(b, loc, block);
           for (int64_t d = 0; d < 3; ++d)
             shape = LLVM::InsertValueOp::create(b, loc, shape, LLVM::ConstantOp::create(b, loc, i32, d ? 1 : threads),
                                                 ArrayRef<int64_t>{d});
           return makeStruct(b, loc, type,
                             {LLVM::AddressOfOp::create(b, loc, ptr, deviceModule.getSymName()),
                              LLVM::AddressOfOp::create(b, loc, ptr, text.getSymName()), shape,
                              LLVM::ConstantOp::create(b, loc, i32, shared),
                              LLVM::ConstantOp::create(b, loc, i32, int64_t(launch.getNumKernelOperands())),
                              LLVM::ConstantOp::create(b, loc, i32, 0)});
         });
}

func::CallOp LowerToDeviceCalls::call(OpBuilder &b, Operation *op, StringRef name, ArrayRef<Value> arguments) {
  SmallVector<Value> all{op->getParentOfType<func::FuncOp>().getArgument(0)};
  llvm::append_range(all, arguments);
  ModuleOp module = getOperation();
  auto callee = module.lookupSymbol<func::FuncOp>(name);
  if (!callee) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    callee = func::FuncOp::create(top, module.getLoc(), name, b.getFunctionType(ValueRange(all).getTypes(), {i32}));
    callee.setPrivate();
  }
  return func::CallOp::create(b, op->getLoc(), callee, all);
}

Value LowerToDeviceCalls::stack(Operation *op, Type type) {
  Block &entry = op->getParentOfType<func::FuncOp>().getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&entry);
  Value number = LLVM::ConstantOp::create(b, op->getLoc(), i64, 1);
  return LLVM::AllocaOp::create(b, op->getLoc(), ptr, type, number, 8);
}

LowerToDeviceCalls::Arguments LowerToDeviceCalls::argumentsOf(func::FuncOp func) {
  Arguments &known = arguments[func];
  if (known.values)
    return known;
  int64_t most = 1;
  func.walk([&](gpu::LaunchFuncOp launch) { most = std::max<int64_t>(most, launch.getNumKernelOperands()); });
  OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
  Location loc = func.getLoc();
  Value number = LLVM::ConstantOp::create(b, loc, i64, most);
  known.values = LLVM::AllocaOp::create(b, loc, ptr, i64, number, 8);
  known.addresses = LLVM::AllocaOp::create(b, loc, ptr, ptr, number, 8);
  for (int64_t i = 0; i < most; ++i)
    LLVM::StoreOp::create(b, loc, element(b, loc, i64, known.values, i), element(b, loc, ptr, known.addresses, i));
  return known;
}

void LowerToDeviceCalls::convertLaunch(gpu::LaunchFuncOp launch) {
  OpBuilder b(launch);
  Location loc = launch.getLoc();
  Arguments table = argumentsOf(launch->getParentOfType<func::FuncOp>());
  for (auto [i, operand] : llvm::enumerate(launch.getKernelOperands())) {
    Value value = operand;
    if (isa<MemRefType>(value.getType()))
      value = spmd::target::getPointer(b, loc, value);
    else if (value.getType().isIndex())
      value = number(b, loc, value);
    LLVM::StoreOp::create(b, loc, value, element(b, loc, i64, table.values, i));
  }
  Value kernel = LLVM::AddressOfOp::create(b, loc, ptr, kernelGlobal(launch).getSymName());
  call(b, launch, "sk_launch",
       {kernel, number(b, loc, launch.getGridSizeX()), number(b, loc, launch.getGridSizeY()),
        number(b, loc, launch.getGridSizeZ()), table.addresses});
  launch->erase();
}

Value LowerToDeviceCalls::bytesOf(OpBuilder &b, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  Type element = type.getElementType();
  int64_t size = element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  Value bytes = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(size));
  for (int64_t d = 0; d < type.getRank(); ++d) {
    Value dim = type.isDynamicDim(d)
                    ? number(b, loc, memref::DimOp::create(b, loc, buffer, d))
                    : arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(type.getDimSize(d))).getResult();
    bytes = arith::MulIOp::create(b, loc, bytes, dim);
  }
  return bytes;
}

void LowerToDeviceCalls::convertCopy(memref::CopyOp copy) {
  OpBuilder b(copy);
  Location loc = copy.getLoc();
  call(b, copy, "sk_copy",
       {spmd::target::getPointer(b, loc, copy.getTarget()), spmd::target::getPointer(b, loc, copy.getSource()),
        bytesOf(b, loc, copy.getSource())});
  copy.erase();
}

bool LowerToDeviceCalls::isSizeArgument(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto func = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto sizes = func ? func->getAttrOfType<DenseI64ArrayAttr>(spmd::target::kSizesAttr) : DenseI64ArrayAttr();
  for (int64_t i = 0; sizes && i < sizes.size(); i += 3)
    if (sizes[i] == argument.getArgNumber())
      return true;
  return false;
}

void LowerToDeviceCalls::convertLoad(memref::LoadOp load) {
  OpBuilder b(load);
  Location loc = load.getLoc();
  // The address of the element is that of a view of it.
  auto type = cast<MemRefType>(load.getMemRef().getType());
  SmallVector<OpFoldResult> offsets(load.getIndices()), ones(type.getRank(), b.getIndexAttr(1));
  Value element = load.getMemRef();
  if (type.getRank() > 0)
    element = memref::SubViewOp::create(b, loc, element, offsets, ones, ones);
  Type result = load.getType();
  Type stored = result.isIndex() ? i64 : result.isInteger(1) ? b.getI8Type() : result;
  int64_t size = llvm::divideCeil(stored.getIntOrFloatBitWidth(), 8);
  Value slot = stack(load, stored);
  call(b, load, "sk_copy_to_host",
       {slot, spmd::target::getPointer(b, loc, element), arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(size))});
  Value value = LLVM::LoadOp::create(b, loc, stored, slot);
  if (result.isIndex())
    value = arith::IndexCastOp::create(b, loc, result, value);
  else if (result.isInteger(1))
    value = arith::TruncIOp::create(b, loc, result, value);
  load.replaceAllUsesWith(value);
  load.erase();
}

void LowerToDeviceCalls::convertConstant(memref::GetGlobalOp get) {
  Value slot = stack(get, ptr);
  OpBuilder b(get);
  b.setInsertionPointAfter(get);
  Location loc = get.getLoc();
  SmallPtrSet<Operation *, 4> uses;
  auto call = this->call(b, get, "sk_constant", {spmd::target::getPointer(b, loc, get), bytesOf(b, loc, get), slot});
  for (Operation *op = get->getNextNode(); op != call->getNextNode(); op = op->getNextNode())
    uses.insert(op);
  Value address = LLVM::LoadOp::create(b, loc, ptr, slot);
  LLVMTypeConverter converter(&getContext());
  Value descriptor = MemRefDescriptor::fromStaticShape(b, loc, converter, get.getType(), address);
  Value device = UnrealizedConversionCastOp::create(b, loc, get.getType(), descriptor).getResult(0);
  get.getResult().replaceAllUsesExcept(device, uses);
}

void LowerToDeviceCalls::runOnOperation() {
  ModuleOp module = getOperation();
  MLIRContext *context = &getContext();
  ptr = LLVM::LLVMPointerType::get(context);
  i32 = IntegerType::get(context, 32);
  i64 = IntegerType::get(context, 64);
  kernelGlobals.clear();
  for (auto kernels : llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>())) {
    if (failed(spmd::cuda::lowerKernels(kernels)))
      return signalPassFailure();
    FailureOr<std::string> ptx = spmd::cuda::emitPtx(kernels, chip);
    if (failed(ptx))
      return signalPassFailure();
    addModule(kernels, *ptx);
    kernels.erase();
  }
  arguments.clear();
  bool bad = false;
  SmallVector<Operation *> ops;
  for (auto func : module.getOps<func::FuncOp>())
    func.walk([&](Operation *op) {
      if (auto reshape = dyn_cast<memref::ReshapeOp>(op);
          reshape && !cast<MemRefType>(reshape.getType()).hasStaticShape()) {
        reshape.emitError("a tensor.reshape to sizes that are known at run time only cannot be "
                          "compiled for cuda, expected a static type");
        bad = true;
      }
      if (isa<gpu::LaunchFuncOp, memref::CopyOp, memref::GetGlobalOp>(op) ||
          (isa<memref::LoadOp>(op) && !isSizeArgument(op->getOperand(0))))
        ops.push_back(op);
    });
  if (bad)
    return signalPassFailure();
  for (Operation *op : ops) {
    if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
      convertLaunch(launch);
    else if (auto copy = dyn_cast<memref::CopyOp>(op))
      convertCopy(copy);
    else if (auto get = dyn_cast<memref::GetGlobalOp>(op))
      convertConstant(get);
    else
      convertLoad(cast<memref::LoadOp>(op));
  }
  module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
}
