//===- GlobalStructured.cpp - Classes of ops that have a term ------------===//

#include "shardkit/Proof/GlobalProgram.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

static bool isLoop(ArrayRef<int64_t> sum, int64_t loop, int64_t size) {
  return sum[0] == 0 && (size == 1 ? sum[1] == 0 : sum[1] == 1 && sum[2] == loop && sum[3] == 1);
}

SmallVector<int64_t> GlobalProgram::getKey(const Structured &op, unsigned r, ArrayRef<TermId> all,
                                           const SumList &result, ArrayRef<bool> isUnit) const {
  SmallVector<int64_t> key{StructuredKey, int64_t(op.extents.size())};
  for (auto [reduction, unit] : llvm::zip_equal(op.isReduction, isUnit))
    key.push_back(reduction && !unit);
  // A dim along which all elements are equal may have any size.
  llvm::SmallDenseSet<int64_t> used = terms.findLoops(all[r]);
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

static SmallVector<int64_t> getRangeKey(const Structured::Range &range, int64_t size) {
  SmallVector<int64_t> key{size};
  range.first.appendKey(key);
  range.last.appendKey(key);
  return key;
}

bool GlobalProgram::isInBounds(const Structured::Range &range, int64_t size) const {
  return ranges.count(getRangeKey(range, size));
}

/// The key of an index over loops; std::nullopt if the size of one is not known.
static std::optional<SmallVector<int64_t>> getReadKey(TermId index, int64_t size, const TermTable &terms,
                                                      llvm::function_ref<std::optional<int64_t>(int64_t)> getLoopSize) {
  SmallVector<int64_t> key{int64_t(index), size};
  llvm::SmallDenseSet<int64_t> used = terms.findLoops(index);
  SmallVector<int64_t> loops(used.begin(), used.end());
  llvm::sort(loops);
  for (int64_t loop : loops) {
    std::optional<int64_t> extent = getLoopSize(loop);
    if (!extent)
      return std::nullopt;
    key.push_back(*extent);
  }
  return key;
}

bool GlobalProgram::isRead(TermId index, int64_t size,
                           llvm::function_ref<std::optional<int64_t>(int64_t)> getLoopSize) const {
  std::optional<SmallVector<int64_t>> key = getReadKey(index, size, terms, getLoopSize);
  return key && reads.count(*key);
}

std::optional<TermId> GlobalProgram::getBody(TermId term, const SumList &result, unsigned numLoops) {
  // Each loop is the index of one dim.
  SumList dims(numLoops, {0, 0});
  for (auto [d, sum] : llvm::enumerate(result)) {
    if (sum[1] == 0 && sum[0] == 0)
      continue; // one element
    if (sum[0] != 0 || sum[1] != 1 || sum[3] != 1 || sum[2] < 0 || dims[sum[2]][1] != 0)
      return std::nullopt;
    dims[sum[2]] = {0, 1, int64_t(d), 1};
  }
  llvm::SmallDenseSet<int64_t> used = terms.findLoops(term);
  if (llvm::any_of(used, [&](int64_t loop) { return dims[loop][1] == 0; }))
    return std::nullopt;
  return substitute(term, dims);
}

void GlobalProgram::addStructured(Operation *op, const Structured &structured) {
  // Ops of regions may not run.
  if (isa<func::FuncOp>(op->getParentOp()))
    for (const Structured::Range &range : structured.ranges) {
      Value sliced = op->getOperand(isa<tensor::InsertSliceOp>(op) ? 1 : 0);
      ranges.insert(getRangeKey(range, cast<RankedTensorType>(sliced.getType()).getDimSize(range.dim)));
    }
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
    SmallVector<TermId> converted;
    for (TermId index : indices)
      converted.push_back(frame.convert(index, terms));
    return id ? getLookup(*id, converted) : terms.getUnknown(op);
  };
  SmallVector<TermId> converted;
  for (TermId term : structured.terms) {
    converted.push_back(frame.convert(term, terms));
    isKnown &= !terms.findUnknown(converted.back()) && !frame.hasRest;
  }
  // Ops of regions may not run.
  if (isa<func::FuncOp>(op->getParentOp()))
    for (const Trap &trap : structured.traps)
      if (trap.guards.empty() && isa<tensor::ExtractOp>(trap.op))
        for (auto [index, size] : llvm::zip_equal(trap.operands, trap.sizes))
          if (auto key = getReadKey(frame.convert(index, terms), size, terms,
                                    [&](int64_t loop) { return std::optional(structured.extents[loop]); }))
            reads.insert(*key);
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
      auto [source, at] = terms.getElement(converted[r]);
      bool isFixed = !terms.hasLoopScalars(converted[r]);
      bool isCopy = classes[source].type == type;
      for (auto [d, sum] : llvm::enumerate(at))
        isCopy &=
            classes[source].isUniform[d] || (d < structured.extents.size() && isLoop(sum, d, structured.extents[d]));
      if (isCopy && at.size() == structured.extents.size()) {
        values[result] = source;
        continue;
      }
      // Dims of one element are added or left out.
      if (std::optional<ClassId> id = getUnitReshape(source, at, type, op->getLoc())) {
        values[result] = *id;
        continue;
      }
      if (isFixed) {
        info.source = source;
        info.sums = at;
      }
    }
    llvm::SmallDenseSet<int64_t> loops = terms.findLoops(converted[r]);
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
    if (!hasReduction)
      info.body = getBody(converted[r], sums, structured.extents.size());
    ClassId id = create(std::move(info));
    known.push_back(id);
    values[result] = id;
    // Slices and paddings of a value.
    ViewUser user{id, {}, {}, {}};
    if (source && at.size() == structured.extents.size()) {
      bool isSlice = true;
      for (auto [d, sum] : llvm::enumerate(at)) {
        IndexForm offset(sum[0]);
        int64_t step = 0;
        for (int64_t i = 0; i < sum[1]; ++i) {
          int64_t loop = sum[2 + 2 * i], factor = sum[3 + 2 * i];
          if (loop < 0)
            offset = *offset.plus(IndexForm::ofScalar(-1 - loop), factor);
          else if (loop == int64_t(d) && factor > 0 && step == 0)
            step = factor;
          else
            isSlice = false;
        }
        isSlice &= step > 0 || structured.extents[d] == 1;
        user.offsets.push_back(offset);
        user.steps.push_back(std::max<int64_t>(step, 1));
      }
      if (isSlice)
        viewUsers[*source].push_back(user);
    } else if (auto pad = dyn_cast<tensor::PadOp>(op); pad && pad.getConstantPaddingValue()) {
      std::optional<ClassId> padded = getClass(pad.getSource());
      TermId value = getScalar(pad.getConstantPaddingValue());
      bool isStatic = llvm::none_of(pad.getStaticLow(), ShapedType::isDynamic);
      if (isStatic && padded && terms[value].kind == Term::Kind::Constant && classes[*padded].type) {
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
