//===- CompileOptions.h - Options of a compilation --------------*- C++ -*-===//
//
// The options of shard-compile, which the compiler's C API takes too: one table.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_DRIVER_COMPILEOPTIONS_H
#define SHARDKIT_DRIVER_COMPILEOPTIONS_H

#include "shardkit/Bundle/Bundle.h"
#include "shardkit/Passes.h"

namespace mlir::spmd {

/// Everything that determines a bundle, next to the IR and the compiler.
struct CompileOptions {
  PhaseOptions phases;
  BundleOptions bundle;
  std::vector<std::string> shapes; ///< Sizes of arguments of dynamic size, `NAME=8x16`.
  bool withReference = false;      ///< Add the unsharded programs.
  bool proof = true;               ///< Compare the program of a bundle with the unsharded one.
  std::string remarksFilter;       ///< Regular expression on categories of remarks; empty: none are emitted.
  bool allowUnregistered = false;  ///< Parse ops of unknown dialects.
  std::vector<std::string> dialectPlugins, passPlugins; ///< Libraries.
  std::string lowering; ///< A pipeline that lowers ops of plugins after partition; empty: none.
  /// All options with their values in one order: equal texts are equal options.
  std::string canonical;
};

/// The options by name, set once: by a command line, or by a list of its arguments.
class CompileOptionSet {
public:
  CompileOptionSet();
  ~CompileOptionSet();

  /// Makes them options of the process's command line.
  void addToCommandLine(llvm::cl::OptionCategory &category);
  /// "" or the error of an argument of a command line that was renamed.
  static std::string verify(StringRef argument);
  /// Sets options from "--name", "--name=value" or "--name", "value". Returns "" or the error.
  std::string parse(ArrayRef<StringRef> arguments);
  /// The options as they were set; `reason` describes an error.
  FailureOr<CompileOptions> read(std::string &reason) const;

private:
  llvm::cl::Option *find(StringRef name) const;

  struct Sets;
  std::unique_ptr<Sets> sets;
};

} // namespace mlir::spmd

#endif // SHARDKIT_DRIVER_COMPILEOPTIONS_H
