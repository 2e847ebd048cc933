//===- Compile.cpp - From IR in memory to a bundle ------------------------===//

#include "shardkit/Driver/Compile.h"
#include "Phases.h"
#include "shardkit/AutoSharding/FunctionSearch.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/InitAllDialects.h"
#include "shardkit/Support/LocatedDiagnostics.h"
#include "shardkit/Transforms/Reference.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Remarks.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"
#include <mutex>

using namespace mlir;
using namespace mlir::spmd;
namespace fs = llvm::sys::fs;

namespace {
/// The diagnostics of a compilation: at most one error, as later ones follow from the first.
class DiagnosticReporter {
public:
  DiagnosticReporter(std::function<void(const CompileDiagnostic &)> report, const int32_t *cancel)
      : report(std::move(report)), cancel(cancel) {}

  bool isCancelled() const { return cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED); }

  void add(CompileDiagnostic diag) {
    if (diag.severity == DiagnosticSeverity::Error && std::exchange(hasError, true))
      return;
    // Errors follow from passes that did not run.
    if (diag.severity == DiagnosticSeverity::Error && isCancelled())
      diag = makeError("the compilation was cancelled");
    report(diag);
    all.push_back(std::move(diag));
  }

  LogicalResult fail(const Twine &message) {
    add(makeError(message));
    return failure();
  }

  void warn(const Twine &message) {
    CompileDiagnostic diag = makeError(message);
    diag.severity = DiagnosticSeverity::Warning;
    diag.text = ("warning: " + message + "\n").str();
    add(std::move(diag));
  }

  std::vector<CompileDiagnostic> all;

private:
  /// One that is not about the IR.
  static CompileDiagnostic makeError(const Twine &message) {
    CompileDiagnostic diag;
    diag.message = message.str();
    diag.text = ("error: " + message + "\n").str();
    return diag;
  }

  std::function<void(const CompileDiagnostic &)> report;
  const int32_t *cancel;
  bool hasError = false;
};

/// Makes values of the diagnostics of a context.
class ValueDiagnosticHandler : public SourceMgrDiagnosticHandler {
public:
  ValueDiagnosticHandler(llvm::SourceMgr &sources, MLIRContext *context, DiagnosticReporter &reporter)
      : SourceMgrDiagnosticHandler(sources, context, stream), stream(text), reporter(reporter) {
    setHandler([this](Diagnostic &diag) { add(diag); });
  }

private:
  void add(Diagnostic &diag) {
    emitDiagnostic(diag);
    CompileDiagnostic value = toValue(diag);
    value.text = std::exchange(text, "");
    reporter.add(std::move(value));
  }

  static CompileDiagnostic toValue(Diagnostic &diag) {
    CompileDiagnostic value;
    value.severity = diag.getSeverity();
    value.message = diag.str();
    if (auto location = diag.getLocation()->findInstanceOf<FileLineColLoc>()) {
      value.file = location.getFilename().str();
      value.line = location.getLine();
      value.column = location.getColumn();
    }
    for (Diagnostic &note : diag.getNotes())
      value.notes.push_back(toValue(note));
    return value;
  }

  std::string text;
  llvm::raw_string_ostream stream;
  DiagnosticReporter &reporter;
};

/// A directory that is removed with its content, unless it was moved away.
class TemporaryDirectory {
public:
  ~TemporaryDirectory() {
    if (!path.empty())
      fs::remove_directories(path);
  }
  std::error_code create(const Twine &prefix) { return fs::createUniqueDirectory(prefix, path); }
  SmallString<128> path;
};

/// One compilation.
class Compilation {
public:
  Compilation(const CompileRequest &request, DiagnosticReporter &reporter) : request(request), reporter(reporter) {}

