//===- DeviceLibrary.c - Math functions of device code --------------------===//
//
// Upstream lowers math on GPUs to the names of CUDA's libdevice, which is not at hand
// where there is no CUDA. Here they are made of libclc (the accurate ones) and of
// single instructions.
//
//===----------------------------------------------------------------------===//

#define ONE(name, clc)                                                                                                 \
  float clc_##name##f(float) __asm__("_Z" clc "f");                                                                    \
  double clc_##name(double) __asm__("_Z" clc "d");                                                                     \
  float __nv_##name##f(float x) { return clc_##name##f(x); }                                                           \
  double __nv_##name(double x) { return clc_##name(x); }
#define TWO(name, clc)                                                                                                 \
  float clc_##name##f(float, float) __asm__("_Z" clc "ff");                                                            \
  double clc_##name(double, double) __asm__("_Z" clc "dd");                                                            \
  float __nv_##name##f(float x, float y) { return clc_##name##f(x, y); }                                               \
  double __nv_##name(double x, double y) { return clc_##name(x, y); }
/// libclc reads a table at the integer part of |x|. That of a NaN in f64 is the lowest integer on GPUs.
#define BY_TABLE(name, clc)                                                                                            \
  float clc_##name##f(float) __asm__("_Z" clc "f");                                                                    \
  double clc_##name(double) __asm__("_Z" clc "d");                                                                     \
  float __nv_##name##f(float x) { return x == x ? clc_##name##f(x) : x; }                                              \
  double __nv_##name(double x) { return x == x ? clc_##name(x) : x; }
#define NATIVE(name, builtin)                                                                                          \
  float __nv_##name##f(float x) { return builtin##f(x); }                                                              \
  double __nv_##name(double x) { return builtin(x); }

ONE(acos, "4acos")
ONE(acosh, "5acosh")
ONE(asin, "4asin")
ONE(asinh, "5asinh")
ONE(atan, "4atan")
ONE(atanh, "5atanh")
ONE(cbrt, "4cbrt")
ONE(cos, "3cos")
BY_TABLE(cosh, "4cosh")
ONE(erf, "3erf")
ONE(erfc, "4erfc")
ONE(expm1, "5expm1")
ONE(log, "3log")
ONE(log10, "5log10")
ONE(log1p, "5log1p")
ONE(log2, "4log2")
ONE(round, "5round")
ONE(sin, "3sin")
BY_TABLE(sinh, "4sinh")
ONE(tan, "3tan")
ONE(tanh, "4tanh")
TWO(atan2, "5atan2")
TWO(fmod, "4fmod")
float clc_powf(float, float) __asm__("_Z3powff");
double clc_pow(double, double) __asm__("_Z3powdd");
float __nv_powf(float x, float y) { return clc_powf(x, y); }
/// libclc's result is wrong where its exponent of base 2 exceeds an integer.
double __nv_pow(double x, double y) {
  double exponent = y * clc_log2(__builtin_fabs(x));
  if (!(__builtin_fabs(exponent) > 0x1p20) || x == 0 || __builtin_isinf(x) || __builtin_isinf(y))
    return clc_pow(x, y);
  double result = exponent > 0 ? __builtin_inf() : 0;
  if (x > 0)
    return result;
  if (__builtin_floor(y) != y)
    return __builtin_nan("");
  return __builtin_floor(y / 2) * 2 != y ? -result : result;
}

NATIVE(fabs, __builtin_fabs)
NATIVE(ceil, __builtin_ceil)
NATIVE(floor, __builtin_floor)
NATIVE(rint, __builtin_rint)
NATIVE(sqrt, __builtin_sqrt)

float __nv_copysignf(float x, float y) { return __builtin_copysignf(x, y); }
double __nv_copysign(double x, double y) { return __builtin_copysign(x, y); }
float __nv_fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
double __nv_fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
float __nv_rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
double __nv_rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
float __nv_powif(float x, int n);
double __nv_powi(double x, int n);
float __nv_fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
double __nv_fmax(double x, double y) { return __builtin_fmax(x, y); }
float __nv_fminf(float x, float y) { return __builtin_fminf(x, y); }
double __nv_fmin(double x, double y) { return __builtin_fmin(x, y); }
void __nv_sincosf(float x, float *sine, float *cosine) {
  *sine = __nv_sinf(x);
  *cosine = __nv_cosf(x);
}
void __nv_sincos(double x, double *sine, double *cosine) {
  *sine = __nv_sin(x);
  *cosine = __nv_cos(x);
}
int __nv_abs(int x) { return x < 0 ? (int)(0u - (unsigned)x) : x; }
int __nv_isinff(float x) { return __builtin_isinf(x) != 0; }
int __nv_isinfd(double x) { return __builtin_isinf(x) != 0; }
int __nv_isnanf(float x) { return x != x; }
int __nv_isnand(double x) { return x != x; }
int __nv_finitef(float x) { return __builtin_isfinite(x); }
int __nv_isfinited(double x) { return __builtin_isfinite(x); }

// By the square of the base; 1 / power for n < 0.
#define POWER(name, type)                                                                                              \
  type name(type x, int n) {                                                                                           \
    unsigned left = n < 0 ? 0u - (unsigned)n : (unsigned)n;                                                            \
    type power = 1;                                                                                                    \
    for (; left; left >>= 1, x *= x)                                                                                   \
      if (left & 1)                                                                                                    \
        power *= x;                                                                                                    \
    return n < 0 ? 1 / power : power;                                                                                  \
  }
POWER(__nv_powif, float)
POWER(__nv_powi, double)

// 2^n * e^r with n = round(x / ln 2), |r| <= ln 2 / 2: within an ulp and the error of
// ex2.approx, and shorter than libclc's.
float __nv_expf(float x) {
  // Beyond these it is 0 or infinite.
  float y = __builtin_fminf(__builtin_fmaxf(x, -110.0f), 90.0f);
  float n = __builtin_rintf(y * 1.44269504f);
  float r = __builtin_fmaf(n, -0.693145752f, y);
  r = __builtin_fmaf(n, -1.42860677e-6f, r);
  // In two steps: 2^n alone may overflow, or be subnormal, where the product is not.
  float half = __builtin_truncf(n * 0.5f);
  float power =
      __nvvm_ex2_approx_ftz_f(r * 1.44269504f) * __nvvm_ex2_approx_ftz_f(half) * __nvvm_ex2_approx_ftz_f(n - half);
  return x != x ? x : power;
}
double clc_exp(double) __asm__("_Z3expd");
double __nv_exp(double x) { return clc_exp(x); }
float clc_exp2f(float) __asm__("_Z4exp2f");
double clc_exp2(double) __asm__("_Z4exp2d");
float __nv_exp2f(float x) { return clc_exp2f(x); }
double __nv_exp2(double x) { return clc_exp2(x); }
