//===- ArgumentLayout.cpp - Layouts of arguments with segments -----------===//

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
    auto segment = attrs ? attrs.getAs<SegmentAttr>(kSegmentAttr) : SegmentAttr();
    if (segment)
      result.dim = segment.getDim();
    result.fullType = segment ? segment.getStored() : tensor;
    ArgumentLayout::Segment &added =
        result.segments.emplace_back(ArgumentLayout::Segment{tensor,
                                                             segment ? segment.getSliceType(tensor) : tensor,
                                                             segment ? segment.getOffset() : 0,
                                                             Layout::replicated(tensor.getShape()),
                                                             ShardingAttr(),
                                                             {}});
    if (segment && segment.isInUnits(tensor))
      added.unitGroups = segment.getUnitGroups();
    auto attr = attrs ? attrs.getAs<ShardingAttr>(kShardingAttr) : ShardingAttr();
    if (!attr)
      return success();
    FailureOr<ShardingOnMesh> read = meshes.read(attr, [&] { return emitError(loc); });
    if (failed(read))
      return failure();
    result.mesh = read->mesh;
    if (auto error = verifySharding(read->sharding, *read->mesh, tensor.getShape(), /*allowUneven=*/true))
      return emitError(loc) << error->message;
    added.layout = Layout::get(read->sharding, *read->mesh, tensor.getShape());
    added.sharding = attr;
    return success();
  };
  DictionaryAttr attrs = func.getArgAttrDict(argument);
  if (auto list = attrs ? attrs.getAs<ArrayAttr>(kSegmentsOfAttr) : ArrayAttr()) {
    for (auto entry : list.getAsRange<DictionaryAttr>())
      if (failed(add(entry, local)))
        return failure();
    return result;
  }
  if (failed(add(attrs, local)))
    return failure();
  return result;
}

bool ArgumentLayout::isReplicated() const {
  return dim < 0 && segments[0].layout.digits.empty() && segments[0].layout.uneven.empty();
}

std::string ArgumentLayout::toString() const {
  std::string text = std::to_string(mesh ? mesh->numDevices() : 1);
  llvm::raw_string_ostream os(text);
  for (const Segment &segment : segments) {
    os << " " << segment.layout.toString();
    if (dim >= 0)
      os << " from " << segment.offset << " of dim " << dim << " of " << fullType;
  }
  return text;
}

SmallVector<int64_t, 4> ArgumentLayout::localShape() const {
  SmallVector<int64_t, 4> shape(segments[0].layout.localShape());
  for (const Segment &segment : ArrayRef(segments).drop_front())
    shape[dim] += segment.layout.localShape()[dim];
  return shape;
}

std::optional<std::vector<CopyPiece>> ArgumentLayout::shard(const Copies &copies, bool byDevice) const {
  auto shardSegment = [&](const Copies &segment, const Layout &layout, std::optional<Copies::Buffer> buffer) {
    auto pieces = segment.shard(layout, buffer);
    return pieces || !byDevice ? pieces : segment.shardByDevice(layout, buffer);
  };
  if (dim < 0)
    return shardSegment(copies, segments[0].layout, std::nullopt);
  int64_t offset = 0, size = localShape()[dim];
  std::vector<CopyPiece> pieces;
  for (const Segment &segment : segments) {
    SmallVector<int64_t> offsets(segment.slice.getRank(), 0), steps(segment.slice.getRank(), 1);
    offsets[dim] = segment.offset;
    std::optional<Copies> slice = copies.slice(offsets, segment.slice.getShape(), steps);
    if (slice && segment.slice != segment.type)
      slice = slice->reshape(segment.type.getShape());
    // One segment fills the argument.
    std::optional<Copies::Buffer> buffer;
    if (segments.size() > 1)
      buffer = Copies::Buffer{unsigned(dim), size, offset};
    auto found = slice ? shardSegment(*slice, segment.layout, buffer) : std::nullopt;
    if (!found)
      return std::nullopt;
    llvm::append_range(pieces, std::move(*found));
    offset += segment.layout.localShape()[dim];
  }
  return pieces;
}
