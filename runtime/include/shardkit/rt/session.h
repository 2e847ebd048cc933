/*===- session.h - Programs that stay in a process, from C ------*- C -*-===*\
 *
 * A session has the functions of bundles, their weights and other arrays, and runs
 * the functions as often as they are called. Functions return 0, or a status;
 * sk_last_error() is then one line with the reason, also where a pointer is NULL that
 * must not be. Nothing here exits or throws.
 *
 *   sk_session *session;
 *   sk_session_open(NULL, &session);
 *   sk_session_add_bundle(session, "minilm.bundle", NULL);
 *   sk_session_load(session, "weights/");
 *   sk_argument inputs[] = {{ids, NULL}, {mask, NULL}};       // then the weights, bound
 *   sk_array *result;
 *   sk_session_call(session, 0, inputs, 2, 0, &result);
 *   sk_array_read(result, output, bytes);
 *   sk_array_release(result);
 *   sk_session_close(session);
 *
\*===----------------------------------------------------------------------===*/

#ifndef SHARDKIT_RT_SESSION_H
#define SHARDKIT_RT_SESSION_H

#include "shardkit/rt/loader.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sk_session sk_session;
typedef struct sk_array sk_array; /* A value on the devices; a handle. */

/* The message of the last call on this thread that failed. */
SK_EXPORT const char *sk_last_error(void);

typedef struct sk_session_options {
  int32_t abi;             /* SK_ABI_VERSION */
  int32_t library_threads; /* Threads of each rank; 0: the cores divided by the ranks. */
  double timeout;          /* Seconds that ranks wait for each other; 0: 60. */
  const char *backend;     /* "local" (NULL), "mpi", "nccl", "tcp" */
  const char *mode;        /* Load mode: "direct" (NULL), "presharded" */
  const char *io;          /* "auto" (NULL), "pread", "direct", "mmap" */
  int32_t readers;         /* 0: chosen */
  int32_t follow_links;
  int32_t reshard; /* 1: arguments that functions have in several layouts are kept in one. */
  int32_t reserved;
} sk_session_options;

/* `options` NULL: the defaults. Closing waits for queued calls and for those of other threads, and frees
 * all arrays; handles of arrays are still to be released. */
SK_EXPORT int sk_session_open(const sk_session_options *options, sk_session **out);
SK_EXPORT void sk_session_close(sk_session *session);

enum sk_attention_engine { SK_ATTENTION_ANY = 0, SK_ATTENTION_CUDNN, SK_ATTENTION_KERNEL };
typedef struct sk_device_options {
  int32_t abi;        /* SK_ABI_VERSION */
  int32_t tf32;       /* Not 0: f32 contractions may round their inputs to tf32. */
  int32_t no_graphs;  /* Not 0: programs are not recorded as graphs. */
  int32_t tune;       /* Not 0: contraction algorithms are measured. */
  int32_t attention;  /* sk_attention_engine */
  int32_t ranks;      /* Entries of `map`; 0: rank r is on GPU r modulo their number. */
  const int64_t *map; /* The GPU of each rank. */
} sk_device_options;
/* How bundles for cuda run. Before the first bundle is added. */
SK_EXPORT int sk_session_set_devices(sk_session *session, const sk_device_options *options);

/* The number of this process, and how many there are. */
SK_EXPORT int32_t sk_session_process(const sk_session *session, int32_t *processes);

/* Adds the functions of a bundle. With `name` they are called that (a bundle of one function), or
 * name.function. */
SK_EXPORT int sk_session_add_bundle(sk_session *session, const char *path, const char *name);
SK_EXPORT int sk_session_register_shard_function(sk_session *session, const char *name, sk_shard_function f,
                                                 void *user);
SK_EXPORT int sk_session_load_shard_functions(sk_session *session, const char *library);

/* Functions have numbers from 0 on, in the order in which they were added. */
SK_EXPORT int32_t sk_session_count(const sk_session *session);
SK_EXPORT int sk_session_find(const sk_session *session, const char *name, int32_t *out);

typedef struct sk_function_info {
  const char *name;
  int32_t arguments, results;
  int64_t devices;
  int64_t calls, failed;   /* So far. */
  double seconds;          /* Seconds of all steps. */
  double last_seconds;     /* Seconds of the last one. */
  int64_t resharded_bytes; /* Arguments that are kept in another layout: bytes made for calls, */
  double reshard_seconds;  /* and the seconds of that, which `seconds` leaves out. */
} sk_function_info;
SK_EXPORT int sk_session_function(const sk_session *session, int32_t function, sk_function_info *out);

