//===- CommandLine.h - How the tools read their arguments -------*- C++ -*-===//

#ifndef SHARDKIT_RT_TOOLS_COMMANDLINE_H
#define SHARDKIT_RT_TOOLS_COMMANDLINE_H

#include <CLI/CLI.hpp>
#include <iterator>
#include <string>
#include <vector>

namespace shardkit::tools {

/// Throws what CLI11 throws.
inline void parse(CLI::App &app, int argc, char **argv) {
  // CLI11 wants them reversed.
  app.parse(std::vector<std::string>(std::reverse_iterator(argv + argc), std::reverse_iterator(argv + 1)));
}

/// One line of an error of CLI11.
inline std::string toLine(const CLI::ParseError &error) {
  std::string message = error.what();
  for (char &c : message)
    if (c == '\n')
      c = ' ';
  return message;
}

} // namespace shardkit::tools

#endif // SHARDKIT_RT_TOOLS_COMMANDLINE_H
