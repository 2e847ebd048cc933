//===- StableHLOEmitter.cpp - Collectives of StableHLO --------------------===//

#include "StableHLOEmitter.h"
#include "StableHLOOps.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

//===----------------------------------------------------------------------===//
// Ops by name
//===----------------------------------------------------------------------===//

void spmd::loadStableHLO(MLIRContext *context) { context->getOrLoadDialect("stablehlo"); }

LogicalResult spmd::verifyTakesStableHLO(ModuleOp module, StringRef pass) {
  MLIRContext *context = module.getContext();
  if (context->getLoadedDialect("stablehlo") || context->allowsUnregisteredDialects())
    return success();
  return module.emitError() << "--" << pass
                            << " without a dialect stablehlo, expected one, or unregistered dialects to be allowed";
}

Operation *spmd::createStableHLO(OpBuilder &b, Location loc, StringRef name, TypeRange types, ValueRange operands,
                                 ArrayRef<NamedAttribute> attributes, unsigned regions) {
  OperationState state(loc, ("stablehlo." + name).str(), operands, types, attributes);
  for (unsigned i = 0; i < regions; ++i)
    state.addRegion();
  return b.create(state);
}

Value spmd::emitStableHLO(OpBuilder &b, Location loc, StringRef name, Type type, ValueRange operands,
                          ArrayRef<NamedAttribute> attributes) {
  return createStableHLO(b, loc, name, type, operands, attributes)->getResult(0);
}

//===----------------------------------------------------------------------===//
// Digits of ranks
//===----------------------------------------------------------------------===//

/// Those of `digits` that are, or are not, in `others`.
static SmallVector<RankDigit> filterDigits(ArrayRef<RankDigit> digits, ArrayRef<RankDigit> others, bool isIn) {
  return llvm::filter_to_vector(digits, [&](const RankDigit &d) { return llvm::is_contained(others, d) == isIn; });
}

static int64_t countRanks(ArrayRef<RankDigit> digits) {
  int64_t count = 1;
  for (const RankDigit &digit : digits)
    count *= digit.size;
  return count;
}

/// The name of the op of StableHLO that combines two elements as the reduction does; empty if none does. Its integers
/// are signed, and its sum of booleans is their disjunction.
static StringRef getCombiner(ReductionKind kind, Type element) {
  const bool isBool = element.isInteger(1);
  switch (kind) {
  case ReductionKind::Sum:
    return isBool ? "xor" : "add";
  case ReductionKind::Prod:
    return isBool ? "and" : "multiply";
  case ReductionKind::And:
    return "and";
  case ReductionKind::Or:
    return "or";
  case ReductionKind::Xor:
    return "xor";
  case ReductionKind::Max:
    return isBool ? "or" : "maximum";
  case ReductionKind::Min:
    return isBool ? "and" : "minimum";
  default:
    return "";
  }
}

static Value emitReshaped(OpBuilder &b, Location loc, Value value, RankedTensorType type) {
  return value.getType() == type ? value : emitShaped(b, loc, emitFlat(b, loc, value), type);
}

/// [first][other digits][elements]: the dims of `first`, by falling stride, become the first dim.
static Value emitFirst(OpBuilder &b, Location loc, Value value, ArrayRef<RankDigit> digits, ArrayRef<RankDigit> first) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> permutation, shape;
  for (const RankDigit &digit : first)
    permutation.push_back(llvm::find(digits, digit) - digits.begin());
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (d >= int64_t(digits.size()) || !llvm::is_contained(first, digits[d]))
      permutation.push_back(d);
  for (int64_t d : permutation)
    shape.push_back(type.getDimSize(d));
  if (!llvm::is_sorted(permutation)) {
    Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
    value = linalg::TransposeOp::create(b, loc, value, empty, permutation).getResult().front();
  }
  SmallVector<int64_t> rows{countRanks(first)};
  llvm::append_range(rows, ArrayRef(shape).drop_front(first.size()));
  return emitReshaped(b, loc, value, type.clone(rows));
}

/// A dim for each of `digits`, then dims of `rest`.
static Value emitSplit(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> rest, ArrayRef<RankDigit> digits) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape = llvm::map_to_vector(digits, [](const RankDigit &digit) { return digit.size; });
  llvm::append_range(shape, rest);
  return emitReshaped(b, loc, value, type.clone(shape));
}