/* A constant is an argument that the bundle has, a size one that sk_session_at_sizes sets: a call is given neither. */
enum sk_value_kind { SK_INPUT = 0, SK_WEIGHT, SK_RESULT, SK_CONSTANT, SK_SIZE };
typedef struct sk_value_info {
  const char *name;
  const char *sharding;
  const int64_t *shape; /* The shape of the full value, as `bytes`. */
  int64_t bytes;
  int64_t shard_bytes; /* Bytes of all shards. */
  int64_t devices;
  int32_t dtype; /* sk_dtype */
  int32_t ndim;
  int32_t kind; /* sk_value_kind */
  int32_t tied; /* The argument that a result updates; -1. */
  int32_t
      is_computed; /* 1 for a weight that is made of stored tensors when it is loaded: only sk_session_load binds it. */
  int32_t reserved;
} sk_value_info;
/* Texts live as long as the session. */
SK_EXPORT int sk_session_argument(const sk_session *session, int32_t function, int32_t index, sk_value_info *out);
SK_EXPORT int sk_session_result(const sk_session *session, int32_t function, int32_t index, sk_value_info *out);

/* A size of a function that only the run knows: a dim of arguments is -1 in their shapes. */
typedef struct sk_size_info {
  const char *name;
  int64_t least, most; /* Its bound, both included. */
  int64_t multiple;    /* The size has to be a multiple of it. */
} sk_size_info;
/* How many a function has; the text lives as long as the session. */
SK_EXPORT int32_t sk_session_size_count(const sk_session *session, int32_t function);
SK_EXPORT int sk_session_size(const sk_session *session, int32_t function, int32_t index, sk_size_info *out);
/* The number of the function at these sizes, all of them; nothing is compiled, and weights stay bound. Calls, arrays
 * and layouts are those of this number. */
SK_EXPORT int sk_session_at_sizes(sk_session *session, int32_t function, const int64_t *sizes, int32_t count,
                                  int32_t *out);
/* The same at the sizes that the first arguments have: `ndims` and `shapes` are theirs; a null shape for one that is
 * not given. A function whose sizes are known is itself. */
SK_EXPORT int sk_session_at_shapes(sk_session *session, int32_t function, const int64_t *const *shapes,
                                   const int32_t *ndims, int32_t count, int32_t *out);

/* Facts for the user, such as weights that two functions hold in different layouts: one line each;
 * NULL past the last. Lives until the next call of this function. */
SK_EXPORT const char *sk_session_note(sk_session *session, int32_t index);

/* Weights, from files or of reproducible random numbers; other arguments, by name, in all functions that
 * have them. Values are row-major and full. */
SK_EXPORT int sk_session_load(sk_session *session, const char *path);
/* The same of `count` names; 0: all weights and, of a presharded set, also other arguments that it has. */
SK_EXPORT int sk_session_load_names(sk_session *session, const char *path, const char *const *names, int32_t count);
/* Writes what is bound (to `count` names; 0: all) as a presharded set, which any number of ranks loads. Each
 * rank writes a file. */
SK_EXPORT int sk_session_save(sk_session *session, const char *directory, const char *const *names, int32_t count);
SK_EXPORT int sk_session_fill_random(sk_session *session, uint64_t seed);
SK_EXPORT int sk_session_assign(sk_session *session, const char *name, const void *data, int64_t bytes);
SK_EXPORT int sk_session_bind(sk_session *session, const char *name, sk_array *array);
/* A new handle of what is bound. */
SK_EXPORT int sk_session_bound(sk_session *session, const char *name, sk_array **out);
SK_EXPORT void sk_session_load_counters(const sk_session *session, sk_load_counters *out);
/* The current load, or the last one: bytes read so far, and an estimate of all. From any thread. */
SK_EXPORT void sk_session_load_progress(const sk_session *session, int64_t *done, int64_t *total);

/* An argument of a call: a full row-major value on the host, which is read until the call returns; else
 * an array; else what is bound. */
typedef struct sk_argument {
  const void *data;
  sk_array *array;
} sk_argument;

