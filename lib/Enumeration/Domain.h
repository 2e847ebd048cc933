//===- Domain.h - What a program is run on ----------------------*- C++ -*-===//
// Internal to the enumeration of elements.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_ENUMERATION_DOMAIN_H
#define SHARDKIT_LIB_ENUMERATION_DOMAIN_H

#include "Expressions.h"
#include <random>

namespace mlir::spmd::enumeration {

/// What scalars are: numbers, or expressions.
class Domain {
public:
  virtual ~Domain() = default;
  virtual Number getConstant(Attribute value) = 0;
  /// The integer that a scalar is; std::nullopt if it is not known.
  virtual std::optional<int64_t> getInteger(Number scalar) = 0;
  /// What no program may depend on.
  virtual Number getUndefined(Type type) = 0;
  /// A scalar op without regions, one after the other; std::nullopt if it is not one of those that are known.
  virtual std::optional<Numbers> compute(Operation *op, ArrayRef<const Numbers *> operands) = 0;
  virtual Number select(Number condition, Number value, Number other, Type type) = 0;
  /// Two scalars combined as the op `name` does.
  virtual Number combine(StringRef name, Type type, Number a, Number b) = 0;
  /// An element at indices of which some are not known; std::nullopt if there are none here.
  virtual std::optional<Number> lookUp(const Numbers &elements, ArrayRef<int64_t> shape, ArrayRef<Number> indices) = 0;
  /// Notes that a program computes what some operands make undefined, in all its runs or in some. False if the
  /// partitioned program may be undefined where the unsharded one is not.
  virtual bool addTrap(Number scalar, bool isUnsharded, bool isCertain) = 0;
  /// Notes that a program is undefined where an integer is not in [min, max]. False if the partitioned program may be
  /// undefined where the unsharded one is not.
  virtual bool addBounds(Number scalar, int64_t min, int64_t max, bool isUnsharded, bool isCertain) = 0;
  /// True where an integer is `value`.
  virtual Number isEqual(Number scalar, int64_t value, MLIRContext *context) = 0;
  /// True if a program must not read outside of a tensor; otherwise it reads what is undefined there.
  virtual bool isStrict() const = 0;

  Number getIndex(MLIRContext *context, int64_t index);
};

/// Floats in double precision, whatever their type is, and integers of their width. What is undefined is drawn.
class NumberDomain : public Domain {
public:
  explicit NumberDomain(unsigned seed) : random(seed) {}
  Number getConstant(Attribute value) override { return getNumber(value); }
  std::optional<int64_t> getInteger(Number scalar) override { return scalar.integer; }
  Number getUndefined(Type type) override;
  std::optional<Numbers> compute(Operation *op, ArrayRef<const Numbers *> operands) override {
    return enumeration::compute(op, operands);
  }
  Number select(Number condition, Number value, Number other, Type) override {
    return condition.integer ? value : other;
  }
  Number combine(StringRef name, Type type, Number a, Number b) override {
    return enumeration::combine(name, type, a, b);
  }
  std::optional<Number> lookUp(const Numbers &, ArrayRef<int64_t>, ArrayRef<Number>) override { return std::nullopt; }
  bool addTrap(Number, bool, bool) override { return true; }
  bool addBounds(Number, int64_t, int64_t, bool, bool) override { return true; }
  Number isEqual(Number scalar, int64_t value, MLIRContext *) override {
    return {.integer = scalar.integer == value ? -1 : 0};
  }
  bool isStrict() const override { return false; }

private:
  std::mt19937_64 random;
};

/// Expressions of the elements of arguments: `integer` is the number of one.
class ExpressionDomain : public Domain {
public:
  Number getConstant(Attribute value) override { return toNumber(expressions.getConstant(value)); }
  std::optional<int64_t> getInteger(Number scalar) override;
  Number getUndefined(Type type) override { return toNumber(expressions.getLeaf(type)); }
  std::optional<Numbers> compute(Operation *op, ArrayRef<const Numbers *> operands) override;
  Number select(Number condition, Number value, Number other, Type type) override;
  Number combine(StringRef name, Type type, Number a, Number b) override;
  std::optional<Number> lookUp(const Numbers &elements, ArrayRef<int64_t> shape, ArrayRef<Number> indices) override;
  bool addTrap(Number scalar, bool isUnsharded, bool isCertain) override;
  bool addBounds(Number scalar, int64_t min, int64_t max, bool isUnsharded, bool isCertain) override;
  Number isEqual(Number scalar, int64_t value, MLIRContext *context) override;
  bool isStrict() const override { return true; }

  static Number toNumber(ExprId id) { return {.integer = int64_t(id)}; }
  Expressions expressions;

  /// Calls `prove` for each value that an integer may have, until it fails. False then, or if there are too many.
  bool forEachValue(Number scalar, llvm::function_ref<bool()> prove);

private:
  llvm::DenseSet<ExprId> traps; ///< what the unsharded program computes in all its runs
};

} // namespace mlir::spmd::enumeration

#endif // SHARDKIT_LIB_ENUMERATION_DOMAIN_H
