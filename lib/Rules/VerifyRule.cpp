//===- VerifyRule.cpp - Whether a rule fits its op ------------------------===//

#include "shardkit/Rules/IndexedBody.h"
#include "shardkit/Rules/ShardingRule.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Checks the rule of an op of another dialect in the order of its tensors and factors, and emits the first error.
class RuleVerifier {
public:
  RuleVerifier(Operation *op, const ShardingRule &rule, llvm::function_ref<InFlightDiagnostic()> emitError)
      : op(op), rule(rule), emitError(emitError) {}
  LogicalResult run();

private:
  LogicalResult fail(const Twine &message) const {
    if (emitError)
      emitError() << "the sharding rule of " << op->getName() << " does not fit: " << message;
    return failure();
  }
  std::string nameOf(unsigned t) const {
    bool isResult = t >= rule.numOperands();
    return (isResult ? "result #" : "operand #") + std::to_string(isResult ? t - rule.numOperands() : t);
  }
  LogicalResult verifyValues() const;
  LogicalResult verifyDims(unsigned t) const;
  LogicalResult verifyDim(unsigned t, unsigned d) const;
  LogicalResult verifyRole(unsigned t) const;
  LogicalResult verifyFactor(int32_t f) const;
  LogicalResult verifyPadding(int32_t f) const;
  LogicalResult verifyAddressing(const Addressing &addressing) const;
  LogicalResult verifyWindows() const;
  LogicalResult verifyPad() const;
  LogicalResult verifyConcat() const;

  Operation *op;
  const ShardingRule &rule;
  llvm::function_ref<InFlightDiagnostic()> emitError;
};

} // namespace

LogicalResult RuleVerifier::verifyValues() const {
  if (rule.numOperands() < op->getNumOperands())
    return fail("it describes " + Twine(rule.numOperands()) + " operands, expected " + Twine(op->getNumOperands()));
  if (rule.numResults() != op->getNumResults())
    return fail("it describes " + Twine(rule.numResults()) + " results, expected " + Twine(op->getNumResults()));
  for (auto [t, operand] : llvm::enumerate(rule.operands()))
    if (t < op->getNumOperands() ? operand.value != op->getOperand(t) : op->getNumRegions() == 0 || !operand.type)
      return fail("its " + nameOf(t) + " is not that of the op");
  for (auto [i, result] : llvm::enumerate(rule.results()))
    if (result.value != op->getResult(i))
      return fail("its result #" + Twine(i) + " is not that of the op");
  return success();
}

LogicalResult RuleVerifier::verifyDim(unsigned t, unsigned d) const {
  const ShardingRule::Tensor &tensor = rule.tensor(t);
  ArrayRef<int32_t> factors = rule.dimFactors(tensor, d);
  int64_t product = 1, size = tensor.type.getDimSize(d);
  auto where = [&] { return ("dim " + Twine(d) + " of " + nameOf(t)).str(); };
  for (int32_t f : factors) {
    if (f < 0 || f >= int32_t(rule.numFactors()))
      return fail(where() + " has factor " + Twine(f) + ", expected one below " + Twine(rule.numFactors()));
    product *= rule.factor(f).size;
  }
  if (const DimWindow *window = rule.getWindow(tensor, d)) {
    if (t >= rule.numOperands())
      return fail(where() + " has windows, expected them in operands");
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(rule.factor(factors.front()).size))
      return fail(where() + " has windows and a size that is not static");
    if (window->divisor < 1 || (window->divisor == 1 && window->length < 1) ||
        (window->divisor > 1 && window->stride < 1))
      return fail("the windows of " + where() + " have length " + Twine(window->length) + " and divisor " +
                  Twine(window->divisor) + ", expected both to be at least 1");
    return success();
  }
  if (factors.empty())
    return success();
  if (ShapedType::isDynamic(size))
    return factors.size() == 1
               ? success()
               : fail(where() + " has a dynamic size and " + Twine(factors.size()) + " factors, expected one");
  if (product != size)
    return fail("the factors of " + where() + " multiply to " + Twine(product) + ", expected " + Twine(size));
  return success();
}

LogicalResult RuleVerifier::verifyDims(unsigned t) const {
  const ShardingRule::Tensor &tensor = rule.tensor(t);
  const unsigned rank = tensor.type ? tensor.type.getRank() : 0;
  if (tensor.numDims != rank)
    return fail("it describes " + Twine(tensor.numDims) + " dims of " + nameOf(t) + ", expected " + Twine(rank));
  for (unsigned d = 0; d < rank; ++d)
    if (failed(verifyDim(t, d)))
      return failure();
  return success();
}

