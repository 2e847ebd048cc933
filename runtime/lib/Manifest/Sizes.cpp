//===- Sizes.cpp - Functions of sizes that only the run knows -------------===//

#include "shardkit/rt/Formats/StoredTensor.h"
#include "shardkit/rt/Manifest/Manifest.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace shardkit::rt {

int64_t DimInfo::shards() const {
  int64_t product = 1;
  for (const RankDigit &digit : digits)
    product *= digit.stride ? digit.size : 1;
  return product;
}

/// `b`, `2 * b * s`, `b + 1`, `b - 1`, `floor((b + 1) / 2)`
static std::string toString(const SizeExpr &expr, const FunctionInfo &function, bool isFactor = false) {
  using Kind = SizeExpr::Kind;
  if (expr.kind == Kind::Number)
    return std::to_string(expr.value);
  if (expr.kind == Kind::Size)
    return function.sizes[size_t(expr.value)].name;
  const SizeExpr &a = expr.operands[0], &b = expr.operands[1];
  auto product = [&] {
    const bool isNumberFirst = b.isNumber();
    return toString(isNumberFirst ? b : a, function, true) + " * " + toString(isNumberFirst ? a : b, function, true);
  };
  if (expr.kind == Kind::Multiply)
    return product();
  if (expr.kind == Kind::Add) {
    std::string sum = toString(a, function) +
                      (b.isNumber() && b.value < 0 ? " - " + std::to_string(-b.value) : " + " + toString(b, function));
    return isFactor ? "(" + sum + ")" : sum;
  }
  return (expr.kind == Kind::FloorDivide ? "floor(" : "ceil(") + toString(a, function, true) + " / " +
         toString(b, function, true) + ")";
}

/// At the numbers of the sizes; std::nullopt where it is too large, or divided by other than a positive number.
static std::optional<int64_t> evaluate(const SizeExpr &expr, const std::vector<int64_t> &sizes) {
  if (expr.operands.empty())
    return expr.kind == SizeExpr::Kind::Size ? sizes[size_t(expr.value)] : expr.value;
  const std::optional<int64_t> left = evaluate(expr.operands[0], sizes), right = evaluate(expr.operands[1], sizes);
  if (!left || !right)
    return std::nullopt;
  const int64_t a = *left, b = *right;
  int64_t result = 0;
  switch (expr.kind) {
  case SizeExpr::Kind::Add:
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case SizeExpr::Kind::Multiply:
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case SizeExpr::Kind::FloorDivide:
    return b > 0 ? std::optional(a / b - (a % b < 0)) : std::nullopt;
  default:
    return b > 0 ? std::optional(a / b + (a % b > 0)) : std::nullopt;
  }
}

static Expected<int64_t> evaluateSize(const SizeExpr &size, const std::vector<int64_t> &sizes,
                                      const std::string &what) {
  const std::optional<int64_t> value = evaluate(size, sizes);
  if (!value || *value < 0)
    return invalid(what + " is negative or too large");
  return *value;
}

/// What a size is of one that is not known: `offset` + `factor` times that.
struct Linear {
  int64_t offset = 0, factor = 0;
};

/// Of size `unknown`; the other sizes that it has are known. std::nullopt if it is not linear, or too large.
static std::optional<Linear> findLinear(const SizeExpr &expr, size_t unknown, const std::vector<int64_t> &sizes) {
  using Kind = SizeExpr::Kind;
  if (expr.kind == Kind::Number)
    return Linear{expr.value, 0};
  if (expr.kind == Kind::Size)
    return size_t(expr.value) == unknown ? Linear{0, 1} : Linear{sizes[size_t(expr.value)], 0};
  std::optional<Linear> a = findLinear(expr.operands[0], unknown, sizes),
                        b = findLinear(expr.operands[1], unknown, sizes);
  if (!a || !b)
    return std::nullopt;
  Linear result;
  bool overflows = false;
  if (expr.kind == Kind::Add) {
    overflows |= __builtin_add_overflow(a->offset, b->offset, &result.offset);
    overflows |= __builtin_add_overflow(a->factor, b->factor, &result.factor);
  } else if (expr.kind == Kind::Multiply && (a->factor == 0 || b->factor == 0)) {
    if (a->factor != 0)
      std::swap(a, b);
    overflows |= __builtin_mul_overflow(a->offset, b->offset, &result.offset);
    overflows |= __builtin_mul_overflow(a->offset, b->factor, &result.factor);
  } else if (a->factor == 0 && b->factor == 0) {
    std::optional<int64_t> known = evaluate(expr, sizes);
    overflows = !known;
    result.offset = known.value_or(0);
  } else {
    return std::nullopt;
  }
  return overflows ? std::nullopt : std::optional(result);
}

