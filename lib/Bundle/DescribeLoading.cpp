//===- DescribeLoading.cpp - Loading functions in the manifest ------------===//

#include "Describe.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Loading/LoadingFunctions.h"

using namespace mlir;
using namespace mlir::spmd;
namespace manifest = shardkit::manifest;

std::optional<std::string> spmd::storedTypeName(Type type) {
  if (auto name = dtypeName(type))
    return name;
  if (!isa<Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType, Float8E5M2FNUZType, Float8E8M0FNUType>(type) &&
      !type.isSignlessInteger(4))
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static manifest::Piece describePiece(const CopyPiece &copied) {
  manifest::Piece piece;
  piece.source = copied.source;
  piece.base = {copied.from, copied.to};
  piece.offset.assign(copied.offset.begin(), copied.offset.end());
  piece.loops.assign(copied.loops.begin(), copied.loops.end());
  for (const CopyPiece::Chunk &chunk : copied.chunks) {
    manifest::UnevenLoop loop{chunk.loop, chunk.size, {}, chunk.begin};
    for (const RankDigit &digit : chunk.ranks)
      loop.ranks.push_back({digit.stride, digit.size});
    piece.uneven.push_back(std::move(loop));
  }
  return piece;
}

/// A stored tensor; `attrs` are of the argument that it is or that makes use of it.
static LogicalResult addSource(manifest::Load &load, StringRef name, RankedTensorType type, DictionaryAttr attrs,
                               Location loc) {
  std::optional<std::string> dtype = storedTypeName(type.getElementType());
  if (!dtype)
    return emitError(loc) << "stored tensor '" << name << "' has type " << type
                          << ", expected elements of f64, f32, f16, bf16, an 8-bit float, i64, "
                             "i32, i16, i8, i4 or i1";
  manifest::Load::Source &source = load.sources.emplace_back();
  source.name = name.str();
  source.dtype = *dtype;
  source.shape.assign(type.getShape().begin(), type.getShape().end());
  if (auto range = attrs ? attrs.getAs<ArrayAttr>(kRangeAttr) : ArrayAttr();
      range && !isa<FloatType>(type.getElementType()))
    source.range = {cast<IntegerAttr>(range[0]).getInt(), cast<IntegerAttr>(range[1]).getInt()};
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

/// An argument that holds parts of one stored tensor.
static LogicalResult describeParts(LoadedArgument &out, func::FuncOp func, const MeshCache &meshes) {
  Location loc = func.getArgument(out.argument).getLoc();
  FailureOr<ArgumentLayout> layout = getArgumentLayout(func, out.argument, meshes);
  if (failed(layout) || failed(addSource(out.load, getWeightName(func, out.argument), layout->fullType,
                                         func.getArgAttrDict(out.argument), loc)))
    return failure();
  auto cut = layout->shard(Copies::ofSource(0, layout->fullType.getShape()));
  if (!cut)
    return emitError(loc) << "argument #" << out.argument << " of function '" << func.getName()
                          << "' is cut along dims that its parts divide differently, expected a "
                             "cut of each dim alone";
  for (const CopyPiece &piece : *cut)
    out.load.pieces.push_back(describePiece(piece));
  return success();
}

static manifest::Load::HostCall describeHostStep(const HostStep &step) {
  manifest::Load::HostCall call;
  func::CallOp op = step.call;
  call.function = op.getCallee().str();
  call.dtype = storedTypeName(step.type.getElementType()).value_or("");
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
      bool hasParts = func.getArgAttr(i, kSegmentAttr) || func.getArgAttr(i, kSegmentsOfAttr);
      if (!name && !hasParts)
        continue;
      Location loc = func.getArgument(i).getLoc();
      LoadedArgument out{func.getName().str(), i, {}, {}, {}};
      if (!name) {
        if (failed(describeParts(out, func, meshes)))
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
            calls.push_back(describeHostStep(step));
            if (calls.back().dtype.empty())
              return emitError(step.call->getLoc())
                     << "host function gives " << step.type << ", expected a type that can be stored";
          }
          out.loadFunction = {}; // nothing that can be compiled
          arguments.push_back(std::move(out));
          continue;
        }
        if (auto copies = pieces ? getCopies(out.loadFunction) : std::nullopt)
          if (auto cut = layout->shard(*copies)) {
            for (const CopyPiece &piece : *cut)
              out.load.pieces.push_back(describePiece(piece));
            if (hasParts)
              out.loadFunction = {};
            arguments.push_back(std::move(out));
            continue;
          }
        if (hasParts)
          out.loadFunction = {}; // the reference calls it
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
