//===- ProblemVariables.cpp - Domains of a sharding problem ---------------===//

#include "shardkit/AutoSharding/ProblemVariables.h"
#include "ProblemTables.h"
#include "shardkit/Rules/PaddingNeeds.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::spmd;

DimEntries ProblemVariables::getAxes() {
  DimEntries axes;
  for (auto [a, axis] : llvm::enumerate(table.getMesh().axes))
    if (axis.size > 1)
      axes.push_back({int32_t(a), 1, axis.size});
  return axes;
}

ProblemVariables::DomainId ProblemVariables::internDomain(std::vector<LayoutId> layouts) {
  Key key(layouts.begin(), layouts.end());
  auto [it, isNew] = domainIds.try_emplace(std::move(key), domains.size());
  if (isNew)
    domains.push_back(std::move(layouts));
  return it->second;
}

ExtraShardings ProblemVariables::getExtraShardings(const Propagation::Node &node) const {
  const ShardingRule &rule = *node.rule;
  ExtraShardings extra(rule.numFactors());
  const Mesh &mesh = table.getMesh();
  auto areFullAxes = [&](ArrayRef<DimEntry> entries, int64_t size) {
    return divides(entries, size) && llvm::all_of(entries, [&](const DimEntry &entry) {
             return !entry.isStride() && entry.size == mesh.axes[entry.axis].size;
           });
  };
  for (auto [t, valueClass] : llvm::enumerate(propagation.getTensors(node))) {
    if (valueClass < 0)
      continue;
    const Propagation::ValueClass &known = propagation.getClass(valueClass);
    for (ShardingId id : {known.userSharding, known.sharding}) {
      const Sharding &sharding = propagation.getShardings().get(id);
      if (llvm::all_of(sharding.dims, [](const DimSharding &dim) { return dim.entries.empty(); }))
        continue;
      for (unsigned f = 0; f < rule.numFactors(); ++f) {
        if (rule.factor(f).kind == FactorKind::Replicated)
          continue;
        std::optional<DimEntries> entries = projectFactor(rule, t, f, sharding);
        if (entries && !entries->empty() && !areFullAxes(*entries, rule.factor(f).size) &&
            !overlaps(*entries, propagation.getManualAxes(node), mesh) && canShard(rule.factor(f), *entries, mesh) &&
            !llvm::is_contained(extra[f], *entries))
          extra[f].push_back(std::move(*entries));
      }
    }
  }
  for (auto &lists : extra)
    llvm::sort(lists);
  return extra;
}

void ProblemVariables::addStrategies() {
  nodes.resize(propagation.getNumNodes());
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    ArrayRef<int32_t> tensors = propagation.getTensors(node);
    if (node.isIdentity || llvm::all_of(tensors, [](int32_t valueClass) { return valueClass < 0; }))
      continue;
    if (options.getFixedStrategy && node.hasOpRule) {
      if (std::optional<FactorAxes> fixed = options.getFixedStrategy(node.op)) {
        nodes[id].space = spaces.size();
        nodes[id].computes = true;
        spaces.push_back({std::move(*fixed)});
        continue;
      }
    }
    ExtraShardings extra = getExtraShardings(node);
    ArrayRef<DimEntry> manual = propagation.getManualAxes(node);
    Key key{toKey(node.rule), node.manual};
    for (const auto &lists : extra) {
      key.push_back(lists.size());
      for (const DimEntries &entries : lists) {
        key.push_back(entries.size());
        for (const DimEntry &entry : entries)
          key.insert(key.end(), {entry.axis, entry.pre, entry.size});
      }
    }
    auto [it, isNew] = spaceIds.try_emplace(key, spaces.size());
    if (isNew)
      spaces.push_back(
          space.getStrategies(*node.rule, extra, manual, options.recompute || options.improvesPropagation));
    nodes[id].space = options.improvesPropagation ? getImprovements(node, std::move(key), it->second) : it->second;
    nodes[id].computes = true;
  }
}

