//===- ValueNames.cpp - What values are called ----------------------------===//

#include "ValueNames.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Verification.h"

using namespace mlir;
using namespace mlir::spmd;

static std::string getLocName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto call = dyn_cast<CallSiteLoc>(loc)) // of an inlined op
    return getLocName(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location inner : fused.getLocations())
      if (std::string name = getLocName(inner); !name.empty())
        return name;
  return "";
}

/// `file:line`; the last components of the path suffice.
static bool isAt(Location loc, StringRef selection) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  auto [path, line] = selection.rsplit(':');
  unsigned number;
  return file && !line.getAsInteger(10, number) && file.getLine() == number &&
         file.getFilename().getValue().ends_with(path);
}

ValueNames::ValueNames(ModuleOp module) : state(module) {
  module.walk([&](func::FuncOp func) {
    for (BlockArgument arg : func.getArguments())
      for (StringRef name : {kNameAttr, kWeightAttr})
        if (auto text = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), name))
          userNames[arg] = text.getValue();
  });
  module.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument arg : block.getArguments())
          add(arg);
    for (Value result : op->getResults())
      add(result);
  });
}

void ValueNames::add(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return;
  llvm::raw_string_ostream os(printed[value]);
  value.printAsOperand(os, state);
}

std::string ValueNames::get(Value value) const {
  std::string name = printed.lookup(value);
  std::string user = userNames.lookup(value);
  if (user.empty())
    user = getLocName(value.getLoc());
  if (name.empty())
    return user.empty() ? "a value" : user;
  return user.empty() ? name : name + " (" + user + ")";
}

void ValueNames::rename(Value from, Value to) {
  printed[to] = printed.lookup(from);
  userNames[to] = userNames.lookup(from);
}

bool ValueNames::matches(Value value, StringRef selection) const {
  return selection == printed.lookup(value) || selection == StringRef(userNames.lookup(value)) ||
         selection == getLocName(value.getLoc()) || isAt(value.getLoc(), selection);
}

void ValueNames::list(Value value, SmallVectorImpl<std::string> &names) const {
  for (std::string name : {printed.lookup(value), userNames.lookup(value), getLocName(value.getLoc())})
    if (!name.empty())
      names.push_back(name);
}

InFlightDiagnostic spmd::emitUnknownValue(ModuleOp module, const ValueNames &names, StringRef selection, Location loc) {
  SmallVector<std::string> known;
  module.walk([&](func::FuncOp func) {
    func.walk([&](Operation *op) {
      for (Value result : op->getResults())
        names.list(result, known);
    });
    for (BlockArgument arg : func.getArguments())
      names.list(arg, known);
  });
  SmallVector<StringRef> refs(known.begin(), known.end());
  InFlightDiagnostic diag = emitError(loc);
  diag << "no value is called \"" << selection << "\", expected for instance " << nearestNames(selection, refs)
       << ", or file:line";
  return diag;
}

/// A value that `selection` names, or null.
static Value findValue(ModuleOp module, StringRef selection) {
  ValueNames names(module);
  Value found;
  auto visit = [&](Value value) {
    if (!found && isa<RankedTensorType>(value.getType()) && names.matches(value, selection))
      found = value;
  };
  module.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), visit);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), visit);
  });
  return found;
}

LogicalResult spmd::verifySelection(ModuleOp module, ModuleOp original, StringRef selection) {
  if (selection.empty() || findValue(module, selection))
    return success();
  if (Value value = findValue(original, selection))
    return emitError(value.getLoc()) << "value \"" << selection
                                     << "\" is not in the program after propagation: it is unused, was folded, or has "
                                        "another number there; expected a value of that program, or inline=false to "
                                        "simplify nothing before";
  return success();
}
