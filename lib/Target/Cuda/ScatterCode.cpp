//===- ScatterCode.cpp - Scatters in kernels ------------------------------===//

#include "ScatterCode.h"
#include "PieceEmitter.h"

using namespace mlir;
using namespace mlir::spmd::cuda;

/// Pairs of an element and an update that take less time than the start of two kernels.
static constexpr int64_t kFewPairs = 64 * 1024;
/// The size of a loop that only the run knows, for the comparison of work.
static constexpr int64_t kUnknownSize = 1024;

std::optional<DeviceScatter> spmd::cuda::getDeviceScatter(linalg::LinalgOp op) {
  std::optional<target::Scatter> match = target::Scatter::match(op);
  if (!match)
    return std::nullopt;
  DeviceScatter scatter(*match);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  double batches = 1, updates = 1, along = 1, elements = 1;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    const int64_t size = ShapedType::isDynamic(ranges[loop]) ? kUnknownSize : ranges[loop];
    auto add = [&, loop = loop](SmallVectorImpl<unsigned> &loops, double &count) {
      loops.push_back(loop);
      count *= double(size);
    };
    if (kind == utils::IteratorType::reduction)
      add(scatter.updates, updates);
    else if (match->isDeciding(loop))
      add(scatter.batches, batches);
    else if (llvm::none_of(match->getAddresses(),
                           [&, loop = loop](const target::Scatter::Address &a) { return a.loop == loop; }))
      add(scatter.along, along);
    else
      elements *= double(size);
  }
  // Indices of updates are i32.
  if (updates > std::numeric_limits<int32_t>::max())
    return std::nullopt;
  const double each = batches * updates;
  const double work = each * updates + each * along;
  if (work + kFewPairs > each * along * elements)
    return std::nullopt;
  return scatter;
}

/// The linear index of the indices `at` of `loops`, which have these sizes, the last one fastest.
static Value linearIndex(OpBuilder &b, Location loc, ArrayRef<unsigned> loops, ArrayRef<OpFoldResult> sizes,
                         ArrayRef<Value> at) {
  Value number;
  for (unsigned loop : loops) {
    if (number) {
      number = arith::MulIOp::create(b, loc, number, getValueOrCreateConstantIndexOp(b, loc, sizes[loop]));
      number = arith::AddIOp::create(b, loc, number, at[loop]);
    } else {
      number = at[loop];
    }
  }
  return number;
}

Value spmd::cuda::emitLinks(OpBuilder &b, linalg::LinalgOp op, const DeviceScatter &scatter,
                            SmallVectorImpl<linalg::LinalgOp> &made) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> ranges = getLoopSizes(b, op), shape = {b.getIndexAttr(2)};
  // Loops over batches, updates, and the updates that each is compared with.
  SmallVector<AffineExpr> mine(ranges.size()), other(ranges.size());
  SmallVector<unsigned> dims(scatter.batches);
  llvm::append_range(dims, scatter.updates);
  unsigned numLoops = dims.size() + scatter.updates.size();
  for (auto [d, loop] : llvm::enumerate(dims)) {
    shape.push_back(ranges[loop]);
    mine[loop] = b.getAffineDimExpr(d);
    bool isUpdate = d >= scatter.batches.size();
    other[loop] = b.getAffineDimExpr(isUpdate ? d + scatter.updates.size() : d);
  }
  auto mapOf = [&](ArrayRef<AffineExpr> exprs, AffineMap map) {
    return map.replaceDimsAndSymbols(exprs, {}, numLoops, 0);
  };
  SmallVector<AffineExpr> dimExprs;
  for (unsigned loop : dims)
    dimExprs.push_back(b.getAffineDimExpr(loop));
  AffineMap shapeMap = AffineMap::get(ranges.size(), 0, dimExprs, b.getContext());

  Type i32 = b.getI32Type();
  Value all = arith::IndexCastOp::create(
      b, loc, i32, getValueOrCreateConstantIndexOp(b, loc, countIterations(b, op, scatter.updates)));
  Value links = memref::AllocOp::create(b, loc, shape, i32);
  made.push_back(linalg::FillOp::create(b, loc, all, links));
  SmallVector<Value> halves;
  for (int64_t half : {0, 1}) {
    SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)), sizes(shape),
        strides(shape.size(), b.getIndexAttr(1));
    offsets[0] = b.getIndexAttr(half);
    sizes[0] = b.getIndexAttr(1);
    auto whole = cast<MemRefType>(links.getType());
    MemRefType type =
        memref::SubViewOp::inferRankReducedResultType(whole.getShape().drop_front(), whole, offsets, sizes, strides);
    halves.push_back(memref::SubViewOp::create(b, loc, type, links, offsets, sizes, strides));
  }
  SmallVector<Value> ins;
  SmallVector<AffineMap> maps;
  SmallVector<OpOperand *> inputs = scatter.match.getDecidingInputs();
  for (ArrayRef<AffineExpr> side : {ArrayRef(mine), ArrayRef(other)})
    for (OpOperand *input : inputs) {
      ins.push_back(input->get());
      maps.push_back(mapOf(side, op.getMatchingIndexingMap(input)));
    }
  // Not read: it only provides the sizes of the loops over other updates.
  ins.push_back(halves[0]);
  maps.push_back(mapOf(other, shapeMap));
  maps.append(2, mapOf(mine, shapeMap));
  SmallVector<utils::IteratorType> kinds(dims.size(), utils::IteratorType::parallel);
  kinds.append(scatter.updates.size(), utils::IteratorType::reduction);
  made.push_back(
      linalg::GenericOp::create(b, loc, ins, halves, maps, kinds, [&](OpBuilder &b, Location loc, ValueRange args) {
        SmallVector<Value> numbers;
        SmallVector<SmallVector<Value>> indices;
        for (ArrayRef<AffineExpr> side : {ArrayRef(mine), ArrayRef(other)}) {
          SmallVector<Value> at(ranges.size());
          for (unsigned loop : dims)
            at[loop] = linalg::IndexOp::create(b, loc, cast<AffineDimExpr>(side[loop]).getPosition());
          indices.push_back(scatter.match.emitIndices(b, at, [&](OpBuilder &, OpOperand &operand) {
            return args[llvm::find(inputs, &operand) - inputs.begin() + (numbers.empty() ? 0 : inputs.size())];
          }));
          numbers.push_back(arith::IndexCastOp::create(b, loc, i32, linearIndex(b, loc, scatter.updates, ranges, at)));
        }
        Value same;
        for (auto [x, y] : llvm::zip_equal(indices[0], indices[1])) {
          Value equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
          same = same ? arith::AndIOp::create(b, loc, same, equal) : equal;
        }
        auto least = [&](Value held, arith::CmpIPredicate order, Value number) -> Value {
          Value counts = arith::CmpIOp::create(b, loc, order, numbers[1], numbers[0]);
          counts = arith::AndIOp::create(b, loc, same, counts);
          return arith::MinUIOp::create(b, loc, held, arith::SelectOp::create(b, loc, counts, number, all));
        };
        ValueRange held = args.take_back(2);
        Value next = least(held[0], arith::CmpIPredicate::ugt, numbers[1]);
        Value before = least(held[1], arith::CmpIPredicate::ult, numbers[1]);
        linalg::YieldOp::create(b, loc, ValueRange{next, before});
      }));
  return links;
}

