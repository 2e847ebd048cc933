//===- Manifest.h - A bundle's manifest, parsed and validated ---*- C++ -*-===//
//
// docs/reference/Manifest.md describes each field, docs/reference/manifest.schema.json is the
// schema. The compiler fills these structures and writes them (manifestText), the runtime
// reads and validates them (readManifest): a Manifest that was read is valid in full, and no
// later step checks it again. No MLIR here, and no exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_MANIFEST_MANIFEST_H
#define SHARDKIT_RT_MANIFEST_MANIFEST_H

#include "shardkit/rt/Manifest/Extents.h"
#include "shardkit/rt/Support/DType.h"
#include "shardkit/rt/Support/Status.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace shardkit::rt {

/// The version of the schema that is written. The reader reads this one and the versions before.
inline constexpr int64_t manifestVersion = 5;
/// The version of manifests of presharded weights.
inline constexpr int64_t weightManifestVersion = 2;

struct MeshInfo {
  std::string name;
  std::vector<std::pair<std::string, int64_t>> axes; ///< Major to minor.
  std::vector<int64_t> deviceIds;                    ///< One per device, never empty.
  int64_t size() const;
};

/// A file of a bundle.
struct FileInfo {
  std::string file; ///< Relative to the bundle.
  int64_t bytes = -1;
  std::string hash = {}; ///< Identifies the file for people and caches.
};

enum class ValueKind {
  Input,
  Weight,
  Constant, ///< The bundle has its elements.
  Size,     ///< A size that only the run knows: the runtime passes it.
  Result,
  Value ///< A value of a stage, read or written by a function of a pipeline.
};

const char *kindName(ValueKind kind);

/// A number that follows from the sizes of a function that only the run knows.
struct SizeExpr {
  enum class Kind { Number, Size, Add, Multiply, FloorDivide, CeilDivide } kind = Kind::Number;
  int64_t value = 0; ///< The number, or that of the size.
  std::vector<SizeExpr> operands;
  bool isNumber() const { return kind == Kind::Number; }
  bool operator==(const SizeExpr &) const = default;
};

/// An intermediate value in the arena of a function of sizes: it is as near to the start as the buffers `after` which
/// it lies allow.
struct ArenaBuffer {
  SizeExpr bytes;
  std::vector<size_t> after; ///< Numbers of earlier buffers.
  bool operator==(const ArenaBuffer &) const = default;
};

/// The code of a function.
struct EntryPoint {
  int64_t program = 0;
  std::string symbol;
  int64_t arenaBytes = 0; ///< If the arena depends on sizes: at the least ones (atSizes).
  std::vector<ArenaBuffer> arena;
  bool operator==(const EntryPoint &) const = default;
};

/// A step of a chain of host functions: f(input, extras..., output).
struct HostCall {
  std::string function;
  Shape shape; ///< The shape of the output.
  DType dtype = DType::F32;
  std::vector<std::variant<int64_t, double, std::string>> extras;
  bool operator==(const HostCall &) const = default;
};

struct LoadSource {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  int64_t elements = 0;
  std::optional<std::pair<int64_t, int64_t>> range = std::nullopt; ///< The range of random integers.
  bool operator==(const LoadSource &) const = default;
};

/// An operand of a function that computes the elements of a shard by themselves.
struct LoadOperand {
  DType dtype = DType::F32;
  Shape shape;
  int64_t elements = 1;
  /// Source -1 is the source of numbers, whose element i is i (of type i32). Elements in no
  /// piece are zero.
  std::vector<ExtentPiece> pieces;
  bool operator==(const LoadOperand &) const = default;
};

/// How an argument is computed from stored tensors if it is not one of them: by pieces if data
/// only moves, else by a compiled function `(operands...) -> local` or
/// `(stored..., rank) -> local`, else by a chain of host functions on one tensor.
struct LoadInfo {
  std::vector<LoadSource> sources;
  std::vector<ExtentPiece> pieces;
  std::optional<EntryPoint> function;
  std::optional<std::vector<LoadOperand>> operands; ///< The operands of `function`; absent: the full stored tensors.
  bool isFull = false; ///< `function` computes the full argument, of which ranks hold shards.
  std::vector<HostCall> chain;
  /// In a presharded set: the stored shards were computed in one of these ways.
  bool computed = false;
  /// Computes the full argument from the stored tensors, for --verify.
  std::optional<EntryPoint> reference;
  bool operator==(const LoadInfo &) const = default;
};

