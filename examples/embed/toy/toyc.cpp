// A compiler that shards programs of the dialect toy by ShardKit, lowers collectives to calls of its own, and runs them
// on one thread per device:   toyc model.mlir
#include "Toy.h"
#include "shardkit-c/CollectiveElements.h"
#include "shardkit/Conversion/CollectiveConversion.h"
#include "shardkit/InitAllDialects.h"
#include "shardkit/InitAllPasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/ExecutionEngine/CRunnerUtils.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/Support/TargetSelect.h"
#include <barrier>
#include <thread>

using namespace mlir;

//===--- the runtime: devices are threads, and an exchange goes through addresses ---===//

static std::vector<SmallVector<int64_t>> descriptors;
static std::vector<const float *> inputs;
static std::barrier<> *allDevices;
static thread_local int64_t thisRank;

struct Reader {
  const shardkit_collective *collective;
  float *out;
  /// An element is that of one rank, or combined from all ranks that differ in the digits `reduce`.
  void read(int64_t from, int64_t source, int64_t destination) {
    shardkit_move move = shardkit_read(collective, nullptr);
    bool isFirst = true;
    for (int64_t rank = 0; rank < collective->devices; ++rank) {
      if (!shardkit_differ_in(move.reduce, collective->num_reduce, rank, from))
        continue;
      float value = inputs[rank][source], &sum = out[destination];
      sum = std::exchange(isFirst, false)           ? value
            : collective->reduction == SHARDKIT_MAX ? std::max(sum, value)
                                                    : sum + value;
    }
  }
};

static void runCollective(int64_t id, const float *in, float *out) {
  Reader reader{reinterpret_cast<const shardkit_collective *>(descriptors[id].data()), out};
  std::fill_n(out, reader.collective->out_elements, 0.0f);
  inputs[thisRank] = in;
  allDevices->arrive_and_wait();
  auto visit = [](void *data, int64_t from, int64_t source, int64_t destination) {
    static_cast<Reader *>(data)->read(from, source, destination);
  };
  shardkit_for_each_element(reader.collective, nullptr, thisRank, visit, &reader);
  allDevices->arrive_and_wait();
}
static int64_t getRank() { return thisRank; }

//===--- the lowering of collectives ---===//

struct ToyCollectives : spmd::CollectiveEmitter {
  explicit ToyCollectives(ModuleOp module) : CollectiveEmitter(module) {
    OpBuilder b(module.getBodyRegion());
    Type word = b.getI64Type(), address = b.getIndexType();
    for (auto [name, type] : {std::pair("toy_collective", b.getFunctionType({word, address, address}, {})),
                              std::pair("toy_rank", b.getFunctionType({}, {address}))})
      func::FuncOp::create(b, module.getLoc(), name, type).setPrivate();
  }

  FailureOr<Value> emit(RewriterBase &b, spmd::CollectiveToEmit &c) override {
    Location loc = c.op.getLoc();
    auto words = spmd::getDescriptor(c.form, c.inputType.getElementType());
    if (failed(words) || !c.inputType.getElementType().isF32() || !c.offsets.empty() ||
        (c.form.reduction && *c.form.reduction != spmd::ReductionKind::Sum &&
         *c.form.reduction != spmd::ReductionKind::Max)) {
      c.op.emitError() << "is not a move, sum or maximum of f32";
      return failure();
    }
    Value id = arith::ConstantIntOp::create(b, loc, descriptors.size(), 64);
    descriptors.push_back(*words);
    auto bufferOf = [](RankedTensorType type) { return MemRefType::get(type.getShape(), type.getElementType()); };
    Value in = bufferization::ToBufferOp::create(b, loc, bufferOf(c.inputType), c.input, /*read_only=*/true);
    Value out = memref::AllocOp::create(b, loc, bufferOf(c.resultType));
    SmallVector<Value> operands{id};
    for (Value buffer : {in, out})
      operands.push_back(memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer));
    func::CallOp::create(b, loc, "toy_collective", TypeRange(), operands);
    return bufferization::ToTensorOp::create(b, loc, c.resultType, out, /*restrict=*/true, /*writable=*/true)
        .getResult();
  }
  Value emitRank(RewriterBase &b, Operation *op) override {
    return func::CallOp::create(b, op->getLoc(), "toy_rank", TypeRange(b.getIndexType()), ValueRange()).getResult(0);
  }
};

