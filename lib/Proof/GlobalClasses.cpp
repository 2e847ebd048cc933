//===- GlobalClasses.cpp - Classes of values, and their elements ---------===//

#include "shardkit/Proof/GlobalProgram.h"

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

ClassId GlobalProgram::create(ClassInfo info) {
  ClassId id = classes.size();
  info.root = info.root ? info.root : id;
  // The only index of a dim of one element is 0.
  if (info.type)
    for (auto [d, size] : llvm::enumerate(info.type.getShape()))
      if (size == 1)
        info.isUniform[d] = true;
  if (!info.splat && !info.isUndefined && !info.constant)
    info.varying = varying;
  classes.push_back(std::move(info));
  manualUsers.emplace_back();
  viewUsers.emplace_back();
  reshapes.emplace_back();
  if (classes[id].root == id)
    reshapes[id].push_back(id);
  return id;
}

std::optional<ClassId> GlobalProgram::getClass(Value value) const {
  auto it = values.find(value);
  return it == values.end() ? std::nullopt : std::optional(it->second);
}

ClassId GlobalProgram::getSplat(Attribute value) {
  auto [it, isNew] = splats.try_emplace(value, 0);
  if (isNew) {
    ClassInfo info;
    info.splat = value;
    it->second = create(info);
  }
  return it->second;
}

ClassId GlobalProgram::getConstant(ElementsAttr value) {
  if (value.isSplat())
    return getSplat(value.getSplatValue<Attribute>());
  auto [it, isNew] = constants.try_emplace(value, 0);
  if (isNew) {
    ClassInfo info;
    info.constant = value;
    info.type = cast<RankedTensorType>(value.getType());
    info.isUniform.assign(info.type.getRank(), false);
    it->second = create(info);
  }
  return it->second;
}

ClassId GlobalProgram::getUndefined() {
  if (!undefined) {
    ClassInfo info;
    info.isUndefined = true;
    undefined = create(info);
  }
  return *undefined;
}

ClassId GlobalProgram::addOpaque(Value value) {
  ClassInfo info;
  info.type = dyn_cast<RankedTensorType>(value.getType());
  info.loc = value.getLoc();
  info.isUniform.assign(info.type.getRank(), false);
  ClassId id = create(info);
  values[value] = id;
  return id;
}

SmallVector<int64_t, 6> GlobalProgram::compose(ArrayRef<int64_t> sum, const SumList &at) {
  std::map<int64_t, int64_t> factors;
  int64_t constant = sum[0];
  for (int64_t i = 0; i < sum[1]; ++i) {
    int64_t dim = sum[2 + 2 * i], factor = sum[3 + 2 * i];
    if (dim < 0) { // a scalar
      TermId scalar = substitute(-1 - dim, at);
      if (terms[scalar].kind == Term::Kind::Sum && terms[scalar].numbers[1] == 0)
        constant += factor * terms[scalar].numbers[0];
      else
        factors[-1 - int64_t(scalar)] += factor;
      continue;
    }
    constant += factor * at[dim][0];
    for (int64_t k = 0; k < at[dim][1]; ++k)
      factors[at[dim][2 + 2 * k]] += factor * at[dim][3 + 2 * k];
  }
  return makeSum(constant, factors);
}

TermId GlobalProgram::substitute(TermId id, const SumList &at) {
  if (!unfolding.isOn && !terms.hasLoops(id))
    return id;
  // Terms are shared: their number as a tree may be exponential.
  if (unfolding.at == &at)
    if (auto it = unfolding.substituted.find(id); it != unfolding.substituted.end())
      return it->second;
  if (unfolding.isOn && --unfolding.left < 0)
    return id;
  TermId result = substituteOnce(id, at);
  if (unfolding.at == &at)
    unfolding.substituted[id] = result;
  return result;
}

