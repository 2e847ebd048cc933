//===- ManualValues.cpp - Values of manual computations -------------------===//
//
// A value of the region has a class of its own that stands for one tensor per coordinate
// along the manual axes: the class *varies* over them. What a device holds of it is that
// of its own coordinate. Such a value moves or is reduced along these axes only by a
// collective that the user wrote, which both programs have.
//
//===----------------------------------------------------------------------===//

#include "LocalValues.h"
#include "shardkit/Dialect/SPMD/IR/ManualLayout.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

//===----------------------------------------------------------------------===//
// The unsharded program
//===----------------------------------------------------------------------===//

/// The digits of the manual axes.
static SmallVector<RankDigit, 2> getManualRanks(ManualComputationOp op, const Mesh &mesh) {
  SmallVector<RankDigit, 2> ranks;
  int64_t stride = 1;
  for (const MeshAxis &axis : llvm::reverse(mesh.axes)) {
    if (op.isManualAxis(axis.name) && axis.size > 1)
      ranks.push_back({stride, axis.size});
    stride *= axis.size;
  }
  coalesce(ranks);
  return ranks;
}

/// The global index of each dim by the coordinates along manual axes and the index in the region; std::nullopt if the
/// sharding is not one that is modelled.
static std::optional<SmallVector<IndexForm, 4>> getManualForms(ManualComputationOp op, ShardingAttr attr,
                                                               RankedTensorType global, const MeshCache &meshes,
                                                               const DeviceOrders &orders) {
  FailureOr<ShardingOnMesh> read = meshes.read(attr, [&] { return op.emitError(); });
  if (failed(read))
    return std::nullopt;
  Layout layout = getManualLayout(op, read->sharding, *read->mesh, global.getShape());
  bool isModelled = layout.uneven.empty() && orders.translate(layout, *read->mesh);
  return isModelled ? std::optional(getIndexForms(layout)) : std::nullopt;
}

void GlobalProgram::addManual(ManualComputationOp op) {
  const Mesh *mesh = meshes ? meshes->lookup(op.getMesh()) : nullptr;
  auto giveUp = [&] {
    for (Value result : op.getResults())
      addOpaque(result);
  };
  if (!mesh)
    return giveUp();
  std::optional<SmallVector<RankDigit, 2>> ranks = orders.translate(getManualRanks(op, *mesh), *mesh);
  if (!ranks)
    return giveUp();
  SmallVector<RankDigit, 2> outer = varying;
  varying = unite(varying, *ranks);
  Block &body = op.getBody().front();
  bool isKnown = true;
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(op.getInputs(), body.getArguments()))) {
    auto [input, argument] = pair;
    std::optional<ClassId> id = getClass(input);
    std::optional<SmallVector<IndexForm, 4>> forms =
        getManualForms(op, op.getInSharding(i), cast<RankedTensorType>(input.getType()), *meshes, orders);
    isKnown &= id && forms;
    if (!isKnown)
      break;
    if (classes[*id].splat || classes[*id].isUndefined) {
      values[argument] = *id;
      continue;
    }
    ClassId own = addOpaque(argument);
    classes[own].isUniform = SmallVector<bool, 4>(classes[*id].isUniform);
    for (auto [d, size] : llvm::enumerate(classes[own].type.getShape()))
      classes[own].isUniform[d] = classes[own].isUniform[d] || size == 1;
    manualUsers[*id].push_back({own, *forms, /*isInside=*/true});
  }
  if (isKnown)
    add(body);
  varying = outer;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    std::optional<ClassId> id = isKnown ? getClass(body.getTerminator()->getOperand(i)) : std::nullopt;
    auto type = cast<RankedTensorType>(result.getType());
    std::optional<SmallVector<IndexForm, 4>> forms =
        id ? getManualForms(op, op.getOutSharding(i), type, *meshes, orders) : std::nullopt;
    if (id && (classes[*id].splat || classes[*id].isUndefined))
      values[result] = *id;
    else if (ClassId own = addOpaque(result); forms)
      manualUsers[*id].push_back({own, *forms, /*isInside=*/false});
  }
}

