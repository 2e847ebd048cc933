//===- LoaderCopies.cpp - What the loader copies, as ops ------------------===//
//
// A shard function that computes each element by itself gets operands that the loader fills
// with copies of stored elements. These copies become ops of the function, whose arguments are
// then the stored tensors, as those of the loading function are.
//
//   operand 3x10 of w: 6x10, x = 2      operand[i, j] = w[3 x + i, j]
//
// Copies that are not one box have no such form. In a small program they are a table of the element that each device
// gets.
//
//===----------------------------------------------------------------------===//

#include "LoadingFunctions.h"

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Loading/LoadingFunctions.h"
#include "shardkit/Proof/IndexForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// Numbers in the tables of an operand.
static constexpr int64_t kMaxTable = 1 << 18;

namespace {
/// Where an element of an operand comes from: indices of the stored tensor, which hold where all of `inside` are in
/// [0, size).
struct CopiedFrom {
  SmallVector<IndexForm, 4> indices;
  SmallVector<std::pair<IndexForm, int64_t>, 1> inside;
};

/// Creates the ops that give an operand.
class OperandWriter {
public:
  OperandWriter(OpBuilder &b, Location loc, const ArgumentLayout &layout, ValueRange stored)
      : b(b), loc(loc), layout(layout), stored(stored) {}

  /// Null if the copies are not one box of all elements, and too many for tables.
  Value write(const ElementwiseLoad::Operand &operand, RankedTensorType type);

private:
  Value writeBox(const CopyPiece &piece, RankedTensorType type);
  /// Elements of `before`, with those that a piece copies, by a table.
  Value writeTable(const CopyPiece &piece, RankedTensorType type, Value before);
  bool isRead(const CopyPiece &piece) const { return piece.source == kNumbersSource || piece.source < stored.size(); }
  Value writeIndex(OpBuilder &body, const IndexForm &form);
  Value writeRank(OpBuilder &body, const RankDigit &digit);
  Value writeConstant(OpBuilder &body, int64_t number) { return arith::ConstantIndexOp::create(body, loc, number); }

  OpBuilder &b;
  Location loc;
  const ArgumentLayout &layout;
  ValueRange stored;
};
} // namespace

/// The loops of a piece as digits of the index in the operand, minor to major; false if they do not fill it.
static bool readLoops(const CopyPiece &piece, RankedTensorType type, SmallVectorImpl<IndexForm> &loops) {
  IndexForm flat;
  int64_t stride = 1;
  for (int64_t d = type.getRank(); d-- > 0;) {
    flat = *flat.plus(IndexForm::ofLoop(d, type.getDimSize(d)), stride);
    stride *= type.getDimSize(d);
  }
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, piece.loops.size()));
  llvm::sort(order,
             [&](unsigned a, unsigned c) { return std::pair(piece.loops[a][2], a) < std::pair(piece.loops[c][2], c); });
  loops.assign(piece.loops.size(), IndexForm());
  int64_t filled = 1;
  for (unsigned l : order) {
    auto [size, from, to] = piece.loops[l];
    if (size == 1)
      continue;
    std::optional<IndexForm> digit = to == filled ? flat.dividedBy(to) : std::nullopt;
    digit = digit ? digit->modulo(size) : std::nullopt;
    if (!digit)
      return false;
    loops[l] = *digit;
    filled *= size;
  }
  return piece.to == 0 && filled == type.getNumElements();
}

/// Adds `index` times a stride of a stored tensor to the indices of the dim that it is a multiple of the stride of.
static bool addToDim(int64_t stride, const IndexForm &index, ArrayRef<int64_t> shape, CopiedFrom &from) {
  int64_t ofDim = 1;
  for (int64_t d = shape.size(); d-- > 0;) {
    if (stride % ofDim == 0 && stride < ofDim * shape[d]) {
      std::optional<IndexForm> sum = from.indices[d].plus(index, stride / ofDim);
      if (sum)
        from.indices[d] = *sum;
      return sum.has_value();
    }
    ofDim *= shape[d];
  }
  return stride == 0 || index == IndexForm(0);
}

