//===- LowerToCalls.cpp - Calls of the runtime ----------------------------===//

#include "shardkit/Target/Common/Passes.h"
#include "shardkit/rt/abi.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include <cstddef>

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETLOWERTOCALLS
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd::target;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

namespace {
struct LoopDim {
  int32_t role;
  int64_t size, a, b, c;
  std::array<int64_t, SK_MAX_ADDED> added;

  /// Whether this loop and `inner` can be merged.
  bool continues(const LoopDim &inner) const {
    bool does =
        role == inner.role && a == inner.a * inner.size && b == inner.b * inner.size && c == inner.c * inner.size;
    for (auto [outer, stride] : llvm::zip(added, inner.added))
      does &= outer == stride * inner.size;
    return does;
  }
};
} // namespace

static int32_t dtypeOf(Type type) {
  if (type.isF64())
    return SK_F64;
  if (type.isF32())
    return SK_F32;
  if (type.isInteger(1))
    return SK_I1;
  return type.isF16() ? SK_F16 : SK_BF16;
}

/// The stride of each loop in an operand, or 0.
static SmallVector<int64_t> loopStrides(AffineMap map, Value buffer) {
  SmallVector<int64_t> strides, loops(map.getNumDims(), 0);
  int64_t offset;
  (void)cast<MemRefType>(buffer.getType()).getStridesAndOffset(strides, offset);
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), strides))
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      loops[loop.getPosition()] = stride;
  return loops;
}

/// Loops larger than 1 by role, each role from major to minor. Adjacent loops that are
/// contiguous in all operands are merged.
static SmallVector<LoopDim> loopDims(ContractOp op) {
  auto maps = llvm::to_vector(op.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  SmallVector<int64_t> sizes = *op.getLoopSizes();
  auto a = loopStrides(maps[0], op.getA()), b = loopStrides(maps[1], op.getB()), c = loopStrides(maps[2], op.getC());
  SmallVector<SmallVector<int64_t>> added;
  for (auto [map, value] : llvm::zip_equal(ArrayRef(maps).drop_front(3), op.getAdded()))
    added.push_back(loopStrides(map, value));
  SmallVector<LoopDim> dims;
  for (unsigned i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1)
      continue;
    bool inA = maps[0].isFunctionOfDim(i), inB = maps[1].isFunctionOfDim(i), inC = maps[2].isFunctionOfDim(i);
    int32_t role = inA && inB && inC ? SK_BATCH : !inB ? SK_M : !inA ? SK_N : SK_K;
    LoopDim &dim = dims.emplace_back(LoopDim{role, sizes[i], a[i], b[i], c[i], {}});
    for (auto [k, strides] : llvm::enumerate(added))
      dim.added[k] = strides[i];
  }
  llvm::stable_sort(dims, [](const LoopDim &x, const LoopDim &y) {
    if (x.role != y.role)
      return x.role < y.role;
    if (x.c != y.c)
      return x.c > y.c;
    return x.a != y.a ? x.a > y.a : x.b > y.b;
  });
  SmallVector<LoopDim> joined;
  for (const LoopDim &dim : dims) {
    if (!joined.empty() && joined.back().continues(dim)) {
      int64_t size = joined.back().size;
      joined.back() = dim;
      joined.back().size *= size;
      continue;
    }
    joined.push_back(dim);
  }
  return joined;
}

/// The 8-byte words of a descriptor in memory.
template <typename T> static SmallVector<int64_t> wordsOf(const T &desc) {
  static_assert(sizeof desc % sizeof(int64_t) == 0);
  SmallVector<int64_t> words(sizeof desc / sizeof(int64_t));
  memcpy(words.data(), &desc, sizeof desc);
  return words;
}

static SmallVector<int64_t> encode(ContractOp op) {
  sk_fused_contraction_desc fused = {};
  sk_contraction_desc &desc = fused.product;
  desc.abi = SK_ABI_VERSION;
  desc.in_dtype = dtypeOf(cast<MemRefType>(op.getA().getType()).getElementType());
  desc.out_dtype = dtypeOf(cast<MemRefType>(op.getC().getType()).getElementType());
  desc.accumulate = !op.getOverwrite();
  for (const LoopDim &dim : loopDims(op)) {
    for (int i = 0; i < SK_MAX_ADDED; ++i)
      fused.added[i][desc.num_dims] = dim.added[i];
    auto &entry = desc.dims[desc.num_dims++];
    entry.role = dim.role;
    entry.size = dim.size;
    entry.stride_a = dim.a;
    entry.stride_b = dim.b;
    entry.stride_c = dim.c;
  }
  if (!op.isFused())
    return wordsOf(desc);
  fused.num_added = op.getAdded().size();
  if (std::optional<StringRef> activation = op.getActivation())
    fused.activation = *activation == "relu" ? SK_RELU : SK_GELU;
  return wordsOf(fused);
}

