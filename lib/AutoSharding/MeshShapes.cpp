//===- MeshShapes.cpp - The sizes of a mesh's axes, by search -------------===//

#include "shardkit/AutoSharding/MeshShapes.h"
#include "shardkit/Cost/DeriveCosts.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "mlir/IR/Verifier.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::spmd;

namespace {

using Shape = SmallVector<int64_t>;

struct Tried {
  Shape shape;
  double objective = 0, lowerBound = 0;
  bool proven = true;
  std::string error = {}; // why there is nothing
};

/// All lists of `numAxes` sizes whose product is `devices`, larger first axes first.
void enumerateShapes(int64_t devices, unsigned numAxes, Shape &shape, SmallVectorImpl<Shape> &all) {
  if (shape.size() + 1 == numAxes) {
    shape.push_back(devices);
    all.push_back(shape);
    shape.pop_back();
    return;
  }
  for (int64_t size = devices; size > 0; --size) {
    if (devices % size != 0)
      continue;
    shape.push_back(size);
    enumerateShapes(devices / size, numAxes, shape, all);
    shape.pop_back();
  }
}

LogicalResult setShape(MeshOp op, ArrayRef<int64_t> shape) {
  Mesh mesh = toMesh(op);
  for (auto [axis, size] : llvm::zip_equal(mesh.axes, shape))
    axis.size = size;
  op.setMeshAttr(toAttr(op.getContext(), mesh));
  // Costs that follow from where the hosts end are others now.
  return op->hasAttr(kHostsAttr) ? deriveCosts(op) : success();
}

MeshOp getOnlyMesh(ModuleOp module) {
  SmallVector<MeshOp> meshes = getMeshesWithAxes(module);
  return meshes.size() == 1 ? meshes.front() : MeshOp();
}

Tried tryShape(ModuleOp module, Shape shape, const SearchOptions &options) {
  Tried tried{std::move(shape)};
  OwningOpRef<ModuleOp> copy = module.clone();
  // Diagnostics of the copy are suppressed: the module emits them again with its shape.
  ScopedDiagnosticHandler quiet(module.getContext(), [&](Diagnostic &diag) {
    if (diag.getSeverity() == DiagnosticSeverity::Error && tried.error.empty())
      tried.error = diag.str();
    return success();
  });
  auto finish = [&](FunctionSearch &search, CallOperandLayouts &callOperands) -> LogicalResult {
    SearchResult result = search.run();
    if (result.choices.empty())
      return emitInfeasible(search, result);
    tried.objective += result.objective;
    tried.lowerBound += result.lowerBound;
    tried.proven &= result.proven;
    search.write(result, callOperands);
    return success();
  };
  bool isLegal = succeeded(setShape(getOnlyMesh(*copy), tried.shape)) && succeeded(mlir::verify(*copy)) &&
                 succeeded(searchModule(*copy, options, finish));
  if (!isLegal && tried.error.empty())
    tried.error = "no layouts";
  return tried;
}

} // namespace

LogicalResult spmd::chooseMeshShape(ModuleOp module, const SearchOptions &options) {
  size_t count = getMeshesWithAxes(module).size();
  if (count != 1)
    return emitError(module.getLoc()) << "mesh-shapes=all with " << count << " meshes, expected a module with one mesh";
  MeshOp op = getOnlyMesh(module);
  Mesh mesh = toMesh(op);
  if (mesh.axes.empty())
    return success();
  Shape given, prefix;
  for (const MeshAxis &axis : mesh.axes)
    given.push_back(axis.size);
  SmallVector<Shape> shapes;
  enumerateShapes(mesh.numDevices(), mesh.axes.size(), prefix, shapes);
  std::stable_partition(shapes.begin(), shapes.end(), [&](const Shape &shape) { return shape == given; });
  std::vector<Tried> all;
  for (Shape &shape : shapes)
    all.push_back(tryShape(module, std::move(shape), options));
  llvm::stable_sort(all, [](const Tried &a, const Tried &b) {
    if (a.error.empty() != b.error.empty())
      return a.error.empty();
    return a.error.empty() && a.objective < b.objective;
  });
  if (!all.front().error.empty()) {
    InFlightDiagnostic diag = op.emitError() << "none of " << all.size() << " shapes of mesh @" << mesh.name
                                             << " has layouts, expected at least one that has";
    for (const Tried &tried : ArrayRef(all).take_front(8)) {
      Mesh shaped = mesh;
      for (auto [axis, size] : llvm::zip_equal(shaped.axes, tried.shape))
        axis.size = size;
      diag.attachNote() << shaped.axesToString() << ": " << tried.error;
    }
    return diag;
  }
  if (failed(setShape(op, all.front().shape)))
    return failure();
  Builder b(module.getContext());
  SmallVector<Attribute> entries;
  for (const Tried &tried : all) {
    SmallVector<NamedAttribute> entry{b.getNamedAttr("shape", b.getDenseI64ArrayAttr(tried.shape))};
    if (tried.error.empty()) {
      entry.push_back(b.getNamedAttr("objective", b.getF64FloatAttr(tried.objective)));
      entry.push_back(b.getNamedAttr("lower_bound", b.getF64FloatAttr(tried.lowerBound)));
      entry.push_back(b.getNamedAttr("status", b.getStringAttr(tried.proven ? "optimal" : "gap")));
    } else {
      entry.push_back(b.getNamedAttr("error", b.getStringAttr(tried.error)));
    }
    entries.push_back(b.getDictionaryAttr(entry));
  }
  module->setAttr(kMeshShapesAttr, b.getArrayAttr(entries));
  return success();
}
