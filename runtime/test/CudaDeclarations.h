//===- CudaDeclarations.h - What the headers of a toolkit say --*- C++ -*--===//

#ifndef SHARDKIT_RUNTIME_TEST_CUDADECLARATIONS_H
#define SHARDKIT_RUNTIME_TEST_CUDADECLARATIONS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

std::map<std::string, int64_t> declarationsOfHeaders();

#endif // SHARDKIT_RUNTIME_TEST_CUDADECLARATIONS_H
