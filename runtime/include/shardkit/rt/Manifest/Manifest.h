//===- Manifest.h - A bundle's manifest, parsed and validated ---*- C++ -*-===//
//
// docs/reference/Manifest.md gives the schema. A Manifest that parse() returned is valid
// in full: nothing that runs later checks it again.
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

struct MeshInfo {
  std::string name;
  std::vector<std::pair<std::string, int64_t>> axes; ///< Major to minor.
  std::vector<int64_t> deviceIds;                    ///< Never empty.
  int64_t size() const;
};

struct ProgramInfo {
  std::string file; ///< Relative to the bundle.
  int64_t bytes = -1;
};

enum class ValueKind {
  Input,
  Weight,
  Result,
  Value ///< Of a function of a pipeline: a value of its stage.
};

/// Where the code of a function is.
struct EntryPoint {
  int64_t program = 0;
  std::string symbol;
  int64_t arenaBytes = 0;
};

/// A step of a chain of host functions: f(input, extras..., output).
struct HostCall {
  std::string function;
  Shape shape; ///< Of the output.
  DType dtype = DType::F32;
  std::vector<std::variant<int64_t, double, std::string>> extras;
};

struct LoadSource {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  int64_t elements = 0;
  std::optional<std::pair<int64_t, int64_t>> range = std::nullopt; ///< Of random integers.
};

/// How an argument is made from stored tensors where it is not one of them:
/// pieces where data only moves, else a compiled function
/// `(stored..., rank) -> local`, else a chain of host functions on one tensor.
struct LoadInfo {
  std::vector<LoadSource> sources;
  std::vector<ExtentPiece> pieces;
  std::optional<EntryPoint> function;
  bool isWhole = false; ///< `function` makes the whole argument, of which ranks hold parts.
  std::vector<HostCall> chain;
  /// Of a presharded set: a loading function made what is stored, in one of these ways.
  bool made = false;
  /// The whole argument from the stored tensors, for --verify.
  std::optional<EntryPoint> reference;
};

/// Of an argument or a result of a function of a pipeline: the buffer of its stage
/// that it is.
struct Slot {
  enum class Kind {
    Held, ///< An argument or a result of the stage, whole.
    Part, ///< The part of it along `dim` that belongs to the running microbatch.
    Value ///< A value of the stage.
  } kind = Kind::Held;
  int64_t index = 0, dim = 0;
};

struct ValueInfo {
  std::string name;
  ValueKind kind = ValueKind::Input;
  DType dtype = DType::F32;
  Shape globalShape, localShape;
  int64_t globalElements = 0, localElements = 0;
  std::string sharding; ///< As text, for people.
  Extents extents;
  std::optional<LoadInfo> load;                     ///< Absent: the stored tensor of that name.
  std::optional<std::pair<int64_t, int64_t>> range; ///< Of random integers.
  std::optional<int64_t> tied;                      ///< Of a result: the argument it updates.
  bool exact = false;                               ///< Of a result: computed by moving data alone.
  /// Of a weight: parts of a larger one, side by side on each device. What its global
  /// value is depends on the devices.
  bool isPart = false;
  std::optional<Slot> slot; ///< In a pipeline. Values of a stage have local shapes alone.
  /// Of a weight of a pipeline: the ranks of the world that hold it, by rank of the mesh
  /// that `extents` are for. Empty: all, under their own numbers.
  std::vector<int64_t> ranks;

  int64_t localBytes() const { return localElements * dtypeSize(dtype); }
  int64_t globalBytes() const { return globalElements * dtypeSize(dtype); }
  /// How many of `devices` ranks hold it, and which one is `rank` of its mesh.
  int64_t holders(int64_t devices) const { return ranks.empty() ? devices : int64_t(ranks.size()); }
  int64_t worldRank(int64_t rank) const { return ranks.empty() ? rank : ranks[size_t(rank)]; }
};

enum class Reduction { None, Sum, Prod, And, Or, Xor, Max, Min, UMax, UMin, MaxNum, MinNum };
const char *reductionName(Reduction reduction);
std::optional<Reduction> parseReduction(std::string_view name);
/// Floats know no bitwise and no unsigned kinds, integers no maxnum/minnum.
bool reductionApplies(Reduction reduction, DType dtype);

struct Atom {
  int64_t size;
  bool sourceIsRank;
  int64_t sourceStride;
  bool destinationIsRank;
  int64_t destinationStride;
};
/// A loop whose index each side writes as a number of its own parts, major to
/// minor. Their sizes may multiply to more than the loop has: padding.
struct SegmentPart {
  int64_t size;
  bool isRank;
  int64_t stride;
};
struct Segment {
  int64_t size;
  std::vector<SegmentPart> source, destination;
  /// Where set, the destination holds windows: the rank with coordinate k on its
  /// rank parts has places [step * k + offset, ...), as many as the local part
  /// behind them has; what is not in [0, size) is padding.
  struct Window {
    int64_t step, offset;
  };
  std::optional<Window> window = std::nullopt;
};
struct CollectiveInfo {
  int64_t id = 0;
  std::string kind;
  std::vector<std::string> axes;
  DType dtype = DType::F32;
  Reduction reduction = Reduction::None;
  int64_t inElements = 0, outElements = 0;
  std::vector<Atom> atoms;
  std::vector<Segment> segments;
  std::vector<RankDigit> spread; ///< Choose among replicas of the source.
  std::vector<RankDigit> group;
  int64_t bytes = 0;
  /// The first of those that are started together, itself included; -1 for one
  /// that is not started and done apart.
  int64_t with = -1;
  std::string loc;
  /// What else the compiler said (cost, received, reason ...): a JSON object
  /// that reports pass through.
  std::string extra;
};

