//===- Abi.cpp - The functions that compiled programs call ------------------===//
//
// No exception crosses this border.
//
//===----------------------------------------------------------------------===//

#include "Context.h"

#include <chrono>
#include <exception>

using namespace shardkit::rt;

static int32_t fail(sk_context *ctx, Status status) {
  ctx->status = int32_t(status.code());
  ctx->world->fail(
      status.withContext("rank " + std::to_string(ctx->rank)));
  return ctx->status;
}

static int32_t aborted(sk_context *ctx) {
  return ctx->status = int32_t(Code::Aborted);
}

int32_t sk_collective(sk_context *ctx, int64_t id, const void *in, void *out) {
  if (ctx->status)
    return ctx->status;
  try {
    if (ctx->world->failed())
      return aborted(ctx);
    if (!ctx->plans || id < 0 || id >= int64_t(ctx->plans->size()))
      return fail(ctx, internalError("the program asks for collective " +
                                     std::to_string(id) +
                                     ", which the manifest does not list"));
    RankRecord &record = ctx->world->record(ctx->rank);
    record.collective.store(id, std::memory_order_relaxed);
    record.inside.store(true, std::memory_order_relaxed);
    auto start = std::chrono::steady_clock::now();
    bool ok = (*ctx->plans)[size_t(id)]->run(ctx->rank, in, out);
    if (!ok)
      return aborted(ctx);
    record.inside.store(false, std::memory_order_relaxed);
    if (ctx->stats) {
      double seconds = std::chrono::duration<double>(
                           std::chrono::steady_clock::now() - start)
                           .count();
      CollectiveStats &stats = (*ctx->stats)[size_t(id)];
      ++stats.count;
      stats.seconds += seconds;
      stats.maxSeconds = std::max(stats.maxSeconds, seconds);
    }
    return 0;
  } catch (const std::exception &error) {
    return fail(ctx, internalError(error.what()));
  }
}

int64_t sk_coordinate(sk_context *ctx, int64_t stride, int64_t size) {
  return stride > 0 && size > 0 ? ctx->rank / stride % size : 0;
}

int32_t sk_contract(sk_context *ctx, const sk_contraction *desc, const void *a,
                    const void *b, void *c) {
  if (ctx->status)
    return ctx->status;
  try {
    Status status = ctx->contractions.run(desc, a, b, c);
    return status.ok() ? 0 : fail(ctx, status);
  } catch (const std::exception &error) {
    return fail(ctx, internalError(error.what()));
  }
}
