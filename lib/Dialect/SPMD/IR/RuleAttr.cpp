//===- RuleAttr.cpp - Syntax of sharding rules ----------------------------===//

#include "AttrSyntax.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::spmd;

static constexpr std::pair<RuleFactorKind, llvm::StringLiteral> kSets[] = {
    {RuleFactorKind::Windowed, "windowed"},
    {RuleFactorKind::Indexed, "indexed"},
    {RuleFactorKind::Ordered, "ordered"},
    {RuleFactorKind::Replicated, "replicated"},
};

static ArrayRef<int64_t> getDim(ArrayAttr tensors, unsigned tensor, unsigned dim) {
  return cast<DenseI64ArrayAttr>(cast<ArrayAttr>(tensors[tensor])[dim]).asArrayRef();
}

int64_t RuleAttr::getOperandRank(unsigned i) const { return cast<ArrayAttr>(getOperands()[i]).size(); }
int64_t RuleAttr::getResultRank(unsigned i) const { return cast<ArrayAttr>(getResults()[i]).size(); }
ArrayRef<int64_t> RuleAttr::getOperandDim(unsigned i, unsigned dim) const { return getDim(getOperands(), i, dim); }
ArrayRef<int64_t> RuleAttr::getResultDim(unsigned i, unsigned dim) const { return getDim(getResults(), i, dim); }

LogicalResult RuleAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayAttr operands,
                               ArrayAttr results, ArrayRef<StringAttr> names, ArrayRef<int64_t> sizes,
                               ArrayRef<RuleFactorKind> kinds, ArrayRef<ReductionKind> reductions) {
  // rule_attr_c1
  if (names.size() != sizes.size() || kinds.size() != sizes.size() || reductions.size() != sizes.size())
    return emitError() << "rule has " << names.size() << " factor names and " << sizes.size()
                       << " sizes, expected a name, size, kind and reduction "
                          "for each factor";
  for (auto [name, size] : llvm::zip_equal(names, sizes))
    if (size < 1)
      return emitError() << "factor " << name.getValue() << " has size " << size << ", expected at least 1";
  // rule_attr_c2
  for (ArrayAttr tensors : {operands, results})
    for (Attribute tensor : tensors) {
      auto dims = dyn_cast<ArrayAttr>(tensor);
      if (!dims)
        return emitError() << "tensor of the rule is " << tensor << ", expected a list of dimensions";
      for (Attribute dim : dims) {
        auto factors = dyn_cast<DenseI64ArrayAttr>(dim);
        if (!factors)
          return emitError() << "dimension of the rule is " << dim << ", expected a list of factors";
        for (int64_t f : factors.asArrayRef())
          if (f < 0 || f >= (int64_t)sizes.size())
            return emitError() << "factor number is " << f << ", expected less than " << sizes.size();
      }
    }
  return success();
}

namespace {
/// Factors get their numbers in the order of the size list, which follows the
/// tensors: names are interned at first sight and renumbered at the end.
struct RuleParser {
  AsmParser &parser;
  llvm::StringMap<int64_t> seen;
  SmallVector<SMLoc> firstUse;
  SmallVector<std::string> seenNames;

  ParseResult parseFactor(SmallVectorImpl<int64_t> &factors) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (failed(parser.parseOptionalKeyword(&name)))
      return parser.emitError(loc, "expected a factor name");
    auto [it, isNew] = seen.try_emplace(name, seenNames.size());
    if (isNew) {
      seenNames.push_back(name.str());
      firstUse.push_back(loc);
    }
    factors.push_back(it->second);
    return success();
  }

  /// `i`, `(a b)` or `_`
  ParseResult parseDim(SmallVectorImpl<int64_t> &factors) {
    if (succeeded(parser.parseOptionalKeyword("_")))
      return success();
    if (failed(parser.parseOptionalLParen()))
      return parseFactor(factors);
    while (failed(parser.parseOptionalRParen()))
      if (parseFactor(factors))
        return failure();
    return success();
  }

  /// `([i, k], [k, j])`
  ParseResult parseTensors(SmallVectorImpl<SmallVector<SmallVector<int64_t>>> &tensors) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
      auto &dims = tensors.emplace_back();
      return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                            [&] { return parseDim(dims.emplace_back()); });
    });
  }
};
} // namespace

