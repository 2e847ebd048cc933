//===- KnownSizes.cpp - A program at sizes that only the run knows --------===//

#include "KnownSizes.h"
#include "shardkit/Cost/LiveBuffers.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Support/Page.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;
using namespace mlir::spmd;

/// Whether all quotients in a size are exact.
static bool isExact(AffineExpr expr, ArrayRef<int64_t> sizes) {
  auto binary = dyn_cast_or_null<AffineBinaryOpExpr>(expr);
  if (!binary)
    return true;
  if (!isExact(binary.getLHS(), sizes) || !isExact(binary.getRHS(), sizes))
    return false;
  if (binary.getKind() != AffineExprKind::FloorDiv)
    return true;
  std::optional<int64_t> a = evaluateSize(binary.getLHS(), sizes), b = evaluateSize(binary.getRHS(), sizes);
  return !a || !b || *b == 0 || *a % *b == 0;
}

SmallVector<int64_t> KnownSizes::chooseSizes(func::FuncOp func, ArrayRef<Value> values, int64_t devices,
                                             bool atBounds) const {
  SmallVector<int64_t> given = getLikelySizes(func, devices, atBounds);
  const bool areExact = llvm::all_of(values, [&](Value value) {
    return llvm::all_of(dimsOf.lookup(value), [&](AffineExpr dim) { return isExact(dim, given); });
  });
  if (!areExact)
    for (int64_t &size : given)
      size = std::max(devices, size / devices * devices);
  return given;
}

KnownSizes::KnownSizes(ModuleOp module, bool atBounds) {
  int64_t devices = 1;
  for (MeshOp mesh : getMeshesWithAxes(module))
    devices = std::max(devices, toMesh(mesh).numDevices());
  for (auto func : module.getOps<func::FuncOp>()) {
    SmallVector<Value> values = findValues(func);
    SmallVector<int64_t> given = chooseSizes(func, values, devices, atBounds);
    for (auto [argument, size] : llvm::zip_equal(getSizeArguments(func), given))
      sizes.push_back(
          {func.getName().str(), func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kSizeAttr).str(), size});
    if (!given.empty())
      setSizes(func, values, given);
  }
}

KnownSizes::~KnownSizes() {
  for (auto [value, type] : types)
    value.setType(type);
  for (auto [func, type] : functionTypes)
    func.setFunctionType(type);
}

SmallVector<Value> KnownSizes::findValues(func::FuncOp func) {
  if (getSizeArguments(func).empty())
    return {};
  SymbolicSizes symbolic(func);
  SmallVector<Value> values;
  auto add = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && !type.hasStaticShape())
      values.push_back(value);
  };
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    llvm::for_each(op->getResults(), add);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), add);
  });
  for (Value value : values) {
    SmallVector<AffineExpr> &dims = dimsOf[value];
    for (int64_t d = 0; d < cast<RankedTensorType>(value.getType()).getRank(); ++d)
      dims.push_back(symbolic.getDim(value, d));
  }
  return values;
}

void KnownSizes::setSizes(func::FuncOp func, ArrayRef<Value> values, ArrayRef<int64_t> given) {
  for (Value value : values)
    setType(value, dimsOf[value], given);
  functionTypes.emplace_back(func, func.getFunctionType());
  func.setFunctionType(FunctionType::get(func.getContext(), func.getBody().front().getArgumentTypes(),
                                         func.getBody().back().getTerminator()->getOperandTypes()));
}

void KnownSizes::setType(Value value, ArrayRef<AffineExpr> dims, ArrayRef<int64_t> given) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  for (AffineExpr dim : dims)
    shape.push_back(evaluateSize(dim, given).value_or(ShapedType::kDynamic));
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return; // It depends on data.
  types.emplace_back(value, type);
  value.setType(type.clone(shape));
}

static std::string toText(AffineExpr expr, ArrayRef<std::string> names) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return names[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  const std::string left = toText(binary.getLHS(), names), right = toText(binary.getRHS(), names);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return "(" + left + " + " + right + ")";
  case AffineExprKind::Mul:
    return left + " * " + right;
  case AffineExprKind::FloorDiv:
    return "floor(" + left + " / " + right + ")";
  case AffineExprKind::CeilDiv:
    return "ceil(" + left + " / " + right + ")";
  default:
    return "(" + left + " mod " + right + ")";
  }
}

/// Multiplies a product by the factors of an expression.
static void multiply(AffineExpr expr, ArrayRef<std::string> names, int64_t &number, SmallVector<std::string> &factors) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && binary.getKind() == AffineExprKind::Mul) {
    multiply(binary.getLHS(), names, number, factors);
    multiply(binary.getRHS(), names, number, factors);
  } else if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    number *= constant.getValue();
  } else {
    factors.push_back(toText(expr, names));
  }
}

std::string KnownSizes::getFormula(func::FuncOp func, ArrayRef<Value> values) const {
  SmallVector<std::string> names;
  for (const ReportSize &size : sizes)
    if (size.function == func.getName())
      names.push_back(size.name);
  std::map<std::string, int64_t> products; // The number first.
  for (Value value : values) {
    int64_t bytes = getBytes(value.getType());
    SmallVector<std::string> factors;
    if (auto it = dimsOf.find(value); it != dimsOf.end() && bytes > 0) {
      bytes = getBytes(RankedTensorType::get({}, getElementTypeOrSelf(value.getType())));
      for (AffineExpr dim : it->second)
        multiply(dim, names, bytes, factors);
      llvm::sort(factors);
    }
    products[llvm::join(factors, " * ")] += bytes;
  }
  SmallVector<std::string> terms;
  for (auto &[product, number] : products)
    if (number != 0)
      terms.push_back(groupDigits(number) + (product.empty() ? "" : " * " + product));
  return products.empty() || (products.size() == 1 && products.begin()->first.empty()) ? "" : llvm::join(terms, " + ");
}
