//===- ExplainReshape.cpp - Reshapes and shardings ------------------------===//

#include "shardkit/Report/ExplainReshape.h"
#include "ValueNames.h"
#include "shardkit/Dialect/SPMD/IR/Constraints.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Layout/ReshardPlan.h"
#include "shardkit/Passes.h"
#include "shardkit/Propagation/FunctionPropagation.h"
#include "shardkit/Report/Explain.h"
#include "shardkit/Rules/Reshapes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mlir::spmd;

/// Rank digits of `all` without their sub-digits in `kept`.
static SmallVector<RankDigit> subtract(ArrayRef<Digit> all, ArrayRef<Digit> kept) {
  SmallVector<RankDigit> rest;
  for (const Digit &digit : all) {
    SmallVector<RankDigit> inside;
    for (const Digit &sub : kept)
      if (sub.stride >= digit.stride && sub.stride < digit.stride * digit.size())
        inside.push_back({sub.stride, sub.size()});
    llvm::sort(inside, [](auto &a, auto &b) { return a.stride > b.stride; });
    int64_t top = digit.stride * digit.size();
    auto addRest = [&](int64_t low) {
      if (low < top)
        rest.push_back({low, top / low});
    };
    for (const RankDigit &sub : inside) {
      addRest(sub.stride * sub.size);
      top = sub.stride;
    }
    addRest(digit.stride);
  }
  return rest;
}

namespace {

class ReshapeExplainer {
public:
  ReshapeExplainer(FunctionPropagation &tables, FunctionMeshes &meshes, const ValueNames &names)
      : run(tables.getPropagation()), meshes(meshes), mesh(meshes.getMesh()), table(meshes), names(names) {}

  /// The propagated sharding of a value, or the one that replaced it.
  Sharding getSharding(Value value) {
    Attribute attr;
    if (auto result = dyn_cast<OpResult>(value)) {
      if (auto shardings = result.getOwner()->getAttrOfType<ArrayAttr>(kShardingsAttr))
        attr = shardings[result.getResultNumber()];
    } else if (auto func = dyn_cast<func::FuncOp>(value.getParentBlock()->getParentOp())) {
      attr = func.getArgAttr(cast<BlockArgument>(value).getArgNumber(), kShardingAttr);
    }
    auto type = cast<RankedTensorType>(value.getType());
    if (auto func = value.getParentRegion()->getParentOfType<func::FuncOp>(); func && func->hasAttr(kImprovedAttr))
      if (auto sharding = dyn_cast_or_null<ShardingAttr>(attr))
        if (FailureOr<LayoutId> layout = table.read(sharding, type, [&] { return emitError(value.getLoc()); });
            succeeded(layout))
          return table.get(*layout);
    return run.get(run.getId(value));
  }

