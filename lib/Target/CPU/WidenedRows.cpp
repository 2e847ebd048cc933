//===- WidenedRows.cpp - Products that the runtime decodes in registers ---===//
//
// Where the inputs of a weight follow each other in memory, LLVM's vectors would be those of short sums. The runtime
// has code for such rows (runtime/lib/Contraction/WidenedRows.h), which takes numbers of some formats, times a scale,
// minus an offset.
//
//===----------------------------------------------------------------------===//

#include "NumberTable.h"
#include "WidenedOperands.h"
#include "shardkit/rt/abi.h"

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

/// Values of a number that are functions of the indices of loops, and the format of it with the shifts that these add.
struct WidenedProduct::Format {
  NumberFormat number;
  SmallVector<unsigned> payloads; ///< The payload, and what is above it.
  SmallVector<int64_t> shifts, highShifts;
};

std::optional<WidenedProduct::Format> WidenedProduct::findFormat(Value number, ArrayRef<Indexed> inputs, Block &body) {
  const unsigned innermost = loops.size() - rowLoops - 1;
  SetVector<Value> seen;
  seen.insert(number);
  SetVector<unsigned> byIndex;
  Format format;
  for (unsigned i = 0; i < seen.size(); ++i) {
    if (BlockArgument argument = argumentOf(seen[i], body)) {
      const Indexed &input = inputs[argument.getArgNumber()];
      if (input.value.getDefiningOp<arith::ConstantOp>()) {
        byIndex.insert(input.loops.begin(), input.loops.end());
        continue;
      }
      if (argument.getType().getIntOrFloatBitWidth() != 8 || input.loops.empty() || input.loops.back() != innermost)
        return std::nullopt;
      format.payloads.push_back(argument.getArgNumber());
      continue;
    }
    Operation *op = seen[i].getDefiningOp();
    if (op->getBlock() != &body)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      byIndex.insert(index.getDim());
    seen.insert(op->operand_begin(), op->operand_end());
  }
  int64_t cases = 1;
  for (unsigned loop : byIndex) {
    if (loop == innermost)
      return std::nullopt;
    cases *= loops[loop].size;
  }
  if (format.payloads.empty() || format.payloads.size() > 2 || cases > kMaxCases)
    return std::nullopt;
  SmallVector<NumberFormat> found;
  auto compute = [&](int64_t number_) {
    SmallVector<int64_t> at(loops.size(), 0);
    for (unsigned loop : byIndex) {
      at[loop] = number_ % loops[loop].size;
      number_ /= loops[loop].size;
    }
    auto bitsOf = [&](BlockArgument argument) -> std::optional<Bits> {
      const Indexed &input = inputs[argument.getArgNumber()];
      auto payload = llvm::find(format.payloads, argument.getArgNumber());
      if (payload != format.payloads.end()) {
        Bits bits(format.payloads.size() == 1 ? 256 : 65536);
        for (size_t i = 0; i < bits.size(); ++i)
          bits[i] = payload == format.payloads.begin() ? i & 255 : i >> 8;
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
    return computeBits(number, body, bitsOf, [&](int64_t loop) { return std::optional(at[loop]); });
  };
  for (int64_t i = 0; i < cases; ++i) {
    std::optional<Bits> bits = compute(i);
    std::optional<NumberFormat> one;
    if (bits && format.payloads.size() == 1) {
      one = cpu::findFormat(*bits);
    } else if (bits) {
      one = findWideFormat(*bits);
      if (!one && i == 0) { // The other operand may be the low one.
        std::swap(format.payloads[0], format.payloads[1]);
        bits = compute(i);
        one = bits ? findWideFormat(*bits) : std::nullopt;
      }
    }
    if (!one)
      return std::nullopt;
    found.push_back(*one);
  }
  format.number = found[0];
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
  for (int64_t i = 0; i < cases; ++i) {
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
          shiftsOf(format->shifts, hasShift), shiftsOf(format->highShifts, kind == NumberFormat::I6))
          .getResult()
          .front();
  replace(result);
  return true;
}
