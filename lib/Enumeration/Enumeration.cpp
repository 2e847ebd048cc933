//===- Enumeration.cpp - Arguments for which programs differ -----------===//

#include "shardkit/Enumeration/Enumeration.h"
#include "Interpreter.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Layout/Owners.h"
#include "shardkit/Proof/Boundary.h"
#include "shardkit/Proof/Normalize.h"

#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::enumeration;

/// Sets of arguments that are drawn, and those of them that must be if the program is small.
static constexpr unsigned kNumSeeds = 16, kMinSeeds = 3;
/// What rounding may cause in double precision is far below this.
static constexpr double kTolerance = 1e-3;
/// Elements of an argument of a program that is run, and devices.
static constexpr int64_t kMaxElements = 1 << 20;
static constexpr int64_t kMaxDevices = 256;
/// What may be computed: each takes about a second.
static constexpr int64_t kMaxNumbers = 20'000'000, kMaxExpressions = 4'000'000;

namespace {
/// Compares the results of two functions, whose signatures are paired.
class Comparison {
public:
  Comparison(func::FuncOp global, func::FuncOp local, const proof::Boundary &boundary)
      : global(global), local(local), boundary(boundary), meshes(local->getParentOp()) {}

  /// True if each element of a result is the same expression on the device as in the unsharded function.
  bool prove(std::map<std::string, unsigned> &rules);
  /// The first difference for some arguments, in words; empty if none is found.
  std::string refute();
  /// Why the function is not run on expressions, or on numbers; empty if it was.
  std::string whyNotProven, why;

private:
  bool readBoundary();
  /// What was counted for the rules.
  struct Counts {
    unsigned numElements = 0, numExpanded = 0, numCases = 0, numValues = 0;
  };
  bool prove(ExpressionDomain &domain, std::vector<Number> &leaves, int64_t &left, Counts &counts);
  std::optional<Layout> getLayout(ShardingAttr attr, Type globalType, Type localType);
  /// Runs both functions on arguments of which each element is made, by its type and range. False if one of them is not
  /// run.
  bool run(Interpreter &unsharded, Interpreter &partitioned, llvm::function_ref<Number(Type, ArrayAttr)> makeElement);
  /// The shard of a value in a layout.
  Tensor getShard(const Tensor &value, const Layout &layout, const Mesh *on, unsigned device,
                  Interpreter &partitioned) const;
  /// An element of a result on a device, and the same of the unsharded function.
  struct Pair {
    unsigned result, device;
    ArrayRef<int64_t> index, at;
    Type type;
    Number is, should;
  };
  /// Visits pairs until one is not accepted. False then.
  bool forEachPair(const Interpreter &unsharded, const Interpreter &partitioned,
                   llvm::function_ref<bool(const Pair &)> accept);
  std::string describe(const Pair &pair, const Interpreter &partitioned, unsigned seed) const;

  func::FuncOp global, local;
  const proof::Boundary &boundary;
  MeshCache meshes;
  /// The mesh of the devices, and that of the unsharded function if it has manual computations.
  const Mesh *mesh = nullptr, *manualMesh = nullptr;
  /// Of arguments and results: the layout, and the mesh that it is on. None of a scalar.
  struct Side {
    Layout layout;
    const Mesh *on = nullptr;
  };
  std::vector<Side> arguments, results;
};
} // namespace

/// What dims are padded to: local shards are equal parts of it, also where sizes are known to the run alone.
static SmallVector<int64_t> getPaddedShape(RankedTensorType global, Type local, const Sharding &sharding) {
  SmallVector<int64_t> shape(global.getShape());
  auto tensor = dyn_cast<RankedTensorType>(local);
  if (tensor && tensor.getRank() == global.getRank())
    for (auto [size, chunk, dim] : llvm::zip(shape, tensor.getShape(), sharding.dims))
      size = std::max(size, chunk * deviceFactor(dim.entries));
  return shape;
}

