//===- SizeArguments.cpp - Arguments for sizes that only the run knows ----===//

#include "SizeOptions.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Dialect/SPMD/IR/Verification.h"
#include "shardkit/Passes.h"
#include "shardkit/Rules/SymbolicSizes.h"
#include "shardkit/Support/Names.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDSIZEARGUMENTSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// Makes structured ops of those that upstream folds to a constant where both operands are the same: x - x of unknown
/// size would be one without a size.
static void expandFoldedOps(func::FuncOp func) {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isa<arith::SubIOp, arith::XOrIOp, arith::CmpIOp>(op))
      if (auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType()); type && !type.hasStaticShape())
        ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder b(op);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value empty = tensor::EmptyOp::create(b, op->getLoc(), tensor::getMixedSizes(b, op->getLoc(), op->getOperand(0)),
                                          type.getElementType());
    SmallVector<AffineMap> maps(3, b.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(b, op->getLoc(), type, op->getOperands(), empty, maps, iterators,
                                             [&](OpBuilder &b, Location loc, ValueRange args) {
                                               Operation *scalar = b.clone(*op);
                                               scalar->setOperands(args.take_front(2));
                                               scalar->getResult(0).setType(type.getElementType());
                                               scalar->setDiscardableAttrs(ArrayRef<NamedAttribute>());
                                               linalg::YieldOp::create(b, loc, scalar->getResult(0));
                                             });
    generic->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op->replaceAllUsesWith(generic);
    op->erase();
  }
}

namespace {

/// Adds the size arguments of one function:
///   1. Each `?` of an argument gets a name: that in `spmd.symbols`, or `x.0` for dim 0 of x. It may also be a sum,
///      difference or product of names.
///   2. Each name gets an argument, after all others, with its bound.
///   3. Sizes in the body that follow from these are computed from them, and reshapes to such sizes
///      become ops that state which dims they join and split.
///   4. `spmd.global_sizes` of arguments and results says what each size is.
class SizeArguments {
public:
  SizeArguments(func::FuncOp func, const llvm::StringMap<int64_t> &hints) : func(func), hints(hints) {}
  LogicalResult run();

private:
  LogicalResult nameSizes();
  /// Checks that each name follows from the sizes of arguments: as a dim, or from one that has it and known names.
  LogicalResult checkShown(ArrayRef<DimSymbols> dims);
  LogicalResult addArguments();
  /// The likely size of a name, within its bound; null without one.
  FailureOr<IntegerAttr> getHint(StringAttr name, ArrayAttr bound);
  void replaceDims(SymbolicSizes sizes);
  void splitReshapes(SymbolicSizes sizes);
  Value createSize(OpBuilder &b, Location loc, AffineExpr size);
  LogicalResult describeResults(SymbolicSizes sizes);
  static bool isDynamic(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  }

  func::FuncOp func;
  const llvm::StringMap<int64_t> &hints;
  llvm::MapVector<StringAttr, unsigned> names; ///< With the number of the size.
  SmallVector<std::pair<BlockArgument, SmallVector<AffineExpr>>> shapes;
};

struct SizeArgumentsPass : public spmd::impl::SPMDSizeArgumentsPassBase<SizeArgumentsPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registry.insert<linalg::LinalgDialect, tensor::TensorDialect>(); // of expandFoldedOps
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyInput(module, Phase::Final, getArgument())))
      return signalPassFailure();
    if (getPhase(module) > int(Phase::Annotated))
      return;
    llvm::DenseSet<StringRef> references; // They have the type of the function.
    for (auto func : module.getOps<func::FuncOp>())
      if (auto name = func->getAttrOfType<FlatSymbolRefAttr>(kReferenceAttr))
        references.insert(name.getValue());
    for (auto func : module.getOps<func::FuncOp>())
      expandFoldedOps(func);
    llvm::StringMap<int64_t> sizes;
    if (failed(readHints(sizes)))
      return signalPassFailure();
    llvm::SetVector<StringRef> known;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isExternal() || !(func.isPublic() || references.contains(func.getName())))
        continue;
      if (failed(SizeArguments(func, sizes).run()))
        return signalPassFailure();
      for (BlockArgument size : getSizeArguments(func))
        known.insert(func.getArgAttrOfType<StringAttr>(size.getArgNumber(), kSizeAttr).getValue());
    }
    for (StringRef hint : hints)
      if (StringRef name = hint.split('=').first; !known.contains(name)) {
        emitError(module.getLoc()) << "hint '" << hint << "' names a size that no argument has, expected one of "
                                   << nearestNames(name, known.getArrayRef());
        return signalPassFailure();
      }
  }

