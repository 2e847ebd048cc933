//===- SignatureAttrs.h - Attributes of arguments and results ---*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_SIGNATUREATTRS_H
#define SHARDKIT_DIALECT_SPMD_IR_SIGNATUREATTRS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::spmd {

/// The attributes of all arguments and results of a function, to be changed
/// together: changing one on the function costs as much as changing all.
class SignatureAttrs {
public:
  explicit SignatureAttrs(FunctionOpInterface func);

  /// Attributes of one argument or result.
  NamedAttrList &arg(unsigned i) { return args[i]; }
  NamedAttrList &result(unsigned i) { return results[i]; }

  void write();

private:
  FunctionOpInterface func;
  SmallVector<NamedAttrList> args, results;
};

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_SIGNATUREATTRS_H
