//===- DestinationPassing.cpp - Arguments and results as buffers ----------===//

#include "NarrowTypes.h"
#include "UpdateInPlace.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Rules/ShardingRule.h"
#include "shardkit/Rules/SymbolicSizes.h"
#include "shardkit/Target/Common/Passes.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETDESTINATIONPASSING
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;

namespace {
/// Passes arguments and results as buffers of the caller:
///
///   func.func @f(%x: tensor<8xf32>) -> tensor<8xf32>                                // before
///   func.func @f(%ctx: !llvm.ptr, %x: memref<8xf32>, %out: memref<8xf32>) -> i32    // after
///
/// A buffer of unknown size is passed as its address alone; its sizes follow from the size
/// arguments of the function (SymbolicSizes.h).
struct DestinationPassing : spmd::impl::SpmdTargetDestinationPassingBase<DestinationPassing> {
  /// The memref type of an argument or result; null after an error.
  static MemRefType bufferType(func::FuncOp func, Type type, bool hasSizes, const Twine &what);
  void runOnOperation() override;
};
} // namespace

/// The sizes of an argument or result as a map of the size arguments; null where they are known.
static AffineMap getSizes(DictionaryAttr attrs) {
  for (StringRef name : {spmd::kLocalSizesAttr, spmd::kGlobalSizesAttr})
    if (auto sizes = attrs ? attrs.getAs<AffineMapAttr>(name) : AffineMapAttr())
      return sizes.getValue();
  return {};
}

/// The buffer at the address of `buffer` with sizes that are known at run time.
static Value createSized(OpBuilder &b, Location loc, Value buffer, MemRefType type, AffineMap sizes,
                         ArrayRef<OpFoldResult> arguments) {
  SmallVector<OpFoldResult> shape, strides(type.getRank());
  for (AffineExpr size : sizes.getResults())
    shape.push_back(
        affine::makeComposedFoldedAffineApply(b, loc, AffineMap::get(0, sizes.getNumSymbols(), size), arguments));
  OpFoldResult stride = b.getIndexAttr(1);
  for (int64_t d = type.getRank() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride = affine::makeComposedFoldedAffineApply(b, loc, b.getAffineSymbolExpr(0) * b.getAffineSymbolExpr(1),
                                                   {stride, shape[d]});
  }
  return memref::ReinterpretCastOp::create(b, loc, type, buffer, b.getIndexAttr(0), shape, strides);
}

MemRefType DestinationPassing::bufferType(func::FuncOp func, Type type, bool hasSizes, const Twine &what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && !tensor.hasStaticShape() && !hasSizes) {
    func.emitError() << what << " of function '" << func.getSymName() << "' has type " << type
                     << ", expected a static shape, or sizes by --spmd-size-arguments";
    return {};
  }
  Type element = tensor ? tensor.getElementType() : type;
  bool legal = element.isF16() || element.isBF16() || element.isF32() || element.isF64() || element.isIndex() ||
               spmd::target::isNarrowFloat(element);
  for (unsigned width : {1, 8, 16, 32, 64})
    legal |= element.isSignlessInteger(width);
  if (!legal) {
    func.emitError() << what << " of function '" << func.getSymName() << "' has type " << type
                     << ", expected a tensor or scalar of an 8-bit float, f16, bf16, f32, f64, index, i1, "
                        "i8, i16, i32 or i64";
    return {};
  }
  // A pointer that is not dereferenced, or the address of a buffer of unknown size.
  if (tensor && (!tensor.hasStaticShape() || tensor.getNumElements() == 0))
    return MemRefType::get({1}, element);
  return MemRefType::get(tensor ? tensor.getShape() : ArrayRef<int64_t>(), element);
}

