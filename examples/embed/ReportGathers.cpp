// A pass on partitioned programs: a warning for each all-gather of more than a number of bytes.
#include "shardkit/Passes.h"

using namespace mlir;

namespace {

struct ReportGathers : PassWrapper<ReportGathers, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReportGathers)
  ReportGathers() = default;
  ReportGathers(const ReportGathers &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "report-gathers"; }
  StringRef getDescription() const override { return "Warns of each spmd.all_gather of more than max-bytes"; }
  Option<int64_t> maxBytes{*this, "max-bytes", llvm::cl::desc("Bytes of the result on a device"), llvm::cl::init(0)};

  void runOnOperation() override {
    getOperation().walk([&](spmd::AllGatherOp op) {
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      int64_t bytes = type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
      if (bytes > maxBytes.getValue())
        emitWarning(op.getLoc()) << "all_gather gives " << bytes << " bytes, expected at most " << maxBytes.getValue();
    });
  }
};

} // namespace

void registerReportGathers() {
  PassRegistration<ReportGathers>();
  // ShardKit's phases and this pass, as one pipeline.
  PassPipelineRegistration<>("my-pipeline", "All phases of ShardKit, then report-gathers", [](OpPassManager &pm) {
    spmd::buildPhases(pm, spmd::Phase::Written, spmd::PhaseOptions());
    pm.addPass(std::make_unique<ReportGathers>());
  });
}
