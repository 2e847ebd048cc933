//===- Reductions.cpp - Edits that make a program smaller -----------------===//

#include "Reductions.h"

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::spmd;

/// Functions with a reference, and references: both must compute the same, so that neither
/// changes.
static bool hasTwin(func::FuncOp func) {
  if (func->hasAttr(kReferenceAttr))
    return true;
  return llvm::any_of(func->getParentOfType<ModuleOp>().getOps<func::FuncOp>(), [&](auto other) {
    auto name = other->template getAttrOfType<FlatSymbolRefAttr>(kReferenceAttr);
    return name && name.getValue() == func.getName();
  });
}

/// Functions of one block whose signature can change.
static SmallVector<func::FuncOp> getFunctions(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal() && func.getBody().hasOneBlock() && SymbolTable::symbolKnownUseEmpty(func, module) &&
        !func->hasAttr(kReferenceAttr))
      functions.push_back(func);
  return functions;
}

static func::ReturnOp getReturn(func::FuncOp func) {
  return cast<func::ReturnOp>(func.getBody().front().getTerminator());
}

/// Whether a result updates an argument, by index.
static bool isTied(func::FuncOp func) {
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (func.getResultAttr(i, kTiedAttr))
      return true;
  return false;
}

void spmd::eraseUnused(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  // Users after definitions, and bodies after their op.
  for (Operation *op : llvm::reverse(ops))
    if ((isa<WithShardingConstraintOp>(op) && op->use_empty()) || isOpTriviallyDead(op))
      op->erase();
  for (func::FuncOp func : getFunctions(module))
    if (!isTied(func))
      for (unsigned i = func.getNumArguments(); i-- > 0;)
        if (func.getArgument(i).use_empty())
          (void)func.eraseArgument(i);
}

/// The number of calls of the callback of `visit`.
template <typename Visit> static unsigned countOf(ModuleOp module, Visit visit) {
  unsigned count = 0;
  visit(module, [&](auto &&...) { ++count; });
  return count;
}

//===--- functions --------------------------------------------------------===//

static unsigned countFunctions(ModuleOp module) {
  return std::distance(module.getOps<func::FuncOp>().begin(), module.getOps<func::FuncOp>().end());
}
static bool eraseFunction(ModuleOp module, unsigned index) {
  func::FuncOp func = *std::next(module.getOps<func::FuncOp>().begin(), index);
  if (!SymbolTable::symbolKnownUseEmpty(func, module))
    return false;
  func.erase();
  return true;
}

//===--- results ----------------------------------------------------------===//

/// Ops of a function's block with a tensor result, each with its function.
template <typename Fn> static void forEachOp(ModuleOp module, Fn fn) {
  for (func::FuncOp func : getFunctions(module))
    for (Operation &op : func.getBody().front())
      if (op.getNumResults() > 0 && isa<RankedTensorType>(op.getResult(0).getType()))
        fn(func, &op);
}
static unsigned countOps(ModuleOp module) {
  return countOf(module, [](auto m, auto fn) { forEachOp(m, fn); });
}
static std::pair<func::FuncOp, Operation *> getOp(ModuleOp module, unsigned index) {
  std::pair<func::FuncOp, Operation *> found;
  unsigned next = 0;
  forEachOp(module, [&](func::FuncOp func, Operation *op) {
    if (next++ == index)
      found = {func, op};
  });
  return found;
}

/// Makes a function return only what one op computes.
static bool returnOnly(ModuleOp module, unsigned index) {
  auto [func, op] = getOp(module, index);
  func::ReturnOp ret = getReturn(func);
  if (isTied(func) || (ret.getOperands() == ValueRange(op->getResults())))
    return false;
  llvm::BitVector all(func.getNumResults(), true);
  (void)func.eraseResults(all);
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    (void)func.insertResult(i, type, {});
  ret->setOperands(op->getResults());
  return true;
}

