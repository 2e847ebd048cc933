//===- TvmLoaderTest.cpp - What TVM Disco's loader does, by value ---------===//
//
// The cases of TVM's loader tests, through the C API.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include "shardkit/rt/Formats/Safetensors.h"
#include "shardkit/rt/Formats/TensorCache.h"
#include "shardkit/rt/loader.h"

#include <cstring>
#include <numeric>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

/// f(input [R, C], shards, output [shards, R, C / shards])
int shardDim1(const sk_tensor *in, int count, sk_tensor *out, void *user) {
  if (count != 2 || in[0].ndim != 2 || in[1].dtype != SK_I64 || in[1].ndim != 0)
    return 1;
  int64_t shards, rows = in[0].shape[0], columns = in[0].shape[1], size = in[0].dtype == SK_F32 ? 4 : 2;
  std::memcpy(&shards, in[1].data, 8);
  int64_t part = columns / shards * size;
  for (int64_t s = 0; s < shards; ++s)
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(static_cast<char *>(out->data) + (s * rows + r) * part,
                  static_cast<char *>(in[0].data) + r * columns * size + s * part, size_t(part));
  if (user)
    ++*static_cast<int *>(user);
  return 0;
}

/// The rows are in the right order already.
int shardDim0(const sk_tensor *in, int, sk_tensor *out, void *) {
  std::memcpy(out->data, in[0].data, size_t(out->bytes));
  return 0;
}

/// q, k, v heads of rank s follow one another: [28, d, f] to [2, 14, d, f].
int qkv0(const sk_tensor *in, int, sk_tensor *out, void *) {
  const int64_t head = 10 * 20 * 4;
  const int64_t heads[3] = {8, 10, 10};
  char *to = static_cast<char *>(out->data);
  for (int s = 0; s < 2; ++s) {
    int64_t first = 0;
    for (int64_t n : heads) {
      std::memcpy(to, static_cast<char *>(in[0].data) + (first + s * n / 2) * head, size_t(n / 2 * head));
      to += n / 2 * head;
      first += n;
    }
  }
  return 0;
}

/// [2, 14, d, f] to [2, 14 * d, f]
int qkv1(const sk_tensor *in, int, sk_tensor *out, void *) {
  if (in[0].ndim != 4 || out->ndim != 3)
    return 1;
  std::memcpy(out->data, in[0].data, size_t(out->bytes));
  return 0;
}

int failing(const sk_tensor *, int, sk_tensor *, void *) { return 42; }
int throwing(const sk_tensor *, int, sk_tensor *, void *) { throw std::runtime_error("no"); }

class TvmLoader : public testing::Test {
protected:
  void SetUp() override {
    context_ = sk_context_create();
    EXPECT_EQ(0, sk_register_shard_function(context_, "tests.disco.shard_dim_0", shardDim0, nullptr));
    EXPECT_EQ(0, sk_register_shard_function(context_, "tests.disco.shard_dim_1", shardDim1, &calls_));
    EXPECT_EQ(0, sk_register_shard_function(context_, "tests.disco.shard_qkv_0", qkv0, nullptr));
    EXPECT_EQ(0, sk_register_shard_function(context_, "tests.disco.shard_qkv_1", qkv1, nullptr));
    EXPECT_EQ(0, sk_register_shard_function(context_, "fails", failing, nullptr));
    EXPECT_EQ(0, sk_register_shard_function(context_, "throws", throwing, nullptr));
    x0_.resize(64 * 128);
    x1_.resize(32 * 128);
    std::iota(x0_.begin(), x0_.end(), uint16_t(0));
    std::iota(x1_.begin(), x1_.end(), uint16_t(7));
    // JSON order is not parameter order.
    ASSERT_TRUE(writeTensorCache(dir_.path(), {contentOf(TensorRef{"x_1", DType::F16, {32, 128}, x1_.data()}),
                                               contentOf(TensorRef{"x_0", DType::F16, {64, 128}, x0_.data()})})
                    .ok());
  }
  void TearDown() override {
    close();
    sk_context_destroy(context_);
  }
  void close() {
    if (loader_)
      sk_loader_close(loader_);
    loader_ = nullptr;
  }
  sk_loader_options options(const char *info) {
    sk_loader_options options = {};
    options.abi = SK_ABI_VERSION;
    options.weights = dir_.path().c_str();
    options.shard_info = info;
    options.ranks = 2;
    return options;
  }
  void open(const sk_loader_options &options) {
    close();
    ASSERT_EQ(0, sk_loader_open(context_, &options, &loader_)) << sk_error(context_);
  }
  void expectError(const sk_loader_options &options, const std::string &message) {
    close();
    EXPECT_NE(0, sk_loader_open(context_, &options, &loader_));
    EXPECT_NE(std::string(sk_error(context_)).find(message), std::string::npos) << sk_error(context_);
  }
  static std::vector<uint16_t> halfs(const sk_tensor &tensor) {
    const uint16_t *data = static_cast<const uint16_t *>(tensor.data);
    return {data, data + tensor.bytes / 2};
  }
  static std::vector<int64_t> shape(const sk_tensor &tensor) { return {tensor.shape, tensor.shape + tensor.ndim}; }
  std::vector<uint16_t> columns(int64_t first, int64_t count) {
    std::vector<uint16_t> result;
    for (int64_t r = 0; r < 64; ++r)
      result.insert(result.end(), x0_.begin() + r * 128 + first, x0_.begin() + r * 128 + first + count);
    return result;
  }
  std::vector<uint16_t> rows(int64_t first, int64_t count) {
    return {x1_.begin() + first * 128, x1_.begin() + (first + count) * 128};
  }

