/*===- shard_functions.c - What --shard-functions loads ---------------------===*/

#include "shardkit/rt/loader.h"

#include <string.h>

/* f(stored [n, m], "transpose", output [shards, m / shards, n]) */
static int transpose(const sk_tensor *in, int n_in, sk_tensor *out, void *user) {
  const float *from = in[0].data;
  float *to = out->data;
  int64_t n, m;
  if (n_in != 2 || in[1].dtype != SK_STRING || in[1].bytes != 9 || memcmp(in[1].data, "transpose", 9) != 0 ||
      in[0].ndim != 2)
    return 1;
  n = in[0].shape[0];
  m = in[0].shape[1];
  for (int64_t k = 0; k < m; ++k)
    for (int64_t j = 0; j < n; ++j)
      to[k * n + j] = from[j * m + k];
  return 0;
}

/* f(stored [n, m], shards, output [shards, n, m / shards]) */
static int shard_columns(const sk_tensor *in, int n_in, sk_tensor *out, void *user) {
  int64_t shards, part, k, j;
  if (n_in != 2 || in[1].dtype != SK_I64 || in[0].ndim != 2 || out->ndim != 3)
    return 1;
  memcpy(&shards, in[1].data, 8);
  if (out->shape[0] != shards)
    return 1;
  part = out->bytes / shards / in[0].shape[0];
  for (k = 0; k < shards; ++k)
    for (j = 0; j < in[0].shape[0]; ++j)
      memcpy((char *)out->data + (k * in[0].shape[0] + j) * part, (const char *)in[0].data + (j * shards + k) * part,
             (size_t)part);
  return 0;
}

/* Rows of 8 heads of q, 10 of k, 10 of v for two ranks, 10 rows to a head:
 * [280, f] to [2, 14, 10, f]. */
static int qkv_heads(const sk_tensor *in, int n_in, sk_tensor *out, void *user) {
  static const int64_t heads[3] = {8, 10, 10};
  int64_t head = in[0].bytes / 28, first, rank, part;
  char *to = out->data;
  if (n_in != 1 || out->ndim != 4)
    return 1;
  for (rank = 0; rank < 2; ++rank)
    for (part = 0, first = 0; part < 3; first += heads[part++]) {
      int64_t mine = heads[part] / 2;
      memcpy(to, (const char *)in[0].data + (first + rank * mine) * head, (size_t)(mine * head));
      to += mine * head;
    }
  return 0;
}

/* [2, 14, 10, f] to [2, 140, f] */
static int qkv_rows(const sk_tensor *in, int n_in, sk_tensor *out, void *user) {
  if (in[0].ndim != 4 || out->ndim != 3 || in[0].bytes != out->bytes)
    return 1;
  memcpy(out->data, in[0].data, (size_t)out->bytes);
  return 0;
}

SK_EXPORT int sk_register(sk_context *ctx) {
  return sk_register_shard_function(ctx, "tests.transpose", transpose, 0) ||
         sk_register_shard_function(ctx, "tests.disco.shard_dim_1", shard_columns, 0) ||
         sk_register_shard_function(ctx, "tests.disco.shard_qkv_0", qkv_heads, 0) ||
         sk_register_shard_function(ctx, "tests.disco.shard_qkv_1", qkv_rows, 0);
}
