//===- FunctionGroups.cpp - Functions that share values -------------------===//

#include "shardkit/Propagation/FunctionGroups.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mlir;
using namespace mlir::spmd;

/// Joins arguments and results, numbered over all functions, into shared values.
class FunctionGroups::Reader {
public:
  Reader(FunctionGroups &result, ModuleOp module, const MeshCache &meshes, GetIndexFn getIndex)
      : result(result), module(module), meshes(meshes), getIndex(getIndex) {}
  LogicalResult run();

private:
  /// An argument or result that has a name.
  struct Slot {
    unsigned function, slot;
    bool isWeight, isUpdated; // an argument
  };

  void findFunctions();
  void addNames(unsigned f);
  /// What arguments that are one value have in common; null for one without a name.
  Attribute getKey(func::FuncOp func, unsigned argument) const;
  LogicalResult joinSlots(ArrayRef<Slot> slots);
  /// Joins the slots of a type, per set of devices.
  void joinSlotsOfType(ArrayRef<Slot> slots);
  bool haveCommonDevices(unsigned f, unsigned g);
  void joinWithin(unsigned f);
  void write();
  bool isResult(const Slot &slot) const { return slot.slot >= func::FuncOp(funcs[slot.function]).getNumArguments(); }
  unsigned getNumber(unsigned f, unsigned slot) const { return first[f] + slot; }
  Type getType(const Slot &slot) const;
  Location getLoc(const Slot &slot) const;
  bool isSameArgument(const Slot &a, const Slot &b) const;

  FunctionGroups &result;
  ModuleOp module;
  const MeshCache &meshes;
  GetIndexFn getIndex;
  SmallVector<func::FuncOp> funcs;
  /// Of each function: the number of its first argument.
  SmallVector<unsigned> first;
  unsigned count = 0;
  llvm::IntEqClasses classes;
  llvm::MapVector<Attribute, SmallVector<Slot, 2>> byName;
  /// Of each function: which list of meshes it names.
  SmallVector<unsigned> meshesOf;
  std::vector<SmallVector<std::pair<FlatSymbolRefAttr, Location>, 1>> meshLists;
  llvm::DenseMap<std::pair<unsigned, unsigned>, bool> areCommon;
};

void FunctionGroups::Reader::findFunctions() {
  llvm::SmallDenseSet<StringAttr> called;
  for (auto func : module.getOps<func::FuncOp>())
    for (func::CallOp call : getIndex(func).calls)
      called.insert(call.getCalleeAttr().getAttr());
  for (func::FuncOp func : getProgramFunctions(module))
    if (!func.isPrivate() && !func.isExternal() && !called.contains(func.getSymNameAttr()))
      funcs.push_back(func);
  std::map<std::vector<std::string>, unsigned> lists;
  for (func::FuncOp func : funcs) {
    first.push_back(count);
    count += func.getNumArguments() + func.getNumResults();
    std::vector<std::string> names;
    for (const auto &[mesh, loc] : getIndex(func).meshes)
      names.push_back(mesh.getValue().str());
    llvm::sort(names);
    auto [it, isNew] = lists.try_emplace(std::move(names), meshLists.size());
    if (isNew)
      meshLists.push_back(getIndex(func).meshes);
    meshesOf.push_back(it->second);
  }
}

Attribute FunctionGroups::Reader::getKey(func::FuncOp func, unsigned argument) const {
  Attribute weight = func.getArgAttr(argument, kWeightAttr);
  if (!weight)
    return func.getArgAttrOfType<StringAttr>(argument, kNameAttr);
  SmallVector<Attribute> key{weight};
  for (StringRef name : {StringRef(kLoadAttr), StringRef(kSegmentsAttr)})
    if (Attribute attr = func.getArgAttr(argument, name))
      key.push_back(attr);
  // The number of the argument that it is a segment of is that of one function.
  if (auto segment = func.getArgAttrOfType<SegmentAttr>(argument, kSegmentAttr)) {
    key.push_back(SegmentAttr::get(func.getContext(), segment.getStored(), segment.getDim(), segment.getOffset(),
                                   segment.getUnit(), /*argument=*/0));
    if (segment.isInUnits(cast<ShapedType>(func.getArgumentTypes()[argument])))
      key.push_back(UnitAttr::get(func.getContext()));
  }
  // A weight that is one stored tensor may be state of other functions.
  return key.size() == 1 ? weight : ArrayAttr::get(func.getContext(), key);
}

