//===- DescribeLoading.cpp - Loading functions in the manifest ------------===//

#include "Describe.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Loading/LoadingFunctions.h"

using namespace mlir;
using namespace mlir::spmd;
namespace rt = shardkit::rt;

std::optional<rt::DType> spmd::getStoredDType(Type type) {
  if (auto dtype = getDType(type))
    return dtype;
  if (isa<Float4E2M1FNType>(type))
    return rt::DType::U4; // its bits
  if (!isa<Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType, Float8E5M2FNUZType, Float8E8M0FNUType>(type) &&
      !type.isSignlessInteger(4))
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return rt::parseDType(text);
}

static rt::ExtentPiece describePiece(const CopyPiece &copied) {
  rt::ExtentPiece piece;
  piece.source = copied.source;
  piece.globalBase = copied.from;
  piece.localBase = copied.to;
  for (auto [rankStride, size, globalStride] : copied.offset)
    piece.extents.offset.push_back({rankStride, size, globalStride});
  for (auto [size, globalStride, localStride] : copied.loops)
    piece.extents.loops.push_back({size, globalStride, localStride});
  for (const CopyPiece::Chunk &chunk : copied.chunks) {
    rt::UnevenLoop loop{chunk.loop, chunk.size, {}, chunk.begin};
    for (const RankDigit &digit : chunk.ranks)
      loop.ranks.push_back({digit.stride, digit.size});
    piece.extents.uneven.push_back(std::move(loop));
  }
  return piece;
}

static rt::LoadOperand describeOperand(const ElementwiseLoad::Operand &operand) {
  rt::LoadOperand result;
  result.dtype = *getStoredDType(operand.type);
  result.shape.assign(operand.shape.begin(), operand.shape.end());
  for (int64_t size : operand.shape)
    result.elements *= size;
  for (const CopyPiece &copied : operand.pieces) {
    rt::ExtentPiece &piece = result.pieces.emplace_back(describePiece(copied));
    piece.source = copied.source == kNumbersSource ? -1 : int64_t(copied.source);
  }
  return result;
}

/// Adds a stored tensor; `attrs` are those of the argument that it is or that uses it.
static LogicalResult addSource(rt::LoadInfo &load, StringRef name, RankedTensorType type, DictionaryAttr attrs,
                               Location loc) {
  std::optional<rt::DType> dtype = getStoredDType(type.getElementType());
  if (!dtype)
    return emitError(loc) << "stored tensor '" << name << "' has type " << type
                          << ", expected elements of f64, f32, f16, bf16, an 8-bit float, f4E2M1FN, i64, "
                             "i32, i16, i8, i4 or i1";
  rt::LoadSource &source = load.sources.emplace_back();
  source.name = name.str();
  source.dtype = *dtype;
  source.shape.assign(type.getShape().begin(), type.getShape().end());
  if (auto range = attrs ? attrs.getAs<ArrayAttr>(kRangeAttr) : ArrayAttr();
      range && !isa<FloatType>(type.getElementType()))
    source.range = std::pair(cast<IntegerAttr>(range[0]).getInt(), cast<IntegerAttr>(range[1]).getInt());
  return success();
}

static LogicalResult describeSources(LoadedArgument &out, Attribute weight, func::FuncOp function, Location loc) {
  SmallVector<StringRef> names = getStoredNames(weight);
  if (names.size() != function.getNumArguments())
    return emitError(loc) << "'" << kWeightAttr << "' names " << names.size() << " stored tensors, expected "
                          << function.getNumArguments() << ", as @" << function.getName() << " takes";
  for (auto [i, name] : llvm::enumerate(names))
    if (failed(addSource(out.load, name, cast<RankedTensorType>(function.getArgumentTypes()[i]),
                         function.getArgAttrDict(i), loc)))
      return failure();
  return success();
}

/// Describes an argument that holds segments of one stored tensor.
static LogicalResult describeStoredSegments(LoadedArgument &out, func::FuncOp func, const MeshCache &meshes) {
  Location loc = func.getArgument(out.argument).getLoc();
  FailureOr<ArgumentLayout> layout = getArgumentLayout(func, out.argument, meshes);
  if (failed(layout) || failed(addSource(out.load, getWeightName(func, out.argument), layout->fullType,
                                         func.getArgAttrDict(out.argument), loc)))
    return failure();
  auto cut = layout->shard(Copies::ofSource(0, layout->fullType.getShape()));
  if (!cut)
    return emitError(loc) << "argument #" << out.argument << " of function '" << func.getName()
                          << "' is sharded along dims that its segments divide differently, "
                             "expected a sharding of each dim alone";
  for (const CopyPiece &piece : *cut)
    out.load.pieces.push_back(describePiece(piece));
  return success();
}

