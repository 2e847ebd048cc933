//===- Machine.h - Runs kernels --------------------------------*- C++ -*--===//
//
// A block of threads runs warp by warp. The lanes of a warp that stand at the same
// instruction run it together, the lowest instruction of the deepest call first, so
// that they meet again after a branch. Registers are rows of 32 values.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_TEST_CUDA_PTX_MACHINE_H
#define SHARDKIT_TEST_CUDA_PTX_MACHINE_H

#include "Ast.h"

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

namespace shardkit::emu {

struct Exec;
struct Inst;
struct Function;
using Handler = void (*)(Exec &, const Inst &);

/// An offset into the registers of a frame, or ~offset into the constants.
using Row = int32_t;
inline constexpr Row kNoRow = INT32_MIN;

struct Copy {
  uint32_t from, to, bytes;
};

struct Inst {
  Handler run = nullptr;
  Row guard = kNoRow;
  bool guardNegated = false;
  bool constant = false; ///< ld.global.nc
  bool strong = false;   ///< st.volatile, st.relaxed, st.release
  Space space = Space::Generic;
  uint8_t bytes = 0;           ///< Of an element in memory.
  uint8_t count = 1;           ///< Of elements.
  uint8_t wide[3] = {4, 4, 4}; ///< Bytes of the registers, where they may differ from the type.
  uint8_t mode = 0, flags = 0;
  int line = 0;
  int target = -1;    ///< Of a branch; the instruction after a call.
  int64_t offset = 0; ///< Of an address.
  std::array<Row, 16> op{};
  int ops = 0;
  std::vector<int> targets;
  const Function *callee = nullptr;
  std::vector<Copy> arguments, results;
  std::string_view text;
};

struct Function {
  std::string name;
  std::vector<Inst> code;
  uint32_t registerBytes = 0, paramBytes = 0, localBytes = 0;
  std::array<Row, 40> special{}; ///< Rows of the special registers it reads, or kNoRow.
  /// Rows of addresses of its local variables, and the variable's offset.
  std::vector<std::pair<Row, uint64_t>> locals;
};

/// A kernel as it stands on one device: it and what it calls, with addresses.
struct Kernel {
  std::string name;
  const ModuleAst *ast = nullptr;
  std::vector<std::pair<uint32_t, uint32_t>> params; ///< Offset and bytes of each.
  std::vector<uint32_t> paramAligns;
  uint32_t paramBytes = 0;
  uint32_t sharedBytes = 0; ///< Static.
  int maxThreads[3] = {0, 0, 0}, requiredThreads[3] = {0, 0, 0};
  std::deque<Function> functions; ///< The first is the kernel.
  std::vector<char> constants;    ///< Rows of immediate operands.
};

/// `addressOf` gives the device address of a variable of the module.
std::unique_ptr<Kernel> decode(const ModuleAst &module, const FunctionAst &kernel,
                               const std::function<uint64_t(const std::string &)> &addressOf);

/// Device memory as a kernel sees it.
struct Region {
  uint64_t begin = 1, end = 0;
  char *host = nullptr;
  uint8_t *written = nullptr; ///< One byte per byte, or null.
  bool readOnly = false;
};
class DeviceMemory {
public:
  virtual ~DeviceMemory() = default;
  /// Changes when a region ends.
  virtual uint64_t generation() const = 0;
  virtual bool find(uint64_t address, Region &region) const = 0;
  /// What lies about an address, for messages.
  virtual std::string describe(uint64_t address) const = 0;
};

enum class FaultKind { Address, Misaligned, Instruction, Launch, Assert };
struct DeviceFault : std::runtime_error {
  FaultKind kind;
  DeviceFault(FaultKind kind, const std::string &what) : std::runtime_error(what), kind(kind) {}
};

struct Options {
  bool races = false; ///< Two threads at one byte, one writing, with nothing that orders them.
  bool uninitialised = false;
  bool reversed = false; ///< The last block and warp first.
};

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// Runs every block. Throws DeviceFault.
void launch(const Kernel &kernel, Dim3 grid, Dim3 block, uint32_t dynamicShared, const std::vector<char> &params,
            const DeviceMemory &memory, const Options &options);

} // namespace shardkit::emu

#endif // SHARDKIT_TEST_CUDA_PTX_MACHINE_H