LogicalResult RuleVerifier::verifyRole(unsigned t) const {
  const ShardingRule::Tensor &tensor = rule.tensor(t);
  if (tensor.role == OperandRole::Input || t >= rule.numOperands())
    return success();
  if (tensor.result < -1 || tensor.result >= int32_t(rule.numResults()))
    return fail(nameOf(t) + " initializes result #" + Twine(tensor.result) + ", expected one below " +
                Twine(rule.numResults()));
  return success();
}

LogicalResult RuleVerifier::verifyFactor(int32_t f) const {
  const Factor &factor = rule.factor(f);
  auto iface = cast<ShardingRuleOpInterface>(op);
  if (factor.granule < 1 || factor.minShard < 1)
    return fail("the granule or smallest shard of factor " + Twine(f) + " is not positive");
  auto hasIt = [&](const ShardingRule::Tensor &tensor) { return rule.hasFactor(tensor, f); };
  if (factor.kind == FactorKind::Replicated ||
      (llvm::none_of(rule.operands(), hasIt) && llvm::none_of(rule.results(), hasIt)))
    return success();
  if (factor.hasWindows && iface.getWindowForm() == WindowForm::None)
    return fail("a dim is read in windows along factor " + Twine(f) + ", expected getWindowForm to specify how");
  if (factor.kind == FactorKind::Selection)
    return fail("factor " + Twine(f) + " is a selection, expected it of spmd.sort and structured ops only");
  if (factor.kind == FactorKind::Indexed) {
    if (!factor.hasWindows && !iface.getAddressing())
      return fail("factor " + Twine(f) + " is indexed, expected getAddressing to specify by what");
    return success();
  }
  for (auto [i, result] : llvm::enumerate(rule.results())) {
    if (!result.type)
      continue;
    const bool isIn = rule.hasFactor(result, f);
    if (factor.kind == FactorKind::Parallel && !isIn && factor.size != 1)
      return fail("result #" + Twine(i) + " lacks the parallel factor " + Twine(f) + ", expected a reduction");
    if (factor.kind == FactorKind::Reduction && isIn)
      return fail("result #" + Twine(i) + " has factor " + Twine(f) + ", which is a reduction");
  }
  return verifyPadding(f);
}

LogicalResult RuleVerifier::verifyPadding(int32_t f) const {
  std::optional<PaddingNeeds> needs = cast<ShardingRuleOpInterface>(op).getPaddingNeeds(rule, f);
  if (!needs)
    return success();
  if (needs->body != PaddingNeeds::Body::Run && !getIndexedBody(op))
    return fail("padding of factor " + Twine(f) + " is left out by the body, which is not one over an index space");
  for (const PaddingNeeds::Mask &mask : needs->masks) {
    if (mask.operand >= op->getNumOperands() || !rule.tensor(mask.operand).type)
      return fail("padding of factor " + Twine(f) + " is masked in operand #" + Twine(mask.operand) +
                  ", which is not a tensor");
    if (!mask.value || mask.value.getType() != rule.tensor(mask.operand).type.getElementType())
      return fail("the mask of operand #" + Twine(mask.operand) + " has another type than its elements");
  }
  return success();
}

/// Partition replaces the op by loops over the rows, which look up the indices.
LogicalResult RuleVerifier::verifyAddressing(const Addressing &a) const {
  if (a.tableOperand >= op->getNumOperands() || a.indicesOperand >= op->getNumOperands() ||
      a.table != op->getOperand(a.tableOperand) || a.indices != op->getOperand(a.indicesOperand))
    return fail("the table and indices of getAddressing are not those operands of the op");
  if (op->getNumResults() != 1 ||
      (a.writes ? !llvm::is_contained(op->getOperands(), a.rows) || op->getResult(0).getType() != a.table.getType()
                : a.rows != op->getResult(0)))
    return fail(a.writes
                    ? "getAddressing writes rows, expected them in an operand, and one result of the type of the table"
                    : "getAddressing reads rows, expected them to be the one result");
  auto rankOf = [](Value value) {
    auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
    return type ? type.getRank() : -1;
  };
  const int64_t coordinates =
      a.hasTuples && rankOf(a.indices) > 0 ? cast<RankedTensorType>(a.indices.getType()).getShape().back() : 1;
  if (a.batch < 0 || a.batch + a.hasTuples != rankOf(a.indices) || a.batch > rankOf(a.rows))
    return fail("getAddressing has " + Twine(a.batch) + " batch dims, expected " +
                Twine(rankOf(a.indices) - a.hasTuples) + ", the dims of the indices that the rows have too");
  if (int64_t(a.coordinate.size()) != rankOf(a.table) || int64_t(a.along.size()) != rankOf(a.table))
    return fail("getAddressing describes " + Twine(a.coordinate.size()) + " coordinates and " + Twine(a.along.size()) +
                " dims of rows, expected one of each per dim of the table, which has " + Twine(rankOf(a.table)));
  for (auto [d, coordinate, along] : llvm::enumerate(a.coordinate, a.along))
    if (along < 0 ? coordinate < 0 || coordinate >= coordinates : coordinate >= 0 || along >= rankOf(a.rows))
      return fail("getAddressing has coordinate " + Twine(coordinate) + " and dim " + Twine(along) +
                  " of the rows for dim " + Twine(d) + " of the table, expected one of them and -1");
  return success();
}

