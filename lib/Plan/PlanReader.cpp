//===- PlanReader.cpp - A plan from JSON ----------------------------------===//

#include "shardkit/Plan/ShardingPlan.h"
#include "shardkit/Support/LocatedJson.h"
#include "shardkit/Support/Names.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::spmd;

StringRef spmd::stringifyPlanTarget(PlanTarget target) {
  switch (target) {
  case PlanTarget::Argument:
    return "argument";
  case PlanTarget::Result:
    return "result";
  case PlanTarget::Value:
    return "value";
  case PlanTarget::Boundary:
    return "boundary";
  }
  llvm_unreachable("no such target");
}

namespace {

/// Reads a plan file. Every error names the line and column of the value in question, and
/// messages about a rule begin with its number ("rule 3: ").
class PlanReader : JsonFile {
public:
  using JsonFile::JsonFile;
  FailureOr<ShardingPlan> read();

private:
  //===--- meshes ---------------------------------------------------------===//

  LogicalResult readMesh(const LocatedJson &object, ShardingPlan &plan);

  //===--- rules ----------------------------------------------------------===//

  LogicalResult readRule(const LocatedJson &object, ShardingPlan &plan);
  LogicalResult readReshardPerUse(const LocatedJson &value, ShardingSpec &spec);
  LogicalResult readStage(const LocatedJson &object, ShardingPlan &plan);
  LogicalResult readResources(const LocatedJson &value, ShardingSpec &spec);

  /// Parses `<@pod, [...]>` as an attribute of the dialect.
  template <typename Attr> LogicalResult readAttr(const LocatedJson &value, StringRef key, StringRef kind, Attr &out);
};

} // namespace

FailureOr<ShardingPlan> PlanReader::read() {
  LocatedJson root;
  if (failed(parse(root, "plan")) || failed(checkKeys(root, {"version", "meshes", "rules"})))
    return failure();
  const LocatedJson *version = root.find("version");
  if (!version)
    return emitError(root.offset) << "plan has no version, expected \"version\": 1";
  if (version->kind != LocatedJson::Integer || version->integer != 1)
    return emitError(version->offset) << "version is " << describe(*version) << ", expected 1";
  ShardingPlan plan;
  if (const LocatedJson *meshes = root.find("meshes")) {
    if (meshes->kind != LocatedJson::Array)
      return emitError(meshes->offset) << "\"meshes\" is " << describe(*meshes) << ", expected a list";
    for (const LocatedJson &mesh : meshes->items)
      if (failed(readMesh(mesh, plan)))
        return failure();
  }
  if (const LocatedJson *rules = root.find("rules")) {
    if (rules->kind != LocatedJson::Array)
      return emitError(rules->offset) << "\"rules\" is " << describe(*rules) << ", expected a list";
    for (auto [i, rule] : llvm::enumerate(rules->items)) {
      prefix = "rule " + std::to_string(i + 1) + ": ";
      if (failed(readRule(rule, plan)))
        return failure();
    }
  }
  return plan;
}

