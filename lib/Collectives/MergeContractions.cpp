//===- MergeContractions.cpp - One contraction with all segments of a weight===//
//
//   matmul(x, %q), matmul(x, %k), matmul(x, %v)  ->  matmul(x, %qkv), three slices
//
// if %q, %k and %v are the local segments of one stored tensor. The new argument is the
// concatenation of the local segments, evenly sharded as a global value.
// `spmd.segments_of` describes it for the loader.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Collectives/Placement.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Passes.h"
#include "shardkit/Rules/IndexedOps.h"
#include "shardkit/Support/PassDebugging.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDMERGECONTRACTIONSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

#undef DEBUG_TYPE // of other sources of a batch
#define DEBUG_TYPE "spmd-merge-contractions"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Values that are concatenated along a dim.
struct Group {
  SmallVector<Value> values;
  int64_t dim;
};

/// Equal ops, each of which reads one value of a group as its operand `operand`. Their
/// results are concatenated along `resultDim`.
struct Siblings {
  SmallVector<Operation *> ops; // in the order of the values
  unsigned operand;
  int64_t resultDim;
  bool isProduct;
};

RankedTensorType joinTypes(ArrayRef<Value> values, int64_t dim) {
  auto type = cast<RankedTensorType>(values.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = 0;
  for (Value value : values)
    shape[dim] += cast<RankedTensorType>(value.getType()).getDimSize(dim);
  return type.clone(shape);
}

bool isSpmdAttr(NamedAttribute attr) { return attr.getName().getValue().starts_with("spmd."); }

/// Whether ops are equal except for types and layouts of --spmd-partition.
bool areAlike(Operation *a, Operation *b) {
  auto getKept = [](Operation *op) {
    NamedAttrList attrs(op->getAttrDictionary());
    SmallVector<StringAttr> noted;
    for (NamedAttribute attr : attrs)
      if (isSpmdAttr(attr))
        noted.push_back(attr.getName());
    for (StringAttr name : noted)
      attrs.erase(name);
    return attrs.getDictionary(op->getContext());
  };
  if (a->getName() != b->getName() || a->getBlock() != b->getBlock() || a->getNumOperands() != b->getNumOperands() ||
      a->getNumResults() != 1 || b->getNumResults() != 1 || getKept(a) != getKept(b) ||
      a->getNumRegions() != b->getNumRegions() ||
      getElementTypeOrSelf(a->getResult(0).getType()) != getElementTypeOrSelf(b->getResult(0).getType()))
    return false;
  for (auto [x, y] : llvm::zip(a->getRegions(), b->getRegions()))
    if (!OperationEquivalence::isRegionEquivalentTo(&x, &y, OperationEquivalence::IgnoreLocations))
      return false;
  return true;
}

/// True if all elements of two values are one constant, or undefined.
bool areCreatedAlike(Value a, Value b) {
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || x->getName() != y->getName())
    return false;
  if (auto fill = dyn_cast<linalg::FillOp>(x)) {
    Value value = fill.getInputs().front(), other = cast<linalg::FillOp>(y).getInputs().front();
    Attribute first, second;
    return value == other ||
           (matchPattern(value, m_Constant(&first)) && matchPattern(other, m_Constant(&second)) && first == second);
  }
  if (isa<tensor::EmptyOp>(x))
    return true;
  DenseElementsAttr first, second;
  return matchPattern(a, m_Constant(&first)) && matchPattern(b, m_Constant(&second)) && first.isSplat() &&
         second.isSplat() && first.getSplatValue<Attribute>() == second.getSplatValue<Attribute>();
}

/// A value like `value`, of another type.
Value createLike(OpBuilder &b, Value value, RankedTensorType type) {
  Location loc = value.getLoc();
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return arith::ConstantOp::create(b, loc, constant.resizeSplat(type));
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill ? linalg::FillOp::create(b, loc, fill.getInputs(), empty).getResult(0) : empty;
}

/// The fragment of a stage of each op.
using FragmentNumbers = llvm::DenseMap<Operation *, int>;

