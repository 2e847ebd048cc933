//===- HostSteps.cpp - Host functions that a loading function calls -------===//

#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Loading/LoadingFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::spmd;

FailureOr<SmallVector<HostStep>> spmd::getHostSteps(func::FuncOp load) {
  SmallVector<HostStep> steps;
  if (!callsHostFunctions(load))
    return steps;
  if (load.getNumArguments() != 1)
    return load.emitError() << "loading function @" << load.getName() << " takes " << load.getNumArguments()
                            << " stored tensors, expected 1 where host functions are called";
  Value current = load.getArgument(0);
  for (Operation &op : load.getBody().front()) {
    if (isa<arith::ConstantOp>(op))
      continue;
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      if (op.getOperand(0) != current || steps.empty())
        return op.emitError() << "loading function @" << load.getName()
                              << " returns another value, expected the output of the last host "
                                 "function";
      return steps;
    }
    auto call = dyn_cast<func::CallOp>(op);
    auto callee =
        call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()) : func::FuncOp();
    if (!callee || !callee.isExternal())
      return op.emitError() << "loading function @" << load.getName() << " calls host functions and has '"
                            << op.getName() << "', expected calls and constants alone (or no host function)";
    HostStep step{call, {}, {}};
    if (call.getNumResults() == 1)
      step.type = dyn_cast<RankedTensorType>(call.getResult(0).getType());
    if (!step.type || !step.type.hasStaticShape())
      return call.emitError() << "host function @" << call.getCallee()
                              << " does not return a tensor of static shape, expected one";
    if (call.getNumOperands() == 0 || call.getOperand(0) != current)
      return call.emitError() << "host function @" << call.getCallee()
                              << " has another first operand, expected the stored tensor "
                                 "or the last output";
    if (auto list = call->getAttrOfType<ArrayAttr>(kExtrasAttr)) {
      if (call.getNumOperands() > 1)
        return call.emitError() << "host function @" << call.getCallee() << " has extra inputs as operands and in '"
                                << kExtrasAttr << "', expected all of them in the operands or all in the attribute";
      llvm::append_range(step.extras, list);
    }
    for (Value extra : call.getOperands().drop_front()) {
      auto constant = extra.getDefiningOp<arith::ConstantOp>();
      Attribute value = constant ? constant.getValue() : Attribute();
      if (!isa_and_nonnull<IntegerAttr, FloatAttr>(value))
        return call.emitError() << "extra input of host function @" << call.getCallee() << " has type "
                                << extra.getType() << ", expected a constant number (text stands in '" << kExtrasAttr
                                << "')";
      step.extras.push_back(value);
    }
    current = call.getResult(0);
    steps.push_back(std::move(step));
  }
  return steps;
}

LogicalResult spmd::verifyHostSteps(ArrayRef<HostStep> steps, RankedTensorType local, const Layout &layout,
                                    int64_t devices, const Twine &argument) {
  const HostStep &last = steps.back();
  int64_t distinct = 1;
  for (const Digit &digit : layout.digits)
    distinct *= digit.size();
  for (const UnevenDim &dim : layout.uneven)
    distinct *= dim.count();
  func::CallOp call = last.call;
  ArrayRef<int64_t> shape = last.type.getShape();
  if (shape.empty() || (shape[0] != distinct && shape[0] != devices)) {
    InFlightDiagnostic diag = call.emitError()
                              << "host function @" << call.getCallee() << " gives " << last.type
                              << ", expected a leading dim of " << distinct << ", the number of shards of " << argument;
    if (distinct != devices)
      diag << ", or " << devices << ", that of the devices";
    return diag;
  }
  if (last.type.getElementType() != local.getElementType() || shape.drop_front() != local.getShape())
    return call.emitError() << "host function @" << call.getCallee() << " gives " << last.type
                            << ", expected slices of " << local << ", the local type of " << argument;
  return success();
}
