//===- DescribeFunction.cpp - Arguments and results in the manifest -------===//

#include "Describe.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::spmd;
namespace manifest = shardkit::manifest;

std::optional<std::string> spmd::dtypeName(Type type) {
  if (type.isF64())
    return "f64";
  if (type.isF32())
    return "f32";
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (type.isIndex() || type.isSignlessInteger(64))
    return "i64";
  if (type.isSignlessInteger(32))
    return "i32";
  if (type.isSignlessInteger(16))
    return "i16";
  if (type.isSignlessInteger(8))
    return "i8";
  if (type.isSignlessInteger(1))
    return "i1";
  if (auto complex = dyn_cast<ComplexType>(type))
    if (Type part = complex.getElementType(); part.isF32() || part.isF64())
      return part.isF32() ? "c64" : "c128";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// Digits of the flat index owned by rank digits, the rest loops. An uneven dim
/// is a loop over its chunk; what lies between uneven dims is taken at once.
static void describeExtents(const Layout &layout, manifest::Value &out) {
  int64_t n = layout.numElements();
  if (n == 0) {
    out.loops.push_back({0, 1, 1});
    return;
  }
  // (size, global stride) of the parts that stay local, major to minor.
  SmallVector<std::pair<int64_t, int64_t>> parts;
  auto describeEven = [&](int64_t top, int64_t bottom) {
    for (const Digit &digit : layout.digits) {
      int64_t lo = std::max(digit.lo, bottom), hi = std::min(digit.hi, top);
      if (lo >= hi)
        continue;
      if (top / hi > 1)
        parts.emplace_back(top / hi, hi);
      out.offset.push_back({digit.stride * (lo / digit.lo), hi / lo, lo});
      top = lo;
    }
    if (top > bottom)
      parts.emplace_back(top / bottom, bottom);
  };
  int64_t top = n, unit = n;
  for (auto [d, size] : llvm::enumerate(layout.shape)) {
    int64_t above = unit;
    unit /= size;
    for (const UnevenDim &dim : layout.uneven) {
      if (dim.dim != d)
        continue;
      describeEven(top, above);
      manifest::UnevenLoop &loop = out.uneven.emplace_back();
      loop.loop = parts.size();
      loop.size = size;
      for (const RankDigit &rank : dim.ranks)
        loop.ranks.push_back({rank.stride, rank.size});
      parts.emplace_back(dim.chunk(size), unit);
      top = unit;
    }
  }
  describeEven(top, 1);
  int64_t local = 1;
  for (auto [size, stride] : llvm::reverse(parts)) {
    out.loops.insert(out.loops.begin(), {size, stride, local});
    local *= size;
  }
}

/// Of what parts of a pipeline hand to one another.
static SlotAttr getValueSlot(DictionaryAttr attrs) {
  auto slot = attrs ? attrs.getAs<SlotAttr>(kSlotAttr) : SlotAttr();
  return slot && slot.isValue() ? slot : SlotAttr();
}

//===----------------------------------------------------------------------===//
// Pure data movement
//===----------------------------------------------------------------------===//

namespace {
/// Whether a value is computed by moving elements alone, so that a sharded and
/// an unsharded run must agree bit for bit.
struct Movement {
  DenseMap<Value, bool> memo;

  bool moves(Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>())
      return true;
    if (auto collective = dyn_cast<CollectiveOpInterface>(op))
      return !collective.getReduction();
    if (isa<UnrealizedConversionCastOp>(op)) // Of complex numbers, to what moves between devices.
      return true;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return llvm::all_of(linalgOp.getBlock()->without_terminator(),
                          [](Operation &inner) { return isa<arith::ConstantOp>(inner); }) &&
             linalgOp.getNumReductionLoops() == 0;
    return isa<tensor::TensorDialect>(op->getDialect()) && op->getNumRegions() == 0;
  }

  /// What another part of the pipeline writes into a slot; null where it is summed up.
  Value getWritten(func::FuncOp part, SlotAttr slot) {
    if (slot.getKind() != SlotKind::Value)
      return {};
    for (auto func : part->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
      if (func->getAttr(kScheduleAttr) == part->getAttr(kScheduleAttr) && !func.isExternal())
        for (unsigned i = 0; i < func.getNumResults(); ++i)
          if (func.getResultAttr(i, kSlotAttr) == slot)
            return func.getBody().back().getTerminator()->getOperand(i);
    return {};
  }

  bool exact(Value value) {
    SmallVector<Value> stack{value};
    SmallVector<Value> seen;
    bool result = true;
    while (!stack.empty() && result) {
      Value v = stack.pop_back_val();
      if (memo.contains(v)) {
        result &= memo[v];
        continue;
      }
      memo[v] = true;
      seen.push_back(v);
      Operation *op = v.getDefiningOp();
      if (!op) {
        // Block arguments of loops are computed.
        auto func = dyn_cast<func::FuncOp>(v.getParentBlock()->getParentOp());
        result = func != nullptr;
        if (!func)
          continue;
        if (SlotAttr slot = getValueSlot(func.getArgAttrDict(cast<BlockArgument>(v).getArgNumber()))) {
          Value made = getWritten(func, slot);
          result = made != nullptr;
          if (made)
            stack.push_back(made);
        }
        continue;
      }
      if (auto done = dyn_cast<DoneOp>(op)) { // as the collective that was started
        auto start = done.getInputs().front().getDefiningOp<StartOp>();
        stack.push_back(start.getBody().front().getTerminator()->getOperand(cast<OpResult>(v).getResultNumber()));
        continue;
      }
      result = moves(op);
      if (isa<IndexType>(v.getType()))
        result = true;
      else
        stack.append(op->operand_begin(), op->operand_end());
    }
    if (!result)
      for (Value v : seen)
        memo.erase(v);
    return result;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {
struct Describer {
  func::FuncOp func;
  const MeshCache &meshes;
  ArrayRef<LoadedArgument> loading;
  manifest::Function out;
  const Mesh *mesh = nullptr;
  /// By the place of an argument before it was split: the arguments that have parts of it.
  llvm::MapVector<int64_t, SmallVector<size_t, 4>> wholes;

  /// All shardings of a function are over views of one mesh.
  LogicalResult useMesh(const Mesh *other, Location loc) {
    if (!mesh) {
      mesh = other;
      return success();
    }
    if (mesh == other || mesh->sameDevices(*other))
      return success();
    return emitError(loc) << "meshes @" << mesh->name << " and @" << other->name
                          << " in one function have different devices, expected views of one mesh";
  }

  LogicalResult describeValue(Type localType, DictionaryAttr attrs, Location loc, manifest::Value &value) {
    auto element = getElementTypeOrSelf(localType);
    std::optional<std::string> dtype = dtypeName(element);
    auto tensor = dyn_cast<RankedTensorType>(localType);
    if (!dtype || (tensor && !tensor.hasStaticShape()) || (isa<ShapedType>(localType) && !tensor))
      return emitError(loc) << "'" << value.name << "' of function '" << func.getSymName() << "' has type " << localType
                            << ", expected a static tensor or scalar of f64, f32, f16, bf16, i64, "
                               "i32, i16, i8, i1, index, complex<f32> or complex<f64>";
    value.dtype = *dtype;
    ArrayRef<int64_t> local = getShape(localType);
    value.localShape.assign(local.begin(), local.end());
    Type globalType = localType;
    if (attrs)
      if (auto attr = attrs.getAs<TypeAttr>(kGlobalTypeAttr))
        globalType = attr.getValue();
    int64_t bytes = 16;
    for (int64_t size : getShape(globalType))
      if (llvm::MulOverflow(bytes, size, bytes))
        return emitError(loc) << "'" << value.name << "' of function '" << func.getSymName() << "' has type "
                              << globalType << ", expected fewer than 2^59 elements";
    ArrayRef<int64_t> global = getShape(globalType);
    value.globalShape.assign(global.begin(), global.end());
    Layout layout = Layout::replicated(global);
    if (auto attr = attrs ? attrs.getAs<ShardingAttr>(kShardingAttr) : ShardingAttr()) {
      FailureOr<ShardingOnMesh> read = meshes.read(attr, [&] { return emitError(loc); });
      if (failed(read) || failed(useMesh(read->mesh, loc)))
        return failure();
      if (auto error = verifySharding(read->sharding, *read->mesh, global, /*allowUneven=*/true))
        return emitError(loc) << error->message;
      layout = Layout::get(read->sharding, *read->mesh, global);
      if (!layout.partial.empty())
        return emitError(loc) << "'" << value.name
                              << "' is a partial value, expected none at the boundary of a public function";
      value.sharding = "<@" + read->mesh->name + ", " + toString(read->sharding, *read->mesh) + ">";
    }
    if (ArrayRef<int64_t>(layout.localShape()) != local)
      return emitError(loc) << "'" << value.name << "' has type " << localType
                            << ", expected the local shape of its sharding of " << globalType
                            << " (run --spmd-partition first)";
    describeExtents(layout, value);
    if (auto range = attrs ? attrs.getAs<ArrayAttr>(kRangeAttr) : ArrayAttr())
      if (range.size() == 2 && element.isIntOrIndex())
        if (auto lo = dyn_cast<IntegerAttr>(range[0]))
          if (auto hi = dyn_cast<IntegerAttr>(range[1])) {
            value.range = {lo.getValue().getSExtValue(), hi.getValue().getSExtValue()};
            unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
            // i1 is 0 or 1, the others are signed.
            int64_t least = bits == 1 ? 0 : llvm::minIntN(bits);
            int64_t most = bits == 1 ? 1 : llvm::maxIntN(bits);
            auto [low, high] = *value.range;
            if (low < least || high - 1 > most)
              return emitError(loc) << "range [" << low << ", " << high << "] of '" << value.name << "' does not fit "
                                    << *dtype << ", expected values from " << least << " to " << most;
          }
    return success();
  }

  /// An argument that is a part of a weight, or several side by side.
  void describeParts(unsigned i, DictionaryAttr attrs, manifest::Value &value) {
    SmallVector<std::pair<SegmentAttr, Type>> parts = getParts(attrs, func.getArgumentTypes()[i]);
    if (parts.empty())
      return;
    std::string places;
    for (auto [part, type] : parts)
      places += (places.empty() ? "" : ",") + std::to_string(part.getOffset()) + ":" +
                std::to_string(part.getOffset() + getShape(type)[part.getDim()]);
    for (const LoadedArgument &argument : loading)
      if (argument.function == out.name && argument.argument == i)
        value.load = argument.load;
    // Parts are weights of their own: a set that is cut ahead holds them under these names.
    value.name += "[" + places + "]";
    value.isPart = true;
    wholes[parts[0].first.getArgument()].push_back(out.arguments.size());
  }

  /// The reference takes what the function took before its arguments were split, and
  /// stored tensors in the place of parts.
  void describeReference() {
    if (wholes.empty())
      return;
    size_t numParts = 0;
    for (auto &[whole, parts] : wholes)
      numParts += parts.size();
    size_t next = 0;
    auto isPart = [&](size_t i) {
      return llvm::any_of(wholes, [&](auto &entry) { return llvm::is_contained(entry.second, i); });
    };
    for (size_t i = 0; i < out.arguments.size() - numParts + wholes.size(); ++i) {
      if (auto it = wholes.find(i); it != wholes.end()) {
        size_t first = it->second.front();
        size_t stored = out.arguments[first].load ? out.arguments[first].load->sources.size() : 0;
        for (size_t s = 0; s < stored; ++s)
          out.referenceArguments.push_back({int64_t(first), int64_t(s)});
        continue;
      }
      while (isPart(next))
        ++next;
      out.referenceArguments.push_back({int64_t(next++), -1});
    }
  }

  /// The slot of a value that parts of a pipeline hand to each other; null for others.
  LogicalResult describeSlot(SlotAttr slot, Type type, Location loc, manifest::Value &value) {
    value.name = slot.getName().str();
    if (failed(describeValue(type, {}, loc, value)))
      return failure();
    value.kind = "value";
    return success();
  }

  LogicalResult run() {
    out.name = func.getSymName().str();
    if (auto schedule = func->getAttrOfType<FlatSymbolRefAttr>(kScheduleAttr)) {
      out.partOf = schedule.getValue().str();
      mesh = meshes.lookup(func->getAttrOfType<FlatSymbolRefAttr>(kMeshAttr));
    }
    auto text = [](DictionaryAttr attrs, StringRef name) -> std::optional<std::string> {
      if (attrs)
        if (auto attr = attrs.getAs<StringAttr>(name))
          return attr.str();
      return std::nullopt;
    };
    llvm::StringSet<> inputs, results;
    for (unsigned i = 0; i < func.getNumArguments(); ++i) {
      DictionaryAttr attrs = func.getArgAttrDict(i);
      manifest::Value value;
      if (SlotAttr slot = getValueSlot(attrs)) {
        if (failed(describeSlot(slot, func.getArgumentTypes()[i], func.getArgument(i).getLoc(), value)))
          return failure();
        out.arguments.push_back(value);
        continue;
      }
      bool weight = bool(func.getArgAttr(i, kWeightAttr));
      value.kind = weight ? "weight" : "input";
      value.name = weight ? getWeightName(func, i) : text(attrs, kNameAttr).value_or("arg" + std::to_string(i));
      Location loc = func.getArgument(i).getLoc();
      if (failed(describeValue(func.getArgument(i).getType(), attrs, loc, value)))
        return failure();
      describeParts(i, attrs, value);
      // Two arguments may be parts of one stored weight.
      if (!weight && !inputs.insert(value.name).second)
        return emitError(loc) << "two inputs of function '" << func.getSymName() << "' are named '" << value.name
                              << "', expected distinct names";
      out.arguments.push_back(value);
    }
    describeReference();
    Movement movement;
    auto *ret = func.getBody().back().getTerminator();
    for (unsigned i = 0; i < func.getNumResults(); ++i) {
      DictionaryAttr attrs = func.getResultAttrDict(i);
      manifest::Value value;
      value.kind = "result";
      value.name = text(attrs, kNameAttr).value_or("result" + std::to_string(i));
      if (SlotAttr slot = getValueSlot(attrs)) {
        if (failed(describeSlot(slot, func.getResultTypes()[i], func.getLoc(), value)))
          return failure();
        if (auto tied = attrs.getAs<IntegerAttr>(kTiedAttr))
          value.tied = tied.getInt();
        out.results.push_back(value);
        continue;
      }
      if (failed(describeValue(func.getResultTypes()[i], attrs, func.getLoc(), value)))
        return failure();
      if (!results.insert(value.name).second)
        return func.emitError() << "two results of function '" << func.getSymName() << "' are named '" << value.name
                                << "', expected distinct names";
      if (auto tied = attrs ? attrs.getAs<IntegerAttr>(kTiedAttr) : IntegerAttr()) {
        if (tied.getInt() < 0 || tied.getInt() >= int64_t(func.getNumArguments()))
          return func.emitError() << "'spmd.tied' of result " << i << " names argument " << tied.getInt()
                                  << ", expected one of " << func.getNumArguments();
        value.tied = tied.getInt();
      }
      value.exact = movement.exact(ret->getOperand(i));
      out.results.push_back(value);
    }
    // Collectives, numbered densely.
    SmallVector<CollectiveOpInterface> ops = collectivesOf(func);
    bool dense = true;
    for (auto [i, op] : llvm::enumerate(ops))
      dense &= op.getCollectiveId() == std::optional<int64_t>(i);
    Builder builder(func.getContext());
    for (auto [i, op] : llvm::enumerate(ops)) {
      if (!dense)
        op->setAttr("id", builder.getI64IntegerAttr(i));
      const Mesh *m = meshes.lookupOrEmit(op.getFromMesh(), [&] { return op.emitError(); });
      if (!m || failed(useMesh(m, op.getLoc())))
        return failure();
      out.collectives.emplace_back();
      if (failed(describeCollective(op, meshes, out.collectives.back())))
        return failure();
    }
    func.walk([&](DeviceCoordinateOp op) {
      if (!mesh)
        mesh = meshes.lookup(op.getMeshAttr());
    });
    if (mesh) {
      out.mesh = mesh->name;
      out.devices = mesh->numDevices();
    }
    return success();
  }
};
} // namespace

SmallVector<std::pair<SegmentAttr, Type>> spmd::getParts(DictionaryAttr attrs, Type localType) {
  SmallVector<std::pair<SegmentAttr, Type>> parts;
  if (auto part = attrs ? attrs.getAs<SegmentAttr>(kSegmentAttr) : SegmentAttr()) {
    auto global = attrs.getAs<TypeAttr>(kGlobalTypeAttr);
    parts.emplace_back(part, global ? global.getValue() : localType);
  } else if (auto list = attrs ? attrs.getAs<ArrayAttr>(kSegmentsOfAttr) : ArrayAttr()) {
    for (auto own : list.getAsRange<DictionaryAttr>())
      parts.emplace_back(own.getAs<SegmentAttr>(kSegmentAttr), own.getAs<TypeAttr>(kGlobalTypeAttr).getValue());
  }
  return parts;
}

FailureOr<manifest::Function> spmd::describeFunction(func::FuncOp func, const MeshCache &meshes,
                                                     ArrayRef<LoadedArgument> loading) {
  Describer describer{func, meshes, loading, {}, nullptr, {}};
  if (failed(describer.run()))
    return failure();
  return std::move(describer.out);
}

LogicalResult spmd::describeValue(func::FuncOp func, Type localType, DictionaryAttr attrs, Location loc,
                                  const MeshCache &meshes, manifest::Value &value) {
  Describer describer{func, meshes, {}, {}, nullptr, {}};
  return describer.describeValue(localType, attrs, loc, value);
}
