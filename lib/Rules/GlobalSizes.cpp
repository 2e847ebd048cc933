//===- GlobalSizes.cpp - Sizes in attributes of unknown ops ---------------===//

#include "shardkit/Rules/GlobalSizes.h"

#include "shardkit/Rules/ShardingRule.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/SmallBitVector.h"
#include <limits>

using namespace mlir;
using namespace mlir::spmd;

bool spmd::hasBuiltinRules(StringRef dialect) {
  return llvm::is_contained({"arith", "bufferization", "builtin", "cf", "complex", "func", "index", "linalg", "math",
                             "ml_program", "scf", "spmd", "tensor", "tosa", "ub"},
                            dialect);
}

namespace {

/// Collects the factors whose size, or an offset along which, is in an attribute or type of an op.
///
/// Example: "my.view"(%x) {shape = [8, 6]} : (tensor<8x6xf32>) -> tensor<8x6xf32> with factors i = 8 and j = 6 holds
/// both sizes; {shape = [8, -1]} holds that of i; {elements = 48} holds the product of both.
class SizeCollector {
public:
  SizeCollector(Operation *op, const ShardingRule &rule) : op(op), rule(rule) {}
  SmallVector<GlobalSize, 0> run();

private:
  /// The products of dims of a tensor: sizes, strides and numbers of elements, as of the dims 0, 2 and 3 that a batch
  /// norm averages over.
  void collectProducts();
  void addNumber(int64_t number);
  void addNumbers(ArrayRef<int64_t> numbers);
  void addType(Type type);
  void addAttribute(Attribute attr);
  void addOperation(Operation *inner);
  void addFactor(int32_t f, int64_t number);

  static constexpr size_t maxSets = 256;

  /// True for different dims of one tensor: a permutation, or the dims that an op reduces.
  bool isListOfDims(ArrayRef<int64_t> numbers) const;

  Operation *op;
  const ShardingRule &rule;
  llvm::DenseMap<int64_t, SmallVector<int32_t, 2>> products;
  int64_t maxRank = 0;
  std::string where; // the attribute or type that is visited
  SmallVector<GlobalSize, 0> found;
};

} // namespace

void SizeCollector::collectProducts() {
  auto canShard = [&](int32_t f) { return rule.factor(f).kind != FactorKind::Replicated && rule.factor(f).size > 1; };
  for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t) {
    const ShardingRule::Tensor &tensor = rule.tensor(t);
    if (!tensor.type)
      continue;
    maxRank = std::max<int64_t>(maxRank, tensor.numDims);
    // The dims of each product, as bits: of the products so far, and those with one dim more.
    SmallVector<std::pair<int64_t, llvm::SmallBitVector>> sets{{1, llvm::SmallBitVector(tensor.numDims)}};
    for (unsigned d = 0; d < tensor.numDims; ++d) {
      if (tensor.type.isDynamicDim(d) || tensor.type.getDimSize(d) == 1)
        continue;
      const bool isAnySubset = sets.size() < maxSets;
      for (auto [product, dims] : SmallVector<std::pair<int64_t, llvm::SmallBitVector>>(sets)) {
        // Of many dims adjacent ones alone.
        if (!isAnySubset && dims.any() && !dims.test(d - 1))
          continue;
        dims.set(d);
        sets.emplace_back(product * tensor.type.getDimSize(d), dims);
      }
    }
    for (auto &[product, dims] : sets)
      for (unsigned d : dims.set_bits())
        for (int32_t f : llvm::make_filter_range(rule.dimFactors(tensor, d), canShard))
          if (SmallVector<int32_t, 2> &list = products[product]; !llvm::is_contained(list, f))
            list.push_back(f);
  }
  for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f)
    if (canShard(f) && !llvm::is_contained(products[rule.factor(f).size], f))
      products[rule.factor(f).size].push_back(f);
}

void SizeCollector::addFactor(int32_t f, int64_t number) {
  if (rule.factor(f).kind != FactorKind::Replicated && rule.factor(f).size != 1 &&
      llvm::none_of(found, [&](const GlobalSize &known) { return known.factor == f; }))
    found.push_back({f, number, where});
}

void SizeCollector::addNumber(int64_t number) {
  if (number < 0 && number != std::numeric_limits<int64_t>::min())
    number = -number; // a size that is subtracted
  if (number <= 1)
    return;
  if (auto it = products.find(number); it != products.end())
    for (int32_t f : it->second)
      addFactor(f, number);
}

bool SizeCollector::isListOfDims(ArrayRef<int64_t> numbers) const {
  llvm::SmallDenseSet<int64_t> seen;
  return llvm::all_of(numbers,
                      [&](int64_t number) { return number >= 0 && number < maxRank && seen.insert(number).second; });
}

void SizeCollector::addNumbers(ArrayRef<int64_t> numbers) {
  if (isListOfDims(numbers))
    return;
  llvm::for_each(numbers, [&](int64_t number) { addNumber(number); });
  // One number per dim: sizes of slices and offsets are less than the size of the dim.
  for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t) {
    const ShardingRule::Tensor &tensor = rule.tensor(t);
    if (!tensor.type || tensor.numDims != numbers.size())
      continue;
    for (auto [d, number] : llvm::enumerate(numbers))
      if (number > 1)
        for (int32_t f : rule.dimFactors(tensor, d))
          addFactor(f, number);
  }
}

