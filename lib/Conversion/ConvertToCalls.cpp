//===- ConvertToCalls.cpp - Collectives as calls of functions -------------===//

#include "shardkit-c/Collectives.h"
#include "shardkit/Conversion/CollectiveConversion.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_CONVERTSPMDTOCALLSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

static_assert(SHARDKIT_EXCHANGE == int(CollectiveKind::Exchange) && SHARDKIT_ALL_SLICE == int(CollectiveKind::AllSlice),
              "kinds are numbers of the descriptor");
static_assert(SHARDKIT_MIN_NUM == int(ReductionKind::MinNum) && SHARDKIT_SUM == int(ReductionKind::Sum),
              "reductions are numbers of the descriptor");

namespace {

/// The type of elements in a descriptor, and their bytes in memory; std::nullopt if they have none.
std::optional<std::pair<shardkit_type, int64_t>> getElementType(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    if (auto component = getElementType(complex.getElementType()))
      return std::pair(SHARDKIT_OTHER, 2 * component->second);
  if (type.isIndex())
    return std::pair(SHARDKIT_I64, int64_t(8));
  if (!type.isIntOrFloat())
    return std::nullopt;
  const unsigned width = type.getIntOrFloatBitWidth();
  for (auto [known, code] :
       {std::pair(type.isF64(), SHARDKIT_F64), std::pair(type.isF32(), SHARDKIT_F32),
        std::pair(type.isF16(), SHARDKIT_F16), std::pair(type.isBF16(), SHARDKIT_BF16),
        std::pair(type.isSignlessInteger(64), SHARDKIT_I64), std::pair(type.isSignlessInteger(32), SHARDKIT_I32),
        std::pair(type.isSignlessInteger(16), SHARDKIT_I16), std::pair(type.isSignlessInteger(8), SHARDKIT_I8),
        std::pair(type.isSignlessInteger(1), SHARDKIT_I1)})
    if (known)
      return std::pair(code, int64_t(width + 7) / 8);
  const bool isMoved = width == 4 || (width % 8 == 0 && llvm::isPowerOf2_32(width));
  return isMoved ? std::optional(std::pair(SHARDKIT_OTHER, int64_t(width + 7) / 8)) : std::nullopt;
}

} // namespace

FailureOr<SmallVector<int64_t>> spmd::getDescriptor(const ClosedForm &form, Type elementType,
                                                    std::optional<int64_t> id) {
  auto element = getElementType(elementType);
  if (!element || (form.reduction && element->first == SHARDKIT_OTHER))
    return failure();
  auto [type, bytes] = *element;
  const Transfer &transfer = form.transfer;
  auto ofReductions = form.reduction ? ArrayRef<RankDigit>(form.group) : ArrayRef<RankDigit>();
  SmallVector<RankDigit, 2> digits = form.getDigits();
  SmallVector<int64_t> words{SHARDKIT_DESCRIPTOR_VERSION,
                             int64_t(form.kind),
                             form.reduction ? int64_t(*form.reduction) : int64_t(SHARDKIT_NO_REDUCTION),
                             int64_t(type),
                             bytes,
                             id.value_or(-1),
                             form.devices,
                             form.inElements,
                             form.outElements,
                             int64_t(digits.size()),
                             int64_t(ofReductions.size()),
                             int64_t(transfer.atoms.size()),
                             int64_t(transfer.spread.size()),
                             int64_t(transfer.segments.size()),
                             int64_t(form.sourceOrder.size()),
                             int64_t(form.destinationOrder.size())};
  static_assert(sizeof(shardkit_collective) == 16 * sizeof(int64_t));
  auto addRanks = [&](ArrayRef<RankDigit> ranks) {
    for (const RankDigit &digit : ranks)
      words.append({digit.stride, digit.size});
  };
  addRanks(digits);
  addRanks(ofReductions);
  for (const TransferAtom &atom : transfer.atoms)
    words.append({atom.size, atom.srcIsRank, atom.srcStride, atom.dstIsRank, atom.dstStride});
  addRanks(transfer.spread);
  for (const TransferSegment &segment : transfer.segments) {
    auto window = segment.window.value_or(TransferSegment::Window{0, 0});
    words.append({segment.size, int64_t(segment.src.size()), int64_t(segment.dst.size()), segment.window.has_value(),
                  window.step, window.offset, window.added});
    for (const auto *side : {&segment.src, &segment.dst})
      for (const TransferDigit &digit : *side)
        words.append({digit.size, digit.isRank, digit.stride});
  }
  words.append(form.sourceOrder.begin(), form.sourceOrder.end());
  words.append(form.destinationOrder.begin(), form.destinationOrder.end());
  return words;
}