/// The buffer of its stage that an argument or result of a function of a pipeline is. The kinds
/// are those of `#spmd.slot`.
struct Slot {
  enum class Kind {
    Argument, ///< An argument of the stage.
    Result,   ///< A result of the stage.
    Value,    ///< A value of the stage.
    Sum       ///< A value of the stage that accumulates over microbatches.
  } kind = Kind::Argument;
  int64_t index = 0;
  /// Arguments and results: the dim along which the slot is the slice of the running
  /// microbatch; -1: the slot is all of it.
  int64_t dim = -1;

  bool isValue() const { return kind == Kind::Value || kind == Kind::Sum; }
  bool isMicrobatch() const { return dim >= 0; }
};

/// A dim of a value of which a size is not known: of `size`, padded to a multiple of
/// `multiple`, and divided by the digits, major to minor. A digit with stride 0 is one of the index in the shard.
struct DimInfo {
  SizeExpr size;
  std::vector<RankDigit> digits;
  int64_t multiple = 1;

  int64_t shards() const;
};

struct ValueInfo {
  std::string name;
  ValueKind kind = ValueKind::Input;
  DType dtype = DType::F32;
  /// If a size is not known: then it is -1 in the global shape, and there is no local one and no extents (atSizes).
  std::vector<DimInfo> dims;
  Shape globalShape, localShape;
  int64_t globalElements = 0, localElements = 0;
  std::string sharding; ///< As text, for people.
  Extents extents;
  std::optional<LoadInfo> load;                     ///< Absent: the stored tensor of that name.
  std::optional<std::pair<int64_t, int64_t>> range; ///< The range of random integers.
  std::optional<int64_t> tied;                      ///< The argument that a result updates.
  bool exact = false;                               ///< A result that is computed by moving data alone.
  /// The relative error that rounding is expected to cause in a result (Manifest.md); 0 if that is not described.
  double rounding = 0;
  /// A weight that holds segments of a larger one, next to each other on each device: its
  /// global value depends on the devices.
  bool isSegmented = false;
  std::optional<Slot> slot; ///< In a pipeline. Values of a stage have local shapes alone.
  /// The ranks of the world that hold a weight of a pipeline, by rank of the mesh of
  /// `extents`. Empty: all ranks, each under its index.
  std::vector<int64_t> ranks;

  int64_t localBytes() const { return localElements * dtypeSize(dtype); }
  int64_t globalBytes() const { return globalElements * dtypeSize(dtype); }
  /// The number of ranks, out of `devices`, that hold it, and the rank of the world that is `rank` of its mesh.
  int64_t holders(int64_t devices) const { return ranks.empty() ? devices : int64_t(ranks.size()); }
  int64_t worldRank(int64_t rank) const { return ranks.empty() ? rank : ranks[size_t(rank)]; }
};

enum class Reduction { None, Sum, Prod, And, Or, Xor, Max, Min, UMax, UMin, MaxNum, MinNum };
const char *reductionName(Reduction reduction);
std::optional<Reduction> parseReduction(std::string_view name);
/// True if the reduction is defined for the type: floats have no bitwise and no unsigned kinds,
/// integers no maxnum and minnum.
bool reductionApplies(Reduction reduction, DType dtype);

struct Atom {
  int64_t size;
  bool sourceIsRank;
  int64_t sourceStride;
  bool destinationIsRank;
  int64_t destinationStride;
};
/// A digit of the index of a segment on one side of a move.
struct SegmentDigit {
  int64_t size;
  bool isRank;
  int64_t stride;
};
/// A loop whose index each side writes as a mixed-radix number with digits of its own, major to
/// minor. If the product of the sizes of the digits exceeds that of the loop, the rest is
/// padding.
struct Segment {
  int64_t size;
  std::vector<SegmentDigit> source, destination;
  /// If set, the destination holds windows: the rank with coordinate k on the rank digits has
  /// the indices [step * k + offset, ...), as many as the size of the local digit after them.
  /// Indices outside of [0, size) are padding.
  struct Window {
    int64_t step, offset;
    int64_t added = -1; ///< Which offset of `sk_collective_at` is added; -1: none.
  };
  std::optional<Window> window = std::nullopt;
};
/// Larger offsets that are known at run time count as this.
inline constexpr int64_t maxOffset = int64_t(1) << 60;
struct CollectiveInfo {
  int64_t id = 0;
  std::string kind;
  std::vector<std::string> axes;
  DType dtype = DType::F32;
  Reduction reduction = Reduction::None;
  int64_t inElements = 0, outElements = 0;
  std::vector<Atom> atoms;
  std::vector<Segment> segments;
  std::vector<RankDigit> spread; ///< The rank digits that choose among replicas of the source.
  std::vector<RankDigit> group;
  /// How many offsets are known at run time only (Segment::Window::added).
  int64_t numOffsets() const {
    int64_t number = 0;
    for (const Segment &segment : segments)
      number += segment.window && segment.window->added >= 0;
    return number;
  }
  /// If a side is on a mesh that counts the devices in another order: the rank here of each rank there.
  std::vector<int64_t> sourceOrder, destinationOrder;
  int64_t bytes = 0;
  /// The first collective of the group that is started together, this one included; -1 for a
  /// collective that is not started asynchronously.
  int64_t startGroup = -1;
  std::string loc;
  /// Further keys of the manifest (cost, received, reason ...): a JSON object that reports
  /// forward.
  std::string extra;
};

