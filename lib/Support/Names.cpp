//===- Names.cpp - What plans call arguments, results and values ----------===//

#include "shardkit/Support/Names.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"

#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::spmd;

std::string spmd::getArgumentName(func::FuncOp func, unsigned i) {
  if (std::string name = getWeightName(func, i); !name.empty())
    return name;
  if (auto name = func.getArgAttrOfType<StringAttr>(i, kNameAttr))
    return name.getValue().str();
  return "arg" + std::to_string(i);
}

DimSymbols spmd::getDimSymbols(func::FuncOp func, unsigned i, int64_t d) {
  if (auto names = func.getArgAttrOfType<ArrayAttr>(i, kDimSymbolsAttr))
    if (auto name = cast<StringAttr>(names[d]); !name.empty())
      return *parseDimSymbols(name); // which the verifier did
  MLIRContext *context = func.getContext();
  return {{StringAttr::get(context, getArgumentName(func, i) + "." + Twine(d))}, getAffineSymbolExpr(0, context)};
}

std::string spmd::getResultName(func::FuncOp func, unsigned i) {
  if (auto name = func.getResultAttrOfType<StringAttr>(i, kNameAttr))
    return name.getValue().str();
  return "result" + std::to_string(i);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

NamePattern::NamePattern(StringRef text) : text(text) { text.split(components, '.'); }

/// `*` stands for any characters.
static bool matchComponent(StringRef pattern, StringRef component) {
  size_t p = 0, s = 0, star = StringRef::npos, resume = 0;
  while (s < component.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = s;
    } else if (p < pattern.size() && pattern[p] == component[s]) {
      ++p;
      ++s;
    } else if (star != StringRef::npos) {
      p = star + 1;
      s = ++resume;
    } else {
      return false;
    }
  }
  return pattern.drop_front(p).find_first_not_of('*') == StringRef::npos;
}

bool NamePattern::match(StringRef name, bool prefix) const {
  for (auto [i, component] : llvm::enumerate(components)) {
    auto [head, tail] = name.split('.');
    if (!matchComponent(component, head))
      return false;
    bool last = head.size() == name.size();
    if (i + 1 == components.size())
      return prefix || last;
    if (last)
      return false;
    name = tail;
  }
  return false;
}

void spmd::forEachPrefix(StringRef name, llvm::function_ref<void(StringRef)> visit) {
  for (size_t dot = name.find('.'); dot != StringRef::npos; dot = name.find('.', dot + 1))
    visit(name.take_front(dot));
  visit(name);
}

