//===- ConvertToMPI.cpp - Collectives as ops of upstream's dialect mpi ----===//

#include "BlockMove.h"
#include "shardkit/Passes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MPI/IR/MPI.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <functional>

namespace mlir::spmd {
#define GEN_PASS_DEF_CONVERTSPMDTOMPIPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// The type in which upstream's lowering sends elements; null if there is none.
Type getSentType(Type type) {
  MLIRContext *context = type.getContext();
  if (type.isIndex())
    return IntegerType::get(context, 64);
  if (!type.isIntOrFloat())
    return {};
  const unsigned width = type.getIntOrFloatBitWidth();
  if (type.isF32() || type.isF64() ||
      (type.isSignlessInteger() && width >= 8 && width <= 64 && llvm::isPowerOf2_32(width)))
    return type;
  return width <= 8 ? IntegerType::get(context, 8) : width == 16 ? IntegerType::get(context, 16) : Type();
}

/// A tensor with the bits of its elements in another type.
Value emitBits(OpBuilder &b, Location loc, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  Type from = type.getElementType(), to = type.clone(element);
  if (from == element)
    return value;
  if (from.isIndex() || element.isIndex())
    return arith::IndexCastOp::create(b, loc, to, value);
  const unsigned width = from.getIntOrFloatBitWidth(), target = element.getIntOrFloatBitWidth();
  if (width == target)
    return arith::BitcastOp::create(b, loc, to, value);
  if (width < target) { // Floats of less than a byte have integers in between.
    if (isa<FloatType>(from))
      value = arith::BitcastOp::create(b, loc, type.clone(b.getIntegerType(width)), value);
    return arith::ExtUIOp::create(b, loc, to, value);
  }
  if (!isa<FloatType>(element))
    return arith::TruncIOp::create(b, loc, to, value);
  value = arith::TruncIOp::create(b, loc, type.clone(b.getIntegerType(target)), value);
  return arith::BitcastOp::create(b, loc, to, value);
}

/// The op of MPI that combines elements of a type exactly as the reduction does; std::nullopt if none does.
std::optional<mpi::MPI_ReductionOpEnum> getReductionOp(ReductionKind kind, Type type) {
  using Op = mpi::MPI_ReductionOpEnum;
  const bool isInteger = type.isSignlessInteger() && type.getIntOrFloatBitWidth() >= 8;
  if (!isInteger && !type.isF32() && !type.isF64())
    return std::nullopt;
  switch (kind) {
  case ReductionKind::Sum: // Open MPI 4.1 saturates sums of 8 and 16 bits where the processor has AVX.
    return !isInteger || type.getIntOrFloatBitWidth() >= 32 ? std::optional(Op::MPI_SUM) : std::nullopt;
  case ReductionKind::Prod:
    return Op::MPI_PROD;
  case ReductionKind::And:
    return Op::MPI_BAND;
  case ReductionKind::Or:
    return Op::MPI_BOR;
  case ReductionKind::Xor:
    return Op::MPI_BXOR;
  case ReductionKind::Max: // NaN of floats is up to MPI.
    return isInteger ? std::optional(Op::MPI_MAX) : std::nullopt;
  case ReductionKind::Min:
    return isInteger ? std::optional(Op::MPI_MIN) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// The side effects of a message or a reduction on its buffers, and on the other processes.
template <typename OpT> struct EffectsModel : MemoryEffectOpInterface::ExternalModel<EffectsModel<OpT>, OpT> {
  void getEffects(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) const {
    if (auto reduce = dyn_cast<mpi::AllReduceOp>(op)) {
      effects.emplace_back(MemoryEffects::Read::get(), &reduce.getSendbufMutable());
      effects.emplace_back(MemoryEffects::Write::get(), &reduce.getRecvbufMutable());
    } else if (auto receive = dyn_cast<mpi::RecvOp>(op)) {
      effects.emplace_back(MemoryEffects::Write::get(), &receive.getRefMutable());
    } else if (auto send = dyn_cast<mpi::SendOp>(op)) {
      effects.emplace_back(MemoryEffects::Read::get(), &send.getRefMutable());
    }
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
};

/// LLVM 22 knows no side effects of these ops: buffers are deallocated around ops of which they are known.
void registerEffects(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, mpi::MPIDialect *) {
    mpi::AllReduceOp::attachInterface<EffectsModel<mpi::AllReduceOp>>(*context);
    mpi::RecvOp::attachInterface<EffectsModel<mpi::RecvOp>>(*context);
    mpi::SendOp::attachInterface<EffectsModel<mpi::SendOp>>(*context);
  });
}

class MPIEmitter : public CollectiveEmitter {
public:
  explicit MPIEmitter(ModuleOp module) : CollectiveEmitter(module), symbols(module) {}

  FailureOr<Value> emit(RewriterBase &b, CollectiveToEmit &collective) override;
  bool takesComplex(const CollectiveToEmit &) const override { return false; }
  Value emitRank(RewriterBase &b, Operation *op) override { return emitRankAt(b, op->getLoc()); }

private:
  static Value emitRankAt(OpBuilder &b, Location loc) {
    Value world = mpi::CommWorldOp::create(b, loc, mpi::CommType::get(b.getContext()));
    Value rank = mpi::CommRankOp::create(b, loc, Type(), b.getI32Type(), world).getRank();
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), rank);
  }
  Value emitCommunicator(RewriterBase &b, Operation *op, const Members &members, int64_t devices);
  Value emitAllReduce(RewriterBase &b, CollectiveToEmit &collective, mpi::MPI_ReductionOpEnum kind);
  struct Exchange;
  Value emitExchange(RewriterBase &b, Location loc, const Exchange &exchange);
  Value emitBlocks(RewriterBase &b, CollectiveToEmit &collective, const BlockMove &move);
  Value emitGathered(RewriterBase &b, CollectiveToEmit &collective);

