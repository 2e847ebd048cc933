/*===- Collectives.h - Collectives as calls of other runtimes -----*- C -*-===*\
 *
 * What --convert-spmd-to-calls makes of the collectives of a program: calls of the functions
 * declared here, which the embedder defines. examples/embed/CollectivesOverMpi.c defines them
 * over MPI in 100 lines.
 *
 * Every device runs the same program. A rank is the logical rank of a device: its position in
 * the list of devices of the mesh. The ranks of one group (`digits`) call a function in the same
 * order with the same descriptor. Buffers are contiguous, row-major and local. They do not
 * overlap.
 *
 * The header needs no library, and is C99 and C++.
 *
\*===----------------------------------------------------------------------===*/

#ifndef SHARDKIT_C_COLLECTIVES_H
#define SHARDKIT_C_COLLECTIVES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHARDKIT_DESCRIPTOR_VERSION 1

/* Element types. A boolean has a byte in memory, and so have integers of 4 bits. */
enum shardkit_type {
  SHARDKIT_F64 = 0,
  SHARDKIT_F32,
  SHARDKIT_F16,
  SHARDKIT_BF16,
  SHARDKIT_I64,
  SHARDKIT_I32,
  SHARDKIT_I16,
  SHARDKIT_I8,
  SHARDKIT_I1,
  SHARDKIT_OTHER /* Moved, never combined: complex numbers, 8-bit floats. */
};

enum shardkit_kind {
  SHARDKIT_ALL_SLICE = 0,
  SHARDKIT_ALL_GATHER,
  SHARDKIT_ALL_REDUCE,
  SHARDKIT_REDUCE_SCATTER,
  SHARDKIT_ALL_TO_ALL,
  SHARDKIT_COLLECTIVE_PERMUTE,
  SHARDKIT_EXCHANGE
};

/* Integers are signed in MAX and MIN, unsigned in UMAX and UMIN. MAX and MIN of floats give NaN
 * if an operand is NaN, MAX_NUM and MIN_NUM the other operand. Floats of 16 bits are combined in
 * f32, and rounded once. */
enum shardkit_reduction {
  SHARDKIT_NO_REDUCTION = -1,
  SHARDKIT_SUM = 0,
  SHARDKIT_PROD,
  SHARDKIT_AND,
  SHARDKIT_OR,
  SHARDKIT_XOR,
  SHARDKIT_MAX,
  SHARDKIT_MIN,
  SHARDKIT_UMAX,
  SHARDKIT_UMIN,
  SHARDKIT_MAX_NUM,
  SHARDKIT_MIN_NUM
};

/* A digit of a rank: (rank / stride) mod size. */
typedef struct shardkit_rank_digit {
  int64_t stride, size;
} shardkit_rank_digit;

/* A digit of an index. It is a digit of the rank, or counts elements of the local buffer. */
typedef struct shardkit_digit {
  int64_t size, is_rank, stride;
} shardkit_digit;

/* One of the nested loops of a move, of `size` iterations. On each side, an iteration adds
 * `stride` to the index of the element or to the rank. Strides are in elements. */
typedef struct shardkit_loop {
  int64_t size;
  int64_t source_is_rank, source_stride, destination_is_rank, destination_stride;
} shardkit_loop;

/* A loop that the two sides split differently: uneven shards, strides that do not divide each
 * other, windows. Each side writes the index as a number in its own digits, major to minor. Their
 * product may exceed `size`: what is beyond it is padding. With a window, a destination of which
 * the rank digits are the number k holds the indices from step * k + offset on, as many as its
 * local digit has (1 without one); those outside of [0, size) are padding. `added` >= 0: that one
 * of the `offsets` of the call is added to `offset`. */
typedef struct shardkit_segment {
  int64_t size, num_source, num_destination;
  int64_t has_window, step, offset, added;
  /* Followed by shardkit_digit source[num_source], destination[num_destination]. */
} shardkit_segment;

/* The element (rank r, local index d) of the result is read from the rank that is r with the
 * digits of the source ranks replaced, at the sum of the local source strides; r fixes the
 * iterations of loops and digits whose destination is a rank. Padding of the result is not
 * written, except around windows: there it is zero. A reduction combines, for each element, the
 * elements of all ranks that differ from that rank in `reduce` alone. ShardKit's runtime
 * combines them in rising order of ranks.
 *
 * All fields are 8 bytes. The arrays follow the struct in this order. */
typedef struct shardkit_collective {
  int64_t version;   /* SHARDKIT_DESCRIPTOR_VERSION */
  int64_t kind;      /* shardkit_kind */
  int64_t reduction; /* shardkit_reduction */
  int64_t type;      /* shardkit_type */
  int64_t element_bytes;
  int64_t id; /* The number in the program, as in reports; -1: none. */
  int64_t devices;
  int64_t in_elements, out_elements;
  int64_t num_digits;   /* shardkit_rank_digit: ranks that exchange elements differ in these alone. */
  int64_t num_reduce;   /* shardkit_rank_digit: ranks that are combined, as many as the product. */
  int64_t num_loops;    /* shardkit_loop */
  int64_t num_spread;   /* shardkit_rank_digit. With segments, ranks that share the work of sending
                         * copies: such a digit of the source is that of r, plus for each source
                         * rank of the segments the digit of r minus that of the source, modulo its
                         * size. */
  int64_t num_segments; /* shardkit_segment, each with its digits. */
  /* If not 0, `devices` of int64_t: ranks r on this side are numbers in another order of the
   * devices, which have the ranks order[r]. Then the source rank starts at 0, not at r. */
  int64_t num_source_order, num_destination_order;
} shardkit_collective;

/* Elements of `out` that no rank sends are padding; `offsets` is null without windows at run
 * time. */
void shardkit_all_slice(const shardkit_collective *c, const int64_t *offsets, const void *in, void *out);
void shardkit_all_gather(const shardkit_collective *c, const int64_t *offsets, const void *in, void *out);
void shardkit_all_reduce(const shardkit_collective *c, const int64_t *offsets, const void *in, void *out);
void shardkit_reduce_scatter(const shardkit_collective *c, const int64_t *offsets, const void *in, void *out);
void shardkit_all_to_all(const shardkit_collective *c, const int64_t *offsets, const void *in, void *out);
void shardkit_collective_permute(const shardkit_collective *c, const int64_t *offsets, const void *in, void *out);
void shardkit_exchange(const shardkit_collective *c, const int64_t *offsets, const void *in, void *out);

/* The rank of this device. */
int64_t shardkit_rank(void);

#ifdef __cplusplus
}
#endif

#endif /* SHARDKIT_C_COLLECTIVES_H */