static rt::HostCall describeHostStep(const HostStep &step, rt::DType dtype) {
  rt::HostCall call;
  call.dtype = dtype;
  func::CallOp op = step.call;
  call.function = op.getCallee().str();
  call.shape.assign(step.type.getShape().begin(), step.type.getShape().end());
  for (Attribute extra : step.extras) {
    if (auto number = dyn_cast<IntegerAttr>(extra))
      call.extras.push_back(number.getValue().getSExtValue());
    else if (auto text = dyn_cast<StringAttr>(extra))
      call.extras.push_back(text.str());
    else
      call.extras.push_back(cast<FloatAttr>(extra).getValueAsDouble());
  }
  return call;
}

FailureOr<std::vector<LoadedArgument>> spmd::describeLoading(ModuleOp module, const MeshCache &meshes, bool pieces) {
  std::vector<LoadedArgument> arguments;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || func.isPrivate())
      continue;
    for (unsigned i = 0; i < func.getNumArguments(); ++i) {
      auto name = func.getArgAttrOfType<FlatSymbolRefAttr>(i, kLoadAttr);
      bool hasSegments = func.getArgAttr(i, kSegmentAttr) || func.getArgAttr(i, kSegmentsOfAttr);
      if (!name && !hasSegments)
        continue;
      Location loc = func.getArgument(i).getLoc();
      LoadedArgument out{func.getName().str(), i, {}, {}, {}};
      if (!name) {
        if (failed(describeStoredSegments(out, func, meshes)))
          return failure();
        arguments.push_back(std::move(out));
        continue;
      }
      out.loadFunction = module.lookupSymbol<func::FuncOp>(name.getAttr());
      if (auto shard = func.getArgAttrOfType<FlatSymbolRefAttr>(i, kShardFunctionAttr))
        out.shardFunction = module.lookupSymbol<func::FuncOp>(shard.getAttr());
      func::FuncOp function = out.loadFunction ? out.loadFunction : out.shardFunction;
      if (!function)
        return emitError(loc) << "loading function " << name << " of argument #" << i
                              << " is not in the module, expected it there";
      if (failed(describeSources(out, func.getArgAttr(i, kWeightAttr), function, loc)))
        return failure();
      FailureOr<ArgumentLayout> layout = getArgumentLayout(func, i, meshes);
      if (failed(layout))
        return failure();
      if (out.loadFunction) {
        FailureOr<SmallVector<HostStep>> steps = getHostSteps(out.loadFunction);
        if (failed(steps))
          return failure();
        if (!steps->empty()) {
          auto &calls = out.load.chain;
          for (const HostStep &step : *steps) {
            std::optional<rt::DType> dtype = getStoredDType(step.type.getElementType());
            if (!dtype)
              return emitError(step.call->getLoc())
                     << "host function gives " << step.type << ", expected a type that can be stored";
            calls.push_back(describeHostStep(step, *dtype));
          }
          out.loadFunction = {}; // cannot be compiled
          arguments.push_back(std::move(out));
          continue;
        }
        if (auto copies = pieces ? getCopies(out.loadFunction) : std::nullopt)
          if (auto cut = layout->shard(*copies)) {
            for (const CopyPiece &piece : *cut)
              out.load.pieces.push_back(describePiece(piece));
            if (hasSegments)
              out.loadFunction = {};
            arguments.push_back(std::move(out));
            continue;
          }
        if (hasSegments)
          out.loadFunction = {}; // the reference calls it
      }
      if (out.shardFunction && out.shardFunction->hasAttr(kElementwiseAttr)) {
        auto function = module.lookupSymbol<func::FuncOp>(name.getAttr());
        std::optional<ElementwiseLoad> load = function ? ElementwiseLoad::get(function, *layout) : std::nullopt;
        if (!load || load->getOperands().size() != out.shardFunction.getNumArguments())
          return emitError(loc) << "shard function @" << out.shardFunction.getName() << " of argument #" << i
                                << " does not belong to loading function " << name << ", expected that function in "
                                << "the module, as it was for --spmd-shard-functions";
        out.load.operands.emplace();
        for (const ElementwiseLoad::Operand &operand : load->getOperands())
          out.load.operands->push_back(describeOperand(operand));
      }
      if (!out.shardFunction)
        return emitError(loc) << "argument #" << i << " of function '" << func.getName()
                              << "' has no shard function, expected one; run "
                                 "--spmd-shard-functions";
      out.load.function.emplace();
      arguments.push_back(std::move(out));
    }
  }
  return arguments;
}
