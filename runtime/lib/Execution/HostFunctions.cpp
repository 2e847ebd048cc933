//===- HostFunctions.cpp - Shard functions that the user registers --------===//

#include "shardkit/rt/Execution/HostFunctions.h"

#include "Context.h"
#include "GuardedCall.h"

#include "shardkit/rt/Manifest/ShardInfo.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace shardkit::rt {

static bool readExtras(const sk_tensor *in, int count, std::vector<int64_t> &extras) {
  for (int i = 1; i < count; ++i) {
    if (in[i].dtype != SK_I64)
      return false;
    int64_t value;
    std::memcpy(&value, in[i].data, 8);
    extras.push_back(value);
  }
  return true;
}

/// "shardkit.shard": extras as Formats/ShardInfo.h has them.
static int shardByExtents(const sk_tensor *in, int count, sk_tensor *out, void *) {
  std::vector<int64_t> extras;
  if (!readExtras(in, count, extras))
    return 1;
  auto call = parseShardCall(extras);
  int64_t size = dtypeSize(DType(in[0].dtype));
  if (!call.ok() || in[0].dtype != out->dtype || out->ndim < 1 || out->shape[0] != call->ranks)
    return 1;
  int64_t slice = out->bytes / size / call->ranks;
  if (!validateExtents(call->extents, slice, in[0].bytes / size, call->ranks, false).ok())
    return 1;
  for (int64_t rank = 0; rank < call->ranks; ++rank)
    gatherLocal(call->extents, rank, size, in[0].data, static_cast<char *>(out->data) + rank * slice * size);
  return 0;
}

/// "shardkit.pieces": extras as Formats/ShardInfo.h has them.
static int shardByPieces(const sk_tensor *in, int count, sk_tensor *out, void *) {
  std::vector<int64_t> extras;
  if (!readExtras(in, count, extras))
    return 1;
  auto call = parsePiecesCall(extras);
  int64_t size = dtypeSize(DType(in[0].dtype));
  if (!call.ok() || in[0].dtype != out->dtype || out->ndim < 1 || out->shape[0] != call->ranks ||
      size_t(out->ndim) != call->shape.size() + 1)
    return 1;
  Shape local(out->shape + 1, out->shape + out->ndim);
  int64_t slice = out->bytes / size / call->ranks;
  if (!validatePieces(call->pieces, {in[0].bytes / size}, local, call->shape, call->ranks).ok())
    return 1;
  for (int64_t rank = 0; rank < call->ranks; ++rank)
    for (const ExtentPiece &piece : call->pieces)
      gatherLocal(piece.extents, rank, size, static_cast<const char *>(in[0].data) + piece.globalBase * size,
                  static_cast<char *>(out->data) + (rank * slice + piece.localBase) * size);
  return 0;
}

HostFunctions::HostFunctions() {
  functions_["shardkit.shard"] = {shardByExtents, nullptr};
  functions_["shardkit.pieces"] = {shardByPieces, nullptr};
}

HostFunctions::~HostFunctions() {
  for (void *library : libraries_)
    ::dlclose(library);
}

Status HostFunctions::add(const std::string &name, sk_shard_function function, void *user) {
  if (name.empty() || !function)
    return invalid("a shard function needs a name and code");
  if (!functions_.emplace(name, Entry{function, user}).second)
    return invalid("shard function " + quoteName(name) + " is registered twice");
  return {};
}

Status HostFunctions::loadLibrary(const std::string &path) {
  // A path without a slash would be searched for.
  std::string full = path.find('/') == std::string::npos ? "./" + path : path;
  void *library = ::dlopen(full.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *error = ::dlerror();
    return invalid(path + ": cannot be loaded: " + (error ? error : "unknown error"));
  }
  libraries_.push_back(library);
  auto entry = reinterpret_cast<int (*)(sk_context *)>(::dlsym(library, "sk_register"));
  if (!entry)
    return invalid(path + ": has no function 'sk_register', expected int sk_register(sk_context *)");
  sk_context context;
  context.functions = this;
  int returned = entry(&context);
  if (returned != 0)
    return invalid(path + ": sk_register returned " + std::to_string(returned) +
                   (context.message.empty() ? "" : ": " + context.message));
  return {};
}

