//===- CudaEndToEndTest.cpp - shard-run on bundles for cuda ---------------===//
//
// Programs by hand, on the emulated devices of test/cuda.
//
//===----------------------------------------------------------------------===//

#include "OnDevices.h"
#include "ShardRunTest.h"

#include <nlohmann/json.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace shardkit::rt;
using namespace shardkit::rt::test;
using Json = nlohmann::json;

namespace {

/// A TCP port that nothing uses now.
int freePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto *generic = reinterpret_cast<sockaddr *>(&address);
  EXPECT_EQ(::bind(socket, generic, size), 0);
  EXPECT_EQ(::getsockname(socket, generic, &size), 0);
  ::close(socket);
  return ntohs(address.sin_port);
}

class CudaEndToEnd : public ShardRunTest {
protected:
  void SetUp() override {
    if (!onDevices())
      GTEST_SKIP() << "needs SK_TEST_ON_DEVICES=1 and devices";
    bundle_ = makeBundle("sm_80");
  }

  /// Two functions, `main` and `reading`, of cuda.c.
  std::string makeBundle(const std::string &chip) {
    std::string path = dir_ / ("bundle" + std::to_string(count_++));
    std::filesystem::create_directories(path + "/programs");
    std::filesystem::copy(TEST_CUDA_PROGRAM, path + "/programs/program.so");
    Json manifest;
    for (const char *function : {"main", "reading"}) {
      std::string text = readText(std::string(TEST_BUNDLE) + "/manifest.json.in");
      for (size_t at; (at = text.find("@NAME@")) != std::string::npos;)
        text.replace(at, 6, function);
      Json one = Json::parse(text);
      one["functions"][0]["reference"]["symbol"] = std::string("sk_ref_") + function;
      if (manifest.is_null())
        manifest = one;
      else
        manifest["functions"].push_back(one["functions"][0]);
    }
    manifest["target"] = "cuda";
    manifest["chip"] = chip;
    writeText(path + "/manifest.json", manifest.dump());
    return path;
  }

  /// One process for each rank, by TCP.
  std::vector<Result> runAll(int processes, const std::string &arguments, const std::string &fault, int gpus = 4) {
    const std::string port = std::to_string(freePort());
    std::string command = "export SK_WORLD_SIZE=" + std::to_string(processes) + " SK_ADDRESS=localhost:" + port +
                          " SK_EMU_DEVICES=" + std::to_string(gpus) + " SK_FAULT=" + fault + "\n";
    for (int p = 0; p < processes; ++p)
      command += "(SK_RANK=" + std::to_string(p) + " " + SHARD_RUN + " " + arguments + " >" +
                 (dir_ / ("out" + std::to_string(p))) + " 2>" + (dir_ / ("err" + std::to_string(p))) + "; echo $? >" +
                 (dir_ / ("status" + std::to_string(p))) + ") &\n";
    writeText(dir_ / "script", command + "wait\n");
    EXPECT_EQ(std::system(("sh " + (dir_ / "script")).c_str()), 0);
    std::vector<Result> results;
    for (int p = 0; p < processes; ++p) {
      const std::string number = std::to_string(p);
      results.push_back({std::atoi(readText(dir_ / ("status" + number)).c_str()), readText(dir_ / ("out" + number)),
                         readText(dir_ / ("err" + number))});
    }
    return results;
  }

  std::string bundle_;
  int count_ = 0;
};

TEST_F(CudaEndToEnd, kernelsContractionsAndCollectives) {
  Result result = run(bundle_ + " --random-inputs=1 --verify --repeat=3");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "verify: 2 functions, 2 results, all equal")) << result.out;
  for (const char *options : {" --no-graphs", " --device-map=0,0,0,0", " --matmul-precision=tf32 --rtol=1e-2"})
    EXPECT_EQ(run(bundle_ + " --random-inputs=1 --verify" + options).status, 0) << options;
}

TEST_F(CudaEndToEnd, outOfMemoryIsOneError) {
  expectError(makeBundle("sm_120") + " --function=main --random-inputs=1", "the bundle is compiled for chip sm_120");
  expectError(makeBundle("sm_80a") + " --function=main --random-inputs=1", "the bundle is compiled for chip sm_80a");
  expectError(makeBundle("gfx90a") + " --function=main --random-inputs=1", "expected one like sm_90");
  expectError(bundle_ + " --function=main --random-inputs=1 --target=cpu", "--target=cpu, but the bundle is for cuda");
  expectError(bundle_ + " --function=main --random-inputs=1 --target=cuda --chip=sm_90",
              "--chip=sm_90, but the bundle is for sm_80");
  expectError(bundle_ + " --function=main --random-inputs=1 --device-map=0,0,0,99", "rank 3 is put on GPU 99");
  ::setenv("SK_EMU_MEMORY", "1024", 1);
  expectError(bundle_ + " --function=main --random-inputs=1", "out of device memory: rank");
  ::unsetenv("SK_EMU_MEMORY");
  const std::string path = std::getenv("SK_CUDA_LIBRARY_PATH");
  ::setenv("SK_CUDA_LIBRARY_PATH", dir_.path().c_str(), 1);
  writeText(dir_ / "libcuda.so.1", "no library");
  expectError(bundle_ + " --function=main --random-inputs=1", "the CUDA driver cannot be loaded");
  ::setenv("SK_CUDA_LIBRARY_PATH", path.c_str(), 1);
  ::setenv("SK_EMU_DRIVER", "11080", 1);
  expectError(bundle_ + " --function=main --random-inputs=1",
              "the CUDA driver is of CUDA 11.8, expected 12.0 or later");
  ::unsetenv("SK_EMU_DRIVER");
}

