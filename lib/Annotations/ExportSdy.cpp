//===- ExportSdy.cpp - --spmd-export-sdy ----------------------------------===//
//
// The inverse of ImportSdy.cpp: unregistered ops and opaque attributes in the text form
// of Shardy.
//
//===----------------------------------------------------------------------===//

#include "Shardy.h"
#include "Signature.h"
#include "UnsupportedFeatures.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDEXPORTSDYPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Shardy's name of factor `i`: i to z, then z_1, z_2, ...
std::string getFactorName(int64_t i) {
  constexpr int64_t kLetters = 'z' - 'i' + 1;
  if (i < kLetters)
    return std::string(1, char('i' + i));
  return "z_" + std::to_string(i - kLetters + 1);
}

/// Replaces the ops and attributes of spmd by those of Shardy: the inverse of
/// ShardyImporter. Reports features that Shardy lacks (UnsupportedFeatures.h).
class ShardyExporter {
public:
  ShardyExporter(ModuleOp module, UnsupportedFeatures features)
      : module(module), context(module.getContext()), features(features), meshes(module) {}
  LogicalResult run();

private:
  /// The text of a sharding; empty if the sharding is left out.
  FailureOr<std::string> print(Attribute attr, Location loc, const Twine &what);
  Attribute getOpaque(const Twine &data);

  /// A null attribute is left out.
  FailureOr<Attribute> exportSharding(Attribute attr, Location loc, const Twine &what);
  FailureOr<Attribute> exportShardings(ArrayAttr attrs, Location loc, const Twine &what);
  FailureOr<Attribute> exportRule(RuleAttr rule, Operation *op);
  LogicalResult exportAttributes(Operation *op);
  LogicalResult exportSignature(FunctionOpInterface func);

  //===--- ops ------------------------------------------------------------===//

  /// Replaces `op` by a Shardy op, which gets the attributes that are not `known`.
  Operation *create(Operation *op, StringRef name, ArrayRef<NamedAttribute> attrs, ArrayRef<StringRef> known);

  NamedAttribute named(StringRef name, Attribute value) { return {StringAttr::get(context, name), value}; }
  void exportMesh(MeshOp op);
  LogicalResult exportOp(Operation *op);
  LogicalResult exportManual(ManualComputationOp op);

  /// A name that is a number keeps it; others get unused numbers.
  int64_t getGroup(StringRef name);

  ModuleOp module;
  MLIRContext *context;
  UnsupportedFeatures features;
  MeshCache meshes;
  const Mesh *functionMesh = nullptr;
  llvm::StringMap<int64_t> groups;
  int64_t nextGroup = 0;
};

LogicalResult ShardyExporter::run() {
  SmallVector<Operation *> ops;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  // Meshes last: shardings are read on them.
  for (Operation *op : ops) {
    if (auto func = dyn_cast<FunctionOpInterface>(op)) {
      functionMesh = nullptr;
      if (failed(exportSignature(func)))
        return failure();
    }
    if (failed(exportAttributes(op)) || failed(exportOp(op)))
      return failure();
  }
  for (const MeshCache::Entry &entry : meshes.entries())
    exportMesh(entry.op);
  return success();
}

