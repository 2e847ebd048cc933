//===- UnsupportedFeatures.h - What another dialect cannot say -*- C++ -*--===//

#ifndef SHARDKIT_LIB_ANNOTATIONS_UNSUPPORTEDFEATURES_H
#define SHARDKIT_LIB_ANNOTATIONS_UNSUPPORTEDFEATURES_H

#include "mlir/IR/Diagnostics.h"

namespace mlir::spmd {

/// What a conversion does with an annotation that the other side has no words for:
/// an error, or, where the user asks for it, a remark and the annotation is left out
/// whole. Never is it left out silently, and never in part.
class Losses {
public:
  /// The value of the option `unsupported`; one error where it is neither.
  static FailureOr<Losses> get(StringRef option, Location loc) {
    if (option == "error" || option == "remark")
      return Losses(option == "remark");
    return emitError(loc) << "option 'unsupported' is '" << option << "', expected 'error' or 'remark'";
  }

  /// Success where the annotation is to be left out.
  LogicalResult report(Location loc, const Twine &fact) const {
    if (!remark)
      return emitError(loc) << fact;
    emitRemark(loc) << "left out: " << fact;
    return success();
  }

private:
  explicit Losses(bool remark) : remark(remark) {}
  bool remark;
};

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_ANNOTATIONS_UNSUPPORTEDFEATURES_H