/// The roles of the loops of a contraction whose sizes are known at run time only.
static SmallVector<int64_t> encodeRoles(ContractOp op) {
  auto maps = llvm::to_vector(op.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  sk_contraction_desc desc = {};
  desc.abi = SK_ABI_VERSION;
  desc.in_dtype = dtypeOf(cast<MemRefType>(op.getA().getType()).getElementType());
  desc.out_dtype = dtypeOf(cast<MemRefType>(op.getC().getType()).getElementType());
  desc.accumulate = !op.getOverwrite();
  for (unsigned i = 0; i < maps[0].getNumDims(); ++i) {
    bool inA = maps[0].isFunctionOfDim(i), inB = maps[1].isFunctionOfDim(i), inC = maps[2].isFunctionOfDim(i);
    desc.dims[desc.num_dims++].role = inA && inB && inC ? SK_BATCH : !inB ? SK_M : !inA ? SK_N : SK_K;
  }
  return wordsOf(desc);
}

/// How far an element of the dims that are zeros in `map` is from the first one.
static int64_t findZeroDims(AffineMap map, Value buffer, int64_t number) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset, distance = 0;
  (void)type.getStridesAndOffset(strides, offset);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim)
    if (isa<AffineConstantExpr>(map.getResult(dim))) {
      distance += number % type.getDimSize(dim) * strides[dim];
      number /= type.getDimSize(dim);
    }
  return distance;
}

/// The numbers of all cases, where `distanceOf` gives that of an element; how many there are.
static int32_t encodeInner(std::optional<ArrayRef<int64_t>> cases, function_ref<int64_t(int64_t)> distanceOf,
                           sk_inner_number *to) {
  for (size_t at = 0; cases && at < cases->size(); at += 7, ++to) {
    ArrayRef<int64_t> from = cases->slice(at, 7);
    for (int k = 0; k < 2; ++k) {
      to->at[k] = int32_t(distanceOf(from[3 * k]));
      to->shift[k] = int32_t(from[3 * k + 1]);
      to->mask[k] = int32_t(from[3 * k + 2]);
    }
    to->is_signed = int32_t(from[6]);
  }
  return cases ? int32_t(cases->size() / 7) : 0;
}