private:
  LogicalResult readHints(llvm::StringMap<int64_t> &sizes) {
    for (StringRef hint : hints) {
      FailureOr<std::pair<StringRef, int64_t>> given = readSizeOption(getOperation().getLoc(), "hint", hint);
      if (failed(given))
        return failure();
      sizes[given->first] = given->second;
    }
    return success();
  }
};

} // namespace

LogicalResult SizeArguments::run() {
  if (!getSizeArguments(func).empty() || llvm::none_of(func.getArgumentTypes(), isDynamic))
    return success();
  if (failed(nameSizes()) || failed(addArguments()))
    return failure();
  // Sizes are found anew after ops were erased, since they are kept by value.
  replaceDims(SymbolicSizes(func));
  splitReshapes(SymbolicSizes(func));
  return describeResults(SymbolicSizes(func));
}

LogicalResult SizeArguments::nameSizes() {
  Builder b(func.getContext());
  SmallVector<DimSymbols> dims;
  for (BlockArgument arg : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    auto given = func.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), kDimSymbolsAttr);
    if (!type || (type.hasStaticShape() && !given))
      continue;
    if (func.getArgAttr(arg.getArgNumber(), kWeightAttr))
      return emitError(arg.getLoc()) << "weight '" << getArgumentName(func, arg.getArgNumber()) << "' has type " << type
                                     << ", expected a static shape";
    SmallVector<AffineExpr> shape;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d)) {
        shape.push_back(b.getAffineConstantExpr(type.getDimSize(d)));
        continue;
      }
      DimSymbols dim = getDimSymbols(func, arg.getArgNumber(), d);
      SmallVector<AffineExpr> numbers;
      for (StringAttr name : dim.names)
        numbers.push_back(b.getAffineSymbolExpr(names.try_emplace(name, names.size()).first->second));
      shape.push_back(dim.size.replaceSymbols(numbers));
      dims.push_back(std::move(dim));
    }
    shapes.emplace_back(arg, std::move(shape));
  }
  return checkShown(dims);
}

LogicalResult SizeArguments::checkShown(ArrayRef<DimSymbols> dims) {
  llvm::SmallDenseSet<StringAttr> shown;
  for (size_t before = size_t(-1); before != shown.size();) {
    before = shown.size();
    for (const DimSymbols &dim : dims) {
      auto isHidden = [&](StringAttr name) { return !shown.contains(name); };
      const auto *hidden = llvm::find_if(dim.names, isHidden);
      if (llvm::count_if(dim.names, isHidden) == 1 && dim.isLinearIn(hidden - dim.names.begin()))
        shown.insert(*hidden);
    }
  }
  for (auto &[name, number] : names)
    if (!shown.contains(name))
      return func.emitError() << "size '" << name.getValue() << "' does not follow from the arguments of function '"
                              << func.getSymName() << "', expected an argument with a dim of it";
  return success();
}

LogicalResult SizeArguments::addArguments() {
  Builder b(func.getContext());
  auto bounds = func->getAttrOfType<DictionaryAttr>(kBoundsAttr);
  auto givenHints = func->getAttrOfType<DictionaryAttr>(kHintsAttr);
  for (auto [attr, given] : {std::pair(kBoundsAttr, bounds), std::pair(kHintsAttr, givenHints)})
    for (NamedAttribute size : given ? given.getValue() : ArrayRef<NamedAttribute>())
      if (!names.contains(size.getName())) {
        SmallVector<StringRef> known;
        for (auto &[name, number] : names)
          known.push_back(name.getValue());
        return func.emitError() << attr << " names a size '" << size.getName().strref()
                                << "' that no argument has, expected one of "
                                << nearestNames(size.getName().strref(), known);
      }
  for (auto &[name, number] : names) {
    unsigned at = func.getNumArguments();
    NamedAttrList attrs;
    attrs.set(kSizeAttr, name);
    if (Attribute bound = bounds ? bounds.get(name) : Attribute())
      attrs.set(kBoundAttr, bound);
    FailureOr<IntegerAttr> hint = getHint(name, cast_or_null<ArrayAttr>(attrs.get(kBoundAttr)));
    if (failed(hint))
      return failure();
    if (*hint)
      attrs.set(kHintAttr, *hint);
    if (failed(func.insertArgument(at, b.getIndexType(), attrs.getDictionary(func.getContext()), func.getLoc())))
      return failure();
  }
  func->removeAttr(kBoundsAttr);
  func->removeAttr(kHintsAttr);
  for (auto &[arg, shape] : shapes) {
    func.removeArgAttr(arg.getArgNumber(), kDimSymbolsAttr);
    func.setArgAttr(arg.getArgNumber(), kGlobalSizesAttr,
                    AffineMapAttr::get(AffineMap::get(0, names.size(), shape, func.getContext())));
  }
  return success();
}

