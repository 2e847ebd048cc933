//===- DescribeFunction.cpp - Arguments and results in the manifest -------===//

#include "Describe.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Layout/MeshViews.h"
#include "shardkit/Layout/ReshardPlan.h"
#include "shardkit/Rules/SymbolicSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::spmd;
namespace rt = shardkit::rt;

std::optional<rt::DType> spmd::getDType(Type type) {
  if (type.isF64())
    return rt::DType::F64;
  if (type.isF32())
    return rt::DType::F32;
  if (type.isF16())
    return rt::DType::F16;
  if (type.isBF16())
    return rt::DType::BF16;
  if (type.isIndex() || type.isSignlessInteger(64))
    return rt::DType::I64;
  if (type.isSignlessInteger(32))
    return rt::DType::I32;
  if (type.isSignlessInteger(16))
    return rt::DType::I16;
  if (type.isSignlessInteger(8))
    return rt::DType::I8;
  if (type.isSignlessInteger(1))
    return rt::DType::I1;
  if (auto complex = dyn_cast<ComplexType>(type))
    if (Type component = complex.getElementType(); component.isF32() || component.isF64())
      return component.isF32() ? rt::DType::C64 : rt::DType::C128;
  return std::nullopt;
}

rt::ValueKind spmd::getArgumentKind(DictionaryAttr attrs) {
  if (attrs && attrs.get(kSizeAttr))
    return rt::ValueKind::Size;
  if (!attrs || !attrs.get(kWeightAttr))
    return rt::ValueKind::Input;
  return attrs.get(kConstantAttr) ? rt::ValueKind::Constant : rt::ValueKind::Weight;
}

int64_t spmd::addMesh(const Mesh &mesh, rt::Manifest &manifest) {
  for (auto [i, known] : llvm::enumerate(manifest.meshes))
    if (known.name == mesh.name)
      return i;
  rt::MeshInfo &added = manifest.meshes.emplace_back();
  added.name = mesh.name;
  for (const MeshAxis &axis : mesh.axes)
    added.axes.emplace_back(axis.name, axis.size);
  for (int64_t rank = 0; rank < mesh.numDevices(); ++rank)
    added.deviceIds.push_back(mesh.device(rank));
  return manifest.meshes.size() - 1;
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// Digits of the flat index that are rank digits; the other digits are loops. An uneven dim is a
/// loop over its chunk; the dims between uneven dims are one range of digits.
static void describeExtents(const Layout &layout, rt::Extents &out) {
  int64_t n = layout.numElements();
  if (n == 0) {
    out.loops.push_back({0, 1, 1});
    return;
  }
  // (size, global stride) of the local digits, major to minor.
  SmallVector<std::pair<int64_t, int64_t>> locals;
  auto describeEven = [&](int64_t top, int64_t bottom) {
    for (const Digit &digit : layout.digits) {
      int64_t lo = std::max(digit.lo, bottom), hi = std::min(digit.hi, top);
      if (lo >= hi)
        continue;
      if (top / hi > 1)
        locals.emplace_back(top / hi, hi);
      out.offset.push_back({digit.stride * (lo / digit.lo), hi / lo, lo});
      top = lo;
    }
    if (top > bottom)
      locals.emplace_back(top / bottom, bottom);
  };
  int64_t top = n, unit = n;
  for (auto [d, size] : llvm::enumerate(layout.shape)) {
    int64_t above = unit;
    unit /= size;
    for (const UnevenDim &dim : layout.uneven) {
      if (dim.dim != d)
        continue;
      describeEven(top, above);
      rt::UnevenLoop &loop = out.uneven.emplace_back();
      loop.loop = locals.size();
      loop.size = size;
      for (const RankDigit &rank : dim.ranks)
        loop.ranks.push_back({rank.stride, rank.size});
      locals.emplace_back(dim.chunk(size), unit);
      top = unit;
    }
  }
  describeEven(top, 1);
  int64_t local = 1;
  for (auto [size, stride] : llvm::reverse(locals)) {
    out.loops.insert(out.loops.begin(), {size, stride, local});
    local *= size;
  }
}

rt::SizeExpr spmd::getSizeExpr(AffineExpr size) {
  using Kind = rt::SizeExpr::Kind;
  if (auto constant = dyn_cast<AffineConstantExpr>(size))
    return {Kind::Number, constant.getValue(), {}};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(size))
    return {Kind::Size, symbol.getPosition(), {}};
  auto binary = cast<AffineBinaryOpExpr>(size);
  const AffineExpr a = binary.getLHS(), b = binary.getRHS();
  auto make = [](Kind kind, rt::SizeExpr a, rt::SizeExpr b) {
    return rt::SizeExpr{kind, 0, {std::move(a), std::move(b)}};
  };
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return make(Kind::Add, getSizeExpr(a), getSizeExpr(b));
  case AffineExprKind::Mul:
    return make(Kind::Multiply, getSizeExpr(a), getSizeExpr(b));
  case AffineExprKind::FloorDiv:
    return make(Kind::FloorDivide, getSizeExpr(a), getSizeExpr(b));
  case AffineExprKind::CeilDiv:
    return make(Kind::CeilDivide, getSizeExpr(a), getSizeExpr(b));
  default: // a mod b = a - b * floor(a / b)
    const rt::SizeExpr multiple =
        make(Kind::Multiply, getSizeExpr(b), make(Kind::FloorDivide, getSizeExpr(a), getSizeExpr(b)));
    return make(Kind::Add, getSizeExpr(a), make(Kind::Multiply, multiple, {Kind::Number, -1, {}}));
  }
}

