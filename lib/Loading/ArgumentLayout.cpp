//===- ArgumentLayout.cpp - What devices hold of an argument --------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Loading/LoadingFunctions.h"

using namespace mlir;
using namespace mlir::spmd;

FailureOr<ArgumentLayout> spmd::getArgumentLayout(func::FuncOp func, unsigned argument, const MeshCache &meshes) {
  Location loc = func.getArgument(argument).getLoc();
  Type local = func.getArgumentTypes()[argument];
  ArgumentLayout result;
  auto add = [&](DictionaryAttr attrs, Type type) -> LogicalResult {
    if (auto global = attrs ? attrs.getAs<TypeAttr>(kGlobalTypeAttr) : TypeAttr())
      type = global.getValue();
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return emitError(loc) << "weight " << argument << " of function '" << func.getName() << "' has type " << type
                            << ", expected a tensor of static shape";
    auto part = attrs ? attrs.getAs<SegmentAttr>(kSegmentAttr) : SegmentAttr();
    if (part)
      result.dim = part.getDim();
    result.whole = part ? part.getStored() : tensor;
    ArgumentLayout::Part &own = result.parts.emplace_back(ArgumentLayout::Part{
        tensor, part ? part.getOffset() : 0, Layout::replicated(tensor.getShape()), ShardingAttr()});
    auto attr = attrs ? attrs.getAs<ShardingAttr>(kShardingAttr) : ShardingAttr();
    if (!attr)
      return success();
    FailureOr<ShardingOnMesh> read = meshes.read(attr, [&] { return emitError(loc); });
    if (failed(read))
      return failure();
    result.mesh = read->mesh;
    if (auto error = verifySharding(read->sharding, *read->mesh, tensor.getShape(), /*allowUneven=*/true))
      return emitError(loc) << error->message;
    own.layout = Layout::get(read->sharding, *read->mesh, tensor.getShape());
    own.sharding = attr;
    return success();
  };
  DictionaryAttr attrs = func.getArgAttrDict(argument);
  if (auto list = attrs ? attrs.getAs<ArrayAttr>(kSegmentsOfAttr) : ArrayAttr()) {
    for (auto own : list.getAsRange<DictionaryAttr>())
      if (failed(add(own, local)))
        return failure();
    return result;
  }
  if (failed(add(attrs, local)))
    return failure();
  return result;
}

bool ArgumentLayout::isWhole() const {
  return dim < 0 && parts[0].layout.digits.empty() && parts[0].layout.uneven.empty();
}

std::string ArgumentLayout::toString() const {
  std::string text = std::to_string(mesh ? mesh->numDevices() : 1);
  llvm::raw_string_ostream os(text);
  for (const Part &part : parts) {
    os << " " << part.layout.toString();
    if (dim >= 0)
      os << " from " << part.offset << " of dim " << dim << " of " << whole;
  }
  return text;
}

std::optional<std::vector<CopyPiece>> ArgumentLayout::cut(const Copies &copies) const {
  if (dim < 0)
    return copies.shard(parts[0].layout);
  int64_t at = 0, size = 0;
  for (const Part &part : parts)
    size += part.layout.localShape()[dim];
  std::vector<CopyPiece> pieces;
  for (const Part &part : parts) {
    SmallVector<int64_t> offsets(part.type.getRank(), 0), steps(part.type.getRank(), 1);
    offsets[dim] = part.offset;
    std::optional<Copies> own = copies.slice(offsets, part.type.getShape(), steps);
    auto found = own ? own->shard(part.layout, Copies::Buffer{unsigned(dim), size, at}) : std::nullopt;
    if (!found)
      return std::nullopt;
    llvm::append_range(pieces, std::move(*found));
    at += part.layout.localShape()[dim];
  }
  return pieces;
}
