/*===- abi.h - The C interface of compiled programs -------------*- C -*-===*\
 *
 * The C ABI between the programs of a bundle and the runtime. A program is the
 * same code for every rank of a mesh; the context holds the rank.
 * The manifest describes each collective (group, element type, move in closed form,
 * source line); the program passes its id. So collectives can be audited, checked
 * and traced without reading code.
 *
\*===----------------------------------------------------------------------===*/

#ifndef SHARDKIT_RT_ABI_H
#define SHARDKIT_RT_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SK_ABI_VERSION 1
#define SK_EXPORT __attribute__((visibility("default")))

/* One per rank and run. */
typedef struct sk_context sk_context;

enum sk_dtype {
  SK_F64 = 0,
  SK_F32,
  SK_F16,
  SK_BF16,
  SK_I64,
  SK_I32,
  SK_I16,
  SK_I8,
  SK_I1,
  /* Stored, loaded and moved, but not computed with. i4 and u4 take a byte each
   * in memory. */
  SK_U64,
  SK_U32,
  SK_U16,
  SK_U8,
  SK_F8E4M3FN,
  SK_F8E5M2,
  SK_F8E4M3FNUZ,
  SK_F8E5M2FNUZ,
  SK_F8E8M0FNU,
  SK_I4,
  SK_U4,
  SK_C64, /* Complex numbers: a pair of f32, or of f64. Programs compute with the pairs. */
  SK_C128,
  SK_STRING = 64 /* Only for an extra argument of a shard function. */
};

/* Entry point of a program: arguments and results are row-major local buffers
 * in the order of the manifest, preallocated by the runtime, aligned to their
 * elements at least, on a device to 16 bytes; a result overlaps nothing. `arena` has the
 * manifest's arena_bytes, aligned to 64. Returns 0, or a status once a
 * collective failed. */
typedef int32_t (*sk_program)(sk_context *ctx, void *const *args, void *const *results, void *arena);

/* The buffers of an entry point NAME, as a constant sk_buffers_NAME, which must agree with
 * the manifest. Older programs have none. */
typedef struct sk_buffers {
  int64_t num_args, num_results;
  int64_t arena_bytes; /* 0: `arena` is not used. */
} sk_buffers;

/* Performs collective `id` of the running function. `in` and `out` are
 * contiguous local buffers that do not overlap. Returns 0 or a sticky status:
 * once it is not 0, every later collective of this run returns at once. */
SK_EXPORT int32_t sk_collective(sk_context *ctx, int64_t id, const void *in, void *out);

/* Performs collective `id` on `count` items of the size that the manifest lists,
 * contiguous in `in` and in `out`. All ranks of the group pass the same count, 0
 * included. */
SK_EXPORT int32_t sk_collective_batch(sk_context *ctx, int64_t id, int64_t count, const void *in, void *out);

/* As sk_collective_batch, of a collective whose windows have offsets that are known at run
 * time: those that the manifest numbers from 0. All ranks of the group pass the same ones. */
SK_EXPORT int32_t sk_collective_at(sk_context *ctx, int64_t id, int64_t count, const int64_t *offsets, const void *in,
                                   void *out);

/* As sk_collective_batch, of buffers that are rows of equal size: `in_rows` and `out_rows` of all items. A mask is a
 * byte of each row, not 0 of those that count: the other rows of `in` are zero, those that another rank reads at
 * least; those of `out` are not needed, and may hold anything afterwards. 0 rows and no mask: all of the buffer counts.
 * Each rank has its own masks, of as many rows as the others. */
SK_EXPORT int32_t sk_collective_rows(sk_context *ctx, int64_t id, int64_t count, int64_t in_rows,
                                     const uint8_t *in_mask, int64_t out_rows, const uint8_t *out_mask, const void *in,
                                     void *out);

/* Ends the run with `message` if `holds` is 0: then a status, else 0. The program
 * returns the status at once. */
SK_EXPORT int32_t sk_assert(sk_context *ctx, int32_t holds, const char *message);

