//===- BuildStages.cpp - --spmd-build-stages, --spmd-outline-stages -------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Constraints.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Stages/AutoStages.h"
#include "shardkit/Stages/Schedule.h"
#include "shardkit/Stages/ScheduleProgram.h"
#include "shardkit/Stages/StageFunctions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDBUILDSTAGESPASS
#define GEN_PASS_DEF_SPMDOUTLINESTAGESPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

struct BuildStagesPass : public spmd::impl::SPMDBuildStagesPassBase<BuildStagesPass> {
  using Base::Base;

  void runOnOperation() override;

private:
  /// The result of stages=auto.
  std::optional<AutoStages> predicted;

  /// The function to split: the one that is named, or the only one with stage boundaries or
  /// microbatches, or the only public one.
  FailureOr<func::FuncOp> chooseFunction(ModuleOp module);
  FailureOr<MeshOp> lookup(ModuleOp module, StringRef name);
  static SmallVector<int64_t> getDevices(const Mesh &mesh);

  /// `2, 3`: `count` devices after those of the meshes.
  static std::string getFreeDevices(ModuleOp module, ArrayRef<std::string> meshes, int64_t count);

  /// The mesh of all devices.
  FailureOr<MeshOp> getCluster();

  /// The meshes that stand on the function, one per stage (`spmd.mesh = [@s0, @s1]`).
  LogicalResult readMeshes(func::FuncOp func, int64_t count, std::vector<std::string> &meshes);

  /// The meshes of the stages: those given, which share the devices of the cluster, or equal
  /// slices of the cluster.
  FailureOr<SmallVector<FlatSymbolRefAttr>> getMeshes(func::FuncOp func, int64_t count);

  /// Equal slices of the cluster along its first axis. That axis is dropped if its size in a
  /// slice is 1.
  FailureOr<SmallVector<FlatSymbolRefAttr>> sliceCluster(MeshOp cluster, int64_t count);

  /// Stages of a function without boundaries: of equal computation, or by search, which also
  /// finds the meshes.
  FailureOr<Stages> assignFound(func::FuncOp func, Microbatches &split, SmallVector<FlatSymbolRefAttr> &found);
  StringRef getScheduleName() const {
    return schedule == ScheduleChoice::Auto ? "auto" : toString(ScheduleKind(schedule.getValue()));
  }

  LogicalResult run(ModuleOp module);
};

void BuildStagesPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(verifyInput(module, Phase::Annotated, getArgument())))
    return signalPassFailure();
  if (getPhase(module) < int(Phase::Annotated)) {
    makeConstraintsOfShardings(module);
    setPhase(module, Phase::Annotated);
  }
  if (failed(run(module)))
    signalPassFailure();
}

FailureOr<func::FuncOp> BuildStagesPass::chooseFunction(ModuleOp module) {
  SmallVector<func::FuncOp> marked, all;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isPrivate() || func.isExternal())
      continue;
    if (!function.empty() && func.getName() == function)
      return func;
    all.push_back(func);
    bool isMarked = false;
    func.walk([&](StageBoundaryOp) { isMarked = true; });
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      isMarked |= func.getArgAttr(i, kMicrobatchAttr) != nullptr;
    if (isMarked)
      marked.push_back(func);
  }
  SmallVector<func::FuncOp> &candidates = marked.empty() ? all : marked;
  if (function.empty() && candidates.size() == 1)
    return candidates.front();
  InFlightDiagnostic diag = emitError(module.getLoc());
  if (function.empty())
    diag << "the module has " << candidates.size()
         << " functions to split into stages, expected the option function=NAME to choose one";
  else
    diag << "unknown function \"" << function << "\", expected a public function with a body";
  for (func::FuncOp func : all)
    diag.attachNote(func.getLoc()) << "available function: @" << func.getName();
  return diag;
}

FailureOr<MeshOp> BuildStagesPass::lookup(ModuleOp module, StringRef name) {
  if (auto mesh = module.lookupSymbol<MeshOp>(name))
    return mesh;
  InFlightDiagnostic diag = emitError(module.getLoc()) << "unknown mesh \"" << name << "\", expected an spmd.mesh";
  for (auto mesh : module.getOps<MeshOp>())
    diag.attachNote(mesh.getLoc()) << "available mesh: @" << mesh.getSymName();
  return diag;
}

SmallVector<int64_t> BuildStagesPass::getDevices(const Mesh &mesh) {
  if (!mesh.deviceIds.empty())
    return SmallVector<int64_t>(mesh.deviceIds.begin(), mesh.deviceIds.end());
  return llvm::to_vector(llvm::seq<int64_t>(0, mesh.numDevices()));
}

