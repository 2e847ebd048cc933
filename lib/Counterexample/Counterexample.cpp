//===- Counterexample.cpp - Arguments for which programs differ -----------===//

#include "shardkit/Counterexample/Counterexample.h"
#include "Interpreter.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Layout/Owners.h"
#include "shardkit/Proof/Boundary.h"
#include "shardkit/Proof/Normalize.h"

#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::example;

/// Sets of arguments that are drawn.
static constexpr unsigned kNumSeeds = 3;
/// What rounding may cause in double precision is far below this.
static constexpr double kTolerance = 1e-3;
/// Elements of the arguments of a program that is run, on all devices, and devices.
static constexpr int64_t kMaxElements = 1 << 20;
static constexpr int64_t kMaxDevices = 256;

namespace {
/// Compares the results of two functions, whose signatures are paired.
class Comparison {
public:
  Comparison(func::FuncOp global, func::FuncOp local, const proof::Boundary &boundary)
      : global(global), local(local), boundary(boundary), meshes(local->getParentOp()) {}

  /// The first difference, in words; empty if none is found.
  std::string find();

private:
  bool readBoundary();
  std::optional<Layout> getLayout(ShardingAttr attr, Type globalType, Type localType);
  /// Draws arguments, and runs both functions. False if one of them is not run.
  bool run(Interpreter &unsharded, Interpreter &partitioned, unsigned seed);
  /// The shard of a value in a layout.
  Tensor getShard(const Tensor &value, const Layout &layout, const Mesh *on, unsigned device,
                  Interpreter &partitioned) const;
  std::string compare(const Interpreter &unsharded, const Interpreter &partitioned, unsigned seed);

  func::FuncOp global, local;
  const proof::Boundary &boundary;
  MeshCache meshes;
  const Mesh *mesh = nullptr;
  /// Of arguments and results: the layout, and the mesh that it is on. None of a scalar.
  struct Side {
    Layout layout;
    const Mesh *on = nullptr;
  };
  std::vector<Side> arguments, results;
};
} // namespace

bool Comparison::readBoundary() {
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
      side.layout = Layout::get(sharding->sharding, *side.on, global.getShape());
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
  return !mesh || mesh->numDevices() <= kMaxDevices;
}

/// Numbers of different kinds: those that products and logarithms take, and those around zero.
static Numbers draw(Type type, int64_t count, unsigned seed, std::mt19937_64 &random) {
  Numbers numbers{type, std::vector<Number>(count)};
  auto uniform = [&] { return double(random() >> 11) / double(uint64_t(1) << 53); };
  for (Number &number : numbers.list) {
    if (numbers.isFloat())
      number.real = seed % 2 ? 0.25 + 1.5 * uniform() : 2 * uniform() - 1;
    else if (type.isInteger(1))
      number.integer = -int64_t(random() % 2);
    else
      number.integer = seed == 0 ? random() % 3 : seed == 1 ? int64_t(random() % 15) - 5 : random() % 2;
  }
  return numbers;
}

Tensor Comparison::getShard(const Tensor &value, const Layout &layout, const Mesh *on, unsigned device,
                            Interpreter &partitioned) const {
  int64_t rank = on ? partitioned.getRank(device, *on).value_or(0) : 0;
  Index shape(layout.localShape());
  Numbers shard = partitioned.drawUndefined(value.numbers->type, ShapedType::getNumElements(shape));
  int64_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Index at;
    bool isInside = true;
    for (auto [d, i] : llvm::enumerate(index)) {
      at.push_back(getOwnIndex(layout, d, rank, i));
      isInside &= at.back() < layout.shape[d];
    }
    if (isInside)
      shard.list[next] = (*value.numbers)[getFlatIndex(at, value.shape)];
    ++next;
  });
  return {shape, std::make_shared<Numbers>(std::move(shard))};
}