void FunctionGroups::Reader::addNames(unsigned f) {
  func::FuncOp func = funcs[f];
  llvm::SmallDenseSet<int64_t> updated;
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (auto tied = func.getResultAttrOfType<IntegerAttr>(i, kTiedAttr))
      updated.insert(tied.getInt());
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (Attribute key = getKey(func, i))
      byName[key].push_back({f, i, bool(func.getArgAttr(i, kWeightAttr)), updated.contains(i)});
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (auto name = func.getResultAttrOfType<StringAttr>(i, kNameAttr))
      byName[name].push_back({f, func.getNumArguments() + i, false, false});
}

Type FunctionGroups::Reader::getType(const Slot &slot) const {
  func::FuncOp func = funcs[slot.function];
  unsigned arguments = func.getNumArguments();
  const bool isArgument = slot.slot < arguments;
  const unsigned i = isArgument ? slot.slot : slot.slot - arguments;
  Type type = isArgument ? func.getArgumentTypes()[i] : func.getResultTypes()[i];
  // Sizes that the run knows do not tell values apart, whatever layouts are chosen for.
  auto sizes = dyn_cast_or_null<AffineMapAttr>(isArgument ? func.getArgAttr(i, kGlobalSizesAttr)
                                                          : func.getResultAttr(i, kGlobalSizesAttr));
  if (!sizes)
    return type;
  SmallVector<int64_t> shape(cast<RankedTensorType>(type).getShape());
  for (auto [d, size] : llvm::enumerate(sizes.getValue().getResults()))
    if (!isa<AffineConstantExpr>(size))
      shape[d] = ShapedType::kDynamic;
  return cast<RankedTensorType>(type).clone(shape);
}

Location FunctionGroups::Reader::getLoc(const Slot &slot) const {
  func::FuncOp func = funcs[slot.function];
  return slot.slot < func.getNumArguments() ? func.getArgument(slot.slot).getLoc() : func.getLoc();
}

/// Stages have one argument of the pipelined function in several types: in full and by microbatch.
bool FunctionGroups::Reader::isSameArgument(const Slot &a, const Slot &b) const {
  auto getArgument = [&](const Slot &slot) -> std::optional<int64_t> {
    func::FuncOp func = funcs[slot.function];
    auto attr = func.getArgAttrOfType<SlotAttr>(slot.slot, kSlotAttr);
    return attr && attr.getKind() == SlotKind::Argument ? std::optional<int64_t>(attr.getIndex()) : std::nullopt;
  };
  return getArgument(a) && getArgument(a) == getArgument(b);
}

LogicalResult FunctionGroups::Reader::joinSlots(ArrayRef<Slot> slots) {
  const Slot *weight = llvm::find_if(slots, [](const Slot &slot) { return slot.isWeight; });
  for (const Slot &slot : slots)
    if (slot.isWeight && getType(slot) != getType(*weight) && !isSameArgument(slot, *weight)) {
      func::FuncOp func = funcs[slot.function];
      InFlightDiagnostic diag = emitError(getLoc(slot))
                                << "weight " << getWeightName(func, slot.slot) << " of @" << func.getName()
                                << " has type " << getType(slot) << ", expected " << getType(*weight) << " as in @"
                                << funcs[weight->function].getName()
                                << ", another name, or a loading function that computes it";
      diag.attachNote(getLoc(*weight)) << "the other argument is here";
      return diag;
    }
  llvm::MapVector<Type, SmallVector<Slot, 2>> byType;
  for (const Slot &slot : slots)
    if (isa<RankedTensorType>(getType(slot)))
      byType[getType(slot)].push_back(slot);
  for (auto &[type, equal] : byType)
    joinSlotsOfType(equal);
  return success();
}

void FunctionGroups::Reader::joinSlotsOfType(ArrayRef<Slot> slots) {
  bool isTaken = false, isKept = false;
  for (const Slot &slot : slots) {
    isTaken |= !isResult(slot);
    isKept |= isResult(slot) || slot.isWeight || slot.isUpdated;
  }
  if (!isTaken || !isKept)
    return; // inputs, or results, that happen to have one name
  SmallVector<SmallVector<Slot, 2>, 1> perDevices;
  for (const Slot &slot : slots) {
    auto *it = llvm::find_if(perDevices, [&](const auto &list) {
      return llvm::all_of(list, [&](const Slot &other) { return haveCommonDevices(slot.function, other.function); });
    });
    if (it == perDevices.end())
      perDevices.push_back({slot});
    else
      it->push_back(slot);
  }
  for (const auto &list : perDevices)
    if (llvm::any_of(list, [&](const Slot &slot) { return slot.function != list.front().function; }))
      for (const Slot &slot : list)
        classes.join(getNumber(list.front().function, list.front().slot), getNumber(slot.function, slot.slot));
}