/// What a collective changes, as a key: the indices of the dims that differ, and the ranks that it reduces over. Along
/// the other dims it may be one of a shard.
static void appendChange(const Layout &from, const Layout &to, SmallVectorImpl<int64_t> &key) {
  key.push_back(from.shape.size());
  for (auto [source, target] : llvm::zip(getIndexForms(from), getIndexForms(to))) {
    bool changes = source != target;
    key.push_back(changes);
    if (!changes)
      continue;
    source.appendKey(key);
    target.appendKey(key);
  }
  for (const Layout *layout : {&from, &to}) {
    key.push_back(layout->partial.size());
    for (const RankDigit &rank : layout->partial)
      key.append({rank.stride, rank.size});
  }
}

SmallVector<int64_t> GlobalProgram::getCollectiveKey(ClassId id, CollectiveKind kind,
                                                     std::optional<ReductionKind> reduction, const Layout &from,
                                                     const Layout &to) const {
  SmallVector<int64_t> key{CollectiveKey, int64_t(id), int64_t(kind), reduction ? int64_t(*reduction) : -1};
  appendChange(from, to, key);
  return key;
}

bool GlobalProgram::addCollective(CollectiveOpInterface op) {
  const Mesh *from = meshes ? meshes->lookup(op.getFromMesh()) : nullptr,
             *to = meshes ? meshes->lookup(op.getToMesh()) : nullptr;
  Value result = op->getResult(0);
  std::optional<ClassId> id = getClass(op->getOperand(0));
  Layout source, target;
  bool isKnown = from && to && id && op->getNumOperands() == 1 &&
                 succeeded(op.getLayouts(*from, *to, source, target)) && orders.translate(source, *from) &&
                 orders.translate(target, *to);
  // Over axes of one device it does nothing.
  if (isKnown && source.partial.empty() && result.getType() == op->getOperand(0).getType() &&
      getIndexForms(source) == getIndexForms(target)) {
    values[result] = *id;
    return true;
  }
  if (varying.empty() || !isKnown || classes[*id].splat) {
    addOpaque(result);
    return false;
  }
  SmallVector<ClassId, 1> &known = keys[getCollectiveKey(*id, op.getKind(), op.getReduction(), source, target)];
  if (known.empty())
    known.push_back(addOpaque(result));
  values[result] = known.front();
  return true;
}

//===----------------------------------------------------------------------===//
// The local program
//===----------------------------------------------------------------------===//

void LocalValues::addManualFacts(Value value, const Fact &fact) {
  for (const ManualUser &user : SmallVector<ManualUser, 1>(global.getManualUsers(fact.value))) {
    ArrayRef<RankDigit> ranks = global[user.isInside ? user.value : fact.value].varying;
    Fact other{user.value, {}, fact.partial, fact.kind};
    bool fits = !overlap(fact.partial, ranks);
    for (auto [d, dim] : llvm::enumerate(fact.dims)) {
      if (!fits)
        break;
      int64_t size = global[user.value].type.getDimSize(d), inner = user.isInside ? size : dim.size;
      const IndexForm &manual = user.forms[d];
      if (!dim.form) {
        other.dims.push_back({size, std::nullopt, {}});
        fits &= global[user.value].isUniform[d];
        continue;
      }
      // Manual coordinates give the block of `inner` elements that the region has.
      std::optional<IndexForm> block = manual.plus(IndexForm::ofLoop(d, inner), -1);
      std::optional<IndexForm> form = block ? dim.form->plus(*block, user.isInside ? -1 : 1) : std::nullopt;
      fits &= block && !block->uses(IndexTerm::Kind::Loop, d) && form && !form->hasScalar();
      if (fits && user.isInside)
        fits &= !overlap(form->getRanks(), ranks) && form->isInside(size);
      else if (fits)
        fits &= dim.form->isInside(inner);
      if (fits)
        other.dims.push_back({size, form, {}});
    }
    if (fits)
      addFact(value, other);
  }
}
