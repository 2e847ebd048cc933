//===- ShardInfo.h - TVM's shard_info.json ----------------------*- C++ -*-===//
//
// Parameter name -> chain of functions that are applied in order:
//   {"x_0": [["tests.disco.shard_dim_1", [[2, 64, 64], "float16"], 2]]}
// Each is called as f(input, extras..., output); slice k of the last output goes
// to rank k. A parameter that is not listed is replicated.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_MANIFEST_SHARDINFO_H
#define SHARDKIT_RT_MANIFEST_SHARDINFO_H

#include "shardkit/rt/Formats/WeightSet.h"
#include "shardkit/rt/Manifest/Manifest.h"

namespace shardkit::rt {

using ShardInfo = std::map<std::string, std::vector<HostCall>>;
Expected<ShardInfo> parseShardInfo(const std::string &text, const std::string &fileName);
Expected<ShardInfo> readShardInfo(const std::string &path);

/// The manifest to load `set` on `ranks` ranks by `info`, parameters in
/// the order of `parameters` (empty: by name, numbers in names by value). An
/// error for a listed name that the set lacks, a leading dim other than `ranks`
/// and an index beyond the parameters.
Expected<WeightManifest> manifestOf(const ShardInfo &info, const WeightSet &set, int64_t ranks,
                                    const std::vector<std::string> &parameters = {});

/// The weights of a manifest for TVM: one call for each that is not replicated. Its extras are integers, all that TVM's
/// reader takes.
///
/// "shardkit.shard" for a stored tensor that is sharded: the number of ranks, then the
/// extents in closed form, each list after its length: offset [rank_stride, size,
/// global_stride], loops [size, global_stride, local_stride], uneven [loop, size,
/// digits of ranks [stride, size]].
///
/// "shardkit.pieces" for an argument that is made of pieces of a stored tensor: the
/// number of ranks, the shape of the full argument after its length, then the
/// pieces, also after their number: [first global element, first local element,
/// extents], where uneven is [loop, size, begin, digits].
///
/// Weights with host functions keep their chain; those made of several tensors or by
/// compiled functions are an error that names them.
Expected<std::string> shardInfoText(const WeightManifest &manifest);

/// The extras of "shardkit.shard" and "shardkit.pieces" read back.
struct ShardCall {
  int64_t ranks = 0;
  Extents extents;
};
Expected<ShardCall> parseShardCall(const std::vector<int64_t> &extras);
struct PiecesCall {
  int64_t ranks = 0;
  Shape shape;
  std::vector<ExtentPiece> pieces;
};
Expected<PiecesCall> parsePiecesCall(const std::vector<int64_t> &extras);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_MANIFEST_SHARDINFO_H