Status HostFunctions::check(const std::vector<HostCall> &chain) const {
  for (const HostCall &call : chain)
    if (!functions_.count(call.function)) {
      std::string names;
      for (const auto &entry : functions_)
        names += (names.empty() ? "" : ", ") + quoteName(entry.first);
      return notFound("shard function " + quoteName(call.function) + " is not registered; there are: " + names);
    }
  return {};
}

/// Whether accesses beyond tensors are caught: a debug run, which copies each input.
static bool isGuarded() {
  const char *text = std::getenv("SK_GUARD");
  return text && *text && std::strcmp(text, "0") != 0;
}

Status HostFunctions::apply(const std::vector<HostCall> &chain, const LoadSource &input, const void *data,
                            Buffer &output) const {
  const bool guarded = isGuarded();
  GuardedMemory guardedIn;
  SK_RETURN_IF_ERROR(check(chain));
  Shape shape = input.shape;
  DType dtype = input.dtype;
  Buffer previous;
  const void *at = data;
  if (guarded) {
    SK_ASSIGN_OR_RETURN(guardedIn, GuardedMemory::create(input.elements * dtypeSize(dtype)));
    std::memcpy(guardedIn.data(), data, size_t(guardedIn.bytes()));
  }
  for (const HostCall &call : chain) {
    std::vector<sk_tensor> in;
    if (guarded) {
      at = guardedIn.data();
      SK_RETURN_IF_ERROR(guardedIn.makeReadOnly());
    }
    int64_t elements = numElements(shape).value_or(0);
    in.push_back(
        {const_cast<void *>(at), int32_t(dtype), int32_t(shape.size()), shape.data(), elements * dtypeSize(dtype)});
    for (const auto &extra : call.extras) {
      if (const auto *integer = std::get_if<int64_t>(&extra))
        in.push_back({const_cast<int64_t *>(integer), SK_I64, 0, nullptr, 8});
      else if (const auto *real = std::get_if<double>(&extra))
        in.push_back({const_cast<double *>(real), SK_F64, 0, nullptr, 8});
      else {
        const std::string &text = std::get<std::string>(extra);
        in.push_back({const_cast<char *>(text.data()), SK_STRING, 0, nullptr, int64_t(text.size())});
      }
    }
    int64_t bytes = numElements(call.shape).value_or(0) * dtypeSize(call.dtype);
    Buffer next;
    GuardedMemory guardedOut;
    if (guarded) {
      SK_ASSIGN_OR_RETURN(guardedOut, GuardedMemory::create(bytes));
    } else {
      next = Buffer(bytes);
      std::memset(next.data(), 0, size_t(bytes));
    }
    sk_tensor out{guarded ? guardedOut.data() : next.data(), int32_t(call.dtype), int32_t(call.shape.size()),
                  call.shape.data(), bytes};
    const Entry &entry = functions_.at(call.function);
    int returned;
    try {
      auto invoke = [&] { return entry.function(in.data(), int(in.size()), &out, entry.user); };
      if (guarded) {
        auto result = callGuarded(invoke, guardedIn, guardedOut);
        if (!result.ok())
          return invalid("shard function " + quoteName(call.function) + " " + result.status().message());
        returned = *result;
      } else {
        returned = invoke();
      }
    } catch (...) { // A C++ function of the user's may throw.
      return invalid("shard function " + quoteName(call.function) + " threw an exception");
    }
    if (returned != 0)
      return invalid("shard function " + quoteName(call.function) + " returned " + std::to_string(returned) + " for " +
                     dtypeName(dtype) + " " + shapeString(shape) + " to " + dtypeName(call.dtype) + " " +
                     shapeString(call.shape));
    if (guarded) {
      guardedIn = std::move(guardedOut);
    } else {
      previous = std::move(next);
      at = previous.data();
    }
    shape = call.shape;
    dtype = call.dtype;
  }
  if (guarded) {
    SK_RETURN_IF_ERROR(guardedIn.makeWritable());
    previous = guardedIn.release();
  }
  output = std::move(previous);
  return {};
}

} // namespace shardkit::rt
