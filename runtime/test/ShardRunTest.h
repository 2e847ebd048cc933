//===- ShardRunTest.h - Tests that run shard-run ----------------*- C++ -*-===//

#ifndef SHARDKIT_RUNTIME_TEST_SHARDRUNTEST_H
#define SHARDKIT_RUNTIME_TEST_SHARDRUNTEST_H

#include "Support.h"

#include <sys/wait.h>

namespace shardkit::rt::test {

inline bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

class ShardRunTest : public testing::Test {
public:
  struct Result {
    int status;
    std::string out, err;
  };

protected:
  Result run(const std::string &arguments) {
    std::string command = std::string(SHARD_RUN) + " " + arguments + " >" + (dir_ / "out") + " 2>" + (dir_ / "err");
    int status = std::system(command.c_str());
    Result result{WIFEXITED(status) ? WEXITSTATUS(status) : -1, readText(dir_ / "out"), readText(dir_ / "err")};
    if (result.status == 1) { // One error, and only one.
      size_t first = result.err.find("error: ");
      EXPECT_NE(first, std::string::npos) << result.err;
      EXPECT_EQ(first, result.err.rfind("error: ")) << result.err;
    }
    if (result.status == 0)
      EXPECT_EQ(result.err, "");
    return result;
  }

  void expectError(const std::string &arguments, const std::string &message) {
    Result result = run(arguments);
    EXPECT_EQ(result.status, 1) << result.out;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
  }

  TempDir dir_;
};

} // namespace shardkit::rt::test

#endif // SHARDKIT_RUNTIME_TEST_SHARDRUNTEST_H
