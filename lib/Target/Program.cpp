//===- Program.cpp - From functions to a shared object --------------------===//

#include "shardkit/Target/Program.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Target/CPU/Passes.h"
#include "shardkit/Target/Cuda/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Threading.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::target;

/// Operations per chunk: chunks are compiled in parallel, each in one go.
static constexpr int64_t kChunkOps = 4000;

/// The text of a function without its name and locations: functions with equal texts are
/// equal.
static std::string canonicalText(func::FuncOp func) {
  std::string text;
  llvm::raw_string_ostream os(text);
  StringAttr name = func.getSymNameAttr();
  func.setSymName("f");
  func->print(os, OpPrintingFlags().printGenericOpForm().useLocalScope().elideLargeElementsAttrs(1 << 30));
  func.setSymNameAttr(name);
  return text;
}

/// Applies the options that a tool has registered for the pass managers of its process.
static LogicalResult applyCommandLine(PassManager &pm) {
  applyDefaultTimingPassManagerCLOptions(pm);
  return success(!llvm::cl::getRegisteredOptions().count("mlir-pass-pipeline-crash-reproducer") ||
                 succeeded(applyPassManagerCLOptions(pm)));
}

/// Drops the attributes of the signature that code generation does not use, and what ops say of groups: it finds them
/// itself.
static void stripAttributes(func::FuncOp func) {
  auto keep = [&](DictionaryAttr attrs) {
    NamedAttrList kept;
    for (StringRef name : {kTiedAttr, kSizeAttr, kBoundAttr, kHintAttr, kGlobalSizesAttr, kLocalSizesAttr})
      if (Attribute attr = attrs ? attrs.get(name) : Attribute())
        kept.set(name, attr);
    return kept.getDictionary(func.getContext());
  };
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    func.setArgAttrs(i, keep(func.getArgAttrDict(i)));
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    func.setResultAttrs(i, keep(func.getResultAttrDict(i)));
  for (NamedAttribute attr : llvm::to_vector(func->getDiscardableAttrs()))
    func->removeDiscardableAttr(attr.getName());
  func.getBody().walk([](Operation *op) { op->removeDiscardableAttr(kGroupsAttr); });
}

namespace {
/// Compiles the functions of a module.
class ProgramCompiler {
public:
  ProgramCompiler(ModuleOp module, const CodegenOptions &options)
      : module(module), options(options), top(ModuleOp::create(module.getLoc())) {}

  LogicalResult run(StringRef path, llvm::raw_ostream &os, llvm::StringMap<CompiledFunction> &functions) {
    findUnique();
    splitIntoChunks();
    if (failed(runPasses()))
      return failure();
    if (options.emit == "tensor" || options.emit == "memref" || options.emit == "llvm") {
      for (ModuleOp chunk : chunks) {
        chunk.print(os);
        os << "\n";
      }
      return success();
    }
    readFunctions(functions);
    splitLayers();
    std::vector<Object> objects(chunks.size());
    if (failed(failableParallelForEachN(module.getContext(), 0, chunks.size(),
                                        [&](size_t i) { return emitObject(chunks[i], options, objects[i]); })))
      return failure();
    if (options.emit.empty())
      return link(objects, path);
    for (const Object &object : objects)
      os << StringRef(object.data(), object.size());
    return success();
  }

private:
  using Object = SmallVector<char, 0>;

  /// Equal functions are compiled once.
  void findUnique();

  void splitIntoChunks() {
    Builder builder(module.getContext());
    int64_t ops = kChunkOps;
    for (auto [i, entry] : llvm::enumerate(unique)) {
      if (ops >= kChunkOps) {
        chunks.push_back(ModuleOp::create(module.getLoc()));
        top->push_back(chunks.back());
        ops = 0;
      }
      ops += entry.ops;
      entry.func->remove();
      chunks.back().push_back(entry.func);
      SmallVector<Attribute> symbols;
      for (const std::string &name : entry.names)
        symbols.push_back(builder.getStringAttr(options.prefix + name));
      entry.func->setAttr(kSymbolsAttr, builder.getArrayAttr(symbols));
      entry.func.setPublic();
      entry.func.setSymName((kProgram + Twine(i)).str());
    }
  }

  LogicalResult runPasses() {
    PassManager pm(module.getContext());
    pm.enableVerifier(false);
    if (failed(applyCommandLine(pm)))
      return failure();
    OpPassManager &nested = pm.nest<ModuleOp>();
    if (prepareTosa(*top, /*expandsScatters=*/!options.reference))
      buildLowerTosa(nested);
    nested.addNestedPass<func::FuncOp>(createSpmdTargetSplitComplex());
    const bool isCuda = !options.chip.empty(), groupLoops = options.groupLoops && !options.hasProbes;
    if (!options.reference && !isCuda && !options.hasProbes)
      nested.addPass(createSpmdTargetOutlineLayers());
    if (options.reference) {
      cpu::buildReference(nested);
    } else if (options.emit == "tensor") {
      isCuda ? cuda::buildToTensor(nested, groupLoops) : cpu::buildToTensor(nested, groupLoops);
    } else {
      isCuda ? cuda::buildToKernels(nested, groupLoops) : cpu::buildToMemRef(nested, groupLoops);
      if (options.emit != "memref")
        isCuda ? cuda::buildToLLVM(nested, options.chip) : cpu::buildToLLVM(nested, options.parallelWork);
    }
    return pm.run(*top);
  }