static SmallVector<int64_t> encode(ContractWidenedOp op) {
  auto maps = llvm::to_vector(op.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  SmallVector<int64_t> sizes = *op.getLoopSizes();
  sk_widened_desc desc = {};
  desc.abi = SK_ABI_VERSION;
  desc.number = llvm::StringSwitch<int32_t>(op.getNumber())
                    .Case("table", SK_NUMBER_TABLE)
                    .Case("i8", SK_NUMBER_I8)
                    .Case("e4m3", SK_NUMBER_E4M3)
                    .Default(SK_NUMBER_I6);
  desc.accumulate = !op.getOverwrite();
  if (auto table = op.getTable())
    llvm::copy(*table, desc.table);
  auto shiftOf = [](std::optional<ArrayRef<int64_t>> shifts, unsigned i) { return shifts ? int32_t((*shifts)[i]) : 0; };
  desc.shift = shiftOf(op.getShifts(), 0);
  desc.high_shift = shiftOf(op.getHighShifts(), 0);
  auto distanceOf = [&](int64_t number) {
    auto inner = llvm::find(op.getRoles(), StringAttr::get(op.getContext(), "inner")) - op.getRoles().begin();
    return findZeroDims(maps[2 + inner], op.getStored()[inner], number);
  };
  const int32_t scales = encodeInner(op.getInnerScale(), distanceOf, desc.inner_scale);
  const int32_t offsets = encodeInner(op.getInnerOffset(), distanceOf, desc.inner_offset);
  desc.num_inner_cases = std::max(scales, offsets);
  desc.has_inner_scale = scales > 0;
  desc.has_inner_offset = offsets > 0;
  const unsigned last = op.getNumOperands() - 1;
  auto x = loopStrides(maps[0], op.getX()), payload = loopStrides(maps[1], op.getPayload());
  auto c = loopStrides(maps[last], op.getC());
  SmallVector<int64_t> none(sizes.size(), 0);
  llvm::StringMap<SmallVector<int64_t>> parts;
  for (auto [i, part] : llvm::enumerate(op.getRoles().getAsValueRange<StringAttr>()))
    parts[part] = loopStrides(maps[2 + i], op.getStored()[i]);
  auto strideOf = [&](StringRef part, unsigned loop) {
    auto found = parts.find(part);
    return found == parts.end() ? 0 : found->second[loop];
  };
  for (unsigned i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1)
      continue;
    auto &dim = desc.dims[desc.num_dims++];
    dim.role = !maps[last].isFunctionOfDim(i) ? SK_K : maps[0].isFunctionOfDim(i) ? SK_M : SK_N;
    dim.shift = shiftOf(op.getShifts(), 1 + i);
    dim.high_shift = shiftOf(op.getHighShifts(), 1 + i);
    dim.size = sizes[i];
    dim.stride_x = x[i];
    dim.stride_payload = payload[i];
    dim.stride_high = strideOf("high", i);
    dim.stride_scale = strideOf("scale", i);
    dim.stride_offset = strideOf("offset", i);
    dim.stride_inner = strideOf("inner", i);
    dim.inner_case = shiftOf(op.getInnerCases(), i);
    dim.stride_c = c[i];
  }
  return wordsOf(desc);
}

/// Sizes and strides.
static void layOut(AttentionOp op, sk_attention_desc &desc) {
  auto maps = llvm::to_vector(op.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  SmallVector<int64_t> sizes = *op.getLoopSizes();
  AttentionOp::Roles roles = *op.getRoles();
  desc.queries = sizes[roles.queries];
  desc.keys = sizes[roles.keys];
  desc.head = sizes[roles.head];
  desc.values = sizes[roles.values];
  for (auto [i, loop] : llvm::enumerate(roles.batch))
    desc.batch[i] = sizes[loop];
  auto layOut = [&](sk_attention_operand &to, AffineMap map, Value buffer, int64_t row, int64_t column) {
    SmallVector<int64_t> strides = loopStrides(map, buffer);
    for (auto [i, loop] : llvm::enumerate(roles.batch))
      to.batch[i] = strides[loop];
    to.row = strides[row];
    to.column = strides[column];
  };
  layOut(desc.q, maps[0], op.getQ(), roles.queries, roles.head);
  layOut(desc.k, maps[1], op.getK(), roles.keys, roles.head);
  layOut(desc.v, maps[2], op.getV(), roles.keys, roles.values);
  layOut(desc.out, maps.back(), op.getInit(), roles.queries, roles.values);
  for (auto [i, buffer] : llvm::enumerate(op.getScoreOperands()))
    layOut(desc.operands[i], maps[3 + i], buffer, roles.queries, roles.keys);
}

static SmallVector<int64_t> encode(AttentionOp op) {
  AttentionOp::Roles roles = *op.getRoles();
  auto elementType = [](Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); };
  sk_attention_desc desc = {};
  desc.abi = SK_ABI_VERSION;
  desc.in_dtype = dtypeOf(elementType(op.getQ()));
  desc.out_dtype = dtypeOf(elementType(op.getInit()));
  desc.num_batch = int32_t(roles.batch.size());
  for (Value buffer : op.getScoreOperands())
    desc.operand_dtypes[desc.num_operands++] = dtypeOf(elementType(buffer));
  if (!op.isDynamic())
    layOut(op, desc);
  for (auto dictionary : op.getSteps().getAsRange<DictionaryAttr>()) {
    auto &step = desc.steps[desc.num_steps++];
    for (auto [name, kind] :
         {std::pair("scale", SK_SCALE), std::pair("add", SK_ADD), std::pair("subtract", SK_SUBTRACT),
          std::pair("multiply", SK_MULTIPLY), std::pair("select", SK_SELECT), std::pair("causal", SK_CAUSAL),
          std::pair("round", SK_ROUND)}) {
      Attribute value = dictionary.get(name);
      if (!value)
        continue;
      step.kind = kind;
      if (kind == SK_SCALE)
        step.value = float(cast<FloatAttr>(value).getValueAsDouble());
      else if (kind == SK_CAUSAL)
        step.offset = cast<IntegerAttr>(value).getInt();
      else if (kind == SK_ROUND)
        step.dtype = dtypeOf(cast<TypeAttr>(value).getValue());
      else
        step.operand = int32_t(cast<IntegerAttr>(value).getInt());
    }
    if (auto keep = dictionary.getAs<BoolAttr>("keep"))
      step.keep = keep.getValue();
    if (auto otherwise = dictionary.getAs<FloatAttr>("otherwise"))
      step.value = float(otherwise.getValueAsDouble());
  }
  return wordsOf(desc);
}

