//===- SPMDAttrs.cpp - Syntax of meshes, axis resources and the rest ------===//

#include "shardkit/Dialect/SPMD/IR/SPMDAttrs.h"
#include "AttrSyntax.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::spmd;

#include "shardkit/Dialect/SPMD/IR/SPMDEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "shardkit/Dialect/SPMD/IR/SPMDAttrs.cpp.inc"

void SPMDDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "shardkit/Dialect/SPMD/IR/SPMDAttrs.cpp.inc"
      >();
}

static void printIntegers(AsmPrinter &printer, ArrayRef<int64_t> values) {
  printer << "[";
  llvm::interleaveComma(values, printer);
  printer << "]";
}

//===----------------------------------------------------------------------===//
// MeshAttr
//===----------------------------------------------------------------------===//

static ParseResult parseMeshAxis(AsmParser &parser, MeshAxisAttr &axis) {
  std::string name;
  int64_t size;
  if (parser.parseString(&name) || parser.parseEqual() || parser.parseInteger(size))
    return failure();
  axis = MeshAxisAttr::get(parser.getContext(), name, size);
  return success();
}

static void printMeshAxis(AsmPrinter &printer, MeshAxisAttr axis) {
  printer.printString(axis.getName());
  printer << "=" << axis.getSize();
}

Attribute MeshAxisAttr::parse(AsmParser &parser, Type) {
  MeshAxisAttr axis;
  if (parser.parseLess() || parseMeshAxis(parser, axis) || parser.parseGreater())
    return {};
  return axis;
}

void MeshAxisAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printMeshAxis(printer, *this);
  printer << ">";
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<MeshAxisAttr> axes;
  SmallVector<int64_t> deviceIds;
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                                           [&] { return parseMeshAxis(parser, axes.emplace_back()); }))
    return {};
  if (succeeded(parser.parseOptionalComma()))
    if (parseKeywordEqual(parser, "device_ids") || parseIntegers(parser, deviceIds))
      return {};
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), axes, deviceIds);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getAxes(), printer, [&](MeshAxisAttr axis) { printMeshAxis(printer, axis); });
  printer << "]";
  if (!getDeviceIds().empty()) {
    printer << ", device_ids=";
    printIntegers(printer, getDeviceIds());
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// ReductionKindAttr
//===----------------------------------------------------------------------===//

Attribute ReductionKindAttr::parse(AsmParser &parser, Type) {
  ReductionKind kind;
  if (parser.parseLess() || parseReductionKeyword(parser, kind) || parser.parseGreater())
    return {};
  return get(parser.getContext(), kind);
}

void ReductionKindAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyReductionKind(getValue()) << ">";
}

//===----------------------------------------------------------------------===//
// OrtAttr
//===----------------------------------------------------------------------===//

LogicalResult OrtAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef, ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> elements) {
  // ort_c1
  int64_t product = 1;
  for (int64_t size : shape) {
    if (size < 1)
      return emitError() << "device mesh has a dimension of size " << size << ", expected positive sizes";
    product *= size;
  }
  if (product != (int64_t)elements.size())
    return emitError() << "device mesh has " << elements.size() << " elements, expected " << product;
  for (int64_t device : elements)
    if (device < 0)
      return emitError() << "device id is " << device << ", expected 0 or more";
  return success();
}

Attribute OrtAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  std::string spec;
  SmallVector<int64_t> shape, elements;
  if (parser.parseLess() || parser.parseString(&spec) || parser.parseComma() || parseKeywordEqual(parser, "shape") ||
      parseIntegers(parser, shape) || parser.parseComma() || parseKeywordEqual(parser, "elements") ||
      parseIntegers(parser, elements) || parser.parseGreater())
    return {};
  return getVerified<OrtAttr>([&] { return parser.emitError(loc); }, parser.getContext(), spec, shape, elements);
}

void OrtAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printString(getSpec());
  printer << ", shape = ";
  printIntegers(printer, getShape());
  printer << ", elements = ";
  printIntegers(printer, getElements());
  printer << ">";
}

