//===- StableHLODialect.cpp - Dialects that know sharding rules alone -----===//

#include "Model.h"
#include "shardkit/StableHLO/StableHLORules.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Ops compute values alone, so that functions of them can be inlined.
struct AnywhereInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
};

/// A dialect of unknown ops and attributes; both keep their text.
class OpaqueDialect : public Dialect {
public:
  OpaqueDialect(StringRef name, MLIRContext *context, TypeID id) : Dialect(name, context, id) {
    allowUnknownOperations();
    allowUnknownTypes();
    addInterfaces<AnywhereInlinerInterface>();
  }

  Attribute parseAttribute(DialectAsmParser &parser, Type type) const override {
    return OpaqueAttr::get(StringAttr::get(getContext(), getNamespace()), parser.getFullSymbolSpec(),
                           type ? type : NoneType::get(getContext()));
  }
  Type parseType(DialectAsmParser &parser) const override {
    return OpaqueType::get(StringAttr::get(getContext(), getNamespace()), parser.getFullSymbolSpec());
  }

  void *getRegisteredInterfaceForOp(TypeID id, OperationName name) override {
    if (id != ShardingRuleOpInterface::getInterfaceID() || !stablehlo::Model::hasRule(name.getStringRef()))
      return nullptr;
    return static_cast<ShardingRuleOpInterface::Concept *>(&model);
  }

private:
  stablehlo::Model model;
};

struct StableHLODialect : OpaqueDialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StableHLODialect)
  explicit StableHLODialect(MLIRContext *context)
      : OpaqueDialect(getDialectNamespace(), context, TypeID::get<StableHLODialect>()) {}
  static StringRef getDialectNamespace() { return "stablehlo"; }
};

struct ChloDialect : OpaqueDialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ChloDialect)
  explicit ChloDialect(MLIRContext *context)
      : OpaqueDialect(getDialectNamespace(), context, TypeID::get<ChloDialect>()) {}
  static StringRef getDialectNamespace() { return "chlo"; }
};

} // namespace

void spmd::registerStableHLORules(DialectRegistry &registry) { registry.insert<StableHLODialect, ChloDialect>(); }