/// The descriptor, or one error.
static FailureOr<SmallVector<int64_t>> getDescriptorOrEmit(CollectiveToEmit &collective) {
  const ClosedForm &form = collective.form;
  Type elementType = collective.inputType.getElementType();
  FailureOr<SmallVector<int64_t>> words = getDescriptor(form, elementType, collective.op.getCollectiveId());
  if (failed(words))
    collective.op.emitError() << (form.reduction ? "combines" : "moves") << " elements of " << elementType
                              << ", expected floats of 16 to 64 bits or integers of 1 or 8 to 64 bits"
                              << (form.reduction ? "" : ", or others of whole bytes");
  return words;
}

namespace {

/// Calls of functions of the module, which it declares.
class FunctionCallsEmitter : public CollectiveEmitter {
public:
  FunctionCallsEmitter(ModuleOp module, StringRef prefix)
      : CollectiveEmitter(module), prefix(prefix), symbols(module) {}

  /// The functions move elements of any kind, and combine numbers.
  bool takesComplex(const CollectiveToEmit &collective) const override { return !collective.form.reduction; }
  Value emitRank(RewriterBase &b, Operation *op) override {
    Value rank = call(b, op->getLoc(), "rank", {}, b.getI64Type()).getResult(0);
    return arith::IndexCastOp::create(b, op->getLoc(), b.getIndexType(), rank);
  }

protected:
  func::CallOp call(RewriterBase &b, Location loc, StringRef name, ValueRange operands, TypeRange results) {
    auto type = b.getFunctionType(operands.getTypes(), results);
    func::FuncOp &callee = functions[{b.getStringAttr(name), type}];
    if (!callee) {
      RewriterBase::InsertionGuard guard(b);
      b.setInsertionPointToStart(getModule().getBody());
      callee = func::FuncOp::create(b, getModule().getLoc(), (prefix + name).str(), type);
      callee.setPrivate();
      symbols.insert(callee); // under an unused name
    }
    return func::CallOp::create(b, loc, callee, operands);
  }
  SymbolTable &getSymbols() { return symbols; }

private:
  StringRef prefix;
  SymbolTable symbols;
  DenseMap<std::pair<Attribute, Type>, func::FuncOp> functions;
};

/// Operands are tensors.
class TensorCallsEmitter : public FunctionCallsEmitter {
public:
  explicit TensorCallsEmitter(ModuleOp module) : FunctionCallsEmitter(module, "shardkit.") {}

