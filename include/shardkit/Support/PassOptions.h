//===- PassOptions.h - Options of passes and tools --------------*- C++ -*-===//
//
// Three additions to the options of MLIR's passes and of LLVM's tools:
//
// * An option whose type is an enum reports a wrong value with the legal ones:
//     unknown conflicts=fast, expected cost or basic
//   LLVM reports only that it cannot find "fast".
// * A number or a flag is a Checked value, which reports likewise:
//     top=abc, expected an integer
//   LLVM prints a line of its own besides.
// * A pass reports a wrong option in one error, and the new name of an option that was
//   renamed (shardkit/Dialect/SPMD/IR/Renames.h).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_SUPPORT_PASSOPTIONS_H
#define SHARDKIT_SUPPORT_PASSOPTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::spmd {

/// Reports that the option `name` of a pass or a tool has no value `value`. Returns true,
/// as parsers of options do on errors.
bool reportUnknownValue(StringRef name, StringRef value, ArrayRef<StringRef> legalValues);

/// Sets an option as a command line does. Returns "" or the error: "--conflicts is 'fast', expected cost or basic".
std::string setOption(llvm::cl::Option &option, StringRef value);

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

/// Reports that the option `name` of a pass or a tool has the value `value`, and what its type is instead. Returns
/// true.
bool reportWrongType(StringRef name, StringRef value, StringRef expected);

/// Reads a value of an option. Returns true on errors, which are reported.
bool parseOption(StringRef name, StringRef text, bool &value);
bool parseOption(StringRef name, StringRef text, int64_t &value);
bool parseOption(StringRef name, StringRef text, double &value);

/// The value of an option: a `T`, whose parser reports a value of another type with the legal ones.
template <typename T> struct Checked {
  T value = {};
  Checked() = default;
  Checked(T value) : value(value) {}
  operator T() const { return value; }
};

using Flag = Checked<bool>;
using Integer = Checked<int64_t>;
using Number = Checked<double>;

/// The shortest form that is read as the same number: `0.02`.
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Number &number);

/// In diagnostics, which would take it for a character otherwise.
template <typename T> Diagnostic &operator<<(Diagnostic &diag, const Checked<T> &checked) {
  return diag << checked.value;
}

/// Parses a Checked value. SHARDKIT_CHECKED_OPTION makes it the parser of its type.
template <typename T> class CheckedOptionParser : public llvm::cl::basic_parser<Checked<T>> {
public:
  using llvm::cl::basic_parser<Checked<T>>::basic_parser;

  bool parse(llvm::cl::Option &option, StringRef, StringRef text, Checked<T> &value) {
    return parseOption(option.ArgStr, text, value.value);
  }
  enum llvm::cl::ValueExpected getValueExpectedFlagDefault() const {
    return std::is_same_v<T, bool> ? llvm::cl::ValueOptional : llvm::cl::ValueRequired;
  }
  StringRef getValueName() const override {
    return std::is_same_v<T, bool> ? "" : std::is_same_v<T, double> ? "number" : "integer";
  }
  void printOptionDiff(const llvm::cl::Option &, const Checked<T> &, const llvm::cl::OptionValue<Checked<T>> &,
                       size_t) const {}
};

/// The base class of ShardKit's passes on an op of type `OpT`.
template <typename OpT> class PassOn : public OperationPass<OpT> {
public:
  using OperationPass<OpT>::OperationPass;

  /// As of `Pass`, but a message is one sentence: "unknown conflicts=fast, expected
  /// cost or basic", "no such option foo", "option zero was renamed, expected zero-stage".
  LogicalResult initializeOptions(StringRef options,
                                  llvm::function_ref<LogicalResult(const llvm::Twine &)> emitError) override;
};

/// Passes on modules.
using ModulePass = PassOn<ModuleOp>;
/// Passes that change one function and read nothing of others: MLIR runs them on several functions at once. They may
/// read the meshes and the phase of the module.
using FunctionPass = PassOn<func::FuncOp>;

extern template class PassOn<ModuleOp>;
extern template class PassOn<func::FuncOp>;

} // namespace mlir::spmd

/// Makes EnumOptionParser the parser of options of type `EnumT`. At global scope, before
/// the first such option.
#define SHARDKIT_ENUM_OPTION(EnumT)                                                                                    \
  template <> class llvm::cl::parser<EnumT> : public ::mlir::spmd::EnumOptionParser<EnumT> {                           \
  public:                                                                                                              \
    using EnumOptionParser::EnumOptionParser;                                                                          \
  };

/// Makes CheckedOptionParser the parser of options of type `Checked<T>`.
#define SHARDKIT_CHECKED_OPTION(T)                                                                                     \
  template <> class llvm::cl::parser<::mlir::spmd::Checked<T>> : public ::mlir::spmd::CheckedOptionParser<T> {         \
  public:                                                                                                              \
    using CheckedOptionParser::CheckedOptionParser;                                                                    \
  };

SHARDKIT_CHECKED_OPTION(bool)
SHARDKIT_CHECKED_OPTION(int64_t)
SHARDKIT_CHECKED_OPTION(double)

#endif // SHARDKIT_SUPPORT_PASSOPTIONS_H
