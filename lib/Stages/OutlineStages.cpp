//===- OutlineStages.cpp - A function of each part of a stage -------------===//

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

/// acc combined with what one more microbatch computes.
Value accumulate(OpBuilder &b, Location loc, ReductionKind kind, Value acc, Value part) {
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
  return linalg::GenericOp::create(b, loc, type, part, acc, maps, loops, combine).getResult(0);
}

class StageSplitter {
public:
  StageSplitter(func::FuncOp func, bool isOnly) : func(func), isOnly(isOnly) {}

  LogicalResult run() {
    readParts();
    for (Part &part : parts)
      collectReads(part);
    if (failed(giveUnread()))
      return failure();
    for (Part &part : parts)
      if (failed(emit(part)))
        return failure();
    func.erase();
    return success();
  }

private:
  struct Part {
    PipelinePart part = PipelinePart::Forward;
    int64_t round = 0;
    SmallVector<Operation *> ops;
    /// Of other parts or arguments of the stage, in order of first use.
    llvm::SetVector<Value> reads;
    llvm::DenseSet<Operation *> copied; // what is the same in all microbatches
  };

  void readParts() {
    for (Operation &op : func.getBody().front()) {
      if (auto begin = dyn_cast<FragmentOp>(op)) {
        parts.push_back({begin.getPart(), int64_t(begin.getRound().value_or(0)), {}, {}, {}});
      } else if (parts.empty()) {
        hoisted.push_back(&op);
      } else if (!isa<func::ReturnOp>(op)) {
        partOf[&op] = parts.size() - 1;
        parts.back().ops.push_back(&op);
      }
    }
    // What passes move to the start is copied where it is read, or else belongs to the first part.
    SmallVector<Operation *> own;
    for (Operation *op : hoisted)
      if (!llvm::all_of(op->getResults(), [&](Value value) { return isConstant(value); })) {
        partOf[op] = 0;
        own.push_back(op);
      }
    if (!own.empty())
      parts.front().ops.insert(parts.front().ops.begin(), own.begin(), own.end());
    auto returned = cast<func::ReturnOp>(func.getBody().front().getTerminator());
    for (auto [i, value] : llvm::enumerate(returned.getOperands()))
      resultsOf[value].push_back(i);
  }

  SlotAttr slotOfArgument(unsigned i) { return func.getArgAttrOfType<SlotAttr>(i, kSlotAttr); }

