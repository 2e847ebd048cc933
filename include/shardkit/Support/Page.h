//===- Page.h - The frame of HTML pages -------------------------*- C++ -*-===//
//
// Pages are self-contained and also well-formed XML.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_SUPPORT_PAGE_H
#define SHARDKIT_SUPPORT_PAGE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <string>

namespace mlir::spmd {

/// Text between tags or in an attribute in double quotes.
struct Escaped {
  llvm::StringRef text;
};
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Escaped escaped);

/// `1,234,567`.
std::string groupDigits(int64_t number);

/// Writes the page up to its visible title; `style` is appended to the common style.
/// Drawings are in `<div class="graph"><svg>`, numbers in `<td class="n">`.
void beginPage(llvm::StringRef title, llvm::StringRef style, llvm::raw_ostream &os);
/// `script` runs when the page is loaded.
void endPage(llvm::raw_ostream &os, llvm::StringRef script = {});

} // namespace mlir::spmd

#endif // SHARDKIT_SUPPORT_PAGE_H