  SymbolTable symbols;
  llvm::StringMap<memref::GlobalOp> globals;                          ///< By the digits of the groups.
  DenseMap<std::pair<Operation *, Operation *>, Value> communicators; ///< Of a function, by the global.
};

/// The first member, and the one that this device is.
struct OwnRank {
  OwnRank(OpBuilder &b, Location loc, const Members &members, Value rank)
      : rank(rank), member(members.emitMember(b, loc, rank)), first(rank) {
    auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
    for (const RankDigit &digit : members.getDigits()) {
      Value value = emitDigit(b, loc, digit);
      first = arith::SubIOp::create(b, loc, first, arith::MulIOp::create(b, loc, value, constant(digit.stride)));
    }
  }
  Value emitDigit(OpBuilder &b, Location loc, const RankDigit &digit) const {
    auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
    Value value = arith::DivUIOp::create(b, loc, rank, constant(digit.stride));
    return arith::RemUIOp::create(b, loc, value, constant(digit.size));
  }
  Value rank, member, first;
};

/// Messages between all members of a group. A lower rank sends first, so that blocking messages of any size end: the
/// pairs of ranks take turns in one order.
struct MPIEmitter::Exchange {
  const Members &members;
  Value packed;            ///< A tensor of one dim: blocks.
  int64_t elements, slots; ///< Elements of a block, and blocks that are received.
  std::function<int64_t(int64_t)> getBlock, getSlot;
  ArrayRef<EqualDigits> conditions;
  std::function<bool(int64_t)> readsItself;
  Value rank;
};