void spmd::cuda::emitScatter(OpBuilder &b, linalg::LinalgOp op, const DeviceScatter &scatter, Value links, Value id) {
  Location loc = op.getLoc();
  Pieces pieces;
  PieceEmitter emitter(op, pieces);
  SmallVector<OpFoldResult> &sizes = emitter.sizes = getLoopSizes(b, op);
  emitter.ivs.assign(sizes.size(), Value());
  auto value = [&](OpFoldResult size) { return getValueOrCreateConstantIndexOp(b, loc, size); };
  Value numUpdates = value(countIterations(b, op, scatter.updates));
  SmallVector<unsigned> loops = scatter.getLoops();
  for (unsigned loop : llvm::reverse(loops)) {
    Value size = value(sizes[loop]);
    emitter.ivs[loop] = arith::RemUIOp::create(b, loc, id, size);
    id = arith::DivUIOp::create(b, loc, id, size);
  }
  auto index = [&](OpBuilder &b, int64_t i) -> Value { return arith::ConstantIndexOp::create(b, loc, i); };
  /// The entry of the current update in a half of the links.
  auto loadLink = [&](OpBuilder &b, int64_t half) -> Value {
    SmallVector<Value> at = {index(b, half)};
    for (unsigned loop : loops)
      if (!llvm::is_contained(scatter.along, loop))
        at.push_back(emitter.ivs[loop]);
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), memref::LoadOp::create(b, loc, links, at));
  };

  Value acts = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, loadLink(b, 1), numUpdates);
  SmallVector<Value> indices = scatter.match.emitIndices(
      b, emitter.ivs, [&](OpBuilder &b, OpOperand &operand) { return emitter.load(b, operand); });
  for (auto [address, position] : llvm::zip_equal(scatter.match.getAddresses(), indices)) {
    Value isInBounds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, position, value(sizes[address.loop]));
    acts = arith::AndIOp::create(b, loc, acts, isInBounds);
    emitter.ivs[address.loop] = position;
  }
  auto guard = scf::IfOp::create(b, loc, acts, /*withElseRegion=*/false);
  OpBuilder then = OpBuilder::atBlockBegin(guard.thenBlock());
  SmallVector<Value> held = emitter.loadInits(then);
  Value first = linearIndex(then, loc, scatter.updates, sizes, emitter.ivs);
  Type type = held[0].getType();
  auto loop = scf::WhileOp::create(
      then, loc, {type, first.getType()}, {held[0], first},
      [&](OpBuilder &b, Location loc, ValueRange args) {
        emitter.chooseTerm(b, args[1]);
        SmallVector<Value> now = emitter.emitTerm(b, args[0]);
        Value next = loadLink(b, 0);
        Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, next, numUpdates);
        scf::ConditionOp::create(b, loc, more, {now[0], next});
      },
      [&](OpBuilder &b, Location loc, ValueRange args) { scf::YieldOp::create(b, loc, args); });
  then.setInsertionPointAfter(loop);
  emitter.storeAll(then, loop.getResult(0));
}
