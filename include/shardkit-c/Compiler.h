/*===- Compiler.h - The compiler in the process --------------------*- C -*-===*\
 *
 * From IR in memory to a bundle. Nothing here prints, exits or throws, and calls may run at once in several threads.
 *
 *     SkCompileRequest request = {SK_COMPILER_ABI_VERSION};
 *     request.ir = text, request.irBytes = strlen(text), request.output = "mlp.bundle";
 *     SkCompilation *compilation = skCompile(&request);
 *     SkDiagnostic diag;
 *     for (int64_t i = 0; skCompilationGetDiagnostic(compilation, i, &diag); ++i)
 *       fputs(diag.text, stderr);
 *     skCompilationDestroy(compilation);
 *
\*===----------------------------------------------------------------------===*/

#ifndef SHARDKIT_C_COMPILER_H
#define SHARDKIT_C_COMPILER_H

#include "mlir-c/Support.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SK_COMPILER_ABI_VERSION 2

/* The result of skCompile: diagnostics, and the files of a bundle in memory. */
typedef struct SkCompilation SkCompilation;

/* The elements of a constant that the IR names, `dense_resource<NAME>`, and does not have. */
typedef struct SkResource {
  const char *name;
  const void *data;
  int64_t bytes;
} SkResource;

typedef struct SkCompileRequest {
  int32_t abi; /* SK_COMPILER_ABI_VERSION; 1: without `resources` */
  int32_t reserved;
  const char *ir; /* Text or bytecode of MLIR. */
  int64_t irBytes;
  const char *name;           /* The name of the IR in diagnostics and locations; NULL: "-". */
  const char *const *options; /* Those of shard-compile, such as "--opt-level=1". */
  int64_t optionCount;
  const char *output; /* Directory of the bundle; NULL: its files are kept in memory. */
  const char *cache;  /* A directory; NULL: by SHARDKIT_CACHE, else the user's; "off". */
  /* NULL, or what another thread sets to 1 to end the compilation, which then fails before its next pass. */
  const int32_t *cancel;
  const SkResource *resources;
  int64_t resourceCount;
} SkCompileRequest;

/* Compiles. Never NULL; freed by skCompilationDestroy. A failed compilation has exactly one error. */
MLIR_CAPI_EXPORTED SkCompilation *skCompile(const SkCompileRequest *request);
MLIR_CAPI_EXPORTED void skCompilationDestroy(SkCompilation *compilation);
/* 1 if there is a bundle. */
MLIR_CAPI_EXPORTED int skCompilationSucceeded(const SkCompilation *compilation);
/* 1 if the cache had it. */
MLIR_CAPI_EXPORTED int skCompilationIsFromCache(const SkCompilation *compilation);

/* As MlirDiagnosticSeverity. */
enum SkSeverity { SK_ERROR = 0, SK_WARNING, SK_NOTE, SK_REMARK };

typedef struct SkDiagnostic {
  int32_t severity; /* SkSeverity */
  int32_t noteCount;
  int64_t line, column; /* From 1 on; 0 where they are unknown. */
  const char *file;     /* "" if the diagnostic has no location. */
  const char *message;
  const char *text; /* All of it as shard-compile prints it, with the line of the source and the notes. */
} SkDiagnostic;

/* Diagnostics in their order, and the notes of each. 0 past the last. Texts live as long as the compilation. */
MLIR_CAPI_EXPORTED int skCompilationGetDiagnostic(const SkCompilation *compilation, int64_t index, SkDiagnostic *out);
MLIR_CAPI_EXPORTED int skCompilationGetNote(const SkCompilation *compilation, int64_t diagnostic, int64_t index,
                                            SkDiagnostic *out);

typedef struct SkBundleFile {
  const char *name; /* "manifest.json", "programs/main.so", relative to the bundle. */
  const char *data;
  int64_t bytes;
} SkBundleFile;

/* The files of a bundle that was not written to a directory. 0 past the last. */
MLIR_CAPI_EXPORTED int skCompilationGetFile(const SkCompilation *compilation, int64_t index, SkBundleFile *out);

/* One line that differs for compilers that may give different bundles: version and build ids. */
MLIR_CAPI_EXPORTED const char *skGetCompilerIdentity(void);

#ifdef __cplusplus
}
#endif

#endif /* SHARDKIT_C_COMPILER_H */
