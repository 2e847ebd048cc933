//===- Interpreter.cpp - Runs a program on numbers ------------------------===//

#include "Interpreter.h"
#include "shardkit/Dialect/SPMD/IR/ManualLayout.h"
#include "shardkit/Layout/Owners.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::enumeration;

/// Iterations of a loop whose end the program computes.
static constexpr int64_t kMaxIterations = 10'000;

void enumeration::forEachIndex(ArrayRef<int64_t> shape, llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  Index index(shape.size(), 0);
  for (int64_t i = 0, count = ShapedType::getNumElements(shape); i < count; ++i) {
    visit(index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

int64_t enumeration::getFlatIndex(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t flat = 0;
  for (auto [i, size] : llvm::zip_equal(index, shape))
    flat = flat * size + i;
  return flat;
}

Interpreter::Interpreter(Operation *module, const Mesh *mesh, bool isUnsharded, Domain &domain, int64_t maxNumbers)
    : domain(domain), module(module), meshes(module), mesh(mesh), devices(mesh ? mesh->numDevices() : 1),
      isUnsharded(isUnsharded), maxNumbers(maxNumbers), left(maxNumbers) {}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const Tensor *Interpreter::find(unsigned device, Value value) const {
  auto known = devices[device].find(value);
  return known == devices[device].end() ? nullptr : &known->second;
}

Column Interpreter::get(unsigned device, Value value) const {
  const Tensor *tensor = find(device, value);
  return tensor ? tensor->numbers : nullptr;
}

int64_t Interpreter::getInteger(unsigned device, OpFoldResult value) {
  if (auto attr = dyn_cast<Attribute>(value))
    return cast<IntegerAttr>(attr).getInt();
  Number scalar = (*get(device, cast<Value>(value)))[0];
  std::optional<int64_t> integer = domain.getInteger(scalar);
  if (!integer && why.empty())
    open = scalar;
  if (!integer)
    fail("an index that data give");
  return integer.value_or(0);
}

Number Interpreter::getScalar(unsigned device, OpFoldResult value) const {
  auto attr = dyn_cast<Attribute>(value);
  return attr ? domain.getConstant(attr) : (*get(device, cast<Value>(value)))[0];
}

std::optional<int64_t> Interpreter::getCommon(Value value, ArrayRef<unsigned> on) {
  int64_t first = getInteger(on.front(), value);
  bool areSame = llvm::all_of(on, [&](unsigned device) { return getInteger(device, value) == first; });
  return areSame && why.empty() ? std::optional(first) : std::nullopt;
}

void Interpreter::copy(ValueRange from, ValueRange to, ArrayRef<unsigned> on) {
  for (unsigned device : on) {
    // Loops may carry values to each other's places.
    SmallVector<Tensor> tensors;
    for (Value value : from)
      tensors.push_back(*find(device, value));
    for (auto [value, tensor] : llvm::zip_equal(to, tensors))
      set(device, value, tensor);
  }
}

std::optional<int64_t> Interpreter::getRank(unsigned device, const Mesh &other) const {
  if (!mesh || other.numDevices() != mesh->numDevices())
    return std::nullopt;
  for (int64_t rank = 0, e = other.numDevices(); rank < e; ++rank)
    if (other.device(rank) == mesh->device(device))
      return rank;
  return std::nullopt;
}

std::optional<int64_t> Interpreter::getCoordinate(DeviceCoordinateOp op, unsigned device) const {
  const Mesh *of = meshes.lookup(op.getMeshAttr());
  std::optional<int64_t> rank = of ? getRank(device, *of) : std::nullopt;
  std::optional<unsigned> axis = of ? of->findAxis(op.getAxis()) : std::nullopt;
  if (!rank || !axis)
    return std::nullopt;
  return *rank / of->axisStride(*axis) % of->axes[*axis].size;
}

Numbers Interpreter::getUndefined(Type type, size_t count) {
  Numbers numbers{type, {}};
  for (size_t i = 0; i < count; ++i)
    numbers.list.push_back(domain.getUndefined(type));
  return numbers;
}

Column Interpreter::getIndexColumn(int64_t index) {
  MLIRContext *context = module->getContext();
  return std::make_shared<Numbers>(Numbers{IndexType::get(context), {domain.getIndex(context, index)}});
}

bool Interpreter::fail(const Twine &reason) {
  if (why.empty())
    why = reason.str();
  return false;
}

bool Interpreter::failUndefined(const Twine &reason) {
  isUndefined |= isUnsharded;
  return (isUnsharded || domain.isStrict()) ? fail(reason) : true;
}

bool Interpreter::failAlways(const Twine &reason) {
  isUndefined |= why.empty();
  return fail(reason);
}

bool Interpreter::addTrap(Number scalar, bool isCertain) {
  return domain.addTrap(scalar, isUnsharded, isCertain && numOpenBranches == 0) ||
         fail("a division or a look-up that the unsharded program does not do");
}

bool Interpreter::addBounds(Number index, int64_t min, int64_t max) {
  if (std::optional<int64_t> known = domain.getInteger(index))
    return (*known >= min && *known <= max) || failUndefined("an index outside of a tensor");
  return domain.addBounds(index, min, max, isUnsharded, numOpenBranches == 0) ||
         fail("an index that data give may be outside of a tensor");
}

bool Interpreter::spend(int64_t count) {
  left -= count;
  return left > 0 || fail("a program that computes too many numbers");
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

bool Interpreter::run(Block &block, ArrayRef<unsigned> on) {
  return llvm::all_of(block.without_terminator(), [&](Operation &op) { return run(op, on); });
}

bool Interpreter::run(Operation &op, ArrayRef<unsigned> on) {
  auto isComputed = [](Type type) { return isa<ShapedType>(type) || isNumeric(type); };
  if (on.empty() || (op.use_empty() && isPure(&op) && llvm::none_of(op.getResultTypes(), isComputed)))
    return true;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runFor(loop, on);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return runWhile(loop, on);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return runIf(branch, on);
  if (isa<func::CallOp>(op))
    return runCall(op, on);
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return runCollective(collective, on);
  if (auto manual = dyn_cast<ManualComputationOp>(op))
    return runManual(manual, on);
  if (auto start = dyn_cast<StartOp>(op)) {
    Block &body = start.getBody().front();
    if (!run(body, on))
      return false;
    copy(body.getTerminator()->getOperands(), op.getResults(), on);
    return true;
  }
  if (isa<DoneOp>(op)) {
    copy(op.getOperands(), op.getResults(), on);
    return true;
  }
  if (op.getNumResults() == 0)
    return isa<ProbeOp, ShardingGroupOp, StageBoundaryOp>(op) || fail(op.getName().getStringRef() + " is not run");
  for (unsigned device : on) {
    std::optional<Results> results = compute(op, device);
    if (!results || !why.empty())
      return fail(op.getName().getStringRef() + " is not run");
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), *results))
      if (set(device, value, tensor); !spend(tensor.numbers->list.size()))
        return false;
  }
  return true;
}

bool Interpreter::runFor(scf::ForOp op, ArrayRef<unsigned> on) {
  std::optional<int64_t> begin = getCommon(op.getLowerBound(), on), end = getCommon(op.getUpperBound(), on),
                         step = getCommon(op.getStep(), on);
  if (step && *step < 1)
    return failAlways("a loop of step " + Twine(*step));
  if (!begin || !end || !step || (*end - *begin) / *step > kMaxIterations)
    return fail("a loop of other bounds on each device, or of many iterations");
  copy(op.getInitArgs(), op.getRegionIterArgs(), on);
  for (int64_t i = *begin; i < *end; i += *step) {
    for (unsigned device : on)
      set(device, op.getInductionVar(), {{}, getIndexColumn(i)});
    if (!run(*op.getBody(), on))
      return false;
    copy(op.getYieldedValues(), op.getRegionIterArgs(), on);
  }
  copy(op.getRegionIterArgs(), op.getResults(), on);
  return true;
}

bool Interpreter::runWhile(scf::WhileOp op, ArrayRef<unsigned> on) {
  copy(op.getInits(), op.getBeforeArguments(), on);
  for (int64_t i = 0; i < kMaxIterations; ++i) {
    if (!run(*op.getBeforeBody(), on))
      return false;
    std::optional<int64_t> isTaken = getCommon(op.getConditionOp().getCondition(), on);
    if (!isTaken)
      return fail("a loop that ends on some devices earlier");
    ValueRange forwarded = op.getConditionOp().getArgs();
    copy(forwarded, *isTaken ? ValueRange(op.getAfterArguments()) : ValueRange(op.getResults()), on);
    if (!*isTaken)
      return true;
    if (!run(*op.getAfterBody(), on))
      return false;
    copy(op.getYieldOp().getResults(), op.getBeforeArguments(), on);
  }
  return fail("a loop of many iterations");
}

bool Interpreter::runBothSides(scf::IfOp op, ArrayRef<unsigned> on) {
  // Devices that take other sides have no collective in common.
  ExprId first = (*get(on.front(), op.getCondition()))[0].integer;
  bool isCommon =
      llvm::all_of(on, [&](unsigned device) { return (*get(device, op.getCondition()))[0].integer == int64_t(first); });
  bool hasCollective = op->walk([](CollectiveOpInterface) { return WalkResult::interrupt(); }).wasInterrupted();
  if (hasCollective && !isCommon)
    return fail("a collective that some devices take part in");
  ++numOpenBranches;
  for (Region &region : op->getRegions())
    if (!region.empty() && !run(region.front(), on))
      return false;
  --numOpenBranches;
  for (auto [r, result] : llvm::enumerate(op.getResults()))
    for (unsigned device : on) {
      const Tensor a = *find(device, op.thenYield().getOperand(r)), b = *find(device, op.elseYield().getOperand(r));
      Number condition = (*get(device, op.getCondition()))[0];
      if (a.shape != b.shape)
        return fail("a branch that decides on a size");
      Numbers chosen{a.numbers->type, {}};
      for (int64_t i = 0, e = ShapedType::getNumElements(a.shape); i < e; ++i)
        chosen.list.push_back(domain.select(condition, (*a.numbers)[i], (*b.numbers)[i], chosen.type));
      set(device, result, {a.shape, std::make_shared<Numbers>(std::move(chosen))});
    }
  return true;
}

bool Interpreter::runIf(scf::IfOp op, ArrayRef<unsigned> on) {
  for (unsigned device : on)
    if (!domain.getInteger((*get(device, op.getCondition()))[0]))
      return runBothSides(op, on);
  SmallVector<unsigned> taken[2];
  for (unsigned device : on)
    taken[getInteger(device, op.getCondition()) ? 0 : 1].push_back(device);
  for (auto [region, side] : llvm::zip_equal(op->getRegions(), taken)) {
    if (region.empty())
      continue;
    if (!run(region.front(), side))
      return false;
    copy(region.front().getTerminator()->getOperands(), op.getResults(), side);
  }
  return true;
}

bool Interpreter::runCall(Operation &op, ArrayRef<unsigned> on) {
  auto call = cast<func::CallOp>(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(module, call.getCalleeAttr());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
    return fail("a call of a function without a body");
  Block &body = callee.getBody().front();
  copy(op.getOperands(), body.getArguments(), on);
  if (!run(body, on))
    return false;
  copy(body.getTerminator()->getOperands(), op.getResults(), on);
  return true;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// The op that combines partial results.
static StringRef getCombiner(ReductionKind kind, Type type) {
  bool isFloat = isa<FloatType>(type);
  switch (kind) {
  case ReductionKind::Sum:
    return isFloat ? "arith.addf" : type.isInteger(1) ? "arith.xori" : "arith.addi";
  case ReductionKind::Prod:
    return isFloat ? "arith.mulf" : "arith.muli";
  case ReductionKind::Max:
    return isFloat ? "arith.maximumf" : "arith.maxsi";
  case ReductionKind::Min:
    return isFloat ? "arith.minimumf" : "arith.minsi";
  case ReductionKind::MaxNum:
    return "arith.maxnumf";
  case ReductionKind::MinNum:
    return "arith.minnumf";
  case ReductionKind::UMax:
    return "arith.maxui";
  case ReductionKind::UMin:
    return "arith.minui";
  case ReductionKind::And:
    return "arith.andi";
  case ReductionKind::Or:
    return "arith.ori";
  case ReductionKind::Xor:
    return "arith.xori";
  }
  return {};
}

namespace {
/// What each device has after a collective: the element of its layout, which the owner of that index has, or all
/// devices of a partial result have together.
class CollectiveRun {
public:
  CollectiveRun(CollectiveOpInterface op, Interpreter &program, ArrayRef<unsigned> on)
      : op(op), program(program), on(on) {}
  bool run(const MeshCache &meshes);

private:
  bool readRanks();
  std::optional<Numbers> move(unsigned device);
  /// The numbers of the devices at an index of the operand, combined.
  std::optional<Number> combine(int64_t owner, ArrayRef<int64_t> at);
  /// What is added to the index of a dim at run time.
  Number getAdded(unsigned device, unsigned dim);
  /// The element at indices of which data give some; `known` has those of the other dims.
  std::optional<Number> lookUp(ArrayRef<std::optional<int64_t>> known, ArrayRef<Number> indices, int64_t home,
                               Type type);

  CollectiveOpInterface op;
  Interpreter &program;
  ArrayRef<unsigned> on;
  const Mesh *fromMesh = nullptr, *toMesh = nullptr;
  Layout from, to;
  llvm::DenseMap<int64_t, unsigned> deviceOfRank; ///< by the rank on `fromMesh`
};
} // namespace

bool CollectiveRun::readRanks() {
  for (unsigned device : on) {
    std::optional<int64_t> rank = program.getRank(device, *fromMesh);
    if (!rank || !program.getRank(device, *toMesh))
      return false;
    deviceOfRank[*rank] = device;
  }
  return true;
}

Number CollectiveRun::getAdded(unsigned device, unsigned dim) {
  auto halo = dyn_cast<HaloExchangeOp>(*op.getOperation());
  Number added = program.domain.getIndex(op->getContext(), 0);
  unsigned next = 0;
  for (auto [d, offset] :
       halo ? llvm::zip(halo.getDims(), halo.getOffsets()) : llvm::zip(ArrayRef<int64_t>(), ArrayRef<int64_t>()))
    if (ShapedType::isDynamic(offset)) {
      Value value = halo.getDynamicOffsets()[next++];
      added = d == dim ? program.getScalar(device, value) : added;
    }
  return added;
}

std::optional<Number> CollectiveRun::combine(int64_t owner, ArrayRef<int64_t> at) {
  std::optional<Number> sum;
  for (int64_t rank : getGroup(owner, from.partial)) {
    auto device = deviceOfRank.find(rank);
    const Tensor *operand = device == deviceOfRank.end() ? nullptr : program.find(device->second, op->getOperand(0));
    if (!operand)
      return std::nullopt;
    Number number = (*operand->numbers)[getFlatIndex(at, operand->shape)];
    Type type = operand->numbers->type;
    sum = sum ? program.domain.combine(getCombiner(from.partialKind, type), type, *sum, number) : number;
  }
  return sum;
}

std::optional<Number> CollectiveRun::lookUp(ArrayRef<std::optional<int64_t>> known, ArrayRef<Number> indices,
                                            int64_t home, Type type) {
  SmallVector<int64_t> shape;
  for (auto [d, own] : llvm::enumerate(known)) {
    // Zero is around what it moves, which no look-up gives.
    if (!own && !program.addBounds(indices[d], 0, from.shape[d] - 1))
      return std::nullopt;
    shape.push_back(own ? 1 : from.shape[d]);
  }
  Numbers elements{type, {}};
  bool isKnown = true;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Index at;
    int64_t owner = home;
    for (auto [d, i] : llvm::enumerate(index))
      at.push_back(locate(from, d, known[d].value_or(i), owner));
    std::optional<Number> element = combine(owner, at);
    isKnown &= element.has_value();
    elements.list.push_back(element.value_or(Number{.integer = 0}));
  });
  if (!isKnown)
    return std::nullopt;
  if (elements.list.size() == 1)
    return elements[0];
  SmallVector<Number> at(indices);
  for (auto [index, own] : llvm::zip_equal(at, known))
    index = own ? program.domain.getIndex(type.getContext(), 0) : index;
  return program.domain.lookUp(elements, shape, at);
}

std::optional<Numbers> CollectiveRun::move(unsigned device) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t rank = *program.getRank(device, *toMesh), home = *program.getRank(device, *fromMesh);
  SmallVector<Number> added;
  for (unsigned d = 0; d < type.getRank(); ++d)
    added.push_back(getAdded(device, d));
  Domain &domain = program.domain;
  MLIRContext *context = type.getContext();
  Numbers moved{type.getElementType(), {}};
  Number zero = program.domain.getConstant(Builder(type.getContext()).getZeroAttr(type.getElementType()));
  bool isKnown = true;
  forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index) {
    SmallVector<std::optional<int64_t>> known;
    SmallVector<Number> indices;
    bool isInside = true;
    for (auto [d, i] : llvm::enumerate(index)) {
      indices.push_back(domain.combine("arith.addi", IndexType::get(context), added[d],
                                       domain.getIndex(context, getOwnIndex(to, d, rank, i))));
      std::optional<int64_t> &own = known.emplace_back(domain.getInteger(indices.back()));
      isInside = isInside && (!own || (*own >= 0 && *own < from.shape[d]));
    }
    // Zero is around what it moves.
    std::optional<Number> number = isInside ? lookUp(known, indices, home, moved.type) : std::optional(zero);
    isKnown &= number.has_value();
    moved.list.push_back(number.value_or(zero));
  });
  return isKnown ? std::optional(moved) : std::nullopt;
}