Value MPIEmitter::emitExchange(RewriterBase &b, Location loc, const Exchange &x) {
  auto type = cast<RankedTensorType>(x.packed.getType());
  Type element = type.getElementType();
  auto flat = [&](int64_t n) { return MemRefType::get({n}, element); };
  Value in = bufferization::ToBufferOp::create(b, loc, flat(type.getNumElements()), x.packed, /*read_only=*/true);
  Value out = memref::AllocOp::create(b, loc, flat(x.slots * x.elements));
  Value world = mpi::CommWorldOp::create(b, loc, mpi::CommType::get(b.getContext()));
  Value tag = arith::ConstantIntOp::create(b, loc, 0, 32);
  OwnRank own(b, loc, x.members, x.rank);
  auto block = [&](Value buffer, int64_t index) -> Value {
    return memref::SubViewOp::create(b, loc, buffer, ArrayRef<OpFoldResult>{b.getIndexAttr(index * x.elements)},
                                     ArrayRef<OpFoldResult>{b.getIndexAttr(x.elements)},
                                     ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  };
  // Emits `message` where this device, as sender or reader, and member k exchange a block.
  auto emitIf = [&](int64_t k, bool isSender, llvm::function_ref<void()> message) {
    Value holds;
    for (const EqualDigits &equal : x.conditions) {
      Value mine = own.emitDigit(b, loc, isSender ? equal.sender : equal.reader);
      Value wanted =
          arith::ConstantIndexOp::create(b, loc, x.members.getDigit(k, isSender ? equal.reader : equal.sender));
      Value is = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, mine, wanted);
      holds = holds ? arith::AndIOp::create(b, loc, holds, is).getResult() : is;
    }
    if (!holds)
      return message();
    RewriterBase::InsertionGuard guard(b);
    auto branch = scf::IfOp::create(b, loc, holds, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    message();
  };
  for (int64_t k = 0; k < x.members.size(); ++k) {
    Value peer = arith::AddIOp::create(b, loc, own.first,
                                       arith::ConstantIndexOp::create(b, loc, x.members.getOffset(k)).getResult());
    peer = arith::IndexCastOp::create(b, loc, b.getI32Type(), peer);
    auto send = [&] {
      emitIf(k, /*isSender=*/true,
             [&] { mpi::SendOp::create(b, loc, Type(), block(in, x.getBlock(k)), tag, peer, world); });
    };
    auto receive = [&] {
      emitIf(k, /*isSender=*/false,
             [&] { mpi::RecvOp::create(b, loc, Type(), block(out, x.getSlot(k)), tag, peer, world); });
    };
    Value number = arith::ConstantIndexOp::create(b, loc, k);
    RewriterBase::InsertionGuard guard(b);
    Value isSelf = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, own.member, number);
    auto self = scf::IfOp::create(b, loc, isSelf, /*withElseRegion=*/true);
    b.setInsertionPointToStart(self.thenBlock());
    if (x.readsItself(k))
      linalg::CopyOp::create(b, loc, block(in, x.getBlock(k)), block(out, x.getSlot(k)));
    b.setInsertionPointToStart(self.elseBlock());
    Value isLower = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, own.member, number);
    auto order = scf::IfOp::create(b, loc, isLower, /*withElseRegion=*/true);
    b.setInsertionPointToStart(order.thenBlock());
    send();
    receive();
    b.setInsertionPointToStart(order.elseBlock());
    receive();
    send();
  }
  return bufferization::ToTensorOp::create(b, loc, type.clone({x.slots * x.elements}), out, /*restrict=*/true,
                                           /*writable=*/true);
}

