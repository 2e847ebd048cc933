//===- PassOptions.cpp - Options of passes and tools ----------------------===//

#include "shardkit/Support/PassOptions.h"
#include "shardkit/Dialect/SPMD/IR/Renames.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::spmd;

/// Receives the errors of values while a pass reads its options, null otherwise.
static thread_local std::string *valueErrors = nullptr;

bool spmd::reportUnknownValue(StringRef name, StringRef value, ArrayRef<StringRef> legalValues) {
  std::string expected = llvm::join(legalValues.drop_back(), ", ");
  expected += (legalValues.size() > 1 ? " or " : "") + legalValues.back().str();
  if (valueErrors)
    *valueErrors = ("unknown " + name + "=" + value + ", expected " + expected).str();
  else
    llvm::errs() << "error: --" << name << " is '" << value << "', expected " << expected << "\n";
  return true;
}

LogicalResult ModulePass::initializeOptions(StringRef options,
                                            llvm::function_ref<LogicalResult(const llvm::Twine &)> emitError) {
  std::string errors;
  std::string *outer = std::exchange(valueErrors, &errors);
  llvm::scope_exit restore([&] { valueErrors = outer; });
  auto emitOne = [&](const llvm::Twine &message) -> LogicalResult {
    if (!errors.empty())
      return emitError(errors);
    std::string text = message.str();
    StringRef reason = StringRef(text).trim();
    reason.consume_front("<Pass-Options-Parser>: ");
    // LLVM's parsers of numbers have reported already which value it is.
    if (reason.empty())
      return emitError("a value has the wrong type");
    StringRef name = reason;
    if (name.consume_front("no such option "))
      if (std::string renamed = describeRename(RenameKind::Option, name); !renamed.empty())
        return emitError(renamed);
    return emitError(reason);
  };
  return OperationPass::initializeOptions(options, emitOne);
}
