//===- Status.cpp - Text of messages --------------------------------------===//

#include "shardkit/rt/Support/Status.h"

namespace shardkit::rt {

static void addPlain(std::string &text, unsigned char c) {
  if (c >= 0x20 && c != 0x7f) {
    text += char(c);
    return;
  }
  static const char digits[] = "0123456789abcdef";
  text += "\\x";
  text += digits[c >> 4];
  text += digits[c & 15];
}

std::string oneLine(const std::string &text) {
  std::string line;
  for (unsigned char c : text)
    addPlain(line, c);
  return line;
}

std::string quoteName(const std::string &name) {
  std::string text = "'";
  for (unsigned char c : name) {
    if (text.size() > 200)
      return text + "...'";
    addPlain(text, c);
  }
  return text + "'";
}

} // namespace shardkit::rt
