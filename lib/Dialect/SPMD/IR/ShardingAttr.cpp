//===- ShardingAttr.cpp - Syntax of shardings -----------------------------===//

#include "AttrSyntax.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::spmd;

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

ParseResult spmd::parseDimEntry(AsmParser &parser, DimEntryAttr &entry) {
  SMLoc loc = parser.getCurrentLocation();
  auto emitError = [&] { return parser.emitError(loc); };
  MLIRContext *context = parser.getContext();
  int64_t stride;
  OptionalParseResult stridePresent = parser.parseOptionalInteger(stride);
  if (stridePresent.has_value()) {
    if (failed(*stridePresent))
      return failure();
    entry = getVerified<DimEntryAttr>(emitError, context, "", 1, stride);
    return success(!!entry);
  }
  std::string axis;
  if (failed(parser.parseOptionalString(&axis)))
    return parser.emitError(loc, "expected an axis name, a stride or '?'");
  if (axis.empty())
    return parser.emitError(loc, "axis name is empty, expected a name");
  int64_t pre = 1, size = 0;
  if (succeeded(parser.parseOptionalColon())) {
    if (parser.parseLParen() || parser.parseInteger(pre) || parser.parseRParen() || parser.parseInteger(size))
      return failure();
    if (size <= 0 || pre <= 0)
      return parser.emitError(loc) << "sub-axis \"" << axis << "\":(" << pre << ")" << size
                                   << " has a size below 1, expected positive sizes";
  }
  entry = getVerified<DimEntryAttr>(emitError, context, axis, pre, size);
  return success(!!entry);
}

void spmd::printDimEntry(AsmPrinter &printer, DimEntryAttr entry) {
  if (entry.isStride()) {
    printer << entry.getSize();
    return;
  }
  printer.printString(entry.getAxis());
  if (!entry.isFullAxis())
    printer << ":(" << entry.getPre() << ")" << entry.getSize();
}

ParseResult spmd::parseAxisSet(AsmParser &parser, SmallVectorImpl<DimEntryAttr> &entries) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    DimEntryAttr entry;
    if (parseDimEntry(parser, entry))
      return failure();
    if (entry.isStride())
      return parser.emitError(loc, "found a stride, expected an axis name");
    entries.push_back(entry);
    return success();
  });
}

void spmd::printAxisSet(AsmPrinter &printer, ArrayRef<DimEntryAttr> entries) {
  printer << "{";
  llvm::interleaveComma(entries, printer, [&](DimEntryAttr entry) { printDimEntry(printer, entry); });
  printer << "}";
}

ParseResult spmd::parseDimSharding(AsmParser &parser, DimShardingAttr &dim) {
  SmallVector<DimEntryAttr> entries;
  bool open = false;
  SMLoc start = parser.getCurrentLocation();
  ParseResult list = parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
    if (open)
      return parser.emitError(parser.getCurrentLocation(), "found an entry after '?', expected '}'");
    if (succeeded(parser.parseOptionalQuestion())) {
      open = true;
      return success();
    }
    return parseDimEntry(parser, entries.emplace_back());
  });
  if (list)
    return failure();

  // The priority lexes as one bare identifier.
  int64_t priority = 0;
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword)))
    if (!keyword.consume_front("p") || keyword.getAsInteger(10, priority))
      return parser.emitError(loc) << "found '" << keyword
                                   << "' after a dimension, expected a priority "
                                      "such as 'p1'";
  dim = getVerified<DimShardingAttr>([&] { return parser.emitError(start); }, parser.getContext(), entries, open,
                                     priority);
  return success(!!dim);
}

void spmd::printDimSharding(AsmPrinter &printer, DimShardingAttr dim) {
  printer << "{";
  llvm::interleaveComma(dim.getEntries(), printer, [&](DimEntryAttr entry) { printDimEntry(printer, entry); });
  if (dim.getOpen())
    printer << (dim.getEntries().empty() ? "?" : ", ?");
  printer << "}";
  if (dim.getPriority() != 0)
    printer << "p" << dim.getPriority();
}

ParseResult spmd::parseDimShardings(AsmParser &parser, SmallVectorImpl<DimShardingAttr> &dims) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parseDimSharding(parser, dims.emplace_back()); });
}

ParseResult spmd::parseReductionKeyword(AsmParser &parser, ReductionKind &kind) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword)))
    return parser.emitError(loc, "expected a reduction such as 'sum'");
  std::optional<ReductionKind> parsed = parseReductionKind(keyword);
  if (!parsed)
    return parser.emitError(loc) << "unknown reduction '" << keyword
                                 << "', expected one of sum, prod, and, or, xor, max, min, umax, "
                                    "umin, maxnum, minnum";
  kind = *parsed;
  return success();
}

ParseResult spmd::parseIntegers(AsmParser &parser, SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(values.emplace_back()); });
}

ParseResult spmd::parseKeywordEqual(AsmParser &parser, StringRef name) {
  return failure(parser.parseKeyword(name) || parser.parseEqual());
}

//===----------------------------------------------------------------------===//
// DimEntryAttr, DimShardingAttr
//===----------------------------------------------------------------------===//

LogicalResult DimEntryAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef axis, int64_t pre,
                                   int64_t size) {
  // dim_entry_c1
  if (axis.empty() && size < 1)
    return emitError() << "stride is " << size << ", expected at least 1";
  if (!axis.empty() && (pre < 1 || size < 0))
    return emitError() << "sub-axis \"" << axis << "\":(" << pre << ")" << size
                       << " has a size below 1, expected positive sizes";
  return success();
}

Attribute DimEntryAttr::parse(AsmParser &parser, Type) {
  DimEntryAttr entry;
  if (parser.parseLess() || parseDimEntry(parser, entry) || parser.parseGreater())
    return {};
  return entry;
}

void DimEntryAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printDimEntry(printer, *this);
  printer << ">";
}

LogicalResult DimShardingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<DimEntryAttr>, bool,
                                      int64_t priority) {
  // dim_sharding_c1
  if (priority < 0)
    return emitError() << "priority is " << priority << ", expected 0 (strongest) or more";
  return success();
}

Attribute DimShardingAttr::parse(AsmParser &parser, Type) {
  DimShardingAttr dim;
  if (parser.parseLess() || parseDimSharding(parser, dim) || parser.parseGreater())
    return {};
  return dim;
}

void DimShardingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printDimSharding(printer, *this);
  printer << ">";
}

//===----------------------------------------------------------------------===//
// ShardingAttr
//===----------------------------------------------------------------------===//

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<DimShardingAttr> dims;
  SmallVector<DimEntryAttr> replicated, unreduced;
  ReductionKind kind = ReductionKind::Sum;
  if (parser.parseLess() || parser.parseAttribute(mesh) || parser.parseComma() || parseDimShardings(parser, dims))
    return {};
  bool hasReplicated = false, hasUnreduced = false;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    if (!hasReplicated && succeeded(parser.parseOptionalKeyword("replicated"))) {
      hasReplicated = true;
      if (parser.parseEqual() || parseAxisSet(parser, replicated))
        return {};
    } else if (!hasUnreduced && succeeded(parser.parseOptionalKeyword("unreduced"))) {
      hasUnreduced = true;
      if (succeeded(parser.parseOptionalLParen()))
        if (parseReductionKeyword(parser, kind) || parser.parseRParen())
          return {};
      if (parser.parseEqual() || parseAxisSet(parser, unreduced))
        return {};
    } else {
      parser.emitError(loc, "expected 'replicated' or 'unreduced', each once");
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  if (unreduced.empty())
    kind = ReductionKind::Sum;
  return get(parser.getContext(), mesh, dims, replicated, kind, unreduced);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printAttributeWithoutType(getMesh());
  printer << ", [";
  llvm::interleaveComma(getDims(), printer, [&](DimShardingAttr dim) { printDimSharding(printer, dim); });
  printer << "]";
  if (!getReplicated().empty()) {
    printer << ", replicated = ";
    printAxisSet(printer, getReplicated());
  }
  if (!getUnreduced().empty()) {
    printer << ", unreduced";
    if (getUnreducedKind() != ReductionKind::Sum)
      printer << "(" << stringifyReductionKind(getUnreducedKind()) << ")";
    printer << " = ";
    printAxisSet(printer, getUnreduced());
  }
  printer << ">";
}

bool ShardingAttr::isOpen() const {
  return llvm::any_of(getDims(), [](DimShardingAttr dim) { return dim.getOpen(); });
}

bool ShardingAttr::isReplicated() const {
  return getUnreduced().empty() && llvm::all_of(getDims(), [](DimShardingAttr dim) {
           return llvm::all_of(dim.getEntries(), [](DimEntryAttr e) { return e.isStride(); });
         });
}

ShardingAttr ShardingAttr::getFullyOpen(MLIRContext *context, FlatSymbolRefAttr mesh, int64_t rank) {
  auto dim = DimShardingAttr::get(context, {}, /*open=*/true, /*priority=*/0);
  return get(context, mesh, SmallVector<DimShardingAttr>(rank, dim));
}

ShardingAttr ShardingAttr::getFullyReplicated(MLIRContext *context, FlatSymbolRefAttr mesh, int64_t rank) {
  auto dim = DimShardingAttr::get(context, {}, /*open=*/false, /*priority=*/0);
  return get(context, mesh, SmallVector<DimShardingAttr>(rank, dim));
}

ShardingAttr ShardingAttr::getClosed() const {
  SmallVector<DimShardingAttr> dims;
  for (DimShardingAttr dim : getDims())
    dims.push_back(DimShardingAttr::get(getContext(), dim.getEntries(),
                                        /*open=*/false, dim.getPriority()));
  return get(getContext(), getMesh(), dims, getReplicated(), getUnreducedKind(), getUnreduced());
}

//===----------------------------------------------------------------------===//
// AxesAttr, FactorsAttr
//===----------------------------------------------------------------------===//

Attribute AxesAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<DimEntryAttr> axes;
  if (parser.parseLess() || parser.parseAttribute(mesh) || parser.parseComma() || parseAxisSet(parser, axes) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), mesh, axes);
}

void AxesAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printAttributeWithoutType(getMesh());
  printer << ", ";
  printAxisSet(printer, getAxes());
  printer << ">";
}

LogicalResult FactorsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, FlatSymbolRefAttr,
                                  ArrayRef<DimShardingAttr> factors) {
  // factors_c1
  for (auto [i, factor] : llvm::enumerate(factors))
    if (factor.getOpen() || factor.getPriority() != 0)
      return emitError() << "factor " << i << " is open or has a priority, expected a list of axes";
  return success();
}

Attribute FactorsAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  FlatSymbolRefAttr mesh;
  SmallVector<DimShardingAttr> factors;
  if (parser.parseLess() || parser.parseAttribute(mesh) || parser.parseComma() || parseDimShardings(parser, factors) ||
      parser.parseGreater())
    return {};
  return getVerified<FactorsAttr>([&] { return parser.emitError(loc); }, parser.getContext(), mesh, factors);
}

void FactorsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printAttributeWithoutType(getMesh());
  printer << ", [";
  llvm::interleaveComma(getFactors(), printer, [&](DimShardingAttr dim) { printDimSharding(printer, dim); });
  printer << "]>";
}