/// The ops of a move, in their order. Digits are those of the ranks that send, until the devices are permuted.
///
///   x of 2 gathered, y of 2 sliced: blocks are exchanged along x, then x and y change places
struct mlir::spmd::BlockSteps {
  SmallVector<RankDigit> scattered, summed, exchanged, gathered;
  SmallVector<std::pair<int64_t, int64_t>> pairs; ///< (sender, receiver) of the permutation; none if there is none
  SmallVector<RankDigit> own;                     ///< Of which each device takes its own block.
  SmallVector<RankDigit> blocks;                  ///< The digit of each dim of the packed operand.
};

/// std::nullopt if no permutation of the devices completes the move.
static std::optional<BlockSteps> getSteps(const BlockMove &move, int64_t devices) {
  BlockSteps steps;
  SmallVector<EqualDigits> moved = llvm::filter_to_vector(
      move.getConditions(), [](const EqualDigits &equal) { return !(equal.sender == equal.reader); });
  const SmallVector<RankDigit> sliced = move.getSlicedDigits();
  SmallVector<RankDigit> summed(move.getReducedDigits()), gathered = move.getGatheredDigits();
  auto take = [](SmallVectorImpl<RankDigit> &digits, llvm::function_ref<bool(const RankDigit &)> fits) {
    const auto *it = llvm::find_if(digits, fits);
    if (it == digits.end())
      return std::optional<RankDigit>();
    RankDigit digit = *it;
    digits.erase(it);
    return std::optional(digit);
  };
  // 1. Blocks go along the digit that they are sliced by, or else along another one that is combined or gathered.
  steps.blocks.resize(sliced.size(), {0, 0});
  for (bool isSame : {true, false})
    for (auto [digit, block] : llvm::zip(sliced, steps.blocks)) {
      auto fits = [&](const RankDigit &d) { return isSame ? d == digit : d.size == digit.size; };
      if (block.size != 0)
        continue;
      if (std::optional<RankDigit> along = take(summed, fits))
        steps.scattered.push_back(block = *along);
      else if (std::optional<RankDigit> along = take(gathered, fits))
        steps.exchanged.push_back(block = *along);
    }
  // 2. Then the devices change places.
  for (auto [digit, block] : llvm::zip(sliced, steps.blocks)) {
    if (block.size == 0)
      steps.own.push_back(block = digit);
    else if (!(block == digit))
      moved.push_back({block, digit});
  }
  if (!moved.empty()) {
    auto pairs = getPermutation(std::move(moved), devices);
    if (!pairs)
      return std::nullopt;
    steps.pairs = std::move(*pairs);
  }
  auto falling = [](const RankDigit &a, const RankDigit &b) { return a.stride > b.stride; };
  for (SmallVector<RankDigit> *digits : {&steps.scattered, &steps.exchanged, &steps.own})
    llvm::sort(*digits, falling);
  steps.summed = std::move(summed);
  steps.gathered = std::move(gathered);
  return steps;
}

//===----------------------------------------------------------------------===//
// StableHLOEmitter
//===----------------------------------------------------------------------===//

NamedAttribute StableHLOEmitter::makeChannel(Builder &b) {
  std::string text = "#stablehlo.channel_handle<handle = " + std::to_string(++channels) + ", type = 1>";
  return b.getNamedAttr("channel_handle", parseAttribute(text, b.getContext()));
}

static NamedAttribute makePairs(Builder &b, StringRef name, ArrayRef<int64_t> numbers, int64_t rows) {
  auto type = RankedTensorType::get({rows, int64_t(numbers.size()) / rows}, b.getI64Type());
  return b.getNamedAttr(name, DenseIntElementsAttr::get(type, numbers));
}