FragmentNumbers readFragments(func::FuncOp func) {
  FragmentNumbers fragmentOf;
  int fragment = 0;
  if (func->hasAttr(kStageAttr))
    for (Operation &op : func.getBody().front()) {
      fragment += isa<FragmentOp>(op);
      fragmentOf[&op] = fragment;
    }
  return fragmentOf;
}

std::optional<Siblings> findSiblings(const Group &group, const FragmentNumbers &fragmentOf) {
  Siblings found{{}, 0, 0, false};
  for (Value value : group.values) {
    if (!value.hasOneUse())
      return std::nullopt;
    OpOperand &use = *value.use_begin();
    if (!found.ops.empty() &&
        (use.getOperandNumber() != found.operand || !areAlike(found.ops.front(), use.getOwner()) ||
         fragmentOf.lookup(found.ops.front()) != fragmentOf.lookup(use.getOwner())))
      return std::nullopt;
    found.operand = use.getOperandNumber();
    found.ops.push_back(use.getOwner());
  }
  Operation *first = found.ops.front();
  for (Type type : first->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type); !tensor || !tensor.hasStaticShape())
      return std::nullopt;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(first);
  if (!linalgOp) {
    if (!first->hasTrait<OpTrait::Elementwise>() || first->getNumOperands() != 1 || first->getNumRegions() != 0 ||
        first->getNumResults() != 1)
      return std::nullopt;
    found.resultDim = group.dim;
    return found;
  }
  if (!linalgOp.hasPureTensorSemantics() || !linalgOp.isDpsInput(&first->getOpOperand(found.operand)))
    return std::nullopt;
  AffineMap map = linalgOp.getMatchingIndexingMap(&first->getOpOperand(found.operand));
  auto along = dyn_cast<AffineDimExpr>(map.getResult(group.dim));
  if (!along || linalgOp.getIteratorTypesArray()[along.getPosition()] != utils::IteratorType::parallel)
    return std::nullopt;
  unsigned loop = along.getPosition();
  // linalg.index would be that of the segment.
  bool readsIndex = false;
  first->walk([&](linalg::IndexOp index) { readsIndex |= index.getDim() == loop; });
  if (readsIndex)
    return std::nullopt;
  for (OpOperand &operand : first->getOpOperands()) {
    AffineMap own = linalgOp.getMatchingIndexingMap(&operand);
    bool isInit = linalgOp.isDpsInit(&operand);
    for (auto [d, expr] : llvm::enumerate(own.getResults())) {
      if (!expr.isFunctionOfDim(loop))
        continue;
      bool isGroup = operand.getOperandNumber() == found.operand && int64_t(d) == group.dim;
      if (!isGroup && !(isInit && isa<AffineDimExpr>(expr)))
        return std::nullopt;
      if (isInit)
        found.resultDim = d;
    }
    for (Operation *other : ArrayRef(found.ops).drop_front()) {
      Value theirs = other->getOperand(operand.getOperandNumber());
      if (operand.getOperandNumber() == found.operand)
        continue;
      if (isInit ? !areCreatedAlike(operand.get(), theirs) : operand.get() != theirs)
        return std::nullopt;
    }
  }
  found.isProduct = linalgOp.getNumReductionLoops() > 0 && linalgOp.getNumDpsInputs() > 1;
  if (linalgOp.getNumReductionLoops() > 0 && !found.isProduct)
    return std::nullopt;
  return found;
}

/// The values that equal ops compute from a group, up to the contraction.
std::optional<SmallVector<Siblings>> findChain(Group group, const FragmentNumbers &fragmentOf) {
  SmallVector<Siblings> chain;
  do {
    std::optional<Siblings> next = findSiblings(group, fragmentOf);
    if (!next)
      return std::nullopt;
    group.values.clear();
    for (Operation *op : next->ops)
      group.values.push_back(op->getResult(0));
    group.dim = next->resultDim;
    chain.push_back(std::move(*next));
  } while (!chain.back().isProduct);
  return chain;
}

