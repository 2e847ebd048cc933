//===- ExportRules.cpp - --spmd-export-rules ------------------------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Propagation/CompleteModule.h"
#include "shardkit/Support/Names.h"
#include "shardkit/Support/Output.h"

#include <nlohmann/json.hpp>

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDEXPORTRULESPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// Keys keep the order in which they are written.
using json = nlohmann::ordered_json;

/// Positions of values, and the hash of each function, before propagation adds ops.
struct Positions {
  explicit Positions(ModuleOp module) {
    for (auto func : module.getOps<func::FuncOp>()) {
      hashes[func] = hashFunction(func);
      for (NamedValue &named : collectNamedValues(func))
        positions[named.value] = named.position;
    }
  }

  llvm::DenseMap<Operation *, std::string> hashes;
  llvm::DenseMap<Value, std::string> positions;
};

static StringRef getKind(const Factor &factor) {
  switch (factor.kind) {
  case FactorKind::Parallel:
    return "parallel";
  case FactorKind::Reduction:
    return "reduction";
  case FactorKind::Indexed:
    return "indexed";
  case FactorKind::Selection:
    return "selection";
  case FactorKind::Replicated:
    return "replicated";
  }
  llvm_unreachable("all kinds are handled");
}

static json describeTensor(const ShardingRule &rule, const ShardingRule::Tensor &tensor, int32_t valueClass) {
  json dims = json::array();
  for (unsigned d = 0; d < tensor.numDims; ++d)
    dims.push_back(rule.dimFactors(tensor, d).vec());
  json entry = {{"class", valueClass}, {"dims", dims}};
  if (tensor.role == OperandRole::Init)
    entry["init"] = true;
  return entry;
}

static json describeNode(const Propagation &graph, const Propagation::Node &node, const Positions &positions) {
  const ShardingRule &rule = *node.rule;
  json factors = json::array(), operands = json::array(), results = json::array();
  for (const Factor &factor : rule.getFactors())
    factors.push_back({{"size", factor.size}, {"kind", getKind(factor).str()}, {"windows", factor.hasWindows}});
  ArrayRef<int32_t> classes = graph.getTensors(node);
  for (unsigned t = 0; t < classes.size(); ++t)
    (t < rule.numOperands() ? operands : results).push_back(describeTensor(rule, rule.tensor(t), classes[t]));
  bool isOp = !node.isIdentity && node.op;
  std::string position = isOp && node.op->getNumResults() ? positions.positions.lookup(node.op->getResult(0)) : "";
  return {{"name", isOp ? node.op->getName().getStringRef().str() : ""},
          {"value", position},
          {"contraction", rule.isContraction},
          {"factors", factors},
          {"operands", operands},
          {"results", results}};
}

static json describeFunction(func::FuncOp func, FunctionPropagation &propagation, const Positions &positions) {
  const Propagation &graph = propagation.getPropagation();
  json classes = json::array(), arguments = json::array(), results = json::array(), ops = json::array();
  for (unsigned i = 0; i < graph.getNumClasses(); ++i)
    classes.push_back(graph.getClass(i).type.getShape().vec());
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    Value argument = func.getArgument(i);
    arguments.push_back({{"name", getArgumentName(func, i)},
                         {"class", graph.contains(argument) ? int64_t(graph.getId(argument)) : -1},
                         {"weight", func.getArgAttr(i, kWeightAttr) != nullptr}});
  }
  for (auto [i, valueClass] : llvm::enumerate(propagation.getResultClasses(func)))
    results.push_back({{"name", getResultName(func, i)}, {"class", valueClass}});
  for (unsigned i = 0; i < graph.getNumNodes(); ++i)
    ops.push_back(describeNode(graph, graph.getNode(i), positions));
  return {{"name", func.getName().str()}, {"hash", positions.hashes.lookup(func)},
          {"classes", classes},           {"arguments", arguments},
          {"results", results},           {"ops", ops}};
}

namespace {
struct ExportRulesPass : public spmd::impl::SPMDExportRulesPassBase<ExportRulesPass> {
  using Base::Base;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(verifyInput(getOperation(), Phase::Annotated, getArgument())))
      return signalPassFailure();
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    Positions positions(*copy);
    json functions = json::array();
    auto complete = [&](ArrayRef<func::FuncOp> funcs, FunctionMeshes &meshes, CallTable &calls,
                        CallOperandLayouts &) -> FailureOr<std::unique_ptr<FunctionPropagation>> {
      auto propagation = FunctionPropagation::compute(funcs, meshes, calls, Propagation::Options());
      if (failed(propagation))
        return failure();
      for (func::FuncOp func : funcs)
        functions.push_back(describeFunction(func, **propagation, positions));
      return propagation;
    };
    if (failed(completeModule(*copy, complete)))
      return signalPassFailure();
    if (functions.empty()) {
      emitError(getOperation().getLoc()) << "no function is on a mesh, expected one spmd.mesh";
      return signalPassFailure();
    }
    std::string text = json{{"functions", functions}}.dump() + "\n";
    if (failed(writeOutput(getOperation().getLoc(), output, text)))
      signalPassFailure();
  }
};
} // namespace
