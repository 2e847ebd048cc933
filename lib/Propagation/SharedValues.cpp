//===- SharedValues.cpp - Values that several functions share -------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Propagation/FunctionPropagation.h"
#include "shardkit/Support/Names.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::spmd;

LogicalResult FunctionPropagation::readSharedValues() {
  if (signatures.size() == 1)
    return success();
  llvm::SmallDenseSet<int64_t> known;
  const FunctionGroups &shared = calls.getGroups();
  auto read = [&](int64_t number) {
    return number < 0 || !known.insert(number).second ? success() : readSharedValue(number);
  };
  for (Signature &signature : signatures) {
    for (unsigned i = 0; i < signature.func.getNumArguments(); ++i)
      if (failed(read(shared.getArgument(signature.func, i))))
        return failure();
    for (unsigned i = 0; i < signature.func.getNumResults(); ++i)
      if (failed(read(shared.getResult(signature.func, i))))
        return failure();
  }
  return success();
}

LogicalResult FunctionPropagation::readSharedValue(unsigned shared) {
  struct Member {
    Slot slot;
    Sharding sharding;
    std::string text, name;
    FlatSymbolRefAttr mesh;
  };
  std::vector<Member> members;
  for (const FunctionGroups::Member &member : calls.getGroups().getMembers(shared)) {
    Signature &signature = signatures[signatureOf.lookup(member.func)];
    NamedAttrList &attrs = member.isResult ? signature.attrs.result(member.index) : signature.attrs.arg(member.index);
    func::FuncOp of = member.func;
    auto type = cast<RankedTensorType>(member.isResult ? of.getResultTypes()[member.index]
                                                       : of.getArgumentTypes()[member.index]);
    FailureOr<Sharding> sharding =
        readUserSharding(getUserSharding(attrs), type,
                         member.isResult || of.isExternal() ? of.getLoc() : of.getArgument(member.index).getLoc());
    if (failed(sharding))
      return failure();
    // A result has the layout of the argument that it is tied to.
    auto tied = member.isResult ? dyn_cast_or_null<IntegerAttr>(attrs.get(kTiedAttr)) : IntegerAttr();
    if (tied) {
      auto argument = llvm::find_if(
          members, [&](const Member &each) { return each.slot == getSlot(of, /*isResult=*/false, tied.getInt()); });
      if (auto joined = getJoined(argument->sharding, *sharding))
        argument->sharding = *joined; // else readResults emits an error
      continue;
    }
    members.push_back({getSlot(of, member.isResult, member.index), *sharding, "", "",
                       getMeshOf(signature, member.isResult, member.index)});
    members.back().name =
        (member.isResult ? "result " + getResultName(of, member.index) : getArgumentName(of, member.index)) + " of @" +
        of.getName().str();
  }
  for (Member &member : members)
    member.text = meshes.toString(member.sharding);
  // By sharding, so that the order of functions does not matter; what has none comes last.
  auto isOpen = [](const Member &member) {
    return member.sharding.replicated.empty() &&
           llvm::all_of(member.sharding.dims, [](const DimSharding &dim) { return dim.open && dim.entries.empty(); });
  };
  llvm::stable_sort(members, [&](const Member &a, const Member &b) {
    return std::tuple(isOpen(a), !a.mesh, a.text) < std::tuple(isOpen(b), !b.mesh, b.text);
  });
  sharedLayouts.resize(std::max<size_t>(sharedLayouts.size(), shared + 1));
  SmallVector<SharedLayout, 1> &layouts = sharedLayouts[shared];
  for (Member &member : members) {
    std::optional<Sharding> joined;
    auto it = llvm::find_if(layouts, [&](const SharedLayout &layout) {
      if (layout.mesh && member.mesh && !meshes.haveSameOwners(layout.mesh, member.mesh))
        return false;
      joined = getJoined(layout.sharding, member.sharding);
      return joined.has_value();
    });
    if (it == layouts.end())
      it = layouts.insert(it, SharedLayout{member.sharding, "", -1});
    else
      it->sharding = std::move(*joined);
    if (!it->mesh)
      it->mesh = member.mesh;
    if (it->mesh)
      meshOf[member.slot] = it->mesh;
    it->members += (it->members.empty() ? "" : ", ") + member.name;
    layoutOf[member.slot] = it - layouts.begin();
  }
  return success();
}

int64_t FunctionPropagation::getSharedClass(int64_t shared, bool isResult, unsigned index, RankedTensorType type) {
  if (signatures.size() == 1 || shared < 0)
    return -1;
  SharedLayout &layout = sharedLayouts[shared][layoutOf.lookup(getSlot(func, isResult, index))];
  if (layout.valueClass < 0)
    layout.valueClass = propagation.addClass(type, layout.sharding);
  return layout.valueClass;
}

void FunctionPropagation::remarkSharedValues() {
  for (const auto &layouts : sharedLayouts) {
    if (layouts.size() < 2)
      continue;
    std::string text;
    int64_t bytes = 0;
    for (const SharedLayout &layout : layouts) {
      if (layout.valueClass < 0)
        continue; // a result of a function of several blocks
      RankedTensorType type = propagation.getClass(layout.valueClass).type;
      const Sharding &sharding = propagation.get(layout.valueClass);
      text += (text.empty() ? "" : "; ") + layout.members + " as " + meshes.toString(sharding);
      if (layout.mesh && meshes.isReordered(layout.mesh))
        text += " in the order of @" + layout.mesh.getValue().str();
      if (type.hasStaticShape())
        bytes += Layout::get(table.get(table.intern(sharding)), mesh, type.getShape()).numLocalElements() *
                 getElementBytes(type.getElementType());
    }
    func::FuncOp first = signatures.front().func;
    remark::missed(first.getLoc(), remark::RemarkOpts::name("shared-value").category("spmd").function(first.getName()))
        << remark::add("functions have one value in {0} layouts: {1}", layouts.size(), text)
        << remark::metric("Bytes", bytes) << remark::reason("their annotations differ")
        << remark::suggest("annotate it in one of them, or equally, so that a session holds it once");
  }
}