/// Merges the contractions with segments of stored tensors of one function.
///
/// 1. Groups the arguments by their stored tensor.
/// 2. Finds the chain of equal ops from the arguments of a group to the contractions, such
///    as a transpose of each segment and then a matmul with %x.
/// 3. Merges the ops of the chain, from the arguments on, and replaces the results of the
///    last ones by slices.
class FunctionMerger {
public:
  FunctionMerger(func::FuncOp func, const MeshCache &meshes)
      : func(func), meshes(meshes), fragmentOf(readFragments(func)) {}

  void run();
  /// The contractions that were merged.
  unsigned getNumMerged() const { return numMerged; }

private:
  /// The arguments that are contracted with the same values.
  SmallVector<SmallVector<unsigned>> groupByFactor(ArrayRef<unsigned> args);
  bool isUpdated(unsigned i);
  Group getGroup(ArrayRef<unsigned> args);

  /// Merges the arguments if all their uses can be merged.
  void merge(ArrayRef<unsigned> args, llvm::SmallBitVector &merged, MutableArrayRef<DictionaryAttr> attrs);

  /// The attributes of the merged argument: the concatenation of the segments on each
  /// device, sharded like the segment with the most shards; std::nullopt if there is no
  /// such value.
  std::optional<DictionaryAttr> describe(ArrayRef<unsigned> args, int64_t dim, RankedTensorType type);

  /// Erases ops without users, users first, and outputs that only they used.
  static void eraseWithOutputs(llvm::SetVector<Operation *> &dead);

  /// Replaces the siblings by one op; returns its result.
  Value rewrite(const Siblings &siblings, Value value);

  /// Replaces the results by slices of that of the merged contraction.
  void replaceBySlices(const Siblings &siblings, Value merged);

  func::FuncOp func;
  const MeshCache &meshes;
  const FragmentNumbers fragmentOf;
  unsigned numMerged = 0;
};

struct MergeProductsPass : public spmd::impl::SPMDMergeContractionsPassBase<MergeProductsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (failed(verifyLocalView(func, getArgument())))
      return signalPassFailure();
    if (func.isExternal())
      return;
    MeshCache meshes(func);
    FunctionMerger merger(func, meshes);
    merger.run();
    SPMD_COUNT(mergedContractions, merger.getNumMerged());
  }
};

} // namespace

void FunctionMerger::run() {
  // Grouped by the stored argument, in its order.
  llvm::MapVector<int64_t, SmallVector<unsigned>> segmentsOfArgument;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (auto segment = func.getArgAttrOfType<SegmentAttr>(i, kSegmentAttr))
      segmentsOfArgument[segment.getArgument()].push_back(i);
  llvm::SmallBitVector merged(func.getNumArguments());
  SmallVector<DictionaryAttr> attrs;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    attrs.push_back(func.getArgAttrDict(i));
  for (auto &[stored, args] : segmentsOfArgument)
    for (ArrayRef<unsigned> alike : groupByFactor(args))
      merge(alike, merged, attrs);
  if (merged.none())
    return;
  // The first merged argument is the result of the merge.
  SmallVector<int64_t> newIndices;
  SmallVector<DictionaryAttr> left;
  for (unsigned i = 0; i < attrs.size(); ++i) {
    newIndices.push_back(left.size());
    if (!merged.test(i))
      left.push_back(attrs[i]);
  }
  Block &body = func.getBody().front();
  body.eraseArguments([&](BlockArgument arg) { return merged.test(arg.getArgNumber()); });
  func.setFunctionType(FunctionType::get(func.getContext(), body.getArgumentTypes(), func.getResultTypes()));
  func.setAllArgAttrs(left);
  Builder b(func.getContext());
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (auto tied = func.getResultAttrOfType<IntegerAttr>(i, kTiedAttr))
      func.setResultAttr(i, kTiedAttr, b.getI64IntegerAttr(newIndices[tied.getInt()]));
}

