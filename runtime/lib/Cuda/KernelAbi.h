/*===- KernelAbi.h - What the runtime's own kernels are given ------*- C -*-===*/

#ifndef SHARDKIT_RT_CUDA_KERNELABI_H
#define SHARDKIT_RT_CUDA_KERNELABI_H

#include "shardkit/rt/abi.h"

/* Loops of a kernel, outermost first; strides in elements. */
#define SK_KERNEL_LOOPS 12
typedef struct {
  int64_t size, from, to;
} sk_kernel_loop;

/* For sk_copy_N and sk_reduce_T. Behind a reduction's lie the addresses of its
 * `num_from` sources, combined in this order. */
typedef struct {
  int64_t elements; /* The product of the loops. */
  int32_t num_loops;
  int32_t operation; /* A Reduction. */
  int64_t num_from;
  sk_kernel_loop loops[SK_KERNEL_LOOPS];
} sk_move;

/* For sk_contract_T: element (i) of C is the sum over k. */
#define SK_KERNEL_DIMS 8
typedef struct {
  int64_t elements; /* Of C. */
  int64_t sum;      /* Terms of each. */
  int32_t in_dtype, out_dtype, accumulate;
  int32_t num_outer, num_sum;
  int32_t reserved;
  struct {
    int64_t size, a, b, c;
  } outer[SK_KERNEL_DIMS], inner[SK_KERNEL_DIMS];
} sk_sum;

/* For sk_finish: what a contraction does to C at last, where the library does not. */
typedef struct {
  int64_t elements; /* Of C. */
  int32_t dtype, activation, num_added, num_outer;
  struct {
    int64_t size, c, added[SK_MAX_ADDED];
  } outer[SK_KERNEL_DIMS];
} sk_finish_work;

#define SK_KERNEL_THREADS 256

/* For sk_attention_T_D. Wide: rows are read (of out: written) as vectors of 16 bytes
 * (of out: two elements). With several `splits` a block has `split_keys` of the keys
 * (tiles), and leaves for each of `rows` queries (of all places of the batch, one behind
 * the other), at (split * rows + row) * (values + 2) of `partial`: the sums of values, the
 * largest score, and the sum of exponentials; sk_attention_merge_T makes rows of them. */
typedef struct {
  sk_attention_desc desc;
  int32_t wide_q, wide_k, wide_v, wide_out;
  int32_t splits, split_keys;
  int64_t rows;
} sk_attention_work;

/* Queries and keys that a block has in shared memory, and its threads: for head dims up
 * to `head`. */
#define SK_ATTENTION_TENSOR(X) X(64, 64, 64) X(128, 64, 64) X(256, 64, 16) /* head, queries, keys */
#define SK_ATTENTION_F32(X) X(64, 64, 64) X(128, 64, 64) X(256, 32, 32)

#endif
