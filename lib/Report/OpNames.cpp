//===- OpNames.cpp - What ops compute, and their modules ------------------===//

#include "OpNames.h"

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::spmd;

using Path = SmallVector<std::string>;

/// `addf` and `addi` are both `add`.
static std::string getShortName(Operation *op) {
  StringRef name = op->getName().stripDialect();
  for (StringRef suffix : {"imumf", "mumf"})
    if (name.consume_back(suffix))
      return (name + "m").str();
  for (StringRef suffix : {"imum", "numf", "sf", "si", "ui", "f", "i"})
    if (name.size() > suffix.size() + 2 && name.consume_back(suffix))
      break;
  return name.str();
}

/// The computation of the body of a generic op, the last one first: `exp(sub)`.
static std::string getBodyName(linalg::GenericOp op) {
  SmallVector<std::string> names;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<tensor::ExtractOp>(inner))
      return "lookup";
    StringRef dialect = inner.getName().getDialectNamespace();
    bool isIndex = inner.getNumResults() > 0 && inner.getResult(0).getType().isIndex();
    if (inner.hasTrait<OpTrait::ConstantLike>() || isIndex || (dialect != "arith" && dialect != "math"))
      continue;
    names.push_back(getShortName(&inner));
  }
  if (op.getNumReductionLoops() > 0) {
    if (linalg::isaContractionOpInterface(op))
      return "matmul";
    std::string last = names.empty() ? "reduce" : names.back();
    return last == "add" ? "sum" : last;
  }
  if (names.empty()) {
    AffineMap map = op.getNumDpsInputs() > 0 ? op.getIndexingMapsArray().front() : AffineMap();
    return !map || map.isIdentity() ? "copy" : map.getNumResults() < map.getNumDims() ? "broadcast" : "transpose";
  }
  std::string text = names.back();
  for (StringRef name : ArrayRef(names).drop_back().take_back(2))
    text += (text.find('(') == std::string::npos ? "(" : ", ") + name.str();
  return text.find('(') == std::string::npos ? text : text + ")";
}

std::string spmd::getComputedName(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return getBodyName(generic);
  if (auto reduce = dyn_cast<linalg::ReduceOp>(op)) {
    std::string name = getShortName(&reduce.getBody()->front());
    return name == "add" ? "sum" : name;
  }
  if (auto map = dyn_cast<linalg::MapOp>(op); map && !map.getBody()->without_terminator().empty())
    return getShortName(&map.getBody()->front());
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "arith" || dialect == "math")
    return getShortName(op);
  return op->getName().stripDialect().str();
}

/// `a.b['c']/d` is a, b, c, d.
static Path splitName(StringRef name) {
  SmallVector<StringRef> components;
  StringRef(name).split(components, '/', -1, false);
  Path path;
  for (StringRef component : components) {
    if (component.contains('(')) { // jit(f), transpose(jvp(f))
      path.push_back(component.str());
      continue;
    }
    std::string text;
    for (char c : component)
      text += c == '[' || c == '.' ? '/' : c;
    SmallVector<StringRef> inner;
    StringRef(text).split(inner, '/', -1, false);
    for (StringRef each : inner)
      if (StringRef trimmed = each.trim("]'\""); !trimmed.empty())
        path.push_back(trimmed.str());
  }
  return path;
}

/// The name scopes of a location, without those of transformations.
static Path getLocationScope(Location loc) {
  auto name = loc->findInstanceOf<NameLoc>();
  if (!name)
    return {};
  Path path = splitName(name.getName());
  if (!path.empty())
    path.pop_back();
  llvm::erase_if(path, [](StringRef component) { return component.contains('('); });
  return path;
}

namespace {
/// The modules of the weights that ops read.
class WeightModules {
public:
  explicit WeightModules(func::FuncOp func) : func(func) {}

  /// The module of the weights that an op reads, also through ops that only change their layout
  /// or shape. Empty if there is none.
  Path find(Operation *op, unsigned depth = 0) const {
    Path longest;
    for (Value operand : op->getOperands()) {
      Path path;
      if (Operation *def = operand.getDefiningOp())
        path = depth < 4 && def->getNumOperands() <= 2 && movesOnly(def) ? find(def, depth + 1) : Path();
      else
        path = getPath(operand);
      if (path.size() > longest.size())
        longest = path;
    }
    return longest;
  }

private:
  static bool movesOnly(Operation *op) {
    std::string name = getComputedName(op);
    return isa<CollectiveOpInterface>(op) || name == "transpose" || name == "broadcast" || name == "copy" ||
           op->getName().getDialectNamespace() == "tensor";
  }

  Path getPath(Value value) const {
    auto arg = dyn_cast<BlockArgument>(value);
    if (!arg || arg.getOwner()->getParentOp() != func)
      return {};
    std::string text;
    for (StringRef attr : {kWeightAttr, kNameAttr})
      if (auto name = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), attr))
        if (text.empty())
          text = name.getValue().str();
    if (auto name = arg.getLoc()->findInstanceOf<NameLoc>(); name && text.empty())
      text = name.getName().str();
    Path path = splitName(text);
    if (!path.empty())
      path.pop_back();
    return path;
  }

  mutable func::FuncOp func;
};
} // namespace

static Path getCommonPrefix(const Path &a, const Path &b) {
  Path common;
  for (auto [left, right] : llvm::zip(a, b)) {
    if (left != right)
      break;
    common.push_back(left);
  }
  return common;
}

std::vector<std::string> spmd::getModules(func::FuncOp func, const FunctionGraph &graph) {
  WeightModules weights(func);
  size_t count = graph.nodes.size();
  std::vector<Path> read(count), next(count + 1);
  for (size_t i = count; i-- > 0;) {
    if (graph.nodes[i].op)
      read[i] = weights.find(graph.nodes[i].op);
    next[i] = read[i].empty() ? next[i + 1] : read[i];
  }
  std::vector<std::string> modules(count);
  Path last;
  for (size_t i = 0; i < count; ++i) {
    if (!graph.nodes[i].op)
      continue;
    if (!read[i].empty())
      last = read[i];
    Path path = read[i].empty() ? getCommonPrefix(last, next[i]) : read[i];
    for (const std::string &component : getLocationScope(graph.nodes[i].op->getLoc()))
      if (!llvm::is_contained(path, component))
        path.push_back(component);
    modules[i] = llvm::join(path, "/");
  }
  for (size_t i = count; i-- > 0;)
    if (!graph.nodes[i].op && i + 1 < count)
      modules[i] = modules[i + 1];
  return modules;
}