struct FunctionInfo {
  std::string name;
  int64_t mesh = -1; ///< Index, -1 for one device.
  int64_t devices = 1;
  EntryPoint entry;
  std::vector<ValueInfo> arguments, results;
  std::vector<CollectiveInfo> collectives;
  std::optional<EntryPoint> reference;
  /// What the reference takes: whole arguments, or stored tensors that arguments are
  /// made of.
  struct ReferenceArgument {
    size_t argument = 0;
    int64_t source = -1; ///< Which of its stored tensors; -1: the argument itself.
  };
  std::vector<ReferenceArgument> referenceArguments;
  int64_t referenceBytes(const ReferenceArgument &given) const;
};

/// What a value of the step is before the first instruction: neutral for what it
/// accumulates.
enum class Init { Zero, One, Lowest, Highest, AllOnes };

/// A buffer that the functions of a stage hand to each other: one for each microbatch
/// under way, or one for the whole step.
struct StageValue {
  std::string name;
  DType dtype = DType::F32;
  Shape localShape;
  int64_t localElements = 0;
  std::optional<Init> init; ///< Of values of the step that accumulate.
  bool isOfStep = false;    ///< It has `init`, or what writes it runs once per step.
  int64_t localBytes() const { return localElements * dtypeSize(dtype); }
};

/// A value of one stage on its way to one of another.
struct TransferInfo {
  size_t fromStage = 0, fromValue = 0, toStage = 0, toValue = 0;
  /// From ranks of the one mesh to ranks of the other. Its id is transferId + its number.
  CollectiveInfo move;
  static constexpr int64_t transferId = int64_t(1) << 32;
};

/// What each device of a stage does, one after the other.
struct Instruction {
  enum class Kind {
    Run,      ///< Function `target` for `microbatch`.
    Transfer, ///< With stage `target`: they begin. What first uses a received value waits for it.
    Free      ///< The buffer of value `target` for `microbatch`, once others use what was sent of it.
  } kind = Kind::Run;
  size_t target = 0;
  int64_t microbatch = -1; ///< -1: once per step.
  /// Transfers and their microbatches, of a Transfer: those that leave the stage with
  /// the lower number come first, on both sides.
  std::vector<std::pair<size_t, int64_t>> transfers;
  /// Its place in an order of all instructions of all stages that keeps every stage's
  /// own, and in which nothing comes before what it waits for.
  int64_t order = 0;
};

struct StageInfo {
  /// Its mesh, and what a rank holds for the whole step. No program: `arenaBytes` is
  /// the largest of its functions.
  FunctionInfo held;
  std::vector<int64_t> ranks; ///< Of the pipeline, by rank of the mesh.
  std::vector<StageValue> values;
  std::vector<Instruction> instructions;
};

/// A program that is cut into stages, each on a mesh of its own.
struct PipelineInfo {
  /// Names and global types of arguments and results, the reference, and the number
  /// of all devices. (`load` is that of the first place.)
  FunctionInfo whole;
  std::string schedule; ///< For people.
  int64_t microbatches = 1;
  std::vector<FunctionInfo> functions;
  std::vector<size_t> stageOf; ///< Of each function.
  std::vector<StageInfo> stages;
  std::vector<TransferInfo> transfers;
  struct Place {
    size_t stage, index;
  };
  /// Where the stages have them; every argument and result of a stage is one of these.
  std::vector<std::vector<Place>> argumentPlaces, resultPlaces;
};

struct Manifest {
  std::string target; ///< "cpu", or "cuda".
  std::string chip;   ///< Of cuda: "sm_90".
  std::string producer;
  std::vector<MeshInfo> meshes;
  std::vector<ProgramInfo> programs;
  std::vector<FunctionInfo> functions; ///< But for those of pipelines.
  std::vector<PipelineInfo> pipelines;
};

/// The weights of one program, or of a set cut for some mesh: what loading and
/// shard-weights need to know, without programs.
struct WeightManifest {
  std::string path;
  MeshInfo mesh; ///< No axes on one device, and where weights have ranks of their own.
  int64_t devices = 1;
  /// Names differ, but for parts of one stored tensor, and for one that several stages
  /// of a pipeline hold.
  std::vector<ValueInfo> weights;
  /// Whether it is of a pipeline, whose stages have meshes of their own.
  bool hasStages() const;
  /// Of presharded.json: true where every rank has its own copy of every shard.
  bool perRank = false;
  std::string configuration; ///< Hash of the above; empty unless presharded.
  struct File {
    std::string path;
    int64_t bytes = 0;
    std::string checksum;
  };
  std::vector<File> files; ///< Of presharded.json.
};
WeightManifest weightsOf(const Manifest &manifest, const FunctionInfo &function);
/// Stage after stage.
WeightManifest weightsOf(const Manifest &manifest, const PipelineInfo &pipeline);
Expected<WeightManifest> parseWeightManifest(const std::string &text, const std::string &fileName);
std::string weightManifestText(const WeightManifest &manifest);
/// 16 hexadecimal digits over mesh, names, types, shardings and extents.
std::string configurationHash(const WeightManifest &manifest);

/// Parses and validates `text`. `fileName` is what errors name. With a
/// `bundleDir` the program files must exist there with their sizes.
Expected<Manifest> parseManifest(const std::string &text, const std::string &fileName,
                                 const std::string &bundleDir = "");

/// Reads bundleDir/manifest.json.
Expected<Manifest> readManifest(const std::string &bundleDir);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_MANIFEST_MANIFEST_H
