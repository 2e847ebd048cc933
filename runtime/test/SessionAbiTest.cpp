//===- SessionAbiTest.cpp - What users of the C API compile against -------===//
//
// Sizes and offsets of structures and the exported functions are part of the interface: a change here needs
// another SK_ABI_VERSION.
//
//===----------------------------------------------------------------------===//

#include "OnDevices.h"
#include "TestBundle.h"

#include "shardkit/rt/Formats/Npy.h"
#include "shardkit/rt/session.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <thread>
#include <utility>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

static_assert(SK_ABI_VERSION == 1);
static_assert(sizeof(sk_tensor) == 32 && sizeof(sk_loader_options) == 88 && sizeof(sk_load_counters) == 56);
static_assert(sizeof(sk_session_options) == 56 && offsetof(sk_session_options, backend) == 16);
static_assert(sizeof(sk_function_info) == 72 && offsetof(sk_function_info, seconds) == 40);
static_assert(sizeof(sk_value_info) == 72 && offsetof(sk_value_info, tied) == 60);
static_assert(sizeof(sk_device_options) == 32 && sizeof(sk_argument) == 16 && sizeof(sk_view) == 48 &&
              offsetof(sk_view, owner) == 40);

TEST(SessionAbi, exportsItsFunctions) {
  for (const char *name : {"sk_last_error",
                           "sk_session_open",
                           "sk_session_close",
                           "sk_session_add_bundle",
                           "sk_session_register_shard_function",
                           "sk_session_load_shard_functions",
                           "sk_session_count",
                           "sk_session_find",
                           "sk_session_function",
                           "sk_session_argument",
                           "sk_session_result",
                           "sk_session_note",
                           "sk_session_load",
                           "sk_session_load_names",
                           "sk_session_save",
                           "sk_session_fill_random",
                           "sk_session_assign",
                           "sk_session_bind",
                           "sk_session_bound",
                           "sk_session_load_counters",
                           "sk_session_call",
                           "sk_session_is_stuck",
                           "sk_session_interrupt",
                           "sk_session_load_progress",
                           "sk_set_interrupt",
                           "sk_array_create",
                           "sk_array_reshard",
                           "sk_array_release",
                           "sk_array_info",
                           "sk_array_is_ready",
                           "sk_array_wait",
                           "sk_array_read",
                           "sk_array_read_slice",
                           "sk_array_shard",
                           "sk_array_view",
                           "sk_view_release",
                           "sk_view_gpu",
                           "sk_view_dlpack",
                           "sk_session_process",
                           "sk_session_set_devices"})
    EXPECT_NE(::dlsym(RTLD_DEFAULT, name), nullptr) << name;
}

TEST(SessionAbi, reportsErrors) {
  sk_session_options options = {};
  sk_session *session = nullptr;
  EXPECT_NE(sk_session_open(&options, &session), 0);
  EXPECT_STREQ(sk_last_error(), "session ABI version 0, this runtime has version 1");
  options.abi = SK_ABI_VERSION;
  options.mode = "sideways";
  EXPECT_NE(sk_session_open(&options, &session), 0);
  EXPECT_STREQ(sk_last_error(), "mode 'sideways', expected 'direct' or 'presharded'");
  ASSERT_EQ(sk_session_open(nullptr, &session), 0);
  sk_value_info info;
  EXPECT_NE(sk_session_argument(session, 0, 0, &info), 0);
  EXPECT_STREQ(sk_last_error(), "function 0, expected one of the 0 of the session");
  EXPECT_EQ(sk_session_note(session, 0), nullptr);
  sk_session_close(session);
}

