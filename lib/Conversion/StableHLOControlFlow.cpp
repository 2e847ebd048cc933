//===- StableHLOControlFlow.cpp - Loops and branches of StableHLO as scf --===//
//
// Ops of StableHLO are in generic form and have not been verified.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_CONVERTSTABLEHLOCONTROLFLOWTOSCFPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

bool isNamed(Operation *op, StringRef name) { return op && op->getName().getStringRef() == name; }

/// The number of a `stablehlo.constant` of a signless integer.
std::optional<int64_t> getConstant(Value value) {
  Operation *op = value.getDefiningOp();
  auto dense = isNamed(op, "stablehlo.constant") ? op->getAttrOfType<DenseIntElementsAttr>("value") : nullptr;
  if (!dense || !dense.isSplat() || !dense.getElementType().isSignlessInteger())
    return std::nullopt;
  APInt number = dense.getSplatValue<APInt>();
  return number.getSignificantBits() <= 64 ? std::optional(number.getSExtValue()) : std::nullopt;
}

/// The value that counts the trips of a loop.
struct Counter {
  unsigned number;
  int64_t first, step;
  Value end;
};

/// Replaces one op. Each method returns a failure after its error.
class Converter {
public:
  Converter(Operation *op, SymbolTableCollection &symbols) : op(op), b(op), loc(op->getLoc()), symbols(symbols) {}
  LogicalResult convertWhile();
  LogicalResult convertIf();
  LogicalResult convertCase();
  LogicalResult splitBarrier();
  LogicalResult callComposite();

private:
  LogicalResult fail(const Twine &expected) const {
    return op->emitError() << "'" << op->getName() << "' is not well formed, expected " << expected;
  }
  /// Whether a region is one block of these arguments that ends in `stablehlo.return` of these types.
  bool yields(Region &region, TypeRange arguments, TypeRange types) const {
    return region.hasOneBlock() && region.front().getArgumentTypes() == arguments && !region.front().empty() &&
           isNamed(&region.front().back(), "stablehlo.return") && region.front().back().getOperandTypes() == types;
  }
  static bool isScalar(Type type, bool isPredicate) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 0 &&
           (isPredicate ? tensor.getElementType().isInteger(1) : tensor.getElementType().isSignlessInteger());
  }
  std::optional<Counter> findCounter() const;
  void makeFor(const Counter &counter, ArrayRef<unsigned> carried);
  void makeWhile(ArrayRef<unsigned> carried);
  /// Both regions read values that the body yields unchanged as they were before the loop. Returns the numbers of the
  /// others.
  SmallVector<unsigned> captureUnchanged();
  /// Moves the ops of the only block of `from` to the end of `to`; its arguments become `arguments`. Replaces the
  /// terminator by `scf.yield` of the operands whose numbers are `kept`.
  void moveBody(Region &from, Block *to, ValueRange arguments, ArrayRef<unsigned> kept);
  void moveBranches(Operation *made, ArrayRef<Region *> to);
  Value extract(OpBuilder &builder, Value scalar) const {
    return tensor::ExtractOp::create(builder, loc, scalar, ValueRange());
  }
  Value toIndex(Value scalar) { return arith::IndexCastOp::create(b, loc, b.getIndexType(), extract(b, scalar)); }
  /// Replaces the results by `values`, those that are `kept` by results of `made`, in order.
  void replaceBy(ArrayRef<Value> values, Operation *made, ArrayRef<unsigned> kept) {
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    if (auto all = op->getAttrOfType<ArrayAttr>(kShardingsAttr); all && all.size() == op->getNumResults())
      made->setDiscardableAttr(kShardingsAttr,
                               b.getArrayAttr(llvm::map_to_vector(kept, [&](unsigned i) { return all[i]; })));
    op->replaceAllUsesWith(ValueRange(values));
    op->erase();
  }
  Operation *getEnd(unsigned region) const { return &op->getRegion(region).front().back(); }

  Operation *op;
  OpBuilder b;
  Location loc;
  SymbolTableCollection &symbols;
};

} // namespace

