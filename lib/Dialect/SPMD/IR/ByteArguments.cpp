//===- ByteArguments.cpp - Weights of 8-bit floats are passed as bytes ----===//

#include "shardkit/Dialect/SPMD/IR/ByteArguments.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::spmd;

/// The bytes of a tensor of 8-bit floats; null for other types.
static RankedTensorType getBytesType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isa<FloatType>(tensor.getElementType()) || tensor.getElementTypeBitWidth() != 8)
    return {};
  return cast<RankedTensorType>(tensor.clone(IntegerType::get(type.getContext(), 8)));
}

/// Lets a loading function return bytes.
static void returnBytes(func::FuncOp load) {
  Operation *terminator = load.getBody().front().getTerminator();
  RankedTensorType bytes = getBytesType(terminator->getOperand(0).getType());
  if (!bytes)
    return; // It does so already, for another argument.
  OpBuilder b(terminator);
  terminator->setOperand(0, arith::BitcastOp::create(b, load.getLoc(), bytes, terminator->getOperand(0)));
  load.setFunctionType(b.getFunctionType(load.getArgumentTypes(), terminator->getOperandTypes()));
}

namespace {

class ByteArguments {
public:
  explicit ByteArguments(ModuleOp module) : module(module), symbols(module) {}

  void run() {
    for (func::FuncOp func : getProgramFunctions(module))
      if (func.isPublic() && !func.isExternal())
        for (unsigned i = 0; i < func.getNumArguments(); ++i)
          if (func.getArgAttr(i, kWeightAttr) && getBytesType(func.getArgument(i).getType()))
            passBytes(func, i);
  }

private:
  void passBytes(func::FuncOp func, unsigned index) {
    BlockArgument arg = func.getArgument(index);
    Type type = arg.getType();
    auto named = func.getArgAttrOfType<FlatSymbolRefAttr>(index, kLoadAttr);
    if (named)
      returnBytes(symbols.lookup<func::FuncOp>(named.getValue()));
    else
      func.setArgAttr(index, kLoadAttr, FlatSymbolRefAttr::get(getBitcast(type, func.getLoc())));
    arg.setType(getBytesType(type));
    OpBuilder b = OpBuilder::atBlockBegin(arg.getOwner());
    auto value = arith::BitcastOp::create(b, arg.getLoc(), type, arg);
    arg.replaceAllUsesExcept(value, value);
    func.setFunctionType(b.getFunctionType(func.getBody().getArgumentTypes(), func.getResultTypes()));
  }

  /// The loading function from stored floats of a type to bytes.
  func::FuncOp getBitcast(Type type, Location loc) {
    func::FuncOp &load = bitcasts[type];
    if (load)
      return load;
    OpBuilder b(module.getContext());
    load = func::FuncOp::create(loc, "bytes", b.getFunctionType({type}, {getBytesType(type)}));
    load.setPrivate();
    symbols.insert(load);
    b.setInsertionPointToStart(load.addEntryBlock());
    Value bytes = arith::BitcastOp::create(b, loc, getBytesType(type), load.getArgument(0));
    func::ReturnOp::create(b, loc, bytes);
    return load;
  }

  ModuleOp module;
  SymbolTable symbols;
  llvm::DenseMap<Type, func::FuncOp> bitcasts;
};
} // namespace

void spmd::passBytes(ModuleOp module) { ByteArguments(module).run(); }

bool spmd::hasByteWeights(func::FuncOp func) {
  return llvm::any_of(llvm::seq<unsigned>(0, func.getNumArguments()), [&](unsigned i) {
    return func.getArgAttr(i, kWeightAttr) && getBytesType(func.getArgumentTypes()[i]);
  });
}
