//===- Reshapes.cpp - Reshapes, and concatenations of equal shards --------===//

#include "LocalOps.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// The shape of a value of which the reshape of a local one holds elements: a dim that is divided keeps all local dims
/// but one, the first or, if `skipsUnits`, the first of several elements. Dims that are joined are one dim.
/// std::nullopt if that is no shape.
static std::optional<SmallVector<int64_t>> getReshapedShape(const Fact &fact, RankedTensorType from,
                                                            RankedTensorType to, bool skipsUnits) {
  bool isDivided = from.getRank() < to.getRank();
  auto reassociation = getReassociationIndicesForReshape(from, to);
  if (!reassociation || from.getRank() == to.getRank() || reassociation->empty())
    return std::nullopt;
  SmallVector<int64_t> shape;
  for (auto [d, dims] : llvm::enumerate(*reassociation)) {
    if (!isDivided) {
      shape.push_back(1);
      for (int64_t dim : dims)
        shape.back() *= fact.dims[dim].size;
      continue;
    }
    int64_t size = fact.dims[d].size;
    const int64_t *sharded =
        skipsUnits ? llvm::find_if(dims, [&](int64_t dim) { return to.getDimSize(dim) != 1; }) : dims.begin();
    if (sharded == dims.end())
      sharded = dims.begin();
    for (int64_t dim : dims) {
      int64_t part = to.getDimSize(dim);
      if (dim == *sharded)
        part = size / (computeProduct(to.getShape().slice(dims.front(), dims.size())) / part);
      shape.push_back(part);
    }
    if (isUnknownSize(size) || computeProduct(ArrayRef(shape).take_back(dims.size())) != size)
      return std::nullopt;
  }
  return shape;
}

bool proof::hasFormsOf(const Fact &fact, const ClassInfo &info) {
  return llvm::all_of(llvm::zip_equal(fact.dims, info.isUniform),
                      [](auto dim) { return std::get<0>(dim).form || std::get<1>(dim); });
}

/// A reshape that only the partitioned program has, of a value that it divides or joins dims of.
static void addOwnReshape(const Fact &fact, bool skipsUnits, Operation &op, LocalValues &values) {
  GlobalProgram &global = values.global;
  auto from = cast<RankedTensorType>(op.getOperand(0).getType()),
       to = cast<RankedTensorType>(op.getResult(0).getType());
  std::optional<SmallVector<int64_t>> shape = getReshapedShape(fact, from, to, skipsUnits);
  if (!shape || llvm::any_of(fact.dims, [](const DimFact &dim) { return isUnknownSize(dim.size); }))
    return;
  RankedTensorType type = global[fact.value].type.clone(*shape);
  if (!applyReshape(fact, from.getShape(), to.getShape(), fact.value, *shape))
    return;
  ClassId id = global.addReshape(fact.value, type, op.getLoc());
  std::optional<Fact> reshaped = applyReshape(fact, from.getShape(), to.getShape(), id, *shape);
  if (reshaped && hasFormsOf(*reshaped, global[id])) {
    values.addFact(op.getResult(0), *reshaped);
    // A dim that is sharded may be divided in several ways.
    values.hasGuess |= llvm::any_of(fact.dims, [](const DimFact &dim) { return dim.form && dim.form->hasRank(); });
    values.count("reshape that only the partitioned program has");
  }
}

