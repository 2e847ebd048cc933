//===- DimSymbols.cpp - Entries of spmd.symbols ---------------------------===//

#include "shardkit/Dialect/SPMD/IR/DimSymbols.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace mlir::spmd;

/// The degree of an expression of sums and products in a symbol.
static int64_t getDegree(AffineExpr size, unsigned symbol) {
  if (auto other = dyn_cast<AffineSymbolExpr>(size))
    return other.getPosition() == symbol;
  auto binary = dyn_cast<AffineBinaryOpExpr>(size);
  if (!binary)
    return 0;
  const int64_t a = getDegree(binary.getLHS(), symbol), b = getDegree(binary.getRHS(), symbol);
  return binary.getKind() == AffineExprKind::Mul ? a + b : std::max(a, b);
}

bool DimSymbols::isLinearIn(unsigned i) const { return getDegree(size, i) == 1; }

/// The text with a space around each parenthesis, divided at spaces.
static SmallVector<StringRef> getTokens(StringRef text) {
  SmallVector<StringRef> tokens;
  while (!(text = text.ltrim(' ')).empty()) {
    const size_t end = std::max<size_t>(1, text.find_first_of(" ()"));
    tokens.push_back(text.take_front(end));
    text = text.drop_front(tokens.back().size());
  }
  return tokens;
}

FailureOr<DimSymbols> spmd::parseDimSymbols(StringAttr text) {
  MLIRContext *context = text.getContext();
  const SmallVector<StringRef> tokens = getTokens(text);
  auto isOperator = [](StringRef token) { return token == "+" || token == "-" || token == "*"; };
  DimSymbols symbols;
  if (llvm::none_of(tokens, isOperator)) {
    symbols.names.push_back(text);
    symbols.size = getAffineSymbolExpr(0, context);
    return symbols;
  }
  // What is left to do is what MLIR does for maps.
  std::string body;
  for (StringRef token : tokens) {
    int64_t number = 0;
    if (isOperator(token) || token == "(" || token == ")" || !token.getAsInteger(10, number)) {
      body += token;
    } else {
      StringAttr name = StringAttr::get(context, token);
      auto it = llvm::find(symbols.names, name);
      body += "s" + std::to_string(it - symbols.names.begin());
      if (it == symbols.names.end())
        symbols.names.push_back(name);
    }
    body += ' ';
  }
  auto parameters = llvm::map_range(llvm::seq(symbols.names.size()), [](size_t i) { return "s" + std::to_string(i); });
  ScopedDiagnosticHandler quiet(context, [thread = llvm::get_threadid()](Diagnostic &) {
    return success(llvm::get_threadid() == thread); // Those of others are not ours.
  });
  auto map = dyn_cast_or_null<AffineMapAttr>(
      parseAttribute("affine_map<()[" + llvm::join(parameters, ", ") + "] -> (" + body + ")>", context));
  if (!map || map.getValue().getNumResults() != 1)
    return failure();
  symbols.size = map.getValue().getResult(0);
  return symbols;
}
