//===- Html.h - A report as one page ----------------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_REPORT_HTML_H
#define SHARDKIT_LIB_REPORT_HTML_H

#include "Graph.h"
#include "shardkit/Report/Explain.h"
#include "shardkit/Report/Report.h"

namespace mlir::spmd {

struct DrawnFunction {
  func::FuncOp func;
  FunctionGraph graph;
};

/// The names of values (`%12 (h)`) that nodes of the drawings stand for, by function.
using DrawnNames = llvm::StringMap<llvm::StringMap<const ExplainedValue *>>;
DrawnNames getDrawnNames(ArrayRef<DrawnFunction> functions, const PartitionedValues &values);

/// One page that needs nothing but itself, well-formed as XML too: tables, and per
/// function a drawing whose nodes and edges say on hover what the values are and,
/// where `reasons` know it, how they got their layouts.
void printHTML(const Report &report, unsigned top, ArrayRef<DrawnFunction> functions, const PartitionedValues &values,
               ArrayRef<ExplainedFunction> reasons, raw_ostream &os);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_REPORT_HTML_H
