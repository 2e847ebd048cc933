//===- DialectAttributes.cpp - Verification of discardable attributes -----===//
//
// Each `spmd.*` attribute has a name, the entities that may hold it, and a check of its
// value on such an entity.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/DimSymbols.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/Renames.h"
#include "shardkit/Dialect/SPMD/IR/Verification.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

enum Holder : unsigned { kOp = 1, kFunction = 2, kModule = 4, kArgument = 8, kResult = 16 };

/// An attribute and the entity that holds it.
struct Site {
  Operation *op;
  NamedAttribute attr;
  Holder holder;
  unsigned index = 0; // number of the argument or result
  Type type;          // type of the argument or result
  Location loc;

  InFlightDiagnostic emitError() const { return mlir::emitError(loc); }
  std::string describe() const {
    if (holder == kArgument)
      return ("argument #" + Twine(index)).str();
    if (holder == kResult)
      return ("result #" + Twine(index)).str();
    return ("'" + op->getName().getStringRef() + "'").str();
  }
  /// Another attribute of the same argument or result.
  Attribute sibling(StringRef name) const {
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function)
      return {};
    return holder == kArgument ? function.getArgAttr(index, name) : function.getResultAttr(index, name);
  }
  /// The type of the global value, before and after partition.
  Type globalType() const {
    if (auto global = dyn_cast_or_null<TypeAttr>(sibling(kGlobalTypeAttr)))
      return global.getValue();
    return type;
  }
  /// attr_c2
  LogicalResult wrongKind(const Twine &expected) const {
    return emitError() << "attribute '" << attr.getName().getValue() << "' of " << describe() << " is "
                       << attr.getValue() << ", expected " << expected;
  }
};

using Check = LogicalResult (*)(const Site &);

} // namespace

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

static FailureOr<Mesh> getMesh(const Site &site, FlatSymbolRefAttr name) {
  // sharding_c1
  if (MeshOp mesh = lookupMesh(site.op, name))
    return toMesh(mesh.getSymName(), mesh.getMesh());
  emitUnknownMesh(name, site.op, [&] { return site.emitError(); });
  return failure();
}

/// sharding_c1 to sharding_c4
static LogicalResult checkShardingOf(const Site &site, Attribute attr, Type type, const Twine &what) {
  auto sharding = cast<ShardingAttr>(attr);
  FailureOr<Mesh> mesh = getMesh(site, sharding.getMesh());
  if (failed(mesh))
    return failure();
  return verifyShardingOf(sharding, type, *mesh, what, [&] { return site.emitError(); });
}

static LogicalResult checkSharding(const Site &site) {
  if (isa<OrtAttr>(site.attr.getValue()))
    return success();
  auto sharding = dyn_cast<ShardingAttr>(site.attr.getValue());
  if (!sharding)
    return site.wrongKind("#spmd.sharding<...> or #spmd.ort<...>");
  if (failed(checkShardingOf(site, sharding, site.globalType(), site.describe())))
    return failure();
  // sharding_c5
  auto symbol = dyn_cast<SymbolOpInterface>(site.op);
  if (site.holder == kResult && !sharding.getUnreduced().empty() && symbol && symbol.isPublic())
    return site.emitError() << site.describe() << " of public function @" << symbol.getName()
                            << " is unreduced, expected a complete value";
  return success();
}

/// One sharding for each of the results or operands of an op.
static LogicalResult checkShardingList(const Site &site, TypeRange types, StringRef what) {
  auto list = dyn_cast<ArrayAttr>(site.attr.getValue());
  if (!list || !llvm::all_of(list, llvm::IsaPred<ShardingAttr, OrtAttr>))
    return site.wrongKind("an array of shardings");
  // shardings_c1
  if (list.size() != types.size())
    return site.emitError() << "attribute '" << site.attr.getName().getValue() << "' has " << list.size()
                            << " shardings, expected one for each of " << types.size() << " " << what << "s of "
                            << site.describe();
  for (auto [i, attr, type] : llvm::enumerate(list, types))
    if (!isa<OrtAttr>(attr) && failed(checkShardingOf(site, attr, type, what + " #" + Twine(i))))
      return failure();
  return success();
}

static LogicalResult checkShardings(const Site &site) {
  return checkShardingList(site, site.op->getResultTypes(), "result");
}

static LogicalResult checkOperandShardings(const Site &site) {
  return checkShardingList(site, site.op->getOperandTypes(), "operand");
}

static LogicalResult checkAxisResources(const Site &site) {
  auto resources = dyn_cast<AxisResourcesAttr>(site.attr.getValue());
  if (!resources)
    return site.wrongKind("#spmd.axis_resources<...>");
  // axis_resources_c3
  int64_t rank = getShape(site.type).size();
  if (resources.getNumEntries() > rank)
    return site.emitError() << "axis resources of " << site.describe() << " have " << resources.getNumEntries()
                            << " entries, expected at most " << rank << ", the rank of " << site.type;
  return success();
}

