//===- Options.h - The command line of shard-run ----------------*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARDRUN_OPTIONS_H
#define SHARDKIT_TOOLS_SHARDRUN_OPTIONS_H

#include "shardkit/rt/Loading/LoadPlan.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shardkit::run {

struct Options {
  std::string program; ///< A bundle or an IR file.
  std::string weights;
  bool followLinks = false, strict = false;
  rt::LoadOptions load;
  std::vector<std::string> shardFunctions;                 ///< Libraries.
  std::vector<std::pair<std::string, std::string>> inputs; ///< Name, file.
  std::vector<std::string> inputFiles;                     ///< .safetensors with named tensors.
  std::string outputDir;
  std::string outputFormat = "npy";
  std::string function;
  std::vector<int64_t> deviceMap; ///< May name a device twice.
  std::optional<uint64_t> randomSeed;
  std::map<std::string, std::pair<int64_t, int64_t>> ranges;
  std::map<std::string, int64_t> sizes; ///< Those that only the run knows.
  bool verify = false, exact = false, verbose = false;
  bool values = false;            ///< Also every value of the program.
  std::vector<std::string> watch; ///< Values that are written.
  std::optional<double> rtol, atol;
  std::string report;
  int64_t repeat = 1;
  bool donate = false; ///< Tied results take the memory of their arguments.
  double timeout = 60;
  std::string backend = "local";           ///< Or mpi, nccl.
  int64_t devicesPerProcess = 1;           ///< At most; 0: as many as it takes.
  int libraryThreads = 0;                  ///< Of each rank; 0: by the cores.
  std::string target, chip;                ///< Empty: what the bundle is for.
  std::string matmulPrecision = "ieee";    ///< Or tf32; of devices.
  std::string attention = "auto";          ///< Or cudnn, kernel; of devices.
  bool graphs = true;                      ///< Of devices.
  bool tune = false;                       ///< Of devices: products.
  bool profile = false;                    ///< In the report, what devices did and how long.
  std::string digests;                     ///< File for a digest of every result.
  std::string suite;                       ///< Directory of recorded runs (SK_RECORD).
  std::vector<std::string> compileOptions; ///< Passed to shard-compile.
};

/// Parses the command line. `helpText` is set (and printed by the caller) for
/// --help and --version.
rt::Expected<Options> parseOptions(int argc, char **argv, std::string &helpText);

} // namespace shardkit::run

#endif // SHARDKIT_TOOLS_SHARDRUN_OPTIONS_H
