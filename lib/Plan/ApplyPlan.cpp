//===- ApplyPlan.cpp - A plan becomes annotations -------------------------===//
//
// First every rule is matched against the names of the module, so that unknown names
// are reported before the module changes.
//
//===----------------------------------------------------------------------===//

#include "ApplyStages.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Constraints.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Overlap.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Passes.h"
#include "shardkit/Plan/Resolve.h"
#include "shardkit/Rules/ShardingRule.h"
#include "shardkit/Support/Names.h"

#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDAPPLYPLANPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// An entity that a rule can apply to, and the rule that applies.
struct Named {
  SmallVector<std::string, 1> names;
  std::string position; // for values
  std::optional<unsigned> rule;
};

/// The rules that apply to one function.
struct FunctionPlan {
  func::FuncOp func;
  /// Indexed by PlanTarget.
  std::vector<Named> named[std::size(kPlanTargets)];
  std::vector<NamedValue> values;          // parallel to named[Value]
  std::vector<StageBoundaryOp> boundaries; // parallel to named[Boundary]
  /// True if split into stages: axis resources are resolved against the meshes of these
  /// later.
  bool isStaged = false;
};

/// Writes a plan into a module.
///   1. Add the meshes of the plan, and the stage boundaries of its stages.
///   2. Match every rule against the names of arguments, results, values and boundaries;
///      report rules without a match before any other change.
///   3. Write the sharding of the matching rule on each of them: as an attribute of an
///      argument or result, as a constraint on a value.
///
///   {"argument": "layers.*.w", "axis_resources": ["model"]}
///   on @main(%arg0 {spmd.name = "layers.0.w"})   writes   spmd.sharding = <@pod, [{"model"}, {}]>
class PlanApplier {
public:
  PlanApplier(const ShardingPlan &plan, ModuleOp module) : plan(plan), module(module), states(plan.rules.size()) {}
  LogicalResult run();

private:
  struct RuleState {
    bool matched = false;  // matches a name
    bool applied = false;  // is the first rule for a name
    bool exact = false;    // matches the name of a value, not of a subtree
    bool function = false; // a function has the name, or matches
    std::string otherHash; // hash of a function that the rule names
    unsigned shadowedBy = 0;
  };

  //===--- meshes ---------------------------------------------------------===//

  LogicalResult addMeshes();
  static LogicalResult checkSameMesh(const PlanMesh &entry, MeshAttr attr, MeshOp old);

  //===--- matching -------------------------------------------------------===//

  void match(FunctionPlan &function);
  static std::vector<Named> &names(FunctionPlan &function, PlanTarget target);

  /// The first rule that matches wins. Literal names are looked up, so that a
  /// plan with a rule per value takes no time per pair.
  void matchNames(ArrayRef<unsigned> rules, std::vector<Named> &named);
  LogicalResult reportUnmatched();

  //===--- writing --------------------------------------------------------===//

  /// A rule for a subtree skips values that are not tensors.
  static bool skipsValue(const PlanRule &rule, const Named &named, Type type);
  LogicalResult applySignature(FunctionPlan &function);
  std::string describe(PlanTarget target, const Named &named, func::FuncOp func) const;
  LogicalResult applyValues(FunctionPlan &function);

  /// Constrains a value for all its users, unless it is constrained already.
  LogicalResult constrain(const FunctionPlan &function, const ShardingSpec &spec, const SpecTarget &target, Value value,
                          Operation *&lastOfArguments);

  /// Axis resources without a mesh are resolved against that of a stage later.
  static bool staysSymbolic(const FunctionPlan &function, const ShardingSpec &spec);

  /// Checks axis resources without a mesh.
  static LogicalResult checkSymbolic(const ShardingSpec &spec, const SpecTarget &target, Attribute existing);
  LogicalResult applyBoundaries(FunctionPlan &function);
  LogicalResult setFactorShardings(const ShardingSpec &spec, const SpecTarget &target, Value value);

  const ShardingPlan &plan;
  ModuleOp module;
  MeshCache meshes;
  FlatSymbolRefAttr defaultMesh;
  std::vector<FunctionPlan> functions;
  std::vector<RuleState> states; // per rule
};

} // namespace

