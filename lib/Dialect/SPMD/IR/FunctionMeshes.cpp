//===- FunctionMeshes.cpp - The meshes of a function ----------------------===//

#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::spmd;

FailureOr<FunctionMeshes> FunctionMeshes::get(ModuleOp module, ArrayRef<std::pair<FlatSymbolRefAttr, Location>> named,
                                              const MeshCache &meshes, FlatSymbolRefAttr rankMesh) {
  for (auto [name, loc] : named)
    if (!meshes.lookupOrEmit(name, [loc = loc] { return emitError(loc); }))
      return failure();
  FunctionMeshes result;
  result.module = module;
  SmallVector<const Mesh *> ordered;
  std::optional<Location> last;
  auto hasNoAxes = [](const Mesh &mesh) { return mesh.axes.empty() && mesh.deviceIds.empty(); };
  bool isAny = llvm::any_of(named, [&](const auto &entry) { return !hasNoAxes(*meshes.lookup(entry.first)); });
  for (const MeshCache::Entry &entry : meshes.entries())
    for (auto [name, loc] : named)
      if (name.getValue() == entry.mesh->name) {
        // A mesh without axes is a view of any mesh.
        if (isAny && hasNoAxes(*entry.mesh)) {
          result.withoutAxes.push_back(name);
          break;
        }
        result.names.push_back(name);
        ordered.push_back(entry.mesh.get());
        last = loc;
        break;
      }
  // The device order that most of them have comes first: it is computed with.
  unsigned best = 0, maxCount = 0;
  for (unsigned v = 0; v < ordered.size(); ++v) {
    unsigned count = llvm::count_if(ordered, [&](const Mesh *mesh) { return mesh->sameDevices(*ordered[v]); });
    if (count > maxCount) {
      maxCount = count;
      best = v;
    }
  }
  if (auto it = llvm::find(result.names, rankMesh); it != result.names.end())
    best = it - result.names.begin();
  std::rotate(ordered.begin(), ordered.begin() + best, ordered.begin() + best + 1);
  std::rotate(result.names.begin(), result.names.begin() + best, result.names.begin() + best + 1);
  ShardingError error;
  result.views = MeshViews::get(ordered, error);
  if (!result.views) {
    // The error is at the location that names the mesh that does not fit.
    for (unsigned n = 2; n <= ordered.size(); ++n)
      if (!MeshViews::get(ArrayRef(ordered).take_front(n), error)) {
        for (auto [name, loc] : named)
          if (name == result.names[n - 1])
            last = loc;
        break;
      }
    return emitError(*last) << error.message;
  }
  for (unsigned v = 0; v < ordered.size() && !result.costMesh; ++v)
    if (result.views->hasCommonOrder(v) && !ordered[v]->alpha.empty() && !ordered[v]->beta.empty())
      result.costMesh = ordered[v];
  if (!result.costMesh)
    result.costMesh = ordered.front();
  return result;
}

void FunctionMeshes::flatten() {
  SmallVector<const Mesh *> meshes;
  for (unsigned v = 0; v < views->size(); ++v)
    meshes.push_back(&views->getView(v));
  ShardingError error;
  views = MeshViews::get(meshes, error, /*flat=*/true);
}

bool FunctionMeshes::canRead(ShardingAttr attr) const {
  std::optional<unsigned> view = findView(attr.getMesh());
  if (!view || views->isSingle())
    return true;
  // A sharding with unknown axes has an error of its own.
  ScopedDiagnosticHandler quiet(attr.getContext(), [](Diagnostic &) { return success(); });
  FailureOr<Sharding> sharding =
      toSharding(attr, views->getView(*view), [&] { return emitError(UnknownLoc::get(attr.getContext())); });
  return failed(sharding) || views->toCommon(*sharding, *view);
}

