//===- SignatureAttrs.cpp - Attributes of arguments and results -----------===//

#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"

using namespace mlir;
using namespace mlir::spmd;

SignatureAttrs::SignatureAttrs(FunctionOpInterface func) : func(func) {
  args.reserve(func.getNumArguments());
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    args.emplace_back(func.getArgAttrs(i));
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    results.emplace_back(func.getResultAttrs(i));
}

void SignatureAttrs::write() {
  MLIRContext *context = func->getContext();
  auto dictionaries = [&](MutableArrayRef<NamedAttrList> lists) {
    SmallVector<DictionaryAttr> attrs;
    attrs.reserve(lists.size());
    for (NamedAttrList &list : lists)
      attrs.push_back(list.getDictionary(context));
    return attrs;
  };
  func.setAllArgAttrs(dictionaries(args));
  func.setAllResultAttrs(dictionaries(results));
}
