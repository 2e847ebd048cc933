//===- SizeCodes.cpp - Sizes that only the run knows, as numbers ----------===//

#include "SizeCodes.h"
#include "shardkit/Rules/SymbolicSizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using mlir::spmd::target::SizeCodes;

/// Static sizes are hardly ever multiples of these.
static constexpr int64_t kPrimes[] = {65537, 65539, 65543, 65551, 65557, 65563, 65579, 65581,
                                      65587, 65599, 65609, 65617, 65629, 65633, 65647, 65651};

SizeCodes::SizeCodes(func::FuncOp func)
    : symbolic(std::make_unique<spmd::SymbolicSizes>(func)), arguments(spmd::getSizeArguments(func)) {}

SizeCodes::~SizeCodes() = default;

std::optional<int64_t> SizeCodes::encode(AffineExpr size) {
  if (auto constant = dyn_cast<AffineConstantExpr>(size)) {
    const bool isAmbiguous = llvm::any_of(kPrimes, [&](int64_t prime) { return constant.getValue() % prime == 0; }) ||
                             constant.getValue() < 0;
    return isAmbiguous ? std::nullopt : std::optional(constant.getValue());
  }
  auto product = dyn_cast<AffineBinaryOpExpr>(size);
  if (product && product.getKind() == AffineExprKind::Mul) {
    std::optional<int64_t> a = encode(product.getLHS()), b = encode(product.getRHS());
    int64_t code = 0;
    return a && b && !llvm::MulOverflow(*a, *b, code) ? std::optional(code) : std::nullopt;
  }
  const size_t number = llvm::find(factors, size) - factors.begin();
  if (number == std::size(kPrimes))
    return std::nullopt;
  if (number == factors.size())
    factors.push_back(size);
  return kPrimes[number];
}

std::optional<SmallVector<int64_t>> SizeCodes::getShape(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> codes(type.getShape());
  if (arguments.empty())
    return type.hasStaticShape() ? std::optional(codes) : std::nullopt;
  for (auto [d, code] : llvm::enumerate(codes)) {
    AffineExpr size = symbolic->getDim(tensor, d);
    std::optional<int64_t> known =
        size ? encode(simplifyAffineExpr(size, 0, arguments.size())) : std::optional<int64_t>();
    if (!known)
      return std::nullopt;
    code = *known;
  }
  return codes;
}

bool SizeCodes::isKnown(int64_t code) const {
  return llvm::none_of(ArrayRef(kPrimes).take_front(factors.size()), [&](int64_t prime) { return code % prime == 0; });
}

OpFoldResult SizeCodes::getSize(OpBuilder &b, Location loc, int64_t code) const {
  if (isKnown(code))
    return b.getIndexAttr(code);
  AffineExpr size = b.getAffineConstantExpr(1);
  for (auto [factor, prime] : llvm::zip(factors, kPrimes))
    for (; code % prime == 0; code /= prime)
      size = size * factor;
  SmallVector<OpFoldResult> symbols;
  for (BlockArgument argument : arguments)
    symbols.push_back(OpFoldResult(argument));
  return affine::makeComposedFoldedAffineApply(b, loc, AffineMap::get(0, symbols.size(), size * code), symbols);
}

SmallVector<OpFoldResult> SizeCodes::getSizes(OpBuilder &b, Location loc, ArrayRef<int64_t> codes) const {
  SmallVector<OpFoldResult> sizes;
  for (int64_t code : codes)
    sizes.push_back(getSize(b, loc, code));
  return sizes;
}

RankedTensorType SizeCodes::getType(ArrayRef<int64_t> codes, Type element) const {
  SmallVector<int64_t> shape;
  for (int64_t code : codes)
    shape.push_back(isKnown(code) ? code : ShapedType::kDynamic);
  return RankedTensorType::get(shape, element);
}
