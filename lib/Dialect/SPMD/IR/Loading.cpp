//===- Loading.cpp - Functions from stored tensors to arguments -----------===//

#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::spmd;

SmallVector<StringRef> spmd::getStoredNames(Attribute weight) {
  if (auto name = dyn_cast_or_null<StringAttr>(weight))
    return {name.getValue()};
  SmallVector<StringRef> names;
  if (auto list = dyn_cast_or_null<ArrayAttr>(weight))
    for (auto name : list.getAsRange<StringAttr>())
      names.push_back(name.getValue());
  return names;
}

std::string spmd::getWeightName(FunctionOpInterface func, unsigned argument) {
  Attribute weight = func.getArgAttr(argument, kWeightAttr);
  if (!weight)
    return "";
  if (auto name = func.getArgAttrOfType<StringAttr>(argument, kNameAttr); name && func.getArgAttr(argument, kLoadAttr))
    return name.str();
  return llvm::join(getStoredNames(weight), "+");
}

//===----------------------------------------------------------------------===//
// Functions for loading
//===----------------------------------------------------------------------===//

/// Adds the functions that the functions of the list call, transitively.
static void addCallees(const SymbolTable &symbols, SmallVector<func::FuncOp> list, DenseSet<Operation *> &found) {
  for (func::FuncOp func : list)
    found.insert(func);
  while (!list.empty())
    list.pop_back_val().walk([&](func::CallOp call) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
      if (callee && found.insert(callee).second)
        list.push_back(callee);
    });
}

static DenseSet<Operation *> getLoadingFunctions(ModuleOp module, std::optional<SymbolTable> &symbols) {
  llvm::SmallSetVector<StringAttr, 8> names;
  for (auto func : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      for (StringRef attr : {StringRef(kLoadAttr), StringRef(kShardFunctionAttr)})
        if (auto name = func.getArgAttrOfType<FlatSymbolRefAttr>(i, attr))
          names.insert(name.getAttr());
  DenseSet<Operation *> found;
  if (names.empty())
    return found;
  symbols.emplace(module);
  SmallVector<func::FuncOp> functions;
  for (StringAttr name : names)
    if (auto func = symbols->lookup<func::FuncOp>(name))
      functions.push_back(func);
  addCallees(*symbols, functions, found);
  return found;
}

DenseSet<Operation *> spmd::getLoadingFunctions(ModuleOp module) {
  std::optional<SymbolTable> symbols;
  return ::getLoadingFunctions(module, symbols);
}

SmallVector<func::FuncOp> spmd::getProgramFunctions(ModuleOp module) {
  std::optional<SymbolTable> symbols;
  DenseSet<Operation *> loading = ::getLoadingFunctions(module, symbols);
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  llvm::SmallDenseSet<StringAttr> unsharded;
  for (func::FuncOp func : functions)
    if (auto name = func->getAttrOfType<FlatSymbolRefAttr>(kUnshardedAttr))
      unsharded.insert(name.getAttr());
  llvm::erase_if(functions, [&](func::FuncOp func) { return unsharded.contains(func.getSymNameAttr()); });
  if (loading.empty())
    return functions;
  // Functions that the program calls too belong to the program.
  SmallVector<func::FuncOp> roots = functions;
  llvm::erase_if(roots, [&](func::FuncOp func) { return loading.contains(func); });
  DenseSet<Operation *> program;
  addCallees(*symbols, roots, program);
  llvm::erase_if(functions, [&](func::FuncOp func) { return !program.contains(func); });
  return functions;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

bool spmd::callsHostFunctions(func::FuncOp load) {
  return load
      .walk([](func::CallOp call) {
        auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
        return callee && callee.isExternal() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult spmd::verifyLoad(FunctionOpInterface func, unsigned argument, Type type, Location loc) {
  auto name = cast<FlatSymbolRefAttr>(func.getArgAttr(argument, kLoadAttr));
  std::string what = ("argument #" + Twine(argument)).str();
  Attribute weight = func.getArgAttr(argument, kWeightAttr);
  if (!weight)
    return emitError(loc) << "'" << kLoadAttr << "' of " << what << " is given alone, expected '" << kWeightAttr
                          << "' with it, the names of stored tensors";
  auto load = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(func, name);
  if (!load) {
    if (getPhase(func) >= 3)
      return success();
    return emitError(loc) << "attribute '" << kLoadAttr << "' of " << what << " is " << name
                          << ", expected the symbol of a function of the module";
  }
  // Errors are at the argument, with the function in a note.
  auto fail = [&](const Twine &message) -> LogicalResult {
    InFlightDiagnostic diag = emitError(loc) << "loading function " << name << " of " << what << message;
    diag.attachNote(load.getLoc()) << "function is here";
    return diag;
  };
  // load_c1
  if (load == func)
    return fail(" is the function itself, expected another one");
  if (load.isExternal())
    return fail(" has no body, expected a definition (host functions are called by one)");
  if (!load.isPrivate())
    return fail(" is public, expected a private function");
  size_t stored = getStoredNames(weight).size();
  if (load.getNumArguments() != stored)
    return fail(" takes " + Twine(load.getNumArguments()) + " stored tensors, expected " + Twine(stored) + ", as '" +
                kWeightAttr + "' names");
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto [i, input] : llvm::enumerate(load.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(input);
    if (tensor && tensor.hasStaticShape())
      continue;
    os << "'" << input << "'";
    return fail(" takes " + text + " as argument #" + Twine(i) + ", expected a tensor of static shape");
  }
  // load_c2
  if (load.getNumResults() != 1)
    return fail(" returns " + Twine(load.getNumResults()) + " results, expected 1");
  Type result = load.getResultTypes()[0];
  if (result == type)
    return success();
  auto stack = dyn_cast<RankedTensorType>(result);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (stack && tensor && stack.getElementType() == tensor.getElementType() && stack.getRank() == tensor.getRank() + 1 &&
      callsHostFunctions(load))
    return success();
  os << "'" << result << "', expected '" << type << "'";
  return fail(" returns " + text + ", the type of the argument");
}