  /// `from` and `to` are operand and result.
  ExplainedReshape explain(Operation *op, StringRef opName, Value from, Value to) {
    auto fromType = cast<RankedTensorType>(from.getType());
    auto toType = cast<RankedTensorType>(to.getType());
    Sharding before = getSharding(from), after = getSharding(to);
    ExplainedReshape explained{opName.str(),
                               getLocationText(op->getLoc()),
                               op->getLoc(),
                               names.get(from),
                               toText(fromType),
                               meshes.toString(before),
                               names.get(to),
                               toText(toType),
                               meshes.toString(after),
                               {},
                               {},
                               {},
                               0,
                               0,
                               {},
                               {}};
    Layout in = Layout::get(before, mesh, fromType.getShape());
    Layout out = Layout::get(after, mesh, toType.getShape());
    ReshapeResult reshaped = reshape(in, toType.getShape());
    explained.kept = express(toRanks(reshaped.result.digits));
    explained.gathered = express(subtract(in.digits, reshaped.result.digits));
    if (auto native = reshaped.result.toSharding(mesh))
      explained.native = meshes.toString(*native);
    for (const UnevenDim &dim : in.uneven)
      (llvm::is_contained(reshaped.gathered.uneven, dim) ? explained.kept : explained.gathered) += express(dim.ranks);

    // Digits do not depend on shapes: without uneven dims, the move is planned for a value
    // with one dim.
    if (in.uneven.empty() && out.uneven.empty()) {
      int64_t bytes = getElementBytes(fromType.getElementType());
      Layout flatIn = in, flatOut = out;
      flatIn.shape = flatOut.shape = {in.numElements()};
      explained.lowerBound = receivedElements(flatIn, flatOut, mesh.numDevices()) * bytes;
      LayoutId a = flatten(before, fromType), b = flatten(after, toType);
      auto type = RankedTensorType::get(flatIn.shape, fromType.getElementType());
      explained.steps = table.getMove(a, b, type).kinds;
      for (const PlanStep &step : table.getPlan(a, b, type))
        explained.received += receivedElements(step.from, step.to, mesh.numDevices()) * bytes;
    }
    if (!reshaped.free)
      suggest(explained, before, in, reshaped);
    return explained;
  }

private:
  static std::string toText(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  static SmallVector<RankDigit> toRanks(ArrayRef<Digit> digits) {
    SmallVector<RankDigit> ranks;
    for (const Digit &digit : digits)
      ranks.push_back({digit.stride, digit.size()});
    return ranks;
  }

  std::string express(ArrayRef<RankDigit> ranks) {
    DimEntries entries;
    for (const RankDigit &digit : ranks)
      if (!appendAxes(digit, mesh, entries))
        return "sub-axes";
    return meshes.toString(entries);
  }

  /// The sharding of the value with all dims collapsed to one.
  LayoutId flatten(const Sharding &sharding, RankedTensorType type) {
    SmallVector<DimEntries> entries;
    for (const DimSharding &dim : sharding.dims)
      entries.push_back(dim.entries);
    Sharding flat;
    flat.dims.emplace_back().entries = joinDim(entries, type.getShape());
    return table.intern(std::move(flat));
  }

  /// Suggests the sharding of the operand without the gathered axes: with it, and its
  /// replicas, nothing is gathered.
  void suggest(ExplainedReshape &explained, const Sharding &before, const Layout &in, const ReshapeResult &reshaped) {
    if (reshaped.gathered.shape != in.shape)
      return;
    auto fitting = reshaped.gathered.toSharding(mesh);
    if (!fitting)
      return;
    int64_t copies = 1;
    for (const auto &[dim, kept] : llvm::zip(before.dims, fitting->dims))
      copies *= deviceFactor(dim.entries) / deviceFactor(kept.entries);
    explained.suggestion = "write " + explained.operand + " as " + meshes.toString(*fitting) +
                           ": nothing is gathered then, " + std::to_string(copies) + " devices hold each element";
  }

  Propagation &run;
  FunctionMeshes &meshes;
  const Mesh &mesh;
  LayoutTable table;
  const ValueNames &names;
};

} // namespace

/// Visits the reshapes of a function. A collapse and an expand that splitReshapes made of
/// one op count as one.
static void forEachReshape(func::FuncOp func, llvm::function_ref<void(Operation *, StringRef, Value, Value)> visit) {
  auto isHalf = [](tensor::CollapseShapeOp collapse) {
    auto expand =
        collapse->hasOneUse() ? dyn_cast<tensor::ExpandShapeOp>(*collapse->user_begin()) : tensor::ExpandShapeOp();
    return expand && expand.getLoc() == collapse.getLoc() ? expand : tensor::ExpandShapeOp();
  };
  func.walk([&](Operation *op) {
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      if (auto expand = isHalf(collapse))
        return visit(op, "tensor.reshape", collapse.getSrc(), expand.getResult());
      return visit(op, op->getName().getStringRef(), collapse.getSrc(), collapse.getResult());
    }
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      auto collapse = expand.getSrc().getDefiningOp<tensor::CollapseShapeOp>();
      if (collapse && isHalf(collapse))
        return;
      return visit(op, op->getName().getStringRef(), expand.getSrc(), expand.getResult());
    }
    if (isReshape(op))
      visit(op, op->getName().getStringRef(), op->getOperand(0), op->getResult(0));
  });
}