/* An asynchronous collective, for those that the manifest lists `with` another or
 * with themselves. Collectives that are started together are started in order of
 * their ids and done in the same order, with the same buffers. Until done has
 * returned for all of them the inputs must not change and the outputs must not be
 * accessed. Start never waits. */
SK_EXPORT int32_t sk_collective_start(sk_context *ctx, int64_t id, const void *in, void *out);
SK_EXPORT int32_t sk_collective_done(sk_context *ctx, int64_t id, const void *in, void *out);

/* Passes the value of probe `id` to the run: its local buffer, which is read until the call returns. It compares the
 * values of two programs if that was requested (shard-run --verify=values), and returns 0 else. */
SK_EXPORT int32_t sk_probe(sk_context *ctx, int64_t id, const void *data);

/* (rank / stride) mod size. */
SK_EXPORT int64_t sk_coordinate(sk_context *ctx, int64_t stride, int64_t size);

#define SK_MAX_CONTRACTION_DIMS 8
enum sk_contraction_role { SK_BATCH = 0, SK_M, SK_N, SK_K };

/* C[batch, m, n] (+)= sum over k of A[batch, m, k] * B[batch, k, n], each dim
 * with its own stride (in elements) in each operand, 0 where it has none. Dims
 * are listed major to minor; inputs of f16 and bf16 accumulate in f32. */
typedef struct sk_contraction_desc {
  int32_t abi;        /* SK_ABI_VERSION */
  int32_t in_dtype;   /* type of A and B */
  int32_t out_dtype;  /* type of C */
  int32_t accumulate; /* 0: C is overwritten, 1: added to */
  int32_t num_dims;
  struct {
    int32_t role; /* sk_contraction_role */
    int32_t reserved;
    int64_t size, stride_a, stride_b, stride_c;
  } dims[SK_MAX_CONTRACTION_DIMS];
} sk_contraction_desc;

/* `desc` lives as long as the program: the runtime may cache by its address. */
SK_EXPORT int32_t sk_contraction(sk_context *ctx, const sk_contraction_desc *desc, const void *a, const void *b,
                                 void *c);

/* As sk_contraction, of sizes and strides that are known at run time: those of dim i are dims[4 * i] and the three
 * after it, in the order of the descriptor, which has the roles alone. */
SK_EXPORT int32_t sk_contraction_at(sk_context *ctx, const sk_contraction_desc *desc, const int64_t *dims,
                                    const void *a, const void *b, void *c);

/* rows[0] is how many of `count` flags are not 0, rows[1], rows[2], ... are the positions of these, ascending. `rows`
 * has count + 1 elements. */
SK_EXPORT int32_t sk_find_rows(sk_context *ctx, const uint8_t *flags, int64_t count, int64_t *rows);

/* How a weight of few bits stores a number. SK_NUMBER_TABLE: four bits of a byte, which number a float of a table.
 * SK_NUMBER_I8: a signed byte. SK_NUMBER_E4M3: a byte of F8E4M3FN. SK_NUMBER_I6: four bits of a byte and above them two
 * of another one, minus 32. */
enum sk_number { SK_NUMBER_TABLE = 0, SK_NUMBER_I8, SK_NUMBER_E4M3, SK_NUMBER_I6 };

#define SK_MAX_WIDENED_DIMS 12
#define SK_MAX_INNER_CASES 8

/* A number of eight bits at most: of the byte at `at`, shifted to the right, the bits of `mask`, and those of another
 * byte; a number of the eight bits with a sign where `is_signed` is not 0. */
typedef struct sk_inner_number {
  int32_t at[2], shift[2], mask[2];
  int32_t is_signed;
} sk_inner_number;

/* C[m, n] (+)= sum over k of X[m, k] * (number[n, k] * scale[n, k] - offset[n, k]), in f32. Dims are listed major to
 * minor; the last one of k has stride 1 in the payload, and in what is above it, and 0 in scale, offset and inner. Bits
 * of a byte begin at `shift`, those of the other one at `high_shift`; dims add to these. With `num_inner_cases`, the
 * scale is multiplied by a number of the bytes `inner` as `inner_scale` states (if `has_inner_scale`), and the offset
 * as `inner_offset` states; dims add `inner_case` to the case, from 0 on. */
