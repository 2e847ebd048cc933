//===- OutlineConstants.cpp - Large constants become arguments ----------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Constraints.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include <set>

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDOUTLINECONSTANTSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// The elements of a tensor that an op with one result has as a constant; null for other ops.
static ElementsAttr getElements(Operation *op) {
  ElementsAttr elements;
  if (!op->hasTrait<OpTrait::ConstantLike>() || !isa<RankedTensorType>(op->getResult(0).getType()) ||
      !matchPattern(op, m_Constant(&elements)))
    return {};
  return elements;
}

/// The types that a file of constants has.
static bool canBeStored(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return complex.getElementType().isF32();
  return isa<Float64Type, Float32Type, Float16Type, BFloat16Type, IndexType>(element) || element.isSignlessInteger(1) ||
         element.isSignlessInteger(8) || element.isSignlessInteger(16) || element.isSignlessInteger(32) ||
         element.isSignlessInteger(64);
}

//===----------------------------------------------------------------------===//
// Manual computations
//===----------------------------------------------------------------------===//

/// Whether the regions around an op can take arguments of its function.
static bool canTakeArguments(Operation *op) {
  for (op = op->getParentOp(); !isa_and_present<func::FuncOp>(op); op = op->getParentOp()) {
    auto manual = dyn_cast_or_null<ManualComputationOp>(op);
    if (!op || (op->hasTrait<OpTrait::IsIsolatedFromAbove>() && !(manual && manual.getMesh())))
      return false;
  }
  return true;
}

/// Gives a manual computation an operand that its axes do not shard; returns it as the region has it.
static Value addOperand(ManualComputationOp op, Value value) {
  SmallVector<Attribute> shardings(op.getInShardings().begin(), op.getInShardings().end());
  shardings.push_back(ShardingAttr::getFullyOpen(op.getContext(), op.getMesh(), getShape(value.getType()).size()));
  op.getInputsMutable().append(value);
  op.setInShardingsAttr(ArrayAttr::get(op.getContext(), shardings));
  return op.getBody().addArgument(value.getType(), value.getLoc());
}

//===----------------------------------------------------------------------===//
// Resources
//===----------------------------------------------------------------------===//

/// The elements of a resource, a byte or more for each; none if the file has them elsewhere, which is an error for a
/// bundle alone.
static FailureOr<std::optional<ArrayRef<char>>> readResource(DenseResourceElementsAttr attr, Location loc) {
  AsmResourceBlob *blob = attr.getRawHandle().getBlob();
  if (!blob)
    return std::optional<ArrayRef<char>>();
  const int64_t expected = attr.getType().getNumElements() * getElementBytes(attr.getElementType());
  if (int64_t(blob->getData().size()) != expected)
    return emitError(loc) << "resource '" << attr.getRawHandle().getKey() << "' of a constant of type "
                          << attr.getType() << " has " << blob->getData().size() << " bytes, expected " << expected;
  return std::optional(blob->getData());
}

static StringRef toText(ArrayRef<char> bytes) { return StringRef(bytes.data(), bytes.size()); }

static bool areEqual(ArrayRef<char> elements, int64_t bytes) {
  return int64_t(elements.size()) > bytes && !memcmp(elements.data(), elements.data() + bytes, elements.size() - bytes);
}

/// The form of constants that other passes read.
static DenseElementsAttr toDense(ShapedType type, ArrayRef<char> elements) {
  const int64_t bytes = getElementBytes(type.getElementType());
  if (areEqual(elements, bytes))
    elements = elements.take_front(bytes);
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(type, elements);
  return DenseElementsAttr::get(type, ArrayRef(reinterpret_cast<const bool *>(elements.data()), elements.size()));
}

