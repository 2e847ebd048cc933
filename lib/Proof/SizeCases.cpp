//===- SizeCases.cpp - Functions at each of their sizes -------------------===//
//
// A size in a signature has bounds, so the function is as many ones with known sizes:
//
//   func @f(%x: tensor<?x6xf32>, %b: index {spmd.bound = [0, 64]})
//   @f at b = 0, ..., @f at b = 64, with tensor<0x6xf32> to tensor<64x6xf32>
//
// What the local function has of an argument is what the loader gives it: equal shards of
// the dim that is padded, as docs/internals/DynamicSizes.md states.
//
//===----------------------------------------------------------------------===//

#include "SizeCases.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/DimSymbols.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// Ops that are visited in all cases.
static constexpr int64_t kMaxVisits = 400'000;

bool proof::hasSizeArguments(func::FuncOp local) {
  return llvm::any_of(llvm::seq<unsigned>(0, local.getNumArguments()),
                      [&](unsigned i) { return bool(local.getArgAttr(i, kSizeAttr)); });
}

namespace {
class SizeCases {
public:
  SizeCases(func::FuncOp global, func::FuncOp local) : global(global), local(local) {}

  /// False if the sizes have no bounds, or are not those that the unsharded function names: `why` says so.
  bool read();
  int64_t getNumCases() const;
  /// The outcome of case `number`.
  FailureOr<Proof> prove(int64_t number, const Fallback &fallback);
  /// "b = 3, s = 4"
  std::string describe(int64_t number) const;
  std::string why;

private:
  struct Size {
    unsigned argument;
    StringRef name;
    SmallVector<int64_t> values;
  };
  bool readSize(unsigned argument);
  /// True if each dim of unknown size of an unsharded argument is the size of its name.
  bool fitsSymbols(unsigned globalArgument, unsigned localArgument);
  SmallVector<int64_t> getChoice(int64_t number) const;
  /// The type of an argument or result in a case, by its map of sizes.
  static Type getTypeAt(Type type, Attribute map, ArrayRef<int64_t> choice);
  void setGlobalTypes(func::FuncOp func, ArrayRef<int64_t> choice);
  void setLocalTypes(func::FuncOp func, ArrayRef<int64_t> choice);

  func::FuncOp global, local;
  SmallVector<Size, 2> sizes;
  SmallVector<unsigned> tensors; ///< the local arguments that are no sizes
};
} // namespace

bool SizeCases::readSize(unsigned argument) {
  auto bound = local.getArgAttrOfType<ArrayAttr>(argument, kBoundAttr);
  auto multiple = local.getArgAttrOfType<IntegerAttr>(argument, kMultipleAttr);
  Size size{argument, local.getArgAttrOfType<StringAttr>(argument, kSizeAttr).getValue(), {}};
  auto get = [&](unsigned i) { return cast<IntegerAttr>(bound[i]).getInt(); };
  if (!bound || bound.size() != 2 || get(1) - get(0) > kMaxVisits) {
    why = "sizes that only the run knows, without bounds";
    return false;
  }
  for (int64_t value = get(0); value <= get(1); ++value)
    if (!multiple || value % multiple.getInt() == 0)
      size.values.push_back(value);
  sizes.push_back(size);
  return true;
}