/// Also in its reference, if it has one: results of both are removed together.
static func::FuncOp getReference(func::FuncOp func) {
  auto name = func->getAttrOfType<FlatSymbolRefAttr>(kReferenceAttr);
  return name ? func->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(name.getAttr()) : func::FuncOp();
}
template <typename Fn> static void forEachResult(ModuleOp module, Fn fn) {
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal() && func.getBody().hasOneBlock() && SymbolTable::symbolKnownUseEmpty(func, module))
      for (unsigned i = 0; i < func.getNumResults(); ++i)
        fn(func, i);
}
static unsigned countResults(ModuleOp module) {
  return countOf(module, [](auto m, auto fn) { forEachResult(m, fn); });
}
static bool dropResult(ModuleOp module, unsigned index) {
  unsigned next = 0;
  bool done = false;
  forEachResult(module, [&](func::FuncOp func, unsigned i) {
    if (next++ != index || func.getNumResults() < 2)
      return;
    for (func::FuncOp both : {func, getReference(func)})
      if (both) {
        getReturn(both)->eraseOperand(i);
        (void)both.eraseResult(i);
      }
    done = true;
  });
  return done;
}

//===--- ops --------------------------------------------------------------===//

/// Replaces the results of an op by arguments, with small integers like those of random
/// programs, whose sums are exact.
static bool makeArguments(func::FuncOp func, Operation *op) {
  OpBuilder b(op);
  for (Value result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !type.getElementType().isIntOrFloat() || type.getElementType().isInteger(1))
      return false;
    bool isFloat = isa<FloatType>(type.getElementType());
    unsigned position = func.getNumArguments();
    RankedTensorType argument = isFloat ? type.clone(b.getI8Type()) : type;
    auto range = b.getNamedAttr(kRangeAttr, b.getI64ArrayAttr({-3, 4}));
    (void)func.insertArgument(position, argument, b.getDictionaryAttr(range), op->getLoc());
    Value value = func.getArgument(position);
    if (isFloat)
      value = arith::SIToFPOp::create(b, op->getLoc(), type, value);
    result.replaceAllUsesWith(value);
  }
  return true;
}

static bool truncate(ModuleOp module, unsigned index) {
  // Late ops have the most ops before them.
  auto [func, op] = getOp(module, countOps(module) - 1 - index);
  if (op->hasTrait<OpTrait::ConstantLike>() || op->getNumOperands() == 0 || isTied(func))
    return false;
  return makeArguments(func, op);
}

/// A function whose manual computations are arguments needs no reference.
static unsigned countReferences(ModuleOp module) {
  return llvm::count_if(module.getOps<func::FuncOp>(), [](auto func) { return func->hasAttr(kReferenceAttr); });
}
static bool dropReference(ModuleOp module, unsigned index) {
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func->hasAttr(kReferenceAttr) || index-- > 0)
      continue;
    func->removeAttr(kReferenceAttr);
    SmallVector<ManualComputationOp> manual;
    for (auto op : func.getOps<ManualComputationOp>())
      manual.push_back(op);
    for (ManualComputationOp op : manual) {
      if (!makeArguments(func, op))
        return false;
      op.erase();
    }
    return !func.walk([](ManualComputationOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }
  return false;
}

/// Pairs of an op, in bodies too, and an operand of the type of its result.
template <typename Fn> static void forEachLikeOperand(ModuleOp module, Fn fn) {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto func = dyn_cast<func::FuncOp>(op); func && hasTwin(func))
      return WalkResult::skip();
    if (op->getNumResults() != 1)
      return WalkResult::advance();
    for (Value operand : op->getOperands())
      if (operand.getType() == op->getResult(0).getType())
        fn(op, operand);
    return WalkResult::advance();
  });
}
static unsigned countLikeOperands(ModuleOp module) {
  return countOf(module, [](auto m, auto fn) { forEachLikeOperand(m, fn); });
}
static bool replaceByOperand(ModuleOp module, unsigned index) {
  unsigned next = 0;
  Operation *found = nullptr;
  Value with;
  forEachLikeOperand(module, [&](Operation *op, Value operand) {
    if (next++ == index) {
      found = op;
      with = operand;
    }
  });
  found->getResult(0).replaceAllUsesWith(with);
  found->erase();
  return true;
}

