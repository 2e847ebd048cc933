//===- Join.cpp - The minimum of a sum of tables --------------------------===//
//
// A loop nest over the dims of the result. Tables are added at the outermost level where all
// their dims are known. Only possible choices of the eliminated variable are kept: if a neighbor
// determines it, as is usual between the strategy of an op and its operands, the join is sparse.
// The innermost dim is contiguous in every table, so that loops over it are vectorized.
//
//===----------------------------------------------------------------------===//

#include "Join.h"
#include "../Support/Threads.h"
#include "../Support/Vectorize.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;

size_t JoinShape::getResultSize() const {
  size_t size = 1;
  for (unsigned s : ArrayRef(sizes).drop_front())
    size *= s;
  return size;
}

namespace {
/// The possible choices of the eliminated variable, and their sums over the tables of the outer levels.
struct Active {
  std::vector<unsigned> choice;
  std::vector<int64_t> time, bytes;
  unsigned size = 0;
};

/// A table at the innermost level: rows of the last dim, `stride` from choice to choice.
struct RowInput {
  const int64_t *time, *bytes;
  size_t stride;
};

constexpr size_t kBlock = 8;
} // namespace

// Minimum into `out` of base + rows, per block that stays in registers. Blocks at the
// end overlap: a minimum may be taken twice.
template <unsigned Count, unsigned Block>
static inline __attribute__((always_inline)) void minimizeBlock(int64_t *out, const Active &active,
                                                                const RowInput *rows, size_t at) {
  int64_t minimum[Block];
  for (unsigned k = 0; k < Block; ++k)
    minimum[k] = kInf;
  for (unsigned i = 0; i < active.size; ++i) {
    size_t choice = active.choice[i];
    int64_t base = active.time[i];
    const int64_t *row[Count];
    for (unsigned j = 0; j < Count; ++j)
      row[j] = rows[j].time + choice * rows[j].stride + at;
    for (unsigned k = 0; k < Block; ++k) {
      int64_t sum = base;
      for (unsigned j = 0; j < Count; ++j)
        sum += row[j][k];
      minimum[k] = sum < minimum[k] ? sum : minimum[k];
    }
  }
  for (unsigned k = 0; k < Block; ++k)
    out[at + k] = minimum[k];
}

template <unsigned Count>
static inline __attribute__((always_inline)) void minimizeRow(int64_t *out, size_t length, const Active &active,
                                                              const RowInput *rows) {
  if (length >= kBlock) {
    size_t at = 0;
    for (; at + kBlock <= length; at += kBlock)
      minimizeBlock<Count, kBlock>(out, active, rows, at);
    if (at < length)
      minimizeBlock<Count, kBlock>(out, active, rows, length - kBlock);
  } else {
    size_t at = 0;
    for (; at + 2 <= length; at += 2)
      minimizeBlock<Count, 2>(out, active, rows, at);
    if (at < length)
      minimizeBlock<Count, 1>(out, active, rows, at);
  }
}

SHARDKIT_CLONES static void minimizeRow1(int64_t *out, size_t length, const Active &active, const RowInput *rows) {
  minimizeRow<1>(out, length, active, rows);
}
SHARDKIT_CLONES static void minimizeRow2(int64_t *out, size_t length, const Active &active, const RowInput *rows) {
  minimizeRow<2>(out, length, active, rows);
}
SHARDKIT_CLONES static void minimizeRow3(int64_t *out, size_t length, const Active &active, const RowInput *rows) {
  minimizeRow<3>(out, length, active, rows);
}

/// heads[i][y] for all choices i of the eliminated variable: the sum of all tables without the last dim. Sums of
/// `limit` or more are impossible. Returns the number of possible ones.
SHARDKIT_CLONES static size_t addHeads(int64_t *__restrict heads, size_t count, const Active &active,
                                       ArrayRef<RowInput> rows, int64_t limit) {
  size_t possible = 0;
  for (unsigned i = 0; i < active.size; ++i) {
    int64_t *sums = heads + i * count;
    std::fill_n(sums, count, active.time[i]);
    for (const RowInput &row : rows) {
      const int64_t *time = row.time + active.choice[i] * row.stride;
      for (size_t y = 0; y < count; ++y) {
        int64_t sum = sums[y] + time[y];
        sums[y] = sum < kInf ? sum : kInf;
      }
    }
    for (size_t y = 0; y < count; ++y) {
      possible += sums[y] < limit;
      sums[y] = sums[y] < limit ? sums[y] : kInf;
    }
  }
  return possible;
}