LogicalResult PlanApplier::run() {
  if (failed(addMeshes()))
    return failure();
  if (getPhase(module) < int(Phase::Annotated))
    makeConstraintsOfShardings(module);
  meshes = MeshCache(module);
  if (plan.meshes.size() == 1)
    defaultMesh = FlatSymbolRefAttr::get(module.getContext(), plan.meshes[0].mesh.name);
  else if (SmallVector<MeshOp> all = getMeshesWithAxes(module); plan.meshes.empty() && all.size() == 1)
    defaultMesh = FlatSymbolRefAttr::get(all.front().getSymNameAttr());

  if (failed(applyStages(plan, module, meshes)))
    return failure();
  for (auto func : module.getOps<func::FuncOp>()) {
    functions.emplace_back().func = func;
    match(functions.back());
  }
  if (failed(reportUnmatched()))
    return failure();
  for (FunctionPlan &function : functions)
    if (failed(applySignature(function)) || failed(applyValues(function)) || failed(applyBoundaries(function)))
      return failure();
  return success();
}

/// Costs that the mesh of the module lacks are those of the plan.
static void takeCosts(const PlanMesh &entry, MeshOp op) {
  const Mesh &mesh = entry.mesh;
  Builder b(op.getContext());
  if (!op.getAlpha() && !mesh.alpha.empty())
    op.setAlphaAttr(b.getF64ArrayAttr(mesh.alpha));
  if (!op.getBeta() && !mesh.beta.empty())
    op.setBetaAttr(b.getF64ArrayAttr(mesh.beta));
  if (!op.getFlopsAttr() && mesh.flops)
    op.setFlopsAttr(b.getF64FloatAttr(*mesh.flops));
  if (!op.getBandwidthAttr() && mesh.bandwidth)
    op.setBandwidthAttr(b.getF64FloatAttr(*mesh.bandwidth));
  if (!op.getMemoryAttr() && mesh.memory)
    op.setMemoryAttr(b.getI64IntegerAttr(*mesh.memory));
  if (!op->hasAttr(kOverlapAttr) && entry.overlap)
    op->setAttr(kOverlapAttr, b.getF64FloatAttr(*entry.overlap));
}

LogicalResult PlanApplier::addMeshes() {
  MLIRContext *context = module.getContext();
  OpBuilder b(context);
  b.setInsertionPointToStart(module.getBody());
  for (const PlanMesh &entry : plan.meshes) {
    const Mesh &mesh = entry.mesh;
    MeshAttr attr = toAttr(context, mesh);
    if (Operation *existing = SymbolTable::lookupSymbolIn(module, mesh.name)) {
      auto old = dyn_cast<MeshOp>(existing);
      if (!old) {
        InFlightDiagnostic diag = emitError(entry.loc)
                                  << "mesh @" << mesh.name << " of the plan has the name of " << existing->getName();
        diag.attachNote(existing->getLoc()) << "which is here";
        return diag;
      }
      if (failed(checkSameMesh(entry, attr, old)))
        return failure();
      takeCosts(entry, old);
      continue;
    }
    takeCosts(entry, createMesh(b, entry.loc, mesh.name, mesh));
  }
  return success();
}

LogicalResult PlanApplier::checkSameMesh(const PlanMesh &entry, MeshAttr attr, MeshOp old) {
  const Mesh &planMesh = entry.mesh;
  Mesh other = toMesh(old);
  auto mismatch = [&](StringRef what, auto planText, auto oldText) -> LogicalResult {
    InFlightDiagnostic diag = emitError(entry.loc) << what << " of mesh @" << planMesh.name << " is " << planText
                                                   << " in the plan, expected that of the mesh in the "
                                                      "module, "
                                                   << oldText;
    diag.attachNote(old.getLoc()) << "which is here";
    return diag;
  };
  bool sameAxes =
      llvm::equal(planMesh.axes, other.axes, [](auto &a, auto &b) { return a.name == b.name && a.size == b.size; });
  if (!sameAxes || planMesh.deviceIds != other.deviceIds)
    return mismatch("value", attr, old.getMesh());
  // Costs that one of them leaves out are those of the other.
  auto print = [](ArrayRef<double> costs) {
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::interleaveComma(costs, os);
    return text;
  };
  auto list = [](std::optional<double> cost) { return cost ? SmallVector<double>{*cost} : SmallVector<double>(); };
  auto check = [&](StringRef what, ArrayRef<double> cost, ArrayRef<double> oldCost) {
    return cost.empty() || oldCost.empty() || cost == oldCost ? success() : mismatch(what, print(cost), print(oldCost));
  };
  return failure(failed(check("alpha", planMesh.alpha, other.alpha)) ||
                 failed(check("beta", planMesh.beta, other.beta)) ||
                 failed(check("flops", list(planMesh.flops), list(other.flops))) ||
                 failed(check("bandwidth", list(planMesh.bandwidth), list(other.bandwidth))) ||
                 failed(check("overlap", list(entry.overlap), list(getOverlap(old)))) ||
                 failed(check("memory", list(planMesh.memory), list(other.memory))));
}

