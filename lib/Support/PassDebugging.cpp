//===- PassDebugging.cpp - Decisions and counts of passes -----------------===//

#include "shardkit/Support/PassDebugging.h"

#include "mlir/IR/Operation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/Format.h"
#include <map>
#include <mutex>

using namespace mlir;

#ifdef NDEBUG
// LLVM's libraries have these in all builds; its header hides them.
#undef isCurrentDebugType
#undef setCurrentDebugTypes
namespace llvm {
LLVM_ABI bool isCurrentDebugType(const char *type, int level);
LLVM_ABI void setCurrentDebugTypes(const char **types, unsigned count);
} // namespace llvm
#endif

bool spmd::isDebugTypeEnabled(const char *type) { return llvm::isCurrentDebugType(type, 1); }

spmd::DebugLine::DebugLine(const char *type) { os << "[" << type << "] "; }

spmd::DebugLine::~DebugLine() {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  llvm::dbgs() << text << "\n";
}

std::string spmd::describeValue(Value value) {
  if (!value)
    return "a value";
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto result = dyn_cast<OpResult>(value))
    os << "result #" << result.getResultNumber() << " of " << result.getOwner()->getName();
  else
    os << "argument #" << cast<BlockArgument>(value).getArgNumber();
  os << " at " << value.getLoc();
  return text;
}

/// Debug types, separated by commas.
static void enableDebugTypes(const std::string &list) {
  SmallVector<StringRef> names;
  StringRef(list).split(names, ',', -1, /*KeepEmpty=*/false);
  SmallVector<std::string> texts = llvm::map_to_vector(names, [](StringRef name) { return name.str(); });
  SmallVector<const char *> types = llvm::map_to_vector(texts, [](const std::string &text) { return text.c_str(); });
  llvm::setCurrentDebugTypes(types.data(), types.size());
  llvm::DebugFlag = !types.empty();
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

namespace {
struct Counts {
  std::mutex mutex;
  std::vector<spmd::PassCount *> all;
};
} // namespace

static Counts &getCounts() {
  static Counts counts;
  return counts;
}

spmd::PassCount::PassCount(const char *pass, const char *name) : pass(pass), name(name) {
  std::lock_guard<std::mutex> lock(getCounts().mutex);
  getCounts().all.push_back(this);
}

static bool printsStatistics = false;

void spmd::printStatistics() {
  if (!printsStatistics)
    return;
  std::lock_guard<std::mutex> lock(getCounts().mutex);
  // The places of one name are one count.
  std::map<std::pair<StringRef, StringRef>, uint64_t> totals;
  for (const PassCount *count : getCounts().all)
    totals[{count->pass, count->name}] += count->count;
  for (const auto &[key, total] : totals)
    llvm::errs() << llvm::format_decimal(total, 8) << " " << key.first << " " << key.second << "\n";
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

void spmd::registerDebugOptions() {
  using namespace llvm;
  if (!cl::getRegisteredOptions().count("debug-only"))
    static cl::opt<std::string> debugOnly("debug-only", cl::desc("Print the decisions of these passes of ShardKit"),
                                          cl::value_desc("pass,..."),
                                          cl::callback([](const std::string &list) { enableDebugTypes(list); }));
  static cl::opt<bool, true> statistics("pass-statistics", cl::desc("Print what the passes of ShardKit counted"),
                                        cl::location(printsStatistics));
}
