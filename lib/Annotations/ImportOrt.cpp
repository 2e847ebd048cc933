//===- ImportOrt.cpp - From specs of ONNX Runtime -------------------------===//

#include "OrtAnnotations.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Layout/MeshViews.h"
#include "shardkit/Layout/OrtSpec.h"
#include "shardkit/Passes.h"
#include "shardkit/Support/LocatedJson.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDIMPORTORTPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

class OrtImporter {
public:
  explicit OrtImporter(ModuleOp module) : module(module), cache(module) {
    for (const MeshCache::Entry &entry : cache.entries())
      meshes.push_back({FlatSymbolRefAttr::get(MeshOp(entry.op).getSymNameAttr()), entry.mesh.get()});
  }

  LogicalResult run() {
    for (auto func : module.getOps<func::FuncOp>())
      for (Annotation &annotation : getAnnotations(func)) {
        auto ort = dyn_cast<OrtAttr>(annotation.attr);
        if (!ort)
          continue;
        FailureOr<ShardingAttr> sharding = convert(ort, annotation);
        if (failed(sharding))
          return failure();
        annotation.set(*sharding);
      }
    return success();
  }

private:
  FailureOr<ShardingAttr> convert(OrtAttr ort, const Annotation &at) {
    auto fail = [&](const ShardingError &error) {
      return emitError(at.loc) << "illegal spec \"" << ort.getSpec() << "\" of " << at.what << ": " << error.message;
    };
    ShardingError error;
    OrtMesh list{llvm::to_vector(ort.getShape()), llvm::to_vector(ort.getElements())};
    auto imported = importOrtSpec(ort.getSpec(), list, error);
    if (!imported)
      return fail(error);
    auto type = dyn_cast<RankedTensorType>(at.type);
    if (!type)
      return emitError(at.loc) << "spec of " << at.what << " of type " << at.type << ", expected a ranked tensor";
    // Uneven dims are an error in ONNX Runtime too.
    if (auto illegal = verifySharding(imported->sharding, imported->mesh, type.getShape(),
                                      /*allowUneven=*/false))
      return fail(*illegal);
    for (auto [name, mesh] : meshes)
      if (ShardingAttr attr = express(*imported, name, *mesh))
        return attr;
    // In the order of the ids if the sharding can be expressed so.
    Mesh sorted = imported->mesh;
    llvm::sort(sorted.deviceIds);
    add(sorted, at.loc);
    if (ShardingAttr attr = express(*imported, meshes.back().first, *meshes.back().second))
      return attr;
    meshes.pop_back();
    created.pop_back();
    add(imported->mesh, at.loc);
    return express(*imported, meshes.back().first, *meshes.back().second);
  }

  /// The sharding on a mesh of the module; null if it is not a view of the devices or
  /// has other digits.
  ShardingAttr express(const MeshSharding &imported, FlatSymbolRefAttr name, const Mesh &mesh) {
    ShardingError error;
    auto views = MeshViews::get({&mesh, &imported.mesh}, error);
    auto common = views && !views->isReordered(1) ? views->toCommon(imported.sharding, 1) : std::nullopt;
    auto expressed = common ? views->fromCommon(*common, 0) : std::nullopt;
    if (!expressed)
      return {};
    return toAttr(module.getContext(), name, *expressed, mesh);
  }

  void add(Mesh mesh, Location loc) {
    std::string name = "ort";
    auto isUsed = [&] {
      return SymbolTable::lookupSymbolIn(module, name) ||
             llvm::any_of(created, [&](const NewMesh &m) { return m.name.getValue() == name; });
    };
    for (unsigned i = 0; isUsed(); ++i)
      name = "ort" + std::to_string(i);
    mesh.name = name;
    auto ref = FlatSymbolRefAttr::get(module.getContext(), name);
    created.push_back({ref, std::make_unique<Mesh>(std::move(mesh)), loc});
    meshes.push_back({ref, created.back().mesh.get()});
  }

public:
  /// Adds the new meshes to the module.
  void addMeshes() {
    OpBuilder b(module.getContext());
    b.setInsertionPointToStart(module.getBody());
    for (const NewMesh &mesh : created)
      createMesh(b, mesh.loc, mesh.name.getValue(), *mesh.mesh);
  }

private:
  struct NewMesh {
    FlatSymbolRefAttr name;
    std::unique_ptr<Mesh> mesh;
    Location loc;
  };
  ModuleOp module;
  MeshCache cache;
  SmallVector<std::pair<FlatSymbolRefAttr, const Mesh *>> meshes;
  SmallVector<NewMesh, 1> created;
};

