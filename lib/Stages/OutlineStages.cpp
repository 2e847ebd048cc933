//===- OutlineStages.cpp - Each fragment of a stage as a function ---------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Rules/ShardingRule.h"
#include "shardkit/Stages/ScheduleProgram.h"
#include "shardkit/Stages/StageFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// The op of arith that combines two elements.
arith::AtomicRMWKind toArith(ReductionKind kind, Type element) {
  bool isFloat = isa<FloatType>(element);
  switch (kind) {
  case ReductionKind::Sum:
    return isFloat ? arith::AtomicRMWKind::addf : arith::AtomicRMWKind::addi;
  case ReductionKind::Prod:
    return isFloat ? arith::AtomicRMWKind::mulf : arith::AtomicRMWKind::muli;
  case ReductionKind::And:
    return arith::AtomicRMWKind::andi;
  case ReductionKind::Or:
    return arith::AtomicRMWKind::ori;
  case ReductionKind::Xor:
    return arith::AtomicRMWKind::xori;
  case ReductionKind::Max:
    return isFloat ? arith::AtomicRMWKind::maximumf : arith::AtomicRMWKind::maxs;
  case ReductionKind::Min:
    return isFloat ? arith::AtomicRMWKind::minimumf : arith::AtomicRMWKind::mins;
  case ReductionKind::UMax:
    return arith::AtomicRMWKind::maxu;
  case ReductionKind::UMin:
    return arith::AtomicRMWKind::minu;
  case ReductionKind::MaxNum:
    return arith::AtomicRMWKind::maxnumf;
  case ReductionKind::MinNum:
    return arith::AtomicRMWKind::minnumf;
  }
  llvm_unreachable("a kind of reduction");
}

/// `acc` combined with the contribution of one more microbatch.
Value accumulate(OpBuilder &b, Location loc, ReductionKind kind, Value acc, Value contribution) {
  auto type = cast<RankedTensorType>(acc.getType());
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  Type element = type.getElementType();
  auto combine = [&](OpBuilder &inner, Location loc, ValueRange args) {
    Value result;
    if (isa<ComplexType>(element) && kind == ReductionKind::Sum)
      result = complex::AddOp::create(inner, loc, args[1], args[0]);
    else if (isa<ComplexType>(element))
      result = complex::MulOp::create(inner, loc, args[1], args[0]);
    else
      result = arith::getReductionOp(toArith(kind, element), inner, loc, args[1], args[0]);
    linalg::YieldOp::create(inner, loc, result);
  };
  return linalg::GenericOp::create(b, loc, type, contribution, acc, maps, loops, combine).getResult(0);
}

/// Makes one function of each fragment of a stage. Example:
///
///   func.func @stage0(%x, %w)                func.func @stage0_forward(%x, %w) -> (%h, %a)
///     spmd.fragment forward                    // %a is a result, slot value "stage0.r0", since
///     %a = f(%x)                               // the backward fragment reads it
///     %h = spmd.stage_output g(%a, %w)       func.func @stage0_backward(%sum, %a, %gh) -> %sum
///     spmd.fragment backward                   // %sum has the slot sum "g"
///     %g = dot(%a, %gh)                      func.func @stage0_apply(%sum, %w) -> %n
///     %s = spmd.stage_output %g "g" accumulated sum
///     spmd.fragment apply
///     %n = %w - %s
///
///   1. readFragments assigns ops to fragments.
///   2. collectReads finds the values that each fragment reads of others; values that are the same
///      in all microbatches are computed again instead.
///   3. giveUnread gives arguments without a reader to the first fragment.
///   4. emit makes the function of each fragment.
class StageOutliner {
public:
  StageOutliner(func::FuncOp func, bool isOnly) : func(func), isOnly(isOnly) {}

  LogicalResult run();

private:
  struct Fragment {
    StageFragment kind = StageFragment::Forward;
    int64_t round = 0;
    SmallVector<Operation *> ops;
    /// Values of other fragments and arguments of the stage, in order of first use.
    llvm::SetVector<Value> reads;
    llvm::DenseSet<Operation *> copied; // the same in all microbatches
  };

  void readFragments();
  SlotAttr slotOfArgument(unsigned i) { return func.getArgAttrOfType<SlotAttr>(i, kSlotAttr); }

