//===- Page.cpp - What pages have in common -------------------------------===//

#include "shardkit/Support/Page.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using llvm::raw_ostream;

static constexpr llvm::StringLiteral kStyle = R"(
:root { color-scheme: light dark; --text: #222; --back: #fff; --line: #ccc; --box: #eef2f7; --box-line: #8a9bb0; --edge: #7d8fa6;
  --argument: #f4f4ea; --argument-line: #b0ab80; --flow: #ece8f5; --flow-line: #8d7fb5; --collective: #fbd9c8; --collective-line: #c8501e; }
@media (prefers-color-scheme: dark) { :root { --text: #ddd; --back: #1b1d21; --line: #444; --box: #2b3440; --box-line: #7a8ba0; --edge: #8fa3bd;
  --argument: #37362a; --argument-line: #8f8a60; --flow: #383148; --flow-line: #9d8fc5; --collective: #552c1a; --collective-line: #e0703e; } }
body { font: 14px sans-serif; margin: 24px auto; max-width: 1352px; padding: 0 12px; color: var(--text); background: var(--back); }
h1 { font-size: 20px; } h2 { font-size: 17px; margin-top: 28px; } h3 { font-size: 15px; }
table { border-collapse: collapse; margin: 6px 0; max-width: 100%; }
th, td { border: 1px solid var(--line); padding: 2px 8px; text-align: left; font-size: 13px; vertical-align: top; overflow-wrap: anywhere; }
th { white-space: nowrap; }
td { min-width: 4em; }
td.n { min-width: 0; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code { font-size: 12px; }
.graph { overflow: auto; max-height: 85vh; border: 1px solid var(--line); }
svg text { font: 11px sans-serif; pointer-events: none; fill: var(--text); }
svg rect { fill: var(--box); stroke: var(--box-line); }
svg path { fill: none; stroke: var(--edge); stroke-opacity: 0.55; }
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

void mlir::spmd::endPage(raw_ostream &os, llvm::StringRef script) {
  if (!script.empty())
    os << "<script>//<![CDATA[\n" << script << "//]]></script>\n";
  os << "</body>\n</html>\n";
}
