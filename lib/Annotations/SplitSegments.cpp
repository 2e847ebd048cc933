//===- SplitSegments.cpp - Parts of a stored dimension, one by one --------===//
//
//   (%w {spmd.segments = <0, [80, 100, 100]>})  ->  (%q, %k, %v {spmd.segment = ...})
//   matmul(x, concat(q, k, v))                  ->  concat(matmul(x, q), ...)
//   extract_slice(concat(q, k, v))[80, 180)     ->  k
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Constraints.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Passes.h"
#include "shardkit/Rules/IndexedOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDSPLITSEGMENTSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

static RankedTensorType withDim(RankedTensorType type, int64_t dim, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return type.clone(shape);
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

namespace {

/// A value that is the concatenation of others along a dim.
struct Joined {
  int64_t dim;
  SmallVector<Value> parts;

  int64_t size(unsigned i) const { return cast<RankedTensorType>(parts[i].getType()).getDimSize(dim); }
  /// The same cuts, perhaps along another dim.
  bool isCutLike(const Joined &other) const {
    if (parts.size() != other.parts.size())
      return false;
    for (unsigned i = 0; i < parts.size(); ++i)
      if (size(i) != other.size(i))
        return false;
    return true;
  }
};

/// Rewrites what reads concatenations so that it reads their parts.
class Uses {
public:
  /// The concatenation of `parts`, which stands for a whole value from now on.
  Value join(OpBuilder &b, Location loc, Joined joined) {
    auto concat = tensor::ConcatOp::create(b, loc, joined.dim, joined.parts);
    concats.push_back(concat);
    values[concat.getResult()] = std::move(joined);
    return concat.getResult();
  }

  /// A result that becomes parts, of these sizes.
  struct SplitResult {
    unsigned result;
    int64_t dim;
    ArrayRef<int64_t> sizes;
  };

  void rewrite(func::FuncOp func, ArrayRef<SplitResult> results) {
    SmallVector<Operation *> ops;
    func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    llvm::SetVector<Operation *> dead;
    for (Operation *op : ops)
      if (llvm::any_of(op->getOperands(), [&](Value v) { return values.contains(v); }) && rewrite(op))
        dead.insert(op);
    splitResults(func.getBody().back().getTerminator(), results);
    auto isDead = [&](Operation *op) {
      return llvm::all_of(op->getUsers(), [&](Operation *user) { return dead.contains(user); });
    };
    for (Operation *concat : llvm::reverse(concats))
      if (isDead(concat))
        dead.insert(concat);
    // The outputs that were made for them alone.
    for (unsigned i = 0; i < dead.size(); ++i)
      for (Value operand : dead[i]->getOperands())
        if (auto *def = operand.getDefiningOp(); isa_and_nonnull<tensor::EmptyOp, linalg::FillOp>(def) && isDead(def))
          dead.insert(def);
    for (Operation *op : dead)
      op->dropAllReferences();
    for (Operation *op : dead)
      op->erase();
  }

private:
  /// Parts of what is returned: those that it was joined of, or slices.
  void splitResults(Operation *terminator, ArrayRef<SplitResult> results) {
    OpBuilder b(terminator);
    for (const SplitResult &split : llvm::reverse(results)) {
      Value whole = terminator->getOperand(split.result);
      auto type = cast<RankedTensorType>(whole.getType());
      SmallVector<Value> parts;
      if (auto it = values.find(whole); it != values.end() && it->second.dim == split.dim) {
        SmallVector<int64_t> sizes;
        for (unsigned i = 0; i < it->second.parts.size(); ++i)
          sizes.push_back(it->second.size(i));
        if (ArrayRef<int64_t>(sizes) == split.sizes)
          parts = it->second.parts;
      }
      int64_t offset = 0;
      for (int64_t size : parts.empty() ? split.sizes : ArrayRef<int64_t>()) {
        RankedTensorType own = withDim(type, split.dim, size);
        SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), steps(type.getRank(), b.getIndexAttr(1));
        offsets[split.dim] = b.getIndexAttr(offset);
        parts.push_back(tensor::ExtractSliceOp::create(b, terminator->getLoc(), own, whole, offsets,
                                                       getAsIndexOpFoldResult(b.getContext(), own.getShape()), steps));
        offset += size;
      }
      SmallVector<Value> operands(terminator->getOperands());
      operands.erase(operands.begin() + split.result);
      operands.insert(operands.begin() + split.result, parts.begin(), parts.end());
      terminator->setOperands(operands);
    }
  }

  bool rewrite(Operation *op) {
    // Rules and factors that are written on an op are those of the whole.
    if (op->hasAttr(kRuleAttr) || op->hasAttr(kFactorShardingsAttr))
      return false;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return rewriteSlice(slice);
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      return rewriteReshape(expand, expand.getSrcType(), expand.getResultType(), expand.getReassociationIndices(),
                            /*expands=*/true);
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
      return rewriteReshape(collapse, collapse.getSrcType(), collapse.getResultType(),
                            collapse.getReassociationIndices(), /*expands=*/false);
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return rewriteLoops(linalgOp);
    if (op->hasTrait<OpTrait::Elementwise>() && op->getNumRegions() == 0)
      return rewriteElementwise(op);
    return false;
  }

  /// A slice of whole parts, or of a piece of one.
  bool rewriteSlice(tensor::ExtractSliceOp op) {
    const Joined joined = values.find(op.getSource())->second;
    int64_t d = joined.dim, start = op.getStaticOffsets()[d], size = op.getStaticSizes()[d];
    if (ShapedType::isDynamic(start) || ShapedType::isDynamic(size) || size < 1 || op.getStaticStrides()[d] != 1)
      return false;
    // Parts with places in [start, start + size), and where the first begins.
    unsigned first = 0, last;
    int64_t begin = 0;
    while (begin + joined.size(first) <= start)
      begin += joined.size(first++);
    int64_t end = begin;
    for (last = first; end < start + size; ++last)
      end += joined.size(last);
    bool isPiece = last == first + 1;
    if (!isPiece && (begin != start || end != start + size))
      return false;
    OpBuilder b(op);
    llvm::SmallBitVector dropped = op.getDroppedDims();
    int64_t resultDim = d;
    for (int64_t i = 0; i < d; ++i)
      resultDim -= dropped.test(i);
    Joined result{resultDim, {}};
    for (unsigned i = first; i < last; ++i) {
      SmallVector<OpFoldResult> offsets = op.getMixedOffsets(), sizes = op.getMixedSizes();
      int64_t own = isPiece ? size : joined.size(i);
      offsets[d] = b.getIndexAttr(isPiece ? start - begin : 0);
      sizes[d] = b.getIndexAttr(own);
      RankedTensorType type = dropped.test(d) ? op.getType() : withDim(op.getType(), resultDim, own);
      Value part = joined.parts[i];
      // All of it: nothing to take out.
      bool isWhole = part.getType() == type && own == joined.size(i) &&
                     llvm::all_of(offsets, [](OpFoldResult o) { return isConstantIntValue(o, 0); });
      result.parts.push_back(
          isWhole ? part
                  : tensor::ExtractSliceOp::create(b, op.getLoc(), type, part, offsets, sizes, op.getMixedStrides()));
    }
    op.replaceAllUsesWith(isPiece ? result.parts.front() : join(b, op.getLoc(), result));
    return true;
  }

  /// A reshape that splits the dim, or joins it with those behind it: parts stay
  /// together where they are whole numbers of what is behind.
  template <typename Op>
  bool rewriteReshape(Op op, RankedTensorType from, RankedTensorType to, ArrayRef<ReassociationIndices> groups,
                      bool expands) {
    const Joined joined = values.find(op.getSrc())->second;
    if (!from.hasStaticShape() || !to.hasStaticShape())
      return false;
    RankedTensorType fine = expands ? to : from;
    for (auto [g, group] : llvm::enumerate(groups)) {
      int64_t before = expands ? int64_t(g) : group.front();
      if (before != joined.dim)
        continue;
      int64_t inner = 1;
      for (int64_t d : ArrayRef(group).drop_front())
        inner *= fine.getDimSize(d);
      Joined result{expands ? group.front() : int64_t(g), {}};
      OpBuilder b(op);
      for (unsigned i = 0; i < joined.parts.size(); ++i)
        if (expands && joined.size(i) % inner != 0)
          return false;
      for (unsigned i = 0; i < joined.parts.size(); ++i) {
        int64_t size = expands ? joined.size(i) / inner : joined.size(i) * inner;
        result.parts.push_back(Op::create(b, op.getLoc(), withDim(to, result.dim, size), joined.parts[i], groups));
      }
      op.getResult().replaceAllUsesWith(join(b, op.getLoc(), result));
      return true;
    }
    return false;
  }

  /// The parts of a value that is cut as `like` is; nothing where that would take
  /// more than making them anew.
  std::optional<Joined> getParts(OpBuilder &b, Value value, int64_t dim, const Joined &like) {
    if (auto it = values.find(value); it != values.end()) {
      if (it->second.dim != dim || !it->second.isCutLike(like))
        return std::nullopt;
      return it->second;
    }
    Operation *def = value.getDefiningOp();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!def || !type || !type.hasStaticShape())
      return std::nullopt;
    Joined result{dim, {}};
    DenseElementsAttr constant;
    std::optional<Joined> inits;
    if (auto fill = dyn_cast<linalg::FillOp>(def)) {
      inits = getParts(b, fill.getOutputs().front(), dim, like);
      if (!inits)
        return std::nullopt;
    } else if (!isa<tensor::EmptyOp, tensor::SplatOp>(def) &&
               !(matchPattern(value, m_Constant(&constant)) && constant.isSplat())) {
      return std::nullopt;
    }
    for (unsigned i = 0; i < like.parts.size(); ++i) {
      RankedTensorType own = withDim(type, dim, like.size(i));
      if (constant) {
        result.parts.push_back(arith::ConstantOp::create(b, value.getLoc(), constant.resizeSplat(own)));
        continue;
      }
      Operation *made = b.clone(*def);
      made->getResult(0).setType(own);
      if (inits)
        made->setOperand(1, inits->parts[i]);
      result.parts.push_back(made->getResult(0));
    }
    return result;
  }

  /// An op with loops, one of which goes along the parts: done part by part.
  bool rewriteLoops(linalg::LinalgOp op) {
    if (!op.hasPureTensorSemantics())
      return false;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    for (OpOperand &operand : op->getOpOperands()) {
      auto it = values.find(operand.get());
      if (it == values.end())
        continue;
      auto along = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(&operand).getResult(it->second.dim));
      const Joined like = it->second;
      if (along && iterators[along.getPosition()] == utils::IteratorType::parallel &&
          rewriteLoop(op, along.getPosition(), like))
        return true;
    }
    return false;
  }

  bool rewriteLoop(linalg::LinalgOp op, unsigned loop, const Joined &like) {
    bool readsIndex = false;
    op->walk([&](linalg::IndexOp index) { readsIndex |= index.getDim() == loop; });
    if (readsIndex)
      return false;
    // The dim of each operand that the loop goes along, -1 where there is none.
    SmallVector<int64_t> dims;
    for (OpOperand &operand : op->getOpOperands()) {
      dims.push_back(-1);
      for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
        if (!expr.isFunctionOfDim(loop))
          continue;
        if (!isa<AffineDimExpr>(expr) || dims.back() >= 0)
          return false;
        dims.back() = d;
      }
    }
    for (OpResult result : op->getResults())
      if (dims[op.getDpsInitOperand(result.getResultNumber())->getOperandNumber()] < 0)
        return false;
    OpBuilder b(op);
    std::optional<SmallVector<SmallVector<Value>>> operands = getOperandParts(b, op, dims, like);
    if (!operands)
      return false;
    SmallVector<Joined> results;
    for (OpResult result : op->getResults())
      results.push_back({dims[op.getDpsInitOperand(result.getResultNumber())->getOperandNumber()], {}});
    clonePerPart(b, op, *operands, like, results);
    return true;
  }

  bool rewriteElementwise(Operation *op) {
    const Joined *like = nullptr;
    for (Value operand : op->getOperands())
      if (auto it = values.find(operand); it != values.end() && !like)
        like = &it->second;
    const Joined whole = *like;
    SmallVector<int64_t> dims;
    for (Value operand : op->getOperands())
      dims.push_back(isa<RankedTensorType>(operand.getType()) ? whole.dim : -1);
    for (Type type : op->getResultTypes())
      if (!isa<RankedTensorType>(type))
        return false;
    OpBuilder b(op);
    std::optional<SmallVector<SmallVector<Value>>> operands = getOperandParts(b, op, dims, whole);
    if (!operands)
      return false;
    SmallVector<Joined> results(op->getNumResults(), Joined{whole.dim, {}});
    clonePerPart(b, op, *operands, whole, results);
    return true;
  }

  /// Per operand its parts, or itself where the loop does not touch it.
  std::optional<SmallVector<SmallVector<Value>>> getOperandParts(OpBuilder &b, Operation *op, ArrayRef<int64_t> dims,
                                                                 const Joined &like) {
    SmallVector<SmallVector<Value>> operands;
    for (auto [operand, dim] : llvm::zip(op->getOperands(), dims)) {
      operands.emplace_back(like.parts.size(), operand);
      if (dim < 0)
        continue;
      std::optional<Joined> parts = getParts(b, operand, dim, like);
      if (!parts)
        return std::nullopt; // what was made has no use
      operands.back() = parts->parts;
    }
    return operands;
  }

  void clonePerPart(OpBuilder &b, Operation *op, ArrayRef<SmallVector<Value>> operands, const Joined &like,
                    MutableArrayRef<Joined> results) {
    for (unsigned i = 0; i < like.parts.size(); ++i) {
      Operation *clone = b.clone(*op);
      for (auto [o, parts] : llvm::enumerate(operands))
        clone->setOperand(o, parts[i]);
      for (auto [result, joined] : llvm::zip(clone->getResults(), results)) {
        result.setType(withDim(cast<RankedTensorType>(result.getType()), joined.dim, like.size(i)));
        joined.parts.push_back(result);
      }
    }
    for (auto [result, joined] : llvm::zip(op->getResults(), results))
      result.replaceAllUsesWith(join(b, op->getLoc(), std::move(joined)));
  }

  llvm::DenseMap<Value, Joined> values;
  SmallVector<Operation *> concats;
};

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::string listDivisors(int64_t n) {
  SmallVector<std::string> divisors;
  for (int64_t i = 1; i <= n; ++i)
    if (n % i == 0)
      divisors.push_back(std::to_string(i));
  return llvm::join(divisors, ", ");
}