/// The slot of a value that fragments of a pipeline exchange; null for other slots.
static SlotAttr getValueSlot(DictionaryAttr attrs) {
  auto slot = attrs ? attrs.getAs<SlotAttr>(kSlotAttr) : SlotAttr();
  return slot && slot.isValue() ? slot : SlotAttr();
}

//===----------------------------------------------------------------------===//
// Pure data movement
//===----------------------------------------------------------------------===//

bool spmd::onlyMovesElements(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return !collective.getReduction();
  if (isa<UnrealizedConversionCastOp>(op)) // Complex numbers are cast to the type that moves between devices.
    return true;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return llvm::all_of(linalgOp.getBlock()->without_terminator(),
                        [](Operation &inner) { return isa<arith::ConstantOp>(inner); }) &&
           linalgOp.getNumReductionLoops() == 0;
  return isa<tensor::TensorDialect>(op->getDialect()) && op->getNumRegions() == 0;
}

namespace {
/// Whether a value is computed by moving elements alone, so that a sharded and
/// an unsharded run must agree bit for bit.
struct Movement {
  DenseMap<Value, bool> memo;

  /// The value that another fragment of the pipeline writes to a slot; null for a sum.
  Value getWritten(func::FuncOp fragment, SlotAttr slot) {
    if (slot.getKind() != SlotKind::Value)
      return {};
    for (auto func : fragment->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
      if (func->getAttr(kScheduleAttr) == fragment->getAttr(kScheduleAttr) && !func.isExternal())
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
      result = onlyMovesElements(op);
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
/// Describes a partitioned function. Example: argument `%x: tensor<4x16xf32>` with global type
/// tensor<8x16xf32> and sharding [{"data"}, {}] on a mesh data=2, model=2 gets local_shape [4, 16]
/// and the extents offset [[2, 2, 64]] (rank digit "data", stride 2, size 2, 64 elements apart) and
/// loops [[64, 1, 1]].
struct Describer {
  func::FuncOp func;
  const MeshCache &meshes;
  ArrayRef<LoadedArgument> loading;
  rt::Manifest &manifest;
  rt::FunctionInfo out;
  const Mesh *mesh = nullptr;
  /// True if shardings may be on meshes that list the devices of `mesh` in another order (BoundaryOrder.h).
  bool isReordered = false;
  /// By the index of an argument before it was split into segments: the arguments that hold them.
  llvm::MapVector<int64_t, SmallVector<size_t, 4>> segmented;

  /// All shardings of a function are over views of one mesh.
  LogicalResult useMesh(const Mesh *other, Location loc);
  /// `probe`, if not null, is of the value, which may be partial.
  LogicalResult describeValue(Type localType, DictionaryAttr attrs, Location loc, rt::ValueInfo &value,
                              rt::ProbeInfo *probe = nullptr);
  /// Describes the dims of a value of which a size is not known.
  LogicalResult describeDims(AffineMap sizes, ShardingAttr attr, Location loc, rt::ValueInfo &value);
  void describeSize(unsigned i);
  /// The range of random integers.
  static LogicalResult describeRange(Type element, DictionaryAttr attrs, Location loc, rt::ValueInfo &value);

  /// Describes an argument that holds one or several segments of a weight.
  void describeSegments(unsigned i, DictionaryAttr attrs, rt::ValueInfo &value);

  /// The arguments of the reference: those of the function before its arguments were split into
  /// segments, with stored tensors instead of segmented ones.
  void describeReference();

  /// The values that are compared with those of the unsharded counterpart.
  LogicalResult describeProbes();

  /// Describes a value that fragments of a pipeline exchange.
  LogicalResult describeSlot(SlotAttr slot, Type type, Location loc, rt::ValueInfo &value);
  LogicalResult run();
};

LogicalResult Describer::useMesh(const Mesh *other, Location loc) {
  if (!mesh) {
    mesh = other;
    return success();
  }
  if (mesh == other || mesh->sameDevices(*other))
    return success();
  if (ShardingError error; isReordered)
    if (auto views = MeshViews::get({mesh, other}, error); views && views->isReordered(1))
      return success();
  return emitError(loc) << "meshes @" << mesh->name << " and @" << other->name
                        << " in one function have different devices, expected views of one mesh";
}

LogicalResult Describer::describeDims(AffineMap sizes, ShardingAttr attr, Location loc, rt::ValueInfo &value) {
  Sharding sharding;
  const Mesh *valueMesh = nullptr;
  if (attr) {
    FailureOr<ShardingOnMesh> read = meshes.read(attr, [&] { return emitError(loc); });
    if (failed(read) || failed(useMesh(read->mesh, loc)))
      return failure();
    valueMesh = read->mesh;
    sharding = std::move(read->sharding);
    value.sharding = "<@" + valueMesh->name + ", " + toString(sharding, *valueMesh) + ">";
  }
  for (auto [d, size] : llvm::enumerate(sizes.getResults())) {
    rt::DimInfo &dim = value.dims.emplace_back();
    dim.size = getSizeExpr(size);
    for (const DimEntry &entry : attr ? ArrayRef<DimEntry>(sharding.dims[d].entries) : ArrayRef<DimEntry>()) {
      if (entry.isStride()) {
        dim.digits.push_back({0, entry.size});
        continue;
      }
      auto [stride, extent] = getRankDigit(entry, *valueMesh);
      dim.digits.push_back({stride, extent});
    }
    if (auto symbol = dyn_cast<AffineSymbolExpr>(size); symbol && !dim.digits.empty())
      if (auto padded = func.getArgAttrOfType<IntegerAttr>(getSizeArguments(func)[symbol.getPosition()].getArgNumber(),
                                                           kPaddedToAttr))
        dim.multiple = padded.getInt();
  }
  return success();
}

/// Describes the size that argument `i` is.
void Describer::describeSize(unsigned i) {
  auto name = func.getArgAttrOfType<StringAttr>(i, kSizeAttr);
  if (!name)
    return;
  rt::SizeInfo &size = out.sizes.emplace_back();
  size.name = name.str();
  size.argument = i;
  if (auto bound = func.getArgAttrOfType<ArrayAttr>(i, kBoundAttr)) {
    size.least = cast<IntegerAttr>(bound[0]).getInt();
    size.most = cast<IntegerAttr>(bound[1]).getInt();
  }
  if (auto multiple = func.getArgAttrOfType<IntegerAttr>(i, kMultipleAttr))
    size.multiple = multiple.getInt();
}

LogicalResult Describer::describeValue(Type localType, DictionaryAttr attrs, Location loc, rt::ValueInfo &value,
                                       rt::ProbeInfo *probe) {
  auto element = getElementTypeOrSelf(localType);
  std::optional<rt::DType> dtype = getDType(element);
  auto tensor = dyn_cast<RankedTensorType>(localType);
  auto sizes = attrs ? attrs.getAs<AffineMapAttr>(kGlobalSizesAttr) : AffineMapAttr();
  const bool isSized = sizes && tensor && !tensor.hasStaticShape();
  if (!dtype || (tensor && !tensor.hasStaticShape() && !isSized) || (isa<ShapedType>(localType) && !tensor))
    return emitError(loc) << "'" << value.name << "' of function '" << func.getSymName() << "' has type " << localType
                          << ", expected a static tensor or scalar of f64, f32, f16, bf16, i64, "
                             "i32, i16, i8, i1, index, complex<f32> or complex<f64>";
  value.dtype = *dtype;
  if (isSized)
    return failure(failed(describeDims(sizes.getValue(), attrs.getAs<ShardingAttr>(kShardingAttr), loc, value)) ||
                   failed(describeRange(element, attrs, loc, value)));
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
  const Mesh *valueMesh = nullptr;
  if (auto attr = attrs ? attrs.getAs<ShardingAttr>(kShardingAttr) : ShardingAttr()) {
    FailureOr<ShardingOnMesh> read = meshes.read(attr, [&] { return emitError(loc); });
    if (failed(read) || failed(useMesh(read->mesh, loc)))
      return failure();
    valueMesh = read->mesh;
    if (auto error = verifySharding(read->sharding, *read->mesh, global, /*allowUneven=*/true))
      return emitError(loc) << error->message;
    layout = Layout::get(read->sharding, *read->mesh, global);
    if (probe && !layout.partial.empty()) {
      probe->reduction = *rt::parseReduction(std::string_view(stringifyReductionKind(layout.partialKind)));
      for (const RankDigit &digit : layout.partial)
        probe->partial.push_back({digit.stride, digit.size});
    } else if (!layout.partial.empty())
      return emitError(loc) << "'" << value.name
                            << "' is a partial value, expected none at the boundary of a public function";
    value.sharding = "<@" + read->mesh->name + ", " + toString(read->sharding, *read->mesh) + ">";
  }
  if (ArrayRef<int64_t>(layout.localShape()) != local)
    return emitError(loc) << "'" << value.name << "' has type " << localType
                          << ", expected the local shape of its sharding of " << globalType
                          << " (run --spmd-partition first)";
  describeExtents(layout, value.extents);
  if (valueMesh && !mesh->sameDevices(*valueMesh)) {
    SmallVector<int64_t> order = *rankOrder(*mesh, *valueMesh);
    value.extents.order.assign(order.begin(), order.end());
  }
  return describeRange(element, attrs, loc, value);
}

LogicalResult Describer::describeRange(Type element, DictionaryAttr attrs, Location loc, rt::ValueInfo &value) {
  if (auto range = attrs ? attrs.getAs<ArrayAttr>(kRangeAttr) : ArrayAttr())
    if (range.size() == 2 && element.isIntOrIndex())
      if (auto lo = dyn_cast<IntegerAttr>(range[0]))
        if (auto hi = dyn_cast<IntegerAttr>(range[1])) {
          value.range = std::pair(lo.getValue().getSExtValue(), hi.getValue().getSExtValue());
          unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
          // i1 is 0 or 1, the others are signed.
          int64_t min = bits == 1 ? 0 : llvm::minIntN(bits);
          int64_t max = bits == 1 ? 1 : llvm::maxIntN(bits);
          auto [low, high] = *value.range;
          if (low < min || high - 1 > max)
            return emitError(loc) << "range [" << low << ", " << high << "] of '" << value.name << "' does not fit "
                                  << rt::dtypeName(value.dtype) << ", expected values from " << min << " to " << max;
        }
  return success();
}

void Describer::describeSegments(unsigned i, DictionaryAttr attrs, rt::ValueInfo &value) {
  SmallVector<std::pair<SegmentAttr, Type>> segments = getSegments(attrs, func.getArgumentTypes()[i]);
  if (segments.empty())
    return;
  std::string ranges;
  for (auto [segment, type] : segments)
    ranges += (ranges.empty() ? "" : ",") + std::to_string(segment.getOffset()) + ":" +
              std::to_string(segment.getOffset() + segment.getSize(cast<ShapedType>(type)));
  for (const LoadedArgument &argument : loading)
    if (argument.function == out.name && argument.argument == i)
      value.load = argument.load;
  // Each argument is a weight: a presharded set holds it under this name.
  value.name += "[" + ranges + "]";
  value.isSegmented = true;
  segmented[segments[0].first.getArgument()].push_back(out.arguments.size());
}

void Describer::describeReference() {
  if (segmented.empty())
    return;
  size_t numSegmented = 0;
  for (auto &[original, arguments] : segmented)
    numSegmented += arguments.size();
  size_t next = 0;
  auto isSegmented = [&](size_t i) {
    return llvm::any_of(segmented, [&](auto &entry) { return llvm::is_contained(entry.second, i); });
  };
  for (size_t i = 0; i < out.arguments.size() - numSegmented + segmented.size(); ++i) {
    if (auto it = segmented.find(i); it != segmented.end()) {
      size_t first = it->second.front();
      size_t stored = out.arguments[first].load ? out.arguments[first].load->sources.size() : 0;
      for (size_t s = 0; s < stored; ++s)
        out.referenceArguments.push_back({first, int64_t(s)});
      continue;
    }
    while (isSegmented(next))
      ++next;
    out.referenceArguments.push_back({next++, -1});
  }
}

LogicalResult Describer::describeSlot(SlotAttr slot, Type type, Location loc, rt::ValueInfo &value) {
  value.name = slot.getName().str();
  if (failed(describeValue(type, {}, loc, value)))
    return failure();
  value.kind = rt::ValueKind::Value;
  return success();
}

LogicalResult Describer::describeProbes() {
  auto name = func->getAttrOfType<FlatSymbolRefAttr>(kUnshardedAttr);
  auto unsharded = name ? func->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(name.getAttr()) : func::FuncOp();
  if (!name)
    return success();
  if (!unsharded)
    return func.emitError() << "'spmd.unsharded' is " << name << ", expected a function of the module";
  std::vector<double> rounding = estimateProbeRounding(unsharded);
  std::vector<ProbePath> paths = tracePaths(func);
  SmallVector<ProbeOp> probes = getProbes(func), others = getProbes(unsharded);
  for (auto [id, probe] : llvm::enumerate(probes)) {
    if (int64_t(probe.getId()) != int64_t(id) || id >= others.size() || others[id].getId() != probe.getId())
      return probe.emitError() << "is number " << probe.getId() << ", expected " << id << ", and one of this number in "
                               << name;
    rt::ProbeInfo &info = out.probes.emplace_back();
    info.value.kind = rt::ValueKind::Result;
    info.value.name = probe.getName().str();
    info.producer = probe.getProducer().str();
    info.loc = getLocationText(probe.getLoc());
    // A function without a mesh has full values.
    NamedAttrList attrs;
    if (probe.getShardingAttr()) {
      attrs.set(kShardingAttr, probe.getShardingAttr());
      attrs.set(kGlobalTypeAttr, probe.getGlobalTypeAttr());
    }
    if (failed(describeValue(probe.getInput().getType(), attrs.getDictionary(func.getContext()), probe.getLoc(),
                             info.value, &info)))
      return failure();
    info.value.rounding = id < rounding.size() ? rounding[id] : 0;
    info.inputs = std::move(paths[id].inputs);
    info.collectives = std::move(paths[id].collectives);
  }
  if (others.size() != probes.size())
    return func.emitError() << "function has " << probes.size() << " probes, expected " << others.size() << ", as "
                            << name;
  return success();
}

LogicalResult Describer::run() {
  out.name = func.getSymName().str();
  if (func->hasAttr(kScheduleAttr))
    mesh = meshes.lookup(func->getAttrOfType<FlatSymbolRefAttr>(kMeshAttr));
  if (auto name = func->getAttrOfType<FlatSymbolRefAttr>(kRankMeshAttr)) {
    mesh = meshes.lookup(name);
    isReordered = true;
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
    rt::ValueInfo value;
    if (SlotAttr slot = getValueSlot(attrs)) {
      if (failed(describeSlot(slot, func.getArgumentTypes()[i], func.getArgument(i).getLoc(), value)))
        return failure();
      out.arguments.push_back(value);
      continue;
    }
    bool weight = bool(func.getArgAttr(i, kWeightAttr));
    value.kind = getArgumentKind(attrs);
    value.name = weight ? getWeightName(func, i) : text(attrs, kNameAttr).value_or("arg" + std::to_string(i));
    if (std::optional<std::string> size = text(attrs, kSizeAttr))
      value.name = *size;
    Location loc = func.getArgument(i).getLoc();
    if (failed(describeValue(func.getArgument(i).getType(), attrs, loc, value)))
      return failure();
    describeSegments(i, attrs, value);
    describeSize(i);
    // Two arguments may be segments of one stored weight.
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
    rt::ValueInfo value;
    value.kind = rt::ValueKind::Result;
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
  if (failed(describeProbes()))
    return failure();
  if (mesh) {
    out.mesh = addMesh(*mesh, manifest);
    out.devices = mesh->numDevices();
  }
  return success();
}
} // namespace

SmallVector<std::pair<SegmentAttr, Type>> spmd::getSegments(DictionaryAttr attrs, Type localType) {
  SmallVector<std::pair<SegmentAttr, Type>> segments;
  if (auto segment = attrs ? attrs.getAs<SegmentAttr>(kSegmentAttr) : SegmentAttr()) {
    auto global = attrs.getAs<TypeAttr>(kGlobalTypeAttr);
    segments.emplace_back(segment, global ? global.getValue() : localType);
  } else if (auto list = attrs ? attrs.getAs<ArrayAttr>(kSegmentsOfAttr) : ArrayAttr()) {
    for (auto entry : list.getAsRange<DictionaryAttr>())
      segments.emplace_back(entry.getAs<SegmentAttr>(kSegmentAttr), entry.getAs<TypeAttr>(kGlobalTypeAttr).getValue());
  }
  return segments;
}

FailureOr<rt::FunctionInfo> spmd::describeFunction(func::FuncOp func, const MeshCache &meshes,
                                                   ArrayRef<LoadedArgument> loading, rt::Manifest &manifest) {
  Describer describer{func, meshes, loading, manifest, {}, nullptr, false, {}};
  if (failed(describer.run()))
    return failure();
  return std::move(describer.out);
}

LogicalResult spmd::describeValue(func::FuncOp func, Type localType, DictionaryAttr attrs, Location loc,
                                  const MeshCache &meshes, rt::ValueInfo &value) {
  rt::Manifest unused;
  Describer describer{func, meshes, {}, unused, {}, nullptr, false, {}};
  return describer.describeValue(localType, attrs, loc, value);
}
