//===- WidenedRows.cpp - Products that the runtime decodes in registers ---===//
//
// Where the inputs of a weight follow each other in memory, LLVM's vectors would be those of short sums. The runtime
// has code for such rows (runtime/lib/Contraction/WidenedRows.h), which takes numbers of some formats, times a scale,
// minus an offset. A scale may itself be a scale times a number of few bits: the runtime then reads that, too.
//
//===----------------------------------------------------------------------===//

#include "NumberTable.h"
#include "WidenedOperands.h"
#include "shardkit/rt/abi.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::cpu;

/// Numbers with one scale below which there is nothing to gain.
static constexpr int64_t kMinRun = 8;
/// Combinations of indices that a number may depend on.
static constexpr int64_t kMaxCases = 64;

/// An argument of `body`, or null.
static BlockArgument argumentOf(Value value, Block &body) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &body ? argument : BlockArgument();
}

/// A number that is a function of at most two bytes and of the indices of some loops.
struct WidenedProduct::Number {
  Value value;
  SmallVector<unsigned> bytes; ///< Arguments of the body, the minor one first.
  SetVector<unsigned> loops;
};

/// How a number is stored, with the shifts that loops add.
struct WidenedProduct::Format {
  NumberFormat number;
  SmallVector<unsigned> payloads; ///< The payload, and what is above it.
  SmallVector<int64_t> shifts, highShifts;
};

/// A factor of a scale that is computed from bytes of one tensor: a number of few bits.
struct WidenedProduct::Inner {
  Indexed outer; ///< The other factor.
  Value bytes;
  SmallVector<std::optional<unsigned>> loops; ///< By dims of `bytes`; nullopt: the bytes have different indices there.
  Number number;
  std::function<std::optional<BitFields>(ArrayRef<int64_t>)> fieldsAt; ///< By indices of loops.
};

/// The bytes and the loops that `value` depends on; nullopt if it depends on anything else.
std::optional<WidenedProduct::Number> WidenedProduct::findNumber(Value value, ArrayRef<Indexed> inputs, Block &body,
                                                                 ArrayRef<unsigned> loopsOfBody) {
  Number number{value, {}, {}};
  SetVector<Value> seen;
  seen.insert(value);
  for (unsigned i = 0; i < seen.size(); ++i) {
    if (BlockArgument argument = argumentOf(seen[i], body)) {
      const Indexed &input = inputs[argument.getArgNumber()];
      if (input.value.getDefiningOp<arith::ConstantOp>())
        number.loops.insert(input.loops.begin(), input.loops.end());
      else if (argument.getType().getIntOrFloatBitWidth() == 8)
        number.bytes.push_back(argument.getArgNumber());
      else
        return std::nullopt;
      continue;
    }
    Operation *op = seen[i].getDefiningOp();
    if (!op)
      return std::nullopt;
    if (op->getBlock() != &body)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      number.loops.insert(loopsOfBody[index.getDim()]);
    seen.insert(op->operand_begin(), op->operand_end());
  }
  if (number.bytes.empty() || number.bytes.size() > 2)
    return std::nullopt;
  return number;
}

/// The bits of a number for all values of its bytes, where the loops have the indices `at`.
std::optional<Bits> WidenedProduct::computeNumber(const Number &number, ArrayRef<Indexed> inputs, Block &body,
                                                  ArrayRef<unsigned> loopsOfBody, ArrayRef<int64_t> at) {
  auto bitsOf = [&](BlockArgument argument) -> std::optional<Bits> {
    const Indexed &input = inputs[argument.getArgNumber()];
    auto byte = llvm::find(number.bytes, argument.getArgNumber());
    if (byte != number.bytes.end()) {
      Bits bits(number.bytes.size() == 1 ? 256 : 65536);
      for (size_t i = 0; i < bits.size(); ++i)
        bits[i] = byte == number.bytes.begin() ? i & 255 : i >> 8;
      return bits;
    }
    DenseElementsAttr elements;
    if (!matchPattern(input.value, m_Constant(&elements)) || !elements.getElementType().isInteger())
      return std::nullopt;
    int64_t flat = 0;
    for (unsigned loop : input.loops)
      flat = flat * loops[loop].size + at[loop];
    return Bits{elements.getValues<APInt>()[flat].getZExtValue()};
  };
  return computeBits(number.value, body, bitsOf, [&](int64_t dim) { return std::optional(at[loopsOfBody[dim]]); });
}

/// Indices of all loops for case `number` of some of them, the first one minor.
SmallVector<int64_t> WidenedProduct::indicesOf(const SetVector<unsigned> &of, int64_t number) {
  SmallVector<int64_t> at(loops.size(), 0);
  for (unsigned loop : of) {
    at[loop] = number % loops[loop].size;
    number /= loops[loop].size;
  }
  return at;
}