SmallVector<SmallVector<unsigned>> FunctionMerger::groupByFactor(ArrayRef<unsigned> args) {
  llvm::MapVector<Value, SmallVector<unsigned>> groups;
  for (unsigned i : args) {
    auto type = dyn_cast<RankedTensorType>(func.getArgument(i).getType());
    auto segment = func.getArgAttrOfType<SegmentAttr>(i, kSegmentAttr);
    if (!type || !type.hasStaticShape() || segment.isInUnits(type) || isUpdated(i))
      continue;
    std::optional<SmallVector<Siblings>> chain = findChain(getGroup(i), fragmentOf);
    if (!chain)
      continue;
    const Siblings &product = chain->back();
    groups[product.ops.front()->getOperand(product.operand == 0 ? 1 : 0)].push_back(i);
  }
  SmallVector<SmallVector<unsigned>> lists;
  for (auto &[value, list] : groups)
    lists.push_back(std::move(list));
  return lists;
}

bool FunctionMerger::isUpdated(unsigned i) {
  for (unsigned r = 0; r < func.getNumResults(); ++r)
    if (auto tied = func.getResultAttrOfType<IntegerAttr>(r, kTiedAttr); tied && tied.getInt() == int64_t(i))
      return true;
  return false;
}

Group FunctionMerger::getGroup(ArrayRef<unsigned> args) {
  Group group{{}, func.getArgAttrOfType<SegmentAttr>(args.front(), kSegmentAttr).getDim()};
  for (unsigned i : args)
    group.values.push_back(func.getArgument(i));
  return group;
}

void FunctionMerger::merge(ArrayRef<unsigned> args, llvm::SmallBitVector &merged,
                           MutableArrayRef<DictionaryAttr> attrs) {
  if (args.size() < 2)
    return;
  Group group = getGroup(args);
  std::optional<SmallVector<Siblings>> found = findChain(group, fragmentOf);
  if (!found)
    return;
  SmallVector<Siblings> &chain = *found;
  RankedTensorType type = joinTypes(group.values, group.dim);
  std::optional<DictionaryAttr> attributes = describe(args, group.dim, type);
  if (!attributes)
    return;
  attrs[args.front()] = *attributes;
  for (unsigned i : args.drop_front())
    merged.set(i);
  BlockArgument argument = func.getArgument(args.front());
  Value value = argument;
  for (const Siblings &siblings : chain)
    value = rewrite(siblings, value);
  replaceBySlices(chain.back(), value);
  numMerged += chain.back().ops.size();
  SPMD_LOG() << "merges " << chain.back().ops.size() << " contractions with the segments of argument #" << args.front()
             << " of @" << func.getName();
  llvm::SetVector<Operation *> dead;
  for (const Siblings &siblings : llvm::reverse(chain))
    dead.insert_range(siblings.ops);
  eraseWithOutputs(dead);
  argument.setType(type);
}

std::optional<DictionaryAttr> FunctionMerger::describe(ArrayRef<unsigned> args, int64_t dim, RankedTensorType type) {
  MLIRContext *context = func.getContext();
  SmallVector<Attribute> segments;
  SmallVector<Sharding, 0> shardings;
  ShardingAttr first;
  const Mesh *mesh = nullptr;
  unsigned widest = 0;
  for (unsigned i : args) {
    NamedAttrList entry;
    Attribute global = func.getArgAttr(i, kGlobalTypeAttr);
    entry.set(kGlobalTypeAttr, global ? global : TypeAttr::get(func.getArgument(i).getType()));
    entry.set(kSegmentAttr, func.getArgAttr(i, kSegmentAttr));
    auto attr = func.getArgAttrOfType<ShardingAttr>(i, kShardingAttr);
    if (i == args.front()) {
      first = attr;
      mesh = attr ? meshes.lookup(attr.getMesh()) : nullptr;
    }
    if (bool(attr) != bool(first) || (attr && (!mesh || attr.getMesh() != first.getMesh())))
      return std::nullopt;
    if (attr) {
      entry.set(kShardingAttr, attr);
      FailureOr<Sharding> sharding = toSharding(attr, *mesh, [&] { return func.emitError(); });
      if (failed(sharding))
        return std::nullopt;
      shardings.push_back(std::move(*sharding));
      // The local segments of an uneven one end in padding.
      auto type = dyn_cast<ShapedType>(cast<TypeAttr>(entry.get(kGlobalTypeAttr)).getValue());
      if (!type || !divides(shardings.back().dims[dim].entries, type.getDimSize(dim)))
        return std::nullopt;
      if (deviceFactor(shardings.back().dims[dim].entries) > deviceFactor(shardings[widest].dims[dim].entries))
        widest = shardings.size() - 1;
    }
    segments.push_back(entry.getDictionary(context));
  }
  NamedAttrList attrs(func.getArgAttrDict(args.front()));
  attrs.erase(kSegmentAttr);
  attrs.set(kSegmentsOfAttr, ArrayAttr::get(context, segments));
  if (!first)
    return attrs.getDictionary(context);
  Sharding &merged = shardings[widest];
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(func.getArgAttrOfType<TypeAttr>(args.front(), kGlobalTypeAttr).getValue()).getShape());
  shape[dim] = type.getDimSize(dim) * deviceFactor(merged.dims[dim].entries);
  for (const Sharding &sharding : shardings)
    for (auto [d, dims] : llvm::enumerate(llvm::zip(sharding.dims, merged.dims))) {
      ArrayRef<DimEntry> entries = std::get<0>(dims).entries, most = std::get<1>(dims).entries;
      bool hasGaps = llvm::any_of(entries, [](const DimEntry &entry) { return entry.isStride(); });
      bool fits = int64_t(d) == dim ? isPrefix(entries, most) : entries == most && divides(entries, shape[d]);
      if (hasGaps || !fits)
        return std::nullopt;
    }
  attrs.set(kShardingAttr, toAttr(context, first.getMesh(), merged, *mesh));
  attrs.set(kGlobalTypeAttr, TypeAttr::get(type.clone(shape)));
  return attrs.getDictionary(context);
}

