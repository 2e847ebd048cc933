/* Arithmetic of every type; the same text gives the expected values on the host. */
#include "common.h"

#define INTEGERS(name, T, U)                                                                                           \
  KERNEL name(T *out, const T *a, const T *b, int n) {                                                                 \
    THREADS {                                                                                                          \
      T x = a[i], y = b[i];                                                                                            \
      T *o = out + 16 * (long)i;                                                                                       \
      o[0] = (T)((U)x + (U)y);                                                                                         \
      o[1] = (T)((U)x - (U)y);                                                                                         \
      o[2] = (T)((u64)x * (u64)y);                                                                                     \
      o[3] = y ? (T)(y == (T) - 1 ? 0 - (U)x : x / y) : x;                                                             \
      o[4] = y && y != (T) - 1 ? (T)(x % y) : y;                                                                       \
      o[5] = (T)(x & y);                                                                                               \
      o[6] = (T)(x | (y ^ x));                                                                                         \
      o[7] = (T)((U)x << (y & (8 * sizeof(T) - 1)));                                                                   \
      o[8] = (T)(x >> (y & (8 * sizeof(T) - 1)));                                                                      \
      o[9] = x < y ? x : y;                                                                                            \
      o[10] = x > y ? x : y;                                                                                           \
      o[11] = (T)~x;                                                                                                   \
      o[12] = (T)((u64)x * (u64)y + (u64)x);                                                                           \
      o[13] = (T)(x / 7 + x % 10);                                                                                     \
      o[14] = (T)(x == y ? 1 : x <= y ? 2 : 3);                                                                        \
      o[15] = (T)(x < 0 ? 0 - (U)x : x);                                                                               \
    }                                                                                                                  \
  }
INTEGERS(int_s8, signed char, u8)
INTEGERS(int_u8, u8, u8)
INTEGERS(int_s16, short, u16)
INTEGERS(int_u16, u16, u16)
INTEGERS(int_s32, int, u32)
INTEGERS(int_u32, u32, u32)
INTEGERS(int_s64, long, u64)
INTEGERS(int_u64, u64, u64)

KERNEL bits32(u32 *out, const u32 *a, const u32 *b, int n) {
  THREADS {
    u32 x = a[i], y = b[i], *o = out + 12 * (long)i;
    o[0] = (u32)__builtin_popcount(x);
    o[1] = x ? (u32)__builtin_clz(x) : 32;
    o[2] = x ? (u32)__builtin_ctz(x) : 32;
    o[3] = __builtin_bitreverse32(x);
    o[4] = __builtin_bswap32(x);
    o[5] = __builtin_rotateleft32(x, y);
    o[6] = __builtin_rotateright32(x, y);
    o[7] = (x & ~y) | (y & 0x00ff00ff);
    o[8] = x >> 5 & 0x3ff;
    o[9] = (u32)((int)(x << 9) >> 20);
    o[10] = (u32)((u64)x * y >> 32);
    o[11] = (x & 0xffff0000u) | (y >> 16);
  }
}
KERNEL bits64(u64 *out, const u64 *a, const u64 *b, int n) {
  THREADS {
    u64 x = a[i], y = b[i], *o = out + 8 * (long)i;
    o[0] = (u64)__builtin_popcountl(x);
    o[1] = x ? (u64)__builtin_clzl(x) : 64;
    o[2] = x ? (u64)__builtin_ctzl(x) : 64;
    o[3] = __builtin_bitreverse64(x);
    o[4] = __builtin_bswap64(x);
    o[5] = __builtin_rotateleft64(x, y);
    o[6] = (u64)((unsigned __int128)x * y >> 64);
    o[7] = (u64)(((unsigned __int128)x * y + ((unsigned __int128)y << 64)) >> 64);
  }
}

#define FLOATS(name, T, sqrt_, fma_, floor_, ceil_, trunc_, rint_, fabs_, copysign_, min_, max_)                       \
  KERNEL name(T *out, const T *a, const T *b, int n) {                                                                 \
    THREADS {                                                                                                          \
      T x = a[i], y = b[i];                                                                                            \
      T *o = out + 20 * (long)i;                                                                                       \
      o[0] = x + y;                                                                                                    \
      o[1] = x - y;                                                                                                    \
      o[2] = x * y;                                                                                                    \
      o[3] = x / y;                                                                                                    \
      o[4] = (T)sqrt_(x < 0 ? -x : x);                                                                                 \
      o[5] = (T)fma_(x, y, x);                                                                                         \
      o[6] = (T)floor_(x);                                                                                             \
      o[7] = (T)ceil_(x);                                                                                              \
      o[8] = (T)trunc_(x);                                                                                             \
      o[9] = (T)rint_(x);                                                                                              \
      o[10] = (T)fabs_(x);                                                                                             \
      o[11] = (T)copysign_(x, y);                                                                                      \
      o[12] = (T)min_(x, y);                                                                                           \
      o[13] = (T)max_(x, y);                                                                                           \
      o[14] = -x;                                                                                                      \
      o[15] = x < y ? (T)1 : (T)2;                                                                                     \
      o[16] = x == y ? (T)3 : x != y ? (T)4 : (T)5;                                                                    \
      o[17] = !(x >= y) ? (T)6 : (T)7;                                                                                 \
      o[18] = __builtin_isnan(x) ? (T)8 : (T)9;                                                                        \
      o[19] = x > y || x <= (T)0 ? x : y;                                                                              \
    }                                                                                                                  \
  }
FLOATS(float_f32, float, __builtin_sqrtf, __builtin_fmaf, __builtin_floorf, __builtin_ceilf, __builtin_truncf,
       __builtin_rintf, __builtin_fabsf, __builtin_copysignf, __builtin_fminf, __builtin_fmaxf)
