//===- CheckRule.cpp - Whether a rule gives the right numbers -------------===//

#include "shardkit/Rules/CheckRule.h"

#include "shardkit/Rules/PaddingNeeds.h"
#include "shardkit/Rules/Reductions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::spmd;

void spmd::forEachIndex(ArrayRef<int64_t> shape, llvm::function_ref<void(ArrayRef<int64_t>)> function) {
  if (llvm::is_contained(shape, 0))
    return;
  SmallVector<int64_t> index(shape.size());
  while (true) {
    function(index);
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

size_t TensorValue::flatten(ArrayRef<int64_t> index) const {
  size_t flat = 0;
  for (auto [i, size] : llvm::zip_equal(index, type.getShape()))
    flat = flat * size + i;
  return flat;
}

static double toDouble(Attribute attr) {
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  const IntegerAttr number = cast<IntegerAttr>(attr);
  return number.getType().isInteger(1) || number.getType().isUnsignedInteger()
             ? number.getValue().roundToDouble(false)
             : number.getValue().signedRoundToDouble();
}

/// A scalar is a tensor of no dims; null for other types.
static RankedTensorType getTensorType(Type type) {
  return type.isIntOrIndexOrFloat() ? RankedTensorType::get({}, type) : dyn_cast<RankedTensorType>(type);
}

static double combine(ReductionKind kind, double a, double b) {
  switch (kind) {
  case ReductionKind::Sum:
    return a + b;
  case ReductionKind::Prod:
    return a * b;
  case ReductionKind::And:
    return double(int64_t(a) & int64_t(b));
  case ReductionKind::Or:
    return double(int64_t(a) | int64_t(b));
  case ReductionKind::Xor:
    return double(int64_t(a) ^ int64_t(b));
  case ReductionKind::MaxNum:
    return std::fmax(a, b);
  case ReductionKind::MinNum:
    return std::fmin(a, b);
  case ReductionKind::Max:
  case ReductionKind::UMax:
    return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
  case ReductionKind::Min:
  case ReductionKind::UMin:
    return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
  }
  llvm_unreachable("unknown reduction");
}

namespace {

class RuleChecker {
public:
  RuleChecker(Operation *op, OpInterpreter interpret) : op(op), interpret(interpret), rule(getShardingRule(op)) {
    if (auto iface = dyn_cast<ShardingRuleOpInterface>(op))
      addressing = iface.getAddressing();
  }
  FailureOr<RuleCheck> run(ArrayRef<TensorValue> given);

private:
  using Numbers = SmallVector<int64_t, 8>;
  /// Indices that are no elements of the tensor.
  static constexpr int64_t kPadding = -1, kBeyond = -2;

  LogicalResult verifyForm() const;
  RankedTensorType getType(unsigned t) const { return getTensorType(rule.tensor(t).value.getType()); }
  /// The elements of a value that is computed from constants alone.
  std::optional<TensorValue> evaluate(Value value) const;
  TensorValue makeOperand(unsigned t) const;
  int64_t getRange(unsigned t) const;
  /// Computes the full op.
  LogicalResult computeExpected();
  bool isComputed(int32_t f) const;
  /// Whether shards of a factor may have padding: not those of a dim of several.
  bool mayBeUneven(int32_t f) const;
  /// The numbers of shards that a factor may have.
  Numbers getCounts(int32_t f) const;
  int64_t getChunk(int32_t f) const { return llvm::divideCeilSigned(rule.factor(f).size, counts[f]); }
  /// The global index of each local index of a dim, on the device with these coordinates.
  Numbers getIndices(unsigned t, unsigned d, ArrayRef<int64_t> coordinates) const;
  std::vector<Numbers> getIndices(unsigned t, ArrayRef<int64_t> coordinates) const;
  RankedTensorType getLocalType(unsigned t) const;
  /// The elements in the padding of a factor of operand `t`.
  double getPadding(unsigned t, int32_t f) const;
  double getPaddingAt(unsigned t, ArrayRef<Numbers> indices, ArrayRef<int64_t> local) const;
  TensorValue shardOperand(unsigned t, ArrayRef<int64_t> coordinates) const;
  int32_t getAddressed(size_t d) const;
  /// Whether partition replaces the op by loops over rows: an addressed dim is sharded.
  bool isReplaced() const;
  /// Where a row, or an element of it, is in the shard of the table; std::nullopt if another device has it.
  std::optional<SmallVector<int64_t>> getTableIndex(const TensorValue &table, const TensorValue &indices,
                                                    ArrayRef<int64_t> row, ArrayRef<int64_t> coordinates) const;
  /// What these loops compute on a device: the rows that it has, zeros for others, or its shard of the table with the
  /// rows that are written into it.
  TensorValues computeRows(ArrayRef<TensorValue> shards, ArrayRef<int64_t> coordinates) const;
  /// The operand with the rows that are written.
  unsigned getRowsOperand() const;
  /// The op with local attributes and types, alone in a function of a module.
  std::pair<OwningOpRef<ModuleOp>, Operation *> makeLocal() const;
  LogicalResult verifyTypes(Operation *computed, ArrayRef<TensorValue> results) const;
  LogicalResult check(ArrayRef<int64_t> countsOfFactors);
  LogicalResult compare(unsigned r, const std::vector<std::vector<double>> &partial) const;
  std::string describe() const;

  Operation *op;
  OpInterpreter interpret;
  ShardingRule rule;
  std::optional<Addressing> addressing; ///< Of an op that reads or writes rows of a table.
  TensorValues operands, expected;
  /// The number of shards per factor.
  Numbers counts;
};

} // namespace

LogicalResult RuleChecker::verifyForm() const {
  if (!isa<ShardingRuleOpInterface>(op))
    return op->emitError() << op->getName() << " has no sharding rule to check";
  ShardingRule own = cast<ShardingRuleOpInterface>(op).getShardingRule();
  if (!hasBuiltinRules(op->getName().getDialectNamespace()) &&
      failed(verifyShardingRule(op, own, [&] { return op->emitError(); })))
    return failure();
  if (rule.numOperands() != op->getNumOperands())
    return op->emitError() << "has regions that capture tensors, expected operands to check its rule";
  for (auto [t, value] : llvm::enumerate(llvm::concat<Value>(op->getOperands(), op->getResults())))
    if (RankedTensorType type = getType(t); !type || !type.hasStaticShape() ||
                                            !type.getElementType().isIntOrIndexOrFloat() ||
                                            (t >= rule.numOperands() && !rule.tensor(t).type))
      return op->emitError() << "has a value of type " << value.getType()
                             << ", expected tensors of static shape and of integers or floats, or operands that are "
                                "such scalars, to check its rule";
  return success();
}

std::optional<TensorValue> RuleChecker::evaluate(Value value) const {
  Operation *def = value.getDefiningOp();
  RankedTensorType type = getTensorType(value.getType());
  if (!def || !type || !type.hasStaticShape())
    return std::nullopt;
  if (auto constant = def->getAttrOfType<TypedAttr>("value");
      constant && constant.getType() == value.getType() && def->getName().stripDialect() == "constant") {
    TensorValue made(type);
    auto dense = dyn_cast<DenseElementsAttr>(constant);
    if (!dense && !isa<IntegerAttr, FloatAttr>(constant))
      return std::nullopt;
    for (auto [i, element] : llvm::enumerate(made.elements))
      element = toDouble(dense ? dense.getValues<Attribute>()[i] : Attribute(constant));
    return made;
  }
  if (!isa<ShardingRuleOpInterface>(def) || hasBuiltinRules(def->getName().getDialectNamespace()))
    return std::nullopt;
  RuleChecker checker(def, interpret);
  for (Value operand : def->getOperands()) {
    std::optional<TensorValue> constant = evaluate(operand);
    if (!constant)
      return std::nullopt;
    checker.operands.push_back(*constant);
  }
  if (failed(checker.verifyForm()) || failed(checker.computeExpected()))
    return std::nullopt;
  return checker.expected[cast<OpResult>(value).getResultNumber()];
}

TensorValue RuleChecker::makeOperand(unsigned t) const {
  if (std::optional<TensorValue> constant = evaluate(op->getOperand(t)))
    return *constant;
  TensorValue value(getType(t));
  // Multiples of the golden ratio, modulo 1.
  for (auto [i, element] : llvm::enumerate(value.elements)) {
    double fraction = std::fmod((i + 1 + 17.0 * t) * 0.6180339887498949, 1);
    Type type = value.type.getElementType();
    element = isa<FloatType>(type) ? 4 * fraction - 2 : std::floor(fraction * (type.isInteger(1) ? 2 : getRange(t)));
  }
  return value;
}

/// Indices reach all rows; other integers are small.
int64_t RuleChecker::getRange(unsigned t) const {
  if (!addressing || t != addressing->indicesOperand)
    return 3;
  int64_t range = INT64_MAX;
  for (auto [size, coordinate] :
       llvm::zip(rule.tensor(addressing->tableOperand).type.getShape(), addressing->coordinate))
    if (coordinate >= 0)
      range = std::min(range, size);
  return range;
}

bool RuleChecker::isComputed(int32_t f) const {
  const Factor &factor = rule.factor(f);
  if (factor.kind == FactorKind::Indexed)
    return addressing && !factor.hasWindows;
  return (factor.kind == FactorKind::Parallel || factor.kind == FactorKind::Reduction) &&
         (!factor.hasWindows || cast<ShardingRuleOpInterface>(op).getWindowForm() == WindowForm::InPlace);
}

bool RuleChecker::mayBeUneven(int32_t f) const {
  for (const ShardingRule::Tensor &tensor : llvm::concat<const ShardingRule::Tensor>(rule.operands(), rule.results()))
    for (unsigned d = 0; d < tensor.numDims; ++d) {
      ArrayRef<int32_t> factors = rule.dimFactors(tensor, d);
      if (factors.size() > 1 && llvm::is_contained(factors, f))
        return false;
    }
  return rule.factor(f).allowsPadding;
}

RuleChecker::Numbers RuleChecker::getCounts(int32_t f) const {
  const Factor &factor = rule.factor(f);
  Numbers found;
  for (int64_t count : {2, 3}) {
    const int64_t chunk = llvm::divideCeilSigned(factor.size, count);
    const bool divides = factor.size % count == 0;
    if (count <= factor.size && (divides || mayBeUneven(f)) && chunk % factor.granule == 0 && chunk >= factor.minShard)
      found.push_back(count);
  }
  return found;
}

RuleChecker::Numbers RuleChecker::getIndices(unsigned t, unsigned d, ArrayRef<int64_t> coordinates) const {
  const ShardingRule::Tensor &tensor = rule.tensor(t);
  ArrayRef<int32_t> factors = rule.dimFactors(tensor, d);
  const int64_t size = tensor.type.getDimSize(d);
  if (const DimWindow *window = rule.getWindow(tensor, d); window && counts[factors.front()] > 1) {
    const int32_t f = factors.front();
    const Window held = window->ofChunk(getChunk(f), counts[f]);
    return Numbers(llvm::map_range(llvm::seq(held.size), [&](int64_t i) {
      const int64_t index = held.step * coordinates[f] + held.offset + i;
      return index >= 0 && index < size ? index : kBeyond;
    }));
  }
  if (factors.empty() || rule.getWindow(tensor, d))
    return Numbers(llvm::map_range(llvm::seq(size), [](int64_t i) { return i; }));
  // Digits, major to minor.
  Numbers indices(1, 0);
  for (int32_t f : factors) {
    Numbers next;
    for (int64_t major : indices)
      for (int64_t i = 0; i < getChunk(f); ++i) {
        const int64_t digit = coordinates[f] * getChunk(f) + i;
        const bool isElement = major != kPadding && digit < rule.factor(f).size;
        next.push_back(isElement ? major * rule.factor(f).size + digit : kPadding);
      }
    indices = std::move(next);
  }
  return indices;
}

std::vector<RuleChecker::Numbers> RuleChecker::getIndices(unsigned t, ArrayRef<int64_t> coordinates) const {
  std::vector<Numbers> indices;
  for (unsigned d = 0; d < rule.tensor(t).numDims; ++d)
    indices.push_back(getIndices(t, d, coordinates));
  return indices;
}

RankedTensorType RuleChecker::getLocalType(unsigned t) const {
  auto shape = llvm::map_to_vector(getIndices(t, Numbers(rule.numFactors(), 0)),
                                   [](const Numbers &indices) { return int64_t(indices.size()); });
  return getType(t).clone(shape);
}

double RuleChecker::getPadding(unsigned t, int32_t f) const {
  if (std::optional<PaddingNeeds> needs = cast<ShardingRuleOpInterface>(op).getPaddingNeeds(rule, f))
    for (const PaddingNeeds::Mask &mask : needs->masks)
      if (mask.operand == t)
        return toDouble(mask.value);
  Type type = getType(t).getElementType();
  return isa<FloatType>(type) ? NAN : type.isInteger(1) ? 1 : 99;
}

double RuleChecker::getPaddingAt(unsigned t, ArrayRef<Numbers> indices, ArrayRef<int64_t> local) const {
  std::optional<double> content;
  for (auto [d, i] : llvm::enumerate(local)) {
    if (indices[d][i] != kPadding)
      continue;
    // Required values come before others.
    double value = getPadding(t, rule.dimFactors(rule.tensor(t), d).front());
    content = !content || std::isnan(*content) ? value : *content;
  }
  if (content)
    return *content;
  for (auto [d, i] : llvm::enumerate(local))
    if (indices[d][i] == kBeyond)
      if (TypedAttr value = cast<ShardingRuleOpInterface>(op).getWindowPadding(t, d))
        return toDouble(value);
  return 0;
}

TensorValue RuleChecker::shardOperand(unsigned t, ArrayRef<int64_t> coordinates) const {
  const ShardingRule::Tensor &tensor = rule.tensor(t);
  TensorValue value(getLocalType(t));
  if (tensor.role == OperandRole::ShapeOnly) {
    llvm::fill(value.elements, NAN);
    return value;
  }
  // An accumulator counts once.
  if (tensor.role == OperandRole::Init && tensor.result >= 0)
    for (auto [f, coordinate] : llvm::enumerate(coordinates))
      if (coordinate > 0 && rule.isPartial(rule.results()[tensor.result], f)) {
        llvm::fill(value.elements,
                   toDouble(getNeutralElement(rule.results()[tensor.result].reduction, value.type.getElementType())));
        return value;
      }
  std::vector<Numbers> indices = getIndices(t, coordinates);
  size_t next = 0;
  forEachIndex(value.type.getShape(), [&](ArrayRef<int64_t> local) {
    Numbers global;
    for (auto [d, i] : llvm::enumerate(local))
      global.push_back(indices[d][i]);
    const bool isElement = llvm::all_of(global, [](int64_t i) { return i >= 0; });
    value.elements[next++] = isElement ? operands[t].at(global) : getPaddingAt(t, indices, local);
  });
  return value;
}

/// The factor of dim `d` of the table if an index addresses it and it is sharded, else -1.
int32_t RuleChecker::getAddressed(size_t d) const {
  if (addressing->coordinate[d] < 0)
    return -1;
  ArrayRef<int32_t> factors = rule.dimFactors(rule.tensor(addressing->tableOperand), d);
  return factors.size() == 1 && counts[factors.front()] > 1 ? factors.front() : -1;
}

bool RuleChecker::isReplaced() const {
  return addressing &&
         llvm::any_of(llvm::seq(addressing->coordinate.size()), [&](size_t d) { return getAddressed(d) >= 0; });
}

std::optional<SmallVector<int64_t>> RuleChecker::getTableIndex(const TensorValue &table, const TensorValue &indices,
                                                               ArrayRef<int64_t> row,
                                                               ArrayRef<int64_t> coordinates) const {
  SmallVector<int64_t> index;
  for (auto [d, along] : llvm::enumerate(addressing->along)) {
    if (along >= 0) {
      index.push_back(row[along]);
      continue;
    }
    SmallVector<int64_t> at(row.take_front(addressing->batch));
    if (addressing->hasTuples)
      at.push_back(addressing->coordinate[d]);
    const int32_t f = getAddressed(d);
    index.push_back(int64_t(indices.at(at)) - (f < 0 ? 0 : coordinates[f] * getChunk(f)));
    if (index.back() < 0 || index.back() >= table.type.getDimSize(d))
      return std::nullopt;
  }
  return index;
}

TensorValues RuleChecker::computeRows(ArrayRef<TensorValue> shards, ArrayRef<int64_t> coordinates) const {
  const TensorValue &table = shards[addressing->tableOperand], &indices = shards[addressing->indicesOperand];
  if (!addressing->writes) {
    TensorValue rows(getLocalType(rule.numOperands()),
                     toDouble(getNeutralElement(ReductionKind::Sum, table.type.getElementType())));
    forEachIndex(rows.type.getShape(), [&](ArrayRef<int64_t> row) {
      if (auto index = getTableIndex(table, indices, row, coordinates))
        rows.at(row) = table.at(*index);
    });
    return {std::move(rows)};
  }
  TensorValue written = table;
  const TensorValue &rows = shards[getRowsOperand()];
  // In order: of equal indices the last row stays.
  forEachIndex(rows.type.getShape(), [&](ArrayRef<int64_t> row) {
    if (auto index = getTableIndex(table, indices, row, coordinates))
      written.at(*index) = rows.at(row);
  });
  return {std::move(written)};
}

unsigned RuleChecker::getRowsOperand() const {
  for (unsigned t = 0; t < op->getNumOperands(); ++t)
    if (t != addressing->tableOperand && t != addressing->indicesOperand && op->getOperand(t) == addressing->rows)
      return t;
  return addressing->rows == addressing->table ? addressing->tableOperand : addressing->indicesOperand;
}

std::pair<OwningOpRef<ModuleOp>, Operation *> RuleChecker::makeLocal() const {
  const Location loc = op->getLoc();
  op->getContext()->getOrLoadDialect<func::FuncDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  auto types = llvm::map_to_vector(llvm::seq(rule.numOperands() + rule.numResults()), [&](unsigned t) -> Type {
    return rule.tensor(t).type ? getLocalType(t) : rule.tensor(t).value.getType();
  });
  auto signature = FunctionType::get(op->getContext(), ArrayRef(types).take_front(rule.numOperands()),
                                     ArrayRef(types).drop_front(rule.numOperands()));
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  auto func = func::FuncOp::create(b, loc, "main", signature);
  Block *block = func.addEntryBlock();
  llvm::DenseMap<Value, unsigned> tensors;
  for (auto [t, argument] : llvm::enumerate(block->getArguments()))
    tensors[argument] = t;
  Operation *local = op->clone();
  block->push_back(local);
  // An operand that is used twice has an argument for each use.
  local->setOperands(block->getArguments());
  for (auto [i, result] : llvm::enumerate(local->getResults()))
    tensors[result] = rule.numOperands() + i;
  auto getGlobal = [&](Value value) { return rule.tensor(tensors.lookup(value)).type; };
  auto getLocal = [&](Value value) { return getLocalType(tensors.lookup(value)); };
  makeAttributesLocal(local, {getGlobal, getLocal});
  for (unsigned t = 0; t < rule.numOperands(); ++t)
    for (unsigned d = 0; d < rule.tensor(t).numDims; ++d)
      if (const DimWindow *window = rule.getWindow(rule.tensor(t), d)) {
        const int32_t f = rule.dimFactors(rule.tensor(t), d).front();
        if (counts[f] > 1)
          cast<ShardingRuleOpInterface>(local).makeWindowLocal(
              {t, d, window->ofChunk(getChunk(f), counts[f]), getChunk(f)});
      }
  for (Value result : local->getResults())
    result.setType(getLocal(result));
  b.setInsertionPointToEnd(block);
  func::ReturnOp::create(b, loc, local->getResults());
  return {std::move(module), local};
}

LogicalResult RuleChecker::verifyTypes(Operation *computed, ArrayRef<TensorValue> results) const {
  if (results.size() != computed->getNumResults())
    return op->emitError() << "the interpreter gives " << results.size() << " results of " << op->getName()
                           << ", expected " << computed->getNumResults();
  for (auto [i, value, result] : llvm::enumerate(results, computed->getResults()))
    if (value.type != result.getType() || int64_t(value.elements.size()) != value.type.getNumElements())
      return op->emitError() << "the interpreter gives " << value.elements.size() << " elements of type " << value.type
                             << " for result #" << i << " of " << op->getName() << ", expected " << result.getType();
  return success();
}

std::string RuleChecker::describe() const {
  std::string text;
  for (auto [f, count] : llvm::enumerate(counts))
    if (count > 1)
      text += (text.empty() ? "factor " : ", factor ") + std::to_string(f) + " (size " +
              std::to_string(rule.factor(f).size) + ") in " + std::to_string(count) + " shards";
  return text;
}

/// Compares result `r`, given per coordinate of the reductions.
LogicalResult RuleChecker::compare(unsigned r, const std::vector<std::vector<double>> &partial) const {
  const TensorValue &want = expected[r];
  std::optional<std::string> wrong;
  size_t next = 0;
  forEachIndex(want.type.getShape(), [&](ArrayRef<int64_t> index) {
    const size_t i = next++;
    double value = partial.front()[i];
    for (const std::vector<double> &other : llvm::drop_begin(partial))
      value = combine(rule.results()[r].reduction, value, other[i]);
    const double other = want.elements[i];
    const bool isEqual = value == other || (std::isnan(value) && std::isnan(other)) ||
                         std::abs(value - other) <= 1e-4 * std::max(1.0, std::abs(other));
    if (isEqual || wrong)
      return;
    llvm::raw_string_ostream os(wrong.emplace());
    os << "element [";
    llvm::interleaveComma(index, os);
    os << "] of result #" << r << " is " << value << ", expected " << other;
  });
  if (!wrong)
    return success();
  return op->emitError() << "the sharding rule of " << op->getName() << " gives wrong numbers: with " << describe()
                         << ", " << *wrong;
}

LogicalResult RuleChecker::check(ArrayRef<int64_t> countsOfFactors) {
  counts.assign(countsOfFactors.begin(), countsOfFactors.end());
  auto [module, local] = makeLocal();
  // Per result and coordinate of the reductions.
  std::vector<std::vector<std::vector<double>>> partial(op->getNumResults());
  LogicalResult status = success();
  forEachIndex(counts, [&](ArrayRef<int64_t> coordinates) {
    if (failed(status))
      return;
    TensorValues shards;
    for (unsigned t = 0; t < rule.numOperands(); ++t)
      shards.push_back(shardOperand(t, coordinates));
    FailureOr<TensorValues> results =
        isReplaced() ? FailureOr(computeRows(shards, coordinates)) : interpret(local, shards);
    if (failed(results) || failed(verifyTypes(local, *results))) {
      status = failure();
      return;
    }
    for (auto [r, result] : llvm::enumerate(*results)) {
      size_t reduction = 0;
      for (auto [f, coordinate] : llvm::enumerate(coordinates))
        if (rule.isPartial(rule.results()[r], f))
          reduction = reduction * counts[f] + coordinate;
      if (partial[r].size() <= reduction)
        partial[r].resize(reduction + 1, std::vector<double>(expected[r].elements.size(), NAN));
      std::vector<Numbers> indices = getIndices(rule.numOperands() + r, coordinates);
      TensorValue full(expected[r].type);
      std::swap(full.elements, partial[r][reduction]);
      forEachIndex(result.type.getShape(), [&](ArrayRef<int64_t> i) {
        Numbers global;
        for (auto [d, k] : llvm::enumerate(i))
          global.push_back(indices[d][k]);
        if (llvm::any_of(global, [](int64_t k) { return k < 0; }))
          return;
        full.at(global) = result.at(i);
      });
      std::swap(full.elements, partial[r][reduction]);
    }
  });
  for (unsigned r = 0; r < partial.size() && succeeded(status); ++r)
    status = compare(r, partial[r]);
  return status;
}

LogicalResult RuleChecker::computeExpected() {
  counts.assign(rule.numFactors(), 1);
  auto [module, full] = makeLocal();
  FailureOr<TensorValues> results = interpret(full, operands);
  if (failed(results) || failed(verifyTypes(full, *results)))
    return failure();
  expected = std::move(*results);
  return success();
}

FailureOr<RuleCheck> RuleChecker::run(ArrayRef<TensorValue> given) {
  if (failed(verifyForm()))
    return failure();
  if (!given.empty() && given.size() != op->getNumOperands())
    return op->emitError() << "elements of " << given.size() << " operands are given, expected "
                           << op->getNumOperands();
  for (unsigned t = 0; t < rule.numOperands(); ++t) {
    operands.push_back(given.empty() ? makeOperand(t) : given[t]);
    if (operands[t].type != getType(t))
      return op->emitError() << "elements of type " << operands[t].type << " are given for operand #" << t
                             << ", expected " << getType(t);
  }
  markUnevenFactors(rule, op);
  if (failed(computeExpected()))
    return failure();

  Numbers none(rule.numFactors(), 1), all = none;
  RuleCheck result;
  const ShardingRule own = cast<ShardingRuleOpInterface>(op).getShardingRule();
  std::vector<std::pair<int32_t, Numbers>> sharded;
  for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f) {
    const Factor &factor = rule.factor(f);
    if (factor.kind == FactorKind::Replicated && own.numFactors() == rule.numFactors() &&
        own.factor(f).kind != FactorKind::Replicated)
      result.replicated.push_back(f);
    if (factor.kind == FactorKind::Replicated || factor.size < 2)
      continue;
    if (!mayBeUneven(f) || factor.granule > 1)
      result.even.push_back(f);
    if (!isComputed(f))
      result.unchecked.push_back(f);
    else if (Numbers counts = getCounts(f); !counts.empty())
      sharded.push_back({f, counts});
  }
  auto add = [&](const Numbers &counts) {
    ++result.cases;
    return check(counts);
  };
  // The cases of one factor come first: they tell most of what is wrong.
  for (const auto &[f, options] : sharded) {
    all[f] = options.back();
    for (int64_t count : options) {
      Numbers counts = none;
      counts[f] = count;
      if (failed(add(counts)))
        return failure();
    }
  }
  for (auto [i, first] : llvm::enumerate(sharded))
    for (const auto &second : llvm::drop_begin(sharded, i + 1)) {
      Numbers counts = none;
      counts[first.first] = first.second.front();
      counts[second.first] = second.second.back();
      if (failed(add(counts)))
        return failure();
    }
  if (sharded.size() > 2 && failed(add(all)))
    return failure();
  return result;
}

FailureOr<RuleCheck> spmd::checkShardingRule(Operation *op, OpInterpreter interpret, ArrayRef<TensorValue> operands) {
  return RuleChecker(op, interpret).run(operands);
}
