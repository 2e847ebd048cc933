//===- WidenedOperands.h - Products with weights that are stored narrow ---===//
//
// A weight of 4 or 8 bits is widened by elementwise ops before a product, a weight of bf16 by the library. With few
// rows on the other side, as when a model decodes, a product reads each element of the weight once: time is that of
// memory. Such a product becomes one nest of loops that widens elements in registers. With more rows, a weight is
// widened in tiles that stay in the cache, and the library multiplies by these. No full weight is in memory as f32.
//
//   contract(x: 1x64, collapse(generic(q: 8x512xi32, scale: 512xf16): 8x8x512xf32): 64x512xf32)
//   ->  wide[n, i] = extend(scale[n, i])
//       for n: for k, j, i: y[n, i] += x[k, j] * (number(q[k, n, i], j) * wide[n, i])
//
// where n has 2 and i has 256 of the 512 results. The innermost loop reads the largest input, the payload, in order.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_TARGET_CPU_WIDENEDOPERANDS_H
#define SHARDKIT_LIB_TARGET_CPU_WIDENEDOPERANDS_H

#include "NumberTable.h"
#include "shardkit/Target/Common/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::spmd::cpu {

/// An operand of a contraction and the elementwise op that computes it, without the reshape between the two.
struct Widened {
  unsigned operand; ///< 0 or 1
  Value value;      ///< Computed by `producer`, or the operand itself.
  linalg::GenericOp producer;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;              ///< From dims of `value` to those of inputs.
  SmallVector<ReassociationIndices> groups; ///< By dims of the operand, those of `value`.
  ArrayRef<int64_t> shape() const { return cast<RankedTensorType>(value.getType()).getShape(); }
};

/// A loop of a nest: a dim of the widened value, a part of one, or a loop of the contraction that the value lacks.
struct Loop {
  unsigned contracted; ///< The loop of the contraction.
  int64_t size;
  int64_t dim = -1; ///< Of the widened value.
};

/// A contraction with an operand that is widened, which it becomes a nest or tiles of.
class WidenedProduct {
public:
  WidenedProduct(target::ContractOp op, Widened widened) : op(op), widened(std::move(widened)), b(op) {
    maps = llvm::to_vector(op.getIndexingMaps().getAsValueRange<AffineMapAttr>());
    sizes = *op.getLoopSizes();
  }

  /// Rows of the other operand.
  int64_t countRows() const {
    int64_t rows = 1;
    for (auto [loop, size] : llvm::enumerate(sizes))
      if (!own().isFunctionOfDim(loop))
        rows *= size;
    return rows;
  }

  /// A call of the runtime in place of the op, if it has code for numbers that are stored so (WidenedRows.cpp).
  bool makeRows();
  /// One nest of loops in place of the op (WidenedNest.cpp).
  void makeNest();
  /// A loop over tiles, each of which is widened and then multiplied by the library; nothing where one tile has all.
  void makeTiles();

private:
  /// A tensor with the loops of the nest that its dims are.
  struct Indexed {
    Value value;
    SmallVector<unsigned> loops;
  };

  AffineMap own() const { return maps[widened.operand]; }
  AffineMap other() const { return maps[1 - widened.operand]; }
  bool isSummed(unsigned loop) const { return !maps[2].isFunctionOfDim(loop); }
  unsigned loopOf(int64_t dim) const;

  // Steps of makeNest, in their order.
  void orderLoops();
  void indexLoops();
  SmallVector<Indexed> makeElement(Block &body);
  Indexed expand(Value value, AffineMap map, ArrayRef<SmallVector<unsigned>> by);
  AffineMap getMap(ArrayRef<unsigned> of, ArrayRef<unsigned> in);
  SmallVector<int64_t> shapeOf(ArrayRef<unsigned> of) const;
  Value cloneBody(OpBuilder &inner, Location loc, ValueRange args, function_ref<Value(int64_t)> indexOf);
  Value computeIndex(OpBuilder &inner, Location loc, int64_t dim, ArrayRef<unsigned> in);
  void hoist(SmallVectorImpl<Indexed> &inputs, Block &body);
  Indexed sliceAt(const Indexed &input, unsigned loop, int64_t index);
  Value sum(ArrayRef<Indexed> inputs, Block &body, ArrayRef<unsigned> results, Value init);
  std::optional<Indexed> takeScale(SmallVectorImpl<Indexed> &inputs, Block &body);
  Value scale(Value partial, ArrayRef<unsigned> of, const Indexed &factor, ArrayRef<unsigned> results, Value init);
  Type getSumType();
  void replace(Value result);

  // Of makeRows.
  struct Number;
  struct Format;
  struct Inner;
  struct InnerCases;
  std::optional<Number> findNumber(Value value, ArrayRef<Indexed> inputs, Block &body, ArrayRef<unsigned> loopsOfBody);
  std::optional<Bits> computeNumber(const Number &number, ArrayRef<Indexed> inputs, Block &body,
                                    ArrayRef<unsigned> loopsOfBody, ArrayRef<int64_t> at);
  SmallVector<int64_t> indicesOf(const SetVector<unsigned> &of, int64_t number);
  std::optional<int64_t> countCases(const SetVector<unsigned> &of, int64_t limit);
  std::optional<Format> findFormat(Value value, ArrayRef<Indexed> inputs, Block &body);
  std::optional<Inner> findInner(const Indexed &scale);
  std::optional<int64_t> addBytes(const Indexed &of, Inner &inner);
  InnerCases findInnerCases(std::optional<Inner> scale, std::optional<Inner> offset);

  target::ContractOp op;
  Widened widened;
  OpBuilder b;
  SmallVector<AffineMap> maps;
  SmallVector<int64_t> sizes;
  SmallVector<Loop> loops;                          ///< Of the nest, outermost first.
  unsigned outer = 0;                               ///< So many of them are split among threads.
  std::optional<unsigned> termLoop;                 ///< Of terms that one iteration adds.
  unsigned rowLoops = 0;                            ///< In makeRows, so many of the last ones are of the other operand.
  SmallVector<SmallVector<unsigned>> byDim, byLoop; ///< Loops of the nest, by dims of the value and by loops of the op.
};

/// Bytes of a tensor of a static shape.
int64_t getTensorBytes(Type type);

/// The largest divisor of `size` that is at most `limit`.
int64_t getLargestDivisor(int64_t size, int64_t limit);

} // namespace mlir::spmd::cpu

#endif // SHARDKIT_LIB_TARGET_CPU_WIDENEDOPERANDS_H
