//===- Clones.h - Functions compiled for several processors -----*- C++ -*-===//
//
// SK_CLONES before a function: it is compiled for each of these instruction sets, with the names that GCC and Clang
// both know, and the one for this processor is chosen when the library is loaded.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_CONTRACTION_CLONES_H
#define SHARDKIT_RT_CONTRACTION_CLONES_H

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define SK_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SK_CLONES
#endif

#endif // SHARDKIT_RT_CONTRACTION_CLONES_H