  LogicalResult run();
  bool isFromCache = false;

private:
  LogicalResult compileTo(StringRef directory);
  LogicalResult loadPlugins(DialectRegistry &registry);
  LogicalResult lower(ModuleOp module);
  LogicalResult compileModule(llvm::SourceMgr &sources, MLIRContext &context, StringRef directory);
  LogicalResult compileOrFind(StringRef directory);
  LogicalResult publish(StringRef temporary, StringRef destination);
  LogicalResult readFiles(StringRef directory, std::vector<BundleFile> &files);
  LogicalResult useEntry(const CacheEntry &entry, StringRef directory);
  StringRef getName() const { return request.ir->getBufferIdentifier(); }
  bool isCancelled() const { return reporter.isCancelled(); }

  const CompileRequest &request;
  DiagnosticReporter &reporter;
  bool isFinal = true; // unless more time of a search may give a better program
};
} // namespace

/// Whether a time limit ended the search of a function.
static bool hasTimedOut(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp func) {
    auto solver = func->getAttrOfType<DictionaryAttr>(kSolverAttr);
    return solver && solver.contains(kTimedOutName);
  });
}

/// Gives the resources that a module names and has no elements of those of the request.
static void setResources(MLIRContext &context, ArrayRef<CompileResource> resources) {
  auto *interface =
      context.getLoadedDialect<BuiltinDialect>()->getRegisteredInterface<ResourceBlobManagerDialectInterface>();
  for (const CompileResource &resource : resources)
    if (auto *entry = interface->getBlobManager().lookup(resource.name); entry && !entry->getBlob())
      entry->setBlob(UnmanagedAsmResourceBlob::allocateWithAlign(resource.data, /*align=*/1));
}

LogicalResult Compilation::compileModule(llvm::SourceMgr &sources, MLIRContext &context, StringRef directory) {
  const CompileOptions &options = request.options;
  auto failedWith = [&](const Twine &what) { return reporter.fail("'" + getName() + "' " + what); };
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return failedWith("is not an IR file");
  setResources(context, request.resources);
  if (failed(specializeShapes(*module, options.shapes)) || failed(addArguments(*module, options.phases)))
    return failedWith("cannot be compiled");
  OwningOpRef<ModuleOp> reference;
  if (options.withReference && failed(writeInferredSegments(*module, options.phases)))
    return failedWith("cannot be compiled");
  if (options.withReference)
    if (!(reference = makeReference(*module)))
      return failedWith("has no unsharded form");
  dropReferences(*module);
  BundleOptions bundle = options.bundle;
  bundle.emit = request.emit;
  const bool isBundle = request.emit.empty();
  if (failed(runPhases(*module, options.phases, isBundle ? &bundle.report : nullptr,
                       isBundle ? &bundle.certificate : nullptr, isBundle && options.proof)))
    return failedWith("cannot be compiled");
  isFinal = !hasTimedOut(*module);
  if (request.emit == "local") {
    module->print(llvm::outs());
    return success();
  }
  if (!request.emit.empty())
    reference = nullptr;
  if (failed(lower(*module)) || (reference && failed(lower(*reference))))
    return failedWith("cannot be lowered");
  if (failed(writeBundle(*module, reference ? *reference : ModuleOp(), bundle, directory)) || isCancelled())
    return reporter.fail("compilation failed");
  return success();
}

LogicalResult Compilation::loadPlugins(DialectRegistry &registry) {
  // Passes are those of the process.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  auto fail = [&](StringRef path, llvm::Error error) {
    return reporter.fail("cannot load '" + path + "': " + llvm::toString(std::move(error)));
  };
  for (const std::string &path : request.options.dialectPlugins) {
    llvm::Expected<DialectPlugin> plugin = DialectPlugin::load(path);
    if (!plugin)
      return fail(path, plugin.takeError());
    plugin->registerDialectRegistryCallbacks(registry);
  }
  for (const std::string &path : request.options.passPlugins) {
    llvm::Expected<PassPlugin> plugin = PassPlugin::load(path);
    if (!plugin)
      return fail(path, plugin.takeError());
    plugin->registerPassRegistryCallbacks();
  }
  if (!request.options.lowering.empty())
    mlir::registerAllPasses();
  return success();
}