FLOATS(float_f64, double, __builtin_sqrt, __builtin_fma, __builtin_floor, __builtin_ceil, __builtin_trunc,
       __builtin_rint, __builtin_fabs, __builtin_copysign, __builtin_fmin, __builtin_fmax)
#ifdef __NVPTX__
#define FMAH(x, y, z) __builtin_fmaf16(x, y, z)
#else
/* One rounding: the product and the sum are exact in 128 bits. */
#define FMAH(x, y, z) ((f16)((__float128)(x) * (__float128)(y) + (__float128)(z)))
#endif
FLOATS(float_f16, f16, __builtin_sqrtf, FMAH, __builtin_floorf, __builtin_ceilf, __builtin_truncf, __builtin_rintf,
       __builtin_fabsf, __builtin_copysignf, __builtin_fminf, __builtin_fmaxf)

KERNEL float_bf16(bf16 *out, const bf16 *a, const bf16 *b, int n) {
  THREADS {
    bf16 x = a[i], y = b[i], *o = out + 8 * (long)i;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = x / y;
    o[4] = -x;
    o[5] = x < y ? x : y;
    o[6] = (bf16)__builtin_sqrtf((float)x < 0 ? -(float)x : (float)x);
    o[7] = (bf16)((float)x + 1.0f);
  }
}

/* Conversions between every two of the types. */
KERNEL convert_f32(const float *a, signed char *s8, u8 *u8s, short *s16, u16 *u16s, int *s32, u32 *u32s, long *s64,
                   u64 *u64s, f16 *h, bf16 *b, double *d, int n) {
  THREADS {
    float x = a[i];
    s8[i] = (signed char)(int)(x / 1e6f);
    u8s[i] = (u8)(int)(x / 1e6f);
    s16[i] = (short)(int)(x / 1e5f);
    u16s[i] = (u16)(int)(x / 1e5f);
    s32[i] = (int)x;
    u32s[i] = (u32)(long)x;
    s64[i] = (long)(x * 1e6f);
    u64s[i] = (u64)__builtin_fabsf(x * 1e6f);
    h[i] = (f16)(x / 1e5f);
    b[i] = (bf16)x;
    d[i] = x;
  }
}
KERNEL convert_back(float *o, const signed char *s8, const u8 *u8s, const short *s16, const u16 *u16s, const int *s32,
                    const u32 *u32s, const long *s64, const u64 *u64s, const f16 *h, const bf16 *b, const double *d,
                    int n) {
  THREADS {
    float *t = o + 14 * (long)i;
    t[0] = s8[i];
    t[1] = u8s[i];
    t[2] = s16[i];
    t[3] = u16s[i];
    t[4] = (float)s32[i];
    t[5] = (float)u32s[i];
    t[6] = (float)s64[i];
    t[7] = (float)u64s[i];
    t[8] = h[i];
    t[9] = b[i];
    t[10] = (float)d[i];
    t[11] = (float)(f16)d[i];
    t[12] = (float)((double)s64[i] * 0.5 + (double)u32s[i]);
    t[13] = (float)(f16)s16[i];
  }
}

/* Calls, recursion, local memory, switch, structures by value, constants. */
struct Pair {
  int a;
  float b;
  double c;
  short d[3];
};
NOINLINE int fibonacci(int k) { return k < 2 ? k : fibonacci(k - 1) + fibonacci(k - 2); }
NOINLINE struct Pair step(struct Pair p, const int *t, float f) {
  struct Pair q = {p.a + t[p.a & 7], p.b * f, p.c + p.b, {p.d[2], p.d[0], (short)(p.d[1] + 1)}};
  return q;
}
NOINLINE int choose(int k, int v) {
  switch (k) {
  case 0:
    return v + 1;
  case 1:
    return v * 3;
  case 2:
    return fibonacci(v & 7);
  case 3:
    return -v;
  case 4:
    return v >> 2;
  case 5:
    return v ^ 0x55;
  case 6:
    return v & 12;
  default:
    return 99;
  }
}
#ifdef __NVPTX__
__attribute__((address_space(4))) const int table[8] = {3, 1, -4, 1, 5, -9, 2, 6};
__attribute__((address_space(1))) double scale[4] = {1.5, -2.25, 0.125, 8};
#else
static const int table[8] = {3, 1, -4, 1, 5, -9, 2, 6};
static double scale[4] = {1.5, -2.25, 0.125, 8};
#endif
KERNEL structure(double *out, const int *a, struct Pair p, f16 h, u8 c, int n) {
  THREADS {
    int stack[16];
    for (int k = 0; k < 16; ++k)
      stack[k] = a[i] * k;
    for (int k = 0; k < 40; ++k)
      stack[(a[i] + k * 7) & 15] += stack[(k * 3 + i) & 15];
    struct Pair q = p;
    for (int k = 0; k < (a[i] & 3) + 1; ++k)
      q = step(q, stack, (float)h);
    out[i] = q.a + q.b * 2 + q.c * 3 + q.d[0] + 10 * q.d[1] + 100 * q.d[2] + choose(i % 9, a[i]) * 1000.0 +
             fibonacci(i % 11) + table[i & 7] * scale[i & 3] + c;
  }
}

/* Loops of different lengths in the threads of a warp; early exit. */
KERNEL collatz(int *out, const int *a, int n) {
  THREADS {
    u32 x = (u32)a[i];
    int steps = 0;
    while (x > 1 && steps < 500) {
      x = x & 1 ? 3 * x + 1 : x / 2;
      ++steps;
    }
    if (x)
      out[i] = steps;
  }
}

#ifndef __NVPTX__
void structure_host(double *out, const int *a, const struct Pair *p, int n) { structure(out, a, *p, (f16)1.5f, 17, n); }
#endif