  TempDir dir_;
  sk_context *context_ = nullptr;
  sk_loader *loader_ = nullptr;
  std::vector<uint16_t> x0_, x1_;
  int calls_ = 0;
};

const char *both = R"({"x_0": [["tests.disco.shard_dim_1", [[2, 64, 64], "float16"], 2]],
                       "x_1": [["tests.disco.shard_dim_0", [[2, 16, 128], "float16"], 2]]})";

TEST_F(TvmLoader, shardsOfDim1AndDim0InEveryMode) {
  for (const char *mode : {"direct", "root-scatter"}) {
    sk_loader_options options = this->options(both);
    options.mode = mode;
    open(options);
    EXPECT_EQ(sk_loader_count(loader_), 2);
    EXPECT_STREQ(sk_loader_name(loader_, 0), "x_0");
    sk_tensor out[2];
    ASSERT_EQ(0, sk_load(loader_, "x_0", out)) << sk_error(context_);
    EXPECT_EQ(shape(out[0]), (std::vector<int64_t>{64, 64}));
    EXPECT_EQ(halfs(out[0]), columns(0, 64));
    EXPECT_EQ(halfs(out[1]), columns(64, 64));
    ASSERT_EQ(0, sk_load(loader_, "x_1", out)) << sk_error(context_);
    EXPECT_EQ(shape(out[1]), (std::vector<int64_t>{16, 128}));
    EXPECT_EQ(halfs(out[0]), rows(0, 16));
    EXPECT_EQ(halfs(out[1]), rows(16, 16));
  }
  EXPECT_EQ(calls_, 2); // Once a load, not once a rank.
}

TEST_F(TvmLoader, loadAll) {
  open(options(both));
  sk_tensor out[4];
  ASSERT_EQ(0, sk_load_all(loader_, out)) << sk_error(context_);
  EXPECT_EQ(halfs(out[0]), columns(0, 64));
  EXPECT_EQ(halfs(out[1]), columns(64, 64));
  EXPECT_EQ(halfs(out[2]), rows(0, 16));
  EXPECT_EQ(halfs(out[3]), rows(16, 16));
  sk_load_counters counters;
  sk_loader_counters(loader_, &counters);
  EXPECT_EQ(counters.bytes_read, (64 + 32) * 128 * 2);
  EXPECT_EQ(counters.scatters + counters.broadcasts, 0);
}

TEST_F(TvmLoader, unlistedParametersAreReplicated) {
  sk_loader_options options = this->options("{}");
  options.mode = "root-scatter";
  open(options);
  sk_tensor out[4];
  ASSERT_EQ(0, sk_load_all(loader_, out)) << sk_error(context_);
  for (int rank : {0, 1}) {
    EXPECT_EQ(halfs(out[rank]), x0_);
    EXPECT_EQ(halfs(out[2 + rank]), x1_);
  }
  sk_load_counters counters;
  sk_loader_counters(loader_, &counters);
  EXPECT_EQ(counters.broadcasts, 2);
  EXPECT_EQ(counters.scatters, 0);
}

