//===- CublasLt.cpp - libcublasLt on the emulated device ------------------===//
//
// Names and values as NVIDIA's documentation of cuBLAS 13.0 has them. A product is loops
// on the host; sums are in the compute type, in order of k.
//
//===----------------------------------------------------------------------===//

#include "../driver/Emulator.h"
#include "../ptx/Float.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

using namespace shardkit::emu;

using cublasStatus = int;
enum : cublasStatus {
  kSuccess = 0,
  kNotInitialized = 1,
  kInvalidValue = 7,
  kExecutionFailed = 13,
  kNotSupported = 15,
};
enum : int { kR32F = 0, kR64F = 1, kR16F = 2, kR16BF = 14 };
enum : int {
  kCompute32F = 68,
  kCompute32FPedantic = 69,
  kCompute64F = 70,
  kCompute64FPedantic = 71,
  kComputeTF32 = 77
};
enum : int { kColumnOrder = 0, kRowOrder = 1 };
enum : uint32_t { kEpilogueDefault = 1, kEpilogueRelu = 2, kEpilogueBias = 4, kEpilogueGelu = 32 };

namespace {

struct Handle {
  uint64_t magic = 0xc0b1a5;
  int device = 0;
};
struct Layout {
  int type = 0, order = kColumnOrder;
  uint64_t rows = 0, columns = 0;
  int64_t ld = 0;
  int32_t batches = 1;
  int64_t stride = 0;