/// Partition replaces the op by operand 0 in the middle of the padding.
LogicalResult RuleVerifier::verifyPad() const {
  Block scratch;
  OpBuilder b(op->getContext());
  b.setInsertionPointToEnd(&scratch);
  const PadForm form = cast<ShardingRuleOpInterface>(op).getPadForm(b);
  const ShardingRule::Tensor &source = rule.tensor(0);
  if (op->getNumOperands() == 0 || form.low.size() != source.numDims || form.high.size() != source.numDims)
    return fail("getPadForm has padding for " + Twine(form.low.size()) + " and " + Twine(form.high.size()) +
                " dims, expected all dims of operand #0, low and high");
  const Type element = source.type.getElementType();
  if (form.padding ? form.padding.getType() != element : !element.isIntOrIndexOrFloat())
    return fail("the padding of getPadForm is not a value of the element type of operand #0");
  for (unsigned d = 0; d < source.numDims; ++d) {
    const std::optional<int64_t> low = getConstantIntValue(form.low[d]);
    if (const DimWindow *window = rule.getWindow(source, d); window && low && !(*window == DimWindow{1, -*low}))
      return fail("the window of dim " + Twine(d) + " of operand #0 is not {1, " + Twine(-*low) +
                  ", 1}, which the padding of getPadForm reads");
  }
  return success();
}

/// Partition replaces the op by its operands, one after the other.
LogicalResult RuleVerifier::verifyConcat() const {
  int64_t begin = 0;
  std::optional<unsigned> dim;
  for (const ShardingRule::Tensor &operand : rule.operands()) {
    for (unsigned d = 0; d < operand.numDims && !dim; ++d)
      if (rule.getWindow(operand, d))
        dim = d;
    const DimWindow *window = dim && *dim < operand.numDims ? rule.getWindow(operand, *dim) : nullptr;
    if (!window || !(*window == DimWindow{1, -begin}))
      return fail("getWindowForm is Concat, expected the rule of getConcatRule");
    begin += operand.type.getDimSize(*dim);
  }
  return success();
}

LogicalResult RuleVerifier::verifyWindows() const {
  switch (cast<ShardingRuleOpInterface>(op).getWindowForm()) {
  case WindowForm::None:
  case WindowForm::InPlace:
    return success();
  case WindowForm::Pad:
    return verifyPad();
  case WindowForm::Concat:
    return verifyConcat();
  case WindowForm::Slice:
  case WindowForm::Insert:
    return fail("getWindowForm is that of slices of upstream, expected InPlace, Pad or Concat");
  }
  llvm_unreachable("unknown window form");
}

LogicalResult RuleVerifier::run() {
  if (!rule.error.empty())
    return fail(rule.error);
  if (failed(verifyValues()))
    return failure();
  if (std::optional<Addressing> addressing = cast<ShardingRuleOpInterface>(op).getAddressing())
    if (failed(verifyAddressing(*addressing)))
      return failure();
  for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t)
    if (failed(verifyDims(t)) || failed(verifyRole(t)))
      return failure();
  for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f)
    if (failed(verifyFactor(f)))
      return failure();
  return rule.hasWindows() ? verifyWindows() : success();
}

LogicalResult spmd::verifyShardingRule(Operation *op, const ShardingRule &rule,
                                       llvm::function_ref<InFlightDiagnostic()> emitError) {
  return RuleVerifier(op, rule, emitError).run();
}