std::string BuildStagesPass::getFreeDevices(ModuleOp module, ArrayRef<std::string> meshes, int64_t count) {
  int64_t next = 0;
  for (const std::string &name : meshes)
    if (auto mesh = module.lookupSymbol<MeshOp>(name))
      for (int64_t device : getDevices(toMesh(mesh)))
        next = std::max(next, device + 1);
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(llvm::seq(next, next + count), os);
  return text;
}

FailureOr<MeshOp> BuildStagesPass::getCluster() {
  ModuleOp module = getOperation();
  if (!cluster.empty())
    return lookup(module, cluster);
  SmallVector<MeshOp> all = getMeshesWithAxes(module);
  if (all.size() == 1)
    return all.front();
  InFlightDiagnostic diag = emitError(module.getLoc()) << "module has " << all.size()
                                                       << " meshes, expected the option cluster=NAME to choose the one "
                                                          "whose devices the stages share";
  for (MeshOp mesh : all)
    diag.attachNote(mesh.getLoc()) << "available mesh: @" << mesh.getSymName();
  return diag;
}

LogicalResult BuildStagesPass::readMeshes(func::FuncOp func, int64_t count, std::vector<std::string> &meshes) {
  auto list = func->getAttrOfType<ArrayAttr>(kMeshAttr);
  if (!list)
    return success();
  if (int64_t(list.size()) != count * virtualStages)
    return func.emitError() << "spmd.mesh names " << list.size() << " meshes, expected " << count * virtualStages
                            << ", one per stage";
  for (auto [k, mesh] : llvm::enumerate(list.getAsRange<FlatSymbolRefAttr>())) {
    if (k < size_t(count))
      meshes.push_back(mesh.getValue().str());
    else if (mesh != list[k % count])
      return func.emitError() << "stage " << k << " is on " << mesh << ", expected " << list[k % count]
                              << ", the mesh of stage " << k % count;
  }
  return success();
}

FailureOr<SmallVector<FlatSymbolRefAttr>> BuildStagesPass::getMeshes(func::FuncOp func, int64_t count) {
  ModuleOp module = getOperation();
  MeshOp cluster;
  std::vector<std::string> meshes(this->meshes.begin(), this->meshes.end());
  if (meshes.empty() && failed(readMeshes(func, count, meshes)))
    return failure();
  SmallVector<MeshOp> all = getMeshesWithAxes(module);
  if (!this->cluster.empty()) {
    FailureOr<MeshOp> found = lookup(module, this->cluster);
    if (failed(found))
      return failure();
    cluster = *found;
  } else if (meshes.empty()) {
    if (all.size() != 1) {
      InFlightDiagnostic diag = emitError(module.getLoc())
                                << "module has " << all.size()
                                << " meshes, expected the option meshes=... to name that of each "
                                   "stage, or cluster=NAME to name the one to split";
      for (MeshOp mesh : all)
        diag.attachNote(mesh.getLoc()) << "available mesh: @" << mesh.getSymName();
      return diag;
    }
    cluster = all.front();
  }
  SmallVector<FlatSymbolRefAttr> result;
  if (meshes.empty())
    return sliceCluster(cluster, count);
  if (int64_t(meshes.size()) != count)
    return emitError(func.getLoc()) << meshes.size() << " meshes are given for " << count * virtualStages << " stages"
                                    << (virtualStages > 1 ? (", " + Twine(virtualStages) + " on each").str() : "")
                                    << ", expected " << count;
  llvm::DenseMap<int64_t, MeshOp> owner;
  for (const std::string &name : meshes) {
    FailureOr<MeshOp> mesh = lookup(module, name);
    if (failed(mesh))
      return failure();
    for (int64_t device : getDevices(toMesh(*mesh)))
      if (auto [it, isNew] = owner.try_emplace(device, *mesh); !isNew) {
        InFlightDiagnostic diag = mesh->emitError() << "device " << device << " belongs to two stages, expected "
                                                    << "the meshes of stages to have disjoint devices";
        if (Mesh read = toMesh(*mesh); read.deviceIds.empty())
          diag << ", for instance device_ids=[" << getFreeDevices(module, meshes, read.numDevices()) << "] on @" << name
               << ", which has those from 0 on without device_ids";
        diag.attachNote(it->second.getLoc()) << "the other stage, @" << it->second.getSymName();
        return diag;
      }
    result.push_back(FlatSymbolRefAttr::get(mesh->getSymNameAttr()));
  }
  if (cluster) {
    llvm::DenseSet<int64_t> devices;
    for (int64_t device : getDevices(toMesh(cluster))) {
      devices.insert(device);
      if (!owner.contains(device)) {
        InFlightDiagnostic diag = emitError(func.getLoc())
                                  << "device " << device << " of cluster @" << cluster.getSymName()
                                  << " belongs to no stage, expected the meshes of the stages "
                                     "to have all devices";
        diag.attachNote(cluster.getLoc()) << "the cluster";
        return diag;
      }
    }
    for (auto [device, mesh] : owner)
      if (!devices.contains(device))
        return mesh.emitError() << "device " << device << " is none of cluster @" << cluster.getSymName()
                                << ", expected its devices";
  }
  return result;
}

