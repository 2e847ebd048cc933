//===- Ast.h - PTX as it is written -----------------------------*- C++ -*-===//

#ifndef SHARDKIT_TEST_CUDA_PTX_AST_H
#define SHARDKIT_TEST_CUDA_PTX_AST_H

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace shardkit::emu {

/// What is wrong with PTX text: "line 7: ...".
struct PtxError : std::runtime_error {
  PtxError(int line, const std::string &what) : std::runtime_error("line " + std::to_string(line) + ": " + what) {}
};

enum class Type : uint8_t {
  None,
  Pred,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  B8,
  B16,
  B32,
  B64,
  B128,
  F16,
  F16x2,
  BF16,
  BF16x2,
  F32,
  F64,
  TF32,
  U16x2,
  S16x2,
  E4M3x2,
  E5M2x2,
};
/// None where the word is no type.
Type typeOf(std::string_view word);
int bytesOf(Type type);

enum class Space : uint8_t { Generic, Global, Shared, Local, Param, Const };

struct Operand {
  enum Kind { Register, Integer, Float32, Float64, Symbol, Address, Vector, Pair, List, Sink } kind;
  std::string name;           ///< Of a register or symbol.
  uint64_t value = 0;         ///< Of a number (bits); the offset of an address.
  bool negated = false;       ///< !%p
  std::vector<Operand> parts; ///< Of a vector, pair (d|p), list; the base of an address.
};

struct Statement {
  int line = 0;
  std::string op; ///< "mad"
  std::vector<std::string> modifiers;
  std::string guard; ///< Predicate register, or empty.
  bool guardNegated = false;
  std::vector<Operand> operands;
  std::vector<std::string> targets; ///< Of ".branchtargets" (op), which `op` names.

  bool has(std::string_view modifier) const {
    for (const std::string &m : modifiers)
      if (m == modifier)
        return true;
    return false;
  }
  std::string text() const;
};

struct Variable {
  std::string name;
  Space space = Space::Global;
  Type type = Type::B8;
  int64_t align = 1, bytes = 0;
  bool external = false; ///< `.extern`, or an array of no size: dynamic shared memory.
  std::vector<uint8_t> init;
  struct Reference {
    int64_t at;
    int size;
    std::string symbol;
    int64_t offset;
  };
  std::vector<Reference> references;
  int line = 0;
};

struct FunctionAst {
  std::string name;
  bool kernel = false, defined = false;
  std::vector<Variable> params, results;
  std::map<std::string, Type> registers;
  std::vector<Variable> variables; ///< Of the body: local, shared, param.
  std::vector<Statement> body;
  std::map<std::string, int> labels; ///< To the index of a statement.
  int maxThreads[3] = {0, 0, 0}, requiredThreads[3] = {0, 0, 0};
  int line = 0;
};

struct ModuleAst {
  int version = 0;    ///< 10 * major + minor
  std::string target; ///< "sm_80"
  std::vector<Variable> variables;
  std::vector<FunctionAst> functions;
  std::vector<std::string> source; ///< Its lines.
  const FunctionAst *function(std::string_view name) const;
};

ModuleAst parsePtx(std::string_view text);

} // namespace shardkit::emu

#endif // SHARDKIT_TEST_CUDA_PTX_AST_H
