/*===- compile.c - Compiles a model from a program in C --------------------===*\
 *
 * Parses a file by MLIR's C API, sets nothing but its annotations, prints what propagation finds, and compiles it:
 *
 *     compile MODEL.mlir BUNDLE
 *
\*===----------------------------------------------------------------------===*/

#include "shardkit-c/Compiler.h"
#include "shardkit-c/Dialects.h"

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#include <stdio.h>
#include <stdlib.h>

/* Bytes that MLIR prints. */
typedef struct Text {
  char *data;
  size_t bytes;
} Text;

static void append(MlirStringRef piece, void *user) {
  Text *text = user;
  text->data = realloc(text->data, text->bytes + piece.length);
  if (!text->data)
    abort();
  for (size_t i = 0; i < piece.length; ++i)
    text->data[text->bytes++] = piece.data[i];
}

static void print(MlirStringRef piece, void *user) { fwrite(piece.data, 1, piece.length, user); }

/* Prints the module after propagation. */
static int propagate(MlirContext context, MlirModule module) {
  MlirPassManager passes = mlirPassManagerCreate(context);
  MlirOpPassManager top = mlirPassManagerGetAsOpPassManager(passes);
  MlirLogicalResult result =
      mlirOpPassManagerAddPipeline(top, mlirStringRefCreateFromCString("spmd-propagate"), print, stderr);
  if (mlirLogicalResultIsSuccess(result))
    result = mlirPassManagerRunOnOp(passes, mlirModuleGetOperation(module));
  if (mlirLogicalResultIsSuccess(result))
    mlirOperationPrint(mlirModuleGetOperation(module), print, stdout);
  mlirPassManagerDestroy(passes);
  return mlirLogicalResultIsSuccess(result);
}

/* Compiles the module, as bytecode, into a directory. */
static int compile(MlirModule module, const char *name, const char *output) {
  Text bytecode = {NULL, 0};
  MlirBytecodeWriterConfig config = mlirBytecodeWriterConfigCreate();
  mlirOperationWriteBytecodeWithConfig(mlirModuleGetOperation(module), config, append, &bytecode);
  mlirBytecodeWriterConfigDestroy(config);

  const char *options[] = {"--opt-level=1"};
  SkCompileRequest request = {SK_COMPILER_ABI_VERSION, 0, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL};
  request.ir = bytecode.data;
  request.irBytes = (int64_t)bytecode.bytes;
  request.name = name;
  request.options = options;
  request.optionCount = 1;
  request.output = output;
  SkCompilation *compilation = skCompile(&request);
  SkDiagnostic diag;
  for (int64_t i = 0; skCompilationGetDiagnostic(compilation, i, &diag); ++i)
    fputs(diag.text, stderr);
  const int succeeded = skCompilationSucceeded(compilation);
  skCompilationDestroy(compilation);
  free(bytecode.data);
  return succeeded;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: compile MODEL.mlir BUNDLE\n");
    return 1;
  }
  Text text = {NULL, 0};
  char buffer[4096];
  FILE *file = fopen(argv[1], "rb");
  if (!file) {
    perror(argv[1]);
    return 1;
  }
  for (size_t read; (read = fread(buffer, 1, sizeof(buffer), file)) > 0;)
    append(mlirStringRefCreate(buffer, read), &text);
  append(mlirStringRefCreate("", 1), &text); /* The parser wants a zero after the text. */
  fclose(file);

  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  skRegisterAllDialects(registry);
  skRegisterAllPasses();
  MlirContext context = mlirContextCreateWithRegistry(registry, true);
  mlirContextLoadAllAvailableDialects(context);
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreate(text.data, text.bytes - 1));
  int succeeded = !mlirModuleIsNull(module);
  if (succeeded) {
    succeeded = compile(module, argv[1], argv[2]) && propagate(context, module);
    mlirModuleDestroy(module);
  }
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  free(text.data);
  return succeeded ? 0 : 1;
}
