//===- PassOptions.cpp - Options of passes and tools ----------------------===//

#include "shardkit/Support/PassOptions.h"
#include "shardkit/Dialect/SPMD/IR/Renames.h"
#include "shardkit/Support/Names.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

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

bool spmd::reportWrongType(StringRef name, StringRef value, StringRef expected) {
  if (valueErrors)
    *valueErrors = (name + "=" + value + ", expected " + expected).str();
  else
    llvm::errs() << "error: --" << name << " is '" << value << "', expected " << expected << "\n";
  return true;
}

bool spmd::parseOption(StringRef name, StringRef text, bool &value) {
  if (text.empty() || text == "true" || text == "TRUE" || text == "True" || text == "1")
    value = true;
  else if (text == "false" || text == "FALSE" || text == "False" || text == "0")
    value = false;
  else
    return reportWrongType(name, text, "true or false");
  return false;
}

bool spmd::parseOption(StringRef name, StringRef text, int64_t &value) {
  return text.getAsInteger(0, value) && reportWrongType(name, text, "an integer of 64 bits");
}

bool spmd::parseOption(StringRef name, StringRef text, double &value) {
  return !llvm::to_float(text, value) && reportWrongType(name, text, "a number");
}

llvm::raw_ostream &spmd::operator<<(llvm::raw_ostream &os, const Number &number) {
  SmallString<24> text;
  for (unsigned digits : {6, 15, 17}) {
    text.clear();
    llvm::raw_svector_ostream(text) << llvm::format("%.*g", digits, number.value);
    double read;
    if (llvm::to_float(text, read) && read == number.value)
      break;
  }
  return os << text;
}

std::string spmd::setOption(llvm::cl::Option &option, StringRef value) {
  std::string errors;
  std::string *outer = std::exchange(valueErrors, &errors);
  llvm::scope_exit restore([&] { valueErrors = outer; });
  if (!llvm::cl::ProvidePositionalOption(&option, value, 0))
    return "";
  size_t expected = std::min(errors.rfind(", expected"), errors.size());
  return ("--" + option.ArgStr + " is '" + value + "'" + StringRef(errors).substr(expected)).str();
}

/// `text` is a pass as a textual pipeline: `name{option=value option={a b}}`.
static SmallVector<StringRef> getOptionNames(StringRef text) {
  SmallVector<StringRef> names;
  int depth = 0;
  size_t begin = 0;
  for (auto [i, c] : llvm::enumerate(text)) {
    if (depth == 1 && c == '=')
      names.push_back(text.slice(begin, i));
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (depth == 1 && (c == ' ' || c == '{'))
      begin = i + 1;
  }
  return names;
}

template <typename OpT>
LogicalResult PassOn<OpT>::initializeOptions(StringRef options,
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
    StringRef name = reason;
    if (!name.consume_front("no such option "))
      return emitError(reason);
    if (std::string renamed = describeRename(RenameKind::Option, name); !renamed.empty())
      return emitError(renamed);
    std::string pass;
    llvm::raw_string_ostream os(pass);
    this->printAsTextualPipeline(os);
    // Lists without elements are not printed, so that a name that is like none of these may be another's.
    SmallVector<StringRef> near = llvm::filter_to_vector(getOptionNames(pass), [&](StringRef known) {
      return name.edit_distance(known) <= std::max<size_t>(2, name.size() / 4);
    });
    if (near.empty())
      return emitError(reason);
    return emitError(reason + ", expected " + listNearest(name, near));
  };
  return OperationPass<OpT>::initializeOptions(options, emitOne);
}

template class mlir::spmd::PassOn<ModuleOp>;
template class mlir::spmd::PassOn<func::FuncOp>;