void Converter::moveBody(Region &from, Block *to, ValueRange arguments, ArrayRef<unsigned> kept) {
  Block &block = from.front();
  for (auto [old, value] : llvm::zip(block.getArguments(), arguments))
    old.replaceAllUsesWith(value);
  Operation *end = &block.back();
  auto yielded = llvm::map_to_vector(kept, [&](unsigned i) { return end->getOperand(i); });
  Location endLoc = end->getLoc();
  end->erase();
  to->getOperations().splice(to->end(), block.getOperations());
  OpBuilder inner = OpBuilder::atBlockEnd(to);
  scf::YieldOp::create(inner, endLoc, yielded);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<unsigned> Converter::captureUnchanged() {
  Block &condition = op->getRegion(0).front(), &body = op->getRegion(1).front();
  SmallVector<unsigned> carried;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    if (getEnd(1)->getOperand(i) != body.getArgument(i)) {
      carried.push_back(i);
      continue;
    }
    condition.getArgument(i).replaceAllUsesWith(op->getOperand(i));
    body.getArgument(i).replaceAllUsesWith(op->getOperand(i));
    op->getResult(i).replaceAllUsesWith(op->getOperand(i));
  }
  return carried;
}

/// The condition is `count < end`, and the body yields `count + step`.
std::optional<Counter> Converter::findCounter() const {
  Block &condition = op->getRegion(0).front(), &body = op->getRegion(1).front();
  Operation *test = getEnd(0)->getOperand(0).getDefiningOp();
  if (!isNamed(test, "stablehlo.compare") || test->getBlock() != &condition || test->getNumOperands() != 2)
    return std::nullopt;
  std::string direction;
  llvm::raw_string_ostream(direction) << test->getAttr("comparison_direction");
  auto count = dyn_cast<BlockArgument>(test->getOperand(0));
  Value end = test->getOperand(1);
  if (!StringRef(direction).contains(" LT>") || !count || count.getOwner() != &condition ||
      !isScalar(count.getType(), /*isPredicate=*/false) || end.getType() != count.getType())
    return std::nullopt;
  unsigned i = count.getArgNumber();
  Operation *add = getEnd(1)->getOperand(i).getDefiningOp();
  if (!isNamed(add, "stablehlo.add") || add->getNumOperands() != 2 || add->getOperand(0) != body.getArgument(i))
    return std::nullopt;
  std::optional<int64_t> first = getConstant(op->getOperand(i)), step = getConstant(add->getOperand(1)),
                         last = getConstant(end);
  // Sums that overflow would count on; so would steps beyond an end that is not known.
  const unsigned width = cast<RankedTensorType>(count.getType()).getElementTypeBitWidth();
  const bool isDefinedBefore = end.getParentRegion()->isProperAncestor(&op->getRegion(0));
  if (!first || !step || *first < 0 || *step < 1 || !(last || (isDefinedBefore && *step == 1)) || width > 64 ||
      (last && *last > llvm::maxIntN(width) - *step))
    return std::nullopt;
  return Counter{i, *first, *step, end};
}