Value MPIEmitter::emitBlocks(RewriterBase &b, CollectiveToEmit &collective, const BlockMove &move) {
  Location loc = collective.op.getLoc();
  Members members(collective.form.getDigits());
  Type element = collective.inputType.getElementType(), sent = getSentType(element);
  Value packed = emitBits(b, loc, move.emitPacked(b, loc, collective.input), sent);
  Exchange exchange{members,
                    packed,
                    move.blockElements(),
                    move.numSlots(),
                    [&](int64_t k) { return move.getBlock(members, k); },
                    [&](int64_t k) { return move.getSlot(members, k); },
                    move.getConditions(),
                    [&](int64_t k) { return move.readsItself(members, k); },
                    emitRank(b, collective.op)};
  Value received = emitBits(b, loc, emitExchange(b, loc, exchange), element);
  if (collective.form.reduction) {
    // Slices of the members, in rising order of ranks.
    const int64_t n = move.numSlots() / move.numCombined() * move.blockElements();
    Type accumulator = getAccumulatorType(element);
    Value sum;
    for (int64_t k = 0; k < move.numCombined(); ++k) {
      Value slice = tensor::ExtractSliceOp::create(b, loc, received, ArrayRef<OpFoldResult>{b.getIndexAttr(k * n)},
                                                   ArrayRef<OpFoldResult>{b.getIndexAttr(n)},
                                                   ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
      if (accumulator != element)
        slice = arith::ExtFOp::create(b, loc, cast<RankedTensorType>(slice.getType()).clone(accumulator), slice);
      sum = sum ? emitCombined(b, loc, *collective.form.reduction, sum, slice) : slice;
    }
    received =
        accumulator == element
            ? sum
            : arith::TruncFOp::create(b, loc, cast<RankedTensorType>(sum.getType()).clone(element), sum).getResult();
  }
  return move.emitUnpacked(b, loc, received, collective.resultType);
}

/// Of the operands of all members, for layouts that do not split each other evenly.
Value MPIEmitter::emitGathered(RewriterBase &b, CollectiveToEmit &collective) {
  Location loc = collective.op.getLoc();
  const bool isLocal = !readsOthers(collective.form);
  Members members(isLocal ? SmallVector<RankDigit, 2>() : collective.form.getDigits());
  Type element = collective.inputType.getElementType();
  const int64_t elements = collective.inputType.getNumElements();
  Value flat = emitFlat(b, loc, collective.input), rank = emitRank(b, collective.op);
  if (!isLocal) {
    Exchange exchange{members,
                      emitBits(b, loc, flat, getSentType(element)),
                      elements,
                      members.size(),
                      [](int64_t) { return 0; },
                      [](int64_t k) { return k; },
                      {},
                      [](int64_t) { return true; },
                      rank};
    flat = emitBits(b, loc, emitExchange(b, loc, exchange), element);
  }
  auto type = RankedTensorType::get({members.size(), elements}, element);
  return emitFromGathered(b, collective, members, emitShaped(b, loc, flat, type), rank);
}

/// The communicator of the group of this device. It is made once and kept in a global, since each split takes one of
/// MPI's numbers. Upstream lowers a communicator to an integer of 64 bits.
Value MPIEmitter::emitCommunicator(RewriterBase &b, Operation *op, const Members &members, int64_t devices) {
  Location loc = op->getLoc();
  auto commType = mpi::CommType::get(b.getContext());
  if (members.size() == devices)
    return mpi::CommWorldOp::create(b, loc, commType);
  std::string key;
  for (const RankDigit &digit : members.getDigits())
    key += std::to_string(digit.stride) + "x" + std::to_string(digit.size) + ",";
  memref::GlobalOp &global = globals[key];
  auto type = MemRefType::get({}, b.getI64Type());
  RewriterBase::InsertionGuard guard(b);
  if (!global) {
    b.setInsertionPointToStart(getModule().getBody());
    global = memref::GlobalOp::create(b, loc, "shardkit_communicator", b.getStringAttr("private"), type,
                                      DenseElementsAttr::get(RankedTensorType::get({}, b.getI64Type()), int64_t(0)),
                                      /*constant=*/false, IntegerAttr());
    symbols.insert(global);
  }
  auto func = op->getParentOfType<FunctionOpInterface>();
  Value &known = communicators[{func, global}];
  if (known)
    return known;
  b.setInsertionPointToStart(&func.getFunctionBody().front());
  Value memory = memref::GetGlobalOp::create(b, loc, type, global.getSymName());
  Value kept = memref::LoadOp::create(b, loc, memory, ValueRange());
  Value none = arith::ConstantIntOp::create(b, loc, 0, 64);
  Value isNew = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, kept, none);
  auto branch = scf::IfOp::create(b, loc, TypeRange(b.getI64Type()), isNew, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  Value rank = emitRankAt(b, loc);
  OwnRank own(b, loc, members, rank);
  auto word = [&](Value index) -> Value { return arith::IndexCastOp::create(b, loc, b.getI32Type(), index); };
  Value world = mpi::CommWorldOp::create(b, loc, commType);
  Value made = mpi::CommSplitOp::create(b, loc, Type(), commType, world, word(own.first), word(rank)).getNewcomm();
  Value handle = UnrealizedConversionCastOp::create(b, loc, b.getI64Type(), made).getResult(0);
  memref::StoreOp::create(b, loc, handle, memory, ValueRange());
  scf::YieldOp::create(b, loc, handle);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, kept);
  b.setInsertionPointAfter(branch);
  known = UnrealizedConversionCastOp::create(b, loc, commType, branch.getResult(0)).getResult(0);
  return known;
}

