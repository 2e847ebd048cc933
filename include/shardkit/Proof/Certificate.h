//===- Certificate.h - What is proven of a program --------------*- C++ -*-===//

#ifndef SHARDKIT_PROOF_CERTIFICATE_H
#define SHARDKIT_PROOF_CERTIFICATE_H

#include "shardkit/Proof/Prover.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd::proof {

/// The outcome for the functions of a partitioned program.
struct Certificate {
  /// getHash() of both programs.
  std::string global, local;
  /// The passes that both programs are rewritten by before they are compared.
  SmallVector<std::string> passes;
  /// The argument that a shard function makes.
  struct Loads {
    std::string function;
    unsigned argument;
  };
  struct Function {
    std::string name;
    Proof proof;
    std::optional<Loads> loads = std::nullopt; ///< If it is a shard function.
  };
  std::vector<Function> functions;
  /// Why nothing is proven: the programs cannot be compared.
  std::string reason;

  bool isRefused() const;
};

/// Compares each public function of `local` with the one of that name in `global`, and before it the shard functions of
/// its arguments with their loading functions. Neither module changes. A function
/// without a counterpart, or with a signature that does not fit it, is an error.
/// `withClaims`: with what a check of the certificate reads. `maxSizes` and `fallback` as of prove().
FailureOr<Certificate> proveModule(ModuleOp global, ModuleOp local, bool withClaims = false,
                                   int64_t maxSizes = kMaxSizes, const Fallback &fallback = {});

/// The programs of a certificate: BLAKE3 of the ops of `module`, without locations and names of values.
std::string getHash(ModuleOp module);

/// Reports what is not proven, at the op that the outcome names: a refusal as an error; what is not decided as an
/// error, a warning, or not at all.
void report(const Certificate &certificate, std::optional<DiagnosticSeverity> undecided);

/// Writes JSON (docs/reference/Certificate.md).
void printJSON(const Certificate &certificate, raw_ostream &os);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_PROOF_CERTIFICATE_H