  /// True for a value that is computed from unsplit arguments of the program alone, so that any
  /// fragment may compute it again.
  bool isConstant(Value value);
  void collectReads(Fragment &fragment);
  bool writes(const Fragment &fragment);

  /// Gives each argument that no fragment reads to the first fragment that may take it: every
  /// argument of the program needs a buffer.
  LogicalResult giveUnread();
  std::string getName(const Fragment &fragment);

  /// The slot of a value; values of this stage alone get a new name.
  SlotAttr getSlot(Value value);
  LogicalResult emit(Fragment &fragment);

  func::FuncOp func;
  bool isOnly;
  std::vector<Fragment> fragments;
  SmallVector<Operation *> hoisted; // before the first fragment
  llvm::DenseMap<Operation *, unsigned> fragmentOf;
  llvm::DenseMap<Value, SmallVector<unsigned, 1>> resultsOf;
  llvm::DenseMap<Value, bool> constant;
  /// Values that other fragments read.
  llvm::DenseSet<Value> needed;
  llvm::DenseMap<Value, unsigned> kept;
};

LogicalResult StageOutliner::run() {
  readFragments();
  for (Fragment &fragment : fragments)
    collectReads(fragment);
  if (failed(giveUnread()))
    return failure();
  for (Fragment &fragment : fragments)
    if (failed(emit(fragment)))
      return failure();
  func.erase();
  return success();
}

void StageOutliner::readFragments() {
  for (Operation &op : func.getBody().front()) {
    if (auto begin = dyn_cast<FragmentOp>(op)) {
      fragments.push_back({begin.getFragment().getKind(), begin.getFragment().getRound(), {}, {}, {}});
    } else if (fragments.empty()) {
      hoisted.push_back(&op);
    } else if (!isa<func::ReturnOp>(op)) {
      fragmentOf[&op] = fragments.size() - 1;
      fragments.back().ops.push_back(&op);
    }
  }
  // Ops that passes moved to the start are copied to their readers if they are constant, else
  // belong to the first fragment.
  SmallVector<Operation *> moved;
  for (Operation *op : hoisted)
    if (!llvm::all_of(op->getResults(), [&](Value value) { return isConstant(value); })) {
      fragmentOf[op] = 0;
      moved.push_back(op);
    }
  if (!moved.empty())
    fragments.front().ops.insert(fragments.front().ops.begin(), moved.begin(), moved.end());
  auto returned = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(returned.getOperands()))
    resultsOf[value].push_back(i);
}

bool StageOutliner::isConstant(Value value) {
  auto it = constant.find(value);
  if (it != constant.end())
    return it->second;
  bool result = true;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    SlotAttr slot = slotOfArgument(arg.getArgNumber());
    result = slot && slot.getKind() == SlotKind::Argument && !slot.isMicrobatch();
  } else if (isa<StageOutputOp>(value.getDefiningOp())) {
    result = false;
  } else {
    for (Value operand : Stages::getRead(value.getDefiningOp()))
      result &= isConstant(operand);
  }
  return constant[value] = result;
}

void StageOutliner::collectReads(Fragment &fragment) {
  unsigned index = &fragment - fragments.data();
  SmallVector<Value> pending;
  auto read = [&](Value value) {
    SmallVector<Value> stack{value};
    while (!stack.empty()) {
      Value v = stack.pop_back_val();
      Operation *op = v.getDefiningOp();
      if (op && fragmentOf.lookup(op) == index && fragmentOf.contains(op))
        continue;
      if (op && isConstant(v)) {
        if (fragment.copied.insert(op).second)
          llvm::append_range(stack, Stages::getRead(op));
        continue;
      }
      if (fragment.reads.insert(v) && op)
        needed.insert(v);
    }
  };
  for (Operation *op : fragment.ops)
    for (Value value : Stages::getRead(op))
      read(value);
}

bool StageOutliner::writes(const Fragment &fragment) {
  return llvm::any_of(fragment.ops, [&](Operation *op) {
    auto out = dyn_cast<StageOutputOp>(op);
    return (out && out.getReduction()) || llvm::any_of(op->getResults(), [&](Value value) {
             return resultsOf.contains(value) || needed.contains(value);
           });
  });
}