bool Comparison::readBoundary() {
  arguments.clear();
  results.clear();
  local.walk([&](Operation *op) {
    for (NamedAttribute attr : op->getAttrs())
      attr.getValue().walk([&](FlatSymbolRefAttr name) {
        const Mesh *named = meshes.lookup(name);
        mesh = mesh ? mesh : named;
      });
  });
  auto read = [&](ShardingAttr attr, Value unsharded, Type type, std::vector<Side> &sides) {
    Side &side = sides.emplace_back();
    auto global = dyn_cast<RankedTensorType>(unsharded.getType());
    if (!global)
      return isNumeric(type);
    if (!global.hasStaticShape() || !isNumeric(global.getElementType()))
      return false;
    side.layout = Layout::replicated(global.getShape());
    if (attr) {
      FailureOr<ShardingOnMesh> sharding = meshes.read(attr, [&] { return local.emitError(); });
      if (failed(sharding))
        return false;
      side.on = sharding->mesh;
      mesh = mesh ? mesh : side.on;
      side.layout = Layout::get(sharding->sharding, *side.on, getPaddedShape(global, type, sharding->sharding));
    }
    return side.layout.partial.empty() && global.clone(side.layout.localShape()) == type &&
           global.getNumElements() < kMaxElements;
  };
  Operation *terminator = local.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(boundary.arguments))
    if (!read(local.getArgAttrOfType<ShardingAttr>(i, kShardingAttr), value, local.getArgumentTypes()[i], arguments))
      return false;
  for (auto [i, value] : llvm::enumerate(boundary.results))
    if (!read(local.getResultAttrOfType<ShardingAttr>(i, kShardingAttr), value, terminator->getOperand(i).getType(),
              results))
      return false;
  bool isManual = global.walk([](ManualComputationOp) { return WalkResult::interrupt(); }).wasInterrupted();
  manualMesh = isManual ? mesh : nullptr;
  return !mesh || mesh->numDevices() <= kMaxDevices;
}

/// Numbers of different kinds: those that products and logarithms take, those around zero, and integers of the range
/// that random inputs are from.
static Number draw(Type type, ArrayAttr range, unsigned seed, std::mt19937_64 &random) {
  double uniform = double(random() >> 11) / double(uint64_t(1) << 53);
  if (range && seed % 3 == 2 && !isa<FloatType>(type) && !type.isInteger(1)) {
    int64_t low = cast<IntegerAttr>(range[0]).getInt(), high = cast<IntegerAttr>(range[1]).getInt();
    return {.integer = low + int64_t(random() % uint64_t(high - low))};
  }
  if (isa<FloatType>(type))
    return {.real = seed % 2 ? 0.25 + 1.5 * uniform : 2 * uniform - 1};
  if (type.isInteger(1))
    return {.integer = -int64_t(random() % 2)};
  // Integers may be indices.
  return {.integer = seed % 4 == 0   ? int64_t(random() % 3)
                     : seed % 4 == 1 ? int64_t(random() % 15) - 5
                     : seed % 4 == 2 ? int64_t(random() % 2)
                                     : int64_t(random() % 8)};
}

Tensor Comparison::getShard(const Tensor &value, const Layout &layout, const Mesh *on, unsigned device,
                            Interpreter &partitioned) const {
  int64_t rank = on ? partitioned.getRank(device, *on).value_or(0) : 0;
  Index shape(layout.localShape());
  Numbers shard{value.numbers->type, {}};
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Index at;
    bool isInside = true;
    for (auto [d, i] : llvm::enumerate(index)) {
      at.push_back(getOwnIndex(layout, d, rank, i));
      isInside &= at.back() < value.shape[d];
    }
    shard.list.push_back(isInside ? (*value.numbers)[getFlatIndex(at, value.shape)]
                                  : partitioned.domain.getUndefined(shard.type));
  });
  return {shape, std::make_shared<Numbers>(std::move(shard))};
}

bool Comparison::run(Interpreter &unsharded, Interpreter &partitioned,
                     llvm::function_ref<Number(Type, ArrayAttr)> makeElement) {
  for (BlockArgument argument : global.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    Type element = getElementTypeOrSelf(argument.getType());
    if (!isNumeric(element) || (type && (!type.hasStaticShape() || type.getNumElements() > kMaxElements)))
      return unsharded.fail("an argument that is not read");
    auto range = global.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kRangeAttr);
    Numbers numbers{element, {}};
    for (int64_t i = 0, e = type ? type.getNumElements() : 1; i < e; ++i)
      numbers.list.push_back(makeElement(element, range));
    auto column = std::make_shared<Numbers>(std::move(numbers));
    for (unsigned device = 0; device < unsharded.getNumDevices(); ++device)
      unsharded.set(device, argument, {type ? Index(type.getShape()) : Index(), column});
  }
  auto all = llvm::to_vector(llvm::seq<unsigned>(0, unsharded.getNumDevices()));
  if (!unsharded.run(global.getBody().front(), all))
    return false;
  auto devices = llvm::to_vector(llvm::seq<unsigned>(0, partitioned.getNumDevices()));
  for (auto [i, argument] : llvm::enumerate(local.getArguments()))
    for (unsigned device : devices) {
      const Tensor &value = *unsharded.find(0, boundary.arguments[i]);
      bool isTensor = isa<RankedTensorType>(argument.getType());
      partitioned.set(device, argument,
                      isTensor ? getShard(value, arguments[i].layout, arguments[i].on, device, partitioned) : value);
    }
  return partitioned.run(local.getBody().front(), devices);
}

