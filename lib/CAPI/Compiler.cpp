//===- Compiler.cpp - The compiler in the process -------------------------===//

#include "shardkit-c/Compiler.h"
#include "shardkit/Driver/Compile.h"
#include "shardkit/Target/Common/CatchCrashes.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/thread.h"
#include <optional>

using namespace mlir;
using namespace mlir::spmd;

struct SkCompilation {
  bool isOk = false, isFromCache = false;
  std::vector<CompileDiagnostic> diagnostics;
  std::vector<BundleFile> files;

  void fail(const Twine &message) {
    CompileDiagnostic &diag = diagnostics.emplace_back();
    diag.message = message.str();
    diag.text = "error: " + diag.message + "\n";
  }
};

/// The stack of a compilation, whatever that of the calling thread is: as large as that of a main thread.
static constexpr unsigned kStackBytes = 8u << 20;

static void compileRequest(const SkCompileRequest &given, SkCompilation &out) {
  CompileOptionSet set;
  SmallVector<StringRef> arguments(given.options, given.options + given.optionCount);
  std::string message = set.parse(arguments);
  if (!message.empty())
    return out.fail(message);
  FailureOr<CompileOptions> options = set.read(message);
  if (failed(options))
    return out.fail(message);
  auto cache = BundleCache::open(given.cache ? given.cache : "", message);
  if (failed(cache))
    return out.fail(message);
  CompileRequest request;
  request.ir = llvm::MemoryBuffer::getMemBufferCopy(StringRef(given.ir, given.irBytes), given.name ? given.name : "-");
  request.options = std::move(*options);
  request.output = given.output ? given.output : "";
  request.files = given.output ? nullptr : &out.files;
  request.cache = cache->get();
  request.cancel = given.cancel;
  if (given.abi >= 2)
    for (const SkResource &resource : ArrayRef(given.resources, given.resourceCount))
      request.resources.push_back({resource.name, ArrayRef(static_cast<const char *>(resource.data), resource.bytes)});
  out.isOk = succeeded(
      compile(request, [&](const CompileDiagnostic &diag) { out.diagnostics.push_back(diag); }, &out.isFromCache));
}

SkCompilation *skCompile(const SkCompileRequest *request) {
  auto out = std::make_unique<SkCompilation>();
  if (!request || request->abi < 1 || request->abi > SK_COMPILER_ABI_VERSION) {
    out->fail("compiler ABI version " + Twine(request ? request->abi : 0) + ", this compiler has version " +
              Twine(SK_COMPILER_ABI_VERSION));
    return out.release();
  }
  if (!request->ir || request->irBytes < 0 || request->optionCount < 0 || (request->optionCount && !request->options)) {
    out->fail("a request without IR or options, expected their addresses");
    return out.release();
  }
  if (request->abi >= 2 && (request->resourceCount < 0 || (request->resourceCount && !request->resources))) {
    out->fail("a request without resources, expected their address");
    return out.release();
  }
  // What a crash leaves behind is not destroyed.
  auto *result = new SkCompilation;
  bool isDone = false;
  llvm::thread worker(std::optional<unsigned>(kStackBytes),
                      [&] { isDone = target::runCatchingCrashes([&] { compileRequest(*request, *result); }); });
  worker.join();
  if (isDone)
    return result;
  out->fail("the compiler crashed, expected a bundle: shard-compile shows where");
  return out.release();
}

void skCompilationDestroy(SkCompilation *compilation) { delete compilation; }

int skCompilationSucceeded(const SkCompilation *compilation) { return compilation->isOk; }

int skCompilationIsFromCache(const SkCompilation *compilation) { return compilation->isFromCache; }

static int getDiagnostic(const std::vector<CompileDiagnostic> &diagnostics, int64_t index, SkDiagnostic *out) {
  if (index < 0 || size_t(index) >= diagnostics.size())
    return 0;
  const CompileDiagnostic &diag = diagnostics[index];
  int32_t severity = SK_REMARK;
  if (diag.severity == DiagnosticSeverity::Error)
    severity = SK_ERROR;
  else if (diag.severity == DiagnosticSeverity::Warning)
    severity = SK_WARNING;
  else if (diag.severity == DiagnosticSeverity::Note)
    severity = SK_NOTE;
  *out = {severity,          int32_t(diag.notes.size()), diag.line,        diag.column,
          diag.file.c_str(), diag.message.c_str(),       diag.text.c_str()};
  return 1;
}

int skCompilationGetDiagnostic(const SkCompilation *compilation, int64_t index, SkDiagnostic *out) {
  return getDiagnostic(compilation->diagnostics, index, out);
}

int skCompilationGetNote(const SkCompilation *compilation, int64_t diagnostic, int64_t index, SkDiagnostic *out) {
  if (diagnostic < 0 || size_t(diagnostic) >= compilation->diagnostics.size())
    return 0;
  return getDiagnostic(compilation->diagnostics[diagnostic].notes, index, out);
}

int skCompilationGetFile(const SkCompilation *compilation, int64_t index, SkBundleFile *out) {
  if (index < 0 || size_t(index) >= compilation->files.size())
    return 0;
  const BundleFile &file = compilation->files[index];
  *out = {file.name.c_str(), file.contents.data(), int64_t(file.contents.size())};
  return 1;
}

const char *skGetCompilerIdentity(void) { return getCompilerIdentity().data(); }
