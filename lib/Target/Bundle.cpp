//===- Bundle.cpp - What runs without MLIR --------------------------------===//

#include "shardkit/Target/Bundle.h"
#include "Describe.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "shardkit/Target/CPU/Passes.h"
#include "shardkit/Target/CPU/Program.h"
#include "shardkit/rt/abi.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::spmd;
namespace manifest = shardkit::manifest;

void spmd::registerTarget(DialectRegistry &registry) {
  cpu::registerCPUTarget(registry);
  registry.insert<SPMDDialect>();
}

/// A copy of the module in which no public function calls another.
static FailureOr<OwningOpRef<ModuleOp>> cloneInlined(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  bool calls = false;
  copy->walk([&](func::CallOp) { calls = true; });
  PassManager pm(module.getContext());
  pm.enableVerifier(false);
  if (calls)
    pm.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  pm.addPass(createSymbolDCEPass());
  if (failed(pm.run(*copy)))
    return failure();
  if (calls) // those of a callee are now there once per call
    for (auto func : copy->getOps<func::FuncOp>())
      numberCollectives(func);
  return std::move(copy);
}

static void addMesh(const Mesh &mesh, manifest::Manifest &out) {
  if (llvm::any_of(out.meshes, [&](const manifest::Mesh &m) { return m.name == mesh.name; }))
    return;
  manifest::Mesh entry;
  entry.name = mesh.name;
  for (const MeshAxis &axis : mesh.axes)
    entry.axes.emplace_back(axis.name, axis.size);
  bool iota = true;
  for (auto [i, id] : llvm::enumerate(mesh.deviceIds))
    iota &= id == int64_t(i);
  if (!iota)
    entry.deviceIds.assign(mesh.deviceIds.begin(), mesh.deviceIds.end());
  out.meshes.push_back(entry);
}

/// Functions of `module` as entry points of a new program; gives it its file.
static LogicalResult addProgram(ModuleOp module, cpu::CodegenOptions codegen, StringRef file,
                                StringRef dir, manifest::Manifest &out,
                                llvm::StringMap<cpu::CompiledFunction> &compiled) {
  SmallString<128> path(dir);
  llvm::sys::path::append(path, file);
  if (failed(cpu::compileProgram(module, codegen, path, llvm::outs(), compiled)))
    return failure();
  if (!codegen.emit.empty())
    return success();
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return emitError(UnknownLoc::get(module.getContext()))
           << "cannot read " << path << ": " << buffer.getError().message();
  llvm::MD5 md5;
  md5.update((*buffer)->getBuffer());
  llvm::MD5::MD5Result hash;
  md5.final(hash);
  out.programs.push_back({file.str(), int64_t((*buffer)->getBufferSize()),
                          "md5:" + hash.digest().str().str()});
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

LogicalResult spmd::writeBundle(ModuleOp module, ModuleOp reference,
                                const BundleOptions &options, StringRef dir) {
  Location loc = module.getLoc();
  if (options.target != "cpu")
    return emitError(loc) << "unknown target '" << options.target << "', expected cpu";
  SmallString<128> programs(dir);
  llvm::sys::path::append(programs, "programs");
  if (options.emit.empty())
    if (std::error_code ec = llvm::sys::fs::create_directories(programs))
      return emitError(loc) << "cannot create " << programs << ": " << ec.message();

  FailureOr<OwningOpRef<ModuleOp>> work = cloneInlined(module);
  if (failed(work))
    return failure();
  manifest::Manifest out;
  out.target = options.target;
  out.producer = "shardkit 0.1.0";
  out.abi = SK_ABI_VERSION;
  MeshCache meshes(work->get());
  for (auto func : work->get().getOps<func::FuncOp>()) {
    if (func.isExternal())
      return func.emitError() << "function '" << func.getSymName() << "' has no body, expected a definition";
    if (!func.getBody().hasOneBlock())
      return func.emitError() << "function '" << func.getSymName()
                              << "' has unstructured control flow, expected one block (lift it "
                                 "first, for instance with --lift-cf-to-scf)";
    if (func.isPrivate())
      continue;
    FailureOr<manifest::Function> function = describeFunction(func, meshes);
    if (failed(function))
      return failure();
    if (function->mesh)
      addMesh(*meshes.lookup(*function->mesh), out);
    out.functions.push_back(*function);
  }
  if (out.functions.empty()) {
    Block *body = module.getBody();
    return emitError(body->empty() ? loc : body->front().getLoc())
           << "the module has no public function, expected at least one func.func that is not "
              "private";
  }
  for (auto func : work->get().getOps<func::FuncOp>())
    if (failed(lowerCollectives(func, meshes)))
      return failure();
  for (Operation &op : llvm::make_early_inc_range(*work->get().getBody()))
    if (!isa<func::FuncOp>(op))
      op.erase();

  cpu::CodegenOptions codegen;
  codegen.cpu = options.cpu;
  codegen.optLevel = options.optLevel;
  codegen.emit = options.emit;
  llvm::StringMap<cpu::CompiledFunction> compiled;
  if (failed(addProgram(work->get(), codegen, "programs/main.so", dir, out, compiled)))
    return failure();
  if (!options.emit.empty())
    return success();
  for (manifest::Function &function : out.functions) {
    const cpu::CompiledFunction &entry = compiled[function.name];
    function.entry = {0, entry.symbol, entry.arenaBytes};
  }

  if (reference) {
    FailureOr<OwningOpRef<ModuleOp>> copy = cloneInlined(reference);
    if (failed(copy))
      return failure();
    codegen.reference = true;
    codegen.prefix = "sk_ref_";
    codegen.optLevel = std::min(options.optLevel, 2u);
    llvm::StringMap<cpu::CompiledFunction> references;
    if (failed(addProgram(copy->get(), codegen, "programs/reference.so", dir, out, references)))
      return failure();
    for (manifest::Function &function : out.functions) {
      auto it = references.find(function.name);
      if (it != references.end())
        function.reference = {1, it->second.symbol, it->second.arenaBytes};
    }
  }

  if (!options.report.empty() && failed(writeFile(loc, dir, "report.json", options.report)))
    return failure();
  return writeFile(loc, dir, "manifest.json", manifest::toJson(out));
}
