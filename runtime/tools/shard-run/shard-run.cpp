//===- shard-run.cpp - Runs a bundle on the devices of its mesh -----------===//
//
// Exit status: 0, 1 for a user error (one "error:" line on stderr), 2 when
// --verify finds a mismatch. Never links MLIR.
//
//===----------------------------------------------------------------------===//

#include "Calibrate.h"
#include "Compile.h"
#include "Options.h"
#include "Report.h"
#include "Run.h"

#include "shardkit/rt/Support/File.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <unistd.h>

using namespace shardkit::rt;
using namespace shardkit::run;

namespace {

/// One process of the run: what it prints, and how it ends.
class Runner {
public:
  Runner(const Options &options, std::shared_ptr<Backend> backend) : options_(options), backend_(std::move(backend)) {}

  /// What is wrong before anything is opened.
  int check(const Status &status) {
    Status agreed = backend_->agree(status);
    return agreed.ok() ? 0 : fail(agreed);
  }
  int runProgram();
  int runSuite();
  /// Of an error that is no other process's.
  int abort(const Status &status) {
    backend_->abort(status);
    return fail(status);
  }
  [[noreturn]] void exit(int code) {
    const bool failed = backend_->failed() || stuck_;
    directory_.reset();
    // Threads that hang may still use what would be torn down.
    backend_->exit(code, failed);
    std::abort(); // GCC overlooks that a virtual function does not return.
  }

private:
  bool isFirst() const { return backend_->process() == 0; }
  int fail(const Status &status) {
    lastError_ = status.message();
    std::fflush(stdout);
    while (!backend_->mayReport())
      ::pause(); // Whoever says it ends this process.
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
    return 1;
  }
  /// The bundle of the program, compiled if need be; empty and `code` set if it was
  /// not to be had.
  std::string findBundle(int &code);
  Status checkSame(const Options &options, const Bundle &bundle);
  /// With `digests` of all results appended to it.
  int run(const Options &options, const std::string &bundlePath, std::string *digests, size_t *functionsRun = nullptr);
  int verifySuite(const std::vector<std::string> &runs);
  int compareSuite(const std::vector<std::string> &runs);
  Expected<Options> suiteOptions(const std::string &path);
  Status record(const std::string &bundlePath, const std::string &digests);

