//===- PassOptions.cpp - Options of passes as structs ---------------------===//

#include "shardkit-c/PassOptions.h"
#include "shardkit-c/Passes.h"

#include "mlir/CAPI/Support.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;

namespace {

/// The options of a pass as text, which skAddPass takes. The first one that is wrong is kept as a message.
class OptionTexts {
public:
  explicit OptionTexts(const char *pass) : pass(pass) {}

  OptionTexts &add(const char *name, bool value) { return addText(name, value ? "true" : "false"); }
  OptionTexts &add(const char *name, int64_t value) { return addText(name, std::to_string(value)); }
  OptionTexts &add(const char *name, double value) {
    if (!std::isfinite(value))
      return fail(name, "is not finite, expected a number");
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.17g", value);
    return addText(name, std::move(text));
  }
  /// Null is not set.
  OptionTexts &add(const char *name, const char *value) { return value ? addText(name, value) : *this; }
  template <typename EnumT, size_t count>
  OptionTexts &add(const char *name, EnumT value, const llvm::StringLiteral (&texts)[count]) {
    const auto number = int64_t(value);
    if (number < 0 || number >= int64_t(count))
      return fail(name, "is " + Twine(number) + ", expected a value of its enum, 0 to " + Twine(count - 1));
    return addText(name, texts[number].str());
  }
  OptionTexts &addList(const char *name, ArrayRef<const char *> values) {
    if (llvm::is_contained(values, nullptr))
      return fail(name, "has an element that is null, expected text");
    return values.empty() ? *this : addText(name, llvm::join(values, ","));
  }

  MlirLogicalResult addPass(MlirOpPassManager passes, MlirStringCallback onError, void *data) {
    if (!message.empty()) {
      onError(wrap(StringRef(message)), data);
      return mlirLogicalResultFailure();
    }
    llvm::SmallVector<SkPassOption> options;
    for (const auto &[name, text] : texts)
      options.push_back({name, text.c_str()});
    return skAddPass(passes, pass, options.size(), options.data(), onError, data);
  }

private:
  OptionTexts &addText(const char *name, std::string text) {
    texts.emplace_back(name, std::move(text));
    return *this;
  }
  OptionTexts &fail(const char *name, const Twine &what) {
    if (message.empty())
      message = ("'" + Twine(name) + "' of '" + pass + "' " + what).str();
    return *this;
  }

  const char *pass;
  llvm::SmallVector<std::pair<const char *, std::string>> texts;
  std::string message;
};

} // namespace

#include "PassOptions.inc"
