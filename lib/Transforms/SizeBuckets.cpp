//===- SizeBuckets.cpp - A function for each bucket of sizes --------------===//

#include "SizeOptions.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Dialect/SPMD/IR/Verification.h"
#include "shardkit/Passes.h"
#include "shardkit/Rules/SymbolicSizes.h"
#include "shardkit/Support/Names.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDSIZEBUCKETSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// More functions than this take longer to compile than their layouts can gain.
static constexpr size_t kMostBuckets = 64;

namespace {

/// The largest sizes of the buckets of each size, rising.
using Limits = llvm::MapVector<StringAttr, SmallVector<int64_t>>;

/// Splits one function.
class SizeBuckets {
public:
  SizeBuckets(func::FuncOp func, SymbolTable &symbols) : func(func), symbols(symbols), b(func.getContext()) {}

  /// Replaces the function by one for each combination of buckets.
  LogicalResult split(const Limits &given);
  /// The names of its sizes.
  const llvm::SetVector<StringAttr> &getNames();

private:
  /// The least and the largest size, kLargestSize if it is not bounded.
  std::pair<int64_t, int64_t> getBound(StringAttr name) const;
  LogicalResult verify(const Limits &limits);
  /// Narrows the bound of one size to the bucket that ends at `limits[number]`, or after all of these.
  void narrow(func::FuncOp bucket, StringAttr name, ArrayRef<int64_t> limits, size_t number, std::string &condition);
  static void set(func::FuncOp bucket, StringRef attr, StringAttr name, Attribute value);

  func::FuncOp func;
  SymbolTable &symbols;
  Builder b;
  llvm::SetVector<StringAttr> names;
};

struct SizeBucketsPass : public spmd::impl::SPMDSizeBucketsPassBase<SizeBucketsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyInput(module, Phase::Final, getArgument())))
      return signalPassFailure();
    if (getPhase(module) > int(Phase::Annotated))
      return;
    Limits given;
    if (failed(readLimits(given)))
      return signalPassFailure();
    llvm::SetVector<StringAttr> known;
    SymbolTable symbols(module);
    for (auto func : llvm::to_vector(module.getOps<func::FuncOp>())) {
      if (func.isExternal() || !func.isPublic())
        continue;
      SizeBuckets buckets(func, symbols);
      known.insert_range(buckets.getNames());
      if (failed(buckets.split(given)))
        return signalPassFailure();
    }
    SmallVector<StringRef> names(llvm::map_range(known, [](StringAttr name) { return name.getValue(); }));
    for (auto &[name, limits] : given)
      if (!known.contains(name)) {
        emitError(module.getLoc()) << "bucket '" << name.getValue() << "=" << limits.front()
                                   << "' names a size that no argument has, expected one of "
                                   << nearestNames(name.getValue(), names);
        return signalPassFailure();
      }
  }

private:
  LogicalResult readLimits(Limits &limits) {
    for (StringRef bucket : buckets) {
      FailureOr<std::pair<StringRef, int64_t>> given = readSizeOption(getOperation().getLoc(), "bucket", bucket);
      if (failed(given))
        return failure();
      limits[StringAttr::get(&getContext(), given->first)].push_back(given->second);
    }
    for (auto &[name, sizes] : limits) {
      llvm::sort(sizes);
      sizes.erase(llvm::unique(sizes), sizes.end());
    }
    return success();
  }
};

} // namespace

const llvm::SetVector<StringAttr> &SizeBuckets::getNames() {
  for (BlockArgument size : getSizeArguments(func))
    names.insert(func.getArgAttrOfType<StringAttr>(size.getArgNumber(), kSizeAttr));
  if (!names.empty())
    return names;
  for (BlockArgument arg : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    for (int64_t d = 0; type && d < type.getRank(); ++d)
      if (type.isDynamicDim(d))
        names.insert_range(getDimSymbols(func, arg.getArgNumber(), d).names);
  }
  return names;
}

