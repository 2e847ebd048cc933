//===- Abi.cpp - The functions that compiled programs call ----------------===//
//
// No exception crosses this border.
//
//===----------------------------------------------------------------------===//

#include "Collectives/CallRecord.h"
#include "Context.h"
#include "DeviceBuffers.h"

#include "shardkit/rt/Execution/ValueComparison.h"
#include "shardkit/rt/Support/Threads.h"

#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <unistd.h>

using namespace shardkit::rt;

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int32_t shardkit::rt::failRun(sk_context &ctx, Status status) {
  ctx.status = int32_t(status.code());
  ctx.world->fail(status.withContext("rank " + std::to_string(ctx.rank)), ctx.rank);
  return ctx.status;
}

static int32_t fail(sk_context *ctx, Status status) { return failRun(*ctx, std::move(status)); }

static int32_t aborted(sk_context *ctx) { return ctx->status = int32_t(Code::Aborted); }

/// How a program calls a collective: at once, as one that it starts, or with masks of rows, which is at once too.
enum class Form { AtOnce, Started, Rows };

/// An error unless the manifest lists collective `id` in this form.
static Status check(sk_context *ctx, int64_t id, Form form) {
  if (!ctx->plans || id < 0 || id >= int64_t(ctx->plans->plans.size()))
    return internalError("the program calls collective " + std::to_string(id) + ", which the manifest does not list");
  const std::shared_ptr<StartedPlan> &started = ctx->plans->started[size_t(id)];
  const bool isStarted = form == Form::Started;
  if (form == Form::Rows && started && started->isAlone())
    return {};
  if (bool(started) != isStarted)
    return internalError("the program " + std::string(isStarted ? "starts" : "performs") + " collective " +
                         std::to_string(id) + ", which the manifest lists " +
                         (isStarted ? "as one that is not started" : "as started"));
  return {};
}

int32_t shardkit::rt::injectFault(sk_context &ctx, int64_t id, bool after) {
  switch (ctx.world->fault().at(ctx.rank, id, after)) {
  case Fault::Kind::Kill:
    ctx.world->vanish();
    ctx.isGone = true;
    return aborted(&ctx);
  case Fault::Kind::Stall:
    while (true)
      ::pause();
  case Fault::Kind::Error:
    return fail(&ctx, internalError("an injected fault"));
  case Fault::Kind::Disagree:
  case Fault::Kind::None:
    break;
  }
  return 0;
}

/// `call` with what is common to all that ranks do together: errors, records.
template <typename Fn> static int32_t guarded(sk_context *ctx, int64_t id, Form form, Fn &&call) {
  if (ctx->status)
    return ctx->status;
  try {
    if (ctx->world->failed())
      return aborted(ctx);
    Status status = check(ctx, id, form);
    if (!status.ok())
      return fail(ctx, status);
    return call(ctx->world->record(ctx->rank));
  } catch (const std::exception &error) {
    return fail(ctx, internalError(error.what()));
  }
}

static void count(sk_context *ctx, int64_t id, double seconds, int64_t rowBytes = 0) {
  if (!ctx->stats)
    return;
  CollectiveStats &stats = (*ctx->stats)[size_t(id)];
  stats.rowBytes += rowBytes;
  ++stats.count;
  stats.seconds += seconds;
  stats.maxSeconds = std::max(stats.maxSeconds, seconds);
}

void shardkit::rt::recordEntry(RankRecord &record, int64_t id) {
  record.collective.store(id, std::memory_order_relaxed);
  record.entered.fetch_add(1, std::memory_order_relaxed);
  record.inside.store(true, std::memory_order_relaxed);
}

/// False when the world failed. A device takes all rows of masks.
static Expected<bool> perform(sk_context *ctx, CollectivePlan &plan, int64_t count, const RowMasks *masks,
                              const void *in, void *out, int64_t &rowBytes) {
  if (!ctx->device)
    return masks ? plan.runRows(ctx->rank, count, *masks, in, out, rowBytes) : plan.run(ctx->rank, count, in, out);
  if (plan.participants(ctx->rank).size() > 1 || ctx->world->isPacked())
    ctx->device->noteHost();
  if (ctx->nccl) {
    SK_RETURN_IF_ERROR(ctx->device->startCommunication());
    Status status = ctx->nccl->run(plan, count, in, out, *ctx->world);
    if (status.code() == Code::Aborted)
      return false;
    SK_RETURN_IF_ERROR(status);
    SK_RETURN_IF_ERROR(ctx->device->endCommunication());
    return true;
  }
  DeviceBuffers buffers(*ctx, ctx->staged[-1], plan.info(), count);
  SK_RETURN_IF_ERROR(buffers.before(in));
  if (!plan.run(ctx->rank, count, buffers.in(in), buffers.out(out), buffers.copyEngine()))
    return false;
  SK_RETURN_IF_ERROR(buffers.after(out));
  return true;
}