  const Options &options_;
  std::shared_ptr<Backend> backend_;
  std::optional<TemporaryDirectory> directory_;
  std::string lastError_, suiteEntries_;
  bool stuck_ = false;
  std::string target_; ///< Of the bundle that ran last.
};

/// What runs: what was named, the only function or pipeline, or all of them with
/// --verify and in a suite.
Expected<std::vector<Runnable>> chooseRunnables(const Manifest &manifest, const Options &options, bool all) {
  std::vector<Runnable> chosen;
  std::string names;
  auto consider = [&](const auto &one, const std::string &name) {
    if (options.function.empty() || name == options.function)
      chosen.emplace_back(one);
    names += (names.empty() ? "" : ", ") + name;
  };
  for (const FunctionInfo &function : manifest.functions)
    consider(function, function.name);
  for (const PipelineInfo &pipeline : manifest.pipelines)
    consider(pipeline, pipeline.signature.name);
  if (chosen.empty())
    return notFound("--function=" + options.function + ", expected one of: " + names);
  if (chosen.size() > 1 && !all)
    return invalid("the bundle has several functions, choose one with "
                   "--function: " +
                   names);
  if (!options.target.empty() && options.target != manifest.target)
    return invalid("--target=" + options.target + ", but the bundle is for " + manifest.target + ", expected the same");
  if (!options.chip.empty() && options.chip != manifest.chip)
    return invalid("--chip=" + options.chip + ", but the bundle is for " + manifest.chip + ", expected the same");
  if (manifest.target != "cuda" && options.matmulPrecision != "ieee")
    return invalid("--matmul-precision=" + options.matmulPrecision + ", but the bundle is for " + manifest.target +
                   ", which has ieee alone");
  for (auto [given, name] : {std::pair(options.profile, "--profile"), {options.tune, "--tune"}})
    if (given && manifest.target != "cuda")
      return invalid(name + std::string(", but the bundle is for ") + manifest.target + ", expected one for cuda");
  if (manifest.target != "cuda" && options.attention != "auto")
    return invalid("--attention=" + options.attention + ", but the bundle is for " + manifest.target +
                   ", expected auto");
  if (manifest.target != "cuda" && options.backend == "nccl")
    return invalid("--backend=nccl, but the bundle is for " + manifest.target + ", expected one for cuda");
  for (size_t i = 0; i < options.deviceMap.size() && manifest.target != "cuda"; ++i)
    if (std::count(options.deviceMap.begin(), options.deviceMap.begin() + long(i), options.deviceMap[i]))
      return invalid("--device-map names device " + std::to_string(options.deviceMap[i]) +
                     " twice, expected a device of its own for each rank");
  for (const Runnable &what : chosen)
    if (!options.deviceMap.empty() && int64_t(options.deviceMap.size()) != what.devices())
      return invalid("--device-map has " + std::to_string(options.deviceMap.size()) + " entries, expected " +
                     std::to_string(what.devices()) + " for " + what.title());
  return chosen;
}

/// Processes with different bundles would wait for each other, or worse. So would those
/// that do different things together; files may have different names.
Status Runner::checkSame(const Options &options, const Bundle &bundle) {
  if (backend_->processes() == 1)
    return {};
  auto hash = bundle.hash();
  SK_RETURN_IF_ERROR(backend_->agree(hash.status()));
  const size_t digits = hash->size();
  const std::string actions = options.function + " " + std::to_string(options.repeat) + " " +
                              std::to_string(options.devicesPerProcess) + loadModeName(options.load.mode) +
                              (options.verify ? " verify" : "") + (options.values ? " values" : "") +
                              (options.outputDir.empty() ? "" : " write") + (options.digests.empty() ? "" : " digest");
  SK_ASSIGN_OR_RETURN(std::vector<std::string> all, backend_->exchange(*hash + actions));
  for (size_t p = 1; p < all.size(); ++p) {
    const std::string theirs = all[p].substr(0, digits), first = all[0].substr(0, digits);
    if (theirs != first)
      return invalid("processes 0 and " + std::to_string(p) + " have different bundles (" + first + ", " + theirs +
                     "), expected the same on every process");
    if (all[p] != all[0])
      return invalid("processes 0 and " + std::to_string(p) +
                     " have different options, expected the same on every process, but for names "
                     "of files");
  }
  return {};
}

int Runner::run(const Options &options, const std::string &bundlePath, std::string *digests, size_t *functionsRun) {
  auto bundle = Bundle::open(bundlePath);
  if (bundle.ok())
    if (Status status = setSizes(options, **bundle); !status.ok())
      bundle = status;
  if (Status status = backend_->agree(bundle.status()); !status.ok())
    return fail(status);
  if (Status status = checkSame(options, **bundle); !status.ok())
    return fail(status);
  target_ = (*bundle)->manifest().target;
  auto chosen = chooseRunnables((*bundle)->manifest(), options, options.verify || functionsRun);
  if (Status status = backend_->agree(chosen.status()); !status.ok())
    return fail(status);
  Status hasValues;
  if (options.values && std::none_of(chosen->begin(), chosen->end(),
                                     [](const Runnable &what) { return what.full().unsharded.has_value(); }))
    hasValues = checkValues(chosen->front(), {});
  else if (!options.watch.empty() && chosen->size() > 1)
    hasValues = invalid("--watch=" + options.watch[0] + ", expected --function with it: the bundle has several");
  if (hasValues = backend_->agree(hasValues); !hasValues.ok())
    return fail(hasValues);
  std::vector<const FunctionInfo *> held;
  for (const Runnable &what : *chosen) {
    held.push_back(&what.full());
    for (size_t s = 0; s < what.stages(); ++s)
      held.push_back(&what.held(s));
  }
  auto sources = Sources::open(options, **bundle, held);
  auto session = Session::open(sessionOptions(options), backend_);
  Status opened = sources.ok() ? session.status() : sources.status();
  if (opened.ok() && options.strict)
    opened = sources->checkStrict((*bundle)->manifest(), backend_->process(), backend_->processes());
  for (const std::string &library : options.shardFunctions)
    if (opened.ok())
      opened = (*session)->hostFunctions().loadLibrary(library);
  for (const std::string &output : {options.report, options_.digests})
    if (opened.ok() && !output.empty() && isFirst())
      opened = checkWritable(output);
  if (opened.ok() && !options.outputDir.empty() && isFirst())
    opened = makeDirectory(options.outputDir);
  if (Status status = backend_->agree(opened); !status.ok())
    return fail(status);

  BundleOptions added;
  added.loadConstants = false; // With the other arguments.
  if (!options.function.empty())
    added.functions = {options.function};
  Bundle &code = **bundle;
  if (Status status = (*session)->addBundle(std::move(*bundle), added); !status.ok())
    return fail(status);
  FunctionRunner runner(options, **session, *backend_, *sources, /*measured=*/!functionsRun);
  std::vector<RunRecord> records;
  const bool lineEach = options.verbose || (chosen->size() <= 16 && !functionsRun);
  bool mismatch = false;
  size_t shown = 0;
  for (size_t f = 0; f < chosen->size(); ++f) {
    const Runnable &what = (*session)->runnable(int(f));
    auto record = runner.run(int(f));
    if (!record.ok()) {
      int code = fail(record.status());
      stuck_ = (*session)->stuck();
      if (stuck_ || backend_->failed())
        exit(code); // A rank still runs, or messages are under way: nothing is torn down.
      return code;
    }
    if (digests)
      for (size_t i = 0; i < record->digests.size(); ++i)
        *digests += what.name() + " " + what.full().results[i].name + " " + record->digests[i] + "\n";
    bool bad = false;
    for (const ResultCheck &check : record->checks)
      bad |= !check.isWithin;
    bad |= record->values && record->values->first;
    mismatch |= bad;
    if (functionsRun && options.verify)
      suiteEntries_ += suiteEntry(options.program, *record);
    if (isFirst()) {
      if (!functionsRun && (chosen->size() == 1 || options.verbose))
        printSummary(*record, findPrediction(code, *record));
      if (record->values && (lineEach || bad))
        printValues(*record);
      if (lineEach || (bad && shown++ < 20))
        printDifferences(*record, /*onlyMismatches=*/!lineEach);
    }
    if (!options.outputDir.empty()) {
      std::string directory = options.outputDir;
      if (chosen->size() > 1)
        directory += "/" + what.name();
      auto written = runner.writeResults(directory);
      if (!written.ok())
        return fail(written.status());
      if (chosen->size() == 1)
        for (const std::string &path : *written)
          std::printf("wrote %s\n", path.c_str());
    }
    records.push_back(std::move(*record));
  }
  if (functionsRun)
    *functionsRun += chosen->size();
  if (!functionsRun)
    if (Status status = (*session)->checkFault(); !status.ok())
      return fail(status);
  if (options.verify && isFirst() && !functionsRun)
    printVerdict(records, options.exact);
  Status status;
  if (!options.report.empty() && isFirst())
    status = writeReport(options.report, code, options, records, backend_->processes());
  // Also: nobody takes a compiled bundle away that another still reads.
  if (status = backend_->agree(status); !status.ok())
    return fail(status);
  return mismatch ? 2 : 0;
}

std::string Runner::findBundle(int &code) {
  std::error_code error;
  Status status = checkExists(options_.program);
  const bool isBundle = std::filesystem::is_directory(options_.program, error);
  std::string path = isBundle ? options_.program : "";
  bool compileFailed = false;
  // One process of each node compiles.
  if (status.ok() && !isBundle && backend_->nodeProcess() == 0) {
    directory_.emplace();
    status = directory_->create();
    path = directory_->path() + "/bundle";
    if (status.ok())
      status = compile(options_, path, compileFailed);
    if (status.ok() && compileFailed)
      status = invalid("shard-compile found an error in " + options_.program);
  }
  status = backend_->agree(status);
  if (!status.ok()) {
    code = compileFailed ? 1 : fail(status); // The compiler has said it.
    return "";
  }
  auto paths = backend_->exchange(backend_->nodeProcess() == 0 ? path : "");
  if (!paths.ok()) {
    code = fail(paths.status());
    return "";
  }
  for (int p = 0; p < backend_->processes() && !isBundle; ++p)
    if (backend_->isOnNode(p) && !(*paths)[size_t(p)].empty())
      path = (*paths)[size_t(p)];
  return path;
}

Expected<std::string> readTextFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream)
    return ioError(path + ": cannot be read");
  return text.str();
}