typedef struct sk_widened_desc {
  int32_t abi;        /* SK_ABI_VERSION */
  int32_t number;     /* sk_number */
  int32_t accumulate; /* 0: C is overwritten, 1: added to */
  int32_t num_dims;
  int32_t shift, high_shift;
  int32_t num_inner_cases, has_inner_scale, has_inner_offset, reserved;
  sk_inner_number inner_scale[SK_MAX_INNER_CASES], inner_offset[SK_MAX_INNER_CASES];
  float table[16];
  struct {
    int32_t role; /* SK_M, SK_N or SK_K */
    int32_t shift, high_shift, inner_case;
    int64_t size, stride_x, stride_payload, stride_high, stride_scale, stride_offset, stride_inner, stride_c;
  } dims[SK_MAX_WIDENED_DIMS];
} sk_widened_desc;

/* `high`, `scale`, `offset` and `inner` are null where the weight has none. `desc` lives as long as the program. In
 * programs for the host. */
SK_EXPORT int32_t sk_widened_contraction(sk_context *ctx, const sk_widened_desc *desc, const void *x,
                                         const void *payload, const void *high, const void *scale, const void *offset,
                                         const void *inner, void *c);

/* Runs iterations `begin` to `end` of a loop whose iterations are independent. */
typedef void (*sk_chunk)(int64_t begin, int64_t end, void *const *args);

/* Runs iterations 0 to `count` in chunks, on the threads of the rank, and returns when
 * all have ended. A chunk must not call the runtime. */
SK_EXPORT void sk_parallel(sk_context *ctx, int64_t count, sk_chunk chunk, void *const *args);

/* The following functions are for programs whose manifest has target "cuda": their
 * arguments, results and arena are addresses of the rank's device, which host code
 * accesses through these calls alone. The buffers of sk_collective* and sk_contraction are
 * device buffers there too. On a rank without a device these functions end the run
 * with an error. */

/* Device code: PTX text ending with 0. */
typedef struct sk_kernel_module {
  int32_t abi; /* SK_ABI_VERSION */
  int32_t reserved;
  const char *image;
  int64_t image_bytes;
} sk_kernel_module;

/* One kernel in it: threads per block in x, y, z and bytes of dynamic shared
 * memory. Addresses, index and i64 are arguments of 8 bytes, other scalars of their
 * own size. Kernels and their modules live as long as the program: the runtime may cache by
 * their addresses. */
typedef struct sk_kernel {
  const sk_kernel_module *module;
  const char *name;
  int32_t block[3];
  int32_t shared_bytes;
  int32_t num_args;
  int32_t reserved;
} sk_kernel;

/* Runs `kernel` on that many blocks after all work that the rank has enqueued on its
 * device so far; args[i] points to argument i. A grid with a 0 has no effect. */
SK_EXPORT int32_t sk_launch(sk_context *ctx, const sk_kernel *kernel, int64_t grid_x, int64_t grid_y, int64_t grid_z,
                            void *const *args);

/* Copies `bytes` bytes from one device buffer to another; they do not overlap. */
SK_EXPORT int32_t sk_copy(sk_context *ctx, void *to, const void *from, int64_t bytes);

/* Waits for the device, then copies to host memory: for values that host control
 * flow depends on. */
SK_EXPORT int32_t sk_copy_to_host(sk_context *ctx, void *to_host, const void *from_device, int64_t bytes);

/* A word of 8 bytes, 0 at first, in host memory that the device can access. A thread of a
 * kernel whose assertion fails stores the address of the message there (a string in host
 * memory, which the kernel gets as an argument) and ends. When the host next waits for the
 * device (sk_copy_to_host, the end of the step) the run ends with that message. */
SK_EXPORT int32_t sk_failure_word(sk_context *ctx, void **device);

#define SK_MAX_ADDED 2
enum sk_activation {
  SK_IDENTITY = 0,
  SK_RELU, /* x > 0 ? x : 0 */
  SK_GELU  /* x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) */
};

