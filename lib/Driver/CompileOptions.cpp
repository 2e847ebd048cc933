//===- CompileOptions.cpp - Options of a compilation ----------------------===//

#include "shardkit/Driver/CompileOptions.h"
#include "shardkit/Dialect/SPMD/IR/Renames.h"
#include "shardkit/Support/PassOptions.h"

using namespace mlir;
using namespace mlir::spmd;
namespace cl = llvm::cl;

namespace {
enum class ProgramTarget { Cpu, Cuda };
} // namespace
SHARDKIT_ENUM_OPTION(ProgramTarget)

namespace {
/// The options that do not belong to a phase.
struct BundleOptionSet : PassPipelineOptions<BundleOptionSet> {
  Option<ProgramTarget> target{*this, "target", cl::desc("Device that runs the programs"),
                               cl::values(clEnumValN(ProgramTarget::Cpu, "cpu", "processors"),
                                          clEnumValN(ProgramTarget::Cuda, "cuda", "GPUs of NVIDIA")),
                               cl::init(ProgramTarget::Cpu)};
  Option<std::string> chip{*this, "chip", cl::desc("Compute capability of the GPU, for --target=cuda"),
                           cl::init("sm_90")};
  Option<std::string> cpu{*this, "mcpu", cl::desc("Processor; native is this machine's"), cl::init("native")};
  Option<Integer> optLevel{*this, "opt-level", cl::desc("0 to 3; 1 compiles many functions fast"), cl::init(3)};
  Option<Integer> parallelWork{
      *this, "parallel-work",
      cl::desc("For cpu: loop nests of at least this many scalar operations run on all threads of a device"),
      cl::init(1 << 16)};
  Option<Flag> groupLoops{*this, "group-loops",
                          cl::desc("For cpu: each expert computes the tokens that a mask gives it; off: all of them"),
                          cl::init(true)};
  Option<Flag> withReference{*this, "with-reference",
                             cl::desc("Add the unsharded programs that shard-run --verify compares with"),
                             cl::init(false)};
  Option<Flag> proof{
      *this, "proof",
      cl::desc("Compare the partitioned program with the unsharded one: an error where it is refused, and "
               "a certificate; off: not compared"),
      cl::init(true)};
  Option<Flag> loadPieces{
      *this, "load-pieces",
      cl::desc("Ranks read the bytes of their shards if a loading function only copies; off: all are compiled"),
      cl::init(true)};
  ListOption<std::string> shapes{*this, "shapes", cl::desc("Sizes of arguments of dynamic size"),
                                 cl::value_desc("NAME=SIZExSIZE")};
  Option<std::string> remarksFilter{*this, "remarks-filter", cl::desc("Print remarks whose category matches"),
                                    cl::value_desc("regex"), cl::init("")};
  Option<Flag> allowUnregistered{*this, "allow-unregistered-dialect",
                                 cl::desc("Parse operations of unknown dialects (they cannot be compiled)"),
                                 cl::init(false)};

  ListOption<std::string> dialectPlugins{*this, "load-dialect-plugin",
                                         cl::desc("Libraries with the dialects of ops of the program"),
                                         cl::value_desc("library")};
  ListOption<std::string> passPlugins{*this, "load-pass-plugin", cl::desc("Libraries with passes for --lowering"),
                                      cl::value_desc("library")};
  Option<std::string> lowering{*this, "lowering",
                               cl::desc("Passes on the module after its partition, and on the unsharded programs: "
                                        "they lower ops of plugins to upstream dialects on tensors"),
                               cl::value_desc("pipeline"), cl::init("")};

  cl::SubCommand &getOptions() { return *this; }

  /// "" or the error of a value.
  std::string verify() const {
    if (optLevel < 0 || optLevel > 3)
      return ("--opt-level is " + Twine(int64_t(optLevel.getValue())) + ", expected 0 to 3").str();
    if (parallelWork < 0)
      return ("--parallel-work is " + Twine(int64_t(parallelWork.getValue())) + ", expected 0 or more").str();
    if (target != ProgramTarget::Cuda && chip.getNumOccurrences() > 0)
      return "--chip is given, expected --target=cuda with it";
    if (target == ProgramTarget::Cuda && !isCudaChip(chip))
      return "--chip is '" + chip + "', expected sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_103, sm_120 or sm_121";
    return "";
  }
};
} // namespace

