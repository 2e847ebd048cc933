//===- ElementwiseLoad.cpp - Loading functions, element by element -------===//
//
//   %w: 8x16xf8, %s: 8xf32, 4 devices on dim 0   root: mulf(extf(leaf 0), leaf 1)
//   1. leaves sharded as the result:  leaf 0: 2x16 of %w   leaf 1: 2x16 of %s
//   2. equal elements left out:       2x16                 2 (lacks the minor loop of 16)
//   3. the function:                  generic over 2x16, maps (i, j) and (i)
//
//===----------------------------------------------------------------------===//

#include "ElementExpressions.h"

#include "shardkit/Loading/LoadingFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <numeric>

using namespace mlir;
using namespace mlir::spmd;

namespace {
/// A piece whose loops lie in one dim of the shard each, by indices of that dim.
struct DimPiece {
  struct Loop {
    unsigned dim;
    int64_t size, from, step;
    int chunk = -1; ///< The chunk that it runs over.
  };
  const CopyPiece *piece;
  SmallVector<int64_t, 4> at;
  SmallVector<Loop, 6> loops;
};
} // namespace

/// Loops that run over several dims are split at the boundaries of these.
static DimPiece getDimPiece(const CopyPiece &piece, ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  DimPiece result{&piece, {}, {}};
  int64_t left = piece.to;
  for (int64_t n : strides) {
    result.at.push_back(left / n);
    left %= n;
  }
  for (auto [i, loop] : llvm::enumerate(piece.loops)) {
    auto [size, from, to] = loop;
    auto chunk = llvm::find_if(piece.chunks, [&, at = i](const CopyPiece::Chunk &c) { return c.loop == at; });
    if (chunk != piece.chunks.end()) {
      // It runs over a full dim, or selects a shard and does not move.
      unsigned d = shape.size();
      while (d-- > 1 && to != 0 && (to != strides[d] || size != shape[d]))
        ;
      result.loops.push_back({d, size, from, to == 0 ? 0 : 1, int(chunk - piece.chunks.begin())});
      continue;
    }
    for (size_t d = shape.size(); d-- > 0 && size > 1;) {
      int64_t end = strides[d] * shape[d];
      if (to >= end)
        continue;
      int64_t inside = std::min<int64_t>(size, llvm::divideCeil(end, to));
      result.loops.push_back({unsigned(d), inside, from, to / strides[d]});
      size = llvm::divideCeil(size, inside);
      from *= inside;
      to *= inside;
    }
  }
  return result;
}

/// The largest number of consecutive indices of a dim of `size`, from multiples of it on,
/// that have equal elements in all pieces.
static int64_t getEqualIndices(ArrayRef<DimPiece> pieces, unsigned dim, int64_t size, int64_t globalSize) {
  int64_t equal = 0;
  for (const DimPiece &piece : pieces) {
    int64_t ofPiece = 1;
    for (const DimPiece::Loop &loop : piece.loops)
      if (loop.dim == dim && loop.step == 1 && loop.from == 0) {
        const CopyPiece::Chunk *chunk = loop.chunk < 0 ? nullptr : &piece.piece->chunks[loop.chunk];
        if (!chunk || (chunk->begin == 0 && chunk->size == globalSize))
          ofPiece = loop.size;
      }
    equal = std::gcd(equal, ofPiece);
    equal = std::gcd(equal, piece.at[dim]);
    for (const DimPiece::Loop &loop : piece.loops)
      if (loop.dim == dim && !(loop.step == 1 && loop.from == 0) && loop.step != 0)
        equal = std::gcd(equal, loop.step);
  }
  return size == 0 || equal == 0 || size % equal != 0 ? 1 : equal;
}

