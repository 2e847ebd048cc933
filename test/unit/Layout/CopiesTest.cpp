//===- CopiesTest.cpp - Copies against tables of elements -----------------===//

#include "shardkit/Layout/Copies.h"
#include "Simulator.h"
#include <map>
#include <numeric>

using namespace shardkit_test;

namespace {
/// (source, element) of each element; source -1: undefined.
using Element = std::pair<int64_t, int64_t>;
struct Table {
  Shape shape;
  std::vector<Element> elements;

  int64_t flat(llvm::ArrayRef<int64_t> at) const {
    int64_t index = 0;
    for (auto [size, p] : llvm::zip(shape, at))
      index = index * size + p;
    return index;
  }
};
} // namespace

static int64_t count(llvm::ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

/// Calls fn(index) for all indices in row-major order.
template <typename Fn> static void forEachIndex(llvm::ArrayRef<int64_t> shape, Fn fn) {
  Shape index(shape.size(), 0);
  for (int64_t n = count(shape); n > 0; --n) {
    fn(index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

static Table sourceTable(int64_t source, llvm::ArrayRef<int64_t> shape) {
  Table table{Shape(shape), {}};
  for (int64_t i = 0; i < count(shape); ++i)
    table.elements.emplace_back(source, i);
  return table;
}

/// The elements by the boxes, one by one; none is written twice.
static Table tableOf(const Copies &copies) {
  Table table{Shape(copies.getShape()), {}};
  table.elements.assign(count(table.shape), Element(-1, -1));
  for (const CopyBox &box : copies.getBoxes()) {
    Shape sizes;
    for (const CopyLoop &loop : box.loops)
      sizes.push_back(loop.size);
    forEachIndex(sizes, [&](llvm::ArrayRef<int64_t> index) {
      Shape at(box.at);
      int64_t from = box.from;
      for (auto [i, loop] : llvm::zip(index, box.loops)) {
        at[loop.dim] += i * loop.step;
        from += i * loop.from;
      }
      for (auto [p, size] : llvm::zip(at, table.shape))
        ASSERT_TRUE(p >= 0 && p < size);
      Element &element = table.elements[table.flat(at)];
      EXPECT_EQ(element.first, -1) << "written twice";
      element = {box.source, from};
    });
  }
  return table;
}

/// Checks the pieces of all ranks against the brute-force buffers of the layout.
static void checkShards(const Table &table, const Layout &layout, llvm::ArrayRef<CopyPiece> pieces, int64_t devices) {
  std::map<int64_t, int64_t> indexOf;
  for (int64_t i = 0; i < count(table.shape); ++i)
    indexOf[elementValue(i)] = i;
  Buffers expected = makeBuffers(layout, devices);
  for (int64_t rank = 0; rank < devices; ++rank) {
    std::vector<Element> local(expected[rank].size(), Element(-1, -1));
    for (const CopyPiece &piece : pieces) {
      int64_t from = piece.from;
      for (auto [stride, size, by] : piece.offset)
        from += rank / stride % size * by;
      Shape sizes;
      for (auto &loop : piece.loops)
        sizes.push_back(loop[0]);
      forEachIndex(sizes, [&](llvm::ArrayRef<int64_t> index) {
        int64_t f = from, to = piece.to;
        for (auto [k, loop] : llvm::enumerate(piece.loops)) {
          int64_t i = index[k];
          to += i * loop[2];
          for (const CopyPiece::Chunk &chunk : piece.chunks) {
            if (chunk.loop != k)
              continue;
            int64_t coordinate = 0;
            for (const RankDigit &digit : chunk.ranks)
              coordinate = coordinate * digit.size + rank / digit.stride % digit.size;
            i += coordinate * loop[0] - chunk.begin;
            if (i < 0 || i >= chunk.size)
              return;
          }
          f += i * loop[1];
        }
        ASSERT_TRUE(to >= 0 && to < int64_t(local.size()));
        EXPECT_EQ(local[to].first, -1) << "written twice";
        local[to] = {piece.source, f};
      });
    }
    for (size_t l = 0; l < local.size(); ++l) {
      if (expected[rank][l] == pad)
        EXPECT_EQ(local[l].first, -1);
      else
        EXPECT_EQ(local[l], table.elements[indexOf[expected[rank][l]]]) << "rank " << rank << " element " << l;
    }
  }
}

static std::vector<CopyPiece> shardAndCheck(const Copies &copies, const std::string &text, const Mesh &m) {
  Layout l = layout(text, m, copies.getShape());
  auto pieces = copies.shard(l);
  EXPECT_TRUE(pieces.has_value());
  if (!pieces)
    return {};
  checkShards(tableOf(copies), l, *pieces, m.numDevices());
  return *pieces;
}

TEST(Copies, ConcatenatedRowsAreSplitAtRankBoundaries) {
  // q, k and v rows: the intersection with the chunk of each rank.
  Copies qkv =
      Copies::concat({Copies::ofSource(0, {8, 3}), Copies::ofSource(1, {10, 3}), Copies::ofSource(2, {10, 3})}, 0);
  auto pieces = shardAndCheck(qkv, "[{\"x\"}, {}]", mesh({2}));
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[1].chunks.size(), 1u);
  EXPECT_EQ(pieces[1].chunks[0].begin, 8);
  EXPECT_EQ(pieces[1].chunks[0].size, 10);
  shardAndCheck(qkv, "[{\"x\"}, {}]", mesh({3})); // uneven: 10, 10, 8
  shardAndCheck(qkv, "[{\"x\"}, {}]", mesh({8}));
  // Not over the rows: full pieces.
  pieces = shardAndCheck(qkv, "[{}, {\"x\"}]", mesh({3}));
  EXPECT_TRUE(llvm::all_of(pieces, [](auto &piece) { return piece.chunks.empty(); }));
}

TEST(Copies, InterleavedRowsKeepTheirDigits) {
  // Gate and up, row by row: [F, 1, K] and [F, 1, K] to [F, 2, K] to [2 F, K].
  auto gate = Copies::ofSource(0, {8, 5}).reshape({8, 1, 5}), up = Copies::ofSource(1, {8, 5}).reshape({8, 1, 5});
  auto both = Copies::concat({*gate, *up}, 1).reshape({16, 5});
  ASSERT_TRUE(both);
  for (int64_t devices : {1, 2, 4, 8}) {
    auto pieces = shardAndCheck(*both, "[{\"x\"}, {}]", mesh({devices}));
    EXPECT_EQ(pieces.size(), 2u);
  }
  // 16 ranks would split interleaved rows: not the same for every rank.
  EXPECT_FALSE(both->shard(layout("[{\"x\"}, {}]", mesh({16}), {16, 5})));
}

TEST(Copies, TransposesSlicesAndBroadcasts) {
  Copies w = Copies::ofSource(0, {6, 8});
  shardAndCheck(w.remap({8, 6}, {1, 0}), "[{\"x\"}, {\"y\"}]", mesh({4, 3}));
  shardAndCheck(w.remap({8, 3, 6}, {1, -1, 0}), "[{}, {\"x\"}, {2, \"y\"}]", mesh({3, 3}));
  shardAndCheck(*w.slice({1, 2}, {4, 3}, {1, 2}), "[{\"x\"}, {\"y\"}]", mesh({2, 2}));
  shardAndCheck(*w.remap({8, 6}, {1, 0}).reshape({4, 12}), "[{\"x\"}, {}]", mesh({4}));
}

TEST(Copies, InsertOverwritesEarlierElements) {
  Copies base = Copies::ofSource(0, {6, 6});
  auto patched = base.insert(Copies::ofSource(1, {2, 3}), {1, 2}, {1, 1});
  ASSERT_TRUE(patched);
  EXPECT_TRUE(patched->isComplete());
  Table table = tableOf(*patched);
  EXPECT_EQ(table.elements[1 * 6 + 2], Element(1, 0));
  EXPECT_EQ(table.elements[0], Element(0, 0));
  auto odd = Copies::undefined({6}).insert(Copies::ofSource(0, {3}), {0}, {2});
  EXPECT_FALSE(odd->isComplete());
  auto all = odd->insert(Copies::ofSource(1, {3}), {1}, {2});
  EXPECT_TRUE(all->isComplete());
  auto again = all->insert(Copies::ofSource(2, {3}), {1}, {2});
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->isComplete());
  Table interleaved = tableOf(*again);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(interleaved.elements[i], Element(i % 2 ? 2 : 0, int64_t(i / 2)));
}

/// A random value, and its table.
static std::pair<Copies, Table> make(Random &random, int depth, unsigned &sources) {
  auto leaf = [&](Shape shape) {
    unsigned source = sources++;
    return std::pair(Copies::ofSource(source, shape), sourceTable(source, shape));
  };
  if (depth == 0)
    return leaf(random.shape(3, 48));
  auto [copies, table] = make(random, depth - 1, sources);
  Shape shape = table.shape;
  Table result;
  switch (random.below(6)) {
  case 0: { // concat with a value of equal other dims
    if (shape.empty() || count(shape) == 0)
      break;
    unsigned dim = random.below(shape.size());
    Shape other = shape;
    other[dim] = 1 + random.below(4);
    auto [second, secondTable] = leaf(other);
    Shape joined = shape;
    joined[dim] += other[dim];
    result.shape = joined;
    forEachIndex(joined, [&](llvm::ArrayRef<int64_t> index) {
      Shape p(index);
      bool first = p[dim] < shape[dim];
      if (!first)
        p[dim] -= shape[dim];
      result.elements.push_back(first ? table.elements[table.flat(p)] : secondTable.elements[secondTable.flat(p)]);
    });
    return {Copies::concat({copies, second}, dim), result};
  }
  case 1: { // slice
    Shape offsets, steps;
    for (int64_t size : shape) {
      int64_t step = 1 + random.below(2), offset = random.below(size + (size == 0));
      int64_t max = size == 0 ? 0 : (size - offset + step - 1) / step;
      offsets.push_back(offset);
      steps.push_back(step);
      result.shape.push_back(max == 0 ? 0 : 1 + random.below(max));
    }
    forEachIndex(result.shape, [&](llvm::ArrayRef<int64_t> index) {
      Shape p(index);
      for (size_t d = 0; d < p.size(); ++d)
        p[d] = offsets[d] + p[d] * steps[d];
      result.elements.push_back(table.elements[table.flat(p)]);
    });
    auto sliced = copies.slice(offsets, result.shape, steps);
    if (!sliced)
      break;
    return {*sliced, result};
  }
  case 2: { // permute, with a broadcast
    llvm::SmallVector<int64_t> dims;
    for (size_t d = 0; d < shape.size(); ++d)
      dims.insert(dims.begin() + random.below(dims.size() + 1), d);
    if (shape.size() < 3 && random.below(2))
      dims.insert(dims.begin() + random.below(dims.size() + 1), -1);
    for (int64_t d : dims)
      result.shape.push_back(d < 0 ? 1 + random.below(4) : shape[d]);
    forEachIndex(result.shape, [&](llvm::ArrayRef<int64_t> index) {
      Shape p(shape.size());
      for (auto [d, at] : llvm::zip(dims, index))
        if (d >= 0)
          p[d] = at;
      result.elements.push_back(table.elements[table.flat(p)]);
    });
    return {copies.remap(result.shape, dims), result};
  }
  case 3: { // insert
    Shape offsets, sizes;
    for (int64_t size : shape) {
      sizes.push_back(size == 0 ? 0 : 1 + random.below(size));
      offsets.push_back(random.below(size - sizes.back() + 1));
    }
    auto [slice, insertedTable] = leaf(sizes);
    result = table;
    forEachIndex(sizes, [&](llvm::ArrayRef<int64_t> index) {
      Shape p(index);
      for (size_t d = 0; d < p.size(); ++d)
        p[d] += offsets[d];
      result.elements[table.flat(p)] = insertedTable.elements[insertedTable.flat(index)];
    });
    auto inserted = copies.insert(slice, offsets, Shape(shape.size(), 1));
    if (!inserted)
      break;
    return {*inserted, result};
  }
  default: { // reshape
    int64_t n = count(shape);
    Shape to;
    if (n > 0) {
      int64_t remaining = n;
      for (int64_t f : {2, 3, 2})
        if (remaining % f == 0 && random.below(2)) {
          to.insert(to.begin() + random.below(to.size() + 1), f);
          remaining /= f;
        }
      to.insert(to.begin() + random.below(to.size() + 1), remaining);
    } else {
      to = shape;
    }
    auto reshaped = copies.reshape(to);
    if (!reshaped)
      break;
    result.shape = to;
    result.elements = table.elements;
    return {*reshaped, result};
  }
  }
  return {copies, table};
}

TEST(Copies, RandomValuesInRandomLayouts) {
  Random random(20);
  int sharded = 0, all = 0;
  for (int i = 0; i < 3000; ++i) {
    unsigned sources = 0;
    auto [copies, table] = make(random, 1 + random.below(4), sources);
    ASSERT_EQ(tableOf(copies).elements, table.elements) << "value " << i;
    EXPECT_TRUE(copies.isComplete());
    if (count(table.shape) == 0 || count(table.shape) > 4000)
      continue;
    Mesh m = random.mesh();
    Layout l = Layout::get(random.sharding(m, table.shape, /*uneven=*/true, /*partial=*/false), m, table.shape);
    ++all;
    if (auto pieces = copies.shard(l)) {
      ++sharded;
      checkShards(table, l, *pieces, m.numDevices());
    }
    if (HasFailure())
      FAIL() << "value " << i << " in " << l.toString();
  }
  // Most values have a closed form in most layouts.
  EXPECT_GT(sharded * 10, all * 6);
}
