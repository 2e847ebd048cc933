//===- Prover.cpp - Decides whether a function computes another -----------===//

#include "shardkit/Proof/Prover.h"
#include "Blame.h"
#include "BlockProver.h"
#include "Repair.h"
#include "SizeCases.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Proof/Boundary.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

StringRef proof::stringifyOutcome(Outcome outcome) {
  switch (outcome) {
  case Outcome::Proven:
    return "proven";
  case Outcome::Refused:
    return "refused";
  case Outcome::Undecided:
    return "not decided";
  }
  return "";
}

namespace {
/// Compares two functions: gives the arguments of the local one their facts, visits its ops, and compares the facts of
/// its results with their shardings.
class Prover {
public:
  Prover(func::FuncOp globalFunc, func::FuncOp local, const MeshCache &meshes, Proof &proof)
      : globalFunc(globalFunc), local(local), meshes(meshes), proof(proof), terms(local.getContext()),
        globalMeshes(globalFunc->getParentOp()), global(terms, &globalMeshes), values(global, terms, meshes, proof) {}

  LogicalResult prove();
  void listClaims();

  /// False if the op that is named first stays: no change of ops is tried.
  bool isThorough = true;

private:
  /// An outcome of the whole function, with its reason.
  void decide(Outcome outcome, Operation *op, const Twine &why, StringRef kind);
  void setUndecided(Operation *op, const Twine &why, StringRef kind) { decide(Outcome::Undecided, op, why, kind); }

  /// Each decides if the function is beyond what is modelled, and returns false then.
  bool checkModelled();
  FailureOr<bool> readMeshes();

  /// Lists what the results of ops hold.
  void listFacts();
  LogicalResult addArguments();
  LogicalResult readResults();
  void compareResults();
  /// True if a result is known to hold what is expected.
  bool holds(Value value, const Fact &wanted);
  /// True if result `r` holds what is expected. Decides otherwise.
  bool compareTensor(unsigned r, const Fact &expected);
  /// Why a value that holds `found` is not one that holds `expected`; empty if it is one. Refused if that is known.
  std::string explainDifference(Value value, const Fact &found, const Fact &expected, Outcome &outcome);
  void decideGap(const Gap &gap);
  /// Names the op that is at fault, if only one is, instead of the one that does not fit the others.
  void findPlace();
  /// The op that led to a gap; null if that is the op of the gap itself.
  Operation *findCause(const Gap &gap) const;

  /// What a boundary value holds by its sharding, after a check of its types.
  FailureOr<Fact> readBoundary(DictionaryAttr attrs, Type localType, ClassId value, Type expected, const Twine &what);

  func::FuncOp globalFunc, local;
  const MeshCache &meshes;
  Proof &proof;
  TermTable terms;
  MeshCache globalMeshes;
  GlobalProgram global;
  LocalValues values;
  Boundary boundary;
  std::vector<std::optional<Fact>> expected; ///< of results that are tensors, if the unsharded one is modelled
};
} // namespace

void Prover::decide(Outcome outcome, Operation *op, const Twine &why, StringRef kind) {
  if (values.hasGuess && outcome == Outcome::Refused)
    outcome = Outcome::Undecided;
  proof.outcome = outcome;
  proof.op = op;
  proof.opName = op->getName().getStringRef().str();
  proof.loc = op->getLoc();
  proof.reason = why.str();
  proof.kind = kind.str();
}

LogicalResult Prover::prove() {
  if (!checkModelled())
    return success();
  FailureOr<Boundary> pairs = pairBoundary(globalFunc, local);
  if (failed(pairs))
    return failure();
  boundary = *pairs;
  FailureOr<bool> isModelled = readMeshes();
  if (failed(isModelled))
    return failure();
  if (!*isModelled)
    return success();
  global.add(globalFunc);
  proof.globalOps = global.getNumOps();
  if (failed(addArguments()))
    return failure();
  // A visit gives values the sizes that the program computes, and a changed op may compute others.
  local.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        isThorough &= tensor.hasStaticShape();
  });
  BlockProver(values, proof).visit(local.getBody().front());
  listFacts();
  if (failed(readResults()))
    return failure();
  compareResults();
  return success();
}