FailureOr<SmallVector<FlatSymbolRefAttr>> BuildStagesPass::sliceCluster(MeshOp cluster, int64_t count) {
  Mesh mesh = toMesh(cluster);
  if (count == 1)
    return SmallVector<FlatSymbolRefAttr>{FlatSymbolRefAttr::get(cluster.getSymNameAttr())};
  if (mesh.axes.empty() || mesh.axes.front().size % count != 0)
    return cluster.emitError() << "the first axis of the cluster has "
                               << (mesh.axes.empty() ? 0 : mesh.axes.front().size) << " indices, which " << count
                               << " stages do not divide, expected another axis first or the option meshes=...";
  SmallVector<int64_t> devices = getDevices(mesh);
  int64_t each = devices.size() / count;
  SmallVector<FlatSymbolRefAttr> result;
  OpBuilder b(cluster);
  b.setInsertionPointAfter(cluster);
  for (int64_t k = 0; k < count; ++k) {
    Mesh slice = mesh;
    slice.axes.front().size /= count;
    if (slice.axes.front().size == 1 && slice.axes.size() > 1) {
      slice.axes.erase(slice.axes.begin());
      if (!slice.alpha.empty())
        slice.alpha.erase(slice.alpha.begin());
      if (!slice.beta.empty())
        slice.beta.erase(slice.beta.begin());
    }
    slice.deviceIds.assign(devices.begin() + k * each, devices.begin() + (k + 1) * each);
    slice.name = (cluster.getSymName() + "_" + Twine(k)).str();
    MeshOp op = createMesh(b, cluster.getLoc(), slice.name, slice);
    result.push_back(FlatSymbolRefAttr::get(op.getSymNameAttr()));
  }
  return result;
}

FailureOr<Stages> BuildStagesPass::assignFound(func::FuncOp func, Microbatches &split,
                                               SmallVector<FlatSymbolRefAttr> &found) {
  for (auto boundary : func.getBody().front().getOps<StageBoundaryOp>())
    if (!boundary.getCandidate())
      return boundary.emitError() << "stage boundary with stages="
                                  << (stages == StageChoice::Uniform ? "uniform" : "auto")
                                  << ", expected candidates only (or stages=manual)";
  Microbatches copy = split;
  FailureOr<Stages> single = Stages::assign(func, copy, ArrayRef<Operation *>());
  if (failed(single))
    return failure();
  if (stages == StageChoice::Uniform) {
    int64_t count = numStages > 0 ? numStages : int64_t(meshes.size()) * virtualStages;
    if (count == 0)
      return func.emitError() << "stages=uniform without a number of stages, expected "
                                 "num-stages=N or meshes=...";
    auto splitPoints = chooseUniformSplitPoints(func, split, *single, count);
    if (failed(splitPoints))
      return failure();
    return Stages::assign(func, split, ArrayRef<Operation *>(*splitPoints));
  }
  if (virtualStages > 1)
    return func.emitError() << "stages=auto with virtual-stages=" << int64_t(virtualStages)
                            << ", expected 1 (the search gives every stage its devices), "
                               "or stages=uniform or manual";
  if (!meshes.empty() || func->getAttrOfType<ArrayAttr>(kMeshAttr))
    return func.emitError() << "stages=auto with meshes of stages given" << (meshes.empty() ? " by spmd.mesh" : "")
                            << ", expected cluster=NAME alone (the search finds them), or "
                               "stages=uniform or manual";
  FailureOr<MeshOp> cluster = getCluster();
  if (failed(cluster))
    return failure();
  split.makeLocal();
  AutoStageOptions options;
  options.cluster = *cluster;
  options.axes.assign(axes.begin(), axes.end());
  options.numStages = numStages;
  FailureOr<AutoStages> best = chooseStages(func, split, *single, options);
  if (failed(best))
    return failure();
  predicted = *best;
  OpBuilder b(*cluster);
  b.setInsertionPointAfter(*cluster);
  for (auto [k, mesh] : llvm::enumerate(best->meshes)) {
    mesh.name = (cluster->getSymName() + "_" + Twine(k)).str();
    MeshOp op = createMesh(b, cluster->getLoc(), mesh.name, mesh);
    b.setInsertionPointAfter(op);
    found.push_back(FlatSymbolRefAttr::get(op.getSymNameAttr()));
  }
  return Stages::assign(func, split, ArrayRef<Operation *>(best->splitPoints));
}