void PlanApplier::match(FunctionPlan &function) {
  func::FuncOp func = function.func;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    names(function, PlanTarget::Argument).push_back({{getArgumentName(func, i)}, "", {}});
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    names(function, PlanTarget::Result).push_back({{getResultName(func, i)}, "", {}});
  function.values = collectNamedValues(func);
  for (const NamedValue &value : function.values)
    names(function, PlanTarget::Value).push_back({value.names, value.position, {}});
  llvm::DenseMap<Value, const NamedValue *> byValue;
  for (const NamedValue &value : function.values)
    byValue[value.value] = &value;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    function.isStaged |= func.getArgAttr(i, kMicrobatchAttr) != nullptr;
  func.walk([&](StageBoundaryOp op) {
    function.isStaged = true;
    function.boundaries.push_back(op);
    Named &named = names(function, PlanTarget::Boundary).emplace_back();
    for (Value input : op.getInputs())
      if (const NamedValue *value = byValue.lookup(skipAnnotations(input))) {
        llvm::append_range(named.names, value->names);
        named.position = value->position;
      }
  });

  std::string hash;
  SmallVector<unsigned> active[std::size(kPlanTargets)];
  for (auto [i, rule] : llvm::enumerate(plan.rules)) {
    if (!NamePattern(rule.function).matches(func.getName()))
      continue;
    states[i].function = true;
    if (!rule.hash.empty()) {
      if (hash.empty())
        hash = hashFunction(func);
      if (rule.hash != hash) {
        states[i].otherHash = hash;
        continue;
      }
    }
    active[unsigned(rule.target)].push_back(i);
  }
  for (PlanTarget target : kPlanTargets)
    matchNames(active[unsigned(target)], names(function, target));
}

std::vector<Named> &PlanApplier::names(FunctionPlan &function, PlanTarget target) {
  return function.named[unsigned(target)];
}

void PlanApplier::matchNames(ArrayRef<unsigned> rules, std::vector<Named> &named) {
  llvm::StringMap<unsigned> literals; // the first rule of each name
  SmallVector<std::pair<unsigned, NamePattern>> patterns;
  for (unsigned i : rules) {
    NamePattern pattern(plan.rules[i].name);
    if (pattern.isLiteral())
      literals.try_emplace(pattern.getText(), i);
    else
      patterns.push_back({i, std::move(pattern)});
  }
  llvm::StringMap<std::optional<unsigned>> exact; // the rule that a name took
  llvm::StringSet<> prefixes;
  for (Named &entry : named) {
    auto take = [&](unsigned i) {
      states[i].matched = true;
      if (!entry.rule || i < *entry.rule)
        entry.rule = i;
    };
    auto takeLiterals = [&](StringRef name) {
      forEachPrefix(name, [&](StringRef prefix) {
        prefixes.insert(prefix);
        if (auto it = literals.find(prefix); it != literals.end())
          take(it->second);
      });
    };
    for (StringRef name : entry.names) {
      takeLiterals(name);
      for (auto &[i, pattern] : patterns)
        if (pattern.matchesPrefix(name))
          take(i);
    }
    if (!entry.position.empty())
      takeLiterals(entry.position);
    if (entry.rule)
      states[*entry.rule].applied = true;
    for (StringRef name : entry.names)
      exact[name] = entry.rule;
    if (!entry.position.empty())
      exact[entry.position] = entry.rule;
  }
  for (unsigned i : rules) {
    StringRef name = plan.rules[i].name;
    if (auto it = exact.find(name); it != exact.end()) {
      states[i].exact = true;
      states[i].shadowedBy = it->second.value_or(i);
    }
    // Rules after the first one of that name.
    if (prefixes.contains(name))
      states[i].matched = true;
  }
}