/// Lowers ops of plugins to those that targets know.
LogicalResult Compilation::lower(ModuleOp module) {
  if (request.options.lowering.empty())
    return success();
  PassManager pm(module.getContext());
  std::string error;
  llvm::raw_string_ostream os(error);
  if (failed(parsePassPipeline(request.options.lowering, pm, os)))
    return reporter.fail("--lowering is '" + request.options.lowering +
                         "', expected a list of passes: " + StringRef(error).split("error: ").second.split('\n').first);
  return pm.run(module);
}

LogicalResult Compilation::compileTo(StringRef directory) {
  const CompileOptions &options = request.options;
  // The parser would print the bytes in its error.
  if (request.ir->getBuffer().contains('\0') && !isBytecode(request.ir->getMemBufferRef()))
    return reporter.fail("'" + getName() + "' is binary data, expected MLIR as text or bytecode");
  DialectRegistry registry;
  registerTarget(registry);
  registerAllDialects(registry);
  if (failed(loadPlugins(registry)))
    return failure();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  context.allowUnregisteredDialects(options.allowUnregistered);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(request.ir->getMemBufferRef()), SMLoc());
  ValueDiagnosticHandler handler(sources, &context, reporter);
  locateDiagnostics(&context, getName());
  if (request.cancel)
    context.registerActionHandler([this](llvm::function_ref<void()> run, const tracing::Action &) {
      if (!isCancelled())
        run();
    });
  if (!options.remarksFilter.empty()) {
    // The engine looks at the filter of all kinds for those kinds alone that have one, even an empty one.
    remark::RemarkCategories categories{options.remarksFilter, "", "", "", ""};
    std::string error;
    if (!llvm::Regex(options.remarksFilter).isValid(error) ||
        failed(remark::enableOptimizationRemarks(context, nullptr, std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                                 categories, /*printAsEmitRemarks=*/true)))
      return reporter.fail("--remarks-filter is '" + options.remarksFilter + "', expected a regular expression");
  }
  return compileModule(sources, context, directory);
}