static LogicalResult checkGlobalType(const Site &site) {
  auto global = dyn_cast<TypeAttr>(site.attr.getValue());
  if (!global || !isa<RankedTensorType>(global.getValue()))
    return site.wrongKind("a ranked tensor type");
  // global_type_c1
  auto sharding = dyn_cast_or_null<ShardingAttr>(site.sibling(kShardingAttr));
  auto local = dyn_cast<RankedTensorType>(site.type);
  auto type = cast<RankedTensorType>(global.getValue());
  if (!sharding || !local || !type.hasStaticShape())
    return success();
  FailureOr<Mesh> mesh = getMesh(site, sharding.getMesh());
  if (failed(mesh))
    return failure();
  auto emitError = [&] { return site.emitError(); };
  FailureOr<Sharding> plain = toSharding(sharding, *mesh, emitError);
  if (failed(plain) || failed(verifyShardingOf(*plain, type, *mesh, site.describe(), emitError)))
    return failure();
  SmallVector<int64_t, 4> shape = Layout::get(*plain, *mesh, type.getShape()).localShape();
  RankedTensorType expected = getTypeWithShape(type, shape);
  if (local != expected)
    return site.emitError() << site.describe() << " has type " << local << ", expected " << expected
                            << ", the local type of " << type;
  return success();
}

static LogicalResult checkTied(const Site &site) {
  auto number = dyn_cast<IntegerAttr>(site.attr.getValue());
  auto function = dyn_cast<FunctionOpInterface>(site.op);
  if (!number || !function)
    return site.wrongKind("the number of an argument");
  // tied_c1
  int64_t arg = number.getInt(), numArgs = function.getNumArguments();
  if (arg < 0 || arg >= numArgs)
    return site.emitError() << site.describe() << " is tied to argument #" << arg << ", expected less than " << numArgs;
  // tied_c2; buffers after bufferization are the code generator's business
  Type argType = function.getArgumentTypes()[arg];
  if (!isa<TensorType>(argType) || !isa<TensorType>(site.type))
    return success();
  if (argType != site.type)
    return site.emitError() << site.describe() << " has type " << site.type << " and is tied to argument #" << arg
                            << " of type " << argType << ", expected equal types";
  // tied_c3; what is still open before propagation may become equal
  auto sharding = dyn_cast_or_null<ShardingAttr>(site.sibling(kShardingAttr));
  auto other = function.getArgAttrOfType<ShardingAttr>(arg, kShardingAttr);
  if (!sharding || !other || sharding == other)
    return success();
  if ((sharding.isOpen() || other.isOpen()) && getPhase(site.op) < 1)
    return success();
  Type global = site.globalType();
  auto shaped = dyn_cast<RankedTensorType>(global);
  if (!shaped || !shaped.hasStaticShape())
    return success();
  auto getLayout = [&](ShardingAttr attr) -> FailureOr<std::pair<Mesh, Layout>> {
    FailureOr<Mesh> mesh = getMesh(site, attr.getMesh());
    if (failed(mesh))
      return failure();
    auto emitError = [&] { return site.emitError(); };
    FailureOr<Sharding> plain = toSharding(attr, *mesh, emitError);
    if (failed(plain) ||
        failed(verifyShardingOf(*plain, global, *mesh, site.describe(), emitError, /*allowUneven=*/true)))
      return failure();
    Layout layout = Layout::get(*plain, *mesh, shaped.getShape());
    return std::make_pair(std::move(*mesh), std::move(layout));
  };
  auto layout = getLayout(sharding), otherLayout = getLayout(other);
  if (failed(layout) || failed(otherLayout))
    return failure();
  if (!layout->first.sameDevices(otherLayout->first) || layout->second != otherLayout->second)
    return site.emitError() << site.describe() << " is sharded as " << sharding << " and tied to argument #" << arg
                            << " sharded as " << other << ", expected equal layouts";
  return success();
}

//===----------------------------------------------------------------------===//
// How an op computes
//===----------------------------------------------------------------------===//

static LogicalResult checkCompute(const Site &site) {
  auto attr = dyn_cast<FactorsAttr>(site.attr.getValue());
  if (!attr)
    return site.wrongKind("#spmd.factors<...>");
  // factor_shardings_c1
  FailureOr<Mesh> mesh = getMesh(site, attr.getMesh());
  if (failed(mesh))
    return failure();
  FailureOr<SmallVector<DimEntries>> factors = toFactors(attr, *mesh, [&] { return site.emitError(); });
  if (failed(factors))
    return failure();
  // Sizes are the rule's to know: empty dims are divided by anything.
  Sharding sharding;
  for (DimEntries &entries : *factors)
    sharding.dims.push_back({std::move(entries), false, 0});
  SmallVector<int64_t> sizes(sharding.dims.size(), 0);
  if (std::optional<ShardingError> error = verifySharding(sharding, *mesh, sizes, /*allowUneven=*/true)) {
    InFlightDiagnostic diag = site.emitError();
    diag << "illegal factors of " << site.describe() << ": " << error->message;
    diag.attachNote() << "available axes: " << mesh->axesToString();
    return diag;
  }
  return success();
}