/// Writes the specs of a file on the arguments and results of a function.
class OrtReader : JsonFile {
public:
  using JsonFile::JsonFile;

  LogicalResult run(func::FuncOp func) {
    LocatedJson root;
    if (failed(parse(root, "file")) || failed(checkKeys(root, {"inputs", "outputs"})))
      return failure();
    return success(succeeded(readList(
                       root, "inputs", func.getNumArguments(), "arguments of @" + func.getName().str(),
                       func.getArgumentTypes(), [&](unsigned i) { return func.getArgAttr(i, kShardingAttr); },
                       [&](unsigned i, Attribute attr) { func.setArgAttr(i, kShardingAttr, attr); })) &&
                   succeeded(readList(
                       root, "outputs", func.getNumResults(), "results of @" + func.getName().str(),
                       func.getResultTypes(), [&](unsigned i) { return func.getResultAttr(i, kShardingAttr); },
                       [&](unsigned i, Attribute attr) { func.setResultAttr(i, kShardingAttr, attr); })));
  }

private:
  LogicalResult readList(const LocatedJson &root, StringRef key, unsigned count, const std::string &what,
                         TypeRange types, llvm::function_ref<Attribute(unsigned)> get,
                         llvm::function_ref<void(unsigned, Attribute)> set) {
    const LocatedJson *list = root.find(key);
    if (!list)
      return success();
    if (list->kind != LocatedJson::Array || list->items.size() != count)
      return emitError(list->offset) << "\"" << key << "\" "
                                     << (list->kind == LocatedJson::Array
                                             ? "has " + std::to_string(list->items.size()) + " entries"
                                             : "is " + describe(*list))
                                     << ", expected a list of " << count << ", one for each of the " << what
                                     << " (null for none)";
    for (auto [i, item] : llvm::enumerate(list->items)) {
      if (item.kind == LocatedJson::Null)
        continue;
      if (item.kind != LocatedJson::Object)
        return emitError(item.offset) << "entry is " << describe(item)
                                      << ", expected an object with \"spec\", \"mesh_shape\" "
                                         "and \"mesh_elements\"";
      if (failed(checkKeys(item, {"spec", "mesh_shape", "mesh_elements"})))
        return failure();
      std::string spec;
      if (failed(readText(item, "spec", spec)))
        return failure();
      if (spec.empty() && cast<ShapedType>(types[i]).getRank() > 0)
        return emitError(item.offset) << "entry has no \"spec\", expected for instance \"RS[0]\"";
      auto shape = readIntegers(item, "mesh_shape");
      auto elements = failed(shape) ? shape : readIntegers(item, "mesh_elements");
      if (failed(elements))
        return failure();
      auto attr = OrtAttr::getChecked([&] { return emitError(item.offset); }, context, StringRef(spec),
                                      ArrayRef<int64_t>(*shape), ArrayRef<int64_t>(*elements));
      if (!attr)
        return failure();
      // From here on the location is in the file.
      if (Attribute old = get(i); old && old != attr)
        return emitError(item.offset) << "spec \"" << spec << "\" for " << key << "[" << i << "], which has " << old
                                      << ", expected none, or the same";
      ShardingError error;
      auto imported = importOrtSpec(spec, {*shape, *elements}, error);
      auto type = dyn_cast<RankedTensorType>(types[i]);
      std::optional<ShardingError> illegal;
      if (imported && type)
        illegal = verifySharding(imported->sharding, imported->mesh, type.getShape(), false);
      if (!imported || illegal)
        return emitError(item.offset) << "illegal spec \"" << spec << "\" of " << key << "[" << i
                                      << "]: " << (imported ? *illegal : error).message;
      set(i, attr);
    }
    return success();
  }
};

struct ImportOrtPass : public spmd::impl::SPMDImportOrtPassBase<ImportOrtPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

  LogicalResult run(ModuleOp module) {
    if (failed(verifyInput(module, Phase::Propagated, getArgument())))
      return failure();
    if (!file.empty()) {
      std::string error;
      std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(file, &error);
      if (!buffer)
        return emitError(module.getLoc()) << error;
      FailureOr<func::FuncOp> func = findFunction(module, function);
      if (failed(func) || failed(OrtReader(buffer->getBuffer(), file, &getContext()).run(*func)))
        return failure();
    }
    OrtImporter importer(module);
    if (failed(importer.run()))
      return failure();
    importer.addMeshes();
    return success();
  }
};

} // namespace
