//===- Cudnn.cpp - libcudnn on the emulated device ------------------------===//
//
// The backend of cuDNN 9, as far as attention goes: names and values as NVIDIA's
// documentation has them. A plan runs its operations one after the other as loops on the
// host, in f32. What the library wants of attention (the operations and their order, types,
// sizes) is what plans made by cuDNN 9.28 without a device showed.
//
//===----------------------------------------------------------------------===//

#include "../driver/Emulator.h"
#include "../ptx/Float.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace shardkit::emu;

using cudnnStatus = int;
enum : cudnnStatus {
  kSuccess = 0,
  kNotInitialized = 1001,
  kBadParam = 2000,
  kNotSupported = 3000,
  kExecutionFailed = 5000,
};
enum : int { kFloat = 0, kHalf = 2, kInt32 = 4, kBFloat16 = 9, kBoolean = 11 };
enum : int {
  kAdd = 0,
  kMul = 1,
  kDiv = 6,
  kSub = 9,
  kExp = 13,
  kLog = 15,
  kCmpGe = 303,
  kGenIndex = 501,
  kSelect = 601
};
enum : int { kReduceAdd = 0, kReduceMax = 3 };
// Types of attributes.
enum : int {
  kHandleType = 0,
  kDataType = 1,
  kBool = 2,
  kInt64 = 3,
  kPointer = 6,
  kHeurMode = 8,
  kPointwiseMode = 14,
  kDescriptor = 15,
  kReductionKind = 18
};
// Kinds of descriptors.
enum : int {
  kPointwise = 0,
  kEngineConfig = 3,
  kHeuristics = 4,
  kPlan = 5,
  kOperationPointwise = 13,
  kGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kMatmul = 18,
  kOperationMatmul = 19,
  kReduction = 21,
  kOperationReduction = 22
};

namespace {

struct Rule {
  int kind, name, type;
  int64_t least, most; ///< Elements.
  bool isNeeded;
};
const Rule rules[] = {
    {kTensor, 900, kInt64, 1, 1, true},
    {kTensor, 901, kDataType, 1, 1, true},
    {kTensor, 902, kInt64, 4, 4, true},
    {kTensor, 903, kInt64, 4, 4, true},
    {kTensor, 906, kInt64, 1, 1, true},
    {kTensor, 907, kBool, 1, 1, false},
    {kTensor, 908, kBool, 1, 1, false},
    {kMatmul, 1500, kDataType, 1, 1, true},
    {kOperationMatmul, 1520, kDescriptor, 1, 1, true},
    {kOperationMatmul, 1521, kDescriptor, 1, 1, true},
    {kOperationMatmul, 1522, kDescriptor, 1, 1, true},
    {kOperationMatmul, 1523, kDescriptor, 1, 1, true},
    {kPointwise, 0, kPointwiseMode, 1, 1, true},
    {kPointwise, 1, kDataType, 1, 1, true},
    {kPointwise, 9, kInt64, 1, 1, false},
    {kOperationPointwise, 750, kDescriptor, 1, 1, true},
    {kOperationPointwise, 751, kDescriptor, 1, 1, true},
    {kOperationPointwise, 752, kDescriptor, 1, 1, false},
    {kOperationPointwise, 753, kDescriptor, 1, 1, true},
    {kOperationPointwise, 758, kDescriptor, 1, 1, false},
    {kReduction, 1600, kReductionKind, 1, 1, true},
    {kReduction, 1601, kDataType, 1, 1, true},
    {kOperationReduction, 1610, kDescriptor, 1, 1, true},
    {kOperationReduction, 1611, kDescriptor, 1, 1, true},
    {kOperationReduction, 1612, kDescriptor, 1, 1, true},
    {kGraph, 800, kHandleType, 1, 1, true},
    {kGraph, 801, kDescriptor, 1, 1 << 10, true},
    {kHeuristics, 200, kHeurMode, 1, 1, true},
    {kHeuristics, 201, kDescriptor, 1, 1, true},
    {kPlan, 400, kHandleType, 1, 1, true},
    {kPlan, 401, kDescriptor, 1, 1, true},
    {kVariantPack, 1000, kInt64, 1, 1 << 10, true},
    {kVariantPack, 1001, kPointer, 1, 1 << 10, true},
    {kVariantPack, 1003, kPointer, 1, 1, true},
};

size_t bytesOfElement(int type) {
  return type == kInt64 || type == kPointer || type == kDescriptor || type == kHandleType ? 8 : type == kBool ? 1 : 4;
}

struct Handle {
  int device = 0;
  CUstream stream = 0;
};
struct Object {
  int kind = 0;
  bool isFinal = false;
  std::map<int, std::vector<char>> attributes;
  Object *graph = nullptr; ///< Of an engine.

