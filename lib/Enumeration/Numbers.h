//===- Numbers.h - Scalar ops of numbers ------------------------*- C++ -*-===//
// Internal to the enumeration of elements.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_ENUMERATION_NUMBERS_H
#define SHARDKIT_LIB_ENUMERATION_NUMBERS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <vector>

namespace mlir::spmd::enumeration {

/// A float, without the rounding of its type, or an integer of its width with a sign.
union Number {
  double real;
  int64_t integer;
};

/// The elements of a tensor in row-major order, or what a value is in each iteration of a loop. One number stands for
/// as many equal ones as are read.
struct Numbers {
  Type type;
  std::vector<Number> list;
  Number operator[](size_t i) const { return list.size() == 1 ? list[0] : list[i]; }
  bool isFloat() const { return isa<FloatType>(type); }
};

/// True if values of this type are computed with.
bool isNumeric(Type type);
unsigned getWidth(Type type);
Number getNumber(Attribute value);
Numbers getIndices(MLIRContext *context, int64_t index);

/// What a scalar op without regions gives, number by number; std::nullopt if it is not one of those that are known.
std::optional<Numbers> compute(Operation *op, ArrayRef<const Numbers *> operands);
/// Two numbers combined as the op `name` does.
Number combine(StringRef name, Type type, Number a, Number b);

} // namespace mlir::spmd::enumeration

#endif // SHARDKIT_LIB_ENUMERATION_NUMBERS_H