LogicalResult PlanReader::readMesh(const LocatedJson &object, ShardingPlan &plan) {
  if (object.kind != LocatedJson::Object)
    return emitError(object.offset) << "mesh is " << describe(object) << ", expected an object";
  if (failed(checkKeys(
          object, {"name", "axes", "device_ids", "alpha", "beta", "flops", "bandwidth", "overlap", "memory", "error"})))
    return failure();
  PlanMesh entry{{}, locate(object.offset)};
  Mesh &mesh = entry.mesh;
  if (failed(readText(object, "name", mesh.name)))
    return failure();
  if (mesh.name.empty())
    return emitError(object.offset) << "mesh has no \"name\"";
  for (const PlanMesh &other : plan.meshes)
    if (other.mesh.name == mesh.name)
      return emitError(object.offset) << "mesh @" << mesh.name << " occurs twice, expected each name once";
  const LocatedJson *axes = object.find("axes");
  if (!axes || axes->kind != LocatedJson::Array)
    return emitError(axes ? axes->offset : object.offset)
           << "mesh @" << mesh.name << " has no list \"axes\", expected [[\"x\", 2], ...]";
  for (const LocatedJson &axis : axes->items) {
    if (axis.kind != LocatedJson::Array || axis.items.size() != 2 || !axis.items[0].isString() ||
        axis.items[1].kind != LocatedJson::Integer)
      return emitError(axis.offset) << "axis is " << describe(axis) << ", expected a name and a size, [\"x\", 2]";
    mesh.axes.push_back({axis.items[0].text, axis.items[1].integer});
  }
  if (const LocatedJson *ids = object.find("device_ids")) {
    if (ids->kind != LocatedJson::Array)
      return emitError(ids->offset) << "\"device_ids\" is " << describe(*ids) << ", expected a list of integers";
    bool iota = true;
    for (auto [rank, id] : llvm::enumerate(ids->items)) {
      if (id.kind != LocatedJson::Integer)
        return emitError(id.offset) << "device id is " << describe(id) << ", expected an integer";
      iota &= id.integer == int64_t(rank);
      mesh.deviceIds.push_back(id.integer);
    }
    if (iota && int64_t(mesh.deviceIds.size()) == mesh.numDevices())
      mesh.deviceIds.clear();
  }
  for (auto [key, costs] : {std::pair("alpha", &mesh.alpha), std::pair("beta", &mesh.beta)})
    if (const LocatedJson *list = object.find(key)) {
      if (list->kind != LocatedJson::Array ||
          !llvm::all_of(list->items, [](const LocatedJson &v) { return v.isNumber(); }))
        return emitError(list->offset) << "\"" << key << "\" is " << describe(*list)
                                       << ", expected a list of numbers, one per axis";
      for (const LocatedJson &cost : list->items)
        costs->push_back(cost.real);
    }
  for (auto [key, rate] :
       {std::pair("flops", &mesh.flops), std::pair("bandwidth", &mesh.bandwidth), std::pair("overlap", &entry.overlap)})
    if (const LocatedJson *value = object.find(key)) {
      if (!value->isNumber())
        return emitError(value->offset) << "\"" << key << "\" is " << describe(*value) << ", expected a number";
      *rate = value->real;
    }
  if (entry.overlap && !(*entry.overlap >= 0 && *entry.overlap <= 1))
    return emitError(object.find("overlap")->offset)
           << "\"overlap\" is " << describe(*object.find("overlap")) << ", expected a fraction from 0 to 1";
  if (const LocatedJson *error = object.find("error"); error && !(error->isNumber() && error->real >= 0))
    return emitError(error->offset) << "\"error\" is " << describe(*error)
                                    << ", expected the relative error of measured costs, 0 or more";
  if (const LocatedJson *memory = object.find("memory")) {
    if (memory->kind != LocatedJson::Integer)
      return emitError(memory->offset) << "\"memory\" is " << describe(*memory) << ", expected a number of bytes";
    mesh.memory = memory->integer;
  }
  if (std::optional<ShardingError> error = verifyMesh(mesh))
    return emitError(object.offset) << "mesh @" << mesh.name << ": " << error->message;
  plan.meshes.push_back(std::move(entry));
  return success();
}

