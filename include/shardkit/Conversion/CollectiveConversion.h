//===- CollectiveConversion.h - Collectives of other compilers --*- C++ -*-===//
//
// Lowers the local-view ops of a partitioned program to what another compiler has. An
// embedder lowers each collective by one method, which has its closed form: which rank sends
// what to which. --convert-spmd-to-calls and --convert-spmd-to-mpi are emitters of this kind.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_CONVERSION_COLLECTIVECONVERSION_H
#define SHARDKIT_CONVERSION_COLLECTIVECONVERSION_H

#include "shardkit/Dialect/SPMD/IR/ClosedForm.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::spmd {

/// A collective that is to be lowered.
struct CollectiveToEmit {
  CollectiveOpInterface op;
  Value input;
  /// Offsets of windows that are known at run time, by `TransferSegment::Window::added`.
  ValueRange offsets;
  RankedTensorType inputType, resultType;
  ClosedForm form;
};

/// How collectives are lowered. Ranks are logical ranks of the mesh of the function: a device
/// has the position that it has in the mesh's list of devices.
///
///   struct MyEmitter : CollectiveEmitter {
///     using CollectiveEmitter::CollectiveEmitter;
///     FailureOr<Value> emit(RewriterBase &b, CollectiveToEmit &c) override {
///       if (c.form.kind != CollectiveKind::AllReduce)
///         return c.op->emitError("is not an all_reduce"), failure();
///       return my::ReduceOp::create(b, c.op.getLoc(), c.input, c.form.getDeviceGroups());
///     }
///     Value emitRank(RewriterBase &b, Operation *op) override {
///       return my::RankOp::create(b, op->getLoc());
///     }
///   };
class CollectiveEmitter {
public:
  /// Reads the meshes of `module`, which must outlive the emitter.
  explicit CollectiveEmitter(ModuleOp module) : module(module), meshes(module) {}
  virtual ~CollectiveEmitter();

  /// The result of a collective, at the insertion point. Fails after an error at the op.
  virtual FailureOr<Value> emit(RewriterBase &b, CollectiveToEmit &collective) = 0;
  /// The result of a broadcast along `digits`, major to minor, at the insertion point. Null if there is no op for it:
  /// the broadcast becomes a sum of bits.
  virtual FailureOr<Value> emitBroadcast(RewriterBase &b, BroadcastOp op, llvm::ArrayRef<RankDigit> digits) {
    return Value();
  }
  /// Whether `emit` takes a collective of complex numbers. If not, it gets one of their real components, and one of
  /// their imaginary components.
  virtual bool takesComplex(const CollectiveToEmit &collective) const { return true; }
  /// The rank of this device, an index.
  virtual Value emitRank(RewriterBase &b, Operation *op) = 0;

  /// (rank / stride) mod size, an index.
  Value emitCoordinate(RewriterBase &b, Operation *op, const RankDigit &digit);

  ModuleOp getModule() const { return module; }
  const MeshCache &getMeshes() const { return meshes; }
  /// Whether a pattern has reported an error.
  bool hasFailed() const { return isFailed; }
  void setFailed() { isFailed = true; }

private:
  ModuleOp module;
  MeshCache meshes;
  bool isFailed = false;
};

/// Patterns for all collectives, `spmd.device_coordinate`, and for collectives that are started:
/// they run where they are started. A broadcast becomes a sum first. `emitter` must outlive the
/// patterns. Programs of one function are covered, not the sends between stages.
void populateSPMDCollectiveConversion(RewritePatternSet &patterns, CollectiveEmitter &emitter);

/// Applies the patterns once to the module of the emitter, after
/// broadcasts and sorts have been expanded. Fails after one error at an op that cannot be
/// lowered, or at an op of the dialect that is left. Meshes and attributes stay, for
/// --spmd-strip.
LogicalResult convertCollectives(CollectiveEmitter &emitter);

/// The words of the descriptor of a collective (shardkit-c/Collectives.h), which
/// shardkit-c/CollectiveElements.h evaluates. Fails for elements that it cannot express.
FailureOr<llvm::SmallVector<int64_t>> getDescriptor(const ClosedForm &form, Type elementType,
                                                    std::optional<int64_t> id = std::nullopt);

/// Verifies that a pass may convert a module: its program is partitioned. One error otherwise.
LogicalResult verifyConvertible(ModuleOp module, StringRef pass);

/// The digits of the ranks that a broadcast names, major to minor. One error if they are not axes of its mesh.
FailureOr<llvm::SmallVector<RankDigit>> getBroadcastDigits(BroadcastOp op, const MeshCache &meshes);

/// A broadcast becomes a sum of the bits of the value on the root, and of zeros on the other
/// devices.
LogicalResult expandBroadcasts(Operation *root, const MeshCache &meshes);

} // namespace mlir::spmd

#endif // SHARDKIT_CONVERSION_COLLECTIVECONVERSION_H