bool SizeCases::fitsSymbols(unsigned globalArgument, unsigned localArgument) {
  auto type = dyn_cast<RankedTensorType>(global.getArgumentTypes()[globalArgument]);
  auto map = local.getArgAttrOfType<AffineMapAttr>(localArgument, kGlobalSizesAttr);
  auto names = global.getArgAttrOfType<ArrayAttr>(globalArgument, kDimSymbolsAttr);
  if (!type)
    return true;
  for (auto [d, size] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(size))
      continue;
    if (!map || map.getValue().getNumResults() != type.getShape().size())
      return false;
    AffineExpr held = map.getValue().getResult(d);
    auto text = names ? cast<StringAttr>(names[d]) : StringAttr();
    if (!text || text.empty()) {
      auto symbol = dyn_cast<AffineSymbolExpr>(held);
      if (!symbol || symbol.getPosition() >= sizes.size())
        return false;
      continue;
    }
    FailureOr<DimSymbols> dim = parseDimSymbols(text);
    if (failed(dim))
      return false;
    SmallVector<AffineExpr> numbers;
    for (StringAttr name : dim->names) {
      const auto *size = llvm::find_if(sizes, [&](const Size &each) { return each.name == name.getValue(); });
      if (size == sizes.end())
        return false;
      numbers.push_back(getAffineSymbolExpr(size - sizes.begin(), name.getContext()));
    }
    if (dim->size.replaceSymbols(numbers) != held)
      return false;
  }
  return true;
}

bool SizeCases::read() {
  for (unsigned i = 0; i < local.getNumArguments(); ++i) {
    if (!local.getArgAttr(i, kSizeAttr))
      tensors.push_back(i);
    else if (!readSize(i))
      return false;
  }
  why = "sizes that only the run knows, of arguments that are not those of the unsharded function";
  return tensors.size() == global.getNumArguments() && local.getNumResults() == global.getNumResults() &&
         llvm::all_of(llvm::enumerate(tensors),
                      [&](auto argument) { return fitsSymbols(argument.index(), argument.value()); });
}

int64_t SizeCases::getNumCases() const {
  int64_t cases = 1;
  for (const Size &size : sizes)
    cases = std::min<int64_t>(cases * size.values.size(), kMaxVisits);
  return cases;
}

SmallVector<int64_t> SizeCases::getChoice(int64_t number) const {
  SmallVector<int64_t> choice;
  for (const Size &size : sizes) {
    choice.push_back(size.values[number % size.values.size()]);
    number /= size.values.size();
  }
  return choice;
}

std::string SizeCases::describe(int64_t number) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(llvm::zip_equal(sizes, getChoice(number)), os,
                        [&](auto pair) { os << std::get<0>(pair).name << " = " << std::get<1>(pair); });
  return text;
}

Type SizeCases::getTypeAt(Type type, Attribute attr, ArrayRef<int64_t> choice) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto map = dyn_cast_or_null<AffineMapAttr>(attr);
  if (!tensor || !map || map.getValue().getNumDims() || map.getValue().getNumSymbols() > choice.size())
    return type;
  Builder b(type.getContext());
  SmallVector<Attribute> operands, folded;
  for (int64_t size : choice.take_front(map.getValue().getNumSymbols()))
    operands.push_back(b.getIndexAttr(size));
  if (failed(map.getValue().constantFold(operands, folded)) || folded.size() != tensor.getShape().size())
    return type;
  SmallVector<int64_t> shape;
  for (Attribute size : folded)
    shape.push_back(cast<IntegerAttr>(size).getInt());
  return tensor.clone(shape);
}

/// Upstream folds what is the same at all sizes to a constant without a size.
static void setConstantType(Value value, Type type) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!elements || !elements.isSplat() || elements.getType().hasStaticShape())
    return;
  constant.setValueAttr(DenseElementsAttr::get(cast<ShapedType>(type), elements.getSplatValue<Attribute>()));
  value.setType(type);
}

void SizeCases::setGlobalTypes(func::FuncOp func, ArrayRef<int64_t> choice) {
  SmallVector<Type> arguments, results;
  for (auto [i, argument] : llvm::enumerate(func.getArguments())) {
    argument.setType(getTypeAt(argument.getType(), local.getArgAttr(tensors[i], kGlobalSizesAttr), choice));
    arguments.push_back(argument.getType());
  }
  for (auto [r, type] : llvm::enumerate(func.getResultTypes())) {
    results.push_back(getTypeAt(type, local.getResultAttr(r, kGlobalSizesAttr), choice));
    setConstantType(func.getBody().front().getTerminator()->getOperand(r), results.back());
  }
  func.setType(FunctionType::get(func.getContext(), arguments, results));
}