/// What --suite runs: bundle, options, one a line, and digests. Of a program for devices,
/// where sums may round in another order, only what it takes to compile it anew.
Status Runner::record(const std::string &bundlePath, const std::string &digests) {
  const std::string base = std::getenv("SK_RECORD");
  const bool isCompiled = bundlePath != options_.program, isForDevices = target_ != "cpu";
  if (isForDevices && !isCompiled)
    return {};
  std::error_code error;
  std::filesystem::create_directories(base, error);
  std::string pattern = base + "/run-XXXXXX";
  if (!::mkdtemp(pattern.data()))
    return ioError("SK_RECORD=" + base + ": no directory can be made there");
  if (!isForDevices)
    std::filesystem::copy(bundlePath, pattern + "/bundle", std::filesystem::copy_options::recursive, error);
  if (error)
    return ioError("SK_RECORD=" + base + ": " + error.message());
  std::string arguments = "--random-inputs=" + std::to_string(*options_.randomSeed) + "\n";
  for (const auto &[name, range] : options_.ranges)
    arguments += "--range=" + name + "=" + std::to_string(range.first) + ":" + std::to_string(range.second) + "\n";
  for (const auto &[name, size] : options_.sizes)
    arguments += "--size=" + name + "=" + std::to_string(size) + "\n";
  if (!options_.function.empty())
    arguments += "--function=" + options_.function + "\n";
  arguments += std::string("--load=") + loadModeName(options_.load.mode) + "\n";
  if (options_.donate)
    arguments += "--donate\n";
  auto number = [&](const char *option, const std::optional<double> &value) {
    char text[40];
    std::snprintf(text, sizeof text, "%s=%.17g\n", option, value.value_or(0));
    arguments += value ? text : "";
  };
  number("--rtol", options_.rtol);
  number("--atol", options_.atol);
  auto write = [&](const char *name, const std::string &text) {
    return writeFile(pattern + name, {{text.data(), int64_t(text.size())}});
  };
  SK_RETURN_IF_ERROR(write("/arguments", arguments));
  if (isCompiled) { // It can be compiled anew, for another target.
    std::string words;
    for (const std::string &word : options_.compileOptions)
      words += word + "\n";
    SK_RETURN_IF_ERROR(write("/compile", words));
    SK_RETURN_IF_ERROR(write("/name", options_.program + "\n"));
    std::filesystem::copy_file(options_.program, pattern + "/program", error);
    if (error)
      return ioError("SK_RECORD=" + base + ": " + error.message());
  }
  // Last: the mark that the run is whole.
  return isForDevices ? write("/devices", "") : write("/digests", digests);
}

