//===- Copies.h - A value whose elements are copied -------------*- C++ -*-===//
//
// What concatenations, slices, transposes, broadcasts and reshapes make of stored
// tensors: boxes, each a set of nested loops from elements of one source to places
// of the value. Cut by a layout they say in closed form which elements a device
// needs, and where they go: nothing grows with sizes or with devices.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LAYOUT_COPIES_H
#define SHARDKIT_LAYOUT_COPIES_H

#include "shardkit/Layout/Layout.h"
#include <array>

namespace mlir::spmd {

/// Index i of the loop moves `i * step` places along `dim` and `i * from` elements
/// in the source.
struct CopyLoop {
  unsigned dim;
  int64_t size, step, from;
};

/// Source element `from` goes to the place `at`, the others as the loops say.
/// Places of a box differ: a step is larger than all that the finer loops of its
/// dim move. No loop has size 1.
struct CopyBox {
  unsigned source;
  int64_t from;
  llvm::SmallVector<int64_t, 4> at;
  llvm::SmallVector<CopyLoop, 6> loops;
};

/// What a device copies from one source: source element
/// `from + sum over offset [rank stride, size, source stride] of digit * stride + sum
/// over loops of i * source stride` goes to local element `to + sum of i * local
/// stride` for loops [size, source stride, local stride].
struct CopyPiece {
  unsigned source;
  int64_t from, to;
  llvm::SmallVector<std::array<int64_t, 3>, 2> offset;
  llvm::SmallVector<std::array<int64_t, 3>, 4> loops;
  /// The loop runs over chunk k of a dim that is cut into chunks of its size, k
  /// being the coordinate on `ranks`: those places that lie in
  /// [begin, begin + size), and the first of these is element 0 of the loop in the
  /// source.
  struct Chunk {
    unsigned loop;
    int64_t size, begin;
    llvm::SmallVector<RankDigit, 2> ranks;
  };
  llvm::SmallVector<Chunk, 1> chunks;
};

/// A value of `shape` whose elements are copies of elements of sources. What is
/// not in a box is undefined. Functions that return an optional give nothing
/// where the result is no small number of boxes.
class Copies {
public:
  /// A source of this shape.
  static Copies whole(unsigned source, llvm::ArrayRef<int64_t> shape);
  /// A value without defined elements.
  static Copies nothing(llvm::ArrayRef<int64_t> shape);
  /// Sizes of the other dims are equal.
  static Copies concat(llvm::ArrayRef<Copies> parts, unsigned dim);

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  llvm::ArrayRef<CopyBox> getBoxes() const { return boxes; }

  /// Places offset + step * j, 0 <= j < size, of each dim.
  std::optional<Copies> slice(llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes,
                              llvm::ArrayRef<int64_t> steps) const;
  /// This value with these places taken from `part`.
  std::optional<Copies> insert(const Copies &part, llvm::ArrayRef<int64_t> offsets,
                               llvm::ArrayRef<int64_t> steps) const;
  /// Dim d of the result is dim `dims[d]`, or all copies of one place where that is
  /// -1. Every dim of this value is named once.
  Copies remap(llvm::ArrayRef<int64_t> resultShape, llvm::ArrayRef<int64_t> dims) const;
  /// The same elements in row-major order.
  std::optional<Copies> reshape(llvm::ArrayRef<int64_t> newShape) const;

  /// True if every element is defined.
  bool isComplete() const;
  /// A larger local buffer: `size` places of dim `dim`, of which the value has those
  /// from `at` on.
  struct Buffer {
    unsigned dim;
    int64_t size, at;
  };
  /// What each device that holds the value in `layout` copies, to a buffer of the
  /// local shape or to a part of `buffer`. The value is complete, the layout of its
  /// shape, and not partial.
  std::optional<std::vector<CopyPiece>> cut(const Layout &layout, std::optional<Buffer> buffer = std::nullopt) const;

private:
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<CopyBox> boxes;
};

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_COPIES_H
