/*===- kernels.c - The runtime's own kernels -------------------------------===*
 *
 * Copies and reductions over loops, and contractions that no library takes. What
 * they mean is in Collective.cpp, Reduce.cpp and ContractPacked.cpp. Compiled
 * as Kernels.cmake says.
 *
 *===-----------------------------------------------------------------------===*/

#include "../KernelAbi.h"

#define KERNEL __attribute__((device_kernel)) void

static int64_t thread(void) {
  return (int64_t)__nvvm_read_ptx_sreg_ctaid_x() * SK_KERNEL_THREADS + __nvvm_read_ptx_sreg_tid_x();
}
static int64_t threads(void) { return (int64_t)__nvvm_read_ptx_sreg_nctaid_x() * SK_KERNEL_THREADS; }

/* Splits i into the indices of the loops; 32-bit divisions where they do. */
static void locate(const sk_move *move, int64_t i, int64_t *from, int64_t *to) {
  int64_t f = 0, t = 0;
  if (move->elements <= 0xffffffff) {
    uint32_t rest = (uint32_t)i;
    for (int k = move->num_loops - 1; k > 0; --k) {
      const sk_kernel_loop *loop = &move->loops[k];
      uint32_t size = (uint32_t)loop->size, next = rest / size;
      int64_t index = rest - next * size;
      f += index * loop->from;
      t += index * loop->to;
      rest = next;
    }
    i = rest;
  } else {
    for (int k = move->num_loops - 1; k > 0; --k) {
      const sk_kernel_loop *loop = &move->loops[k];
      int64_t next = i / loop->size, index = i - next * loop->size;
      f += index * loop->from;
      t += index * loop->to;
      i = next;
    }
  }
  *from = f + i * move->loops[0].from;
  *to = t + i * move->loops[0].to;
}

typedef struct __attribute__((aligned(16))) {
  uint64_t low, high;
} wide;

#define COPY(bytes, type)                                                                                              \
  KERNEL sk_copy_##bytes(const sk_move *move, const type *from, type *to) {                                            \
    for (int64_t i = thread(); i < move->elements; i += threads()) {                                                   \
      int64_t f, t;                                                                                                    \
      locate(move, i, &f, &t);                                                                                         \
      to[t] = from[f];                                                                                                 \
    }                                                                                                                  \
  }
COPY(1, uint8_t)
COPY(2, uint16_t)
COPY(4, uint32_t)
COPY(8, uint64_t)
COPY(16, wide)

/* As enum class Reduction. */
enum { NONE, SUM, PROD, AND, OR, XOR, MAX, MIN, UMAX, UMIN, MAXNUM, MINNUM };

#define FLOAT_COMBINE(type, bits)                                                                                      \
  static type nan_max_##type(type a, type b) {                                                                         \
    if (a != a)                                                                                                        \
      return a;                                                                                                        \
    if (b != b)                                                                                                        \
      return b;                                                                                                        \
    if (a == b) {                                                                                                      \
      union {                                                                                                          \
        type f;                                                                                                        \
        bits i;                                                                                                        \
      } x = {a};                                                                                                       \
      return x.i < 0 ? b : a;                                                                                          \
    }                                                                                                                  \
    return a > b ? a : b;                                                                                              \
  }                                                                                                                    \
  static type nan_min_##type(type a, type b) {                                                                         \
    if (a != a)                                                                                                        \
      return a;                                                                                                        \
    if (b != b)                                                                                                        \
      return b;                                                                                                        \
    if (a == b) {                                                                                                      \
      union {                                                                                                          \
        type f;                                                                                                        \
        bits i;                                                                                                        \
      } x = {a};                                                                                                       \
      return x.i < 0 ? a : b;                                                                                          \
    }                                                                                                                  \
    return a < b ? a : b;                                                                                              \
  }                                                                                                                    \
  static type combine_##type(int operation, type a, type b) {                                                          \
    switch (operation) {                                                                                               \
    case SUM:                                                                                                          \
      return a + b;                                                                                                    \
    case PROD:                                                                                                         \
      return a * b;                                                                                                    \
    case MAX:                                                                                                          \
      return nan_max_##type(a, b);                                                                                     \
    case MIN:                                                                                                          \
      return nan_min_##type(a, b);                                                                                     \
    case MAXNUM:                                                                                                       \
      return a != a ? b : b != b ? a : nan_max_##type(a, b);                                                           \
    default:                                                                                                           \
      return a != a ? b : b != b ? a : nan_min_##type(a, b);                                                           \
    }                                                                                                                  \
  }
FLOAT_COMBINE(float, int32_t)
FLOAT_COMBINE(double, int64_t)

