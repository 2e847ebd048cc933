/* Attributes, ops, passes and layouts from C:   shardings */
#include "shardkit-c/Shardings.h"
#include "shardkit-c/Dialects.h"
#include "shardkit-c/PassOptions.h"
#include "shardkit-c/Passes.h"
#include "shardkit-c/Rules.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include <stdio.h>
#include <string.h>

static void print(MlirStringRef text, void *data) {
  (void)data;
  printf("%.*s", (int)text.length, text.data);
}

static MlirLogicalResult report(MlirDiagnostic diagnostic, void *data) {
  (void)data;
  printf("error: ");
  mlirDiagnosticPrint(diagnostic, print, NULL);
  printf("\n");
  return mlirLogicalResultSuccess();
}

static MlirStringRef text(const char *value) { return mlirStringRefCreateFromCString(value); }

static void show(const char *what, MlirAttribute attribute) {
  printf("%s: ", what);
  if (mlirAttributeIsNull(attribute))
    printf("none");
  else
    mlirAttributePrint(attribute, print, NULL);
  printf("\n");
}

/* A module with a mesh of 2 x 3 devices. */
static MlirModule make_module(MlirContext context, MlirLocation location) {
  SkMeshAxis axes[] = {{text("x"), 2}, {text("y"), 3}};
  MlirAttribute mesh = skMeshAttrGet(context, 2, axes, 0, NULL);
  printf("mesh: %d axes, the last of %d\n", (int)skMeshAttrGetNumAxes(mesh), (int)skMeshAttrGetAxis(mesh, 1).size);
  MlirModule module =
      mlirModuleCreateParse(context, text("func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {\n"
                                          "  %0 = math.exp %a : tensor<8x6xf32>\n  return %0 : tensor<8x6xf32>\n}"));
  mlirBlockInsertOwnedOperation(mlirModuleGetBody(module), 0, skMeshOpCreate(location, text("pod"), mesh));
  return module;
}

static void run(MlirContext context, MlirModule module, const char *name, intptr_t n, const SkPassOption *options) {
  MlirPassManager pm = mlirPassManagerCreateOnOperation(context, mlirStringRefCreateFromCString("builtin.module"));
  if (mlirLogicalResultIsSuccess(skAddPass(mlirPassManagerGetAsOpPassManager(pm), name, n, options, print, NULL)))
    printf("%s: %d\n", name, mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(pm, mlirModuleGetOperation(module))));
  else
    printf("\n");
  mlirPassManagerDestroy(pm);
}

static void runPropagate(MlirContext context, MlirModule module, const SkPropagateOptions *options) {
  MlirPassManager pm = mlirPassManagerCreateOnOperation(context, mlirStringRefCreateFromCString("builtin.module"));
  MlirOpPassManager passes = mlirPassManagerGetAsOpPassManager(pm);
  if (mlirLogicalResultIsSuccess(skAddPropagate(passes, options, print, NULL))) {
    mlirPrintPassPipeline(passes, print, NULL);
    printf("\n");
    MlirLogicalResult done = mlirPassManagerRunOnOp(pm, mlirModuleGetOperation(module));
    printf("spmd-propagate: %d\n", mlirLogicalResultIsSuccess(done));
  } else {
    printf("\n");
  }
  mlirPassManagerDestroy(pm);
}

/* A wrong interpreter: all elements are 1 more than those of its first operand, and in shards 2 more. */
static MlirLogicalResult addOne(MlirOperation op, intptr_t numOperands, const SkTensor *operands, intptr_t numResults,
                                SkTensor *results, void *data) {
  int64_t *full = data, count = mlirShapedTypeGetDimSize(operands[0].type, 0);
  (void)op, (void)numOperands, (void)numResults;
  *full = *full < count ? count : *full;
  for (int64_t i = 0; i < count; ++i)
    results[0].elements[i] = operands[0].elements[i] + (count == *full ? 1 : 2);
  return mlirLogicalResultSuccess();
}

/* Writes rows at indices of dim 1, as the rule of tosa.scatter says; if `data` is set it adds them, which is another
 * op. */
static MlirLogicalResult writeRows(MlirOperation op, intptr_t numOperands, const SkTensor *operands,
                                   intptr_t numResults, SkTensor *results, void *data) {
  int64_t height = mlirShapedTypeGetDimSize(operands[0].type, 1), width = mlirShapedTypeGetDimSize(operands[0].type, 2);
  double *table = results[0].elements;
  (void)op, (void)numOperands, (void)numResults;
  memcpy(table, operands[0].elements, sizeof(double) * height * width);
  for (int64_t row = 0; row < mlirShapedTypeGetDimSize(operands[1].type, 1); ++row)
    for (int64_t i = 0, at = (int64_t)operands[1].elements[row] * width; i < width; ++i)
      table[at + i] = (*(bool *)data ? table[at + i] : 0) + operands[2].elements[row * width + i];
  return mlirLogicalResultSuccess();
}

/* Checks the rule of the only op of a function. */
static void checkRule(MlirContext context, const char *function, SkInterpreter interpret, void *data) {
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(function));
  MlirOperation func = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  MlirOperation op = mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0)));
  printf("rule: %d\n", skOperationHasShardingRule(op));
  printf("check: %d\n", (int)skCheckShardingRule(op, interpret, data));
  mlirModuleDestroy(module);
}

