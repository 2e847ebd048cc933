/*===- program.c - A program as the compiler would emit it ------------------===*
 *
 * y = x * w on a 2x2 mesh: rows of x over "data", the contracted dim over
 * "model", one all-reduce. Sizes: x 8x16, w 16x8.
 *
 *===----------------------------------------------------------------------===*/

#include "shardkit/rt/abi.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const sk_contraction_desc local_matmul = {
    SK_ABI_VERSION, SK_F32, SK_F32, 0, 3, {{SK_M, 0, 4, 8, 0, 8}, {SK_N, 0, 8, 0, 1, 1}, {SK_K, 0, 8, 1, 8, 0}}};

SK_EXPORT const sk_buffers sk_buffers_sk_fn_main = {2, 1, 128};
/* The buffers of x, w and y that a rank was last given. */
SK_EXPORT const void *sk_test_buffers[4][3];

SK_EXPORT int32_t sk_fn_main(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  const void **buffers = sk_test_buffers[sk_coordinate(ctx, 1, 4)];
  buffers[0] = args[0];
  buffers[1] = args[1];
  buffers[2] = results[0];
  int32_t status = sk_contraction(ctx, &local_matmul, args[0], args[1], arena);
  if (status)
    return status;
  return sk_collective(ctx, 0, arena, results[0]);
}

SK_EXPORT const sk_buffers sk_buffers_sk_ref_main = {2, 1, 0};
SK_EXPORT int32_t sk_ref_main(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  const float *x = args[0], *w = args[1];
  float *y = results[0];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      float sum = 0;
      for (int k = 0; k < 16; ++k)
        sum += x[i * 16 + k] * w[k * 8 + j];
      y[i * 8 + j] = sum;
    }
  return 0;
}

/* A step that updates its weight, w + 1 in the memory of w or elsewhere, and fails if w[0] is negative. */
SK_EXPORT int32_t sk_fn_step(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  const float *w = args[1];
  if (w[0] < 0)
    return 77;
  int32_t status = sk_contraction(ctx, &local_matmul, args[0], args[1], arena);
  if (!status)
    status = sk_collective(ctx, 0, arena, results[0]);
  for (int i = 0; i < 64; ++i)
    ((float *)results[1])[i] = w[i] + 1;
  return status;
}

/* That step with all of w on every rank. */
SK_EXPORT int32_t sk_fn_full(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  const float *w = args[1];
  if (w[0] < 0)
    return 77;
  int32_t status = sk_contraction(ctx, &local_matmul, args[0], w + 64 * sk_coordinate(ctx, 1, 2), arena);
  if (!status)
    status = sk_collective(ctx, 0, arena, results[0]);
  for (int i = 0; i < 128; ++i)
    ((float *)results[1])[i] = w[i] + 1;
  return status;
}

/* Rank 3 does not return before the test lets it. */
SK_EXPORT int sk_test_go;
SK_EXPORT int32_t sk_fn_late(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  while (sk_coordinate(ctx, 1, 4) == 3 && !__atomic_load_n(&sk_test_go, __ATOMIC_ACQUIRE))
    usleep(1000);
  return sk_fn_main(ctx, args, results, arena);
}

/* The same as main, but forgetting the all-reduce. */
SK_EXPORT int32_t sk_fn_wrong(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  return sk_contraction(ctx, &local_matmul, args[0], args[1], results[0]);
}

/* Rank 3 never takes part. */
SK_EXPORT int32_t sk_fn_absent(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  if (sk_coordinate(ctx, 1, 4) == 3)
    return 0;
  return sk_collective(ctx, 0, arena, results[0]);
}

/* Rank 3 never returns. */
SK_EXPORT int32_t sk_fn_hang(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  if (sk_coordinate(ctx, 1, 4) == 3)
    for (;;)
      sleep(1);
  return sk_collective(ctx, 0, arena, results[0]);
}

/* Rank 2 reports an error of its own. */
SK_EXPORT int32_t sk_fn_failing(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  if (sk_coordinate(ctx, 1, 4) == 2)
    return 42;
  return sk_collective(ctx, 0, arena, results[0]);
}

/* Loading functions of w: from its transpose, 8x16; the rank's rows, and whole. */
SK_EXPORT const sk_buffers sk_buffers_sk_load_transposed = {1, 1, 0};
SK_EXPORT int32_t sk_load_transposed(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  const float *stored = args[0];
  float *local = results[0];
  int64_t first = sk_coordinate(ctx, 1, 2) * 8;
  for (int k = 0; k < 8; ++k)
    for (int j = 0; j < 8; ++j)
      local[k * 8 + j] = stored[j * 16 + first + k];
  return 0;
}

SK_EXPORT int32_t sk_load_whole(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  const float *stored = args[0];
  float *whole = results[0];
  for (int k = 0; k < 16; ++k)
    for (int j = 0; j < 8; ++j)
      whole[k * 8 + j] = stored[j * 16 + k];
  return 0;
}
