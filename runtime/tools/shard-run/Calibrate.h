//===- Calibrate.h - shard-run --calibrate ----------------------*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARDRUN_CALIBRATE_H
#define SHARDKIT_TOOLS_SHARDRUN_CALIBRATE_H

#include "shardkit/rt/Support/Status.h"

namespace shardkit::run {

/// Whether the command line has `--calibrate`, or `--calibrate=AXES`.
bool asksForCalibration(int argc, char **argv);

/// Replaces this process by shardkit-calibrate, with the other arguments; it compiles what it measures, which a runtime
/// cannot. Returns only if it cannot be run.
rt::Status calibrate(int argc, char **argv);

} // namespace shardkit::run

#endif // SHARDKIT_TOOLS_SHARDRUN_CALIBRATE_H