bool Comparison::run(Interpreter &unsharded, Interpreter &partitioned, unsigned seed) {
  std::mt19937_64 random(seed + 1);
  for (BlockArgument argument : global.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    Type element = getElementTypeOrSelf(argument.getType());
    if (!isNumeric(element) || (type && (!type.hasStaticShape() || type.getNumElements() > kMaxElements)))
      return false;
    Numbers numbers = draw(element, type ? type.getNumElements() : 1, seed, random);
    unsharded.set(0, argument, {type ? Index(type.getShape()) : Index(), std::make_shared<Numbers>(numbers)});
  }
  if (!unsharded.run(global.getBody().front(), {0}))
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

std::string Comparison::compare(const Interpreter &unsharded, const Interpreter &partitioned, unsigned seed) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Operation *terminator = local.getBody().front().getTerminator();
  for (auto [r, value] : llvm::enumerate(terminator->getOperands()))
    for (unsigned device = 0; device < partitioned.getNumDevices(); ++device) {
      const Tensor *is = partitioned.find(device, value), *should = unsharded.find(0, boundary.results[r]);
      int64_t rank = results[r].on ? partitioned.getRank(device, *results[r].on).value_or(device) : device;
      forEachIndex(is->shape, [&](ArrayRef<int64_t> index) {
        Index at;
        bool isInside = true;
        for (auto [d, i] : llvm::enumerate(index)) {
          at.push_back(getOwnIndex(results[r].layout, d, rank, i));
          isInside &= at.back() < should->shape[d];
        }
        if (!text.empty() || !isInside)
          return;
        Number a = (*is->numbers)[getFlatIndex(index, is->shape)], b = (*should->numbers)[getFlatIndex(at, should->shape)];
        Type type = is->numbers->type;
        if (!differ(type, a, b))
          return;
        os << "result #" << r << ": element [";
        llvm::interleaveComma(index, os);
        os << "] of rank " << rank << " is ";
        print(os, type, a);
        os << ", and [";
        llvm::interleaveComma(at, os);
        os << "] of the unsharded result ";
        print(os, type, b);
        os << ", for the arguments of seed " << seed;
      });
    }
  return text;
}

std::string Comparison::find() {
  if (!readBoundary())
    return {};
  for (unsigned seed = 0; seed < kNumSeeds; ++seed) {
    Interpreter unsharded(global->getParentOp(), nullptr, seed), partitioned(local->getParentOp(), mesh, seed);
    if (!run(unsharded, partitioned, seed)) {
      // Other arguments may be legal.
      if (unsharded.isUndefined)
        continue;
      return {};
    }
    if (std::string difference = compare(unsharded, partitioned, seed); !difference.empty())
      return difference;
  }
  return {};
}

void spmd::refuseByExample(ModuleOp global, ModuleOp local, proof::Certificate &certificate) {
  auto isOpen = [](const proof::Certificate::Function &function) {
    return function.proof.outcome == proof::Outcome::Undecided && !function.loads;
  };
  if (llvm::none_of(certificate.functions, isOpen))
    return;
  OwningOpRef<ModuleOp> globalCopy = global.clone(), localCopy = local.clone();
  (void)proof::normalize(*globalCopy, *localCopy);
  for (proof::Certificate::Function &function : certificate.functions) {
    auto globalFunc = globalCopy->lookupSymbol<func::FuncOp>(function.name);
    auto localFunc = localCopy->lookupSymbol<func::FuncOp>(function.name);
    if (!isOpen(function) || !globalFunc.getBody().hasOneBlock() || !localFunc.getBody().hasOneBlock())
      continue;
    FailureOr<proof::Boundary> boundary = proof::pairBoundary(globalFunc, localFunc);
    if (failed(boundary))
      return;
    std::string difference = Comparison(globalFunc, localFunc, *boundary).find();
    if (difference.empty())
      continue;
    function.proof.outcome = proof::Outcome::Refused;
    function.proof.example = difference;
  }
}