/// False also where one of them is not a number.
static bool differ(Type type, Number is, Number should) {
  if (!isa<FloatType>(type))
    return is.integer != should.integer;
  double magnitude = std::max(std::fabs(is.real), std::fabs(should.real));
  return std::isfinite(magnitude) && std::fabs(is.real - should.real) > kTolerance * magnitude + 1e-9;
}

static void print(raw_ostream &os, Type type, Number number) {
  if (isa<FloatType>(type))
    os << llvm::format("%g", number.real);
  else
    os << number.integer;
}

bool Comparison::forEachPair(const Interpreter &unsharded, const Interpreter &partitioned,
                             llvm::function_ref<bool(const Pair &)> accept) {
  Operation *terminator = local.getBody().front().getTerminator();
  bool isAccepted = true;
  for (auto [r, value] : llvm::enumerate(terminator->getOperands()))
    for (unsigned device = 0; device < partitioned.getNumDevices(); ++device) {
      const Tensor &is = *partitioned.find(device, value), &should = *unsharded.find(0, boundary.results[r]);
      const Side &side = results[r];
      int64_t rank = side.on ? partitioned.getRank(device, *side.on).value_or(device) : device;
      forEachIndex(is.shape, [&, r = r](ArrayRef<int64_t> index) {
        Index at;
        bool isInside = true;
        for (auto [d, i] : llvm::enumerate(index)) {
          at.push_back(getOwnIndex(side.layout, d, rank, i));
          isInside &= at.back() < should.shape[d];
        }
        if (isInside && isAccepted)
          isAccepted =
              accept({unsigned(r), device, index, at, is.numbers->type, (*is.numbers)[getFlatIndex(index, is.shape)],
                      (*should.numbers)[getFlatIndex(at, should.shape)]});
      });
    }
  return isAccepted;
}

std::string Comparison::describe(const Pair &pair, const Interpreter &partitioned, unsigned seed) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  const Side &side = results[pair.result];
  int64_t rank = side.on ? partitioned.getRank(pair.device, *side.on).value_or(pair.device) : pair.device;
  os << "result #" << pair.result << ": element [";
  llvm::interleaveComma(pair.index, os);
  os << "] of rank " << rank << " is ";
  print(os, pair.type, pair.is);
  os << ", and [";
  llvm::interleaveComma(pair.at, os);
  os << "] of the unsharded result ";
  print(os, pair.type, pair.should);
  os << ", for the arguments of seed " << seed;
  return text;
}

std::string Comparison::refute() {
  if (!readBoundary()) {
    why = "an argument or a result that is not read";
    return {};
  }
  int64_t left = kMaxNumbers;
  for (unsigned seed = 0; seed < kNumSeeds && left > 0; ++seed) {
    NumberDomain domain(seed);
    std::mt19937_64 random(seed + 1);
    Interpreter unsharded(global->getParentOp(), manualMesh, /*isUnsharded=*/true, domain, left);
    Interpreter partitioned(local->getParentOp(), mesh, /*isUnsharded=*/false, domain, left);
    if (!run(unsharded, partitioned, [&](Type type, ArrayAttr range) { return draw(type, range, seed, random); })) {
      // Other arguments may be legal.
      if (unsharded.isUndefined)
        continue;
      if (partitioned.isUndefined)
        return "for the arguments of seed " + std::to_string(seed) + " it is undefined: " + partitioned.why;
      // Fewer sets than those that may be drawn are enough.
      if (seed < kMinSeeds)
        why = unsharded.why.empty() ? partitioned.why : unsharded.why;
      return {};
    }
    left -= unsharded.getNumComputed() + partitioned.getNumComputed();
    std::string difference;
    forEachPair(unsharded, partitioned, [&](const Pair &pair) {
      if (differ(pair.type, pair.is, pair.should))
        difference = describe(pair, partitioned, seed);
      return difference.empty();
    });
    if (!difference.empty())
      return difference;
  }
  return {};
}

