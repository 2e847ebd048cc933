//===- ManualComputation.cpp - Regions in local view ----------------------===//

#include "OpSyntax.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/ManualLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::spmd;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

static ParseResult parseShardings(OpAsmParser &parser, ArrayAttr &shardings) {
  SmallVector<Attribute> attrs;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
        attrs.push_back(ShardingAttr::parse(parser, {}));
        return success(!!attrs.back());
      }))
    return failure();
  shardings = parser.getBuilder().getArrayAttr(attrs);
  return success();
}

static void printShardings(OpAsmPrinter &printer, ArrayAttr shardings) {
  printer << "[";
  llvm::interleaveComma(shardings, printer,
                        [&](Attribute attr) { printer.printStrippedAttrOrType(cast<ShardingAttr>(attr)); });
  printer << "]";
}

ParseResult ManualComputationOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<OpAsmParser::Argument> arguments;
  ArrayAttr in, out;
  SmallVector<Attribute> axes;
  FunctionType type;
  SMLoc operandsLoc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands, AsmParser::Delimiter::Paren) || parser.parseKeyword("in") ||
      parseShardings(parser, in) || parser.parseKeyword("out") || parseShardings(parser, out) ||
      parser.parseKeyword("axes") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&]() -> ParseResult {
                                       std::string axis;
                                       if (parser.parseString(&axis))
                                         return failure();
                                       axes.push_back(parser.getBuilder().getStringAttr(axis));
                                       return success();
                                     }) ||
      parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseRegion(*result.addRegion(), arguments) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type) || parser.resolveOperands(operands, type.getInputs(), operandsLoc, result.operands))
    return failure();
  result.addTypes(type.getResults());
  auto &properties = result.getOrAddProperties<Properties>();
  properties.in_shardings = in;
  properties.out_shardings = out;
  properties.manual_axes = parser.getBuilder().getArrayAttr(axes);
  return success();
}

void ManualComputationOp::print(OpAsmPrinter &printer) {
  printer << " (" << getInputs() << ") in ";
  printShardings(printer, getInShardings());
  printer << " out ";
  printShardings(printer, getOutShardings());
  printer << " axes [";
  llvm::interleaveComma(getManualAxes(), printer, [&](Attribute axis) { printer.printAttribute(axis); });
  printer << "] (";
  llvm::interleaveComma(getBody().getArguments(), printer,
                        [&](BlockArgument arg) { printer.printRegionArgument(arg); });
  printer << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"in_shardings", "out_shardings", "manual_axes"});
  printer << " : ";
  printer.printFunctionalType(getOperation());
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

bool ManualComputationOp::isManualAxis(StringRef axis) {
  return llvm::any_of(getManualAxes(), [&](Attribute attr) { return cast<StringAttr>(attr).getValue() == axis; });
}

Layout spmd::getManualLayout(ManualComputationOp op, Sharding sharding, const Mesh &mesh, ArrayRef<int64_t> shape) {
  sharding.replicated.clear();
  for (DimSharding &dim : sharding.dims)
    llvm::erase_if(dim.entries, [&](const DimEntry &entry) {
      return !entry.isStride() && !op.isManualAxis(mesh.axes[entry.axis].name);
    });
  return Layout::get(sharding, mesh, shape);
}

LogicalResult ManualComputationOp::verify() {
  // manual_computation_c1
  if (getInShardings().size() != getNumOperands())
    return emitOpError() << getInShardings().size() << " in-shardings are given, expected one for each of "
                         << getNumOperands() << " operands";
  if (getOutShardings().size() != getNumResults())
    return emitOpError() << getOutShardings().size() << " out-shardings are given, expected one for each of "
                         << getNumResults() << " results";
  // manual_computation_c2
  llvm::StringSet<> axes;
  for (Attribute axis : getManualAxes())
    if (!axes.insert(cast<StringAttr>(axis).getValue()).second)
      return emitOpError() << "manual axis " << axis << " is listed twice, expected once";
  FlatSymbolRefAttr mesh;
  for (ArrayAttr list : {getInShardings(), getOutShardings()})
    for (Attribute attr : list) {
      auto sharding = cast<ShardingAttr>(attr);
      if (mesh && mesh != sharding.getMesh())
        return emitOpError() << "shardings name the meshes " << mesh << " and " << sharding.getMesh()
                             << ", expected one mesh";
      mesh = sharding.getMesh();
      // manual_computation_c4
      for (auto [i, dim] : llvm::enumerate(sharding.getDims())) {
        bool foundFree = false;
        for (DimEntryAttr entry : dim.getEntries()) {
          if (entry.isStride())
            continue;
          bool manual = isManualAxis(entry.getAxis());
          if (manual && foundFree)
            return emitOpError() << "manual axis \"" << entry.getAxis() << "\" follows a free axis on dim " << i
                                 << ", expected manual axes first";
          foundFree |= !manual;
        }
      }
    }
  if (getBody().getNumArguments() != getNumOperands())
    return emitOpError() << "region has " << getBody().getNumArguments() << " arguments, expected " << getNumOperands();
  // manual_computation_c6
  Block &block = getBody().front();
  if (block.empty() || !isa<ReturnOp>(block.back()))
    return emitOpError() << "region has no spmd.return, expected one at its end";
  return success();
}

