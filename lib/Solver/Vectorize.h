//===- Vectorize.h - Loops for the machine at hand --------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_VECTORIZE_H
#define SHARDKIT_LIB_SOLVER_VECTORIZE_H

// A minimum of 64-bit integers is not in the baseline of x86-64: the function is
// compiled for what has it as well, and chosen when the program starts. Results do not depend on
// it.
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHARDKIT_CLONES
#endif
#endif
#ifndef SHARDKIT_CLONES
#define SHARDKIT_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#else
#define SHARDKIT_CLONES
#endif

#endif // SHARDKIT_LIB_SOLVER_VECTORIZE_H