/// tails[i][x]: the sum of the tables with the last dim, but without the one before.
SHARDKIT_CLONES static void addTails(int64_t *__restrict tails, size_t length, const Active &active,
                                     ArrayRef<RowInput> rows) {
  for (unsigned i = 0; i < active.size; ++i) {
    int64_t *sums = tails + i * length;
    std::fill_n(sums, length, 0);
    for (const RowInput &row : rows) {
      const int64_t *time = row.time + active.choice[i] * row.stride;
      for (size_t x = 0; x < length; ++x) {
        int64_t sum = sums[x] + time[x];
        sums[x] = sum < kInf ? sum : kInf;
      }
    }
  }
}

/// At `out`, rows of `stride`: the least heads[i][y] + tails[i][x] over all i, for `lanes` x and numRows y.
template <size_t numRows, size_t lanes>
static inline __attribute__((always_inline)) void minPlusBlock(int64_t *out, size_t stride, unsigned choices,
                                                               const int64_t *heads, size_t count, const int64_t *tails,
                                                               size_t length) {
  using Block = typename Lanes<int64_t, lanes>::Type;
  Block minimum[numRows];
  for (size_t r = 0; r < numRows; ++r)
    minimum[r] = Block{} + kInf;
  for (unsigned i = 0; i < choices; ++i) {
    Block tail = *reinterpret_cast<const Block *>(tails + i * length);
    for (size_t r = 0; r < numRows; ++r) {
      Block sum = tail + heads[i * count + r];
      minimum[r] = sum < minimum[r] ? sum : minimum[r];
    }
  }
  for (size_t r = 0; r < numRows; ++r)
    *reinterpret_cast<Block *>(out + r * stride) = minimum[r];
}

/// out[y][x], all of them.
template <size_t lanes>
static inline __attribute__((always_inline)) void minPlusPlane(int64_t *out, unsigned choices, const int64_t *heads,
                                                               size_t count, const int64_t *tails, size_t length) {
  constexpr size_t kRows = 4;
  auto addRows = [&](size_t y, auto rows) __attribute__((always_inline)) {
    forBlocks<lanes>(length, [&](size_t x, auto blockSize) __attribute__((always_inline)) {
      minPlusBlock<rows, blockSize>(out + y * length + x, length, choices, heads + y, count, tails + x, length);
    });
  };
  forBlocks<kRows>(count, addRows);
}

/// If the last dim is shorter than a register, the dim before is joined to it.
SHARDKIT_CLONES static void minPlus(int64_t *out, unsigned choices, const int64_t *heads, size_t count,
                                    const int64_t *tails, size_t length, int64_t *turned) {
  if (length >= kBlock || count < kBlock)
    return minPlusPlane<kBlock>(out, choices, heads, count, tails, length);
  minPlusPlane<kBlock>(turned, choices, tails, length, heads, count);
  for (size_t y = 0; y < count; ++y)
    for (size_t x = 0; x < length; ++x)
      out[y * length + x] = turned[x * count + y];
}

/// The same where one table has both of the last two dims, and each of its choices a plane of its own.
SHARDKIT_CLONES static void minPlus(int64_t *out, const Active &active, const int64_t *heads, size_t count,
                                    const int64_t *tails, size_t length, const RowInput &plane) {
  for (size_t y = 0; y < count; ++y)
    forBlocks<kBlock>(length, [&](size_t x, auto lanes) __attribute__((always_inline)) {
      using Block = typename Lanes<int64_t, lanes>::Type;
      Block minimum = Block{} + kInf;
      for (unsigned i = 0; i < active.size; ++i) {
        const int64_t *time = plane.time + active.choice[i] * plane.stride + y * length + x;
        Block sum = *reinterpret_cast<const Block *>(time) + *reinterpret_cast<const Block *>(tails + i * length + x) +
                    heads[i * count + y];
        minimum = sum < minimum ? sum : minimum;
      }
      *reinterpret_cast<Block *>(out + y * length + x) = minimum;
    });
}

