//===- CollectiveTest.cpp - The engine against the definition -------------===//

#include "OnDevices.h"
#include "Support.h"

#include "Manifest/CollectiveCheck.h"
#include "shardkit/rt/Collectives/Backend.h"
#include "shardkit/rt/Collectives/Collective.h"

#include <atomic>
#include <cmath>
#include <map>
#include <thread>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

constexpr Reduction allReductions[] = {Reduction::Sum,  Reduction::Prod,   Reduction::And,   Reduction::Or,
                                       Reduction::Xor,  Reduction::Max,    Reduction::Min,   Reduction::UMax,
                                       Reduction::UMin, Reduction::MaxNum, Reduction::MinNum};

using Buffers = std::vector<std::vector<char>>;

Buffers runOnThreads(const CollectiveInfo &info, int ranks, const Buffers &in, int64_t count = 1) {
  LocalWorld world(ranks, 30);
  CollectivePlan plan(info, world);
  Buffers out(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  static std::map<int, std::unique_ptr<cuda::Devices>> known;
  std::unique_ptr<cuda::Devices> &devices = known[ranks];
  if (!devices)
    devices = openDevices(ranks);
  for (int r = 0; r < ranks; ++r) {
    out[size_t(r)].resize(size_t(count * info.outElements * dtypeSize(info.dtype)), 77);
    threads.emplace_back([&, r] {
      std::vector<char> given = in[size_t(r)];
      cuda::Device *device = devices ? devices->of(r) : nullptr;
      Placed from(device, given.data(), int64_t(given.size())),
          to(device, out[size_t(r)].data(), int64_t(out[size_t(r)].size()));
      // Twice: nothing may be left over from the first time.
      for (int i = 0; i < 2; ++i)
        EXPECT_TRUE(communicate(
            device, [&](CopyEngine &engine) { return plan.run(r, count, from.data(), to.data(), engine); }));
      to.fetch();
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_FALSE(world.failed());
  return out;
}

int withDigit(int rank, int64_t stride, int64_t size, int64_t value) {
  return int(rank + (value - rank / stride % size) * stride);
}

/// Integers small enough that every order of combining is exact.
double combine(Reduction reduction, DType dtype, double a, double b) {
  auto ia = int64_t(a), ib = int64_t(b);
  auto wrap = [&](int64_t v) {
    char memory[8];
    setElement(dtype, memory, 0, double(v));
    return getElement(dtype, memory, 0);
  };
  uint64_t mask = ~uint64_t(0) >> (64 - 8 * dtypeSize(dtype));
  if (dtype == DType::I1)
    mask = 1;
  switch (reduction) {
  case Reduction::Sum:
    return isFloat(dtype) ? a + b : wrap(ia + ib);
  case Reduction::Prod:
    return isFloat(dtype) ? a * b : wrap(ia * ib);
  case Reduction::And:
    return double(ia & ib);
  case Reduction::Or:
    return double(ia | ib);
  case Reduction::Xor:
    return double(ia ^ ib);
  case Reduction::Max:
    return dtype == DType::I1 ? std::min(a, b) : std::max(a, b);
  case Reduction::Min:
    return dtype == DType::I1 ? std::max(a, b) : std::min(a, b);
  case Reduction::UMax:
    return (uint64_t(ia) & mask) > (uint64_t(ib) & mask) ? a : b;
  case Reduction::UMin:
    return (uint64_t(ia) & mask) < (uint64_t(ib) & mask) ? a : b;
  case Reduction::MaxNum:
    return std::max(a, b);
  case Reduction::MinNum:
    return std::min(a, b);
  case Reduction::None:
    break;
  }
  return a;
}

/// docs/reference/Manifest.md, word by word.
void expectDefinition(const CollectiveInfo &info, int ranks, const Buffers &in, const Buffers &out) {
  for (int r = 0; r < ranks; ++r) {
    std::vector<int64_t> index, sizes;
    for (const Atom &atom : info.atoms)
      sizes.push_back(atom.size);
    for (const Segment &segment : info.segments)
      sizes.push_back(segment.size);
    index.assign(sizes.size(), 0);
    int64_t received = 0;
    std::vector<bool> written(size_t(info.outElements), false);
    while (true) {
      bool mine = true;
      int source = r;
      int64_t from = 0, to = 0, shift = 0;
      for (size_t k = 0; k < info.atoms.size(); ++k) {
        const Atom &atom = info.atoms[k];
        if (atom.destinationIsRank)
          mine &= index[k] == r / atom.destinationStride % atom.size;
        else
          to += index[k] * atom.destinationStride;
        if (atom.sourceIsRank)
          source = withDigit(source, atom.sourceStride, atom.size, index[k]);
        else
          from += index[k] * atom.sourceStride;
      }
      for (size_t k = 0; k < info.segments.size(); ++k) {
        const Segment &segment = info.segments[k];
        int64_t value = index[info.atoms.size() + k];
        if (segment.window) {
          // Its place in the window of rank r, if it is in that.
          int64_t coordinate = 0, length = 1, stride = 1;
          for (const SegmentDigit &part : segment.destination) {
            if (part.isRank) {
              coordinate = coordinate * part.size + r / part.stride % part.size;
            } else {
              length = part.size;
              stride = part.stride;
            }
          }
          int64_t place = value - segment.window->step * coordinate - segment.window->offset;
          mine &= place >= 0 && place < length;
          to += place * stride;
        }
        for (size_t p = segment.window ? 0 : segment.destination.size(); p-- > 0;) {
          const SegmentDigit &part = segment.destination[p];
          if (part.isRank)
            mine &= value % part.size == r / part.stride % part.size;
          else
            to += value % part.size * part.stride;
          value /= part.size;
        }
        value = index[info.atoms.size() + k];
        for (size_t p = segment.source.size(); p-- > 0;) {
          const SegmentDigit &part = segment.source[p];
          if (part.isRank) {
            source = withDigit(source, part.stride, part.size, value % part.size);
            shift += r / part.stride % part.size - value % part.size;
          } else {
            from += value % part.size * part.stride;
          }
          value /= part.size;
        }
      }
      for (const RankDigit &digit : info.spread) {
        int64_t value = (r / digit.stride % digit.size + shift) % digit.size;
        source = withDigit(source, digit.stride, digit.size, (value + digit.size) % digit.size);
      }
      if (mine) {
        received += source != r;
        written[size_t(to)] = true;
        std::vector<int> members = {source};
        if (info.reduction != Reduction::None)
          for (const RankDigit &digit : info.group) {
            std::vector<int> next;
            for (int member : members)
              for (int64_t i = 0; i < digit.size; ++i)
                next.push_back(withDigit(member, digit.stride, digit.size, i));
            members = next;
          }
        std::sort(members.begin(), members.end());
        double expected = 0;
        for (size_t m = 0; m < members.size(); ++m) {
          double v = getElement(info.dtype, in[size_t(members[m])].data(), from);
          expected = m == 0 ? v : combine(info.reduction, info.dtype, expected, v);
        }
        ASSERT_EQ(getElement(info.dtype, out[size_t(r)].data(), to), expected)
            << info.kind << " rank " << r << " element " << to;
      }
      size_t k = index.size();
      while (k > 0 && ++index[k - 1] == sizes[k - 1])
        index[--k] = 0;
      if (k == 0)
        break;
    }
    for (int64_t i = 0; i < info.outElements; ++i)
      if (!written[size_t(i)])
        ASSERT_EQ(getElement(info.dtype, out[size_t(r)].data(), i), 0)
            << info.kind << " rank " << r << " padding " << i;
    if (info.reduction == Reduction::None) {
      LocalWorld world(ranks, 30);
      EXPECT_EQ(CollectivePlan(info, world).receivedBytes(r), received * dtypeSize(info.dtype));
    }
  }
}

Buffers randomInputs(const CollectiveInfo &info, int ranks, std::mt19937 &random) {
  Buffers in(static_cast<size_t>(ranks));
  int64_t low = -2, high = 2;
  if (info.reduction == Reduction::And || info.reduction == Reduction::Or || info.reduction == Reduction::Xor)
    low = -100, high = 100;
  if (info.dtype == DType::I1)
    low = 0, high = 1;
  for (auto &buffer : in) {
    buffer.resize(size_t(info.inElements * dtypeSize(info.dtype)));
    for (int64_t i = 0; i < info.inElements; ++i)
      setElement(info.dtype, buffer.data(), i, double(low + int64_t(random() % uint64_t(high - low + 1))));
  }
  return in;
}

/// Any mix of atoms: digits of the ranks may be read, written, both or neither.
CollectiveInfo randomCollective(std::mt19937 &random, int &ranks) {
  int64_t axes[3];
  do {
    ranks = 1;
    for (int64_t &axis : axes)
      ranks *= int(axis = 1 + int64_t(random() % 4));
  } while (ranks > 8);
  int64_t strides[3] = {axes[1] * axes[2], axes[2], 1};
  CollectiveInfo info;
  info.kind = "exchange";
  auto size = [&] { return 1 + int64_t(random() % 5); };
  // Two axes of one size may change places.
  bool swap = axes[0] == axes[2] && random() % 2;
  for (int axis = swap; axis < (swap ? 2 : 3); ++axis) {
    int64_t n = axes[axis], s = strides[axis];
    switch (random() % 6) {
    case 0: // Gather.
      info.atoms.push_back({n, true, s, false, 0});
      break;
    case 1: // Slice.
      info.atoms.push_back({n, false, 0, true, s});
      break;
    case 2: // All to all.
      info.atoms.push_back({n, true, s, false, 0});
      info.atoms.push_back({n, false, 0, true, s});
      break;
    case 3: // Combined, where there is a reduction.
      info.group.push_back({s, n});
      break;
    default:
      break;
    }
  }
  if (swap) {
    info.atoms.push_back({axes[0], true, strides[0], true, strides[2]});
    info.atoms.push_back({axes[0], true, strides[2], true, strides[0]});
  }
  for (size_t i = 0, n = 1 + random() % 3; i < n; ++i)
    info.atoms.push_back({size(), false, 0, false, 0});
  std::shuffle(info.atoms.begin(), info.atoms.end(), random);
  info.outElements = info.inElements = 1;
  for (size_t i = info.atoms.size(); i-- > 0;)
    if (Atom &atom = info.atoms[i]; !atom.destinationIsRank) {
      atom.destinationStride = info.outElements;
      info.outElements *= atom.size;
    }
  std::vector<size_t> order(info.atoms.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  if (random() % 2)
    std::shuffle(order.begin(), order.end(), random);
  for (size_t i : order)
    if (Atom &atom = info.atoms[i]; !atom.sourceIsRank) {
      atom.sourceStride = info.inElements;
      info.inElements *= atom.size;
    }
  info.dtype = allDTypes[random() % kNumDTypes];
  if (!info.group.empty() || random() % 3 == 0) {
    do
      info.reduction = allReductions[random() % std::size(allReductions)];
    while (!reductionApplies(info.reduction, info.dtype));
    info.kind = "reduce_scatter";
  }
  return info;
}

TEST(Collective, randomMovesFollowTheDefinition) {
  std::mt19937 random(11);
  for (int round = 0; round < 1500; ++round) {
    int ranks;
    CollectiveInfo info = randomCollective(random, ranks);
    Status valid = validateMove(info, ranks, ranks);
    ASSERT_TRUE(valid.ok()) << valid.message();
    Buffers in = randomInputs(info, ranks, random);
    expectDefinition(info, ranks, in, runOnThreads(info, ranks, in));
    if (HasFatalFailure())
      return;
  }
}

/// A loop of n elements that each side cuts in its own way: blocks over some
/// ranks, whole blocks dealt in turn, or in place.
Segment randomSegment(std::mt19937 &random, int64_t n, std::vector<RankDigit> sourceRanks,
                      std::vector<RankDigit> destinationRanks, int64_t &inElements, int64_t &outElements) {
  auto sharded = [&](std::vector<RankDigit> ranks, int64_t &elements) {
    std::shuffle(ranks.begin(), ranks.end(), random);
    std::vector<SegmentDigit> parts;
    int64_t indices = 1, local = 1;
    for (const RankDigit &rank : ranks) {
      parts.push_back({rank.size, true, rank.stride});
      indices *= rank.size;
    }
    // Blocks, padded where n is not divided; then a gap in front, if it fits.
    int64_t block = (n + indices - 1) / indices;
    if (block % 2 == 0 && n % (indices * 2) == 0 && random() % 2) {
      parts.insert(parts.begin(), {2, false, elements * (block / 2)});
      block /= 2;
      local *= 2;
    }
    parts.push_back({block, false, elements});
    elements *= local * block;
    return parts;
  };
  Segment segment{n, {}, {}};
  segment.source = sharded(std::move(sourceRanks), inElements);
  segment.destination = sharded(std::move(destinationRanks), outElements);
  return segment;
}

TEST(Collective, exactIntersectionsFollowTheDefinition) {
  std::mt19937 random(17);
  for (int round = 0; round < 600; ++round) {
    const int64_t axes[2] = {2 + int64_t(random() % 2), 1 + int64_t(random() % 4)};
    const int ranks = int(axes[0] * axes[1]);
    const RankDigit x{axes[1], axes[0]}, y{1, axes[1]}, all{1, ranks};
    CollectiveInfo info;
    info.kind = "exchange";
    info.dtype = allDTypes[random() % kNumDTypes];
    info.inElements = info.outElements = 1;
    // One segment after the other, with a loop between.
    std::vector<std::vector<RankDigit>> sides = {{}, {x}, {y}, {x, y}, {all}};
    auto any = [&] { return sides[random() % sides.size()]; };
    std::vector<RankDigit> source = any(), destination = any();
    info.segments.push_back(
        randomSegment(random, 1 + int64_t(random() % 13), source, destination, info.inElements, info.outElements));
    if (random() % 2) {
      int64_t n = 1 + int64_t(random() % 3);
      info.atoms.push_back({n, false, info.inElements, false, info.outElements});
      info.inElements *= n;
      info.outElements *= n;
    }
    // The ranks that are left, on another dim.
    if (random() % 2)
      info.segments.push_back(randomSegment(
          random, 1 + int64_t(random() % 7), source.empty() ? std::vector{y} : std::vector<RankDigit>(),
          destination.empty() ? std::vector{x} : std::vector<RankDigit>(), info.inElements, info.outElements));
    auto readsFrom = [&](int64_t stride) {
      return std::any_of(info.segments.begin(), info.segments.end(), [&](const Segment &segment) {
        return std::any_of(segment.source.begin(), segment.source.end(),
                           [&](const SegmentDigit &part) { return part.isRank && part.stride == stride; });
      });
    };
    if (!readsFrom(1) && random() % 2)
      info.spread.push_back(y);
    // Windows instead of chunks: as many places as a chunk has.
    for (Segment &segment : info.segments)
      if (random() % 2 && segment.destination.size() > 0 &&
          (segment.destination.size() == 1 || segment.destination[0].isRank))
        segment.window = {int64_t(random() % 5) - 1, int64_t(random() % 7) - 3};
    Status valid = validateMove(info, ranks, ranks);
    ASSERT_TRUE(valid.ok()) << valid.message();
    Buffers in = randomInputs(info, ranks, random);
    expectDefinition(info, ranks, in, runOnThreads(info, ranks, in));
    if (HasFatalFailure())
      return;
  }
}

TEST(Collective, tooShortSegmentsAreRefused) {
  // 5 elements in 2 chunks of 3, from whole to halves.
  CollectiveInfo info;
  info.kind = "all_slice";
  info.inElements = 5;
  info.outElements = 3;
  info.segments = {{5, {{5, false, 1}}, {{2, true, 1}, {3, false, 1}}}};
  EXPECT_TRUE(validateMove(info, 2, 2).ok());
  info.segments[0].destination[1].size = 2;
  info.outElements = 2;
  EXPECT_NE(validateMove(info, 2, 2).message().find("digits for 4 elements"), std::string::npos);
  // A window may have any number of places.
  info.segments[0].window = {2, -1};
  EXPECT_TRUE(validateMove(info, 2, 2).ok());
  std::swap(info.segments[0].destination[0], info.segments[0].destination[1]);
  EXPECT_NE(validateMove(info, 2, 2).message().find("after the local one"), std::string::npos);
  std::swap(info.segments[0].destination[0], info.segments[0].destination[1]);
  info.segments[0].window->step = INT64_MAX;
  info.segments[0].window->offset = INT64_MAX;
  EXPECT_NE(validateMove(info, 2, 2).message().find("overflow"), std::string::npos);
  info.segments[0].window.reset();
  info.segments[0].destination[1].size = 3;
  info.outElements = 4;
  EXPECT_NE(validateMove(info, 2, 2).message().find("exactly once"), std::string::npos);
  info.outElements = 3;
  info.inElements = 4;
  EXPECT_NE(validateMove(info, 2, 2).message().find("read input element 4"), std::string::npos);
  info.inElements = 5;
  EXPECT_NE(validateMove(info, 3, 3).message().find("3 devices do not have"), std::string::npos);
}

TEST(Collective, allReduceOfEveryKindTypeAndSize) {
  std::mt19937 random(3);
  for (DType dtype : allDTypes)
    for (Reduction reduction : allReductions) {
      if (!reductionApplies(reduction, dtype))
        continue;
      for (int ranks : {1, 2, 3, 4, 8})
        for (int64_t elements : {int64_t(1), int64_t(1000)}) {
          CollectiveInfo info;
          info.kind = "all_reduce";
          info.dtype = dtype;
          info.reduction = reduction;
          info.inElements = info.outElements = elements;
          info.atoms = {{elements, false, 1, false, 1}};
          info.group = {{1, ranks}};
          Buffers in = randomInputs(info, ranks, random);
          expectDefinition(info, ranks, in, runOnThreads(info, ranks, in));
        }
    }
}

/// What `count` items give at once and one by one.
void expectItems(const CollectiveInfo &info, int ranks, int64_t count, std::mt19937 &random) {
  Buffers in(static_cast<size_t>(ranks)), expected(in.size());
  for (int64_t item = 0; item < count; ++item) {
    Buffers one = randomInputs(info, ranks, random), out = runOnThreads(info, ranks, one);
    for (size_t r = 0; r < in.size(); ++r) {
      in[r].insert(in[r].end(), one[r].begin(), one[r].end());
      expected[r].insert(expected[r].end(), out[r].begin(), out[r].end());
    }
  }
  EXPECT_EQ(runOnThreads(info, ranks, in, count), expected);
}

TEST(Collective, itemsAreSeparateCollectives) {
  std::mt19937 random(17);
  for (int round = 0; round < 200; ++round) {
    int ranks;
    CollectiveInfo info = randomCollective(random, ranks);
    expectItems(info, ranks, round % 4, random);
  }
  // Only together large enough for the shared path.
  CollectiveInfo info;
  info.kind = "all_reduce";
  info.reduction = Reduction::Sum;
  info.inElements = info.outElements = 1001;
  info.atoms = {{1001, false, 1, false, 1}};
  info.group = {{1, 4}};
  expectItems(info, 4, 40, random);
}

/// The masks of a rank.
struct Masks {
  std::vector<uint8_t> input, output; ///< Empty without a mask.
};

/// One execution of `count` items with masks of rows of each rank.
Buffers runRows(const CollectiveInfo &info, int ranks, int64_t count, const Buffers &in,
                const std::vector<Masks> &masks, std::vector<int64_t> &received) {
  LocalWorld world(ranks, 30);
  CollectivePlan plan(info, world);
  Buffers out(static_cast<size_t>(ranks));
  received.assign(size_t(ranks), 0);
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    out[size_t(r)].resize(size_t(count * info.outElements * dtypeSize(info.dtype)), 77);
    threads.emplace_back([&, r] {
      const Masks &own = masks[size_t(r)];
      const RowMasks both{{own.input.data(), int64_t(own.input.size())},
                          {own.output.data(), int64_t(own.output.size())}};
      EXPECT_TRUE(plan.runRows(r, count, both, in[size_t(r)].data(), out[size_t(r)].data(), received[size_t(r)]));
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_FALSE(world.failed());
  return out;
}

/// The number of rows of an item: one that divides its elements.
int64_t randomRows(int64_t elements, std::mt19937 &random) {
  int64_t rows = 1 + int64_t(random() % uint64_t(elements));
  while (elements % rows != 0)
    --rows;
  return rows;
}

std::vector<uint8_t> randomMask(int64_t rows, std::mt19937 &random) {
  std::vector<uint8_t> mask(static_cast<size_t>(rows));
  for (uint8_t &row : mask)
    row = random() % 3 == 0;
  return mask;
}

TEST(Collective, rowsOfMasksAreThoseOfTheWhole) {
  std::mt19937 random(37);
  int64_t fewer = 0;
  for (int round = 0; round < 600; ++round) {
    int ranks;
    CollectiveInfo info = randomCollective(random, ranks);
    const int64_t count = 1 + int64_t(random() % 3), size = dtypeSize(info.dtype);
    const uint32_t kind = random() % 3; // the mask of the input, of the output, or both
    const int64_t inRows = randomRows(info.inElements, random) * count;
    const int64_t outRows = randomRows(info.outElements, random) * count;
    const int64_t inRow = info.inElements * count / inRows, outRow = info.outElements * count / outRows;
    Buffers in(static_cast<size_t>(ranks));
    for (int64_t item = 0; item < count; ++item) {
      Buffers one = randomInputs(info, ranks, random);
      for (size_t r = 0; r < in.size(); ++r)
        in[r].insert(in[r].end(), one[r].begin(), one[r].end());
    }
    std::vector<Masks> masks(in.size());
    for (size_t r = 0; r < in.size(); ++r) {
      if (kind != 1)
        masks[r].input = randomMask(inRows, random);
      if (kind != 0)
        masks[r].output = randomMask(outRows, random);
      for (size_t row = 0; row < masks[r].input.size(); ++row)
        if (!masks[r].input[row])
          std::fill_n(in[r].begin() + int64_t(row) * inRow * size, inRow * size, 0);
    }
    Buffers whole = runOnThreads(info, ranks, in, count);
    std::vector<int64_t> received;
    Buffers out = runRows(info, ranks, count, in, masks, received);
    LocalWorld world(ranks, 30);
    CollectivePlan plan(info, world);
    for (size_t r = 0; r < in.size(); ++r) {
      fewer += received[r] < count * plan.receivedBytes(int(r));
      for (int64_t i = 0; i < count * info.outElements; ++i)
        if (kind == 0 || masks[r].output[size_t(i / outRow)])
          ASSERT_EQ(getElement(info.dtype, out[r].data(), i), getElement(info.dtype, whole[r].data(), i))
              << "round " << round << ", rank " << r << ", element " << i;
    }
  }
  EXPECT_GT(fewer, 200);
}

/// An all-reduce of 128 rows of 1 KiB on 4 ranks, of which rank r computed rows r, r + 4, ... and needs these alone:
/// nothing is received but masks. If it needs all rows, it receives those of the others; if all computed all rows, the
/// whole is received in chunks.
TEST(Collective, rowsOfALargeAllReduce) {
  CollectiveInfo info;
  info.kind = "all_reduce";
  info.reduction = Reduction::Sum;
  info.inElements = info.outElements = 128 * 256;
  info.atoms = {{info.inElements, false, 1, false, 1}};
  info.group = {{1, 4}};
  for (const auto &[computesAll, needsAll, rows] :
       {std::tuple(false, false, 0), {false, true, 96}, {true, true, 192}}) {
    Buffers in(4, std::vector<char>(size_t(info.inElements) * 4));
    std::vector<Masks> masks(4);
    for (int r = 0; r < 4; ++r) {
      Masks &own = masks[size_t(r)];
      for (int row = 0; row < 128; ++row) {
        own.input.push_back(computesAll || row % 4 == r);
        own.output.push_back(needsAll || row % 4 == r);
      }
      for (int64_t i = 0; i < info.inElements; ++i)
        if (own.input[size_t(i / 256)])
          reinterpret_cast<float *>(in[size_t(r)].data())[i] = float(i + 7 * r);
    }
    std::vector<int64_t> received;
    Buffers out = runRows(info, 4, 1, in, masks, received), whole = runOnThreads(info, 4, in);
    for (int r = 0; r < 4; ++r) {
      EXPECT_EQ(received[size_t(r)], 3 * (16 + 16) + rows * 1024);
      for (int64_t row = 0; row < 128; ++row)
        if (masks[size_t(r)].output[size_t(row)])
          EXPECT_EQ(std::memcmp(&out[size_t(r)][size_t(row * 1024)], &whole[size_t(r)][size_t(row * 1024)], 1024), 0);
    }
  }
}

TEST(Collective, differentCountsAreAnError) {
  CollectiveInfo info;
  info.kind = "all_gather";
  info.inElements = 1;
  info.outElements = 2;
  info.atoms = {{2, true, 1, false, 1}};
  LocalWorld world(2, 30);
  CollectivePlan plan(info, world);
  std::vector<float> in(3), out(6);
  std::vector<float> other(6);
  std::thread thread([&] { EXPECT_FALSE(plan.run(1, 2, in.data(), other.data())); });
  EXPECT_FALSE(plan.run(0, 3, in.data(), out.data()));
  thread.join();
  EXPECT_NE(world.status().message().find("items, expected"), std::string::npos) << world.status().message();
}

TEST(Collective, largeAllReduceIsBitIdenticalToTheOrderOfRanks) {
  // Large enough for the shared path; odd, so that the parts differ.
  const int64_t elements = 70001;
  for (int ranks : {2, 3, 4, 8}) {
    CollectiveInfo info;
    info.kind = "all_reduce";
    info.reduction = Reduction::Sum;
    info.inElements = info.outElements = elements;
    info.atoms = {{elements, false, 1, false, 1}};
    info.group = {{1, ranks}};
    std::mt19937 random(5);
    std::uniform_real_distribution<float> uniform(-1, 1);
    Buffers in(static_cast<size_t>(ranks));
    for (auto &buffer : in) {
      buffer.resize(size_t(elements) * 4);
      for (int64_t i = 0; i < elements; ++i)
        reinterpret_cast<float *>(buffer.data())[i] = uniform(random);
    }
    Buffers out = runOnThreads(info, ranks, in);
    for (int64_t i = 0; i < elements; ++i) {
      float expected = reinterpret_cast<float *>(in[0].data())[i];
      for (size_t r = 1; r < size_t(ranks); ++r)
        expected += reinterpret_cast<float *>(in[r].data())[i];
      ASSERT_EQ(reinterpret_cast<float *>(out[0].data())[i], expected);
    }
    for (size_t r = 1; r < size_t(ranks); ++r)
      EXPECT_EQ(out[r], out[0]);
  }
}

TEST(Collective, groupsHaveOnlyCommunicatingRanks) {
  LocalWorld world(8, 30);
  CollectiveInfo info;
  info.kind = "all_gather";
  info.inElements = 4;
  info.outElements = 8;
  info.atoms = {{2, true, 2, false, 4}, {4, false, 1, false, 1}};
  info.group = {{2, 2}};
  CollectivePlan plan(info, world);
  EXPECT_EQ(plan.participants(0), (std::vector<int>{0, 2}));
  EXPECT_EQ(plan.participants(5), (std::vector<int>{5, 7}));
  EXPECT_EQ(plan.receivedBytes(5), 16);
  // One subgroup alone can run.
  std::vector<float> a = {1, 2, 3, 4}, b = {5, 6, 7, 8}, x(8), y(8);
  std::thread other([&] { EXPECT_TRUE(plan.run(7, 1, b.data(), y.data())); });
  EXPECT_TRUE(plan.run(5, 1, a.data(), x.data()));
  other.join();
  EXPECT_EQ(x, (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(y, x);
}

TEST(Collective, emptyBuffers) {
  CollectiveInfo info;
  info.kind = "all_gather";
  info.atoms = {{2, true, 1, false, 0}, {0, false, 1, false, 1}};
  ASSERT_TRUE(validateMove(info, 2, 2).ok());
  Buffers in(2);
  runOnThreads(info, 2, in);
}

// The thread that runs and the one that watches may come with the same error.
TEST(Backend, oneThreadReports) {
  for (int round = 0; round < 50; ++round) {
    std::unique_ptr<Backend> backend = makeLocalBackend();
    std::atomic<int> reporters = 0, wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        const bool mayReport = backend->mayReport();
        reporters += mayReport;
        wrong += backend->mayReport() != mayReport; // it has more to say, or never has
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(reporters, 1);
    EXPECT_EQ(wrong, 0);
  }
}

} // namespace
