//===- Edits.cpp - Small changes of an op ---------------------------------===//

#include "Edits.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// Values that are tried for one operand.
static constexpr size_t kMaxValues = 24;

static constexpr ReductionKind kReductions[] = {ReductionKind::Sum,    ReductionKind::Prod,  ReductionKind::And,
                                                ReductionKind::Or,     ReductionKind::Xor,   ReductionKind::Max,
                                                ReductionKind::Min,    ReductionKind::UMax,  ReductionKind::UMin,
                                                ReductionKind::MaxNum, ReductionKind::MinNum};

EditedOp::EditedOp(Operation *op, const Edit &edit)
    : op(op), attributes(op->getAttrDictionary()), operands(op->getOperands()) {
  op->setAttrs(edit.attributes);
  op->setOperands(edit.operands);
}

EditedOp::~EditedOp() {
  op->setAttrs(attributes);
  op->setOperands(operands);
}

bool EditedOp::isLegal() const {
  ScopedDiagnosticHandler silent(op->getContext(), [](Diagnostic &) { return success(); });
  return succeeded(verify(op, /*verifyRecursively=*/false));
}

namespace {
class OwnEdits {
public:
  explicit OwnEdits(Operation *op) : op(op) {}
  SmallVector<Edit, 0> get();

private:
  void set(StringRef name, Attribute value);
  void add(const NamedAttrList &attributes, const Twine &what);
  /// `replace` in all layouts of a collective, and in one of several.
  void replaceLayouts(llvm::function_ref<Attribute(Attribute)> replace);
  void changeLayouts();
  void exchangeOperands();
  SmallVector<StringRef> getAxes() const;
  /// Each number one more and one less, and each two in a row exchanged.
  void changeNumbers(StringRef name, DenseI64ArrayAttr numbers);
  template <typename PredicateAttr, typename Predicate> void changePredicate(Predicate last) {
    for (uint64_t i = 0; i <= uint64_t(last); ++i)
      set("predicate", PredicateAttr::get(op->getContext(), Predicate(i)));
  }

  Operation *op;
  SmallVector<Edit, 0> edits;
};
} // namespace

void OwnEdits::set(StringRef name, Attribute value) {
  NamedAttrList attributes(op->getAttrDictionary());
  if (attributes.set(name, value) == value)
    return;
  std::string text;
  if (auto predicate = dyn_cast<arith::CmpIPredicateAttr>(value))
    text = arith::stringifyCmpIPredicate(predicate.getValue());
  else if (auto predicate = dyn_cast<arith::CmpFPredicateAttr>(value))
    text = arith::stringifyCmpFPredicate(predicate.getValue());
  else
    llvm::raw_string_ostream(text) << value;
  add(attributes, "with " + name + " = " + text);
}

void OwnEdits::add(const NamedAttrList &attributes, const Twine &what) {
  edits.push_back(
      {attributes.getDictionary(op->getContext()), SmallVector<Value, 4>(op->getOperands()), std::nullopt, what.str()});
}

SmallVector<StringRef> OwnEdits::getAxes() const {
  SmallVector<StringRef> axes;
  for (auto mesh : op->getParentOfType<ModuleOp>().getOps<MeshOp>())
    for (MeshAxisAttr axis : mesh.getMesh().getAxes())
      if (!llvm::is_contained(axes, axis.getName()))
        axes.push_back(axis.getName());
  return axes;
}

void OwnEdits::replaceLayouts(llvm::function_ref<Attribute(Attribute)> replace) {
  NamedAttrList all(op->getAttrDictionary());
  std::string text;
  unsigned numChanged = 0;
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    if (!isa<ShardingAttr, AxesAttr>(attribute.getValue()))
      continue;
    Attribute changed = replace(attribute.getValue());
    if (!changed || changed == attribute.getValue())
      continue;
    set(attribute.getName(), changed);
    all.set(attribute.getName(), changed);
    llvm::raw_string_ostream(text) << (numChanged++ ? ", " : "with ") << attribute.getName().strref() << " = "
                                   << changed;
  }
  if (numChanged > 1)
    add(all, text);
}