/// An op of a function's block, by an argument of the type of its result.
static bool replaceByArgument(ModuleOp module, unsigned index) {
  auto [func, op] = getOp(module, index);
  if (op->getNumResults() != 1)
    return false;
  for (BlockArgument arg : func.getArguments())
    if (arg.getType() == op->getResult(0).getType()) {
      op->getResult(0).replaceAllUsesWith(arg);
      op->erase();
      return true;
    }
  return false;
}

//===--- annotations ------------------------------------------------------===//

/// Calls `fn(sharding, set)` for each sharding of the module; `set` replaces it, or removes
/// it (null) if it is optional.
static void forEachSharding(ModuleOp module,
                            llvm::function_ref<void(ShardingAttr, llvm::function_ref<bool(ShardingAttr)>)> fn) {
  module.walk([&](Operation *op) {
    if (auto func = dyn_cast<func::FuncOp>(op)) {
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        if (auto attr = func.getArgAttrOfType<ShardingAttr>(i, kShardingAttr))
          fn(attr, [&](ShardingAttr other) {
            if (other)
              func.setArgAttr(i, kShardingAttr, other);
            else
              (void)func.removeArgAttr(i, kShardingAttr);
            return true;
          });
      for (unsigned i = 0; i < func.getNumResults(); ++i)
        if (auto attr = func.getResultAttrOfType<ShardingAttr>(i, kShardingAttr))
          fn(attr, [&](ShardingAttr other) {
            if (other)
              func.setResultAttr(i, kShardingAttr, other);
            else
              (void)func.removeResultAttr(i, StringAttr::get(func.getContext(), kShardingAttr));
            return true;
          });
    } else if (auto pin = dyn_cast<WithShardingConstraintOp>(op)) {
      if (pin.getShardingAttr())
        fn(pin.getShardingAttr(), [&](ShardingAttr other) {
          if (other)
            pin.setShardingAttr(other);
          return bool(other); // replaceByOperand removes the op
        });
    } else if (auto list = op->getAttrOfType<ArrayAttr>(kShardingsAttr); list && list.size() == 1) {
      if (auto attr = dyn_cast<ShardingAttr>(list[0]))
        fn(attr, [&](ShardingAttr other) {
          if (other)
            op->setAttr(kShardingsAttr, ArrayAttr::get(op->getContext(), other));
          else
            op->removeAttr(kShardingsAttr);
          return true;
        });
    }
  });
}

static unsigned countShardings(ModuleOp module) {
  unsigned count = 0;
  forEachSharding(module, [&](auto, auto) { ++count; });
  return count;
}
static bool dropSharding(ModuleOp module, unsigned index) {
  unsigned next = 0;
  bool done = false;
  forEachSharding(module, [&](ShardingAttr, auto set) {
    if (next++ == index)
      done = set(ShardingAttr());
  });
  return done;
}