int Runner::runProgram() {
  int code = 0;
  std::string path = findBundle(code);
  if (path.empty())
    return code;
  Options options = options_;
  const char *recordTo = std::getenv("SK_RECORD");
  const bool recorded = recordTo && *recordTo && options.randomSeed && options.weights.empty() &&
                        options.inputs.empty() && options.inputFiles.empty() && options.shardFunctions.empty() &&
                        backend_->processes() == 1 && !(options.donate && options.repeat > 1); // a suite runs one step
  std::string digests;
  if (recorded) {
    options.digests = "-";
    options.libraryThreads = 1;
  }
  code = run(options, path, options.digests.empty() ? nullptr : &digests);
  Status status;
  if (code == 0 && !options_.digests.empty() && isFirst())
    status = writeFile(options_.digests, {{digests.data(), int64_t(digests.size())}});
  if (code == 0 && status.ok() && recorded)
    status = record(path, digests);
  return status.ok() ? code : fail(status);
}

int Runner::runSuite() {
  std::vector<std::string> runs;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(options_.suite, error))
    if (std::filesystem::exists(entry.path() / (options_.verify ? "arguments" : "digests"), error))
      runs.push_back(entry.path().string());
  std::sort(runs.begin(), runs.end());
  Status status;
  if (runs.empty())
    status = notFound("--suite=" + options_.suite + ", expected a directory of recorded runs");
  if (status = backend_->agree(status); !status.ok())
    return fail(status);
  return options_.verify ? verifySuite(runs) : compareSuite(runs);
}

Expected<Options> Runner::suiteOptions(const std::string &path) {
  SK_ASSIGN_OR_RETURN(std::string text, readTextFile(path + "/arguments"));
  std::vector<std::string> words{"shard-run", path + "/bundle"};
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  std::string help;
  SK_ASSIGN_OR_RETURN(Options options, parseOptions(int(argv.size()), argv.data(), help));
  options.devicesPerProcess = 0;
  options.timeout = options_.timeout;
  options.libraryThreads = 1;
  options.matmulPrecision = options_.matmulPrecision;
  options.attention = options_.attention;
  options.tune = options_.tune;
  options.graphs = options_.graphs;
  if (!options.donate) // Else a step overwrites what the next one reads.
    options.repeat = options_.repeat;
  return options;
}

