/* What the threads of a block do together. */
#define KERNEL __attribute__((nvptx_kernel)) void
#define SHARED __attribute__((address_space(3)))
#define TID ((int)__nvvm_read_ptx_sreg_tid_x())
#define BID ((int)__nvvm_read_ptx_sreg_ctaid_x())
#define BDIM ((int)__nvvm_read_ptx_sreg_ntid_x())
typedef unsigned u32;
typedef unsigned long u64;
typedef float float4 __attribute__((ext_vector_type(4)));

SHARED float partial[32];
extern SHARED float dynamic[];

/* The sum of each row of `length` numbers, a block per row. */
KERNEL row_sum(float *out, const float *a, int length) {
  float sum = 0;
  for (int k = TID; k < length; k += BDIM)
    sum += a[(long)BID * length + k];
  for (int d = 16; d; d >>= 1)
    sum += __nvvm_shfl_sync_bfly_f32(-1, sum, d, 31);
  if ((TID & 31) == 0)
    partial[TID >> 5] = sum;
  __nvvm_bar_sync(0);
  if (TID >= 32)
    return; /* Leaves before the second barrier. */
  sum = TID < BDIM >> 5 ? partial[TID] : 0;
  for (int d = 16; d; d >>= 1)
    sum += __nvvm_shfl_sync_down_f32(-1, sum, d, 31);
  __nvvm_bar_sync(0);
  if (TID == 0)
    out[BID] = sum;
}

/* A transpose through dynamic shared memory, tiles of 16 x 17. */
KERNEL transpose(float *out, const float *a, int rows, int columns) {
  int x = TID & 15, y = TID >> 4, r = (BID / (columns / 16)) * 16, c = (BID % (columns / 16)) * 16;
  dynamic[y * 17 + x] = a[(long)(r + y) * columns + c + x];
  __nvvm_bar_sync(0);
  out[(long)(c + y) * rows + r + x] = dynamic[x * 17 + y];
}

/* As above, without the barrier. */
KERNEL transpose_race(float *out, const float *a, int rows, int columns) {
  int x = TID & 15, y = TID >> 4;
  dynamic[y * 17 + x] = a[y * columns + x];
  out[y * rows + x] = dynamic[x * 17 + y];
}

KERNEL vector_add(float4 *out, const float4 *a, const float4 *b, int n) {
  int i = BID * BDIM + TID;
  if (i < n)
    out[i] = a[i] + b[i];
}

KERNEL atomics(int *i32, u64 *u64s, float *f32, double *f64, u32 *m, int n) {
  int i = BID * BDIM + TID;
  if (i >= n)
    return;
  __atomic_fetch_add(i32, i, __ATOMIC_RELAXED);
  __atomic_fetch_add(u64s, (u64)i << 20, __ATOMIC_RELAXED);
  __nvvm_atom_add_gen_f(f32, 0.5f);
  __nvvm_atom_add_gen_d(f64, 0.25);
  __atomic_fetch_max(m, (u32)(i * 37 % 101), __ATOMIC_RELAXED);
  __atomic_fetch_or(m + 1, 1u << (i & 31), __ATOMIC_RELAXED);
  __atomic_fetch_xor(m + 2, (u32)i, __ATOMIC_RELAXED);
  u32 old = __atomic_load_n(m + 3, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(m + 3, &old, old * 5 + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

KERNEL count(int *out) { __atomic_fetch_add(out, 1, __ATOMIC_RELAXED); }

/* Reads `a` as constant. */
KERNEL copy(float *restrict out, const float *restrict a) { out[TID] = a[TID]; }

KERNEL lanes(u32 *out, const u32 *a) {
  u32 v = a[TID], *o = out + 8 * TID;
  o[0] = __nvvm_shfl_sync_up_i32(-1, v, 3, 0);
  o[1] = __nvvm_shfl_sync_down_i32(-1, v, 5, 31);
  o[2] = __nvvm_shfl_sync_idx_i32(-1, v, (TID * 7) & 31, 31);
  o[3] = __nvvm_shfl_sync_bfly_i32(-1, v, 1, 0x1807); /* Segments of 8. */
  o[4] = __nvvm_vote_ballot_sync(-1, v & 1);
  o[5] = (u32)__nvvm_vote_all_sync(-1, v < 1000) | (u32)__nvvm_vote_any_sync(-1, v == 5) << 1;
  if (TID & 1)
    o[6] = __nvvm_shfl_sync_bfly_i32(0xaaaaaaaa, v, 2, 31);
  else
    o[6] = __nvvm_shfl_sync_bfly_i32(0x55555555, v + 1, 4, 31);
  o[7] = __nvvm_match_any_sync_i32(-1, v & 3);
}

/* Errors. */
KERNEL out_of_bounds(float *out, int i) { out[i] = 1; }
KERNEL misaligned(char *out) { *(float *)(out + 2) = 1; }
KERNEL hang(float *out) {
  if (TID < 16)
    __nvvm_bar_warp_sync(-1);
  else
    __nvvm_bar_sync(0);
  out[TID] = 1;
}