static void replaceElements(Operation *op, ElementsAttr old, ElementsAttr elements) {
  for (NamedAttribute attr : llvm::to_vector(op->getAttrs()))
    if (attr.getValue() == old)
      op->setAttr(attr.getName(), elements);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

/// A large constant, which ops of several functions may have.
struct LargeConstant {
  ElementsAttr elements;
  std::string name;
  Location loc;
};

/// What a function has of the constants, by their number.
struct Uses {
  SmallVector<std::pair<Operation *, size_t>> ops;
  std::set<size_t> needed; // by it, and by the functions that it calls
  SmallVector<func::CallOp> calls;
};

class ConstantOutliner {
public:
  ConstantOutliner(ModuleOp module, int64_t maxBytes) : module(module), maxBytes(maxBytes) {}

  LogicalResult run();

private:
  bool isLarge(Operation *op, ElementsAttr elements);
  LogicalResult visit(Operation *op, Uses *uses);
  size_t number(ElementsAttr elements, Location loc);
  void findFixed();
  void shareNeeds();
  Value bringTo(Operation *op, Value argument);
  void outline(func::FuncOp func, Uses &uses);

  ModuleOp module;
  int64_t maxBytes;
  SmallVector<LargeConstant> constants;
  llvm::DenseMap<Attribute, size_t> numbers;
  llvm::StringMap<size_t> byName;
  /// Functions that take no further arguments: loading functions, and those that ops other than calls name.
  llvm::DenseSet<Operation *> fixed;
  llvm::MapVector<Operation *, Uses> functions;
  /// An argument as it is in a manual computation.
  llvm::DenseMap<std::pair<Operation *, Value>, Value> inside;
};

} // namespace

void ConstantOutliner::findFixed() {
  fixed = getLoadingFunctions(module);
  SymbolTable symbols(module);
  auto fix = [&](Operation *user, SymbolRefAttr name) {
    if (auto func = symbols.lookup<func::FuncOp>(name.getLeafReference());
        func && !isa<func::CallOp, func::FuncOp>(user))
      fixed.insert(func);
  };
  if (auto uses = SymbolTable::getSymbolUses(&module.getBodyRegion()))
    for (const SymbolTable::SymbolUse &use : *uses)
      fix(use.getUser(), use.getSymbolRef());
  else // An op that is not registered has a region.
    module.walk([&](func::ConstantOp op) { fix(op, op.getValueAttr()); });
  module.walk([&](func::CallOp call) {
    if (auto func = symbols.lookup<func::FuncOp>(call.getCallee()); func && !canTakeArguments(call))
      fixed.insert(func);
  });
  // They pass nothing on to functions that they call.
  SmallVector<Operation *> open(fixed.begin(), fixed.end());
  while (!open.empty())
    open.pop_back_val()->walk([&](func::CallOp call) {
      if (auto func = symbols.lookup<func::FuncOp>(call.getCallee()); func && fixed.insert(func).second)
        open.push_back(func);
    });
}

bool ConstantOutliner::isLarge(Operation *op, ElementsAttr elements) {
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if ((dense && dense.isSplat()) || !canBeStored(elements.getElementType()) || !canTakeArguments(op))
    return false;
  return elements.getNumElements() * getElementBytes(elements.getElementType()) > maxBytes;
}

/// The number of a constant. Equal ones have one number and name, in other modules too.
size_t ConstantOutliner::number(ElementsAttr elements, Location loc) {
  if (auto it = numbers.find(elements); it != numbers.end())
    return it->second;
  llvm::TruncatedBLAKE3<16> hash;
  std::string type;
  llvm::raw_string_ostream(type) << elements.getShapedType();
  hash.update(type);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    hash.update(blob ? toText(blob->getData()) : resource.getRawHandle().getKey());
  } else {
    hash.update(toText(cast<DenseElementsAttr>(elements).getRawData()));
  }
  std::string name = "constant:" + llvm::toHex(hash.final(), /*LowerCase=*/true);
  auto [it, isNew] = byName.try_emplace(name, constants.size());
  if (isNew)
    constants.push_back({elements, name, loc});
  return numbers[elements] = it->second;
}

/// Notes a large constant in `uses`, unless that is null. A resource that stays becomes a list of elements.
LogicalResult ConstantOutliner::visit(Operation *op, Uses *uses) {
  if (auto call = dyn_cast<func::CallOp>(op); call && uses)
    uses->calls.push_back(call);
  ElementsAttr elements = getElements(op);
  if (!elements)
    return success();
  bool isOutlined = uses && maxBytes >= 0 && isLarge(op, elements);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    FailureOr<std::optional<ArrayRef<char>>> data = readResource(resource, op->getLoc());
    if (failed(data))
      return failure();
    isOutlined &= !*data || !areEqual(**data, getElementBytes(resource.getElementType()));
    if (!isOutlined && *data)
      replaceElements(op, elements, toDense(resource.getType(), **data));
  }
  if (isOutlined) {
    const size_t n = number(elements, op->getLoc());
    uses->ops.emplace_back(op, n);
    uses->needed.insert(n);
  }
  return success();
}

