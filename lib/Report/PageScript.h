//===- PageScript.h - The drawings of the page ------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_REPORT_PAGESCRIPT_H
#define SHARDKIT_LIB_REPORT_PAGESCRIPT_H

#include "llvm/ADT/StringRef.h"

namespace mlir::spmd {

/// JavaScript that draws each `<section class="function">` from the JSON in it.
llvm::StringRef getPageScript();
llvm::StringRef getPageStyle();

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_REPORT_PAGESCRIPT_H