void Converter::makeFor(const Counter &counter, ArrayRef<unsigned> carried) {
  auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value).getResult(); };
  std::optional<int64_t> last = getConstant(counter.end);
  SmallVector<Value> inits = llvm::map_to_vector(carried, [&](unsigned i) { return op->getOperand(i); });
  auto loop = scf::ForOp::create(b, loc, number(counter.first), last ? number(*last) : toIndex(counter.end),
                                 number(counter.step), inits);
  // With no values to carry the body has a terminator already.
  loop.getBody()->clear();
  // The count in the loop, and after it.
  auto type = cast<RankedTensorType>(op->getOperand(counter.number).getType());
  auto toTensor = [&](OpBuilder &builder, Value index) -> Value {
    Value scalar = arith::IndexCastOp::create(builder, loc, type.getElementType(), index);
    return tensor::FromElementsOp::create(builder, loc, type, scalar);
  };
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  SmallVector<Value> arguments(op->getOperands()), results(op->getOperands());
  arguments[counter.number] = toTensor(inner, loop.getInductionVar());
  for (auto [i, argument, result] : llvm::zip(carried, loop.getRegionIterArgs(), loop.getResults())) {
    arguments[i] = argument;
    results[i] = result;
  }
  if (!op->getResult(counter.number).use_empty()) {
    Value end = last ? number(std::max(counter.first,
                                       counter.first +
                                           llvm::divideCeilSigned(*last - counter.first, counter.step) * counter.step))
                     : Value(arith::MaxSIOp::create(b, loc, loop.getUpperBound(), loop.getLowerBound()));
    results[counter.number] = toTensor(b, end);
  }
  moveBody(op->getRegion(1), loop.getBody(), arguments, carried);
  replaceBy(results, loop, carried);
}

void Converter::makeWhile(ArrayRef<unsigned> carried) {
  SmallVector<Value> inits = llvm::map_to_vector(carried, [&](unsigned i) { return op->getOperand(i); });
  auto loop = scf::WhileOp::create(b, loc, TypeRange(ValueRange(inits)), inits);
  SmallVector<Location> locs(inits.size(), loc);
  SmallVector<Value> results(op->getOperands());
  auto addBlock = [&](Region &region) {
    Block *block = b.createBlock(&region, {}, TypeRange(ValueRange(inits)), locs);
    SmallVector<Value> arguments(op->getOperands());
    for (auto [i, argument] : llvm::zip(carried, block->getArguments()))
      arguments[i] = argument;
    return std::pair(block, arguments);
  };
  auto [before, tested] = addBlock(loop.getBefore());
  moveBody(op->getRegion(0), before, tested, 0u);
  Operation *yield = before->getTerminator();
  b.setInsertionPoint(yield);
  scf::ConditionOp::create(b, yield->getLoc(), extract(b, yield->getOperand(0)), before->getArguments());
  yield->erase();
  auto [after, arguments] = addBlock(loop.getAfter());
  moveBody(op->getRegion(1), after, arguments, carried);
  for (auto [i, result] : llvm::zip(carried, loop.getResults()))
    results[i] = result;
  replaceBy(results, loop, carried);
}