LogicalResult PlanReader::readRule(const LocatedJson &object, ShardingPlan &plan) {
  if (object.kind != LocatedJson::Object)
    return emitError(object.offset) << "found " << describe(object) << ", expected an object";
  if (object.find("stage"))
    return readStage(object, plan);
  if (failed(checkKeys(object, {"function", "argument", "result", "value", "boundary", "axis_resources", "sharding",
                                "factor_shardings", "reshard_per_use", "mesh", "hash"})))
    return failure();

  PlanRule rule(locate(object.offset));
  ShardingSpec &spec = rule.spec;
  spec.prefix = prefix;
  unsigned targets = 0;
  for (PlanTarget target : kPlanTargets)
    if (object.find(stringifyPlanTarget(target))) {
      ++targets;
      rule.target = target;
    }
  if (targets != 1)
    return emitError(object.offset) << "found " << targets
                                    << " of \"argument\", \"result\", \"value\", \"boundary\", expected one";
  if (failed(readText(object, "function", rule.function)) ||
      failed(readText(object, stringifyPlanTarget(rule.target), rule.name)) ||
      failed(readText(object, "mesh", spec.mesh)) || failed(readText(object, "hash", rule.hash)))
    return failure();

  const LocatedJson *resources = object.find("axis_resources");
  const LocatedJson *sharding = object.find("sharding");
  const LocatedJson *factorShardings = object.find("factor_shardings"), *reshardPerUse = object.find("reshard_per_use");
  for (auto [key, ofOp] : {std::pair("factor_shardings", factorShardings), std::pair("reshard_per_use", reshardPerUse)})
    if (ofOp && rule.target != PlanTarget::Value)
      return emitError(ofOp->offset) << "\"" << key << "\" on a" << (rule.target == PlanTarget::Argument ? "n " : " ")
                                     << stringifyPlanTarget(rule.target) << ", expected it on a value";
  if (bool(resources) + bool(sharding) != 1 && !((factorShardings || reshardPerUse) && !resources && !sharding))
    return emitError(object.offset) << (resources ? "found both \"axis_resources\" and \"sharding\""
                                                  : "found neither \"axis_resources\" nor \"sharding\"")
                                    << ", expected one";
  if (!spec.mesh.empty() && !resources)
    return emitError(object.offset) << "\"mesh\" without \"axis_resources\", expected the mesh in the sharding";
  if (rule.target == PlanTarget::Boundary && (sharding || !spec.mesh.empty()))
    return emitError(object.offset) << "\"" << (sharding ? "sharding" : "mesh")
                                    << "\" on a boundary, expected axis resources, which both of its stages resolve";
  bool position = isPosition(rule.name) && (rule.target == PlanTarget::Value || rule.target == PlanTarget::Boundary);
  if (position && rule.hash.empty())
    return emitError(object.offset) << "value " << rule.name << " without \"hash\", expected that of the function";
  if (!position && !rule.hash.empty())
    return emitError(object.offset) << "\"hash\" with a value that has a name, expected it "
                                       "with op#N";
  if (resources && failed(readResources(*resources, spec)))
    return failure();
  if (sharding && failed(readAttr(*sharding, "sharding", "#spmd.sharding", spec.sharding)))
    return failure();
  if (factorShardings && failed(readAttr(*factorShardings, "factor_shardings", "#spmd.factors", spec.factorShardings)))
    return failure();
  if (reshardPerUse && failed(readReshardPerUse(*reshardPerUse, spec)))
    return failure();
  plan.rules.push_back(std::move(rule));
  return success();
}

LogicalResult PlanReader::readReshardPerUse(const LocatedJson &value, ShardingSpec &spec) {
  SmallVector<int64_t> operands;
  bool isList = value.kind == LocatedJson::Array;
  for (const LocatedJson &operand : value.items) {
    isList &= operand.kind == LocatedJson::Integer && operand.integer > (operands.empty() ? -1 : operands.back());
    operands.push_back(operand.integer);
  }
  if (!isList)
    return emitError(value.offset) << "\"reshard_per_use\" is " << describe(value)
                                   << ", expected a list of numbers of operands from 0 on, ascending";
  spec.reshardPerUse = DenseI64ArrayAttr::get(context, operands);
  return success();
}