  bool has(int name) const { return attributes.count(name) != 0; }
  template <typename T> std::vector<T> all(int name) const {
    std::vector<T> values;
    if (auto found = attributes.find(name); found != attributes.end()) {
      values.resize(found->second.size() / sizeof(T));
      memcpy(values.data(), found->second.data(), values.size() * sizeof(T));
    }
    return values;
  }
  template <typename T> T get(int name, T otherwise = T()) const {
    std::vector<T> values = all<T>(name);
    return values.empty() ? otherwise : values[0];
  }
  Object *object(int name) const { return get<Object *>(name); }
};

std::mutex &knownMutex() {
  static auto *mutex = new std::mutex;
  return *mutex;
}
std::set<const void *> &known() {
  static auto *set = new std::set<const void *>;
  return *set;
}
bool exists(const void *object) {
  std::lock_guard lock(knownMutex());
  return known().count(object) != 0;
}
std::string &lastError() {
  static thread_local std::string text;
  return text;
}
cudnnStatus refuse(cudnnStatus status, const char *function, const std::string &what) {
  lastError() = std::string(function) + ": " + what;
  if (status != kNotSupported)
    complain(lastError());
  return status;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

using Dims = std::array<int64_t, 4>;

struct Tensor {
  int64_t uid = 0;
  int type = 0;
  Dims dims = {}, strides = {};
  int64_t alignment = 0;
  bool isVirtual = false, isValue = false;

  Tensor() = default;
  explicit Tensor(const Object &object)
      : uid(object.get<int64_t>(906)), type(object.get<int>(901)), alignment(object.get<int64_t>(900)),
        isVirtual(object.get<char>(907)), isValue(object.get<char>(908)) {
    std::vector<int64_t> sizes = object.all<int64_t>(902), steps = object.all<int64_t>(903);
    std::copy(sizes.begin(), sizes.end(), dims.begin());
    std::copy(steps.begin(), steps.end(), strides.begin());
  }
  int64_t elements() const { return dims[0] * dims[1] * dims[2] * dims[3]; }
  size_t bytes() const { return type == kFloat || type == kInt32 ? 4 : type == kBoolean ? 1 : 2; }
  int64_t at(int64_t element) const {
    int64_t offset = 0;
    for (size_t i = 4; i-- > 0; element /= dims[i])
      offset += element % dims[i] * strides[i];
    return offset;
  }
  size_t span() const {
    int64_t last = 0;
    for (size_t i = 0; i < 4; ++i)
      last += (dims[i] - 1) * strides[i];
    return size_t(last + 1) * bytes();
  }
};

struct Operation {
  int kind = 0, mode = 0, axis = -1;
  Tensor x, b, condition, y;
  bool hasB = false, hasCondition = false;
};

std::vector<Operation> operationsOf(const Object &graph) {
  std::vector<Operation> all;
  for (const Object *object : graph.all<Object *>(801)) {
    Operation operation;
    operation.kind = object->kind;
    auto take = [&](int name) { return Tensor(*object->object(name)); };
    if (object->kind == kOperationMatmul) {
      operation.x = take(1520);
      operation.b = take(1521);
      operation.hasB = true;
      operation.y = take(1522);
    } else if (object->kind == kOperationReduction) {
      operation.mode = object->object(1612)->get<int>(1600);
      operation.x = take(1610);
      operation.y = take(1611);
    } else {
      const Object &how = *object->object(750);
      operation.mode = how.get<int>(0);
      operation.axis = int(how.get<int64_t>(9, -1));
      operation.x = take(751);
      operation.y = take(753);
      if ((operation.hasB = object->has(752)))
        operation.b = take(752);
      if ((operation.hasCondition = object->has(758)))
        operation.condition = take(758);
    }
    all.push_back(operation);
  }
  return all;
}

/// Why this is not attention as the library knows it; empty where it is.
std::string isNoAttention(const std::vector<Operation> &all) {
  // What must be there, in order; in brackets what may be.
  std::vector<std::string> names;
  for (const Operation &operation : all) {
    static const std::map<int, std::string> modes = {{kAdd, "add"},  {kMul, "mul"},        {kDiv, "div"},
                                                     {kSub, "sub"},  {kExp, "exp"},        {kLog, "log"},
                                                     {kCmpGe, "ge"}, {kGenIndex, "index"}, {kSelect, "select"}};
    names.push_back(operation.kind == kOperationMatmul      ? "product"
                    : operation.kind == kOperationReduction ? operation.mode == kReduceMax ? "max" : "sum"
                    : modes.count(operation.mode)           ? modes.at(operation.mode)
                                                            : "?");
  }
  size_t at = 0;
  auto next = [&](std::initializer_list<const char *> wanted) {
    size_t end = at;
    for (const char *name : wanted)
      if (end >= names.size() || names[end++] != name)
        return false;
    at = end;
    return true;
  };
  if (!next({"product"}))
    return "no product of queries and keys";
  const Operation &first = all[0], &last = all.back();
  next({"mul"});
  if (at < all.size() && names[at] == "add" && !all[at].b.isVirtual)
    ++at;
  if (!next({"index", "index", "ge", "select"}))
    next({"index", "add", "sub", "index", "ge", "select"});
  if (!next({"max", "sub", "exp", "sum"}))
    return "no softmax";
  if (!next({"log", "add"}))
    return "no statistics of the softmax";
  if (!next({"div", "product"}) || at != all.size())
    return "no product of weights and values at the end";
  const int type = first.x.type;
  if ((type != kHalf && type != kBFloat16) || first.b.type != type || last.x.type != type || last.b.type != type ||
      last.y.type != type)
    return "types that differ, or are not f16 or bf16";
  if (first.x.dims[3] % 8 || last.b.dims[3] % 8 || first.x.dims[3] > 256 || last.b.dims[3] > 256)
    return "heads that are no multiple of 8, or larger than 256";
  if (first.x.strides[3] != 1 || first.b.strides[2] != 1 || last.b.strides[3] != 1 || last.y.strides[3] != 1)
    return "rows that are not contiguous";
  for (const Tensor *tensor : {&first.x, &first.b, &last.b, &last.y})
    if (tensor->alignment < 16)
      return "operands that are not aligned";
  return "";
}

float load(const char *p, int64_t index, int type) {
  uint16_t half;
  int32_t integer;
  float single;
  switch (type) {
  case kFloat:
    memcpy(&single, p + 4 * index, 4);
    return single;
  case kInt32:
    memcpy(&integer, p + 4 * index, 4);
    return float(integer);
  case kBoolean:
    return p[index] != 0;
  default:
    memcpy(&half, p + 2 * index, 2);
    return type == kHalf ? halfToFloat(half) : bfloatToFloat(half);
  }
}
float rounded(int type, float x) {
  return type == kHalf ? halfToFloat(floatToHalf(x)) : type == kBFloat16 ? bfloatToFloat(floatToBFloat(x)) : x;
}

struct Run {
  std::vector<Operation> operations;
  std::map<int64_t, uint64_t> addresses;
  std::map<int64_t, float> values;
  int device = 0;
  uint64_t workspace = 0;

  Progress operator()() const {
    std::map<int64_t, std::vector<float>> held;
    bool good = true;
    auto memory = [&](const Tensor &tensor, bool write) {
      char *p = deviceMemory(device, addresses.at(tensor.uid), tensor.span(), write,
                             "cudnnBackendExecute, tensor " + std::to_string(tensor.uid));
      good &= p != nullptr;
      return p;
    };
    // Nothing is computed before every address is known to be good.
    for (const Operation &operation : operations)
      for (const Tensor *tensor : {&operation.x, &operation.b, &operation.y})
        if (addresses.count(tensor->uid))
          memory(*tensor, tensor == &operation.y);
    char *scratch = deviceMemory(device, workspace, 256, true, "cudnnBackendExecute, workspace");
    if (!good || !scratch) {
      breakDevice(device, CUDA_ERROR_ILLEGAL_ADDRESS);
      return Progress::Done;
    }
    memset(scratch, 0xee, 256); // Whoever keeps something there loses it.
    auto read = [&](const Tensor &tensor) -> const std::vector<float> & {
      auto [found, isNew] = held.try_emplace(tensor.uid);
      if (!isNew)
        return found->second;
      if (tensor.isValue)
        return found->second = {values.at(tensor.uid)};
      const char *p = memory(tensor, false);
      for (int64_t i = 0; i < tensor.elements(); ++i)
        found->second.push_back(load(p, tensor.at(i), tensor.type));
      return found->second;
    };
    for (const Operation &operation : operations) {
      std::vector<float> y = operation.kind == kOperationMatmul      ? product(operation, read)
                             : operation.kind == kOperationReduction ? reduction(operation, read)
                                                                     : elementwise(operation, read);
      for (float &value : y)
        value = rounded(operation.y.type, value);
      if (addresses.count(operation.y.uid)) {
        char *p = memory(operation.y, true);
        for (int64_t i = 0; i < operation.y.elements(); ++i) {
          const float value = y[size_t(i)];
          const uint16_t half = operation.y.type == kHalf ? floatToHalf(value) : floatToBFloat(value);
          memcpy(p + 2 * operation.y.at(i), &half, 2);
        }
      }
      held[operation.y.uid] = std::move(y);
    }
    return Progress::Done;
  }

  template <typename Read> static std::vector<float> product(const Operation &operation, Read read) {
    const std::vector<float> &a = read(operation.x), &b = read(operation.b);
    const Dims &x = operation.x.dims, &w = operation.b.dims, &y = operation.y.dims;
    std::vector<float> out(size_t(operation.y.elements()));
    for (int64_t i = 0; i < y[0]; ++i)
      for (int64_t h = 0; h < y[1]; ++h) {
        const float *left = &a[size_t((i * x[1] + h) * x[2] * x[3])];
        const float *right = &b[size_t((i * w[1] + h / (y[1] / w[1])) * w[2] * w[3])];
        float *to = &out[size_t((i * y[1] + h) * y[2] * y[3])];
        for (int64_t m = 0; m < y[2]; ++m)
          for (int64_t k = 0; k < x[3]; ++k)
            for (int64_t n = 0; n < y[3]; ++n)
              to[m * y[3] + n] += left[m * x[3] + k] * right[k * w[3] + n];
      }
    return out;
  }

  template <typename Read> static std::vector<float> reduction(const Operation &operation, Read read) {
    const std::vector<float> &x = read(operation.x);
    const int64_t columns = operation.x.dims[3];
    std::vector<float> out;
    for (size_t row = 0; row * size_t(columns) < x.size(); ++row) {
      float value = x[row * size_t(columns)];
      for (int64_t i = 1; i < columns; ++i) {
        const float next = x[row * size_t(columns) + size_t(i)];
        value = operation.mode == kReduceAdd ? value + next : std::isnan(next) || next > value ? next : value;
      }
      out.push_back(value);
    }
    return out;
  }

  template <typename Read> static std::vector<float> elementwise(const Operation &operation, Read read) {
    const Dims &dims = operation.y.dims;
    std::vector<float> out;
    auto value = [&](const Tensor &tensor, const Dims &place) {
      int64_t index = 0; // An operand with one element along a dim is the same along it.
      for (size_t i = 0; i < 4; ++i)
        index = index * tensor.dims[i] + (tensor.dims[i] == 1 ? 0 : place[i]);
      return read(tensor)[size_t(index)];
    };
    for (int64_t element = 0; element < operation.y.elements(); ++element) {
      Dims place = {};
      int64_t rest = element;
      for (size_t i = 4; i-- > 0; rest /= dims[i])
        place[i] = rest % dims[i];
      if (operation.mode == kGenIndex) {
        out.push_back(float(place[size_t(operation.axis)]));
        continue;
      }
      const float x = value(operation.x, place);
      const float b = operation.hasB ? value(operation.b, place) : 0;
      switch (operation.mode) {
      case kAdd:
        out.push_back(x + b);
        break;
      case kMul:
        out.push_back(x * b);
        break;
      case kDiv:
        out.push_back(x / b);
        break;
      case kSub:
        out.push_back(x - b);
        break;
      case kExp:
        out.push_back(std::exp(x));
        break;
      case kLog:
        out.push_back(std::log(x));
        break;
      case kCmpGe:
        out.push_back(x >= b);
        break;
      default:
        out.push_back(value(operation.condition, place) != 0 ? x : b);
      }
    }
    return out;
  }
};

/// A line of the file SK_CUDNN_RECORD for each plan that runs.
void record(const std::vector<Operation> &all) {
  const char *path = std::getenv("SK_CUDNN_RECORD");
  if (!path || !*path)
    return;
  auto text = [](const Dims &dims) {
    return std::to_string(dims[0]) + " x " + std::to_string(dims[1]) + " x " + std::to_string(dims[2]) + " x " +
           std::to_string(dims[3]);
  };
  std::ofstream file(path, std::ios::app);
  file << "attention q " + text(all[0].x.dims) + " k " + text(all[0].b.dims) + ", " + std::to_string(all.size()) +
              " operations\n"
       << std::flush;
  if (!file)
    complain(std::string("cannot write ") + path);
}

} // namespace

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

EMU_EXPORT size_t cudnnGetVersion() {
  const char *text = std::getenv("SK_EMU_CUDNN_VERSION");
  return text ? size_t(std::atoll(text)) : 92800;
}
EMU_EXPORT size_t cudnnGetCudartVersion() { return 13000; }
EMU_EXPORT const char *cudnnGetErrorString(cudnnStatus status) {
  switch (status) {
  case kSuccess:
    return "CUDNN_STATUS_SUCCESS";
  case kNotInitialized:
    return "CUDNN_STATUS_NOT_INITIALIZED";
  case kBadParam:
    return "CUDNN_STATUS_BAD_PARAM";
  case kNotSupported:
    return "CUDNN_STATUS_NOT_SUPPORTED";
  default:
    return "CUDNN_STATUS_EXECUTION_FAILED";
  }
}
EMU_EXPORT void cudnnGetLastErrorString(char *text, size_t bytes) {
  if (!bytes)
    return;
  std::string &last = lastError();
  const size_t count = std::min(bytes - 1, last.size());
  memcpy(text, last.data(), count);
  text[count] = 0;
  last.clear();
}

EMU_EXPORT cudnnStatus cudnnCreate(Handle **out) {
  const int device = currentDevice();
  if (device < 0 || !out)
    return refuse(kNotInitialized, "cudnnCreate", "no context is current in this thread");
  *out = new Handle{device, 0};
  std::lock_guard lock(knownMutex());
  known().insert(*out);
  return kSuccess;
}
EMU_EXPORT cudnnStatus cudnnDestroy(Handle *handle) {
  std::lock_guard lock(knownMutex());
  if (!known().erase(handle))
    return refuse(kBadParam, "cudnnDestroy", "no such handle");
  delete handle;
  return kSuccess;
}
EMU_EXPORT cudnnStatus cudnnSetStream(Handle *handle, CUstream stream) {
  if (!exists(handle))
    return refuse(kBadParam, "cudnnSetStream", "no such handle");
  if (deviceOf(stream, "cudnnSetStream") != handle->device)
    return refuse(kBadParam, "cudnnSetStream", "the stream is of another device");
  handle->stream = stream;
  return kSuccess;
}

EMU_EXPORT cudnnStatus cudnnBackendCreateDescriptor(int kind, Object **out) {
  const bool isKnown = kind == kEngineConfig || std::any_of(std::begin(rules), std::end(rules),
                                                            [&](const Rule &rule) { return rule.kind == kind; });
  if (!isKnown || !out)
    return refuse(kNotSupported, "cudnnBackendCreateDescriptor",
                  "descriptor " + std::to_string(kind) + " is not emulated");
  *out = new Object;
  (*out)->kind = kind;
  std::lock_guard lock(knownMutex());
  known().insert(*out);
  return kSuccess;
}
EMU_EXPORT cudnnStatus cudnnBackendDestroyDescriptor(Object *object) {
  std::lock_guard lock(knownMutex());
  if (!known().erase(object))
    return refuse(kBadParam, "cudnnBackendDestroyDescriptor", "no such descriptor");
  delete object;
  return kSuccess;
}

EMU_EXPORT cudnnStatus cudnnBackendSetAttribute(Object *object, int name, int type, int64_t count, const void *from) {
  static const char *me = "cudnnBackendSetAttribute";
  if (!exists(object) || !from)
    return refuse(kBadParam, me, "no such descriptor");
  if (object->isFinal)
    return refuse(kBadParam, me, "the descriptor is finalized");
  for (const Rule &rule : rules) {
    if (rule.kind != object->kind || rule.name != name)
      continue;
    if (rule.type != type || count < rule.least || count > rule.most)
      return refuse(kBadParam, me,
                    "attribute " + std::to_string(name) + " of type " + std::to_string(type) + " with " +
                        std::to_string(count) + " elements");
    const char *bytes = static_cast<const char *>(from);
    std::vector<char> value(bytes, bytes + size_t(count) * bytesOfElement(type));
    for (size_t i = 0; type == kDescriptor && i < size_t(count); ++i) {
      Object *other = nullptr;
      memcpy(&other, &value[8 * i], 8);
      if (!exists(other) || (!other->isFinal && other->kind != kEngineConfig))
        return refuse(kBadParam, me, "attribute " + std::to_string(name) + " is not finalized");
    }
    object->attributes[name] = std::move(value);
    return kSuccess;
  }
  return refuse(kNotSupported, me,
                "attribute " + std::to_string(name) + " of descriptor " + std::to_string(object->kind) +
                    " is not emulated");
}

EMU_EXPORT cudnnStatus cudnnBackendFinalize(Object *object) {
  static const char *me = "cudnnBackendFinalize";
  if (!exists(object) || object->isFinal)
    return refuse(kBadParam, me, "no such descriptor, or it is finalized");
  for (const Rule &rule : rules)
    if (rule.kind == object->kind && rule.isNeeded && !object->has(rule.name))
      return refuse(kBadParam, me, "attribute " + std::to_string(rule.name) + " is missing");
  if (object->kind == kTensor) {
    const Tensor tensor(*object);
    for (size_t i = 0; i < 4; ++i)
      if (tensor.dims[i] < 1 || tensor.strides[i] < 1)
        return refuse(kBadParam, me, "a tensor has sizes and strides of 1 at least");
  }
  if (object->kind == kPlan && !object->object(401)->graph)
    return refuse(kBadParam, me, "the engine comes from no heuristic");
  if (object->kind == kVariantPack && object->all<int64_t>(1000).size() != object->all<void *>(1001).size())
    return refuse(kBadParam, me, "names and pointers differ in number");
  object->isFinal = true;
  return kSuccess;
}

EMU_EXPORT cudnnStatus cudnnBackendGetAttribute(Object *object, int name, int type, int64_t most, int64_t *count,
                                                void *to) {
  static const char *me = "cudnnBackendGetAttribute";
  if (!exists(object) || !object->isFinal || !count)
    return refuse(kBadParam, me, "no such descriptor, or it is not finalized");
  if (object->kind == kPlan && name == 402 && type == kInt64 && most == 1 && to) {
    const int64_t bytes = 256;
    memcpy(to, &bytes, 8);
    *count = 1;
    return kSuccess;
  }
  if (object->kind != kHeuristics || name != 202 || type != kDescriptor)
    return refuse(kNotSupported, me, "attribute " + std::to_string(name) + " is not emulated");
  Object *graph = object->object(201);
  const std::string why = isNoAttention(operationsOf(*graph));
  *count = why.empty() ? 1 : 0;
  if (!why.empty())
    lastError() = why;
  if (!to || most < 1 || !*count)
    return kSuccess;
  Object *engine = nullptr;
  memcpy(&engine, to, 8);
  if (!exists(engine) || engine->kind != kEngineConfig)
    return refuse(kBadParam, me, "no descriptor of an engine to write to");
  engine->graph = graph;
  engine->isFinal = true;
  return kSuccess;
}

EMU_EXPORT cudnnStatus cudnnBackendExecute(Handle *handle, Object *plan, Object *pack) {
  static const char *me = "cudnnBackendExecute";
  if (!exists(handle) || !exists(plan) || !exists(pack) || !plan->isFinal || !pack->isFinal || plan->kind != kPlan ||
      pack->kind != kVariantPack)
    return refuse(kBadParam, me, "no handle, plan or arguments");
  if (plan->get<Handle *>(400) != handle)
    return refuse(kBadParam, me, "the plan is of another handle");
  Run run;
  run.operations = operationsOf(*plan->object(401)->graph);
  run.device = handle->device;
  run.workspace = pack->get<uint64_t>(1003);
  if (!run.workspace)
    return refuse(kBadParam, me, "the plan needs a workspace of 256 bytes");
  const std::vector<int64_t> uids = pack->all<int64_t>(1000);
  const std::vector<const char *> pointers = pack->all<const char *>(1001);
  for (const Operation &operation : run.operations)
    for (const Tensor *tensor : {&operation.x, &operation.b, &operation.condition, &operation.y}) {
      if (!tensor->uid || tensor->isVirtual)
        continue;
      const auto found = std::find(uids.begin(), uids.end(), tensor->uid);
      const char *pointer = found == uids.end() ? nullptr : pointers[size_t(found - uids.begin())];
      if (!pointer)
        return refuse(kBadParam, me, "no pointer for tensor " + std::to_string(tensor->uid));
      if (tensor->isValue) {
        run.values[tensor->uid] = load(pointer, 0, tensor->type);
        continue;
      }
      run.addresses[tensor->uid] = reinterpret_cast<uint64_t>(pointer);
      if (run.addresses[tensor->uid] % uint64_t(tensor->alignment))
        return refuse(kBadParam, me,
                      "tensor " + std::to_string(tensor->uid) + " is not aligned as its descriptor says");
    }
  record(run.operations);
  return enqueue(handle->stream, simple("attention of cuDNN", run), me) ? kExecutionFailed : kSuccess;
}
