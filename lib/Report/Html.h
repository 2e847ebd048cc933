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

/// The names of the values (`%12 (h)`) of the nodes of the drawings, by function.
using DrawnNames = llvm::StringMap<llvm::StringMap<const ExplainedValue *>>;
DrawnNames getDrawnNames(ArrayRef<DrawnFunction> functions, const PartitionedValues &values);

/// A self-contained page that is well-formed XML: tables, and a drawing per function. A
/// panel shows the values of a selected node and, from `reasons`, the origins of their layouts.
void printHTML(const Report &report, unsigned top, ArrayRef<DrawnFunction> functions, const PartitionedValues &values,
               ArrayRef<ExplainedFunction> reasons, raw_ostream &os);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_REPORT_HTML_H
