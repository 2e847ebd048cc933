//===- MoveBuilder.cpp - Closed forms as arithmetic -----------------------===//

#include "MoveBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::spmd;

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

Members::Members(ArrayRef<RankDigit> ranks) : digits(ranks) {
  llvm::sort(digits, [](const RankDigit &a, const RankDigit &b) { return a.stride > b.stride; });
  for (const RankDigit &digit : digits)
    count *= digit.size;
}

int64_t Members::getOffset(int64_t k) const {
  int64_t offset = 0;
  for (const RankDigit &digit : llvm::reverse(digits)) {
    offset += k % digit.size * digit.stride;
    k /= digit.size;
  }
  return offset;
}

namespace {

/// Index arithmetic with constants folded.
class Indices {
public:
  Indices(OpBuilder &b, Location loc) : b(b), loc(loc) {}
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value times(Value x, int64_t factor) {
    return factor == 1 ? x : arith::MulIOp::create(b, loc, x, constant(factor)).getResult();
  }
  /// (x / stride) mod size, of a number that is not negative.
  Value digit(Value x, int64_t stride, int64_t size) {
    if (stride != 1)
      x = arith::DivUIOp::create(b, loc, x, constant(stride));
    return arith::RemUIOp::create(b, loc, x, constant(size));
  }
  /// The number with another value of a digit.
  Value withDigit(Value x, int64_t stride, int64_t size, Value value) {
    return add(x, times(sub(value, digit(x, stride, size)), stride));
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }

  OpBuilder &b;
  Location loc;
};

} // namespace

Value Members::emitMember(OpBuilder &b, Location loc, Value rank) const {
  Indices at(b, loc);
  Value member;
  for (const RankDigit &digit : digits) {
    Value value = at.digit(rank, digit.stride, digit.size);
    member = member ? at.add(at.times(member, digit.size), value) : value;
  }
  return member ? member : at.constant(0);
}