/// Reads all files below `directory`, in order of their names.
LogicalResult Compilation::readFiles(StringRef directory, std::vector<BundleFile> &files) {
  std::error_code ec;
  for (fs::recursive_directory_iterator it(directory, ec), end; !ec && it != end; it.increment(ec)) {
    if (it->type() == fs::file_type::directory_file)
      continue;
    auto buffer = llvm::MemoryBuffer::getFile(it->path(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer)
      return reporter.fail("cannot read '" + Twine(it->path()) + "': " + buffer.getError().message());
    StringRef name = it->path();
    name.consume_front(directory);
    files.push_back({name.ltrim('/').str(), (*buffer)->getBuffer().str()});
  }
  if (ec)
    return reporter.fail("cannot read '" + directory + "': " + ec.message());
  llvm::sort(files, [](const BundleFile &a, const BundleFile &b) { return a.name < b.name; });
  return success();
}

/// Reports what the compilation of an entry did, and writes its files.
LogicalResult Compilation::useEntry(const CacheEntry &entry, StringRef directory) {
  isFromCache = true;
  for (const CompileDiagnostic &diag : entry.diagnostics)
    reporter.add(diag);
  for (const BundleFile &file : entry.files) {
    SmallString<128> path(directory);
    llvm::sys::path::append(path, file.name);
    std::error_code ec = fs::create_directories(llvm::sys::path::parent_path(path), true, fs::all_all);
    if (!ec) {
      llvm::raw_fd_ostream os(path, ec);
      if (!ec) {
        os << file.contents;
        os.close();
        ec = os.error();
        os.clear_error();
      }
    }
    if (ec)
      return reporter.fail("cannot write '" + path + "': " + ec.message());
  }
  return success();
}

/// Text that differs for resources of other names or elements, and for other plugins.
static std::string hashResources(const CompileRequest &request) {
  std::string text;
  auto add = [&](StringRef name, StringRef data) {
    llvm::BLAKE3 hash;
    hash.update(data);
    text += (name + "=" + llvm::toHex(hash.final()) + ";").str();
  };
  for (const CompileResource &resource : request.resources)
    add(resource.name, StringRef(resource.data.data(), resource.data.size()));
  for (const std::string &path :
       llvm::concat<const std::string>(request.options.dialectPlugins, request.options.passPlugins))
    if (auto plugin = llvm::MemoryBuffer::getFile(path))
      add(path, (*plugin)->getBuffer());
  return text;
}

/// Fills `directory` with a bundle, from the cache if that has it.
LogicalResult Compilation::compileOrFind(StringRef directory) {
  const BundleCache *cache = request.cache;
  std::string warning = cache ? cache->prepare() : "";
  if (!warning.empty())
    reporter.warn(warning + "; it is not used");
  if (!cache || !warning.empty())
    return compileTo(directory);
  const std::string key = BundleCache::getKey(request.ir->getBuffer(), getName(), hashResources(request),
                                              request.options.canonical, request.options.bundle.cpu == "native");
  if (std::optional<CacheEntry> entry = cache->find(key, warning))
    return useEntry(*entry, directory);
  std::unique_ptr<CacheLock> lock = cache->lock(key, [this] { return isCancelled(); });
  std::string another;
  if (std::optional<CacheEntry> entry = cache->find(key, another))
    return useEntry(*entry, directory);
  if (warning.empty())
    warning = another;
  if (!warning.empty())
    reporter.warn(warning);
  CacheEntry entry;
  const size_t before = reporter.all.size();
  if (failed(compileTo(directory)) || failed(readFiles(directory, entry.files)))
    return failure();
  entry.diagnostics.assign(reporter.all.begin() + before, reporter.all.end());
  if (!isFinal)
    return success();
  if (warning = cache->store(key, entry); !warning.empty())
    reporter.warn(warning);
  return success();
}

/// Moves the finished bundle to its destination, and removes an older bundle there.
LogicalResult Compilation::publish(StringRef temporary, StringRef destination) {
  std::error_code ec;
  SmallString<128> old;
  if (fs::exists(destination)) {
    // Only a bundle or an empty directory is replaced.
    fs::directory_iterator it(destination, ec), end;
    SmallString<128> manifest(destination);
    llvm::sys::path::append(manifest, "manifest.json");
    if (ec || (it != end && !fs::exists(manifest)))
      return reporter.fail("'" + destination + "' exists and is not a bundle, expected a new or empty directory");
    old = temporary;
    old += ".old";
    if ((ec = fs::rename(destination, old)))
      return reporter.fail("cannot replace '" + destination + "': " + ec.message());
  }
  if ((ec = fs::rename(temporary, destination)))
    return reporter.fail("cannot write '" + destination + "': " + ec.message());
  if (!old.empty())
    fs::remove_directories(old);
  return success();
}

LogicalResult Compilation::run() {
  if (!request.emit.empty())
    return compileTo("");
  // Written next to the destination, so that the bundle appears in one step.
  SmallString<128> destination(request.output);
  while (destination.size() > 1 && llvm::sys::path::is_separator(destination.back()))
    destination.pop_back();
  TemporaryDirectory temporary;
  if (destination.empty()) {
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, destination);
    llvm::sys::path::append(destination, "shardkit");
  }
  std::error_code ec = fs::make_absolute(destination);
  if (!ec)
    ec = temporary.create(destination + ".tmp");
  if (ec)
    return reporter.fail("cannot write '" + destination + "': " + ec.message());
  if (failed(compileOrFind(temporary.path)))
    return failure();
  if (request.files && failed(readFiles(temporary.path, *request.files)))
    return failure();
  if (request.output.empty())
    return success();
  // createUniqueDirectory makes it private; a bundle has the permissions that the umask gives new directories.
  (void)fs::setPermissions(temporary.path, fs::perms(0777 & ~fs::getUmask()));
  if (failed(publish(temporary.path, destination)))
    return failure();
  temporary.path.clear();
  return success();
}

LogicalResult spmd::compile(const CompileRequest &request, std::function<void(const CompileDiagnostic &)> report,
                            bool *isFromCache) {
  DiagnosticReporter reporter(std::move(report), request.cancel);
  Compilation compilation(request, reporter);
  LogicalResult result = compilation.run();
  if (isFromCache)
    *isFromCache = compilation.isFromCache;
  return result;
}