#define INTEGER_COMBINE(width)                                                                                         \
  static uint##width##_t combine_##width(int operation, uint##width##_t a, uint##width##_t b) {                        \
    switch (operation) {                                                                                               \
    case SUM:                                                                                                          \
      return (uint##width##_t)(a + b);                                                                                 \
    case PROD:                                                                                                         \
      return (uint##width##_t)((uint64_t)a * b);                                                                       \
    case AND:                                                                                                          \
      return a & b;                                                                                                    \
    case OR:                                                                                                           \
      return a | b;                                                                                                    \
    case XOR:                                                                                                          \
      return a ^ b;                                                                                                    \
    case MAX:                                                                                                          \
      return (int##width##_t)a > (int##width##_t)b ? a : b;                                                            \
    case MIN:                                                                                                          \
      return (int##width##_t)a < (int##width##_t)b ? a : b;                                                            \
    case UMAX:                                                                                                         \
      return a > b ? a : b;                                                                                            \
    default:                                                                                                           \
      return a < b ? a : b;                                                                                            \
    }                                                                                                                  \
  }
INTEGER_COMBINE(64)
INTEGER_COMBINE(32)
INTEGER_COMBINE(16)
INTEGER_COMBINE(8)

/* How elements lie in memory. */
static float load_f16(uint16_t bits) {
  union {
    uint16_t i;
    _Float16 f;
  } x = {bits};
  return (float)x.f;
}
static uint16_t store_f16(float value) {
  union {
    _Float16 f;
    uint16_t i;
  } x = {(_Float16)value};
  return x.i;
}
static float load_bf16(uint16_t bits) {
  union {
    uint32_t i;
    float f;
  } x = {(uint32_t)bits << 16};
  return x.f;
}
static uint16_t store_bf16(float value) {
  union {
    float f;
    uint32_t i;
  } x = {value};
  if ((x.i & 0x7fffffffu) > 0x7f800000u)
    return (uint16_t)((x.i >> 16) | 0x40);
  return (uint16_t)((x.i + 0x7fffu + ((x.i >> 16) & 1)) >> 16);
}
#define same(x) (x)
#define load_bit(x) ((uint8_t)((x) ? 1 : 0))
#define store_bit(x) ((uint8_t)((x) & 1))

#define REDUCE(name, type, accumulator, combine, load, store)                                                          \
  KERNEL sk_reduce_##name(const sk_move *move, type *to) {                                                             \
    const type *const *from = (const type *const *)(move + 1);                                                         \
    for (int64_t i = thread(); i < move->elements; i += threads()) {                                                   \
      int64_t f, t;                                                                                                    \
      locate(move, i, &f, &t);                                                                                         \
      accumulator sum = load(from[0][f]);                                                                              \
      for (int64_t k = 1; k < move->num_from; ++k)                                                                     \
        sum = combine(move->operation, sum, load(from[k][f]));                                                         \
      to[t] = store(sum);                                                                                              \
    }                                                                                                                  \
  }
REDUCE(f64, double, double, combine_double, same, same)
REDUCE(f32, float, float, combine_float, same, same)
REDUCE(f16, uint16_t, float, combine_float, load_f16, store_f16)
REDUCE(bf16, uint16_t, float, combine_float, load_bf16, store_bf16)
REDUCE(i64, uint64_t, uint64_t, combine_64, same, same)
REDUCE(i32, uint32_t, uint32_t, combine_32, same, same)
REDUCE(i16, uint16_t, uint16_t, combine_16, same, same)
REDUCE(i8, uint8_t, uint8_t, combine_8, same, same)
REDUCE(i1, uint8_t, uint8_t, combine_8, load_bit, store_bit)

/* As sk_dtype. */
enum { F64, F32, F16, BF16, I64, I32, I16, I8, I1 };

static double load_float(int dtype, const void *data, int64_t i) {
  switch (dtype) {
  case F64:
    return ((const double *)data)[i];
  case F32:
    return ((const float *)data)[i];
  case F16:
    return load_f16(((const uint16_t *)data)[i]);
  default:
    return load_bf16(((const uint16_t *)data)[i]);
  }
}
static void store_float(int dtype, void *data, int64_t i, double value) {
  switch (dtype) {
  case F64:
    ((double *)data)[i] = value;
    break;
  case F32:
    ((float *)data)[i] = (float)value;
    break;
  case F16:
    ((uint16_t *)data)[i] = store_f16((float)value);
    break;
  default:
    ((uint16_t *)data)[i] = store_bf16((float)value);
  }
}
static uint64_t load_integer(int dtype, const void *data, int64_t i) {
  switch (dtype) {
  case I64:
    return ((const uint64_t *)data)[i];
  case I32:
    return (uint64_t)((const int32_t *)data)[i];
  case I16:
    return (uint64_t)((const int16_t *)data)[i];
  case I8:
    return (uint64_t)((const int8_t *)data)[i];
  default:
    return ((const uint8_t *)data)[i] ? 1 : 0;
  }
}
static void store_integer(int dtype, void *data, int64_t i, uint64_t value) {
  switch (dtype) {
  case I64:
    ((uint64_t *)data)[i] = value;
    break;
  case I32:
    ((uint32_t *)data)[i] = (uint32_t)value;
    break;
  case I16:
    ((uint16_t *)data)[i] = (uint16_t)value;
    break;
  case I8:
    ((uint8_t *)data)[i] = (uint8_t)value;
    break;
  default:
    ((uint8_t *)data)[i] = value & 1;
  }
}

#define CONTRACT(name, accumulator, load, store, multiply)                                                             \
  KERNEL sk_contract_##name(const sk_sum *sum, const void *a, const void *b, void *c) {                                \
    for (int64_t i = thread(); i < sum->elements; i += threads()) {                                                    \
      int64_t at_a = 0, at_b = 0, at_c = 0, rest = i;                                                                  \
      for (int k = sum->num_outer - 1; k >= 0; --k) {                                                                  \
        int64_t next = rest / sum->outer[k].size, index = rest - next * sum->outer[k].size;                            \
        at_a += index * sum->outer[k].a;                                                                               \
        at_b += index * sum->outer[k].b;                                                                               \
        at_c += index * sum->outer[k].c;                                                                               \
        rest = next;                                                                                                   \
      }                                                                                                                \
      accumulator total = sum->accumulate ? (accumulator)load(sum->out_dtype, c, at_c) : 0;                            \
      for (int64_t s = 0; s < sum->sum; ++s) {                                                                         \
        int64_t x = at_a, y = at_b, left = s;                                                                          \
        for (int k = sum->num_sum - 1; k >= 0; --k) {                                                                  \
          int64_t next = left / sum->inner[k].size, index = left - next * sum->inner[k].size;                          \
          x += index * sum->inner[k].a;                                                                                \
          y += index * sum->inner[k].b;                                                                                \
          left = next;                                                                                                 \
        }                                                                                                              \
        total = multiply((accumulator)load(sum->in_dtype, a, x), (accumulator)load(sum->in_dtype, b, y), total);       \
      }                                                                                                                \
      store(sum->out_dtype, c, at_c, total);                                                                           \
    }                                                                                                                  \
  }
#define multiply_integer(x, y, z) ((x) * (y) + (z))
CONTRACT(f64, double, load_float, store_float, __builtin_fma)
CONTRACT(f32, float, load_float, store_float, __builtin_fmaf)
CONTRACT(integer, uint64_t, load_integer, store_integer, multiply_integer)

static float exp2_fast(float x) {
  float y;
  __asm__("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/* x / 2 * (1 + tanh(u)) is x / (1 + exp(-2 u)), which cancels nothing. */
static float gelu(float x) {
  const float log2e = 0x1.715476p+0f, log2e_rest = 0x1.4ae0cp-26f;
  float y = -2 * 0x1.988454p-1f * (x + 0x1.6e4e26p-5f * x * x * x);
  if (y > 100) /* All the same, and infinity spoils what follows. */
    y = 100;
  if (y < -100)
    y = -100;
  const float n = __builtin_rintf(y * log2e);
  const float rest = __builtin_fmaf(y, log2e_rest, __builtin_fmaf(y, log2e, -n));
  return x / (1 + exp2_fast(rest) * exp2_fast(n));
}

KERNEL sk_finish(const sk_finish_work *work, void *c, const void *first, const void *second) {
  const void *added[SK_MAX_ADDED] = {first, second};
  for (int64_t i = thread(); i < work->elements; i += threads()) {
    int64_t at = 0, from[SK_MAX_ADDED] = {0, 0}, rest = i;
    for (int k = work->num_outer - 1; k >= 0; --k) {
      int64_t next = rest / work->outer[k].size, index = rest - next * work->outer[k].size;
      at += index * work->outer[k].c;
      for (int j = 0; j < SK_MAX_ADDED; ++j)
        from[j] += index * work->outer[k].added[j];
      rest = next;
    }
    float x = (float)load_float(work->dtype, c, at);
    for (int j = 0; j < SK_MAX_ADDED; ++j)
      if (j < work->num_added)
        x += (float)load_float(work->dtype, added[j], from[j]);
    if (work->activation == SK_RELU)
      x = x <= 0 ? 0 : x;
    else if (work->activation == SK_GELU)
      x = gelu(x);
    store_float(work->dtype, c, at, x);
  }
}

/* One block: each thread takes a range of the flags, behind those of the threads before it. */
static __attribute__((address_space(3))) int64_t found_before[SK_KERNEL_THREADS];
KERNEL sk_rows_found(const uint8_t *flags, int64_t count, int64_t *rows) {
  const int64_t me = __nvvm_read_ptx_sreg_tid_x(), each = (count + SK_KERNEL_THREADS - 1) / SK_KERNEL_THREADS;
  const int64_t begin = me * each < count ? me * each : count, end = begin + each < count ? begin + each : count;
  int64_t found = 0;
  for (int64_t row = begin; row < end; ++row)
    found += flags[row] != 0;
  /* Sums of ever more threads. */
  found_before[me] = found;
  for (int64_t step = 1; step < SK_KERNEL_THREADS; step *= 2) {
    __nvvm_bar_sync(0);
    const int64_t before = me >= step ? found_before[me - step] : 0;
    __nvvm_bar_sync(0);
    found_before[me] += before;
  }
  int64_t at = found_before[me] - found;
  for (int64_t row = begin; row < end; ++row)
    if (flags[row])
      rows[1 + at++] = row;
  if (me == SK_KERNEL_THREADS - 1)
    rows[0] = at;
}
