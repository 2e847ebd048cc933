//===- PartitionedValues.cpp - Names and layouts of local values -----------===//

#include "shardkit/Report/PartitionedValues.h"
#include "ValueNames.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::spmd;

std::string spmd::getShardingText(Attribute sharding) {
  if (!sharding)
    return "";
  std::string text;
  llvm::raw_string_ostream(text) << sharding;
  return text.substr(text.find('<')); // without `#spmd.sharding`
}

PartitionedValues::PartitionedValues(ModuleOp module, bool fromSource)
    : meshes(module), fromSource(fromSource), names(std::make_unique<ValueNames>(module)) {
  layoutsOnOps = module
                     .walk([](Operation *op) {
                       return op->hasAttr(kLayoutsAttr) ? WalkResult::interrupt() : WalkResult::advance();
                     })
                     .wasInterrupted();
}
PartitionedValues::~PartitionedValues() = default;

/// The value outside a loop that has the layout of an argument of its body.
static Value getOutside(BlockArgument arg) {
  Operation *parent = arg.getOwner()->getParentOp();
  unsigned i = arg.getArgNumber();
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    if (arg.getOwner() == loop.getBeforeBody())
      return i < loop.getInits().size() ? loop.getInits()[i] : Value();
    return loop->getResult(i);
  }
  if (auto loop = dyn_cast<LoopLikeOpInterface>(parent))
    if (OpResult result = loop.getTiedLoopResult(arg))
      return result;
  return {};
}

Attribute PartitionedValues::lookup(Value value, StringRef onArgument, StringRef onOp) const {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    if (auto func = dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp()))
      return arg.getOwner()->isEntryBlock() ? func.getArgAttr(arg.getArgNumber(), onArgument) : Attribute();
    Value outside = getOutside(arg);
    return outside ? lookup(outside, onArgument, onOp) : Attribute();
  }
  auto result = cast<OpResult>(value);
  auto list = result.getOwner()->getAttrOfType<ArrayAttr>(onOp);
  return list && list.size() > result.getResultNumber() ? list[result.getResultNumber()] : Attribute();
}

ShardingAttr PartitionedValues::getLayout(Value value) const {
  return dyn_cast_or_null<ShardingAttr>(lookup(value, kShardingAttr, kLayoutsAttr));
}

RankedTensorType PartitionedValues::getGlobalType(Value value) const {
  auto type = dyn_cast_or_null<TypeAttr>(lookup(value, kGlobalTypeAttr, kGlobalTypesAttr));
  return type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
}

std::string PartitionedValues::getName(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto arg = cast<BlockArgument>(value);
    Value outside = isa<func::FuncOp>(arg.getOwner()->getParentOp()) ? Value() : getOutside(arg);
    return fromSource && outside ? "carried " + getName(outside) : names->get(value);
  }
  if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    std::string name = stringifyCollectiveKind(collective.getKind()).str();
    if (auto id = collective.getCollectiveId())
      name += " #" + std::to_string(*id);
    return name;
  }
  if (!fromSource)
    return names->get(value);
  if (auto name = dyn_cast_or_null<StringAttr>(lookup(value, "", kOriginsAttr)))
    return name.getValue().str();
  return op->getName().getStringRef().str();
}

DescribedValue PartitionedValues::describe(Value value) const {
  DescribedValue described;
  described.name = getName(value);
  if (RankedTensorType type = getGlobalType(value))
    llvm::raw_string_ostream(described.globalType) << type;
  described.sharding = getShardingText(getLayout(value));
  llvm::raw_string_ostream(described.localType) << value.getType();
  described.loc = getLocationText(value.getLoc());
  return described;
}

void spmd::recordOrigins(ModuleOp module) {
  ValueNames names(module);
  module.walk([&](Operation *op) {
    if (!llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
      return;
    SmallVector<Attribute> list;
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        list.push_back(StringAttr::get(op->getContext(), names.get(result)));
      else
        list.push_back(UnitAttr::get(op->getContext()));
    op->setDiscardableAttr(kOriginsAttr, ArrayAttr::get(op->getContext(), list));
  });
}
