//===- Stages.cpp - Stage ops, fragments and slots ------------------------===//

#include "OpSyntax.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::spmd;

//===----------------------------------------------------------------------===//
// FragmentAttr
//===----------------------------------------------------------------------===//

LogicalResult FragmentAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StageFragment kind,
                                   int64_t round) {
  // fragment_c1
  if (round < 0 || (round > 0 && kind != StageFragment::Apply))
    return emitError() << toString(kind) << " fragment has round " << round << ", expected "
                       << (kind == StageFragment::Apply ? "0 or more" : "0");
  return success();
}

/// `apply round = 1`; in an attribute a comma separates both.
static FragmentAttr parseBareFragment(AsmParser &parser, bool hasComma) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  int64_t round = 0;
  if (parser.parseKeyword(&keyword))
    return {};
  std::optional<StageFragment> kind = parseStageFragment(keyword);
  if (!kind) {
    parser.emitError(loc) << "unknown fragment '" << keyword << "', expected forward, backward or apply";
    return {};
  }
  bool hasRound = hasComma ? succeeded(parser.parseOptionalComma()) && succeeded(parser.parseKeyword("round"))
                           : succeeded(parser.parseOptionalKeyword("round"));
  if (hasRound && (parser.parseEqual() || parser.parseInteger(round)))
    return {};
  return FragmentAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), *kind, round);
}

static void printBareFragment(AsmPrinter &printer, FragmentAttr attr, StringRef separator) {
  printer << toString(attr.getKind());
  if (attr.getRound() != 0)
    printer << separator << "round = " << attr.getRound();
}

Attribute FragmentAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FragmentAttr attr = parseBareFragment(parser, /*hasComma=*/true);
  return attr && succeeded(parser.parseGreater()) ? attr : FragmentAttr();
}

void FragmentAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printBareFragment(printer, *this, ", ");
  printer << ">";
}

//===----------------------------------------------------------------------===//
// SlotAttr
//===----------------------------------------------------------------------===//

LogicalResult SlotAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, SlotKind kind, int64_t index,
                               int64_t dim, StringRef name, ReductionKind) {
  // slot_c1
  bool isValue = kind == SlotKind::Value || kind == SlotKind::Sum;
  if (isValue && name.empty())
    return emitError() << "slot has no name, expected the name of a value";
  if (!isValue && index < 0)
    return emitError() << "slot has index " << index << ", expected 0 or more";
  return success();
}

Attribute SlotAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  int64_t index = -1, dim = -1;
  std::string name;
  ReductionKind reduction = ReductionKind::Sum;
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  SlotKind kind;
  if (keyword == "argument" || keyword == "result") {
    kind = keyword == "argument" ? SlotKind::Argument : SlotKind::Result;
    if (parser.parseInteger(index))
      return {};
    if (succeeded(parser.parseOptionalComma()) && (parseKeywordEqual(parser, "dim") || parser.parseInteger(dim)))
      return {};
  } else if (keyword == "value" || keyword == "sum") {
    kind = keyword == "value" ? SlotKind::Value : SlotKind::Sum;
    if (parser.parseString(&name))
      return {};
    if (succeeded(parser.parseOptionalComma()) && parseReductionKeyword(parser, reduction))
      return {};
  } else {
    parser.emitError(loc) << "unknown slot '" << keyword << "', expected argument, result, value or sum";
    return {};
  }
  if (parser.parseGreater())
    return {};
  return getVerified<SlotAttr>([&] { return parser.emitError(loc); }, parser.getContext(), kind, index, dim, name,
                               reduction);
}

