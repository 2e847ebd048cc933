//===- Schedule.cpp - The order of work on each mesh, by clock ------------===//

#include "shardkit/Stages/Schedule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::spmd;
using llvm::ArrayRef;
using llvm::StringRef;

static constexpr int64_t kMaxPieces = int64_t(1) << 24; // per fragment, over all meshes

static constexpr ScheduleKind kKinds[] = {ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::OneFOneBOverlap,
                                          ScheduleKind::InterleavedOneFOneB, ScheduleKind::Inference};

StringRef mlir::spmd::toString(ScheduleKind kind) {
  switch (kind) {
  case ScheduleKind::GPipe:
    return "gpipe";
  case ScheduleKind::OneFOneB:
    return "1f1b";
  case ScheduleKind::OneFOneBOverlap:
    return "1f1b-overlap";
  case ScheduleKind::InterleavedOneFOneB:
    return "interleaved-1f1b";
  case ScheduleKind::Inference:
    return "inference";
  }
  llvm_unreachable("unknown kind");
}

std::optional<ScheduleKind> mlir::spmd::parseScheduleKind(StringRef text, std::string &error) {
  for (ScheduleKind kind : kKinds)
    if (toString(kind) == text)
      return kind;
  error.clear();
  llvm::raw_string_ostream os(error);
  os << "unknown schedule '" << text << "', expected ";
  llvm::interleave(kKinds, os, [&](ScheduleKind kind) { os << toString(kind); }, ", ");
  return std::nullopt;
}

int64_t mlir::spmd::getMaxInFlight(ScheduleKind kind, int64_t mesh, int64_t numMeshes, int64_t numMicrobatches,
                                   int64_t virtualStages) {
  int64_t remaining = numMeshes - mesh; // meshes from this one to the last
  int64_t pieces = numMicrobatches * virtualStages;
  switch (kind) {
  case ScheduleKind::GPipe:
  case ScheduleKind::Inference:
    return pieces;
  case ScheduleKind::OneFOneB:
    return std::min(pieces, remaining);
  case ScheduleKind::OneFOneBOverlap:
  case ScheduleKind::InterleavedOneFOneB:
    return std::min(pieces, 2 * remaining - 1 + (virtualStages - 1) * numMeshes);
  }
  llvm_unreachable("unknown kind");
}

/// The forward or backward pieces of a mesh, in order. In the interleaved schedule a mesh
/// runs as many microbatches through one of its stages as there are meshes, then continues
/// with its next stage, which the first of them has reached by then.
static std::vector<Cell> getPieces(const ClockTable &table, StageFragment fragment, int64_t mesh) {
  int64_t n = table.numMeshes, m = table.numMicrobatches;
  // From the last microbatch to the first, so that the values kept last are freed first.
  bool reverse = table.kind == ScheduleKind::GPipe && fragment == StageFragment::Backward;
  int64_t group = table.virtualStages > 1 ? n : m;
  std::vector<Cell> pieces;
  pieces.reserve(m * table.virtualStages);
  for (int64_t first = 0; first < m; first += group)
    for (int64_t k = 0; k < table.virtualStages; ++k) {
      int64_t chunk = fragment == StageFragment::Forward ? k : table.virtualStages - 1 - k;
      for (int64_t i = first; i < first + group; ++i)
        pieces.push_back({chunk * n + mesh, fragment, reverse ? m - 1 - i : i});
    }
  return pieces;
}

static std::vector<Cell> getOrder(const ClockTable &table, int64_t mesh) {
  std::vector<Cell> forward = getPieces(table, StageFragment::Forward, mesh);
  if (table.kind == ScheduleKind::Inference)
    return forward;
  std::vector<Cell> backward = getPieces(table, StageFragment::Backward, mesh), order;
  order.reserve(2 * forward.size());
  size_t ahead = getMaxInFlight(table.kind, mesh, table.numMeshes, table.numMicrobatches, table.virtualStages);
  order.assign(forward.begin(), forward.begin() + ahead);
  for (size_t i = 0; i < backward.size(); ++i) {
    order.push_back(backward[i]);
    if (ahead + i < forward.size())
      order.push_back(forward[ahead + i]);
  }
  return order;
}

