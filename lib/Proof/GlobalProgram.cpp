//===- GlobalProgram.cpp - The values of the unsharded program ------------===//

#include "shardkit/Proof/GlobalProgram.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

namespace {
enum KeyTag : int64_t { StructuredKey, OpaqueKey, ReshapeKey };
} // namespace

std::optional<Value> proof::getAnnotated(Operation *op) {
  if (isa<WithShardingConstraintOp, PropagationBarrierOp>(op))
    return op->getOperand(0);
  if (auto cast = dyn_cast<tensor::CastOp>(op); cast && cast.getSource().getType() == cast.getType())
    return cast.getSource();
  return std::nullopt;
}

ClassId GlobalProgram::create(ClassInfo info) {
  ClassId id = classes.size();
  info.root = info.root ? info.root : id;
  classes.push_back(std::move(info));
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

/// The sum of `sum`, whose loops are dims, at `at`.
static SmallVector<int64_t, 6> compose(ArrayRef<int64_t> sum, const SumList &at) {
  std::map<int64_t, int64_t> factors;
  int64_t constant = sum[0];
  for (int64_t i = 0; i < sum[1]; ++i) {
    int64_t dim = sum[2 + 2 * i], factor = sum[3 + 2 * i];
    if (dim < 0) { // a scalar
      factors[dim] += factor;
      continue;
    }
    constant += factor * at[dim][0];
    for (int64_t k = 0; k < at[dim][1]; ++k)
      factors[at[dim][2 + 2 * k]] += factor * at[dim][3 + 2 * k];
  }
  SmallVector<int64_t, 6> result{constant, 0};
  for (auto [loop, factor] : factors)
    if (factor) {
      ++result[1];
      result.append({loop, factor});
    }
  return result;
}

TermId GlobalProgram::getElement(ClassId id, const SumList &sums) {
  const ClassInfo &info = classes[id];
  if (info.splat) {
    if (auto number = dyn_cast<IntegerAttr>(info.splat); number && number.getType().isIndex()) {
      Term term{Term::Kind::Sum};
      term.numbers = {number.getInt(), 0};
      return terms.get(term);
    }
    return terms.getConstant(info.splat);
  }
  if (info.isUndefined)
    return terms.getUndefined();
  if (info.source) {
    SumList composed;
    for (ArrayRef<int64_t> sum : info.sums)
      composed.push_back(compose(sum, sums));
    return getElement(*info.source, composed);
  }
  Term term{Term::Kind::Element};
  term.numbers.push_back(id);
  for (auto [d, sum] : llvm::enumerate(sums)) {
    if (info.isUniform[d])
      term.numbers.append({0, 0});
    else
      term.numbers.append(sum.begin(), sum.end());
  }
  return terms.get(term);
}

TermId GlobalProgram::getLookup(ClassId id, ArrayRef<TermId> indices) {
  if (classes[id].splat)
    return getElement(id, {});
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

/// Reads the element of a term: its class, and per dim its sum.
static std::pair<ClassId, SumList> readElement(const Term &term) {
  std::pair<ClassId, SumList> element(term.numbers[0], SumList());
  for (size_t i = 1; i < term.numbers.size();) {
    size_t length = 2 + 2 * term.numbers[i + 1];
    element.second.emplace_back(ArrayRef(term.numbers).slice(i, length));
    i += length;
  }
  return element;
}

static bool isLoop(ArrayRef<int64_t> sum, int64_t loop, int64_t size) {
  return sum[0] == 0 && (size == 1 ? sum[1] == 0 : sum[1] == 1 && sum[2] == loop && sum[3] == 1);
}

/// The loops that a term depends on.
static void findLoops(TermId id, const TermTable &terms, llvm::DenseSet<TermId> &seen, llvm::DenseSet<int64_t> &loops) {
  if (!seen.insert(id).second)
    return;
  const Term &term = terms[id];
  auto add = [&](ArrayRef<int64_t> sum) {
    for (int64_t i = 0; i < sum[1]; ++i)
      loops.insert(sum[2 + 2 * i]);
  };
  if (term.kind == Term::Kind::Element)
    for (ArrayRef<int64_t> sum : readElement(term).second)
      add(sum);
  else if (term.kind == Term::Kind::Sum)
    add(term.numbers);
  else if (term.kind == Term::Kind::SumCompare)
    add(ArrayRef(term.numbers).drop_front());
  for (const IndexTerm &index : term.form.getTerms())
    if (index.kind == IndexTerm::Kind::Loop)
      loops.insert(index.var);
  for (TermId operand : term.operands)
    findLoops(operand, terms, seen, loops);
}

SmallVector<int64_t> GlobalProgram::getKey(const Structured &op, unsigned r, ArrayRef<TermId> all,
                                           const SumList &result, ArrayRef<bool> isUnit) const {
  SmallVector<int64_t> key{StructuredKey, int64_t(op.extents.size())};
  for (auto [reduction, unit] : llvm::zip_equal(op.isReduction, isUnit))
    key.push_back(reduction && !unit);
  // A dim along which all elements are equal may have any size.
  llvm::DenseSet<TermId> seen;
  llvm::DenseSet<int64_t> used;
  findLoops(all[r], terms, seen, used);
  key.push_back(result.size());
  for (ArrayRef<int64_t> sum : result) {
    if (sum[1] == 1 && used.contains(sum[2]))
      key.append(sum.begin(), sum.end());
    else
      key.append({0, 0});
  }
  key.push_back(all[r]);
  // Outputs of a reduction may depend on each other.
  if (op.hasReduction() && all.size() > 1) {
    key.push_back(r);
    key.append(all.begin(), all.end());
  }
  return key;
}

void GlobalProgram::addStructured(Operation *op, const Structured &structured) {
  TermFrame frame;
  frame.context = op->getContext();
  SmallVector<bool> isUnit;
  for (auto [i, extent] : llvm::enumerate(structured.extents)) {
    frame.loops.push_back(IndexForm::ofLoop(i, extent));
    frame.assumed.push_back(std::pair<int64_t, int64_t>(0, extent - 1));
    isUnit.push_back(extent == 1);
  }
  bool hasReduction = structured.hasReduction();
  auto toSums = [&](ArrayRef<IndexForm> forms) {
    SumList sums;
    for (const IndexForm &form : forms) {
      std::optional<SmallVector<int64_t, 6>> sum = frame.express(form);
      sums.push_back(sum ? *sum : SmallVector<int64_t, 6>{0, 0});
    }
    return sums;
  };
  bool isKnown = true;
  frame.getArgument = [&](unsigned a) {
    const Structured::Argument &argument = structured.arguments[a];
    std::optional<ClassId> id = getClass(argument.value);
    for (const IndexForm &form : argument.map)
      isKnown &= frame.express(form).has_value();
    if (!id) {
      isKnown = false;
      return terms.getUnknown(op);
    }
    TermId element = getElement(*id, toSums(argument.map));
    if (!hasReduction || a < structured.numInputs || a >= structured.numInputs + structured.results.size())
      return element;
    Term output{Term::Kind::Output};
    output.operands.push_back(element);
    output.numbers.push_back(a - structured.numInputs);
    return terms.get(output);
  };
  frame.getLookup = [&](unsigned a, ArrayRef<TermId> indices) {
    std::optional<ClassId> id = getClass(structured.arguments[a].value);
    isKnown &= id.has_value();
    return id ? getLookup(*id, indices) : terms.getUnknown(op);
  };
  SmallVector<TermId> converted;
  for (TermId term : structured.terms) {
    converted.push_back(frame.convert(term, terms));
    isKnown &= !terms.findUnknown(converted.back()) && !frame.hasRest;
  }
  for (const auto &result : structured.results)
    for (const IndexForm &form : result)
      isKnown &= frame.express(form).has_value();
  for (auto [r, result] : llvm::enumerate(op->getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !isKnown) {
      if (type)
        addOpaque(result);
      continue;
    }
    SumList sums = toSums(structured.results[r]);
    // By value: `terms` grows.
    Term term = terms[converted[r]];
    bool isWhole = sums.size() == structured.extents.size();
    for (auto [d, sum] : llvm::enumerate(sums))
      isWhole &= isLoop(sum, d, structured.extents[d]);
    if (isWhole && term.kind == Term::Kind::Constant) {
      values[result] = getSplat(term.attribute);
      continue;
    }
    if (isWhole && term.kind == Term::Kind::Undefined) {
      values[result] = getUndefined();
      continue;
    }
    ClassInfo info;
    info.type = type;
    info.loc = op->getLoc();
    info.loopSizes = structured.extents;
    if (isWhole && !hasReduction && term.kind == Term::Kind::Element) {
      auto [source, at] = readElement(term);
      bool isCopy = classes[source].type == type;
      for (auto [d, sum] : llvm::enumerate(at))
        isCopy &=
            classes[source].isUniform[d] || (d < structured.extents.size() && isLoop(sum, d, structured.extents[d]));
      if (isCopy && at.size() == structured.extents.size()) {
        values[result] = source;
        continue;
      }
      info.source = source;
      info.sums = at;
    }
    llvm::DenseSet<TermId> seen;
    llvm::DenseSet<int64_t> loops;
    findLoops(converted[r], terms, seen, loops);
    for (auto [d, sum] : llvm::enumerate(sums))
      info.isUniform.push_back(sum[1] == 0 ? type.getDimSize(d) == 1 : !loops.contains(sum[2]));
    SmallVector<int64_t> key = getKey(structured, r, converted, sums, isUnit);
    SmallVector<ClassId, 1> &known = keys[key];
    auto same = llvm::find_if(
        known, [&](ClassId id) { return classes[id].type == type && classes[id].loopSizes == info.loopSizes; });
    if (same != known.end()) {
      values[result] = *same;
      continue;
    }
    std::optional<ClassId> source = info.source;
    SumList at = info.sums;
    ClassId id = create(std::move(info));
    known.push_back(id);
    values[result] = id;
    // Slices and paddings of a value.
    ViewUser user{id, {}, {}, {}};
    if (source && at.size() == structured.extents.size()) {
      bool isSlice = true;
      for (auto [d, sum] : llvm::enumerate(at)) {
        isSlice &= sum[1] == 0 ? structured.extents[d] == 1 : sum[1] == 1 && sum[2] == int64_t(d) && sum[3] > 0;
        user.offsets.push_back(sum[0]);
        user.steps.push_back(sum[1] ? sum[3] : 1);
      }
      if (isSlice)
        viewUsers[*source].push_back(user);
    } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      std::optional<ClassId> padded = getClass(pad.getSource());
      TermId value = getScalar(pad.getConstantPaddingValue());
      if (padded && terms[value].kind == Term::Kind::Constant && classes[*padded].type) {
        for (int64_t low : pad.getStaticLow()) {
          user.offsets.push_back(-low);
          user.steps.push_back(1);
        }
        user.padding = terms[value].attribute;
        viewUsers[*padded].push_back(user);
      }
    }
  }
}

std::optional<SmallVector<int64_t>> GlobalProgram::getConcatKey(ArrayRef<ClassId> inputs, unsigned dim,
                                                                SmallVectorImpl<int64_t> &shape) {
  for (ClassId input : inputs)
    if (!classes[input].type || classes[input].type.getRank() != classes[inputs[0]].type.getRank())
      return std::nullopt;
  shape.assign(classes[inputs[0]].type.getShape().begin(), classes[inputs[0]].type.getShape().end());
  shape[dim] = 0;
  for (ClassId input : inputs)
    shape[dim] += classes[input].type.getDimSize(dim);
  Structured concat;
  concat.extents.assign(shape.begin(), shape.end());
  concat.isReduction.assign(shape.size(), false);
  SumList identity;
  for (auto [d, size] : llvm::enumerate(shape))
    identity.push_back(size == 1 ? SmallVector<int64_t, 6>{0, 0} : SmallVector<int64_t, 6>{0, 1, int64_t(d), 1});
  // As in readConcat, over global indices.
  int64_t begin = shape[dim];
  std::optional<TermId> term;
  for (ClassId input : llvm::reverse(inputs)) {
    int64_t end = begin;
    begin -= classes[input].type.getDimSize(dim);
    SumList at = identity;
    at[dim][0] = -begin;
    TermId element = getElement(input, at);
    if (!term) {
      term = element;
      continue;
    }
    Term compare{Term::Kind::SumCompare};
    compare.numbers = {0, -end, 1, int64_t(dim), 1};
    term = terms.getSelect(terms.get(compare), element, *term);
  }
  SmallVector<bool> isUnit(shape.size(), false);
  return getKey(concat, 0, *term, identity, isUnit);
}

ClassId GlobalProgram::addReshape(ClassId source, RankedTensorType type, Location loc) {
  if (classes[source].splat || classes[source].isUndefined)
    return source;
  ClassId root = classes[source].root;
  for (ClassId other : reshapes[root])
    if (classes[other].type == type)
      return other;
  ClassInfo info;
  info.type = type;
  info.loc = loc;
  info.isUniform.assign(type.getRank(), false);
  // A dim that stays as it is stays uniform.
  ArrayRef<int64_t> from = classes[source].type.getShape(), to = type.getShape();
  auto keep = [&](size_t a, size_t b) { info.isUniform[b] = classes[source].isUniform[a]; };
  for (size_t d = 0; d < std::min(from.size(), to.size()) && from[d] == to[d]; ++d)
    keep(d, d);
  for (size_t d = 1; d <= std::min(from.size(), to.size()) && from[from.size() - d] == to[to.size() - d]; ++d)
    keep(from.size() - d, to.size() - d);
  if (llvm::all_of(classes[source].isUniform, [](bool uniform) { return uniform; }))
    info.isUniform.assign(type.getRank(), true);
  info.root = root;
  ClassId id = create(info);
  reshapes[root].push_back(id);
  return id;
}

ClassId GlobalProgram::getFlat(ClassId id) {
  RankedTensorType type = classes[id].type;
  return addReshape(id, type.clone(ArrayRef(type.getNumElements())), *classes[id].loc);
}

std::optional<SmallVector<int64_t>> GlobalProgram::getOpaqueKey(Operation *op,
                                                                llvm::function_ref<std::optional<int64_t>(Value)> get) {
  SmallVector<int64_t> key{OpaqueKey};
  llvm::DenseMap<Value, int64_t> inside;
  bool isKnown = isMemoryEffectFree(op);
  auto pointer = [](const void *p) { return int64_t(intptr_t(p)); };
  std::function<void(Operation *)> add = [&](Operation *op) {
    if (isa<CollectiveOpInterface, DeviceCoordinateOp, BroadcastOp, StartOp, DoneOp, ManualComputationOp, func::CallOp>(
            op))
      isKnown = false;
    key.push_back(pointer(op->getName().getAsOpaquePointer()));
    for (NamedAttribute attr : op->getAttrs())
      if (!attr.getName().getValue().starts_with("spmd."))
        key.append({pointer(attr.getName().getAsOpaquePointer()), pointer(attr.getValue().getAsOpaquePointer())});
    if (Attribute properties = op->getPropertiesAsAttribute())
      key.push_back(pointer(properties.getAsOpaquePointer()));
    key.push_back(op->getNumOperands());
    for (Value operand : op->getOperands()) {
      auto known = inside.find(operand);
      std::optional<int64_t> id = known == inside.end() ? get(operand) : std::optional(known->second);
      isKnown &= id.has_value();
      key.append({known == inside.end(), id.value_or(0), pointer(operand.getType().getAsOpaquePointer())});
    }
    key.push_back(op->getNumResults());
    for (Value result : op->getResults()) {
      key.push_back(pointer(result.getType().getAsOpaquePointer()));
      inside[result] = inside.size();
    }
    for (Region &region : op->getRegions()) {
      key.push_back(region.getBlocks().size());
      isKnown &= region.getBlocks().size() <= 1;
      for (Block &block : region) {
        for (Value argument : block.getArguments()) {
          key.push_back(pointer(argument.getType().getAsOpaquePointer()));
          inside[argument] = inside.size();
        }
        key.push_back(-1);
        for (Operation &nested : block)
          add(&nested);
      }
    }
  };
  add(op);
  if (!isKnown)
    return std::nullopt;
  return key;
}

ScalarReader GlobalProgram::getScalars() {
  ScalarReader scalars;
  scalars.get = [this](Value value) { return getScalar(value); };
  scalars.getCoordinate = [](Operation *) { return std::optional<IndexForm>(); };
  return scalars;
}

TermId GlobalProgram::createScalar(Type type) {
  unsigned id = numScalars++;
  return type.isIndex() ? terms.getIndex(IndexForm::ofScalar(id)) : terms.getScalar(id);
}

void GlobalProgram::addRegionOp(Operation &op) {
  RegionInfo info;
  info.op = &op;
  auto addValue = [&](Value value, SmallVectorImpl<std::optional<ClassId>> &classes,
                      SmallVectorImpl<std::optional<TermId>> &scalars) {
    bool isTensor = isa<RankedTensorType>(value.getType());
    classes.push_back(isTensor ? getClass(value) : std::nullopt);
    scalars.push_back(isTensor ? std::nullopt : std::optional(getScalar(value)));
  };
  auto addFresh = [&](Value value, SmallVectorImpl<std::optional<ClassId>> &classes,
                      SmallVectorImpl<std::optional<TermId>> &scalars) {
    if (isa<RankedTensorType>(value.getType()))
      addOpaque(value);
    addValue(value, classes, scalars);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      info.scalars.push_back(getScalar(bound));
    info.induction = getScalar(loop.getInductionVar());
    for (auto [init, argument] : llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
      addValue(init, info.inits, info.scalarInits);
      addFresh(argument, info.arguments, info.scalarArguments);
    }
    add(*loop.getBody());
    for (Value yielded : loop.getYieldedValues())
      addValue(yielded, info.yields, info.scalarYields);
  } else {
    auto branch = cast<scf::IfOp>(op);
    info.scalars.push_back(getScalar(branch.getCondition()));
    add(*branch.thenBlock());
    add(*branch.elseBlock());
    for (auto [value, other] : llvm::zip_equal(branch.thenYield().getOperands(), branch.elseYield().getOperands())) {
      addValue(value, info.inits, info.scalarInits);
      addValue(other, info.yields, info.scalarYields);
    }
  }
  for (Value result : op.getResults())
    addFresh(result, info.results, info.scalarResults);
  regions.push_back(info);
}

TermId GlobalProgram::getScalar(Value value) {
  if (!reader) {
    // What is not read is a number of its own.
    reader = std::make_unique<BodyReader>(terms, [this](Value value) { return createScalar(value.getType()); });
    reader->getLookup = [this](Value tensor, ArrayRef<TermId> indices) -> std::optional<TermId> {
      std::optional<ClassId> id = getClass(tensor);
      if (!id)
        return std::nullopt;
      return getLookup(*id, terms.getLookupIndices(indices));
    };
  }
  return reader->get(value);
}

void GlobalProgram::add(func::FuncOp func) {
  (void)getUndefined(); // class 0 is no root of reshapes
  for (BlockArgument argument : func.getArguments()) {
    if (isa<RankedTensorType>(argument.getType()))
      addOpaque(argument);
    else
      (void)getScalar(argument);
  }
  if (func.getBody().hasOneBlock())
    add(func.getBody().front());
}

void GlobalProgram::add(Block &block) {
  for (Operation &op : block.without_terminator()) {
    ++numOps;
    if (std::optional<Value> annotated = getAnnotated(&op)) {
      if (std::optional<ClassId> id = getClass(*annotated))
        values[op.getResult(0)] = *id;
      continue;
    }
    if (op.getNumResults() == 0)
      continue;
    bool isScalar = llvm::none_of(op.getResultTypes(), [](Type type) { return isa<ShapedType>(type); });
    if (isScalar && op.getNumRegions() == 0) {
      (void)getScalar(op.getResult(0)); // makes the reader
      reader->read(op);
      continue;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()); dense && dense.isSplat()) {
        values[op.getResult(0)] = getSplat(dense.getSplatValue<Attribute>());
        continue;
      }
    if (isa<tensor::EmptyOp>(op)) {
      values[op.getResult(0)] = getUndefined();
      continue;
    }
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
      auto type = cast<RankedTensorType>(op.getResult(0).getType());
      std::optional<ClassId> source = getClass(op.getOperand(0));
      if (source && type.hasStaticShape()) {
        values[op.getResult(0)] = addReshape(*source, type, op.getLoc());
        continue;
      }
    }
    auto branch = dyn_cast<scf::IfOp>(op);
    if (isa<scf::ForOp>(op) || (branch && !branch.getElseRegion().empty())) {
      addRegionOp(op);
      continue;
    }
    if (std::optional<Structured> structured = readStructured(&op, terms, getScalars())) {
      addStructured(&op, *structured);
      continue;
    }
    std::optional<SmallVector<int64_t>> key = getOpaqueKey(&op, [&](Value value) -> std::optional<int64_t> {
      if (isa<ShapedType>(value.getType())) {
        std::optional<ClassId> id = getClass(value);
        return id ? std::optional<int64_t>(*id) : std::nullopt;
      }
      return int64_t(getScalar(value));
    });
    for (auto [r, result] : llvm::enumerate(op.getResults())) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      if (!key) {
        addOpaque(result);
        continue;
      }
      key->push_back(r);
      SmallVector<ClassId, 1> &known = keys[*key];
      if (known.empty())
        known.push_back(addOpaque(result));
      values[result] = known.front();
      key->pop_back();
    }
  }
}