TEST_F(TvmLoader, presharedByNameAndIndexWithoutCommunication) {
  // "presharded": as TVM has it, and with .safetensors.
  for (bool safetensors : {false, true}) {
    TempDir dir;
    std::vector<std::vector<uint16_t>> data = {rows(0, 16), columns(0, 64), rows(16, 16), columns(64, 64)};
    std::vector<TensorContent> contents;
    const char *names[] = {"x_1_shard-1-of-2", "x_0_shard-1-of-2", "x_1_shard-2-of-2", "x_0_shard-2-of-2"};
    for (int i = 0; i < 4; ++i)
      contents.push_back(
          contentOf(TensorRef{names[i], DType::F16, i % 2 ? Shape{64, 64} : Shape{16, 128}, data[size_t(i)].data()}));
    ASSERT_TRUE(
        (safetensors ? writeSafetensors(dir / "w.safetensors", contents) : writeTensorCache(dir.path(), contents))
            .ok());
    sk_loader_options options = this->options(nullptr);
    options.weights = dir.path().c_str();
    open(options);
    sk_tensor out[4];
    ASSERT_EQ(0, sk_load_presharded(loader_, "x_0", out)) << sk_error(context_);
    EXPECT_EQ(halfs(out[0]), columns(0, 64));
    EXPECT_EQ(halfs(out[1]), columns(64, 64));
    // An index counts parameters, not records of the JSON.
    ASSERT_EQ(0, sk_load_presharded_at(loader_, 1, out)) << sk_error(context_);
    EXPECT_EQ(halfs(out[0]), rows(0, 16));
    EXPECT_EQ(halfs(out[1]), rows(16, 16));
    ASSERT_EQ(0, sk_load_all_presharded(loader_, out)) << sk_error(context_);
    EXPECT_EQ(halfs(out[1]), columns(64, 64));
    EXPECT_EQ(halfs(out[3]), rows(16, 16));
    sk_load_counters counters;
    sk_loader_counters(loader_, &counters);
    EXPECT_EQ(counters.scatters + counters.broadcasts, 0);
    EXPECT_EQ(counters.bytes_read, counters.bytes_needed);
    EXPECT_NE(0, sk_load_presharded_at(loader_, 2, out));
    EXPECT_STREQ(sk_error(context_), "parameter 2, expected 0 to 1");
    EXPECT_NE(0, sk_load_presharded_at(loader_, -1, out));
    // An order that is given.
    const char *order[] = {"x_1", "x_0"};
    options.parameters = order;
    options.num_parameters = 2;
    open(options);
    ASSERT_EQ(0, sk_load_presharded_at(loader_, 0, out)) << sk_error(context_);
    EXPECT_EQ(halfs(out[0]), rows(0, 16));
    options.ranks = 3;
    expectError(options, "is presharded for 2 ranks, expected 3");
  }
}

