//===- Signature.h - Attributes of arguments and results --------*- C++ -*-===//

#ifndef SHARDKIT_LIB_ANNOTATIONS_SIGNATURE_H
#define SHARDKIT_LIB_ANNOTATIONS_SIGNATURE_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::spmd {

/// Replaces each attribute of an argument or result by `convert` of it, or removes it if
/// that is std::nullopt. `convert` gets the location and the name of the holder
/// (`argument #0`).
inline LogicalResult
convertSignature(FunctionOpInterface func,
                 function_ref<FailureOr<std::optional<NamedAttribute>>(NamedAttribute, Location, StringRef)> convert) {
  auto convertAll = [&](ArrayAttr list, bool isResult) -> FailureOr<ArrayAttr> {
    SmallVector<Attribute> converted;
    for (auto [i, dict] : llvm::enumerate(list.getAsRange<DictionaryAttr>())) {
      Location loc = isResult || func.isExternal() ? func.getLoc() : func.getArgument(i).getLoc();
      std::string whose = (isResult ? "result #" : "argument #") + std::to_string(i);
      NamedAttrList attrs;
      for (NamedAttribute attr : dict) {
        FailureOr<std::optional<NamedAttribute>> made = convert(attr, loc, whose);
        if (failed(made))
          return failure();
        if (*made)
          attrs.append(**made);
      }
      converted.push_back(attrs.getDictionary(func.getContext()));
    }
    return ArrayAttr::get(func.getContext(), converted);
  };
  if (ArrayAttr list = func.getArgAttrsAttr()) {
    FailureOr<ArrayAttr> converted = convertAll(list, /*isResult=*/false);
    if (failed(converted))
      return failure();
    func.setArgAttrsAttr(*converted);
  }
  if (ArrayAttr list = func.getResAttrsAttr()) {
    FailureOr<ArrayAttr> converted = convertAll(list, /*isResult=*/true);
    if (failed(converted))
      return failure();
    func.setResAttrsAttr(*converted);
  }
  return success();
}

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_ANNOTATIONS_SIGNATURE_H
