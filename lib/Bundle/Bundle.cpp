//===- Bundle.cpp - The writer of bundles ---------------------------------===//

#include "shardkit/Bundle/Bundle.h"
#include "Describe.h"
#include "shardkit/Conversion/CollectiveConversion.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Stages/ScheduleProgram.h"
#include "shardkit/Target/Common/Passes.h"
#include "shardkit/Target/Cuda/Passes.h"
#include "shardkit/Target/Program.h"
#include "shardkit/Transforms/AssignCollectiveIds.h"
#include "shardkit/Transforms/IdleCollectives.h"
#include "shardkit/Transforms/InlineCalls.h"
#include "shardkit/rt/abi.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::spmd;
namespace rt = shardkit::rt;

void spmd::registerTarget(DialectRegistry &registry) {
  target::registerCommonTarget(registry);
  cuda::registerCudaTarget(registry);
  registry.insert<SPMDDialect, cuda::SpmdCudaDialect>();
}

static rt::EntryPoint getEntry(int64_t program, const target::CompiledFunction &function) {
  rt::EntryPoint entry{program, function.symbol, function.arenaBytes, {}};
  ArrayRef<Attribute> arena = function.arena ? function.arena.getValue() : ArrayRef<Attribute>();
  for (; !arena.empty(); arena = arena.drop_front(2)) {
    ArrayRef<int64_t> after = cast<DenseI64ArrayAttr>(arena[1]).asArrayRef();
    entry.arena.push_back(
        {getSizeExpr(cast<AffineMapAttr>(arena[0]).getAffineMap().getResult(0)), {after.begin(), after.end()}});
  }
  return entry;
}

/// A copy of the module in which no public function calls another.
static FailureOr<OwningOpRef<ModuleOp>> cloneInlined(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  // Loading functions do not belong to the program.
  for (auto func : copy->getOps<func::FuncOp>())
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (func.getArgAttr(i, kLoadAttr)) {
        func.setArgAttr(i, kWeightAttr, StringAttr::get(func.getContext(), getWeightName(func, i)));
        func.removeArgAttr(i, kLoadAttr);
        func.removeArgAttr(i, kShardFunctionAttr);
      }
  bool calls = false;
  copy->walk([&](func::CallOp) { calls = true; });
  PassManager pm(module.getContext());
  pm.enableVerifier(false);
  if (calls)
    addInliner(pm, /*simplifies=*/false);
  pm.addPass(createSymbolDCEPass());
  if (failed(pm.run(*copy)))
    return failure();
  MeshCache meshes(*copy);
  for (auto func : copy->getOps<func::FuncOp>()) {
    FailureOr<bool> removed = removeIdleCollectives(func, meshes);
    if (failed(removed))
      return failure();
    if (calls || *removed) // those of a callee are now there once per call
      assignCollectiveIds(func);
  }
  for (auto func : copy->getOps<func::FuncOp>())
    if (failed(expandBroadcasts(func, meshes)) || failed(widenCollectives(func)))
      return failure();
  return std::move(copy);
}

/// Compiles the functions of `module` as entry points of a new program.
static LogicalResult addProgram(ModuleOp module, target::CodegenOptions codegen, StringRef file, StringRef dir,
                                rt::Manifest &out, llvm::StringMap<target::CompiledFunction> &compiled) {
  SmallString<128> path(dir);
  llvm::sys::path::append(path, file);
  if (failed(target::compileProgram(module, codegen, path, llvm::outs(), compiled)))
    return failure();
  if (!codegen.emit.empty())
    return success();
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return emitError(module.getLoc()) << "cannot read " << path << ": " << buffer.getError().message();
  llvm::MD5 md5;
  md5.update((*buffer)->getBuffer());
  llvm::MD5::MD5Result hash;
  md5.final(hash);
  out.programs.push_back({file.str(), int64_t((*buffer)->getBufferSize()), "md5:" + hash.digest().str().str()});
  return success();
}

