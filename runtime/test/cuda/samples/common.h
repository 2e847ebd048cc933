/* Kernels whose text also runs on the host, for the expected values: THREADS { .. } runs
 * for each i below n. */
#ifndef SAMPLES_COMMON_H
#define SAMPLES_COMMON_H

#ifdef __NVPTX__
#define KERNEL __attribute__((nvptx_kernel)) void
#define THREADS                                                                                                        \
  int i = (int)(__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x());        \
  if (i < n)
#else
#define KERNEL void
#define THREADS for (int i = 0; i < n; ++i)
#endif
#define NOINLINE static __attribute__((noinline))

typedef _Float16 f16;
typedef __bf16 bf16;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long u64;

#endif