/// Smaller forms of a sharding: without an entry of a dim, a `?`, an axis of `replicated`,
/// or the priorities.
static SmallVector<ShardingAttr> getSimpler(ShardingAttr attr) {
  SmallVector<ShardingAttr> simpler;
  MLIRContext *context = attr.getContext();
  auto add = [&](ArrayRef<DimShardingAttr> dims, ArrayRef<DimEntryAttr> replicated) {
    auto other =
        ShardingAttr::get(context, attr.getMesh(), dims, replicated, attr.getUnreducedKind(), attr.getUnreduced());
    if (other != attr)
      simpler.push_back(other);
  };
  for (auto [d, dim] : llvm::enumerate(attr.getDims())) {
    SmallVector<DimShardingAttr> dims(attr.getDims());
    for (size_t e = 0; e < dim.getEntries().size(); ++e) {
      SmallVector<DimEntryAttr> entries(dim.getEntries());
      entries.erase(entries.begin() + e);
      dims[d] = DimShardingAttr::get(context, entries, dim.getOpen(), dim.getPriority());
      add(dims, attr.getReplicated());
    }
    dims[d] = DimShardingAttr::get(context, dim.getEntries(), false, 0);
    add(dims, attr.getReplicated());
  }
  for (size_t e = 0; e < attr.getReplicated().size(); ++e) {
    SmallVector<DimEntryAttr> replicated(attr.getReplicated());
    replicated.erase(replicated.begin() + e);
    add(attr.getDims(), replicated);
  }
  return simpler;
}
static unsigned countSimpler(ModuleOp module) {
  unsigned count = 0;
  forEachSharding(module, [&](ShardingAttr attr, auto) { count += getSimpler(attr).size(); });
  return count;
}
static bool simplifySharding(ModuleOp module, unsigned index) {
  unsigned next = 0;
  bool done = false;
  forEachSharding(module, [&](ShardingAttr attr, auto set) {
    for (ShardingAttr other : getSimpler(attr))
      if (next++ == index)
        done = set(other);
  });
  return done;
}

//===--- meshes -----------------------------------------------------------===//

/// Smaller forms of a mesh: without its device order, without an axis, with an axis
/// of a smaller size that divides it.
static SmallVector<MeshAttr> getSmaller(MeshAttr mesh) {
  SmallVector<MeshAttr> smaller;
  MLIRContext *context = mesh.getContext();
  if (!mesh.getDeviceIds().empty())
    smaller.push_back(MeshAttr::get(context, mesh.getAxes(), {}));
  for (auto [a, axis] : llvm::enumerate(mesh.getAxes())) {
    SmallVector<MeshAxisAttr> axes(mesh.getAxes());
    if (axes.size() > 1) {
      axes.erase(axes.begin() + a);
      smaller.push_back(MeshAttr::get(context, axes, {}));
      axes.insert(axes.begin() + a, axis);
    }
    for (int64_t size = 2; size < axis.getSize(); ++size)
      if (axis.getSize() % size == 0) {
        axes[a] = MeshAxisAttr::get(context, axis.getName(), size);
        smaller.push_back(MeshAttr::get(context, axes, {}));
      }
  }
  return smaller;
}
static unsigned countMeshes(ModuleOp module) {
  unsigned count = 0;
  for (auto mesh : module.getOps<MeshOp>())
    count += 1 + getSmaller(mesh.getMesh()).size();
  return count;
}
static bool shrinkMesh(ModuleOp module, unsigned index) {
  for (auto mesh : llvm::make_early_inc_range(module.getOps<MeshOp>())) {
    SmallVector<MeshAttr> smaller = getSmaller(mesh.getMesh());
    if (index == 0) {
      if (!SymbolTable::symbolKnownUseEmpty(mesh, module))
        return false;
      mesh.erase();
      return true;
    }
    if (index <= smaller.size()) {
      mesh.setMeshAttr(smaller[index - 1]);
      mesh.removeAlphaAttr(); // an entry per axis
      mesh.removeBetaAttr();
      return true;
    }
    index -= 1 + smaller.size();
  }
  return false;
}

ArrayRef<Reduction> spmd::getReductions() {
  static const Reduction reductions[] = {
      {"erase-function", countFunctions, eraseFunction},
      {"drop-reference", countReferences, dropReference},
      {"return-only", countOps, returnOnly},
      {"cut-off", countOps, truncate},
      {"drop-result", countResults, dropResult},
      {"replace-by-operand", countLikeOperands, replaceByOperand},
      {"replace-by-argument", countOps, replaceByArgument},
      {"drop-sharding", countShardings, dropSharding},
      {"simplify-sharding", countSimpler, simplifySharding},
      {"shrink-mesh", countMeshes, shrinkMesh},
  };
  return reductions;
}
