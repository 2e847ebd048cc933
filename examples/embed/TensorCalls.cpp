// Collectives as calls on tensors, for a compiler whose runtime knows groups of devices: each call has the groups as a
// constant, one row for each. Names have a dot, since some compilers import functions of a module MODULE as MODULE.f.
#include "shardkit/Conversion/CollectiveConversion.h"
#include "shardkit/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace {

class TensorCalls : public spmd::CollectiveEmitter {
public:
  using CollectiveEmitter::CollectiveEmitter;

  FailureOr<Value> emit(RewriterBase &b, spmd::CollectiveToEmit &collective) override {
    using spmd::CollectiveKind;
    Location loc = collective.op.getLoc();
    const CollectiveKind kind = collective.form.kind;
    // This runtime adds up, and concatenates along the first dim in the order of a group.
    const bool isSum = kind == CollectiveKind::AllReduce && collective.form.reduction == spmd::ReductionKind::Sum;
    const bool isGather = kind == CollectiveKind::AllGather && isInOrder(collective.form);
    if (!isSum && !isGather) {
      collective.op.emitError() << "is not a sum or a gather of the first dim, which is all that my runtime has";
      return failure();
    }
    SmallVector<SmallVector<int64_t>> groups = collective.form.getDeviceGroups();
    SmallVector<int64_t> ranks;
    for (ArrayRef<int64_t> group : groups)
      ranks.append(group.begin(), group.end());
    auto type = RankedTensorType::get({int64_t(groups.size()), int64_t(groups[0].size())}, b.getI64Type());
    Value constant = arith::ConstantOp::create(b, loc, type, DenseIntElementsAttr::get(type, ranks));
    return call(b, loc, isSum ? "my.sum" : "my.gather", {collective.input, constant}, collective.resultType);
  }

  Value emitRank(RewriterBase &b, Operation *op) override {
    return call(b, op->getLoc(), "my.rank", {}, b.getIndexType());
  }

private:
  /// Whether the elements of the members of a group follow one another.
  static bool isInOrder(const spmd::ClosedForm &form) {
    ArrayRef<spmd::TransferAtom> atoms = form.transfer.atoms;
    return form.transfer.segments.empty() && atoms.size() == 2 && atoms[0].srcIsRank && !atoms[0].dstIsRank &&
           !atoms[1].srcIsRank && atoms[0].dstStride == atoms[1].size && form.getDigits().size() == 1;
  }

  /// A function has one signature: later ones get a number.
  Value call(RewriterBase &b, Location loc, const Twine &name, ValueRange operands, Type result) {
    auto type = b.getFunctionType(operands.getTypes(), {result});
    func::FuncOp &callee = functions[{b.getStringAttr(name), type}];
    if (!callee) {
      RewriterBase::InsertionGuard guard(b);
      b.setInsertionPointToStart(getModule().getBody());
      callee = func::FuncOp::create(b, loc, name.str(), type);
      callee.setPrivate();
      SymbolTable(getModule()).insert(callee);
    }
    return func::CallOp::create(b, loc, callee, operands).getResult(0);
  }
  DenseMap<std::pair<Attribute, Type>, func::FuncOp> functions;
};

struct ConvertToTensorCalls : PassWrapper<ConvertToTensorCalls, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertToTensorCalls)
  StringRef getArgument() const override { return "my-collectives"; }
  StringRef getDescription() const override { return "Turns sums and gathers into calls on tensors"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect>();
  }
  void runOnOperation() override {
    TensorCalls emitter(getOperation());
    if (failed(spmd::convertCollectives(emitter)))
      signalPassFailure();
  }
};

} // namespace

void registerMyCollectives() { PassRegistration<ConvertToTensorCalls>(); }