TEST_F(CudaEndToEnd, anOldDriverGetsTheLibraryOfItsCuda) {
  const std::string path = std::getenv("SK_CUDA_LIBRARY_PATH");
  const std::string arguments = bundle_ + " --function=main --random-inputs=1 --verify";
  ::setenv("SK_EMU_DRIVER", "12040", 1);
  expectError(arguments, "this machine lacks cuBLASLt (libcublasLt.so.12)");
  std::filesystem::create_symlink(path + "/libcublasLt.so.13", dir_ / "libcublasLt.so.12");
  ::setenv("SK_CUDA_LIBRARY_PATH", (path + ":" + dir_.path()).c_str(), 1);
  EXPECT_EQ(run(arguments).status, 0);
  ::setenv("SK_CUDA_LIBRARY_PATH", path.c_str(), 1);
  ::unsetenv("SK_EMU_DRIVER");
}

TEST_F(CudaEndToEnd, librariesComeFromTheFirstFolderThatHasOne) {
  const std::string path = std::getenv("SK_CUDA_LIBRARY_PATH");
  const std::string without = dir_ / "without", with = dir_ / "with";
  std::filesystem::create_directory(without);
  std::filesystem::create_directory(with);
  writeText(with + "/libcublasLt.so.12", "no library");
  const std::string arguments = bundle_ + " --function=main --random-inputs=1 --verify";
  // Folders that lack it, or are not there, are passed over.
  for (const std::string &list :
       {without + ":" + path, dir_ / "nowhere" + ":" + path + ":" + with, ":" + without + "::" + path + "/:"}) {
    ::setenv("SK_CUDA_LIBRARY_PATH", list.c_str(), 1);
    EXPECT_EQ(run(arguments).status, 0) << list;
  }
  // The folder comes before the name, and what cannot be loaded is no reason to go on.
  ::setenv("SK_CUDA_LIBRARY_PATH", (without + ":" + with + ":" + path).c_str(), 1);
  expectError(arguments, "cuBLASLt cannot be loaded: " + with + "/libcublasLt.so.12");
  ::setenv("SK_CUDA_LIBRARY_PATH", path.c_str(), 1);
}

TEST_F(CudaEndToEnd, processesByNccl) {
  const std::string arguments = bundle_ + " --random-inputs=1 --verify --backend=nccl --timeout=20";
  for (const Result &result : runAll(4, arguments, ""))
    EXPECT_EQ(result.status, 0) << result.err;
  for (const Result &result : runAll(2, arguments + " --devices-per-process=2", ""))
    EXPECT_EQ(result.status, 0) << result.err;
}

TEST_F(CudaEndToEnd, faultsEndAllProcesses) {
  const std::string arguments = bundle_ + " --function=main --random-inputs=1 --backend=nccl --timeout=2";
  const std::pair<const char *, const char *> faults[] = {{"1:0:kill", "has ended without a word"},
                                                          {"1:0:error", "an injected fault"},
                                                          {"1:0:stall", "waited 2 s"},
                                                          {"1:0:disagree", "did not run the same collectives"}};
  for (auto [fault, message] : faults) {
    std::vector<Result> results = runAll(4, arguments, fault);
    for (size_t p = 0; p < results.size(); ++p) {
      EXPECT_NE(results[p].status, 0) << fault << " process " << p;
      const bool isGone = p == 1 && std::string(fault) == "1:0:kill";
      EXPECT_TRUE(isGone || contains(results[p].err, message)) << fault << " process " << p << ": " << results[p].err;
    }
  }
}

TEST_F(CudaEndToEnd, moreRanksThanGpusAreAnErrorForNccl) {
  ::setenv("SK_EMU_DEVICES", "2", 1);
  const std::string arguments = bundle_ + " --function=main --random-inputs=1 --backend=nccl";
  const std::string message = "this machine has 2 GPUs, expected one for each of its 4 ranks";
  expectError(arguments + " --devices-per-process=auto", message);
  for (const Result &result : runAll(4, arguments, "", /*gpus=*/2))
    EXPECT_TRUE(result.status != 0 && contains(result.err, message)) << result.err;
  ::unsetenv("SK_EMU_DEVICES");
}

} // namespace
