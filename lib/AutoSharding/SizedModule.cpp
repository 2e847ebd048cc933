//===- SizedModule.cpp - Sizes that layouts are chosen for ----------------===//

#include "shardkit/AutoSharding/SizedModule.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Rules/PaddingNeeds.h"
#include "shardkit/Rules/SymbolicSizes.h"
#include "shardkit/Transforms/RefineShapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::spmd;

static bool hasUnknownSize(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !type.hasStaticShape();
}

static bool hasUnknownSize(Operation *op) {
  auto test = [](Value value) { return hasUnknownSize(value); };
  return llvm::any_of(op->getOperands(), test) || llvm::any_of(op->getResults(), test);
}

static bool hidesSizes(func::FuncOp func) {
  return func
      .walk([](Operation *op) {
        return isa<func::CallOp, ManualComputationOp, FragmentOp>(op) && hasUnknownSize(op) ? WalkResult::interrupt()
                                                                                            : WalkResult::advance();
      })
      .wasInterrupted();
}

static int64_t getLargestMesh(ModuleOp module) {
  int64_t devices = 1;
  for (MeshOp mesh : getMeshesWithAxes(module))
    devices = std::max(devices, toMesh(mesh).numDevices());
  return devices;
}

/// What layouts are chosen for, by size argument: sizes that the devices divide.
static SmallVector<int64_t> getPlannedSizes(func::FuncOp func, int64_t devices, bool atBounds) {
  SmallVector<int64_t> sizes = getLikelySizes(func, devices, atBounds);
  for (int64_t &size : sizes)
    size = size < devices ? size : llvm::alignTo(size, devices);
  return sizes;
}

/// A rule for an op at known sizes that shards of its dims of unknown size only what the op can pad; null if its own
/// rule does, or a size is not known.
static RuleAttr getRestrictedRule(Operation *op, SymbolicSizes &sizes, ArrayRef<int64_t> values) {
  ShardingRule rule = getShardingRule(op);
  if (rule.isFallback)
    return {};
  auto getDim = [&](Value value, unsigned d) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.isDynamicDim(d) ? sizes.getDim(value, d) : AffineExpr();
  };
  SmallVector<int64_t> factorSizes;
  SmallVector<RuleFactorKind> kinds;
  SmallVector<StringAttr> names;
  SmallVector<ReductionKind> reductions(rule.numFactors(), ReductionKind::Sum);
  Builder b(op->getContext());
  bool isRestricted = false;
  for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f) {
    FactorKind kind = rule.factor(f).kind;
    int64_t size = rule.factor(f).size;
    bool isUnknown = false, canPad = kind != FactorKind::Replicated;
    for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t)
      for (unsigned d = 0; d < rule.tensor(t).numDims; ++d) {
        const ShardingRule::Tensor &tensor = rule.tensor(t);
        if (!tensor.type || !tensor.type.isDynamicDim(d) || !llvm::is_contained(rule.dimFactors(tensor, d), f))
          continue;
        AffineExpr expr = tensor.value ? getDim(tensor.value, d) : AffineExpr();
        isUnknown = true;
        canPad &= isa_and_nonnull<AffineSymbolExpr>(expr);
        if (std::optional<int64_t> value = evaluateSize(expr, values); value && rule.dimFactors(tensor, d).size() == 1)
          size = *value;
      }
    if (isUnknown && (!canPad || getReasonAgainstPadding(op, rule, f, getDim))) {
      kind = FactorKind::Replicated;
      isRestricted = true;
    }
    if (size <= 0)
      return {};
    factorSizes.push_back(size);
    kinds.push_back(kind == FactorKind::Parallel    ? RuleFactorKind::Parallel
                    : kind == FactorKind::Reduction ? RuleFactorKind::Reduction
                                                    : RuleFactorKind::Replicated);
    names.push_back(b.getStringAttr("f" + Twine(f)));
  }
  if (!isRestricted)
    return {};
  for (const ShardingRule::Tensor &result : rule.results())
    for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f)
      if (kinds[f] == RuleFactorKind::Reduction && !rule.hasFactor(result, f))
        reductions[f] = result.reduction;
  auto describe = [&](ArrayRef<ShardingRule::Tensor> tensors) {
    SmallVector<Attribute> described;
    for (const ShardingRule::Tensor &tensor : tensors) {
      SmallVector<Attribute> dims;
      for (unsigned d = 0; d < tensor.numDims; ++d) {
        SmallVector<int64_t> factors(rule.dimFactors(tensor, d));
        // Windows, and groups with a dim of unknown size, have no factor in a written rule.
        if (rule.getWindow(tensor, d) || (tensor.type && tensor.type.isDynamicDim(d) && factors.size() != 1))
          factors.clear();
        dims.push_back(b.getDenseI64ArrayAttr(factors));
      }
      described.push_back(b.getArrayAttr(dims));
    }
    return b.getArrayAttr(described);
  };
  return RuleAttr::get(op->getContext(), describe(rule.operands()), describe(rule.results()), names, factorSizes, kinds,
                       reductions);
}

