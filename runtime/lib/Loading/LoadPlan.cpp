//===- LoadPlan.cpp - What a node reads, and in which pieces --------------===//

#include "shardkit/rt/Loading/LoadPlan.h"
#include "shardkit/rt/Support/Threads.h"

#include "BlockReader.h"

#include "shardkit/rt/Collectives/Backend.h"
#include "shardkit/rt/Execution/HostFunctions.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <sched.h>
#include <set>
#include <thread>

namespace shardkit::rt {

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

const char *loadModeName(LoadMode mode) {
  static const char *const names[] = {"direct", "root-scatter", "presharded"};
  return names[int(mode)];
}
std::optional<LoadMode> parseLoadMode(const std::string &name) {
  for (LoadMode mode : {LoadMode::Direct, LoadMode::RootScatter, LoadMode::Presharded})
    if (name == loadModeName(mode))
      return mode;
  return std::nullopt;
}
const char *ioModeName(IoMode mode) {
  static const char *const names[] = {"auto", "pread", "direct", "mmap"};
  return names[int(mode)];
}
std::optional<IoMode> parseIoMode(const std::string &name) {
  for (IoMode mode : {IoMode::Auto, IoMode::Pread, IoMode::Direct, IoMode::Mmap})
    if (name == ioModeName(mode))
      return mode;
  return std::nullopt;
}

void LoadCounters::add(const LoadCounters &other) {
  bytesNeeded += other.bytesNeeded;
  bytesRead += other.bytesRead;
  requests += other.requests;
  seconds += other.seconds;
}

void LoadStats::add(const LoadStats &other) {
  ranks.resize(std::max(ranks.size(), other.ranks.size()));
  for (size_t r = 0; r < other.ranks.size(); ++r)
    ranks[r].add(other.ranks[r]);
  total.add(other.total);
  readers = std::max(readers, other.readers);
  stagingBytes = std::max(stagingBytes, other.stagingBytes);
  bytesDirect += other.bytesDirect;
  bytesMapped += other.bytesMapped;
  scatters += other.scatters;
  broadcasts += other.broadcasts;
  exchanges += other.exchanges;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

LoadPlan::Request &LoadPlan::request(const SourceTensor &source, const std::string &name) {
  Key key(source.tensor.file.get(), source.tensor.offset, source.tensor.bytes, source.map.get());
  Request *&known = known_[key];
  if (!known) {
    requests_.push_back(std::make_unique<Request>());
    known = requests_.back().get();
    known->source = &source;
    known->dtype = *source.tensor.dtype;
    known->name = name;
  }
  return *known;
}

void LoadPlan::addTarget(Request &request, const Extents &extents, int64_t rank, int64_t base, char *local,
                         int64_t countedFor) {
  local += extents.localBase(rank) * dtypeSize(request.dtype);
  Target target{coalesceLoops(extents, rank), base + extents.base(rank), local, countedFor, 1, 1};
  for (const ExtentLoop &loop : target.loops) {
    target.elements *= loop.size;
    if (loop.globalStride != 0)
      target.stored *= loop.size;
  }
  if (target.elements > 0)
    request.targets.push_back(std::move(target));
}

void LoadPlan::add(const ValueInfo &value, const TensorSource &source, int64_t rank, void *local, int64_t countedFor) {
  if (countedFor < 0)
    countedFor = rank;
  char *to = static_cast<char *>(local);
  if (const auto *shards = std::get_if<PreshardedSource>(&source)) {
    const StoredTensor &stored = shards->ranks[size_t(rank)];
    Key key(stored.file.get(), stored.offset, stored.bytes, nullptr);
    Request *&known = known_[key];
    if (!known) {
      requests_.push_back(std::make_unique<Request>());
      known = requests_.back().get();
      known->made.tensor = stored;
      known->source = &known->made;
      known->dtype = *stored.dtype;
      known->name = value.name;
    }
    return addTarget(*known, Extents::identity(value.localElements), rank, 0, to, countedFor);
  }
  const StoredSource &stored = std::get<StoredSource>(source);
  if (!value.load || stored.made)
    return addTarget(request(stored.tensors[0], value.name), value.extents, rank, 0, to, countedFor);
  if (value.load->function || !value.load->chain.empty()) {
    auto [it, added] = callOf_.emplace(&value, calls_.size());
    if (added)
      calls_.push_back({&value, &stored, {}});
    calls_[it->second].ranks.push_back({rank, local, countedFor});
    return;
  }
  for (const ExtentPiece &piece : value.load->pieces)
    addTarget(request(stored.tensors[size_t(piece.source)], value.name), piece.extents, rank, piece.globalBase,
              to + piece.localBase * dtypeSize(value.dtype), countedFor);
}

void LoadPlan::addBlock(const SourceTensor &source, int64_t begin, int64_t elements, void *to, int64_t countedFor) {
  addTarget(request(source, source.tensor.name), Extents::identity(elements), 0, begin, static_cast<char *>(to),
            countedFor);
}

void LoadPlan::addFull(const SourceTensor &source, DType, void *global) {
  addTarget(request(source, source.tensor.name), Extents::identity(numElements(source.tensor.shape).value_or(0)), 0, 0,
            static_cast<char *>(global), 0);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {

/// Calls fn(global, local, count, globalStride, localStride) for the pieces of a
/// target with elements in [begin, end); none reaches out of it. With
/// `twoLoops` the rows of the two innermost loops that lie inside are given
/// together to rows(global, local, rows).
template <typename Fn, typename Rows>
void forEachPieceIn(const std::vector<ExtentLoop> &loops, int64_t base, int64_t begin, int64_t end, bool twoLoops,
                    Fn &&fn, Rows &&rows) {
  if (loops.empty()) {
    if (base >= begin && base < end)
      fn(base, int64_t(0), int64_t(1), int64_t(1), int64_t(1));
    return;
  }
  // spans[k]: elements from the first to the last of loops k and those inside.
  std::vector<int64_t> spans(loops.size() + 1, 1);
  for (size_t k = loops.size(); k-- > 0;)
    spans[k] = spans[k + 1] + (loops[k].size - 1) * loops[k].globalStride;
  auto visit = [&](auto &self, size_t k, int64_t global, int64_t local) -> void {
    const ExtentLoop &loop = loops[k];
    int64_t first = 0, last = loop.size; // [first, last)
    if (loop.globalStride > 0) {
      int64_t below = begin - (global + spans[k + 1] - 1);
      if (below > 0)
        first = (below + loop.globalStride - 1) / loop.globalStride;
      int64_t above = end - global; // Starts below this.
      last = above <= 0 ? 0 : std::min(loop.size, (above + loop.globalStride - 1) / loop.globalStride);
    } else if (global >= end || global + spans[k + 1] <= begin) {
      return;
    }
    if (first >= last)
      return;
    if (k + 1 == loops.size())
      return fn(global + first * loop.globalStride, local + first * loop.localStride, last - first, loop.globalStride,
                loop.localStride);
    int64_t inside = 0; // Rows from `first` on that were given together.
    auto next = [&](int64_t i) { self(self, k + 1, global + i * loop.globalStride, local + i * loop.localStride); };
    if (twoLoops && k + 2 == loops.size() && loop.globalStride > 0) {
      // Those that the block cuts are at its ends.
      while (first < last && global + first * loop.globalStride < begin)
        next(first++);
      int64_t inner = last;
      while (inner > first && global + (inner - 1) * loop.globalStride + spans[k + 1] > end)
        --inner;
      inside = inner - first;
      if (inside > 1)
        rows(global + first * loop.globalStride, local + first * loop.localStride, inside);
      else
        inside = 0;
    }
    for (int64_t i = first + inside; i < last; ++i)
      next(i);
  };
  visit(visit, 0, base, 0);
}

int availableCores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

} // namespace

/// One run of a plan.
///
/// 1. Requests are sorted by file and offset, so that files are read from front to back.
/// 2. Each request is divided into blocks, which are numbered over all requests.
/// 3. Bytes that are needed and expected to be read are counted.
/// 4. Reader threads take runs of block numbers from `next_` and read these blocks. The
///    processes of a node share `next_`, so each block is read by one of them.
///
/// Example: tensors of 20 and 3 MiB make the blocks 0, 1, 2 (8, 8 and 4 MiB of the first)
/// and 3. With two readers, the first takes block 0, the second block 1, and so on.
class LoadRun {
public:
  LoadRun(const LoadPlan &plan, const LoadOptions &options, LoadStats &stats)
      : plan_(plan), options_(options), stats_(stats), io_(options.io),
        next_(options.team ? options.team->nextBlock : localNext_) {}

  Status run();

private:
  static std::pair<std::string, int64_t> fileOffset(const LoadPlan::Request &request);

  /// Whether ranks hold different elements.
  static bool isScatter(const LoadPlan::Request &request);
  bool areRows(const SourceTensor &source, const LoadPlan::Target &target) const;
  int64_t pieceElements(const SourceTensor &source, const LoadPlan::Target &target) const;

  /// Elements of a block: blockBytes, or fewer if a block had so many pieces that their
  /// descriptions would take as much memory as the block.
  int64_t elementsPerBlock(const LoadPlan::Request &request) const;
  void work();

  /// Takes up to 4 consecutive blocks, fewer towards the end. They fill adjacent memory: two
  /// readers that touch a huge page for the first time at once would both clear it. More
  /// than a few would begin more huge pages than the cache holds until they are filled.
  bool takeBlocks(int64_t &begin, int64_t &end);
  void fail(Status status);
  void report(BlockReader &reader);
  Status readBlock(BlockReader &reader, const LoadPlan::Request &request, int64_t begin, int64_t count);

  const LoadPlan &plan_;
  const LoadOptions &options_;
  LoadStats &stats_;
  IoChooser io_;
  std::vector<const LoadPlan::Request *> order_;
  std::vector<int64_t> firstBlock_, blockElements_;
  std::atomic<int64_t> localNext_{0}, read_{0};
  std::atomic<int64_t> &next_; ///< That of the team if there is one, else localNext_.
  int readers_ = 1;
  int64_t expected_ = 0;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  Status status_;
  double reported_ = 0;
};

Status LoadRun::run() {
  bool root = options_.mode == LoadMode::RootScatter;
  for (const auto &request : plan_.requests_)
    if (!request->targets.empty())
      order_.push_back(request.get());
  // 1. Files are read from front to back.
  std::sort(order_.begin(), order_.end(), [](const auto *a, const auto *b) {
    return std::pair(fileOffset(*a), a->name) < std::pair(fileOffset(*b), b->name);
  });
  // 2. and 3. Blocks are numbered, bytes are counted.
  int64_t needed = 0, blocks = 0;
  for (const LoadPlan::Request *request : order_) {
    firstBlock_.push_back(blocks);
    blockElements_.push_back(elementsPerBlock(*request));
    int64_t elements = numElements(request->source->tensor.shape).value_or(0);
    blocks += (elements + blockElements_.back() - 1) / blockElements_.back();
    int64_t size = dtypeSize(request->dtype);
    for (const LoadPlan::Target &target : request->targets) {
      if (options_.member == 0) {
        stats_.ranks.resize(std::max(stats_.ranks.size(), size_t(target.rank + 1)));
        stats_.ranks[size_t(target.rank)].bytesNeeded += target.stored * size;
      }
      needed += target.stored * size;
    }
    // Bytes that several ranks need are read once; a root that scatters reads all.
    std::set<std::pair<int64_t, int64_t>> distinct;
    for (const LoadPlan::Target &target : request->targets)
      if (!root && distinct.emplace(target.base, target.elements).second)
        expected_ += target.stored * size;
    if (root)
      expected_ += elements * size;
    if (root && options_.member == 0)
      ++(isScatter(*request) ? stats_.scatters : stats_.broadcasts);
  }
  firstBlock_.push_back(blocks);
  stats_.total.bytesNeeded = options_.member == 0 ? needed : 0;
  int readers =
      options_.readers > 0 ? std::min(options_.readers, maxReaders) : std::clamp(availableCores(), 2, maxReaders);
  // 4. Threads read the blocks; for little data they cost more than they gain.
  if (root || blocks <= 1 || needed < (2 << 20))
    readers = 1;
  readers = int(std::min<int64_t>(readers, std::max<int64_t>(1, blocks)));
  readers_ = readers;
  // The processes of a team share the readers.
  readers = readers / options_.members + (options_.member < readers % options_.members);
  stats_.readers = readers;
  std::vector<std::thread> threads;
  for (int i = 1; i < readers; ++i) {
    std::thread started;
    if (!startThread([this] { work(); }, "a reader", &started).ok()) {
      stats_.readers = i; // Those that there are read all.
      break;
    }
    threads.push_back(std::move(started));
  }
  if (readers > 0)
    work();
  for (std::thread &thread : threads)
    thread.join();
  if (options_.progress)
    options_.progress(read_.load(), read_.load());
  return status_;
}

std::pair<std::string, int64_t> LoadRun::fileOffset(const LoadPlan::Request &request) {
  const SourceTensor &source = *request.source;
  const StoredTensor &stored = source.map && !source.shards.empty() ? source.shards.begin()->second : source.tensor;
  return {stored.file->path(), stored.offset};
}

bool LoadRun::isScatter(const LoadPlan::Request &request) {
  for (const LoadPlan::Target &target : request.targets)
    if (target.base != request.targets[0].base || target.elements != request.targets[0].elements)
      return true;
  return request.targets.size() == 1 && request.targets[0].elements < numElements(request.source->tensor.shape);
}

bool LoadRun::areRows(const SourceTensor &source, const LoadPlan::Target &target) const {
  size_t n = target.loops.size();
  return !source.map && n >= 2 &&
         BlockReader::areRows(source.tensor, target.loops[n - 1], target.loops[n - 2].globalStride, options_.maxGap);
}

int64_t LoadRun::pieceElements(const SourceTensor &source, const LoadPlan::Target &target) const {
  if (target.loops.empty())
    return 1;
  // Rows are cut again where a request ends: some dozen in each.
  return target.loops.back().size * (areRows(source, target) ? 16 : 1);
}

int64_t LoadRun::elementsPerBlock(const LoadPlan::Request &request) const {
  int64_t size = dtypeSize(request.dtype);
  int64_t most = (blockBytes - 2 * File::directAlignment) / size;
  double pieces = 0, elements = double(numElements(request.source->tensor.shape).value_or(0));
  for (const LoadPlan::Target &target : request.targets)
    pieces += double(target.elements) / double(pieceElements(*request.source, target));
  double perElement = pieces / std::max(1.0, elements);
  if (perElement * double(most) > double(BlockReader::maxPieces))
    most = int64_t(double(BlockReader::maxPieces) / perElement);
  // Even: packed nibbles of a block start with a byte.
  return std::max<int64_t>(256, most / 256 * 256);
}

void LoadRun::work() {
  BlockReader reader(io_, options_.mode == LoadMode::RootScatter, options_.maxGap);
  try {
    int64_t block = 0, end = 0;
    while (!failed_.load(std::memory_order_relaxed)) {
      if (block == end && !takeBlocks(block, end))
        break;
      if (options_.isCancelled && options_.isCancelled()) {
        fail(Status(Code::Aborted, "the load was interrupted"));
        break;
      }
      size_t k = size_t(std::upper_bound(firstBlock_.begin(), firstBlock_.end(), block) - firstBlock_.begin() - 1);
      Status status = readBlock(reader, *order_[k], (block - firstBlock_[k]) * blockElements_[k], blockElements_[k]);
      ++block;
      if (!status.ok())
        fail(status.withContext("weight " + quoteName(order_[k]->name)));
      report(reader);
    }
  } catch (const std::bad_alloc &) {
    fail(internalError("out of memory for staging"));
  }
  std::lock_guard lock(mutex_);
  reader.addTo(stats_);
}

bool LoadRun::takeBlocks(int64_t &begin, int64_t &end) {
  const int64_t all = firstBlock_.back();
  begin = next_.load(std::memory_order_relaxed);
  do {
    if (begin >= all)
      return false;
    end = begin + std::clamp<int64_t>((all - begin) / (2 * readers_), 1, 4);
  } while (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed));
  return true;
}

void LoadRun::fail(Status status) {
  std::lock_guard lock(mutex_);
  if (status_.ok())
    status_ = std::move(status);
  failed_.store(true);
}

void LoadRun::report(BlockReader &reader) {
  read_.fetch_add(reader.takeNewBytes(), std::memory_order_relaxed);
  if (!options_.progress)
    return;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || now() - reported_ < 0.1)
    return;
  reported_ = now();
  options_.progress(read_.load(), std::max(expected_, read_.load()));
}

Status LoadRun::readBlock(BlockReader &reader, const LoadPlan::Request &request, int64_t begin, int64_t count) {
  const SourceTensor &source = *request.source;
  int64_t elements = *numElements(source.tensor.shape);
  int64_t end = std::min(elements, begin + count);
  int64_t size = dtypeSize(request.dtype);
  if (!source.map) {
    reader.start(source.tensor);
    for (const LoadPlan::Target &target : request.targets)
      forEachPieceIn(
          target.loops, target.base, begin, end, areRows(source, target),
          [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
            reader.add({g, gs, target.local + l * size, ls, n, target.rank});
          },
          [&](int64_t g, int64_t l, int64_t rows) {
            const ExtentLoop &row = target.loops[target.loops.size() - 2];
            const ExtentLoop &run = target.loops.back();
            reader.add({g, run.globalStride, target.local + l * size, run.localStride, run.size, target.rank, rows,
                        row.globalStride, row.localStride});
          });
    return reader.finish(begin, end - begin);
  }
  // The pieces of each shard of the set, in the order of the ranks.
  std::map<int64_t, std::vector<BlockReader::Piece>> pieces;
  size_t pending = 0;
  auto flush = [&]() -> Status {
    for (auto &[rank, list] : pieces) {
      auto shard = source.shards.find(rank);
      if (shard == source.shards.end())
        return internalError("no shard of rank " + std::to_string(rank));
      reader.start(shard->second);
      for (const BlockReader::Piece &piece : list)
        reader.add(piece);
      SK_RETURN_IF_ERROR(reader.finish(-1, 0));
    }
    pieces.clear();
    pending = 0;
    return {};
  };
  Status status;
  for (const LoadPlan::Target &target : request.targets)
    forEachPieceIn(
        target.loops, target.base, begin, end, /*twoLoops=*/false,
        [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
          for (int64_t i = 0; i < n && status.ok();) {
            ShardMap::Location at = source.map->find(g + i * gs);
            if (at.rank < 0) {
              status = invalid("the set has no shard with element " + std::to_string(g + i * gs) + " of " +
                               quoteName(source.tensor.name));
              break;
            }
            // Elements that follow one another here and there.
            int64_t run = gs == 1 && ls == 1 ? std::min(at.run, n - i) : 1;
            std::vector<BlockReader::Piece> &list = pieces[at.rank];
            char *to = target.local + (l + i * ls) * size;
            BlockReader::Piece *last = list.empty() ? nullptr : &list.back();
            if (last && run == 1 && last->rank == target.rank && last->toStride == ls && at.local > last->first &&
                to == last->to + last->count * ls * size &&
                (last->count == 1 || at.local == last->first + last->count * last->stride)) {
              if (last->count == 1)
                last->stride = at.local - last->first;
              ++last->count;
            } else {
              list.push_back({at.local, 1, to, run == 1 ? ls : 1, run, target.rank});
              if (++pending >= BlockReader::maxPieces)
                status = flush();
            }
            i += run;
          }
        },
        [](int64_t, int64_t, int64_t) {});
  return status.ok() ? flush() : status;
}

namespace {

bool isEmpty(const Extents &extents, int64_t rank) {
  std::vector<ExtentLoop> loops = coalesceLoops(extents, rank);
  return std::any_of(loops.begin(), loops.end(), [](const ExtentLoop &loop) { return loop.size == 0; });
}

int64_t countElements(const std::vector<ExtentLoop> &loops) {
  int64_t elements = 1;
  for (const ExtentLoop &loop : loops)
    elements *= loop.size;
  return elements;
}

/// Functions leave anything in the padding of uneven shards; stored shards have zero
/// there, in every mode.
void clearPadding(const ValueInfo &value, int64_t rank, void *local) {
  if (value.extents.uneven.empty())
    return;
  const std::vector<ExtentLoop> loops = coalesceLoops(value.extents, rank);
  if (countElements(loops) == value.localElements)
    return;
  const int64_t size = dtypeSize(value.dtype);
  std::vector<std::pair<int64_t, int64_t>> owned; // [begin, end)
  auto add = [&](int64_t begin, int64_t end) {
    if (!owned.empty() && owned.back().second == begin)
      owned.back().second = end;
    else
      owned.emplace_back(begin, end);
  };
  forEachPiece(loops, 0, [&](int64_t, int64_t l, int64_t n, int64_t, int64_t ls) {
    for (int64_t i = 0; ls != 1 && i < n; ++i)
      add(l + i * ls, l + i * ls + 1);
    if (ls == 1)
      add(l, l + n);
  });
  std::sort(owned.begin(), owned.end());
  owned.emplace_back(value.localElements, value.localElements);
  int64_t end = 0;
  for (auto [begin, next] : owned) {
    std::memset(static_cast<char *>(local) + end * size, 0, size_t((begin - end) * size));
    end = next;
  }
}

LoadOptions optionsOfCall(const LoadOptions &options) {
  LoadOptions full = options;
  full.mode = LoadMode::Direct;
  full.progress = nullptr;
  full.team = nullptr;
  full.member = 0;
  full.members = 1;
  if (options.members > 1) // Others of the team may be at the next weight.
    full.readers = 1;
  return full;
}

/// Memory of the operands of loading functions, in all threads, unless one function needs more.
constexpr int64_t maxOperandBytes = 256 << 20;

/// Operands begin at multiples of a cache line.
int64_t alignOperand(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Adds what a call read to the statistics of the load; seconds are those of the load.
void addInputs(LoadStats inputs, int64_t bytes, const LoadOptions &options, LoadStats &stats) {
  inputs.total.seconds = 0;
  inputs.readers = 0;
  for (LoadCounters &counters : inputs.ranks)
    counters.seconds = 0;
  stats.add(inputs);
  stats.stagingBytes = std::max(stats.stagingBytes, bytes + inputs.stagingBytes);
  if (options.mode == LoadMode::RootScatter)
    ++stats.scatters;
}

} // namespace

void LoadPlan::countDistinct(LoadStats &stats) const {
  // Runs of larger plans are not enumerated: few of their elements are in several pieces.
  constexpr size_t maxRuns = 1 << 16;
  std::map<int64_t, int64_t> bytes; // by rank
  size_t runs = 0;
  for (const auto &request : requests_) {
    std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> ofRank;
    for (const Target &target : request->targets) {
      auto &list = ofRank[target.rank];
      forEachPiece(target.loops, target.base, [&](int64_t g, int64_t, int64_t n, int64_t gs, int64_t) {
        runs += gs > 1 ? size_t(n) : 1;
        if (runs > maxRuns)
          return;
        if (gs == 1)
          list.emplace_back(g, g + n);
        for (int64_t i = 0; i < (gs == 1 ? 0 : gs == 0 ? 1 : n); ++i)
          list.emplace_back(g + i * gs, g + i * gs + 1);
      });
      if (runs > maxRuns)
        return;
    }
    for (auto &[rank, list] : ofRank) {
      std::sort(list.begin(), list.end());
      int64_t end = 0;
      for (auto [first, last] : list) {
        bytes[rank] += std::max<int64_t>(0, last - std::max(first, end)) * dtypeSize(request->dtype);
        end = std::max(end, last);
      }
    }
  }
  stats.total.bytesNeeded = 0;
  for (auto [rank, needed] : bytes) {
    stats.ranks[size_t(rank)].bytesNeeded = needed;
    stats.total.bytesNeeded += needed;
  }
}

int64_t LoadPlan::operandBytes(const Call &call) {
  int64_t bytes = 0;
  for (const LoadOperand &operand : *call.value->load->operands)
    bytes += alignOperand(operand.elements * dtypeSize(operand.dtype));
  std::set<int64_t> owners;
  for (const CallRank &rank : call.ranks)
    if (!isEmpty(call.value->extents, rank.rank))
      owners.insert(firstOwner(call.value->extents, rank.rank));
  return bytes * int64_t(owners.size());
}

Status LoadPlan::runOperands(const Call &call, const LoadOptions &options, const ShardProgram &programs,
                             Buffer &scratch, LoadStats &stats) const {
  const ValueInfo &value = *call.value;
  const LoadInfo &load = *value.load;
  if (!programs)
    return internalError("no program for its loading function");
  // Ranks with equal shards share the operands and the result.
  std::map<int64_t, std::vector<void *>> operands;
  LoadPlan plan;
  int64_t bytes = 0;
  scratch.reserve(operandBytes(call), /*isSparse=*/true);
  for (const CallRank &rank : call.ranks) {
    auto [it, added] = operands.try_emplace(firstOwner(value.extents, rank.rank));
    if (!added)
      continue;
    if (isEmpty(value.extents, rank.rank)) { // all padding
      std::memset(rank.local, 0, size_t(value.localBytes()));
      continue;
    }
    for (const LoadOperand &operand : *load.operands) {
      const int64_t size = dtypeSize(operand.dtype);
      char *buffer = static_cast<char *>(scratch.data()) + bytes;
      it->second.push_back(buffer);
      bytes += alignOperand(operand.elements * size);
      int64_t covered = 0; // pieces are disjoint
      for (const ExtentPiece &piece : operand.pieces)
        covered += countElements(coalesceLoops(piece.extents, rank.rank));
      if (covered < operand.elements)
        std::memset(buffer, 0, size_t(operand.elements * size));
      for (const ExtentPiece &piece : operand.pieces) {
        char *to = buffer + piece.localBase * size;
        if (piece.source >= 0) {
          plan.addTarget(plan.request(call.source->tensors[size_t(piece.source)], value.name), piece.extents, rank.rank,
                         piece.globalBase, to, rank.countedFor);
          continue;
        }
        auto *numbers = reinterpret_cast<int32_t *>(to) + piece.extents.localBase(rank.rank);
        forEachPiece(coalesceLoops(piece.extents, rank.rank), piece.globalBase + piece.extents.base(rank.rank),
                     [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                       for (int64_t i = 0; i < n; ++i)
                         numbers[l + i * ls] = int32_t(g + i * gs);
                     });
      }
    }
  }
  LoadStats inputs;
  SK_RETURN_IF_ERROR(plan.run(optionsOfCall(options), nullptr, nullptr, inputs));
  std::map<int64_t, const void *> computed;
  for (const CallRank &rank : call.ranks) {
    const int64_t owner = firstOwner(value.extents, rank.rank);
    auto [it, added] = computed.try_emplace(owner, rank.local);
    if (!added) {
      std::memcpy(rank.local, it->second, size_t(value.localBytes()));
      continue;
    }
    if (isEmpty(value.extents, rank.rank))
      continue;
    SK_RETURN_IF_ERROR(programs(*load.function, rank.rank, operands[owner], rank.local));
    clearPadding(value, rank.rank, rank.local);
  }
  addInputs(std::move(inputs), bytes, options, stats);
  return {};
}

Status LoadPlan::runFull(const Call &call, const LoadOptions &options, const HostFunctions *functions,
                         const ShardProgram &programs, LoadStats &stats) const {
  const ValueInfo &value = *call.value;
  const LoadInfo &load = *value.load;
  std::vector<Buffer> stored;
  std::vector<void *> pointers;
  LoadPlan plan;
  int64_t bytes = 0;
  for (size_t i = 0; i < call.source->tensors.size(); ++i) {
    int64_t size = load.sources[i].elements * dtypeSize(load.sources[i].dtype);
    stored.emplace_back(size);
    pointers.push_back(stored.back().data());
    plan.addFull(call.source->tensors[i], load.sources[i].dtype, stored.back().data());
    bytes += size;
  }
  LoadStats inputs;
  SK_RETURN_IF_ERROR(plan.run(optionsOfCall(options), nullptr, nullptr, inputs));
  if (load.function) {
    if (!programs)
      return internalError("no program for its loading function");
    Buffer made;
    if (load.isFull) { // Once for all ranks.
      made = Buffer(value.globalBytes());
      SK_RETURN_IF_ERROR(programs(*load.function, 0, pointers, made.data()));
      bytes += made.bytes();
    }
    std::map<int64_t, const void *> computed; // by the first rank of equal shards
    for (auto [rank, local, countedFor] : call.ranks) {
      auto [it, added] = computed.try_emplace(firstOwner(value.extents, rank), local);
      if (!added)
        std::memcpy(local, it->second, size_t(value.localBytes()));
      else if (load.isFull)
        gatherLocal(value.extents, rank, dtypeSize(value.dtype), made.data(), local);
      else
        SK_RETURN_IF_ERROR(programs(*load.function, rank, pointers, local));
      clearPadding(value, rank, local);
    }
  } else {
    Buffer output;
    SK_RETURN_IF_ERROR(functions->apply(load.chain, load.sources[0], pointers[0], output));
    int64_t slices = load.chain.back().shape[0], sliceBytes = value.localBytes();
    for (auto [rank, local, countedFor] : call.ranks) {
      // One slice for each rank, or one for each distinct shard.
      DistinctShard shard = distinctShard(value.extents, rank);
      int64_t k = slices == shard.count ? shard.index : rank;
      std::memcpy(local, static_cast<const char *>(output.data()) + k * sliceBytes, size_t(sliceBytes));
      clearPadding(value, rank, local);
    }
    bytes += output.bytes();
  }
  addInputs(std::move(inputs), bytes, options, stats);
  return {};
}

Status LoadPlan::runCalls(const std::vector<const Call *> &calls, const LoadOptions &options,
                          const HostFunctions *functions, const ShardProgram &programs, LoadStats &stats) const {
  // 1. Those that read stored tensors in full come first and compute on all threads, one after the other.
  const auto firstOperands =
      std::find_if(calls.begin(), calls.end(), [](const Call *call) { return call->value->load->operands; });
  int64_t scratchBytes = 0, shardBytes = 0;
  for (auto it = firstOperands; it != calls.end(); ++it) {
    scratchBytes = std::max(scratchBytes, operandBytes(**it));
    shardBytes += (*it)->value->localBytes() * int64_t((*it)->ranks.size());
  }
  std::atomic<int64_t> local{0};
  std::atomic<int64_t> &next = options.team ? options.team->nextCall : local;
  std::atomic<bool> isFailed{false};
  auto work = [&](int64_t end, const LoadOptions &one, LoadStats &counted) -> Status {
    // The memory of operands, which the system clears on first use, serves all calls of a thread.
    Buffer scratch;
    while (!isFailed) {
      int64_t k = next.load();
      while (k < end && !next.compare_exchange_weak(k, k + 1))
        ;
      if (k >= end)
        break;
      const Call &call = *calls[size_t(k)];
      scratch.reserve(call.value->load->operands ? scratchBytes : 0, /*isSparse=*/true);
      Status status = call.value->load->operands ? runOperands(call, one, programs, scratch, counted)
                                                 : runFull(call, one, functions, programs, counted);
      if (!status.ok()) {
        isFailed = true;
        return status.withContext("weight " + quoteName(call.value->name));
      }
    }
    return {};
  };
  SK_RETURN_IF_ERROR(work(firstOperands - calls.begin(), options, stats));
  // 2. The others are shared out among threads, each of which reads and computes: no thread waits for another.
  int64_t workers =
      options.readers > 0 ? std::min(options.readers, maxReaders) : std::min(availableCores(), maxReaders);
  workers = std::min<int64_t>(workers, calls.end() - firstOperands);
  workers = std::min(workers, maxOperandBytes / std::max<int64_t>(scratchBytes, 1));
  if (options.members > 1 || shardBytes < (2 << 20))
    workers = 1;
  if (workers <= 1)
    return work(int64_t(calls.size()), options, stats);
  LoadOptions one = options;
  one.readers = 1;
  std::vector<LoadStats> counted(static_cast<size_t>(workers));
  std::vector<Status> results(static_cast<size_t>(workers));
  auto run = [&](size_t worker) {
    const int threads = libraryThreads();
    setLibraryThreads(1);
    try {
      results[worker] = work(int64_t(calls.size()), one, counted[worker]);
    } catch (const std::bad_alloc &) {
      isFailed = true;
      results[worker] = internalError("out of memory for the operands of loading functions");
    }
    setLibraryThreads(threads);
  };
  std::vector<std::thread> threads;
  for (size_t worker = 1; worker < size_t(workers); ++worker) {
    std::thread started;
    if (!startThread([&run, worker] { run(worker); }, "loading functions", &started).ok())
      break; // Those that there are do all.
    threads.push_back(std::move(started));
  }
  run(0);
  for (std::thread &thread : threads)
    thread.join();
  int64_t stagingBytes = 0;
  for (const LoadStats &each : counted) {
    stagingBytes += each.stagingBytes;
    stats.add(each);
  }
  stats.stagingBytes = std::max(stats.stagingBytes, stagingBytes);
  stats.readers = std::max(stats.readers, int(threads.size()) + 1);
  for (Status &status : results)
    SK_RETURN_IF_ERROR(status);
  return {};
}

Status LoadPlan::run(const LoadOptions &options, const HostFunctions *functions, const ShardProgram &programs,
                     LoadStats &stats) const {
  double start = now();
  // Names that nothing has are found before anything is read.
  for (const Call &call : calls_)
    if (!call.value->load->chain.empty()) {
      if (!functions)
        return notFound("weight " + quoteName(call.value->name) + ": its shard functions are not registered");
      SK_RETURN_IF_ERROR(
          functions->check(call.value->load->chain).withContext("weight " + quoteName(call.value->name)));
    }
  LoadStats loaded;
  SK_RETURN_IF_ERROR(LoadRun(*this, options, loaded).run());
  if (options.member == 0)
    countDistinct(loaded);
  if (options.mode != LoadMode::RootScatter || options.member == 0) {
    std::vector<const Call *> calls;
    for (const Call &call : calls_)
      calls.push_back(&call);
    std::stable_partition(calls.begin(), calls.end(), [](const Call *call) { return !call->value->load->operands; });
    SK_RETURN_IF_ERROR(runCalls(calls, options, functions, programs, loaded));
  }
  loaded.total.seconds = now() - start;
  for (LoadCounters &counters : loaded.ranks)
    counters.seconds = loaded.total.seconds;
  stats.add(loaded);
  return {};
}

} // namespace shardkit::rt