LogicalResult SizeBuckets::split(const Limits &given) {
  if (!getSizeArguments(func).empty()) // After --spmd-size-arguments it is a bucket, or has none.
    return success();
  Limits limits;
  auto own = func->getAttrOfType<DictionaryAttr>(kBucketsAttr);
  for (NamedAttribute each : own ? own.getValue() : ArrayRef<NamedAttribute>())
    for (auto limit : cast<ArrayAttr>(each.getValue()).getAsRange<IntegerAttr>())
      limits[each.getName()].push_back(limit.getInt());
  for (auto &[name, sizes] : given)
    if (getNames().contains(name))
      limits[name] = sizes;
  if (limits.empty())
    return success();
  if (failed(verify(limits)))
    return failure();
  // The last bucket is that of what is larger, unless nothing is.
  SmallVector<size_t> counts;
  size_t count = 1;
  for (auto &[name, sizes] : limits)
    count *= counts.emplace_back(sizes.size() + (getBound(name).second != sizes.back()));
  if (count > kMostBuckets)
    return func.emitError() << "function '" << func.getSymName() << "' has " << count
                            << " combinations of buckets, expected at most " << kMostBuckets;
  func->removeAttr(kBucketsAttr);
  for (size_t bucket = 0; bucket < count; ++bucket) {
    func::FuncOp copy = func.clone();
    std::string condition;
    size_t digit = bucket;
    for (auto [each, size] : llvm::zip_equal(limits, counts)) {
      narrow(copy, each.first, each.second, digit % size, condition);
      digit /= size;
    }
    copy->setAttr(kBucketOfAttr, func.getSymNameAttr());
    copy.setSymName((func.getSymName() + "[" + condition + "]").str());
    symbols.insert(copy, func->getIterator());
  }
  symbols.erase(func);
  return success();
}

std::pair<int64_t, int64_t> SizeBuckets::getBound(StringAttr name) const {
  auto bounds = func->getAttrOfType<DictionaryAttr>(kBoundsAttr);
  auto bound = bounds ? dyn_cast_or_null<ArrayAttr>(bounds.get(name)) : ArrayAttr();
  if (!bound)
    return {0, kLargestSize};
  return {cast<IntegerAttr>(bound[0]).getInt(), cast<IntegerAttr>(bound[1]).getInt()};
}

LogicalResult SizeBuckets::verify(const Limits &limits) {
  SmallVector<StringRef> known(llvm::map_range(names, [](StringAttr name) { return name.getValue(); }));
  for (auto &[name, sizes] : limits) {
    if (!names.contains(name))
      return func.emitError() << kBucketsAttr << " names a size '" << name.getValue()
                              << "' that no argument has, expected one of " << nearestNames(name.getValue(), known);
    auto [least, most] = getBound(name);
    for (int64_t size : sizes)
      if (size < least || size > most)
        return func.emitError() << "size '" << name.getValue() << "' has a bucket up to " << size
                                << ", expected one within its bounds [" << least << ", " << most << "]";
  }
  if (auto uses = SymbolTable::getSymbolUses(func, func->getParentOp()); !uses || !uses->empty())
    return func.emitError() << "function '" << func.getSymName()
                            << "' has buckets and is used by another function, expected one that only the run calls";
  return success();
}

void SizeBuckets::narrow(func::FuncOp bucket, StringAttr name, ArrayRef<int64_t> limits, size_t number,
                         std::string &condition) {
  auto [least, most] = getBound(name);
  const bool isLast = number == limits.size();
  int64_t low = number ? limits[number - 1] + 1 : least;
  int64_t high = isLast ? most : limits[number];
  set(bucket, kBoundsAttr, name, b.getI64ArrayAttr({low, high}));
  // Layouts are chosen for the largest size, as it is the one that costs the most, unless a likely one lies here.
  auto hints = func->getAttrOfType<DictionaryAttr>(kHintsAttr);
  auto hint = hints ? dyn_cast_or_null<IntegerAttr>(hints.get(name)) : IntegerAttr();
  const bool isLikely = hint && hint.getInt() >= low && hint.getInt() <= high;
  set(bucket, kHintsAttr, name, isLikely ? hint : b.getI64IntegerAttr(high == kLargestSize ? low : high));
  condition +=
      (condition.empty() ? "" : ",") + name.str() + (isLast ? ">=" + std::to_string(low) : "<=" + std::to_string(high));
}

void SizeBuckets::set(func::FuncOp bucket, StringRef attr, StringAttr name, Attribute value) {
  auto known = bucket->getAttrOfType<DictionaryAttr>(attr);
  NamedAttrList entries(known);
  entries.set(name, value);
  bucket->setAttr(attr, entries.getDictionary(bucket.getContext()));
}
