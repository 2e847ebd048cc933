//===- AnnotationText.cpp - User shardings in messages --------------------===//

#include "AnnotationText.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Support/Names.h"

using namespace mlir;
using namespace mlir::spmd;

DescribedAnnotation spmd::describeAnnotation(FunctionSearch &search,
                                             const FunctionPropagation::Annotation &annotation) {
  // Of which function, where there are several.
  auto of = [&](func::FuncOp func) {
    return search.getFuncs().size() > 1 ? " of @" + func.getName().str() : std::string();
  };
  if (annotation.op) {
    auto func = dyn_cast<func::FuncOp>(annotation.op);
    std::string what = func ? "result " + getResultName(func, annotation.index) : "operand or result of a call";
    return {what + of(func ? func : annotation.op->getParentOfType<func::FuncOp>()), annotation.op->getLoc()};
  }
  if (auto argument = dyn_cast_or_null<BlockArgument>(annotation.value)) {
    auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return {func ? "argument " + getArgumentName(func, argument.getArgNumber()) + of(func) : "a value",
            argument.getLoc()};
  }
  if (annotation.value)
    return {"a value of " + annotation.value.getDefiningOp()->getName().getStringRef().str(),
            annotation.value.getLoc()};
  return {"a value", func::FuncOp(search.getFuncs().front()).getLoc()};
}
