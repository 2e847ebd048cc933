//===- SPMDDialect.cpp - Registration of the spmd dialect -----------------===//

#include "shardkit/Dialect/SPMD/IR/Renames.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::spmd;

#include "shardkit/Dialect/SPMD/IR/SPMDDialect.cpp.inc"
#include "shardkit/Dialect/SPMD/IR/SPMDInterfaces.cpp.inc"

namespace {
/// Annotations and collectives have the same meaning in all functions.
struct SPMDInliner : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void SPMDDialect::initialize() {
  registerAttributes();
  addInterfaces<SPMDInliner>();
  addOperations<
#define GET_OP_LIST
#include "shardkit/Dialect/SPMD/IR/SPMDOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "shardkit/Dialect/SPMD/IR/SPMDCollectives.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "shardkit/Dialect/SPMD/IR/SPMDStages.cpp.inc"
      >();
}

static ParseResult reportRenamedOp(OpAsmParser &parser, OperationState &result) {
  return parser.emitError(parser.getNameLoc()) << describeRename(RenameKind::Operation, result.name.getStringRef());
}

std::optional<Dialect::ParseOpHook> SPMDDialect::getParseOperationHook(StringRef name) const {
  if (describeRename(RenameKind::Operation, name).empty())
    return std::nullopt;
  return ParseOpHook(reportRenamedOp);
}