static LogicalResult writeFile(Location loc, StringRef dir, StringRef name, StringRef text) {
  SmallString<128> path(dir);
  llvm::sys::path::append(path, name);
  std::error_code ec;
  llvm::raw_fd_ostream file(path, ec);
  if (!ec) {
    file << text;
    file.close();
    ec = file.error();
    file.clear_error();
  }
  if (ec)
    return emitError(loc) << "cannot write " << path << ": " << ec.message();
  return success();
}

/// A public copy of `func` in `module`, under its name or a similar unused one.
static std::string addCopy(func::FuncOp func, ModuleOp module) {
  func::FuncOp copy = func.clone();
  copy.setPublic();
  SymbolTable(module).insert(copy);
  return copy.getName().str();
}

/// Adds the callees of `functions` to `module`, unless it has functions of their names.
static void addCallees(SmallVector<func::FuncOp> functions, ModuleOp module) {
  while (!functions.empty())
    functions.pop_back_val().walk([&](func::CallOp call) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      if (callee && !module.lookupSymbol(callee.getNameAttr())) {
        module.push_back(callee.clone());
        functions.push_back(callee);
      }
    });
}

/// Writes shard functions as a program, and as IR next to it.
static LogicalResult addLoading(ModuleOp module, const MeshCache &meshes, target::CodegenOptions codegen, StringRef dir,
                                std::vector<LoadedArgument> &arguments, rt::Manifest &out) {
  OwningOpRef<ModuleOp> text = ModuleOp::create(module.getLoc());
  OwningOpRef<ModuleOp> program = ModuleOp::create(module.getLoc());
  llvm::MapVector<Operation *, std::string> names;
  DenseSet<Operation *> printed;
  for (LoadedArgument &argument : arguments) {
    func::FuncOp func = argument.shardFunction;
    if (func && printed.insert(func).second)
      addCopy(func, *text);
  }
  // A function with several layouts is compiled once, for the full argument, and the loader
  // extracts the shards: R functions and n layouts do not make R x n programs.
  llvm::MapVector<Operation *, DenseSet<Operation *>> layouts;
  for (LoadedArgument &argument : arguments)
    if (argument.load.function && argument.loadFunction && !argument.load.operands)
      layouts[argument.loadFunction].insert(argument.shardFunction);
  auto toCompile = [&](LoadedArgument &argument) {
    argument.load.isFull =
        argument.loadFunction && !argument.load.operands && layouts[argument.loadFunction].size() > 1;
    return argument.load.isFull ? argument.loadFunction : argument.shardFunction;
  };
  SmallVector<func::FuncOp> fullFunctions;
  for (LoadedArgument &argument : arguments) {
    if (!argument.load.function)
      continue;
    func::FuncOp func = toCompile(argument);
    if (names.count(func))
      continue;
    names[func] = addCopy(func, *program);
    if (argument.load.isFull)
      fullFunctions.push_back(func);
  }
  const bool hasCalls = llvm::any_of(fullFunctions, [](func::FuncOp func) {
    return func.walk([](func::CallOp) { return WalkResult::interrupt(); }).wasInterrupted();
  });
  addCallees(std::move(fullFunctions), *program);
  if (!printed.empty()) {
    for (const MeshCache::Entry &mesh : llvm::reverse(meshes.entries()))
      text->getBody()->push_front(mesh.op->clone());
    text.get()->setAttr(kPhaseAttr, module->getAttr(kPhaseAttr));
    std::string printedText;
    llvm::raw_string_ostream os(printedText);
    text->print(os);
    os << "\n";
    if (failed(writeFile(module.getLoc(), dir, "programs/loading.mlir", printedText)))
      return failure();
  }
  if (names.empty())
    return success();
  if (hasCalls) {
    FailureOr<OwningOpRef<ModuleOp>> inlined = cloneInlined(*program);
    if (failed(inlined))
      return failure();
    program = std::move(*inlined);
  }
  for (auto func : program->getOps<func::FuncOp>())
    if (failed(lowerCollectives(func, meshes)))
      return failure();
  codegen.prefix = "sk_load_";
  llvm::StringMap<target::CompiledFunction> compiled;
  int64_t index = out.programs.size();
  if (failed(addProgram(*program, codegen, "programs/loading.so", dir, out, compiled)))
    return failure();
  for (LoadedArgument &argument : arguments)
    if (argument.load.function) {
      const target::CompiledFunction &function = compiled[names[toCompile(argument)]];
      argument.load.function = getEntry(index, function);
    }
  return success();
}

