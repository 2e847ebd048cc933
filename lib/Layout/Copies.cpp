//===- Copies.cpp - A value whose elements are copied ---------------------===//

#include "shardkit/Layout/Copies.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::spmd;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using Boxes = std::vector<CopyBox>;

/// Upper bounds of the number of boxes, and of shards that are described one by one.
static constexpr size_t kMaxBoxes = 1024;
static constexpr int64_t kMaxShards = 1024;

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t n = 1;
  for (int64_t size : sizes)
    n *= size;
  return n;
}

/// Distance between the first and the last index of a box along a dim.
static int64_t span(const CopyBox &box, unsigned dim) {
  int64_t result = 0;
  for (const CopyLoop &loop : box.loops)
    if (loop.dim == dim)
      result += (loop.size - 1) * loop.step;
  return result;
}

/// The loop with the largest step along a dim, or null.
static CopyLoop *largest(CopyBox &box, unsigned dim, llvm::function_ref<bool(const CopyLoop &)> among) {
  CopyLoop *result = nullptr;
  for (CopyLoop &loop : box.loops)
    if (loop.dim == dim && among(loop) && (!result || loop.step > result->step))
      result = &loop;
  return result;
}

/// Indices [begin, begin + count) of a loop of the box.
static CopyBox subBox(CopyBox box, CopyLoop *loop, const CopyBox &of, int64_t begin, int64_t count) {
  size_t i = loop - of.loops.begin();
  CopyLoop &inner = box.loops[i];
  box.from += begin * inner.from;
  box.at[inner.dim] += begin * inner.step;
  inner.size = count;
  if (count == 1)
    box.loops.erase(box.loops.begin() + i);
  return box;
}