/// Callers need what callees need. A function and its reference have the same arguments.
void ConstantOutliner::shareNeeds() {
  SymbolTable symbols(module);
  llvm::DenseMap<Operation *, SmallVector<Operation *>> readers;
  auto addReader = [&](StringAttr name, Operation *reader) {
    auto func = symbols.lookup<func::FuncOp>(name);
    if (func && functions.contains(func))
      readers[func].push_back(reader);
    return func;
  };
  for (auto &[func, uses] : functions) {
    for (func::CallOp call : uses.calls)
      addReader(call.getCalleeAttr().getAttr(), func);
    if (auto reference = func->getAttrOfType<FlatSymbolRefAttr>(kReferenceAttr))
      if (func::FuncOp other = addReader(reference.getAttr(), func); other && functions.contains(other))
        readers[func].push_back(other);
  }
  SmallVector<Operation *> changed(llvm::make_first_range(functions));
  while (!changed.empty()) {
    Operation *func = changed.pop_back_val();
    for (Operation *reader : readers.lookup(func)) {
      auto &needed = functions[reader].needed;
      const size_t before = needed.size();
      needed.insert(functions[func].needed.begin(), functions[func].needed.end());
      if (needed.size() > before)
        changed.push_back(reader);
    }
  }
}

/// An argument of the function at an op: manual computations around it take what they need as operands.
Value ConstantOutliner::bringTo(Operation *op, Value argument) {
  SmallVector<ManualComputationOp> around;
  for (auto manual = op->getParentOfType<ManualComputationOp>(); manual;
       manual = manual->getParentOfType<ManualComputationOp>())
    around.push_back(manual);
  for (ManualComputationOp manual : llvm::reverse(around)) {
    auto [it, isNew] = inside.try_emplace({manual, argument});
    if (isNew)
      it->second = addOperand(manual, argument);
    argument = it->second;
  }
  return argument;
}

/// Adds the arguments of a function, in the order of their numbers, and passes them on to the functions that it calls.
void ConstantOutliner::outline(func::FuncOp func, Uses &uses) {
  Builder builder(func.getContext());
  llvm::SmallDenseMap<size_t, Value> arguments;
  for (size_t n : uses.needed) {
    const LargeConstant &constant = constants[n];
    NamedAttrList attrs;
    if (func.isPublic()) {
      attrs.set(kWeightAttr, builder.getStringAttr(constant.name));
      attrs.set(kConstantAttr, constant.elements);
    }
    const unsigned at = func.getNumArguments();
    (void)func.insertArgument(at, constant.elements.getShapedType(), attrs.getDictionary(func.getContext()),
                              constant.loc);
    arguments[n] = func.getArgument(at);
  }
  for (auto [op, n] : uses.ops) {
    op->getResult(0).replaceAllUsesWith(bringTo(op, arguments[n]));
    op->erase();
  }
  for (func::CallOp call : uses.calls)
    if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()))
      if (auto it = functions.find(callee); it != functions.end())
        for (size_t n : it->second.needed)
          call->insertOperands(call->getNumOperands(), bringTo(call, arguments[n]));
}

LogicalResult ConstantOutliner::run() {
  findFixed();
  for (auto func : module.getOps<func::FuncOp>()) {
    Uses *uses = fixed.contains(func) || func.isExternal() ? nullptr : &functions[func];
    if (func.walk([&](Operation *op) {
              return failed(visit(op, uses)) ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted())
      return failure();
  }
  if (constants.empty())
    return success();
  SmallVector<Operation *> annotated;
  for (auto &[func, uses] : functions)
    for (auto [op, n] : uses.ops)
      if (op->hasAttr(kShardingsAttr))
        annotated.push_back(op);
  makeConstraintsOfShardings(annotated);
  shareNeeds();
  for (auto &[func, uses] : functions)
    outline(cast<func::FuncOp>(func), uses);
  return success();
}

namespace {
struct OutlineConstantsPass : public spmd::impl::SPMDOutlineConstantsPassBase<OutlineConstantsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyInput(module, Phase::Annotated, getArgument())) ||
        failed(ConstantOutliner(module, maxConstantBytes).run()))
      signalPassFailure();
  }
};
} // namespace