//===----------------------------------------------------------------------===//
// AxisResourcesAttr
//===----------------------------------------------------------------------===//

LogicalResult AxisResourcesAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, bool replicated,
                                        ArrayRef<Attribute> entries) {
  // axis_resources_c1
  if (replicated && !entries.empty())
    return emitError() << "replicated axis resources have entries, expected none";
  llvm::StringSet<> seen;
  for (Attribute entry : entries) {
    if (isa<UnitAttr>(entry))
      continue;
    auto list = dyn_cast<ArrayAttr>(entry);
    if (!list || !llvm::all_of(list, llvm::IsaPred<StringAttr>))
      return emitError() << "entry is " << entry << ", expected an axis, a list of axes, none or '?'";
    for (Attribute axis : list) {
      StringRef name = cast<StringAttr>(axis).getValue();
      if (name.empty())
        return emitError() << "axis name is empty, expected a name";
      // axis_resources_c2
      if (!seen.insert(name).second)
        return emitError() << "axis \"" << name << "\" is used twice, expected each axis once";
    }
  }
  return success();
}

static ParseResult parseAxisResource(AsmParser &parser, Attribute &entry) {
  Builder builder(parser.getContext());
  if (succeeded(parser.parseOptionalQuestion())) {
    entry = builder.getUnitAttr();
    return success();
  }
  if (succeeded(parser.parseOptionalKeyword("none"))) {
    entry = builder.getArrayAttr({});
    return success();
  }
  std::string name;
  if (succeeded(parser.parseOptionalString(&name))) {
    entry = builder.getStrArrayAttr({name});
    return success();
  }
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalLSquare()))
    return parser.emitError(loc, "expected an axis, a list of axes, 'none' or '?'");
  SmallVector<Attribute> names;
  if (failed(parser.parseOptionalRSquare())) {
    do {
      std::string axis;
      if (parser.parseString(&axis))
        return failure();
      names.push_back(builder.getStringAttr(axis));
    } while (succeeded(parser.parseOptionalComma()));
    if (parser.parseRSquare())
      return failure();
  }
  entry = builder.getArrayAttr(names);
  return success();
}

AxisResourcesAttr spmd::parseBareAxisResources(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  bool replicated = succeeded(parser.parseOptionalKeyword("replicated"));
  SmallVector<Attribute> entries;
  if (!replicated && parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                                    [&] { return parseAxisResource(parser, entries.emplace_back()); }))
    return {};
  return getVerified<AxisResourcesAttr>([&] { return parser.emitError(loc); }, parser.getContext(), replicated,
                                        entries);
}

void spmd::printBareAxisResources(AsmPrinter &printer, AxisResourcesAttr attr) {
  if (attr.getReplicated()) {
    printer << "replicated";
    return;
  }
  printer << "[";
  llvm::interleaveComma(attr.getEntries(), printer, [&](Attribute entry) {
    auto list = dyn_cast<ArrayAttr>(entry);
    if (!list) {
      printer << "?";
    } else if (list.empty()) {
      printer << "none";
    } else if (list.size() == 1) {
      printer.printAttribute(list[0]);
    } else {
      printer << "[";
      llvm::interleaveComma(list, printer, [&](Attribute axis) { printer.printAttribute(axis); });
      printer << "]";
    }
  });
  printer << "]";
}

Attribute AxisResourcesAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  AxisResourcesAttr attr = parseBareAxisResources(parser);
  if (!attr || parser.parseGreater())
    return {};
  return attr;
}

void AxisResourcesAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printBareAxisResources(printer, *this);
  printer << ">";
}

SmallVector<StringRef> AxisResourcesAttr::getAxes(int64_t entry) const {
  SmallVector<StringRef> axes;
  if (auto list = dyn_cast<ArrayAttr>(getEntries()[entry]))
    for (Attribute axis : list)
      axes.push_back(cast<StringAttr>(axis).getValue());
  return axes;
}

