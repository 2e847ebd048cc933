//===- Renames.cpp - Old names and their new ones -------------------------===//

#include "shardkit/Dialect/SPMD/IR/Renames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::spmd;

static constexpr Rename kRenames[] = {
    {RenameKind::Pass, "spmd-pipeline-default", "spmd-default-pipeline"},
    {RenameKind::Pass, "spmd-pipeline", "spmd-build-stages"},
    {RenameKind::Pass, "spmd-split-stages", "spmd-outline-stages"},
    {RenameKind::Pass, "spmd-number-collectives", "spmd-assign-collective-ids"},
    {RenameKind::Pass, "spmd-delay-collectives", "spmd-sink-collectives"},
    {RenameKind::Pass, "spmd-merge-products", "spmd-merge-contractions"},
    {RenameKind::Pass, "spmd-pin-shardings", "spmd-shardings-to-constraints"},

    {RenameKind::Option, "auto-shard-options", "auto-shard"},
    {RenameKind::Option, "carry-sums", "defer-reductions"},
    {RenameKind::Option, "delay", "sink"},
    {RenameKind::Option, "departure-cost", "deviation-penalty"},
    {RenameKind::Option, "forbid", "forbid-collectives"},
    {RenameKind::Option, "gap", "optimality-gap"},
    {RenameKind::Option, "merge", "merge-reductions"},
    {RenameKind::Option, "merge-products", "merge-contractions"},
    {RenameKind::Option, "min-share", "min-hidden-fraction"},
    {RenameKind::Option, "overlap-share", "min-hidden-fraction"},
    {RenameKind::Option, "regather", "reshard-per-use"},
    {RenameKind::Option, "reshape-gaps", "strided-shardings"},
    {RenameKind::Option, "what", "content"},
    {RenameKind::Option, "zero", "zero-stage"},

    {RenameKind::Operation, "spmd.begin_part", "spmd.fragment"},
    {RenameKind::Operation, "spmd.hand_over", "spmd.stage_output"},
    {RenameKind::Operation, "spmd.post", "spmd.transfer"},

    {RenameKind::Attribute, "spmd.compute", "spmd.factor_shardings"},
    {RenameKind::Attribute, "spmd.given", "spmd.user_sharding"},
    {RenameKind::Attribute, "spmd.part", "spmd.segment"},
    {RenameKind::Attribute, "spmd.part_of", "spmd.schedule"},
    {RenameKind::Attribute, "spmd.parts", "spmd.segments_of"},
    {RenameKind::Attribute, "spmd.regather", "spmd.reshard_per_use"},

    {RenameKind::PlanKey, "compute", "factor_shardings"},
    {RenameKind::PlanKey, "regather", "reshard_per_use"},
};

ArrayRef<Rename> spmd::getRenames() { return kRenames; }

static StringRef getNoun(RenameKind kind) {
  switch (kind) {
  case RenameKind::Pass:
    return "pass ";
  case RenameKind::Option:
    return "option ";
  case RenameKind::Operation:
    return "op ";
  case RenameKind::Attribute:
    return "attribute ";
  case RenameKind::PlanKey:
    return "key ";
  }
  llvm_unreachable("unknown kind");
}

std::string spmd::describeRename(RenameKind kind, StringRef name) {
  for (const Rename &rename : kRenames)
    if (rename.kind == kind && rename.oldName == name)
      return (getNoun(kind) + name + " was renamed, expected " + rename.newName).str();
  return "";
}