void SizeCollector::addType(Type type) {
  type.walk([&](Type inner) {
    if (auto shaped = dyn_cast<ShapedType>(inner); shaped && shaped.hasRank())
      llvm::for_each(shaped.getShape(), [&](int64_t size) { addNumber(size); });
  });
}

void SizeCollector::addAttribute(Attribute attr) {
  auto toNumber = [](const APInt &value) { return value.getSignificantBits() <= 64 ? value.getSExtValue() : 0; };
  // `i < 8` is `-i + 7 >= 0`, and 7 - i is the reversed index.
  auto addMap = [&](AffineExpr expr) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (!constant)
      return;
    addNumber(constant.getValue());
    if (constant.getValue() > 1 && constant.getValue() != std::numeric_limits<int64_t>::max())
      addNumber(constant.getValue() + 1);
  };
  attr.walk<WalkOrder::PreOrder>(
      [&](Attribute inner) {
        if (auto integer = dyn_cast<IntegerAttr>(inner)) {
          if (!integer.getType().isInteger(1))
            addNumber(toNumber(integer.getValue()));
        } else if (auto dense = dyn_cast<DenseArrayAttr>(inner)) {
          SmallVector<int64_t> numbers;
          if (auto list = dyn_cast<DenseI64ArrayAttr>(inner))
            numbers.assign(list.asArrayRef().begin(), list.asArrayRef().end());
          else if (auto list = dyn_cast<DenseI32ArrayAttr>(inner))
            numbers.assign(list.asArrayRef().begin(), list.asArrayRef().end());
          else if (auto list = dyn_cast<DenseI16ArrayAttr>(inner))
            numbers.assign(list.asArrayRef().begin(), list.asArrayRef().end());
          addNumbers(numbers);
        } else if (auto array = dyn_cast<ArrayAttr>(inner)) {
          if (array.empty() || !llvm::all_of(array, llvm::IsaPred<IntegerAttr>))
            return WalkResult::advance();
          SmallVector<int64_t> numbers;
          for (auto number : array.getAsRange<IntegerAttr>())
            numbers.push_back(toNumber(number.getValue()));
          addNumbers(numbers);
          return WalkResult::skip();
        } else if (auto elements = dyn_cast<ElementsAttr>(inner)) {
          // Few numbers are a shape; many are data, whose type is visited.
          auto ints = dyn_cast<DenseIntElementsAttr>(inner);
          if (!ints || ints.getNumElements() > 64 || ints.getElementType().isInteger(1)) {
            addType(elements.getShapedType());
            return WalkResult::skip();
          }
          SmallVector<int64_t> numbers;
          for (const APInt &number : ints.getValues<APInt>())
            numbers.push_back(toNumber(number));
          addNumbers(numbers);
          if (elements.getShapedType().getRank() != 1 || int64_t(numbers.size()) > maxRank)
            addType(elements.getShapedType());
          return WalkResult::skip();
        } else if (auto map = dyn_cast<AffineMapAttr>(inner)) {
          map.getValue().walkExprs(addMap);
        } else if (auto set = dyn_cast<IntegerSetAttr>(inner)) {
          set.getValue().walkExprs(addMap);
        }
        return WalkResult::advance();
      },
      [&](Type inner) {
        addType(inner);
        return WalkResult::skip();
      });
}

void SizeCollector::addOperation(Operation *inner) {
  // Those in `<{}>` of an unregistered op are not among its attributes.
  auto properties =
      inner->isRegistered() ? DictionaryAttr() : dyn_cast_or_null<DictionaryAttr>(inner->getPropertiesAsAttribute());
  auto inherent = properties ? properties.getValue() : ArrayRef<NamedAttribute>();
  for (NamedAttribute attr : llvm::concat<const NamedAttribute>(inherent, inner->getAttrDictionary().getValue())) {
    StringRef name = attr.getName().strref();
    if (name.starts_with("spmd.") || name == "operandSegmentSizes" || name == "resultSegmentSizes")
      continue;
    where = ("attribute " + name + (inner == op ? "" : " of " + inner->getName().getStringRef())).str();
    addAttribute(attr.getValue());
  }
  if (inner != op)
    for (Type type : inner->getResultTypes()) {
      where = ("the type of a result of " + inner->getName().getStringRef() + " in its region").str();
      addType(type);
    }
  for (Region &region : inner->getRegions())
    for (Block &block : region)
      for (Type type : block.getArgumentTypes()) {
        where = "the type of an argument of its region";
        addType(type);
      }
}

SmallVector<GlobalSize, 0> SizeCollector::run() {
  collectProducts();
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) { addOperation(inner); });
  return std::move(found);
}

SmallVector<GlobalSize, 0> spmd::findGlobalSizes(Operation *op, const ShardingRule &rule, bool hasBuiltinRule) {
  if (rule.isFallback || rule.hasLocalAttributes ||
      (hasBuiltinRule && hasBuiltinRules(op->getName().getDialectNamespace())))
    return {};
  return SizeCollector(op, rule).run();
}