const FactorAxes &ProblemVariables::getPropagatedStrategy(const Propagation::Node &node) {
  SmallVector<TensorLayout> layouts = propagation.getTensorLayouts(node);
  SmallVector<int64_t, 16> key{toKey(node.rule)};
  for (TensorLayout &tensor : layouts) {
    tensor.openDims = 0; // the layouts are complete
    key.append({tensor.layout ? int64_t(*tensor.layout) : -1, tensor.count});
  }
  auto [axes, isNew] = propagatedStrategies.try_emplace(key);
  if (isNew)
    axes = chooseCompute(*node.rule, layouts, table);
  return axes;
}

bool ProblemVariables::isChosenByCost(const Propagation::Node &node, const FactorAxes &axes) {
  const FactorAxes &chosen = getPropagatedStrategy(node);
  if (chosen == axes || node.rule->isContraction)
    return chosen == axes;
  SmallVector<TensorLayout> layouts = propagation.getTensorLayouts(node);
  return getReshardSeconds(*node.rule, layouts, axes, table) == 0 &&
         getReshardSeconds(*node.rule, layouts, chosen, table) == 0;
}

ProblemVariables::SpaceId ProblemVariables::getImprovements(const Propagation::Node &node, Key key, SpaceId all) {
  const FactorAxes &propagated = getPropagatedStrategy(node);
  int64_t devices = node.rule->isContraction && !options.getComputeSeconds ? getNumDevices(propagated) : 1;
  bool isCandidate = llvm::is_contained(spaces[all], propagated);
  if (isCandidate && devices == 1)
    return all;
  key.push_back(devices);
  if (!isCandidate)
    for (const DimEntries &entries : propagated) {
      key.push_back(entries.size());
      for (const DimEntry &entry : entries)
        key.insert(key.end(), {entry.axis, entry.pre, entry.size});
    }
  auto [it, isNew] = spaceIds.try_emplace(std::move(key), spaces.size());
  if (!isNew)
    return it->second;
  std::vector<FactorAxes> strategies;
  for (const FactorAxes &axes : spaces[all])
    if (getNumDevices(axes) >= devices)
      strategies.push_back(axes);
  if (!isCandidate)
    strategies.push_back(propagated);
  spaces.push_back(std::move(strategies));
  return it->second;
}

bool ProblemVariables::allows(const Sharding &userSharding, LayoutId id, RankedTensorType type) const {
  const Sharding &sharding = table.get(id);
  for (auto [dim, wanted] : llvm::zip(userSharding.dims, sharding.dims)) {
    DimEntries entries = canonicalize(dim.entries);
    if (dim.open ? !isPrefix(entries, wanted.entries) : entries != wanted.entries)
      return false;
    if (overlaps(wanted.entries, userSharding.replicated, table.getMesh()))
      return false;
  }
  return sharding.unreduced.empty() && !hasNoElements(type);
}

/// True for a value without any user sharding.
static bool isOpen(const Sharding &userSharding) {
  return userSharding.replicated.empty() &&
         llvm::all_of(userSharding.dims, [](const DimSharding &dim) { return dim.open && dim.entries.empty(); });
}

const Sharding &ProblemVariables::getUserSharding(ClassId id) {
  const Propagation::ValueClass &valueClass = propagation.getClass(id);
  if (options.released.empty() || !options.released.test(id))
    return propagation.getShardings().get(valueClass.userSharding);
  Sharding &open = openShardings[valueClass.type.getRank()];
  open.dims.assign(valueClass.type.getRank(), DimSharding{{}, /*open=*/true});
  return open;
}