/// A value of a function that was compiled to be compared with its unsharded counterpart (sk_probe).
struct ProbeInfo {
  ValueInfo value;      ///< Its name in reports, and which elements each rank holds.
  std::string producer; ///< The op that computes it.
  std::string loc;
  /// If a rank holds a partial value: the reduction that completes it, over the ranks that differ in these digits.
  Reduction reduction = Reduction::None;
  std::vector<RankDigit> partial;
  /// The probes of the values that it is computed from, and the collectives on the way from these.
  std::vector<int64_t> inputs, collectives;
};

/// A size of a function that only the run knows.
struct SizeInfo {
  std::string name;
  size_t argument = 0;               ///< The argument of kind Size.
  int64_t least = 0, most = maxSize; ///< The bound, both included.
  int64_t multiple = 1;              ///< The size is a multiple of it.
  static constexpr int64_t maxSize = (int64_t(1) << 40) - 1;
};

struct FunctionInfo {
  std::string name;
  int64_t mesh = -1; ///< Index of its mesh, -1 for one device.
  int64_t devices = 1;
  EntryPoint entry;
  std::vector<ValueInfo> arguments, results;
  std::vector<SizeInfo> sizes; ///< Empty: all are known.
  /// The functions of which one is called, the first that has the sizes of the call: of these the rest is what they
  /// have in common, but for code and layouts (joinBuckets).
  std::vector<FunctionInfo> buckets;
  std::vector<CollectiveInfo> collectives;
  std::optional<EntryPoint> reference;
  /// An argument of the reference: a full argument of the function, or a stored tensor from
  /// which one is computed.
  struct ReferenceArgument {
    size_t argument = 0;
    int64_t source = -1; ///< Index of the stored tensor; -1: the argument itself.
  };
  std::vector<ReferenceArgument> referenceArguments;
  /// Values that are compared as they are made, by the numbers of their probes, and the program that computes them on
  /// one device, from the full arguments.
  std::vector<ProbeInfo> probes;
  std::optional<EntryPoint> unsharded;
  int64_t referenceBytes(const ReferenceArgument &given) const;
};

/// The sizes of a call whose arguments have these shapes, by the numbers of the arguments; no shape where the argument
/// is not given. An error if a shape does not fit the argument, if two dims of one size differ, or if no
/// shape shows a size.
Expected<std::vector<int64_t>> findSizes(const FunctionInfo &function, const std::vector<std::optional<Shape>> &shapes);
/// The function that has `buckets`, of which there is one at least. An error if their signatures differ.
Expected<FunctionInfo> joinBuckets(const std::string &name, std::vector<FunctionInfo> buckets);
/// The function for these sizes: all shapes, extents and arenas are known, and it has no sizes. An error if a size is
/// out of its bound or not a multiple of what it must be.
Expected<FunctionInfo> atSizes(const FunctionInfo &function, const std::vector<int64_t> &sizes);

/// The initial elements of a value that accumulates: neutral for its reduction.
enum class Init { Zero, One, Lowest, Highest, AllOnes };
const char *initName(Init init);
std::optional<Init> parseInit(std::string_view name);

/// A buffer that functions of a stage exchange: one for each microbatch in flight, or one for
/// the step.
struct StageValue {
  std::string name;
  DType dtype = DType::F32;
  Shape localShape;
  int64_t localElements = 0;
  std::optional<Init> init = std::nullopt; ///< Set for values that accumulate.
  bool isOfStep = false;                   ///< It has `init`, or is written once per step.
  int64_t localBytes() const { return localElements * dtypeSize(dtype); }
};

/// A value that one stage sends to another.
struct ChannelInfo {
  size_t fromStage = 0, fromValue = 0, toStage = 0, toValue = 0;
  /// From ranks of one mesh to ranks of the other. Its id is firstId + the index of the channel.
  CollectiveInfo move;
  static constexpr int64_t firstId = int64_t(1) << 32;
};