/// What is NULL, or a number that nothing has, is an error, and the session stays usable.
TEST(SessionAbi, refusesWhatIsNotThere) {
  TempDir dir;
  const std::string bundle = dir / "bundle";
  writeTestBundle(bundle, {"main"});
  sk_session *session = nullptr;
  ASSERT_EQ(sk_session_open(nullptr, &session), 0);
  ASSERT_EQ(sk_session_add_bundle(session, bundle.c_str(), nullptr), 0) << sk_last_error();
  const std::vector<float> x(128, 1);
  const sk_argument arguments[] = {{x.data(), nullptr}, {x.data(), nullptr}, {nullptr, nullptr}};
  const char *const names[] = {nullptr};
  const int64_t zeros[] = {0, 0}, tooMany[] = {int64_t(1) << 40, int64_t(1) << 40}, negative[] = {-1, -1};
  sk_array *y = nullptr, *made = nullptr;
  ASSERT_EQ(sk_session_call(session, 0, arguments, 2, 0, &y), 0) << sk_last_error();
  float element;
  auto refuse = [](int status, const std::string &message) {
    EXPECT_NE(status, 0) << message;
    EXPECT_EQ(sk_last_error(), message);
  };
  refuse(sk_session_open(nullptr, nullptr), "the memory for the session is NULL");
  refuse(sk_session_call(nullptr, 0, arguments, 2, 0, &made), "the session is NULL");
  refuse(sk_session_call(session, -1, arguments, 2, 0, &made), "function -1, expected one of the 1 of the session");
  refuse(sk_session_call(session, 0, arguments, 3, 0, &made),
         "function 'main' is called with 3 arguments, expected at most 2");
  refuse(sk_session_call(session, 0, nullptr, 2, 0, &made), "the list of arguments is NULL");
  refuse(sk_session_call(session, 0, arguments, 2, 0, nullptr), "the memory for the results is NULL");
  refuse(sk_session_call(session, 0, arguments, 2, 64, &made), "flags 64 of a call, expected those of sk_call_flags");
  refuse(sk_session_add_bundle(session, nullptr, nullptr), "the path of a bundle is NULL, expected a bundle directory");
  refuse(sk_session_load(session, ""), "the path of the weights is empty, expected a file or a directory");
  refuse(sk_session_load_names(session, "weights", nullptr, 1), "the list of names is NULL");
  refuse(sk_session_load_names(session, "weights", names, 1), "a name is NULL");
  refuse(sk_session_save(session, nullptr, nullptr, 0), "the path of the set is NULL, expected a directory");
  refuse(sk_session_assign(session, "w", nullptr, 512), "the memory of the elements is NULL");
  refuse(sk_session_bind(session, "w", nullptr), "the array is NULL");
  refuse(sk_session_set_devices(session, nullptr), "the options are NULL");
  refuse(sk_array_create(session, 0, -1, x.data(), 512, &made), "argument -1, the function has 2");
  refuse(sk_array_create(session, 0, 0, nullptr, 512, &made), "the memory of the elements is NULL");
  refuse(sk_array_read(nullptr, &element, 4), "the array is NULL");
  refuse(sk_array_read(y, nullptr, 256), "the memory for the elements is NULL");
  refuse(sk_array_read_slice(y, nullptr, zeros, &element, 4), "the list of starts or sizes is NULL");
  for (const int64_t *sizes : {tooMany, negative})
    refuse(sk_array_read_slice(y, zeros, sizes, &element, 4),
           "read: dim 0 of array 'y' has 8 elements, expected a slice inside of it, not " + std::to_string(*sizes) +
               " from 0 on");
  sk_view_release(nullptr);
  EXPECT_EQ(sk_view_gpu(nullptr), -1);
  sk_array_release(y);
  ASSERT_EQ(sk_session_call(session, 0, arguments, 2, 0, &y), 0) << sk_last_error();
  sk_array_release(y);
  sk_session_close(session);
}