Value StableHLOEmitter::emitGroups(OpBuilder &b, Location loc, StringRef name, Type type, Value value,
                                   ArrayRef<SmallVector<int64_t>> groups, SmallVector<NamedAttribute> attributes,
                                   std::optional<ReductionKind> reduction) {
  SmallVector<int64_t> numbers;
  for (ArrayRef<int64_t> group : groups)
    llvm::append_range(numbers, group);
  attributes.push_back(makePairs(b, "replica_groups", numbers, groups.size()));
  attributes.push_back(makeChannel(b));
  if (name != "all_to_all")
    attributes.push_back(b.getNamedAttr("use_global_device_ids", b.getUnitAttr()));
  Operation *op = createStableHLO(b, loc, name, type, value, attributes, reduction ? 1 : 0);
  if (reduction) {
    OpBuilder::InsertionGuard guard(b);
    Type scalar = RankedTensorType::get({}, getElementTypeOrSelf(type));
    Block *body = b.createBlock(&op->getRegion(0), {}, {scalar, scalar}, {loc, loc});
    Value combined =
        emitStableHLO(b, loc, getCombiner(*reduction, getElementTypeOrSelf(type)), scalar, body->getArguments());
    createStableHLO(b, loc, "return", {}, combined);
  }
  return op->getResult(0);
}

Value StableHLOEmitter::emitPermuted(OpBuilder &b, Location loc, Value value,
                                     ArrayRef<std::pair<int64_t, int64_t>> pairs) {
  SmallVector<int64_t> numbers;
  for (auto [sender, receiver] : pairs)
    numbers.append({sender, receiver});
  return emitStableHLO(b, loc, "collective_permute", value.getType(), value,
                       {makePairs(b, "source_target_pairs", numbers, pairs.size()), makeChannel(b)});
}

Value StableHLOEmitter::emitRank(RewriterBase &b, Operation *op) {
  Location loc = op->getLoc();
  Type unsignedType = RankedTensorType::get({}, IntegerType::get(b.getContext(), 32, IntegerType::Unsigned));
  Value id = emitStableHLO(b, loc, "partition_id", unsignedType, {});
  id = emitStableHLO(b, loc, "convert", RankedTensorType::get({}, b.getI32Type()), id);
  Value number = tensor::ExtractOp::create(b, loc, id, ValueRange());
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
}

/// The row of this device.
Value StableHLOEmitter::emitOwn(RewriterBase &b, Operation *op, Value rows, ArrayRef<RankDigit> digits) {
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(rows.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1)),
      sizes;
  offsets[0] = Members(digits).emitMember(b, loc, emitRank(b, op));
  for (int64_t size : type.getShape())
    sizes.push_back(b.getIndexAttr(sizes.empty() ? 1 : size));
  return tensor::ExtractSliceOp::create(b, loc, rows, offsets, sizes, strides);
}

LogicalResult StableHLOEmitter::emitError(CollectiveToEmit &collective) {
  InFlightDiagnostic diag = collective.op->emitError();
  if (collective.form.reduction &&
      getCombiner(*collective.form.reduction, collective.inputType.getElementType()).empty())
    diag << "combines elements in a way that StableHLO has no op for";
  else if (!collective.form.transfer.segments.empty())
    diag << "moves shards that are not even";
  else if (collective.form.isReordered())
    diag << "moves elements between meshes that list the devices in different orders";
  else
    diag << "moves elements in a way that StableHLO has no op for";
  diag << ", expected dims that devices divide, on one mesh: ShardKit itself runs such a program";
  return failure();
}