FailureOr<std::string> ShardyExporter::print(Attribute attr, Location loc, const Twine &what) {
  auto lose = [&](const Twine &fact) -> FailureOr<std::string> {
    if (failed(features.report(loc, what + fact)))
      return failure();
    return std::string();
  };
  auto sharding = dyn_cast_or_null<ShardingAttr>(attr);
  if (!sharding)
    return lose(" is not a sharding on a mesh, expected one: run --spmd-resolve-axis-resources or "
                "--spmd-import-ort first");
  std::string text;
  llvm::raw_string_ostream os(text);
  const Mesh *mesh = meshes.lookup(sharding.getMesh());
  if (mesh && (!mesh->axes.empty() || !mesh->deviceIds.empty())) {
    if (functionMesh && functionMesh != mesh)
      return lose(" is on mesh @" + mesh->name + " in a function on mesh @" + functionMesh->name +
                  ", expected one mesh: Shardy has no views");
    functionMesh = mesh;
  }
  auto printAxes = [&](ArrayRef<DimEntryAttr> entries) {
    llvm::interleaveComma(entries, os, [&](DimEntryAttr entry) {
      os << '"';
      llvm::printEscapedString(entry.getAxis(), os);
      os << '"';
      if (!entry.isFullAxis())
        os << ":(" << entry.getPre() << ")" << entry.getSize();
    });
  };
  os << "<" << sharding.getMesh() << ", [";
  bool hasStride = false;
  llvm::interleaveComma(sharding.getDims(), os, [&](DimShardingAttr dim) {
    hasStride |= llvm::any_of(dim.getEntries(), [](DimEntryAttr e) { return e.isStride(); });
    os << "{";
    printAxes(dim.getEntries());
    if (dim.getOpen())
      os << (dim.getEntries().empty() ? "?" : ", ?");
    os << "}";
    if (dim.getPriority() > 0)
      os << "p" << dim.getPriority();
  });
  os << "]";
  if (hasStride)
    return lose(" has a stride, which Shardy cannot express, expected axes only");
  if (!sharding.getReplicated().empty()) {
    os << ", replicated={";
    printAxes(sharding.getReplicated());
    os << "}";
  }
  if (!sharding.getUnreduced().empty()) {
    if (sharding.getUnreducedKind() != ReductionKind::Sum)
      return lose(" is partial, to be combined by " + stringifyReductionKind(sharding.getUnreducedKind()) +
                  ", expected a sum: Shardy has no other");
    os << ", unreduced={";
    printAxes(sharding.getUnreduced());
    os << "}";
  }
  os << ">";
  return text;
}

Attribute ShardyExporter::getOpaque(const Twine &data) {
  return OpaqueAttr::get(StringAttr::get(context, "sdy"), data.str(), NoneType::get(context));
}

FailureOr<Attribute> ShardyExporter::exportSharding(Attribute attr, Location loc, const Twine &what) {
  FailureOr<std::string> text = print(attr, loc, what);
  if (failed(text))
    return failure();
  return text->empty() ? Attribute() : getOpaque("sharding" + *text);
}

FailureOr<Attribute> ShardyExporter::exportShardings(ArrayAttr attrs, Location loc, const Twine &what) {
  std::string list;
  for (auto [i, attr] : llvm::enumerate(attrs)) {
    FailureOr<std::string> text = print(attr, loc, what + " #" + Twine(i));
    if (failed(text))
      return failure();
    if (text->empty())
      return Attribute();
    list += (list.empty() ? "" : ", ") + *text;
  }
  return getOpaque("sharding_per_value<[" + list + "]>");
}

FailureOr<Attribute> ShardyExporter::exportRule(RuleAttr rule, Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto lose = [&](const Twine &fact) -> FailureOr<Attribute> {
    if (failed(features.report(op->getLoc(), "sharding rule of '" + op->getName().getStringRef() + "' " + fact)))
      return failure();
    return Attribute();
  };
  bool isComplete = true;
  auto printTensors = [&](ArrayAttr tensors, auto getDim) {
    os << "(";
    llvm::interleaveComma(llvm::seq<unsigned>(0, tensors.size()), os, [&](unsigned t) {
      os << "[";
      unsigned rank = cast<ArrayAttr>(tensors[t]).size();
      llvm::interleaveComma(llvm::seq<unsigned>(0, rank), os, [&](unsigned d) {
        ArrayRef<int64_t> factors = getDim(t, d);
        isComplete &= !factors.empty();
        for (int64_t f : factors)
          os << getFactorName(f);
      });
      os << "]";
    });
    os << ")";
  };
  os << "op_sharding_rule<";
  printTensors(rule.getOperands(), [&](unsigned t, unsigned d) { return rule.getOperandDim(t, d); });
  os << "->";
  printTensors(rule.getResults(), [&](unsigned t, unsigned d) { return rule.getResultDim(t, d); });
  if (!isComplete)
    return lose("has a dim that no factor describes, expected a factor for each: Shardy has "
                "no others");
  os << " {";
  llvm::interleaveComma(llvm::enumerate(rule.getFactorSizes()), os,
                        [&](auto size) { os << getFactorName(size.index()) << "=" << size.value(); });
  os << "}";
  auto printSet = [&](RuleFactorKind kind, StringRef name) {
    SmallVector<std::string> members;
    for (auto [f, factorKind] : llvm::enumerate(rule.getFactorKinds()))
      if (factorKind == kind)
        members.push_back(getFactorName(f));
    if (!members.empty())
      os << " " << name << "={" << llvm::join(members, ", ") << "}";
  };
  for (auto [kind, reduction] : llvm::zip_equal(rule.getFactorKinds(), rule.getReductions())) {
    if (kind == RuleFactorKind::Windowed || kind == RuleFactorKind::Indexed)
      return lose("has windowed or indexed factors, expected parallel, reduced, ordered or "
                  "replicated ones: Shardy has no others");
    if (kind == RuleFactorKind::Reduction && reduction != ReductionKind::Sum)
      return lose("reduces by " + stringifyReductionKind(reduction) + ", expected a sum: Shardy has no other");
  }
  printSet(RuleFactorKind::Reduction, "reduction");
  printSet(RuleFactorKind::Replicated, "need_replication");
  printSet(RuleFactorKind::Ordered, "permutation");
  os << ", custom>";
  return getOpaque(text);
}