/// The file position of a location, or how it prints.
static std::string getText(Location loc) {
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn())).str();
  std::string text;
  llvm::raw_string_ostream(text) << loc;
  return text;
}

void Prover::listFacts() {
  for (auto [number, op] : llvm::enumerate(local.getBody().front().without_terminator()))
    for (OpResult result : op.getResults()) {
      ArrayRef<Fact> facts = values.getFacts(result);
      if (facts.empty())
        continue;
      const ClassInfo &info = global[facts.front().value];
      proof.values.push_back({op.getName().getStringRef().str(), unsigned(number), result.getResultNumber(),
                              info.loc ? getText(*info.loc) : std::string("a constant"),
                              facts.front().toString(values.mesh)});
    }
}

namespace {
/// Writes facts as claims. The values of the unsharded program have the numbers of their ops in a walk.
class ClaimWriter {
public:
  ClaimWriter(func::FuncOp globalFunc, const GlobalProgram &global) : global(global) {
    int64_t next = 0;
    globalFunc.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
          if (std::optional<ClassId> id = global.getClass(argument))
            carried[*id] = {next, i};
      numbers[op] = next++;
    });
    for (BlockArgument argument : globalFunc.getArguments())
      if (std::optional<ClassId> id = global.getClass(argument))
        arguments[*id] = argument.getArgNumber();
  }
  /// Empty if the fact is of a value that no op computes, or has numbers that the program computes.
  std::string write(const Fact &fact) const;

private:
  bool writeValue(ClassId id, llvm::json::OStream &json) const;

  const GlobalProgram &global;
  llvm::DenseMap<Operation *, int64_t> numbers;
  llvm::DenseMap<ClassId, int64_t> arguments;
  llvm::DenseMap<ClassId, std::pair<int64_t, int64_t>> carried; ///< by loops: the op, and which of its results
};
} // namespace

bool ClaimWriter::writeValue(ClassId id, llvm::json::OStream &json) const {
  const ClassInfo &info = global[id];
  if (info.isUndefined)
    return true;
  if (info.splat) {
    std::string text;
    llvm::raw_string_ostream(text) << info.splat;
    json.attribute("constant", text);
    return true;
  }
  if (auto it = arguments.find(id); it != arguments.end()) {
    json.attribute("argument", it->second);
    return true;
  }
  if (auto it = carried.find(id); it != carried.end()) {
    json.attribute("op", it->second.first);
    json.attribute("carried", it->second.second);
    return true;
  }
  if (!info.op || !numbers.count(info.op))
    return false;
  for (OpResult result : info.op->getResults())
    if (global.getClass(result) == id && result.getType() == info.type) {
      json.attribute("op", numbers.lookup(info.op));
      json.attribute("result", result.getResultNumber());
      return true;
    }
  return false;
}

std::string ClaimWriter::write(const Fact &fact) const {
  for (const DimFact &dim : fact.dims)
    if (dim.form && (dim.form->hasScalar() || llvm::any_of(dim.form->getRanks(), [](const RankDigit &rank) {
                       return getOrder(rank.stride) > 0;
                     })))
      return {};
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os);
  bool isKnown = true;
  json.object([&] {
    isKnown = writeValue(fact.value, json);
    json.attributeArray("dims", [&] {
      for (const DimFact &dim : fact.dims) {
        if (!dim.form) {
          json.value(nullptr);
          continue;
        }
        json.array([&] {
          json.value(dim.form->getConstant());
          for (const IndexTerm &term : dim.form->getTerms())
            json.object([&] {
              json.attribute("of", term.kind == IndexTerm::Kind::Rank ? "rank" : "index");
              json.attribute("lo", term.lo);
              json.attribute("size", term.size);
              json.attribute("factor", term.coef);
            });
        });
      }
    });
    if (fact.partial.empty())
      return;
    json.attributeArray("partial", [&] {
      for (const RankDigit &rank : fact.partial)
        json.object([&] {
          json.attribute("stride", rank.stride);
          json.attribute("size", rank.size);
        });
    });
    json.attribute("kind", stringifyReductionKind(fact.kind));
  });
  return isKnown ? text : std::string();
}