/// Where the elements of a piece come from; std::nullopt if that has no closed form.
static std::optional<CopiedFrom> readPiece(const CopyPiece &piece, RankedTensorType type, ArrayRef<int64_t> shape) {
  SmallVector<IndexForm> loops;
  if (!readLoops(piece, type, loops))
    return std::nullopt;
  CopiedFrom from;
  from.indices.resize(shape.size());
  int64_t rest = piece.from;
  for (int64_t d = shape.size(); d-- > 0; rest /= shape[d])
    from.indices[d] = IndexForm(rest % shape[d]);
  // Digits of ranks and loops by stride; the index of a chunk is in the dim of its stride.
  for (auto [stride, size, step] : piece.offset)
    if (!addToDim(step, IndexForm::ofRank({stride, size}), shape, from))
      return std::nullopt;
  for (auto [l, loop] : llvm::enumerate(piece.loops)) {
    IndexForm index = loops[l];
    const CopyPiece::Chunk *chunk =
        llvm::find_if(piece.chunks, [&, at = l](const CopyPiece::Chunk &chunk) { return chunk.loop == at; });
    if (chunk != piece.chunks.end()) {
      int64_t step = loop[0];
      index = index.plus(-chunk->begin);
      for (const RankDigit &rank : llvm::reverse(chunk->ranks)) {
        index = *index.plus(IndexForm::ofRank(rank), step);
        step *= rank.size;
      }
      if (!index.isInside(chunk->size))
        from.inside.push_back({index, chunk->size});
    }
    if (!addToDim(loop[1], index, shape, from))
      return std::nullopt;
  }
  // Without a carry from one dim to the next.
  for (auto [index, size] : llvm::zip_equal(from.indices, shape)) {
    bool isGuarded = llvm::any_of(from.inside, [&, &index = index, &size = size](const auto &guard) {
      return guard.first == index && guard.second <= size;
    });
    if (!isGuarded && !index.isInside(size))
      return std::nullopt;
  }
  return from;
}

Value OperandWriter::writeRank(OpBuilder &body, const RankDigit &digit) {
  DimEntries entries;
  if (!layout.mesh || !appendAxes(digit, *layout.mesh, entries))
    return {};
  const auto *sharded = llvm::find_if(layout.segments, [](const auto &segment) { return segment.sharding; });
  Value number;
  for (const DimEntry &entry : entries) { // major to minor
    const MeshAxis &axis = layout.mesh->axes[entry.axis];
    Value part = DeviceCoordinateOp::create(body, loc, sharded->sharding.getMesh(), b.getStringAttr(axis.name));
    int64_t below = axis.size / (entry.pre * entry.size);
    if (below != 1)
      part = arith::DivUIOp::create(body, loc, part, writeConstant(body, below));
    if (entry.pre != 1)
      part = arith::RemUIOp::create(body, loc, part, writeConstant(body, entry.size));
    if (number)
      part = arith::AddIOp::create(body, loc, arith::MulIOp::create(body, loc, number, writeConstant(body, entry.size)),
                                   part);
    number = part;
  }
  return number;
}

Value OperandWriter::writeIndex(OpBuilder &body, const IndexForm &form) {
  Value sum = writeConstant(body, form.getConstant());
  for (const IndexTerm &term : form.getTerms()) {
    Value digit;
    if (term.kind == IndexTerm::Kind::Rank) {
      digit = writeRank(body, {term.lo, term.size});
      if (!digit)
        return {};
    } else {
      digit = linalg::IndexOp::create(body, loc, term.var);
      if (term.lo != 1)
        digit = arith::DivUIOp::create(body, loc, digit, writeConstant(body, term.lo));
      digit = arith::RemUIOp::create(body, loc, digit, writeConstant(body, term.size));
    }
    sum =
        arith::AddIOp::create(body, loc, sum, arith::MulIOp::create(body, loc, digit, writeConstant(body, term.coef)));
  }
  return sum;
}

/// Where in the source each element of the result comes from on a device; -1 if the piece does not have it.
static void fillTable(const CopyPiece &piece, int64_t rank, MutableArrayRef<int64_t> table) {
  auto getDigit = [&](int64_t stride, int64_t size) { return rank / stride % size; };
  int64_t begin = piece.from;
  for (auto [stride, size, step] : piece.offset)
    begin += getDigit(stride, size) * step;
  int64_t count = 1;
  for (auto [size, from, to] : piece.loops)
    count *= size;
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n, at = begin, target = piece.to;
    bool isInside = true;
    for (auto [l, loop] : llvm::enumerate(piece.loops)) {
      auto [size, from, to] = loop;
      int64_t index = rest % size;
      rest /= size;
      target += index * to;
      for (const CopyPiece::Chunk &chunk : piece.chunks) {
        if (chunk.loop != l)
          continue;
        index -= chunk.begin;
        int64_t step = size;
        for (const RankDigit &digit : llvm::reverse(chunk.ranks)) {
          index += getDigit(digit.stride, digit.size) * step;
          step *= digit.size;
        }
        isInside &= index >= 0 && index < chunk.size;
      }
      at += index * from;
    }
    if (isInside)
      table[target] = at;
  }
}