LogicalResult ShardyExporter::exportAttributes(Operation *op) {
  if (auto list = op->getAttrOfType<ArrayAttr>(kShardingsAttr)) {
    auto converted = exportShardings(list, op->getLoc(), "sharding of result");
    if (failed(converted))
      return failure();
    op->removeAttr(kShardingsAttr);
    if (*converted)
      op->setAttr(kSdySharding, *converted);
  }
  if (auto rule = op->getAttrOfType<RuleAttr>(kRuleAttr)) {
    auto converted = exportRule(rule, op);
    if (failed(converted))
      return failure();
    op->removeAttr(kRuleAttr);
    if (*converted)
      op->setAttr(kSdyRule, *converted);
  }
  return success();
}

LogicalResult ShardyExporter::exportSignature(FunctionOpInterface func) {
  using Converted = std::optional<NamedAttribute>;
  return convertSignature(func, [&](NamedAttribute attr, Location loc, StringRef whose) -> FailureOr<Converted> {
    bool isSharding = attr.getName() == kShardingAttr;
    if (!isSharding && attr.getName() != kAxisResourcesAttr)
      return Converted(attr);
    auto sharding = exportSharding(attr.getValue(), loc, (isSharding ? "sharding of " : "axis resources of ") + whose);
    if (failed(sharding))
      return failure();
    return *sharding ? Converted(named(kSdySharding, *sharding)) : Converted();
  });
}

Operation *ShardyExporter::create(Operation *op, StringRef name, ArrayRef<NamedAttribute> attrs,
                                  ArrayRef<StringRef> known) {
  OperationState state(op->getLoc(), ("sdy." + name).str());
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  if (!attrs.empty())
    state.propertiesAttr = DictionaryAttr::get(context, attrs);
  for (NamedAttribute attr : op->getAttrs())
    if (!llvm::is_contained(known, attr.getName().strref()))
      state.attributes.append(attr);
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *made = OpBuilder(op).create(state);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), made->getRegions()))
    to.takeBody(from);
  op->replaceAllUsesWith(made->getResults());
  op->erase();
  return made;
}

void ShardyExporter::exportMesh(MeshOp op) {
  std::string text;
  llvm::raw_string_ostream(text) << Attribute(op.getMesh());
  SmallVector<NamedAttribute> costs;
  for (StringRef name : kCosts)
    if (Attribute value = op->getAttr(name))
      costs.push_back(named(name, value));
  StringAttr name = op.getSymNameAttr();
  Operation *made = create(
      op, "mesh",
      {named("mesh", getOpaque(StringRef(text).drop_front(StringRef("#spmd.").size()))), named("sym_name", name)},
      {"mesh", "sym_name", "alpha", "beta", "flops", "bandwidth", "memory", kOverlapAttr});
  if (!costs.empty())
    made->setDiscardableAttr(kCostsAttr, DictionaryAttr::get(context, costs));
}