void OwnEdits::changeLayouts() {
  SmallVector<StringRef> axes = getAxes();
  for (size_t i = 0; i < axes.size(); ++i)
    for (StringRef other : ArrayRef(axes).drop_front(i + 1)) {
      AttrTypeReplacer replacer;
      replacer.addReplacement([&, axis = axes[i]](DimEntryAttr entry) {
        StringRef changed = entry.getAxis() == axis ? other : entry.getAxis() == other ? axis : entry.getAxis();
        return std::pair(DimEntryAttr::get(entry.getContext(), changed, entry.getPre(), entry.getSize()),
                         WalkResult::skip());
      });
      replaceLayouts([&](Attribute layout) { return replacer.replace(layout); });
    }
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  for (int64_t d = 1; type && d < type.getRank(); ++d)
    for (int64_t e = 0; e < d; ++e)
      replaceLayouts([&](Attribute layout) -> Attribute {
        auto sharding = dyn_cast<ShardingAttr>(layout);
        if (!sharding || int64_t(sharding.getDims().size()) <= d)
          return {};
        SmallVector<DimShardingAttr> dims(sharding.getDims());
        std::swap(dims[d], dims[e]);
        return ShardingAttr::get(layout.getContext(), sharding.getMesh(), dims, sharding.getReplicated(),
                                 sharding.getUnreducedKind(), sharding.getUnreduced());
      });
}

void OwnEdits::changeNumbers(StringRef name, DenseI64ArrayAttr numbers) {
  SmallVector<int64_t> changed(numbers.asArrayRef());
  auto add = [&] { set(name, DenseI64ArrayAttr::get(op->getContext(), changed)); };
  for (size_t i = 0; i < changed.size(); ++i) {
    if (ShapedType::isDynamic(changed[i]))
      continue;
    for (int64_t delta : {1, -1}) {
      changed[i] += delta;
      add();
      changed[i] -= delta;
    }
    changed[i] = -changed[i];
    add();
    changed[i] = -changed[i];
  }
  for (size_t i = 1; i < changed.size(); ++i) {
    std::swap(changed[i - 1], changed[i]);
    add();
    std::swap(changed[i - 1], changed[i]);
  }
  std::reverse(changed.begin(), changed.end());
  add();
}

SmallVector<Edit, 0> OwnEdits::get() {
  if (isa<arith::CmpIOp>(op))
    changePredicate<arith::CmpIPredicateAttr>(arith::CmpIPredicate::uge);
  if (isa<arith::CmpFOp>(op))
    changePredicate<arith::CmpFPredicateAttr>(arith::CmpFPredicate::AlwaysTrue);
  if (auto coordinate = dyn_cast<DeviceCoordinateOp>(op))
    for (StringRef axis : getAxes())
      set(coordinate.getAxisAttrName(), StringAttr::get(op->getContext(), axis));
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      for (int64_t delta : {1, -1})
        set(constant.getValueAttrName(), IntegerAttr::get(number.getType(), number.getValue() + delta));
  if (isa<CollectiveOpInterface>(op))
    changeLayouts();
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute.getValue()))
      changeNumbers(attribute.getName(), numbers);
    if (isa<ReductionKindAttr>(attribute.getValue()))
      for (ReductionKind kind : kReductions)
        set(attribute.getName(), ReductionKindAttr::get(op->getContext(), kind));
  }
  exchangeOperands();
  return std::move(edits);
}

void OwnEdits::exchangeOperands() {
  SmallVector<Value, 4> operands(op->getOperands());
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t j = i + 1; j < operands.size(); ++j)
      if (operands[i] != operands[j] && operands[i].getType() == operands[j].getType()) {
        std::swap(operands[i], operands[j]);
        edits.push_back({op->getAttrDictionary(), operands, std::nullopt,
                         ("with operands #" + Twine(i) + " and #" + Twine(j) + " exchanged").str()});
        std::swap(operands[i], operands[j]);
      }
}

SmallVector<Edit, 0> proof::getOwnEdits(Operation *op) { return OwnEdits(op).get(); }

/// The values of a type that are known where `op` stands, the nearest first, those that nothing reads before others.
static SmallVector<Value> getKnown(Operation *op, Type type) {
  SmallVector<Value> unread, others;
  auto add = [&](Value value) {
    if (value.getType() == type)
      (value.use_empty() ? unread : others).push_back(value);
  };
  for (Operation *at = op; at && !isa<func::FuncOp>(at); at = at->getParentOp()) {
    for (Operation *earlier = at->getPrevNode(); earlier; earlier = earlier->getPrevNode())
      llvm::for_each(earlier->getResults(), add);
    llvm::for_each(at->getBlock()->getArguments(), add);
  }
  llvm::append_range(unread, others);
  if (unread.size() > kMaxValues)
    unread.truncate(kMaxValues);
  return unread;
}

SmallVector<Edit, 0> proof::getOperandEdits(Operation *op) {
  SmallVector<Edit, 0> edits;
  SmallVector<Value, 4> operands(op->getOperands());
  for (size_t i = 0; i < operands.size(); ++i) {
    Value old = operands[i];
    for (Value other : getKnown(op, old.getType()))
      if (other != old) {
        operands[i] = other;
        edits.push_back(
            {op->getAttrDictionary(), operands, other.getLoc(), ("with this value as operand #" + Twine(i)).str()});
      }
    operands[i] = old;
  }
  return edits;
}
