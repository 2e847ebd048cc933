//===- Library.h - A library of NVIDIA's, opened at run time ---*- C++ -*--===//

#ifndef SHARDKIT_RT_CUDA_LIBRARY_H
#define SHARDKIT_RT_CUDA_LIBRARY_H

#include "shardkit/rt/Support/Status.h"

#include <vector>

namespace shardkit::rt::cuda {

/// An entry of a table of functions.
struct LibraryFunction {
  const char *name; ///< As exported; headers rename many.
  void **address;
};

/// Opens the first of `names` that is there, in the folders of SK_CUDA_LIBRARY_PATH (a list
/// separated by ':') one after the other, then where the system looks, and looks all
/// functions up. The library stays open. `what` is for messages: "the CUDA driver".
Status openLibrary(const std::string &what, const std::vector<std::string> &names,
                   const std::vector<LibraryFunction> &functions);

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_LIBRARY_H
