//===- Schedule.h - Which microbatch each mesh works on, by clock -*- C++ -*--===//
//
// A schedule is an order of work per mesh; the clock table is what comes out where
// every mesh takes its next piece as soon as what it needs was there a clock before.
// Stage k runs on mesh k mod n. See docs/internals/Stages.md, "Schedules".
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_STAGES_SCHEDULE_H
#define SHARDKIT_STAGES_SCHEDULE_H

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
/// Nothing, and `error` with the names that there are, for another text.
std::optional<ScheduleKind> parseScheduleKind(llvm::StringRef text, std::string &error);

/// What a stage consists of. Apply is what comes once per step, after all microbatches.
enum class Part { Forward, Backward, Apply };
llvm::StringRef toString(Part part);

/// What a mesh does in one clock.
struct Cell {
  int64_t stage = -1; // -1: nothing
  Part part = Part::Forward;
  int64_t microbatch = -1; // -1 for Apply

  bool isIdle() const { return stage < 0; }
  bool operator==(const Cell &) const = default;
};

/// Rows are clocks, columns are meshes. With a backward part the last row is the apply
/// part of every mesh (the stage of its cell is the first of the mesh); it is no clock.
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

/// The table of a schedule. Nothing, and `error`, where a number is below 1, where
/// another schedule than the interleaved one is to have several virtual stages per mesh,
/// where interleaved microbatches are no multiple of the meshes, and where the table
/// would have more than 2^24 pieces of work.
std::optional<ClockTable> buildSchedule(ScheduleKind kind, int64_t numMeshes, int64_t numMicrobatches,
                                        int64_t virtualStages, std::string &error);

/// How many forward pieces (stage, microbatch) a mesh runs before its first backward
/// one. It runs one of each in turn from there on, so that no more than these are in
/// flight: forward ran, backward did not yet.
///
///   gpipe               m
///   1f1b                min(m, n - i)
///   1f1b-overlap        min(m, 2(n - i) - 1)
///   interleaved-1f1b    min(mV, 2(n - i) - 1 + (V - 1)n)
///   inference           m                         all there are
int64_t getMostInFlight(ScheduleKind kind, int64_t mesh, int64_t numMeshes, int64_t numMicrobatches,
                        int64_t virtualStages);

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_SCHEDULE_H