static void checkRules(MlirContext context) {
  int64_t full = 0;
  checkRule(context,
            "func.func @f(%a: tensor<6xf32>) {\n"
            "  %0 = \"stablehlo.negate\"(%a) : (tensor<6xf32>) -> tensor<6xf32>\n  return\n}",
            addOne, &full);
  for (int adds = 0; adds < 2; ++adds) {
    bool isOther = adds;
    checkRule(context,
              "func.func @f(%t: tensor<1x6x2xf32>, %i: tensor<1x4xi32>, %r: tensor<1x4x2xf32>) {\n"
              "  %0 = tosa.scatter %t, %i, %r\n"
              "      : (tensor<1x6x2xf32>, tensor<1x4xi32>, tensor<1x4x2xf32>) -> tensor<1x6x2xf32>\n  return\n}",
              writeRows, &isOther);
  }
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  skRegisterAllDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirContextLoadAllAvailableDialects(context);
  skRegisterAllPasses();
  mlirContextAttachDiagnosticHandler(context, report, NULL, NULL);
  MlirLocation location = mlirLocationUnknownGet(context);
  MlirModule module = make_module(context, location);
  MlirOperation op = mlirModuleGetOperation(module);

  /* 1. A sharding, built and read: all of "x" and half of an open dim. */
  SkDimEntry x = {text("x"), 1, 0}, y = {text("y"), 1, 3};
  SkDimSharding dims[] = {{1, &x, false, 0}, {1, &y, true, 1}};
  MlirAttribute sharding = skShardingAttrGet(location, text("pod"), 2, dims);
  show("sharding", sharding);
  printf("rank %d on %.*s, open %d, priority %d\n", (int)skShardingAttrGetRank(sharding),
         (int)skShardingAttrGetMesh(sharding).length, skShardingAttrGetMesh(sharding).data,
         skShardingAttrIsOpen(sharding, 1), (int)skShardingAttrGetPriority(sharding, 1));
  SkDimEntry none = {text("x"), 1, -1};
  SkDimSharding wrong[] = {{1, &none, false, 0}};
  show("negative", skShardingAttrGet(location, text("pod"), 1, wrong));

  /* 2. Layouts. */
  const int64_t shape[] = {7, 6}, index[] = {5, 2};
  MlirType type = mlirRankedTensorTypeGet(2, shape, mlirF32TypeGet(context), mlirAttributeGetNull());
  mlirTypePrint(skShardingGetLocalType(sharding, type, op), print, NULL);
  int64_t ranks[6], ends[12];
  intptr_t owners = skShardingGetOwners(sharding, type, op, index, 6, ranks);
  intptr_t parts = skShardingGetIntervals(sharding, type, op, 4, 0, 6, ends);
  printf("\n%d owner: %d, rows [%d, %d) in %d\n", (int)owners, (int)ranks[0], (int)ends[0], (int)ends[1], (int)parts);
  SkDimSharding whole[] = {{0}, {0}};
  skGetReshard(sharding, skShardingAttrGet(location, text("pod"), 2, whole), type, op, print, NULL);
  printf("\n");
  skShardingGetLocalType(skShardingAttrGet(location, text("other"), 2, whole), type, op);
  skShardingGetLocalType(skShardingAttrGet(location, text("pod"), 1, dims), type, op);

  /* 3. A constraint on the result of the first op, passes and a report. */
  MlirBlock body = mlirRegionGetFirstBlock(
      mlirOperationGetRegion(mlirOperationGetNextInBlock(mlirBlockGetFirstOperation(mlirModuleGetBody(module))), 0));
  MlirOperation exp = mlirBlockGetFirstOperation(body);
  MlirOperation constraint = skWithShardingConstraintOpCreate(location, mlirOperationGetResult(exp, 0), sharding);
  mlirBlockInsertOwnedOperationAfter(body, exp, constraint);
  mlirOperationSetOperand(mlirBlockGetTerminator(body), 0, mlirOperationGetResult(constraint, 0));
  SkPassOption unknown = {"conflict", "basic"}, bad = {"trip-count", "many"};
  SkPassOption empty = {"trip-count", NULL};
  run(context, module, "spmd-nothing", 0, NULL);
  run(context, module, "spmd-propagate", 1, &empty);
  run(context, module, "spmd-propagate", 1, &unknown);
  run(context, module, "spmd-propagate", 1, &bad);
  /* The same options as structs: a value beyond its enum, a number that is none, and one that the pass reports. */
  SkPropagateOptions propagate = skPropagateOptions();
  propagate.plan = (SkDefaultPlan)7;
  runPropagate(context, module, &propagate);
  SkAutoShardOptions search = skAutoShardOptions();
  search.timeLimit = 0.0 / 0.0;
  MlirPassManager searches = mlirPassManagerCreateOnOperation(context, text("builtin.module"));
  skAddAutoShard(mlirPassManagerGetAsOpPassManager(searches), &search, print, NULL);
  mlirPassManagerDestroy(searches);
  printf("\n");
  propagate = skPropagateOptions();
  propagate.tripCount = -1;
  runPropagate(context, module, &propagate);
  propagate.tripCount = 8;
  propagate.conflicts = SK_CONFLICTS_BASIC;
  runPropagate(context, module, &propagate);
  show("argument", skValueGetSharding(mlirBlockGetArgument(body, 0)));
  show("result", skValueGetSharding(mlirOperationGetResult(exp, 0)));
  skGetReport(op, print, NULL);
  run(context, module, "spmd-partition", 0, NULL);
  MlirPassManager functions = mlirPassManagerCreateOnOperation(context, text("func.func"));
  skAddPass(mlirPassManagerGetAsOpPassManager(functions), "spmd-propagate", 0, NULL, print, NULL);
  mlirPassManagerDestroy(functions);
  printf("\n");

  /* 4. A rule, with numbers that are not those of the op. */
  checkRules(context);

  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return 0;
}
