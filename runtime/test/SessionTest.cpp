//===- SessionTest.cpp - Arrays and calls that stay in the process --------===//

#include "OnDevices.h"
#include "TestBundle.h"

#include "shardkit/rt/Formats/Safetensors.h"
#include "shardkit/rt/Session/Session.h"
#include "shardkit/rt/Session/Verify.h"
#include "shardkit/rt/Support/Interrupt.h"

#include <cstring>
#include <dlfcn.h>
#include <optional>
#include <random>
#include <thread>

using namespace shardkit::rt;
using namespace shardkit::rt::test;
using Json = nlohmann::json;

namespace {

bool contains(const Status &status, const std::string &text) {
  return !status.ok() && status.message().find(text) != std::string::npos;
}

/// y = x * w on a 2x2 mesh (main), and the same with w + 1 as a second result, tied to w (step).
class SessionTest : public testing::Test {
protected:
  void SetUp() override {
    for (size_t i = 0; i < x_.size(); ++i)
      x_[i] = float(i % 7) - 3, w_[i] = float(i % 5) + 1;
    session_ = open();
    ASSERT_TRUE(session_->addBundle(makeBundle({"main", "step"})).ok());
    main_ = *session_->find("main");
    step_ = *session_->find("step");
  }

  static std::unique_ptr<Session> open(bool reshard = false) {
    SessionOptions options;
    options.reshard = reshard;
    auto session = Session::open(options, makeLocalBackend());
    EXPECT_TRUE(session.ok()) << session.status().message();
    return std::move(*session);
  }

  std::string makeBundle(const std::vector<std::string> &functions, const std::function<void(Json &)> &change = {}) {
    auto changeStep = [&](Json &function) {
      if (function["name"] == "full") {
        Json &w = function["arguments"][1];
        w["sharding"] = "<@pod, [{}, {}]>";
        w["local_shape"] = {16, 8};
        w["extents"] = {{"offset", Json::array()}, {"loops", {{128, 1, 1}}}};
      }
      if (function["name"] == "step" || function["name"] == "full") {
        Json result = function["arguments"][1];
        result["name"] = "w_next";
        result["kind"] = "result";
        result["tied"] = 1;
        function["results"].push_back(result);
        function.erase("reference");
      }
      if (change)
        change(function);
    };
    return writeTestBundle(dir_ / ("bundle" + std::to_string(count_++)), functions, changeStep, onDevices());
  }
  /// The elements of a view, which may be on a device.
  static std::vector<float> elementsOf(const ShardView &view) {
    std::vector<float> values(size_t(*numElements(view.shape)));
    const int64_t bytes = int64_t(values.size() * sizeof(float));
    if (view.gpu < 0) {
      std::memcpy(values.data(), view.data, size_t(bytes));
      return values;
    }
    static std::map<int, std::unique_ptr<cuda::Devices>> known;
    cuda::DeviceOptions options;
    options.map = {view.gpu};
    auto &devices = known[view.gpu];
    if (!devices)
      devices = openDevices(1, options);
    EXPECT_OK(devices->of(0)->download(values.data(), view.data, bytes));
    return values;
  }

  std::vector<float> product(const std::vector<float> &x, const std::vector<float> &w) const {
    std::vector<float> y(64);
    for (size_t i = 0; i < 8; ++i)
      for (size_t k = 0; k < 16; ++k)
        for (size_t j = 0; j < 8; ++j)
          y[i * 8 + j] += x[i * 16 + k] * w[k * 8 + j];
    return y;
  }
  std::vector<float> read(const Array &array) {
    std::vector<float> values(size_t(array.bytes() / 4));
    Status status = session_->read(array, values.data());
    EXPECT_TRUE(status.ok()) << status.message();
    return values;
  }
  Array put(int function, size_t i, const std::vector<float> &values) {
    auto array = session_->put(function, i, values.data());
    EXPECT_TRUE(array.ok()) << array.status().message();
    return *array;
  }

  /// Random numbers for all arguments of a function that is no pipeline.
  ArgumentSources randomSources(int function) {
    ArgumentSources sources(1);
    for (const ValueInfo &value : session_->runnable(function).held(0).arguments)
      sources[0].push_back(RandomTensor::forValue(value, 7));
    return sources;
  }
  std::vector<Array> loadArguments(int function) {
    LoadStats stats;
    auto arrays = session_->loadArguments(function, randomSources(function), stats);
    EXPECT_TRUE(arrays.ok()) << arrays.status().message();
    return *arrays;
  }

