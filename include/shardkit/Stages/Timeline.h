//===- Timeline.h - A schedule as text and as a page ------------*- C++ -*-===//

#ifndef SHARDKIT_STAGES_TIMELINE_H
#define SHARDKIT_STAGES_TIMELINE_H

#include "shardkit/Stages/Program.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::spmd {

/// One row per mesh, one column per clock: `F0` and `B3` are forward and backward of
/// microbatches 0 and 3, `F3.1` those of a mesh's second stage, `A` apply, `--` idle.
///   mesh 0  F0 F1 -- B0 -- B1 A
///   mesh 1  -- F0 B0 F1 B1 -- A
void printTimeline(const ClockTable &table, llvm::raw_ostream &os);

/// A self-contained page: a table of the meshes, and a drawing with one row per mesh.
/// `seconds` has the time of one run per function, negative or missing if it is not known; such
/// a run is as wide as the mean of the others. Meshes run as the lists specify and wait for
/// transfers as in `replay`; transfers take no time here. A panel shows the function of the chosen run,
/// microbatch, seconds and the values that are sent afterwards. Lines between rows connect the
/// send of a value with its first use. Instructions that are never reached, because lists wait
/// forever, are not drawn.
void printTimelinePage(const PipelineProgram &program, const InstructionLists &lists, llvm::ArrayRef<double> seconds,
                       llvm::raw_ostream &os);

/// The same as a section of another page, whose style must include `getTimelineStyle`, and
/// which must end with `getTimelineScript`.
void drawTimeline(const PipelineProgram &program, const InstructionLists &lists, llvm::ArrayRef<double> seconds,
                  llvm::raw_ostream &os);
llvm::StringRef getTimelineStyle();
llvm::StringRef getTimelineScript();

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_TIMELINE_H