//===----------------------------------------------------------------------===//
// MicrobatchAttr, SegmentsAttr
//===----------------------------------------------------------------------===//

LogicalResult MicrobatchAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t dim) {
  // microbatch_c1
  if (dim < 0)
    return emitError() << "microbatch dim is " << dim << ", expected 0 or more";
  return success();
}

Attribute MicrobatchAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t dim;
  if (parser.parseLess() || parseKeywordEqual(parser, "dim") || parser.parseInteger(dim) || parser.parseGreater())
    return {};
  return getVerified<MicrobatchAttr>([&] { return parser.emitError(loc); }, parser.getContext(), dim);
}

void MicrobatchAttr::print(AsmPrinter &printer) const { printer << "<dim = " << getDim() << ">"; }

LogicalResult SegmentsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t dim,
                                   ArrayRef<int64_t> sizes, int64_t unit, bool) {
  // segments_c1
  if (dim < 0)
    return emitError() << "segments dim is " << dim << ", expected 0 or more";
  if (unit < 1)
    return emitError() << "segments unit is " << unit << ", expected at least 1";
  if (sizes.empty())
    return emitError() << "segments have no sizes, expected at least one";
  for (int64_t size : sizes) {
    if (size < 1)
      return emitError() << "segment size is " << size << ", expected at least 1";
    // segments_c2
    if (size % unit != 0)
      return emitError() << "segment size is " << size << ", expected a multiple of unit " << unit;
  }
  return success();
}

Attribute SegmentsAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t dim, unit = 1;
  SmallVector<int64_t> sizes;
  if (parser.parseLess() || parser.parseInteger(dim) || parser.parseComma() || parseIntegers(parser, sizes))
    return {};
  bool replicate = false;
  while (!replicate && succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("replicate")))
      replicate = true;
    else if (parseKeywordEqual(parser, "unit") || parser.parseInteger(unit))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return getVerified<SegmentsAttr>([&] { return parser.emitError(loc); }, parser.getContext(), dim, sizes, unit,
                                   replicate);
}

void SegmentsAttr::print(AsmPrinter &printer) const {
  printer << "<" << getDim() << ", ";
  printIntegers(printer, getSizes());
  if (getUnit() != 1)
    printer << ", unit = " << getUnit();
  if (getReplicate())
    printer << ", replicate";
  printer << ">";
}

//===----------------------------------------------------------------------===//
// SegmentAttr
//===----------------------------------------------------------------------===//

LogicalResult SegmentAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, RankedTensorType stored,
                                  int64_t dim, int64_t offset, int64_t unit, int64_t argument) {
  // segment_c1
  if (dim < 0 || dim >= stored.getRank())
    return emitError() << "segment dim is " << dim << ", expected 0 or more and less than " << stored.getRank()
                       << ", the rank of " << stored;
  if (offset < 0 || argument < 0 || unit < 1)
    return emitError() << "segment has offset " << offset << ", unit " << unit << " and argument " << argument
                       << ", expected none negative and a positive unit";
  return success();
}

Attribute SegmentAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  RankedTensorType stored;
  int64_t dim, offset, unit = 1, argument;
  if (parser.parseLess() || parser.parseType(stored) || parser.parseComma() || parseKeywordEqual(parser, "dim") ||
      parser.parseInteger(dim) || parser.parseComma() || parseKeywordEqual(parser, "offset") ||
      parser.parseInteger(offset) || parser.parseComma() || parseKeywordEqual(parser, "unit") ||
      parser.parseInteger(unit) || parser.parseComma() || parseKeywordEqual(parser, "argument") ||
      parser.parseInteger(argument) || parser.parseGreater())
    return {};
  return getVerified<SegmentAttr>([&] { return parser.emitError(loc); }, parser.getContext(), stored, dim, offset, unit,
                                  argument);
}

void SegmentAttr::print(AsmPrinter &printer) const {
  printer << "<" << getStored() << ", dim = " << getDim() << ", offset = " << getOffset() << ", unit = " << getUnit()
          << ", argument = " << getArgument() << ">";
}