LogicalResult BuildStagesPass::run(ModuleOp module) {
  for (auto [name, value] :
       {std::pair("microbatches", int64_t(microbatches)), std::pair("virtual-stages", int64_t(virtualStages))})
    if (value < 1)
      return emitError(module.getLoc()) << name << "=" << value << ", expected at least 1";
  if (virtualStages > 1 && schedule != ScheduleChoice::InterleavedOneFOneB)
    return emitError(module.getLoc()) << "virtual-stages=" << int64_t(virtualStages) << " with "
                                      << "schedule=" << getScheduleName() << ", expected schedule=interleaved-1f1b";
  FailureOr<func::FuncOp> chosen = chooseFunction(module);
  if (failed(chosen))
    return failure();
  func::FuncOp func = *chosen;
  if (!func.getBody().hasOneBlock())
    return func.emitError() << "function '" << func.getName()
                            << "' has several blocks, expected one (lift its control flow "
                               "first, for instance with --lift-cf-to-scf)";
  bool isSplit = stages != StageChoice::Manual;
  for (auto boundary : func.getBody().front().getOps<StageBoundaryOp>())
    isSplit |= !boundary.getCandidate();
  FailureOr<Microbatches> split = Microbatches::analyze(func, microbatches);
  if (failed(split))
    return failure();
  SmallVector<FlatSymbolRefAttr> found;
  FailureOr<Stages> assigned =
      stages == StageChoice::Manual ? Stages::assign(func, *split) : assignFound(func, *split, found);
  if (failed(assigned))
    return failure();
  int64_t count = assigned->getNumStages();
  if (numStages > 0 && numStages != count)
    return func.emitError() << "the stage boundaries make " << count << " stages, expected " << int64_t(numStages)
                            << ", the value of num-stages";
  if (count % virtualStages != 0)
    return func.emitError() << "the stage boundaries make " << count << " stages, expected a multiple of "
                            << int64_t(virtualStages) << ", the stages on each mesh";
  StringRef kind = schedule == ScheduleChoice::Auto ? assigned->isTraining() ? "1f1b" : "inference" : getScheduleName();
  if ((kind == "inference") == assigned->isTraining() && count > 1)
    return func.emitError() << "schedule=" << kind << " and the function has " << (assigned->isTraining() ? "a" : "no")
                            << " backward fragment, expected "
                            << (assigned->isTraining() ? "gpipe, 1f1b, 1f1b-overlap or interleaved-1f1b" : "inference");
  FailureOr<SmallVector<FlatSymbolRefAttr>> names = std::move(found);
  if (names->empty())
    names = getMeshes(func, count / virtualStages);
  if (failed(names))
    return failure();
  // The schedule replaces the function.
  OpBuilder b(func);
  FunctionType type = func.getFunctionType();
  type = b.getFunctionType(type.getInputs().take_front(split->getNumOriginal()), type.getResults());
  auto dictionaries = [&](ArrayAttr attrs, unsigned n) {
    SmallVector<Attribute> list(n, b.getDictionaryAttr({}));
    if (attrs)
      list.assign(attrs.begin(), attrs.begin() + n);
    return b.getArrayAttr(list);
  };
  if (stages != StageChoice::Auto)
    split->makeLocal();
  auto name = FlatSymbolRefAttr::get(func.getNameAttr());
  if (failed(buildStageFunctions(func, *split, *assigned, *names, isSplit, name)))
    return failure();
  SmallVector<Attribute> meshAttrs(names->begin(), names->end());
  auto op = ScheduleOp::create(b, func.getLoc(), func.getName(), kind, microbatches, b.getArrayAttr(meshAttrs), type,
                               dictionaries(func.getArgAttrsAttr(), type.getNumInputs()),
                               dictionaries(func.getResAttrsAttr(), type.getNumResults()));
  op.getBody().emplaceBlock();
  if (predicted) {
    op->setAttr("predicted_seconds", b.getF64FloatAttr(predicted->objective));
    op->setAttr("stage_seconds", b.getF64ArrayAttr(predicted->seconds));
  }
  func.erase();
  return success();
}

struct OutlineStagesPass : public spmd::impl::SPMDOutlineStagesPassBase<OutlineStagesPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto schedules = llvm::to_vector(module.getOps<ScheduleOp>());
    auto isEmpty = [](ScheduleOp schedule) { return schedule.getBody().front().empty(); };
    // Lists can be checked in any phase.
    if ((schedules.empty() || llvm::any_of(schedules, isEmpty)) &&
        failed(verifyInput(module, Phase::Partitioned, getArgument())))
      return signalPassFailure();
    for (ScheduleOp schedule : schedules)
      if (failed(isEmpty(schedule) ? outlineStages(schedule) : verifySchedule(schedule)))
        return signalPassFailure();
  }
};

} // namespace
