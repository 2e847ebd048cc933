//===- OldAbi.cpp - Former names of functions of abi.h --------------------===//
//
// Programs of bundles with manifest version 1 call these names. Each is an alias of the
// function that abi.h declares; none is for new programs.
//
//===----------------------------------------------------------------------===//

#include "shardkit/rt/abi.h"

extern "C" {
SK_EXPORT int32_t sk_contract(sk_context *ctx, const sk_contraction_desc *desc, const void *a, const void *b, void *c) {
  return sk_contraction(ctx, desc, a, b, c);
}
SK_EXPORT int32_t sk_contract_fused(sk_context *ctx, const sk_fused_contraction_desc *desc, const void *a,
                                    const void *b, void *c, const void *first, const void *second) {
  return sk_fused_contraction(ctx, desc, a, b, c, first, second);
}
SK_EXPORT int32_t sk_read(sk_context *ctx, void *to_host, const void *from_device, int64_t bytes) {
  return sk_copy_to_host(ctx, to_host, from_device, bytes);
}
}
