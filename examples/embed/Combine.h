/* Combines elements of a reduction: floats of up to 32 bits in f32, integers in 64 bits. */

#ifndef SHARDKIT_EXAMPLES_EMBED_COMBINE_H
#define SHARDKIT_EXAMPLES_EMBED_COMBINE_H

#include "shardkit-c/Collectives.h"

static float load_float(const void *p, int64_t type) {
  union {
    uint32_t bits;
    float value;
  } wide;
  if (type == SHARDKIT_F32)
    return *(const float *)p;
  if (type == SHARDKIT_F16)
    return (float)*(const _Float16 *)p;
  wide.bits = (uint32_t)*(const uint16_t *)p << 16;
  return wide.value;
}

static void store_float(void *p, int64_t type, float x) {
  union {
    float value;
    uint32_t bits;
  } wide = {x};
  if (type == SHARDKIT_F32)
    *(float *)p = x;
  else if (type == SHARDKIT_F16)
    *(_Float16 *)p = (_Float16)x;
  else /* To the nearest, ties to even; NaN stays NaN. */
    *(uint16_t *)p = x != x ? 0x7fc0 : (uint16_t)((wide.bits + 0x7fff + (wide.bits >> 16 & 1)) >> 16);
}

#define COMBINE_FLOATS(name, T)                                                                                        \
  static T name(int64_t kind, T a, T b) {                                                                              \
    const int is_max = kind == SHARDKIT_MAX || kind == SHARDKIT_MAX_NUM;                                               \
    if (kind == SHARDKIT_SUM || kind == SHARDKIT_PROD)                                                                 \
      return kind == SHARDKIT_SUM ? a + b : a * b;                                                                     \
    if (a != a || b != b) /* The number, or the NaN. */                                                                \
      return (a != a) == (kind == SHARDKIT_MAX_NUM || kind == SHARDKIT_MIN_NUM) ? b : a;                               \
    if (a == b) /* -0 is below 0. */                                                                                   \
      return (1 / a < 0) == is_max ? b : a;                                                                            \
    return (a > b) == is_max ? a : b;                                                                                  \
  }
COMBINE_FLOATS(combine_float, float)
COMBINE_FLOATS(combine_double, double)

static int64_t combine_integer(int64_t kind, int64_t a, int64_t b) {
  const uint64_t x = (uint64_t)a, y = (uint64_t)b;
  switch (kind) {
  case SHARDKIT_SUM:
    return (int64_t)(x + y);
  case SHARDKIT_PROD:
    return (int64_t)(x * y);
  case SHARDKIT_AND:
    return a & b;
  case SHARDKIT_OR:
    return a | b;
  case SHARDKIT_XOR:
    return a ^ b;
  case SHARDKIT_MAX:
    return a > b ? a : b;
  case SHARDKIT_MIN:
    return a < b ? a : b;
  case SHARDKIT_UMAX:
    return x > y ? a : b;
  default:
    return x < y ? a : b;
  }
}

/* A double, a float or an integer, by the type of the elements. */
typedef union Accumulator {
  double d;
  float f;
  int64_t i;
} Accumulator;

static Accumulator load(const void *p, int64_t type) {
  Accumulator acc = {0};
  switch (type) {
  case SHARDKIT_F64:
    acc.d = *(const double *)p;
    break;
  case SHARDKIT_I64:
    acc.i = *(const int64_t *)p;
    break;
  case SHARDKIT_I32:
    acc.i = *(const int32_t *)p;
    break;
  case SHARDKIT_I16:
    acc.i = *(const int16_t *)p;
    break;
  case SHARDKIT_I8:
    acc.i = *(const int8_t *)p;
    break;
  case SHARDKIT_I1:
    acc.i = *(const int8_t *)p & 1;
    break;
  default:
    acc.f = load_float(p, type);
  }
  return acc;
}

static void store(void *p, int64_t type, Accumulator acc) {
  switch (type) {
  case SHARDKIT_F64:
    *(double *)p = acc.d;
    break;
  case SHARDKIT_I64:
    *(int64_t *)p = acc.i;
    break;
  case SHARDKIT_I32:
    *(int32_t *)p = (int32_t)acc.i;
    break;
  case SHARDKIT_I16:
    *(int16_t *)p = (int16_t)acc.i;
    break;
  case SHARDKIT_I8:
    *(int8_t *)p = (int8_t)acc.i;
    break;
  case SHARDKIT_I1:
    *(int8_t *)p = (int8_t)(acc.i & 1);
    break;
  default:
    store_float(p, type, acc.f);
  }
}

static Accumulator combine(const shardkit_collective *c, Accumulator a, Accumulator b) {
  if (c->type == SHARDKIT_F64)
    a.d = combine_double(c->reduction, a.d, b.d);
  else if (c->type == SHARDKIT_F32 || c->type == SHARDKIT_F16 || c->type == SHARDKIT_BF16)
    a.f = combine_float(c->reduction, a.f, b.f);
  else
    a.i = combine_integer(c->reduction, a.i, b.i);
  return a;
}

#endif