  uint64_t at(uint64_t row, uint64_t column) const {
    return order == kColumnOrder ? row + column * uint64_t(ld) : column + row * uint64_t(ld);
  }
  uint64_t elements() const { // From the first to behind the last of a matrix.
    return rows && columns ? at(rows - 1, columns - 1) + 1 : 0;
  }
};
struct Desc {
  int compute = 0, scale = 0, pointerMode = 0, transA = 0, transB = 0, transC = 0;
  uint32_t epilogue = kEpilogueDefault;
  uint64_t bias = 0;
  int64_t biasStride = 0;
  int biasType = -1;
};
struct Preference {
  uint64_t workspace = 0;
  uint32_t align[4] = {256, 256, 256, 256};
};
struct Algo {
  uint64_t magic, workspace;
  uint32_t align[4];
  uint64_t number, slowness; ///< The first is the slowest: 50 ms more than the next one.
  uint64_t alignBias;        ///< Of the address that the heuristic saw; 0 without one.
  uint64_t rest[1];
};
static_assert(sizeof(Algo) == 64);
struct Heuristic {
  Algo algo;
  size_t workspaceSize;
  cublasStatus state;
  float waves;
  int reserved[4];
};
constexpr uint64_t kAlgoMagic = 0xa160;

std::set<void *> &known() {
  static auto *set = new std::set<void *>;
  return *set;
}
std::mutex &knownMutex() {
  static auto *mutex = new std::mutex;
  return *mutex;
}
template <typename T> cublasStatus create(T **out, T value, const char *function) {
  if (!out) {
    complain(std::string(function) + ": null pointer");
    return kInvalidValue;
  }
  *out = new T(std::move(value));
  std::lock_guard lock(knownMutex());
  known().insert(*out);
  return kSuccess;
}
bool exists(const void *object, const char *function) {
  std::lock_guard lock(knownMutex());
  if (known().count(const_cast<void *>(object)))
    return true;
  complain(std::string(function) + ": no such object");
  return false;
}
template <typename T> cublasStatus destroy(T *object, const char *function) {
  if (!exists(object, function))
    return kInvalidValue;
  std::lock_guard lock(knownMutex());
  known().erase(object);
  delete object;
  return kSuccess;
}
cublasStatus refuse(cublasStatus status, const char *function, const std::string &what) {
  complain(std::string(function) + ": " + what);
  return status;
}

template <typename T> cublasStatus take(T &to, const void *from, size_t bytes, const char *function) {
  if (!from || bytes != sizeof(T))
    return refuse(kInvalidValue, function,
                  "the attribute has " + std::to_string(sizeof(T)) + " bytes, not " + std::to_string(bytes));
  memcpy(&to, from, bytes);
  return kSuccess;
}

size_t bytesOfType(int type) { return type == kR64F ? 8 : type == kR32F ? 4 : 2; }

double load(const char *p, uint64_t index, int type) {
  uint16_t half;
  switch (type) {
  case kR64F:
    return reinterpret_cast<const double *>(p)[index];
  case kR32F:
    return reinterpret_cast<const float *>(p)[index];
  default:
    memcpy(&half, p + 2 * index, 2);
    return type == kR16F ? halfToFloat(half) : bfloatToFloat(half);
  }
}
void store(char *p, uint64_t index, int type, double value) {
  uint16_t half;
  switch (type) {
  case kR64F:
    reinterpret_cast<double *>(p)[index] = value;
    return;
  case kR32F:
    reinterpret_cast<float *>(p)[index] = float(value);
    return;
  default:
    half = type == kR16F ? floatToHalf(float(value)) : floatToBFloat(float(value));
    memcpy(p + 2 * index, &half, 2);
  }
}

/// What a product needs, checked. Empty where it is legal.
std::string check(const Desc &d, const Layout &a, const Layout &b, const Layout &c, const Layout &out,
                  cublasStatus &status) {
  status = kInvalidValue;
  const Layout *all[] = {&a, &b, &c, &out};
  const char *names[] = {"A", "B", "C", "D"};
  for (int i = 0; i < 4; ++i) {
    const Layout &l = *all[i];
    std::string name = names[i];
    if (!l.rows || !l.columns)
      return name + " has no elements";
    if (l.ld < int64_t(l.order == kColumnOrder ? l.rows : l.columns))
      return "the leading dimension of " + name + " is less than its " + (l.order == kColumnOrder ? "rows" : "columns");
    if (l.batches < 1 || l.batches != out.batches)
      return name + " has " + std::to_string(l.batches) + " matrices, D has " + std::to_string(out.batches);
  }
  uint64_t m = d.transA ? a.columns : a.rows, k = d.transA ? a.rows : a.columns;
  uint64_t k2 = d.transB ? b.columns : b.rows, n = d.transB ? b.rows : b.columns;
  if (k != k2 || m != out.rows || n != out.columns || c.rows != out.rows || c.columns != out.columns)
    return "the sizes of A, B, C and D do not fit";
  if (out.batches > 1 && out.stride == 0)
    return "the matrices of D are all the same one";
  status = kNotSupported;
  if (d.transC || d.pointerMode)
    return "transposed C and scalars in device memory are not emulated";
  if (a.type != b.type || c.type != out.type)
    return "A and B, and C and D, have the same type each";
  bool f64 = d.compute == kCompute64F || d.compute == kCompute64FPedantic;
  bool f32 = d.compute == kCompute32F || d.compute == kCompute32FPedantic;
  bool tf32 = d.compute == kComputeTF32;
  bool legal =
      f64    ? d.scale == kR64F && a.type == kR64F && out.type == kR64F
      : tf32 ? d.scale == kR32F && a.type == kR32F && out.type == kR32F
      : f32 ? d.scale == kR32F && ((a.type == kR32F && out.type == kR32F) ||
                                   ((a.type == kR16F || a.type == kR16BF) && (out.type == a.type || out.type == kR32F)))
            : false;
  if (!legal)
    return "compute type " + std::to_string(d.compute) + ", scale type " + std::to_string(d.scale) + ", A of type " +
           std::to_string(a.type) + " and D of type " + std::to_string(out.type) + " do not go together";
  uint32_t e = d.epilogue;
  if (e != 1 && e != 2 && e != 4 && e != 6 && e != 32 && e != 36)
    return "epilogue " + std::to_string(e) + " is not emulated";
  if (f64 && e != 1)
    return "f64 has no epilogue";
  if ((e & kEpilogueBias) && d.biasType >= 0 && d.biasType != out.type)
    return "a bias of another type than D is not emulated";
  status = kSuccess;
  return "";
}

struct Product {
  Desc d;
  Layout a, b, c, out;
  double alpha, beta;
  uint64_t pa, pb, pc, pout, workspace, workspaceBytes;
  int device;
  uint64_t slowness;