bool CollectiveRun::run(const MeshCache &meshes) {
  fromMesh = meshes.lookup(op.getFromMesh());
  toMesh = meshes.lookup(op.getToMesh());
  auto hasWindow = [](const UnevenDim &dim) { return dim.window.has_value(); };
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!fromMesh || !toMesh || !type.hasStaticShape() || !isNumeric(type.getElementType()) ||
      failed(op.getLayouts(*fromMesh, *toMesh, from, to)) ||
      ArrayRef<int64_t>(from.localShape()) != cast<RankedTensorType>(op->getOperand(0).getType()).getShape() ||
      ArrayRef<int64_t>(to.localShape()) != type.getShape() || llvm::any_of(from.uneven, hasWindow) || !readRanks())
    return program.fail("a collective that is not run");
  for (unsigned device : on) {
    std::optional<Numbers> moved = move(device);
    if (!moved)
      return program.fail("a collective of which not all devices take part");
    int64_t count = moved->list.size();
    program.set(device, op->getResult(0), {Index(type.getShape()), std::make_shared<Numbers>(std::move(*moved))});
    if (!program.spend(4 * count))
      return false;
  }
  return true;
}

bool Interpreter::runCollective(CollectiveOpInterface op, ArrayRef<unsigned> on) {
  return CollectiveRun(op, *this, on).run(meshes);
}