FailureOr<std::vector<ExplainedReshapes>> spmd::explainReshapes(ModuleOp original,
                                                                const Propagation::Options &options) {
  OwningOpRef<ModuleOp> module = original.clone();
  ValueNames names(*module);
  if (getPhase(*module) < int(Phase::Annotated))
    makeConstraintsOfShardings(*module);
  MeshCache cache(*module);
  CallTable calls(*module);
  if (failed(calls.verify(cache)))
    return failure();
  for (auto func : getProgramFunctions(*module))
    splitReshapes(calls.getIndex(func).reshapes, [&](Value from, Value to) { names.rename(from, to); });
  // Functions that share values are propagated together.
  struct Group {
    std::optional<FunctionMeshes> meshes;
    std::unique_ptr<FunctionPropagation> tables;
  };
  llvm::DenseMap<Operation *, std::shared_ptr<Group>> groups;
  std::vector<ExplainedReshapes> functions;
  for (auto func : getProgramFunctions(*module)) {
    if (func.isExternal())
      continue;
    std::shared_ptr<Group> &group = groups[func];
    if (!group) {
      auto known = std::make_shared<Group>();
      SmallVector<func::FuncOp, 1> members = calls.getGroups().getGroup(func);
      auto meshes = calls.getMeshes(members, cache);
      if (failed(meshes))
        return failure();
      known->meshes = std::move(*meshes);
      if (known->meshes) {
        auto tables = FunctionPropagation::compute(members, *known->meshes, calls, options);
        if (failed(tables))
          return failure();
        known->tables = std::move(*tables);
      }
      group = known;
      for (func::FuncOp member : members)
        groups[member] = known;
    }
    std::shared_ptr<Group> own = groups[func];
    if (!own->meshes)
      continue;
    std::unique_ptr<FunctionPropagation> &tables = own->tables;
    ReshapeExplainer explainer(*tables, *own->meshes, names);
    ExplainedReshapes &explained = functions.emplace_back();
    explained.function = func.getName().str();
    forEachReshape(func, [&](Operation *op, StringRef name, Value from, Value to) {
      auto isPropagated = [&](Value value) {
        auto type = dyn_cast<RankedTensorType>(value.getType());
        return type && type.hasStaticShape() && type.getNumElements() > 0 && tables->getPropagation().contains(value);
      };
      if (isPropagated(from) && isPropagated(to))
        explained.reshapes.push_back(explainer.explain(op, name, from, to));
    });
  }
  // The location of the suggested annotation.
  auto given = explain(
      original,
      [&](StringRef function, StringRef value) {
        return llvm::any_of(functions, [&](const ExplainedReshapes &f) {
          return f.function == function && llvm::any_of(f.reshapes, [&](const ExplainedReshape &r) {
                   return r.operand == value && !r.suggestion.empty();
                 });
        });
      },
      options);
  if (failed(given))
    return failure();
  for (const ExplainedFunction &from : *given)
    for (ExplainedReshapes &function : functions)
      for (ExplainedReshape &explained : function.reshapes)
        for (const ExplainedValue &value : from.values) {
          if (explained.suggestion.empty() || from.name != function.function || value.name != explained.operand)
            continue;
          SmallVector<StringRef> annotations;
          for (const ExplainedAxis &axis : value.axes)
            if (!llvm::is_contained(annotations, axis.given) && !axis.steps.empty())
              annotations.push_back(axis.given);
          if (!annotations.empty())
            explained.suggestion += "; its axes are given on " + llvm::join(annotations, ", ");
        }
  return functions;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

void spmd::printText(ArrayRef<ExplainedReshapes> functions, llvm::raw_ostream &os) {
  for (const ExplainedReshapes &function : functions) {
    if (function.reshapes.empty())
      continue;
    os << "@" << function.function << "\n";
    for (const ExplainedReshape &explained : function.reshapes) {
      os << "  " << explained.op;
      if (!explained.loc.empty())
        os << " at " << explained.loc;
      os << "\n    from " << explained.operand << " : " << explained.operandType << "  " << explained.operandSharding
         << "\n    to " << explained.result << " : " << explained.resultType << "  " << explained.resultSharding
         << "\n";
      os << "    kept {" << explained.kept << "}, gathered {" << explained.gathered << "}";
      if (!explained.native.empty() && !explained.gathered.empty())
        os << ", which leaves " << explained.native;
      os << "\n    received " << explained.received << " bytes by all devices, the fewest possible are "
         << explained.lowerBound;
      if (!explained.steps.empty())
        os << ": " << explained.steps;
      os << "\n";
      if (!explained.suggestion.empty())
        os << "    suggestion: " << explained.suggestion << "\n";
    }
  }
}

void spmd::printJSON(ArrayRef<ExplainedReshapes> functions, llvm::raw_ostream &os) {
  using Json = nlohmann::ordered_json;
  Json root{{"version", 1}, {"functions", Json::array()}};
  for (const ExplainedReshapes &function : functions) {
    Json reshapes = Json::array();
    for (const ExplainedReshape &explained : function.reshapes)
      reshapes.push_back(
          {{"op", explained.op},
           {"loc", explained.loc},
           {"operand",
            {{"name", explained.operand}, {"type", explained.operandType}, {"sharding", explained.operandSharding}}},
           {"result",
            {{"name", explained.result}, {"type", explained.resultType}, {"sharding", explained.resultSharding}}},
           {"kept", explained.kept},
           {"gathered", explained.gathered},
           {"native", explained.native},
           {"received", explained.received},
           {"lower_bound", explained.lowerBound},
           {"steps", explained.steps},
           {"suggestion", explained.suggestion}});
    root["functions"].push_back({{"name", function.function}, {"reshapes", reshapes}});
  }
  os << root.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

void spmd::emitRemarks(ArrayRef<ExplainedReshapes> functions) {
  for (const ExplainedReshapes &function : functions)
    for (const ExplainedReshape &explained : function.reshapes) {
      auto options = remark::RemarkOpts::name("explain-reshape").category("spmd").function(function.function);
      auto remark = explained.received == 0 ? remark::passed(explained.location, options)
                                            : remark::missed(explained.location, options);
      remark << remark::add("{0} {1} to {2} {3}: kept {{{4}}, gathered {{{5}}", explained.operand,
                            explained.operandSharding, explained.result, explained.resultSharding, explained.kept,
                            explained.gathered)
             << remark::metric("Bytes", explained.received) << remark::metric("LowerBound", explained.lowerBound);
      if (!explained.suggestion.empty())
        remark << remark::suggest("{0}", explained.suggestion);
    }
}