  template <typename T> void compute(const char *ha, const char *hb, const char *hc, char *ho, const char *bias) const {
    uint64_t m = out.rows, n = out.columns, k = d.transA ? a.rows : a.columns;
    auto input = [&](const char *p, uint64_t index, int type) {
      T v = T(load(p, index, type));
      if (d.compute == kComputeTF32)
        v = T(floatOf(roundTo(kTF32, double(v), Round::Nearest) << 13));
      return v;
    };
    std::vector<T> right(k * n), row(n);
    for (uint64_t r = 0; r < k; ++r)
      for (uint64_t s = 0; s < n; ++s)
        right[r * n + s] = input(hb, d.transB ? b.at(s, r) : b.at(r, s), b.type);
    for (uint64_t i = 0; i < m; ++i) {
      std::fill(row.begin(), row.end(), T(0));
      for (uint64_t r = 0; r < k; ++r) {
        T left = input(ha, d.transA ? a.at(r, i) : a.at(i, r), a.type);
        const T *from = &right[r * n];
        for (uint64_t s = 0; s < n; ++s)
          row[s] += left * from[s];
      }
      for (uint64_t s = 0; s < n; ++s) {
        T v = T(alpha) * row[s];
        if (beta != 0)
          v += T(beta) * T(load(hc, c.at(i, s), c.type));
        if (bias)
          v += T(load(bias, i, out.type));
        if (d.epilogue & kEpilogueRelu)
          v = v > 0 ? v : v != v ? v : T(0);
        if (d.epilogue & kEpilogueGelu) {
          double x = double(v);
          v = T(0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))));
        }
        store(ho, out.at(i, s), out.type, double(v));
      }
    }
  }

  Progress operator()() const {
    static const std::string me = "cublasLtMatmul";
    auto broken = [&] {
      breakDevice(device, CUDA_ERROR_ILLEGAL_ADDRESS);
      return Progress::Done;
    };
    size_t in = bytesOfType(a.type), to = bytesOfType(out.type);
    // Nothing is computed before every address is known to be good.
    struct Part {
      char *a, *b, *c, *out, *bias;
    };
    std::vector<Part> parts;
    for (int64_t i = 0; i < out.batches; ++i) {
      auto span = [&](uint64_t base, const Layout &l, size_t bytes, bool write, const char *name) {
        return deviceMemory(device, base + uint64_t(i * l.stride) * bytes, l.elements() * bytes, write,
                            me + ", " + name);
      };
      Part p = {};
      p.a = span(pa, a, in, false, "A");
      p.b = span(pb, b, in, false, "B");
      p.c = beta != 0 ? span(pc, c, to, false, "C") : nullptr;
      p.bias = d.epilogue & kEpilogueBias
                   ? deviceMemory(device, d.bias + uint64_t(i * d.biasStride) * to, out.rows * to, false, me + ", bias")
                   : nullptr;
      p.out = span(pout, out, to, true, "D");
      if (!p.a || !p.b || !p.out || (beta != 0 && !p.c) || ((d.epilogue & kEpilogueBias) && !p.bias))
        return broken();
      parts.push_back(p);
    }
    if (workspaceBytes) { // Whoever keeps something there loses it.
      char *w = deviceMemory(device, workspace, workspaceBytes, true, me + ", workspace");
      if (!w)
        return broken();
      memset(w, 0xee, workspaceBytes);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50 * slowness));
    for (const Part &p : parts)
      if (d.scale == kR64F)
        compute<double>(p.a, p.b, p.c, p.out, p.bias);
      else
        compute<float>(p.a, p.b, p.c, p.out, p.bias);
    return Progress::Done;
  }
};

/// A line of the file SK_CUBLASLT_RECORD for each product.
void record(const std::string &what) {
  const char *path = std::getenv("SK_CUBLASLT_RECORD");
  if (!path || !*path)
    return;
  std::ofstream file(path, std::ios::app);
  file << what + "\n" << std::flush;
  if (!file)
    complain(std::string("cannot write ") + path);
}

uint64_t addressOf(const void *p) { return reinterpret_cast<uint64_t>(p); }

} // namespace