/// The readers of each segment of a stored tensor (`spmd.segment`), whose rules keep its units whole.
llvm::DenseMap<ProblemVariables::ClassId, SmallVector<ProblemVariables::Use, 1>> ProblemVariables::findSegments() {
  llvm::DenseMap<ClassId, SmallVector<Use, 1>> readers;
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    ArrayRef<int32_t> tensors = propagation.getTensors(node);
    for (unsigned t = 0; t < node.rule->numOperands() && t < node.op->getNumOperands() && !node.isIdentity; ++t) {
      auto arg = dyn_cast<BlockArgument>(node.op->getOperand(t));
      auto func = arg ? dyn_cast<FunctionOpInterface>(arg.getOwner()->getParentOp()) : FunctionOpInterface();
      if (tensors[t] >= 0 && func && arg.getOwner()->isEntryBlock() &&
          func.getArgAttrOfType<SegmentAttr>(arg.getArgNumber(), kSegmentAttr))
        readers[tensors[t]].push_back({id, t});
    }
  }
  return readers;
}

bool ProblemVariables::keepsUnits(const Use &reader, LayoutId layout) {
  const ShardingRule &rule = *propagation.getNode(reader.node).rule;
  for (unsigned f = 0; f < rule.numFactors(); ++f) {
    if (rule.factor(f).granule == 1)
      continue;
    std::optional<DimEntries> entries = projectFactor(rule, reader.tensor, f, table.get(layout));
    if (!entries || (!entries->empty() && !canShard(rule.factor(f), *entries, table.getMesh())))
      return false;
  }
  return true;
}

void ProblemVariables::addClasses() {
  classes.resize(propagation.getNumClasses());
  const auto segments = findSegments();
  // Per value class: the number of its definitions, and the last of them.
  std::vector<std::pair<unsigned, NodeId>> definitions(classes.size());
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    for (int32_t valueClass : propagation.getTensors(node).drop_front(node.rule->numOperands()))
      if (valueClass >= 0) {
        ++definitions[valueClass].first;
        definitions[valueClass].second = id;
      }
  }
  auto complete = [&](const ShardingRule &rule, unsigned t, const FactorAxes &axes) {
    return table.getComplete(table.intern(getTensorSharding(rule, t, axes)));
  };
  for (ClassId id = 0; id < classes.size(); ++id) {
    const Propagation::ValueClass &valueClass = propagation.getClass(id);
    const Sharding &userSharding = getUserSharding(id);
    auto [count, definer] = definitions[id];
    const Propagation::Node *node = count > 0 ? &propagation.getNode(definer) : nullptr;
    bool isComputed = node && !node->isIdentity;
    ArrayRef<int32_t> tensors = isComputed ? propagation.getTensors(*node) : ArrayRef<int32_t>();
    unsigned t = llvm::find(tensors, int32_t(id)) - tensors.begin();
    // If one op defines an open value completely, the value is stored as it is computed:
    // one variable stands for both.
    if (count == 1 && isComputed && isOpen(userSharding) && t >= node->rule->numOperands() &&
        llvm::count_if(tensors.drop_front(node->rule->numOperands()),
                       [](int32_t valueClass) { return valueClass >= 0; }) == 1) {
      const ShardingRule &rule = *node->rule;
      std::vector<LayoutId> computed;
      for (const FactorAxes &axes : spaces[nodes[definer].space])
        computed.push_back(table.intern(getTensorSharding(rule, t, axes)));
      // A propagated layout that the op does not compute is a candidate too.
      bool isPropagated =
          !options.improvesPropagation || computed.size() == 1 ||
          table.intern(getTensorSharding(rule, t, getPropagatedStrategy(*node))) == table.intern(propagation.get(id));
      if (isPropagated && llvm::none_of(computed, [&](LayoutId layout) { return table.isPartial(layout); })) {
        classes[id].domain = internDomain(std::move(computed));
        nodes[definer].definesAlone = id;
        continue;
      }
    }
    std::vector<LayoutId> layouts = space.getLayouts(valueClass.type, userSharding);
    llvm::SmallDenseSet<LayoutId> known(layouts.begin(), layouts.end());
    auto add = [&](LayoutId layout) {
      if (allows(userSharding, layout, valueClass.type) && known.insert(layout).second)
        layouts.push_back(layout);
    };
    add(table.intern(propagation.get(id)));
    if (isComputed && t < tensors.size())
      for (const FactorAxes &axes : spaces[nodes[definer].space])
        add(complete(*node->rule, t, axes));
    if (auto readers = segments.find(id); readers != segments.end())
      llvm::erase_if(layouts, [&, propagated = table.intern(propagation.get(id))](LayoutId layout) {
        return layout != propagated &&
               llvm::any_of(readers->second, [&](const Use &reader) { return !keepsUnits(reader, layout); });
      });
    classes[id].domain = internDomain(std::move(layouts));
  }
}

