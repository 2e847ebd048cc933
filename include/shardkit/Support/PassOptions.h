//===- PassOptions.h - Options of passes and tools --------------*- C++ -*-===//
//
// Two additions to the options of MLIR's passes and of LLVM's tools:
//
// * An option whose type is an enum reports a wrong value with the legal ones:
//     unknown conflicts=fast, expected cost or basic
//   LLVM reports only that it cannot find "fast".
// * A pass reports a wrong option in one error, and the new name of an option that was
//   renamed (shardkit/Dialect/SPMD/IR/Renames.h).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_SUPPORT_PASSOPTIONS_H
#define SHARDKIT_SUPPORT_PASSOPTIONS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::spmd {

/// Reports that the option `name` of a pass or a tool has no value `value`. Returns true,
/// as parsers of options do on errors.
bool reportUnknownValue(StringRef name, StringRef value, ArrayRef<StringRef> legalValues);

/// Parses the values of an enum, as `llvm::cl::parser` does, but reports the legal
/// values. SHARDKIT_ENUM_OPTION makes it the parser of an enum.
template <typename EnumT> class EnumOptionParser : public llvm::cl::generic_parser_base {
protected:
  class OptionInfo : public GenericOptionInfo {
  public:
    OptionInfo(StringRef name, EnumT value, StringRef help) : GenericOptionInfo(name, help), V(value) {}
    llvm::cl::OptionValue<EnumT> V;
  };
  SmallVector<OptionInfo, 8> Values;

public:
  using parser_data_type = EnumT;

  EnumOptionParser(llvm::cl::Option &option) : generic_parser_base(option) {}

  unsigned getNumOptions() const override { return Values.size(); }
  StringRef getOption(unsigned i) const override { return Values[i].Name; }
  StringRef getDescription(unsigned i) const override { return Values[i].HelpStr; }
  const llvm::cl::GenericOptionValue &getOptionValue(unsigned i) const override { return Values[i].V; }

  bool parse(llvm::cl::Option &option, StringRef name, StringRef text, EnumT &value) {
    SmallVector<StringRef> legalValues;
    for (const OptionInfo &info : Values) {
      if (info.Name == text) {
        value = info.V.getValue();
        return false;
      }
      legalValues.push_back(info.Name);
    }
    return reportUnknownValue(option.ArgStr, text, legalValues);
  }

  /// Called for each `clEnumValN` of an option.
  template <typename T> void addLiteralOption(StringRef name, const T &value, StringRef help) {
    Values.push_back(OptionInfo(name, static_cast<EnumT>(value), help));
    llvm::cl::AddLiteralOption(Owner, name);
  }
};

/// The base class of ShardKit's passes on modules.
class ModulePass : public OperationPass<ModuleOp> {
public:
  using OperationPass<ModuleOp>::OperationPass;

  /// As of `Pass`, but a message is one sentence: "unknown conflicts=fast, expected
  /// cost or basic", "no such option foo", "option zero was renamed, expected zero-stage".
  LogicalResult initializeOptions(StringRef options,
                                  llvm::function_ref<LogicalResult(const llvm::Twine &)> emitError) override;
};

} // namespace mlir::spmd

/// Makes EnumOptionParser the parser of options of type `EnumT`. At global scope, before
/// the first such option.
#define SHARDKIT_ENUM_OPTION(EnumT)                                                                                    \
  template <> class llvm::cl::parser<EnumT> : public ::mlir::spmd::EnumOptionParser<EnumT> {                           \
  public:                                                                                                              \
    using EnumOptionParser::EnumOptionParser;                                                                          \
  };

#endif // SHARDKIT_SUPPORT_PASSOPTIONS_H