EMU_EXPORT size_t cublasLtGetVersion() { return 130000; }
EMU_EXPORT size_t cublasLtGetCudartVersion() { return 13000; }
EMU_EXPORT const char *cublasLtGetStatusName(cublasStatus status) {
  switch (status) {
  case kSuccess:
    return "CUBLAS_STATUS_SUCCESS";
  case kNotInitialized:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  case kInvalidValue:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case kExecutionFailed:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  case kNotSupported:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  default:
    return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}
EMU_EXPORT const char *cublasLtGetStatusString(cublasStatus status) { return cublasLtGetStatusName(status); }

EMU_EXPORT cublasStatus cublasLtCreate(Handle **out) {
  Handle handle;
  handle.device = currentDevice();
  if (handle.device < 0)
    return refuse(kNotInitialized, "cublasLtCreate", "no context is current in this thread");
  return create(out, handle, "cublasLtCreate");
}
EMU_EXPORT cublasStatus cublasLtDestroy(Handle *handle) { return destroy(handle, "cublasLtDestroy"); }

EMU_EXPORT cublasStatus cublasLtMatrixLayoutCreate(Layout **out, int type, uint64_t rows, uint64_t columns,
                                                   int64_t ld) {
  Layout l;
  l.type = type;
  l.rows = rows;
  l.columns = columns;
  l.ld = ld;
  return create(out, l, "cublasLtMatrixLayoutCreate");
}
EMU_EXPORT cublasStatus cublasLtMatrixLayoutDestroy(Layout *l) { return destroy(l, "cublasLtMatrixLayoutDestroy"); }
EMU_EXPORT cublasStatus cublasLtMatrixLayoutSetAttribute(Layout *l, int attribute, const void *from, size_t bytes) {
  static const char *me = "cublasLtMatrixLayoutSetAttribute";
  if (!exists(l, me))
    return kInvalidValue;
  switch (attribute) {
  case 0:
    return take(l->type, from, bytes, me);
  case 1: {
    int order = 0;
    if (cublasStatus s = take(order, from, bytes, me))
      return s;
    if (order != kColumnOrder && order != kRowOrder)
      return refuse(kNotSupported, me, "only column and row order are emulated");
    l->order = order;
    return kSuccess;
  }
  case 2:
    return take(l->rows, from, bytes, me);
  case 3:
    return take(l->columns, from, bytes, me);
  case 4:
    return take(l->ld, from, bytes, me);
  case 5:
    return take(l->batches, from, bytes, me);
  case 6:
    return take(l->stride, from, bytes, me);
  default:
    return refuse(kNotSupported, me, "attribute is not emulated");
  }
}

EMU_EXPORT cublasStatus cublasLtMatmulDescCreate(Desc **out, int compute, int scale) {
  Desc d;
  d.compute = compute;
  d.scale = scale;
  return create(out, d, "cublasLtMatmulDescCreate");
}
EMU_EXPORT cublasStatus cublasLtMatmulDescDestroy(Desc *d) { return destroy(d, "cublasLtMatmulDescDestroy"); }
EMU_EXPORT cublasStatus cublasLtMatmulDescSetAttribute(Desc *d, int attribute, const void *from, size_t bytes) {
  static const char *me = "cublasLtMatmulDescSetAttribute";
  if (!exists(d, me))
    return kInvalidValue;
  switch (attribute) {
  case 0:
    return take(d->compute, from, bytes, me);
  case 1:
    return take(d->scale, from, bytes, me);
  case 2:
    return take(d->pointerMode, from, bytes, me);
  case 3:
    return take(d->transA, from, bytes, me);
  case 4:
    return take(d->transB, from, bytes, me);
  case 5:
    return take(d->transC, from, bytes, me);
  case 7:
    return take(d->epilogue, from, bytes, me);
  case 8:
    return take(d->bias, from, bytes, me);
  case 10:
    return take(d->biasStride, from, bytes, me);
  case 26:
    return take(d->biasType, from, bytes, me);
  default:
    return refuse(kNotSupported, me, "attribute " + std::to_string(attribute) + " is not emulated");
  }
}

EMU_EXPORT cublasStatus cublasLtMatmulPreferenceCreate(Preference **out) {
  return create(out, Preference(), "cublasLtMatmulPreferenceCreate");
}
EMU_EXPORT cublasStatus cublasLtMatmulPreferenceDestroy(Preference *p) {
  return destroy(p, "cublasLtMatmulPreferenceDestroy");
}
EMU_EXPORT cublasStatus cublasLtMatmulPreferenceSetAttribute(Preference *p, int attribute, const void *from,
                                                             size_t bytes) {
  static const char *me = "cublasLtMatmulPreferenceSetAttribute";
  if (!exists(p, me))
    return kInvalidValue;
  if (attribute == 1)
    return take(p->workspace, from, bytes, me);
  if (attribute >= 5 && attribute <= 8)
    return take(p->align[attribute - 5], from, bytes, me);
  uint32_t ignored; // Search mode and what schemes of reduction may be taken.
  if (attribute == 0 || attribute == 3)
    return take(ignored, from, bytes, me);
  return refuse(kNotSupported, me, "attribute is not emulated");
}

EMU_EXPORT cublasStatus cublasLtMatmulAlgoGetHeuristic(Handle *handle, Desc *d, Layout *a, Layout *b, Layout *c,
                                                       Layout *out, Preference *preference, int requested,
                                                       Heuristic *results, int *returned) {
  static const char *me = "cublasLtMatmulAlgoGetHeuristic";
  for (const void *object :
       {static_cast<void *>(handle), static_cast<void *>(d), static_cast<void *>(a), static_cast<void *>(b),
        static_cast<void *>(c), static_cast<void *>(out), static_cast<void *>(preference)})
    if (!exists(object, me))
      return kInvalidValue;
  if (requested < 1 || !results || !returned)
    return refuse(kInvalidValue, me, "no results asked for");
  *returned = 0;
  cublasStatus status;
  if (std::string what = check(*d, *a, *b, *c, *out, status); status)
    return refuse(status, me, what);
  if (const char *none = std::getenv("SK_EMU_NO_EPILOGUES"); none && *none == '1' && d->epilogue != kEpilogueDefault)
    return kNotSupported;
  const char *text = std::getenv("SK_EMU_CUBLASLT_ALGORITHMS");
  const int there = text ? std::atoi(text) : 1;
  for (int i = 0; i < std::min(requested, there); ++i) {
    Heuristic &h = results[i];
    memset(&h, 0, sizeof h);
    h.algo.magic = kAlgoMagic;
    h.algo.workspace = std::min<uint64_t>(preference->workspace, 4096);
    h.algo.number = uint64_t(i);
    h.algo.slowness = uint64_t(there - 1 - i);
    memcpy(h.algo.align, preference->align, sizeof h.algo.align);
    if (d->epilogue & kEpilogueBias)
      h.algo.alignBias = d->bias & (~d->bias + 1);
    h.workspaceSize = h.algo.workspace;
    h.waves = 1;
    ++*returned;
  }
  return kSuccess;
}

EMU_EXPORT cublasStatus cublasLtMatmul(Handle *handle, Desc *d, const void *alpha, const void *a, Layout *la,
                                       const void *b, Layout *lb, const void *beta, const void *c, Layout *lc,
                                       void *out, Layout *lout, const Algo *algo, void *workspace,
                                       size_t workspaceBytes, CUstream stream) {
  static const char *me = "cublasLtMatmul";
  for (const void *object : {static_cast<void *>(handle), static_cast<void *>(d), static_cast<void *>(la),
                             static_cast<void *>(lb), static_cast<void *>(lc), static_cast<void *>(lout)})
    if (!exists(object, me))
      return kInvalidValue;
  cublasStatus status;
  if (std::string what = check(*d, *la, *lb, *lc, *lout, status); status)
    return refuse(status, me, what);
  int device = deviceOf(stream, me);
  if (device < 0)
    return kInvalidValue;
  if (device != handle->device)
    return refuse(kInvalidValue, me, "the stream is of another device than the handle");
  if (!alpha || !beta)
    return refuse(kInvalidValue, me, "no alpha or beta");
  bool f64 = d->scale == kR64F;
  double alphaValue = f64 ? *static_cast<const double *>(alpha) : *static_cast<const float *>(alpha);
  double betaValue = f64 ? *static_cast<const double *>(beta) : *static_cast<const float *>(beta);
  uint64_t used = 0;
  const uint64_t pointers[] = {addressOf(a), addressOf(b), betaValue != 0 ? addressOf(c) : 0, addressOf(out)};
  if (algo) {
    if (algo->magic != kAlgoMagic)
      return refuse(kInvalidValue, me, "the algorithm is none that the heuristic gave");
    for (int i = 0; i < 4; ++i)
      if (algo->align[i] && pointers[i] % algo->align[i])
        return refuse(kInvalidValue, me,
                      std::string(1, "ABCD"[i]) + " is not aligned to the " + std::to_string(algo->align[i]) +
                          " bytes that the preference of the heuristic promised");
    if ((d->epilogue & kEpilogueBias) && algo->alignBias && d->bias % algo->alignBias)
      return refuse(kInvalidValue, me,
                    "the bias is not aligned to the " + std::to_string(algo->alignBias) +
                        " bytes of the one that the heuristic saw");
    if (algo->workspace > workspaceBytes)
      return refuse(kInvalidValue, me, "the workspace is less than the algorithm needs");
    used = algo->workspace;
  }
  if (used && (!workspace || addressOf(workspace) % 256))
    return refuse(kInvalidValue, me, "the workspace is not aligned to 256 bytes");
  for (int i = 0; i < 4; ++i)
    if (pointers[i] % bytesOfType(i < 2 ? la->type : lout->type))
      return refuse(kInvalidValue, me, std::string(1, "ABCD"[i]) + " is misaligned");
  record(std::to_string(lout->rows) + " x " + std::to_string(lout->columns) + " epilogue " +
         std::to_string(d->epilogue) + (betaValue != 0 ? " beta" : "") +
         (algo && std::getenv("SK_EMU_CUBLASLT_ALGORITHMS") ? " algorithm " + std::to_string(algo->number) : ""));
  Product p{*d,
            *la,
            *lb,
            *lc,
            *lout,
            alphaValue,
            betaValue,
            addressOf(a),
            addressOf(b),
            addressOf(c),
            addressOf(out),
            addressOf(workspace),
            used,
            device,
            algo ? algo->slowness : 0};
  return enqueue(stream, simple("cublasLtMatmul", p), me) ? kExecutionFailed : kSuccess;
}