FailureOr<IntegerAttr> SizeArguments::getHint(StringAttr name, ArrayAttr bound) {
  IntegerAttr hint;
  if (auto given = func->getAttrOfType<DictionaryAttr>(kHintsAttr))
    hint = cast_or_null<IntegerAttr>(given.get(name));
  auto get = [&](unsigned i) { return cast<IntegerAttr>(bound[i]).getInt(); };
  auto isOutside = [&](int64_t size) { return bound && (size < get(0) || size > get(1)); };
  if (auto it = hints.find(name.getValue()); it != hints.end())
    if (!func->hasAttr(kBucketOfAttr) || !isOutside(it->second)) // else it is that of another bucket
      hint = Builder(func.getContext()).getI64IntegerAttr(it->second);
  if (hint && isOutside(hint.getInt()))
    return func.emitError() << "size '" << name.getValue() << "' has the hint " << hint.getInt()
                            << ", expected one within its bounds [" << get(0) << ", " << get(1) << "]";
  return hint;
}

void SizeArguments::replaceDims(SymbolicSizes sizes) {
  // Also what front ends compute from dims, which hides bounds: 4 * s / 4 is s.
  SmallVector<Operation *> indices;
  func.walk([&](Operation *op) {
    const bool isArith = isa<arith::ArithDialect>(op->getDialect()) && !op->hasTrait<OpTrait::ConstantLike>();
    if ((isArith || isa<tensor::DimOp>(op)) && op->getNumResults() == 1 && op->getResult(0).getType().isIndex())
      indices.push_back(op);
  });
  for (Operation *op : indices) {
    AffineExpr size = sizes.getIndex(op->getResult(0));
    if (!size)
      continue;
    OpBuilder b(op);
    op->getResult(0).replaceAllUsesWith(createSize(b, op->getLoc(), size));
  }
  for (Operation *op : llvm::reverse(indices))
    if (op->use_empty())
      op->erase();
}

Value SizeArguments::createSize(OpBuilder &b, Location loc, AffineExpr size) {
  SmallVector<OpFoldResult> operands;
  llvm::append_range(operands, getSizeArguments(func));
  return getValueOrCreateConstantIndexOp(
      b, loc,
      affine::makeComposedFoldedAffineApply(b, loc, AffineMap::get(0, names.size(), size, func.getContext()),
                                            operands));
}

namespace {
/// A product of sizes, equal however it is written.
struct SizeProduct {
  int64_t factor = 1;
  SmallVector<AffineExpr, 4> others; ///< Symbols and sums, sorted.

  void multiply(AffineExpr size) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(size);
    if (auto constant = dyn_cast<AffineConstantExpr>(size)) {
      factor *= constant.getValue();
    } else if (binary && binary.getKind() == AffineExprKind::Mul) {
      multiply(binary.getLHS());
      multiply(binary.getRHS());
    } else {
      others.insert(llvm::upper_bound(others, size, comesFirst), size);
    }
  }
  static bool comesFirst(AffineExpr a, AffineExpr b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); }
  bool operator==(const SizeProduct &other) const { return factor == other.factor && others == other.others; }
};

/// Dims on both sides of a reshape that have one product.
struct DimGroup {
  ReassociationIndices from, to;
};
} // namespace

/// The product of the dims up to each one.
static SmallVector<SizeProduct> getProducts(ArrayRef<AffineExpr> sizes) {
  SmallVector<SizeProduct> products;
  for (AffineExpr size : sizes) {
    SizeProduct product = products.empty() ? SizeProduct() : products.back();
    product.multiply(size);
    products.push_back(std::move(product));
  }
  return products;
}

/// The smallest groups with one product, major to minor; empty if the products of all dims differ.
///   [s0, s1, 32] to [s0, s1, 4, 8]: {0} {0}, {1} {1}, {2} {2, 3}
static SmallVector<DimGroup> findGroups(ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to) {
  SmallVector<SizeProduct> fromProducts = getProducts(from), toProducts = getProducts(to);
  SmallVector<DimGroup> groups;
  size_t f = 0, t = 0;
  for (size_t end = 0; end < from.size(); ++end) {
    auto *equal = std::find(toProducts.begin() + t, toProducts.end(), fromProducts[end]);
    if (equal == toProducts.end())
      continue;
    DimGroup &group = groups.emplace_back();
    for (; f <= end; ++f)
      group.from.push_back(f);
    for (size_t last = equal - toProducts.begin(); t <= last; ++t)
      group.to.push_back(t);
  }
  if (groups.empty() || !(fromProducts.back() == toProducts.back()))
    return {};
  // Dims of size 1 are left.
  for (; f < from.size(); ++f)
    groups.back().from.push_back(f);
  for (; t < to.size(); ++t)
    groups.back().to.push_back(t);
  return groups;
}

