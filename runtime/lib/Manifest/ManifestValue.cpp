//===- ManifestValue.cpp - Meshes, arguments and results of a manifest ----===//

#include "ManifestReader.h"

#include "shardkit/rt/Formats/StoredTensor.h"

#include <algorithm>
#include <map>
#include <set>

namespace shardkit::rt {

using Json = nlohmann::json;

MeshInfo readMesh(const JsonAt &at) {
  at.expectObject();
  MeshInfo mesh;
  mesh.name = at.string("name");
  JsonAt in(at.json(), "mesh '" + mesh.name + "'");
  int64_t size = 1;
  std::set<std::string> names;
  for (const Json &axis : in.array("axes")) {
    if (!axis.is_array() || axis.size() != 2 || !axis[0].is_string())
      in.fail("'axes' has an entry that is not [name, size]");
    std::string name = axis[0].get<std::string>();
    int64_t extent = in.asInteger(axis[1], "axes");
    if (name.empty() || !names.insert(name).second)
      in.fail("axis '" + name + "' is empty or appears twice");
    if (extent < 1)
      in.fail("axis '" + name + "' has size " + std::to_string(extent) + ", expected at least 1");
    if (__builtin_mul_overflow(size, extent, &size) || size > maxDevices)
      in.fail("more than " + std::to_string(maxDevices) + " devices");
    mesh.axes.emplace_back(std::move(name), extent);
  }
  if (in.has("device_ids")) {
    mesh.deviceIds = in.integers("device_ids");
    if (int64_t(mesh.deviceIds.size()) != size)
      in.fail("'device_ids' has " + std::to_string(mesh.deviceIds.size()) + " entries, expected " +
              std::to_string(size));
    std::set<int64_t> seen;
    for (int64_t id : mesh.deviceIds)
      if (id < 0 || !seen.insert(id).second)
        in.fail("device id " + std::to_string(id) + " is negative or appears twice");
  } else {
    for (int64_t i = 0; i < size; ++i)
      mesh.deviceIds.push_back(i);
  }
  return mesh;
}

/// Programs compute with some types only; weights can be of any.
DType readDType(const JsonAt &at, bool any) {
  std::string name = at.string("dtype");
  std::optional<DType> dtype = parseDType(name);
  if (!dtype || (!any && !isComputeType(*dtype) && !isComplex(*dtype)))
    at.fail("'dtype' is '" + name + "', expected one of f64 f32 f16 bf16 i64 i32 i16 i8 i1 c64 c128" +
            (any ? " u64 u32 u16 u8 i4 u4 f8E4M3FN f8E5M2 f8E4M3FNUZ f8E5M2FNUZ f8E8M0FNU" : ""));
  return *dtype;
}

double JsonAt::notNegative(const char *key) const {
  if (!has(key))
    return 0;
  const Json &value = member(key);
  if (!value.is_number() || !(value.get<double>() >= 0))
    fail("'" + std::string(key) + "' is " + value.dump() + ", expected 0 or a positive number");
  return value.get<double>();
}

void readShape(const JsonAt &at, const char *key, Shape &shape, int64_t &elements) {
  shape = at.integers(key);
  std::optional<int64_t> count = numElements(shape);
  if (!count)
    at.fail("'" + std::string(key) + "' has a negative size or is too large");
  elements = *count;
}

namespace {

Extents readExtentsIn(const JsonAt &in) {
  Extents extents;
  for (const Json &entry : in.array("offset")) {
    std::vector<int64_t> v = in.asIntegers(entry, "offset", 3);
    extents.offset.push_back({v[0], v[1], v[2]});
  }
  for (const Json &entry : in.array("loops")) {
    std::vector<int64_t> v = in.asIntegers(entry, "loops", 3);
    extents.loops.push_back({v[0], v[1], v[2]});
  }
  if (in.has("uneven"))
    for (const Json &entry : in.array("uneven")) {
      JsonAt dim(entry, in.where());
      dim.expectObject();
      UnevenLoop loop{dim.integer("loop"), dim.integer("size"), {}, dim.integerOr("begin", 0)};
      for (const Json &digit : dim.array("ranks")) {
        std::vector<int64_t> v = dim.asIntegers(digit, "ranks", 2);
        loop.ranks.push_back({v[0], v[1]});
      }
      extents.uneven.push_back(std::move(loop));
    }
  if (in.has("order"))
    extents.order = in.integers("order");
  return extents;
}

Extents readExtents(const JsonAt &at) {
  const Json &json = at.member("extents");
  JsonAt in(json, at.where());
  if (!json.is_object())
    in.fail("'extents' is not an object");
  return readExtentsIn(in);
}

} // namespace

EntryPoint readEntry(const JsonAt &at, size_t numPrograms) {
  EntryPoint entry;
  entry.program = at.integer("program");
  if (entry.program < 0 || entry.program >= int64_t(numPrograms))
    at.fail("'program' is " + std::to_string(entry.program) + ", expected less than " + std::to_string(numPrograms));
  entry.symbol = at.string("symbol");
  if (entry.symbol.empty())
    at.fail("'symbol' is empty");
  entry.arenaBytes = at.integer("arena_bytes");
  if (entry.arenaBytes < 0 || entry.arenaBytes > (int64_t(1) << 50))
    at.fail("'arena_bytes' is " + std::to_string(entry.arenaBytes) + ", expected a size");
  return entry;
}

namespace {

/// [name, operator]
constexpr std::array<std::pair<const char *, SizeExpr::Kind>, 4> sizeOperators = {{
    {"+", SizeExpr::Kind::Add},
    {"*", SizeExpr::Kind::Multiply},
    {"floordiv", SizeExpr::Kind::FloorDivide},
    {"ceildiv", SizeExpr::Kind::CeilDivide},
}};

/// A number, the name of a size, or [operator, a, b].
SizeExpr readSizeExpr(const JsonAt &at, const char *key, const Json &json, const std::vector<SizeInfo> &sizes,
                      int depth = 0) {
  constexpr int mostDepth = 100;
  const std::string member = "'" + std::string(key) + "'";
  SizeExpr expr;
  if (json.is_number_integer()) {
    expr.value = at.asInteger(json, key);
    return expr;
  }
  if (json.is_string()) {
    const std::string name = json;
    auto size = std::find_if(sizes.begin(), sizes.end(), [&](const SizeInfo &known) { return known.name == name; });
    if (size == sizes.end())
      at.fail(member + " names " + json.dump() + ", which is not one of 'sizes'");
    expr.kind = SizeExpr::Kind::Size;
    expr.value = size - sizes.begin();
    return expr;
  }
  auto known = sizeOperators.end();
  if (json.is_array() && json.size() == 3 && json[0].is_string() && depth < mostDepth)
    known = std::find_if(sizeOperators.begin(), sizeOperators.end(),
                         [name = json[0].get<std::string>()](const auto &each) { return name == each.first; });
  if (known == sizeOperators.end())
    at.fail(member + " has " + json.dump() +
            ", expected a number, the name of a size, or [\"+\" | \"*\" | \"floordiv\" | "
            "\"ceildiv\", a, b]");
  expr.kind = known->second;
  for (size_t i : {1, 2})
    expr.operands.push_back(readSizeExpr(at, key, json[i], sizes, depth + 1));
  return expr;
}

} // namespace

void readArena(const JsonAt &in, const std::vector<SizeInfo> &sizes, EntryPoint &entry) {
  if (!in.has("arena"))
    return;
  for (const Json &json : in.array("arena")) {
    JsonAt at(json, in.where() + ", buffer " + std::to_string(entry.arena.size()) + " of 'arena'");
    at.expectObject();
    ArenaBuffer buffer{readSizeExpr(at, "bytes", at.member("bytes"), sizes), {}};
    for (int64_t before : at.integers("after")) {
      if (before < 0 || before >= int64_t(entry.arena.size()))
        at.fail("'after' has " + std::to_string(before) + ", expected buffers before it");
      buffer.after.push_back(size_t(before));
    }
    entry.arena.push_back(std::move(buffer));
  }
}

namespace {

bool integerRange(DType dtype, int64_t &lo, int64_t &hi) {
  if (isFloat(dtype))
    return false;
  int bits = dtype == DType::I1 ? 1 : int(dtypeSize(dtype) * 8);
  lo = dtype == DType::I1 ? 0 : INT64_MIN >> (64 - bits);
  hi = dtype == DType::I1 ? 1 : INT64_MAX >> (64 - bits);
  return true;
}

} // namespace

std::optional<std::pair<int64_t, int64_t>> readRange(const JsonAt &in, DType dtype) {
  if (!in.has("range"))
    return std::nullopt;
  std::vector<int64_t> range = in.integers("range");
  int64_t lo, hi;
  if (!integerRange(dtype, lo, hi))
    in.fail("'range' on a value of " + std::string(dtypeName(dtype)) + ", expected an integer type");
  if (range.size() != 2 || range[0] >= range[1] || range[0] < lo || range[1] - 1 > hi)
    in.fail("'range' is not [low, high] with low < high in " + std::string(dtypeName(dtype)));
  return std::pair(range[0], range[1]);
}

namespace {

ExtentPiece readPiece(const JsonAt &at, const LoadInfo &load, DType dtype) {
  at.expectObject();
  ExtentPiece piece;
  const bool isNumbers = at.flag("numbers");
  piece.source = isNumbers ? -1 : at.integerOr("source", 0);
  if (isNumbers && dtype != DType::I32)
    at.fail("'numbers' is in an operand of " + std::string(dtypeName(dtype)) + ", expected i32");
  if (at.has("base")) {
    std::vector<int64_t> base = at.asIntegers(at.array("base"), "base", 2);
    piece.globalBase = base[0];
    piece.localBase = base[1];
  }
  piece.extents = readExtentsIn(at);
  if (piece.source >= 0 && piece.source < int64_t(load.sources.size()) &&
      !sameBits(load.sources[size_t(piece.source)].dtype, dtype))
    at.fail("the source is " + std::string(dtypeName(load.sources[size_t(piece.source)].dtype)) + ", expected " +
            dtypeName(dtype));
  return piece;
}

LoadOperand readOperand(const JsonAt &at, const LoadInfo &load, const std::vector<int64_t> &elements, int64_t devices) {
  at.expectObject();
  LoadOperand operand;
  operand.dtype = readDType(at, /*any=*/true);
  readShape(at, "shape", operand.shape, operand.elements);
  for (const Json &entry : at.array("pieces")) {
    JsonAt in(entry, at.where() + ", piece " + std::to_string(operand.pieces.size()));
    operand.pieces.push_back(readPiece(in, load, operand.dtype));
  }
  Status status = validateOperand(operand.pieces, elements, operand.elements, devices);
  if (!status.ok())
    at.fail(status.message());
  return operand;
}

/// `allowComputed`: in a presharded set, which has the results of loading functions.
LoadInfo readLoad(const JsonAt &at, const ValueInfo &value, int64_t devices, size_t numPrograms, bool allowComputed) {
  const Json &json = at.member("load");
  JsonAt in(json, at.where() + ", load");
  in.expectObject();
  LoadInfo load;
  std::vector<int64_t> elements;
  for (const Json &entry : in.array("sources")) {
    JsonAt source(entry, in.where());
    source.expectObject();
    LoadSource &added = load.sources.emplace_back();
    added.name = source.string("name");
    if (added.name.empty())
      in.fail("a source has no name");
    JsonAt named(entry, in.where() + ", source '" + added.name + "'");
    added.dtype = readDType(named, /*any=*/true);
    readShape(named, "shape", added.shape, added.elements);
    added.range = readRange(named, added.dtype);
    elements.push_back(added.elements);
  }
  if (load.sources.empty())
    in.fail("'sources' is empty");
  const bool computed = allowComputed && in.has("computed");
  if (int(in.has("pieces")) + int(in.has("function")) + int(in.has("chain")) + int(computed) != 1)
    in.fail("expected one of 'pieces', 'function' and 'chain'");
  if (computed) {
    if (in.member("computed") != Json(true))
      in.fail("'computed' is not true");
    load.computed = true;
    return load;
  }
  if (in.has("pieces")) {
    for (const Json &entry : in.array("pieces"))
      load.pieces.push_back(
          readPiece(JsonAt(entry, in.where() + ", piece " + std::to_string(load.pieces.size())), load, value.dtype));
    Status status = validatePieces(load.pieces, elements, value.localShape, value.globalShape, devices);
    if (!status.ok())
      in.fail(status.message());
  } else if (in.has("function")) {
    JsonAt function(in.member("function"), in.where() + ", function");
    function.expectObject();
    load.function = readEntry(function, numPrograms);
    load.isFull = in.flag("full");
    if (load.isFull && value.isSegmented)
      in.fail("'full' is on an argument that is segmented");
    if (load.isFull && in.has("operands"))
      in.fail("'full' and 'operands', expected one of them");
    if (in.has("operands")) {
      load.operands.emplace();
      for (const Json &entry : in.array("operands"))
        load.operands->push_back(readOperand(
            JsonAt(entry, in.where() + ", operand " + std::to_string(load.operands->size())), load, elements, devices));
    }
  } else {
    if (load.sources.size() != 1)
      in.fail("'chain' has " + std::to_string(load.sources.size()) + " sources, expected 1");
    for (const Json &entry : in.array("chain"))
      load.chain.push_back(readHostCall(entry, in));
    if (load.chain.empty())
      in.fail("'chain' is empty");
    const HostCall &last = load.chain.back();
    int64_t distinct = distinctShard(value.extents, 0).count;
    if (last.shape.empty() || (last.shape[0] != distinct && last.shape[0] != devices))
      in.fail("'" + last.function + "' gives " + shapeString(last.shape) + ", expected a leading dim of " +
              std::to_string(distinct) + ", the number of shards" +
              (distinct == devices ? "" : ", or " + std::to_string(devices)));
    if (last.dtype != value.dtype || Shape(last.shape.begin() + 1, last.shape.end()) != value.localShape)
      in.fail("'" + last.function + "' gives " + dtypeName(last.dtype) + " " + shapeString(last.shape) +
              ", expected slices of " + dtypeName(value.dtype) + " " + shapeString(value.localShape));
  }
  if (in.has("reference")) {
    JsonAt reference(in.member("reference"), in.where() + ", reference");
    reference.expectObject();
    load.reference = readEntry(reference, numPrograms);
  }
  return load;
}

Slot readSlot(const JsonAt &in, bool isResult) {
  static const std::map<std::string, Slot::Kind> kinds = {{"argument", Slot::Kind::Argument},
                                                          {"result", Slot::Kind::Result},
                                                          {"value", Slot::Kind::Value},
                                                          {"sum", Slot::Kind::Sum}};
  const Json &json = in.array("slot");
  const std::string held = isResult ? "result" : "argument";
  auto kind = kinds.find(!json.empty() && json[0].is_string() ? json[0].get<std::string>() : "");
  const bool isKnown = kind != kinds.end() && kind->first != (isResult ? "argument" : "result");
  if (!isKnown || !(json.size() == 2 || (json.size() == 3 && kind->first == held)))
    in.fail("'slot' is " + json.dump() + ", expected [\"" + held + "\", index], [\"" + held +
            "\", index, dim], [\"value\", index] or [\"sum\", index]");
  Slot slot;
  slot.kind = kind->second;
  slot.index = in.asInteger(json[1], "slot");
  if (json.size() == 3) {
    slot.dim = in.asInteger(json[2], "slot");
    if (slot.dim < 0)
      in.fail("'slot' names dim " + std::to_string(slot.dim) + ", expected 0 or more");
  }
  return slot;
}

/// Up to version 4 a size is a sum of products, each a list of a factor and the numbers of sizes.
SizeExpr readProducts(const JsonAt &at, const Json &json, const std::vector<SizeInfo> &sizes) {
  using Kind = SizeExpr::Kind;
  std::optional<SizeExpr> sum;
  for (const Json &entry : json) {
    std::vector<int64_t> factors = at.asIntegers(entry, "size", -1);
    if (factors.empty())
      at.fail("'size' has an entry that is not [factor, sizes...]");
    SizeExpr product{Kind::Number, factors[0], {}};
    for (auto number = factors.begin() + 1; number != factors.end(); ++number) {
      if (*number < 0 || *number >= int64_t(sizes.size()))
        at.fail("'size' has the size " + std::to_string(*number) + ", expected less than " +
                std::to_string(sizes.size()));
      product = {Kind::Multiply, 0, {product, {Kind::Size, *number, {}}}};
    }
    // 1 * b is b, which a call shows.
    if (factors.size() == 2 && factors[0] == 1)
      product = {Kind::Size, factors[1], {}};
    sum = sum ? SizeExpr{Kind::Add, 0, {*sum, product}} : product;
  }
  return sum.value_or(SizeExpr());
}

/// The dims of a value of which a size is not known.
std::vector<DimInfo> readDims(const JsonAt &in, int64_t devices, const std::vector<SizeInfo> &sizes) {
  std::vector<DimInfo> dims;
  for (const Json &entry : in.array("dims")) {
    JsonAt at(entry, in.where() + ", dim " + std::to_string(dims.size()));
    at.expectObject();
    DimInfo &dim = dims.emplace_back();
    const Json &size = at.member("size");
    const bool isSum = size.is_array() && (size.empty() || size[0].is_array());
    dim.size = isSum ? readProducts(at, size, sizes) : readSizeExpr(at, "size", size, sizes);
    if (dim.size.isNumber() && dim.size.value < 0)
      at.fail("'size' is " + std::to_string(dim.size.value) + ", expected 0 or more");
    int64_t shards = 1, parts = 1;
    for (const Json &digit : at.array("digits")) {
      std::vector<int64_t> v = at.asIntegers(digit, "digits", 2);
      if (v[0] < 0 || v[1] < 1 || __builtin_mul_overflow(v[0] ? shards : parts, v[1], v[0] ? &shards : &parts) ||
          shards > devices || parts > SizeInfo::maxSize)
        at.fail("'digits' has digits that are not those of " + std::to_string(devices) + " devices");
      dim.digits.push_back({v[0], v[1]});
    }
    dim.multiple = at.integerOr("multiple", 1);
    if (dim.multiple < 1 || dim.multiple > (int64_t(1) << 30) ||
        (dim.multiple != 1 && (dim.multiple % shards != 0 || parts != 1)))
      at.fail("'multiple' is " + std::to_string(dim.multiple) + ", expected a multiple of the " +
              std::to_string(shards) + " shards, in one piece each");
  }
  if (dims.empty())
    in.fail("'dims' is empty");
  return dims;
}

} // namespace

ValueKind readArgumentKind(const JsonAt &in, const std::string &kind) {
  if (kind != "input" && kind != "weight" && kind != "constant" && kind != "size")
    in.fail("'kind' is '" + kind + "', expected 'input', 'weight', 'constant' or 'size'");
  return kind == "weight"     ? ValueKind::Weight
         : kind == "constant" ? ValueKind::Constant
         : kind == "size"     ? ValueKind::Size
                              : ValueKind::Input;
}

ValueInfo readValue(const JsonAt &at, bool isResult, size_t index, int64_t devices, size_t numArguments,
                    size_t numPrograms, bool anyType, bool isSlotted, const std::vector<SizeInfo> &sizes) {
  std::string what = isResult ? "result" : "argument";
  at.expectObject();
  ValueInfo value;
  value.name = at.stringOr("name", (isResult ? "result" : "arg") + std::to_string(index));
  JsonAt in(at.json(), at.where() + ", " + what + " '" + value.name + "'");
  if (value.name.empty())
    in.fail("the name is empty");
  if (isSlotted)
    value.slot = readSlot(in, isResult);
  const bool isValue = value.slot && value.slot->isValue();
  std::string kind = in.stringOr("kind", isValue ? "value" : isResult ? "result" : "input");
  if (isValue ? kind != "value" && kind != "result" : isResult && kind != "result")
    in.fail("'kind' is '" + kind + "', expected " + (isValue ? "'value'" : "'result'"));
  value.kind = isValue ? ValueKind::Value : isResult ? ValueKind::Result : readArgumentKind(in, kind);
  value.dtype = readDType(in, anyType);
  const bool isSized = in.has("dims");
  if (!isSized)
    readShape(in, "local_shape", value.localShape, value.localElements);
  auto readTied = [&] {
    if (!isResult || !in.has("tied"))
      return;
    int64_t tied = in.integer("tied");
    if (tied < 0 || tied >= int64_t(numArguments))
      in.fail("'tied' is " + std::to_string(tied) + ", expected less than " + std::to_string(numArguments));
    value.tied = tied;
  };
  if (isValue) {
    readTied();
    return value;
  }
  if (isSized && (anyType || isSlotted || (value.kind != ValueKind::Input && value.kind != ValueKind::Result)))
    in.fail("'dims' is on a value that is not an input or result of a function");
  if (!isSized)
    readShape(in, "global_shape", value.globalShape, value.globalElements);
  for (auto [key, flag] : {std::pair("exact", &value.exact), std::pair("segmented", &value.isSegmented)})
    *flag = in.flag(key);
  if (isResult)
    value.rounding = in.notNegative("rounding");
  if (value.isSegmented && value.kind != ValueKind::Weight)
    in.fail("'segmented' is on a value that is not a weight");
  if (isSized) {
    value.dims = readDims(in, devices, sizes);
    for (const DimInfo &dim : value.dims)
      value.globalShape.push_back(dim.size.isNumber() ? dim.size.value : -1);
    value.sharding = in.stringOr("sharding", "");
    value.range = readRange(in, value.dtype);
    readTied();
    return value;
  }
  if (value.kind == ValueKind::Size && (value.dtype != DType::I64 || !value.globalShape.empty()))
    in.fail("a size is " + std::string(dtypeName(value.dtype)) + " " + shapeString(value.globalShape) +
            ", expected an i64 scalar");
  // The output of host functions is a stack with a slice for each rank.
  Shape slice = value.globalShape;
  if (anyType && value.isSegmented && in.has("load") && !in.member("load").contains("pieces") &&
      slice.size() == value.localShape.size() + 1 && slice[0] == devices)
    slice.erase(slice.begin());
  if (slice.size() != value.localShape.size())
    in.fail("'local_shape' has rank " + std::to_string(value.localShape.size()) + ", expected " +
            std::to_string(value.globalShape.size()));
  for (size_t d = 0; d < slice.size(); ++d)
    if (value.localShape[d] > slice[d])
      in.fail("'local_shape' is " + shapeString(value.localShape) + ", expected no more than " + shapeString(slice));
  value.sharding = in.stringOr("sharding", "");
  value.extents = readExtents(in);
  Status extents = validateExtents(value.extents, value.localElements, value.globalElements, devices,
                                   /*coverGlobal=*/isResult || anyType);
  if (!extents.ok())
    in.fail(extents.message());
  if (in.has("load")) {
    if (value.kind != ValueKind::Weight)
      in.fail("'load' is on a value that is not a weight");
    value.load = readLoad(in, value, devices, numPrograms, anyType);
  }
  value.range = readRange(in, value.dtype);
  readTied();
  return value;
}

} // namespace shardkit::rt