std::vector<unsigned> ProblemVariables::getPropagated() {
  Var numVariables = 0;
  for (const Kept &kept : classes)
    numVariables = std::max(numVariables, kept.var + 1);
  for (const NodeVar &nodeVar : nodes)
    numVariables = std::max(numVariables, nodeVar.var == CostGraph::kNoVar ? 0 : nodeVar.var + 1);
  std::vector<unsigned> choices(numVariables, 0);
  for (ClassId id = 0; id < classes.size(); ++id) {
    ArrayRef<LayoutId> domain = getDomain(id);
    unsigned choice = llvm::find(domain, table.intern(propagation.get(id))) - domain.begin();
    if (choice == domain.size() && !options.improvesPropagation)
      return {};
    choices[classes[id].var] = choice < domain.size() ? choice : 0;
  }
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const NodeVar &nodeVar = nodes[id];
    if (nodeVar.var == CostGraph::kNoVar || spaces[nodeVar.space].size() == 1)
      continue;
    const Propagation::Node &node = propagation.getNode(id);
    const std::vector<FactorAxes> &space = spaces[nodeVar.space];
    choices[nodeVar.var] = llvm::find(space, getPropagatedStrategy(node)) - space.begin();
    if (choices[nodeVar.var] == space.size())
      return {};
    if (nodeVar.definesAlone >= 0 && !options.improvesPropagation) {
      ClassId defined = nodeVar.definesAlone;
      if (getDomain(defined)[choices[nodeVar.var]] != table.intern(propagation.get(defined)))
        return {};
    }
  }
  return choices;
}

unsigned ProblemVariables::getStrategyNumber(NodeId id, ArrayRef<unsigned> choices) const {
  const Propagation::Node &node = propagation.getNode(id);
  return choices[node.isIdentity ? classes[propagation.getTensors(node)[1]].var : nodes[id].var];
}

RankedTensorType ProblemVariables::getType(NodeId id, unsigned t) const {
  return propagation.getClass(propagation.getTensors(propagation.getNode(id))[t]).type;
}

unsigned ProblemVariables::getNumNeeds(NodeId id) const {
  const Propagation::Node &node = propagation.getNode(id);
  return node.isIdentity ? domains[classes[propagation.getTensors(node)[1]].domain].size()
                         : spaces[nodes[id].space].size();
}

LayoutId ProblemVariables::getNeeded(NodeId id, unsigned t, unsigned strategy, LayoutId has) {
  const Propagation::Node &node = propagation.getNode(id);
  if (node.isIdentity) {
    // Out of a manual computation comes what is left inside of the layout outside.
    ClassId to = propagation.getTensors(node)[1];
    LayoutId wanted = domains[classes[to].domain][strategy];
    ArrayRef<int64_t> outside = propagation.getClass(to).type.getShape(), inside = getType(id, 0).getShape();
    return outside == inside ? wanted : table.intern(getFreeSharding(table.get(wanted), outside, inside));
  }
  const std::vector<FactorAxes> &strategies = spaces[nodes[id].space];
  if (node.rule->hasWindows())
    return getNeededLayout(*node.rule, t, strategies[strategy], has, getType(id, t), table);
  std::vector<LayoutId> &all = needs[{node.rule, t, nodes[id].space}];
  if (all.empty())
    for (const FactorAxes &axes : strategies)
      all.push_back(table.intern(getTensorSharding(*node.rule, t, axes)));
  return all[strategy];
}