SizedModule::SizedModule(ModuleOp module, bool atBounds) : module(module), copy(module.clone()) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  // An op of the copy, or what it becomes, is at the op that it stands for.
  unsigned next = 0;
  copy->walk([&](Operation *op) {
    Operation *origin = ops[next++];
    op->setLoc(OpaqueLoc::get<Operation *>(origin, origin->getLoc()));
  });
  const int64_t devices = getLargestMesh(module);
  SmallVector<func::FuncOp> sized;
  for (auto func : module.getOps<func::FuncOp>())
    if (!getSizeArguments(func).empty()) {
      sized.push_back(copy->lookupSymbol<func::FuncOp>(func.getName()));
      setSizes(func, sized.back(), getPlannedSizes(func, devices, atBounds));
    }
  refineShapes(sized);
  // Only now: an op that is made again for known sizes would lose it.
  copy->walk([&](Operation *op) {
    auto *origin = OpaqueLoc::getUnderlyingLocationOrNull<Operation *>(op->getLoc());
    if (RuleAttr rule = restricted.lookup(origin); rule && origin->getName() == op->getName())
      op->setDiscardableAttr(kRuleAttr, rule);
  });
}

std::optional<SizedModule> SizedModule::create(ModuleOp module, const SearchOptions &options) {
  const bool atBounds = options.memoryBudget || llvm::any_of(getMeshesWithAxes(module), [](MeshOp mesh) {
                          return toMesh(mesh).memory.has_value();
                        });
  bool hasSizes = false;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || getSizeArguments(func).empty())
      continue;
    if (hidesSizes(func))
      return std::nullopt;
    hasSizes = true;
  }
  return hasSizes ? std::optional(SizedModule(module, atBounds)) : std::nullopt;
}

void SizedModule::setSizes(func::FuncOp func, func::FuncOp sized, ArrayRef<int64_t> values) {
  SymbolicSizes sizes(func);
  func.getBody().walk([&](Operation *op) {
    if (hasUnknownSize(op) && !op->hasAttr(kRuleAttr))
      if (RuleAttr rule = getRestrictedRule(op, sizes, values))
        restricted[op] = rule;
  });
  OpBuilder b = OpBuilder::atBlockBegin(&sized.getBody().front());
  NamedAttrList byName;
  for (auto [argument, value] : llvm::zip_equal(getSizeArguments(func), values)) {
    byName.set(func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kSizeAttr), b.getI64IntegerAttr(value));
    Value constant = arith::ConstantIndexOp::create(b, sized.getLoc(), value);
    sized.getArgument(argument.getArgNumber()).replaceAllUsesWith(constant);
  }
  planned[func.getSymNameAttr()] = byName.getDictionary(func.getContext());
  for (BlockArgument arg : sized.getArguments())
    if (auto map = sized.getArgAttrOfType<AffineMapAttr>(arg.getArgNumber(), kGlobalSizesAttr)) {
      SmallVector<int64_t> shape;
      for (AffineExpr size : map.getValue().getResults())
        shape.push_back(evaluateSize(size, values).value_or(ShapedType::kDynamic));
      setArgumentType(sized, arg, cast<RankedTensorType>(arg.getType()).clone(shape));
    }
}

