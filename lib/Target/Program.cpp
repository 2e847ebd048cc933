//===- Program.cpp - From functions to a shared object --------------------===//

#include "shardkit/Target/Program.h"
#include "mlir/IR/Threading.h"
#include "shardkit/Target/CPU/Passes.h"
#include "shardkit/Target/Cuda/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::target;

/// Operations per chunk: chunks are compiled in parallel, each in one go.
static constexpr int64_t kChunkOps = 4000;

/// The text of a function without its name and locations: equal texts are
/// equal programs.
static std::string canonicalText(func::FuncOp func) {
  std::string text;
  llvm::raw_string_ostream os(text);
  StringAttr name = func.getSymNameAttr();
  func.setSymName("f");
  func->print(os, OpPrintingFlags().printGenericOpForm().useLocalScope().elideLargeElementsAttrs(1 << 30));
  func.setSymNameAttr(name);
  return text;
}

/// Nothing but what code generation reads stays on the signature.
static void stripSignature(func::FuncOp func) {
  auto keep = [&](DictionaryAttr attrs) {
    NamedAttrList kept;
    if (attrs)
      if (Attribute tied = attrs.get("spmd.tied"))
        kept.set("spmd.tied", tied);
    return kept.getDictionary(func.getContext());
  };
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    func.setArgAttrs(i, DictionaryAttr::get(func.getContext()));
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    func.setResultAttrs(i, keep(func.getResultAttrDict(i)));
  for (NamedAttribute attr : llvm::to_vector(func->getDiscardableAttrs()))
    func->removeDiscardableAttr(attr.getName());
}

namespace {
struct Unique {
  func::FuncOp func;
  SmallVector<std::string> names;
  int64_t ops = 0;
};
} // namespace

LogicalResult spmd::target::compileProgram(ModuleOp module, const CodegenOptions &options,
                                        StringRef path, llvm::raw_ostream &os,
                                        llvm::StringMap<CompiledFunction> &functions) {
  MLIRContext *context = module.getContext();
  // Equal functions once.
  std::vector<Unique> unique;
  std::map<std::string, size_t> byText;
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    std::string name = func.getSymName().str();
    stripSignature(func);
    auto [it, isNew] = byText.try_emplace(canonicalText(func), unique.size());
    if (isNew) {
      unique.push_back({func, {}, 0});
      func.walk([&](Operation *) { ++unique.back().ops; });
    } else {
      func.erase();
    }
    unique[it->second].names.push_back(name);
  }

  // Chunks.
  Builder builder(context);
  OwningOpRef<ModuleOp> top = ModuleOp::create(module.getLoc());
  std::vector<ModuleOp> chunks;
  int64_t ops = kChunkOps;
  for (auto [i, entry] : llvm::enumerate(unique)) {
    if (ops >= kChunkOps) {
      chunks.push_back(ModuleOp::create(module.getLoc()));
      top->push_back(chunks.back());
      ops = 0;
    }
    ops += entry.ops;
    func::FuncOp func = entry.func;
    func->remove();
    chunks.back().push_back(func);
    SmallVector<Attribute> symbols;
    for (const std::string &name : entry.names)
      symbols.push_back(builder.getStringAttr(options.prefix + name));
    func->setAttr(kSymbolsAttr, builder.getArrayAttr(symbols));
    func.setPublic();
    func.setSymName("program_" + std::to_string(i));
  }

  PassManager pm(context);
  pm.enableVerifier(false);
  if (failed(applyPassManagerCLOptions(pm)))
    return failure();
  auto &nested = pm.nest<ModuleOp>();
  auto print = [&] {
    for (ModuleOp chunk : chunks) {
      chunk.print(os);
      os << "\n";
    }
    return success();
  };
  if (prepareTosa(*top, /*expandsScatters=*/!options.reference))
    buildLowerTosa(nested);
  if (options.reference) {
    cpu::buildReference(nested);
  } else if (!options.chip.empty()) {
    if (options.emit == "tensor") {
      cuda::buildToTensor(nested);
    } else {
      cuda::buildToKernels(nested);
      if (options.emit != "memref")
        cuda::buildToLLVM(nested, options.chip);
    }
  } else if (options.emit == "tensor") {
    cpu::buildToTensor(nested);
  } else {
    cpu::buildToMemRef(nested);
    if (options.emit != "memref")
      cpu::buildToLLVM(nested, options.parallelWork);
  }
  if (failed(pm.run(*top)))
    return failure();
  if (options.emit == "tensor" || options.emit == "memref" || options.emit == "llvm")
    return print();

  for (ModuleOp chunk : chunks)
    for (auto func : chunk.getOps<LLVM::LLVMFuncOp>()) {
      StringRef name = func.getSymName();
      if (!name.consume_front("program_"))
        continue;
      size_t i;
      if (name.getAsInteger(10, i) || i >= unique.size())
        continue;
      int64_t bytes = 0;
      if (auto attr = func->getAttrOfType<IntegerAttr>(kArenaBytesAttr))
        bytes = attr.getInt();
      for (const std::string &entry : unique[i].names)
        functions[entry] = {options.prefix + entry, bytes};
    }

  std::vector<SmallVector<char, 0>> objects(chunks.size());
  if (failed(failableParallelForEachN(context, 0, chunks.size(), [&](size_t i) {
        return emitObject(chunks[i], options, objects[i]);
      })))
    return failure();
  if (!options.emit.empty()) {
    for (auto &object : objects)
      os << StringRef(object.data(), object.size());
    return success();
  }

  Location loc = UnknownLoc::get(context);
  std::vector<std::string> files;
  LogicalResult result = success();
  for (auto [i, object] : llvm::enumerate(objects)) {
    files.push_back((path + "." + Twine(i) + ".o").str());
    std::error_code ec;
    llvm::raw_fd_ostream file(files.back(), ec);
    if (!ec)
      file << StringRef(object.data(), object.size());
    file.close();
    if (ec || file.has_error()) {
      file.clear_error();
      result = emitError(loc) << "cannot write " << files.back() << ": "
                              << (ec ? ec : file.error()).message();
      break;
    }
  }
  if (succeeded(result))
    result = linkShared(loc, files, path);
  for (const std::string &file : files)
    llvm::sys::fs::remove(file);
  return result;
}