/// The unsharded counterparts of functions with probes, which leave the module, each under the name of its function.
static OwningOpRef<ModuleOp> takeUnsharded(ModuleOp module) {
  OwningOpRef<ModuleOp> taken = ModuleOp::create(module.getLoc());
  SetVector<Operation *> counterparts;
  for (auto func : llvm::to_vector(module.getOps<func::FuncOp>())) {
    auto name = func->getAttrOfType<FlatSymbolRefAttr>(kUnshardedAttr);
    auto unsharded = name ? module.lookupSymbol<func::FuncOp>(name.getAttr()) : func::FuncOp();
    if (!unsharded)
      continue;
    // Functions can share one.
    func::FuncOp copy = unsharded.clone();
    copy.setPublic();
    copy.setSymName(func.getName());
    taken->push_back(copy);
    counterparts.insert(unsharded);
    func->removeAttr(kUnshardedAttr);
  }
  for (Operation *unsharded : counterparts)
    unsharded->erase();
  return taken;
}

/// Compiles the counterparts like the programs of devices, so that sharding alone makes a difference.
static LogicalResult addUnsharded(ModuleOp unsharded, target::CodegenOptions codegen, StringRef dir,
                                  rt::Manifest &out) {
  MeshCache none(unsharded);
  for (auto func : unsharded.getOps<func::FuncOp>())
    if (failed(lowerCollectives(func, none)))
      return failure();
  codegen.prefix = "sk_values_";
  llvm::StringMap<target::CompiledFunction> compiled;
  int64_t index = out.programs.size();
  if (failed(addProgram(unsharded, codegen, "programs/values.so", dir, out, compiled)))
    return failure();
  for (rt::FunctionInfo &function : out.functions)
    if (auto it = compiled.find(function.name); it != compiled.end())
      function.unsharded = getEntry(index, it->second);
  return success();
}

/// Adds the loading functions, for full arguments on one device, to the reference functions.
/// Returns their names there.
static llvm::MapVector<Operation *, std::string> addLoadReferences(ArrayRef<LoadedArgument> arguments,
                                                                   ModuleOp reference) {
  llvm::MapVector<Operation *, std::string> names;
  SmallVector<func::FuncOp> helpers;
  for (const LoadedArgument &argument : arguments)
    if (argument.loadFunction && !names.count(argument.loadFunction)) {
      names[argument.loadFunction] = addCopy(argument.loadFunction, reference);
      helpers.push_back(argument.loadFunction);
    }
  addCallees(std::move(helpers), reference);
  return names;
}

/// Moves the loads of the arguments of fragments to the arguments of their stage.
static void moveLoadingToStages(rt::PipelineInfo &pipeline) {
  for (auto [function, stage] : llvm::zip_equal(pipeline.functions, pipeline.stageOf))
    for (rt::ValueInfo &value : function.arguments)
      if (value.load && value.slot->kind == rt::Slot::Kind::Argument) {
        pipeline.stages[stage].held.arguments[value.slot->index].load = std::move(value.load);
        value.load.reset();
      }
}

/// Calls fn for all functions of a manifest, those of pipelines included.
template <typename Fn> static void forEachFunction(rt::Manifest &manifest, Fn &&fn) {
  llvm::for_each(manifest.functions, fn);
  for (rt::PipelineInfo &pipeline : manifest.pipelines)
    llvm::for_each(pipeline.functions, fn);
}

