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
      operands.push_back(Tensor(getShapeOf(op->getOperand(operands.size())).size()));
    parseTensors(out, op->getResults(), results);
  }
  for (const Tensor &tensor : llvm::concat<const Tensor>(operands, results))
    for (const Dim &dim : tensor)
      for (Index index : dim)
        if (getFactor(index) < 0)
          indices.push_back(index);
}

void RuleBuilder::fail(const Twine &message) {
  if (error.empty())
    error = message.str();
}

RuleBuilder::Index RuleBuilder::parseLetter(char letter) {
  if (!llvm::isAlpha(letter))
    fail("the index notation has '" + Twine(letter) + "', expected letters, '.', '...' and '(', ')' around letters");
  return static_cast<unsigned char>(letter);
}

RuleBuilder::Dim RuleBuilder::parseGroup(StringRef letters) {
  Dim group;
  for (char letter : letters) {
    if (letter == ' ')
      continue;
    if (llvm::is_contained(group, Index(letter)))
      fail("the dim (" + letters + ") of the index notation has a letter twice");
    group.push_back(parseLetter(letter));
  }
  return group;
}

RuleBuilder::Tensor RuleBuilder::parse(StringRef text, Value value) {
  Tensor dims;
  std::optional<size_t> leadingAt;
  while (!text.empty()) {
    if (text.consume_front("...")) {
      leadingAt = dims.size();
    } else if (text.consume_front("(")) {
      auto [group, rest] = text.split(')');
      if (group.size() == text.size())
        fail("a '(' of the index notation has no ')'");
      dims.push_back(parseGroup(group));
      text = rest;
    } else {
      if (text.front() != ' ')
        dims.push_back(text.front() == '.' ? Dim() : Dim(1, parseLetter(text.front())));
      text = text.drop_front();
    }
  }
  const int64_t missing = int64_t(getShapeOf(value).size()) - int64_t(dims.size());
  if (leadingAt && missing > 0) {
    dims.insert(dims.begin() + *leadingAt, missing, Dim(1, leading));
    for (int64_t n = 0; n < missing; ++n)
      dims[*leadingAt + n].front() += missing - 1 - n;
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

RuleBuilder &RuleBuilder::size(char letter, int64_t size) {
  givenSizes.push_back({letter, size});
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

int32_t RuleBuilder::getFactor(Index index) const {
  auto it = llvm::find(indices, index);
  return it == indices.end() ? -1 : it - indices.begin();
}

void RuleBuilder::forEachDim(llvm::function_ref<void(const Dim &, int64_t size)> function) const {
  auto visit = [&](ArrayRef<Tensor> tensors, ValueRange values) {
    for (auto [dims, value] : llvm::zip(tensors, values))
      for (auto [dim, size] : llvm::zip(dims, getShapeOf(value)))
        function(dim, size);
  };
  visit(operands, op->getOperands());
  visit(results, op->getResults());
}

SmallVector<int64_t> RuleBuilder::getSizes() const {
  SmallVector<int64_t> sizes(indices.size(), kUnknown);
  forEachDim([&](const Dim &dim, int64_t size) {
    if (dim.size() == 1)
      if (int64_t &known = sizes[getFactor(dim.front())]; known == kUnknown || known == 1)
        known = size;
  });
  for (auto [index, size] : givenSizes)
    if (int32_t f = getFactor(index); f >= 0)
      sizes[f] = size;
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    forEachDim([&](const Dim &dim, int64_t size) {
      SmallVector<int32_t> unknown;
      if (dim.size() < 2)
        return;
      for (Index index : dim)
        if (int64_t known = sizes[getFactor(index)]; known > 0)
          size /= known;
        else
          unknown.push_back(getFactor(index));
      if (unknown.size() == 1 && sizes[unknown[0]] == kUnknown && size > 0) {
        sizes[unknown[0]] = size;
        isChanged = true;
      }
    });
  }
  return sizes;
}

FactorKind RuleBuilder::getKind(Index index) const {
  if (llvm::is_contained(replicated, index))
    return FactorKind::Replicated;
  size_t having = llvm::count_if(results, [&](const Tensor &dims) {
    return llvm::any_of(dims, [&](const Dim &dim) { return llvm::is_contained(dim, index); });
  });
  return having == results.size() ? FactorKind::Parallel : having == 0 ? FactorKind::Reduction : FactorKind::Replicated;
}

void RuleBuilder::addDims(ShardingRule &rule, Value value, const Tensor &dims, int32_t operand) const {
  ArrayRef<int64_t> shape = getShapeOf(value);
  for (auto [d, dim] : llvm::enumerate(dims)) {
    auto window =
        llvm::find_if(windows, [&, d = d](const Windowed &w) { return int32_t(w.operand) == operand && w.dim == d; });
    if (window != windows.end()) {
      const int32_t f = getFactor(window->index);
      if (window->window == DimWindow() && d < shape.size() && shape[d] == rule.factor(f).size)
        rule.addDim(f);
      else
        rule.addWindows(f, window->window);
      continue;
    }
    auto factors = llvm::map_to_vector(dim, [&](Index index) { return getFactor(index); });
    const bool isBroadcast =
        d < shape.size() && shape[d] == 1 && llvm::any_of(factors, [&](int32_t f) { return rule.factor(f).size != 1; });
    rule.addDim(isBroadcast ? ArrayRef<int32_t>() : factors);
  }
}

std::string RuleBuilder::findError(ArrayRef<int64_t> sizes) const {
  if (!error.empty())
    return error;
  std::string found;
  auto verify = [&](StringRef method, Index index) {
    if (index < leading && getFactor(index) < 0)
      found = ("`" + method + "` names the letter '" + Twine(char(index)) + "', which the index notation does not have")
                  .str();
  };
  for (Index index : replicated)
    verify("replicate", index);
  for (auto [index, content] : contents)
    verify("padding", index);
  for (auto [index, size] : givenSizes)
    verify("size", index);
  for (auto [index, granule] : granules)
    verify("granule", index);
  for (const Windowed &w : windows) {
    verify("window", w.index);
    const bool isDim = w.operand < operands.size() && w.dim < operands[w.operand].size();
    ArrayRef<Index> letters = isDim ? ArrayRef(operands[w.operand][w.dim]) : ArrayRef<Index>();
    if (!isDim || !letters.empty())
      found = ("`window` names dim " + Twine(w.dim) + " of operand #" + Twine(w.operand) +
               ", expected one that is a '.' in the index notation" +
               (isDim && letters.front() >= leading ? "; three of them are '. . .', as '...' are leading dims" : ""))
                  .str();
  }
  for (const Init &init : inits)
    if (init.operand >= operands.size())
      found = ("`init` names operand #" + Twine(init.operand) + ", expected one below " + Twine(operands.size())).str();
  forEachDim([&](const Dim &dim, int64_t) {
    for (Index index : dim)
      if (found.empty() && dim.size() > 1 && sizes[getFactor(index)] == kUnknown)
        found = ("the size of '" + Twine(char(index)) + "' is not known, expected `size` to give it").str();
  });
  return found;
}

RuleBuilder::operator ShardingRule() const {
  ShardingRule rule;
  const SmallVector<int64_t> sizes = getSizes();
  rule.error = findError(sizes);
  if (!rule.error.empty())
    return rule;
  for (auto [index, size] : llvm::zip(indices, sizes))
    rule.addFactor(size == kUnknown ? 1 : size, getKind(index));
  for (int32_t f = 0; allowsPadding && f < int32_t(rule.numFactors()); ++f)
    if (FactorKind kind = rule.factor(f).kind; kind != FactorKind::Replicated)
      rule.setPadding(f, kind == FactorKind::Parallel ? PaddingContent::Harmless : PaddingContent::Neutral);
  for (auto [index, content] : contents)
    rule.setPadding(getFactor(index), content);
  for (auto [index, granule] : granules)
    rule.setGranule(getFactor(index), granule);
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