/// The sizes in an expression that are not known yet.
static void collectUnknown(const SizeExpr &expr, const std::vector<int64_t> &sizes, std::set<size_t> &unknown) {
  if (expr.kind == SizeExpr::Kind::Size && sizes[size_t(expr.value)] < 0)
    unknown.insert(size_t(expr.value));
  for (const SizeExpr &operand : expr.operands)
    collectUnknown(operand, sizes, unknown);
}

/// Sets the size of the arena.
static Status setArena(EntryPoint &entry, const std::vector<int64_t> &sizes, const std::string &title) {
  constexpr int64_t most = int64_t(1) << 50;
  std::vector<int64_t> ends;
  for (const ArenaBuffer &buffer : entry.arena) {
    int64_t begin = 0;
    for (size_t before : buffer.after)
      begin = std::max(begin, ends[before]);
    const int64_t bytes = evaluate(buffer.bytes, sizes).value_or(-1);
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
  const std::string title = "function '" + function.name + "': ";
  std::vector<int64_t> sizes(function.sizes.size(), -1);
  std::vector<std::string> shownBy(sizes.size());
  struct GivenDim {
    const SizeExpr *size;
    int64_t given;
    std::string name;
  };
  std::vector<GivenDim> dims;
  for (size_t i = 0; i < shapes.size() && i < function.arguments.size(); ++i) {
    const ValueInfo &value = function.arguments[i];
    if (!shapes[i] || value.dims.empty())
      continue;
    if (shapes[i]->size() != value.dims.size())
      return invalid(title + "argument '" + value.name + "' has shape " + shapeString(*shapes[i]) + ", expected " +
                     std::to_string(value.dims.size()) + " dims");
    for (size_t d = 0; d < value.dims.size(); ++d)
      dims.push_back(
          {&value.dims[d].size, (*shapes[i])[d], "dim " + std::to_string(d) + " of argument '" + value.name + "'"});
  }
  // The dims that are a size.
  for (const GivenDim &dim : dims) {
    if (dim.size->kind != SizeExpr::Kind::Size)
      continue;
    const size_t number = size_t(dim.size->value);
    if (sizes[number] >= 0 && sizes[number] != dim.given)
      return invalid(title + dim.name + " is " + std::to_string(dim.given) + ", expected " +
                     std::to_string(sizes[number]) + ", as " + shownBy[number] + ": both are '" +
                     function.sizes[number].name + "'");
    sizes[number] = dim.given;
    shownBy[number] = dim.name;
  }
  // Dims from which one more size follows, such as 2 * b. Each round finds one.
  for (bool isFound = true; isFound;) {
    isFound = false;
    for (const GivenDim &dim : dims) {
      std::set<size_t> unknown;
      collectUnknown(*dim.size, sizes, unknown);
      std::optional<Linear> linear;
      if (unknown.size() == 1)
        linear = findLinear(*dim.size, *unknown.begin(), sizes);
      int64_t rest = 0;
      if (!linear || linear->factor == 0 || __builtin_sub_overflow(dim.given, linear->offset, &rest))
        continue;
      if (rest % linear->factor != 0 || rest / linear->factor < 0)
        return invalid(title + dim.name + " is " + std::to_string(dim.given) + ", expected " +
                       toString(*dim.size, function) + " for a size '" + function.sizes[*unknown.begin()].name + "'");
      sizes[*unknown.begin()] = rest / linear->factor;
      isFound = true;
    }
  }
  for (size_t number = 0; number < sizes.size(); ++number)
    if (sizes[number] < 0)
      return invalid(title + "size '" + function.sizes[number].name +
                     "' is not known, expected an argument with a dim of it");
  // The sums, products and known sizes.
  for (const GivenDim &dim : dims) {
    SK_ASSIGN_OR_RETURN(int64_t expected, evaluateSize(*dim.size, sizes, dim.name));
    if (expected != dim.given)
      return invalid(title + dim.name + " is " + std::to_string(dim.given) + ", expected " + std::to_string(expected) +
                     (dim.size->isNumber() ? "" : " (" + toString(*dim.size, function) + ")"));
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
    SK_ASSIGN_OR_RETURN(int64_t size, evaluateSize(dim.size, sizes, what + ", dim " + std::to_string(d)));
    int64_t padded = (size + dim.multiple - 1) / dim.multiple * dim.multiple, parts = 1;
    const bool isUneven = dim.size.isNumber() && std::none_of(dim.digits.begin(), dim.digits.end(),
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
