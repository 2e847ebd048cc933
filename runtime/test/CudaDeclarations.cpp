//===- CudaDeclarations.cpp - What the headers of a toolkit say -----------===//

#include "CudaDeclarations.h"

#include <cublasLt.h>
#include <cuda.h>
#include <nccl.h>

std::map<std::string, int64_t> declarationsOfHeaders() {
  std::map<std::string, int64_t> theirs;
#define SK_CONSTANT(name) theirs[#name] = int64_t(name);
#define SK_SIZE(name) theirs["sizeof " #name] = int64_t(sizeof(name));
#define SK_OFFSET(type, member) theirs[#type "." #member] = int64_t(offsetof(type, member));
#include "CudaDeclarations.def"
  return theirs;
}