Value spmd::target::getPointer(OpBuilder &b, Location loc, Value buffer) {
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  auto type = cast<MemRefType>(buffer.getType());
  Value index = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer);
  Value word = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  Value base = LLVM::IntToPtrOp::create(b, loc, ptr, word);
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  if (offset == 0)
    return base;
  Type element = type.getElementType();
  if (element.isIndex())
    element = b.getI64Type();
  if (!ShapedType::isDynamic(offset))
    return LLVM::GEPOp::create(b, loc, ptr, element, base, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, buffer);
  Value dynamic = arith::IndexCastOp::create(b, loc, b.getI64Type(), metadata.getOffset());
  return LLVM::GEPOp::create(b, loc, ptr, element, base, ArrayRef<LLVM::GEPArg>{dynamic});
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Memory on the stack of the function of `op` with these words.
static Value storeWords(OpBuilder &b, Operation *op, ValueRange words) {
  Location loc = op->getLoc();
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  OpBuilder atBegin = OpBuilder::atBlockBegin(&op->getParentOfType<func::FuncOp>().getBody().front());
  Value number = LLVM::ConstantOp::create(atBegin, loc, b.getI64Type(), int64_t(words.size()));
  Value memory = LLVM::AllocaOp::create(atBegin, loc, ptr, b.getI64Type(), number, 8);
  for (auto [i, word] : llvm::enumerate(words))
    LLVM::StoreOp::create(b, loc, arith::IndexCastOp::create(b, loc, b.getI64Type(), word),
                          LLVM::GEPOp::create(b, loc, ptr, b.getI64Type(), memory, ArrayRef<LLVM::GEPArg>{int32_t(i)}));
  return memory;
}

/// The address of the sizes and strides of a contraction: of each loop its size, and its strides in A, B and C.
static Value storeDims(OpBuilder &b, ContractOp op) {
  Location loc = op.getLoc();
  auto maps = llvm::to_vector(op.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  const unsigned numLoops = maps[0].getNumDims();
  SmallVector<Value> words(4 * numLoops, arith::ConstantIndexOp::create(b, loc, 0));
  for (unsigned operand = 0; operand < 3; ++operand) {
    Value buffer = op->getOperand(operand);
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, buffer);
    for (auto [d, expr] : llvm::enumerate(maps[operand].getResults())) {
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      words[4 * loop] = metadata.getSizes()[d];
      words[4 * loop + 1 + operand] = metadata.getStrides()[d];
    }
  }
  return storeWords(b, op, words);
}

/// The sizes and strides of attention, in the order of the descriptor.
static Value storeDims(OpBuilder &b, AttentionOp op) {
  Location loc = op.getLoc();
  auto maps = llvm::to_vector(op.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  AttentionOp::Roles roles = *op.getRoles();
  constexpr unsigned numSizes = 4 + SK_MAX_ATTENTION_BATCH, perOperand = SK_MAX_ATTENTION_BATCH + 2;
  constexpr unsigned numWords = numSizes + (4 + SK_MAX_ATTENTION_OPERANDS) * perOperand;
  static_assert(offsetof(sk_attention_desc, operand_dtypes) ==
                offsetof(sk_attention_desc, queries) + numWords * sizeof(int64_t));
  SmallVector<Value> words(numWords, arith::ConstantIndexOp::create(b, loc, 0));
  // Where no operand has a loop.
  for (unsigned i = 0; i < 4 + roles.batch.size(); ++i)
    words[i] = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<int64_t> order = {roles.queries, roles.keys, roles.head, roles.values};
  llvm::append_range(order, roles.batch);
  auto layOut = [&](unsigned number, AffineMap map, Value buffer, int64_t row, int64_t column) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, buffer);
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      const int64_t loop = cast<AffineDimExpr>(expr).getPosition();
      const unsigned size = llvm::find(order, loop) - order.begin();
      words[size] = metadata.getSizes()[d];
      const unsigned stride = loop == row      ? SK_MAX_ATTENTION_BATCH
                              : loop == column ? SK_MAX_ATTENTION_BATCH + 1
                                               : size - 4;
      words[numSizes + number * perOperand + stride] = metadata.getStrides()[d];
    }
  };
  layOut(0, maps[0], op.getQ(), roles.queries, roles.head);
  layOut(1, maps[1], op.getK(), roles.keys, roles.head);
  layOut(2, maps[2], op.getV(), roles.keys, roles.values);
  layOut(3, maps.back(), op.getInit(), roles.queries, roles.values);
  for (auto [i, buffer] : llvm::enumerate(op.getScoreOperands()))
    layOut(4 + i, maps[3 + i], buffer, roles.queries, roles.keys);
  return storeWords(b, op, words);
}