Value OperandWriter::writeTable(const CopyPiece &piece, RankedTensorType type, Value before) {
  int64_t numRanks = layout.mesh ? layout.mesh->numDevices() : 1, count = type.getNumElements();
  std::vector<int64_t> numbers(numRanks * count, -1);
  for (int64_t rank = 0; rank < numRanks; ++rank)
    fillTable(piece, rank, MutableArrayRef(numbers).slice(rank * count, count));
  Value number = numRanks == 1 ? writeConstant(b, 0) : writeRank(b, {1, numRanks});
  if (!number)
    return {};
  SmallVector<int64_t> shape{numRanks};
  llvm::append_range(shape, type.getShape());
  Value table = arith::ConstantOp::create(
      b, loc, DenseIntElementsAttr::get(RankedTensorType::get(shape, b.getIndexType()), numbers));
  Value source;
  if (piece.source != kNumbersSource) {
    source = stored[piece.source];
    auto stored = cast<RankedTensorType>(source.getType());
    if (stored.getRank() != 1) {
      auto flat = RankedTensorType::get({stored.getNumElements()}, stored.getElementType());
      SmallVector<ReassociationIndices> all;
      if (stored.getRank())
        all.push_back(llvm::to_vector(llvm::seq<int64_t>(0, stored.getRank())));
      source = stored.getRank() ? Value(tensor::CollapseShapeOp::create(b, loc, flat, source, all))
                                : Value(tensor::ExpandShapeOp::create(b, loc, flat, source, all));
    }
  }
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{type}, ValueRange(), ValueRange{before}, {b.getMultiDimIdentityMap(type.getRank())}, iterators,
      [&](OpBuilder &body, Location, ValueRange arguments) {
        SmallVector<Value> indices{number};
        for (int64_t d = 0; d < type.getRank(); ++d)
          indices.push_back(linalg::IndexOp::create(body, loc, d));
        Value at = tensor::ExtractOp::create(body, loc, table, indices);
        Value isCopied = arith::CmpIOp::create(body, loc, arith::CmpIPredicate::sge, at, writeConstant(body, 0));
        auto branch = scf::IfOp::create(
            body, loc, isCopied,
            [&](OpBuilder &inside, Location) {
              Value element = source ? Value(tensor::ExtractOp::create(inside, loc, source, at))
                              : type.getElementType().isIndex()
                                  ? at
                                  : Value(arith::IndexCastOp::create(inside, loc, type.getElementType(), at));
              scf::YieldOp::create(inside, loc, element);
            },
            [&](OpBuilder &outside, Location) { scf::YieldOp::create(outside, loc, arguments.back()); });
        linalg::YieldOp::create(body, loc, branch.getResult(0));
      });
  return generic.getResult(0);
}

Value OperandWriter::write(const ElementwiseLoad::Operand &operand, RankedTensorType type) {
  if (operand.type != type.getElementType() ||
      !llvm::all_of(operand.pieces, [&](const CopyPiece &piece) { return isRead(piece); }))
    return {};
  if (operand.pieces.size() == 1)
    if (Value box = writeBox(operand.pieces.front(), type))
      return box;
  int64_t numRanks = layout.mesh ? layout.mesh->numDevices() : 1;
  if (type.getNumElements() * numRanks * int64_t(operand.pieces.size()) > kMaxTable)
    return {};
  // What the loader leaves alone is not known.
  Value value = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  for (const CopyPiece &piece : operand.pieces)
    value = value ? writeTable(piece, type, value) : Value();
  return value;
}

