//===- Certificate.h - What is proven of a program --------------*- C++ -*-===//

#ifndef SHARDKIT_PROOF_CERTIFICATE_H
#define SHARDKIT_PROOF_CERTIFICATE_H

#include "shardkit/Proof/Prover.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd::proof {

/// The outcome for the functions of a partitioned program.
struct Certificate {
  /// BLAKE3 of both programs as they are printed, in hexadecimal digits.
  std::string global, local;
  /// The passes that both programs are rewritten by before they are compared.
  SmallVector<std::string> passes;
  struct Function {
    std::string name;
    Proof proof;
  };
  std::vector<Function> functions;

  bool isRefused() const;
};

/// Compares each public function of `local` with the one of that name in `global`. Neither module changes. A function
/// without a counterpart, or with a signature that does not fit it, is an error.
FailureOr<Certificate> proveModule(ModuleOp global, ModuleOp local);

/// Reports what is not proven, at the op that the outcome names: a refusal as an error, else an error or a warning.
void report(const Certificate &certificate, DiagnosticSeverity undecided);

/// Writes JSON (docs/reference/Certificate.md).
void printJSON(const Certificate &certificate, raw_ostream &os);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_PROOF_CERTIFICATE_H