  FailureOr<Value> emit(RewriterBase &b, CollectiveToEmit &collective) override {
    FailureOr<SmallVector<int64_t>> words = getDescriptorOrEmit(collective);
    if (failed(words))
      return failure();
    Location loc = collective.op.getLoc();
    auto type = RankedTensorType::get({int64_t(words->size())}, b.getI64Type());
    SmallVector<Value, 3> operands{arith::ConstantOp::create(b, loc, DenseIntElementsAttr::get(type, *words))};
    if (!collective.offsets.empty()) {
      SmallVector<Value> offsets = llvm::map_to_vector(collective.offsets, [&](Value offset) -> Value {
        return arith::IndexCastOp::create(b, loc, b.getI64Type(), offset);
      });
      operands.push_back(tensor::FromElementsOp::create(b, loc, offsets));
    }
    operands.push_back(collective.input);
    return call(b, loc, stringifyCollectiveKind(collective.form.kind), operands, collective.resultType).getResult(0);
  }
};

/// Operands are addresses of buffers.
class CallsEmitter : public FunctionCallsEmitter {
public:
  explicit CallsEmitter(ModuleOp module)
      : FunctionCallsEmitter(module, "shardkit_"), pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  FailureOr<Value> emit(RewriterBase &b, CollectiveToEmit &collective) override;

private:
  /// A constant of the module with these words; equal ones are shared.
  Value emitDescriptor(RewriterBase &b, Location loc, ArrayRef<int64_t> words) {
    auto type = MemRefType::get({int64_t(words.size())}, b.getI64Type());
    auto value = DenseElementsAttr::get(RankedTensorType::get(type.getShape(), b.getI64Type()), words);
    memref::GlobalOp &global = descriptors[value];
    if (!global) {
      RewriterBase::InsertionGuard guard(b);
      b.setInsertionPointToStart(getModule().getBody());
      global = memref::GlobalOp::create(b, loc, "shardkit_descriptor", b.getStringAttr("private"), type, value,
                                        /*constant=*/true, /*alignment=*/b.getI64IntegerAttr(8));
      getSymbols().insert(global); // under an unused name
    }
    return emitAddress(b, loc, memref::GetGlobalOp::create(b, loc, type, global.getSymName()));
  }

  Value emitAddress(RewriterBase &b, Location loc, Value buffer) {
    Value index = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer);
    Value word = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
    return LLVM::IntToPtrOp::create(b, loc, pointer, word);
  }

  /// The address of the offsets that are known at run time, on the stack of the function.
  Value emitOffsets(RewriterBase &b, CollectiveToEmit &collective) {
    Location loc = collective.op.getLoc();
    if (collective.offsets.empty())
      return LLVM::ZeroOp::create(b, loc, pointer);
    auto type = MemRefType::get({int64_t(collective.offsets.size())}, b.getI64Type());
    auto atEntry =
        OpBuilder::atBlockBegin(&collective.op->getParentOfType<FunctionOpInterface>().getFunctionBody().front());
    Value memory = memref::AllocaOp::create(atEntry, loc, type, b.getI64IntegerAttr(8));
    for (auto [i, offset] : llvm::enumerate(collective.offsets)) {
      Value at = arith::ConstantIndexOp::create(b, loc, i);
      Value word = arith::IndexCastOp::create(b, loc, b.getI64Type(), offset);
      memref::StoreOp::create(b, loc, word, memory, at);
    }
    return emitAddress(b, loc, memory);
  }

  Type pointer;
  DenseMap<Attribute, memref::GlobalOp> descriptors;
};

FailureOr<Value> CallsEmitter::emit(RewriterBase &b, CollectiveToEmit &collective) {
  Location loc = collective.op.getLoc();
  FailureOr<SmallVector<int64_t>> words = getDescriptorOrEmit(collective);
  if (failed(words))
    return failure();
  auto emitBuffer = [&](RankedTensorType type) { return MemRefType::get(type.getShape(), type.getElementType()); };
  Value in = bufferization::ToBufferOp::create(b, loc, emitBuffer(collective.inputType), collective.input,
                                               /*read_only=*/true);
  Value out = memref::AllocOp::create(b, loc, emitBuffer(collective.resultType));
  SmallVector<Value, 4> operands{emitDescriptor(b, loc, *words), emitOffsets(b, collective), emitAddress(b, loc, in),
                                 emitAddress(b, loc, out)};
  call(b, loc, stringifyCollectiveKind(collective.form.kind), operands, {});
  return bufferization::ToTensorOp::create(b, loc, collective.resultType, out, /*restrict=*/true, /*writable=*/true)
      .getResult();
}

struct ConvertToCallsPass : public spmd::impl::ConvertSPMDToCallsPassBase<ConvertToCallsPass> {
  using Base::Base;
  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registry.insert<complex::ComplexDialect>();
  }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyConvertible(module, getArgument())))
      return signalPassFailure();
    CallsEmitter onBuffers(module);
    TensorCallsEmitter onTensors(module);
    if (failed(convertCollectives(tensors ? static_cast<CollectiveEmitter &>(onTensors) : onBuffers)))
      signalPassFailure();
  }
};

} // namespace