void SlotAttr::print(AsmPrinter &printer) const {
  switch (getKind()) {
  case SlotKind::Argument:
  case SlotKind::Result:
    printer << (getKind() == SlotKind::Argument ? "<argument " : "<result ") << getIndex();
    if (isMicrobatch())
      printer << ", dim = " << getDim();
    break;
  case SlotKind::Value:
  case SlotKind::Sum:
    printer << (getKind() == SlotKind::Value ? "<value " : "<sum ");
    printer.printString(getName());
    if (getReduction() != ReductionKind::Sum)
      printer << ", " << stringifyReductionKind(getReduction());
    break;
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// `apply round = 1`
static ParseResult parseFragment(OpAsmParser &parser, FragmentAttr &attr) {
  attr = parseBareFragment(parser, /*hasComma=*/false);
  return success(!!attr);
}

static void printFragment(OpAsmPrinter &printer, Operation *, FragmentAttr attr) {
  printBareFragment(printer, attr, " ");
}

/// `[[0, 1], [2, -1]]`
static ParseResult parsePairs(OpAsmParser &parser, ArrayAttr &pairs) {
  Builder b(parser.getContext());
  SmallVector<Attribute> list;
  auto parsePair = [&]() -> ParseResult {
    int64_t first, second;
    if (parser.parseLSquare() || parser.parseInteger(first) || parser.parseComma() || parser.parseInteger(second) ||
        parser.parseRSquare())
      return failure();
    list.push_back(b.getDenseI64ArrayAttr({first, second}));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair))
    return failure();
  pairs = b.getArrayAttr(list);
  return success();
}

static void printPairs(OpAsmPrinter &printer, Operation *, ArrayAttr pairs) {
  printer << "[";
  llvm::interleaveComma(pairs.getAsRange<DenseI64ArrayAttr>(), printer,
                        [&](DenseI64ArrayAttr pair) { printer << "[" << pair[0] << ", " << pair[1] << "]"; });
  printer << "]";
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult FragmentOp::verify() {
  // fragment_c2
  if (getExecutions().value_or(1) < 1)
    return emitOpError() << "has " << *getExecutions() << " executions, expected at least 1";
  return success();
}

LogicalResult StageOutputOp::verify() {
  // stage_output_c1
  if (getName().empty())
    return emitOpError() << "has an empty name, expected the name of the value";
  // stage_output_c2
  ReductionKindAttr reduction = getReductionAttr();
  return reduction ? verifyReductionOf(reduction.getValue(), getType(), [&] { return emitOpError(); }) : success();
}

LogicalResult ScheduleOp::verify() {
  static constexpr StringLiteral kinds[] = {"gpipe", "1f1b", "1f1b-overlap", "interleaved-1f1b", "inference"};
  // schedule_c1
  if (!llvm::is_contained(kinds, getKind()))
    return emitOpError() << "has unknown kind \"" << getKind() << "\", expected one of "
                         << llvm::join(ArrayRef<StringLiteral>(kinds), ", ");
  // schedule_c2
  if (getMicrobatches() < 1)
    return emitOpError() << "has " << getMicrobatches() << " microbatches, expected at least 1";
  if (getMeshes().empty())
    return emitOpError() << "has no mesh, expected at least one";
  // schedule_c3
  auto type = cast<FunctionType>(getFunctionType());
  if (getArgAttrs() && getArgAttrs()->size() != type.getNumInputs())
    return emitOpError() << "has " << getArgAttrs()->size() << " arg_attrs, expected " << type.getNumInputs();
  if (getResAttrs() && getResAttrs()->size() != type.getNumResults())
    return emitOpError() << "has " << getResAttrs()->size() << " res_attrs, expected " << type.getNumResults();
  // schedule_c4
  auto programs = llvm::to_vector(getBody().front().getOps<StageProgramOp>());
  if (!programs.empty() && programs.size() != getMeshes().size())
    return emitOpError() << "has " << programs.size() << " stage programs, expected " << getMeshes().size()
                         << ", one per mesh";
  for (auto [program, mesh] : llvm::zip(programs, getMeshes()))
    if (program.getMeshAttr() != mesh)
      return program.emitOpError() << "is on " << program.getMeshAttr() << ", expected " << mesh;
  for (Operation &op : getBody().front())
    if (!isa<StageProgramOp, ChannelOp>(op))
      return op.emitError() << op.getName() << " in a schedule, expected spmd.channel or spmd.stage_program";
  return success();
}

LogicalResult ChannelOp::verify() {
  // channel_c1
  int64_t numMeshes = cast<ScheduleOp>((*this)->getParentOp()).getMeshes().size();
  for (int64_t mesh : {getFrom(), getTo()})
    if (mesh < 0 || mesh >= numMeshes)
      return emitOpError() << "names mesh " << mesh << ", expected an index less than " << numMeshes;
  if (getFrom() == getTo())
    return emitOpError() << "is from mesh " << getFrom() << " to itself, expected two meshes";
  // channel_c2
  int64_t rank = cast<RankedTensorType>(getType()).getRank();
  for (ShardingAttr sharding : {getSourceAttr(), getDestinationAttr()})
    if (int64_t(sharding.getDims().size()) != rank)
      return emitOpError() << "has sharding " << sharding << " with " << sharding.getDims().size()
                           << " dimensions, expected " << rank << ", those of " << getType();
  return success();
}

LogicalResult StageProgramOp::verify() {
  // stage_program_c1
  for (Operation &op : getBody().front())
    if (!isa<RunOp, TransferOp, FreeOp>(op))
      return op.emitError() << op.getName() << " in a stage program, expected spmd.run, spmd.transfer or spmd.free";
  return success();
}

LogicalResult RunOp::verify() {
  // run_c1
  for (auto [name, value] : {std::pair("microbatch", getMicrobatch()), std::pair("clock", getClock())})
    if (value && int64_t(*value) < 0)
      return emitOpError() << "has " << name << " " << int64_t(*value) << ", expected 0 or more";
  return success();
}

LogicalResult TransferOp::verify() {
  // transfer_c1
  for (ArrayAttr pairs : {getSends(), getReceives()})
    for (Attribute pair : pairs)
      if (auto list = dyn_cast<DenseI64ArrayAttr>(pair); !list || list.size() != 2)
        return emitOpError() << "moves " << pair << ", expected a pair of a channel and a microbatch";
  // transfer_c2
  auto program = cast<StageProgramOp>((*this)->getParentOp());
  auto meshes = cast<ScheduleOp>(program->getParentOp()).getMeshes().getAsRange<FlatSymbolRefAttr>();
  int64_t numMeshes = std::distance(meshes.begin(), meshes.end());
  int64_t peer = getPeer();
  if (peer < 0 || peer >= numMeshes || *std::next(meshes.begin(), peer) == program.getMeshAttr())
    return emitOpError() << "has peer " << peer << ", expected the index of another one of the " << numMeshes
                         << " meshes";
  return success();
}

LogicalResult FreeOp::verify() {
  // free_c1
  if (getMicrobatch() && int64_t(*getMicrobatch()) < 0)
    return emitOpError() << "has microbatch " << int64_t(*getMicrobatch()) << ", expected 0 or more";
  return success();
}

#define GET_OP_CLASSES
#include "shardkit/Dialect/SPMD/IR/SPMDStages.cpp.inc"