//===--- the compiler ---===//

static LogicalResult run(ModuleOp module, StringRef passes) {
  PassManager pm(module.getContext());
  return failure(failed(parsePassPipeline(passes, pm)) || failed(pm.run(module)));
}

using Main = void (*)(const float *, const float *, float *);

/// The function `main` of a module, sharded or not.
static std::unique_ptr<ExecutionEngine> compile(ModuleOp module, bool shards) {
  if (failed(run(module, shards ? "spmd-default-pipeline{plan=propagation}" : "spmd-strip")))
    return nullptr;
  ToyCollectives emitter(module);
  if (shards && (failed(spmd::convertCollectives(emitter)) || failed(run(module, "spmd-strip"))))
    return nullptr;
  if (failed(run(module, "toy-to-linalg,func.func(convert-elementwise-to-linalg),"
                         "one-shot-bufferize{bufferize-function-boundaries "
                         "function-boundary-type-conversion=identity-layout-map},"
                         "buffer-results-to-out-params{modify-public-functions},func.func(convert-linalg-to-loops),"
                         "convert-scf-to-cf,expand-strided-metadata,lower-affine,finalize-memref-to-llvm,"
                         "convert-func-to-llvm{use-bare-ptr-memref-call-conv},convert-to-llvm,"
                         "reconcile-unrealized-casts")))
    return nullptr;
  auto engine = llvm::cantFail(ExecutionEngine::create(module));
  engine->registerSymbols([](llvm::orc::MangleAndInterner intern) {
    llvm::orc::SymbolMap symbols;
    symbols[intern("toy_collective")] = {llvm::orc::ExecutorAddr::fromPtr(runCollective), {}};
    symbols[intern("toy_rank")] = {llvm::orc::ExecutorAddr::fromPtr(getRank), {}};
    symbols[intern("memrefCopy")] = {llvm::orc::ExecutorAddr::fromPtr(memrefCopy), {}};
    return symbols;
  });
  return engine;
}

int main(int argc, char **argv) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  spmd::registerAllDialects(registry);
  registry.insert<toy::ToyDialect>();
  mlir::registerAllPasses();
  spmd::registerAllPasses();
  registerToyToLinalg();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();

  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argc > 1 ? argv[1] : "-", &context);
  auto main = module ? module->lookupSymbol<func::FuncOp>("main") : func::FuncOp();
  if (!main || main.getNumArguments() != 2 || main.getNumResults() != 1)
    return fprintf(stderr, "error: expected a function main of two arguments and one result\n"), 1;
  int64_t devices = 1;
  module->walk([&](spmd::MeshOp mesh) { devices = spmd::toMesh(mesh).numDevices(); });
  auto countOf = [](Type type) { return cast<RankedTensorType>(type).getNumElements(); };
  std::vector<float> x(countOf(main.getArgumentTypes()[0])), w(countOf(main.getArgumentTypes()[1]));
  std::vector<float> expected(countOf(main.getResultTypes()[0]));
  std::vector<std::vector<float>> results(devices, expected);
  for (std::vector<float> *list : {&x, &w})
    for (size_t i = 0; i < list->size(); ++i)
      (*list)[i] = float(int(i * 7919 % 23) - 11);

  OwningOpRef<ModuleOp> copy = module->clone();
  auto unsharded = compile(*copy, /*shards=*/false), sharded = compile(*module, /*shards=*/true);
  if (!unsharded || !sharded)
    return 1;
  reinterpret_cast<Main>(llvm::cantFail(unsharded->lookup("main")))(x.data(), w.data(), expected.data());
  auto function = reinterpret_cast<Main>(llvm::cantFail(sharded->lookup("main")));
  std::barrier<> barrier(devices);
  allDevices = &barrier;
  inputs.resize(devices);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < devices; ++rank)
    threads.emplace_back([&, rank] {
      thisRank = rank;
      function(x.data(), w.data(), results[rank].data());
    });
  for (std::thread &thread : threads)
    thread.join();
  int64_t wrong = 0;
  for (const std::vector<float> &result : results)
    for (size_t i = 0; i < result.size(); ++i)
      wrong += result[i] != expected[i];
  printf("%zu collectives, %ld of %zu elements on %ld devices differ\n", descriptors.size(), wrong, expected.size(),
         devices);
  return wrong != 0;
}