std::string spmd::listNearest(StringRef name, ArrayRef<StringRef> known) {
  constexpr size_t kMaxListed = 4;
  llvm::StringSet<> seen;
  SmallVector<std::pair<unsigned, StringRef>> ranked;
  for (StringRef candidate : known)
    if (seen.insert(candidate).second)
      ranked.push_back({name.edit_distance(candidate), candidate});
  llvm::sort(ranked);
  // Typos first, then names with a common prefix, then others.
  unsigned near = std::max<size_t>(2, name.size() / 3);
  bool found = llvm::any_of(ranked, [&](auto &entry) { return entry.first <= near; });
  SmallVector<std::pair<unsigned, StringRef>> kept;
  llvm::copy_if(ranked, std::back_inserter(kept), [&](auto &entry) {
    if (found)
      return entry.first <= near;
    return entry.second.starts_with(name) || name.starts_with(entry.second);
  });
  if (!kept.empty())
    ranked = std::move(kept);
  std::string list;
  for (auto &[distance, candidate] : ArrayRef(ranked).take_front(kMaxListed))
    list += (list.empty() ? "\"" : ", \"") + candidate.str() + "\"";
  return list;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static bool isAnnotation(Operation *op) { return isa_and_nonnull<WithShardingConstraintOp, ReshardOp>(op); }

Value spmd::skipAnnotations(Value value) {
  while (isAnnotation(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// The name by a front end; empty if there is none.
static StringRef getLocationName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().getValue();
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return getLocationName(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location component : fused.getLocations())
      if (StringRef name = getLocationName(component); !name.empty())
        return name;
  return {};
}

/// True for the body of a structured op or similar, whose ops compute only scalars and are
/// often not printed.
static bool isScalarBody(Operation *op) {
  return op->getNumRegions() > 0 &&
         !op->walk([&](Operation *nested) {
              bool found = nested != op && llvm::any_of(nested->getResultTypes(), llvm::IsaPred<RankedTensorType>);
              return found ? WalkResult::interrupt() : WalkResult::advance();
            }).wasInterrupted();
}

std::vector<NamedValue> spmd::collectNamedValues(func::FuncOp func) {
  std::vector<NamedValue> values;
  if (func.isExternal())
    return values;
  DenseMap<Value, size_t> index;
  for (BlockArgument arg : func.getArguments()) {
    index[arg] = values.size();
    values.push_back({arg,
                      {getArgumentName(func, arg.getArgNumber())},
                      "arg#" + std::to_string(arg.getArgNumber()),
                      /*isNamed=*/true});
  }
  unsigned number = 0;
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    WalkResult next = isScalarBody(op) ? WalkResult::skip() : WalkResult::advance();
    if (op->getNumResults() == 0)
      return next;
    StringRef name = getLocationName(op->getLoc());
    if (isAnnotation(op)) {
      auto it = index.find(skipAnnotations(op->getResult(0)));
      if (it != index.end() && !name.empty() && !llvm::is_contained(values[it->second].names, name))
        values[it->second].names.push_back(name.str());
      return next;
    }
    std::string position = "op#" + std::to_string(number++);
    for (OpResult result : op->getResults()) {
      std::string suffix;
      if (op->getNumResults() > 1)
        suffix = "." + std::to_string(result.getResultNumber());
      index[result] = values.size();
      NamedValue &value = values.emplace_back();
      value.value = result;
      if (!name.empty())
        value.names.push_back(name.str() + suffix);
      value.position = position + suffix;
      value.isNamed = !name.empty();
    }
    return next;
  });
  return values;
}

bool spmd::isPosition(StringRef name) {
  if (!name.consume_front("op#") && !name.consume_front("arg#"))
    return false;
  auto [number, result] = name.split('.');
  return !number.empty() && llvm::all_of(number, llvm::isDigit) && llvm::all_of(result, llvm::isDigit);
}

//===----------------------------------------------------------------------===//
// Hash
//===----------------------------------------------------------------------===//

std::string spmd::hashFunction(func::FuncOp func) {
  std::string text;
  llvm::raw_string_ostream os(text);
  AsmState state(func.getContext(), OpPrintingFlags().elideLargeElementsAttrs().elideLargeResourceString());
  DenseMap<Value, unsigned> values;
  DenseMap<Block *, unsigned> blocks;
  auto numberOf = [](auto &map, auto key) { return map.try_emplace(key, map.size()).first->second; };
  os << func.getFunctionType();
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isAnnotation(op) || isa<StageBoundaryOp>(op))
      return;
    // Position first, then kind.
    os << "\n" << numberOf(blocks, op->getBlock()) << " " << op->getName() << "(";
    for (Value operand : op->getOperands())
      os << numberOf(values, skipAnnotations(operand)) << " ";
    os << ")";
    for (Block *successor : op->getSuccessors())
      os << "^" << numberOf(blocks, successor);
    for (NamedAttribute attr : op->getAttrDictionary())
      if (!attr.getName().strref().starts_with("spmd.")) {
        os << " " << attr.getName().strref() << "=";
        attr.getValue().print(os, state);
      }
    os << " :";
    for (Value result : op->getResults())
      os << " " << numberOf(values, result) << ":" << result.getType();
    for (Region &region : op->getRegions()) {
      os << " {";
      for (Block &block : region) {
        os << "^" << numberOf(blocks, &block);
        for (BlockArgument arg : block.getArguments())
          os << " " << numberOf(values, Value(arg)) << ":" << arg.getType();
      }
      os << "}";
    }
  });
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16);
}