TermId GlobalProgram::substituteOnce(TermId id, const SumList &at) {
  Term term = terms[id]; // the table grows
  auto substituteAll = [&] {
    return llvm::map_to_vector<3>(term.operands, [&](TermId operand) { return substitute(operand, at); });
  };
  switch (term.kind) {
  case Term::Kind::Element: {
    auto [element, sums] = terms.getElement(id);
    SumList composed;
    for (ArrayRef<int64_t> sum : sums)
      composed.push_back(compose(sum, at));
    return getElement(element, composed);
  }
  case Term::Kind::Sum: {
    SmallVector<int64_t, 6> sum = compose(term.numbers, at);
    term.numbers.assign(sum.begin(), sum.end());
    return terms.get(term);
  }
  case Term::Kind::SumCompare:
    return terms.getSumCompare(term.numbers[0], compose(ArrayRef(term.numbers).drop_front(), at));
  case Term::Kind::Select: {
    SmallVector<TermId, 3> operands = substituteAll();
    return terms.getSelect(operands[0], operands[1], operands[2]);
  }
  case Term::Kind::Lookup:
    return getLookup(term.numbers[1], substituteAll());
  case Term::Kind::Op:
    return terms.getOp(term.name, OperationName::getFromOpaquePointer(term.name).getStringRef(), term.attribute,
                       term.type, substituteAll(), term.numbers[0]);
  default:
    return id;
  }
}

SmallVector<RankDigit, 2> GlobalProgram::getVarying(TermId id) const {
  SmallVector<RankDigit, 2> ranks;
  (void)terms.anyTerm(id, [&](TermId next) {
    const Term &term = terms[next];
    bool isRead = term.kind == Term::Kind::Element || (term.kind == Term::Kind::Lookup && term.numbers[0] < 0);
    if (isRead)
      for (const RankDigit &rank : classes[term.numbers[term.kind == Term::Kind::Element ? 0 : 1]].varying)
        if (!without(ranks, rank))
          ranks = unite(ranks, rank);
    return false;
  });
  return ranks;
}

ClassId GlobalProgram::getDefined(RankedTensorType type, TermId definition) {
  if (terms[definition].kind == Term::Kind::Element) {
    auto [source, sums] = terms.getElement(definition);
    if (std::optional<ClassId> id = getUnitReshape(source, sums, type, classes[source].loc))
      return *id;
  }
  auto [it, isNew] = defined.try_emplace({type, definition}, 0);
  if (!isNew)
    return it->second;
  ClassInfo info;
  info.type = type;
  info.loopSizes.assign(type.getShape().begin(), type.getShape().end());
  llvm::SmallDenseSet<int64_t> loops = terms.findLoops(definition);
  for (int64_t d = 0; d < type.getRank(); ++d)
    info.isUniform.push_back(!loops.contains(d));
  SmallVector<RankDigit, 2> outer = std::exchange(varying, getVarying(definition));
  if (terms[definition].kind == Term::Kind::Element) {
    auto [source, sums] = terms.getElement(definition);
    info.loc = classes[source].loc;
    // Numbers that the loops compute stand for other ones at other loops.
    if (!terms.hasLoopScalars(definition)) {
      info.source = source;
      info.sums = sums;
    }
  }
  if (!info.source)
    info.definition = definition;
  info.isOwn = true;
  ClassId id = create(std::move(info));
  varying = outer;
  return defined[{type, definition}] = id;
}

ClassId GlobalProgram::addSlice(ClassId source, RankedTensorType type, unsigned dim, int64_t offset) {
  ViewUser user{0, {}, {}, {}};
  for (unsigned d = 0; d < type.getRank(); ++d) {
    user.offsets.push_back(d == dim ? offset : 0);
    user.steps.push_back(1);
  }
  for (const ViewUser &known : viewUsers[source])
    if (classes[known.value].type == type && known.offsets == user.offsets && known.steps == user.steps &&
        !known.padding)
      return known.value;
  ClassInfo info;
  info.type = type;
  info.loc = classes[source].loc;
  info.loopSizes.assign(type.getShape().begin(), type.getShape().end());
  info.source = source;
  info.isUniform.assign(classes[source].isUniform.begin(), classes[source].isUniform.end());
  for (auto [d, size] : llvm::enumerate(type.getShape())) {
    int64_t begin = d == dim ? offset : 0;
    info.sums.push_back(size == 1 ? SmallVector<int64_t, 6>{begin, 0}
                                  : SmallVector<int64_t, 6>{begin, 1, int64_t(d), 1});
  }
  user.value = create(std::move(info));
  classes[user.value].varying = classes[source].varying;
  viewUsers[source].push_back(user);
  return user.value;
}