void SizeArguments::splitReshapes(SymbolicSizes sizes) {
  SmallVector<tensor::ReshapeOp> reshapes;
  func.walk([&](tensor::ReshapeOp op) { reshapes.push_back(op); });
  for (tensor::ReshapeOp op : reshapes) {
    auto fromType = dyn_cast<RankedTensorType>(op.getSource().getType());
    auto toType = dyn_cast<RankedTensorType>(op.getType());
    if (!fromType || !toType || (fromType.hasStaticShape() && toType.hasStaticShape()))
      continue;
    SmallVector<AffineExpr> from, to;
    for (int64_t d = 0; d < fromType.getRank(); ++d)
      from.push_back(sizes.getDim(op.getSource(), d));
    for (int64_t d = 0; d < toType.getRank(); ++d)
      to.push_back(sizes.getDim(op.getResult(), d));
    if (llvm::is_contained(from, AffineExpr()) || llvm::is_contained(to, AffineExpr()))
      continue;
    SmallVector<DimGroup> groups = findGroups(from, to);
    if (groups.empty())
      continue;
    OpBuilder b(op);
    SmallVector<ReassociationIndices> collapsed, expanded;
    SmallVector<int64_t> middle;
    for (const DimGroup &group : groups) {
      collapsed.push_back(group.from);
      expanded.push_back(group.to);
      AffineExpr size = getAffineConstantExpr(1, func.getContext());
      for (int64_t d : group.from)
        size = size * from[d];
      auto known = dyn_cast<AffineConstantExpr>(size);
      middle.push_back(known ? known.getValue() : ShapedType::kDynamic);
    }
    Value value = op.getSource();
    if (int64_t(groups.size()) < fromType.getRank())
      value = tensor::CollapseShapeOp::create(b, op.getLoc(), fromType.clone(middle), value, collapsed);
    if (int64_t(groups.size()) < toType.getRank()) {
      SmallVector<int64_t> shape;
      SmallVector<OpFoldResult> outputShape;
      for (AffineExpr size : to) {
        auto known = dyn_cast<AffineConstantExpr>(size);
        shape.push_back(known ? known.getValue() : ShapedType::kDynamic);
        outputShape.push_back(known ? OpFoldResult(b.getIndexAttr(known.getValue()))
                                    : OpFoldResult(createSize(b, op.getLoc(), size)));
      }
      value = tensor::ExpandShapeOp::create(b, op.getLoc(), toType.clone(shape), value, expanded, outputShape);
    }
    if (value.getType() != toType)
      value = tensor::CastOp::create(b, op.getLoc(), toType, value);
    op.replaceAllUsesWith(value);
  }
  for (tensor::ReshapeOp op : llvm::reverse(reshapes))
    if (op->use_empty())
      op.erase();
}

LogicalResult SizeArguments::describeResults(SymbolicSizes sizes) {
  for (Block &block : func.getBody()) {
    auto ret = dyn_cast<func::ReturnOp>(block.getTerminator());
    if (!ret)
      continue;
    for (auto [i, value] : llvm::enumerate(ret.getOperands())) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || type.hasStaticShape())
        continue;
      SmallVector<AffineExpr> shape;
      for (int64_t d = 0; d < type.getRank(); ++d) {
        shape.push_back(sizes.getDim(value, d));
        if (!shape.back())
          return ret.emitError() << "dim " << d << " of result " << i << " of function '" << func.getSymName()
                                 << "' has a size that depends on more than the sizes of arguments, "
                                    "expected a sum, product or quotient of these";
      }
      auto map = AffineMapAttr::get(AffineMap::get(0, sizes.getNumSymbols(), shape, func.getContext()));
      Attribute other = func.getResultAttr(i, kGlobalSizesAttr);
      if (other && other != map)
        return ret.emitError() << "result " << i << " of function '" << func.getSymName()
                               << "' has other sizes than at another return, expected one shape";
      if (auto tied = func.getResultAttrOfType<IntegerAttr>(i, kTiedAttr))
        if (func.getArgAttr(tied.getInt(), kGlobalSizesAttr) != map)
          return ret.emitError() << "result " << i << " of function '" << func.getSymName() << "' is tied to argument "
                                 << tied.getInt() << ", but has other sizes, expected equal sizes";
      func.setResultAttr(i, kGlobalSizesAttr, map);
    }
  }
  return success();
}