Value OperandWriter::writeBox(const CopyPiece &piece, RankedTensorType type) {
  bool isNumber = piece.source == kNumbersSource;
  // Numbers are those of one dim without end.
  SmallVector<int64_t> shape{kFirstUnknownSize - 1};
  if (!isNumber)
    shape.assign(cast<RankedTensorType>(stored[piece.source].getType()).getShape().begin(),
                 cast<RankedTensorType>(stored[piece.source].getType()).getShape().end());
  std::optional<CopiedFrom> from = readPiece(piece, type, shape);
  if (!from)
    return {};
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  bool isWritten = true;
  auto read = [&](OpBuilder &body) -> Value {
    SmallVector<Value> indices;
    for (const IndexForm &form : from->indices) {
      indices.push_back(writeIndex(body, form));
      if (!indices.back()) {
        isWritten = false;
        return arith::ConstantOp::create(body, loc, body.getZeroAttr(type.getElementType()));
      }
    }
    if (!isNumber)
      return tensor::ExtractOp::create(body, loc, stored[piece.source], indices);
    if (type.getElementType().isIndex())
      return indices.front();
    return arith::IndexCastOp::create(body, loc, type.getElementType(), indices.front());
  };
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{type}, ValueRange(), ValueRange{empty}, {b.getMultiDimIdentityMap(type.getRank())}, iterators,
      [&](OpBuilder &body, Location, ValueRange arguments) {
        Value condition;
        for (auto &[form, size] : from->inside) {
          Value at = writeIndex(body, form);
          isWritten &= at != nullptr;
          if (!at)
            continue;
          Value above = arith::CmpIOp::create(body, loc, arith::CmpIPredicate::sge, at, writeConstant(body, 0)),
                below = arith::CmpIOp::create(body, loc, arith::CmpIPredicate::slt, at, writeConstant(body, size));
          Value both = arith::AndIOp::create(body, loc, above, below);
          condition = condition ? Value(arith::AndIOp::create(body, loc, condition, both)) : both;
        }
        if (!condition) {
          linalg::YieldOp::create(body, loc, read(body));
          return;
        }
        // What the loader leaves alone is not known.
        auto branch = scf::IfOp::create(
            body, loc, condition, [&](OpBuilder &inside, Location) { scf::YieldOp::create(inside, loc, read(inside)); },
            [&](OpBuilder &outside, Location) { scf::YieldOp::create(outside, loc, arguments.back()); });
        linalg::YieldOp::create(body, loc, branch.getResult(0));
      });
  if (!isWritten) {
    generic.erase();
    return {};
  }
  return generic.getResult(0);
}

/// True if all operands of a shard function became ops.
static bool writeOperands(func::FuncOp shard, func::FuncOp load, const ArgumentLayout &layout) {
  std::optional<ElementwiseLoad> copies = ElementwiseLoad::get(load, layout);
  if (!copies || copies->getOperands().size() != shard.getNumArguments())
    return false;
  Block &body = shard.getBody().front();
  unsigned numOperands = shard.getNumArguments();
  for (Type type : load.getArgumentTypes())
    body.addArgument(type, shard.getLoc());
  Operation *first = &body.front();
  OpBuilder b(first);
  OperandWriter writer(b, shard.getLoc(), layout, body.getArguments().drop_front(numOperands));
  SmallVector<Value> operands;
  for (auto [operand, type] : llvm::zip_equal(copies->getOperands(), shard.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    operands.push_back(tensor ? writer.write(operand, tensor) : Value());
    if (!operands.back()) {
      while (first->getPrevNode())
        first->getPrevNode()->erase();
      body.eraseArguments(numOperands, load.getNumArguments());
      return false;
    }
  }
  for (unsigned i = 0; i < numOperands; ++i)
    body.getArgument(i).replaceAllUsesWith(operands[i]);
  body.eraseArguments(0, numOperands);
  shard.setFunctionType(FunctionType::get(shard.getContext(), load.getArgumentTypes(), shard.getResultTypes()));
  shard->removeAttr(kElementwiseAttr);
  return true;
}

void proof::writeLoaderCopies(ModuleOp local) {
  MeshCache meshes(local);
  // The loading function and the layout of each shard function, which are those of all arguments that it makes.
  llvm::DenseMap<Operation *, std::string> uses;
  for (auto func : local.getOps<func::FuncOp>())
    for (unsigned i = 0; i < func.getNumArguments(); ++i) {
      auto name = func.getArgAttrOfType<FlatSymbolRefAttr>(i, kShardFunctionAttr),
           loadName = func.getArgAttrOfType<FlatSymbolRefAttr>(i, kLoadAttr);
      auto shard = name ? local.lookupSymbol<func::FuncOp>(name.getAttr()) : func::FuncOp();
      auto load = loadName ? local.lookupSymbol<func::FuncOp>(loadName.getAttr()) : func::FuncOp();
      if (!shard || !load || shard.isExternal() || load.isExternal() || !load.getBody().hasOneBlock())
        continue;
      ScopedDiagnosticHandler silent(local.getContext(), [](Diagnostic &) { return success(); });
      FailureOr<ArgumentLayout> layout = getArgumentLayout(func, i, meshes);
      if (failed(layout))
        continue;
      std::string use = (loadName.getValue() + " " + layout->toString()).str();
      auto [it, isNew] = uses.try_emplace(shard, use);
      if (isNew && shard->hasAttr(kElementwiseAttr))
        (void)writeOperands(shard, load, *layout);
      else if (it->second != use)
        shard->setAttr(kElementwiseAttr, UnitAttr::get(shard.getContext())); // of which argument is not known
    }
}
