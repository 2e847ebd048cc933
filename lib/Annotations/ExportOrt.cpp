//===- ExportOrt.cpp - To specs of ONNX Runtime ---------------------------===//

#include "OrtAnnotations.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Layout/OrtSpec.h"
#include "shardkit/Passes.h"
#include "shardkit/Support/Output.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <nlohmann/json.hpp>

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDEXPORTORTPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// A sharding in the form of ONNX Runtime; one error if there is none.
FailureOr<OrtAttr> exportSharding(ShardingAttr attr, Type type, const MeshCache &meshes, Location loc, StringRef what) {
  auto emit = [&] { return emitError(loc); };
  FailureOr<ShardingOnMesh> read = meshes.read(attr, emit);
  if (failed(read))
    return failure();
  const auto &[mesh, sharding] = *read;
  ShardingError error;
  std::optional<ShardingError> illegal = verifySharding(sharding, *mesh, getShape(type), /*allowUneven=*/false);
  auto spec = illegal ? std::nullopt : exportOrtSpec(sharding, *mesh, error);
  if (!spec)
    return emit() << "ONNX Runtime has no spec for " << attr << " of " << what << ": "
                  << (illegal ? *illegal : error).message;
  return OrtAttr::get(attr.getContext(), spec->spec, spec->mesh.shape, spec->mesh.elements);
}

struct ExportOrtPass : public spmd::impl::SPMDExportOrtPassBase<ExportOrtPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

  LogicalResult run(ModuleOp module) {
    MeshCache meshes(module);
    if (!file.empty()) {
      markAllAnalysesPreserved();
      FailureOr<func::FuncOp> func = findFunction(module, function);
      return failure(failed(func) || failed(write(*func, meshes)));
    }
    // Later phases check local types by the shardings.
    if (failed(verifyInput(module, Phase::Propagated, getArgument())))
      return failure();
    for (auto func : module.getOps<func::FuncOp>())
      for (Annotation &annotation : getAnnotations(func)) {
        auto sharding = dyn_cast<ShardingAttr>(annotation.attr);
        if (!sharding)
          continue;
        auto ort = exportSharding(sharding, annotation.type, meshes, annotation.loc, annotation.what);
        if (failed(ort))
          return failure();
        annotation.set(*ort);
      }
    return success();
  }

  LogicalResult write(func::FuncOp func, const MeshCache &meshes) {
    using Json = nlohmann::ordered_json;
    auto list = [&](unsigned count, auto getAttr, StringRef what) -> FailureOr<Json> {
      Json entries = Json::array();
      for (unsigned i = 0; i < count; ++i) {
        auto sharding = dyn_cast_or_null<ShardingAttr>(getAttr(i, kShardingAttr));
        auto global = dyn_cast_or_null<TypeAttr>(getAttr(i, kGlobalTypeAttr));
        Type type = global               ? global.getValue()
                    : what == "argument" ? func.getArgumentTypes()[i]
                                         : func.getResultTypes()[i];
        if (!sharding) {
          entries.push_back(nullptr);
          continue;
        }
        auto ort = exportSharding(sharding, type, meshes, func.getLoc(), (what + " #" + Twine(i)).str());
        if (failed(ort))
          return failure();
        Json entry;
        entry["spec"] = ort->getSpec().str();
        entry["mesh_shape"] = std::vector<int64_t>(ort->getShape());
        entry["mesh_elements"] = std::vector<int64_t>(ort->getElements());
        entries.push_back(std::move(entry));
      }
      return entries;
    };
    auto inputs =
        list(func.getNumArguments(), [&](unsigned i, StringRef name) { return func.getArgAttr(i, name); }, "argument");
    if (failed(inputs))
      return failure();
    auto outputs =
        list(func.getNumResults(), [&](unsigned i, StringRef name) { return func.getResultAttr(i, name); }, "result");
    if (failed(outputs))
      return failure();
    std::string text;
    llvm::raw_string_ostream os(text);
    auto writeList = [&](StringRef key, const Json &entries) {
      os << " \"" << key << "\": [";
      llvm::interleave(
          entries,
          [&](const Json &entry) { os << "\n  " << entry.dump(-1, ' ', false, Json::error_handler_t::replace); },
          [&] { os << ","; });
      os << "]";
    };
    os << "{\n";
    writeList("inputs", *inputs);
    os << ",\n";
    writeList("outputs", *outputs);
    os << "\n}\n";
    return writeOutput(func.getLoc(), file, text);
  }
};

} // namespace