namespace {
struct LowerToCalls : spmd::impl::SpmdTargetLowerToCallsBase<LowerToCalls> {
  func::FuncOp declare(OpBuilder &b, StringRef name, TypeRange inputs, Type result) {
    ModuleOp module = getOperation();
    if (auto func = module.lookupSymbol<func::FuncOp>(name))
      return func;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto func = func::FuncOp::create(b, module.getLoc(), name, b.getFunctionType(inputs, {result}));
    func.setPrivate();
    return func;
  }

  /// The address of a constant with these words; equal constants are shared.
  Value descriptor(OpBuilder &b, Operation *op, StringRef name, ArrayRef<int64_t> words) {
    ModuleOp module = getOperation();
    auto [it, isNew] =
        globals.try_emplace(std::string(reinterpret_cast<const char *>(words.data()), words.size() * 8), "");
    auto type = LLVM::LLVMArrayType::get(b.getI64Type(), words.size());
    if (isNew) {
      it->second = (name + Twine(globals.size() - 1)).str();
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      LLVM::GlobalOp::create(
          b, op->getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal, it->second,
          DenseElementsAttr::get(RankedTensorType::get({int64_t(words.size())}, b.getI64Type()), words),
          /*alignment=*/8);
    }
    return LLVM::AddressOfOp::create(b, op->getLoc(), LLVM::LLVMPointerType::get(b.getContext()), it->second);
  }

  /// Memory for the addresses of operands, shared by all calls of a function.
  Value attentionOperands(func::FuncOp func) {
    Value &known = operandAddresses[func];
    if (known)
      return known;
    OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
    Type ptr = LLVM::LLVMPointerType::get(&getContext());
    Value number = LLVM::ConstantOp::create(b, func.getLoc(), b.getI64Type(), int64_t(SK_MAX_ATTENTION_OPERANDS));
    return known = LLVM::AllocaOp::create(b, func.getLoc(), ptr, ptr, number, 8);
  }

  /// The address of a zero-terminated string.
  Value text(OpBuilder &b, Location loc, StringRef string) {
    auto [it, isNew] = globals.try_emplace("\"" + string.str(), "");
    std::string bytes = string.str() + '\0';
    if (isNew) {
      it->second = "text_" + std::to_string(globals.size() - 1);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(getOperation().getBody());
      LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()),
                             /*isConstant=*/true, LLVM::Linkage::Internal, it->second, b.getStringAttr(bytes));
    }
    return LLVM::AddressOfOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), it->second);
  }

  void runOnOperation() override;
  std::map<std::string, std::string> globals;
  DenseMap<Operation *, Value> operandAddresses; ///< The memory of each function.
};
} // namespace