/// Describes how large rounding errors of the results of functions and pipelines are expected to be.
static void setRounding(ModuleOp reference, rt::Manifest &out) {
  auto set = [&](rt::FunctionInfo &function) {
    if (auto func = reference.lookupSymbol<func::FuncOp>(function.name); func && !func.isExternal())
      for (auto [result, rounding] : llvm::zip(function.results, estimateRounding(func)))
        result.rounding = rounding;
  };
  for (rt::FunctionInfo &function : out.functions)
    set(function);
  for (rt::PipelineInfo &pipeline : out.pipelines)
    set(pipeline.signature);
}

/// Makes one function of those that are buckets of one.
static void joinBuckets(ModuleOp module, rt::Manifest &out) {
  llvm::MapVector<StringAttr, std::vector<rt::FunctionInfo>> groups;
  for (rt::FunctionInfo &function : out.functions) {
    auto func = module.lookupSymbol<func::FuncOp>(function.name);
    auto bucketOf = func->getAttrOfType<StringAttr>(kBucketOfAttr);
    groups[bucketOf ? bucketOf : func.getSymNameAttr()].push_back(std::move(function));
  }
  out.functions.clear();
  for (auto &[name, group] : groups) {
    if (group.front().name == name.getValue()) {
      out.functions.push_back(std::move(group.front()));
      continue;
    }
    rt::FunctionInfo &joined = out.functions.emplace_back();
    joined.name = name.str();
    joined.buckets = std::move(group);
  }
}

bool spmd::isCudaChip(StringRef chip) {
  return llvm::is_contained({"sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120", "sm_121"},
                            chip);
}

