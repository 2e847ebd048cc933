/*===- attention.c - Attention that keeps its scores on chip ----------------===*
 *
 * sk_attention_T_D, for head dims up to D: a block has some queries, and goes over the
 * keys a tile at a time. Per query it keeps the largest score so far, the sum of the
 * exponentials relative to it, and the sum of values; what a larger score changes is a
 * factor. Where queries are few several blocks share the keys of the same queries, and a
 * second kernel puts together what they leave. Always in the same order. f16, bf16 and tf32 multiply on tensor cores (P
 * rounded to the type), f32 with FMA. Compiled (Kernels.cmake) with F16, BF16, TF32 or F32 defined: a module for each.
 *
 *===-----------------------------------------------------------------------===*/

#include "../KernelAbi.h"

#define KERNEL __attribute__((device_kernel)) void
#define INLINE static inline __attribute__((always_inline))
#define SHARED __attribute__((address_space(3)))
#define GLOBAL __attribute__((address_space(1)))
#define UNROLL _Pragma("clang loop unroll(full)")

typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef uint32_t uint4 __attribute__((ext_vector_type(4)));

extern SHARED uint4 shared[];

static const float log2e = 1.44269504f, infinity = __builtin_inff();

INLINE int tid(void) { return (int)__nvvm_read_ptx_sreg_tid_x(); }
INLINE void barrier(void) { __nvvm_bar_sync(0); }
INLINE float larger(float a, float b) { return a > b ? a : b; }
INLINE float lane_xor(float x, int lanes) { return __nvvm_shfl_sync_bfly_f32(-1, x, lanes, 31); }
INLINE float from_f16(uint16_t bits) {
  union {
    uint16_t i;
    _Float16 f;
  } x = {bits};
  return (float)x.f;
}
INLINE float from_bf16(uint16_t bits) {
  union {
    uint32_t i;
    float f;
  } x = {(uint32_t)bits << 16};
  return x.f;
}
INLINE uint16_t to_f16(float x) {
  uint16_t bits;
  __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
INLINE uint16_t to_bf16(float x) {
  uint16_t bits;
  __asm__("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
/* What a block works on. */
typedef struct {
  const sk_attention_work *work;
  int first, queries, keys; /* Its first query; the numbers of all. */
  int begin, end;           /* Its keys. */
  float GLOBAL *partial;    /* What it leaves of its queries; null: it has all keys. */
  const char GLOBAL *q, *k, *v, *operand0, *operand1, *operand2, *operand3;
  char GLOBAL *out;
  int causal; /* Keys behind `last` have the score `masked`, which no step changes. */
  int64_t last;
  float masked;
} task;

#define PARAMETERS                                                                                                     \
  const sk_attention_work *work, const void *q, const void *k, const void *v, void *out, const void *operand0,         \
      const void *operand1, const void *operand2, const void *operand3, float *partial

INLINE int size_of(int dtype) { return dtype == SK_F32 ? 4 : dtype == SK_I1 ? 1 : 2; }

INLINE task begin(PARAMETERS, const int rows) {
  const sk_attention_desc *desc = &work->desc;
  task t = {work,
            0,
            (int)desc->queries,
            (int)desc->keys,
            0,
            (int)desc->keys,
            0,
            (const char GLOBAL *)q,
            (const char GLOBAL *)k,
            (const char GLOBAL *)v,
            (const char GLOBAL *)operand0,
            (const char GLOBAL *)operand1,
            (const char GLOBAL *)operand2,
            (const char GLOBAL *)operand3,
            (char GLOBAL *)out,
            0,
            0,
            0};
  int64_t tiles = ((int64_t)t.queries + rows - 1) / rows, rest = __nvvm_read_ptx_sreg_ctaid_x();
  int split = 0;
  if (work->splits > 1) {
    int64_t next = rest / work->splits;
    split = (int)(rest - next * work->splits);
    rest = next;
    t.begin = split * work->split_keys;
    t.end = t.end - t.begin < work->split_keys ? t.end : t.begin + work->split_keys;
  }
  /* Under a causal mask the last ones have most to do. */
  int64_t batch = rest / tiles;
  t.first = (int)(tiles - 1 - (rest - batch * tiles)) * rows;
  if (work->splits > 1)
    t.partial = (float GLOBAL *)partial + (split * work->rows + batch * t.queries) * (desc->values + 2);
  const int in = size_of(desc->in_dtype), to = size_of(desc->out_dtype);
  for (int i = desc->num_batch - 1; i >= 0; --i) {
    int64_t next = batch / desc->batch[i], index = batch - next * desc->batch[i];
    batch = next;
    t.q += index * desc->q.batch[i] * in;
    t.k += index * desc->k.batch[i] * in;
    t.v += index * desc->v.batch[i] * in;
    t.out += index * desc->out.batch[i] * to;
    t.operand0 += index * desc->operands[0].batch[i] * size_of(desc->operand_dtypes[0]);
    t.operand1 += index * desc->operands[1].batch[i] * size_of(desc->operand_dtypes[1]);
    t.operand2 += index * desc->operands[2].batch[i] * size_of(desc->operand_dtypes[2]);
    t.operand3 += index * desc->operands[3].batch[i] * size_of(desc->operand_dtypes[3]);
  }
  const int step = desc->num_steps - 1;
  if (step >= 0 && desc->steps[step].kind == SK_CAUSAL && desc->steps[step].keep) {
    int end = t.first + rows < t.queries ? t.first + rows : t.queries;
    t.causal = 1;
    t.last = (int64_t)end - 1 + desc->steps[step].offset;
    t.masked = desc->steps[step].value;
  }
  return t;
}

/* Scores of a thread: of the tensor cores 2 rows, 8 apart, by pairs of keys, 8 apart; of
 * FMA 4 rows by keys 16 apart. */
INLINE int row_of(int n, const int tensor) { return tensor ? 8 * ((n >> 1) & 1) : n & 3; }
INLINE int key_of(int n, const int tensor) { return tensor ? 8 * (n >> 2) + (n & 1) : 16 * (n >> 2); }

/* x + sign * e, or x * e with sign 0, of all scores of a thread. */
#define COMBINE(type, load)                                                                                            \
  UNROLL for (int n = 0; n < count; ++n) {                                                                             \
    const int k = key + key_of(n, tensor);                                                                             \
    const float e =                                                                                                    \
        load(((const type GLOBAL *)                                                                                    \
                  from)[rows[tensor ? (n >> 1) & 1 : n & 3] + (int64_t)(k < t->keys ? k : t->keys - 1) * key_stride]); \
    x[n] = sign == 0 ? x[n] * e : __builtin_fmaf(sign, e, x[n]);                                                       \
  }
#define same(x) (x)

INLINE void apply_operand(const task *t, int number, int row, int key, float *x, float sign, int keep, float value,
                          const int count, const int tensor) {
  const sk_attention_operand *operand = &t->work->desc.operands[number];
  const char GLOBAL *from = number == 0   ? t->operand0
                            : number == 1 ? t->operand1
                            : number == 2 ? t->operand2
                                          : t->operand3;
  const int64_t key_stride = operand->column;
  /* Addresses are not kept from step to step. */
  __asm__ volatile("" : "+r"(row), "+r"(key));
  int64_t rows[4];
  UNROLL for (int i = 0; i < (tensor ? 2 : 4); ++i) {
    int r = row + i * (tensor ? 8 : 1);
    rows[i] = (int64_t)(r < t->queries ? r : t->queries - 1) * operand->row;
  }
  switch (t->work->desc.operand_dtypes[number]) {
  case SK_F32:
    COMBINE(float, same)
    break;
  case SK_F16:
    COMBINE(uint16_t, from_f16)
    break;
  case SK_BF16:
    COMBINE(uint16_t, from_bf16)
    break;
  default:
    UNROLL for (int n = 0; n < count; ++n) {
      const int k = key + key_of(n, tensor);
      const int is_set =
          ((const uint8_t GLOBAL *)
               from)[rows[tensor ? (n >> 1) & 1 : n & 3] + (int64_t)(k < t->keys ? k : t->keys - 1) * key_stride] &
          1;
      x[n] = is_set == keep ? x[n] : value;
    }
  }
}

/* The steps, on scores whose first one is at (row, key); keys that are none get no weight. */
INLINE void apply_steps(const task *t, int row, int key, float *x, const int count, const int tensor) {
  const sk_attention_desc *desc = &t->work->desc;
  for (int s = 0; s < desc->num_steps; ++s) {
    const int kind = desc->steps[s].kind, keep = desc->steps[s].keep;
    const float value = desc->steps[s].value;
    if (kind == SK_SCALE) {
      UNROLL for (int n = 0; n < count; ++n) x[n] *= value;
    } else if (kind == SK_CAUSAL) {
      const int64_t offset = (int64_t)row - key + desc->steps[s].offset;
      UNROLL for (int n = 0; n < count; ++n) {
        int before = key_of(n, tensor) <= row_of(n, tensor) + offset;
        x[n] = before == keep ? x[n] : value;
      }
    } else if (kind == SK_ROUND) {
      if (desc->steps[s].dtype == SK_F16) {
        UNROLL for (int n = 0; n < count; ++n) x[n] = from_f16(to_f16(x[n]));
      } else {
        UNROLL for (int n = 0; n < count; ++n) x[n] = from_bf16(to_bf16(x[n]));
      }
    } else {
      const float sign = kind == SK_ADD ? 1 : kind == SK_SUBTRACT ? -1 : 0;
      apply_operand(t, desc->steps[s].operand, row, key, x, sign, keep, value, count, tensor);
    }
  }
  const int left = t->keys - key;
  UNROLL for (int n = 0; n < count; ++n) x[n] = key_of(n, tensor) < left ? x[n] : -infinity;
}

/* Whether scores of `masked` add nothing to any row of the thread. */
INLINE int is_settled(const task *t, int row, const float *largest, const int rows, const int apart) {
  int settled = 1;
  UNROLL for (int i = 0; i < rows; ++i) settled &= row + i * apart >= t->queries || t->masked - largest[i] < -110.0f;
  return settled;
}
/* A flag for each warp, read behind a barrier. */
INLINE void tell_settled(SHARED int *flags, int settled) {
  int all = __nvvm_vote_all_sync(-1, settled);
  if ((tid() & 31) == 0)
    flags[tid() >> 5] = all;
}
/* Whether nothing is left for the block from this key on. */
INLINE int is_done(const task *t, SHARED int *flags, int key, const int warps) {
  if (!t->causal || key == t->begin || key <= t->last)
    return 0;
  int done = 1;
  UNROLL for (int i = 0; i < warps; ++i) done &= flags[i];
  return done;
}

/* To 2 units, x at most 0; 0 where it is next to it. */
INLINE float exp_exact(float x) {
  float n = __builtin_rintf(x * log2e), y;
  float r = __builtin_fmaf(n, -1.428606765330187e-6f, __builtin_fmaf(n, -6.931457519531250e-1f, x));
  __asm__("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(r * log2e));
  union {
    int32_t i;
    float f;
  } power = {((int32_t)n + 127) << 23};
  return x < -87.0f ? 0.0f : y * power.f;
}

/* An element of the result from what the blocks with its keys have left. */
INLINE void merge(const sk_attention_work *work, const float *partial, void *out) {
  const sk_attention_desc *desc = &work->desc;
  const int64_t i = (int64_t)__nvvm_read_ptx_sreg_ctaid_x() * SK_KERNEL_THREADS + tid();
  const int64_t row = i / desc->values, column = i - row * desc->values;
  if (row >= work->rows)
    return;
  const float GLOBAL *part = (const float GLOBAL *)partial + row * (desc->values + 2);
  const int64_t next = work->rows * (desc->values + 2);
  float most = -infinity, total = 0, sum = 0;
  for (int s = 0; s < work->splits; ++s)
    most = larger(part[s * next + desc->values], most);
  const float base = most == -infinity ? 0 : most;
  for (int s = 0; s < work->splits; ++s, part += next) {
    const float factor = exp_exact(part[desc->values] - base);
    total = __builtin_fmaf(part[desc->values + 1], factor, total);
    sum = __builtin_fmaf(part[column], factor, sum);
  }
  const float x = sum / total;
  int64_t batch = row / desc->queries, at = (row - batch * desc->queries) * desc->out.row + column * desc->out.column;
  for (int b = desc->num_batch - 1; b >= 0; --b) {
    int64_t outer = batch / desc->batch[b];
    at += (batch - outer * desc->batch[b]) * desc->out.batch[b];
    batch = outer;
  }
  if (desc->out_dtype == SK_F32)
    ((float GLOBAL *)out)[at] = x;
  else
    ((uint16_t GLOBAL *)out)[at] = desc->out_dtype == SK_F16 ? to_f16(x) : to_bf16(x);
}
#define MERGE(name)                                                                                                    \
  KERNEL sk_attention_merge_##name(const sk_attention_work *work, const float *partial, void *out) {                   \
    merge(work, partial, out);                                                                                         \
  }

#ifndef F32
/*===----------------------------------------------------------------------===*
 * f16, bf16 and tf32: 4 warps, each has 16 queries
 *===----------------------------------------------------------------------===*/

enum { TYPE_F16, TYPE_BF16, TYPE_TF32 };
#ifdef TF32
typedef uint32_t element;
#else
typedef uint16_t element;
#endif
/* Elements in 16 bytes, and in the 32 bytes of a row that a product takes at once. */
enum { CHUNK = 16 / sizeof(element), STEP = 2 * CHUNK };

INLINE uint32_t pack(float low, float high, const int type) {
  uint32_t bits;
  if (type == TYPE_BF16)
    __asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  else
    __asm__("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
/* 2^(x log2 e), to some units in the last place. */
INLINE float exp_fast(float x) {
  float y;
  __asm__("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * log2e));
  return y;
}

/* Rows of D elements lie in shared memory as chunks of 16 bytes, in an order by which eight
 * rows at one chunk are in all banks. */
INLINE uint32_t chunk_at(uint32_t tile, int row, int chunk, const int D) {
  return tile + (uint32_t)(row * D * (int)sizeof(element) + ((chunk ^ (row & 7)) * 16));
}

INLINE void fetch_tile(uint32_t to, const char GLOBAL *from, const sk_attention_operand *operand, int first, int rows,
                       int columns, int wide, const int count, const int D) {
  const element GLOBAL *source = (const element GLOBAL *)from;
  const int64_t row_stride = operand->row, column_stride = operand->column;
  if (wide) {
    for (int i = tid(); i < count * (D / CHUNK); i += 128) {
      int row = i / (D / CHUNK), chunk = i % (D / CHUNK);
      int is_there = first + row < rows && chunk * CHUNK < columns;
      const element GLOBAL *at = source + (is_there ? (int64_t)(first + row) * row_stride + chunk * CHUNK : 0);
      __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                       :
                       : "r"(chunk_at(to, row, chunk, D)), "l"((uint64_t)at), "r"(is_there ? 16 : 0)
                       : "memory");
    }
    return;
  }
  for (int i = tid(); i < count * D; i += 128) {
    int row = i / D, column = i % D;
    SHARED element *target = (SHARED element *)(uintptr_t)(chunk_at(to, row, column / CHUNK, D) +
                                                           (uint32_t)(column % CHUNK) * (uint32_t)sizeof(element));
    *target = first + row < rows && column < columns
                  ? source[(int64_t)(first + row) * row_stride + column * column_stride]
                  : 0;
  }
}
INLINE void close_group(void) { __asm__ volatile("cp.async.commit_group;" : : : "memory"); }
INLINE void await_all_but_one(void) { __asm__ volatile("cp.async.wait_group 1;" : : : "memory"); }
INLINE void await_all(void) { __asm__ volatile("cp.async.wait_group 0;" : : : "memory"); }

INLINE void load_matrices(uint32_t *to, uint32_t at) {
  __asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                   : "r"(at)
                   : "memory");
}
#ifndef TF32
INLINE void load_transposed(uint32_t *to, uint32_t at) {
  __asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                   : "r"(at)
                   : "memory");
}
#endif
/* f32 in shared memory as tf32, to nearest. */
INLINE void round_words(uint32_t *x, const int count, const int type) {
  if (type == TYPE_TF32) {
    UNROLL for (int i = 0; i < count; ++i) __asm__("cvt.rna.tf32.f32 %0, %0;" : "+r"(x[i]));
  }
}
INLINE void multiply(float *c, const uint32_t *a, uint32_t b0, uint32_t b1, const int type) {
  if (type == TYPE_TF32)
    __asm__("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else if (type == TYPE_BF16)
    __asm__("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    __asm__("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

INLINE void store_pair(const task *t, int row, int column, float a, float b, const int type) {
  const sk_attention_desc *desc = &t->work->desc;
  if (row >= t->queries || column >= (int)desc->values)
    return;
  const int64_t at = (int64_t)row * desc->out.row + column * desc->out.column, next = at + desc->out.column;
  const int both = column + 1 < desc->values;
  if (desc->out_dtype == SK_F32) {
    float GLOBAL *out = (float GLOBAL *)t->out;
    if (t->work->wide_out) {
      *(float2 GLOBAL *)(out + at) = (float2){a, b};
      return;
    }
    out[at] = a;
    if (both)
      out[next] = b;
    return;
  }
  uint16_t GLOBAL *out = (uint16_t GLOBAL *)t->out;
  uint32_t bits = pack(a, b, type);
  if (t->work->wide_out) {
    *(uint32_t GLOBAL *)(out + at) = bits;
    return;
  }
  out[at] = (uint16_t)bits;
  if (both)
    out[next] = (uint16_t)(bits >> 16);
}

/* BM queries, BN keys a tile. */
INLINE void attend_tensor(PARAMETERS, const int type, const int D, const int BM, const int BN) {
  const task t = begin(work, q, k, v, out, operand0, operand1, operand2, operand3, partial, BM);
  const sk_attention_desc *desc = &work->desc;
  const int head = (int)desc->head, values = (int)desc->values;
  const uint32_t q_tile = (uint32_t)(uintptr_t)shared, k_tile = chunk_at(q_tile, BM, 0, D),
                 v_tile = chunk_at(k_tile, BN, 0, D);
  SHARED int *flags = (SHARED int *)((SHARED char *)shared + (BM + 2 * BN) * D * (int)sizeof(element));
  const int lane = tid() & 31, warp_row = (tid() >> 5) * 16;
  const int row = t.first + warp_row + lane / 4;

  float sums[32][4], scores[32], largest[2] = {-infinity, -infinity}, total[2] = {0, 0};
  /* Queries that do not fit in registers are read again for each tile. */
  const int is_late = D * (int)sizeof(element) > 256;
  uint32_t queries[128 / STEP][4];
  UNROLL for (int j = 0; j < D / 8; ++j) { UNROLL for (int r = 0; r < 4; ++r) sums[j][r] = 0; }
  fetch_tile(q_tile, t.q, &desc->q, t.first, t.queries, head, work->wide_q, BM, D);
  fetch_tile(k_tile, t.k, &desc->k, t.begin, t.keys, head, work->wide_k, BN, D);
  close_group();
  for (int key = t.begin; key < t.end; key += BN) {
    if (is_done(&t, flags, key, BM / 16))
      break;
    fetch_tile(v_tile, t.v, &desc->v, key, t.keys, values, work->wide_v, BN, D);
    close_group();
    await_all_but_one(); /* The keys are there. */
    barrier();
    if (key == t.begin && !is_late) {
      UNROLL for (int d = 0; d < D / STEP; ++d) {
        load_matrices(queries[d], chunk_at(q_tile, warp_row + (lane & 15), 2 * d + (lane >> 4), D));
        round_words(queries[d], 4, type);
      }
    }
    UNROLL for (int n = 0; n < BN / 2; ++n) scores[n] = 0;
    UNROLL for (int d = 0; d < D / STEP; ++d) {
      uint32_t late[4];
      if (is_late) {
        load_matrices(late, chunk_at(q_tile, warp_row + (lane & 15), 2 * d + (lane >> 4), D));
        round_words(late, 4, type);
      }
      UNROLL for (int j = 0; j < BN / 16; ++j) {
        uint32_t b[4];
        load_matrices(b, chunk_at(k_tile, 16 * j + (lane & 7) + 8 * (lane >> 4), 2 * d + ((lane >> 3) & 1), D));
        round_words(b, 4, type);
        multiply(scores + 8 * j, is_late ? late : queries[d % (128 / STEP)], b[0], b[1], type);
        multiply(scores + 8 * j + 4, is_late ? late : queries[d % (128 / STEP)], b[2], b[3], type);
      }
    }
    barrier();
    if (key + BN < t.end)
      fetch_tile(k_tile, t.k, &desc->k, key + BN, t.keys, head, work->wide_k, BN, D);
    close_group();

    apply_steps(&t, row, key + 2 * (lane & 3), scores, BN / 2, 1);
    UNROLL for (int i = 0; i < 2; ++i) {
      float most = -infinity;
      UNROLL for (int n = 0; n < BN / 2; ++n) {
        if (((n >> 1) & 1) == i)
          most = larger(scores[n], most);
      }
      most = larger(lane_xor(most, 1), most);
      most = larger(lane_xor(most, 2), most);
      most = larger(most, largest[i]);
      const float base = most == -infinity ? 0 : most, factor = exp_fast(largest[i] - base);
      largest[i] = most;
      total[i] *= factor;
      UNROLL for (int n = 0; n < BN / 2; ++n) {
        if (((n >> 1) & 1) == i) {
          scores[n] = exp_fast(scores[n] - base);
          total[i] += scores[n];
        }
      }
      UNROLL for (int j = 0; j < D / 8; ++j) {
        sums[j][2 * i] *= factor;
        sums[j][2 * i + 1] *= factor;
      }
    }
    if (t.causal)
      tell_settled(flags, is_settled(&t, row, largest, 2, 8));
    await_all_but_one(); /* The values are there. */
    barrier();
#ifdef TF32
    /* Keys in the order 0 2 4 6 1 3 5 7, in which a lane has their scores already. */
    UNROLL for (int s = 0; s < BN / 8; ++s) {
      int at = lane; /* Addresses are not kept. */
      __asm__ volatile("" : "+r"(at));
      uint32_t p[4];
      UNROLL for (int r = 0; r < 4; ++r) p[r] = __builtin_bit_cast(uint32_t, scores[4 * s + (r >> 1) + 2 * (r & 1)]);
      round_words(p, 4, type);
      UNROLL for (int j = 0; j < D / 8; ++j) {
        uint32_t b[2];
        UNROLL for (int r = 0; r < 2; ++r) b[r] =
            *(SHARED uint32_t *)(uintptr_t)(chunk_at(v_tile, 8 * s + 2 * (at & 3) + r, 2 * j + (at >> 4), D) +
                                            (uint32_t)((at >> 2) & 3) * 4);
        round_words(b, 2, type);
        multiply(sums[j], p, b[0], b[1], type);
      }
    }
#else
    UNROLL for (int s = 0; s < BN / 16; ++s) {
      uint32_t p[4];
      UNROLL for (int r = 0; r < 4; ++r) p[r] = pack(scores[8 * s + 2 * r], scores[8 * s + 2 * r + 1], type);
      UNROLL for (int j = 0; j < D / 16; ++j) {
        uint32_t b[4];
        load_transposed(b, chunk_at(v_tile, 16 * s + (lane & 15), 2 * j + (lane >> 4), D));
        multiply(sums[2 * j], p, b[0], b[1], type);
        multiply(sums[2 * j + 1], p, b[2], b[3], type);
      }
    }
#endif
    barrier();
  }
  await_all();
  UNROLL for (int i = 0; i < 2; ++i) {
    total[i] += lane_xor(total[i], 1);
    total[i] += lane_xor(total[i], 2);
    if (t.partial) {
      if (row + 8 * i < t.queries) {
        float GLOBAL *to = t.partial + (int64_t)(row + 8 * i) * (values + 2);
        UNROLL for (int j = 0; j < D / 8; ++j) {
          UNROLL for (int e = 0; e < 2; ++e) {
            const int column = 8 * j + 2 * (lane & 3) + e;
            if (column < values)
              to[column] = sums[j][2 * i + e];
          }
        }
        if ((lane & 3) == 0) {
          to[values] = largest[i];
          to[values + 1] = total[i];
        }
      }
      continue;
    }
    const float factor = 1.0f / total[i];
    UNROLL for (int j = 0; j < D / 8; ++j)
        store_pair(&t, row + 8 * i, 8 * j + 2 * (lane & 3), sums[j][2 * i] * factor, sums[j][2 * i + 1] * factor, type);
  }
}

#define TENSOR(name, type, D, BM, BN)                                                                                  \
  KERNEL sk_attention_##name##_##D(PARAMETERS) {                                                                       \
    attend_tensor(work, q, k, v, out, operand0, operand1, operand2, operand3, partial, type, D, BM, BN);               \
  }
#if defined(TF32)
#define KERNELS(D, BM, BN) TENSOR(tf32, TYPE_TF32, D, BM, BN)
MERGE(tf32)
#elif defined(BF16)
#define KERNELS(D, BM, BN) TENSOR(bf16, TYPE_BF16, D, BM, BN)
MERGE(bf16)
#else
#define KERNELS(D, BM, BN) TENSOR(f16, TYPE_F16, D, BM, BN)
MERGE(f16)
#endif
SK_ATTENTION_TENSOR(KERNELS)

#else
/*===----------------------------------------------------------------------===*
 * f32: 16 threads for each 4 queries
 *===----------------------------------------------------------------------===*/

/* `count` rows, of which `padded` columns (a multiple of 4) are filled. */
INLINE void fetch_rows(SHARED float *to, const char GLOBAL *from, const sk_attention_operand *operand, int first,
                       int rows, int columns, int padded, int wide, const int count, const int D, const int threads) {
  const float GLOBAL *source = (const float GLOBAL *)from;
  const int64_t row_stride = operand->row, column_stride = operand->column;
  const int units = padded / 4;
  for (int i = tid(); i < count * units; i += threads) {
    int row = i / units, column = (i - row * units) * 4;
    float4 data = {0, 0, 0, 0};
    if (first + row < rows) {
      const float GLOBAL *at = source + (int64_t)(first + row) * row_stride + column * column_stride;
      if (wide) {
        if (column < columns)
          data = *(const float4 GLOBAL *)at;
      } else {
        UNROLL for (int e = 0; e < 4; ++e) {
          if (column + e < columns)
            data[e] = at[e * column_stride];
        }
      }
    }
    *(SHARED float4 *)(to + row * (D + 4) + column) = data;
  }
}

INLINE void attend_f32(PARAMETERS, const int D, const int BM, const int BN) {
  const task t = begin(work, q, k, v, out, operand0, operand1, operand2, operand3, partial, BM);
  const sk_attention_desc *desc = &work->desc;
  const int head = (int)desc->head, values = (int)desc->values;
  const int threads = BM * 4, padded = (head + 3) / 4 * 4;
  SHARED float *q_tile = (SHARED float *)shared, *kv_tile = q_tile + BM * (D + 4), *p_tile = kv_tile + BN * (D + 4);
  SHARED int *flags = (SHARED int *)(p_tile + BM * (BN + 4));
  const int warp_row = tid() / 16 * 4, x = tid() & 15;
  const int row = t.first + warp_row;

  float sums[4][16], scores[64], largest[4], total[4];
  UNROLL for (int i = 0; i < 4; ++i) {
    largest[i] = -infinity;
    total[i] = 0;
    UNROLL for (int j = 0; j < D / 16; ++j) sums[i][j] = 0;
  }
  fetch_rows(q_tile, t.q, &desc->q, t.first, t.queries, head, padded, work->wide_q, BM, D, threads);
  for (int key = t.begin; key < t.end; key += BN) {
    if (is_done(&t, flags, key, BM / 8))
      break;
    fetch_rows(kv_tile, t.k, &desc->k, key, t.keys, head, padded, work->wide_k, BN, D, threads);
    barrier();
    UNROLL for (int n = 0; n < BN / 4; ++n) scores[n] = 0;
    for (int d = 0; d < padded; d += 4) {
      float4 a[4];
      UNROLL for (int i = 0; i < 4; ++i) a[i] = *(SHARED float4 *)(q_tile + (warp_row + i) * (D + 4) + d);
      UNROLL for (int j = 0; j < BN / 16; ++j) {
        float4 b = *(SHARED float4 *)(kv_tile + (x + 16 * j) * (D + 4) + d);
        UNROLL for (int i = 0; i < 4; ++i) {
          UNROLL for (int e = 0; e < 4; ++e) scores[4 * j + i] = __builtin_fmaf(a[i][e], b[e], scores[4 * j + i]);
        }
      }
    }
    barrier();
    fetch_rows(kv_tile, t.v, &desc->v, key, t.keys, values, D, work->wide_v, BN, D, threads);

    apply_steps(&t, row, key + x, scores, BN / 4, 0);
    UNROLL for (int i = 0; i < 4; ++i) {
      float most = -infinity;
      UNROLL for (int j = 0; j < BN / 16; ++j) most = larger(scores[4 * j + i], most);
      UNROLL for (int lanes = 1; lanes < 16; lanes *= 2) most = larger(lane_xor(most, lanes), most);
      most = larger(most, largest[i]);
      const float base = most == -infinity ? 0 : most, factor = exp_exact(largest[i] - base);
      largest[i] = most;
      total[i] *= factor;
      UNROLL for (int j = 0; j < BN / 16; ++j) {
        float p = exp_exact(scores[4 * j + i] - base);
        total[i] += p;
        p_tile[(warp_row + i) * (BN + 4) + x + 16 * j] = p;
      }
      UNROLL for (int j = 0; j < D / 16; ++j) sums[i][j] *= factor;
    }
    if (t.causal)
      tell_settled(flags, is_settled(&t, row, largest, 4, 1));
    barrier();
    for (int s = 0; s < BN; s += 4) {
      float4 p[4];
      UNROLL for (int i = 0; i < 4; ++i) p[i] = *(SHARED float4 *)(p_tile + (warp_row + i) * (BN + 4) + s);
      UNROLL for (int e = 0; e < 4; ++e) {
        UNROLL for (int j = 0; j < D / 64; ++j) {
          float4 b = *(SHARED float4 *)(kv_tile + (s + e) * (D + 4) + 64 * j + 4 * x);
          UNROLL for (int i = 0; i < 4; ++i) {
            UNROLL for (int c = 0; c < 4; ++c) sums[i][4 * j + c] = __builtin_fmaf(p[i][e], b[c], sums[i][4 * j + c]);
          }
        }
      }
    }
    barrier();
  }
  float GLOBAL *to = (float GLOBAL *)t.out;
  UNROLL for (int i = 0; i < 4; ++i) {
    UNROLL for (int lanes = 1; lanes < 16; lanes *= 2) total[i] += lane_xor(total[i], lanes);
    const float factor = t.partial ? 1 : 1.0f / total[i];
    float GLOBAL *at =
        t.partial ? t.partial + (int64_t)(row + i) * (values + 2) : to + (int64_t)(row + i) * desc->out.row;
    const int64_t step = t.partial ? 1 : desc->out.column;
    UNROLL for (int j = 0; j < D / 16; ++j) {
      const int column = 64 * (j / 4) + 4 * x + j % 4;
      if (row + i < t.queries && column < values)
        at[column * step] = sums[i][j] * factor;
    }
    if (t.partial && x == 0 && row + i < t.queries) {
      at[values] = largest[i];
      at[values + 1] = total[i];
    }
  }
}

#define ONE_BLOCK(D, BM, BN)                                                                                           \
  KERNEL sk_attention_f32_##D(PARAMETERS) {                                                                            \
    attend_f32(work, q, k, v, out, operand0, operand1, operand2, operand3, partial, D, BM, BN);                        \
  }
SK_ATTENTION_F32(ONE_BLOCK)
MERGE(f32)
#endif