struct CompileOptionSet::Sets {
  PhaseOptionSet phases;
  BundleOptionSet bundle;

  /// Both with their values.
  std::string print() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    bundle.print(os);
    StringRef all = text;
    all.consume_back("}");
    return (all + " " + StringRef(phases.print()).split('{').second).str();
  }
};

/// Whether a bundle can be made with the option. Not with layouts that are kept for a report.
static bool makesBundle(const cl::Option &option) { return option.ArgStr != "keep-layouts"; }

CompileOptionSet::CompileOptionSet() : sets(std::make_unique<Sets>()) {}

CompileOptionSet::~CompileOptionSet() = default;

llvm::cl::Option *CompileOptionSet::find(StringRef name) const {
  for (cl::SubCommand *set : {&sets->bundle.getOptions(), &sets->phases.getOptions()})
    if (auto it = set->OptionsMap.find(name); it != set->OptionsMap.end() && makesBundle(*it->second))
      return it->second;
  return nullptr;
}

void CompileOptionSet::addToCommandLine(cl::OptionCategory &category) {
  for (cl::SubCommand *set : {&sets->bundle.getOptions(), &sets->phases.getOptions()})
    for (cl::Option *option : llvm::to_vector(llvm::make_second_range(set->OptionsMap))) {
      if (!makesBundle(*option))
        continue;
      option->removeArgument();
      option->addSubCommand(cl::SubCommand::getTopLevel());
      option->addCategory(category);
      option->addArgument();
    }
}

std::string CompileOptionSet::verify(StringRef argument) {
  return argument.starts_with("-") ? describeRename(RenameKind::Option, argument.ltrim('-').split('=').first) : "";
}

std::string CompileOptionSet::parse(ArrayRef<StringRef> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    auto [name, value] = argument.ltrim('-').split('=');
    if (std::string wrong = verify(argument); !wrong.empty())
      return wrong;
    cl::Option *option = argument.starts_with("-") ? find(name) : nullptr;
    if (!option)
      return ("unknown option '" + argument + "', expected one that shard-compile --help lists").str();
    if (!argument.contains('=') && option->getValueExpectedFlag() == cl::ValueRequired) {
      if (++i == arguments.size())
        return ("--" + name + " has no value, expected --" + name + "=VALUE").str();
      value = arguments[i];
    }
    if (option->getNumOccurrences() && option->getNumOccurrencesFlag() == cl::Optional)
      return ("--" + name + " is given twice, expected once").str();
    if (std::string wrong = setOption(*option, value); !wrong.empty())
      return wrong;
  }
  return "";
}

FailureOr<CompileOptions> CompileOptionSet::read(std::string &reason) const {
  const BundleOptionSet &set = sets->bundle;
  if (reason = set.verify(); !reason.empty())
    return failure();
  FailureOr<PhaseOptions> phases = sets->phases.read(reason);
  if (failed(phases))
    return failure();
  CompileOptions options;
  options.phases = *phases;
  options.bundle.target = set.target == ProgramTarget::Cuda ? "cuda" : "cpu";
  options.bundle.chip = set.chip;
  options.bundle.cpu = set.cpu;
  options.bundle.optLevel = set.optLevel;
  options.bundle.parallelWork = set.parallelWork;
  options.bundle.groupLoops = set.groupLoops;
  options.bundle.pieces = set.loadPieces;
  options.shapes.assign(set.shapes.begin(), set.shapes.end());
  options.withReference = set.withReference;
  options.proof = set.proof;
  options.remarksFilter = set.remarksFilter;
  options.allowUnregistered = set.allowUnregistered;
  options.dialectPlugins.assign(set.dialectPlugins.begin(), set.dialectPlugins.end());
  options.passPlugins.assign(set.passPlugins.begin(), set.passPlugins.end());
  options.lowering = set.lowering;
  // An option that is given without a value prints like one that is not given.
  options.canonical = sets->print() + (phases->autoShard ? " auto-shard" : "") + (phases->pipeline ? " pipeline" : "");
  return options;
}
