/*===- cuda.c - A program for devices as the compiler would emit it ---------===*
 *
 * As program.c, with kernels that double and halve what the product gives. The PTX is what
 * clang makes of this, and of the same with a sum:
 *
 *   void scale(const float *in, float *out, int64_t elements, float factor) {
 *     int64_t i = (int64_t)__nvvm_read_ptx_sreg_ctaid_x() * 32 + __nvvm_read_ptx_sreg_tid_x();
 *     if (i < elements)
 *       out[i] = in[i] * factor;
 *   }
 *
 *===----------------------------------------------------------------------===*/

#include "shardkit/rt/abi.h"

/* One entry of the module. */
#define KERNEL(name, operation)                                                                                        \
  ".visible .entry " name "(\n"                                                                                        \
  ".param .u64 .ptr .align 1 " name "_param_0,\n"                                                                      \
  ".param .u64 .ptr .align 1 " name "_param_1,\n"                                                                      \
  ".param .u64 " name "_param_2,\n"                                                                                    \
  ".param .f32 " name "_param_3\n"                                                                                     \
  ")\n"                                                                                                                \
  "{\n"                                                                                                                \
  ".reg .pred %p<2>;\n"                                                                                                \
  ".reg .b32 %r<6>;\n"                                                                                                 \
  ".reg .b64 %rd<12>;\n"                                                                                               \
  "ld.param.b64 %rd3, [" name "_param_0];\n"                                                                           \
  "ld.param.b64 %rd4, [" name "_param_1];\n"                                                                           \
  "cvta.to.global.u64 %rd5, %rd4;\n"                                                                                   \
  "cvta.to.global.u64 %rd6, %rd3;\n"                                                                                   \
  "ld.param.b64 %rd7, [" name "_param_2];\n"                                                                           \
  "mov.u32 %r2, %ctaid.x;\n"                                                                                           \
  "mul.wide.u32 %rd8, %r2, 32;\n"                                                                                      \
  "mov.u32 %r3, %tid.x;\n"                                                                                             \
  "cvt.u64.u32 %rd9, %r3;\n"                                                                                           \
  "add.s64 %rd10, %rd8, %rd9;\n"                                                                                       \
  "setp.ge.s64 %p1, %rd10, %rd7;\n"                                                                                    \
  "@%p1 bra $L__BB0_2;\n"                                                                                              \
  "ld.param.b32 %r1, [" name "_param_3];\n"                                                                            \
  "shl.b64 %rd11, %rd10, 2;\n"                                                                                         \
  "add.s64 %rd1, %rd5, %rd11;\n"                                                                                       \
  "add.s64 %rd2, %rd6, %rd11;\n"                                                                                       \
  "ld.global.b32 %r4, [%rd2];\n"                                                                                       \
  "" operation ".rn.f32 %r5, %r1, %r4;\n"                                                                              \
  "st.global.b32 [%rd1], %r5;\n"                                                                                       \
  "$L__BB0_2:\n"                                                                                                       \
  "ret;\n"                                                                                                             \
  "}\n"

static const char text[] = ".version 7.0\n"
                           ".target sm_80\n"
                           ".address_size 64\n" KERNEL("scale", "mul") KERNEL("shift", "add");
static const sk_kernel_module module = {SK_ABI_VERSION, 0, text, sizeof text};
static const sk_kernel scale = {&module, "scale", {32, 1, 1}, 0, 4, 0};
static const sk_kernel shift = {&module, "shift", {32, 1, 1}, 0, 4, 0};

static const sk_contraction_desc local_matmul = {
    SK_ABI_VERSION, SK_F32, SK_F32, 0, 3, {{SK_M, 0, 4, 8, 0, 8}, {SK_N, 0, 8, 0, 1, 1}, {SK_K, 0, 8, 1, 8, 0}}};

static int32_t multiply(sk_context *ctx, const void *in, void *out, float factor) {
  int64_t elements = 32;
  void *args[] = {&in, &out, &elements, &factor};
  return sk_launch(ctx, &scale, 1, 1, 1, args);
}

SK_EXPORT int32_t sk_fn_main(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  int32_t status = sk_contraction(ctx, &local_matmul, args[0], args[1], arena);
  if (!status)
    status = multiply(ctx, arena, results[0], 2);
  if (!status)
    status = multiply(ctx, results[0], arena, 0.5f);
  return status ? status : sk_collective(ctx, 0, arena, results[0]);
}

/* How often depends on a value, on every rank another one; with a constant between. */
SK_EXPORT int32_t sk_fn_reading(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  static const float nothing[32] = {0};
  const void *zeros = 0;
  float first = 0;
  int32_t status = sk_contraction(ctx, &local_matmul, args[0], args[1], arena);
  if (!status)
    status = sk_copy_to_host(ctx, &first, args[0], sizeof first);
  for (int i = 0; i < (first > 0 ? 3 : 1) && !status; ++i) {
    status = multiply(ctx, arena, results[0], 2);
    if (!status)
      status = sk_copy(ctx, arena, results[0], sizeof nothing);
    if (!status)
      status = sk_constant(ctx, nothing, sizeof nothing, &zeros);
    if (!status)
      status = sk_copy(ctx, results[0], zeros, sizeof nothing);
    if (!status)
      status = multiply(ctx, arena, results[0], 0.5f);
    if (!status)
      status = sk_copy(ctx, arena, results[0], sizeof nothing);
  }
  return status ? status : sk_collective(ctx, 0, arena, results[0]);
}

/* The step of program.c: `local` is the part of `w` that a rank multiplies. Adds 1 to the `elements` of `w`. */
static int32_t step(sk_context *ctx, void *const *args, void *const *results, void *arena, const float *local,
                    int64_t elements) {
  float one = 1, first = 0;
  const void *w = args[1];
  void *shifted[] = {&w, (void *)&results[1], &elements, &one};
  int32_t status = sk_copy_to_host(ctx, &first, w, sizeof first);
  if (first < 0)
    return 77;
  if (!status)
    status = sk_contraction(ctx, &local_matmul, args[0], local, arena);
  if (!status)
    status = sk_collective(ctx, 0, arena, results[0]);
  return status ? status : sk_launch(ctx, &shift, elements / 32, 1, 1, shifted);
}

SK_EXPORT int32_t sk_fn_step(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  return step(ctx, args, results, arena, args[1], 64);
}

SK_EXPORT int32_t sk_fn_full(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  return step(ctx, args, results, arena, (const float *)args[1] + 64 * sk_coordinate(ctx, 1, 2), 128);
}

SK_EXPORT int32_t sk_fn_wrong(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  return sk_contraction(ctx, &local_matmul, args[0], args[1], results[0]);
}

static int32_t reference(void *const *args, void *const *results) {
  const float *x = args[0], *w = args[1];
  float *y = results[0];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      float sum = 0;
      for (int k = 0; k < 16; ++k)
        sum += x[i * 16 + k] * w[k * 8 + j];
      y[i * 8 + j] = sum;
    }
  return 0;
}

SK_EXPORT int32_t sk_ref_main(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  return reference(args, results);
}

SK_EXPORT int32_t sk_ref_reading(sk_context *ctx, void *const *args, void *const *results, void *arena) {
  return reference(args, results);
}