ClassId GlobalProgram::getBlockChoice(const BlockChoice &choice) {
  for (auto &[id, known] : choices)
    if (known == choice)
      return id;
  RankedTensorType type = classes[choice.of].type;
  SmallVector<int64_t> shape(type.getShape()), blocks(shape);
  shape[0] *= choice.numBlocks;
  blocks.insert(blocks.begin(), choice.numBlocks);
  ClassInfo info;
  info.type = type.clone(shape);
  info.loc = classes[choice.of].loc;
  info.isOwn = true;
  info.isUniform.assign(shape.size(), false);
  ClassId id = create(std::move(info));
  classes[id].varying = classes[choice.of].varying;
  choices.emplace(id, choice);
  (void)addReshape(id, type.clone(blocks), classes[id].loc);
  return id;
}

const BlockChoice *GlobalProgram::findBlockChoice(ClassId id) const {
  auto it = choices.find(classes[id].root);
  return it == choices.end() ? nullptr : &it->second;
}

/// A constant as an element: an index is a sum.
static TermId getScalarConstant(Attribute value, TermTable &terms) {
  auto number = dyn_cast<IntegerAttr>(value);
  if (!number || !number.getType().isIndex())
    return terms.getConstant(value);
  Term term{Term::Kind::Sum};
  term.numbers = {number.getInt(), 0};
  return terms.get(term);
}

/// The element of a constant at sums without loops; std::nullopt if it is none, or depends on loops.
static std::optional<Attribute> getConstantElement(const ClassInfo &info, const SumList &sums) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(info.constant);
  if (!elements || sums.size() != size_t(info.type.getRank()))
    return std::nullopt;
  SmallVector<uint64_t> index;
  for (auto [sum, size] : llvm::zip_equal(sums, info.type.getShape())) {
    if (sum[1] != 0 || sum[0] < 0 || sum[0] >= size)
      return std::nullopt;
    index.push_back(sum[0]);
  }
  return elements.getValues<Attribute>()[index];
}

/// True if a sum is one number that the program computes.
static bool isNumber(ArrayRef<int64_t> sum) { return sum[0] == 0 && sum[1] == 1 && sum[2] < 0 && sum[3] == 1; }

std::optional<SumList> GlobalProgram::getRootSums(ClassId id, const SumList &sums) const {
  const ClassInfo &info = classes[id], &root = classes[info.root];
  if (info.root == id || !root.type || root.type.getRank() >= info.type.getRank() ||
      llvm::any_of(info.type.getShape(), isUnknownSize))
    return std::nullopt;
  auto reassociation = getReassociationIndicesForReshape(root.type, info.type);
  if (!reassociation || reassociation->size() != size_t(root.type.getRank()))
    return std::nullopt;
  SumList atRoot;
  for (const ReassociationIndices &dims : *reassociation) {
    std::map<int64_t, int64_t> factors;
    int64_t constant = 0, stride = 1, numComputed = 0;
    for (int64_t d : llvm::reverse(dims)) {
      SmallVector<int64_t, 6> sum = info.isUniform[d] ? SmallVector<int64_t, 6>{0, 0} : sums[d];
      constant += stride * sum[0];
      for (int64_t i = 0; i < sum[1]; ++i)
        factors[sum[2 + 2 * i]] += stride * sum[3 + 2 * i];
      numComputed += sum[1] != 0;
      stride *= info.type.getDimSize(d);
    }
    if (numComputed > 1)
      return std::nullopt;
    atRoot.push_back(makeSum(constant, factors));
  }
  return atRoot;
}