LogicalResult ShardyExporter::exportOp(Operation *op) {
  Location loc = op->getLoc();
  auto omit = [&] {
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
    return success();
  };
  if (isa<WithShardingConstraintOp, ReshardOp>(op)) {
    bool isReshard = isa<ReshardOp>(op);
    auto sharding =
        exportSharding(op->getAttr("sharding"), loc,
                       isReshard ? "sharding of 'spmd.reshard'" : "sharding of 'spmd.with_sharding_constraint'");
    if (failed(sharding))
      return failure();
    if (!*sharding)
      return omit();
    create(op, isReshard ? "reshard" : "sharding_constraint", named("sharding", *sharding), {"sharding"});
    return success();
  }
  Builder b(context);
  if (auto barrier = dyn_cast<PropagationBarrierOp>(op)) {
    create(op, "propagation_barrier", named("allowed_direction", b.getI32IntegerAttr(int(barrier.getAllow()))),
           {"allow"});
    return success();
  }
  if (auto group = dyn_cast<ShardingGroupOp>(op)) {
    create(op, "sharding_group", named("group_id", b.getI64IntegerAttr(getGroup(group.getGroup()))), {"group"});
    return success();
  }
  if (auto manual = dyn_cast<ManualComputationOp>(op))
    return exportManual(manual);
  if (isa<ReturnOp>(op)) {
    create(op, "return", {}, {});
    return success();
  }
  if (isa<StageBoundaryOp>(op)) {
    if (failed(features.report(loc, "'spmd.stage_boundary' has no counterpart, expected no "
                                    "pipeline: Shardy has none")))
      return failure();
    return omit();
  }
  if (isa_and_nonnull<SPMDDialect>(op->getDialect()) && !isa<MeshOp>(op))
    return emitError(loc) << "'" << op->getName() << "' has no counterpart, expected the global "
                          << "view: Shardy's collectives are on global values";
  return success();
}

LogicalResult ShardyExporter::exportManual(ManualComputationOp op) {
  auto in = exportShardings(op.getInShardings(), op.getLoc(), "sharding of 'spmd.manual_computation', operand");
  if (failed(in))
    return failure();
  auto out = exportShardings(op.getOutShardings(), op.getLoc(), "sharding of 'spmd.manual_computation', result");
  if (failed(out))
    return failure();
  // The body has local types, which are invalid without the shardings.
  if (!*in || !*out)
    return op.emitError() << "'spmd.manual_computation' has a sharding that Shardy cannot express, "
                             "expected one that it can";
  std::string axes;
  for (StringRef axis : op.getManualAxes().getAsValueRange<StringAttr>())
    axes += (axes.empty() ? "\"" : ", \"") + axis.str() + "\"";
  create(op, "manual_computation",
         {named("in_shardings", *in), named("manual_axes", getOpaque("manual_axes{" + axes + "}")),
          named("out_shardings", *out)},
         {"in_shardings", "out_shardings", "manual_axes"});
  return success();
}

int64_t ShardyExporter::getGroup(StringRef name) {
  if (groups.empty())
    module->walk([&](ShardingGroupOp op) {
      int64_t id;
      if (!op.getGroup().getAsInteger(10, id) && id >= 0 && Twine(id).str() == op.getGroup()) {
        groups[op.getGroup()] = id;
        nextGroup = std::max(nextGroup, id + 1);
      }
    });
  auto [it, isNew] = groups.try_emplace(name, nextGroup);
  nextGroup += isNew;
  return it->second;
}

struct ExportSdyPass : public spmd::impl::SPMDExportSdyPassBase<ExportSdyPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    UnsupportedFeatures features(unsupported);
    if (failed(verifyInput(module, Phase::Resharded, getArgument())))
      return signalPassFailure();
    if (!getContext().allowsUnregisteredDialects()) {
      emitError(module.getLoc()) << "Shardy's dialect is not linked into this tool, expected the flag "
                                    "--allow-unregistered-dialect";
      return signalPassFailure();
    }
    if (failed(ShardyExporter(module, features).run()))
      signalPassFailure();
  }
};

} // namespace
