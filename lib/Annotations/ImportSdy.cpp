//===- ImportSdy.cpp - --spmd-import-sdy ----------------------------------===//
//
// Shardy's dialect is not linked: its ops and attributes are read in generic form,
// as unregistered ops and opaque attributes. The syntax of meshes and shardings is that of
// spmd, except for features that either side lacks.
//
//===----------------------------------------------------------------------===//

#include "ImportSorts.h"
#include "Shardy.h"
#include "Signature.h"
#include "UnsupportedFeatures.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Rules/ShardingRule.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDIMPORTSDYPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Splits at commas outside brackets and strings.
SmallVector<StringRef> splitList(StringRef text) {
  SmallVector<StringRef> items;
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"')
      for (++i; i < text.size() && text[i] != '"'; ++i)
        i += text[i] == '\\';
    else if (StringRef("<[({").contains(text[i]))
      ++depth;
    else if (StringRef(">])}").contains(text[i]))
      --depth;
    else if (text[i] == ',' && depth == 0) {
      items.push_back(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  if (!text.substr(start).trim().empty())
    items.push_back(text.substr(start).trim());
  return items;
}

/// Splits the factors `i`, `j`, `z_1` of a dim of a Shardy rule, which are written without
/// separator: a letter and an optional number each.
SmallVector<StringRef> splitFactors(StringRef dim) {
  SmallVector<StringRef> factors;
  while (!dim.empty() && llvm::isAlpha(dim.front())) {
    size_t end = 1;
    if (end + 1 < dim.size() && dim[end] == '_' && llvm::isDigit(dim[end + 1]))
      for (++end; end < dim.size() && llvm::isDigit(dim[end]);)
        ++end;
    factors.push_back(dim.take_front(end));
    dim = dim.drop_front(end);
  }
  if (!dim.empty())
    factors.clear();
  return factors;
}

/// Replaces the ops and attributes of Shardy by those of spmd.
///
///   #sdy.sharding<@pod, [{"data"}, {?}]>        -> #spmd.sharding<@pod, [{"data"}, {?}]>
///   "sdy.sharding_constraint"(%0) {sharding = ...}  -> spmd.with_sharding_constraint %0 <...>
class ShardyImporter {
public:
  ShardyImporter(ModuleOp module, UnsupportedFeatures features)
      : module(module), context(module.getContext()), features(features) {}
  LogicalResult run();

private:
  //===--- attributes -----------------------------------------------------===//

  /// The text of a Shardy attribute called `mnemonic`, without it; std::nullopt, and one
  /// error, for another one.
  FailureOr<StringRef> getText(Attribute attr, StringRef mnemonic, Location loc, const Twine &what);
  FailureOr<ShardingAttr> importSharding(StringRef text, Location loc, const Twine &what);
  FailureOr<ShardingAttr> importSharding(Attribute attr, Location loc, const Twine &what);
  FailureOr<ArrayAttr> importShardings(Attribute attr, Location loc, const Twine &what);

  /// `#sdy.op_sharding_rule<([ij, k])->([i, j, k]) {i=2, j=4, k=8} reduction={k}, custom>`.
  /// A null attribute is left out.
  FailureOr<RuleAttr> importRule(Attribute attr, Operation *op);

  /// Attributes called `sdy.*` on any op, and of the arguments and results of functions.
  LogicalResult importAttributes(Operation *op);
  LogicalResult reportUnknown(const Twine &what, Location loc);

  //===--- meshes ---------------------------------------------------------===//

  LogicalResult importMesh(Operation *op);
  FailureOr<FlatSymbolRefAttr> importInlinedMesh(StringRef text, Location loc, const Twine &what);

  /// Names of existing symbols.
  SmallVector<StringRef> getMeshNames();
  void addMeshes();

  //===--- ops ------------------------------------------------------------===//

  /// The attributes of an op except these.
  static SmallVector<NamedAttribute> getOthers(Operation *op, ArrayRef<StringRef> known);

  /// Replaces `op` by `made`, which gets the attributes that are not `known`.
  static LogicalResult replace(Operation *op, Operation *made, ArrayRef<StringRef> known);
  LogicalResult importOp(Operation *op);
  LogicalResult importManual(Operation *op);

  /// Parses the spmd form; errors of the parser become errors at `loc`.
  template <typename AttrT> AttrT parseOrEmit(const Twine &text, StringRef original, Location loc, const Twine &what);

  ModuleOp module;
  MLIRContext *context;
  UnsupportedFeatures features;
  /// Meshes that are inlined in shardings, by their text.
  struct Inlined {
    FlatSymbolRefAttr name;
    MeshAttr attr;
    std::optional<Location> loc;
  };
  llvm::StringMap<Inlined> inlined;
  SmallVector<StringRef> order;
};

LogicalResult ShardyImporter::run() {
  SmallVector<Operation *> ops;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (failed(importAttributes(op)))
      return failure();
  // An op comes before those in its regions: a return finds its parent imported.
  for (Operation *op : ops)
    if (op->getName().getDialectNamespace() == "sdy" && failed(importOp(op)))
      return failure();
  addMeshes();
  return importSorts(module);
}

FailureOr<StringRef> ShardyImporter::getText(Attribute attr, StringRef mnemonic, Location loc, const Twine &what) {
  auto opaque = dyn_cast_or_null<OpaqueAttr>(attr);
  StringRef text = opaque ? opaque.getAttrData() : "";
  if (opaque && opaque.getDialectNamespace() == "sdy" && text.consume_front(mnemonic))
    return text;
  InFlightDiagnostic diag = emitError(loc);
  diag << what << " is ";
  if (attr)
    diag << attr;
  else
    diag << "missing";
  diag << ", expected #sdy." << mnemonic << "<...>";
  return diag;
}

FailureOr<ShardingAttr> ShardyImporter::importSharding(StringRef text, Location loc, const Twine &what) {
  StringRef original = text;
  std::string remaining = text.str();
  if (text.starts_with("<mesh<")) {
    SmallVector<StringRef> items = splitList(text.drop_front(1).drop_back(1));
    StringRef mesh = items.front().drop_front(StringRef("mesh").size());
    FailureOr<FlatSymbolRefAttr> name = importInlinedMesh(mesh, loc, what);
    if (failed(name))
      return failure();
    remaining = "<@\"" + name->getValue().str() + "\"";
    for (StringRef item : ArrayRef(items).drop_front())
      remaining += ", " + item.str();
    remaining += ">";
  }
  auto attr = parseOrEmit<ShardingAttr>("#spmd.sharding" + remaining, original, loc, what);
  if (!attr)
    return failure();
  for (DimShardingAttr dim : attr.getDims())
    for (DimEntryAttr entry : dim.getEntries())
      if (entry.isStride())
        return emitError(loc) << what << " has the stride " << entry.getSize() << " in " << original
                              << ", expected axes: Shardy has no strides";
  return attr;
}

FailureOr<ShardingAttr> ShardyImporter::importSharding(Attribute attr, Location loc, const Twine &what) {
  FailureOr<StringRef> text = getText(attr, "sharding", loc, what);
  if (failed(text))
    return failure();
  return importSharding(*text, loc, what);
}

FailureOr<ArrayAttr> ShardyImporter::importShardings(Attribute attr, Location loc, const Twine &what) {
  FailureOr<StringRef> text = getText(attr, "sharding_per_value", loc, what);
  if (failed(text))
    return failure();
  StringRef list = *text;
  if (!list.consume_front("<[") || !list.consume_back("]>"))
    return emitError(loc) << what << " is " << attr << ", expected a list of shardings";
  SmallVector<Attribute> attrs;
  for (auto [i, item] : llvm::enumerate(splitList(list))) {
    auto sharding = importSharding(item, loc, what + " #" + Twine(i));
    if (failed(sharding))
      return failure();
    attrs.push_back(*sharding);
  }
  return ArrayAttr::get(context, attrs);
}

FailureOr<RuleAttr> ShardyImporter::importRule(Attribute attr, Operation *op) {
  Location loc = op->getLoc();
  FailureOr<StringRef> text = getText(attr, "op_sharding_rule", loc, "attribute 'sdy.sharding_rule'");
  if (failed(text))
    return failure();
  StringRef rule = *text;
  rule.consume_front("<");
  rule.consume_back(">");
  rule.consume_back(", custom");
  auto [tensors, remaining] = rule.split('{');
  auto [sizes, sets] = remaining.split('}');
  std::string ours = "#spmd.rule<";
  for (size_t i = 0; i < tensors.size();) {
    if (!llvm::isAlpha(tensors[i])) {
      ours += tensors[i++];
      continue;
    }
    StringRef word = tensors.drop_front(i).take_until([](char c) { return !llvm::isAlnum(c) && c != '_'; });
    SmallVector<StringRef> factors = splitFactors(word);
    ours += factors.size() > 1 ? "(" + llvm::join(factors, " ") + ")" : word.str();
    i += word.size();
  }
  ours += "{" + sizes.str() + "}";
  while (!(sets = sets.ltrim()).empty()) {
    auto [name, list] = sets.split("={");
    auto [members, after] = list.split('}');
    sets = after;
    if (name == "blocked_propagation") {
      if (failed(features.report(loc, "sharding rule of '" + op->getName().getStringRef() +
                                          "' blocks propagation along {" + members +
                                          "}, expected factors that axes may pass along: "
                                          "write a barrier instead")))
        return failure();
      return RuleAttr();
    }
    StringRef set = llvm::StringSwitch<StringRef>(name)
                        .Case("reduction", "reduction(sum)")
                        .Case("need_replication", "replicated")
                        .Case("permutation", "ordered")
                        .Default(name);
    ours += ", " + set.str() + " = {" + members.str() + "}";
    // Shardy's reductions have no kind. If the op has another one, that is correct.
    if (name == "reduction")
      for (const ShardingRule::Tensor &result : getBuiltinShardingRule(op).results())
        if (result.reduction != ReductionKind::Sum) {
          if (failed(features.report(loc, "sharding rule of '" + op->getName().getStringRef() + "' specifies that {" +
                                              members + "} is reduced, and the op reduces by " +
                                              stringifyReductionKind(result.reduction) + ", expected a sum")))
            return failure();
          return RuleAttr();
        }
  }
  auto result =
      parseOrEmit<RuleAttr>(ours + ">", *text, loc, "sharding rule of '" + op->getName().getStringRef() + "'");
  if (!result)
    return failure();
  return result;
}

LogicalResult ShardyImporter::importAttributes(Operation *op) {
  SmallVector<NamedAttribute> theirs;
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (attr.getName().strref().starts_with("sdy."))
      theirs.push_back(attr);
  for (NamedAttribute attr : theirs) {
    StringRef name = attr.getName();
    std::string what = "attribute '" + name.str() + "' of '" + op->getName().getStringRef().str() + "'";
    op->removeDiscardableAttr(attr.getName());
    if (name == kSdySharding) {
      auto shardings = importShardings(attr.getValue(), op->getLoc(), what);
      if (failed(shardings))
        return failure();
      op->setDiscardableAttr(kShardingsAttr, *shardings);
    } else if (name == kSdyRule) {
      auto rule = importRule(attr.getValue(), op);
      if (failed(rule))
        return failure();
      if (*rule)
        op->setDiscardableAttr(kRuleAttr, *rule);
    } else if (failed(reportUnknown(what, op->getLoc()))) {
      return failure();
    }
  }
  auto func = dyn_cast<FunctionOpInterface>(op);
  if (!func)
    return success();
  using Converted = std::optional<NamedAttribute>;
  return convertSignature(func, [&](NamedAttribute attr, Location loc, StringRef whose) -> FailureOr<Converted> {
    StringRef name = attr.getName();
    if (!name.starts_with("sdy."))
      return Converted(attr);
    if (name != kSdySharding) {
      if (failed(reportUnknown("attribute '" + name + "' of " + whose, loc)))
        return failure();
      return Converted();
    }
    auto sharding = importSharding(attr.getValue(), loc, "sharding of " + whose);
    if (failed(sharding))
      return failure();
    return Converted({StringAttr::get(context, kShardingAttr), *sharding});
  });
}

LogicalResult ShardyImporter::reportUnknown(const Twine &what, Location loc) {
  return features.report(loc, what + " has no counterpart, expected 'sdy.sharding' or "
                                     "'sdy.sharding_rule'");
}

LogicalResult ShardyImporter::importMesh(Operation *op) {
  Location loc = op->getLoc();
  auto name = op->getAttrOfType<StringAttr>("sym_name");
  if (!name)
    return emitError(loc) << "'sdy.mesh' has no 'sym_name', expected a name";
  FailureOr<StringRef> text = getText(op->getAttr("mesh"), "mesh", loc, "mesh @" + name.getValue());
  if (failed(text))
    return failure();
  auto attr = parseOrEmit<MeshAttr>("#spmd.mesh" + *text, *text, loc, "mesh @" + name.getValue());
  if (!attr)
    return failure();
  OpBuilder b(op);
  auto mesh = MeshOp::create(b, loc, name, attr, {}, {}, {}, {}, {});
  for (NamedAttribute other : getOthers(op, {"mesh", "sym_name", kCostsAttr}))
    mesh->setAttr(other.getName(), other.getValue());
  if (auto costs = op->getAttrOfType<DictionaryAttr>(kCostsAttr))
    for (NamedAttribute cost : costs)
      if (llvm::is_contained(kCosts, cost.getName().strref()))
        mesh->setAttr(cost.getName(), cost.getValue());
  op->erase();
  return success();
}

FailureOr<FlatSymbolRefAttr> ShardyImporter::importInlinedMesh(StringRef text, Location loc, const Twine &what) {
  auto [it, isNew] = inlined.try_emplace(text);
  if (!isNew)
    return it->second.name;
  auto attr = parseOrEmit<MeshAttr>("#spmd.mesh" + text, text, loc, "mesh of " + what);
  if (!attr)
    return failure();
  std::string name = "mesh";
  for (unsigned i = 0; llvm::is_contained(getMeshNames(), name); ++i)
    name = "mesh_" + std::to_string(i);
  it->second = {FlatSymbolRefAttr::get(context, name), attr, loc};
  order.push_back(it->getKey());
  return it->second.name;
}

SmallVector<StringRef> ShardyImporter::getMeshNames() {
  SmallVector<StringRef> names;
  for (Operation &op : *module.getBody())
    if (auto name = op.getAttrOfType<StringAttr>("sym_name"))
      names.push_back(name.getValue());
  for (StringRef text : order)
    names.push_back(inlined[text].name.getValue());
  return names;
}

void ShardyImporter::addMeshes() {
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  for (StringRef text : order) {
    const Inlined &mesh = inlined[text];
    MeshOp::create(b, *mesh.loc, mesh.name.getAttr(), mesh.attr, {}, {}, {}, {}, {});
  }
}

SmallVector<NamedAttribute> ShardyImporter::getOthers(Operation *op, ArrayRef<StringRef> known) {
  SmallVector<NamedAttribute> others;
  for (NamedAttribute attr : op->getAttrs())
    if (!llvm::is_contained(known, attr.getName().strref()))
      others.push_back(attr);
  return others;
}

LogicalResult ShardyImporter::replace(Operation *op, Operation *made, ArrayRef<StringRef> known) {
  for (NamedAttribute attr : getOthers(op, known))
    made->setAttr(attr.getName(), attr.getValue());
  op->replaceAllUsesWith(made->getResults());
  op->erase();
  return success();
}

LogicalResult ShardyImporter::importOp(Operation *op) {
  StringRef name = op->getName().getStringRef().drop_front(StringRef("sdy.").size());
  Location loc = op->getLoc();
  OpBuilder b(op);
  auto what = [&](StringRef attr) { return "'" + attr.str() + "' of 'sdy." + name.str() + "'"; };
  bool isUnary = op->getNumOperands() == 1 && op->getNumRegions() == 0 &&
                 op->getNumResults() == (name == "sharding_group" ? 0 : 1) &&
                 isa<RankedTensorType>(op->getOperand(0).getType()) &&
                 (op->getNumResults() == 0 || op->getResult(0).getType() == op->getOperand(0).getType());
  auto checkUnary = [&]() -> LogicalResult {
    if (isUnary)
      return success();
    return emitError(loc) << "'sdy." << name << "' is not well formed, expected one ranked tensor"
                          << (name == "sharding_group" ? "" : " and a result of its type");
  };
  if (name == "sharding_constraint" || name == "reshard") {
    if (failed(checkUnary()))
      return failure();
    auto sharding = importSharding(op->getAttr("sharding"), loc, what("sharding"));
    if (failed(sharding))
      return failure();
    Value value = op->getOperand(0);
    Operation *made = nullptr;
    if (name == "reshard")
      made = ReshardOp::create(b, loc, value.getType(), value, *sharding);
    else
      made = WithShardingConstraintOp::create(b, loc, value, *sharding);
    return replace(op, made, {"sharding"});
  }
  // Moves by Shardy's partitioning, which have the sharding of their result.
  if (llvm::is_contained(
          {"all_gather", "all_slice", "all_to_all", "collective_permute", "all_reduce", "reduce_scatter"}, name)) {
    if (failed(checkUnary()))
      return failure();
    auto sharding = importSharding(op->getAttr("out_sharding"), loc, what("out_sharding"));
    if (failed(sharding))
      return failure();
    Value value = op->getOperand(0);
    return replace(
        op, ReshardOp::create(b, loc, value.getType(), value, *sharding),
        {"out_sharding", "gathering_axes", "slicing_axes", "params", "reduction_axes", "reduce_scatter_axes"});
  }
  if (name == "propagation_barrier") {
    auto direction = op->getAttrOfType<IntegerAttr>("allowed_direction");
    // 0 none, 1 forward, 2 backward, as in spmd; 3 both is not a barrier.
    if (failed(checkUnary()))
      return failure();
    if (!direction || direction.getInt() < 0 || direction.getInt() > 3)
      return emitError(loc) << what("allowed_direction")
                            << " is not legal, expected 0 (none), 1 (forward), 2 (backward) "
                               "or 3 (both)";
    if (direction.getInt() == 3) {
      op->replaceAllUsesWith(op->getOperands());
      op->erase();
      return success();
    }
    auto made = PropagationBarrierOp::create(b, loc, op->getResultTypes(), op->getOperand(0),
                                             BarrierDirection(direction.getInt()));
    return replace(op, made, {"allowed_direction"});
  }
  if (name == "sharding_group") {
    auto group = op->getAttrOfType<IntegerAttr>("group_id");
    if (failed(checkUnary()))
      return failure();
    if (!group)
      return emitError(loc) << what("group_id") << " is missing, expected an integer";
    auto made = ShardingGroupOp::create(b, loc, op->getOperand(0), b.getStringAttr(Twine(group.getInt())));
    return replace(op, made, {"group_id"});
  }
  if (name == "mesh")
    return importMesh(op);
  if (name == "manual_computation")
    return importManual(op);
  if (name == "return" && isa_and_nonnull<ManualComputationOp>(op->getParentOp())) {
    ReturnOp::create(b, loc, op->getOperands());
    op->erase();
    return success();
  }
  return emitError(loc) << "'sdy." << name
                        << "' has no counterpart, expected a module as the framework wrote it, or after "
                           "Shardy's propagation: mesh, sharding_constraint, reshard, propagation_barrier, "
                           "sharding_group, manual_computation and collectives";
}

LogicalResult ShardyImporter::importManual(Operation *op) {
  Location loc = op->getLoc();
  auto in = importShardings(op->getAttr("in_shardings"), loc, "'in_shardings' of 'sdy.manual_computation'");
  if (failed(in))
    return failure();
  auto out = importShardings(op->getAttr("out_shardings"), loc, "'out_shardings' of 'sdy.manual_computation'");
  if (failed(out))
    return failure();
  StringRef whatAxes = "'manual_axes' of 'sdy.manual_computation'";
  FailureOr<StringRef> text = getText(op->getAttr("manual_axes"), "manual_axes", loc, whatAxes);
  if (failed(text))
    return failure();
  StringRef list = *text;
  if (!list.consume_front("{") || !list.consume_back("}"))
    return emitError(loc) << whatAxes << " is " << op->getAttr("manual_axes") << ", expected #sdy<manual_axes{...}>";
  auto axes = parseOrEmit<ArrayAttr>("[" + list + "]", list, loc, whatAxes);
  if (!axes)
    return failure();
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return emitError(loc) << "'sdy.manual_computation' has no body, expected a block";
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (!isa<RankedTensorType>(type))
        return emitError(loc) << "'sdy.manual_computation' has a value of type " << type << ", expected ranked tensors";
  OpBuilder b(op);
  auto made = ManualComputationOp::create(b, loc, op->getResultTypes(), op->getOperands(), *in, *out, axes);
  made.getBody().takeBody(op->getRegion(0));
  return replace(op, made, {"in_shardings", "out_shardings", "manual_axes"});
}

template <typename AttrT>
AttrT ShardyImporter::parseOrEmit(const Twine &text, StringRef original, Location loc, const Twine &what) {
  std::string why;
  AttrT attr;
  {
    ScopedDiagnosticHandler quiet(context, [&](Diagnostic &diag) {
      if (why.empty())
        why = diag.str();
      return success();
    });
    attr = dyn_cast_or_null<AttrT>(parseAttribute(text.str(), context));
  }
  if (!attr)
    emitError(loc) << what << " is illegal: " << original << ": " << (why.empty() ? "expected another attribute" : why);
  return attr;
}

struct ImportSdyPass : public spmd::impl::SPMDImportSdyPassBase<ImportSdyPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    UnsupportedFeatures features(unsupported);
    if (failed(verifyInput(module, Phase::Resharded, getArgument())) || failed(ShardyImporter(module, features).run()))
      signalPassFailure();
  }
};

} // namespace