void DestinationPassing::runOnOperation() {
  func::FuncOp func = getOperation();
  OpBuilder builder(func.getContext());
  Location loc = func.getLoc();
  Block &body = func.getBody().front();
  auto ptr = LLVM::LLVMPointerType::get(func.getContext());
  unsigned numArgs = func.getNumArguments(), numResults = func.getNumResults();
  SmallVector<int64_t> tied(numResults, -1);
  for (unsigned i = 0; i < numResults; ++i)
    if (auto attr = func.getResultAttrOfType<IntegerAttr>(i, "spmd.tied"))
      tied[i] = attr.getInt();

  auto ret = cast<func::ReturnOp>(body.getTerminator());
  // Tied results that are computed in place.
  SmallVector<bool> isInPlace(numResults, false);
  // The first writes of updates that begin with an argument: contractions that accumulate into it, insertions of
  // slices.
  SmallVector<OpOperand *> updates(numResults);
  for (unsigned i = 0; i < numResults; ++i) {
    if (tied[i] < 0 || llvm::count(tied, tied[i]) != 1)
      continue;
    BlockArgument argument = func.getArgument(tied[i]);
    isInPlace[i] = spmd::target::canUpdateInPlace(ret.getOperand(i), argument);
    if (!isInPlace[i] && (updates[i] = spmd::target::findUpdate(ret.getOperand(i), argument)))
      isInPlace[i] = true;
  }

  SmallVector<BlockArgument> sizeArgs = spmd::getSizeArguments(func);
  SmallVector<Type> inputs{ptr}, values;
  SmallVector<AffineMap> sizes;
  for (unsigned i = 0; i < numArgs; ++i) {
    values.push_back(func.getArgument(i).getType());
    sizes.push_back(getSizes(func.getArgAttrDict(i)));
    inputs.push_back(bufferType(func, values.back(), bool(sizes.back()), "argument " + Twine(i)));
    if (!inputs.back())
      return signalPassFailure();
  }
  for (unsigned i = 0; i < numResults; ++i) {
    values.push_back(func.getResultTypes()[i]);
    sizes.push_back(getSizes(func.getResultAttrDict(i)));
    inputs.push_back(bufferType(func, values.back(), bool(sizes.back()), "result " + Twine(i)));
    if (!inputs.back())
      return signalPassFailure();
  }

  // Arguments.
  builder.setInsertionPointToStart(&body);
  SmallVector<Value> buffers;
  for (unsigned i = 0; i < inputs.size(); ++i) {
    Location argLoc = i && i <= numArgs ? body.getArgument(i - 1).getLoc() : loc;
    buffers.push_back(body.addArgument(inputs[i], argLoc));
  }
  if (func->hasAttr(spmd::target::kLayerAttr)) {
    inputs.push_back(builder.getI64Type());
    body.addArgument(inputs.back(), loc);
  }
  // Size arguments are at most their bounds: buffers on the stack are as large as these.
  SmallVector<OpFoldResult> sizeArguments;
  SmallVector<int64_t> known;
  for (BlockArgument arg : sizeArgs) {
    Value size = memref::LoadOp::create(builder, loc, buffers[1 + arg.getArgNumber()]);
    auto [least, largest] = spmd::getSizeBounds(arg);
    known.append({1 + arg.getArgNumber(), least, largest});
    if (largest < spmd::kLargestSize) {
      AffineExpr most = builder.getAffineConstantExpr(largest);
      size = affine::AffineMinOp::create(
          builder, loc, AffineMap::get(0, 1, {builder.getAffineSymbolExpr(0), most}, func.getContext()),
          ValueRange{size});
    }
    arg.replaceAllUsesWith(size);
    sizeArguments.push_back(size);
  }
  for (auto [i, type] : llvm::enumerate(values))
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && !tensor.hasStaticShape())
      buffers[1 + i] =
          createSized(builder, loc, buffers[1 + i], MemRefType::get(tensor.getShape(), tensor.getElementType()),
                      sizes[i], sizeArguments);
  for (unsigned i = 0; i < numArgs; ++i) {
    BlockArgument arg = body.getArgument(i);
    if (arg.use_empty())
      continue;
    Value buffer = buffers[1 + i], value;
    auto tensor = dyn_cast<RankedTensorType>(arg.getType());
    if (tensor && tensor.hasStaticShape() && tensor.getNumElements() == 0)
      value = tensor::EmptyOp::create(builder, arg.getLoc(), tensor.getShape(), tensor.getElementType());
    else if (tensor)
      value = bufferization::ToTensorOp::create(builder, arg.getLoc(), arg.getType(), buffer, /*restrict=*/true);
    else
      value = memref::LoadOp::create(builder, arg.getLoc(), buffer);
    arg.replaceAllUsesWith(value);
  }
  body.eraseArguments(0, numArgs);
  // Their init is the buffer of the result: the argument is there already, or is copied.
  for (unsigned i = 0; i < numResults; ++i) {
    if (!updates[i] || spmd::hasNoElements(cast<RankedTensorType>(updates[i]->get().getType())))
      continue;
    Operation *first = updates[i]->getOwner();
    Location at = first->getLoc();
    builder.setInsertionPoint(first);
    Value from = buffers[1 + tied[i]], to = buffers[1 + numArgs + i];
    Value isSeparate = arith::CmpIOp::create(builder, at, arith::CmpIPredicate::ne,
                                             memref::ExtractAlignedPointerAsIndexOp::create(builder, at, from),
                                             memref::ExtractAlignedPointerAsIndexOp::create(builder, at, to));
    auto branch = scf::IfOp::create(builder, at, isSeparate, /*withElseRegion=*/false);
    OpBuilder inside = branch.getThenBodyBuilder();
    memref::CopyOp::create(inside, at, from, to);
    Operation *argument = updates[i]->get().getDefiningOp();
    updates[i]->set(bufferization::ToTensorOp::create(builder, at, updates[i]->get().getType(), to,
                                                      /*restrict=*/true, /*writable=*/true));
    if (argument->use_empty())
      argument->erase();
  }

  // Results; those that may alias an argument are last.
  builder.setInsertionPoint(ret);
  auto store = [&](Value value, unsigned i) {
    Value buffer = buffers[1 + numArgs + i];
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    if (tensor && spmd::hasNoElements(tensor))
      return;
    if (!tensor) {
      memref::StoreOp::create(builder, ret.getLoc(), value, buffer, ValueRange{});
      return;
    }
    bufferization::MaterializeInDestinationOp::create(builder, ret.getLoc(), Type(), value, buffer, /*restrict=*/true,
                                                      /*writable=*/true);
  };
  // All copies precede all stores: a value may be in the buffer of another result.
  SmallVector<Value> returned(ret.getOperands());
  for (auto [i, value] : llvm::enumerate(returned))
    if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && tied[i] >= 0 && !isInPlace[i])
      value = bufferization::MaterializeInDestinationOp::create(
                  builder, ret.getLoc(), type, value,
                  bufferization::AllocTensorOp::create(builder, ret.getLoc(), type,
                                                       tensor::createDynamicDimValues(builder, ret.getLoc(), value)))
                  .getResult();
  for (bool isTied : {false, true})
    for (auto [i, value] : llvm::enumerate(returned))
      if ((tied[i] >= 0) == isTied)
        store(value, i);
  auto i32 = builder.getI32Type();
  Value zero = arith::ConstantOp::create(builder, ret.getLoc(), builder.getI32IntegerAttr(0));
  func::ReturnOp::create(builder, ret.getLoc(), zero);
  ret.erase();

  func->setAttr("spmd_rt.num_args", builder.getI64IntegerAttr(numArgs));
  if (!known.empty())
    func->setAttr(spmd::target::kSizesAttr, builder.getDenseI64ArrayAttr(known));
  func.setAllArgAttrs(ArrayRef<DictionaryAttr>{});
  func.setAllResultAttrs(ArrayRef<DictionaryAttr>{});
  func.setType(builder.getFunctionType(inputs, {i32}));
  // Buffers do not overlap, except those of tied pairs.
  SmallVector<bool> shared(inputs.size(), false);
  for (unsigned i = 0; i < numResults; ++i)
    if (tied[i] >= 0) {
      shared[1 + numArgs + i] = true;
      if (tied[i] < int64_t(numArgs))
        shared[1 + tied[i]] = true;
    }
  for (unsigned i = 1; i < inputs.size(); ++i)
    if (!shared[i] && isa<MemRefType>(inputs[i]))
      func.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
}
