//===- LocatedDiagnostics.cpp - No diagnostic without a location ----------===//

#include "shardkit/Support/LocatedDiagnostics.h"

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/TypeID.h"

using namespace mlir;
using namespace mlir::spmd;

void spmd::locateDiagnostics(MLIRContext *context, StringRef file) {
  Location known = FileLineColLoc::get(context, file.empty() || file == "-" ? "<stdin>" : file, 0, 0);
  context->getDiagEngine().registerHandler([known](Diagnostic &diag) {
    auto hasFile = [](Location loc) { return loc->findInstanceOf<FileLineColLoc>() != nullptr; };
    // Remarks are printed as they are, or parsed.
    if (hasFile(diag.getLocation()) || diag.getSeverity() == DiagnosticSeverity::Remark)
      return failure();
    InFlightDiagnostic located =
        diag.getSeverity() == DiagnosticSeverity::Error ? emitError(known) : emitWarning(known);
    located << diag.str();
    // A name without a file.
    if (!isa<UnknownLoc>(diag.getLocation()))
      located.attachNote(known) << "at " << diag.getLocation();
    for (Diagnostic &note : diag.getNotes())
      located.attachNote(hasFile(note.getLocation()) ? note.getLocation() : known) << note.str();
    return success();
  });
}

namespace {
struct LocatedExtension : DialectExtension<LocatedExtension, SPMDDialect> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LocatedExtension)
  explicit LocatedExtension(StringRef file) : file(file.str()) {}
  void apply(MLIRContext *context, SPMDDialect *) const override { locateDiagnostics(context, file); }
  std::string file;
};
} // namespace

void spmd::registerLocatedDiagnostics(DialectRegistry &registry, StringRef file) {
  registry.addExtension(TypeID::get<LocatedExtension>(), std::make_unique<LocatedExtension>(file));
}