  /// Made of whole arguments of the program alone, so that any part may compute it again.
  bool isConstant(Value value) {
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

  void collectReads(Part &part) {
    unsigned own = &part - parts.data();
    SmallVector<Value> pending;
    auto read = [&](Value value) {
      SmallVector<Value> stack{value};
      while (!stack.empty()) {
        Value v = stack.pop_back_val();
        Operation *op = v.getDefiningOp();
        if (op && partOf.lookup(op) == own && partOf.contains(op))
          continue;
        if (op && isConstant(v)) {
          if (part.copied.insert(op).second)
            llvm::append_range(stack, Stages::getRead(op));
          continue;
        }
        if (part.reads.insert(v) && op)
          needed.insert(v);
      }
    };
    for (Operation *op : part.ops)
      for (Value value : Stages::getRead(op))
        read(value);
  }

  bool writes(const Part &part) {
    return llvm::any_of(part.ops, [&](Operation *op) {
      auto out = dyn_cast<StageOutputOp>(op);
      return (out && out.getReduction()) || llvm::any_of(op->getResults(), [&](Value value) {
               return resultsOf.contains(value) || needed.contains(value);
             });
    });
  }

  /// The program has a place for every argument: what no part reads, the first one takes.
  LogicalResult giveUnread() {
    SmallVector<Part *> kept;
    for (Part &part : parts)
      if (writes(part))
        kept.push_back(&part);
    for (BlockArgument arg : func.getArguments()) {
      if (kept.empty() || llvm::any_of(kept, [&](Part *part) { return part->reads.contains(arg); }))
        continue;
      SlotAttr slot = slotOfArgument(arg.getArgNumber());
      bool isCut = slot && slot.isMicrobatch();
      auto taker = llvm::find_if(kept, [&](Part *part) { return !isCut || part->part != PipelinePart::Apply; });
      if (taker == kept.end())
        return emitError(arg.getLoc()) << "argument #" << slot.getIndex()
                                       << " is cut into microbatches and nothing that "
                                       << "runs once per microbatch reads it, expected it to be used, or whole";
      (*taker)->reads.insert(arg);
    }
    return success();
  }

  std::string getName(const Part &part) {
    int64_t stage = func->getAttrOfType<IntegerAttr>(kStageAttr).getInt();
    std::string name;
    if (part.part == PipelinePart::Apply)
      name = part.round ? "apply" + std::to_string(part.round) : "apply";
    else
      name = isOnly ? "accumulate" : stringifyPipelinePart(part.part).str();
    return isOnly ? name : "stage" + std::to_string(stage) + "_" + name;
  }

  /// What a value of this stage alone is called.
  SlotAttr getSlot(Value value) {
    MLIRContext *context = func.getContext();
    if (auto arg = dyn_cast<BlockArgument>(value))
      return slotOfArgument(arg.getArgNumber());
    if (auto out = value.getDefiningOp<StageOutputOp>(); out && out.getReduction())
      return SlotAttr::get(context, SlotKind::Sum, -1, -1, out.getName(), out.getReduction()->getValue());
    auto [it, isNew] = kept.try_emplace(value, kept.size());
    std::string name = (func.getName() + ".r" + Twine(it->second)).str();
    return SlotAttr::get(context, SlotKind::Value, -1, -1, name, ReductionKind::Sum);
  }

  LogicalResult emit(Part &part) {
    OpBuilder b(func);
    SmallVector<Type> inputs;
    SmallVector<NamedAttrList> argAttrs, resultAttrs;
    SmallVector<StageOutputOp> sums;
    IRMapping map;
    for (Operation *op : part.ops)
      if (auto out = dyn_cast<StageOutputOp>(op); out && out.getReduction())
        sums.push_back(out);
    // In the order in which they are used: that of the weights, for gradients.
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
    // Arguments of the stage in their order, then what other parts made.
    SmallVector<Value> reads(part.reads.begin(), part.reads.end());
    llvm::stable_sort(reads, [](Value a, Value b) {
      auto left = dyn_cast<BlockArgument>(a), right = dyn_cast<BlockArgument>(b);
      if (left && right)
        return left.getArgNumber() < right.getArgNumber();
      return left && !right;
    });
    // A forward part begins with what the program is given, the others with their sums.
    const bool isForward = part.part == PipelinePart::Forward;
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
        return value.getDefiningOp()->emitError() << "a scalar is used in another part of the stage, expected tensors";
      inputs.push_back(value.getType());
      NamedAttrList attrs;
      if (auto arg = dyn_cast<BlockArgument>(value))
        attrs = NamedAttrList(func.getArgAttrDict(arg.getArgNumber()));
      attrs.set(kSlotAttr, getSlot(value));
      argAttrs.push_back(attrs);
    }
    if (isForward)
      addSums();

    auto result = func::FuncOp::create(b, func.getLoc(), getName(part), b.getFunctionType(inputs, {}));
    for (StringRef name : {kStageAttr, kMeshAttr, kScheduleAttr})
      result->setAttr(name, func->getAttr(name));
    Block *entry = result.addEntryBlock();
    OpBuilder body = OpBuilder::atBlockEnd(entry);
    for (auto [i, value] : llvm::enumerate(reads)) {
      entry->getArgument(firstRead + i).setLoc(value.getLoc());
      map.map(value, entry->getArgument(firstRead + i));
    }
    for (Operation &op : func.getBody().front()) // in program order
      if (part.copied.contains(&op))
        body.clone(op, map);
    SmallVector<Value> values(sums.size());
    resultAttrs.resize(sums.size());
    auto addResult = [&](Value value, NamedAttrList attrs) {
      values.push_back(value);
      resultAttrs.push_back(std::move(attrs));
    };
    SmallVector<std::pair<Value, NamedAttrList>> outputs, residuals;
    for (Operation *op : part.ops) {
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

  func::FuncOp func;
  bool isOnly;
  std::vector<Part> parts;
  SmallVector<Operation *> hoisted; // before the first part
  llvm::DenseMap<Operation *, unsigned> partOf;
  llvm::DenseMap<Value, SmallVector<unsigned, 1>> resultsOf;
  llvm::DenseMap<Value, bool> constant;
  /// Values that other parts read.
  llvm::DenseSet<Value> needed;
  llvm::DenseMap<Value, unsigned> kept;
};

} // namespace

LogicalResult spmd::splitStages(ScheduleOp schedule) {
  auto module = schedule->getParentOfType<ModuleOp>();
  auto name = FlatSymbolRefAttr::get(schedule.getSymNameAttr());
  SmallVector<func::FuncOp> stages;
  for (auto func : module.getOps<func::FuncOp>())
    if (func->getAttrOfType<FlatSymbolRefAttr>(kScheduleAttr) == name)
      stages.push_back(func);
  for (func::FuncOp func : stages)
    if (failed(StageSplitter(func, stages.size() == 1).run()))
      return failure();
  return emitSchedule(schedule);
}