Attribute RuleAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation();
  MLIRContext *context = parser.getContext();
  RuleParser rule{parser, {}, {}, {}};
  SmallVector<SmallVector<SmallVector<int64_t>>> operands, results;
  if (parser.parseLess() || rule.parseTensors(operands) || parser.parseArrow() || rule.parseTensors(results))
    return {};

  // Sizes number the factors.
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  llvm::StringMap<int64_t> numbers;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        StringRef name;
        int64_t size;
        if (parser.parseKeyword(&name))
          return failure();
        if (!numbers.try_emplace(name, names.size()).second)
          return parser.emitError(loc) << "factor " << name << " has two sizes, expected one";
        names.push_back(StringAttr::get(context, name));
        if (parser.parseEqual() || parser.parseInteger(size))
          return failure();
        sizes.push_back(size);
        return success();
      }))
    return {};
  SmallVector<int64_t> renumber;
  for (auto [name, loc] : llvm::zip_equal(rule.seenNames, rule.firstUse)) {
    auto it = numbers.find(name);
    if (it == numbers.end()) {
      parser.emitError(loc) << "factor " << name << " has no size, expected one in {...}";
      return {};
    }
    renumber.push_back(it->second);
  }

  SmallVector<RuleFactorKind> kinds(sizes.size(), RuleFactorKind::Parallel);
  SmallVector<ReductionKind> reductions(sizes.size(), ReductionKind::Sum);
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef set;
    if (parser.parseKeyword(&set))
      return {};
    RuleFactorKind kind = RuleFactorKind::Parallel;
    ReductionKind reduction = ReductionKind::Sum;
    if (set == "reduction") {
      kind = RuleFactorKind::Reduction;
      if (parser.parseLParen() || parseReductionKeyword(parser, reduction) || parser.parseRParen())
        return {};
    } else {
      for (auto [setKind, name] : kSets)
        if (set == name)
          kind = setKind;
    }
    if (kind == RuleFactorKind::Parallel) {
      parser.emitError(loc) << "unknown set '" << set
                            << "', expected one of reduction, windowed, "
                               "indexed, ordered, replicated";
      return {};
    }
    if (parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
          SMLoc loc = parser.getCurrentLocation();
          StringRef name;
          if (parser.parseKeyword(&name))
            return failure();
          auto it = numbers.find(name);
          if (it == numbers.end())
            return parser.emitError(loc) << "factor " << name << " has no size, expected one in {...}";
          if (kinds[it->second] != RuleFactorKind::Parallel)
            return parser.emitError(loc) << "factor " << name << " is in two sets, expected at most one";
          kinds[it->second] = kind;
          reductions[it->second] = reduction;
          return success();
        }))
      return {};
  }
  if (parser.parseGreater())
    return {};

  auto toAttr = [&](ArrayRef<SmallVector<SmallVector<int64_t>>> tensors) {
    SmallVector<Attribute> tensorAttrs;
    for (const auto &dims : tensors) {
      SmallVector<Attribute> dimAttrs;
      for (const auto &factors : dims) {
        SmallVector<int64_t> ids;
        for (int64_t f : factors)
          ids.push_back(renumber[f]);
        dimAttrs.push_back(DenseI64ArrayAttr::get(context, ids));
      }
      tensorAttrs.push_back(ArrayAttr::get(context, dimAttrs));
    }
    return ArrayAttr::get(context, tensorAttrs);
  };
  return getVerified<RuleAttr>([&] { return parser.emitError(start); }, context, toAttr(operands), toAttr(results),
                               names, sizes, kinds, reductions);
}

void RuleAttr::print(AsmPrinter &printer) const {
  auto printFactor = [&](int64_t f) { printer << getFactorNames()[f].getValue(); };
  auto printTensors = [&](ArrayAttr tensors) {
    printer << "(";
    llvm::interleaveComma(tensors, printer, [&](Attribute tensor) {
      printer << "[";
      llvm::interleaveComma(cast<ArrayAttr>(tensor), printer, [&](Attribute d) {
        ArrayRef<int64_t> factors = cast<DenseI64ArrayAttr>(d).asArrayRef();
        if (factors.empty()) {
          printer << "_";
        } else if (factors.size() == 1) {
          printFactor(factors[0]);
        } else {
          printer << "(";
          llvm::interleave(factors, printer, printFactor, " ");
          printer << ")";
        }
      });
      printer << "]";
    });
    printer << ")";
  };
  auto printSet = [&](llvm::function_ref<bool(int64_t)> contains, const Twine &name) {
    SmallVector<int64_t> members;
    for (int64_t f = 0; f < getNumFactors(); ++f)
      if (contains(f))
        members.push_back(f);
    if (members.empty())
      return;
    printer << ", " << name.str() << " = {";
    llvm::interleaveComma(members, printer, printFactor);
    printer << "}";
  };

  printer << "<";
  printTensors(getOperands());
  printer << " -> ";
  printTensors(getResults());
  printer << " {";
  llvm::interleaveComma(llvm::seq<int64_t>(0, getNumFactors()), printer, [&](int64_t f) {
    printFactor(f);
    printer << "=" << getFactorSizes()[f];
  });
  printer << "}";
  for (unsigned k = 0; k <= (unsigned)ReductionKind::MinNum; ++k) {
    auto kind = (ReductionKind)k;
    printSet([&](int64_t f) { return getFactorKinds()[f] == RuleFactorKind::Reduction && getReductions()[f] == kind; },
             "reduction(" + stringifyReductionKind(kind) + ")");
  }
  for (auto [kind, name] : kSets)
    printSet([&, kind = kind](int64_t f) { return getFactorKinds()[f] == kind; }, name);
  printer << ">";
}
