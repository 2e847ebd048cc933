//===- Manifest.h - What manifest.json says, as plain data ------*- C++ -*-===//
//
// docs/reference/Manifest.md has the meaning of each field. No LLVM here: the writer is
// compiled with exceptions, which its JSON library needs.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_BUNDLE_MANIFEST_H
#define SHARDKIT_BUNDLE_MANIFEST_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace shardkit::manifest {

struct Mesh {
  std::string name;
  std::vector<std::pair<std::string, int64_t>> axes;
  std::vector<int64_t> deviceIds; // empty: iota
};

struct Program {
  std::string file;
  int64_t bytes = 0;
  std::string hash;
};

/// A loop that ends early on the last ranks: it runs over the part of a dim of
/// `size` that the chunk of its coordinate covers. In pieces `size` places from
/// `begin` on are there.
struct UnevenLoop {
  int64_t loop, size;
  std::vector<std::array<int64_t, 2>> ranks;
  int64_t begin = 0;
};

struct Entry {
  int64_t program = 0;
  std::string symbol;
  int64_t arenaBytes = 0;
};

/// A part of a local buffer, as extents of a stored tensor.
struct Piece {
  int64_t source = 0;
  std::array<int64_t, 2> base{}; ///< in the stored tensor, in the local buffer
  std::vector<std::array<int64_t, 3>> offset, loops;
  std::vector<UnevenLoop> uneven;
};

/// How an argument is made where it is not the stored tensor of its name: by a
/// function, by host functions, else of pieces.
struct Load {
  struct Source {
    std::string name, dtype;
    std::vector<int64_t> shape;
    std::optional<std::array<int64_t, 2>> range = std::nullopt;
  };
  struct HostCall {
    std::string function, dtype;
    std::vector<int64_t> shape;
    std::vector<std::variant<int64_t, double, std::string>> extras;
  };
  std::vector<Source> sources;
  std::vector<Piece> pieces;
  std::optional<Entry> function;
  bool isWhole = false; ///< `function` makes the whole argument, not what a device has.
  std::vector<HostCall> chain;
  std::optional<Entry> reference;
};

struct Value {
  std::string name, kind, dtype;
  std::vector<int64_t> globalShape, localShape;
  std::optional<std::string> sharding;
  std::vector<std::array<int64_t, 3>> offset, loops;
  std::vector<UnevenLoop> uneven;
  std::optional<std::array<int64_t, 2>> range;
  std::optional<int64_t> tied;
  bool exact = false;
  bool isPart = false; ///< Parts of a larger weight, side by side on each device.
  std::optional<Load> load;
  /// Of a part of a pipeline: what it is of its stage.
  struct Slot {
    std::string kind; ///< argument, result, part or value
    int64_t index;
    std::optional<int64_t> dim = std::nullopt;
  };
  std::optional<Slot> slot;
};

struct Atom {
  int64_t size;
  bool sourceIsRank;
  int64_t sourceStride;
  bool destinationIsRank;
  int64_t destinationStride;
};

struct SegmentPart {
  int64_t size;
  bool isRank;
  int64_t stride;
};

struct Segment {
  int64_t size;
  std::vector<SegmentPart> source, destination;
  std::optional<std::array<int64_t, 2>> window = std::nullopt; ///< step, offset
};

struct Collective {
  int64_t id = 0;
  std::string kind;
  std::vector<std::string> axes;
  std::string dtype;
  std::optional<std::string> reduction;
  int64_t inElements = 0, outElements = 0;
  std::vector<Atom> atoms;
  std::vector<Segment> segments;
  std::vector<std::array<int64_t, 2>> spread, group;
  int64_t bytes = 0;
  std::optional<int64_t> with;
  std::string loc;
};

struct Function {
  std::string name;
  std::optional<std::string> partOf; ///< the pipeline
  std::optional<std::string> mesh;
  int64_t devices = 1;
  Entry entry;
  std::vector<Value> arguments, results;
  std::vector<Collective> collectives;
  std::optional<Entry> reference;
  /// What the reference takes where that is not the arguments: an argument, and which
  /// of its stored tensors; -1 is the argument itself.
  std::vector<std::array<int64_t, 2>> referenceArguments;
};

/// A program in stages (docs/reference/Manifest.md).
struct Pipeline {
  /// An argument or result of the program, and where stages have it.
  struct Argument {
    Value value;
    std::vector<std::array<int64_t, 2>> places;
  };
  struct StageValue {
    std::string name, dtype;
    std::vector<int64_t> localShape;
    std::optional<std::string> init = std::nullopt; ///< of what is accumulated
  };
  struct Instruction {
    enum class Kind { Run, Transfer, Free } kind;
    int64_t index = 0; ///< of the function, of the other stage, of the value
    int64_t microbatch = -1;
    std::vector<std::array<int64_t, 2>> sends = {}, receives = {};
  };
  struct Stage {
    std::string mesh;
    std::vector<int64_t> ranks;
    std::vector<Value> arguments, results;
    std::vector<StageValue> values;
    std::vector<Instruction> instructions;
  };
  struct Move {
    std::array<int64_t, 2> from, to; ///< stage, value
    Collective move;
  };
  std::string name, schedule;
  int64_t microbatches = 1, devices = 1;
  std::vector<Argument> arguments, results;
  std::vector<Stage> stages;
  std::vector<Move> transfers;
  std::optional<Entry> reference;
  std::vector<std::array<int64_t, 2>> referenceArguments; ///< As of a function.
};

struct Manifest {
  std::string target, producer;
  std::string chip; ///< Of cuda: compute capability.
  int64_t abi = 1;
  std::vector<Mesh> meshes;
  std::vector<Program> programs;
  std::vector<Function> functions;
  std::vector<Pipeline> pipelines;
};

/// The text of manifest.json. Deterministic; invalid UTF-8 in names is replaced.
std::string toJson(const Manifest &manifest);

} // namespace shardkit::manifest

#endif // SHARDKIT_BUNDLE_MANIFEST_H