/// Rows of the caller's memory are what the program reads, and rows of the result what the caller reads. Blocks are
/// copied once: to the shard that the program reads.
TEST(SessionAbi, copiesOnlyWhatIsNotContiguous) {
  TempDir dir;
  writeTestBundle(dir / "bundle", {"main"});
  void *program = ::dlopen((dir / "bundle/programs/program.so").c_str(), RTLD_NOW);
  ASSERT_NE(program, nullptr);
  auto *buffers = static_cast<const float *(*)[3]>(::dlsym(program, "sk_test_buffers"));
  sk_session *session = nullptr;
  ASSERT_EQ(sk_session_open(nullptr, &session), 0);
  ASSERT_EQ(sk_session_add_bundle(session, (dir / "bundle").c_str(), nullptr), 0) << sk_last_error();
  std::vector<float> x(128), w(128);
  for (size_t i = 0; i < w.size(); ++i)
    x[i] = float(i % 5), w[i] = float(i % 7);
  std::vector<char> shifted(513);
  std::memcpy(shifted.data() + 1, w.data(), 512);
  for (bool isAligned : {true, false}) {
    const void *weights = isAligned ? static_cast<const void *>(w.data()) : shifted.data() + 1;
    sk_argument arguments[] = {{x.data(), nullptr}, {weights, nullptr}};
    sk_array *result = nullptr;
    ASSERT_EQ(sk_session_call(session, 0, arguments, 2, 0, &result), 0) << sk_last_error();
    sk_view view;
    ASSERT_EQ(sk_array_view(result, &view), 0);
    const auto *y = static_cast<const float *>(view.data);
    for (int64_t rank = 0; rank < 4; ++rank) {
      EXPECT_TRUE(buffers[rank][0] + 32 <= x.data() || buffers[rank][0] >= x.data() + 128);
      EXPECT_EQ(buffers[rank][1] == w.data() + rank % 2 * 64, isAligned);
      if (rank % 2 == 0)
        EXPECT_EQ(buffers[rank][2], y + rank / 2 * 32);
    }
    float expected = 0;
    for (size_t k = 0; k < 16; ++k)
      expected += x[5 * 16 + k] * w[k * 8 + 3];
    EXPECT_EQ(y[5 * 8 + 3], expected);
    sk_view_release(&view);
    sk_array_release(result);
  }
  sk_session_close(session);
  ::dlclose(program);
}

/// y = x * w for w of ones, as a handle, or null.
sk_array *callMain(sk_session *session, const std::string &bundle, const std::vector<float> &x) {
  const std::vector<float> w(128, 1);
  const sk_argument arguments[] = {{x.data(), nullptr}, {w.data(), nullptr}};
  sk_array *y = nullptr;
  EXPECT_EQ(sk_session_add_bundle(session, bundle.c_str(), nullptr), 0) << sk_last_error();
  EXPECT_EQ(sk_session_call(session, 0, arguments, 2, 0, &y), 0) << sk_last_error();
  return y;
}

/// Another thread closes the session: a call gets its result, or an error.
TEST(SessionAbi, closesWhileOthersRead) {
  TempDir dir;
  sk_session *session = nullptr;
  ASSERT_EQ(sk_session_open(nullptr, &session), 0);
  sk_array *y = callMain(session, writeTestBundle(dir / "bundle", {"main"}), std::vector<float>(128, 1));
  ASSERT_NE(y, nullptr);
  constexpr int count = 3;
  std::atomic<int> started{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&] {
      std::vector<float> got(64);
      bool isFirst = true;
      while (sk_array_read(y, got.data(), 256) == 0) {
        EXPECT_EQ(got, std::vector<float>(64, 16));
        started += std::exchange(isFirst, false);
      }
      EXPECT_STREQ(sk_last_error(), "the session is closed");
    });
  while (started < count)
    std::this_thread::yield();
  sk_session_close(session);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(sk_array_is_ready(y), 0);
  sk_array_release(y);
}

/// DLPack's structures, as its header has them.
struct DlManagedTensor {
  void *data;
  int32_t deviceType, deviceId, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byteOffset;
  void *context;
  void (*deleter)(DlManagedTensor *);
};

class SessionDlpack : public testing::Test {};

