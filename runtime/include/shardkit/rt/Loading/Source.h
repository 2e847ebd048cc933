//===- Source.h - Sources of the elements of an argument --------*- C++ -*-===//

#ifndef SHARDKIT_RT_LOADING_SOURCE_H
#define SHARDKIT_RT_LOADING_SOURCE_H

#include "shardkit/rt/Formats/WeightSet.h"
#include "shardkit/rt/Loading/Random.h"
#include "shardkit/rt/Manifest/Bundle.h"

#include <functional>
#include <memory>
#include <variant>

namespace shardkit::rt {

/// One tensor as a loading function sees it: stored as one tensor, or as the shards of a
/// presharded set for any number of ranks.
struct SourceTensor {
  StoredTensor tensor; ///< Its name, type and shape; the bytes too if there is no map.
  std::shared_ptr<const ShardMap> map;
  std::map<int64_t, StoredTensor> shards; ///< By the first rank that owns each.
};

/// The tensors that an argument is made from: those of its LoadInfo, else one.
struct StoredSource {
  std::vector<SourceTensor> tensors;
  /// The argument itself, which a loading function made when the set was presharded.
  bool made = false;
  static StoredSource full(StoredTensor tensor) { return {{SourceTensor{std::move(tensor), nullptr, {}}}, false}; }
};

/// The shard of each rank of the mesh, as it is stored (NAME_shard-K-of-N).
struct PreshardedSource {
  std::vector<StoredTensor> ranks;
};

/// The source of a global value: files, or the random generator.
using TensorSource = std::variant<StoredSource, PreshardedSource, RandomTensor>;

/// Checks dtype, shape and byte range of `source` against `value`; the message
/// names the value, the file and the byte range. Allocates nothing.
Status checkSource(const ValueInfo &value, const TensorSource &source);

/// A weight set as loaders see it: the names of full tensors, also where they are stored as
/// shards (with presharded.json).
class SourceSet {
public:
  static Expected<SourceSet> open(const std::string &path, const OpenOptions &options = {});
  /// The constants of a bundle: find() has the arguments of kind Constant. Empty if the bundle has none.
  static Expected<SourceSet> openConstants(const Bundle &bundle);

  const WeightSet &stored() const { return set_; }
  /// Set if the set holds presharded.json.
  const std::optional<WeightManifest> &presharded() const { return presharded_; }
  std::vector<std::string> names() const;
  /// True if a presharded set has a weight of that name.
  bool holds(const std::string &name) const { return logical_.count(name) > 0; }

  /// The source of a weight, checked against it. A missing one is an error that
  /// names the nearest stored name. `devices`: ranks of the program, if known.
  Expected<TensorSource> find(const ValueInfo &value, int64_t devices = 0) const;
  /// For --load=presharded: the shard of every rank that holds it, out of `devices`.
  /// With presharded.json the weight must have been sharded in the same way.
  Expected<TensorSource> findPresharded(const ValueInfo &value, int64_t devices) const;

  /// `first`, an error of find() or findPresharded(), with the names of all tensors that
  /// `values` need and the set lacks, if there are several.
  Status withAllMissing(Status first, const std::vector<const ValueInfo *> &values, int64_t devices,
                        bool presharded) const;
  /// The files of which the set records a checksum.
  std::vector<StoredFile> filesWithChecksums() const;
  /// An error that lists the tensors that none of `values` is made from.
  Status checkAllUsed(const std::vector<const ValueInfo *> &values) const;

private:
  std::vector<std::string> missingNames(const ValueInfo &value, int64_t devices, bool presharded) const;
  /// The shard of a rank of the mesh in a set without presharded.json: NAME_shard-K-of-N,
  /// MLC's NAME_shard-K (K from 0), or NAME of a replicated weight. Null if there is none.
  const StoredTensor *findShard(const ValueInfo &value, int64_t rank, int64_t devices) const;
  /// The ranks for which a set without presharded.json has shards of a weight; 0 if none.
  int64_t ranksOfShards(const std::string &name) const;
  /// A tensor by its name, preferably the weight that `ranks` hold. `stored`: results of
  /// loading functions are not taken.
  Expected<SourceTensor> findTensor(const std::string &name, const std::vector<int64_t> &ranks, bool stored) const;
  /// A tensor of which the set holds segments.
  Expected<SourceTensor> joinSegments(const std::string &name) const;
  /// Whether the set has the argument as the loading function of `value` makes it.
  bool holdsMade(const ValueInfo &value, int64_t devices) const;
  Status missing(const std::string &what, const std::string &name) const;
  /// The weight of that name that `ranks` hold; else the first, null if none.
  const ValueInfo *findLogical(const std::string &name, const std::vector<int64_t> &ranks) const;
  /// The shard of a weight of presharded_ on `rank` of its mesh.
  const StoredTensor &shardOf(const ValueInfo &value, int64_t rank) const;
  WeightSet set_;
  std::optional<WeightManifest> presharded_;
  /// Indices into presharded_->weights: one, or one for each stage that holds it.
  std::map<std::string, std::vector<size_t>> logical_;
  /// By stored tensor: the weights with pieces of it, and which of their sources it is.
  std::map<std::string, std::vector<std::pair<size_t, size_t>>> segments_;
};

/// Random stored tensors, each made once, for weights that loading functions make of them, or that are segments of
/// them.
class RandomStored {
public:
  /// `make`: the random numbers of a stored tensor, which is described as a weight.
  Expected<TensorSource> find(const LoadInfo &load, const std::function<RandomTensor(const ValueInfo &)> &make);

private:
  std::map<std::string, StoredTensor> tensors_;
};

std::vector<const ValueInfo *> pointersTo(const std::vector<ValueInfo> &values);

/// Compares the checksums of files: every `step`-th from `first` on.
Status verifyChecksums(const std::vector<StoredFile> &files, size_t first = 0, size_t step = 1);

/// The differences between two shardings of a weight, one fact after the other; empty if
/// they are equal.
std::string configurationDiff(const ValueInfo &stored, int64_t storedDevices, const ValueInfo &wanted,
                              int64_t wantedDevices);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LOADING_SOURCE_H