static Status start(sk_context *ctx, int64_t id, const void *in, void *out) {
  StartedPlan &plan = *ctx->plans->started[size_t(id)];
  if (!ctx->device)
    return plan.start(ctx->rank, id, in, out);
  ctx->device->noteHost();
  if (ctx->nccl) {
    SK_RETURN_IF_ERROR(ctx->device->startCommunication());
    SK_RETURN_IF_ERROR(ctx->nccl->run(*ctx->plans->plans[size_t(id)], 1, in, out, *ctx->world));
    return ctx->nccl->recordStarted(id);
  }
  DeviceBuffers buffers(*ctx, ctx->staged[id], ctx->plans->plans[size_t(id)]->info(), 1);
  SK_RETURN_IF_ERROR(buffers.before(in));
  return plan.start(ctx->rank, id, buffers.in(in), buffers.out(out), buffers.copyEngine());
}

static Status finish(sk_context *ctx, int64_t id, const void *in, void *out, bool &waited) {
  StartedPlan &plan = *ctx->plans->started[size_t(id)];
  if (!ctx->device)
    return plan.done(ctx->rank, id, in, out, waited);
  if (ctx->nccl) {
    waited = true;
    return ctx->nccl->waitStarted(id);
  }
  DeviceBuffers buffers(*ctx, ctx->staged[id], ctx->plans->plans[size_t(id)]->info(), 1);
  SK_RETURN_IF_ERROR(plan.done(ctx->rank, id, buffers.in(in), buffers.out(out), waited, buffers.copyEngine()));
  return buffers.after(out);
}

int32_t sk_collective(sk_context *ctx, int64_t id, const void *in, void *out) {
  return sk_collective_batch(ctx, id, 1, in, out);
}

int32_t sk_collective_batch(sk_context *ctx, int64_t id, int64_t count, const void *in, void *out) {
  return sk_collective_at(ctx, id, count, nullptr, in, out);
}

static int32_t collective(sk_context *ctx, int64_t id, int64_t count, const int64_t *offsets, const RowMasks *masks,
                          const void *in, void *out) {
  return guarded(ctx, id, masks ? Form::Rows : Form::AtOnce, [&](RankRecord &record) -> int32_t {
    if (int32_t status = injectFault(*ctx, id, /*after=*/false))
      return status;
    CollectivePlan *plan = ctx->plans->plans[size_t(id)].get();
    std::shared_ptr<CollectivePlan> atOffsets; // peers read by it until it has run
    if (int64_t number = plan->info().numOffsets(); number > 0 && offsets) {
      atOffsets = plan->at({offsets, size_t(number)});
      plan = atOffsets.get();
    }
    if (Status status = recordCall(*plan, ctx->rank, count); !status.ok())
      return fail(ctx, status);
    recordEntry(record, id);
    auto start = std::chrono::steady_clock::now();
    int64_t rowBytes = 0;
    Expected<bool> performed = perform(ctx, *plan, count, masks, in, out, rowBytes);
    if (!performed.ok())
      return fail(ctx, performed.status());
    if (!*performed)
      return aborted(ctx);
    record.inside.store(false, std::memory_order_relaxed);
    ::count(ctx, id, secondsSince(start), rowBytes);
    return injectFault(*ctx, id, /*after=*/true);
  });
}

int32_t sk_collective_at(sk_context *ctx, int64_t id, int64_t count, const int64_t *offsets, const void *in,
                         void *out) {
  return collective(ctx, id, count, offsets, nullptr, in, out);
}

int32_t sk_collective_rows(sk_context *ctx, int64_t id, int64_t count, int64_t in_rows, const uint8_t *in_mask,
                           int64_t out_rows, const uint8_t *out_mask, const void *in, void *out) {
  const RowMasks masks{{in_mask, in_rows}, {out_mask, out_rows}};
  return collective(ctx, id, count, nullptr, &masks, in, out);
}