LogicalResult PlanReader::readStage(const LocatedJson &object, ShardingPlan &plan) {
  if (failed(checkKeys(object, {"function", "stage", "mesh", "until", "hash"})))
    return failure();
  PlanStage stage(locate(object.offset));
  stage.prefix = prefix;
  const LocatedJson &number = *object.find("stage");
  if (number.kind != LocatedJson::Integer || number.integer < 0)
    return emitError(number.offset) << "\"stage\" is " << describe(number) << ", expected a number, 0 or more";
  stage.stage = number.integer;
  if (failed(readText(object, "function", stage.function)) || failed(readText(object, "mesh", stage.mesh)) ||
      failed(readText(object, "hash", stage.hash)))
    return failure();
  if (stage.function.empty())
    return emitError(object.offset) << "stage without \"function\", expected the name of one";
  if (const LocatedJson *until = object.find("until")) {
    SmallVector<const LocatedJson *> names{until};
    if (until->kind == LocatedJson::Array) {
      names.clear();
      for (const LocatedJson &item : until->items)
        names.push_back(&item);
    }
    bool hasPosition = false;
    for (const LocatedJson *name : names) {
      if (!name->isString())
        return emitError(name->offset) << "\"until\" is " << describe(*name)
                                       << ", expected the name of a value or a list of names";
      stage.until.push_back(name->text);
      hasPosition |= isPosition(name->text);
    }
    if (stage.until.empty())
      return emitError(until->offset) << "\"until\" is an empty list, expected a value";
    if (hasPosition && stage.hash.empty())
      return emitError(object.offset) << "value named by its position without \"hash\", "
                                         "expected that of the function";
  }
  plan.stages.push_back(std::move(stage));
  return success();
}

LogicalResult PlanReader::readResources(const LocatedJson &value, ShardingSpec &spec) {
  Builder b(context);
  SmallVector<Attribute> entries;
  if (value.kind != LocatedJson::Null && value.kind != LocatedJson::Array)
    return emitError(value.offset) << "\"axis_resources\" is " << describe(value)
                                   << ", expected a list, or null for a replicated value";
  for (const LocatedJson &entry : value.items) {
    bool list = entry.kind == LocatedJson::Array &&
                llvm::all_of(entry.items, [](const LocatedJson &v) { return v.isString(); });
    if (entry.kind == LocatedJson::Null)
      entries.push_back(b.getArrayAttr({}));
    else if (entry.isString() && entry.text == "?")
      entries.push_back(b.getUnitAttr());
    else if (entry.isString())
      entries.push_back(b.getStrArrayAttr({StringRef(entry.text)}));
    else if (list) {
      SmallVector<StringRef> names;
      for (const LocatedJson &axis : entry.items)
        names.push_back(axis.text);
      entries.push_back(b.getStrArrayAttr(names));
    } else {
      return emitError(entry.offset) << "entry is " << describe(entry)
                                     << ", expected an axis, a list of axes, null or \"?\"";
    }
  }
  bool replicated = value.kind == LocatedJson::Null;
  if (failed(AxisResourcesAttr::verify([&] { return emitError(value.offset); }, replicated, entries)))
    return failure();
  spec.resources = AxisResourcesAttr::get(context, replicated, entries);
  return success();
}

template <typename Attr>
LogicalResult PlanReader::readAttr(const LocatedJson &value, StringRef key, StringRef kind, Attr &out) {
  if (!value.isString())
    return emitError(value.offset) << "\"" << key << "\" is " << describe(value)
                                   << ", expected text such as \"<@pod, [{\\\"x\\\"}, {}]>\"";
  std::string message;
  Attribute attr;
  if (StringRef(value.text).starts_with("<")) {
    // Errors of the parser refer to an internal buffer.
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diag) {
      if (message.empty())
        message = diag.str();
      return success();
    });
    attr = parseAttribute((kind + value.text).str(), context);
  } else {
    message = "expected '<'";
  }
  out = dyn_cast_or_null<Attr>(attr);
  if (!out)
    return emitError(value.offset) << "\"" << key << "\" is " << describe(value) << ": " << message;
  return success();
}

FailureOr<ShardingPlan> spmd::readPlan(StringRef text, StringRef file, MLIRContext *context) {
  return PlanReader(text, file, context).read();
}