/// Joins loops that continue at the end of finer ones of their dim, in index and source.
static void normalise(CopyBox &box) {
  llvm::erase_if(box.loops, [](const CopyLoop &loop) { return loop.size == 1; });
  llvm::sort(box.loops, [](const CopyLoop &a, const CopyLoop &b) {
    return std::pair(a.dim, -a.step) < std::pair(b.dim, -b.step);
  });
  SmallVector<CopyLoop, 6> joined;
  for (const CopyLoop &loop : box.loops) {
    CopyLoop *last = joined.empty() ? nullptr : &joined.back();
    if (last && last->dim == loop.dim && last->step == loop.size * loop.step && last->from == loop.size * loop.from)
      *last = {loop.dim, last->size * loop.size, loop.step, loop.from};
    else
      joined.push_back(loop);
  }
  box.loops = std::move(joined);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

Copies Copies::undefined(ArrayRef<int64_t> shape) {
  Copies result;
  result.shape.assign(shape.begin(), shape.end());
  return result;
}

Copies Copies::ofSource(unsigned source, ArrayRef<int64_t> shape) {
  Copies result = undefined(shape);
  if (product(shape) == 0)
    return result;
  CopyBox box{source, 0, SmallVector<int64_t, 4>(shape.size(), 0), {}};
  int64_t stride = product(shape);
  for (auto [d, size] : llvm::enumerate(shape)) {
    stride /= size;
    if (size != 1)
      box.loops.push_back({unsigned(d), size, 1, stride});
  }
  result.boxes.push_back(std::move(box));
  return result;
}

Copies Copies::repeat(unsigned source, int64_t element, ArrayRef<int64_t> shape) {
  Copies result = undefined(shape);
  if (product(shape) == 0)
    return result;
  CopyBox box{source, element, SmallVector<int64_t, 4>(shape.size(), 0), {}};
  for (auto [d, size] : llvm::enumerate(shape))
    if (size != 1)
      box.loops.push_back({unsigned(d), size, 1, 0});
  result.boxes.push_back(std::move(box));
  return result;
}

bool mlir::spmd::operator==(const Copies &a, const Copies &b) { return a.shape == b.shape && a.boxes == b.boxes; }

Copies Copies::concat(ArrayRef<Copies> inputs, unsigned dim) {
  Copies result = undefined(inputs.front().shape);
  result.shape[dim] = 0;
  for (const Copies &input : inputs) {
    for (CopyBox box : input.boxes) {
      box.at[dim] += result.shape[dim];
      result.boxes.push_back(std::move(box));
    }
    result.shape[dim] += input.shape[dim];
  }
  return result;
}

Copies Copies::remap(ArrayRef<int64_t> resultShape, ArrayRef<int64_t> dims) const {
  Copies result = undefined(resultShape);
  if (product(resultShape) == 0)
    return result;
  SmallVector<unsigned> to(shape.size());
  for (auto [d, from] : llvm::enumerate(dims))
    if (from >= 0)
      to[from] = d;
  for (CopyBox box : boxes) {
    SmallVector<int64_t, 4> at(dims.size(), 0);
    for (auto [d, index] : llvm::enumerate(box.at))
      at[to[d]] = index;
    box.at = std::move(at);
    for (CopyLoop &loop : box.loops)
      loop.dim = to[loop.dim];
    for (auto [d, from] : llvm::enumerate(dims))
      if (from < 0 && resultShape[d] != 1)
        box.loops.push_back({unsigned(d), resultShape[d], 1, 0});
    normalise(box);
    result.boxes.push_back(std::move(box));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// The indices of the box in [begin, end) of a dim. At most the first and the last index
/// of a loop are clipped.
static void restrict(CopyBox box, unsigned dim, int64_t begin, int64_t end, Boxes &out) {
  int64_t first = box.at[dim], last = first + span(box, dim);
  if (last < begin || first >= end)
    return;
  if (first >= begin && last < end) {
    out.push_back(std::move(box));
    return;
  }
  CopyLoop *loop = largest(box, dim, [](const CopyLoop &) { return true; });
  int64_t inner = last - first - (loop->size - 1) * loop->step;
  auto clamp = [&](int64_t i) { return std::min(std::max<int64_t>(i, 0), loop->size - 1); };
  int64_t anyBegin = clamp(llvm::divideCeilSigned(begin - first - inner, loop->step));
  int64_t anyEnd = clamp(llvm::divideFloorSigned(end - 1 - first, loop->step)) + 1;
  // These are inside entirely; the ones around them partially or not at all.
  int64_t allBegin = anyBegin, allEnd = anyEnd;
  while (allBegin < anyEnd && first + allBegin * loop->step < begin)
    ++allBegin;
  while (allEnd > allBegin && first + (allEnd - 1) * loop->step + inner >= end)
    --allEnd;
  auto clip = [&](int64_t i) { restrict(subBox(box, loop, box, i, 1), dim, begin, end, out); };
  for (int64_t i = anyBegin; i < allBegin; ++i)
    clip(i);
  if (allBegin < allEnd)
    out.push_back(subBox(box, loop, box, allBegin, allEnd - allBegin));
  for (int64_t i = std::max(allBegin, allEnd); i < anyEnd; ++i)
    clip(i);
}

/// The indices of the box at multiples of `step` after `offset`, renumbered. False if
/// they depend on several loops; sets `none` if there are none.
static bool stepOver(CopyBox &box, unsigned dim, int64_t offset, int64_t step, bool &none) {
  none = false;
  box.at[dim] -= offset;
  CopyLoop *odd = nullptr;
  for (CopyLoop &loop : box.loops)
    if (loop.dim == dim && loop.step % step != 0) {
      if (odd || step % loop.step != 0)
        return false;
      odd = &loop;
    }
  if (odd) {
    int64_t every = step / odd->step, i = 0;
    while (i < every && (box.at[dim] + i * odd->step) % step != 0)
      ++i;
    none = i == every || i >= odd->size;
    if (none)
      return true;
    box.at[dim] += i * odd->step;
    box.from += i * odd->from;
    odd->size = llvm::divideCeil(odd->size - i, every);
    odd->from *= every;
    odd->step = step;
  }
  none = box.at[dim] % step != 0;
  box.at[dim] /= step;
  for (CopyLoop &loop : box.loops)
    if (loop.dim == dim)
      loop.step /= step;
  return true;
}

/// Appends the indices of the box at multiples of `step` after `offset`, renumbered. A loop
/// that others depend on is taken index by index. False if there are too many boxes.
static bool stepOver(CopyBox box, unsigned dim, int64_t offset, int64_t step, Boxes &out) {
  CopyBox stepped = box;
  bool none;
  if (stepOver(stepped, dim, offset, step, none)) {
    if (!none)
      out.push_back(std::move(stepped));
    return out.size() <= kMaxBoxes;
  }
  CopyLoop *loop = largest(box, dim, [&](const CopyLoop &l) { return l.step % step != 0; });
  if (out.size() + loop->size > kMaxBoxes)
    return false;
  for (int64_t i = 0; i < loop->size; ++i)
    if (!stepOver(subBox(box, loop, box, i, 1), dim, offset, step, out))
      return false;
  return true;
}

std::optional<Copies> Copies::slice(ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes, ArrayRef<int64_t> steps) const {
  Copies result = undefined(sizes);
  if (product(sizes) == 0)
    return result;
  Boxes current = boxes;
  for (unsigned d = 0; d < shape.size(); ++d) {
    Boxes next;
    for (CopyBox &box : current)
      restrict(std::move(box), d, offsets[d], offsets[d] + (sizes[d] - 1) * steps[d] + 1, next);
    current.clear();
    for (CopyBox &box : next)
      if (!stepOver(std::move(box), d, offsets[d], steps[d], current))
        return std::nullopt;
  }
  for (CopyBox &box : current)
    normalise(box);
  result.boxes = std::move(current);
  return result;
}

/// Appends the indices of the box at multiples of `step` after `offset`.
static bool restrictToMultiples(CopyBox box, unsigned dim, int64_t offset, int64_t step, Boxes &out) {
  if (step == 1) {
    out.push_back(std::move(box));
    return true;
  }
  const size_t before = out.size();
  if (!stepOver(std::move(box), dim, offset, step, out))
    return false;
  for (size_t i = before; i < out.size(); ++i) {
    out[i].at[dim] = offset + out[i].at[dim] * step;
    for (CopyLoop &loop : out[i].loops)
      if (loop.dim == dim)
        loop.step *= step;
  }
  return true;
}

std::optional<Copies> Copies::insert(const Copies &input, ArrayRef<int64_t> offsets, ArrayRef<int64_t> steps) const {
  Copies result = undefined(shape);
  if (product(input.shape) == 0)
    return *this;
  for (const CopyBox &box : boxes) {
    // Those of its elements that the input replaces, dim by dim.
    Boxes inside{box};
    for (unsigned d = 0; d < shape.size(); ++d) {
      int64_t begin = offsets[d], end = begin + (input.shape[d] - 1) * steps[d] + 1;
      Boxes between, next;
      for (const CopyBox &piece : inside) {
        restrict(piece, d, 0, begin, result.boxes);
        restrict(piece, d, end, shape[d], result.boxes);
        restrict(piece, d, begin, end, between);
      }
      for (const CopyBox &piece : between)
        for (int64_t r = 0; r < steps[d]; ++r)
          if (!restrictToMultiples(piece, d, begin + r, steps[d], r == 0 ? next : result.boxes))
            return std::nullopt;
      inside = std::move(next);
    }
    if (result.boxes.size() > kMaxBoxes)
      return std::nullopt;
  }
  for (CopyBox box : input.boxes) {
    for (unsigned d = 0; d < shape.size(); ++d)
      box.at[d] = offsets[d] + box.at[d] * steps[d];
    for (CopyLoop &loop : box.loops)
      loop.step *= steps[loop.dim];
    result.boxes.push_back(std::move(box));
  }
  if (result.boxes.size() > kMaxBoxes)
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

static bool split(CopyBox box, unsigned dim, int64_t minor, Boxes &out);

/// Splits dim `dim` of a box into two, the minor one of size `minor`. Loops that cross
/// the boundary between them are split there. False if that needs more than a first
/// block, full blocks and a last block.
static bool splitInBlocks(CopyBox box, unsigned dim, int64_t minor, Boxes &out) {
  int64_t inner = box.at[dim] % minor, reach = inner;
  auto isMinor = [&](const CopyLoop &loop) { return loop.step % minor != 0; };
  for (const CopyLoop &loop : box.loops)
    if (loop.dim == dim && isMinor(loop)) {
      if (loop.step > minor)
        return false;
      reach += (loop.size - 1) * loop.step;
    }
  if (reach < minor) {
    box.at.insert(box.at.begin() + dim + 1, inner);
    box.at[dim] /= minor;
    for (CopyLoop &loop : box.loops) {
      if (loop.dim > dim || (loop.dim == dim && isMinor(loop)))
        ++loop.dim;
      else if (loop.dim == dim)
        loop.step /= minor;
    }
    out.push_back(std::move(box));
    return true;
  }
  CopyLoop *loop = largest(box, dim, isMinor);
  int64_t below = reach - inner - (loop->size - 1) * loop->step; // extent of finer loops
  if (minor % loop->step != 0 || inner % loop->step + below >= loop->step)
    return false;
  int64_t block = minor / loop->step, done = inner / loop->step;
  int64_t head = done == 0 ? 0 : std::min(block - done, loop->size);
  int64_t blocks = (loop->size - head) / block, tail = (loop->size - head) % block;
  if (head > 0 && !split(subBox(box, loop, box, 0, head), dim, minor, out))
    return false;
  if (blocks > 0) {
    CopyBox middle = box;
    CopyLoop &inner = middle.loops[loop - box.loops.begin()];
    middle.from += head * inner.from;
    middle.at[dim] += head * inner.step;
    inner.size = block;
    CopyLoop outer{dim, blocks, minor, inner.from * block};
    if (block == 1)
      middle.loops.erase(middle.loops.begin() + (loop - box.loops.begin()));
    if (blocks > 1)
      middle.loops.push_back(outer);
    if (!split(std::move(middle), dim, minor, out))
      return false;
  }
  return tail == 0 || split(subBox(box, loop, box, head + blocks * block, tail), dim, minor, out);
}

/// Splits dim `dim` of a box into two, the minor one of size `minor`: in blocks, or else
/// index by index of its largest loop. False if there are too many boxes.
static bool split(CopyBox box, unsigned dim, int64_t minor, Boxes &out) {
  const size_t before = out.size();
  if (splitInBlocks(box, dim, minor, out))
    return true;
  out.erase(out.begin() + before, out.end());
  CopyLoop *loop = largest(box, dim, [](const CopyLoop &) { return true; });
  if (!loop || before + loop->size > kMaxBoxes)
    return false;
  for (int64_t i = 0; i < loop->size; ++i)
    if (!split(subBox(box, loop, box, i, 1), dim, minor, out))
      return false;
  return true;
}

/// Splits dim `dim` of boxes into dims of these sizes.
static bool split(Boxes &boxes, unsigned dim, ArrayRef<int64_t> sizes) {
  for (size_t i = sizes.size(); i-- > 1;) {
    Boxes next;
    for (CopyBox &box : boxes)
      if (!split(std::move(box), dim, sizes[i], next) || next.size() > kMaxBoxes)
        return false;
    boxes = std::move(next);
  }
  return true;
}

std::optional<Copies> Copies::reshape(ArrayRef<int64_t> newShape) const {
  Copies result = undefined(newShape);
  Boxes flat;
  for (CopyBox box : boxes) {
    int64_t unit = 1, at = 0;
    SmallVector<int64_t> units(shape.size());
    for (size_t d = shape.size(); d-- > 0;) {
      units[d] = unit;
      at += box.at[d] * unit;
      unit *= shape[d];
    }
    for (CopyLoop &loop : box.loops) {
      loop.step *= units[loop.dim];
      loop.dim = 0;
    }
    box.at.assign(1, at);
    normalise(box);
    flat.push_back(std::move(box));
  }
  if (newShape.empty()) {
    for (CopyBox &box : flat)
      box.at.clear();
  } else if (!split(flat, 0, newShape)) {
    return std::nullopt;
  }
  result.boxes = std::move(flat);
  return result;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

bool Copies::isComplete() const {
  // Boxes are disjoint.
  int64_t count = 0;
  for (const CopyBox &box : boxes) {
    int64_t elements = 1;
    for (const CopyLoop &loop : box.loops)
      elements *= loop.size;
    count += elements;
  }
  return count == product(shape);
}

namespace {
/// A factor of a dim: local, selected by the rank, or a dim in chunks.
struct Factor {
  unsigned dim;
  int64_t size;
  SmallVector<RankDigit, 2> ranks = {};
  int64_t chunk = 0; // 0: the ranks are a digit of the dim
};

/// A box over factors.
struct ShardBox {
  CopyBox box;
  SmallVector<Factor> factors;
};
} // namespace

/// The factors of a dim with the digits of the index in [unit, unit * size).
static SmallVector<Factor> getFactors(const Layout &layout, unsigned dim, int64_t unit) {
  SmallVector<Factor> factors;
  const int64_t size = layout.shape[dim];
  int64_t top = unit * size;
  for (const Digit &digit : layout.digits) {
    int64_t lo = std::max(digit.lo, unit), hi = std::min(digit.hi, unit * size);
    if (lo >= hi)
      continue;
    if (top > hi)
      factors.push_back({dim, top / hi});
    factors.push_back({dim, hi / lo, {{digit.stride * (lo / digit.lo), hi / lo}}});
    top = lo;
  }
  if (top > unit || factors.empty())
    factors.push_back({dim, top / unit});
  return factors;
}

/// True if the box has every index of a factor of a dim.
static bool covers(const CopyBox &box, unsigned dim, int64_t size) {
  int64_t count = 1;
  for (const CopyLoop &loop : box.loops)
    if (loop.dim == dim)
      count *= loop.size;
  return count == size;
}

/// True if the indices of the box are consecutive along a dim.
static bool isRange(const CopyBox &box, unsigned dim) {
  SmallVector<const CopyLoop *> loops;
  for (const CopyLoop &loop : box.loops)
    if (loop.dim == dim)
      loops.push_back(&loop);
  return loops.empty() || (loops.size() == 1 && loops[0]->step == 1);
}

/// Shards dim `dim` of a box; the factors of the dims after it are known.
static bool shardDim(ShardBox shard, unsigned dim, ArrayRef<Factor> factors, std::vector<ShardBox> &out) {
  auto replace = [&](CopyBox box, ArrayRef<Factor> by) {
    ShardBox next{std::move(box), shard.factors};
    next.factors.erase(next.factors.begin() + dim);
    next.factors.insert(next.factors.begin() + dim, by.begin(), by.end());
    out.push_back(std::move(next));
  };
  bool isChunk = factors[0].chunk != 0;
  if (!isChunk) {
    SmallVector<int64_t> sizes;
    for (const Factor &factor : factors)
      sizes.push_back(factor.size);
    Boxes boxes{shard.box};
    bool fits = split(boxes, dim, sizes);
    for (auto [i, factor] : llvm::enumerate(factors))
      for (const CopyBox &box : boxes)
        fits = fits && (factor.ranks.empty() || covers(box, dim + i, factor.size));
    if (fits) {
      for (CopyBox &box : boxes)
        replace(std::move(box), factors);
      return true;
    }
  }
  // The box has an interval of the dim: intersect it with the chunk of each rank.
  if (!isRange(shard.box, dim))
    return false;
  Factor joined{factors[0].dim, 1, {}, 1};
  if (isChunk) {
    joined = factors[0];
  } else {
    for (const Factor &factor : factors) {
      joined.size *= factor.size;
      if (factor.ranks.empty())
        joined.chunk *= factor.size;
      else if (joined.chunk != 1)
        return false; // a stride
      else
        llvm::append_range(joined.ranks, factor.ranks);
    }
  }
  replace(shard.box, joined);
  return true;
}

/// Joins loops of a piece, minor to major, that continue at the end of the ones before them,
/// and reverses all lists to major to minor.
static void joinLoops(CopyPiece &piece) {
  SmallVector<std::array<int64_t, 3>, 4> joined;
  SmallVector<unsigned> joinedIndex;
  llvm::SmallDenseSet<unsigned> chunked;
  for (const CopyPiece::Chunk &chunk : piece.chunks)
    chunked.insert(chunk.loop);
  bool lastChunked = true;
  for (auto [i, loop] : llvm::enumerate(piece.loops)) {
    bool isChunked = chunked.contains(i);
    if (!isChunked && !lastChunked && loop[1] == joined.back()[0] * joined.back()[1] &&
        loop[2] == joined.back()[0] * joined.back()[2])
      joined.back()[0] *= loop[0];
    else
      joined.push_back(loop);
    joinedIndex.push_back(joined.size() - 1);
    lastChunked = isChunked;
  }
  for (CopyPiece::Chunk &chunk : piece.chunks)
    chunk.loop = joined.size() - 1 - joinedIndex[chunk.loop];
  std::reverse(joined.begin(), joined.end());
  piece.loops = std::move(joined);
  std::reverse(piece.offset.begin(), piece.offset.end());
  std::reverse(piece.chunks.begin(), piece.chunks.end());
}

std::optional<std::vector<CopyPiece>> Copies::shard(const Layout &layout, std::optional<Buffer> buffer) const {
  // 1. Shard every box, dim by dim, from the last dim on.
  std::vector<ShardBox> shards;
  for (const CopyBox &box : boxes) {
    ShardBox shard{box, {}};
    for (auto [d, size] : llvm::enumerate(shape))
      shard.factors.push_back({unsigned(d), size});
    shards.push_back(std::move(shard));
  }
  int64_t unit = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    SmallVector<Factor> factors = getFactors(layout, d, unit);
    for (const UnevenDim &uneven : layout.uneven)
      if (uneven.dim == d)
        factors.assign(1, Factor{unsigned(d), shape[d], uneven.ranks, uneven.chunk(shape[d])});
    unit *= shape[d];
    std::vector<ShardBox> next;
    for (ShardBox &shard : shards)
      if (!shardDim(std::move(shard), d, factors, next) || next.size() > kMaxBoxes)
        return std::nullopt;
    shards = std::move(next);
  }
  // 2. Describe each sharded box by the loops, offsets and chunks of a device.
  std::vector<CopyPiece> pieces;
  for (ShardBox &shard : shards) {
    CopyPiece piece{shard.box.source, shard.box.from, 0, {}, {}, {}};
    int64_t stride = 1, unitOfDim = 1;
    // Minor to major; `joinLoops` reverses the lists.
    for (size_t i = shard.factors.size(); i-- > 0;) {
      const Factor &factor = shard.factors[i];
      if (i + 1 == shard.factors.size() || shard.factors[i + 1].dim != factor.dim) {
        if (buffer && i + 1 < shard.factors.size() && shard.factors[i + 1].dim == buffer->dim)
          stride = unitOfDim * buffer->size;
        unitOfDim = stride;
        if (buffer && factor.dim == buffer->dim)
          piece.to += buffer->at * unitOfDim;
      }
      SmallVector<CopyLoop> loops;
      for (const CopyLoop &loop : shard.box.loops)
        if (loop.dim == i)
          loops.push_back(loop);
      llvm::sort(loops, [](const CopyLoop &a, const CopyLoop &b) { return a.step < b.step; });
      if (factor.chunk != 0) {
        if (buffer && factor.dim == buffer->dim)
          return std::nullopt; // windows belong to a dim of the buffer
        int64_t size = loops.empty() ? 1 : loops[0].size;
        piece.chunks.push_back({unsigned(piece.loops.size()), size, shard.box.at[i], factor.ranks});
        piece.loops.push_back({factor.chunk, loops.empty() ? 0 : loops[0].from, stride});
        stride *= factor.chunk;
        continue;
      }
      for (const CopyLoop &loop : loops) {
        if (!factor.ranks.empty())
          piece.offset.push_back({factor.ranks[0].stride * loop.step, loop.size, loop.from});
        else
          piece.loops.push_back({loop.size, loop.from, loop.step * stride});
      }
      if (factor.ranks.empty()) {
        piece.to += shard.box.at[i] * stride;
        stride *= factor.size;
      }
    }
    joinLoops(piece);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::optional<std::vector<CopyPiece>> Copies::shardByDevice(const Layout &layout, std::optional<Buffer> buffer) const {
  // 1. Dims with strides become several. Each is all local, or in chunks by the ranks.
  struct Dim {
    unsigned of;
    int64_t size, chunk;
    SmallVector<RankDigit, 2> ranks;
    int64_t count() const {
      int64_t n = 1;
      for (const RankDigit &digit : ranks)
        n *= digit.size;
      return n;
    }
  };
  SmallVector<Dim> dims;
  int64_t unit = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    SmallVector<Dim> ofDim;
    for (const Factor &factor : getFactors(layout, d, unit))
      ofDim.push_back({unsigned(d), factor.size, factor.ranks.empty() ? factor.size : 1, factor.ranks});
    for (const UnevenDim &uneven : layout.uneven)
      if (uneven.dim == d)
        ofDim.assign(1, Dim{unsigned(d), shape[d], uneven.chunk(shape[d]), uneven.ranks});
    // Ranks and then a local factor are chunks of one dim.
    for (size_t i = 1; i < ofDim.size();) {
      Dim &major = ofDim[i - 1], &minor = ofDim[i];
      if (major.ranks.empty() || major.chunk != 1) {
        ++i;
        continue;
      }
      major = {major.of, major.size * minor.size, minor.chunk, major.ranks};
      llvm::append_range(major.ranks, minor.ranks);
      ofDim.erase(ofDim.begin() + i);
    }
    dims.insert(dims.begin(), ofDim.begin(), ofDim.end());
    unit *= shape[d];
  }
  SmallVector<int64_t> sizes, strides(dims.size()), steps(dims.size(), 1);
  SmallVector<RankDigit, 2> ranks;
  int64_t shards = 1, stride = 1, unitOfDim = 1, base = 0;
  for (const Dim &dim : dims) {
    sizes.push_back(dim.size);
    llvm::append_range(ranks, dim.ranks);
    shards *= dim.count();
  }
  if (shards > kMaxShards)
    return std::nullopt;
  for (size_t i = dims.size(); i-- > 0;) {
    if (i + 1 == dims.size() || dims[i + 1].of != dims[i].of) {
      if (buffer && i + 1 < dims.size() && dims[i + 1].of == buffer->dim)
        stride = unitOfDim * buffer->size;
      unitOfDim = stride;
      if (buffer && dims[i].of == buffer->dim)
        base = buffer->at * unitOfDim;
    }
    strides[i] = stride;
    stride *= dims[i].chunk;
  }
  std::optional<Copies> expanded = sizes.size() == shape.size() ? std::optional(*this) : reshape(sizes);
  if (!expanded)
    return std::nullopt;
  // 2. Each shard is a slice.
  std::vector<CopyPiece> pieces;
  for (int64_t shard = 0; shard < shards; ++shard) {
    SmallVector<int64_t> offsets(dims.size(), 0), local(dims.size());
    int64_t number = shard;
    for (size_t i = dims.size(); i-- > 0;) {
      offsets[i] = number % dims[i].count() * dims[i].chunk;
      number /= dims[i].count();
      local[i] = std::clamp<int64_t>(dims[i].size - offsets[i], 0, dims[i].chunk);
    }
    if (product(local) == 0)
      continue;
    std::optional<Copies> slice = expanded->slice(offsets, local, steps);
    if (!slice || pieces.size() + slice->boxes.size() > size_t(4 * kMaxBoxes))
      return std::nullopt;
    for (const CopyBox &box : slice->boxes) {
      CopyPiece piece{box.source, box.from, base, {}, {}, {}};
      if (shards > 1) {
        piece.loops.push_back({1, 0, 0});
        piece.chunks.push_back({0, 1, shard, ranks});
      }
      for (auto [at, step] : llvm::zip(box.at, strides))
        piece.to += at * step;
      for (const CopyLoop &loop : box.loops)
        piece.loops.push_back({loop.size, loop.from, loop.step * strides[loop.dim]});
      pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}