TEST_F(SessionDlpack, exportsShardsWithoutACopy) {
  TempDir dir;
  sk_session *session = nullptr;
  ASSERT_EQ(sk_session_open(nullptr, &session), 0);
  std::vector<float> x(128);
  for (size_t i = 0; i < 128; ++i)
    x[i] = float(i / 16);
  const int64_t map[] = {0, 0, 0};
  sk_device_options devices = {SK_ABI_VERSION, 0, 1, 0, SK_ATTENTION_KERNEL, 3, map};
  if (onDevices()) {
    EXPECT_EQ(sk_session_set_devices(session, &devices), 0);
    const std::string path = writeTestBundle(dir / "wrong", {"main"}, {}, true);
    EXPECT_NE(sk_session_add_bundle(session, path.c_str(), nullptr), 0);
    EXPECT_EQ(sk_last_error(), path + ": the device map has 3 entries, expected 4");
    devices.ranks = 0;
    EXPECT_EQ(sk_session_set_devices(session, &devices), 0);
  }
  sk_array *y = callMain(session, writeTestBundle(dir / "bundle", {"main"}, {}, onDevices()), x);
  EXPECT_NE(sk_session_set_devices(session, &devices), 0);
  EXPECT_STREQ(sk_last_error(),
               "options of devices for a session that has functions, expected them before its first bundle");
  ASSERT_NE(y, nullptr);
  sk_view view;
  ASSERT_EQ(sk_array_shard(y, 2, &view), 0) << sk_last_error();
  EXPECT_EQ(sk_view_gpu(&view) >= 0, onDevices());
  void *exported = nullptr;
  ASSERT_EQ(sk_view_dlpack(&view, &exported), 0);
  auto *tensor = static_cast<DlManagedTensor *>(exported);
  EXPECT_EQ(tensor->data, view.data);
  EXPECT_EQ(tensor->deviceType, onDevices() ? 2 : 1);
  EXPECT_EQ(tensor->deviceId, onDevices() ? sk_view_gpu(&view) : 0);
  EXPECT_EQ(tensor->ndim, 2);
  EXPECT_EQ(tensor->code * 1000 + tensor->bits, 2032);
  EXPECT_EQ(std::vector<int64_t>(tensor->shape, tensor->shape + 2), (std::vector<int64_t>{4, 8}));
  // It keeps the memory, after all else is gone.
  sk_view_release(&view);
  EXPECT_NE(sk_view_dlpack(&view, &exported), 0);
  sk_array_release(y);
  sk_session_close(session);
  std::vector<float> got(32);
  if (onDevices()) {
    cuda::DeviceOptions options;
    options.map = {tensor->deviceId};
    EXPECT_OK(openDevices(1, options)->of(0)->download(got.data(), tensor->data, 128));
  } else {
    std::memcpy(got.data(), tensor->data, 128);
  }
  for (size_t i = 0; i < 32; ++i)
    EXPECT_EQ(got[i], 16 * float(4 + i / 8));
  tensor->deleter(tensor);
}

/// The example in C, a process of its own.
TEST(SessionAbi, servesFromC) {
  TempDir dir;
  writeTestBundle(dir / "bundle", {"main"});
  std::vector<float> x(128, 1), w(128);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = float(i / 8);
  ASSERT_TRUE(writeNpy(dir / "x.npy", {"", DType::F32, {8, 16}, x.data()}).ok());
  ASSERT_TRUE(writeNpy(dir / "w.npy", {"", DType::F32, {16, 8}, w.data()}).ok());
  writeText(dir / "requests", (dir / "x.npy") + "\n" + (dir / "none.npy") + "\n" + (dir / "x.npy") + "\n");
  std::filesystem::create_directories(dir / "weights");
  std::filesystem::copy(dir / "w.npy", dir / "weights/w.npy");
  const std::string command = std::string(SERVE) + " " + (dir / "bundle") + " " + (dir / "weights/w.npy") + " < " +
                              (dir / "requests") + " > " + (dir / "out") + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  const std::string out = readText(dir / "out");
  EXPECT_NE(out.find("serving main on 4 devices\ny: 120 120 120; "), std::string::npos) << out;
  EXPECT_NE(out.find("none.npy: no .npy file of 512 bytes for x\ny: 120 120 120; "), std::string::npos) << out;
}

} // namespace