LogicalResult PlanApplier::reportUnmatched() {
  SmallVector<StringRef> functionNames;
  for (FunctionPlan &function : functions)
    functionNames.push_back(function.func.getName());
  for (auto [rule, state] : llvm::zip_equal(plan.rules, states)) {
    if (state.matched) {
      if (state.exact && !state.applied)
        emitWarning(rule.spec.loc) << rule.spec.prefix << "has no effect, rule " << state.shadowedBy + 1 << " matches "
                                   << stringifyPlanTarget(rule.target) << " \"" << rule.name << "\" and comes first";
      continue;
    }
    bool literalFunction = NamePattern(rule.function).isLiteral();
    auto emit = [&](bool error) {
      InFlightDiagnostic diag = error ? emitError(rule.spec.loc) : emitWarning(rule.spec.loc);
      diag << rule.spec.prefix;
      return diag;
    };
    auto listNames = [&](InFlightDiagnostic &diag, StringRef name, ArrayRef<StringRef> known) {
      std::string list = listNearest(name, known);
      if (list.empty())
        diag << ", there are none";
      else
        diag << ", expected a name such as " << list;
    };
    if (!state.function) {
      InFlightDiagnostic diag = emit(literalFunction);
      if (literalFunction)
        diag << "unknown function @" << rule.function;
      else
        diag << "no function matches \"" << rule.function << "\"";
      listNames(diag, rule.function, functionNames);
      if (literalFunction)
        return failure();
      continue;
    }
    std::string where = literalFunction ? "@" + rule.function : "any function";
    if (!state.otherHash.empty())
      return rule.spec.emitError() << where << " has changed since " << rule.name << " was numbered: its hash is \""
                                   << state.otherHash << "\", expected \"" << rule.hash << "\"";
    // Names and subtrees of all functions that the rule applies to.
    SmallVector<StringRef> known;
    for (FunctionPlan &function : functions)
      if (NamePattern(rule.function).matches(function.func.getName()))
        for (const Named &entry : names(function, rule.target)) {
          for (StringRef name : entry.names)
            forEachPrefix(name, [&](StringRef prefix) { known.push_back(prefix); });
          if (isPosition(rule.name))
            known.push_back(entry.position);
        }
    bool literal = NamePattern(rule.name).isLiteral();
    InFlightDiagnostic diag = emit(literal);
    if (literal)
      diag << "unknown " << stringifyPlanTarget(rule.target) << " \"" << rule.name << "\" of " << where;
    else
      diag << "no " << stringifyPlanTarget(rule.target) << " of " << where << " matches \"" << rule.name << "\"";
    listNames(diag, rule.name, known);
    if (literal)
      return failure();
  }
  return success();
}

bool PlanApplier::skipsValue(const PlanRule &rule, const Named &named, Type type) {
  return !isa<RankedTensorType>(type) && !llvm::is_contained(named.names, rule.name) && named.position != rule.name;
}

LogicalResult PlanApplier::applySignature(FunctionPlan &function) {
  func::FuncOp func = function.func;
  SignatureAttrs attrs(func);
  bool changed = false;
  auto apply = [&](PlanTarget kind, unsigned i, Type type, Location loc, NamedAttrList &list) -> LogicalResult {
    const Named &named = names(function, kind)[i];
    if (!named.rule || skipsValue(plan.rules[*named.rule], named, type))
      return success();
    const ShardingSpec &spec = plan.rules[*named.rule].spec;
    SpecTarget target{type, describe(kind, named, func), loc};
    if (staysSymbolic(function, spec)) {
      if (failed(checkSymbolic(spec, target, list.get(kShardingAttr))) ||
          failed(checkSymbolic(spec, target, list.get(kAxisResourcesAttr))))
        return failure();
      list.set(kAxisResourcesAttr, spec.resources);
      changed = true;
      return success();
    }
    FailureOr<ShardingAttr> sharding = resolveSpecAt(spec, meshes, defaultMesh, target, list.get(kShardingAttr));
    if (failed(sharding))
      return failure();
    if (kind == PlanTarget::Result && func.isPublic() && !sharding->getUnreduced().empty())
      return spec.emitError() << target.what
                              << ", a public function, is unreduced, expected "
                                 "a complete value";
    list.set(kShardingAttr, *sharding);
    changed = true;
    return success();
  };
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (failed(apply(PlanTarget::Argument, i, func.getArgumentTypes()[i],
                     func.isExternal() ? func.getLoc() : func.getArgument(i).getLoc(), attrs.arg(i))))
      return failure();
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (failed(apply(PlanTarget::Result, i, func.getResultTypes()[i], func.getLoc(), attrs.result(i))))
      return failure();
  if (changed)
    attrs.write();
  return success();
}

