//===- FirstWrong.cpp - The first wrong value of a program ----------------===//

#include "FirstWrong.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::spmd;

/// The path of the program `name` in the folder of this one.
static std::string getTool(StringRef name) {
  static int anchor;
  SmallString<128> path(llvm::sys::fs::getMainExecutable(nullptr, &anchor));
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

/// The entry of the only function, or of the first one with a wrong value.
static std::optional<WrongOp> readReport(StringRef text) {
  llvm::Expected<llvm::json::Value> report = llvm::json::parse(text);
  if (!report) {
    llvm::consumeError(report.takeError());
    return std::nullopt;
  }
  const llvm::json::Object *root = report->getAsObject(), *run = root ? root->getObject("run") : nullptr;
  const llvm::json::Array *functions = run ? run->getArray("functions") : nullptr;
  for (size_t i = 0; functions && i < functions->size(); ++i) {
    const llvm::json::Object *function = (*functions)[i].getAsObject();
    const llvm::json::Object *values = function ? function->getObject("values") : nullptr;
    const llvm::json::Object *first = values ? values->getObject("first") : nullptr;
    if (!first)
      continue;
    WrongOp wrong{first->getString("op").value_or("").str(), {}};
    if (const llvm::json::Array *collectives = first->getArray("collectives"))
      for (const llvm::json::Value &entry : *collectives)
        if (const llvm::json::Object *collective = entry.getAsObject())
          wrong.collectives.push_back(collective->getString("kind").value_or("").str());
    return wrong;
  }
  return std::nullopt;
}

std::optional<WrongOp> spmd::findFirstWrong(ModuleOp module, ArrayRef<std::string> arguments) {
  SmallString<128> program, report;
  if (llvm::sys::fs::createTemporaryFile("shard-reduce", "mlir", program) ||
      llvm::sys::fs::createTemporaryFile("shard-reduce", "json", report))
    return std::nullopt;
  llvm::FileRemover removeProgram(program), removeReport(report);
  std::error_code error;
  {
    llvm::raw_fd_ostream os(program, error);
    if (error)
      return std::nullopt;
    module.print(os, OpPrintingFlags());
    os << "\n";
  }
  const std::string tool = getTool("shard-run"), to = ("--report=" + report).str();
  SmallVector<StringRef> words = {tool, program, "--verify=values", to, "--compile-option=--opt-level=0"};
  for (const std::string &argument : arguments)
    words.push_back(argument);
  // What it prints is of no use here.
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(""), StringRef("")};
  constexpr unsigned seconds = 120;
  // 2 is a mismatch.
  if (llvm::sys::ExecuteAndWait(tool, words, std::nullopt, redirects, seconds) != 2)
    return std::nullopt;
  auto buffer = llvm::MemoryBuffer::getFile(report);
  return buffer ? readReport((*buffer)->getBuffer()) : std::nullopt;
}