  /// Records the symbols of the functions and the sizes of their arenas.
  void readFunctions(llvm::StringMap<CompiledFunction> &functions) {
    for (ModuleOp chunk : chunks)
      for (auto func : chunk.getOps<LLVM::LLVMFuncOp>()) {
        StringRef name = func.getSymName();
        size_t i;
        if (!name.consume_front(kProgram) || name.getAsInteger(10, i) || i >= unique.size())
          continue;
        auto bytes = func->getAttrOfType<IntegerAttr>(kArenaBytesAttr);
        for (const std::string &entry : unique[i].names)
          functions[entry] = {options.prefix + entry, bytes ? bytes.getInt() : 0,
                              func->getAttrOfType<ArrayAttr>(kArenaAttr)};
      }
  }

  /// Layers, with what they use, become chunks of their own, which are compiled at the same time.
  void splitLayers();

  /// These ops, and those whose symbols they use.
  static SetVector<Operation *> getUsed(const SymbolTable &symbols, ArrayRef<Operation *> from);

  LogicalResult link(ArrayRef<Object> objects, StringRef path);

  struct Unique {
    func::FuncOp func;
    SmallVector<std::string> names;
    int64_t ops = 0;
    std::string text; ///< Empty while no other function has been compared with it.
  };
  /// The prefix of the internal names of functions, before a number.
  static constexpr StringLiteral kProgram = "program_";

  ModuleOp module;
  const CodegenOptions &options;
  std::vector<Unique> unique;
  OwningOpRef<ModuleOp> top;
  std::vector<ModuleOp> chunks;
};
} // namespace

void ProgramCompiler::findUnique() {
  // Only functions of equal types and as many ops are compared.
  std::map<std::pair<const void *, int64_t>, SmallVector<size_t>> alike;
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    std::string name = func.getSymName().str(), text;
    stripAttributes(func);
    int64_t ops = 0;
    func.walk([&](Operation *) { ++ops; });
    SmallVector<size_t> &known = alike[{func.getFunctionType().getAsOpaquePointer(), ops}];
    if (!known.empty())
      text = canonicalText(func);
    auto *equal = llvm::find_if(known, [&](size_t i) {
      if (unique[i].text.empty())
        unique[i].text = canonicalText(unique[i].func);
      return unique[i].text == text;
    });
    if (equal != known.end()) {
      unique[*equal].names.push_back(name);
      func.erase();
      continue;
    }
    known.push_back(unique.size());
    unique.push_back({func, {name}, ops, text});
  }
}

void ProgramCompiler::splitLayers() {
  for (auto [i, chunk] : llvm::enumerate(llvm::to_vector(chunks))) {
    SymbolTable symbols(chunk);
    SmallVector<LLVM::LLVMFuncOp> layers;
    for (auto func : chunk.getOps<LLVM::LLVMFuncOp>())
      if (func->removeAttr(kLayerAttr))
        layers.push_back(func);
    for (LLVM::LLVMFuncOp layer : layers) {
      if (failed(symbols.rename(layer, ("sk_" + layer.getSymName() + "_" + Twine(i)).str())))
        llvm_unreachable("the name of a layer is the only one of its kind");
      layer.setLinkage(LLVM::Linkage::External);
      layer.setVisibility_(LLVM::Visibility::Hidden);
      chunks.push_back(ModuleOp::create(module.getLoc()));
      top->push_back(chunks.back());
      for (Operation *op : getUsed(symbols, {layer}))
        chunks.back().push_back(op->clone());
      layer.getBody().dropAllReferences();
      layer.getBody().getBlocks().clear();
    }
    if (layers.empty())
      continue;
    // What remains without uses.
    SmallVector<Operation *> entries;
    for (Operation &op : *chunk.getBody())
      if (auto func = dyn_cast<LLVM::LLVMFuncOp>(op); !func || func.getLinkage() != LLVM::Linkage::Internal)
        if (auto global = dyn_cast<LLVM::GlobalOp>(op); !global || global.getLinkage() != LLVM::Linkage::Internal)
          entries.push_back(&op);
    SetVector<Operation *> used = getUsed(symbols, entries);
    for (Operation &op : llvm::make_early_inc_range(*chunk.getBody()))
      if (!used.contains(&op))
        op.erase();
  }
}

SetVector<Operation *> ProgramCompiler::getUsed(const SymbolTable &symbols, ArrayRef<Operation *> from) {
  SetVector<Operation *> used(from.begin(), from.end());
  for (unsigned k = 0; k < used.size(); ++k)
    used[k]->walk([&](Operation *op) {
      op->getAttrDictionary().walk([&](SymbolRefAttr symbol) {
        if (Operation *definition = symbols.lookup(symbol.getRootReference()))
          used.insert(definition);
      });
    });
  return used;
}

LogicalResult ProgramCompiler::link(ArrayRef<Object> objects, StringRef path) {
  Location loc = module.getLoc();
  std::vector<std::string> files;
  LogicalResult result = success();
  for (auto [i, object] : llvm::enumerate(objects)) {
    files.push_back((path + "." + Twine(i) + ".o").str());
    std::error_code ec;
    llvm::raw_fd_ostream file(files.back(), ec);
    if (!ec)
      file << StringRef(object.data(), object.size());
    file.close();
    if (!ec)
      ec = file.error();
    file.clear_error();
    if (ec) {
      result = emitError(loc) << "cannot write " << files.back() << ": " << ec.message();
      break;
    }
  }
  if (succeeded(result))
    result = linkShared(loc, files, path);
  for (const std::string &file : files)
    llvm::sys::fs::remove(file);
  return result;
}

LogicalResult spmd::target::compileProgram(ModuleOp module, const CodegenOptions &options, StringRef path,
                                           llvm::raw_ostream &os, llvm::StringMap<CompiledFunction> &functions) {
  return ProgramCompiler(module, options).run(path, os, functions);
}
