/*===- loader.h - Loading weights from C ------------------------*- C -*-===*\
 *
 * Functions return 0, or a status; sk_error() is then one line with the
 * reason. Nothing here exits or throws.
 *
\*===----------------------------------------------------------------------===*/

#ifndef SHARDKIT_RT_LOADER_H
#define SHARDKIT_RT_LOADER_H

#include "shardkit/rt/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Row-major and contiguous. A tensor of SK_STRING has no dims and `bytes`
 * characters without a terminating zero. */
typedef struct sk_tensor {
  void *data;
  int32_t dtype; /* sk_dtype */
  int32_t ndim;
  const int64_t *shape;
  int64_t bytes;
} sk_tensor;

/* A shard function: in[0] is the tensor, in[1..n_in) are the extra inputs as 0-D
 * i64, f64 and string tensors; `out` is preallocated and zero. Its leading dim
 * counts the shards. Returns 0, or anything else to stop the load. */
typedef int (*sk_shard_function)(const sk_tensor *in, int n_in, sk_tensor *out, void *user);

/* A context of its own, outside of programs: functions that are registered with
 * it, and the message of the last call that failed. */
SK_EXPORT sk_context *sk_context_create(void);
SK_EXPORT void sk_context_destroy(sk_context *ctx);
SK_EXPORT const char *sk_error(const sk_context *ctx);

SK_EXPORT int sk_register_shard_function(sk_context *ctx, const char *name, sk_shard_function f, void *user);
/* Loads a library that exports `int sk_register(sk_context *)`. */
SK_EXPORT int sk_load_shard_functions(sk_context *ctx, const char *library);

typedef struct sk_loader sk_loader;

typedef struct sk_loader_options {
  int32_t abi;         /* SK_ABI_VERSION */
  int32_t strict;      /* Not 0: a tensor that no parameter is made from, or a wrong checksum, is an error. */
  const char *weights; /* A file, an index or a directory. */
  /* How they are sharded: a weight manifest or a bundle's directory (with
   * `function`, NULL for its only one), or else TVM's shard_info.json (a path, or
   * the text itself if it starts with '{') and the number of ranks. NULL for a
   * presharded set with presharded.json, or one that is loaded with `ranks` and
   * `parameters`. */
  const char *manifest;
  const char *function;
  const char *shard_info;
  int64_t ranks;
  /* A set of NAME_shard-K-of-N, or of MLC's NAME_shard-K (K from 0) and NAME of what is
   * replicated, is loaded by the presharded calls; its shard info may be "{}". */
  /* The order of the parameters where no manifest gives one; NULL: by name. */
  const char *const *parameters;
  int64_t num_parameters;
  const char *mode; /* "direct" (NULL), "root-scatter" */
  const char *io;   /* "auto" (NULL), "pread", "direct", "mmap" */
  int32_t readers;  /* 0: chosen */
  int32_t follow_links;
} sk_loader_options;

/* Opens and checks everything from metadata; reads no weight. */
SK_EXPORT int sk_loader_open(sk_context *ctx, const sk_loader_options *options, sk_loader **out);
SK_EXPORT void sk_loader_close(sk_loader *loader);
SK_EXPORT int64_t sk_loader_ranks(const sk_loader *loader);
SK_EXPORT int64_t sk_loader_count(const sk_loader *loader);
SK_EXPORT const char *sk_loader_name(const sk_loader *loader, int64_t index);

/* Fills out[0 .. ranks) with what each rank holds of the parameter; the memory
 * belongs to the loader and lives until it is closed. */
SK_EXPORT int sk_load(sk_loader *loader, const char *name, sk_tensor *out);
/* out[index * ranks + rank] */
SK_EXPORT int sk_load_all(sk_loader *loader, sk_tensor *out);
/* From a set of NAME_shard-K-of-N; by name, or by the order of the parameters. */
SK_EXPORT int sk_load_presharded(sk_loader *loader, const char *name, sk_tensor *out);
SK_EXPORT int sk_load_presharded_at(sk_loader *loader, int64_t index, sk_tensor *out);
SK_EXPORT int sk_load_all_presharded(sk_loader *loader, sk_tensor *out);

typedef struct sk_load_counters {
  int64_t bytes_needed, bytes_read, requests, scatters, broadcasts, staging_bytes;
  double seconds;
} sk_load_counters;
/* Sums over all loads so far. */
SK_EXPORT void sk_loader_counters(const sk_loader *loader, sk_load_counters *out);

#ifdef __cplusplus
}
#endif

#endif /* SHARDKIT_RT_LOADER_H */