/// The sharding without what makes a size a multiple: sums and products of sizes, and parts of axes. What users ask for
/// stays.
static ShardingAttr withPaddedDims(ShardingAttr sharding, Value value, SymbolicSizes &sizes) {
  ShardingAttr asked;
  if (auto constraint = value.getDefiningOp<WithShardingConstraintOp>())
    asked = constraint.getShardingAttr();
  else if (auto reshard = value.getDefiningOp<ReshardOp>())
    asked = reshard.getShardingAttr();
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<DimShardingAttr> dims(sharding.getDims());
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (!type.isDynamicDim(d) || dim.getEntries().empty())
      continue;
    bool hasAxes = llvm::all_of(dim.getEntries(), [](DimEntryAttr entry) { return entry.isFullAxis(); });
    if (!hasAxes || !isa_and_nonnull<AffineSymbolExpr>(sizes.getDim(value, d)))
      dim = DimShardingAttr::get(dim.getContext(), asked ? asked.getDims()[d].getEntries() : ArrayRef<DimEntryAttr>(),
                                 dim.getOpen(), dim.getPriority());
  }
  return ShardingAttr::get(sharding.getContext(), sharding.getMesh(), dims, sharding.getReplicated(),
                           sharding.getUnreducedKind(), sharding.getUnreduced());
}

/// Whether an op can have these axes of factors, which were found at known sizes.
static bool fits(Operation *op, FactorsAttr factors) {
  ShardingRule rule = getShardingRule(op);
  if (factors.getFactors().size() != rule.numFactors())
    return false;
  for (auto [f, dim] : llvm::enumerate(factors.getFactors()))
    if (!dim.getEntries().empty() && rule.factor(f).kind == FactorKind::Replicated)
      return false;
  return true;
}

void SizedModule::writeBack() {
  module->setAttrs(copy->getOperation()->getAttrDictionary());
  for (MeshOp mesh : copy->getOps<MeshOp>())
    if (auto origin = module.lookupSymbol<MeshOp>(mesh.getSymName()))
      origin->setAttrs(mesh->getAttrDictionary());
  for (auto func : module.getOps<func::FuncOp>())
    if (auto sized = copy->lookupSymbol<func::FuncOp>(func.getName()))
      writeBack(func, sized);
}

void SizedModule::writeBack(func::FuncOp func, func::FuncOp sized) {
  SymbolicSizes sizes(func);
  for (NamedAttribute attr : sized->getDiscardableAttrs())
    func->setDiscardableAttr(attr.getName(), attr.getValue());
  if (auto said = func->getAttrOfType<DictionaryAttr>(kSolverAttr); said && planned.contains(func.getSymNameAttr())) {
    NamedAttrList attrs(said);
    attrs.set("sizes", planned[func.getSymNameAttr()]);
    func->setAttr(kSolverAttr, attrs.getDictionary(func.getContext()));
  }
  for (BlockArgument arg : func.getArguments())
    if (auto sharding = sized.getArgAttrOfType<ShardingAttr>(arg.getArgNumber(), kShardingAttr);
        sharding && sharding != func.getArgAttr(arg.getArgNumber(), kShardingAttr))
      func.setArgAttr(arg.getArgNumber(), kShardingAttr, withPaddedDims(sharding, arg, sizes));
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (auto sharding = sized.getResultAttrOfType<ShardingAttr>(i, kShardingAttr);
        sharding && sharding != func.getResultAttr(i, kShardingAttr)) {
      Value returned = func.isExternal() ? Value() : func.getBody().back().getTerminator()->getOperand(i);
      func.setResultAttr(i, kShardingAttr, returned ? withPaddedDims(sharding, returned, sizes) : sharding);
    }
  sized.getBody().walk([&](Operation *op) {
    auto *origin = OpaqueLoc::getUnderlyingLocationOrNull<Operation *>(op->getLoc());
    if (!origin || origin->getName() != op->getName() || origin->getNumResults() != op->getNumResults())
      return;
    for (NamedAttribute attr : op->getDiscardableAttrs()) {
      Attribute value = attr.getValue();
      if (attr.getName() == kRuleAttr ||
          (attr.getName() == kFactorShardingsAttr && !fits(origin, cast<FactorsAttr>(value))))
        continue;
      if (attr.getName() == kShardingsAttr) {
        SmallVector<Attribute> shardings(cast<ArrayAttr>(value).getValue());
        for (auto [i, sharding] : llvm::enumerate(shardings))
          if (auto given = dyn_cast<ShardingAttr>(sharding);
              given && isa<RankedTensorType>(origin->getResult(i).getType()))
            sharding = withPaddedDims(given, origin->getResult(i), sizes);
        value = ArrayAttr::get(op->getContext(), shardings);
      }
      origin->setDiscardableAttr(attr.getName(), value);
    }
  });
}