/// The piece of a buffer that has one of every `blocks[d]` indices of dim d.
static CopyPiece shrink(const DimPiece &piece, ArrayRef<int64_t> shape, ArrayRef<int64_t> blocks) {
  SmallVector<int64_t, 4> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d] / blocks[d];
  }
  CopyPiece result{piece.piece->source, piece.piece->from, 0, piece.piece->offset, {}, {}};
  for (auto [d, at] : llvm::enumerate(piece.at))
    result.to += at / blocks[d] * strides[d];
  for (const DimPiece::Loop &loop : piece.loops) {
    int64_t size = loop.size, step = loop.step, block = shape.empty() ? 1 : blocks[loop.dim];
    bool isEqual = block > 1 && step == 1; // its elements are equal
    if (isEqual) {
      size /= block;
      step = block;
    }
    if (loop.chunk >= 0 && !isEqual) {
      CopyPiece::Chunk chunk = piece.piece->chunks[loop.chunk];
      chunk.loop = result.loops.size();
      result.chunks.push_back(chunk);
    } else if (size == 1) {
      continue;
    }
    result.loops.push_back({size, loop.from, shape.empty() ? 0 : step / block * strides[loop.dim]});
  }
  return result;
}

std::optional<ElementwiseLoad> ElementwiseLoad::get(func::FuncOp load, const ArgumentLayout &layout) {
  constexpr unsigned kMaxLeaves = 64;
  ElementwiseLoad result;
  result.root = getElements(load);
  SmallVector<int64_t, 4> shape = layout.localShape();
  result.local = RankedTensorType::get(shape, getElementTypeOrSelf(load.getResultTypes()[0]));
  if (!result.root || llvm::is_contained(shape, 0))
    return std::nullopt;
  // 1. Leaves that are equal are one operand.
  SmallVector<const ElementNode *> pending{result.root.get()}, leaves;
  llvm::DenseSet<const ElementNode *> seen;
  while (!pending.empty()) {
    const ElementNode *node = pending.pop_back_val();
    if (!seen.insert(node).second)
      continue;
    for (const Element &operand : node->operands)
      pending.push_back(operand.get());
    if (node->kind != ElementNode::Kind::Leaf)
      continue;
    auto same = llvm::find_if(
        leaves, [&](const ElementNode *leaf) { return leaf->type == node->type && *leaf->copies == *node->copies; });
    result.operandOf[node] = same - leaves.begin();
    if (same == leaves.end())
      leaves.push_back(node);
  }
  if (leaves.size() > kMaxLeaves)
    return std::nullopt;
  // 2. Shards of leaves, without indices of equal elements.
  SmallVector<std::vector<CopyPiece>> pieces;
  SmallVector<std::vector<DimPiece>> dimPieces;
  SmallVector<SmallVector<int64_t>> blocks;
  for (const ElementNode *leaf : leaves) {
    auto shard = layout.shard(*leaf->copies, /*byDevice=*/true);
    if (!shard)
      return std::nullopt;
    pieces.push_back(std::move(*shard));
  }
  for (const std::vector<CopyPiece> &list : pieces) {
    std::vector<DimPiece> &split = dimPieces.emplace_back();
    for (const CopyPiece &piece : list)
      split.push_back(getDimPiece(piece, shape));
    SmallVector<int64_t> &ofLeaf = blocks.emplace_back();
    for (auto [d, size] : llvm::enumerate(shape))
      ofLeaf.push_back(getEqualIndices(split, d, size, layout.segments[0].type.getDimSize(d)));
  }
  // 3. The sizes of blocks of a dim divide one another.
  result.missing.assign(leaves.size(), SmallVector<unsigned>(shape.size(), 0));
  for (auto [d, size] : llvm::enumerate(shape)) {
    SmallVector<int64_t> chain{1};
    SmallVector<int64_t> wanted;
    for (auto &ofLeaf : blocks)
      wanted.push_back(ofLeaf[d]);
    llvm::sort(wanted);
    for (int64_t block : wanted)
      if (block > chain.back() && block % chain.back() == 0)
        chain.push_back(block);
    for (auto [leaf, ofLeaf] : llvm::enumerate(blocks)) {
      size_t k = chain.size() - 1;
      while (ofLeaf[d] % chain[k] != 0)
        --k;
      ofLeaf[d] = chain[k];
      result.missing[leaf][d] = k;
    }
    LoopDims &dims = result.dims.emplace_back();
    dims.sizes.push_back(size / chain.back());
    for (size_t k = chain.size(); k-- > 1;)
      dims.sizes.push_back(chain[k] / chain[k - 1]);
  }
  for (auto [i, leaf] : llvm::enumerate(leaves)) {
    Operand &operand = result.operands.emplace_back(Operand{leaf->type, {}, {}});
    for (auto [size, block] : llvm::zip(shape, blocks[i]))
      operand.shape.push_back(size / block);
    for (const DimPiece &piece : dimPieces[i])
      operand.pieces.push_back(shrink(piece, shape, blocks[i]));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

namespace {
/// Creates the ops of an expression.
class ElementEmitter {
public:
  ElementEmitter(OpBuilder &b, Location loc, OpBuilder::InsertPoint tables,
                 llvm::function_ref<Value(const ElementNode *)> leaf)
      : b(b), loc(loc), tables(tables), leaf(leaf) {}
  Value get(const ElementNode *node) {
    auto it = known.find(node);
    return it != known.end() ? it->second : known[node] = create(node);
  }

private:
  Value create(const ElementNode *node);

  OpBuilder &b;
  Location loc;
  OpBuilder::InsertPoint tables;
  llvm::function_ref<Value(const ElementNode *)> leaf;
  llvm::DenseMap<const ElementNode *, Value> known;
};
} // namespace

Value ElementEmitter::create(const ElementNode *node) {
  SmallVector<Value> operands;
  for (const Element &operand : node->operands)
    operands.push_back(get(operand.get()));
  switch (node->kind) {
  case ElementNode::Kind::Leaf:
    return leaf(node);
  case ElementNode::Kind::Undefined: {
    auto type = node->type;
    return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  }
  case ElementNode::Kind::Constant:
    return arith::ConstantOp::create(b, loc, node->constant);
  case ElementNode::Kind::Lookup: {
    OpBuilder::InsertionGuard guard(b);
    OpBuilder outside(b.getContext());
    outside.restoreInsertionPoint(tables);
    Value table = arith::ConstantOp::create(outside, loc, node->constant);
    Value index = arith::IndexCastOp::create(b, loc, b.getIndexType(), operands[0]);
    return tensor::ExtractOp::create(b, loc, table, index);
  }
  case ElementNode::Kind::Op:
    break;
  }
  OperationState state(loc, *node->name, operands, node->type, node->attrs.getValue());
  return b.create(state)->getResult(0);
}

func::FuncOp ElementwiseLoad::build(OpBuilder &b, Location loc, StringRef name) const {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<int64_t> sizes;
  SmallVector<ReassociationIndices> groups;
  for (const LoopDims &dim : dims) {
    ReassociationIndices &group = groups.emplace_back();
    for (int64_t size : dim.sizes) {
      group.push_back(sizes.size());
      sizes.push_back(size);
    }
  }
  // The operands, and the loops that index them.
  SmallVector<Type> types;
  SmallVector<AffineMap> maps;
  for (auto [operand, lacks] : llvm::zip(operands, missing)) {
    SmallVector<int64_t> shape;
    SmallVector<AffineExpr> exprs;
    for (auto [group, minor] : llvm::zip(groups, lacks))
      for (int64_t loop : ArrayRef(group).drop_back(minor)) {
        shape.push_back(sizes[loop]);
        exprs.push_back(b.getAffineDimExpr(loop));
      }
    types.push_back(RankedTensorType::get(shape, operand.type));
    maps.push_back(AffineMap::get(sizes.size(), 0, exprs, b.getContext()));
  }
  maps.push_back(b.getMultiDimIdentityMap(sizes.size()));
  auto func = func::FuncOp::create(b, loc, name, b.getFunctionType(types, local));
  Block *entry = func.addEntryBlock();
  b.setInsertionPointToStart(entry);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, local.getElementType());
  auto tables = b.saveInsertionPoint();
  SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::parallel);
  auto generic =
      linalg::GenericOp::create(b, loc, empty.getType(), entry->getArguments(), empty, maps, iterators,
                                [&](OpBuilder &body, Location at, ValueRange args) {
                                  tables = OpBuilder::InsertPoint(entry, Block::iterator(empty.getDefiningOp()));
                                  auto getLeaf = [&](const ElementNode *leaf) { return args[operandOf.at(leaf)]; };
                                  ElementEmitter emitter(body, at, tables, getLeaf);
                                  linalg::YieldOp::create(body, at, emitter.get(root.get()));
                                });
  Value result = generic.getResult(0);
  if (sizes.size() != dims.size())
    result = tensor::CollapseShapeOp::create(b, loc, local, result, groups);
  func::ReturnOp::create(b, loc, result);
  return func;
}
