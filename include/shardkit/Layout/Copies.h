//===- Copies.h - A value whose elements are copied -------------*- C++ -*-===//
//
// The result of concatenations, slices, transposes, broadcasts and reshapes of stored
// tensors, as boxes. A box is a set of nested loops from elements of one source to
// elements of the value. Sharded by a layout, boxes give in closed form the elements
// that a device needs and where they go. Their number does not grow with sizes or
// devices.
//
//   value of 6 = concat(source 0 of 2, source 1 of 4)
//   box 0: source 0, from 0, at [0], loop of 2      box 1: source 1, from 0, at [2], loop of 4
//   on 2 devices, device 1 copies elements 1, 2, 3 of source 1
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LAYOUT_COPIES_H
#define SHARDKIT_LAYOUT_COPIES_H

#include "shardkit/Layout/Layout.h"
#include <array>

namespace mlir::spmd {

/// The source of numbers: its element i is i.
inline constexpr unsigned kNumbersSource = ~0u;

/// Index i of the loop moves by `i * step` indices along `dim` and by `i * from`
/// elements in the source.
struct CopyLoop {
  unsigned dim;
  int64_t size, step, from;
  bool operator==(const CopyLoop &) const = default;
};

/// Source element `from` goes to index `at`, the others follow by the loops. The
/// indices of a box are distinct: a step exceeds the extent of the finer loops of its
/// dim. No loop has size 1.
struct CopyBox {
  unsigned source;
  int64_t from;
  llvm::SmallVector<int64_t, 4> at;
  llvm::SmallVector<CopyLoop, 6> loops;
  bool operator==(const CopyBox &) const = default;
};

/// The elements that a device copies from one source: source element
/// `from + sum over offset [rank stride, size, source stride] of digit * stride + sum
/// over loops of i * source stride` goes to local element `to + sum of i * local
/// stride` for loops [size, source stride, local stride].
struct CopyPiece {
  unsigned source;
  int64_t from, to;
  llvm::SmallVector<std::array<int64_t, 3>, 2> offset;
  llvm::SmallVector<std::array<int64_t, 3>, 4> loops;
  /// The loop runs over chunk k of a dim that is split into chunks of its size, where
  /// k is the coordinate on `ranks`, restricted to indices in [begin, begin + size).
  /// The first of these is element 0 of the loop in the source.
  struct Chunk {
    unsigned loop;
    int64_t size, begin;
    llvm::SmallVector<RankDigit, 2> ranks;
  };
  llvm::SmallVector<Chunk, 1> chunks;
};

/// A value of `shape` whose elements are copies of elements of sources. Elements in
/// no box are undefined. Functions that return an optional return std::nullopt if the
/// result has too many boxes.
class Copies {
public:
  /// A source of this shape.
  static Copies ofSource(unsigned source, llvm::ArrayRef<int64_t> shape);
  /// A value without defined elements.
  static Copies undefined(llvm::ArrayRef<int64_t> shape);
  /// A value whose elements are all element `element` of a source.
  static Copies repeat(unsigned source, int64_t element, llvm::ArrayRef<int64_t> shape);
  /// Sizes of the other dims are equal.
  static Copies concat(llvm::ArrayRef<Copies> inputs, unsigned dim);

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  llvm::ArrayRef<CopyBox> getBoxes() const { return boxes; }

  /// The indices offset + step * j, 0 <= j < size, of each dim.
  std::optional<Copies> slice(llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes,
                              llvm::ArrayRef<int64_t> steps) const;
  /// This value with the elements at these indices taken from `input`.
  std::optional<Copies> insert(const Copies &input, llvm::ArrayRef<int64_t> offsets,
                               llvm::ArrayRef<int64_t> steps) const;
  /// Dim d of the result is dim `dims[d]`, or a broadcast where that is -1. Every dim
  /// of this value is named once.
  Copies remap(llvm::ArrayRef<int64_t> resultShape, llvm::ArrayRef<int64_t> dims) const;
  /// The same elements in row-major order.
  std::optional<Copies> reshape(llvm::ArrayRef<int64_t> newShape) const;

  /// True if every element is defined.
  bool isComplete() const;
  /// A larger local buffer: `size` indices of dim `dim`; the value begins at index
  /// `at`.
  struct Buffer {
    unsigned dim;
    int64_t size, at;
  };
  /// The copies of each device that holds the value in `layout`, to a buffer of the
  /// local shape or to a slice of `buffer`. The value is complete; the layout has its
  /// shape and is not partial.
  std::optional<std::vector<CopyPiece>> shard(const Layout &layout, std::optional<Buffer> buffer = std::nullopt) const;
  /// The same without a closed form: each piece belongs to the devices of one shard, by
  /// a chunk of size 1 whose number is that of the shard. The value may have undefined
  /// elements.
  std::optional<std::vector<CopyPiece>> shardByDevice(const Layout &layout,
                                                      std::optional<Buffer> buffer = std::nullopt) const;

  friend bool operator==(const Copies &a, const Copies &b);

private:
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<CopyBox> boxes;
};

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_COPIES_H