LogicalResult StageOutliner::giveUnread() {
  SmallVector<Fragment *> kept;
  for (Fragment &fragment : fragments)
    if (writes(fragment))
      kept.push_back(&fragment);
  for (BlockArgument arg : func.getArguments()) {
    if (kept.empty() || llvm::any_of(kept, [&](Fragment *fragment) { return fragment->reads.contains(arg); }))
      continue;
    SlotAttr slot = slotOfArgument(arg.getArgNumber());
    bool isSplit = slot && slot.isMicrobatch();
    auto taker =
        llvm::find_if(kept, [&](Fragment *fragment) { return !isSplit || fragment->kind != StageFragment::Apply; });
    if (taker == kept.end())
      return emitError(arg.getLoc()) << "argument #" << slot.getIndex() << " is split into microbatches and no op that "
                                     << "runs once per microbatch reads it, expected a use, or no spmd.microbatch";
    (*taker)->reads.insert(arg);
  }
  return success();
}

std::string StageOutliner::getName(const Fragment &fragment) {
  int64_t stage = func->getAttrOfType<IntegerAttr>(kStageAttr).getInt();
  std::string name;
  if (fragment.kind == StageFragment::Apply)
    name = fragment.round ? "apply" + std::to_string(fragment.round) : "apply";
  else
    name = isOnly ? "accumulate" : toString(fragment.kind).str();
  return isOnly ? name : "stage" + std::to_string(stage) + "_" + name;
}

SlotAttr StageOutliner::getSlot(Value value) {
  MLIRContext *context = func.getContext();
  if (auto arg = dyn_cast<BlockArgument>(value))
    return slotOfArgument(arg.getArgNumber());
  if (auto out = value.getDefiningOp<StageOutputOp>(); out && out.getReduction())
    return SlotAttr::get(context, SlotKind::Sum, -1, -1, out.getName(), out.getReduction()->getValue());
  auto [it, isNew] = kept.try_emplace(value, kept.size());
  std::string name = (func.getName() + ".r" + Twine(it->second)).str();
  return SlotAttr::get(context, SlotKind::Value, -1, -1, name, ReductionKind::Sum);
}

