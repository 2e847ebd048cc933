//===- JoinedLoops.cpp - Loops that divide one loop ------------------------===//

#include "JoinedLoops.h"

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// The loop that a sum is; -1 if it is another sum.
static int64_t getPlainLoop(ArrayRef<int64_t> sum) {
  return sum[0] == 0 && sum[1] == 1 && sum[2] >= 0 && sum[3] == 1 ? sum[2] : -1;
}

std::optional<JoinedLoops> JoinedLoops::find(const OpTerms &op, TermId term, ArrayRef<int> result) {
  JoinedLoops joined(op, result);
  joined.groupOf.assign(op.getNumLoops(), -1);
  const TermTable &terms = op.values.terms;
  SmallVector<TermId> stack{term};
  llvm::DenseSet<TermId> seen;
  while (!stack.empty()) {
    TermId id = stack.pop_back_val();
    if (!seen.insert(id).second)
      continue;
    if (terms[id].kind == Term::Kind::Element)
      joined.addGroups(id);
    llvm::append_range(stack, terms.getReferences(id));
  }
  if (joined.groups.empty())
    return std::nullopt;
  joined.numberLoops();
  std::optional<TermId> converted = joined.convert(term);
  if (converted && joined.setOffsets(*converted)) {
    joined.converted.clear();
    converted = joined.convert(term);
  }
  if (!converted || !joined.setResult())
    return std::nullopt;
  joined.term = *converted;
  return joined;
}

bool JoinedLoops::setOffsets(TermId id) {
  const TermTable &terms = op.values.terms;
  SmallVector<TermId> stack{id};
  llvm::DenseSet<TermId> seen;
  bool hasOffset = false;
  while (!stack.empty()) {
    TermId next = stack.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    llvm::append_range(stack, terms.getReferences(next));
    if (terms[next].kind != Term::Kind::Element)
      continue;
    for (ArrayRef<int64_t> sum : terms.getElement(next).second)
      for (Group &group : groups)
        if (sum[0] > 0 && sum[1] == 1 && sum[2] == int64_t(newNumbers[group.loops.front()]) && sum[3] == 1 &&
            group.offset == 0 && !op.structured.isReduction[group.loops.front()]) {
          group.offset = sum[0];
          hasOffset = true;
        }
  }
  return hasOffset;
}

void JoinedLoops::addGroups(TermId element) {
  auto [id, sums] = op.values.terms.getElement(element);
  const GlobalProgram &global = op.values.global;
  if (!global[id].type)
    return;
  for (ClassId other : global.getReshapes(id)) {
    if (global[other].type.getRank() >= global[id].type.getRank())
      continue;
    auto reassociation = getReassociationIndicesForReshape(global[id].type, global[other].type);
    for (const ReassociationIndices &dims : reassociation.value_or(SmallVector<ReassociationIndices>())) {
      Group group;
      for (int64_t d : dims) {
        if (global[id].type.getDimSize(d) == 1)
          continue;
        int64_t loop = getPlainLoop(sums[d]);
        if (loop < 0 || isGrouped(loop) || llvm::is_contained(group.loops, loop) ||
            (!group.loops.empty() && op.structured.isReduction[loop] != op.structured.isReduction[group.loops[0]])) {
          group.loops.clear();
          break;
        }
        group.loops.push_back(loop);
        group.sizes.push_back(global[id].type.getDimSize(d));
      }
      if (group.loops.size() < 2)
        continue;
      for (unsigned loop : group.loops)
        groupOf[loop] = groups.size();
      groups.push_back(std::move(group));
    }
  }
}

void JoinedLoops::numberLoops() {
  newNumbers.assign(op.getNumLoops(), 0);
  for (unsigned l = 0; l < op.getNumLoops(); ++l)
    if (!isDropped(l) && (groupOf[l] < 0 || getGroupAt(l))) {
      newNumbers[l] = joined.extents.size();
      joined.extents.push_back(op.structured.extents[l]);
      joined.isReduction.push_back(op.structured.isReduction[l]);
      isUnit.push_back(groupOf[l] < 0 && op.isUnit(l));
    }
}

const JoinedLoops::Group *JoinedLoops::getGroupAt(int64_t loop) const {
  if (!isGrouped(loop) || groups[groupOf[loop]].loops.front() != loop)
    return nullptr;
  return &groups[groupOf[loop]];
}