static bool check(const ClockTable &table, std::string &error) {
  error.clear();
  llvm::raw_string_ostream os(error);
  int64_t n = table.numMeshes, m = table.numMicrobatches, v = table.virtualStages;
  for (auto [count, what] :
       {std::pair(n, "meshes"), std::pair(m, "microbatches"), std::pair(v, "virtual stages per mesh")})
    if (count < 1) {
      os << count << " " << what << ", expected at least 1";
      return false;
    }
  // In this order, so that no product overflows.
  if (n > kMaxPieces || m > kMaxPieces / n || v > kMaxPieces / (n * m)) {
    os << "a schedule of " << n << " meshes, " << m << " microbatches and " << v
       << " virtual stages per mesh, expected a product of at most " << kMaxPieces;
    return false;
  }
  bool interleaved = table.kind == ScheduleKind::InterleavedOneFOneB;
  if (!interleaved && v > 1) {
    os << v << " virtual stages per mesh, expected 1 with schedule " << toString(table.kind) << ": only "
       << toString(ScheduleKind::InterleavedOneFOneB) << " takes more";
    return false;
  }
  if (interleaved && m % n != 0) {
    os << m << " microbatches, expected a multiple of the " << n << " meshes with schedule " << toString(table.kind)
       << ": ";
    if (m > n)
      os << m / n * n << " or ";
    os << (m / n + 1) * n;
    return false;
  }
  return true;
}

std::optional<ClockTable> mlir::spmd::buildSchedule(ScheduleKind kind, int64_t numMeshes, int64_t numMicrobatches,
                                                    int64_t virtualStages, std::string &error) {
  ClockTable table;
  table.kind = kind;
  table.numMeshes = numMeshes;
  table.numMicrobatches = numMicrobatches;
  table.virtualStages = virtualStages;
  if (!check(table, error))
    return std::nullopt;

  int64_t numStages = table.getNumStages();
  std::vector<std::vector<Cell>> orders;
  int64_t left = 0;
  for (int64_t mesh = 0; mesh < numMeshes; ++mesh) {
    orders.push_back(getOrder(table, mesh));
    left += orders.back().size();
  }
  // The first clock in which the results of a piece can be used; 0: not computed yet.
  std::vector<int64_t> made[2];
  for (std::vector<int64_t> &list : made)
    list.assign(numStages * numMicrobatches, 0);
  auto isReady = [&](const Cell &cell, int64_t clock) {
    auto isMade = [&](StageFragment fragment, int64_t stage) {
      int64_t ready = made[size_t(fragment)][stage * numMicrobatches + cell.microbatch];
      return ready > 0 && ready <= clock;
    };
    if (cell.fragment == StageFragment::Forward)
      return cell.stage == 0 || isMade(StageFragment::Forward, cell.stage - 1);
    return isMade(StageFragment::Forward, cell.stage) &&
           (cell.stage == numStages - 1 || isMade(StageFragment::Backward, cell.stage + 1));
  };
  std::vector<size_t> next(numMeshes, 0);
  for (int64_t clock = 0; left > 0; ++clock) {
    [[maybe_unused]] int64_t before = left;
    for (int64_t mesh = 0; mesh < numMeshes; ++mesh) {
      table.cells.emplace_back();
      if (next[mesh] == orders[mesh].size() || !isReady(orders[mesh][next[mesh]], clock))
        continue;
      const Cell &cell = orders[mesh][next[mesh]++];
      table.cells.back() = cell;
      made[size_t(cell.fragment)][cell.stage * numMicrobatches + cell.microbatch] = clock + 1;
      --left;
    }
    assert(left < before && "orders of meshes wait for one another");
  }
  if (table.hasApply())
    for (int64_t mesh = 0; mesh < numMeshes; ++mesh)
      table.cells.push_back({mesh, StageFragment::Apply, -1});
  return table;
}
