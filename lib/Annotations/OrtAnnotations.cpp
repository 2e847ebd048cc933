//===- OrtAnnotations.cpp - Sharding annotations of a function ------------===//

#include "OrtAnnotations.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

using namespace mlir;
using namespace mlir::spmd;

SmallVector<Annotation> spmd::getAnnotations(func::FuncOp func) {
  SmallVector<Annotation> list;
  for (StringRef name : {StringRef(kShardingAttr), StringRef(kUserShardingAttr)}) {
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (Attribute attr = func.getArgAttr(i, name))
        list.push_back({attr, func.getArgumentTypes()[i],
                        func.isExternal() ? func.getLoc() : func.getArgument(i).getLoc(),
                        "argument #" + std::to_string(i), [=](Attribute to) mutable { func.setArgAttr(i, name, to); }});
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      if (Attribute attr = func.getResultAttr(i, name))
        list.push_back({attr, func.getResultTypes()[i], func.getLoc(), "result #" + std::to_string(i),
                        [=](Attribute to) mutable { func.setResultAttr(i, name, to); }});
  }
  func.walk([&](Operation *op) {
    if (auto constraint = dyn_cast<WithShardingConstraintOp>(op)) {
      Attribute attr = constraint.getShardingAttr();
      if (constraint.getOrtAttr())
        attr = constraint.getOrtAttr();
      if (attr)
        list.push_back({attr, constraint.getType(), op->getLoc(), "the constrained value", [=](Attribute to) mutable {
                          constraint.setShardingAttr(dyn_cast<ShardingAttr>(to));
                          constraint.setOrtAttr(dyn_cast<OrtAttr>(to));
                        }});
    }
    auto shardings = op->getAttrOfType<ArrayAttr>(kShardingsAttr);
    for (unsigned i = 0; shardings && i < shardings.size(); ++i)
      list.push_back(
          {shardings[i], op->getResult(i).getType(), op->getLoc(), "result #" + std::to_string(i), [=](Attribute to) {
             SmallVector<Attribute> attrs(op->getAttrOfType<ArrayAttr>(kShardingsAttr).getValue());
             attrs[i] = to;
             op->setAttr(kShardingsAttr, ArrayAttr::get(op->getContext(), attrs));
           }});
  });
  return list;
}

FailureOr<func::FuncOp> spmd::findFunction(ModuleOp module, StringRef name) {
  SmallVector<func::FuncOp> found;
  std::string known;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (name.empty() ? func.isPublic() : func.getName() == name)
      found.push_back(func);
    known += (known.empty() ? "@" : ", @") + func.getName().str();
  }
  if (found.size() == 1)
    return found.front();
  if (name.empty() && found.size() > 1)
    return emitError(module.getLoc()) << "module has " << found.size()
                                      << " public functions, expected function=NAME, one of " << known;
  if (name.empty())
    return emitError(module.getLoc()) << "module has no public function";
  return emitError(module.getLoc()) << "no function is called @" << name << ", expected one of " << known;
}