bool spmd::readsOthers(const ClosedForm &form) {
  return form.reduction || form.isReordered() ||
         llvm::any_of(form.transfer.atoms, [](const TransferAtom &atom) { return atom.srcIsRank; }) ||
         llvm::any_of(form.transfer.segments, [](const TransferSegment &segment) {
           return llvm::any_of(segment.src, [](const TransferDigit &digit) { return digit.isRank; });
         });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Type spmd::getAccumulatorType(Type element) {
  auto type = dyn_cast<FloatType>(element);
  return type && type.getWidth() < 32 ? Float32Type::get(element.getContext()) : element;
}

Value spmd::emitCombined(OpBuilder &b, Location loc, ReductionKind kind, Value x, Value y) {
  Type type = getElementTypeOrSelf(x.getType());
  const bool isFloat = isa<FloatType>(type), isBool = type.isInteger(1);
  auto make = [&](auto op) -> Value { return decltype(op)::create(b, loc, x, y).getResult(); };
  switch (kind) {
  case ReductionKind::Sum:
    return isFloat ? make(arith::AddFOp()) : make(arith::AddIOp());
  case ReductionKind::Prod:
    return isFloat ? make(arith::MulFOp()) : make(arith::MulIOp());
  case ReductionKind::And:
    return make(arith::AndIOp());
  case ReductionKind::Or:
    return make(arith::OrIOp());
  case ReductionKind::Xor:
    return make(arith::XOrIOp());
  case ReductionKind::Max:
    return isFloat ? make(arith::MaximumFOp()) : isBool ? make(arith::MaxUIOp()) : make(arith::MaxSIOp());
  case ReductionKind::Min:
    return isFloat ? make(arith::MinimumFOp()) : isBool ? make(arith::MinUIOp()) : make(arith::MinSIOp());
  case ReductionKind::UMax:
    return make(arith::MaxUIOp());
  case ReductionKind::UMin:
    return make(arith::MinUIOp());
  case ReductionKind::MaxNum:
    return make(arith::MaxNumFOp());
  case ReductionKind::MinNum:
    return make(arith::MinNumFOp());
  }
  llvm_unreachable("all kinds are above");
}

//===----------------------------------------------------------------------===//
// emitFromGathered
//===----------------------------------------------------------------------===//

Value spmd::emitLookUp(OpBuilder &b, Location loc, ArrayRef<int64_t> table, Value index) {
  auto type = RankedTensorType::get({int64_t(table.size())}, b.getIndexType());
  Value values = arith::ConstantOp::create(b, loc, type, DenseIntElementsAttr::get(type, table));
  return tensor::ExtractOp::create(b, loc, values, index);
}

namespace {

/// The rank and the element that an element of the result is read from.
struct Source {
  Value rank, element;
  Value isPadding; ///< Null if no element is.
};

class SourceBuilder {
public:
  SourceBuilder(OpBuilder &b, const CollectiveToEmit &collective, Value rank)
      : at(b, collective.op->getLoc()), form(collective.form), offsets(collective.offsets), rank(rank) {}

  /// Of the element with index `result` in the local result.
  Source emit(Value result);
  Indices &indices() { return at; }

private:
  void emitLoops(Value result, Source &source);
  void emitSegment(const TransferSegment &segment, Value result, Source &source);
  Value lookUp(ArrayRef<int64_t> table, Value index) { return emitLookUp(at.b, at.loc, table, index); }

  Indices at;
  const ClosedForm &form;
  ValueRange offsets;
  Value rank, shift;
};

void SourceBuilder::emitLoops(Value result, Source &source) {
  for (const TransferAtom &atom : form.transfer.atoms) {
    Value value = at.digit(atom.dstIsRank ? rank : result, atom.dstStride, atom.size);
    if (atom.srcIsRank)
      source.rank = at.withDigit(source.rank, atom.srcStride, atom.size, value);
    else
      source.element = at.add(source.element, at.times(value, atom.srcStride));
  }
}

void SourceBuilder::emitSegment(const TransferSegment &segment, Value result, Source &source) {
  auto pad = [&](Value isPadding) {
    source.isPadding = source.isPadding ? arith::OrIOp::create(at.b, at.loc, source.isPadding, isPadding) : isPadding;
  };
  // 1. The index, in the digits of the destination: ranks of a window are its coordinate.
  Value index = at.constant(0), local = at.constant(0);
  for (const TransferDigit &digit : segment.dst) {
    Value value = at.digit(digit.isRank ? rank : result, digit.stride, digit.size);
    if (segment.window && !digit.isRank)
      local = value;
    else
      index = at.add(at.times(index, digit.size), value);
  }
  if (segment.window) {
    index = at.add(at.times(index, segment.window->step), at.add(local, at.constant(segment.window->offset)));
    if (segment.window->added >= 0)
      index = at.add(index, offsets[segment.window->added]);
  }
  pad(at.compare(arith::CmpIPredicate::uge, index, at.constant(segment.size))); // or negative
  index = arith::SelectOp::create(at.b, at.loc, source.isPadding, at.constant(0), index);
  // 2. The index in the digits of the source, minor to major.
  for (const TransferDigit &digit : llvm::reverse(segment.src)) {
    Value value = at.digit(index, 1, digit.size);
    index = arith::DivUIOp::create(at.b, at.loc, index, at.constant(digit.size));
    if (digit.isRank) {
      Value moved = at.sub(at.digit(rank, digit.stride, digit.size), value);
      shift = shift ? at.add(shift, moved) : moved;
      source.rank = at.withDigit(source.rank, digit.stride, digit.size, value);
    } else {
      source.element = at.add(source.element, at.times(value, digit.stride));
    }
  }
}

Source SourceBuilder::emit(Value result) {
  const Transfer &transfer = form.transfer;
  if (!form.destinationOrder.empty()) {
    SmallVector<int64_t> numbers(form.destinationOrder.size());
    for (auto [number, of] : llvm::enumerate(form.destinationOrder))
      numbers[of] = number;
    rank = lookUp(numbers, rank);
  }
  shift = {};
  Source source{form.isReordered() ? at.constant(0) : rank, at.constant(0), {}};
  emitLoops(result, source);
  for (const TransferSegment &segment : transfer.segments)
    emitSegment(segment, result, source);
  for (const RankDigit &digit : transfer.spread) {
    Value value = at.digit(rank, digit.stride, digit.size);
    if (shift) // The remainder of a negative number is negative.
      value = arith::AddIOp::create(
          at.b, at.loc, value,
          at.add(arith::RemSIOp::create(at.b, at.loc, shift, at.constant(digit.size)), at.constant(digit.size)));
    source.rank = at.withDigit(source.rank, digit.stride, digit.size, at.digit(value, 1, digit.size));
  }
  if (!form.sourceOrder.empty())
    source.rank = lookUp(form.sourceOrder, source.rank);
  return source;
}

} // namespace

/// The values of the digits of combined ranks, in rising order of ranks.
static SmallVector<SmallVector<int64_t>> getCombined(ArrayRef<RankDigit> digits) {
  SmallVector<RankDigit> sorted(digits);
  llvm::sort(sorted, [](const RankDigit &a, const RankDigit &b) { return a.stride > b.stride; });
  int64_t count = 1;
  for (const RankDigit &digit : sorted)
    count *= digit.size;
  SmallVector<SmallVector<int64_t>> all;
  for (int64_t k = 0; k < count; ++k) {
    SmallVector<int64_t> &values = all.emplace_back(digits.size());
    int64_t remaining = k;
    for (const RankDigit &digit : llvm::reverse(sorted)) {
      values[llvm::find(digits, digit) - digits.begin()] = remaining % digit.size;
      remaining /= digit.size;
    }
  }
  return all;
}

Value spmd::emitFromGathered(OpBuilder &b, const CollectiveToEmit &collective, const Members &members, Value gathered,
                             Value rank) {
  Location loc = collective.op->getLoc();
  const ClosedForm &form = collective.form;
  RankedTensorType type = collective.resultType;
  Type element = type.getElementType(), accumulator = getAccumulatorType(element);
  const bool isRounded = form.reduction && accumulator != element;
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(type.getRank())};
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), element);
  auto body = [&](OpBuilder &b, Location loc, ValueRange) {
    SourceBuilder builder(b, collective, rank);
    Indices &at = builder.indices();
    Value index = at.constant(0);
    for (auto [d, size] : llvm::enumerate(type.getShape()))
      index = at.add(at.times(index, size), linalg::IndexOp::create(b, loc, d));
    Source source = builder.emit(index);
    auto read = [&](Value from) -> Value {
      Value value =
          tensor::ExtractOp::create(b, loc, gathered, ValueRange{members.emitMember(b, loc, from), source.element});
      return isRounded ? arith::ExtFOp::create(b, loc, accumulator, value).getResult() : value;
    };
    Value value;
    if (form.reduction) {
      for (ArrayRef<int64_t> digits : getCombined(form.group)) {
        Value from = source.rank;
        for (auto [digit, number] : llvm::zip(form.group, digits))
          from = at.withDigit(from, digit.stride, digit.size, at.constant(number));
        Value next = read(from);
        value = value ? emitCombined(b, loc, *form.reduction, value, next) : next;
      }
    } else {
      value = read(source.rank);
    }
    if (isRounded)
      value = arith::TruncFOp::create(b, loc, element, value);
    if (source.isPadding) {
      Value zero = arith::ConstantOp::create(b, loc, element, cast<TypedAttr>(b.getZeroAttr(element)));
      value = arith::SelectOp::create(b, loc, source.isPadding, zero, value);
    }
    linalg::YieldOp::create(b, loc, value);
  };
  return linalg::GenericOp::create(b, loc, type, ValueRange(), ValueRange(empty), maps, loops, body).getResult(0);
}
