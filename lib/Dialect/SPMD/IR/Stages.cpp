//===- Pipeline.cpp - Pipeline ops and slots ------------------------------===//

#include "OpSyntax.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::spmd;

//===----------------------------------------------------------------------===//
// SlotAttr
//===----------------------------------------------------------------------===//

LogicalResult SlotAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, SlotKind kind, int64_t index,
                               int64_t dim, StringRef name, ReductionKind) {
  // slot_c1
  bool isValue = kind == SlotKind::Value || kind == SlotKind::Sum;
  if (isValue && name.empty())
    return emitError() << "slot names no value, expected a name";
  if (!isValue && index < 0)
    return emitError() << "slot has number " << index << ", expected 0 or more";
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
  // fragment_c1
  int64_t round = getRound().value_or(0);
  if (round < 0 || (round > 0 && getPart() != PipelinePart::Apply))
    return emitOpError() << "has round " << round << ", expected "
                         << (round < 0 ? "0 or more" : "none, except for apply");
  // fragment_c2
  if (getExecutions().value_or(1) < 1)
    return emitOpError() << "has " << *getExecutions() << " executions, expected at least 1";
  return success();
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
  for (StageProgramOp program : programs)
    for (auto post : program.getBody().front().getOps<TransferOp>())
      for (ArrayAttr pairs : {post.getSends(), post.getReceives()})
        for (Attribute pair : pairs)
          if (auto list = dyn_cast<DenseI64ArrayAttr>(pair); !list || list.size() != 2)
            return post.emitOpError() << "moves " << pair << ", expected the number of a transfer and a microbatch";
  for (Operation &op : getBody().front())
    if (!isa<StageProgramOp, ChannelOp>(op))
      return op.emitError() << op.getName() << " in a schedule, expected spmd.channel or spmd.stage_program";
  return success();
}

#define GET_OP_CLASSES
#include "shardkit/Dialect/SPMD/IR/SPMDPipeline.cpp.inc"
