//===- NumberTable.cpp - Functions of stored bits, by all their values ----===//

#include "NumberTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/bit.h"
#include <unordered_map>

using namespace mlir;
using namespace mlir::spmd::cpu;

static unsigned widthOf(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }
static uint64_t cutTo(uint64_t bits, unsigned width) {
  return width == 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}
static int64_t signedOf(uint64_t bits, unsigned width) { return int64_t(bits << (64 - width)) >> (64 - width); }
static float floatOf(uint64_t bits) { return llvm::bit_cast<float>(uint32_t(bits)); }
static uint64_t bitsOf(float value) { return llvm::bit_cast<uint32_t>(value); }

namespace {
class Computation {
public:
  Computation(Block &body, llvm::function_ref<std::optional<Bits>(BlockArgument)> argumentOf,
              llvm::function_ref<std::optional<int64_t>(int64_t)> indexOf)
      : body(body), argumentOf(argumentOf), indexOf(indexOf) {}

  const Bits *get(Value value) {
    auto known = values.find(value);
    if (known != values.end())
      return &known->second;
    std::optional<Bits> found = compute(value);
    if (!found)
      return nullptr;
    // References stay valid while others are added.
    return &values.emplace(value, std::move(*found)).first->second;
  }

private:
  struct Hash {
    size_t operator()(Value value) const { return hash_value(value); }
  };

  std::optional<Bits> compute(Value value);
  std::optional<Bits> computeConstant(Attribute attr);

  /// `fn` of the operands for each case.
  template <typename Fn> std::optional<Bits> map(Operation *op, Fn &&fn) {
    SmallVector<const Bits *, 3> operands;
    size_t count = 1;
    for (Value operand : op->getOperands()) {
      operands.push_back(get(operand));
      if (!operands.back())
        return std::nullopt;
      count = std::max(count, operands.back()->size());
    }
    Bits result(count);
    const unsigned width = widthOf(op->getResult(0).getType());
    for (size_t i = 0; i < count; ++i) {
      uint64_t at[3] = {};
      for (auto [k, operand] : llvm::enumerate(operands))
        at[k] = operand->size() == 1 ? operand->front() : (*operand)[i];
      result[i] = cutTo(fn(at[0], at[1], at[2]), width);
    }
    return result;
  }

  Block &body;
  llvm::function_ref<std::optional<Bits>(BlockArgument)> argumentOf;
  llvm::function_ref<std::optional<int64_t>(int64_t)> indexOf;
  std::unordered_map<Value, Bits, Hash> values;
};
} // namespace

std::optional<Bits> Computation::computeConstant(Attribute attr) {
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return Bits{integer.getValue().getBitWidth() <= 64 ? integer.getValue().getZExtValue() : 0};
  if (auto number = dyn_cast<FloatAttr>(attr); number && widthOf(number.getType()) <= 64)
    return Bits{number.getValue().bitcastToAPInt().getZExtValue()};
  return std::nullopt;
}

static bool compare(arith::CmpIPredicate predicate, uint64_t a, uint64_t b, unsigned width) {
  auto toInt = [&](uint64_t x) { return APInt(width, x, /*isSigned=*/false, /*implicitTrunc=*/true); };
  return arith::applyCmpPredicate(predicate, toInt(a), toInt(b));
}

std::optional<Bits> Computation::compute(Value value) {
  Attribute attr;
  if (matchPattern(value, m_Constant(&attr)))
    return computeConstant(attr);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &body ? argumentOf(argument) : std::nullopt;
  Operation *op = value.getDefiningOp();
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    std::optional<int64_t> at = indexOf(index.getDim());
    return at ? std::optional(Bits{uint64_t(*at)}) : std::nullopt;
  }
  if (op->getNumOperands() == 0 || op->getNumOperands() > 3 || op->getNumResults() != 1 ||
      !llvm::all_of(op->getOperandTypes(),
                    [](Type type) { return type.isIntOrIndexOrFloat() && widthOf(type) <= 64; }) ||
      !value.getType().isIntOrIndexOrFloat())
    return std::nullopt;
  Type in = op->getOperand(0).getType(), out = value.getType();
  const unsigned width = widthOf(in);
  using U = uint64_t;
  if (isa<arith::ExtUIOp, arith::TruncIOp, arith::BitcastOp>(op))
    return map(op, [](U a, U, U) { return a; });
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(op))
    return map(op, [&](U a, U, U) { return U(signedOf(a, width)); });
  if (isa<arith::AndIOp>(op))
    return map(op, [](U a, U b, U) { return a & b; });
  if (isa<arith::OrIOp>(op))
    return map(op, [](U a, U b, U) { return a | b; });
  if (isa<arith::XOrIOp>(op))
    return map(op, [](U a, U b, U) { return a ^ b; });
  if (isa<arith::AddIOp>(op))
    return map(op, [](U a, U b, U) { return a + b; });
  if (isa<arith::SubIOp>(op))
    return map(op, [](U a, U b, U) { return a - b; });
  if (isa<arith::MulIOp>(op))
    return map(op, [](U a, U b, U) { return a * b; });
  if (isa<arith::ShLIOp>(op))
    return map(op, [&](U a, U b, U) { return b < width ? a << b : 0; });
  if (isa<arith::ShRUIOp>(op))
    return map(op, [&](U a, U b, U) { return b < width ? a >> b : 0; });
  if (isa<arith::ShRSIOp>(op))
    return map(op, [&](U a, U b, U) { return U(signedOf(a, width) >> std::min<U>(b, width - 1)); });
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    return map(op, [&](U a, U b, U) { return U(compare(cmp.getPredicate(), a, b, width)); });
  if (isa<arith::SelectOp>(op))
    return map(op, [](U a, U b, U c) { return a ? b : c; });
  if (auto extend = dyn_cast<arith::ExtFOp>(op); extend && out.isF32()) {
    const llvm::fltSemantics &from = cast<FloatType>(in).getFloatSemantics();
    return map(op, [&](U a, U, U) {
      APFloat wide(from, APInt(width, a));
      bool loses;
      wide.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &loses);
      return wide.bitcastToAPInt().getZExtValue();
    });
  }
  if (!out.isF32())
    return std::nullopt;
  if (isa<arith::SIToFPOp>(op))
    return map(op, [&](U a, U, U) { return bitsOf(float(signedOf(a, width))); });
  if (isa<arith::UIToFPOp>(op))
    return map(op, [](U a, U, U) { return bitsOf(float(a)); });
  if (isa<arith::AddFOp>(op))
    return map(op, [](U a, U b, U) { return bitsOf(floatOf(a) + floatOf(b)); });
  if (isa<arith::SubFOp>(op))
    return map(op, [](U a, U b, U) { return bitsOf(floatOf(a) - floatOf(b)); });
  if (isa<arith::MulFOp>(op))
    return map(op, [](U a, U b, U) { return bitsOf(floatOf(a) * floatOf(b)); });
  if (isa<arith::NegFOp>(op))
    return map(op, [](U a, U, U) { return a ^ 0x80000000u; });
  return std::nullopt;
}