//===----------------------------------------------------------------------===//
// Manual computations
//===----------------------------------------------------------------------===//

std::optional<Layout> Interpreter::readManualLayout(ManualComputationOp op, ShardingAttr attr, Type global) {
  FailureOr<ShardingOnMesh> read = meshes.read(attr, [&] { return op.emitError(); });
  auto type = dyn_cast<RankedTensorType>(global);
  if (failed(read) || !type || !type.hasStaticShape())
    return std::nullopt;
  Layout layout = getManualLayout(op, read->sharding, *read->mesh, type.getShape());
  return layout.partial.empty() && layout.uneven.empty() ? std::optional(layout) : std::nullopt;
}

bool Interpreter::runManual(ManualComputationOp op, ArrayRef<unsigned> on) {
  const Mesh *of = meshes.lookup(op.getMesh());
  llvm::DenseMap<int64_t, unsigned> deviceOfRank;
  for (unsigned device : on)
    if (std::optional<int64_t> rank = of ? getRank(device, *of) : std::nullopt)
      deviceOfRank[*rank] = device;
  if (deviceOfRank.size() != on.size() || on.size() != devices.size())
    return fail("a manual computation on other devices");
  // `get` gives an element of the value of `shape` that a device has.
  auto move = [&](Value to, ArrayRef<int64_t> shape, Type element,
                  llvm::function_ref<Number(int64_t, ArrayRef<int64_t>)> get) {
    for (auto [rank, device] : deviceOfRank) {
      Numbers numbers{element, {}};
      forEachIndex(shape, [&, rank = rank](ArrayRef<int64_t> index) { numbers.list.push_back(get(rank, index)); });
      set(device, to, {Index(shape), std::make_shared<Numbers>(std::move(numbers))});
    }
  };
  Block &body = op.getBody().front();
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    std::optional<Layout> layout = readManualLayout(op, op.getInSharding(i), input.getType());
    if (!layout)
      return fail("a manual computation of uneven shards");
    move(body.getArgument(i), layout->localShape(), getElementTypeOrSelf(input.getType()),
         [&, input = input](int64_t rank, ArrayRef<int64_t> index) {
           Index at;
           for (auto [d, local] : llvm::enumerate(index))
             at.push_back(getOwnIndex(*layout, d, rank, local));
           return (*get(deviceOfRank[rank], input))[getFlatIndex(at, layout->shape)];
         });
  }
  if (!run(body, on))
    return false;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Value yielded = body.getTerminator()->getOperand(i);
    std::optional<Layout> layout = readManualLayout(op, op.getOutSharding(i), result.getType());
    if (!layout)
      return fail("a manual computation of uneven shards");
    Index local(layout->localShape());
    move(result, layout->shape, getElementTypeOrSelf(result.getType()), [&](int64_t rank, ArrayRef<int64_t> index) {
      Index at;
      for (auto [d, global] : llvm::enumerate(index))
        at.push_back(locate(*layout, d, global, rank));
      return (*get(deviceOfRank[rank], yielded))[getFlatIndex(at, local)];
    });
  }
  return true;
}