std::string PlanApplier::describe(PlanTarget target, const Named &named, func::FuncOp func) const {
  return (stringifyPlanTarget(target) + " \"" + (named.names.empty() ? named.position : named.names.front()) +
          "\" of @" + func.getName())
      .str();
}

LogicalResult PlanApplier::applyValues(FunctionPlan &function) {
  Operation *lastOfArguments = nullptr;
  for (auto [named, value] : llvm::zip_equal(names(function, PlanTarget::Value), function.values)) {
    if (!named.rule || skipsValue(plan.rules[*named.rule], named, value.value.getType()))
      continue;
    const ShardingSpec &spec = plan.rules[*named.rule].spec;
    SpecTarget target{value.value.getType(), describe(PlanTarget::Value, named, function.func), value.value.getLoc()};
    if ((spec.sharding || spec.resources) && failed(constrain(function, spec, target, value.value, lastOfArguments)))
      return failure();
    if ((spec.factorShardings || spec.reshardPerUse) && failed(setFactorShardings(spec, target, value.value)))
      return failure();
  }
  return success();
}

LogicalResult PlanApplier::constrain(const FunctionPlan &function, const ShardingSpec &spec, const SpecTarget &target,
                                     Value value, Operation *&lastOfArguments) {
  SmallVector<Attribute> existing;
  for (Operation *user : value.getUsers())
    if (auto constraint = dyn_cast<WithShardingConstraintOp>(user))
      existing.push_back(constraint.getShardingAttr() ? Attribute(constraint.getShardingAttr())
                                                      : Attribute(constraint.getAxisResourcesAttr()));
  if (auto result = dyn_cast<OpResult>(value))
    if (auto list = result.getOwner()->getAttrOfType<ArrayAttr>(kShardingsAttr))
      existing.push_back(list[result.getResultNumber()]);
  bool isSymbolic = staysSymbolic(function, spec);
  for (Attribute attr : existing)
    if (attr && failed(isSymbolic ? checkSymbolic(spec, target, attr)
                                  : LogicalResult(resolveSpecAt(spec, meshes, defaultMesh, target, attr))))
      return failure();
  if (!existing.empty())
    return success();

  FailureOr<ShardingAttr> sharding = ShardingAttr();
  if (!isSymbolic)
    sharding = resolveSpec(spec, meshes, defaultMesh, target);
  else if (failed(checkSymbolic(spec, target, {})))
    return failure();
  if (failed(sharding))
    return failure();
  if (*sharding && !sharding->getUnreduced().empty())
    return spec.emitError() << target.what << " is unreduced, expected a complete value";
  OpBuilder b(value.getContext());
  if (Operation *op = value.getDefiningOp())
    b.setInsertionPointAfter(op);
  else if (lastOfArguments)
    b.setInsertionPointAfter(lastOfArguments);
  else
    b.setInsertionPointToStart(value.getParentBlock());
  WithShardingConstraintOp constraint = constrainValue(b, value, *sharding, value.getLoc());
  if (isSymbolic)
    constraint.setAxisResourcesAttr(spec.resources);
  if (!value.getDefiningOp())
    lastOfArguments = constraint;
  return success();
}

bool PlanApplier::staysSymbolic(const FunctionPlan &function, const ShardingSpec &spec) {
  return function.isStaged && spec.resources && spec.mesh.empty();
}

LogicalResult PlanApplier::checkSymbolic(const ShardingSpec &spec, const SpecTarget &target, Attribute existing) {
  auto tensor = dyn_cast<RankedTensorType>(target.type);
  int64_t entries = spec.resources.getNumEntries();
  if (!tensor || entries > tensor.getRank()) {
    InFlightDiagnostic diag = spec.emitError();
    if (!tensor)
      diag << "axis resources on " << target.type << ", expected a ranked tensor";
    else
      diag << "axis resources of " << target.what << " have " << entries << " entries, expected at most "
           << tensor.getRank() << ", the rank of " << tensor;
    diag.attachNote(target.loc) << target.what << " is here";
    return diag;
  }
  if (!existing || existing == spec.resources)
    return success();
  InFlightDiagnostic diag = spec.emitError() << "axis resources of " << target.what << " are " << spec.resources
                                             << ", expected the existing ones, " << existing;
  diag.attachNote(target.loc) << target.what << " is here";
  return diag;
}