/// As minimizeRow for any number of rows, and with bytes that break ties.
SHARDKIT_CLONES static void minimizeRows(int64_t *__restrict outTime, int64_t *__restrict outBytes, size_t length,
                                         const Active &active, ArrayRef<RowInput> rows, int64_t *__restrict sumTime,
                                         int64_t *__restrict sumBytes) {
  for (size_t x = 0; x < length; ++x)
    outTime[x] = kInf;
  for (size_t x = 0; x < length; ++x)
    outBytes[x] = 0;
  for (unsigned i = 0; i < active.size; ++i) {
    int64_t base = active.time[i], baseBytes = active.bytes[i];
    for (size_t x = 0; x < length; ++x)
      sumTime[x] = base;
    for (size_t x = 0; x < length; ++x)
      sumBytes[x] = baseBytes;
    for (const RowInput &row : rows) {
      const int64_t *time = row.time + active.choice[i] * row.stride;
      // Clamped each time, as any number of impossible entries may be added.
      for (size_t x = 0; x < length; ++x) {
        int64_t sum = sumTime[x] + time[x];
        sumTime[x] = sum < kInf ? sum : kInf;
      }
      if (!row.bytes)
        continue;
      const int64_t *bytes = row.bytes + active.choice[i] * row.stride;
      for (size_t x = 0; x < length; ++x)
        sumBytes[x] += bytes[x];
    }
    for (size_t x = 0; x < length; ++x) {
      bool less = (sumTime[x] < outTime[x]) | ((sumTime[x] == outTime[x]) & (sumBytes[x] < outBytes[x]));
      outTime[x] = less ? sumTime[x] : outTime[x];
      outBytes[x] = less ? sumBytes[x] : outBytes[x];
    }
  }
}

namespace {
/// One join: adds all tables and minimizes over the first variable.
///
///   variables x (eliminated), y, z; tables [x, y] and [x, z]
///   result[y][z] = min over x of table0[x][y] + table1[x][z]
///   1. For each y the possible choices of x are collected, with table0[x][y].
///   2. For all z, table1[x][z] is added to each of them, and the minimum is taken.
class Join {
public:
  Join(const JoinShape &shape, ArrayRef<const Table *> tables, int64_t limit);

  bool hasBytes() const { return withBytes; }

  /// Fills in what belongs to choices [begin, end) of dim 1, or the one entry that there is without it.
  void run(Table &to, unsigned begin, unsigned end);

  /// The least per choices of these dims, 0 first.
  Table runMarginal(ArrayRef<unsigned> dims);

  double getWork() const { return work; }

private:
  struct Input {
    llvm::SmallVector<size_t, 8> strides;
    size_t offset = 0;
  };

  /// All choices, with the tables of the first level.
  void beginAll();

  /// Adds the tables of a level, and drops what becomes impossible.
  void advance(const Active &from, unsigned level);
  void move(unsigned dim, int64_t by);
  void nest(unsigned dim, size_t out);

  /// The next choices of a dim, so many of them.
  void nestRange(unsigned dim, size_t out, unsigned count);
  llvm::SmallVector<RowInput, 4> getRows(ArrayRef<unsigned> level) const;

  /// The last two dims at once, so many choices of the first of them, where at most one table has both.
  /// False where few choices are possible, which is less work one by one.
  bool addPlane(unsigned dim, size_t out, unsigned count);
  void addRow(unsigned dim, size_t out);

  /// As nest, into the least per choices of the dims that are kept; `at`: where these are.
  void nestMarginal(unsigned dim, size_t at);
  int64_t *noBytes(size_t length);

  const JoinShape &shape;
  ArrayRef<const Table *> tables;
  int64_t limit;
  std::vector<Input> inputs;
  std::vector<llvm::SmallVector<unsigned, 4>> levels; // inputs by their last dim
  std::vector<Active> active;
  std::vector<int64_t> sumTime, sumBytes, spare;
  Numbers heads, tails, turned;
  std::vector<size_t> marginalStrides; // 0: not a dim of it
  bool withBytes = false;
  bool hasPlane;                                // at most one table has both of the last two dims
  llvm::SmallVector<unsigned, 4> lasts, planes; // those that have the last one, and both
  double work = 0;
  int64_t *outTime = nullptr, *outBytes = nullptr;
};
} // namespace