/// The type of a value inside the region: its global type, sharded by the manual axes
/// only.
static FailureOr<RankedTensorType> getManualLocalType(ManualComputationOp op, ShardingAttr attr, Type type,
                                                      const Mesh &mesh) {
  FailureOr<Sharding> sharding = toSharding(attr, mesh, [&] { return op.emitOpError(); });
  if (failed(sharding))
    return failure();
  SmallVector<int64_t> shape(getShape(type));
  for (auto [size, dim] : llvm::zip_equal(shape, sharding->dims)) {
    int64_t factor = 1;
    for (const DimEntry &entry : dim.entries)
      if (!entry.isStride() && op.isManualAxis(mesh.axes[entry.axis].name))
        factor *= entry.size;
    if (!ShapedType::isDynamic(size))
      size = (size + factor - 1) / factor;
  }
  return getTypeWithShape(type, shape);
}

LogicalResult ManualComputationOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  FlatSymbolRefAttr name;
  if (!getInShardings().empty())
    name = getInSharding(0).getMesh();
  else if (!getOutShardings().empty())
    name = getOutSharding(0).getMesh();
  else
    return success();
  FailureOr<Mesh> mesh = getMeshOrEmit(getOperation(), name, symbolTable);
  if (failed(mesh))
    return failure();
  auto emitError = [&] { return emitOpError(); };
  // manual_computation_c2
  for (Attribute attr : getManualAxes()) {
    StringRef axis = cast<StringAttr>(attr).getValue();
    if (!mesh->findAxis(axis)) {
      emitUnknownAxis(axis, *mesh, emitError);
      return failure();
    }
  }
  // manual_computation_c3: free axes allow padding on dims without manual axes; the
  // local type of a dim with manual ones must be exact.
  auto verifyShardingHere = [&](ShardingAttr sharding, Type type, const Twine &what) {
    SmallVector<DimShardingAttr> manual(sharding.getDims());
    for (DimShardingAttr &dim : manual)
      if (llvm::none_of(dim.getEntries(),
                        [&](DimEntryAttr entry) { return !entry.isStride() && isManualAxis(entry.getAxis()); }))
        dim = DimShardingAttr::get(getContext(), {}, dim.getOpen(), dim.getPriority());
    return success(succeeded(verifyShardingOf(sharding, type, *mesh, what, emitError)) &&
                   succeeded(verifyShardingOf(ShardingAttr::get(getContext(), sharding.getMesh(), manual), type, *mesh,
                                              what, emitError, /*allowUneven=*/false)));
  };
  for (auto [i, operand] : llvm::enumerate(getInputs())) {
    ShardingAttr sharding = getInSharding(i);
    if (failed(verifyShardingHere(sharding, operand.getType(), "operand #" + Twine(i))))
      return failure();
    // manual_computation_c5
    FailureOr<RankedTensorType> local = getManualLocalType(*this, sharding, operand.getType(), *mesh);
    if (failed(local))
      return failure();
    Type type = getBody().getArgument(i).getType();
    if (type != *local)
      return emitOpError() << "region argument #" << i << " has type " << type << ", expected " << *local;
  }
  auto returnOp = cast<ReturnOp>(getBody().front().getTerminator());
  if (returnOp.getNumOperands() != getNumResults())
    return returnOp.emitOpError() << "returns " << returnOp.getNumOperands() << " values, expected " << getNumResults();
  for (auto [i, result] : llvm::enumerate(getOutputs())) {
    ShardingAttr sharding = getOutSharding(i);
    if (failed(verifyShardingHere(sharding, result.getType(), "result #" + Twine(i))))
      return failure();
    // manual_computation_c6
    FailureOr<RankedTensorType> local = getManualLocalType(*this, sharding, result.getType(), *mesh);
    if (failed(local))
      return failure();
    Type type = returnOp.getOperand(i).getType();
    if (type != *local)
      return returnOp.emitOpError() << "value #" << i << " has type " << type << ", expected " << *local;
  }
  return success();
}