void FunctionMerger::eraseWithOutputs(llvm::SetVector<Operation *> &dead) {
  for (unsigned i = 0; i < dead.size(); ++i)
    for (Value operand : dead[i]->getOperands())
      if (auto *def = operand.getDefiningOp();
          isa_and_nonnull<tensor::EmptyOp, linalg::FillOp, arith::ConstantOp>(def) &&
          llvm::all_of(def->getUsers(), [&](Operation *user) { return dead.contains(user); }))
        dead.insert(def);
  for (Operation *op : dead)
    op->dropAllReferences();
  for (Operation *op : dead)
    op->erase();
}

Value FunctionMerger::rewrite(const Siblings &siblings, Value value) {
  Operation *first = siblings.ops.front();
  SmallVector<Value> results;
  for (Operation *op : siblings.ops) {
    first = op->isBeforeInBlock(first) ? op : first;
    results.push_back(op->getResult(0));
  }
  RankedTensorType type = joinTypes(results, siblings.resultDim);
  OpBuilder b(first);
  Operation *made = b.clone(*siblings.ops.front());
  SmallVector<StringAttr> noted;
  for (NamedAttribute attr : made->getDiscardableAttrs())
    if (isSpmdAttr(attr))
      noted.push_back(attr.getName());
  for (StringAttr name : noted)
    made->removeDiscardableAttr(name);
  made->setOperand(siblings.operand, value);
  b.setInsertionPoint(made);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(made))
    linalgOp.getDpsInitOperand(0)->set(createLike(
        b, linalgOp.getDpsInitOperand(0)->get(),
        type.clone(cast<RankedTensorType>(linalgOp.getDpsInitOperand(0)->get().getType()).getElementType())));
  made->getResult(0).setType(type);
  return made->getResult(0);
}

void FunctionMerger::replaceBySlices(const Siblings &siblings, Value merged) {
  OpBuilder b(func.getContext());
  b.setInsertionPointAfterValue(merged);
  int64_t offset = 0;
  for (Operation *op : siblings.ops) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1));
    offsets[siblings.resultDim] = b.getIndexAttr(offset);
    offset += type.getDimSize(siblings.resultDim);
    auto slice = tensor::ExtractSliceOp::create(b, op->getLoc(), type, merged, offsets,
                                                getAsIndexOpFoldResult(func.getContext(), type.getShape()), strides);
    for (NamedAttribute attr : op->getDiscardableAttrs())
      if (isSpmdAttr(attr))
        slice->setDiscardableAttr(attr.getName(), attr.getValue());
    op->getResult(0).replaceAllUsesWith(slice.getResult());
  }
}