bool FunctionGroups::Reader::haveCommonDevices(unsigned f, unsigned g) {
  unsigned a = meshesOf[f], b = meshesOf[g];
  if (a == b || meshLists[a].empty() || meshLists[b].empty())
    return true;
  auto [it, isNew] = areCommon.try_emplace({std::min(a, b), std::max(a, b)});
  if (isNew) {
    auto both = meshLists[a];
    for (const auto &entry : meshLists[b])
      if (llvm::none_of(both, [&](const auto &known) { return known.first == entry.first; }))
        both.push_back(entry);
    ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
    it->second = succeeded(FunctionMeshes::get(module, both, meshes));
  }
  return it->second;
}

/// Joins a result with the argument that it is tied to, and arguments of one sharding group.
void FunctionGroups::Reader::joinWithin(unsigned f) {
  func::FuncOp func = funcs[f];
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (auto tied = func.getResultAttrOfType<IntegerAttr>(i, kTiedAttr))
      classes.join(getNumber(f, tied.getInt()), getNumber(f, func.getNumArguments() + i));
  llvm::SmallDenseMap<StringAttr, unsigned> members;
  for (ShardingGroupOp group : getIndex(func).groups) {
    auto argument = dyn_cast<BlockArgument>(group.getInput());
    if (!argument || argument.getOwner() != &func.front())
      continue;
    auto [it, isNew] = members.try_emplace(group.getGroupAttr(), argument.getArgNumber());
    classes.join(getNumber(f, it->second), getNumber(f, argument.getArgNumber()));
  }
}

void FunctionGroups::Reader::write() {
  classes.compress();
  // Values that lie in several functions are shared.
  SmallVector<int64_t> only(classes.getNumClasses(), -1), numbers(classes.getNumClasses(), -1);
  llvm::BitVector isShared(classes.getNumClasses());
  for (unsigned f = 0; f < funcs.size(); ++f)
    for (unsigned s = 0, e = funcs[f].getNumArguments() + funcs[f].getNumResults(); s < e; ++s) {
      unsigned id = classes[getNumber(f, s)];
      if (only[id] >= 0 && only[id] != f)
        isShared.set(id);
      only[id] = f;
    }
  llvm::IntEqClasses functionClasses(funcs.size());
  SmallVector<int64_t> firstFunction(classes.getNumClasses(), -1);
  for (auto [f, func] : llvm::enumerate(funcs)) {
    unsigned arguments = func.getNumArguments(), size = arguments + func.getNumResults();
    SmallVector<int64_t> slots(size, -1);
    for (unsigned s = 0; s < size; ++s) {
      unsigned id = classes[getNumber(f, s)];
      if (!isShared.test(id))
        continue;
      if (numbers[id] < 0) {
        numbers[id] = result.values.size();
        result.values.emplace_back();
        firstFunction[id] = f;
      }
      slots[s] = numbers[id];
      result.values[numbers[id]].push_back({func, s >= arguments, s < arguments ? s : s - arguments});
      functionClasses.join(firstFunction[id], f);
    }
    if (llvm::any_of(slots, [](int64_t slot) { return slot >= 0; }))
      result.numbers[func] = std::move(slots);
  }
  functionClasses.compress();
  result.groups.resize(functionClasses.getNumClasses());
  for (auto [f, func] : llvm::enumerate(funcs)) {
    result.groups[functionClasses[f]].push_back(func);
    result.groupOf[func] = functionClasses[f];
  }
}

LogicalResult FunctionGroups::Reader::run() {
  findFunctions();
  if (funcs.size() < 2)
    return success();
  classes.grow(count);
  for (unsigned f = 0; f < funcs.size(); ++f)
    addNames(f);
  for (auto &[name, slots] : byName)
    if (failed(joinSlots(slots)))
      return failure();
  for (unsigned f = 0; f < funcs.size(); ++f)
    joinWithin(f);
  write();
  return success();
}

LogicalResult FunctionGroups::read(ModuleOp module, const MeshCache &meshes, GetIndexFn getIndex) {
  return Reader(*this, module, meshes, getIndex).run();
}

SmallVector<func::FuncOp, 1> FunctionGroups::getGroup(func::FuncOp func) const {
  auto it = groupOf.find(func);
  if (it == groupOf.end())
    return {func};
  return llvm::to_vector<1>(groups[it->second]);
}
