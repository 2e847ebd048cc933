//===- RuleBuilder.cpp - Rules in index notation --------------------------===//

#include "shardkit/Rules/RuleBuilder.h"

using namespace mlir;
using namespace mlir::spmd;

static ArrayRef<int64_t> getShapeOf(Value value) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return type ? type.getShape() : ArrayRef<int64_t>();
}

RuleBuilder::RuleBuilder(Operation *op, StringRef dims) : op(op) {
  auto [in, out] = dims.split("->");
  if (dims.trim() == "...") {
    for (Value operand : op->getOperands())
      operands.push_back(parse("...", operand));
    for (Value result : op->getResults())
      results.push_back(parse("...", result));
  } else {
    parseTensors(in, op->getOperands(), operands);
    while (operands.size() < op->getNumOperands())
      operands.push_back(Tensor(getShapeOf(op->getOperand(operands.size())).size(), none));
    parseTensors(out, op->getResults(), results);
  }
  for (const Tensor &tensor : llvm::concat<const Tensor>(operands, results))
    for (Index index : tensor)
      if (index != none && !llvm::is_contained(indices, index))
        indices.push_back(index);
}

RuleBuilder::Tensor RuleBuilder::parse(StringRef text, Value value) {
  Tensor dims;
  const int64_t rank = getShapeOf(value).size();
  auto explicitDims = llvm::count_if(text, [](char c) { return c != ' '; }) - (text.contains("...") ? 3 : 0);
  while (!text.empty()) {
    if (text.consume_front("...")) {
      for (int64_t n = rank - explicitDims; n-- > 0;)
        dims.push_back(leading + n);
      continue;
    }
    if (text.front() != ' ')
      dims.push_back(text.front() == '.' ? none : Index(static_cast<unsigned char>(text.front())));
    text = text.drop_front();
  }
  return dims;
}

void RuleBuilder::parseTensors(StringRef text, ValueRange values, std::vector<Tensor> &tensors) {
  if (text.trim().empty() && values.empty())
    return;
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (auto [i, part] : llvm::enumerate(parts))
    tensors.push_back(parse(part, i < values.size() ? values[i] : Value()));
}

RuleBuilder &RuleBuilder::reduction(ReductionKind kind) {
  this->kind = kind;
  return *this;
}

RuleBuilder &RuleBuilder::replicate(StringRef letters) {
  replicated.append(letters.begin(), letters.end());
  return *this;
}

RuleBuilder &RuleBuilder::padding(StringRef letters, PaddingContent content) {
  if (letters.consume_front("..."))
    for (Index index : indices)
      if (index >= leading)
        contents.push_back({index, content});
  for (char letter : letters)
    contents.push_back({letter, content});
  return *this;
}

RuleBuilder &RuleBuilder::allowPadding() {
  allowsPadding = true;
  return *this;
}

RuleBuilder &RuleBuilder::granule(char letter, int64_t granule) {
  granules.push_back({letter, granule});
  return *this;
}

RuleBuilder &RuleBuilder::window(unsigned operand, unsigned dim, char letter, DimWindow window) {
  windows.push_back({operand, dim, letter, window});
  return *this;
}

RuleBuilder &RuleBuilder::init(unsigned operand, unsigned result, OperandRole role) {
  inits.push_back({operand, result, role});
  return *this;
}

RuleBuilder &RuleBuilder::contraction() {
  isContraction = true;
  return *this;
}

RuleBuilder &RuleBuilder::localAttributes() {
  hasLocalAttributes = true;
  return *this;
}

int64_t RuleBuilder::getSize(Index index) const {
  int64_t size = 1;
  auto read = [&](const Tensor &dims, Value value) {
    for (auto [d, other] : llvm::zip(getShapeOf(value), dims))
      if (other == index && size == 1)
        size = d;
  };
  for (auto [dims, value] : llvm::zip(operands, op->getOperands()))
    read(dims, value);
  for (auto [dims, value] : llvm::zip(results, op->getResults()))
    read(dims, value);
  return size;
}

FactorKind RuleBuilder::getKind(Index index) const {
  if (llvm::is_contained(replicated, index))
    return FactorKind::Replicated;
  size_t having = llvm::count_if(results, [&](const Tensor &dims) { return llvm::is_contained(dims, index); });
  return having == results.size() ? FactorKind::Parallel : having == 0 ? FactorKind::Reduction : FactorKind::Replicated;
}

void RuleBuilder::addDims(ShardingRule &rule, Value value, const Tensor &dims, int32_t operand) const {
  ArrayRef<int64_t> shape = getShapeOf(value);
  for (auto [d, index] : llvm::enumerate(dims)) {
    auto window =
        llvm::find_if(windows, [&, d = d](const Windowed &w) { return int32_t(w.operand) == operand && w.dim == d; });
    const Index along = window == windows.end() ? index : window->index;
    const int32_t f = llvm::find(indices, along) - indices.begin();
    const bool isBroadcast = d < shape.size() && shape[d] == 1;
    if (along == none || f == int32_t(indices.size()) || (isBroadcast && rule.factor(f).size != 1))
      rule.addDim({});
    else if (window != windows.end())
      rule.addWindows(f, window->window);
    else
      rule.addDim(f);
  }
}

RuleBuilder::operator ShardingRule() const {
  ShardingRule rule;
  auto factorOf = [&](Index index) { return int32_t(llvm::find(indices, index) - indices.begin()); };
  for (Index index : indices)
    rule.addFactor(getSize(index), getKind(index));
  for (int32_t f = 0; allowsPadding && f < int32_t(rule.numFactors()); ++f)
    if (FactorKind kind = rule.factor(f).kind; kind != FactorKind::Replicated)
      rule.setPadding(f, kind == FactorKind::Parallel ? PaddingContent::Harmless : PaddingContent::Neutral);
  for (auto [index, content] : contents)
    if (factorOf(index) < int32_t(indices.size()))
      rule.setPadding(factorOf(index), content);
  for (auto [index, granule] : granules)
    if (factorOf(index) < int32_t(indices.size()))
      rule.setGranule(factorOf(index), granule);
  for (auto [i, dims] : llvm::enumerate(operands)) {
    Value value = i < op->getNumOperands() ? op->getOperand(i) : Value();
    ShardingRule::Tensor &tensor = rule.addOperand(value);
    for (const Init &init : inits)
      if (init.operand == i) {
        tensor.role = init.role;
        tensor.result = init.result;
      }
    addDims(rule, value, dims, i);
  }
  for (auto [i, dims] : llvm::enumerate(results)) {
    Value value = i < op->getNumResults() ? Value(op->getResult(i)) : Value();
    rule.addResult(value).reduction = kind;
    addDims(rule, value, dims, -1);
  }
  rule.isContraction = isContraction;
  rule.hasLocalAttributes = hasLocalAttributes;
  return rule;
}
