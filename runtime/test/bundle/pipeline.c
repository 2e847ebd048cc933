/*===- pipeline.c - The functions of a pipeline as the compiler would emit them ===*
 *
 * Those of unequalPipeline() in PipelineSupport.h: stage 0 doubles x, stage 1 (two
 * devices) computes y and its squares, which stage 0 adds up, turning the sum around
 * before each addition.
 *
 *===----------------------------------------------------------------------===*/

#include "shardkit/rt/abi.h"

#include <string.h>

/* h = 2 x + rank of the mesh, which is 0. */
SK_EXPORT int32_t sk_forward0(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  const float *x = args[0];
  float *h = results[0];
  for (int i = 0; i < 16; ++i)
    h[i] = 2 * x[i] + (float)sk_coordinate(ctx, 1, 8);
  return 0;
}

/* y = h + w + 10 rank + the sum of all (rank + 1); g = y y. */
SK_EXPORT int32_t sk_forward1(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  const float *h = args[0], *w = args[1];
  float *y = results[0], *g = results[1], *scratch = arena;
  const float rank = (float)sk_coordinate(ctx, 1, 8);
  scratch[0] = rank + 1;
  int32_t status = sk_collective(ctx, 0, scratch, scratch + 1);
  if (status)
    return status;
  for (int i = 0; i < 8; ++i) {
    y[i] = h[i] + w[i] + 10 * rank + scratch[1];
    g[i] = y[i] * y[i];
  }
  return 0;
}

/* Writes its result before it has read all of its arguments. */
SK_EXPORT int32_t sk_backward0(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  const float *sum = args[0], *g = args[1];
  float *updated = results[0];
  for (int i = 0; i < 16; ++i)
    updated[i] = 1000;
  for (int i = 0; i < 16; ++i)
    updated[i] = g[i] + sum[15 - i];
  return 0;
}

SK_EXPORT int32_t sk_apply0(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  memcpy(results[0], args[0], 64);
  return 0;
}

SK_EXPORT int32_t sk_ref_pipeline(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  const float *x = args[0], *w = args[1];
  float *y = results[0], *total = results[1];
  for (int row = 0; row < 8; ++row) /* Microbatches of four, two of them on each rank. */
    for (int c = 0; c < 4; ++c)
      y[row * 4 + c] = 2 * x[row * 4 + c] + w[row % 4 * 4 + c] + (float)(10 * (row % 4 / 2)) + 3;
  for (int i = 0; i < 16; ++i)
    total[i] = y[16 + i] * y[16 + i] + y[15 - i] * y[15 - i];
  return 0;
}

/* The same with w as a third result. */
SK_EXPORT int32_t sk_ref_places(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  memcpy(results[2], args[1], 64);
  return sk_ref_pipeline(ctx, args, results, arena);
}