void SizeCases::setLocalTypes(func::FuncOp func, ArrayRef<int64_t> choice) {
  auto setTypes = [&](Type type, DictionaryAttr attrs, llvm::function_ref<void(TypeAttr)> setGlobal) {
    if (auto global = attrs ? attrs.getAs<TypeAttr>(kGlobalTypeAttr) : TypeAttr())
      setGlobal(TypeAttr::get(getTypeAt(global.getValue(), attrs.get(kGlobalSizesAttr), choice)));
    return getTypeAt(type, attrs ? attrs.get(kLocalSizesAttr) : Attribute(), choice);
  };
  SmallVector<Type> arguments, results;
  for (auto [i, argument] : llvm::enumerate(func.getArguments())) {
    argument.setType(setTypes(argument.getType(), func.getArgAttrDict(i),
                              [&, i = i](TypeAttr type) { func.setArgAttr(i, kGlobalTypeAttr, type); }));
    arguments.push_back(argument.getType());
  }
  for (auto [r, type] : llvm::enumerate(func.getResultTypes()))
    results.push_back(setTypes(type, func.getResultAttrDict(r),
                               [&, r = r](TypeAttr type) { func.setResultAttr(r, kGlobalTypeAttr, type); }));
  func.setType(FunctionType::get(func.getContext(), arguments, results));
  OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
  for (auto [size, value] : llvm::reverse(llvm::zip_equal(sizes, choice))) {
    func.getArgument(size.argument).replaceAllUsesWith(arith::ConstantIndexOp::create(b, func.getLoc(), value));
    (void)func.eraseArgument(size.argument);
  }
}

FailureOr<Proof> SizeCases::prove(int64_t number, const Fallback &fallback) {
  OpBuilder atGlobal(global), atLocal(local);
  auto globalCopy = cast<func::FuncOp>(atGlobal.clone(*global)), localCopy = cast<func::FuncOp>(atLocal.clone(*local));
  llvm::scope_exit erase([&] {
    globalCopy.erase();
    localCopy.erase();
  });
  SmallVector<int64_t> choice = getChoice(number);
  setGlobalTypes(globalCopy, choice);
  setLocalTypes(localCopy, choice);
  FailureOr<Proof> proof = proof::prove(globalCopy, localCopy);
  // The search has given all values their types.
  if (succeeded(proof) && proof->outcome != Outcome::Proven && fallback)
    fallback(globalCopy, localCopy, *proof);
  if (succeeded(proof) && proof->outcome != Outcome::Proven) {
    proof->op = nullptr; // one of a copy
    proof->reason += " (" + describe(number) + ")";
  }
  return proof;
}

FailureOr<Proof> proof::proveAtAllSizes(func::FuncOp global, func::FuncOp local, int64_t maxCases,
                                        const Fallback &fallback) {
  Proof undecided;
  undecided.op = local;
  undecided.opName = local->getName().getStringRef().str();
  undecided.loc = local.getLoc();
  undecided.kind = "sizes";
  SizeCases cases(global, local);
  if (!cases.read()) {
    undecided.reason = cases.why;
    return undecided;
  }
  int64_t numOps = std::distance(local.getBody().op_begin(), local.getBody().op_end());
  if (cases.getNumCases() > std::min(maxCases, kMaxVisits / numOps)) {
    undecided.reason = "sizes that only the run knows, in more ways than are tried";
    return undecided;
  }
  Proof last;
  std::map<std::string, unsigned> rules;
  for (int64_t number = 0; number < cases.getNumCases(); ++number) {
    FailureOr<Proof> proof = cases.prove(number, fallback);
    if (failed(proof) || proof->outcome != Outcome::Proven)
      return proof;
    for (auto &[rule, uses] : proof->rules)
      rules[rule] += uses;
    last = std::move(*proof);
  }
  last.rules = rules;
  last.rules["size that only the run knows, at each value within its bounds"] = cases.getNumCases();
  // The facts are those of the last case.
  last.values.clear();
  return last;
}