Value MPIEmitter::emitAllReduce(RewriterBase &b, CollectiveToEmit &collective, mpi::MPI_ReductionOpEnum kind) {
  Location loc = collective.op.getLoc();
  Members members(collective.form.getDigits());
  Value comm = emitCommunicator(b, collective.op, members, collective.form.devices);
  Value flat = emitFlat(b, loc, collective.input);
  auto type = MemRefType::get({collective.inputType.getNumElements()}, collective.inputType.getElementType());
  Value in = bufferization::ToBufferOp::create(b, loc, type, flat, /*read_only=*/true);
  Value out = memref::AllocOp::create(b, loc, type);
  mpi::AllReduceOp::create(b, loc, Type(), in, out, kind, comm);
  Value result = bufferization::ToTensorOp::create(b, loc, flat.getType(), out, /*restrict=*/true, /*writable=*/true);
  return emitShaped(b, loc, result, collective.resultType);
}

FailureOr<Value> MPIEmitter::emit(RewriterBase &b, CollectiveToEmit &collective) {
  const ClosedForm &form = collective.form;
  Type element = collective.inputType.getElementType();
  if (!getSentType(element)) {
    collective.op.emitError() << "moves elements of " << element
                              << ", which upstream's dialect mpi does not send, expected integers or floats of up to "
                                 "64 bits";
    return failure();
  }
  std::optional<BlockMove> blocks = BlockMove::get(form);
  if (!readsOthers(form) || !blocks)
    return emitGathered(b, collective);
  auto kind = form.reduction ? getReductionOp(*form.reduction, element) : std::nullopt;
  const bool isWhole = blocks->numBlocks() == 1 && blocks->numSlots() == blocks->numCombined() &&
                       collective.inputType == collective.resultType && blocks->getConditions().empty();
  if (kind && isWhole && blocks->blockElements() == form.inElements && blocks->isInOrder())
    return emitAllReduce(b, collective, *kind);
  return emitBlocks(b, collective, *blocks);
}

struct ConvertToMPIPass : public spmd::impl::ConvertSPMDToMPIPassBase<ConvertToMPIPass> {
  using Base::Base;
  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registry.insert<complex::ComplexDialect>();
    registerEffects(registry);
  }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyConvertible(module, getArgument())))
      return signalPassFailure();
    MPIEmitter emitter(module);
    if (failed(convertCollectives(emitter)))
      return signalPassFailure();
    const char *name = implementation == MPIImplementation::OpenMPI ? "OpenMPI" : "MPICH";
    module->setAttr("dlti.map", parseAttribute(("#dlti.map<\"MPI:Implementation\" = \"" + Twine(name) + "\">").str(),
                                               &getContext()));
  }
};

} // namespace
