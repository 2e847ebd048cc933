/*===- shard_functions.c - What --shard-functions loads ---------------------===*/

#include "shardkit/rt/loader.h"

#include <string.h>

/* f(stored [n, m], "transpose", output [shards, m / shards, n]) */
static int transpose(const sk_tensor *in, int n_in, sk_tensor *out, void *user) {
  const float *from = in[0].data;
  float *to = out->data;
  int64_t n, m;
  if (n_in != 2 || in[1].dtype != SK_STRING || in[1].bytes != 9 ||
      memcmp(in[1].data, "transpose", 9) != 0 || in[0].ndim != 2)
    return 1;
  n = in[0].shape[0];
  m = in[0].shape[1];
  for (int64_t k = 0; k < m; ++k)
    for (int64_t j = 0; j < n; ++j)
      to[k * n + j] = from[j * m + k];
  return 0;
}

SK_EXPORT int sk_register(sk_context *ctx) {
  return sk_register_shard_function(ctx, "tests.transpose", transpose, 0);
}
