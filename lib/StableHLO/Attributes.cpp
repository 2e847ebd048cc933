//===- Attributes.cpp - Attributes of StableHLO in generic form -----------===//

#include "Attributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::stablehlo;

Ints stablehlo::getInts(Operation *op, StringRef name) {
  Attribute attr = op->getAttr(name);
  Ints values;
  if (auto list = dyn_cast_or_null<DenseI64ArrayAttr>(attr))
    llvm::append_range(values, list.asArrayRef());
  else if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(attr))
    for (const APInt &value : dense.getValues<APInt>())
      values.push_back(value.getSExtValue());
  return values;
}

void stablehlo::setInts(Operation *op, StringRef name, ArrayRef<int64_t> values) {
  if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(op->getAttr(name)))
    op->setAttr(name, DenseIntElementsAttr::get(dense.getType(), values));
  else
    op->setAttr(name, DenseI64ArrayAttr::get(op->getContext(), values));
}

std::optional<int64_t> stablehlo::getInt(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr && attr.getValue().getSignificantBits() <= 64 ? std::optional(attr.getValue().getSExtValue())
                                                            : std::nullopt;
}

std::string stablehlo::getText(Operation *op, StringRef name) {
  Attribute attr = op->getAttr(name);
  if (auto opaque = dyn_cast_or_null<OpaqueAttr>(attr))
    return opaque.getAttrData().str();
  std::string text;
  if (attr)
    llvm::raw_string_ostream(text) << attr;
  return text;
}

Ints stablehlo::getList(Operation *op, StringRef name, StringRef key) {
  std::string text = getText(op, name);
  Ints values;
  size_t begin = 0;
  // A key may be the end of another one.
  do {
    begin = StringRef(text).find((key + " = [").str(), begin);
    if (begin == StringRef::npos)
      return values;
    if (begin == 0 || !(llvm::isAlnum(text[begin - 1]) || text[begin - 1] == '_'))
      break;
    ++begin;
  } while (true);
  StringRef list = StringRef(text).substr(begin + key.size() + 4);
  list = list.take_until([](char c) { return c == ']'; });
  SmallVector<StringRef> items;
  list.split(items, ',', -1, /*KeepEmpty=*/false);
  for (StringRef item : items)
    if (int64_t value; !item.trim().getAsInteger(10, value))
      values.push_back(value);
  return values;
}

TypedAttr stablehlo::getSplat(Value value) {
  Operation *def = value.getDefiningOp();
  while (def && def->getName().getStringRef() == "stablehlo.broadcast_in_dim" && def->getNumOperands() == 1)
    def = def->getOperand(0).getDefiningOp();
  if (!def || def->getName().getStringRef() != "stablehlo.constant")
    return {};
  auto dense = def->getAttrOfType<DenseElementsAttr>("value");
  return dense && dense.isSplat() ? dyn_cast<TypedAttr>(dense.getSplatValue<Attribute>()) : TypedAttr();
}

ArrayRef<int64_t> stablehlo::getShapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

/// Reads `[b, 0, 1, f]`: the dims of two letters, and of the spatial dims in order.
static bool readDims(StringRef &text, char first, char second, int64_t &firstDim, int64_t &secondDim, Ints &spatial) {
  auto [list, rest] = text.split(']');
  if (!list.consume_front("[") || rest.data() == text.data())
    return false;
  text = rest;
  SmallVector<StringRef> items;
  list.split(items, ',');
  spatial.assign(items.size() < 2 ? 0 : items.size() - 2, -1);
  firstDim = secondDim = -1;
  for (auto [d, item] : llvm::enumerate(items)) {
    item = item.trim();
    unsigned number;
    if (item == StringRef(&first, 1))
      firstDim = d;
    else if (item == StringRef(&second, 1))
      secondDim = d;
    else if (!item.getAsInteger(10, number) && number < spatial.size())
      spatial[number] = d;
    else
      return false;
  }
  return firstDim >= 0 && secondDim >= 0 && !llvm::is_contained(spatial, -1);
}

std::optional<ConvolutionDims> stablehlo::getConvolutionDims(Operation *op) {
  std::string attr = getText(op, "dimension_numbers");
  StringRef text = attr;
  text = text.substr(std::min(text.find('['), text.size()));
  ConvolutionDims dims;
  if (!readDims(text, 'b', 'f', dims.batchIn, dims.featureIn, dims.in) || !text.consume_front("x") ||
      !readDims(text, 'i', 'o', dims.kernelIn, dims.kernelOut, dims.kernel) || !text.consume_front("->") ||
      !readDims(text, 'b', 'f', dims.batchOut, dims.featureOut, dims.out))
    return std::nullopt;
  return dims;
}