bool proof::visitReshape(Operation &op, LocalValues &values) {
  GlobalProgram &global = values.global;
  Value source = op.getOperand(0), result = op.getResult(0);
  StringRef name = op.getName().getStringRef();
  if (values.passGap(op, source))
    return true;
  auto from = cast<RankedTensorType>(source.getType()), to = cast<RankedTensorType>(result.getType());
  for (const Fact &fact : SmallVector<Fact, 2>(values.getFacts(source))) {
    const ClassInfo &info = global[fact.value];
    if (info.splat || info.isUndefined) {
      // Equal elements are so in any shape.
      if (llvm::none_of(fact.dims, [](const DimFact &dim) { return dim.form.has_value(); })) {
        Fact uniform = fact;
        uniform.dims.assign(to.getRank(), DimFact());
        values.addFact(result, uniform);
      }
      continue;
    }
    if (to.getRank() == 1)
      (void)global.getFlat(fact.value);
    for (ClassId other : SmallVector<ClassId>(global.getReshapes(fact.value))) {
      RankedTensorType type = global[other].type;
      if (type.getRank() != to.getRank())
        continue;
      std::optional<Fact> reshaped = applyReshape(fact, from.getShape(), to.getShape(), other, type.getShape());
      if (!reshaped || !hasFormsOf(*reshaped, global[other]))
        continue;
      values.addFact(result, *reshaped);
      values.count("reshape");
    }
  }
  if (values.getFacts(result).empty())
    for (const Fact &fact : SmallVector<Fact, 2>(values.getFacts(source)))
      if (!global[fact.value].splat && !global[fact.value].isUndefined)
        for (bool skipsUnits : {true, false})
          addOwnReshape(fact, skipsUnits, op, values);
  values.setGap(&op, Outcome::Undecided, "no reshape of the unsharded program has these elements", name);
  return !values.getFacts(result).empty();
}

/// The classes of operands that have the layout `layout`; empty if one has another.
static SmallVector<ClassId> getClassesLike(const Fact &layout, ValueRange inputs, const LocalValues &values) {
  SmallVector<ClassId> classes;
  for (Value input : inputs) {
    ArrayRef<Fact> facts = values.getFacts(input);
    const Fact *like =
        llvm::find_if(facts, [&](const Fact &fact) { return fact.dims == layout.dims && fact.partial.empty(); });
    if (like == facts.end())
      return {};
    classes.push_back(like->value);
  }
  return classes;
}

void proof::visitEqualConcat(tensor::ConcatOp op, LocalValues &values) {
  GlobalProgram &global = values.global;
  unsigned dim = op.getDim();
  OperandRange inputs = op.getInputs();
  auto first = cast<RankedTensorType>(inputs[0].getType());
  if (inputs.size() < 2 || llvm::any_of(inputs.getTypes(), [&](Type type) { return type != first; }))
    return;
  for (const Fact &fact : SmallVector<Fact, 2>(values.getFacts(inputs[0]))) {
    if (!fact.partial.empty() || fact.dims.size() <= dim || !fact.dims[dim].form || fact.dims[dim].hasPadding() ||
        !fact.dims[dim].form->hasRank())
      continue;
    SmallVector<ClassId> classes = getClassesLike(fact, inputs, values);
    SmallVector<int64_t> shape;
    std::optional<SmallVector<int64_t>> key;
    if (!classes.empty())
      key = global.getConcatKey(classes, dim, shape);
    if (!key)
      continue;
    int64_t extent = first.getDimSize(dim);
    IndexForm index = IndexForm::ofLoop(dim, extent * int64_t(classes.size()));
    std::optional<IndexForm> operand = index.dividedBy(extent);
    std::optional<IndexForm> form =
        fact.dims[dim].form->rename({{IndexTerm::Kind::Loop, dim, 1, extent, IndexTerm::Kind::Loop, dim, 1}});
    form = form && operand ? form->plus(*operand, fact.dims[dim].size) : std::nullopt;
    if (!form)
      continue;
    for (ClassId candidate : SmallVector<ClassId>(global.find(*key))) {
      if (global[candidate].type.getShape() != ArrayRef(shape))
        continue;
      Fact result = fact;
      result.value = candidate;
      result.dims[dim] = {shape[dim], *form, {}};
      for (auto [d, part] : llvm::enumerate(result.dims)) {
        part.padding = {};
        if (global[candidate].isUniform[d] && !part.hasPadding())
          part.form = std::nullopt;
      }
      values.addFact(op.getResult(), result);
      values.count("concatenation of equal shards");
    }
  }
}