/// One op for each class of digits.
Value StableHLOEmitter::emitBlocks(RewriterBase &b, CollectiveToEmit &collective, const BlockMove &move,
                                   const BlockSteps &steps) {
  Location loc = collective.op->getLoc();
  const ClosedForm &form = collective.form;
  auto type = [](Value value, int64_t rows) {
    auto old = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(old.getShape());
    shape[0] = rows;
    return old.clone(shape);
  };
  auto number = [&](StringRef name, int64_t value) { return b.getNamedAttr(name, b.getI64IntegerAttr(value)); };
  if (form.reduction && collective.inputType == collective.resultType && move.numBlocks() == 1 && move.isInOrder() &&
      steps.gathered.empty() && steps.pairs.empty())
    return emitCollective(b, loc, "all_reduce", collective.resultType, collective.input, steps.summed, form.devices, {},
                          form.reduction);
  SmallVector<RankDigit> digits = steps.blocks;
  Value value = emitSplit(b, loc, move.emitPacked(b, loc, collective.input), {move.blockElements()}, digits);
  // Brings `first` to the front, applies `emit` to the rows, and leaves dims for `left` of them.
  auto apply = [&](ArrayRef<RankDigit> first, ArrayRef<RankDigit> left, llvm::function_ref<Value(Value)> emit) {
    if (first.empty())
      return;
    SmallVector<RankDigit> others = filterDigits(digits, first, false);
    Value rows = emit(emitFirst(b, loc, value, digits, filterDigits(first, digits, true)));
    value = emitSplit(b, loc, rows, cast<RankedTensorType>(rows.getType()).getShape().drop_front(), left);
    digits.assign(left.begin(), left.end());
    llvm::append_range(digits, others);
  };
  apply(steps.scattered, {}, [&](Value rows) {
    return emitCollective(b, loc, "reduce_scatter", type(rows, 1), rows, steps.scattered, form.devices,
                          {number("scatter_dimension", 0)}, form.reduction);
  });
  if (!steps.summed.empty())
    value =
        emitCollective(b, loc, "all_reduce", value.getType(), value, steps.summed, form.devices, {}, form.reduction);
  apply(steps.exchanged, steps.exchanged, [&](Value rows) {
    return emitCollective(b, loc, "all_to_all", rows.getType(), rows, steps.exchanged, form.devices,
                          {number("split_dimension", 0), number("concat_dimension", 0),
                           number("split_count", countRanks(steps.exchanged))});
  });
  // What devices take of their own, before others gather it, unless they change places in between.
  auto takeOwn = [&] { apply(steps.own, {}, [&](Value rows) { return emitOwn(b, collective.op, rows, steps.own); }); };
  if (steps.pairs.empty())
    takeOwn();
  apply(steps.gathered, steps.gathered, [&](Value rows) {
    return emitCollective(b, loc, "all_gather", type(rows, countRanks(steps.gathered)), rows, steps.gathered,
                          form.devices, {number("all_gather_dim", 0)});
  });
  if (!steps.pairs.empty()) {
    value = emitPermuted(b, loc, value, steps.pairs);
    takeOwn();
  }
  value = emitFlat(b, loc, emitFirst(b, loc, value, digits, move.getGatheredDigits()));
  return move.emitUnpacked(b, loc, value, collective.resultType);
}

/// Of the operands of all members of the group.
Value StableHLOEmitter::emitGathered(RewriterBase &b, CollectiveToEmit &collective) {
  Location loc = collective.op->getLoc();
  SmallVector<RankDigit, 2> digits;
  if (readsOthers(collective.form))
    digits = collective.form.getDigits();
  Members members(digits);
  Value flat = emitFlat(b, loc, collective.input);
  auto type = cast<RankedTensorType>(flat.getType());
  Value rows = emitShaped(b, loc, flat, type.clone({1, type.getNumElements()}));
  if (members.size() > 1)
    rows = emitCollective(b, loc, "all_gather", type.clone({members.size(), type.getNumElements()}), rows, digits,
                          collective.form.devices, {b.getNamedAttr("all_gather_dim", b.getI64IntegerAttr(0))});
  return emitFromGathered(b, collective, members, rows, emitRank(b, collective.op));
}

FailureOr<Value> StableHLOEmitter::emit(RewriterBase &b, CollectiveToEmit &collective) {
  const ClosedForm &form = collective.form;
  std::optional<BlockMove> move = BlockMove::get(form);
  const bool combines = !form.reduction || !getCombiner(*form.reduction, collective.inputType.getElementType()).empty();
  if (std::optional<BlockSteps> steps = move && combines ? getSteps(*move, form.devices) : std::nullopt)
    return emitBlocks(b, collective, *move, *steps);
  if (auto halo = dyn_cast<HaloExchangeOp>(*collective.op); halo && withoutOp == WithoutOp::Error)
    return emitWindows(b, halo, collective);
  if (auto exchange = dyn_cast<ExchangeOp>(*collective.op); exchange && withoutOp == WithoutOp::Error)
    return emitThroughFullDims(b, exchange, collective);
  if (withoutOp == WithoutOp::Error || isa<ComplexType>(collective.inputType.getElementType()))
    return emitError(collective);
  return emitGathered(b, collective);
}
