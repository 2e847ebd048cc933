//===- StableHLOEmitter.h - Collectives of StableHLO ------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_CONVERSION_STABLEHLOEMITTER_H
#define SHARDKIT_LIB_CONVERSION_STABLEHLOEMITTER_H

#include "BlockMove.h"

namespace mlir::spmd {

struct BlockSteps;

/// What an emitter does where StableHLO has no op for a collective.
enum class WithoutOp {
  Error,
  Gather, ///< gathers the operands of the group, and computes in linalg from these
};

/// Collectives become those of StableHLO on blocks, one for each set of rank digits, with
/// reshapes and transposes (tensor, linalg) around them. Ranks are partition ids.
///
///   x exchanged, y gathered:  [x][elements]
///     all_to_all over x       [x][elements]
///     all_gather over y       [y][x][elements]
class StableHLOEmitter : public CollectiveEmitter {
public:
  StableHLOEmitter(ModuleOp module, WithoutOp withoutOp) : CollectiveEmitter(module), withoutOp(withoutOp) {}

  FailureOr<Value> emit(RewriterBase &b, CollectiveToEmit &collective) override;
  Value emitRank(RewriterBase &b, Operation *op) override;

private:
  Value emitBlocks(RewriterBase &b, CollectiveToEmit &collective, const BlockMove &move, const BlockSteps &steps);
  Value emitGathered(RewriterBase &b, CollectiveToEmit &collective);
  Value emitPermuted(OpBuilder &b, Location loc, Value value, ArrayRef<std::pair<int64_t, int64_t>> pairs);
  /// Among the ranks that differ in `digits`.
  Value emitCollective(OpBuilder &b, Location loc, StringRef name, Type type, Value value, ArrayRef<RankDigit> digits,
                       int64_t devices, SmallVector<NamedAttribute> attributes,
                       std::optional<ReductionKind> reduction = std::nullopt) {
    return emitGroups(b, loc, name, type, value, spmd::getDeviceGroups(digits, devices), std::move(attributes),
                      reduction);
  }
  Value emitGroups(OpBuilder &b, Location loc, StringRef name, Type type, Value value,
                   ArrayRef<SmallVector<int64_t>> groups, SmallVector<NamedAttribute> attributes,
                   std::optional<ReductionKind> reduction = std::nullopt);
  Value emitOwn(RewriterBase &b, Operation *op, Value rows, ArrayRef<RankDigit> digits);
  // StableHLOWindows.cpp
  FailureOr<Value> emitThroughFullDims(RewriterBase &b, ExchangeOp op, CollectiveToEmit &collective);
  FailureOr<Value> emitWindows(RewriterBase &b, HaloExchangeOp op, CollectiveToEmit &collective);
  Value emitHalo(RewriterBase &b, Location loc, Value value, int64_t d, const Window &window,
                 ArrayRef<RankDigit> digits, int64_t devices);
  Value emitWindow(RewriterBase &b, Operation *op, Value value, int64_t d, const Window &window,
                   ArrayRef<RankDigit> digits);
  Value emitFullDim(RewriterBase &b, Location loc, Value value, int64_t d, ArrayRef<RankDigit> digits, int64_t devices);

  NamedAttribute makeChannel(Builder &b);
  LogicalResult emitError(CollectiveToEmit &collective);

  WithoutOp withoutOp;
  int64_t channels = 0;
};

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_CONVERSION_STABLEHLOEMITTER_H