/// Proves the function for each value of an integer on which depends what it does, if there are few.
bool Comparison::prove(ExpressionDomain &domain, std::vector<Number> &leaves, int64_t &left, Counts &counts) {
  Expressions &expressions = domain.expressions;
  Interpreter unsharded(global->getParentOp(), manualMesh, /*isUnsharded=*/true, domain, left);
  Interpreter partitioned(local->getParentOp(), mesh, /*isUnsharded=*/false, domain, left);
  size_t next = 0;
  bool isRun = run(unsharded, partitioned, [&](Type type, ArrayAttr) {
    if (next == leaves.size())
      leaves.push_back(domain.getUndefined(type));
    return leaves[next++];
  });
  left -= unsharded.getNumComputed() + partitioned.getNumComputed();
  if (!isRun) {
    whyNotProven = unsharded.why.empty() ? partitioned.why : unsharded.why;
    std::optional<Number> open = unsharded.open ? unsharded.open : partitioned.open;
    return open && domain.forEachValue(*open, [&] {
      ++counts.numValues;
      return left > 0 && prove(domain, leaves, left, counts);
    });
  }
  bool areEqual = forEachPair(unsharded, partitioned, [&](const Pair &pair) {
    ++counts.numElements;
    if (pair.is.integer == pair.should.integer)
      return true;
    std::optional<ExprId> is = expressions.expand(pair.is.integer), should = expressions.expand(pair.should.integer);
    if (is && is == should) {
      ++counts.numExpanded;
      return true;
    }
    ++counts.numCases;
    return expressions.areEqualInAllCases(pair.is.integer, pair.should.integer);
  });
  if (!areEqual)
    whyNotProven = "an element that is another expression";
  return areEqual;
}

bool Comparison::prove(std::map<std::string, unsigned> &rules) {
  if (!readBoundary())
    return false;
  ExpressionDomain domain;
  std::vector<Number> leaves;
  int64_t left = kMaxExpressions;
  Counts counts;
  if (!prove(domain, leaves, left, counts))
    return false;
  rules = {{"element that is the same expression", counts.numElements}};
  if (counts.numExpanded)
    rules["sum of products, multiplied out"] = counts.numExpanded;
  if (counts.numCases)
    rules["element that is the same expression for each value of its indices"] = counts.numCases;
  if (counts.numValues)
    rules["size or index that data give, for each of its values"] = counts.numValues;
  return true;
}

/// Decides a function that is not proven, whose signatures are paired.
static void decide(func::FuncOp global, func::FuncOp local, const proof::Boundary &boundary, proof::Proof &proof) {
  Comparison comparison(global, local, boundary);
  if (comparison.prove(proof.rules)) {
    if (proof.outcome == proof::Outcome::Refused)
      proof.rules["refusal that the elements contradict"] = 1;
    proof.outcome = proof::Outcome::Proven;
    return;
  }
  if (proof.outcome == proof::Outcome::Refused)
    return;
  proof.example = comparison.refute();
  if (!proof.example.empty())
    proof.outcome = proof::Outcome::Refused;
  else if (!comparison.whyNotProven.empty())
    proof.notes.push_back({local.getLoc(), "element by element: " + comparison.whyNotProven});
  if (proof.example.empty() && !comparison.why.empty())
    proof.notes.push_back({local.getLoc(), "it is not run on numbers: " + comparison.why});
}

void spmd::decideByElements(func::FuncOp global, func::FuncOp local, proof::Proof &proof) {
  if (proof.outcome == proof::Outcome::Proven || !global.getBody().hasOneBlock() || !local.getBody().hasOneBlock())
    return;
  if (FailureOr<proof::Boundary> boundary = proof::pairBoundary(global, local); succeeded(boundary))
    decide(global, local, *boundary, proof);
}

/// Functions of sizes that only the run knows have an argument for each.
static bool hasSizes(func::FuncOp func) {
  return llvm::any_of(llvm::seq<unsigned>(0, func.getNumArguments()),
                      [&](unsigned i) { return bool(func.getArgAttr(i, kSizeAttr)); });
}

void spmd::decideByElements(ModuleOp global, ModuleOp local, proof::Certificate &certificate, bool onlyRefused) {
  auto isOpen = [&](const proof::Certificate::Function &function) {
    return function.proof.outcome == proof::Outcome::Refused ||
           (function.proof.outcome == proof::Outcome::Undecided && !onlyRefused);
  };
  if (llvm::none_of(certificate.functions, isOpen))
    return;
  OwningOpRef<ModuleOp> globalCopy = global.clone(), localCopy = local.clone();
  (void)proof::normalize(*globalCopy, *localCopy);
  for (proof::Certificate::Function &function : certificate.functions) {
    StringRef name = function.loads ? StringRef(function.loads->function) : StringRef(function.name);
    auto globalFunc = globalCopy->lookupSymbol<func::FuncOp>(name);
    auto localFunc = localCopy->lookupSymbol<func::FuncOp>(name);
    // A schedule whose lists are wrong is not a function.
    if (!isOpen(function) || !globalFunc || !localFunc || hasSizes(localFunc))
      continue;
    if (!function.loads) {
      decideByElements(globalFunc, localFunc, function.proof);
      continue;
    }
    FailureOr<proof::LoadingFunctions> copies =
        proof::copyLoadingFunctions(globalFunc, localFunc, function.loads->argument);
    // What computes each element by itself has operands that the loader makes.
    if (succeeded(copies) && !copies->shard->hasAttr(kElementwiseAttr))
      decideByElements(copies->load, copies->shard, function.proof);
  }
}