TEST_F(TvmLoader, presharedWithShardInfo) {
  // TVM's names; MLC's, which have no number of ranks and store replicated parameters once.
  for (bool mlc : {false, true}) {
    TempDir dir;
    std::vector<std::vector<uint16_t>> data = {rows(0, 16), columns(0, 64), rows(16, 16), columns(64, 64)};
    std::vector<TensorContent> contents;
    for (int i = 0; i < 4; ++i) {
      const std::string name = i % 2 ? "x_0" : "x_1";
      contents.push_back(contentOf(TensorRef{mlc ? mlcShardName(name, i / 2) : shardName(name, i / 2, 2), DType::F16,
                                             i % 2 ? Shape{64, 64} : Shape{16, 128}, data[size_t(i)].data()}));
    }
    if (mlc)
      contents.push_back(contentOf(TensorRef{"x_2", DType::F16, {16, 128}, data[2].data()}));
    ASSERT_TRUE(writeTensorCache(dir.path(), contents).ok());
    // The functions of a listed parameter have been applied.
    for (const char *info : {"{}", both}) {
      sk_loader_options options = this->options(info);
      options.weights = dir.path().c_str();
      open(options);
      sk_tensor out[6];
      ASSERT_EQ(0, sk_load_presharded(loader_, "x_0", out)) << sk_error(context_);
      EXPECT_EQ(halfs(out[0]), columns(0, 64));
      EXPECT_EQ(halfs(out[1]), columns(64, 64));
      ASSERT_EQ(0, sk_load_all_presharded(loader_, out)) << sk_error(context_);
      EXPECT_EQ(halfs(out[2]), rows(0, 16));
      EXPECT_EQ(halfs(out[3]), rows(16, 16));
      if (mlc) {
        EXPECT_EQ(halfs(out[4]), rows(16, 16));
        EXPECT_EQ(halfs(out[5]), rows(16, 16));
      }
      for (int ranks : {1, 3}) {
        options.ranks = ranks;
        expectError(options, "is presharded for 2 ranks, expected " + std::to_string(ranks));
      }
    }
    sk_loader_options options = this->options(R"({"x_7": []})");
    options.weights = dir.path().c_str();
    expectError(options, "lists parameter 'x_7', of which");
    options = this->options("{}");
    options.strict = 1;
    options.weights = dir.path().c_str();
    open(options);
    std::string bytes = readText(dir / "params_shard_0.bin");
    bytes[0] ^= 1;
    writeText(dir / "params_shard_0.bin", bytes);
    expectError(options, "params_shard_0.bin: the checksum is");
  }
}

/// Accesses a byte: of the output or of the input, by writing or reading.
struct WrongAccess {
  bool isOutput, isWrite;
  int64_t byte;
};
int accessWrongly(const sk_tensor *in, int, sk_tensor *out, void *user) {
  const WrongAccess &access = *static_cast<WrongAccess *>(user);
  std::memset(out->data, 1, size_t(out->bytes));
  volatile char *at = static_cast<char *>(access.isOutput ? out->data : in[0].data) + access.byte;
  if (access.isWrite)
    *at = 7;
  return access.isWrite ? 0 : (*at, 0);
}

TEST_F(TvmLoader, accessesBeyondTensorsAreCaught) {
  WrongAccess access{};
  EXPECT_EQ(0, sk_register_shard_function(context_, "wrong", accessWrongly, &access));
  ::setenv("SK_GUARD", "1", 1);
  const char *info = R"({"x_0": [["wrong", [[2, 3, 7], "float16"]], ["wrong", [[2, 3, 7], "float16"]]]})";
  const std::tuple<WrongAccess, std::string> cases[] = {
      {{true, true, 84}, "wrote to byte 84 of its output, which has 84 bytes"},
      {{true, true, 127}, "wrote to byte 127 of its output, which has 84 bytes"},
      {{true, true, 128}, "accessed byte 128 of its output, which has 84 bytes"},
      {{true, true, -1}, "wrote to byte -1 of its output, which has 84 bytes"},
      {{true, true, -5000}, "accessed byte -5000 of its output"},
      {{false, true, 5}, "wrote to byte 5 of its input, which has 16384 bytes and is read only"},
      {{false, false, 16384}, "accessed byte 16384 of its input, which has 16384 bytes"},
  };
  sk_tensor out[2];
  for (const auto &[wrong, message] : cases) {
    access = wrong;
    open(options(info));
    EXPECT_NE(0, sk_load(loader_, "x_0", out));
    EXPECT_NE(std::string(sk_error(context_)).find("shard function 'wrong' " + message), std::string::npos)
        << sk_error(context_);
  }
  // Functions without a fault give what they give without guards.
  open(options(both));
  ASSERT_EQ(0, sk_load(loader_, "x_0", out)) << sk_error(context_);
  EXPECT_EQ(halfs(out[1]), columns(64, 64));
  access = {true, true, 83};
  open(options(info));
  EXPECT_EQ(0, sk_load(loader_, "x_0", out)) << sk_error(context_);
  ::unsetenv("SK_GUARD");
}