bool JoinedLoops::setResult() {
  for (size_t d = 0; d < dimLoops.size(); ++d) {
    int loop = dimLoops[d];
    const Group *group = loop >= 0 ? getGroupAt(loop) : nullptr;
    bool isIndex = loop >= 0 && (group || !op.isUnit(loop));
    if (loop >= 0 && isGrouped(loop) && !group)
      return false;
    result.push_back(isIndex ? SmallVector<int64_t, 6>{0, 1, newNumbers[loop], 1} : SmallVector<int64_t, 6>{0, 0});
    if (!group)
      continue;
    auto dims = dimLoops.drop_front(d).take_front(group->loops.size());
    if (!llvm::equal(dims, group->loops, [](int a, unsigned b) { return a == int(b); }))
      return false;
    d += group->loops.size() - 1;
  }
  return true;
}

std::optional<SmallVector<int64_t, 6>> JoinedLoops::convertSum(ArrayRef<int64_t> sum) {
  std::map<int64_t, int64_t> factors, given;
  for (int64_t i = 0; i < sum[1]; ++i)
    given[sum[2 + 2 * i]] = sum[3 + 2 * i];
  for (auto [loop, factor] : given) {
    if (loop < 0) { // a number
      std::optional<TermId> number = convert(-1 - loop);
      if (!number)
        return std::nullopt;
      factors[-1 - int64_t(*number)] += factor;
      continue;
    }
    if (!isGrouped(loop)) {
      factors[newNumbers[loop]] += factor;
      continue;
    }
    // Each loop of the group has the factor of its digit.
    const Group &group = groups[groupOf[loop]];
    int64_t unit = given.count(group.loops.back()) ? given[group.loops.back()] : 0, expected = unit;
    for (auto [each, size] : llvm::reverse(llvm::zip_equal(group.loops, group.sizes))) {
      if (unit == 0 || !given.count(each) || given[each] != expected)
        return std::nullopt;
      expected *= size;
    }
    factors[newNumbers[group.loops.front()]] = unit;
  }
  int64_t constant = sum[0];
  for (const Group &group : groups)
    if (auto it = factors.find(newNumbers[group.loops.front()]); it != factors.end())
      constant -= it->second * group.offset;
  return makeSum(constant, factors);
}

size_t JoinedLoops::countDims(const Group *group, size_t d, RankedTensorType type, const SumList &sums) const {
  if (!group)
    return 0;
  size_t begin = d;
  for (auto [loop, size] : llvm::zip_equal(group->loops, group->sizes)) {
    while (d > begin && d < sums.size() && type.getDimSize(d) == 1)
      ++d;
    if (d == sums.size() || getPlainLoop(sums[d]) != int64_t(loop) || type.getDimSize(d) != size)
      return 0;
    ++d;
  }
  return d - begin;
}

std::optional<TermId> JoinedLoops::convertElement(TermId id) {
  GlobalProgram &global = op.values.global;
  auto [value, sums] = op.values.terms.getElement(id);
  RankedTensorType type = global[value].type;
  SmallVector<int64_t> shape;
  SumList at;
  bool isJoined = false;
  for (size_t d = 0; d < sums.size(); ++d) {
    const Group *group = getGroupAt(getPlainLoop(sums[d]));
    if (size_t count = countDims(group, d, type, sums)) {
      shape.push_back(group->getSize());
      at.push_back({-group->offset, 1, newNumbers[group->loops.front()], 1});
      d += count - 1;
      isJoined = true;
      continue;
    }
    std::optional<SmallVector<int64_t, 6>> sum = convertSum(sums[d]);
    if (!sum)
      return std::nullopt;
    shape.push_back(type.getDimSize(d));
    at.push_back(*sum);
  }
  if (!isJoined)
    return global.getElement(value, at);
  // A reshape that the program has may have other dims of one element.
  auto isWithoutUnits = [](int64_t size) { return size != 1; };
  auto isLike = [&](ClassId other) {
    return llvm::equal(llvm::make_filter_range(global[other].type.getShape(), isWithoutUnits),
                       llvm::make_filter_range(shape, isWithoutUnits));
  };
  ArrayRef<ClassId> reshapes = global.getReshapes(value);
  auto like = llvm::find_if(reshapes, isLike);
  ClassId joined = like != reshapes.end() ? *like : global.addReshape(value, type.clone(shape), global[value].loc);
  SumList sumsOfJoined;
  size_t next = 0;
  for (int64_t size : global[joined].type.getShape()) {
    while (size != 1 && shape[next] == 1)
      ++next;
    sumsOfJoined.push_back(size == 1 ? SmallVector<int64_t, 6>{0, 0} : at[next++]);
  }
  return global.getElement(joined, sumsOfJoined);
}