std::optional<int64_t> WidenedProduct::countCases(const SetVector<unsigned> &of, int64_t limit) {
  int64_t cases = 1;
  for (unsigned loop : of)
    if ((cases *= loops[loop].size) > limit)
      return std::nullopt;
  return cases;
}

std::optional<WidenedProduct::Format> WidenedProduct::findFormat(Value value, ArrayRef<Indexed> inputs, Block &body) {
  const unsigned innermost = loops.size() - rowLoops - 1;
  auto all = llvm::to_vector(llvm::seq<unsigned>(loops.size()));
  std::optional<Number> number = findNumber(value, inputs, body, all);
  if (!number || number->loops.contains(innermost) || !llvm::all_of(number->bytes, [&](unsigned byte) {
        return !inputs[byte].loops.empty() && inputs[byte].loops.back() == innermost;
      }))
    return std::nullopt;
  std::optional<int64_t> cases = countCases(number->loops, kMaxCases);
  if (!cases)
    return std::nullopt;
  const SetVector<unsigned> &byIndex = number->loops;
  SmallVector<NumberFormat> found;
  auto compute = [&](int64_t i) { return computeNumber(*number, inputs, body, all, indicesOf(byIndex, i)); };
  for (int64_t i = 0; i < *cases; ++i) {
    std::optional<Bits> bits = compute(i);
    std::optional<NumberFormat> one;
    if (bits && number->bytes.size() == 1) {
      one = cpu::findFormat(*bits);
    } else if (bits) {
      one = findWideFormat(*bits);
      if (!one && i == 0) { // The other operand may be the low one.
        std::swap(number->bytes[0], number->bytes[1]);
        bits = compute(i);
        one = bits ? findWideFormat(*bits) : std::nullopt;
      }
    }
    if (!one)
      return std::nullopt;
    found.push_back(*one);
  }
  Format format{found[0], number->bytes, {}, {}};
  format.shifts.assign(loops.size() + 1, 0);
  format.highShifts.assign(loops.size() + 1, 0);
  format.shifts[0] = found[0].shift;
  format.highShifts[0] = found[0].highShift;
  int64_t stride = 1;
  for (unsigned loop : byIndex) {
    if (loops[loop].size > 1) {
      format.shifts[loop + 1] = found[stride].shift - found[0].shift;
      format.highShifts[loop + 1] = found[stride].highShift - found[0].highShift;
    }
    stride *= loops[loop].size;
  }
  for (int64_t i = 0; i < *cases; ++i) {
    int64_t rest = i, shift = format.shifts[0], highShift = format.highShifts[0];
    for (unsigned loop : byIndex) {
      shift += rest % loops[loop].size * format.shifts[loop + 1];
      highShift += rest % loops[loop].size * format.highShifts[loop + 1];
      rest /= loops[loop].size;
    }
    auto bitsOfTable = [](const NumberFormat &of) {
      return llvm::map_to_vector(of.table, [](float value) { return llvm::bit_cast<uint32_t>(value); });
    };
    if (found[i].kind != found[0].kind || bitsOfTable(found[i]) != bitsOfTable(found[0]) || found[i].shift != shift ||
        found[i].highShift != highShift)
      return std::nullopt;
  }
  return format;
}