/* C = activation(result of `product` + the operands `added`). These have the type of C, with
 * their strides in the dims of `product`. */
typedef struct sk_fused_contraction_desc {
  sk_contraction_desc product;
  int32_t activation; /* sk_activation */
  int32_t num_added;
  int64_t added[SK_MAX_ADDED][SK_MAX_CONTRACTION_DIMS];
} sk_fused_contraction_desc;

/* As sk_contraction; `first` and `second` are added. C overlaps no operand.
 * f16 and bf16 may be rounded once, at the end, or before each step. */
SK_EXPORT int32_t sk_fused_contraction(sk_context *ctx, const sk_fused_contraction_desc *desc, const void *a,
                                       const void *b, void *c, const void *first, const void *second);

#define SK_MAX_ATTENTION_BATCH 6
#define SK_MAX_ATTENTION_OPERANDS 4
#define SK_MAX_ATTENTION_STEPS 12
#define SK_MAX_ATTENTION_HEAD 256

/* Steps that are applied to a score x, in order; all in f32. */
enum sk_attention_step_kind {
  SK_SCALE = 0, /* x * value */
  SK_ADD,       /* x + operand */
  SK_SUBTRACT,  /* x - operand */
  SK_MULTIPLY,  /* x * operand */
  SK_SELECT,    /* x where operand (i1) is keep, else value */
  SK_CAUSAL,    /* x where (key <= query + offset) is keep, else value */
  SK_ROUND      /* to dtype: f16 or bf16 */
};

/* A matrix for each index of the batch, with strides in elements. */
typedef struct sk_attention_operand {
  int64_t batch[SK_MAX_ATTENTION_BATCH], row, column;
} sk_attention_operand;

/* out[b, q, e] = sum over k of P[b, q, k] * v[b, k, e], where P[b, q, :] is the softmax
 * of the scores sum over d of q[b, q, d] * k[b, k, d], which go through `steps` first. */
typedef struct sk_attention_desc {
  int32_t abi;       /* SK_ABI_VERSION */
  int32_t in_dtype;  /* type of q, k and v: f32, f16, bf16 */
  int32_t out_dtype; /* in_dtype or f32 */
  int32_t num_batch, num_operands, num_steps;
  int64_t queries, keys, head, values; /* Lengths; of d and e at most SK_MAX_ATTENTION_HEAD. */
  int64_t batch[SK_MAX_ATTENTION_BATCH];
  sk_attention_operand q, k, v, out;                        /* q by d, k by d, k by e, q by e */
  sk_attention_operand operands[SK_MAX_ATTENTION_OPERANDS]; /* q by k */
  int32_t operand_dtypes[SK_MAX_ATTENTION_OPERANDS];        /* f32, f16, bf16; i1 */
  struct {
    int32_t kind; /* sk_attention_step_kind */
    int32_t operand, keep, dtype;
    float value;
    int32_t reserved;
    int64_t offset;
  } steps[SK_MAX_ATTENTION_STEPS];
} sk_attention_desc;

/* `operands` has num_operands addresses. `out` overlaps no operand; `desc` lives as
 * long as the program. */
SK_EXPORT int32_t sk_attention(sk_context *ctx, const sk_attention_desc *desc, const void *q, const void *k,
                               const void *v, void *out, const void *const *operands);

/* As sk_attention, of sizes and strides that are known at run time: the fields of the descriptor from queries to
 * operands are dims[0], dims[1], ..., those of `desc` are not read. */
SK_EXPORT int32_t sk_attention_at(sk_context *ctx, const sk_attention_desc *desc, const int64_t *dims, const void *q,
                                  const void *k, const void *v, void *out, const void *const *operands);

/* The device address of constant data of the program; uploaded once per device,
 * known by its host address. */
SK_EXPORT int32_t sk_constant(sk_context *ctx, const void *host, int64_t bytes, const void **device);

#ifdef __cplusplus
}
#endif

#endif /* SHARDKIT_RT_ABI_H */