enum sk_call_flags {
  SK_DONATE = 1, /* Results take the memory of arguments that they are tied to. */
  SK_ASYNC = 2   /* Returns when the call is queued; reading its results waits. */
};
/* Calls a function. `arguments` are its first ones, or all; the others are bound. `results` are as many
 * handles as the function has results. */
SK_EXPORT int sk_session_call(sk_session *session, int32_t function, const sk_argument *arguments, int32_t count,
                              int32_t flags, sk_array **results);
typedef struct sk_compare_options {
  int32_t abi;              /* SK_ABI_VERSION */
  int32_t exact;            /* Not 0: equal bits. */
  double rtol, atol;        /* Negative: as expected of rounding; a thousandth of rtol. */
  const char *const *watch; /* Values that are written to `directory`, by the names that reports have. */
  int32_t num_watch;
  int32_t reserved;
  const char *directory; /* The directory of NAME.npy and NAME.unsharded.npy; NULL: this one. */
} sk_compare_options;
/* Calls a function that was compiled with --with-values next to its unsharded counterpart, and compares each value as
 * it is made. `report` is a text of JSON with the first wrong value and the errors of all; it lives until the next call
 * of this function on this thread. A mismatch is not an error. */
SK_EXPORT int sk_session_compare_values(sk_session *session, int32_t function, const sk_argument *arguments,
                                        int32_t count, const sk_compare_options *options, sk_array **results,
                                        const char **report);
/* Ends the step or the load that runs now with an error; from any thread. A step ends at its next collective. */
SK_EXPORT void sk_session_interrupt(sk_session *session);
/* `check` is called every 50 ms while this thread waits for a session, also in sk_session_close; if it returns other
 * than 0, what it waits for ends with an error. NULL: none. */
SK_EXPORT void sk_set_interrupt(int (*check)(void *user), void *user);
/* 1 if a rank has not returned from a step that failed: until it has, every call is an error. */
SK_EXPORT int sk_session_is_stuck(const sk_session *session);

/* An array for argument `index` of a function, from a full row-major value. */
SK_EXPORT int sk_array_create(sk_session *session, int32_t function, int32_t index, const void *data, int64_t bytes,
                              sk_array **out);
/* The same elements in the layout of argument `index` of a function. */
SK_EXPORT int sk_array_reshard(sk_array *array, int32_t function, int32_t index, sk_array **out);
SK_EXPORT void sk_array_release(sk_array *array);
SK_EXPORT int sk_array_info(const sk_array *array, sk_value_info *out);
/* 1 if it is computed. */
SK_EXPORT int sk_array_is_ready(const sk_array *array);
SK_EXPORT int sk_array_wait(const sk_array *array);
/* The full value, or the elements [starts, starts + sizes) of each dim. With several processes all of them
 * read it. */
SK_EXPORT int sk_array_read(const sk_array *array, void *to, int64_t bytes);
SK_EXPORT int sk_array_read_slice(const sk_array *array, const int64_t *starts, const int64_t *sizes, void *to,
                                  int64_t bytes);

/* Memory of a shard, without a copy; it stays as it is until sk_view_release. That of a bundle for cuda is on
 * the GPU of its rank. */
typedef struct sk_view {
  void *data;
  const int64_t *shape; /* Row-major and contiguous; uneven shards end in padding. */
  int64_t bytes;
  int64_t rank;
  int32_t dtype;
  int32_t ndim;
  void *owner;
} sk_view;
/* The shard of `rank`, one of this process. */
SK_EXPORT int sk_array_shard(const sk_array *array, int64_t rank, sk_view *out);
/* The full value if the host memory of this process has all of it; else `data` is NULL. */
SK_EXPORT int sk_array_view(const sk_array *array, sk_view *out);
/* The GPU that has it, by the number that CUDA has for it; -1: the host. */
SK_EXPORT int32_t sk_view_gpu(const sk_view *view);
/* A DLManagedTensor of the same memory, which its deleter releases, also after sk_view_release. All work on it
 * has ended: any stream may read it. */
SK_EXPORT int sk_view_dlpack(const sk_view *view, void **managed_tensor);
SK_EXPORT void sk_view_release(sk_view *view);

#ifdef __cplusplus
}
#endif

#endif /* SHARDKIT_RT_SESSION_H */
