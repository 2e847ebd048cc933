//===- Clique.h - Ranks that meet in a folder of shared memory -*- C++ -*--===//
//
// Each rank leaves what it has for the others in files of a folder under /dev/shm, named
// by the token in the unique id: between threads and between processes alike.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_TEST_CUDA_LIBRARIES_CLIQUE_H
#define SHARDKIT_TEST_CUDA_LIBRARIES_CLIQUE_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shardkit::emu {

class Clique {
public:
  /// A token that no other has; removes what processes that are gone have left.
  static std::string newToken();
  Clique(std::string token, int ranks, int rank);

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }
  const std::string &token() const { return token_; }

  /// Puts a file there at once, for those who look for it. False: it was there already.
  bool post(const std::string &name, const std::vector<char> &bytes);
  bool exists(const std::string &name) const;
  std::optional<std::vector<char>> read(const std::string &name) const;
  void remove(const std::string &name);
  /// The last rank that leaves removes the folder.
  void leave();

private:
  std::string token_, folder_;
  int ranks_, rank_;
  std::string path(const std::string &name) const { return folder_ + "/" + name; }
};

} // namespace shardkit::emu

#endif // SHARDKIT_TEST_CUDA_LIBRARIES_CLIQUE_H
