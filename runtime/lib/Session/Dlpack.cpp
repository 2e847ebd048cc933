//===- Dlpack.cpp - Shards as DLPack tensors ------------------------------===//

#include "Dlpack.h"

#include "shardkit/rt/Support/DType.h"

#include <algorithm>
#include <iterator>

namespace shardkit::rt {

namespace {

// As dlpack.h has them: https://dmlc.github.io/dlpack/latest/c_api.html.
enum DlDeviceType : int32_t { dlCpu = 1, dlCuda = 2 };
/// DLDataTypeCode of each DType; -1: it has none.
constexpr int typeCodes[] = {2, 2, 2, 4, 0, 0, 0, 0, 6, 1, 1, 1, 1, 10, 12, 11, 13, 14, -1, -1, 5, 5};
static_assert(std::size(typeCodes) == kNumStoredDTypes);
struct DlTensor {
  void *data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides;
  uint64_t byteOffset;
};
struct DlManagedTensor {
  DlTensor tensor;
  void *context;
  void (*deleter)(DlManagedTensor *);
};
static_assert(sizeof(DlManagedTensor) == 64);

struct ExportedTensor {
  DlManagedTensor managed;
  ShardView view;
};

} // namespace

Expected<void *> exportToDlpack(const ShardView &view) {
  const int code = typeCodes[size_t(view.dtype)];
  if (code < 0)
    return invalid(std::string("DLPack has no type for elements of ") + dtypeName(view.dtype) +
                   ", expected another element type");
  auto *exported = new ExportedTensor{{}, view};
  DlTensor &tensor = exported->managed.tensor;
  tensor.data = view.data;
  tensor.device = {view.gpu >= 0 ? dlCuda : dlCpu, std::max(view.gpu, 0)};
  tensor.ndim = int32_t(view.shape.size());
  tensor.dtype = {uint8_t(code), uint8_t(dtypeSize(view.dtype) * 8), 1};
  tensor.shape = exported->view.shape.data();
  exported->managed.context = exported;
  exported->managed.deleter = [](DlManagedTensor *managed) { delete static_cast<ExportedTensor *>(managed->context); };
  return static_cast<void *>(&exported->managed);
}

} // namespace shardkit::rt
