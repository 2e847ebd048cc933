//===- Sizes.cpp - Functions of sizes that only the run knows -------------===//

#include "shardkit/rt/Formats/StoredTensor.h"
#include "shardkit/rt/Manifest/Manifest.h"

#include <algorithm>
#include <numeric>

namespace shardkit::rt {

int64_t DimInfo::shards() const {
  int64_t product = 1;
  for (const RankDigit &digit : digits)
    product *= digit.stride ? digit.size : 1;
  return product;
}

/// `b`, `2 * b * s`, `b + 1`, `b - 1`
static std::string toString(const std::vector<SizeProduct> &size, const FunctionInfo &function) {
  std::string text;
  for (const SizeProduct &product : size) {
    const bool isTaken = product.factor < 0 && !text.empty();
    text += text.empty() ? "" : isTaken ? " - " : " + ";
    const int64_t factor = isTaken ? -product.factor : product.factor;
    if (factor != 1 || product.sizes.empty())
      text += std::to_string(factor) + (product.sizes.empty() ? "" : " * ");
    for (size_t i = 0; i < product.sizes.size(); ++i)
      text += (i ? " * " : "") + function.sizes[product.sizes[i]].name;
  }
  return text;
}

static bool isKnown(const std::vector<SizeProduct> &size) { return size.size() == 1 && size[0].sizes.empty(); }

static Expected<int64_t> evaluate(const std::vector<SizeProduct> &size, const std::vector<int64_t> &sizes,
                                  const std::string &what) {
  int64_t sum = 0;
  bool overflows = false;
  for (const SizeProduct &product : size) {
    int64_t value = product.factor;
    for (size_t number : product.sizes)
      overflows |= __builtin_mul_overflow(value, sizes[number], &value);
    overflows |= __builtin_add_overflow(sum, value, &sum);
  }
  if (overflows || sum < 0)
    return invalid(what + " is negative or too large");
  return sum;
}

/// Bytes, negative if the number is negative or too large.
static int64_t evaluate(const SizeExpr &expr, const std::vector<int64_t> &sizes) {
  if (expr.operands.empty())
    return expr.kind == SizeExpr::Kind::Size ? sizes[size_t(expr.value)] : expr.value;
  const int64_t a = evaluate(expr.operands[0], sizes), b = evaluate(expr.operands[1], sizes);
  int64_t result = 0;
  switch (expr.kind) {
  case SizeExpr::Kind::Add:
    return __builtin_add_overflow(a, b, &result) ? -1 : result;
  case SizeExpr::Kind::Multiply:
    return __builtin_mul_overflow(a, b, &result) ? -1 : result;
  case SizeExpr::Kind::FloorDivide:
    return b > 0 ? a / b - (a % b < 0) : -1;
  default:
    return b > 0 ? a / b + (a % b > 0) : -1;
  }
}

/// Sets the size of the arena.
static Status setArena(EntryPoint &entry, const std::vector<int64_t> &sizes, const std::string &title) {
  constexpr int64_t most = int64_t(1) << 50;
  std::vector<int64_t> ends;
  for (const ArenaBuffer &buffer : entry.arena) {
    int64_t begin = 0;
    for (size_t before : buffer.after)
      begin = std::max(begin, ends[before]);
    const int64_t bytes = evaluate(buffer.bytes, sizes);
    if (bytes < 0 || bytes > most || begin > most - bytes)
      return invalid(title + ": the intermediate values (arena) are too large");
    ends.push_back(begin + bytes);
  }
  if (!ends.empty())
    entry.arenaBytes = *std::max_element(ends.begin(), ends.end());
  entry.arena.clear();
  return {};
}

Expected<std::vector<int64_t>> findSizes(const FunctionInfo &function,
                                         const std::vector<std::optional<Shape>> &shapes) {
  std::vector<int64_t> sizes(function.sizes.size(), -1);
  std::vector<std::string> shownBy(sizes.size());
  auto nameOf = [&](size_t i, size_t d) {
    return "dim " + std::to_string(d) + " of argument '" + function.arguments[i].name + "'";
  };
  for (size_t i = 0; i < shapes.size() && i < function.arguments.size(); ++i) {
    const ValueInfo &value = function.arguments[i];
    if (!shapes[i] || value.dims.empty())
      continue;
    if (shapes[i]->size() != value.dims.size())
      return invalid("function '" + function.name + "': argument '" + value.name + "' has shape " +
                     shapeString(*shapes[i]) + ", expected " + std::to_string(value.dims.size()) + " dims");
    for (size_t d = 0; d < value.dims.size(); ++d) {
      const std::vector<SizeProduct> &size = value.dims[d].size;
      if (size.size() != 1 || size[0].factor != 1 || size[0].sizes.size() != 1)
        continue;
      const size_t number = size[0].sizes[0];
      if (sizes[number] >= 0 && sizes[number] != (*shapes[i])[d])
        return invalid("function '" + function.name + "': " + nameOf(i, d) + " is " + std::to_string((*shapes[i])[d]) +
                       ", expected " + std::to_string(sizes[number]) + ", as " + shownBy[number] + ": both are '" +
                       function.sizes[number].name + "'");
      sizes[number] = (*shapes[i])[d];
      shownBy[number] = nameOf(i, d);
    }
  }
  for (size_t number = 0; number < sizes.size(); ++number)
    if (sizes[number] < 0)
      return invalid("function '" + function.name + "': size '" + function.sizes[number].name +
                     "' is not known, expected an argument with a dim of it");
  // The sums, products and known sizes.
  for (size_t i = 0; i < shapes.size() && i < function.arguments.size(); ++i)
    for (size_t d = 0; shapes[i] && d < function.arguments[i].dims.size(); ++d) {
      const std::vector<SizeProduct> &size = function.arguments[i].dims[d].size;
      SK_ASSIGN_OR_RETURN(int64_t expected, evaluate(size, sizes, nameOf(i, d)));
      if (expected != (*shapes[i])[d])
        return invalid("function '" + function.name + "': " + nameOf(i, d) + " is " + std::to_string((*shapes[i])[d]) +
                       ", expected " + std::to_string(expected) +
                       (isKnown(size) ? "" : " (" + toString(size, function) + ")"));
    }
  return sizes;
}

/// Sets shapes and extents of a value.
static Status setShape(ValueInfo &value, const std::vector<int64_t> &sizes, const std::string &title) {
  const std::string what = title + ": '" + value.name + "'";
  value.globalShape.clear();
  value.localShape.clear();
  for (size_t d = 0; d < value.dims.size(); ++d) {
    const DimInfo &dim = value.dims[d];
    SK_ASSIGN_OR_RETURN(int64_t size, evaluate(dim.size, sizes, what + ", dim " + std::to_string(d)));
    int64_t padded = (size + dim.multiple - 1) / dim.multiple * dim.multiple, parts = 1;
    const bool isUneven = isKnown(dim.size) && std::none_of(dim.digits.begin(), dim.digits.end(),
                                                            [](const RankDigit &digit) { return digit.stride == 0; });
    if (isUneven) // Shards of a known size are as large as the largest.
      padded = (size + dim.shards() - 1) / dim.shards() * dim.shards();
    for (const RankDigit &digit : dim.digits)
      parts *= digit.size;
    if (padded % parts != 0)
      return invalid(what + ": dim " + std::to_string(d) + " is " + std::to_string(size) + ", expected a multiple of " +
                     std::to_string(parts) + ", what it is sharded into");
    value.globalShape.push_back(size);
    value.localShape.push_back(padded / dim.shards());
  }
  std::optional<int64_t> elements = numElements(value.globalShape);
  if (!elements)
    return invalid(what + " has shape " + shapeString(value.globalShape) + ", which is too large");
  value.globalElements = *elements;
  value.localElements = *numElements(value.localShape);
  value.extents = {};
  if (*elements == 0) {
    value.extents.loops.push_back({0, 1, 1});
  } else {
    int64_t global = value.globalElements, local = value.localElements;
    for (size_t d = 0; d < value.dims.size(); ++d) {
      global /= value.globalShape[d];
      local /= value.localShape[d];
      const DimInfo &dim = value.dims[d];
      int64_t unit = value.localShape[d] * dim.shards(), localUnit = value.localShape[d];
      if (unit != value.globalShape[d]) {
        value.extents.uneven.push_back({int64_t(value.extents.loops.size()), value.globalShape[d], dim.digits});
      } else {
        for (const RankDigit &digit : dim.digits) {
          unit /= digit.size;
          if (digit.stride)
            value.extents.offset.push_back({digit.stride, digit.size, global * unit});
          else
            value.extents.loops.push_back({digit.size, global * unit, local * (localUnit /= digit.size)});
        }
      }
      value.extents.loops.push_back({localUnit, global, local});
    }
  }
  value.dims.clear();
  return {};
}

/// What differs between the values of two buckets, which only layouts may; nullptr for nothing.
static const char *findDifference(const std::vector<ValueInfo> &a, const std::vector<ValueInfo> &b) {
  if (a.size() != b.size())
    return "the number";
  for (size_t i = 0; i < a.size(); ++i) {
    auto isSameSize = [](const DimInfo &x, const DimInfo &y) { return x.size == y.size; };
    if (a[i].name != b[i].name || a[i].kind != b[i].kind || a[i].tied != b[i].tied)
      return "the names";
    if (a[i].dtype != b[i].dtype || a[i].globalShape != b[i].globalShape ||
        !std::equal(a[i].dims.begin(), a[i].dims.end(), b[i].dims.begin(), b[i].dims.end(), isSameSize))
      return "the types";
  }
  return nullptr;
}

Expected<FunctionInfo> joinBuckets(const std::string &name, std::vector<FunctionInfo> buckets) {
  FunctionInfo all = buckets.front();
  all.name = name;
  for (const FunctionInfo &bucket : buckets) {
    auto differ = [&](const std::string &what) {
      return invalid("function '" + name + "': buckets '" + buckets.front().name + "' and '" + bucket.name +
                     "' differ in " + what + ", expected the same");
    };
    for (auto [values, title] : {std::pair(&FunctionInfo::arguments, "arguments"), {&FunctionInfo::results, "results"}})
      if (const char *difference = findDifference(all.*values, bucket.*values))
        return differ(std::string(difference) + " of " + title);
    if (bucket.devices != all.devices || bucket.sizes.size() != all.sizes.size() || !bucket.buckets.empty())
      return differ("devices or the number of sizes");
    for (size_t i = 0; i < all.sizes.size(); ++i) {
      SizeInfo &size = all.sizes[i];
      const SizeInfo &own = bucket.sizes[i];
      if (own.name != size.name || own.argument != size.argument)
        return differ("sizes");
      size.least = std::min(size.least, own.least);
      size.most = std::max(size.most, own.most);
      size.multiple = std::gcd(size.multiple, own.multiple);
    }
    for (auto values : {&FunctionInfo::arguments, &FunctionInfo::results})
      for (size_t i = 0; i < (all.*values).size(); ++i)
        if ((all.*values)[i].sharding != (bucket.*values)[i].sharding)
          (all.*values)[i].sharding = "by bucket";
  }
  all.buckets = std::move(buckets);
  return all;
}

/// The bucket of these sizes; the function itself if none has them, or there are none.
static const FunctionInfo &findBucket(const FunctionInfo &function, const std::vector<int64_t> &sizes) {
  for (const FunctionInfo &bucket : function.buckets) {
    bool holds = true;
    for (size_t i = 0; i < sizes.size(); ++i)
      holds &= sizes[i] >= bucket.sizes[i].least && sizes[i] <= bucket.sizes[i].most;
    if (holds)
      return bucket;
  }
  return function;
}

Expected<FunctionInfo> atSizes(const FunctionInfo &function, const std::vector<int64_t> &sizes) {
  const std::string title = "function '" + function.name + "'";
  if (sizes.size() != function.sizes.size())
    return invalid(title + ": " + std::to_string(sizes.size()) + " sizes are given, expected " +
                   std::to_string(function.sizes.size()));
  if (const FunctionInfo &bucket = findBucket(function, sizes); &bucket != &function)
    return atSizes(bucket, sizes);
  FunctionInfo known = function;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const SizeInfo &size = function.sizes[i];
    if (sizes[i] < size.least || sizes[i] > size.most)
      return invalid(title + ": size '" + size.name + "' is " + std::to_string(sizes[i]) + ", expected one from " +
                     std::to_string(size.least) + " to " + std::to_string(size.most));
    if (sizes[i] % size.multiple != 0)
      return invalid(title + ": size '" + size.name + "' is " + std::to_string(sizes[i]) + ", expected a multiple of " +
                     std::to_string(size.multiple) + ", the devices that dims of it are sharded over");
    ValueInfo &argument = known.arguments[size.argument];
    argument.name += "=" + std::to_string(sizes[i]);
    argument.range = std::pair(sizes[i], sizes[i] + 1);
  }
  for (std::vector<ValueInfo> *values : {&known.arguments, &known.results})
    for (ValueInfo &value : *values)
      if (!value.dims.empty())
        SK_RETURN_IF_ERROR(setShape(value, sizes, title));
  SK_RETURN_IF_ERROR(setArena(known.entry, sizes, title));
  if (known.reference)
    SK_RETURN_IF_ERROR(setArena(*known.reference, sizes, title));
  if (!function.buckets.empty())
    return invalid(title + ": no bucket has these sizes");
  known.sizes.clear();
  return known;
}

} // namespace shardkit::rt