class ArgumentSplitter {
public:
  ArgumentSplitter(func::FuncOp func, const MeshCache &meshes) : func(func), meshes(meshes) {}

  LogicalResult run() {
    SignatureAttrs before(func);
    SmallVector<DictionaryAttr> attrs;
    SmallVector<int64_t> places;      // of the old arguments among the new ones
    SmallVector<SegmentsAttr> wholes; // of the old arguments
    Block &body = func.getBody().front();
    unsigned numArgs = func.getNumArguments(), at = 0;
    OpBuilder b = OpBuilder::atBlockBegin(&body);
    for (unsigned i = 0; i < numArgs; ++i) {
      places.push_back(attrs.size());
      auto segments = func.getArgAttrOfType<SegmentsAttr>(i, kSegmentsAttr);
      wholes.push_back(segments);
      if (!segments || segments.getSizes().size() < 2) {
        before.arg(i).erase(kSegmentsAttr);
        attrs.push_back(before.arg(i).getDictionary(func.getContext()));
        ++at;
        continue;
      }
      if (failed(check(i)))
        return failure();
      FailureOr<SmallVector<ShardingAttr>> shardings =
          getShardings(i, segments, func.getArgAttrOfType<ShardingAttr>(i, kShardingAttr));
      if (failed(shardings))
        return failure();
      BlockArgument whole = body.getArgument(at);
      auto stored = cast<RankedTensorType>(whole.getType());
      Joined joined{segments.getDim(), {}};
      int64_t offset = 0;
      for (auto [size, sharding] : llvm::zip(segments.getSizes(), *shardings)) {
        NamedAttrList own = before.arg(i);
        own.erase(kSegmentsAttr);
        if (sharding)
          own.set(kShardingAttr, sharding);
        own.set(kSegmentAttr, SegmentAttr::get(func.getContext(), stored, joined.dim, offset, segments.getUnit(), i));
        attrs.push_back(own.getDictionary(func.getContext()));
        joined.parts.push_back(body.insertArgument(at++, withDim(stored, joined.dim, size), whole.getLoc()));
        offset += size;
      }
      whole.replaceAllUsesWith(uses.join(b, whole.getLoc(), std::move(joined)));
      body.eraseArgument(at);
    }
    SmallVector<DictionaryAttr> resultAttrs;
    SmallVector<Uses::SplitResult> splits;
    for (unsigned r = 0; r < func.getNumResults(); ++r) {
      auto tied = func.getResultAttrOfType<IntegerAttr>(r, kTiedAttr);
      SegmentsAttr segments = tied ? wholes[tied.getInt()] : SegmentsAttr();
      if (!segments || segments.getSizes().size() < 2) {
        if (tied)
          before.result(r).set(kTiedAttr, b.getI64IntegerAttr(places[tied.getInt()]));
        resultAttrs.push_back(before.result(r).getDictionary(func.getContext()));
        continue;
      }
      FailureOr<SmallVector<ShardingAttr>> shardings =
          getShardings(tied.getInt(), segments, func.getResultAttrOfType<ShardingAttr>(r, kShardingAttr));
      if (failed(shardings))
        return failure();
      splits.push_back({r, segments.getDim(), segments.getSizes()});
      addResults(r, segments, *shardings, places[tied.getInt()], before.result(r), resultAttrs);
    }
    // Those behind parts keep what they are called.
    if (!splits.empty())
      for (unsigned r = 0, at = 0; r < func.getNumResults(); ++r) {
        const auto *split = llvm::find_if(splits, [&](auto &split) { return split.result == r; });
        if (split != splits.end()) {
          at += split->sizes.size();
          continue;
        }
        NamedAttrList own(resultAttrs[at]);
        own.set(kNameAttr, StringAttr::get(func.getContext(), getResultName(own, r)));
        resultAttrs[at++] = own.getDictionary(func.getContext());
      }
    uses.rewrite(func, splits);
    func.setFunctionType(
        FunctionType::get(func.getContext(), body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
    func.setAllArgAttrs(attrs);
    func.setAllResultAttrs(resultAttrs);
    return success();
  }

private:
  Location getLoc(unsigned i) { return func.getArgument(i).getLoc(); }

  static std::string getResultName(const NamedAttrList &attrs, unsigned r) {
    auto name = dyn_cast_or_null<StringAttr>(attrs.get(kNameAttr));
    return name ? name.str() : "result" + std::to_string(r);
  }

  /// The parts of a result that updates an argument: each is tied to its part, from
  /// argument `tied` on.
  void addResults(unsigned r, SegmentsAttr segments, ArrayRef<ShardingAttr> shardings, int64_t tied,
                  const NamedAttrList &whole, SmallVectorImpl<DictionaryAttr> &out) {
    Builder b(func.getContext());
    auto type = cast<RankedTensorType>(func.getResultTypes()[r]);
    std::string name = getResultName(whole, r);
    int64_t offset = 0;
    for (auto [size, sharding] : llvm::zip(segments.getSizes(), shardings)) {
      NamedAttrList own = whole;
      if (sharding)
        own.set(kShardingAttr, sharding);
      own.set(kTiedAttr, b.getI64IntegerAttr(tied++));
      own.set(kSegmentAttr,
              SegmentAttr::get(func.getContext(), type, segments.getDim(), offset, segments.getUnit(), r));
      own.set(kNameAttr,
              b.getStringAttr(name + "[" + std::to_string(offset) + ":" + std::to_string(offset + size) + "]"));
      out.push_back(own.getDictionary(func.getContext()));
      offset += size;
    }
  }

  LogicalResult check(unsigned i) {
    auto error = [&] { return emitError(getLoc(i)) << "argument #" << i; };
    auto load = func.getArgAttrOfType<FlatSymbolRefAttr>(i, kLoadAttr);
    if (!load && !func.getArgAttrOfType<StringAttr>(i, kWeightAttr))
      return error() << " has segments, expected a spmd.weight that names its stored tensor, or "
                        "several with a loading function";
    if (auto made = load ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(func, load) : func::FuncOp();
        made && callsHostFunctions(made))
      return error() << " has segments and a loading function that calls host functions, expected "
                        "one of them";
    if (func.getArgAttr(i, kAxisResourcesAttr))
      return error() << " has segments and axis resources, expected a sharding; run "
                        "--spmd-resolve-axis-resources first";
    if (isa_and_nonnull<OrtAttr>(func.getArgAttr(i, kShardingAttr)))
      return error() << " has segments and an ONNX Runtime spec, expected a sharding; run "
                        "--spmd-import-ort first";
    return success();
  }

  /// The shardings of the parts: that of the argument or of what updates it, cut along fewer axes where a
  /// part has too few units and may be replicated.
  FailureOr<SmallVector<ShardingAttr>> getShardings(unsigned i, SegmentsAttr segments, ShardingAttr attr) {
    SmallVector<ShardingAttr> shardings(segments.getSizes().size(), attr);
    if (!attr)
      return shardings;
    auto emit = [&] { return emitError(getLoc(i)); };
    const Mesh *mesh = meshes.lookupOrEmit(attr.getMesh(), emit);
    if (!mesh)
      return failure();
    FailureOr<Sharding> whole = toSharding(attr, *mesh, emit);
    if (failed(whole))
      return failure();
    int64_t d = segments.getDim(), shards = totalFactor(whole->dims[d].entries);
    for (auto [p, size, sharding] : llvm::enumerate(segments.getSizes(), shardings)) {
      int64_t units = size / segments.getUnit();
      if (units % shards == 0)
        continue;
      bool replicates = segments.getReplicate() && units < shards &&
                        llvm::none_of(whole->dims[d].entries, [](const DimEntry &entry) { return entry.isGap(); });
      if (!replicates) {
        InFlightDiagnostic diag = emit();
        diag << "part " << p << " of the segments of argument #" << i << " has " << units
             << (units == 1 ? " unit of " : " units of ") << segments.getUnit() << " and is cut into " << shards
             << ", expected " << listDivisors(units) << " shards";
        if (units < shards)
          diag << ", or `replicate` in the segments";
        return diag;
      }
      Sharding own = *whole;
      DimEntries &entries = own.dims[d].entries;
      int64_t left = units;
      for (unsigned e = 0; e < entries.size(); ++e) {
        int64_t size = std::gcd(entries[e].size, left);
        if (size != entries[e].size) { // the major part of it
          entries[e].size = size;
          entries.truncate(size > 1 ? e + 1 : e);
          break;
        }
        left /= size;
      }
      sharding = toAttr(func.getContext(), attr.getMesh(), own, *mesh);
    }
    return shardings;
  }

  func::FuncOp func;
  const MeshCache &meshes;
  Uses uses;
};

struct SplitSegmentsPass : public spmd::impl::SPMDSplitSegmentsPassBase<SplitSegmentsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyInput(module, Phase::Annotated, getArgument())))
      return signalPassFailure();
    SmallVector<func::FuncOp> functions;
    for (auto func : module.getOps<func::FuncOp>())
      for (unsigned i = 0; i < func.getNumArguments() && !func.isExternal(); ++i)
        if (func.getArgAttr(i, kSegmentsAttr)) {
          functions.push_back(func);
          break;
        }
    if (functions.empty())
      return;
    if (getPhase(module) < int(Phase::Annotated))
      makeConstraintsOfShardings(module);
    WalkResult calls = module.walk([&](func::CallOp call) {
      for (func::FuncOp func : functions)
        if (call.getCallee() == func.getSymName()) {
          call.emitError() << "@" << func.getSymName()
                           << " has an argument with segments and is called, expected it to be "
                              "called by nothing in the module, or inlined";
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    if (calls.wasInterrupted())
      return signalPassFailure();
    MeshCache meshes(module);
    for (func::FuncOp func : functions)
      if (failed(ArgumentSplitter(func, meshes).run()))
        return signalPassFailure();
  }
};

} // namespace