std::optional<SmallVector<TermId>> JoinedLoops::convertAll(ArrayRef<TermId> ids) {
  SmallVector<TermId> all;
  for (TermId id : ids) {
    std::optional<TermId> one = convert(id);
    if (!one)
      return std::nullopt;
    all.push_back(*one);
  }
  return all;
}

std::optional<TermId> JoinedLoops::convert(TermId id) {
  TermTable &terms = op.values.terms;
  if (terms[id].kind != Term::Kind::Output && !terms.hasLoops(id))
    return id;
  if (auto it = converted.find(id); it != converted.end())
    return it->second;
  auto compute = [&]() -> std::optional<TermId> {
    Term term = terms[id]; // the table grows
    if (term.kind == Term::Kind::Element)
      return convertElement(id);
    if (term.kind == Term::Kind::Sum || term.kind == Term::Kind::SumCompare) {
      bool isCompare = term.kind == Term::Kind::SumCompare;
      std::optional<SmallVector<int64_t, 6>> sum = convertSum(ArrayRef(term.numbers).drop_front(isCompare));
      if (sum && isCompare)
        return terms.getSumCompare(term.numbers[0], *sum);
      if (sum)
        term.numbers.assign(sum->begin(), sum->end());
      return sum ? std::optional(terms.get(term)) : std::nullopt;
    }
    std::optional<SmallVector<TermId>> operands = convertAll(term.operands);
    if (!operands)
      return std::nullopt;
    switch (term.kind) {
    case Term::Kind::Output:
      term.operands.assign(operands->begin(), operands->end());
      return terms.get(term);
    case Term::Kind::Select:
      return terms.getSelect((*operands)[0], (*operands)[1], (*operands)[2]);
    case Term::Kind::Lookup:
      return op.values.global.getLookup(term.numbers[1], *operands);
    case Term::Kind::Op:
      return terms.getOp(term.name, OperationName::getFromOpaquePointer(term.name).getStringRef(), term.attribute,
                         term.type, *operands, term.numbers[0]);
    default:
      return std::nullopt;
    }
  };
  return converted[id] = compute();
}

SmallVector<int64_t> JoinedLoops::getKey() const { return op.values.global.getKey(joined, 0, {term}, result, isUnit); }

std::optional<SmallVector<int64_t>> JoinedLoops::getLoopSizes(const ClassInfo &info) const {
  if (info.loopSizes.size() != joined.extents.size())
    return std::nullopt;
  SmallVector<int64_t> sizes;
  for (unsigned l = 0; l < op.getNumLoops(); ++l) {
    if (isDropped(l)) {
      sizes.push_back(1);
      continue;
    }
    if (groupOf[l] < 0) {
      sizes.push_back(info.loopSizes[newNumbers[l]]);
      continue;
    }
    const Group &group = groups[groupOf[l]];
    int64_t size = info.loopSizes[newNumbers[group.loops.front()]], end = group.offset + group.getSize();
    if (op.structured.isReduction[l] ? group.offset != 0 || end != size : end > size)
      return std::nullopt;
    sizes.push_back(group.sizes[llvm::find(group.loops, l) - group.loops.begin()]);
  }
  return sizes;
}

ClassId JoinedLoops::getResult(ClassId id) const {
  GlobalProgram &global = op.values.global;
  for (auto [d, sum] : llvm::enumerate(result))
    if (const Group *group = getGroupOfJoined(sum); group && global[id].type.getDimSize(d) != group->getSize()) {
      SmallVector<int64_t> slice(global[id].type.getShape());
      slice[d] = group->getSize();
      id = global.addSlice(id, global[id].type.clone(slice), d, group->offset);
    }
  SmallVector<int64_t> shape;
  for (auto [sum, size] : llvm::zip_equal(result, global[id].type.getShape())) {
    if (const Group *group = getGroupOfJoined(sum))
      shape.append(group->sizes);
    else
      shape.push_back(size);
  }
  RankedTensorType type = global[id].type;
  return int64_t(shape.size()) == type.getRank() ? id : global.addReshape(id, type.clone(shape), global[id].loc);
}

const JoinedLoops::Group *JoinedLoops::getGroupOfJoined(ArrayRef<int64_t> sum) const {
  const Group *it =
      llvm::find_if(groups, [&](const Group &group) { return getPlainLoop(sum) == newNumbers[group.loops.front()]; });
  return it == groups.end() ? nullptr : it;
}