int32_t sk_collective_start(sk_context *ctx, int64_t id, const void *in, void *out) {
  return guarded(ctx, id, Form::Started, [&](RankRecord &record) -> int32_t {
    if (int32_t status = injectFault(*ctx, id, /*after=*/false))
      return status;
    Status status = recordCall(*ctx->plans->plans[size_t(id)], ctx->rank, 1);
    if (status.ok())
      status = start(ctx, id, in, out);
    return status.ok() ? 0 : fail(ctx, status);
  });
}

int32_t sk_collective_done(sk_context *ctx, int64_t id, const void *in, void *out) {
  return guarded(ctx, id, Form::Started, [&](RankRecord &record) -> int32_t {
    recordEntry(record, id);
    auto start = std::chrono::steady_clock::now();
    bool waited = false;
    Status status = finish(ctx, id, in, out, waited);
    if (!status.ok())
      return status.code() == Code::Aborted ? aborted(ctx) : fail(ctx, status);
    record.inside.store(false, std::memory_order_relaxed);
    // What the ranks wait and compute for all is counted with the first.
    count(ctx, id, waited ? secondsSince(start) : 0);
    return injectFault(*ctx, id, /*after=*/true);
  });
}

int32_t sk_assert(sk_context *ctx, int32_t holds, const char *message) {
  if (ctx->status || holds)
    return ctx->status;
  try {
    return fail(ctx, invalid(message));
  } catch (const std::exception &error) {
    return fail(ctx, internalError(error.what()));
  }
}

int32_t sk_probe(sk_context *ctx, int64_t id, const void *data) {
  if (ctx->status || !ctx->values)
    return ctx->status;
  try {
    const Status status = ctx->isCounterpart
                              ? ctx->values->addFull(id, data)
                              : ctx->values->compare(ctx->meshRank, id, data, [ctx] { return ctx->world->failed(); });
    return status.ok() ? 0 : fail(ctx, status);
  } catch (const std::exception &error) {
    return fail(ctx, internalError(error.what()));
  }
}

int64_t sk_coordinate(sk_context *ctx, int64_t stride, int64_t size) {
  return stride > 0 && size > 0 ? ctx->meshRank / stride % size : 0;
}

template <typename Desc> static double flopsOf(const Desc &desc) {
  double flops = 2;
  for (int32_t i = 0; i < desc.num_dims; ++i)
    flops *= double(desc.dims[i].size);
  return flops;
}

/// `call`, which carries out a contraction, with what is common to all.
template <typename Desc, typename Fn> static int32_t contract(sk_context *ctx, const Desc &desc, Fn &&call) {
  if (ctx->status)
    return ctx->status;
  try {
    const auto start = std::chrono::steady_clock::now();
    Status status = call();
    if (!status.ok())
      return fail(ctx, status);
    if (ctx->contractionStats) {
      ctx->contractionStats->time.add(ctx->device ? 0 : secondsSince(start));
      ctx->contractionStats->flops += flopsOf(desc);
    }
    return 0;
  } catch (const std::exception &error) {
    return fail(ctx, internalError(error.what()));
  }
}

int32_t sk_contraction(sk_context *ctx, const sk_contraction_desc *desc, const void *a, const void *b, void *c) {
  return contract(ctx, *desc, [&] {
    return ctx->device ? ctx->device->contract(desc, a, b, c) : ctx->contractions.run(desc, a, b, c);
  });
}

int32_t sk_contraction_at(sk_context *ctx, const sk_contraction_desc *desc, const int64_t *dims, const void *a,
                          const void *b, void *c) {
  sk_contraction_desc sized = *desc;
  for (int32_t i = 0; i < sized.num_dims; ++i) {
    sized.dims[i].size = dims[4 * i];
    sized.dims[i].stride_a = dims[4 * i + 1];
    sized.dims[i].stride_b = dims[4 * i + 2];
    sized.dims[i].stride_c = dims[4 * i + 3];
  }
  return contract(ctx, sized, [&] {
    return ctx->device ? ctx->device->contractSized(sized, a, b, c) : ctx->contractions.runSized(sized, a, b, c);
  });
}