/// An instruction of the devices of a stage.
struct Instruction {
  enum class Kind {
    Run,      ///< Runs function `target` for `microbatch`.
    Transfer, ///< Begins to send to and receive from stage `target`. The first use of a received value waits.
    Free      ///< Frees value `target` of `microbatch`, once all stages that it was sent to have received it.
  } kind = Kind::Run;
  size_t target = 0;
  int64_t microbatch = -1; ///< -1: once per step.
  /// The channels and microbatches of a Transfer: those sent by the stage with the lower index
  /// come first, on both sides.
  std::vector<std::pair<size_t, int64_t>> transfers;
  /// Its position in an order of the instructions of all stages that keeps the order of each
  /// stage, and in which each instruction comes after those that it waits for.
  int64_t order = 0;

  /// Sets `transfers`, on stage `stage`, from the sends and receives.
  void setTransfers(size_t stage, std::vector<std::pair<size_t, int64_t>> sends,
                    std::vector<std::pair<size_t, int64_t>> receives) {
    transfers = stage < target ? std::move(sends) : std::move(receives);
    const auto &others = stage < target ? receives : sends;
    transfers.insert(transfers.end(), others.begin(), others.end());
  }
};

struct StageInfo {
  /// Its mesh, and the arguments and results that a rank holds for the step. It has no program:
  /// `arenaBytes` is the largest of its functions.
  FunctionInfo held;
  std::vector<int64_t> ranks; ///< Ranks of the pipeline, by rank of the mesh.
  std::vector<StageValue> values;
  std::vector<Instruction> instructions;
};

/// A program that is split into stages, each on its mesh.
struct PipelineInfo {
  /// Names and global types of the arguments and results of the program, the reference, and
  /// the number of all devices. (`load` is that of the first buffer.)
  FunctionInfo signature;
  std::string schedule; ///< The kind of the schedule, for people.
  int64_t microbatches = 1;
  std::vector<FunctionInfo> functions;
  std::vector<size_t> stageOf; ///< The stage of each function.
  std::vector<StageInfo> stages;
  std::vector<ChannelInfo> channels;
  /// An argument or result of a stage.
  struct Buffer {
    size_t stage, index;
  };
  /// The buffers of each argument and result of the program; every argument and result of a
  /// stage is one of these.
  std::vector<std::vector<Buffer>> argumentBuffers, resultBuffers;
};

struct Manifest {
  std::string target; ///< "cpu", or "cuda".
  std::string chip;   ///< For cuda: "sm_90".
  std::string producer;
  std::vector<MeshInfo> meshes;
  std::vector<FileInfo> programs;
  std::optional<FileInfo> constants;   ///< The tensors (.safetensors) of arguments that are constants, by name.
  std::vector<FunctionInfo> functions; ///< Without those of pipelines.
  std::vector<PipelineInfo> pipelines;
};

/// The weights of one program, or of a set sharded for some mesh, without programs: the input
/// of loading and shard-weights.
struct WeightManifest {
  std::string path;
  MeshInfo mesh; ///< No axes on one device, and where weights have ranks of their own.
  int64_t devices = 1;
  /// Names differ, except for segments of one stored tensor and for a tensor that several
  /// stages of a pipeline hold.
  std::vector<ValueInfo> weights;
  /// True for a pipeline: each stage has its mesh.
  bool hasStages() const;
  /// In presharded.json: true if every rank has a copy of every shard.
  bool perRank = false;
  std::string configuration; ///< Hash of the above; empty unless presharded.
  struct File {
    std::string path;
    int64_t bytes = 0;
    std::string checksum;
  };
  std::vector<File> files; ///< In presharded.json.
};
WeightManifest weightsOf(const Manifest &manifest, const FunctionInfo &function);
/// Stage after stage.
WeightManifest weightsOf(const Manifest &manifest, const PipelineInfo &pipeline);
Expected<WeightManifest> parseWeightManifest(const std::string &text, const std::string &fileName);
std::string weightManifestText(const WeightManifest &manifest);
/// 16 hexadecimal digits over mesh, names, types, shardings and extents, as `version` of the
/// schema names them.
std::string configurationHash(const WeightManifest &manifest, int64_t version = weightManifestVersion);

/// The text of manifest.json. Deterministic; invalid UTF-8 in names is replaced.
std::string manifestText(const Manifest &manifest);

/// Parses and validates `text`. Errors name `fileName`. With a
/// `bundleDir` the program files must exist there with their sizes.
Expected<Manifest> parseManifest(const std::string &text, const std::string &fileName,
                                 const std::string &bundleDir = "");

/// Reads bundleDir/manifest.json.
Expected<Manifest> readManifest(const std::string &bundleDir);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_MANIFEST_MANIFEST_H