/// The scale as a product; `scale` has the loops of the nest.
std::optional<WidenedProduct::Inner> WidenedProduct::findInner(const Indexed &scale) {
  auto producer = scale.value.getDefiningOp<linalg::GenericOp>();
  if (!producer || producer.getNumReductionLoops() || producer->getNumResults() != 1 ||
      !producer.hasPureTensorSemantics() || target::hasAssertion(producer) ||
      producer.payloadUsesValueFromOperand(producer.getDpsInitOperand(0)))
    return std::nullopt;
  SmallVector<AffineMap> maps = producer.getIndexingMapsArray();
  if (!maps.back().isPermutation() || !llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  SmallVector<unsigned> loopsOfBody(maps.back().getNumDims());
  for (auto [result, loop] : llvm::enumerate(scale.loops))
    loopsOfBody[maps.back().getDimPosition(result)] = loop;
  SmallVector<Indexed> inputs;
  for (auto [input, map] : llvm::zip(producer.getDpsInputs(), maps)) {
    inputs.push_back({input, {}});
    for (AffineExpr expr : map.getResults())
      inputs.back().loops.push_back(loopsOfBody[cast<AffineDimExpr>(expr).getPosition()]);
  }
  Block &body = *producer.getBlock();
  auto product = body.getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  for (auto [factor, value] : {std::pair(product.getLhs(), product.getRhs()), {product.getRhs(), product.getLhs()}}) {
    BlockArgument argument = argumentOf(factor, body);
    if (!argument || !argument.getType().isF32())
      continue;
    std::optional<Number> number = findNumber(value, inputs, body, loopsOfBody);
    if (!number || !countCases(number->loops, SK_MAX_INNER_CASES))
      continue;
    Inner inner{inputs[argument.getArgNumber()], {}, {}, *number, {}};
    SmallVector<int64_t, 2> at;
    for (unsigned byte : number->bytes) {
      std::optional<int64_t> found = addBytes(inputs[byte], inner);
      if (!found)
        return std::nullopt;
      at.push_back(*found);
    }
    inner.fieldsAt = [=, this, &body](ArrayRef<int64_t> indices) -> std::optional<BitFields> {
      std::optional<Bits> bits = computeNumber(*number, inputs, body, loopsOfBody, indices);
      std::optional<BitFields> fields = bits ? findBitFields(*bits) : std::nullopt;
      for (int k = 0; fields && k < 2; ++k)
        fields->fields[k].byte = fields->fields[k].mask ? at[fields->fields[k].byte] : 0;
      return fields;
    };
    return inner;
  }
  return std::nullopt;
}

/// Makes bytes those of a tensor that the other bytes of `inner` are of, too: which of the elements of its dims that
/// are no loops they are.
std::optional<int64_t> WidenedProduct::addBytes(const Indexed &of, Inner &inner) {
  Value bytes = of.value;
  SmallVector<std::optional<unsigned>> ofDims(of.loops.begin(), of.loops.end());
  int64_t at = 0;
  if (auto slice = bytes.getDefiningOp<tensor::ExtractSliceOp>()) {
    bytes = slice.getSource();
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    ofDims.clear();
    size_t kept = 0;
    for (auto [dim, size] : llvm::enumerate(slice.getSourceType().getShape())) {
      const int64_t offset = slice.getStaticOffset(dim), own = slice.getStaticSize(dim);
      const bool isOne = dropped[dim] && !ShapedType::isDynamic(offset) && !ShapedType::isDynamic(size);
      if (!isOne && (dropped[dim] || offset != 0 || own != size || slice.getStaticStride(dim) != 1))
        return std::nullopt;
      at = isOne ? at * size + offset : at;
      ofDims.push_back(isOne ? std::nullopt : std::optional(of.loops[kept++]));
    }
  }
  if (inner.bytes && (inner.bytes != bytes || inner.loops != ofDims))
    return std::nullopt;
  inner.bytes = bytes;
  inner.loops = ofDims;
  return at;
}

/// Numbers of bytes that scales and offsets are multiplied by, for all cases of some loops.
struct WidenedProduct::InnerCases {
  std::optional<Inner> scale, offset;
  SmallVector<int64_t> strides; ///< Of a case, by loops.
  SmallVector<int64_t> ofScale, ofOffset;
};

WidenedProduct::InnerCases WidenedProduct::findInnerCases(std::optional<Inner> scale, std::optional<Inner> offset) {
  if (scale && offset && (scale->bytes != offset->bytes || scale->loops != offset->loops))
    offset.reset();
  InnerCases cases;
  SetVector<unsigned> byIndex;
  for (const std::optional<Inner> &inner : {scale, offset})
    if (inner)
      byIndex.insert(inner->number.loops.begin(), inner->number.loops.end());
  std::optional<int64_t> count = countCases(byIndex, SK_MAX_INNER_CASES);
  if (!count)
    return cases;
  cases.strides.assign(loops.size(), 0);
  int64_t stride = 1;
  for (unsigned loop : byIndex) {
    cases.strides[loop] = stride;
    stride *= loops[loop].size;
  }
  auto addCases = [&](const Inner &inner, SmallVectorImpl<int64_t> &to) {
    for (int64_t i = 0; i < *count; ++i) {
      std::optional<BitFields> fields = inner.fieldsAt(indicesOf(byIndex, i));
      if (!fields || (i > 0 && to.back() != fields->isSigned))
        return false;
      for (const BitFields::Field &field : fields->fields)
        to.append({field.byte, field.shift, field.mask});
      to.push_back(fields->isSigned);
    }
    return true;
  };
  if (scale && addCases(*scale, cases.ofScale))
    cases.scale = std::move(scale);
  if (offset && addCases(*offset, cases.ofOffset))
    cases.offset = std::move(offset);
  return cases;
}

bool WidenedProduct::makeRows() {
  auto isF32 = [](Value value) { return getElementTypeOrSelf(value).isF32(); };
  const Value vectors = widened.operand == 0 ? op.getB() : op.getA();
  if (!widened.producer || !isF32(widened.value) || !isF32(vectors) || !isF32(op.getC()))
    return false;
  const int64_t innermost = int64_t(widened.shape().size()) - 1;
  if (innermost < 0 || !isSummed(loopOf(innermost)) || widened.shape()[innermost] < kMinRun)
    return false;
  for (unsigned loop = 0; loop < sizes.size(); ++loop) // a batch
    if (own().isFunctionOfDim(loop) && other().isFunctionOfDim(loop) && !isSummed(loop))
      return false;
  loops.clear();
  for (int64_t dim = 0; dim <= innermost; ++dim)
    loops.push_back({loopOf(dim), widened.shape()[dim], dim});
  for (auto [loop, size] : llvm::enumerate(sizes))
    if (!own().isFunctionOfDim(loop))
      loops.push_back({unsigned(loop), size});
  rowLoops = loops.size() - innermost - 1;
  indexLoops();
  if (llvm::count_if(loops, [](const Loop &loop) { return loop.size != 1; }) > SK_MAX_WIDENED_DIMS)
    return false;
  Block body;
  SmallVector<Indexed> inputs = makeElement(body);

  // number * scale - offset
  auto takeOperand = [&](Value value) -> std::optional<unsigned> {
    BlockArgument argument = argumentOf(value, body);
    if (!argument || !argument.hasOneUse() || !argument.getType().isF32() ||
        llvm::is_contained(inputs[argument.getArgNumber()].loops, unsigned(innermost)))
      return std::nullopt;
    return argument.getArgNumber();
  };
  Value number = body.getTerminator()->getOperand(0);
  std::optional<unsigned> scale, offset;
  if (auto difference = number.getDefiningOp<arith::SubFOp>())
    if ((offset = takeOperand(difference.getRhs())))
      number = difference.getLhs();
  if (auto product = number.getDefiningOp<arith::MulFOp>())
    for (auto [factor, rest] : {std::pair(product.getLhs(), product.getRhs()), {product.getRhs(), product.getLhs()}})
      if (!scale && (scale = takeOperand(factor)))
        number = rest;
  std::optional<Format> format = findFormat(number, inputs, body);
  if (!format)
    return false;

  InnerCases cases = findInnerCases(scale ? findInner(inputs[*scale]) : std::nullopt,
                                    offset ? findInner(inputs[*offset]) : std::nullopt);
  if (cases.scale)
    inputs[*scale] = cases.scale->outer;
  if (cases.offset)
    inputs[*offset] = cases.offset->outer;

  SmallVector<Value> stored;
  SmallVector<Attribute> roles;
  auto all = llvm::to_vector(llvm::seq<unsigned>(loops.size()));
  SmallVector<AffineMap> indexing;
  Indexed x = expand(vectors, other(), byLoop);
  indexing.push_back(getMap(x.loops, all));
  indexing.push_back(getMap(inputs[format->payloads[0]].loops, all));
  auto addPart = [&](StringRef name, std::optional<unsigned> input) {
    if (!input)
      return;
    roles.push_back(b.getStringAttr(name));
    stored.push_back(inputs[*input].value);
    indexing.push_back(getMap(inputs[*input].loops, all));
  };
  addPart("high", format->payloads.size() == 2 ? std::optional(format->payloads[1]) : std::nullopt);
  addPart("scale", scale);
  addPart("offset", offset);
  if (const Inner *inner = cases.scale ? &*cases.scale : cases.offset ? &*cases.offset : nullptr) {
    roles.push_back(b.getStringAttr("inner"));
    stored.push_back(inner->bytes);
    auto exprs = llvm::map_to_vector(inner->loops, [&](std::optional<unsigned> loop) {
      return loop ? b.getAffineDimExpr(*loop) : b.getAffineConstantExpr(0);
    });
    indexing.push_back(AffineMap::get(loops.size(), 0, exprs, op.getContext()));
  }
  Indexed c = expand(op.getC(), maps[2], byLoop);
  indexing.push_back(getMap(c.loops, all));
  static constexpr StringLiteral names[] = {"table", "i8", "e4m3", "i6"};
  auto kind = format->number.kind;
  const bool hasShift = kind == NumberFormat::Table || kind == NumberFormat::I6;
  auto shiftsOf = [&](ArrayRef<int64_t> shifts, bool has) { return has ? b.getDenseI64ArrayAttr(shifts) : nullptr; };
  Value result =
      target::ContractWidenedOp::create(
          b, op.getLoc(), TypeRange{c.value.getType()}, b.getStringAttr(names[kind]), b.getAffineMapArrayAttr(indexing),
          x.value, inputs[format->payloads[0]].value, b.getArrayAttr(roles), stored, c.value, op.getOverwriteAttr(),
          kind == NumberFormat::Table ? b.getDenseF32ArrayAttr(format->number.table) : nullptr,
          shiftsOf(format->shifts, hasShift), shiftsOf(format->highShifts, kind == NumberFormat::I6),
          shiftsOf(cases.strides, cases.scale || cases.offset), shiftsOf(cases.ofScale, cases.scale.has_value()),
          shiftsOf(cases.ofOffset, cases.offset.has_value()))
          .getResult()
          .front();
  replace(result);
  return true;
}
