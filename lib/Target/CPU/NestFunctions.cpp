//===- NestFunctions.cpp - Loop nests as functions ------------------------===//

#include "NestFunctions.h"
#include "shardkit/Target/Common/OutlinedValues.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::spmd;

Value cpu::rootOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view || isa<memref::ViewOp>(op))
      break;
    value = view.getViewSource();
  }
  return value;
}

static func::FuncOp functionOf(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  return argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
}

bool cpu::isBuffer(Value root) {
  return functionOf(root) ||
         isa_and_nonnull<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp, memref::ViewOp>(root.getDefiningOp());
}

Value cpu::sharedMemoryOf(Value memref) {
  Value root = rootOf(memref);
  func::FuncOp func = functionOf(root);
  const bool mayShare =
      func && !func.getArgAttr(cast<BlockArgument>(root).getArgNumber(), LLVM::LLVMDialect::getNoAliasAttrName());
  return mayShare ? Value() : root;
}

static bool isParameter(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (memref)
    return memref.hasStaticShape() && memref.getLayout().isIdentity();
  return type.isIntOrIndexOrFloat();
}

cpu::NestFunctions::Nest cpu::NestFunctions::get(Operation *nest, TypeRange leading,
                                                 ArrayRef<NamedAttribute> attributes,
                                                 function_ref<void(OpBuilder &, ValueRange, IRMapping &)> emit) {
  // Used values: parameters, and values to recompute in program order.
  SetVector<Value> above;
  for (Value operand : nest->getOperands())
    above.insert(operand);
  getUsedValuesDefinedAbove(nest->getRegions(), above);
  Nest result;
  SmallVector<Value> empty;
  SetVector<Operation *> recomputed;
  for (unsigned i = 0; i < above.size(); ++i) {
    Value value = above[i];
    Operation *def = value.getDefiningOp();
    if (target::isEmptyBuffer(value.getType())) {
      empty.push_back(value);
    } else if (target::isRecomputed(def)) {
      recomputed.insert(def);
      for (Value operand : def->getOperands())
        above.insert(operand);
    } else if (isParameter(value.getType())) {
      result.params.push_back(value);
    } else {
      return {};
    }
  }
  // Each after the values that it uses, also across blocks.
  SetVector<Operation *> order = topologicalSort(recomputed);

  OpBuilder b(nest);
  Location loc = nest->getLoc();
  SmallVector<Type> types(leading.begin(), leading.end());
  llvm::append_range(types, ValueRange(result.params).getTypes());
  auto func = func::FuncOp::create(loc, "nest", b.getFunctionType(types, {}), attributes);
  func.setPrivate();
  // Each compiled piece of a program has its functions.
  func->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  for (auto [i, param] : llvm::enumerate(result.params))
    if (isa<MemRefType>(param.getType()) && isBuffer(rootOf(param)) &&
        llvm::count_if(result.params, [&](Value other) { return rootOf(other) == rootOf(param); }) == 1)
      func.setArgAttr(leading.size() + i, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
  Block *body = func.addEntryBlock();
  IRMapping mapping;
  mapping.map(result.params, body->getArguments().drop_front(leading.size()));
  b.setInsertionPointToStart(body);
  for (Value value : empty)
    mapping.map(value, memref::AllocaOp::create(b, loc, cast<MemRefType>(value.getType())));
  for (Operation *op : order)
    b.clone(*op, mapping);
  emit(b, body->getArguments().take_front(leading.size()), mapping);
  func::ReturnOp::create(b, loc);

  std::string text;
  llvm::raw_string_ostream os(text);
  func->print(os, OpPrintingFlags().printGenericOpForm().useLocalScope());
  auto [known, isNew] = byText.try_emplace(text, func);
  if (isNew) {
    func.setSymName(prefix + std::to_string(byText.size() - 1));
    module.push_back(func);
  } else {
    func.erase();
  }
  result.func = known->second;
  return result;
}
