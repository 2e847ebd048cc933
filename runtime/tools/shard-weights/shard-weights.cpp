//===- shard-weights.cpp - Inspects, shards, verifies, converts weights ---===//
//
// Exit status: 0, or 1 and one "error:" line on stderr. Never links MLIR.
//
//===----------------------------------------------------------------------===//

#include "Setup.h"

#include "../CommandLine.h"

#include <cstdio>

using namespace shardkit;
using namespace shardkit::weights;

static int fail(const std::string &message) {
  std::fflush(stdout);
  std::string line = message;
  for (char &c : line)
    if (c == '\n')
      c = ' ';
  std::fprintf(stderr, "error: %s\n", line.c_str());
  return 1;
}

int main(int argc, char **argv) {
  CLI::App app("Inspects, shards, verifies and converts weight sets: .safetensors (single, indexed, "
               "presharded), TVM's tensor cache, .npz.",
               "shard-weights");
  app.require_subcommand(1);
  app.set_version_flag("--version", "shard-weights 0.1.0");
  Options options;
  std::string io = "auto";

  auto withSet = [&](CLI::App *command) {
    command->add_option("SET", options.set, "A file, an index, or a directory")->required();
    command->add_flag("--follow-links", options.followLinks, "Data files may be links that leave their directory");
    command->add_option("--readers", options.load.readers, "Threads that read");
    command->add_option("--io", io, "auto, pread, direct or mmap");
  };
  auto withPartition = [&](CLI::App *command) {
    command->add_option("--manifest", options.manifest,
                        "The sharding: a bundle, a weight manifest, or a presharded set");
    command->add_option("--function", options.function, "The function, of a bundle with several");
    command->add_option("--shard-info", options.shardInfo, "TVM's shard_info.json, with --ranks");
    command->add_option("--ranks", options.ranks, "Number of ranks of --shard-info");
    command->add_option("--shard-functions", options.shardFunctions, "A library with int sk_register(sk_context *)")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  auto withOutput = [&](CLI::App *command, const char *text) {
    command->add_option("-o,--output", options.output, text)->required();
  };

  auto withStrict = [&](CLI::App *command) {
    command->add_flag("--strict", options.strict,
                      "An error for a tensor of SET that no argument names, and for a wrong checksum");
  };

  CLI::App *inspectCommand = app.add_subcommand("inspect", "Print names, types, shapes, shards, offsets in files");
  withSet(inspectCommand);
  withPartition(inspectCommand);
  CLI::App *shardCommand = app.add_subcommand("shard", "Write the shards of each rank, under the arguments' names");
  withSet(shardCommand);
  withPartition(shardCommand);
  withOutput(shardCommand, "A directory: rank-K.safetensors");
  withStrict(shardCommand);
  shardCommand->add_option("--rank", options.rank, "Only this rank (from 0)");
  CLI::App *preshardCommand =
      app.add_subcommand("preshard", "Write NAME_shard-K-of-N that ranks load without communication; resumes an "
                                     "interrupted run");
  withSet(preshardCommand);
  withPartition(preshardCommand);
  withOutput(preshardCommand, "A directory");
  withStrict(preshardCommand);
  preshardCommand->add_option("--layout", options.layout,
                              "shared: shards that several ranks hold are stored once; tvm: a "
                              "tensor cache in which no file is read by two ranks");
  preshardCommand->add_option("--max-file-bytes", options.maxFileBytes, "Size to split files at");
  CLI::App *verifyCommand = app.add_subcommand("verify", "Check sizes, cover and checksums; with --source every value");
  withSet(verifyCommand);
  withPartition(verifyCommand);
  verifyCommand->add_option("--source", options.source, "The set that it was made from");
  CLI::App *convertCommand =
      app.add_subcommand("convert", "Convert between formats; a presharded set becomes one of full tensors");
  withSet(convertCommand);
  withOutput(convertCommand, "A directory; a file for npz, or X.safetensors");
  convertCommand->add_option("--format", options.format, "safetensors, tensor-cache or npz")->required();
  convertCommand->add_flag("--f32-to-bf16{round}", options.f32ToBf16,
                           "tensor-cache: store f32 as bf16, rounded; --f32-to-bf16=clip: values beyond the largest "
                           "finite bf16 become that instead of infinity, as TVM's writer does");
  convertCommand->add_option("--max-file-bytes", options.maxFileBytes, "Size to split the files of a directory at");
  CLI::App *exportCommand = app.add_subcommand("shard-info", "Write TVM's shard_info.json for a manifest");
  exportCommand->add_option("MANIFEST", options.manifest, "A bundle or a weight manifest")->required();
  exportCommand->add_option("--function", options.function, "The function, of a bundle with several");
  withOutput(exportCommand, "The file");

  try {
    shardkit::tools::parse(app, argc, argv);
  } catch (const CLI::CallForHelp &) {
    for (CLI::App *command : app.get_subcommands()) {
      std::fputs(command->help().c_str(), stdout);
      return 0;
    }
    std::fputs(app.help().c_str(), stdout);
    return 0;
  } catch (const CLI::CallForVersion &) {
    std::printf("%s\n", app.version().c_str());
    return 0;
  } catch (const CLI::ParseError &error) {
    return fail(shardkit::tools::toLine(error));
  }
  auto ioMode = rt::parseIoMode(io);
  if (!ioMode)
    return fail("--io=" + io + ", expected auto, pread, direct or mmap");
  options.load.io = *ioMode;
  if (options.load.readers < 0 || options.load.readers > rt::maxReaders)
    return fail("--readers=" + std::to_string(options.load.readers) + ", expected 1 to " +
                std::to_string(rt::maxReaders));
  if (options.layout != "shared" && options.layout != "tvm")
    return fail("--layout=" + options.layout + ", expected shared or tvm");
  if (convertCommand->parsed() && options.format != "safetensors" && options.format != "tensor-cache" &&
      options.format != "npz")
    return fail("--format=" + options.format + ", expected safetensors, tensor-cache or npz");
  if (!options.f32ToBf16.empty() && options.f32ToBf16 != "round" && options.f32ToBf16 != "clip")
    return fail("--f32-to-bf16=" + options.f32ToBf16 + ", expected --f32-to-bf16, =round or =clip");
  if (!options.f32ToBf16.empty() && options.format != "tensor-cache")
    return fail("--f32-to-bf16 is of --format=tensor-cache");
  if (options.maxFileBytes < 1)
    return fail("--max-file-bytes, expected a positive number");
  if (shardCommand->parsed() && shardCommand->count("--rank") && options.rank < 0)
    return fail("--rank=" + std::to_string(options.rank) + ", expected a rank");
  try {
    rt::Status status = inspectCommand->parsed()    ? inspect(options)
                        : shardCommand->parsed()    ? shard(options)
                        : preshardCommand->parsed() ? weights::preshard(options)
                        : verifyCommand->parsed()   ? verify(options)
                        : convertCommand->parsed()  ? convert(options)
                                                    : exportShardInfo(options);
    return status.ok() ? 0 : fail(status.message());
  } catch (const std::bad_alloc &) {
    return fail("out of memory");
  } catch (const std::exception &error) {
    return fail(error.what());
  }
}