TEST_F(TvmLoader, qkvInTwoSteps) {
  TempDir dir;
  std::vector<float> w(280 * 20);
  std::iota(w.begin(), w.end(), 0.f);
  ASSERT_TRUE(writeTensorCache(dir.path(), {contentOf(TensorRef{"w_qkv", DType::F32, {280, 20}, w.data()})}).ok());
  sk_loader_options options = this->options(
      R"({"w_qkv": [["tests.disco.shard_qkv_0", [[2, 14, 10, 20], "float32"]],
                    ["tests.disco.shard_qkv_1", [[2, 140, 20], "float32"]]]})");
  options.weights = dir.path().c_str();
  open(options);
  sk_tensor out[2];
  ASSERT_EQ(0, sk_load(loader_, "w_qkv", out)) << sk_error(context_);
  // Rank 0 holds rows 0-39, 80-129, 180-229; rank 1 the others.
  for (int64_t rank : {0, 1}) {
    std::vector<float> expected;
    for (auto [first, count] :
         {std::pair<int64_t, int64_t>(rank * 40, 40), {80 + rank * 50, 50}, {180 + rank * 50, 50}})
      expected.insert(expected.end(), w.begin() + first * 20, w.begin() + (first + count) * 20);
    const float *got = static_cast<const float *>(out[rank].data);
    EXPECT_EQ(std::vector<float>(got, got + 140 * 20), expected);
  }
}

TEST_F(TvmLoader, badShardInfoIsFoundBeforeLoading) {
  auto expect = [&](const char *info, const std::string &message) { expectError(options(info), message); };
  expect("{", "shard info: the shard info is not valid JSON");
  expect(R"({"x_2": []})", "lists parameter 'x_2', which");
  expect(R"({"x_0": [], "x_0": []})", "parameter 'x_0' appears twice");
  expect(R"({"x_0": 3})", "parameter 'x_0': expected a list of calls");
  expect(R"({"x_0": [["f"]]})", "a call is not [function, [shape, dtype], extra inputs...]");
  expect(R"({"x_0": [["f", [[2, 64, 64]]]]})", "a call is not");
  expect(R"({"x_0": [["f", [[2, -64, 64], "float16"]]]})", "has a negative size");
  expect(R"({"x_0": [["f", [[2, 64, 64], "float15"]]]})", "unknown dtype 'float15'");
  expect(R"({"x_0": [["f", [[2, 64, 64], "float16"], []]]})", "extra input 0 is neither a number");
  expect(R"({"x_0": [["tests.disco.shard_dim_1", [[3, 64, 64], "float16"], 2]]})",
         "gives 3x64x64, expected a leading dim of 2, the number of shards");
  expect(R"({"x_0": [["tests.disco.shard_dim_1", [[], "float16"], 2]]})", "gives scalar, expected a leading dim of 2");
  sk_loader_options none = options("{}");
  none.ranks = 0;
  expectError(none, "ranks is 0, expected at least 1");
  none = options("{}");
  none.mode = "fast";
  expectError(none, "mode 'fast', expected 'direct' or 'root-scatter'");
  none.mode = nullptr;
  none.abi = 99;
  expectError(none, "loader ABI version 99");
  sk_tensor out[2];
  for (auto [info, message] :
       {std::pair(R"({"x_0": [["unknown", [[2, 64, 64], "float16"]]]})",
                  "weight 'x_0': shard function 'unknown' is not registered; there are: 'fails'"),
        std::pair(R"({"x_0": [["fails", [[2, 64, 64], "float16"]]]})",
                  "weight 'x_0': shard function 'fails' returned 42 for f16 64x128 to f16 2x64x64"),
        std::pair(R"({"x_0": [["throws", [[2, 64, 64], "float16"]]]})",
                  "shard function 'throws' threw an exception")}) {
    open(options(info));
    EXPECT_NE(0, sk_load(loader_, "x_0", out));
    EXPECT_NE(std::string(sk_error(context_)).find(message), std::string::npos) << sk_error(context_);
  }
  EXPECT_NE(0, sk_load(loader_, "x_7", out));
  EXPECT_STREQ(sk_error(context_), "no parameter is named 'x_7', expected one of 2");
  EXPECT_NE(0, sk_register_shard_function(context_, "fails", failing, nullptr));
  EXPECT_NE(std::string(sk_error(context_)).find("registered twice"), std::string::npos);
  EXPECT_NE(0, sk_register_shard_function(context_, "", failing, nullptr));
  EXPECT_NE(0, sk_load_shard_functions(context_, "none.so"));
  EXPECT_NE(std::string(sk_error(context_)).find("none.so: cannot be loaded"), std::string::npos);
}

} // namespace