std::optional<unsigned> FunctionMeshes::findView(FlatSymbolRefAttr name) const {
  if (llvm::is_contained(withoutAxes, name))
    return 0;
  auto it = llvm::find(names, name);
  if (it == names.end())
    return std::nullopt;
  return it - names.begin();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// A sharding that names none of the meshes of the function (of a callee).
static InFlightDiagnostic emitForeign(FlatSymbolRefAttr mesh, ArrayRef<FlatSymbolRefAttr> names,
                                      EmitErrorFn emitError) {
  InFlightDiagnostic diag = emitError();
  diag << "sharding on mesh " << mesh << " in a function on ";
  llvm::interleaveComma(names, diag);
  diag << ", expected a mesh that the function names";
  return diag;
}

/// Reports axes that are not digits in another order of the devices.
static InFlightDiagnostic emitNoDigits(FlatSymbolRefAttr mesh, FlatSymbolRefAttr order, EmitErrorFn emitError) {
  InFlightDiagnostic diag = emitError();
  diag << "these axes of mesh " << mesh << " are not digits of the device order of mesh " << order
       << ", which the function names as well, expected one order, or axes that are blocks of both";
  return diag;
}

FailureOr<Sharding> FunctionMeshes::read(ShardingAttr attr, EmitErrorFn emitError) const {
  std::optional<unsigned> view = findView(attr.getMesh());
  if (!view)
    return emitForeign(attr.getMesh(), names, emitError);
  FailureOr<Sharding> sharding = toSharding(attr, views->getView(*view), emitError);
  if (failed(sharding) || views->isSingle())
    return sharding;
  std::optional<Sharding> common = views->toCommon(*sharding, *view);
  if (!common)
    return emitNoDigits(attr.getMesh(), names.front(), emitError);
  return std::move(*common);
}

FailureOr<DimEntries> FunctionMeshes::readEntries(FlatSymbolRefAttr mesh, ArrayRef<DimEntryAttr> attrs,
                                                  EmitErrorFn emitError) const {
  std::optional<unsigned> view = findView(mesh);
  if (!view)
    return emitForeign(mesh, names, emitError);
  FailureOr<DimEntries> entries = toDimEntries(attrs, views->getView(*view), emitError);
  if (failed(entries) || views->isSingle())
    return entries;
  std::optional<DimEntries> common = views->toCommon(*entries, *view);
  if (!common)
    return emitNoDigits(mesh, names.front(), emitError);
  return std::move(*common);
}

FailureOr<SmallVector<DimEntries>> FunctionMeshes::read(FactorsAttr attr, EmitErrorFn emitError) const {
  SmallVector<DimEntries> factors;
  for (DimShardingAttr factor : attr.getFactors()) {
    FailureOr<DimEntries> entries = readEntries(attr.getMesh(), factor.getEntries(), emitError);
    if (failed(entries))
      return failure();
    factors.push_back(std::move(*entries));
  }
  return factors;
}

FailureOr<DimEntries> FunctionMeshes::read(AxesAttr attr, EmitErrorFn emitError) const {
  return readEntries(attr.getMesh(), attr.getAxes(), emitError);
}

FailureOr<DimEntries> FunctionMeshes::readAxes(FlatSymbolRefAttr mesh, ArrayAttr axes, EmitErrorFn emitError) const {
  SmallVector<DimEntryAttr> attrs;
  for (Attribute axis : axes)
    attrs.push_back(DimEntryAttr::fullAxis(mesh.getContext(), cast<StringAttr>(axis).getValue()));
  return readEntries(mesh, attrs, emitError);
}

//===----------------------------------------------------------------------===//
// Form
//===----------------------------------------------------------------------===//

FlatSymbolRefAttr FunctionMeshes::getCommonName() {
  if (!commonName)
    commonName = addView(views->getCommon());
  return commonName;
}

/// A mesh of the module with these axes, devices and costs.
static FlatSymbolRefAttr findMesh(ModuleOp module, const Mesh &mesh) {
  for (auto op : module.getOps<MeshOp>())
    if (op.getMesh() == toAttr(module.getContext(), mesh) && toMesh(op).alpha == mesh.alpha &&
        toMesh(op).beta == mesh.beta)
      return FlatSymbolRefAttr::get(op.getSymNameAttr());
  return {};
}

bool FunctionMeshes::haveSameOwners(FlatSymbolRefAttr a, FlatSymbolRefAttr b) const {
  std::optional<unsigned> first = findView(a), second = findView(b);
  if (!first || !second || first == second || (!views->isReordered(*first) && !views->isReordered(*second)))
    return true;
  return views->getView(*first).sameDevices(views->getView(*second));
}

FlatSymbolRefAttr FunctionMeshes::addView(const Mesh &mesh, bool isReordered) {
  MLIRContext *context = module.getContext();
  FlatSymbolRefAttr name = findMesh(module, mesh); // That of another function, where it is the same.
  if (!name) {
    std::string text = mesh.name + "_common";
    for (unsigned i = 0; SymbolTable::lookupSymbolIn(module, text); ++i)
      text = mesh.name + "_common" + std::to_string(i);
    OpBuilder b(context);
    auto first = SymbolTable::lookupSymbolIn(module, names.front().getAttr());
    b.setInsertionPointAfter(first);
    createMesh(b, first->getLoc(), text, mesh);
    name = FlatSymbolRefAttr::get(context, text);
  }
  if (!findView(name)) {
    auto view = std::make_shared<Mesh>(mesh);
    view->name = name.getValue().str();
    view->viewBoundaries.clear();
    views->addView(*view, isReordered);
    added.push_back(std::move(view));
    names.push_back(name);
  }
  return name;
}

bool FunctionMeshes::anyView(FlatSymbolRefAttr preferred, llvm::function_ref<bool(unsigned)> fn) const {
  if (preferred && preferred == commonName)
    return false;
  std::optional<unsigned> preferredView = preferred ? findView(preferred) : std::nullopt;
  if (preferredView && fn(*preferredView))
    return true;
  const bool isReordered = preferredView && views->isReordered(*preferredView);
  for (unsigned v = 0; v < names.size(); ++v)
    if (v != preferredView && (isReordered ? haveSameOwners(preferred, names[v]) : views->hasCommonOrder(v)) && fn(v))
      return true;
  return false;
}

ShardingAttr FunctionMeshes::getAttr(const Sharding &sharding, FlatSymbolRefAttr preferred) {
  // Only full axes allow padding: they stay unsharded.
  return findAttr(sharding, preferred, [&](const Sharding &expressed, const Mesh &mesh) {
    return llvm::all_of(llvm::zip(sharding.dims, expressed.dims), [&](auto dims) {
      return !allowsPadding(std::get<0>(dims).entries, getMesh()) || allowsPadding(std::get<1>(dims).entries, mesh);
    });
  });
}

ShardingAttr FunctionMeshes::getAttrOn(const Sharding &sharding, ArrayRef<int64_t> shape, FlatSymbolRefAttr mesh) {
  return findAttr(sharding, mesh, [&](const Sharding &expressed, const Mesh &mesh) {
    return llvm::all_of(llvm::zip(expressed.dims, shape), [&](auto dim) {
      return divides(std::get<0>(dim).entries, std::get<1>(dim)) || allowsPadding(std::get<0>(dim).entries, mesh);
    });
  });
}

ShardingAttr FunctionMeshes::findAttr(const Sharding &sharding, FlatSymbolRefAttr preferred,
                                      llvm::function_ref<bool(const Sharding &, const Mesh &)> fits) {
  MLIRContext *context = module.getContext();
  ShardingAttr attr;
  bool isFound = anyView(preferred, [&](unsigned v) {
    std::optional<Sharding> expressed = views->fromCommon(sharding, v);
    if (expressed && fits(*expressed, views->getView(v)))
      attr = spmd::toAttr(context, names[v], *expressed, views->getView(v));
    return attr != nullptr;
  });
  if (isFound)
    return attr;
  // Full axes of several views are unsharded axes of none: a mesh that has them all.
  auto finer = views->refine(sharding);
  std::optional<unsigned> view = preferred ? findView(preferred) : std::nullopt;
  if (view && views->isReordered(*view)) {
    // The axes of the common order, on the devices of the other one.
    Mesh mesh = finer ? std::move(finer->mesh) : views->getCommon();
    mesh.name = views->getView(*view).name;
    mesh.deviceIds = views->getView(*view).deviceIds;
    const Sharding &expressed = finer ? finer->sharding : sharding;
    return spmd::toAttr(context, addView(mesh, /*isReordered=*/true), expressed, mesh);
  }
  if (finer)
    return spmd::toAttr(context, addView(finer->mesh), finer->sharding, finer->mesh);
  return spmd::toAttr(context, getCommonName(), sharding, views->getCommon());
}

FactorsAttr FunctionMeshes::getAttr(ArrayRef<DimEntries> factors) {
  // As the dims of a value would be.
  Sharding sharding;
  for (const DimEntries &entries : factors)
    sharding.dims.push_back({entries});
  ShardingAttr attr = getAttr(sharding);
  return FactorsAttr::get(module.getContext(), attr.getMesh(), attr.getDims());
}

FunctionMeshes::AxesOnMesh FunctionMeshes::getAxesOnMesh(ArrayRef<DimEntry> entries) {
  AxesOnMesh result;
  bool isFound = anyView({}, [&](unsigned v) {
    std::optional<DimEntries> onView = views->fromCommon(entries, v);
    if (onView)
      result = {names[v], &views->getView(v), std::move(*onView)};
    return onView.has_value();
  });
  return isFound ? result : AxesOnMesh{getCommonName(), &views->getCommon(), DimEntries(entries)};
}

std::string FunctionMeshes::toString(const Sharding &sharding) const {
  for (unsigned v = 0; v < names.size(); ++v)
    if (views->hasCommonOrder(v))
      if (auto expressed = views->fromCommon(sharding, v)) {
        std::string text = spmd::toString(*expressed, views->getView(v));
        return v == 0 ? text : "@" + views->getView(v).name + ", " + text;
      }
  return spmd::toString(sharding, views->getCommon());
}

std::string FunctionMeshes::toString(ArrayRef<DimEntry> entries) const {
  for (unsigned v = 0; v < names.size(); ++v)
    if (views->hasCommonOrder(v))
      if (auto expressed = views->fromCommon(entries, v))
        return spmd::toString(*expressed, views->getView(v));
  return spmd::toString(entries, views->getCommon());
}