Join::Join(const JoinShape &shape, ArrayRef<const Table *> tables, int64_t limit)
    : shape(shape), tables(tables), limit(limit) {
  unsigned rank = shape.sizes.size() - 1;
  levels.resize(rank + 1);
  for (unsigned j = 0; j < tables.size(); ++j) {
    Input input;
    input.strides.assign(rank + 1, 0);
    size_t stride = 1;
    for (unsigned dim : llvm::reverse(shape.inputs[j])) {
      input.strides[dim] = stride;
      stride *= shape.sizes[dim];
    }
    inputs.push_back(std::move(input));
    levels[shape.inputs[j].back()].push_back(j);
    withBytes |= !tables[j]->bytes.empty();
  }
  for (unsigned j : levels[rank])
    if (rank > 1)
      (llvm::is_contained(shape.inputs[j], rank - 1) ? planes : lasts).push_back(j);
  hasPlane = rank > 1 && planes.size() <= 1 && !withBytes;
  active.resize(rank + 1);
  for (Active &a : active) {
    a.choice.resize(shape.sizes[0]);
    a.time.resize(shape.sizes[0]);
    a.bytes.resize(shape.sizes[0]);
  }
  sumTime.resize(shape.sizes.back());
  sumBytes.resize(shape.sizes.back());
}

void Join::run(Table &to, unsigned begin, unsigned end) {
  outTime = to.time.data();
  outBytes = to.bytes.data();
  beginAll();
  if (shape.sizes.size() == 1) {
    Price minimum = Price::impossible();
    for (unsigned i = 0; i < active[0].size; ++i)
      minimum = std::min(minimum, Price{active[0].time[i], active[0].bytes[i]});
    outTime[0] = minimum.time;
    if (withBytes)
      outBytes[0] = minimum.bytes;
    return;
  }
  size_t block = shape.getResultSize() / shape.sizes[1];
  if (shape.sizes.size() == 2) {
    addRow(1, 0);
    return;
  }
  move(1, begin);
  nestRange(1, begin * block, end - begin);
  move(1, -int64_t(end));
}

Table Join::runMarginal(ArrayRef<unsigned> dims) {
  unsigned rank = shape.sizes.size();
  marginalStrides.assign(rank, 0);
  size_t size = 1;
  for (unsigned dim : llvm::reverse(dims)) {
    marginalStrides[dim] = size;
    size *= shape.sizes[dim];
  }
  Table result;
  result.time.assign(size, kInf);
  outTime = result.time.data();
  beginAll();
  if (rank == 1) {
    for (unsigned i = 0; i < active[0].size; ++i)
      outTime[active[0].choice[i]] = active[0].time[i];
  } else {
    nestMarginal(1, 0);
  }
  return result;
}

void Join::beginAll() {
  Active all;
  for (unsigned c = 0; c < shape.sizes[0]; ++c)
    all.choice.push_back(c);
  all.time.assign(shape.sizes[0], 0);
  all.bytes.assign(shape.sizes[0], 0);
  all.size = shape.sizes[0];
  advance(all, 0);
}

void Join::advance(const Active &from, unsigned level) {
  Active &to = active[level];
  unsigned n = 0;
  work += from.size;
  for (unsigned i = 0; i < from.size; ++i) {
    unsigned choice = from.choice[i];
    int64_t time = from.time[i], bytes = from.bytes[i];
    for (unsigned j : levels[level]) {
      size_t at = inputs[j].offset + choice * inputs[j].strides[0];
      time += tables[j]->time[at];
      if (time >= limit)
        break;
      if (!tables[j]->bytes.empty())
        bytes += tables[j]->bytes[at];
    }
    if (time >= limit)
      continue;
    to.choice[n] = choice;
    to.time[n] = time;
    to.bytes[n] = bytes;
    ++n;
  }
  to.size = n;
}

void Join::move(unsigned dim, int64_t by) {
  for (Input &input : inputs)
    input.offset += by * input.strides[dim];
}

void Join::nest(unsigned dim, size_t out) {
  if (dim + 1 == shape.sizes.size()) {
    addRow(dim, out);
    return;
  }
  nestRange(dim, out, shape.sizes[dim]);
  move(dim, -int64_t(shape.sizes[dim]));
}