  TempDir dir_;
  int count_ = 0, main_ = -1, step_ = -1;
  std::vector<float> x_ = std::vector<float>(128), w_ = std::vector<float>(128);
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, callsWithLoadedWeights) {
  ASSERT_TRUE(writeSafetensors(dir_ / "w.safetensors", {{"w", DType::F32, {16, 8}, w_.data()}}).ok());
  Array x = put(main_, 0, x_);
  EXPECT_TRUE(contains(session_->call(main_, {x, {}}).status(),
                       "argument 'w' of function 'main' (f32 16x8 on 4 devices, sharding <@pod, "
                       "[{\"model\"}, {}]>) is neither given nor bound, expected weights to be loaded"));
  Status loaded = session_->load(dir_ / "w.safetensors");
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  EXPECT_EQ(session_->loadStats().total.bytesRead, 512); // Once, for both functions and all replicas.
  for (int i = 0; i < 3; ++i) {
    auto y = session_->call(main_, {x, {}});
    ASSERT_TRUE(y.ok()) << y.status().message();
    EXPECT_EQ(read((*y)[0]), product(x_, w_));
  }
  EXPECT_EQ(session_->stats(main_).calls, 3);
  EXPECT_EQ(session_->boundNames(), std::vector<std::string>{"w"});
}

TEST_F(SessionTest, ranksHaveMemoryOfTheirOwnForLoadedArguments) {
  std::vector<Array> arguments = loadArguments(step_);
  EXPECT_TRUE(contains(session_->bound("w").status(), "is not bound"));
  const std::vector<float> x = read(arguments[0]), w = read(arguments[1]);
  EXPECT_EQ(elementsOf(*session_->shard(arguments[1], 0)), elementsOf(*session_->shard(arguments[1], 2)));
  std::vector<const void *> shards;
  for (int64_t rank = 0; rank < 4; ++rank)
    shards.push_back(session_->shard(arguments[1], rank)->data);
  EXPECT_NE(shards[0], shards[2]);
  CallOptions options;
  options.donate = true;
  RunStats stats;
  options.stats = &stats;
  auto y = session_->call(step_, arguments, options);
  ASSERT_TRUE(y.ok()) << y.status().message();
  EXPECT_EQ(read((*y)[0]).size(), 64u);
  EXPECT_EQ(read((*y)[1])[17], w[17] + 1);
  EXPECT_GT(stats.seconds, 0);
  EXPECT_EQ(stats.functions[0].collectives[3][0].count, 1);
  for (int64_t rank = 0; rank < 4; ++rank) // In place.
    EXPECT_EQ(session_->shard((*y)[1], rank)->data, shards[size_t(rank)]);
  LoadStats none;
  EXPECT_TRUE(contains(session_->loadArguments(main_, {{}}, none).status(),
                       "function 'main' is given 0 sources for stage 0, expected 2"));
}

TEST_F(SessionTest, comparesResultsWithTheReference) {
  std::vector<Array> arguments = loadArguments(main_);
  std::vector<Array> results = *session_->call(main_, arguments),
                     others = *session_->call(main_, {arguments[0], put(main_, 1, w_)});
  std::vector<TensorSource> sources = randomSources(main_)[0];
  for (const std::vector<TensorSource> &given : {sources, {}}) { // From the generator, or from what the ranks hold.
    auto checks = verify(*session_, main_, arguments, results, given);
    ASSERT_TRUE(checks.ok()) << checks.status().message();
    EXPECT_TRUE((*checks)[0].isWithin);
    EXPECT_EQ((*checks)[0].difference.elements, 4 * 32); // Replicas too.
    EXPECT_FALSE((*verify(*session_, main_, arguments, others, given))[0].isWithin);
  }
  EXPECT_TRUE(contains(verify(*session_, step_, arguments, results, sources).status(),
                       "function 'step': the bundle has no reference to verify against"));
  std::vector<std::string> digests = *digest(*session_, {results[0], others[0]});
  EXPECT_EQ(digests[0].size(), 4u * 32);
  EXPECT_EQ(digests[0].substr(0, 32), digests[0].substr(32, 32)); // Ranks 0 and 1 hold the same.
  EXPECT_NE(digests[0].substr(0, 32), digests[0].substr(64, 32));
  EXPECT_NE(digests[0], digests[1]);
  std::vector<float> y(64);
  ASSERT_TRUE(session_->readOnFirst(results[0], y.data()).ok());
  EXPECT_EQ(y, read(results[0]));
}

TEST_F(SessionTest, hasTheFunctionsThatAreChosen) {
  auto session = open();
  BundleOptions options;
  options.functions = {"step"};
  ASSERT_TRUE(session->addBundle(std::move(*Bundle::open(makeBundle({"main", "step"}))), options).ok());
  EXPECT_EQ(session->count(), 1);
  EXPECT_EQ(session->name(0), "step");
  EXPECT_EQ(session->bundle(0).manifest().functions.size(), 2u);
}

TEST_F(SessionTest, readsSlicesAndShards) {
  Array x = put(main_, 0, x_);
  for (int64_t rank = 0; rank < 4; ++rank) {
    auto shard = session_->shard(x, rank);
    ASSERT_TRUE(shard.ok());
    EXPECT_EQ(shard->gpu >= 0, onDevices());
    EXPECT_EQ(shard->shape, (Shape{4, 8}));
    EXPECT_EQ(elementsOf(*shard)[9], x_[size_t(rank / 2 * 64 + rank % 2 * 8 + 16 + 1)]);
  }
  EXPECT_TRUE(contains(session_->shard(x, 4).status(), "rank 4 has no shard of array 'x' in this process, which has "
                                                       "ranks 0 to 3"));
  for (int64_t from = 0; from < 8; ++from)
    for (int64_t column = 0; column < 16; column += 3) {
      const int64_t rows = std::min<int64_t>(3, 8 - from), columns = std::min<int64_t>(7, 16 - column);
      std::vector<float> slice(size_t(rows * columns), -1);
      ASSERT_TRUE(session_->readSlice(x, {from, column}, {rows, columns}, slice.data()).ok());
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
          EXPECT_EQ(slice[size_t(r * columns + c)], x_[size_t((from + r) * 16 + column + c)]);
    }
  EXPECT_TRUE(contains(session_->readSlice(x, {0, 10}, {1, 7}, nullptr), "dim 1 of array 'x' has 16 elements"));
}

TEST_F(SessionTest, donationGoesFromStepToStepInPlace) {
  ASSERT_TRUE(session_->assign("w", w_.data(), 512).ok());
  Array x = put(step_, 0, x_);
  std::vector<float> w = w_;
  const void *first = nullptr;
  for (int i = 0; i < 5; ++i) {
    Array before = *session_->bound("w");
    CallOptions options;
    options.donate = true;
    auto y = session_->call(step_, {x, {}}, options);
    ASSERT_TRUE(y.ok()) << y.status().message();
    EXPECT_EQ(read((*y)[0]), product(x_, w));
    for (float &value : w)
      value += 1;
    EXPECT_EQ(read(*session_->bound("w")), w);
    EXPECT_TRUE(contains(session_->wait(before), "array 'w' was donated to function 'step'") ||
                contains(session_->wait(before), "array 'w_next' was donated to function 'step'"));
    const void *now = session_->shard((*y)[1], 3)->data;
    EXPECT_TRUE(i == 0 || now == first);
    first = now;
  }
  // Both functions have the weight.
  auto y = session_->call(main_, {put(main_, 0, x_), {}});
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(read((*y)[0]), product(x_, w));
}

TEST_F(SessionTest, donationLeavesViewsAndMemoryOfTheCallerAlone) {
  auto borrowed = std::make_shared<std::vector<float>>(w_);
  Array x = put(step_, 0, x_), w = *session_->put(step_, 1, borrowed->data(), borrowed);
  ShardView view = *session_->shard(w, 2);
  const std::vector<float> seen = elementsOf(view);
  CallOptions options;
  options.donate = true;
  auto y = session_->call(step_, {x, w}, options);
  ASSERT_TRUE(y.ok()) << y.status().message();
  EXPECT_EQ(elementsOf(view), seen);
  EXPECT_EQ(*borrowed, w_);
  std::vector<float> next = w_;
  for (float &value : next)
    value += 1;
  EXPECT_EQ(read((*y)[1]), next);
}

TEST_F(SessionTest, queuedCallsKeepTheirOrder) {
  ASSERT_TRUE(session_->assign("w", w_.data(), 512).ok());
  Array x = put(step_, 0, x_);
  CallOptions options;
  options.donate = options.isAsync = true;
  std::vector<Array> results;
  for (int i = 0; i < 20; ++i) {
    auto y = session_->call(step_, {x, {}}, options);
    ASSERT_TRUE(y.ok()) << y.status().message();
    results.push_back((*y)[0]);
  }
  std::vector<float> w = w_;
  for (Array &y : results) {
    EXPECT_EQ(read(y), product(x_, w));
    EXPECT_TRUE(session_->isReady(y));
    for (float &value : w)
      value += 1;
  }
}

TEST_F(SessionTest, anErrorLeavesTheSessionUsable) {
  std::vector<float> bad = w_;
  bad[0] = -1; // Of ranks 0 and 2.
  ASSERT_TRUE(session_->assign("w", bad.data(), 512).ok());
  Array x = put(step_, 0, x_);
  CallOptions options;
  options.donate = true;
  auto failed = session_->call(step_, {x, {}}, options);
  EXPECT_TRUE(contains(failed.status(), "the program returned status 77")) << failed.status().message();
  EXPECT_TRUE(contains(session_->call(step_, {x, {}}).status(), "is the result of a call that failed"));
  EXPECT_FALSE(session_->stuck());
  ASSERT_TRUE(session_->assign("w", w_.data(), 512).ok());
  auto y = session_->call(step_, {x, {}});
  ASSERT_TRUE(y.ok()) << y.status().message();
  EXPECT_EQ(read((*y)[0]), product(x_, w_));
  EXPECT_EQ(session_->stats(step_).failed, 2);
}

TEST_F(SessionTest, refusesWhatIsWrong) {
  Array x = put(main_, 0, x_), w = put(main_, 1, w_);
  EXPECT_TRUE(contains(session_->find("train").status(),
                       "no function of the session is called 'train', expected one of: main, step"))
      << session_->find("train").status().message();
  EXPECT_TRUE(contains(session_->call(main_, {x}).status(), "argument 'w' of function 'main' (f32 16x8"));
  EXPECT_TRUE(contains(session_->call(99, {x}).status(), "function 99, expected one of the 2 of the session"));
  EXPECT_TRUE(contains(session_->put(main_, 2, x_.data()).status(), "argument 2, the function has 2"));
  EXPECT_TRUE(contains(session_->read({}, x_.data()), "read: no array is given"));
  EXPECT_TRUE(contains(session_->call(main_, {x, w, w}).status(), "is called with 3 arguments, expected at most 2"));
  EXPECT_TRUE(
      contains(session_->call(main_, {w, x}).status(), "argument 'x' of function 'main': array 'w' is f32 16x8"));
  auto other = open();
  ASSERT_TRUE(other->addBundle(makeBundle({"main"})).ok());
  EXPECT_TRUE(contains(other->call(0, {x, w}).status(), "is of another session"));
  EXPECT_TRUE(contains(other->addBundle(makeBundle({"main"})), "two functions of the session are called 'main'"));
  ASSERT_TRUE(other->addBundle(makeBundle({"main"}), "again").ok());
  EXPECT_EQ(other->name(1), "again");
  EXPECT_TRUE(contains(session_->bind("v", x), "no argument is called 'v', expected one of: w, x"))
      << session_->bind("v", x).message();
  EXPECT_TRUE(contains(session_->bind("w", x), "bind 'w': array 'x' is f32 8x16"));
  Array kept = *other->put(0, 0, x_.data());
  EXPECT_TRUE(contains(session_->read(kept, x_.data()), "is of another session"));
  other.reset();
  EXPECT_TRUE(contains(session_->addBundle(dir_ / "none"), "none"));
}

TEST_F(SessionTest, weightsInTwoLayouts) {
  ASSERT_TRUE(session_
                  ->addBundle(makeBundle({"wrong"},
                                         [](Json &function) {
                                           Json &w = function["arguments"][1];
                                           w["sharding"] = "<@pod, [{}, {}]>";
                                           w["local_shape"] = {16, 8};
                                           w["extents"] = {{"offset", Json::array()}, {"loops", {{128, 1, 1}}}};
                                           function.erase("reference");
                                         }))
                  .ok());
  ASSERT_EQ(session_->notes().size(), 1u);
  EXPECT_EQ(session_->notes()[0],
            "weight 'w' is held twice: function 'main' has it as f32 16x8 on 4 devices, sharding <@pod, "
            "[{\"model\"}, {}]>, function 'wrong' as f32 16x8 on 4 devices, sharding <@pod, [{}, {}]>, 2048 bytes "
            "more");
  ASSERT_TRUE(session_->assign("w", w_.data(), 512).ok());
  auto moved = session_->reshard(*session_->bound("w"), *session_->find("wrong"), 1);
  ASSERT_TRUE(moved.ok());
  EXPECT_EQ(read(*moved), w_);
  // A full shard of the caller's memory is used as it is.
  auto owner = std::make_shared<std::vector<float>>(w_);
  Array full = *session_->put(*session_->find("wrong"), 1, owner->data(), owner);
  EXPECT_EQ(session_->readInPlace(full)->data, owner->data());
}

TEST_F(SessionTest, oneLayoutIsKeptAndResharded) {
  session_ = open(/*reshard=*/true);
  ASSERT_TRUE(session_->addBundle(makeBundle({"step", "full"})).ok());
  const int step = 0, full = 1;
  ASSERT_EQ(session_->notes().size(), 1u);
  EXPECT_EQ(session_->notes()[0],
            "argument 'w' is kept as f32 16x8 on 4 devices, sharding <@pod, [{\"model\"}, {}]> (function 'step') and "
            "resharded for calls of function 'full', which has it as f32 16x8 on 4 devices, sharding <@pod, [{}, {}]>, "
            "2048 bytes during a call");
  Array x = put(step, 0, x_);
  EXPECT_TRUE(contains(session_->call(full, {x, {}}).status(), "is neither given nor bound"));
  ASSERT_TRUE(writeSafetensors(dir_ / "w.safetensors", {{"w", DType::F32, {16, 8}, w_.data()}}).ok());
  ASSERT_TRUE(session_->load(dir_ / "w.safetensors").ok());
  EXPECT_EQ(session_->loadStats().total.bytesRead, 512);
  std::vector<float> w = w_;
  CallOptions donate;
  donate.donate = true;
  const Array first = *session_->bound("w");
  Array inFull;
  for (int i = 0; i < 6; ++i) { // Either function updates it, and both see that.
    auto y = session_->call(i % 2 ? full : step, {x, {}}, donate);
    ASSERT_TRUE(y.ok()) << y.status().message();
    EXPECT_EQ(read((*y)[0]), product(x_, w));
    for (float &value : w)
      value += 1;
    EXPECT_EQ(read((*y)[1]), w);
    EXPECT_EQ(session_->bound("w")->layout(), session_->argument(step, 1));
    EXPECT_EQ(read(*session_->bound("w")), w);
    for (int function : {step, full}) {
      auto same = session_->call(function, {x, {}});
      ASSERT_TRUE(same.ok()) << same.status().message();
      EXPECT_EQ(read((*same)[0]), product(x_, w));
    }
    inFull = i % 2 ? (*y)[1] : inFull;
  }
  EXPECT_TRUE(contains(session_->wait(first), "was donated to function 'step'"));
  // Nine calls with a copy of 2048 bytes, three of which became 1024 bytes of what is kept.
  EXPECT_EQ(session_->stats(full).reshardedBytes, 9 * 2048 + 3 * 1024);
  EXPECT_EQ(session_->stats(step).reshardedBytes, 0);
  EXPECT_EQ(session_->stats(full).calls, 9);
  // What has the other layout is bound in that which is kept.
  w = read(inFull);
  ASSERT_TRUE(session_->bind("w", inFull).ok());
  EXPECT_EQ(session_->bound("w")->layout(), session_->argument(step, 1));
  EXPECT_EQ(read((*session_->call(step, {x, {}}))[0]), product(x_, w));
  w[0] = -1;
  ASSERT_TRUE(session_->assign("w", w.data(), 512).ok());
  EXPECT_TRUE(contains(session_->call(full, {x, {}}, donate).status(), "returned status 77"));
  EXPECT_TRUE(contains(session_->call(step, {x, {}}).status(), "is the result of a call that failed"));
  ASSERT_TRUE(session_->assign("w", w_.data(), 512).ok());
  EXPECT_EQ(read((*session_->call(full, {x, {}}))[0]), product(x_, w_));
  ASSERT_TRUE(session_->save(dir_ / "set").ok());
}

TEST_F(SessionTest, aStepIsInterrupted) {
  if (onDevices())
    GTEST_SKIP() << "the program for devices has no such function";
  const std::string path = makeBundle({"late"});
  ASSERT_TRUE(session_->addBundle(path, "late").ok());
  const int late = *session_->find("late");
  void *program = ::dlopen((path + "/programs/program.so").c_str(), RTLD_NOW);
  ASSERT_NE(program, nullptr);
  auto *go = static_cast<int *>(::dlsym(program, "sk_test_go"));
  ASSERT_TRUE(session_->assign("w", w_.data(), 512).ok());
  Array x = put(late, 0, x_);
  for (bool waits : {false, true}) {
    __atomic_store_n(go, 0, __ATOMIC_RELEASE);
    Status status;
    if (waits) { // By the thread that waits, which another one performs it for.
      CallOptions queued;
      queued.isAsync = true;
      int checks = 0;
      setInterrupt([&] { return ++checks > 2; });
      auto y = session_->call(late, {x, {}}, queued);
      ASSERT_TRUE(y.ok());
      status = session_->wait((*y)[0]);
      setInterrupt(nullptr);
    } else {
      std::atomic<bool> isDone{false};
      std::thread other([&] {
        while (!isDone) {
          session_->interrupt();
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
      });
      status = session_->call(late, {x, {}}).status();
      isDone = true;
      other.join();
    }
    EXPECT_TRUE(contains(status, "the step was interrupted")) << status.message();
    EXPECT_TRUE(session_->stuck());
    EXPECT_TRUE(contains(session_->call(main_, {x, {}}).status(), "a rank of an earlier step still runs"));
    __atomic_store_n(go, 1, __ATOMIC_RELEASE);
    while (session_->stuck())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    auto y = session_->call(late, {x, {}});
    ASSERT_TRUE(y.ok()) << y.status().message();
    EXPECT_EQ(read((*y)[0]), product(x_, w_));
  }
  ::dlclose(program);
}

TEST_F(SessionTest, weightsOfOtherLoadingFunctionsAreNotShared) {
  // One name and layout, but the rows of the stored tensor in the order of the ranks, or reversed.
  auto withRows = [](int64_t first, int64_t second) {
    return [=](Json &function) {
      Json &w = function["arguments"][1];
      Json pieces = Json::array();
      for (auto [source, local] : {std::pair(first, 0), {second, 4}})
        pieces.push_back(
            {{"source", 0}, {"base", {source * 8, local * 8}}, {"offset", {{1, 2, 64}}}, {"loops", {{32, 1, 1}}}});
      w["load"] = {{"sources", {{{"name", "w"}, {"dtype", "f32"}, {"shape", {16, 8}}}}}, {"pieces", pieces}};
      function.erase("reference");
    };
  };
  auto session = open();
  for (const auto &[name, change] :
       {std::pair("same", withRows(0, 4)), {"swapped", withRows(4, 0)}, {"again", withRows(0, 4)}}) {
    Status added = session->addBundle(makeBundle({"main"}, change), name);
    ASSERT_TRUE(added.ok()) << added.message();
  }
  ASSERT_EQ(session->notes().size(), 1u);
  EXPECT_NE(session->notes()[0].find("by another loading function, 1024 bytes more"), std::string::npos)
      << session->notes()[0];
  ASSERT_TRUE(writeSafetensors(dir_ / "w.safetensors", {{"w", DType::F32, {16, 8}, w_.data()}}).ok());
  Status loaded = session->load(dir_ / "w.safetensors");
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  std::vector<float> swapped = w_, y(64);
  for (size_t block = 0; block < 4; ++block)
    std::copy_n(&w_[(block ^ 1) * 32], 32, &swapped[block * 32]);
  for (const auto &[name, w] : {std::pair("same", &w_), {"swapped", &swapped}, {"again", &w_}}) {
    const int function = *session->find(name);
    auto result = session->call(function, {*session->put(function, 0, x_.data()), {}});
    ASSERT_TRUE(result.ok()) << result.status().message();
    ASSERT_TRUE(session->read((*result)[0], y.data()).ok());
    EXPECT_EQ(y, product(x_, *w)) << name;
  }
}

TEST_F(SessionTest, threadsTakeTurns) {
  ASSERT_TRUE(session_->assign("w", w_.data(), 512).ok());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> mine = x_, got(64);
      for (float &value : mine)
        value += float(t);
      for (int i = 0; i < 20; ++i) {
        auto x = session_->put(main_, 0, mine.data());
        auto y = session_->call(main_, {*x, {}});
        if (!y.ok() || !session_->read((*y)[0], got.data()).ok() || got != product(mine, w_))
          ++wrong;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(SessionTest, rowsOfTheCallersMemoryAreUsedInPlace) {
  if (onDevices())
    GTEST_SKIP() << "devices have copies";
  auto owner = std::make_shared<std::vector<float>>(w_);
  Array w = *session_->put(main_, 1, owner->data(), owner); // Sharded along its rows.
  for (int64_t rank = 0; rank < 4; ++rank)
    EXPECT_EQ(session_->shard(w, rank)->data, owner->data() + rank % 2 * 64);
  EXPECT_EQ(session_->readInPlace(w)->data, owner->data());
  EXPECT_EQ(session_->readInPlace(put(main_, 0, x_))->data, nullptr); // In blocks: to be gathered.
  // So are results, which rows of two ranks make up.
  auto y = session_->call(main_, {put(main_, 0, x_), w});
  ASSERT_TRUE(y.ok());
  ShardView view = *session_->readInPlace((*y)[0]);
  ASSERT_NE(view.data, nullptr);
  y = Status(Code::Invalid, "released");
  const float *values = static_cast<float *>(view.data);
  EXPECT_EQ(std::vector<float>(values, values + 64), product(x_, w_));
}

/// Random calls in any order, errors in between: what is read is always what was computed.
TEST_F(SessionTest, randomSequences) {
  const char *given = std::getenv("SK_SEEDS");
  for (unsigned seed = 0, seeds = given ? unsigned(std::atoi(given)) : onDevices() ? 5 : 20; seed < seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    auto pick = [&](size_t count) { return size_t(random() % count); };
    // Half of them with a third function, for which w is resharded.
    session_ = open(/*reshard=*/seed % 2);
    std::vector<std::string> names{"main", "step"};
    std::vector<int> functions{main_, step_};
    if (seed % 2) {
      names.push_back("full");
      functions.push_back(2);
    }
    ASSERT_TRUE(session_->addBundle(makeBundle(names)).ok());
    using Values = std::vector<float>;
    std::vector<std::pair<Array, Values>> xs, ws, ys;
    std::optional<Values> bound;
    std::vector<std::pair<ShardView, Values>> views;
    auto make = [&] {
      Values values(128);
      for (float &value : values)
        value = float(random() % 9) + 1;
      return values;
    };
    auto isDead = [&](const Array &array) { return contains(session_->wait(array), "was donated"); };
    for (int i = 0; i < 40; ++i) {
      switch (pick(9)) {
      case 0: {
        Values values = make();
        auto owner = std::make_shared<Values>(values);
        xs.emplace_back(*session_->put(functions[pick(2)], 0, owner->data(), pick(2) ? owner : nullptr), values);
        break;
      }
      case 1: {
        Values values = make();
        auto owner = std::make_shared<Values>(values);
        ws.emplace_back(*session_->put(functions[pick(functions.size())], 1, owner->data(), pick(2) ? owner : nullptr),
                        values);
        break;
      }
      case 2: {
        Values values = make();
        ASSERT_TRUE(writeSafetensors(dir_ / "w.safetensors", {{"w", DType::F32, {16, 8}, values.data()}}).ok());
        ASSERT_TRUE(session_->load(dir_ / "w.safetensors").ok());
        bound = values;
        break;
      }
      case 3:
        if (!ws.empty()) {
          auto &[w, values] = ws[pick(ws.size())];
          if (session_->bind("w", w).ok())
            bound = values;
        }
        break;
      case 4: // A shard that stays as it is.
        if (!ws.empty()) {
          auto view = session_->shard(ws[pick(ws.size())].first, int64_t(pick(4)));
          if (view.ok())
            views.emplace_back(*view, elementsOf(*view));
        }
        break;
      case 5: // Wrong calls.
        EXPECT_FALSE(session_->call(main_, {{}}).ok());
        if (!xs.empty() && !ws.empty())
          EXPECT_FALSE(session_->call(main_, {ws[pick(ws.size())].first, xs[pick(xs.size())].first}).ok());
        break;
      default: {
        if (xs.empty())
          break;
        const int function = functions[pick(functions.size())];
        auto &[x, input] = xs[pick(xs.size())];
        Array w;
        Values weights;
        if (!ws.empty() && pick(2))
          std::tie(w, weights) = ws[pick(ws.size())];
        if (!w || !(w.layout() == session_->argument(function, 1))) {
          w = {};
          weights = bound ? *bound : Values();
        }
        CallOptions options;
        options.donate = function != main_ && pick(2);
        options.isAsync = pick(2);
        const bool expected = w ? !isDead(w) : bound && !isDead(*session_->bound("w"));
        auto y = session_->call(function, {x, w}, options);
        ASSERT_EQ(y.ok(), expected) << y.status().message();
        if (!y.ok())
          break;
        ys.emplace_back((*y)[0], product(input, weights));
        if (function != main_) {
          for (float &value : weights)
            value += 1;
          ws.emplace_back((*y)[1], weights);
          // What is bound and donated goes on as the result.
          if (options.donate && bound && (!w || *session_->bound("w") == (*y)[1]))
            bound = weights;
        }
        break;
      }
      }
      for (auto *arrays : {&ys, &ws})
        if (!arrays->empty() && pick(3) == 0) {
          const size_t k = pick(arrays->size());
          auto &[array, values] = (*arrays)[k];
          if (!isDead(array))
            EXPECT_EQ(read(array), values);
          arrays->erase(arrays->begin() + long(k));
        }
    }
    for (auto &[y, values] : ys)
      EXPECT_EQ(read(y), values);
    session_.reset();
    for (auto &[view, values] : views)
      EXPECT_EQ(elementsOf(view), values);
  }
}

TEST_F(SessionTest, savesAndLoadsInOtherLayouts) {
  ASSERT_TRUE(session_->assign("w", w_.data(), 512).ok());
  EXPECT_TRUE(contains(session_->save(dir_ / "set", {"x"}), "argument 'x' is not bound"));
  EXPECT_TRUE(contains(session_->save(dir_ / "set", {"v"}), "no argument is called 'v'"));
  ASSERT_TRUE(session_->bind("x", put(main_, 0, x_)).ok());
  Status saved = session_->save(dir_ / "set");
  ASSERT_TRUE(saved.ok()) << saved.message();
  // Another mesh of one device, and the same.
  auto one = open();
  ASSERT_TRUE(one->addBundle(makeBundle({"main"},
                                        [](Json &function) {
                                          for (Json *value : {&function["arguments"][0], &function["arguments"][1]}) {
                                            (*value)["local_shape"] = (*value)["global_shape"];
                                            (*value)["extents"] = {{"offset", Json::array()}, {"loops", {{128, 1, 1}}}};
                                          }
                                          function.erase("reference");
                                        }))
                  .ok());
  auto same = open();
  ASSERT_TRUE(same->addBundle(makeBundle({"main", "step"})).ok());
  for (Session *session : {one.get(), same.get()}) {
    Status loaded = session->load(dir_ / "set");
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    std::vector<float> got(128);
    ASSERT_TRUE(session->read(*session->bound("w"), got.data()).ok());
    EXPECT_EQ(got, w_);
    ASSERT_TRUE(session->read(*session->bound("x"), got.data()).ok());
    EXPECT_EQ(got, x_);
  }
  ASSERT_TRUE(session_->save(dir_ / "set", {"w"}).ok()); // Over the other one.
  auto other = open();
  ASSERT_TRUE(other->addBundle(makeBundle({"main"})).ok());
  ASSERT_TRUE(other->load(dir_ / "set").ok());
  EXPECT_TRUE(contains(other->bound("x").status(), "argument 'x' is not bound"));
  EXPECT_TRUE(contains(other->load(dir_ / "set", {"x"}), "missing")) << other->load(dir_ / "set", {"x"}).message();
  EXPECT_TRUE(contains(other->load(dir_ / "set", {"v"}), "no argument is called 'v'"));
}

/// A function of the user that fails, by an exception or a status, ends the load; what was bound stays.
TEST_F(SessionTest, aCallbackThatFailsIsOneError) {
  auto session = open();
  int mode = 0;
  auto transpose = [](const sk_tensor *in, int, sk_tensor *out, void *user) {
    const int mode = *static_cast<int *>(user);
    if (mode == 1)
      throw std::runtime_error("no");
    for (int i = 0; i < 128 && mode == 0; ++i)
      static_cast<float *>(out->data)[i] = static_cast<const float *>(in[0].data)[i % 8 * 16 + i / 8];
    return mode;
  };
  ASSERT_TRUE(session->hostFunctions().add("tests.transpose", transpose, &mode).ok());
  ASSERT_TRUE(session
                  ->addBundle(makeBundle({"main"},
                                         [](Json &function) {
                                           function["arguments"][1]["load"] = Json::parse(
                                               R"({"sources": [{"name": "wt", "dtype": "f32", "shape": [8, 16]}],
                                                   "chain": [["tests.transpose", [[2, 8, 8], "f32"]]]})");
                                           function.erase("reference");
                                         }))
                  .ok());
  std::vector<float> wt(128);
  for (size_t i = 0; i < 128; ++i)
    wt[i % 8 * 16 + i / 8] = w_[i];
  ASSERT_TRUE(writeSafetensors(dir_ / "wt.safetensors", {{"wt", DType::F32, {8, 16}, wt.data()}}).ok());
  ASSERT_TRUE(session->load(dir_ / "wt.safetensors").ok());
  for (const auto &[failure, text] : {std::pair(1, "shard function 'tests.transpose' threw an exception"),
                                      {2, "shard function 'tests.transpose' returned 2"}}) {
    mode = failure;
    Status status = session->load(dir_ / "wt.safetensors");
    EXPECT_TRUE(contains(status, text)) << status.message();
    std::vector<float> y(64);
    auto result = session->call(0, {*session->put(0, 0, x_.data()), {}});
    ASSERT_TRUE(result.ok()) << result.status().message();
    ASSERT_TRUE(session->read((*result)[0], y.data()).ok());
    EXPECT_EQ(y, product(x_, w_));
  }
}

/// Calls that are queued after one that fails, and depend on it or not.
TEST_F(SessionTest, callsAfterAFailedStep) {
  std::vector<float> bad = w_;
  bad[0] = -1;
  Array x = put(step_, 0, x_), wrong = put(step_, 1, bad), right = put(step_, 1, w_);
  CallOptions options;
  options.isAsync = true;
  auto failed = session_->call(step_, {x, wrong}, options);
  auto dependent = failed.ok() ? session_->call(step_, {x, (*failed)[1]}, options) : failed;
  auto independent = session_->call(step_, {x, right}, options);
  ASSERT_TRUE(failed.ok() && dependent.ok() && independent.ok());
  std::vector<float> y(64);
  Status status = session_->read((*dependent)[0], y.data());
  EXPECT_TRUE(contains(status, "the program returned status 77")) << status.message();
  EXPECT_TRUE(contains(status, "array 'w_next' is the result of a call that failed")) << status.message();
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
  EXPECT_TRUE(contains(session_->wait((*failed)[1]), "the program returned status 77"));
  EXPECT_EQ(read((*independent)[0]), product(x_, w_));
  EXPECT_EQ(read(wrong), bad); // Not donated: it stays.
}

TEST_F(SessionTest, closesAfterQueuedCalls) {
  auto owner = std::make_shared<std::vector<float>>(w_);
  Array x = put(main_, 0, x_), w = *session_->put(main_, 1, owner->data(), owner);
  CallOptions options;
  options.isAsync = true;
  std::vector<Array> results;
  for (int i = 0; i < 10; ++i) {
    auto y = session_->call(main_, {x, w}, options);
    ASSERT_TRUE(y.ok());
    results.push_back((*y)[0]);
  }
  session_.reset();
  EXPECT_EQ(owner.use_count(), 1); // Also where handles are left.
  EXPECT_EQ(results[9].name(), "y");
}

/// Other users of CUDA in the process find the context of their thread as it was.
TEST_F(SessionTest, leavesTheContextOfTheThreadAlone) {
  if (!onDevices())
    GTEST_SKIP() << "needs SK_TEST_ON_DEVICES=1 and devices";
  const char *folder = std::getenv("SK_CUDA_LIBRARY_PATH");
  void *driver = ::dlopen((folder ? std::string(folder) + "/libcuda.so.1" : "libcuda.so.1").c_str(), RTLD_NOW);
  ASSERT_NE(driver, nullptr);
  auto getCurrent = reinterpret_cast<int (*)(void **)>(::dlsym(driver, "cuCtxGetCurrent"));
  auto setCurrent = reinterpret_cast<int (*)(void *)>(::dlsym(driver, "cuCtxSetCurrent"));
  ASSERT_EQ(setCurrent(nullptr), 0);
  auto isAlone = [&] {
    void *current = &current;
    return getCurrent(&current) == 0 && !current;
  };
  auto session = open();
  ASSERT_TRUE(session->addBundle(makeBundle({"main"})).ok());
  EXPECT_TRUE(isAlone());
  ASSERT_TRUE(session->fillRandom(1).ok());
  EXPECT_TRUE(isAlone());
  auto y = session->call(0, {*session->put(0, 0, x_.data()), {}});
  ASSERT_TRUE(y.ok());
  EXPECT_TRUE(isAlone());
  std::optional<ShardView> view = *session->shard((*y)[0], 3);
  std::vector<float> got(64);
  ASSERT_TRUE(session->read((*y)[0], got.data()).ok());
  EXPECT_TRUE(isAlone());
  session.reset();
  EXPECT_TRUE(isAlone());
  view.reset(); // Frees all memory of devices.
  EXPECT_TRUE(isAlone());
}

TEST_F(SessionTest, bundlesOfASessionAreForOneTarget) {
  auto add = [&](Session &session, bool isCuda) {
    return session.addBundle(writeTestBundle(dir_ / ("target" + std::to_string(count_++)), {"main"}, {}, isCuda),
                             "other");
  };
  Status status = add(*session_, !onDevices());
  EXPECT_TRUE(contains(status, onDevices() ? "is for cpu, expected a bundle for cuda, as those that the session has"
                                           : "is for cuda sm_80, expected a bundle for cpu, as those that the session "
                                             "has"))
      << status.message();
  EXPECT_TRUE(add(*session_, onDevices()).ok());
  SessionOptions options;
  options.isNccl = true;
  auto nccl = Session::open(options, makeLocalBackend());
  EXPECT_TRUE(contains(add(**nccl, false), "is for cpu, expected a bundle for cuda with the backend nccl"));
}

TEST_F(SessionTest, closesArraysOfItsOwn) {
  Array x = put(main_, 0, x_);
  ShardView view = *session_->shard(x, 1);
  session_.reset();
  EXPECT_EQ(elementsOf(view)[0], x_[8]); // A view keeps its memory.
  EXPECT_EQ(x.name(), "x");
}

} // namespace