std::optional<Bits> cpu::computeBits(Value value, Block &body,
                                     llvm::function_ref<std::optional<Bits>(BlockArgument)> argumentOf,
                                     llvm::function_ref<std::optional<int64_t>(int64_t)> indexOf) {
  Computation computation(body, argumentOf, indexOf);
  const Bits *bits = computation.get(value);
  return bits ? std::optional(*bits) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

/// NaNs of any bits are equal.
static bool isSame(uint64_t a, uint64_t b) {
  auto isNan = [](uint64_t bits) { return (bits & 0x7fffffff) > 0x7f800000; };
  return a == b || (isNan(a) && isNan(b));
}

std::optional<NumberFormat> cpu::findFormat(const Bits &ofByte) {
  if (ofByte.size() != 256)
    return std::nullopt;
  auto isAll = [&](auto &&expected) {
    for (unsigned byte = 0; byte < 256; ++byte)
      if (!isSame(ofByte[byte], expected(byte)))
        return false;
    return true;
  };
  for (unsigned shift : {0, 4})
    if (isAll([&](unsigned byte) { return ofByte[(byte >> shift & 15) << shift]; })) {
      NumberFormat format{NumberFormat::Table, {}, shift, 0};
      for (unsigned i = 0; i < 16; ++i)
        format.table.push_back(floatOf(ofByte[i << shift]));
      return format;
    }
  if (isAll([](unsigned byte) { return bitsOf(float(int8_t(byte))); }))
    return NumberFormat{NumberFormat::I8, {}, 0, 0};
  auto decode = [](unsigned byte) {
    APFloat wide(APFloat::Float8E4M3FN(), APInt(8, byte));
    bool loses;
    wide.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &loses);
    return wide.bitcastToAPInt().getZExtValue();
  };
  if (isAll(decode))
    return NumberFormat{NumberFormat::E4M3, {}, 0, 0};
  return std::nullopt;
}

std::optional<NumberFormat> cpu::findWideFormat(const Bits &ofBytes) {
  if (ofBytes.size() != 65536)
    return std::nullopt;
  for (unsigned shift : {0, 4})
    for (unsigned highShift : {0, 2, 4, 6}) {
      bool isAll = true;
      for (unsigned i = 0; isAll && i < 65536; ++i) {
        const unsigned low = (i & 255) >> shift & 15, high = (i >> 8) >> highShift & 3;
        isAll = ofBytes[i] == bitsOf(float(int32_t(low | high << 4) - 32));
      }
      if (isAll)
        return NumberFormat{NumberFormat::I6, {}, shift, highShift};
    }
  return std::nullopt;
}

std::optional<BitFields> cpu::findBitFields(const Bits &ofBytes) {
  if (ofBytes.size() != 256 && ofBytes.size() != 65536)
    return std::nullopt;
  BitFields found;
  std::vector<unsigned> numbers;
  numbers.reserve(ofBytes.size());
  bool isLarge = false;
  for (uint64_t bits : ofBytes) {
    const float value = floatOf(bits);
    if (!(value >= -128 && value <= 255) || bits != bitsOf(float(int(value))))
      return std::nullopt;
    found.isSigned |= value < 0;
    isLarge |= value > 127;
    numbers.push_back(unsigned(int(value)) & 255);
  }
  if (numbers[0] != 0 || (found.isSigned && isLarge))
    return std::nullopt;
  unsigned count = 0;
  for (unsigned bit = 0; ofBytes.size() >> bit > 1; ++bit) {
    const unsigned to = numbers[size_t(1) << bit];
    if (to == 0)
      continue;
    const unsigned byte = bit / 8, from = bit % 8;
    if (!llvm::isPowerOf2_32(to) || llvm::Log2_32(to) > from)
      return std::nullopt;
    const unsigned shift = from - llvm::Log2_32(to);
    auto *field = llvm::find_if(MutableArrayRef(found.fields, count),
                                [&](const BitFields::Field &each) { return each.byte == byte && each.shift == shift; });
    if (field == found.fields + count) {
      if (count == 2)
        return std::nullopt;
      found.fields[count++] = {byte, shift, 0};
    }
    field->mask |= to;
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    unsigned expected = 0;
    for (const BitFields::Field &field : found.fields)
      expected |= (i >> (8 * field.byte) & 255) >> field.shift & field.mask;
    if (numbers[i] != expected)
      return std::nullopt;
  }
  return found;
}