void Join::nestRange(unsigned dim, size_t out, unsigned count) {
  if (dim + 2 == shape.sizes.size() && hasPlane && addPlane(dim, out, count))
    return move(dim, count);
  size_t block = 1;
  for (unsigned s : ArrayRef(shape.sizes).drop_front(dim + 1))
    block *= s;
  for (unsigned x = 0; x < count; ++x) {
    advance(active[dim - 1], dim);
    if (active[dim].size == 0) {
      std::fill_n(outTime + out, block, kInf);
      if (withBytes)
        std::fill_n(outBytes + out, block, 0);
    } else {
      nest(dim + 1, out);
    }
    out += block;
    move(dim, 1);
  }
}

llvm::SmallVector<RowInput, 4> Join::getRows(ArrayRef<unsigned> level) const {
  llvm::SmallVector<RowInput, 4> rows;
  for (unsigned j : level)
    rows.push_back({tables[j]->time.data() + inputs[j].offset,
                    tables[j]->bytes.empty() ? nullptr : tables[j]->bytes.data() + inputs[j].offset,
                    inputs[j].strides[0]});
  return rows;
}

bool Join::addPlane(unsigned dim, size_t out, unsigned count) {
  const Active &from = active[dim - 1];
  size_t length = shape.sizes[dim + 1];
  heads.resize(size_t(from.size) * count);
  size_t possible = addHeads(heads.data(), count, from, getRows(levels[dim]), limit);
  if (possible < heads.size() / 2)
    return false;
  tails.resize(from.size * length);
  addTails(tails.data(), length, from, getRows(lasts));
  turned.resize(count * length);
  if (planes.empty())
    minPlus(outTime + out, from.size, heads.data(), count, tails.data(), length, turned.data());
  else
    minPlus(outTime + out, from, heads.data(), count, tails.data(), length, getRows(planes).front());
  work += heads.size() + double(possible) * length;
  return true;
}

void Join::addRow(unsigned dim, size_t out) {
  llvm::SmallVector<RowInput, 4> rows = getRows(levels[dim]);
  const Active &from = active[dim - 1];
  int64_t *time = outTime + out;
  size_t length = shape.sizes[dim];
  work += double(from.size) * length;
  if (!withBytes && rows.size() <= 3 && !rows.empty()) {
    auto *function = rows.size() == 1 ? minimizeRow1 : rows.size() == 2 ? minimizeRow2 : minimizeRow3;
    function(time, length, from, rows.data());
    return;
  }
  int64_t *bytes = withBytes ? outBytes + out : noBytes(length);
  minimizeRows(time, bytes, length, from, rows, sumTime.data(), sumBytes.data());
}

void Join::nestMarginal(unsigned dim, size_t at) {
  if (dim + 1 == shape.sizes.size()) {
    const Active &from = active[dim - 1];
    size_t length = shape.sizes[dim];
    work += double(from.size) * length;
    int64_t *sum = sumTime.data();
    for (unsigned i = 0; i < from.size; ++i) {
      std::fill_n(sum, length, from.time[i]);
      for (unsigned j : levels[dim]) {
        const int64_t *row = tables[j]->time.data() + inputs[j].offset + from.choice[i] * inputs[j].strides[0];
        for (size_t x = 0; x < length; ++x) {
          int64_t s = sum[x] + row[x];
          sum[x] = s < kInf ? s : kInf;
        }
      }
      int64_t *out = outTime + at + from.choice[i] * marginalStrides[0];
      if (marginalStrides[dim]) {
        for (size_t x = 0; x < length; ++x)
          out[x] = sum[x] < out[x] ? sum[x] : out[x];
      } else {
        int64_t minimum = *out;
        for (size_t x = 0; x < length; ++x)
          minimum = sum[x] < minimum ? sum[x] : minimum;
        *out = minimum;
      }
    }
    return;
  }
  for (unsigned x = 0; x < shape.sizes[dim]; ++x) {
    advance(active[dim - 1], dim);
    if (active[dim].size)
      nestMarginal(dim + 1, at + x * marginalStrides[dim]);
    move(dim, 1);
  }
  move(dim, -int64_t(shape.sizes[dim]));
}

