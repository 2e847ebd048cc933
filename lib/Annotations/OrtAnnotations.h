//===- OrtAnnotations.h - Sharding annotations of a function ----*- C++ -*-===//
//
// In ONNX Runtime every tensor has a separate device mesh, which repeats devices for
// block-cyclic shardings. As `#spmd.ort` and in a separate file such specs become
// shardings on meshes of the module, and back.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_ANNOTATIONS_ORTANNOTATIONS_H
#define SHARDKIT_LIB_ANNOTATIONS_ORTANNOTATIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <functional>
#include <string>

namespace mlir::spmd {

/// An annotation and its holder.
struct Annotation {
  Attribute attr;
  Type type;
  Location loc;
  std::string what; // "argument #0"
  std::function<void(Attribute)> set;
};

/// All sharding annotations of a function, of any kind.
SmallVector<Annotation> getAnnotations(func::FuncOp func);

/// The function called `name`, or the only public one; one error if there is none.
FailureOr<func::FuncOp> findFunction(ModuleOp module, StringRef name);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_ANNOTATIONS_ORTANNOTATIONS_H
