//===- Special.h - Special registers ---------------------------*- C++ -*--===//

#ifndef SHARDKIT_TEST_CUDA_PTX_SPECIAL_H
#define SHARDKIT_TEST_CUDA_PTX_SPECIAL_H

#include "Exec.h"

namespace shardkit::emu {

/// Those whose value stays the same while a block runs, by name; a row of 32 values of
/// 4 bytes each in every frame that reads them.
int specialIndex(std::string_view name); ///< -1: unknown.
void fillSpecial(Exec &exec, Frame &frame);

} // namespace shardkit::emu

#endif // SHARDKIT_TEST_CUDA_PTX_SPECIAL_H