void LowerToCalls::runOnOperation() {
  globals.clear();
  operandAddresses.clear();
  SmallVector<Operation *> ops;
  getOperation().walk([&](Operation *op) {
    if (isa_and_nonnull<SpmdRtDialect>(op->getDialect()) || isa<cf::AssertOp>(op))
      ops.push_back(op);
  });
  OpBuilder b(&getContext());
  Type ptr = LLVM::LLVMPointerType::get(&getContext());
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  for (Operation *op : ops) {
    b.setInsertionPoint(op);
    Location loc = op->getLoc();
    auto func = op->getParentOfType<func::FuncOp>();
    Value context = func.getArgument(0);
    auto constant = [&](int64_t v) -> Value { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(v)); };
    // The number of a collective; those of a layer follow the number that the call gives.
    auto number = [&](int64_t id) -> Value {
      if (!func->hasAttr(kLayerAttr))
        return constant(id);
      return arith::AddIOp::create(b, loc, func.getArguments().back(), constant(id));
    };
    if (auto contract = dyn_cast<ContractOp>(op); contract && contract.isDynamic()) {
      SmallVector<Value> args{context, descriptor(b, op, "contraction_", encodeRoles(contract)),
                              storeDims(b, contract)};
      for (Value buffer : contract->getOperands())
        args.push_back(getPointer(b, loc, buffer));
      func::CallOp::create(b, loc, declare(b, "sk_contraction_at", SmallVector<Type>(args.size(), ptr), i32), args);
    } else if (contract) {
      SmallVector<Value> args{context, descriptor(b, op, "contraction_", encode(contract))};
      for (Value buffer : contract->getOperands())
        args.push_back(getPointer(b, loc, buffer));
      if (contract.isFused())
        while (args.size() < 5 + SK_MAX_ADDED)
          args.push_back(LLVM::ZeroOp::create(b, loc, ptr));
      auto callee = declare(b, contract.isFused() ? "sk_fused_contraction" : "sk_contraction",
                            SmallVector<Type>(args.size(), ptr), i32);
      func::CallOp::create(b, loc, callee, args);
    } else if (auto widened = dyn_cast<ContractWidenedOp>(op)) {
      SmallVector<Value> args{context, descriptor(b, op, "widened_", encode(widened)),
                              getPointer(b, loc, widened.getX()), getPointer(b, loc, widened.getPayload())};
      for (StringRef name : {"high", "scale", "offset", "inner"}) {
        Value pointer;
        for (auto [part, buffer] :
             llvm::zip_equal(widened.getRoles().getAsValueRange<StringAttr>(), widened.getStored()))
          if (part == name)
            pointer = getPointer(b, loc, buffer);
        args.push_back(pointer ? pointer : LLVM::ZeroOp::create(b, loc, ptr).getResult());
      }
      args.push_back(getPointer(b, loc, widened.getC()));
      func::CallOp::create(b, loc, declare(b, "sk_widened_contraction", SmallVector<Type>(args.size(), ptr), i32),
                           args);
    } else if (auto attention = dyn_cast<AttentionOp>(op)) {
      SmallVector<Value> args{context, descriptor(b, op, "attention_", encode(attention))};
      if (attention.isDynamic())
        args.push_back(storeDims(b, attention));
      for (Value buffer : {attention.getQ(), attention.getK(), attention.getV(), attention.getInit()})
        args.push_back(getPointer(b, loc, buffer));
      Value operands = attentionOperands(op->getParentOfType<func::FuncOp>());
      for (auto [i, buffer] : llvm::enumerate(attention.getScoreOperands()))
        LLVM::StoreOp::create(b, loc, getPointer(b, loc, buffer),
                              LLVM::GEPOp::create(b, loc, ptr, ptr, operands, ArrayRef<LLVM::GEPArg>{int32_t(i)}));
      args.push_back(operands);
      auto callee = declare(b, attention.isDynamic() ? "sk_attention_at" : "sk_attention",
                            SmallVector<Type>(args.size(), ptr), i32);
      func::CallOp::create(b, loc, callee, args);
    } else if (auto find = dyn_cast<FindRowsOp>(op)) {
      Value count = arith::IndexCastOp::create(b, loc, i64, memref::DimOp::create(b, loc, find.getFlags(), 0));
      func::CallOp::create(
          b, loc, declare(b, "sk_find_rows", {ptr, ptr, i64, ptr}, i32),
          ValueRange{context, getPointer(b, loc, find.getFlags()), count, getPointer(b, loc, find.getInit())});
    } else if (auto layer = dyn_cast<spmd::target::CallOp>(op)) {
      // Functions pass memrefs as their addresses: see buildLoopsToLLVM.
      SmallVector<Value> args{context};
      for (Value buffer : op->getOperands())
        args.push_back(getPointer(b, loc, buffer));
      args.push_back(number(layer.getFirstCollective()));
      LLVM::CallOp::create(b, loc, TypeRange{i32}, layer.getCallee(), args);
    } else if (auto collective = dyn_cast<CollectiveOp>(op)) {
      int64_t batchDims = collective.getBatchDims();
      bool hasOffsets = !collective.getOffsets().empty();
      bool hasMasks = collective.getInputRows() || collective.getOutputRows();
      auto countOf = [&](Value buffer, int64_t dims) {
        Value count = arith::ConstantIndexOp::create(b, loc, 1);
        for (int64_t d = 0; d < dims; ++d)
          count = arith::MulIOp::create(b, loc, count, memref::DimOp::create(b, loc, buffer, d));
        return arith::IndexCastOp::create(b, loc, i64, count).getResult();
      };
      SmallVector<Value> args{context, number(collective.getId())};
      SmallVector<Type> types{ptr, i64};
      if (batchDims > 0 || hasOffsets || hasMasks) {
        args.push_back(countOf(collective.getInput(), batchDims));
        types.push_back(i64);
      }
      if (hasOffsets) {
        args.push_back(storeWords(b, op, collective.getOffsets()));
        types.push_back(ptr);
      }
      if (hasMasks)
        for (Value mask : {collective.getInputRows(), collective.getOutputRows()}) {
          args.push_back(mask ? countOf(mask, cast<MemRefType>(mask.getType()).getRank()) : constant(0));
          args.push_back(mask ? getPointer(b, loc, mask) : LLVM::ZeroOp::create(b, loc, ptr).getResult());
          types.append({i64, ptr});
        }
      args.push_back(getPointer(b, loc, collective.getInput()));
      args.push_back(getPointer(b, loc, collective.getInit()));
      types.append({ptr, ptr});
      StringRef name = hasMasks        ? "sk_collective_rows"
                       : hasOffsets    ? "sk_collective_at"
                       : batchDims > 0 ? "sk_collective_batch"
                                       : "sk_collective";
      func::CallOp::create(b, loc, declare(b, name, types, i32), args);
    } else if (auto probe = dyn_cast<spmd::target::ProbeOp>(op)) {
      auto callee = declare(b, "sk_probe", {ptr, i64, ptr}, i32);
      func::CallOp::create(b, loc, callee,
                           ValueRange{context, constant(probe.getId()), getPointer(b, loc, probe.getInput())});
    } else if (auto assertion = dyn_cast<cf::AssertOp>(op)) {
      auto callee = declare(b, "sk_assert", {ptr, i32, ptr}, i32);
      Value message = text(b, loc, getText(assertion));
      Value holds = arith::ExtUIOp::create(b, loc, i32, assertion.getArg());
      func::CallOp::create(b, loc, callee, ValueRange{context, holds, message});
    } else if (isa<spmd::target::StartOp, spmd::target::DoneOp>(op)) {
      auto callee = declare(b, isa<spmd::target::StartOp>(op) ? "sk_collective_start" : "sk_collective_done",
                            {ptr, i64, ptr, ptr}, i32);
      func::CallOp::create(b, loc, callee,
                           ValueRange{context, number(op->getAttrOfType<IntegerAttr>("id").getInt()),
                                      getPointer(b, loc, op->getOperand(0)), getPointer(b, loc, op->getOperand(1))});
    } else if (auto said = dyn_cast<TextOp>(op)) {
      op->replaceAllUsesWith(ValueRange{text(b, loc, said.getText())});
    } else if (isa<FailureWordOp>(op)) {
      Value slot = LLVM::AllocaOp::create(b, loc, ptr, ptr, constant(1), 8);
      func::CallOp::create(b, loc, declare(b, "sk_failure_word", {ptr, ptr}, i32), ValueRange{context, slot});
      op->replaceAllUsesWith(ValueRange{LLVM::LoadOp::create(b, loc, ptr, slot)});
    } else if (auto coordinate = dyn_cast<CoordinateOp>(op)) {
      auto callee = declare(b, "sk_coordinate", {ptr, i64, i64}, i64);
      auto call = func::CallOp::create(
          b, loc, callee, ValueRange{context, constant(coordinate.getStride()), constant(coordinate.getSize())});
      Value index = arith::IndexCastOp::create(b, loc, b.getIndexType(), call.getResult(0));
      coordinate.getResult().replaceAllUsesWith(index);
    }
    op->erase();
  }
}