/// Each function against its reference; --report gets a line of JSON for each as soon as its
/// run has ended. A run with an error, which may leave the device unusable, is the last.
int Runner::verifySuite(const std::vector<std::string> &runs) {
  size_t functions = 0;
  int code = 0;
  for (const std::string &path : runs) {
    auto options = suiteOptions(path);
    int one = 1;
    if (Status status = backend_->agree(options.status().withContext(path)); !status.ok()) {
      fail(status);
    } else {
      options->program = path;
      options->verify = true;
      one = run(*options, path + "/bundle", nullptr, &functions);
    }
    code = std::max(code, one);
    if (one == 1) {
      suiteEntries_ += suiteEntry(path, lastError_);
      code = 1;
    }
    if (isFirst() && !options_.report.empty())
      if (Status status = writeFile(options_.report, {{suiteEntries_.data(), int64_t(suiteEntries_.size())}});
          !status.ok())
        return fail(status);
    if (one == 1)
      break;
  }
  if (isFirst())
    std::printf("suite: %zu functions of %zu runs, %s\n", functions, runs.size(),
                code == 0   ? "all equal to their references"
                : code == 2 ? "MISMATCHES"
                            : "ended early");
  return code;
}

/// Results against the digests of what was recorded.
int Runner::compareSuite(const std::vector<std::string> &runs) {
  Status status;
  size_t functions = 0, results = 0, bad = 0;
  for (const std::string &path : runs) {
    auto known = readTextFile(path + "/digests");
    auto parsed = suiteOptions(path);
    status = known.ok() ? parsed.status() : known.status();
    if (status = backend_->agree(status.withContext(path)); !status.ok())
      return fail(status);
    Options options = *parsed;
    options.digests = "-";
    std::string digests;
    if (int code = run(options, path + "/bundle", &digests, &functions))
      return code;
    // Line by line: a function, a result, what the ranks hold.
    for (size_t at = 0, also = 0; at < known->size() || also < digests.size();) {
      size_t end = std::min(known->find('\n', at), known->size());
      size_t alsoEnd = std::min(digests.find('\n', also), digests.size());
      std::string wanted = known->substr(at, end - at), got = digests.substr(also, alsoEnd - also);
      ++results;
      if (wanted != got) {
        ++bad;
        if (isFirst())
          std::printf("MISMATCH %s %s\n", path.c_str(), got.substr(0, got.rfind(' ')).c_str());
      }
      at = std::min(end + 1, known->size());
      also = std::min(alsoEnd + 1, digests.size());
    }
  }
  if (isFirst()) {
    std::printf("suite: %zu runs, %zu functions, %zu results on %d process%s, ", runs.size(), functions, results,
                backend_->processes(), backend_->processes() == 1 ? "" : "es");
    if (bad)
      std::printf("%zu MISMATCH%s\n", bad, bad == 1 ? "" : "ES");
    else
      std::printf("all equal bit by bit\n");
  }
  return bad ? 2 : 0;
}

int failBeforeRunning(const Status &status) {
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  if (asksForCalibration(argc, argv))
    return failBeforeRunning(calibrate(argc, argv));
  std::string help;
  auto options = parseOptions(argc, argv, help);
  if (!help.empty()) {
    std::fputs(help.c_str(), stdout);
    return 0;
  }
  Status status = options.status();
  Fault fault;
  if (status.ok())
    status = Fault::fromEnvironment(fault);
  // Other processes may have no error, and wait for this one.
  std::string words;
  for (int i = 1; i < argc; ++i)
    words += std::string(" ") + argv[i] + " ";
  auto isBackend = [&](const std::string &name) {
    return options.ok() ? options->backend == name : words.find(" --backend=" + name + " ") != std::string::npos;
  };
  std::unique_ptr<Backend> backend = makeLocalBackend();
  if (isBackend("mpi") || isBackend("nccl") || isBackend("tcp")) {
    const double timeout = options.ok() ? options->timeout : Options().timeout;
    const bool isMpi = isBackend("mpi") || (isBackend("nccl") && areProcessesUnderMpi());
    auto opened = isMpi ? openMpiBackend(timeout) : openTcpBackend(timeout);
    if (!opened.ok())
      return failBeforeRunning(status.ok() ? opened.status() : status);
    backend = std::move(*opened);
  }
  const Options chosen = options.ok() ? *options : Options();
  Runner runner(chosen, std::move(backend));
  if (int code = runner.check(status))
    runner.exit(code);
  int code = 1;
  try {
    code = chosen.suite.empty() ? runner.runProgram() : runner.runSuite();
  } catch (const std::bad_alloc &) {
    code = runner.abort(internalError("out of memory"));
  } catch (const std::exception &error) {
    code = runner.abort(internalError(error.what()));
  }
  runner.exit(code);
}
