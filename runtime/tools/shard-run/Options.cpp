//===- Options.cpp - The command line of shard-run ------------------------===//

#include "Options.h"

#include "../CommandLine.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

using namespace shardkit::rt;

namespace shardkit::run {

namespace {

template <typename T> bool parseNumber(const std::string &text, T &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

Status addInput(const std::string &text, Options &options) {
  size_t equal = text.find('=');
  std::error_code error;
  if (endsWith(text, ".safetensors") && (equal == std::string::npos || std::filesystem::exists(text, error))) {
    options.inputFiles.push_back(text);
    return {};
  }
  if (equal == std::string::npos || equal == 0 || equal + 1 == text.size())
    return invalid("--input=" + text + ", expected NAME=FILE.npy or FILE.safetensors");
  std::string name = text.substr(0, equal);
  for (const auto &input : options.inputs)
    if (input.first == name)
      return invalid("--input gives '" + name + "' twice");
  options.inputs.emplace_back(name, text.substr(equal + 1));
  return {};
}

Status addRange(const std::string &text, Options &options) {
  size_t equal = text.rfind('='), colon = text.rfind(':');
  int64_t low, high;
  if (equal == std::string::npos || equal == 0 || colon == std::string::npos || colon < equal ||
      !parseNumber(text.substr(equal + 1, colon - equal - 1), low) || !parseNumber(text.substr(colon + 1), high) ||
      low >= high)
    return invalid("--range=" + text + ", expected NAME=LOW:HIGH with LOW < HIGH");
  options.ranges[text.substr(0, equal)] = {low, high};
  return {};
}

Status addSize(const std::string &text, Options &options) {
  size_t equal = text.rfind('=');
  int64_t size;
  if (equal == std::string::npos || equal == 0 || !parseNumber(text.substr(equal + 1), size) || size < 0)
    return invalid("--size=" + text + ", expected NAME=SIZE");
  if (!options.sizes.emplace(text.substr(0, equal), size).second)
    return invalid("--size gives '" + text.substr(0, equal) + "' twice");
  return {};
}

} // namespace

Expected<Options> parseOptions(int argc, char **argv, std::string &helpText) {
  CLI::App app("Runs a sharded program on the logical devices of its mesh.", "shard-run");
  Options options;
  std::vector<std::string> inputs, ranges, sizes, passThrough;
  std::string deviceMap, devicesPerProcess = "1", load = "direct", io = "auto", seed, verify, autoShard, pipeline;
  // Options that may be repeated take one value each, so that a positional
  // argument after them is not taken for a second value.
  auto repeated = [&](const char *name, std::vector<std::string> &values, const char *text) {
    app.add_option(name, values, text)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  app.add_option("BUNDLE_OR_IR", options.program,
                 "A bundle directory, or an IR file that the shard-compile "
                 "in the folder of this program compiles");
  app.add_option("--weights", options.weights,
                 "A .safetensors file, its index, .gguf, tensor-cache.json, .npz, or a "
                 "directory with one of these");
  app.add_flag("--follow-links", options.followLinks, "Weight files may be links that leave their directory");
  app.add_flag("--strict", options.strict,
               "An error for a tensor of --weights that no argument of the bundle names, and for a wrong checksum");
  repeated("--input", inputs, "NAME=FILE.npy, or FILE.safetensors");
  app.add_option("--output-dir", options.outputDir, "Directory for the results; without it none is written");
  app.add_option("--output-format", options.outputFormat, "npy (a file per result) or safetensors (one file)");
  app.add_option("--backend", options.backend,
                 "local: threads of this process; mpi: processes under mpirun, one for "
                 "each device; tcp: processes by SK_RANK, SK_WORLD_SIZE and SK_ADDRESS; "
                 "nccl: one of the two, on GPUs");
  app.add_option("--target", options.target, "cpu or cuda: the target of the IR; a bundle must have this target");
  app.add_option("--chip", options.chip, "cuda: the chip of the IR or the bundle, sm_90");
  app.add_option("--matmul-precision", options.matmulPrecision,
                 "cuda: ieee, or tf32 for f32 contractions that round their inputs");
  app.add_option("--attention", options.attention,
                 "cuda: cudnn, kernel (the runtime's own), or auto: cuDNN where it is installed and supports the case");
  app.add_flag("--graphs,!--no-graphs", options.graphs,
               "cuda: record programs without host control flow as graphs, and replay them");
  app.add_flag("--tune", options.tune,
               "cuda: measure the library's algorithms for each product and take the fastest; "
               "sums may be rounded differently from run to run");
  app.add_flag("--profile", options.profile,
               "cuda: the report lists the time of all work on the device; without graphs");
  app.add_option("--devices-per-process", devicesPerProcess,
                 "mpi, nccl: at most this many devices per process; auto: as many as are needed");
  app.add_option("--library-threads", options.libraryThreads,
                 "Threads of each device, for matrix products and loop nests; default: by the cores");
  app.add_option("--digests", options.digests, "Write a digest of each result to this file");
  app.add_option("--suite", options.suite,
                 "Run the bundles recorded in this directory (SK_RECORD) and compare digests");
  app.add_option("--device-map", deviceMap, "Physical device of each logical rank, 0,2,1,3");
  app.add_option("--load", load,
                 "direct: each rank reads its shards; root-scatter: rank 0 reads "
                 "and scatters; presharded: NAME_shard-K-of-N, no communication");
  app.add_option("--io", io, "auto, pread, direct (past the page cache) or mmap");
  app.add_option("--readers", options.load.readers, "Threads that read weights; default by the cores");
  app.add_option("--read-gap", options.load.maxGap,
                 "Bytes between two runs of a weight that are read with them; default 4095, less than a page");
  repeated("--shard-functions", options.shardFunctions, "A library with int sk_register(sk_context *)");
  app.add_option("--function", options.function, "The public function to run; default the only one");
  app.add_option("--random-inputs", seed, "Seed for inputs (and weights) that no file gives");
  repeated("--range", ranges, "NAME=LOW:HIGH for random integers");
  repeated("--size", sizes, "NAME=SIZE of a size that only the run knows; default that of the --input files");
  app.add_flag("--verify{tolerance}", verify,
               "Compare with the unsharded program; --verify=exact requires equal bits; --verify=values compares "
               "every value as it is made, and names the first that differs (--with-values of shard-compile). Exit "
               "status 2 on a mismatch");
  repeated("--watch", options.watch,
           "With --verify=values: a value, by the name that reports have for it or by file:line, to be written to "
           "--output-dir as NAME.npy, and NAME.unsharded.npy");
  app.add_option("--rtol", options.rtol, "Relative tolerance of --verify");
  app.add_option("--atol", options.atol, "Absolute tolerance of --verify");
  app.add_option("--report", options.report, "Write a JSON report here");
  app.add_option("--repeat", options.repeat, "Run the step N times");
  app.add_flag(
      "--donate", options.donate,
      "Results tied to an argument (spmd.tied) reuse its memory: each step starts from the results of the last one");
  app.add_option("--timeout", options.timeout, "Seconds that a collective may wait");
  app.add_flag("--verbose", options.verbose, "One line per result");
  repeated("--compile-option", passThrough, "An option for shard-compile, when given IR");
  app.add_flag("--auto-shard{on}", autoShard, "Passed to shard-compile, when given IR; --auto-shard=OPTIONS");
  app.add_flag("--pipeline{on}", pipeline, "Passed to shard-compile, when given IR; --pipeline=OPTIONS");
  // Read before all others (Calibrate.h).
  bool calibrates = false;
  app.add_flag("--calibrate", calibrates,
               "Measure the costs of a mesh on this machine, for plans and predicted times, in place of a run: "
               "shard-run --calibrate --mesh data=2,model=4 -o costs.json. The other options are those of "
               "shardkit-calibrate, which does it");
  app.set_version_flag("--version", "shard-run 0.1.0");
  try {
    tools::parse(app, argc, argv);
  } catch (const CLI::CallForHelp &) {
    helpText = app.help();
    return options;
  } catch (const CLI::CallForVersion &) {
    helpText = app.version() + "\n";
    return options;
  } catch (const CLI::ParseError &error) {
    return invalid(tools::toLine(error));
  }
  for (const std::string &text : inputs)
    SK_RETURN_IF_ERROR(addInput(text, options));
  for (const std::string &text : ranges)
    SK_RETURN_IF_ERROR(addRange(text, options));
  for (const std::string &text : sizes)
    SK_RETURN_IF_ERROR(addSize(text, options));
  if (options.program.empty() == options.suite.empty())
    return invalid(options.suite.empty() ? "BUNDLE_OR_IR is required"
                                         : "--suite and BUNDLE_OR_IR, expected one of them");
  if (options.strict && options.weights.empty())
    return invalid("--strict, expected --weights with it");
  if (options.backend != "local" && options.backend != "mpi" && options.backend != "nccl" && options.backend != "tcp")
    return invalid("--backend=" + options.backend + ", expected local, mpi, nccl or tcp");
  if (!options.target.empty() && options.target != "cpu" && options.target != "cuda")
    return invalid("--target=" + options.target + ", expected cpu or cuda");
  if (!options.chip.empty() && options.target != "cuda")
    return invalid("--chip=" + options.chip + ", expected --target=cuda with it");
  if (options.matmulPrecision != "ieee" && options.matmulPrecision != "tf32")
    return invalid("--matmul-precision=" + options.matmulPrecision + ", expected ieee or tf32");
  if (options.attention != "auto" && options.attention != "cudnn" && options.attention != "kernel")
    return invalid("--attention=" + options.attention + ", expected auto, cudnn or kernel");
  if (options.profile && options.report.empty())
    return invalid("--profile, expected --report=FILE with it");
  if (devicesPerProcess == "auto")
    options.devicesPerProcess = 0;
  else if (!parseNumber(devicesPerProcess, options.devicesPerProcess) || options.devicesPerProcess < 1)
    return invalid("--devices-per-process=" + devicesPerProcess + ", expected a positive number or auto");
  if (options.libraryThreads < 0)
    return invalid("--library-threads=" + std::to_string(options.libraryThreads) + ", expected a positive number");
  auto mode = parseLoadMode(load);
  if (!mode)
    return invalid("--load=" + load + ", expected direct, root-scatter or presharded");
  options.load.mode = *mode;
  auto ioMode = parseIoMode(io);
  if (!ioMode)
    return invalid("--io=" + io + ", expected auto, pread, direct or mmap");
  options.load.io = *ioMode;
  if (options.load.maxGap < 0 || options.load.maxGap > maxReadGap)
    return invalid("--read-gap=" + std::to_string(options.load.maxGap) + ", expected 0 to " +
                   std::to_string(maxReadGap));
  if (options.load.readers < 0 || options.load.readers > maxReaders)
    return invalid("--readers=" + std::to_string(options.load.readers) + ", expected 1 to " +
                   std::to_string(maxReaders));
  if (options.outputFormat != "npy" && options.outputFormat != "safetensors")
    return invalid("--output-format=" + options.outputFormat + ", expected npy or safetensors");
  if (options.repeat < 1)
    return invalid("--repeat=" + std::to_string(options.repeat) + ", expected at least 1");
  if (options.donate && !verify.empty() && options.repeat > 1)
    return invalid("--donate with --verify and --repeat=" + std::to_string(options.repeat) +
                   ", expected one step: the unsharded program runs one");
  if (!(options.timeout > 0))
    return invalid("--timeout, expected a positive number of seconds");
  if (!seed.empty()) {
    uint64_t value;
    if (!parseNumber(seed, value))
      return invalid("--random-inputs=" + seed + ", expected a seed");
    options.randomSeed = value;
  }
  for (size_t at = 0; at < deviceMap.size();) {
    size_t comma = std::min(deviceMap.find(',', at), deviceMap.size());
    int64_t device;
    if (!parseNumber(deviceMap.substr(at, comma - at), device) || device < 0)
      return invalid("--device-map=" + deviceMap + ", expected a list of device numbers");
    options.deviceMap.push_back(device);
    at = comma + 1;
  }
  if (!verify.empty() && verify != "tolerance" && verify != "exact" && verify != "values")
    return invalid("--verify=" + verify + ", expected --verify, --verify=exact or --verify=values");
  options.verify = !verify.empty();
  options.exact = verify == "exact";
  options.values = verify == "values";
  if (!options.watch.empty() && (!options.values || options.outputDir.empty()))
    return invalid("--watch=" + options.watch[0] + ", expected --verify=values and --output-dir with it");
  if (options.values && options.repeat > 1)
    return invalid("--verify=values with --repeat=" + std::to_string(options.repeat) +
                   ", expected one step: the unsharded program runs one");
  for (auto [name, tolerance] : {std::pair("--rtol", options.rtol), {"--atol", options.atol}})
    if (tolerance && !(*tolerance >= 0))
      return invalid(std::string(name) + "=" + std::to_string(*tolerance) + ", expected 0 or a positive number");
  if (!options.target.empty())
    options.compileOptions.push_back("--target=" + options.target);
  if (!options.chip.empty())
    options.compileOptions.push_back("--chip=" + options.chip);
  if (!autoShard.empty())
    options.compileOptions.push_back(autoShard == "on" ? "--auto-shard" : "--auto-shard=" + autoShard);
  if (!pipeline.empty())
    options.compileOptions.push_back(pipeline == "on" ? "--pipeline" : "--pipeline=" + pipeline);
  options.compileOptions.insert(options.compileOptions.end(), passThrough.begin(), passThrough.end());
  return options;
}

} // namespace shardkit::run
