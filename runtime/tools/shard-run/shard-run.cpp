//===- shard-run.cpp - Runs a bundle on the devices of its mesh -------------===//
//
// Exit status: 0, 1 for a user error (one "error:" line on stderr), 2 when
// --verify finds a mismatch. Never links MLIR.
//
//===----------------------------------------------------------------------===//

#include "Compile.h"
#include "Options.h"
#include "Report.h"
#include "Session.h"

#include <cstdio>
#include <filesystem>
#include <unistd.h>

using namespace shardkit::rt;
using namespace shardkit::run;

static int fail(const Status &status) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return 1;
}

/// Which functions run: the one that was named, the only one, or all of them
/// with --verify.
static Expected<std::vector<const FunctionInfo *>>
chooseFunctions(const Manifest &manifest, const Options &options) {
  std::vector<const FunctionInfo *> chosen;
  std::string names;
  for (const FunctionInfo &function : manifest.functions) {
    if (options.function.empty() || function.name == options.function)
      chosen.push_back(&function);
    names += (names.empty() ? "" : ", ") + function.name;
  }
  if (chosen.empty())
    return notFound("--function=" + options.function +
                    ", expected one of: " + names);
  if (chosen.size() > 1 && !options.verify)
    return invalid("the bundle has several functions, choose one with "
                   "--function: " +
                   names);
  for (const FunctionInfo *function : chosen)
    if (!options.deviceMap.empty() &&
        int64_t(options.deviceMap.size()) != function->devices)
      return invalid("--device-map has " +
                     std::to_string(options.deviceMap.size()) +
                     " entries, expected " + std::to_string(function->devices) +
                     " for function '" + function->name + "'");
  return chosen;
}

static int run(const Options &options, const std::string &bundlePath) {
  auto bundle = Bundle::open(bundlePath);
  if (!bundle.ok())
    return fail(bundle.status());
  auto functions = chooseFunctions((*bundle)->manifest(), options);
  if (!functions.ok())
    return fail(functions.status());
  auto sources = Sources::open(options, *functions);
  if (!sources.ok())
    return fail(sources.status());

  HostFunctions hostFunctions;
  for (const std::string &library : options.shardFunctions)
    if (Status status = hostFunctions.loadLibrary(library); !status.ok())
      return fail(status);

  Session session(options, **bundle, *sources, hostFunctions);
  std::vector<FunctionRecord> records;
  const bool lineEach = options.verbose || functions->size() <= 16;
  bool mismatch = false;
  size_t shown = 0;
  for (const FunctionInfo *function : *functions) {
    auto record = session.run(*function);
    if (!record.ok()) {
      int code = fail(record.status());
      if (session.stuck())
        ::_exit(code); // A rank still runs; nothing may be torn down.
      return code;
    }
    if (functions->size() == 1 || options.verbose)
      printSummary(*record);
    bool bad = false;
    for (bool within : record->within)
      bad |= !within;
    mismatch |= bad;
    if (lineEach || (bad && shown++ < 20))
      printDifferences(*record, /*onlyMismatches=*/!lineEach);
    if (!options.outputDir.empty()) {
      std::string directory = options.outputDir;
      if (functions->size() > 1)
        directory += "/" + function->name;
      auto written = session.writeResults(*function, directory);
      if (!written.ok())
        return fail(written.status());
      if (functions->size() == 1)
        for (const std::string &path : *written)
          std::printf("wrote %s\n", path.c_str());
    }
    records.push_back(std::move(*record));
  }
  if (options.verify)
    printVerdict(records, options.exact);
  if (!options.report.empty()) {
    Status status = writeReport(options.report, **bundle, options, records);
    if (!status.ok())
      return fail(status);
  }
  return mismatch ? 2 : 0;
}

int main(int argc, char **argv) {
  std::string help;
  auto options = parseOptions(argc, argv, help);
  if (!help.empty()) {
    std::fputs(help.c_str(), stdout);
    return 0;
  }
  if (!options.ok())
    return fail(options.status());
  try {
    std::error_code error;
    if (!std::filesystem::exists(options->program, error))
      return fail(notFound(options->program + ": no such file or directory"));
    if (std::filesystem::is_directory(options->program, error))
      return run(*options, options->program);
    TemporaryDirectory directory;
    Status status = directory.create();
    bool failed = false;
    if (status.ok())
      status = compile(*options, directory.path() + "/bundle", failed);
    if (!status.ok())
      return fail(status);
    return failed ? 1 : run(*options, directory.path() + "/bundle");
  } catch (const std::bad_alloc &) {
    return fail(internalError("out of memory"));
  } catch (const std::exception &error) {
    return fail(internalError(error.what()));
  }
}