void Prover::listClaims() {
  ClaimWriter writer(globalFunc, global);
  auto list = [&](int64_t number, unsigned result, Value value, bool isCarried = false) {
    ValueClaim claim{number, result, isCarried, {}};
    for (const Fact &fact : values.getFacts(value))
      if (std::string text = writer.write(fact); !text.empty())
        claim.holds.push_back(text);
    if (!claim.holds.empty())
      proof.claims.push_back(std::move(claim));
  };
  for (BlockArgument argument : local.getArguments())
    list(-1, argument.getArgNumber(), argument);
  int64_t next = 0;
  local.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (OpResult result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        list(next, result.getResultNumber(), result);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
        if (isa<RankedTensorType>(argument.getType()))
          list(next, i, argument, /*isCarried=*/true);
    ++next;
  });
}

//===----------------------------------------------------------------------===//
// What is modelled
//===----------------------------------------------------------------------===//

bool Prover::checkModelled() {
  if (!local.getBody().hasOneBlock() || !globalFunc.getBody().hasOneBlock()) {
    setUndecided(local, "branches between blocks are not modelled", "blocks");
    return false;
  }
  for (func::FuncOp func : {globalFunc, local})
    for (Type type : llvm::concat<const Type>(func.getArgumentTypes(), func.getResultTypes())) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!isa<ShapedType>(type) || (tensor && tensor.hasStaticShape()))
        continue;
      setUndecided(local, "sizes that only the run knows are not modelled", "sizes");
      return false;
    }
  return true;
}

/// The meshes that a function names in its signature and its ops.
static SmallVector<FlatSymbolRefAttr> getNamedMeshes(func::FuncOp func) {
  SmallVector<FlatSymbolRefAttr> named;
  auto addAttrs = [&](DictionaryAttr attrs) {
    if (!attrs)
      return;
    for (NamedAttribute attr : attrs)
      if (auto sharding = dyn_cast<ShardingAttr>(attr.getValue()))
        named.push_back(sharding.getMesh());
      else if (auto axes = dyn_cast<AxesAttr>(attr.getValue()))
        named.push_back(axes.getMesh());
  };
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    addAttrs(func.getArgAttrDict(i));
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    addAttrs(func.getResultAttrDict(i));
  func.walk([&](Operation *op) {
    addAttrs(op->getAttrDictionary());
    if (auto coordinate = dyn_cast<DeviceCoordinateOp>(op))
      named.push_back(coordinate.getMeshAttr());
  });
  return named;
}

