//===- Page.cpp - What pages have in common -------------------------------===//

#include "shardkit/Support/Page.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using llvm::raw_ostream;

static constexpr llvm::StringLiteral kStyle = R"(
body { font: 14px sans-serif; margin: 24px; color: #222; }
h1 { font-size: 20px; } h2 { font-size: 17px; margin-top: 28px; } h3 { font-size: 15px; }
table { border-collapse: collapse; margin: 6px 0; }
th, td { border: 1px solid #ccc; padding: 2px 8px; text-align: left; font-size: 13px; vertical-align: top; }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code { font-size: 12px; }
.graph { overflow: auto; max-height: 85vh; border: 1px solid #ccc; }
svg text { font: 11px sans-serif; pointer-events: none; }
svg rect { fill: #eef2f7; stroke: #8a9bb0; }
svg path { fill: none; stroke: #7d8fa6; stroke-opacity: 0.55; }
)";

raw_ostream &mlir::spmd::operator<<(raw_ostream &os, Escaped escaped) {
  for (char c : escaped.text)
    switch (c) {
    case '&':
      os << "&amp;";
      break;
    case '<':
      os << "&lt;";
      break;
    case '>':
      os << "&gt;";
      break;
    case '"':
      os << "&quot;";
      break;
    default:
      // XML has no form for control characters.
      os << ((unsigned char)c < 0x20 && c != '\n' && c != '\t' ? '?' : c);
    }
  return os;
}

std::string mlir::spmd::groupDigits(int64_t number) {
  std::string digits = std::to_string(number), text;
  for (auto [i, c] : llvm::enumerate(digits)) {
    if (i > 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-')
      text += ',';
    text += c;
  }
  return text;
}

void mlir::spmd::beginPage(llvm::StringRef title, llvm::StringRef style, raw_ostream &os) {
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
     << "<title>" << Escaped{title} << "</title>\n<style>" << kStyle << style << "</style>\n</head>\n<body>\n"
     << "<h1>" << Escaped{title} << "</h1>\n";
}

void mlir::spmd::endPage(raw_ostream &os) { os << "</body>\n</html>\n"; }