LogicalResult PlanApplier::applyBoundaries(FunctionPlan &function) {
  for (auto [named, op] : llvm::zip_equal(names(function, PlanTarget::Boundary), function.boundaries)) {
    if (!named.rule)
      continue;
    const ShardingSpec &spec = plan.rules[*named.rule].spec;
    std::string what = describe(PlanTarget::Boundary, named, function.func);
    for (Value input : op.getInputs()) {
      auto type = cast<RankedTensorType>(input.getType());
      bool isPattern = !NamePattern(plan.rules[*named.rule].name).isLiteral();
      if (isPattern && spec.resources.getNumEntries() > type.getRank()) {
        emitWarning(spec.loc) << spec.prefix << "skips " << what << ", where a value has rank " << type.getRank();
        named.rule.reset();
        break;
      }
      if (failed(checkSymbolic(spec, {type, what, op.getLoc()}, op.getAxisResourcesAttr())))
        return failure();
    }
    if (named.rule)
      op.setAxisResourcesAttr(spec.resources);
  }
  return success();
}

LogicalResult PlanApplier::setFactorShardings(const ShardingSpec &spec, const SpecTarget &target, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return spec.emitError() << (spec.factorShardings ? "\"factor_shardings\" on " : "\"reshard_per_use\" on ")
                            << target.what << ", an argument, expected it on the result of an op";
  auto emitError = [&] {
    InFlightDiagnostic diag = spec.emitError();
    diag.attachNote(op->getLoc()) << target.what << " is here";
    return diag;
  };
  ShardingRule rule = getShardingRule(op);
  if (spec.reshardPerUse) {
    ArrayRef<int64_t> operands = spec.reshardPerUse.asArrayRef();
    if (!operands.empty() && operands.back() >= int64_t(rule.numOperands()))
      return emitError() << "\"reshard_per_use\" has operand " << operands.back() << ", expected those of "
                         << op->getName() << ", 0 to " << int64_t(rule.numOperands()) - 1;
    op->setAttr(kReshardPerUseAttr, spec.reshardPerUse);
  }
  if (!spec.factorShardings)
    return success();
  unsigned factors = rule.numFactors();
  if (spec.factorShardings.getFactors().size() != factors)
    return emitError() << "\"factor_shardings\" has " << spec.factorShardings.getFactors().size()
                       << " factors, expected " << factors << ", those of " << op->getName();
  const Mesh *mesh = lookupMeshOrEmit(meshes, spec.factorShardings.getMesh().getValue(), emitError);
  if (!mesh)
    return failure();
  FailureOr<SmallVector<DimEntries>> entries = toFactors(spec.factorShardings, *mesh, emitError);
  if (failed(entries))
    return failure();
  Sharding sharding;
  for (DimEntries &list : *entries)
    sharding.dims.push_back({std::move(list), false, 0});
  SmallVector<int64_t> sizes(sharding.dims.size(), 0); // divisible by any axes
  if (std::optional<ShardingError> error = verifySharding(sharding, *mesh, sizes, /*allowUneven=*/true)) {
    InFlightDiagnostic diag = emitError() << "illegal factors: " << error->message;
    diag.attachNote() << "available axes: " << mesh->axesToString();
    return diag;
  }
  if (Attribute old = op->getAttr(kFactorShardingsAttr); old && old != spec.factorShardings)
    return emitError() << "\"factor_shardings\" is " << spec.factorShardings << ", expected the existing one, " << old;
  op->setAttr(kFactorShardingsAttr, spec.factorShardings);
  return success();
}

LogicalResult spmd::applyPlan(const ShardingPlan &plan, ModuleOp module) { return PlanApplier(plan, module).run(); }

namespace {

struct ApplyPlanPass : public spmd::impl::SPMDApplyPlanPassBase<ApplyPlanPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

  LogicalResult run(ModuleOp module) {
    if (failed(verifyInput(module, Phase::Annotated, getArgument())))
      return failure();
    if (file.empty())
      return emitError(module.getLoc()) << "no plan to apply, expected the option file=PLAN.json";
    std::string error;
    std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(file, &error);
    if (!buffer)
      return emitError(module.getLoc()) << error;
    FailureOr<ShardingPlan> plan = readPlan(buffer->getBuffer(), file, &getContext());
    if (failed(plan))
      return failure();
    return applyPlan(*plan, module);
  }
};

} // namespace