FailureOr<bool> Prover::readMeshes() {
  bool areModelled = true;
  for (FlatSymbolRefAttr name : getNamedMeshes(local)) {
    const Mesh *mesh = meshes.lookup(name);
    if (!mesh)
      return local.emitError() << "mesh " << name << " does not exist";
    if (!values.mesh)
      values.mesh = mesh;
    areModelled &= global.orders.add(*mesh);
  }
  globalFunc.walk([&](Operation *op) {
    // A collective that fits no value may be one of the user.
    values.hasGuess |= isa<ManualComputationOp>(op);
    if (!isa<ManualComputationOp, CollectiveOpInterface, DeviceCoordinateOp>(op))
      return;
    for (NamedAttribute attr : op->getAttrs())
      attr.getValue().walk([&](FlatSymbolRefAttr name) {
        const Mesh *mesh = globalMeshes.lookup(name);
        areModelled &= !mesh || (values.mesh && global.orders.add(*mesh));
      });
  });
  // Digits of several orders are taken to overlap.
  values.hasGuess |= global.orders.areSeveral();
  if (!areModelled)
    setUndecided(local, "meshes of different devices, or of more than " + Twine(kMaxOrders) + " orders of them",
                 "orders");
  return areModelled;
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

/// The shape that a value is padded to where its dims have sizes that only the run knows: that of equal shards.
static SmallVector<int64_t> getPaddedShape(ArrayRef<int64_t> shape, Type localType, const Sharding &sharding) {
  SmallVector<int64_t> padded(shape);
  auto local = dyn_cast<RankedTensorType>(localType);
  if (local && local.getShape().size() == shape.size())
    for (auto [size, chunk, dim] : llvm::zip(padded, local.getShape(), sharding.dims))
      size = std::max(size, chunk * deviceFactor(dim.entries));
  return padded;
}

FailureOr<Fact> Prover::readBoundary(DictionaryAttr attrs, Type localType, ClassId value, Type expected,
                                     const Twine &what) {
  auto type = cast<RankedTensorType>(expected);
  auto sharding = attrs ? attrs.getAs<ShardingAttr>(kShardingAttr) : ShardingAttr();
  auto globalType = attrs ? attrs.getAs<TypeAttr>(kGlobalTypeAttr) : TypeAttr();
  if (globalType && globalType.getValue() != expected)
    return local.emitError() << what << " has the global type " << globalType.getValue()
                             << ", but the unsharded function has " << expected;
  if (attrs && attrs.get(kLocalSizesAttr) && hasNoElements(type) && hasNoElements(localType)) {
    Fact none{value, {}, {}};
    none.dims.resize(type.getRank());
    return none;
  }
  Layout layout = Layout::replicated(type.getShape());
  if (sharding) {
    auto emit = [&] { return local.emitError() << what << ": "; };
    FailureOr<ShardingOnMesh> read = meshes.read(sharding, emit);
    if (failed(read))
      return failure();
    if (std::optional<ShardingError> error =
            verifySharding(read->sharding, *read->mesh, type.getShape(), /*allowUneven=*/true))
      return local.emitError() << what << ": " << error->message;
    layout = Layout::get(read->sharding, *read->mesh,
                         attrs.get(kLocalSizesAttr) ? getPaddedShape(type.getShape(), localType, read->sharding)
                                                    : SmallVector<int64_t>(type.getShape()));
    if (!global.orders.translate(layout, *read->mesh))
      return local.emitError() << what << " is on a mesh of other devices";
  }
  if (type.clone(layout.localShape()) != localType)
    return local.emitError() << what << " is " << localType << ", expected " << type.clone(layout.localShape())
                             << ", the shard of " << type << " by its sharding";
  Fact fact = getFact(value, layout);
  for (auto [dim, size] : llvm::zip_equal(fact.dims, type.getShape()))
    dim.size = size;
  return fact;
}

LogicalResult Prover::addArguments() {
  for (auto [i, argument] : llvm::enumerate(local.getArguments())) {
    Value unsharded = boundary.arguments[i];
    std::optional<ClassId> id = global.getClass(unsharded);
    if (!id) {
      if (argument.getType() != unsharded.getType())
        return local.emitError() << "argument #" << i << " is " << argument.getType()
                                 << ", but the unsharded function has " << unsharded.getType();
      values.reader.set(argument, global.getScalar(unsharded));
      continue;
    }
    FailureOr<Fact> fact =
        readBoundary(local.getArgAttrDict(i), argument.getType(), *id, unsharded.getType(), "argument #" + Twine(i));
    if (failed(fact))
      return failure();
    if (hasNoElements(argument.getType()))
      values.addUniformFact(argument, global.getUndefined());
    else
      values.addFact(argument, *fact);
  }
  return success();
}

LogicalResult Prover::readResults() {
  Operation *terminator = local.getBody().front().getTerminator();
  for (auto [r, value] : llvm::enumerate(terminator->getOperands())) {
    Value unsharded = boundary.results[r];
    std::optional<ClassId> id = global.getClass(unsharded);
    expected.emplace_back();
    if (!id || !isa<RankedTensorType>(value.getType()) || !cast<RankedTensorType>(unsharded.getType()).hasStaticShape())
      continue;
    FailureOr<Fact> fact =
        readBoundary(local.getResultAttrDict(r), value.getType(), *id, unsharded.getType(), "result #" + Twine(r));
    if (failed(fact))
      return failure();
    expected.back() = *fact;
  }
  return success();
}

void Prover::compareResults() {
  Operation *terminator = local.getBody().front().getTerminator();
  Operation *globalTerminator = globalFunc.getBody().front().getTerminator();
  const Gap *firstGap = nullptr; // in program order
  for (auto [r, value] : llvm::enumerate(terminator->getOperands())) {
    Operation *op = value.getDefiningOp() ? value.getDefiningOp() : terminator;
    if (!isa<RankedTensorType>(value.getType())) {
      if (values.reader.get(value) == global.getScalar(boundary.results[r]))
        continue;
      return setUndecided(
          op, "result #" + Twine(r) + " is a scalar that is not known to be that of the unsharded function", "scalar");
    }
    if (!expected[r]) {
      if (global.getClass(boundary.results[r]))
        return setUndecided(op, "result #" + Twine(r) + " has a size that is not known", "dynamic size");
      return setUndecided(globalTerminator, "result #" + Twine(r) + " of the unsharded function is not modelled",
                          "global");
    }
    if (values.getFacts(value).empty()) {
      const Gap *gap = values.getGap(value);
      if (!gap)
        return setUndecided(terminator, "result #" + Twine(r) + " is not modelled", "result");
      if (!firstGap || (gap->op->getBlock() == firstGap->op->getBlock() && gap->op->isBeforeInBlock(firstGap->op)))
        firstGap = gap;
    } else if (!firstGap && !compareTensor(r, *expected[r])) {
      return findPlace();
    }
  }
  if (!firstGap && !values.ownAssertions.empty())
    return setUndecided(values.ownAssertions.front(), "asserts what the unsharded program does not", "assertion");
  if (!firstGap) {
    proof.outcome = Outcome::Proven;
    return;
  }
  decideGap(*firstGap);
  findPlace();
}

bool Prover::holds(Value value, const Fact &wanted) {
  return llvm::any_of(values.getFacts(value), [&](const Fact &fact) {
    Outcome outcome;
    return global.areEqual(fact.value, wanted.value) && explainDifference(value, fact, wanted, outcome).empty();
  });
}

void Prover::findPlace() {
  if (!isThorough)
    return;
  Operation *terminator = local.getBody().front().getTerminator();
  std::vector<std::pair<Value, Fact>> results;
  for (auto [value, fact] : llvm::zip_equal(terminator->getOperands(), expected))
    if (fact)
      results.push_back({value, *fact});
    else if (isa<RankedTensorType>(value.getType()))
      return;
  auto findUnproven = [&] {
    SmallVector<Value> unproven;
    for (const auto &[value, fact] : results)
      if (!holds(value, fact))
        unproven.push_back(value);
    return unproven;
  };
  // What the search counts and guesses says nothing of the program.
  Proof ignored;
  BlockProver prover(values, ignored);
  auto rules = proof.rules;
  bool hasGuess = values.hasGuess;
  std::optional<Repair> repair =
      findRepair(local.getBody().front(), values, prover, results, findUnproven, ignored.localOps);
  proof.rules = rules;
  values.hasGuess = hasGuess;
  if (!repair)
    return;
  if (repair->op != proof.op) {
    std::string found = proof.opName + ": " + proof.reason;
    proof.notes.insert(proof.notes.begin(), {*proof.loc, found});
    decide(proof.outcome, repair->op, "gives another value than the one that " + proof.opName + " needs", proof.kind);
  }
  proof.notes.push_back({repair->loc.value_or(repair->op->getLoc()), "all results are right " + repair->what});
}

bool Prover::compareTensor(unsigned r, const Fact &expected) {
  Operation *terminator = local.getBody().front().getTerminator();
  Value value = terminator->getOperand(r);
  // Refused if all that it holds of the value is.
  std::optional<Outcome> worst;
  std::string why = "holds another value of the unsharded program";
  for (const Fact &fact : values.getFacts(value)) {
    if (!global.areEqual(fact.value, expected.value))
      continue;
    Outcome found = Outcome::Undecided;
    why = explainDifference(value, fact, expected, found);
    if (why.empty())
      return true;
    worst = worst && *worst != found ? Outcome::Undecided : found;
  }
  Outcome outcome = worst.value_or(Outcome::Undecided);
  Operation *op = value.getDefiningOp() ? value.getDefiningOp() : terminator;
  Operation *wrong = nullptr;
  if (outcome == Outcome::Undecided)
    wrong = findMissing(terminator, values);
  else if (StringRef(why).starts_with("holds"))
    wrong = findLayoutChange(value, /*withCollectives=*/false, values);
  if (!wrong && outcome == Outcome::Undecided)
    wrong = findFirstWrong(value, expected.value, values);
  decide(outcome, wrong ? wrong : op, "result #" + Twine(r) + " " + why, "result");
  return false;
}

std::string Prover::explainDifference(Value value, const Fact &found, const Fact &expected, Outcome &outcome) {
  const Mesh *mesh = values.mesh;
  bool isEitherPartial = !found.partial.empty() || !expected.partial.empty();
  if (isEitherPartial && (found.partial != expected.partial || found.kind != expected.kind)) {
    outcome = Outcome::Refused;
    return "is partial (" + stringifyReductionKind(found.kind).str() + ") over " +
           proof::toString(found.partial, mesh) + ", expected the complete value";
  }
  int64_t rank = -1;
  SmallVector<int64_t> index;
  const ClassInfo &info = global[expected.value];
  if (info.splat || info.isUndefined ||
      haveSameElements(found, expected, mesh ? mesh->numDevices() : 1,
                       cast<RankedTensorType>(value.getType()).getShape(), rank, index))
    return {};
  std::string why;
  llvm::raw_string_ostream os(why);
  os << "holds " << found.toString(mesh) << ", expected " << expected.toString(mesh);
  if (rank < 0)
    return why;
  outcome = Outcome::Refused;
  auto print = [&](const Fact &of) {
    os << "[";
    llvm::interleaveComma(of.dims, os, [&](const DimFact &dim) {
      if (dim.form)
        os << dim.form->evaluate(rank, index);
      else
        os << "any";
    });
    os << "]";
  };
  os << ": element [";
  llvm::interleaveComma(index, os);
  os << "] of rank " << rank << " is ";
  print(found);
  os << ", expected ";
  print(expected);
  return why;
}

Operation *Prover::findCause(const Gap &gap) const {
  if (gap.kind == "padding" || gap.kind == "trap")
    if (Operation *mask = findMask(gap.op, values))
      return mask;
  bool isReduced = gap.outcome == Outcome::Refused && gap.kind == "partial";
  if (Operation *init = isReduced || gap.kind == "no counterpart" ? findInit(gap.op, isReduced, values) : nullptr)
    return init;
  bool isMove = isa<CollectiveOpInterface>(gap.op) && gap.outcome == Outcome::Undecided;
  if (isMove || gap.kind == "reduction" || gap.kind == "misfit")
    if (Operation *change = findLayoutChange(gap.op->getOperands(), gap.kind == "misfit", values))
      return change;
  if (gap.outcome == Outcome::Refused)
    return nullptr;
  if (Operation *mask = gap.kind == "no counterpart" ? findOwnMask(gap.op, values) : nullptr)
    return mask;
  bool hasNoCounterpart = gap.kind == "no counterpart" || gap.kind == gap.op->getName().getStringRef();
  if (Operation *wrong = hasNoCounterpart ? findFirstWrong(gap.op, values) : nullptr)
    return wrong;
  return findMissing(gap.op, values);
}

void Prover::decideGap(const Gap &gap) {
  decide(gap.outcome, gap.op, gap.why, gap.kind);
  Operation *wrong = findCause(gap);
  if (wrong && wrong != gap.op) {
    StringRef reader = gap.op->getName().getStringRef();
    decide(gap.outcome, wrong, "gives another value than the one that " + reader + " needs", gap.kind);
    proof.notes.push_back({gap.op->getLoc(), reader.str() + ": " + gap.why});
  }
  for (Value operand : gap.op->getOperands())
    for (const Fact &fact : values.getFacts(operand)) {
      const ClassInfo &info = global[fact.value];
      if (!info.loc)
        continue;
      proof.notes.push_back({*info.loc, "an operand holds this value as " + fact.toString(values.mesh)});
      break;
    }
}

FailureOr<Proof> proof::prove(func::FuncOp globalFunc, func::FuncOp local, bool withClaims, int64_t maxSizes,
                              const Fallback &fallback) {
  if (hasSizeArguments(local))
    return proveAtAllSizes(globalFunc, local, maxSizes, fallback);
  Proof result;
  MeshCache meshes(local->getParentOp());
  Prover prover(globalFunc, local, meshes, result);
  // A compile that does not ask for the proof does not pay for the search.
  prover.isThorough = maxSizes > 0;
  if (failed(prover.prove()))
    return failure();
  if (withClaims && result.outcome == Outcome::Proven)
    prover.listClaims();
  return result;
}