LogicalResult StageOutliner::emit(Fragment &fragment) {
  OpBuilder b(func);
  SmallVector<Type> inputs;
  SmallVector<NamedAttrList> argAttrs, resultAttrs;
  SmallVector<StageOutputOp> sums;
  IRMapping map;
  for (Operation *op : fragment.ops)
    if (auto out = dyn_cast<StageOutputOp>(op); out && out.getReduction())
      sums.push_back(out);
  // In the order of first use, which for gradients is that of the weights.
  llvm::DenseMap<Operation *, Operation *> firstUser;
  for (StageOutputOp out : sums) {
    Operation *&first = firstUser[out];
    for (Operation *user : out->getUsers()) {
      user = func.getBody().front().findAncestorOpInBlock(*user);
      first = !first || user->isBeforeInBlock(first) ? user : first;
    }
  }
  llvm::stable_sort(sums, [&](StageOutputOp a, StageOutputOp b) {
    Operation *left = firstUser.lookup(a), *right = firstUser.lookup(b);
    return left && (!right || left->isBeforeInBlock(right));
  });
  // Arguments of the stage in their order, then results of other fragments.
  SmallVector<Value> reads(fragment.reads.begin(), fragment.reads.end());
  llvm::stable_sort(reads, [](Value a, Value b) {
    auto left = dyn_cast<BlockArgument>(a), right = dyn_cast<BlockArgument>(b);
    if (left && right)
      return left.getArgNumber() < right.getArgNumber();
    return left && !right;
  });
  // A forward fragment begins with the arguments of the program, the others with their sums.
  const bool isForward = fragment.kind == StageFragment::Forward;
  const unsigned firstSum = isForward ? reads.size() : 0, firstRead = isForward ? 0 : sums.size();
  llvm::DenseMap<Operation *, unsigned> sumOf;
  auto addSums = [&] {
    for (auto [i, out] : llvm::enumerate(sums)) {
      sumOf[out] = i;
      inputs.push_back(out.getType());
      argAttrs.emplace_back().set(kSlotAttr, getSlot(out));
    }
  };
  if (!isForward)
    addSums();
  for (Value value : reads) {
    if (!isa<RankedTensorType>(value.getType()))
      return value.getDefiningOp()->emitError()
             << "a scalar is used in another fragment of the stage, expected tensors";
    inputs.push_back(value.getType());
    NamedAttrList attrs;
    if (auto arg = dyn_cast<BlockArgument>(value))
      attrs = NamedAttrList(func.getArgAttrDict(arg.getArgNumber()));
    attrs.set(kSlotAttr, getSlot(value));
    argAttrs.push_back(attrs);
  }
  if (isForward)
    addSums();

  auto result = func::FuncOp::create(b, func.getLoc(), getName(fragment), b.getFunctionType(inputs, {}));
  for (StringRef name : {kStageAttr, kMeshAttr, kScheduleAttr})
    result->setAttr(name, func->getAttr(name));
  result->setAttr(kFragmentAttr, FragmentAttr::get(func.getContext(), fragment.kind, fragment.round));
  Block *entry = result.addEntryBlock();
  OpBuilder body = OpBuilder::atBlockEnd(entry);
  for (auto [i, value] : llvm::enumerate(reads)) {
    entry->getArgument(firstRead + i).setLoc(value.getLoc());
    map.map(value, entry->getArgument(firstRead + i));
  }
  for (Operation &op : func.getBody().front()) // in program order
    if (fragment.copied.contains(&op))
      body.clone(op, map);
  SmallVector<Value> values(sums.size());
  resultAttrs.resize(sums.size());
  auto addResult = [&](Value value, NamedAttrList attrs) {
    values.push_back(value);
    resultAttrs.push_back(std::move(attrs));
  };
  SmallVector<std::pair<Value, NamedAttrList>> outputs, residuals;
  for (Operation *op : fragment.ops) {
    if (auto out = dyn_cast<StageOutputOp>(op)) {
      Value value = map.lookup(out.getInput());
      if (out.getReduction()) {
        unsigned sum = sumOf.at(out);
        value =
            accumulate(body, out.getLoc(), out.getReduction()->getValue(), entry->getArgument(firstSum + sum), value);
        values[sum] = value;
        resultAttrs[sum].set(kSlotAttr, getSlot(out));
        resultAttrs[sum].set(kTiedAttr, b.getI64IntegerAttr(firstSum + sum));
      }
      map.map(out.getResult(), value);
    } else {
      body.clone(*op, map);
    }
    for (Value value : op->getResults()) {
      for (unsigned i : resultsOf.lookup(value)) {
        NamedAttrList attrs(func.getResultAttrDict(i));
        if (auto tied = dyn_cast_or_null<IntegerAttr>(attrs.get(kTiedAttr))) {
          auto at = llvm::find(reads, Value(func.getArgument(tied.getInt())));
          if (at == reads.end())
            attrs.erase(kTiedAttr);
          else
            attrs.set(kTiedAttr, b.getI64IntegerAttr(firstRead + (at - reads.begin())));
        }
        outputs.push_back({map.lookup(value), attrs});
      }
      auto out = dyn_cast<StageOutputOp>(op);
      if (needed.contains(value) && !(out && out.getReduction())) {
        NamedAttrList attrs;
        attrs.set(kSlotAttr, getSlot(value));
        residuals.push_back({map.lookup(value), attrs});
      }
    }
  }
  for (auto &[value, attrs] : outputs)
    addResult(value, attrs);
  for (auto &[value, attrs] : residuals)
    addResult(value, attrs);
  if (values.empty()) {
    result.erase();
    return success();
  }
  func::ReturnOp::create(body, func.getLoc(), values);
  result.setFunctionType(b.getFunctionType(inputs, llvm::to_vector(ValueRange(values).getTypes())));
  SignatureAttrs signature(result);
  for (auto [i, attrs] : llvm::enumerate(argAttrs))
    signature.arg(i) = attrs;
  for (auto [i, attrs] : llvm::enumerate(resultAttrs))
    signature.result(i) = attrs;
  signature.write();
  return success();
}

} // namespace

LogicalResult spmd::outlineStages(ScheduleOp schedule) {
  auto module = schedule->getParentOfType<ModuleOp>();
  auto name = FlatSymbolRefAttr::get(schedule.getSymNameAttr());
  SmallVector<func::FuncOp> stages;
  for (auto func : module.getOps<func::FuncOp>())
    if (func->getAttrOfType<FlatSymbolRefAttr>(kScheduleAttr) == name)
      stages.push_back(func);
  for (func::FuncOp func : stages)
    if (failed(StageOutliner(func, stages.size() == 1).run()))
      return failure();
  return emitSchedule(schedule);
}