LogicalResult spmd::writeBundle(ModuleOp module, ModuleOp reference, const BundleOptions &options, StringRef dir) {
  Location loc = module.getLoc();
  const bool isCuda = options.target == "cuda";
  if (options.target != "cpu" && !isCuda)
    return emitError(loc) << "unknown target '" << options.target << "', expected cpu or cuda";
  if (failed(verifyLowered(module, Phase::Final, "code generation")))
    return failure();
  SmallString<128> programs(dir);
  llvm::sys::path::append(programs, "programs");
  if (options.emit.empty())
    if (std::error_code ec =
            llvm::sys::fs::create_directories(programs, /*IgnoreExisting=*/true, llvm::sys::fs::all_all))
      return emitError(loc) << "cannot create " << programs << ": " << ec.message();

  MeshCache meshesOfLoading(module);
  FailureOr<std::vector<LoadedArgument>> loading = describeLoading(module, meshesOfLoading, options.pieces);
  if (failed(loading))
    return failure();
  FailureOr<OwningOpRef<ModuleOp>> work = cloneInlined(module);
  if (failed(work))
    return failure();
  rt::Manifest out;
  out.target = options.target;
  if (isCuda)
    out.chip = options.chip;
  out.producer = "shardkit 0.1.0";
  MeshCache meshes(work->get());
  llvm::StringMap<std::vector<rt::FunctionInfo>> fragments; // by schedule
  for (auto func : work->get().getOps<func::FuncOp>()) {
    if (func.isExternal())
      return func.emitError() << "function '" << func.getSymName() << "' has no body, expected a definition";
    if (!func.getBody().hasOneBlock())
      return func.emitError() << "function '" << func.getSymName()
                              << "' has unstructured control flow, expected one block (lift it "
                                 "first, for instance with --lift-cf-to-scf)";
    if (func.isPrivate())
      continue;
    FailureOr<rt::FunctionInfo> function = describeFunction(func, meshes, *loading, out);
    if (failed(function))
      return failure();
    if (!function->sizes.empty() && func->hasAttr(kScheduleAttr))
      return emitError(func.getLoc()) << "function '" << func.getSymName() << "' has a size '"
                                      << function->sizes.front().name
                                      << "' that only the run knows, expected one without stages, or --shapes";
    auto schedule = func->getAttrOfType<FlatSymbolRefAttr>(kScheduleAttr);
    (schedule ? fragments[schedule.getValue()] : out.functions).push_back(std::move(*function));
  }
  for (auto schedule : work->get().getOps<ScheduleOp>()) {
    rt::PipelineInfo &pipeline = out.pipelines.emplace_back();
    pipeline.functions = std::move(fragments[schedule.getSymName()]);
    if (failed(verifySchedule(schedule)) || failed(describePipeline(schedule, meshes, out, pipeline)))
      return failure();
  }
  if (out.functions.empty() && out.pipelines.empty()) {
    Block *body = module.getBody();
    return emitError(body->empty() ? loc : body->front().getLoc())
           << "the module has no public function, expected at least one func.func that is not "
              "private";
  }
  OwningOpRef<ModuleOp> unsharded = takeUnsharded(work->get());
  for (auto func : work->get().getOps<func::FuncOp>())
    if (failed(lowerCollectives(func, meshes)))
      return failure();
  for (Operation &op : llvm::make_early_inc_range(*work->get().getBody()))
    if (!isa<func::FuncOp>(op))
      op.erase();

  target::CodegenOptions codegen;
  codegen.cpu = options.cpu;
  codegen.optLevel = options.optLevel;
  codegen.parallelWork = options.parallelWork;
  codegen.groupLoops = options.groupLoops;
  codegen.hasProbes = !unsharded->getBody()->empty();
  if (codegen.hasProbes && isCuda)
    return emitError(loc) << "values are compared on processors, expected --target=cpu with --with-values";
  codegen.emit = options.emit;
  if (isCuda)
    codegen.chip = options.chip;
  llvm::StringMap<target::CompiledFunction> compiled;
  if (failed(addProgram(work->get(), codegen, "programs/main.so", dir, out, compiled)))
    return failure();
  if (!options.emit.empty())
    return success();
  forEachFunction(out, [&](rt::FunctionInfo &function) {
    const target::CompiledFunction &entry = compiled[function.name];
    function.entry = getEntry(0, entry);
  });

  if (codegen.hasProbes && failed(addUnsharded(*unsharded, codegen, dir, out)))
    return failure();
  codegen.hasProbes = false;
  codegen.chip.clear(); // The programs that follow are for the processor.
  if (failed(addLoading(module, meshesOfLoading, codegen, dir, *loading, out)))
    return failure();
  if (reference) {
    OwningOpRef<ModuleOp> withLoading = reference.clone();
    auto names = addLoadReferences(*loading, *withLoading);
    FailureOr<OwningOpRef<ModuleOp>> copy = cloneInlined(*withLoading);
    if (failed(copy))
      return failure();
    setRounding(copy->get(), out);
    int64_t index = out.programs.size();
    codegen.reference = true;
    codegen.prefix = "sk_ref_";
    codegen.optLevel = std::min(options.optLevel, 2u);
    llvm::StringMap<target::CompiledFunction> references;
    if (failed(addProgram(copy->get(), codegen, "programs/reference.so", dir, out, references)))
      return failure();
    for (rt::FunctionInfo &function : out.functions) {
      auto it = references.find(function.name);
      if (it != references.end())
        function.reference = getEntry(index, it->second);
    }
    for (rt::PipelineInfo &pipeline : out.pipelines)
      if (auto it = references.find(pipeline.signature.name); it != references.end())
        pipeline.signature.reference = getEntry(index, it->second);
    for (LoadedArgument &argument : *loading)
      if (argument.loadFunction) {
        const target::CompiledFunction &function = references[names[argument.loadFunction]];
        argument.load.reference = getEntry(index, function);
      }
  }
  for (LoadedArgument &argument : *loading)
    forEachFunction(out, [&](rt::FunctionInfo &function) {
      if (function.name == argument.function)
        function.arguments[argument.argument].load = std::move(argument.load);
    });
  llvm::for_each(out.pipelines, moveLoadingToStages);

  if (failed(writeConstants(module, dir, out)))
    return failure();
  joinBuckets(module, out);
  if (!options.certificate.empty() && failed(writeFile(loc, dir, "certificate.json", options.certificate)))
    return failure();
  if (!options.report.empty() && failed(writeFile(loc, dir, "report.json", options.report)))
    return failure();
  return writeFile(loc, dir, "manifest.json", rt::manifestText(out));
}