static LogicalResult checkRuleTensor(const Site &site, RuleAttr rule, bool isResult, unsigned i, Type type) {
  int64_t rank = isResult ? rule.getResultRank(i) : rule.getOperandRank(i);
  std::string what = ((isResult ? "result #" : "operand #") + Twine(i)).str();
  ArrayRef<int64_t> shape = getShape(type);
  if (rank != (int64_t)shape.size())
    return site.emitError() << "rule describes " << rank << " dimensions of " << what << ", expected " << shape.size()
                            << ", the rank of " << type;
  for (int64_t dim = 0; dim < rank; ++dim) {
    ArrayRef<int64_t> factors = isResult ? rule.getResultDim(i, dim) : rule.getOperandDim(i, dim);
    if (factors.empty() || ShapedType::isDynamic(shape[dim]))
      continue;
    // rule_c2
    int64_t product = 1;
    for (int64_t f : factors)
      product *= rule.getFactorSizes()[f];
    if (product != shape[dim])
      return site.emitError() << "factors of dim " << dim << " of " << what << " multiply to " << product
                              << ", expected " << shape[dim];
  }
  return success();
}

static LogicalResult checkRule(const Site &site) {
  auto rule = dyn_cast<RuleAttr>(site.attr.getValue());
  if (!rule)
    return site.wrongKind("#spmd.rule<...>");
  // rule_c1; tensors that regions capture follow the operands
  int64_t operands = site.op->getNumOperands();
  if (rule.getNumOperands() < operands || (rule.getNumOperands() > operands && site.op->getNumRegions() == 0))
    return site.emitError() << "rule describes " << rule.getNumOperands() << " operands of " << site.describe()
                            << ", expected " << operands;
  if (rule.getNumResults() != site.op->getNumResults())
    return site.emitError() << "rule describes " << rule.getNumResults() << " results of " << site.describe()
                            << ", expected " << site.op->getNumResults();
  for (auto [i, type] : llvm::enumerate(site.op->getOperandTypes()))
    if (failed(checkRuleTensor(site, rule, false, i, type)))
      return failure();
  for (auto [i, type] : llvm::enumerate(site.op->getResultTypes()))
    if (failed(checkRuleTensor(site, rule, true, i, type)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Names, weights, pipelines
//===----------------------------------------------------------------------===//

static LogicalResult checkPhase(const Site &site) {
  // phase_c1
  auto phase = dyn_cast<StringAttr>(site.attr.getValue());
  if (phase && llvm::is_contained(kPhases, phase.getValue()))
    return success();
  return site.wrongKind("one of " + llvm::join(std::begin(kPhases), std::end(kPhases), ", "));
}

static LogicalResult checkName(const Site &site) {
  auto name = dyn_cast<StringAttr>(site.attr.getValue());
  if (!name || name.empty())
    return site.wrongKind("a name");
  return success();
}

static LogicalResult checkWeight(const Site &site) {
  auto isName = [](Attribute attr) {
    auto name = dyn_cast<StringAttr>(attr);
    return name && !name.empty();
  };
  auto list = dyn_cast<ArrayAttr>(site.attr.getValue());
  if (!isName(site.attr.getValue()) && !(list && !list.empty() && llvm::all_of(list, isName)))
    return site.wrongKind("the name of a stored tensor or a list of names");
  // weight_c1; the segments of an argument may be separate tensors.
  if (list && list.size() > 1 && !site.sibling(kLoadAttr) && !site.sibling(kSegmentsAttr))
    return site.emitError() << "'" << kWeightAttr << "' of " << site.describe() << " names " << list.size()
                            << " stored tensors, expected '" << kLoadAttr
                            << "' with it, the function that combines them";
  return success();
}

static LogicalResult checkConstant(const Site &site) {
  // constant_c1
  auto elements = dyn_cast<ElementsAttr>(site.attr.getValue());
  if (!elements || elements.getShapedType() != site.globalType()) {
    InFlightDiagnostic diag = site.emitError() << "'" << kConstantAttr << "' of " << site.describe();
    return elements ? diag << " has type " << elements.getShapedType() << ", expected " << site.globalType()
                    : diag << " is not a list of elements, expected one of type " << site.globalType();
  }
  if (!isa_and_present<StringAttr>(site.sibling(kWeightAttr)))
    return site.emitError() << "'" << kConstantAttr << "' of " << site.describe() << " is given alone, expected '"
                            << kWeightAttr << "' with it, its name";
  return success();
}

static LogicalResult checkLoad(const Site &site) {
  if (!isa<FlatSymbolRefAttr>(site.attr.getValue()))
    return site.wrongKind("the symbol of a function");
  // Segments are slices of the result of the function.
  Type type = site.globalType();
  auto segment = dyn_cast_or_null<SegmentAttr>(site.sibling(kSegmentAttr));
  if (auto list = dyn_cast_or_null<ArrayAttr>(site.sibling(kSegmentsOfAttr)); list && !list.empty())
    if (auto entry = dyn_cast<DictionaryAttr>(list[0]))
      segment = entry.getAs<SegmentAttr>(kSegmentAttr);
  if (segment)
    type = segment.getStored();
  return verifyLoad(cast<FunctionOpInterface>(site.op), site.index, type, site.loc);
}

static LogicalResult checkRange(const Site &site) {
  auto list = dyn_cast<ArrayAttr>(site.attr.getValue());
  if (!list || list.size() != 2 || !llvm::all_of(list, llvm::IsaPred<IntegerAttr>))
    return site.wrongKind("two integers, [low, high]");
  // range_c1
  if (cast<IntegerAttr>(list[0]).getInt() >= cast<IntegerAttr>(list[1]).getInt())
    return site.wrongKind("low below high");
  return success();
}

/// Once partitioned, a function may be compiled alone.
static LogicalResult checkFunctionRef(const Site &site) {
  auto name = dyn_cast<FlatSymbolRefAttr>(site.attr.getValue());
  if (!name)
    return site.wrongKind("the symbol of a function");
  if (getPhase(site.op) >= 3)
    return success();
  Operation *target = SymbolTable::lookupNearestSymbolFrom(site.op, name);
  if (!isa_and_nonnull<FunctionOpInterface>(target))
    return site.wrongKind("the symbol of a function of the module");
  return success();
}

static LogicalResult checkMicrobatch(const Site &site) {
  auto attr = dyn_cast<MicrobatchAttr>(site.attr.getValue());
  if (!attr)
    return site.wrongKind("#spmd.microbatch<dim = N>");
  // microbatch_c2
  int64_t rank = getShape(site.type).size();
  if (attr.getDim() >= rank)
    return site.emitError() << "microbatch dim of " << site.describe() << " is " << attr.getDim()
                            << ", expected less than " << rank << ", the rank of " << site.type;
  return success();
}

static LogicalResult checkSegments(const Site &site) {
  auto attr = dyn_cast<SegmentsAttr>(site.attr.getValue());
  if (!attr)
    return site.wrongKind("#spmd.segments<dim, [sizes], unit = N>");
  // segments_c3
  Type type = site.globalType();
  ArrayRef<int64_t> shape = getShape(type);
  if (attr.getDim() >= (int64_t)shape.size())
    return site.emitError() << "segments dim of " << site.describe() << " is " << attr.getDim()
                            << ", expected less than " << shape.size() << ", the rank of " << type;
  int64_t total = 0;
  for (int64_t size : attr.getSizes())
    total += size;
  if (total != shape[attr.getDim()])
    return site.emitError() << "segments of " << site.describe() << " add up to " << total << ", expected "
                            << shape[attr.getDim()] << ", the size of dim " << attr.getDim();
  return success();
}

/// Checks that an argument of `type`, sharded by `attr` if there is one, is a slice of its stored tensor.
static LogicalResult checkSegmentType(const Site &site, SegmentAttr segment, Type type, ShardingAttr attr) {
  // segment_c2
  int64_t d = segment.getDim();
  SmallVector<int64_t> shape(getShape(type));
  bool isInUnits = int64_t(shape.size()) == segment.getStored().getRank() + 1;
  bool fits = int64_t(shape.size()) == segment.getStored().getRank() || isInUnits;
  if (fits && isInUnits) {
    fits = shape[d + 1] == segment.getUnit();
    shape[d] *= segment.getUnit();
    shape.erase(shape.begin() + d + 1);
  }
  fits = fits && getElementTypeOrSelf(type) == segment.getStored().getElementType() && shape[d] > 0 &&
         shape[d] % segment.getUnit() == 0 && segment.getOffset() + shape[d] <= segment.getStored().getDimSize(d);
  int64_t units = fits ? shape[d] / segment.getUnit() : 0;
  if (fits) {
    shape[d] = segment.getStored().getDimSize(d);
    fits = segment.getStored().getShape() == ArrayRef<int64_t>(shape);
  }
  if (!fits)
    return site.emitError() << site.describe() << " has type " << type << ", expected units of " << segment.getUnit()
                            << " of dim " << d << " of " << segment.getStored() << " from index " << segment.getOffset()
                            << " on";
  // segment_c3
  if (!attr)
    return success();
  FailureOr<Mesh> mesh = getMesh(site, attr.getMesh());
  if (failed(mesh))
    return failure();
  FailureOr<Sharding> sharding = toSharding(attr, *mesh, [&] { return site.emitError(); });
  if (failed(sharding) || int64_t(sharding->dims.size()) <= d)
    return failure(); // reported, here or by the sharding's own check
  int64_t shards = totalFactor(sharding->dims[d].entries);
  if (isInUnits) {
    if (int64_t(sharding->dims.size()) <= d + 1 || totalFactor(sharding->dims[d + 1].entries) == 1)
      return success();
    return site.emitError() << "sharding " << attr << " of " << site.describe() << " splits dim " << d + 1
                            << ", the elements of its units of " << segment.getUnit() << ", expected dim " << d
                            << ", the units";
  }
  // Uneven shards are chunks of full units.
  bool hasStride = llvm::any_of(sharding->dims[d].entries, [](const DimEntry &entry) { return entry.isStride(); });
  if (units % shards == 0 ||
      (!hasStride && llvm::divideCeil(units * segment.getUnit(), shards) % segment.getUnit() == 0))
    return success();
  InFlightDiagnostic diag = site.emitError();
  diag << "sharding " << attr << " of " << site.describe() << " splits its " << units << " units of "
       << segment.getUnit() << " into " << shards << ", expected";
  const char *comma = " ";
  for (int64_t count = 1; count <= units; ++count)
    if (units % count == 0) {
      diag << comma << count;
      comma = ", ";
    }
  return diag << " shards";
}

static LogicalResult checkSegment(const Site &site) {
  auto segment = dyn_cast<SegmentAttr>(site.attr.getValue());
  if (!segment)
    return site.wrongKind("#spmd.segment<...>");
  return checkSegmentType(site, segment, site.globalType(),
                          dyn_cast_or_null<ShardingAttr>(site.sibling(kShardingAttr)));
}

static LogicalResult checkSegmentsOf(const Site &site) {
  auto list = dyn_cast<ArrayAttr>(site.attr.getValue());
  bool valid = list && !list.empty() && llvm::all_of(list, [](Attribute entry) {
                 auto dict = dyn_cast<DictionaryAttr>(entry);
                 return dict && dict.getAs<SegmentAttr>(kSegmentAttr) && dict.getAs<TypeAttr>(kGlobalTypeAttr) &&
                        isa<RankedTensorType>(dict.getAs<TypeAttr>(kGlobalTypeAttr).getValue());
               });
  if (!valid)
    return site.wrongKind("a list of segments, each with spmd.segment and spmd.global_type");
  for (auto entry : list.getAsRange<DictionaryAttr>())
    if (failed(checkSegmentType(site, entry.getAs<SegmentAttr>(kSegmentAttr),
                                entry.getAs<TypeAttr>(kGlobalTypeAttr).getValue(),
                                entry.getAs<ShardingAttr>(kShardingAttr))))
      return failure();
  return success();
}

static LogicalResult checkSlot(const Site &site) {
  return isa<SlotAttr>(site.attr.getValue()) ? success() : site.wrongKind("#spmd.slot<...>");
}

static LogicalResult checkFragment(const Site &site) {
  return isa<FragmentAttr>(site.attr.getValue()) ? success() : site.wrongKind("#spmd.fragment<...>");
}

static LogicalResult checkSymbol(const Site &site) {
  return isa<FlatSymbolRefAttr>(site.attr.getValue()) ? success() : site.wrongKind("a symbol");
}

static LogicalResult checkMesh(const Site &site) {
  auto list = dyn_cast<ArrayAttr>(site.attr.getValue());
  if (!isa<FlatSymbolRefAttr>(site.attr.getValue()) &&
      !(list && !list.empty() && llvm::all_of(list, llvm::IsaPred<FlatSymbolRefAttr>)))
    return site.wrongKind("a symbol, or a list of symbols, one per stage");
  return success();
}

static LogicalResult checkStage(const Site &site) {
  auto stage = dyn_cast<IntegerAttr>(site.attr.getValue());
  if (!stage || stage.getInt() < 0)
    return site.wrongKind("a stage number, 0 or more");
  return success();
}

/// A list with an entry of type `Entry` per result, unit where there is nothing.
template <typename Entry> static LogicalResult checkPerResult(const Site &site) {
  auto list = dyn_cast<ArrayAttr>(site.attr.getValue());
  if (!list || list.size() != site.op->getNumResults() || !llvm::all_of(list, llvm::IsaPred<Entry, UnitAttr>))
    return site.wrongKind("a list with an entry per result, unit where there is none");
  return success();
}

static LogicalResult checkExtras(const Site &site) {
  auto list = dyn_cast<ArrayAttr>(site.attr.getValue());
  if (!list || !llvm::all_of(list, llvm::IsaPred<IntegerAttr, FloatAttr, StringAttr>))
    return site.wrongKind("a list of numbers and strings");
  return success();
}

static LogicalResult checkRegather(const Site &site) {
  auto attr = dyn_cast<DenseI64ArrayAttr>(site.attr.getValue());
  if (!attr)
    return site.wrongKind("array<i64: ...>");
  // reshard_per_use_c1
  int64_t last = -1;
  for (int64_t operand : attr.asArrayRef())
    if (operand <= std::exchange(last, operand))
      return site.wrongKind("numbers of operands from 0 on, ascending");
  return success();
}

/// Checks `spmd.user_sharding`: a sharding, or on an op a dictionary of attributes.
static LogicalResult checkUserSharding(const Site &site) {
  if (site.holder != kOp)
    return checkSharding(site);
  auto attrs = dyn_cast<DictionaryAttr>(site.attr.getValue());
  if (!attrs)
    return site.wrongKind("a dictionary");
  for (NamedAttribute attr : attrs) {
    Site nested = site;
    nested.attr = attr;
    Check check = attr.getName() == kFactorShardingsAttr ? checkCompute
                  : attr.getName() == kReshardPerUseAttr ? checkRegather
                                                         : nullptr;
    if (!check)
      return site.wrongKind("a dictionary of " + kFactorShardingsAttr + " and " + kReshardPerUseAttr);
    if (failed(check(nested)))
      return failure();
  }
  return success();
}

static LogicalResult checkUnit(const Site &site) {
  return isa<UnitAttr>(site.attr.getValue()) ? success() : site.wrongKind("no value");
}

static LogicalResult checkSolver(const Site &site) {
  return isa<DictionaryAttr>(site.attr.getValue()) ? success() : site.wrongKind("a dictionary");
}

/// A closed interval of sizes.
static bool isBound(Attribute attr) {
  auto bound = dyn_cast<ArrayAttr>(attr);
  if (!bound || bound.size() != 2 || !llvm::all_of(bound, llvm::IsaPred<IntegerAttr>))
    return false;
  int64_t low = cast<IntegerAttr>(bound[0]).getInt(), high = cast<IntegerAttr>(bound[1]).getInt();
  return low >= 0 && low <= high && high < (int64_t(1) << 40);
}

static LogicalResult checkBound(const Site &site) {
  return isBound(site.attr.getValue()) ? success() : site.wrongKind("[low, high], two sizes with low <= high < 2^40");
}

static LogicalResult checkBounds(const Site &site) {
  auto bounds = dyn_cast<DictionaryAttr>(site.attr.getValue());
  if (!bounds || !llvm::all_of(bounds, [](NamedAttribute bound) { return isBound(bound.getValue()); }))
    return site.wrongKind("a dictionary of names with [low, high], two sizes with low <= high < 2^40");
  return success();
}

/// A size that is likely.
static bool isHint(Attribute attr) {
  auto hint = dyn_cast<IntegerAttr>(attr);
  return hint && hint.getType().isSignlessInteger(64) && hint.getInt() > 0 && hint.getInt() < (int64_t(1) << 40);
}

static LogicalResult checkHint(const Site &site) {
  return isHint(site.attr.getValue()) ? success() : site.wrongKind("a size, 0 < size < 2^40");
}

static LogicalResult checkHints(const Site &site) {
  auto hints = dyn_cast<DictionaryAttr>(site.attr.getValue());
  if (!hints || !llvm::all_of(hints, [](NamedAttribute hint) { return isHint(hint.getValue()); }))
    return site.wrongKind("a dictionary of names with sizes, 0 < size < 2^40");
  return success();
}

/// The largest sizes of buckets.
static bool areLimits(Attribute attr) {
  auto limits = dyn_cast<ArrayAttr>(attr);
  if (!limits || limits.empty() || !llvm::all_of(limits, isHint))
    return false;
  return llvm::is_sorted(limits, [](Attribute a, Attribute b) { // strictly
    return cast<IntegerAttr>(a).getInt() <= cast<IntegerAttr>(b).getInt();
  });
}

static LogicalResult checkBuckets(const Site &site) {
  auto buckets = dyn_cast<DictionaryAttr>(site.attr.getValue());
  if (!buckets || !llvm::all_of(buckets, [](NamedAttribute limits) { return areLimits(limits.getValue()); }))
    return site.wrongKind("a dictionary of names with lists of rising sizes, 0 < size < 2^40");
  return success();
}

static LogicalResult checkSymbols(const Site &site) {
  auto names = dyn_cast<ArrayAttr>(site.attr.getValue());
  auto type = dyn_cast<RankedTensorType>(site.type);
  if (!names || !type || int64_t(names.size()) != type.getRank() || !llvm::all_of(names, llvm::IsaPred<StringAttr>))
    return site.wrongKind("a list with a name per dim of a tensor, \"\" for a dim of known size");
  // symbols_c2
  for (auto [d, name] : llvm::enumerate(names.getAsRange<StringAttr>()))
    if (failed(parseDimSymbols(name)))
      return site.emitError() << "dim " << d << " of " << site.describe() << " has the size '" << name.getValue()
                              << "', expected a name, or a sum, difference or product of names and numbers";
  // symbols_c1
  for (auto [d, name] : llvm::enumerate(names.getAsRange<StringAttr>()))
    if (!name.empty() && !type.isDynamicDim(d))
      return site.emitError() << "dim " << d << " of " << site.describe() << " is named '" << name.getValue()
                              << "' and has size " << type.getDimSize(d) << ", expected \"\" for a known size";
  return success();
}

static LogicalResult checkSize(const Site &site) {
  if (!isa<StringAttr>(site.attr.getValue()) || !site.type.isIndex())
    return site.wrongKind("a name, on an argument of type index");
  return success();
}

static LogicalResult checkMultiple(const Site &site) {
  auto multiple = dyn_cast<IntegerAttr>(site.attr.getValue());
  return multiple && multiple.getInt() >= 1 ? success() : site.wrongKind("a number, 1 or more");
}

static LogicalResult checkSizeMap(const Site &site) {
  auto map = dyn_cast<AffineMapAttr>(site.attr.getValue());
  auto type = dyn_cast<RankedTensorType>(site.type);
  if (!map || !type || map.getValue().getNumDims() != 0 || int64_t(map.getValue().getNumResults()) != type.getRank())
    return site.wrongKind("an affine map from the size arguments to the sizes of a tensor");
  return success();
}

static LogicalResult checkCalls(const Site &site) {
  auto calls = dyn_cast<IntegerAttr>(site.attr.getValue());
  // Counts of executions are products of it.
  if (!calls || !calls.getType().isSignlessInteger(64) || calls.getInt() < 1 || calls.getInt() > 1000000000)
    return site.wrongKind("a number of calls, an i64 from 1 to 1000000000");
  return success();
}

static LogicalResult checkGroups(const Site &site) {
  auto dictionary = dyn_cast<DictionaryAttr>(site.attr.getValue());
  auto get = [&](StringRef name) -> std::optional<int64_t> {
    auto number = dictionary ? dictionary.getAs<IntegerAttr>(name) : IntegerAttr();
    return number && number.getType().isSignlessInteger(64) ? std::optional(number.getInt()) : std::nullopt;
  };
  std::optional<int64_t> groups = get("groups"), used = get("used"), dim = get("dim"), loop = get("loop");
  auto operands = dictionary ? dictionary.getAs<DenseI64ArrayAttr>("row_operands") : DenseI64ArrayAttr();
  if (!groups || !used || *used < 1 || *groups < *used)
    return site.wrongKind("the `groups` and how many of them a row is in, `used`, i64 from 1 to `groups`");
  // Of what upstream passes make of the op the others may be none: they are not counted then.
  if ((dim && *dim < 0) || (loop && *loop < 0) || dictionary.size() != 2u + bool(dim) + bool(loop) + bool(operands))
    return site.wrongKind("`groups` and `used` and perhaps `dim`, `loop` and `row_operands`");
  return success();
}

static LogicalResult checkOverlap(const Site &site) {
  auto overlap = dyn_cast<FloatAttr>(site.attr.getValue());
  double value = overlap ? overlap.getValueAsDouble() : -1;
  return value >= 0 && value <= 1 ? success() : site.wrongKind("a fraction, a float from 0 to 1");
}

static LogicalResult checkMeshShapes(const Site &site) {
  return isa<ArrayAttr>(site.attr.getValue()) ? success() : site.wrongKind("an array");
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

namespace {
struct Known {
  StringRef name;
  unsigned holders;
  Check check;
};
} // namespace

static const Known kKnown[] = {
    {kShardingAttr, kArgument | kResult, checkSharding},
    {kUserShardingAttr, kOp | kArgument | kResult, checkUserSharding},
    {kShardingsAttr, kOp, checkShardings},
    {kOperandShardingsAttr, kOp, checkOperandShardings},
    {kFactorShardingsAttr, kOp, checkCompute},
    {kReshardPerUseAttr, kOp, checkRegather},
    {kSolverAttr, kFunction, checkSolver},
    {kImprovedAttr, kFunction, checkSolver},
    {kCallsAttr, kFunction | kModule, checkCalls},
    {kMeshShapesAttr, kModule, checkMeshShapes},
    {kHostsAttr, kOp, checkSolver},
    {kOverlapAttr, kOp, checkOverlap},
    {kRuleAttr, kOp, checkRule},
    {kWindowsAttr, kOp, checkUnit},
    {kGroupsAttr, kOp, checkGroups},
    {kExtrasAttr, kOp, checkExtras},
    {kPhaseAttr, kModule, checkPhase},
    {kTiedAttr, kResult, checkTied},
    {kWeightAttr, kArgument, checkWeight},
    {kConstantAttr, kArgument, checkConstant},
    {kNameAttr, kArgument | kResult, checkName},
    {kGlobalTypeAttr, kArgument | kResult, checkGlobalType},
    {kRangeAttr, kArgument, checkRange},
    {kDimSymbolsAttr, kArgument, checkSymbols},
    {kBoundsAttr, kFunction, checkBounds},
    {kSizeAttr, kArgument, checkSize},
    {kBoundAttr, kArgument, checkBound},
    {kHintsAttr, kFunction, checkHints},
    {kHintAttr, kArgument, checkHint},
    {kBucketsAttr, kFunction, checkBuckets},
    {kBucketOfAttr, kFunction, checkName},
    {kMultipleAttr, kArgument, checkMultiple},
    {kPaddedToAttr, kArgument, checkMultiple},
    {kGlobalSizesAttr, kArgument | kResult, checkSizeMap},
    {kLocalSizesAttr, kArgument | kResult, checkSizeMap},
    {kAxisResourcesAttr, kArgument | kResult, checkAxisResources},
    {kReferenceAttr, kFunction, checkFunctionRef},
    {kUnshardedAttr, kFunction, checkFunctionRef},
    {kMicrobatchAttr, kArgument, checkMicrobatch},
    {kSegmentsAttr, kArgument, checkSegments},
    {kSegmentAttr, kArgument | kResult, checkSegment},
    {kSegmentsOfAttr, kArgument, checkSegmentsOf},
    {kLoadAttr, kArgument, checkLoad},
    {kShardFunctionAttr, kArgument, checkFunctionRef},
    {kElementwiseAttr, kFunction, checkUnit},
    {kStageAttr, kOp | kFunction, checkStage},
    {kSlotAttr, kArgument | kResult, checkSlot},
    {kMeshAttr, kFunction, checkMesh},
    {kRankMeshAttr, kFunction, checkSymbol},
    {kScheduleAttr, kFunction, checkSymbol},
    {kFragmentAttr, kFunction, checkFragment},
    {kLayoutsAttr, kOp, checkPerResult<ShardingAttr>},
    {kGlobalTypesAttr, kOp, checkPerResult<TypeAttr>},
    {kOriginsAttr, kOp, checkPerResult<StringAttr>},
};

static std::string describeHolders(unsigned holders) {
  SmallVector<StringRef> names;
  if (holders & kOp)
    names.push_back("an operation");
  if (holders & kFunction)
    names.push_back("a function");
  if (holders & kModule)
    names.push_back("a module");
  if (holders & kArgument)
    names.push_back("a function argument");
  if (holders & kResult)
    names.push_back("a function result");
  return llvm::join(names, " or ");
}

static LogicalResult verifySite(const Site &site) {
  // attr_c1
  StringRef name = site.attr.getName();
  for (const Known &known : kKnown) {
    if (known.name != name)
      continue;
    if (known.holders & site.holder)
      return known.check(site);
    return site.emitError() << "attribute '" << name << "' is on " << describeHolders(site.holder) << ", expected "
                            << describeHolders(known.holders);
  }
  if (std::string renamed = describeRename(RenameKind::Attribute, name); !renamed.empty())
    return site.emitError() << renamed;
  SmallVector<StringRef> names;
  for (const Known &known : kKnown)
    names.push_back(known.name);
  return site.emitError() << "unknown attribute '" << name << "', expected one of " << nearestNames(name, names);
}

LogicalResult SPMDDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  Holder holder = isa<FunctionOpInterface>(op) ? kFunction : isa<ModuleOp>(op) ? kModule : kOp;
  return verifySite({op, attr, holder, 0, Type(), op->getLoc()});
}

LogicalResult SPMDDialect::verifyRegionArgAttribute(Operation *op, unsigned regionIndex, unsigned argIndex,
                                                    NamedAttribute attr) {
  Region &region = op->getRegion(regionIndex);
  Location loc = region.empty() ? op->getLoc() : region.getArgument(argIndex).getLoc();
  Type type;
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    type = function.getArgumentTypes()[argIndex];
  else if (!region.empty())
    type = region.getArgument(argIndex).getType();
  return verifySite({op, attr, kArgument, argIndex, type, loc});
}

LogicalResult SPMDDialect::verifyRegionResultAttribute(Operation *op, unsigned regionIndex, unsigned resultIndex,
                                                       NamedAttribute attr) {
  Type type;
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    type = function.getResultTypes()[resultIndex];
  return verifySite({op, attr, kResult, resultIndex, type, op->getLoc()});
}