LogicalResult Converter::convertWhile() {
  TypeRange types = op->getOperandTypes();
  if (op->getNumRegions() != 2 || op->getResultTypes() != types || !op->getRegion(0).hasOneBlock() ||
      op->getRegion(0).front().empty() || getEnd(0)->getNumOperands() != 1 ||
      !isScalar(getEnd(0)->getOperand(0).getType(), /*isPredicate=*/true) ||
      !yields(op->getRegion(0), types, getEnd(0)->getOperandTypes()) || !yields(op->getRegion(1), types, types))
    return fail("a region that returns tensor<i1>, one that returns the results, and arguments of their types");
  SmallVector<unsigned> carried = captureUnchanged();
  if (std::optional<Counter> counter = findCounter()) {
    llvm::erase(carried, counter->number);
    makeFor(*counter, carried);
  } else {
    makeWhile(carried);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

void Converter::moveBranches(Operation *made, ArrayRef<Region *> to) {
  auto all = llvm::to_vector(llvm::seq(op->getNumResults()));
  for (auto [from, region] : llvm::zip(op->getRegions(), to))
    moveBody(from, &region->emplaceBlock(), {}, all);
  replaceBy(SmallVector<Value>(made->getResults()), made, all);
}

LogicalResult Converter::convertIf() {
  auto isBranch = [&](Region &region) { return yields(region, {}, op->getResultTypes()); };
  if (op->getNumOperands() != 1 || !isScalar(op->getOperand(0).getType(), /*isPredicate=*/true) ||
      op->getNumRegions() != 2 || !llvm::all_of(op->getRegions(), isBranch))
    return fail("a predicate of type tensor<i1> and two regions that return the results");
  auto made = scf::IfOp::create(b, loc, op->getResultTypes(), extract(b, op->getOperand(0)), /*addThenBlock=*/false,
                                /*addElseBlock=*/false);
  moveBranches(made, {&made.getThenRegion(), &made.getElseRegion()});
  return success();
}

LogicalResult Converter::convertCase() {
  auto isBranch = [&](Region &region) { return yields(region, {}, op->getResultTypes()); };
  if (op->getNumOperands() != 1 || !isScalar(op->getOperand(0).getType(), /*isPredicate=*/false) ||
      op->getNumRegions() == 0 || !llvm::all_of(op->getRegions(), isBranch))
    return fail("an index of type tensor<i32> and regions that return the results");
  const unsigned count = op->getNumRegions() - 1;
  auto made = scf::IndexSwitchOp::create(b, loc, op->getResultTypes(), toIndex(op->getOperand(0)),
                                         llvm::to_vector(llvm::seq<int64_t>(count)), count);
  auto regions = llvm::map_to_vector(made.getCaseRegions(), [](Region &region) { return &region; });
  regions.push_back(&made.getDefaultRegion());
  moveBranches(made, regions);
  return success();
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

LogicalResult Converter::splitBarrier() {
  if (op->getOperandTypes() != op->getResultTypes())
    return fail("results of the types of its operands");
  if (op->getNumOperands() == 1)
    return success();
  auto all = op->getAttrOfType<ArrayAttr>(kShardingsAttr);
  SmallVector<Value> results;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    OperationState state(loc, op->getName(), operand, operand.getType(), op->getAttrs());
    if (all && all.size() == op->getNumResults())
      state.attributes.set(kShardingsAttr, b.getArrayAttr(all[i]));
    results.push_back(b.create(state)->getResult(0));
  }
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//

/// What a composite does is its decomposition: shardings propagate through that.
LogicalResult Converter::callComposite() {
  auto name = op->getAttrOfType<FlatSymbolRefAttr>("decomposition");
  auto function = name ? symbols.lookupNearestSymbolFrom<func::FuncOp>(op, name) : func::FuncOp();
  if (!function || function.getArgumentTypes() != op->getOperandTypes() ||
      function.getResultTypes() != op->getResultTypes())
    return fail("a decomposition: a function of the module that has the types of its operands and results");
  auto call = func::CallOp::create(b, loc, function, op->getOperands());
  if (Attribute shardings = op->getAttr(kShardingsAttr))
    call->setAttr(kShardingsAttr, shardings);
  op->replaceAllUsesWith(call);
  op->erase();
  return success();
}

namespace {

struct ConvertStableHLOControlFlowToSCFPass
    : public spmd::impl::ConvertStableHLOControlFlowToSCFPassBase<ConvertStableHLOControlFlowToSCFPass> {
  using Base::Base;
  void runOnOperation() override {
    using Method = LogicalResult (Converter::*)();
    SmallVector<std::pair<Operation *, Method>> found;
    getOperation().walk([&](Operation *op) {
      auto method = llvm::StringSwitch<Method>(op->getName().getStringRef())
                        .Case("stablehlo.while", &Converter::convertWhile)
                        .Case("stablehlo.if", &Converter::convertIf)
                        .Case("stablehlo.case", &Converter::convertCase)
                        .Case("stablehlo.composite", &Converter::callComposite)
                        .Case("stablehlo.optimization_barrier", &Converter::splitBarrier)
                        .Default(nullptr);
      if (method)
        found.push_back({op, method});
    });
    SymbolTableCollection symbols;
    // Inner ones first.
    for (auto [op, method] : found)
      if (Converter converter(op, symbols); failed((converter.*method)()))
        return signalPassFailure();
  }
};

} // namespace