int32_t sk_widened_contraction(sk_context *ctx, const sk_widened_desc *desc, const void *x, const void *payload,
                               const void *high, const void *scale, const void *offset, const void *inner, void *c) {
  return contract(ctx, *desc, [&] {
    return ctx->device ? internalError("a product with a weight of few bits, expected a program for the host")
                       : ctx->contractions.runWidened(desc, {x, payload, high, scale, offset, inner, c});
  });
}

void sk_parallel(sk_context *, int64_t count, sk_chunk chunk, void *const *args) {
  onLibraryThreads(count, [&](int64_t begin, int64_t end) { chunk(begin, end, args); });
}

static Status hasNoDevice(const char *name) {
  return internalError("the program calls " + std::string(name) +
                       ", but this rank has no device: it was compiled for another target than "
                       "it runs on");
}

int32_t sk_fused_contraction(sk_context *ctx, const sk_fused_contraction_desc *desc, const void *a, const void *b,
                             void *c, const void *first, const void *second) {
  return contract(ctx, desc->product, [&] {
    return ctx->device ? ctx->device->contractFused(desc, a, b, c, first, second) : hasNoDevice("sk_fused_contraction");
  });
}

/// `call` on the device of the rank.
template <typename Fn> static int32_t onDevice(sk_context *ctx, const char *name, Fn &&call) {
  if (ctx->status)
    return ctx->status;
  try {
    Status status = ctx->device ? call(*ctx->device) : hasNoDevice(name);
    return status.ok() ? 0 : fail(ctx, status);
  } catch (const std::exception &error) {
    return fail(ctx, internalError(error.what()));
  }
}

int32_t sk_find_rows(sk_context *ctx, const uint8_t *flags, int64_t count, int64_t *rows) {
  if (ctx->status)
    return ctx->status;
  if (ctx->device)
    return onDevice(ctx, "sk_find_rows", [&](cuda::Device &device) { return device.findRows(flags, count, rows); });
  int64_t found = 0;
  for (int64_t row = 0; row < count; ++row) {
    rows[1 + found] = row; // The next row overwrites one whose flag is not set.
    found += flags[row] != 0;
  }
  rows[0] = found;
  return 0;
}

int32_t sk_launch(sk_context *ctx, const sk_kernel *kernel, int64_t x, int64_t y, int64_t z, void *const *args) {
  return onDevice(ctx, "sk_launch", [&](cuda::Device &device) { return device.launch(kernel, x, y, z, args); });
}

int32_t sk_copy(sk_context *ctx, void *to, const void *from, int64_t bytes) {
  return onDevice(ctx, "sk_copy", [&](cuda::Device &device) { return device.copy(to, from, bytes); });
}

int32_t sk_copy_to_host(sk_context *ctx, void *to, const void *from, int64_t bytes) {
  return onDevice(ctx, "sk_copy_to_host", [&](cuda::Device &device) { return device.read(to, from, bytes); });
}

int32_t sk_constant(sk_context *ctx, const void *host, int64_t bytes, const void **to) {
  return onDevice(ctx, "sk_constant", [&](cuda::Device &device) -> Status {
    SK_ASSIGN_OR_RETURN(*to, device.constant(host, bytes));
    return {};
  });
}

int32_t sk_failure_word(sk_context *ctx, void **to) {
  return onDevice(ctx, "sk_failure_word", [&](cuda::Device &device) -> Status {
    *to = device.failureWord();
    return {};
  });
}

int32_t sk_attention(sk_context *ctx, const sk_attention_desc *desc, const void *q, const void *k, const void *v,
                     void *out, const void *const *operands) {
  return onDevice(ctx, "sk_attention",
                  [&](cuda::Device &device) { return device.attention(desc, q, k, v, out, operands); });
}

int32_t sk_attention_at(sk_context *ctx, const sk_attention_desc *desc, const int64_t *dims, const void *q,
                        const void *k, const void *v, void *out, const void *const *operands) {
  sk_attention_desc sized = *desc;
  std::memcpy(&sized.queries, dims, offsetof(sk_attention_desc, operand_dtypes) - offsetof(sk_attention_desc, queries));
  return onDevice(ctx, "sk_attention_at",
                  [&](cuda::Device &device) { return device.attentionSized(sized, q, k, v, out, operands); });
}
