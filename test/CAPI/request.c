/*===- request.c - Calls of skCompile, for tests ---------------------------===*\
 *
 *     compile-request THREADS IR OUTPUT [OPTION...]     OUTPUT "-": in memory
 *
 * Compiles a file on several threads at once, to OUTPUT.0, OUTPUT.1, ..., and prints what the calls gave, in order:
 * all fields of the diagnostics, the files, and whether the cache had the bundle. An IR of "null" is a request
 * without one, "abi" one of another version. The variable NAME is the name of the IR, CANCEL cancels at once.
 *
\*===----------------------------------------------------------------------===*/

#include "shardkit-c/Compiler.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Part of the interface: a change needs another SK_COMPILER_ABI_VERSION. */
_Static_assert(SK_COMPILER_ABI_VERSION == 2, "version");
_Static_assert(sizeof(SkCompileRequest) == 88 && offsetof(SkCompileRequest, cancel) == 64, "request");
_Static_assert(offsetof(SkCompileRequest, resources) == 72, "version 1 ends here");
_Static_assert(sizeof(SkDiagnostic) == 48 && offsetof(SkDiagnostic, file) == 24, "diagnostic");
_Static_assert(sizeof(SkBundleFile) == 24 && offsetof(SkBundleFile, bytes) == 16, "file");

enum { MAX_THREADS = 16 };

static SkCompileRequest requests[MAX_THREADS];
static char outputs[MAX_THREADS][4096];

static void *run(void *request) { return skCompile(request); }

static void printDiagnostic(const char *kind, const SkDiagnostic *diag) {
  printf("%s %d [%s:%d:%d] %s\n", kind, (int)diag->severity, diag->file, (int)diag->line, (int)diag->column,
         diag->message);
}

static void printResult(SkCompilation *compilation) {
  SkDiagnostic diag, note;
  for (int64_t i = 0; skCompilationGetDiagnostic(compilation, i, &diag); ++i) {
    printDiagnostic("diagnostic", &diag);
    for (int32_t j = 0; j < diag.noteCount && skCompilationGetNote(compilation, i, j, &note); ++j)
      printDiagnostic("note", &note);
    printf("text: %s", diag.text);
  }
  SkBundleFile file;
  for (int64_t i = 0; skCompilationGetFile(compilation, i, &file); ++i)
    printf("file %s %s\n", file.name, file.bytes > 0 && file.data ? "with contents" : "empty");
  printf("succeeded %d, cache %d\n", skCompilationSucceeded(compilation), skCompilationIsFromCache(compilation));
  skCompilationDestroy(compilation);
}

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  const int threads = atoi(argv[1]);
  static char ir[1 << 16];
  size_t bytes = 0;
  FILE *opened = fopen(argv[2], "rb");
  if (opened) {
    bytes = fread(ir, 1, sizeof(ir), opened);
    fclose(opened);
  }
  int32_t cancel = getenv("CANCEL") != NULL;
  pthread_t handles[MAX_THREADS];
  for (int i = 0; i < threads; ++i) {
    SkCompileRequest *request = &requests[i];
    request->abi = strcmp(argv[2], "abi") ? SK_COMPILER_ABI_VERSION : 7;
    request->ir = opened ? ir : NULL;
    request->irBytes = (int64_t)bytes;
    request->name = getenv("NAME") ? getenv("NAME") : "given.mlir";
    request->options = (const char *const *)(argv + 4);
    request->optionCount = argc - 4;
    request->cancel = &cancel;
    snprintf(outputs[i], sizeof(outputs[i]), "%s.%d", argv[3], i);
    request->output = strcmp(argv[3], "-") ? outputs[i] : NULL;
    if (pthread_create(&handles[i], NULL, run, request))
      return 2;
  }
  for (int i = 0; i < threads; ++i) {
    void *compilation;
    pthread_join(handles[i], &compilation);
    printResult(compilation);
  }
  return 0;
}