TermId GlobalProgram::getElement(ClassId id, const SumList &sums) {
  if (!unfolding.isOn)
    return readElement(id, sums);
  Term key{Term::Kind::Element};
  key.numbers.push_back(id);
  for (ArrayRef<int64_t> sum : sums)
    key.numbers.append(sum.begin(), sum.end());
  TermId element = terms.get(key);
  if (auto it = unfolding.elements.find(element); it != unfolding.elements.end())
    return it->second;
  TermId result = readElement(id, sums);
  if (unfolding.left >= 0)
    unfolding.elements[element] = result;
  return result;
}

TermId GlobalProgram::readElement(ClassId id, const SumList &sums) {
  const ClassInfo &info = classes[id];
  if (info.splat)
    return getScalarConstant(info.splat, terms);
  if (info.isUndefined)
    return terms.getUndefined();
  if (std::optional<Attribute> value = getConstantElement(info, sums))
    return getScalarConstant(*value, terms);
  if (info.source) {
    SumList composed;
    for (ArrayRef<int64_t> sum : info.sums)
      composed.push_back(compose(sum, sums));
    return getElement(*info.source, composed);
  }
  if (info.definition || (info.body && unfolding.isOn)) {
    TermId element = info.definition ? *info.definition : *info.body;
    // Other indices take the place of loops inside of this element.
    const SumList *outer = std::exchange(unfolding.at, &sums);
    llvm::DenseMap<TermId, TermId> substituted;
    std::swap(substituted, unfolding.substituted);
    element = substitute(element, sums);
    std::swap(substituted, unfolding.substituted);
    unfolding.at = outer;
    return element;
  }
  if (std::optional<SumList> atRoot = getRootSums(id, sums))
    return getElement(info.root, *atRoot);
  Term term{Term::Kind::Element};
  term.numbers.push_back(id);
  bool isComputed = false;
  for (auto [d, sum] : llvm::enumerate(sums)) {
    if (info.isUniform[d]) {
      term.numbers.append({0, 0});
      continue;
    }
    term.numbers.append(sum.begin(), sum.end());
    isComputed |= isNumber(sum) && terms.hasLoops(-1 - sum[2]);
  }
  if (!isComputed)
    return terms.get(term);
  // At a number that loops compute it is a look-up.
  Term lookup{Term::Kind::Lookup};
  lookup.numbers = {-1, int64_t(id)};
  for (ArrayRef<int64_t> sum : terms.getElement(terms.get(term)).second) {
    Term index{Term::Kind::Sum};
    index.numbers.assign(sum.begin(), sum.end());
    lookup.operands.push_back(isNumber(sum) ? TermId(-1 - sum[2]) : terms.get(index));
  }
  return terms.get(lookup);
}

TermId GlobalProgram::getLookup(ClassId id, ArrayRef<TermId> given) {
  const ClassInfo &info = classes[id];
  if (info.splat)
    return getElement(id, {});
  SmallVector<TermId> at(given);
  for (auto [d, index] : llvm::enumerate(at))
    if (info.type && info.isUniform[d]) {
      Term zero{Term::Kind::Sum};
      zero.numbers = {0, 0};
      index = terms.get(zero);
    }
  ArrayRef<TermId> indices = at;
  // At indices of loops it is an element as any. So it is where it is read through.
  auto isSum = [&](TermId index) { return terms[index].kind == Term::Kind::Sum; };
  if (llvm::all_of(indices, isSum) || info.source || info.definition || (info.body && unfolding.isOn)) {
    SumList sums;
    for (TermId index : indices) {
      if (isSum(index))
        sums.emplace_back(terms[index].numbers.begin(), terms[index].numbers.end());
      else
        sums.push_back({0, 1, -1 - int64_t(index), 1});
    }
    return getElement(id, sums);
  }
  Term term{Term::Kind::Lookup};
  term.numbers = {-1, int64_t(id)};
  term.operands.assign(indices.begin(), indices.end());
  return terms.get(term);
}

ArrayRef<ClassId> GlobalProgram::find(ArrayRef<int64_t> key) const {
  // Look-ups do not add.
  auto &table = const_cast<KeyedTable<SmallVector<ClassId, 1>> &>(keys);
  return table[key];
}
