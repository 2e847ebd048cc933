//===- UnsupportedFeatures.h - Features that another dialect lacks -*- C++ -*-===//

#ifndef SHARDKIT_LIB_ANNOTATIONS_UNSUPPORTEDFEATURES_H
#define SHARDKIT_LIB_ANNOTATIONS_UNSUPPORTEDFEATURES_H

#include "shardkit/Options.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::spmd {

/// The policy for annotations that the other dialect cannot express: an error, or, on
/// request of the user, a remark and the full annotation is left out. It is never left out
/// silently or partially.
class UnsupportedFeatures {
public:
  explicit UnsupportedFeatures(UnsupportedFeature option) : remark(option == UnsupportedFeature::Remark) {}

  /// Success if the annotation is left out.
  LogicalResult report(Location loc, const Twine &fact) const {
    if (!remark)
      return emitError(loc) << fact;
    emitRemark(loc) << "left out: " << fact;
    return success();
  }

private:
  bool remark;
};

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_ANNOTATIONS_UNSUPPORTEDFEATURES_H
