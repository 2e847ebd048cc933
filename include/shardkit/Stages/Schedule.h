//===- Schedule.h - The order of work on each mesh, by clock -----*- C++ -*--===//
//
// A schedule is an order of work per mesh. In its clock table every mesh starts its next
// piece of work in the first clock after those in which the inputs were computed.
// Stage k runs on mesh k mod n. See docs/internals/Stages.md, "Schedules".
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_STAGES_SCHEDULE_H
#define SHARDKIT_STAGES_SCHEDULE_H

#include "shardkit/Dialect/SPMD/IR/StageFragment.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::spmd {

enum class ScheduleKind { GPipe, OneFOneB, OneFOneBOverlap, InterleavedOneFOneB, Inference };

/// As in options and IR: gpipe, 1f1b, 1f1b-overlap, interleaved-1f1b, inference.
llvm::StringRef toString(ScheduleKind kind);
/// std::nullopt for another text, and the known names in `error`.
std::optional<ScheduleKind> parseScheduleKind(llvm::StringRef text, std::string &error);

/// The piece of work of a mesh in one clock: a fragment of a stage for a microbatch.
struct Cell {
  int64_t stage = -1; // -1: idle
  StageFragment fragment = StageFragment::Forward;
  int64_t microbatch = -1; // -1 for Apply

  bool isIdle() const { return stage < 0; }
  bool operator==(const Cell &) const = default;
};

/// Rows are clocks, columns are meshes. With backward fragments the last row is the apply
/// fragment of every mesh (the stage of its cell is the first of the mesh), not a clock.
struct ClockTable {
  ScheduleKind kind = ScheduleKind::GPipe;
  int64_t numMeshes = 0, numMicrobatches = 0, virtualStages = 1;
  std::vector<Cell> cells;

  int64_t getNumStages() const { return numMeshes * virtualStages; }
  int64_t getMesh(int64_t stage) const { return stage % numMeshes; }
  bool hasApply() const { return kind != ScheduleKind::Inference; }
  int64_t getNumRows() const { return int64_t(cells.size()) / numMeshes; }
  int64_t getNumClocks() const { return getNumRows() - hasApply(); }
  llvm::ArrayRef<Cell> getRow(int64_t row) const { return llvm::ArrayRef(cells).slice(row * numMeshes, numMeshes); }
};

/// The table of a schedule. std::nullopt, and `error`, if a number is below 1, if a schedule
/// other than the interleaved one has several virtual stages per mesh, if interleaved
/// microbatches are not a multiple of the meshes, or if the table would have more than 2^24
/// pieces of work.
std::optional<ClockTable> buildSchedule(ScheduleKind kind, int64_t numMeshes, int64_t numMicrobatches,
                                        int64_t virtualStages, std::string &error);

/// The number of forward pieces (stage, microbatch) that a mesh runs before its first backward
/// piece. After that it runs one of each in turn, so that no more pieces than these are in
/// flight: forward has run, backward has not.
///
///   gpipe               m
///   1f1b                min(m, n - i)
///   1f1b-overlap        min(m, 2(n - i) - 1)
///   interleaved-1f1b    min(mV, 2(n - i) - 1 + (V - 1)n)
///   inference           m                         all microbatches
int64_t getMaxInFlight(ScheduleKind kind, int64_t mesh, int64_t numMeshes, int64_t numMicrobatches,
                       int64_t virtualStages);

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_SCHEDULE_H
