//===- StageFragment.h - The fragments of a stage ---------------*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_STAGEFRAGMENT_H
#define SHARDKIT_DIALECT_SPMD_IR_STAGEFRAGMENT_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mlir::spmd {

/// The fragments that a stage consists of. Forward and Backward run once per microbatch,
/// Apply runs once per step, after all microbatches.
enum class StageFragment : uint8_t { Forward, Backward, Apply };

/// "forward", "backward" or "apply", as in IR.
inline llvm::StringRef toString(StageFragment fragment) {
  return fragment == StageFragment::Forward ? "forward" : fragment == StageFragment::Backward ? "backward" : "apply";
}

inline std::optional<StageFragment> parseStageFragment(llvm::StringRef text) {
  for (StageFragment fragment : {StageFragment::Forward, StageFragment::Backward, StageFragment::Apply})
    if (toString(fragment) == text)
      return fragment;
  return std::nullopt;
}

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_STAGEFRAGMENT_H
