//===- Sorts.cpp - Sorts along a dim that every device has ----------------===//

#include "LocalOps.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// The order that a sort has, as a key.
static std::optional<SmallVector<int64_t>> getOrderKey(SortOp op) {
  llvm::DenseMap<Value, int64_t> numbers;
  auto pointer = [](const void *p) { return int64_t(intptr_t(p)); };
  SmallVector<int64_t> key{int64_t(op.getDimension())};
  Block &body = op->getRegion(0).front();
  for (Value argument : body.getArguments())
    numbers[argument] = numbers.size();
  for (Operation &nested : body) {
    key.append(
        {pointer(nested.getName().getAsOpaquePointer()), pointer(nested.getAttrDictionary().getAsOpaquePointer())});
    if (nested.getNumRegions())
      return std::nullopt;
    for (Value operand : nested.getOperands()) {
      // A number of the program around the sort is a constant of the order.
      auto constant = operand.getDefiningOp();
      Attribute value;
      if (auto it = numbers.find(operand); it != numbers.end())
        key.append({0, it->second});
      else if (constant && matchPattern(constant, m_Constant(&value)))
        key.append({1, pointer(value.getAsOpaquePointer())});
      else
        return std::nullopt;
    }
    for (Value result : nested.getResults())
      numbers[result] = numbers.size();
  }
  return key;
}

std::optional<SmallVector<int64_t>> GlobalProgram::getSortKey(SortOp op, ArrayRef<ClassId> operands) const {
  std::optional<SmallVector<int64_t>> order = getOrderKey(op);
  if (!order)
    return std::nullopt;
  SmallVector<int64_t> key{SortKey, int64_t(operands.size())};
  key.append(operands.begin(), operands.end());
  key.append(*order);
  return key;
}

void GlobalProgram::addSort(SortOp op) {
  SmallVector<ClassId> operands;
  for (Value input : op->getOperands())
    if (std::optional<ClassId> id = getClass(input))
      operands.push_back(*id);
  std::optional<SmallVector<int64_t>> key;
  if (operands.size() == op->getNumOperands())
    key = getSortKey(op, operands);
  int64_t dim = op.getDimension(), sorted = op.getSortedSize(), kept = op.getKeptSize();
  for (auto [r, result] : llvm::enumerate(op->getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!key || !type || !type.hasStaticShape()) {
      addOpaque(result);
      continue;
    }
    // All elements in their order, of which the op may keep the first or the last ones.
    key->push_back(r);
    SmallVector<ClassId, 1> &known = keys[*key];
    key->pop_back();
    ClassId all = known.empty() ? create({}) : known.front();
    if (known.empty()) {
      SmallVector<int64_t> shape(type.getShape());
      shape[dim] = sorted;
      classes[all].type = type.clone(shape);
      classes[all].loc = op.getLoc();
      for (int64_t size : shape)
        classes[all].isUniform.push_back(size == 1);
      known.push_back(all);
    }
    values[result] = kept == sorted ? all : addSlice(all, type, dim, op.getLast() ? sorted - kept : 0, op.getLoc());
  }
}

ClassId GlobalProgram::addSlice(ClassId source, RankedTensorType type, unsigned dim, int64_t offset, Location loc) {
  ClassInfo info;
  info.type = type;
  info.loc = loc;
  info.loopSizes.assign(type.getShape().begin(), type.getShape().end());
  info.source = source;
  ViewUser user{0, {}, {}, {}};
  for (auto [d, size] : llvm::enumerate(type.getShape())) {
    int64_t begin = d == dim ? offset : 0;
    info.isUniform.push_back(size == 1);
    info.sums.push_back(size == 1 ? SmallVector<int64_t, 6>{begin, 0}
                                  : SmallVector<int64_t, 6>{begin, 1, int64_t(d), 1});
    user.offsets.push_back(begin);
    user.steps.push_back(1);
  }
  user.value = create(std::move(info));
  viewUsers[source].push_back(user);
  return user.value;
}

void proof::visitSort(SortOp op, LocalValues &values) {
  GlobalProgram &global = values.global;
  StringRef name = op->getName().getStringRef();
  std::vector<SmallVector<Fact, 2>> facts;
  for (Value operand : op->getOperands()) {
    if (values.passGap(*op, operand))
      return;
    facts.emplace_back(values.getFacts(operand));
  }
  unsigned dim = op.getDimension();
  auto isSplat = [&](const Fact &fact) { return global[fact.value].splat || global[fact.value].isUndefined; };
  auto isWhole = [&](const Fact &fact) {
    if (!fact.partial.empty() || fact.dims.size() <= dim)
      return false;
    const DimFact &along = fact.dims[dim];
    return isSplat(fact) ||
           (along.size == op.getSortedSize() && (!along.form || *along.form == IndexForm::ofLoop(dim, along.size)));
  };
  // Each operand in the layout of the first one; constants have any.
  for (const Fact &first : facts.front()) {
    if (!isWhole(first) || isSplat(first))
      continue;
    SmallVector<ClassId> classes;
    for (ArrayRef<Fact> choices : facts) {
      const Fact *like = llvm::find_if(choices, [&](const Fact &fact) {
        if (!isWhole(fact))
          return false;
        return isSplat(fact) || llvm::all_of(llvm::zip_equal(fact.dims, first.dims), [](auto pair) {
                 auto [dim, other] = pair;
                 // The only index of a dim of one element.
                 bool isOne = dim.size == 1 && !dim.hasPadding() && !other.hasPadding();
                 return dim.size == other.size && (dim.form == other.form || isOne);
               });
      });
      if (like != choices.end())
        classes.push_back(like->value);
    }
    std::optional<SmallVector<int64_t>> key;
    if (classes.size() == op->getNumOperands() && global[first.value].type)
      key = global.getSortKey(op, classes);
    for (auto [r, result] : llvm::enumerate(op->getResults())) {
      if (!key)
        break;
      key->push_back(r);
      ArrayRef<ClassId> found = global.find(*key);
      key->pop_back();
      if (found.empty())
        continue;
      Fact sorted = first;
      sorted.value = found.front();
      int64_t size = op.getSortedSize(), kept = op.getKeptSize();
      sorted.dims[dim].form = IndexForm::ofLoop(dim, kept).plus(op.getLast() ? size - kept : 0);
      if (size == 1)
        sorted.dims[dim].form = std::nullopt;
      for (DimFact &part : sorted.dims)
        part.padding = {};
      values.addFact(result, sorted);
      values.count("sort of a dim that every device has");
    }
  }
  values.setGap(op, Outcome::Undecided, "no sort of the unsharded program has these operands along a full dim", name);
}