int64_t *Join::noBytes(size_t length) {
  spare.resize(length);
  return spare.data();
}

/// Entries of a join from which on it is shared among threads.
static constexpr size_t kManyEntries = size_t(1) << 18;

Table solver::joinAndMinimize(const JoinShape &shape, ArrayRef<const Table *> tables, int64_t limit, Price &minimum,
                              double &work) {
  Join join(shape, tables, limit);
  Table result;
  size_t size = shape.getResultSize();
  result.time.resize(size);
  if (join.hasBytes())
    result.bytes.resize(size);
  auto getMin = [&](size_t begin, size_t end) {
    Price minimum = Price::impossible();
    for (size_t i = begin; i < end; ++i)
      if (result.time[i] <= minimum.time)
        minimum = std::min(minimum, result.get(i));
    return minimum;
  };
  // Times are all above the least one, or impossible.
  auto subtract = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      bool possible = result.time[i] < limit;
      result.time[i] = possible ? result.time[i] - minimum.time : kInf;
      if (!result.bytes.empty())
        result.bytes[i] = possible ? result.bytes[i] - minimum.bytes : 0;
    }
  };
  work += size;
  if (shape.sizes.size() > 2 && size * shape.sizes[0] >= kManyEntries) {
    // Each fills a chunk, independent of the order.
    unsigned chunkSize = shape.sizes.size() > 3 ? 1 : std::max(shape.sizes[1] / 8, 8u);
    unsigned numChunks = (shape.sizes[1] + chunkSize - 1) / chunkSize;
    size_t block = size / shape.sizes[1];
    auto forChunks = [&](llvm::function_ref<void(unsigned begin, unsigned end)> run) {
      runTogether(numChunks, [&](size_t chunk) {
        run(chunk * chunkSize, std::min<unsigned>((chunk + 1) * chunkSize, shape.sizes[1]));
      });
    };
    std::vector<Price> minima(numChunks);
    std::vector<double> works(numChunks);
    forChunks([&](unsigned begin, unsigned end) {
      Join join(shape, tables, limit);
      join.run(result, begin, end);
      minima[begin / chunkSize] = getMin(begin * block, end * block);
      works[begin / chunkSize] = join.getWork();
    });
    minimum = *llvm::min_element(minima);
    for (double chunkWork : works)
      work += chunkWork;
    if (minimum.time < limit)
      forChunks([&](unsigned begin, unsigned end) { subtract(begin * block, end * block); });
  } else {
    join.run(result, 0, shape.sizes.size() > 1 ? shape.sizes[1] : 1);
    work += join.getWork();
    minimum = getMin(0, size);
    if (minimum.time < limit)
      subtract(0, size);
  }
  if (minimum.time >= limit) {
    minimum = Price::impossible();
    std::fill(result.time.begin(), result.time.end(), kInf);
    result.bytes.clear();
  }
  return result;
}

Table solver::getMinMarginal(const JoinShape &shape, ArrayRef<const Table *> tables, ArrayRef<unsigned> dims,
                             double &work) {
  Join join(shape, tables, kInf);
  Table result = join.runMarginal(dims);
  work += join.getWork();
  return result;
}

void solver::addSlice(const JoinShape &shape, ArrayRef<const Table *> tables, ArrayRef<unsigned> at,
                      llvm::MutableArrayRef<Price> sums) {
  for (unsigned j = 0; j < tables.size(); ++j) {
    size_t offset = 0, stride = 1;
    for (unsigned dim : llvm::reverse(ArrayRef(shape.inputs[j]).drop_front())) {
      offset += stride * at[dim - 1];
      stride *= shape.sizes[dim];
    }
    for (unsigned c = 0; c < shape.sizes[0]; ++c)
      sums[c] = sums[c] + tables[j]->get(offset + c * stride);
  }
}

unsigned solver::findMinimum(const JoinShape &shape, ArrayRef<const Table *> tables, ArrayRef<unsigned> at) {
  llvm::SmallVector<Price, 32> sums(shape.sizes[0]);
  addSlice(shape, tables, at, sums);
  auto minimum = llvm::min_element(sums);
  return minimum->isImpossible() ? kNoTable : minimum - sums.begin();
}
