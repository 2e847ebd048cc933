//===- NcclCollective.cpp - A collective as operations of NCCL ------------===//

#include "NcclImpl.h"

#include <algorithm>

namespace shardkit::rt::cuda {

namespace {

using Kind = NcclOperation::Kind;
using Piece = CollectivePlan::Piece;

struct NcclType {
  int type;
  int64_t perElement; ///< Of NCCL's elements.
};

/// A type of NCCL with the same bits, for what only moves.
NcclType moved(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return {ncclFloat64, 1};
  case DType::F32:
    return {ncclFloat32, 1};
  case DType::F16:
    return {ncclFloat16, 1};
  case DType::BF16:
    return {ncclBfloat16, 1};
  case DType::I64:
    return {ncclInt64, 1};
  case DType::I32:
    return {ncclInt32, 1};
  case DType::I8:
    return {ncclInt8, 1};
  case DType::U64:
    return {ncclUint64, 1};
  case DType::U32:
    return {ncclUint32, 1};
  default:
    return {ncclUint8, dtypeSize(dtype)};
  }
}

/// NCCL's type and operation for a reduction that means the same there.
std::optional<std::pair<int, int>> reduced(DType dtype, Reduction reduction) {
  if (dtype == DType::I1 || dtype == DType::I16 || !isComputeType(dtype))
    return std::nullopt;
  const int type = moved(dtype).type;
  const int asUnsigned = dtype == DType::I64 ? ncclUint64 : dtype == DType::I32 ? ncclUint32 : ncclUint8;
  switch (reduction) {
  case Reduction::Sum:
    return std::pair(type, ncclSum);
  case Reduction::Prod:
    return std::pair(type, ncclProd);
  case Reduction::Max:
  case Reduction::Min: // Those of floats must propagate NaN and order zeros.
    if (isFloat(dtype))
      return std::nullopt;
    return std::pair(type, reduction == Reduction::Max ? ncclMax : ncclMin);
  case Reduction::UMax:
    return std::pair(asUnsigned, ncclMax);
  case Reduction::UMin:
    return std::pair(asUnsigned, ncclMin);
  default:
    return std::nullopt;
  }
}

/// The places that pieces read, in the order in which they are packed.
struct Reads {
  std::vector<int64_t> offsets;
  int64_t elements = 0;
  void add(const CollectivePlan &plan, const Piece &piece) {
    offsets.push_back(piece.source);
    for (const CollectivePlan::Loop &loop : plan.loops(piece))
      offsets.insert(offsets.end(), {loop.size, loop.source});
    offsets.push_back(-1);
    elements += plan.elementsOf(piece);
  }
};

/// One piece that is contiguous on the given side.
bool isRun(const CollectivePlan &plan, const std::vector<const Piece *> &pieces, int64_t CollectivePlan::Loop::*side) {
  return pieces.size() == 1 && plan.loops(*pieces[0]).size() == 1 &&
         (plan.loops(*pieces[0])[0].*side == 1 || plan.loops(*pieces[0])[0].size == 1);
}

std::vector<CopyEngine::Loop> loopsOf(const CollectivePlan &plan, const Piece &piece,
                                      int64_t CollectivePlan::Loop::*from, int64_t CollectivePlan::Loop::*to,
                                      CopyEngine::Loop items) {
  std::vector<CopyEngine::Loop> loops;
  if (items.size > 1)
    loops.push_back(items);
  for (const CollectivePlan::Loop &loop : plan.loops(piece))
    loops.push_back({loop.size, loop.*from, loop.*to});
  return loops;
}

constexpr auto source = &CollectivePlan::Loop::source, destination = &CollectivePlan::Loop::destination,
               packed = &CollectivePlan::Loop::packed;

/// Pieces of `to` that read member `from`.
std::vector<const Piece *> piecesFrom(const CollectivePlan &plan, int to, int from) {
  std::vector<const Piece *> result;
  for (const Piece &piece : plan.pieces(to))
    if (std::find(piece.sources.begin(), piece.sources.end(), from) != piece.sources.end())
      result.push_back(&piece);
  return result;
}

/// The place of a piece in what member `from` packs.
int64_t offsetIn(const Piece &piece, int from) {
  return piece.packed[size_t(std::find(piece.sources.begin(), piece.sources.end(), from) - piece.sources.begin())];
}

} // namespace

NcclOperation NcclRank::Impl::choose(CollectivePlan &plan) {
  const CollectiveInfo &info = plan.info();
  const std::vector<int> &members = plan.participants(rank);
  const int size = int(members.size());
  NcclOperation operation{Kind::Exchange, moved(info.dtype).type};
  if (plan.isEmpty()) {
    operation.kind = Kind::Nothing;
    return operation;
  }
  if (size == 1 && !goesAlone)
    return operation;
  std::vector<Reads> reads(static_cast<size_t>(size));
  auto allSame = [&] {
    return std::all_of(reads.begin(), reads.end(), [&](const Reads &one) { return one.offsets == reads[0].offsets; });
  };
  if (info.reduction != Reduction::None) {
    auto types = reduced(info.dtype, info.reduction);
    if (!types)
      return operation;
    for (int m = 0; m < size; ++m)
      for (const Piece &piece : plan.pieces(members[size_t(m)])) {
        if (int(piece.sources.size()) != size)
          return operation;
        reads[size_t(m)].add(plan, piece);
      }
    if (plan.isSame() || allSame()) {
      operation = {Kind::AllReduce, types->first, types->second, 0, !plan.isSame()};
      return operation;
    }
    bool isInPlace = true;
    for (int m = 0; m < size; ++m) {
      if (reads[size_t(m)].elements != reads[0].elements)
        return operation;
      auto pieces = piecesFrom(plan, members[size_t(m)], 0);
      isInPlace &= isRun(plan, pieces, source) && isRun(plan, pieces, destination) &&
                   pieces[0]->source == m * reads[0].elements && pieces[0]->destination == 0;
    }
    return {Kind::ReduceScatter, types->first, types->second, 0, !isInPlace};
  }
  // What each member sends to all: the same to each, or not.
  int senders = 0, root = -1;
  bool isInPlace = true;
  int64_t elements = -1;
  for (int from = 0; from < size; ++from) {
    for (int to = 0; to < size; ++to) {
      reads[size_t(to)] = Reads();
      auto pieces = piecesFrom(plan, members[size_t(to)], from);
      for (const Piece *piece : pieces)
        reads[size_t(to)].add(plan, *piece);
      isInPlace &=
          pieces.empty() || (isRun(plan, pieces, source) && isRun(plan, pieces, destination) &&
                             pieces[0]->source == 0 && pieces[0]->destination == from * reads[size_t(to)].elements);
    }
    if (!allSame())
      return operation;
    if (reads[0].elements == 0)
      continue;
    if (elements >= 0 && elements != reads[0].elements)
      return operation;
    elements = reads[0].elements;
    ++senders;
    root = from;
  }
  // Alone, all of them are; so that sends are tried too, the others are.
  if (senders == size && (size > 1 || info.kind == "all_gather"))
    return {Kind::AllGather, moved(info.dtype).type, 0, 0, !isInPlace};
  if (senders == 1 && size > 1)
    return {Kind::Broadcast, moved(info.dtype).type, 0, root, true};
  return operation;
}

Expected<char *> NcclRank::Impl::scratch(int64_t bytes) {
  CUdeviceptr memory = 0;
  SK_RETURN_IF_ERROR(
      driver.check(driver.cuMemAllocAsync(&memory, size_t(std::max<int64_t>(bytes, 1)), device.impl().communication),
                   device.name() + ": allocating " + std::to_string(bytes) + " bytes for a collective"));
  scratches.push_back(memory);
  return static_cast<char *>(pointer(memory));
}

Status NcclRank::Impl::freeScratch() {
  Status status;
  for (CUdeviceptr memory : scratches)
    if (Status freed = driver.check(driver.cuMemFreeAsync(memory, device.impl().communication),
                                    device.name() + ": freeing memory");
        status.ok())
      status = freed;
  scratches.clear();
  return status;
}

NcclOperation NcclRank::Impl::getOperation(CollectivePlan &plan) {
  if (&plan != &plan.base()) // Plans with offsets come and go.
    return choose(plan);
  auto known = operationOf.find(&plan);
  if (known == operationOf.end())
    known = operationOf.emplace(&plan, choose(plan)).first;
  return known->second;
}

Status NcclRank::Impl::perform(CollectivePlan &plan, int64_t count, const void *in, void *out, ncclComm_t comm) {
  const NcclOperation operation = getOperation(plan);
  if (operation.kind == Kind::Nothing || count == 0)
    return {};
  // NCCL has items of one member side by side.
  const bool isPacked = operation.isPacked || (operation.kind != Kind::AllReduce && count != 1);
  const CollectiveInfo &info = plan.info();
  const std::vector<int> &members = plan.participants(rank);
  const int size = int(members.size()), self = plan.group(rank).indexOf(rank);
  const int64_t bytes = dtypeSize(info.dtype);
  const int64_t each = moved(info.dtype).perElement;
  const CUstream stream = device.impl().communication;
  CopyEngine &engine = device.copyEngine();
  const char *input = static_cast<const char *>(in);
  char *output = static_cast<char *>(out);
  if (plan.isPadded() && out) // A transfer gives some ranks nothing.
    engine.zero(out, count * info.outElements * bytes);
  // Of all items, each of which has `elements` packed ones.
  auto pack = [&](const Piece &piece, char *to, int64_t elements) {
    engine.copy(bytes, {input + piece.source * bytes, nullptr}, to,
                loopsOf(plan, piece, source, packed, {count, info.inElements, elements}));
  };
  auto unpack = [&](const Piece &piece, const char *from, int64_t elements) {
    engine.copy(bytes, {from, nullptr}, output + piece.destination * bytes,
                loopsOf(plan, piece, packed, destination, {count, elements, info.outElements}));
  };
  auto finish = [&](ncclResult_t result, const char *what) -> Status {
    SK_RETURN_IF_ERROR(call(result, what, comm));
    return settle(comm, what);
  };
  const std::vector<Piece> &mine = plan.pieces(rank);
  int64_t elements = 0; // Of what this one gets, of one item.
  for (const Piece &piece : mine)
    elements += plan.elementsOf(piece);
  auto body = [&]() -> Status {
    switch (operation.kind) {
    case Kind::AllReduce: {
      if (!isPacked)
        return finish(
            api.ncclAllReduce(in, out, size_t(count * elements), operation.dtype, operation.operation, comm, stream),
            "ncclAllReduce");
      SK_ASSIGN_OR_RETURN(char *buffer, scratch(count * elements * bytes));
      for (const Piece &piece : mine)
        pack(piece, buffer + piece.packed[0] * bytes, elements);
      SK_RETURN_IF_ERROR(finish(api.ncclAllReduce(buffer, buffer, size_t(count * elements), operation.dtype,
                                                  operation.operation, comm, stream),
                                "ncclAllReduce"));
      for (const Piece &piece : mine)
        unpack(piece, buffer + piece.packed[0] * bytes, elements);
      return {};
    }
    case Kind::ReduceScatter: {
      if (!isPacked)
        return finish(
            api.ncclReduceScatter(in, out, size_t(elements), operation.dtype, operation.operation, comm, stream),
            "ncclReduceScatter");
      SK_ASSIGN_OR_RETURN(char *sent, scratch(size * count * elements * bytes));
      SK_ASSIGN_OR_RETURN(char *received, scratch(count * elements * bytes));
      for (int m = 0; m < size; ++m)
        for (const Piece &piece : plan.pieces(members[size_t(m)]))
          pack(piece, sent + (m * count * elements + piece.packed[0]) * bytes, elements);
      SK_RETURN_IF_ERROR(finish(api.ncclReduceScatter(sent, received, size_t(count * elements), operation.dtype,
                                                      operation.operation, comm, stream),
                                "ncclReduceScatter"));
      for (const Piece &piece : mine)
        unpack(piece, received + piece.packed[0] * bytes, elements);
      return {};
    }
    case Kind::AllGather: {
      const int64_t perRank = elements / size;
      if (!isPacked)
        return finish(api.ncclAllGather(in, out, size_t(perRank * each), operation.dtype, comm, stream),
                      "ncclAllGather");
      SK_ASSIGN_OR_RETURN(char *sent, scratch(count * perRank * bytes));
      SK_ASSIGN_OR_RETURN(char *received, scratch(count * elements * bytes));
      for (const Piece *piece : piecesFrom(plan, rank, self))
        pack(*piece, sent + piece->packed[0] * bytes, perRank);
      SK_RETURN_IF_ERROR(
          finish(api.ncclAllGather(sent, received, size_t(count * perRank * each), operation.dtype, comm, stream),
                 "ncclAllGather"));
      for (const Piece &piece : mine)
        unpack(piece, received + (piece.sources[0] * count * perRank + piece.packed[0]) * bytes, perRank);
      return {};
    }
    case Kind::Broadcast: {
      SK_ASSIGN_OR_RETURN(char *buffer, scratch(count * elements * bytes));
      if (self == operation.root)
        for (const Piece &piece : mine)
          pack(piece, buffer + piece.packed[0] * bytes, elements);
      SK_RETURN_IF_ERROR(finish(api.ncclBroadcast(buffer, buffer, size_t(count * elements * each), operation.dtype,
                                                  operation.root, comm, stream),
                                "ncclBroadcast"));
      for (const Piece &piece : mine)
        unpack(piece, buffer + piece.packed[0] * bytes, elements);
      return {};
    }
    default:
      return exchange(plan, count, in, out, comm, operation.dtype);
    }
  };
  Status status = body();
  Status moving = engine.takeStatus(), freed = freeScratch();
  return !status.ok() ? status : !moving.ok() ? moving : freed;
}

Status NcclRank::Impl::exchange(CollectivePlan &plan, int64_t count, const void *in, void *out, ncclComm_t comm,
                                int dtype) {
  const CollectiveInfo &info = plan.info();
  const std::vector<int> &members = plan.participants(rank);
  const int size = int(members.size()), self = plan.group(rank).indexOf(rank);
  const int64_t bytes = dtypeSize(info.dtype), each = moved(info.dtype).perElement;
  const bool reduces = info.reduction != Reduction::None;
  // The member whose pieces are copied, not sent: this one.
  const int kept = size == 1 && goesAlone && !reduces ? -1 : self;
  const CUstream stream = device.impl().communication;
  CopyEngine &engine = device.copyEngine();
  const char *input = static_cast<const char *>(in);
  char *output = static_cast<char *>(out);
  struct Message {
    int peer;
    char *data;
    int64_t elements; ///< Of all items.
    bool isInPlace;
  };
  std::vector<Message> sends, receives;
  std::vector<const char *> from(static_cast<size_t>(size)); ///< Packed, of each member.
  auto packAll = [&](int to, char *buffer, int64_t elements) {
    for (const Piece *piece : piecesFrom(plan, members[size_t(to)], self))
      engine.copy(bytes, {input + piece->source * bytes, nullptr}, buffer + offsetIn(*piece, self) * bytes,
                  loopsOf(plan, *piece, source, packed, {count, info.inElements, elements}));
  };
  for (int step = 0; step < size; ++step) {
    const int to = (self + step) % size;
    const int64_t elements = plan.elementsFrom(self, members[size_t(to)]);
    if (elements == 0 || (to == kept && !reduces))
      continue;
    auto pieces = piecesFrom(plan, members[size_t(to)], self);
    const bool isInPlace = to != kept && count == 1 && isRun(plan, pieces, source);
    char *buffer = const_cast<char *>(input) + pieces[0]->source * bytes;
    if (!isInPlace) {
      SK_ASSIGN_OR_RETURN(buffer, scratch(count * elements * bytes));
      packAll(to, buffer, elements);
    }
    if (to == kept)
      from[size_t(self)] = buffer;
    else
      sends.push_back({to, buffer, count * elements, isInPlace});
  }
  for (int step = kept == self ? 1 : 0; step < size; ++step) {
    const int peer = (self + size - step) % size;
    const int64_t elements = plan.elementsFrom(peer, rank);
    if (elements == 0)
      continue;
    auto pieces = piecesFrom(plan, rank, peer);
    const bool isInPlace = !reduces && count == 1 && isRun(plan, pieces, destination);
    char *buffer = output + pieces[0]->destination * bytes;
    if (!isInPlace) {
      SK_ASSIGN_OR_RETURN(buffer, scratch(count * elements * bytes));
    }
    from[size_t(peer)] = buffer;
    receives.push_back({peer, buffer, count * elements, isInPlace});
  }
  if (!sends.empty() || !receives.empty()) {
    const char *what = "a group of sends and receives";
    SK_RETURN_IF_ERROR(call(api.ncclGroupStart(), what, comm));
    Status status;
    for (const Message &message : sends)
      if (status.ok())
        status = call(api.ncclSend(message.data, size_t(message.elements * each), dtype, message.peer, comm, stream),
                      "ncclSend", comm);
    for (const Message &message : receives)
      if (status.ok())
        status = call(api.ncclRecv(message.data, size_t(message.elements * each), dtype, message.peer, comm, stream),
                      "ncclRecv", comm);
    Status ended = call(api.ncclGroupEnd(), what, comm);
    SK_RETURN_IF_ERROR(status);
    SK_RETURN_IF_ERROR(ended);
    SK_RETURN_IF_ERROR(settle(comm, what));
  }
  for (const Piece &piece : plan.pieces(rank)) {
    char *to = output + piece.destination * bytes;
    if (reduces) {
      // Sources may have packed other numbers of elements per item.
      for (int64_t item = 0; item < count; ++item) {
        std::vector<CopyEngine::Source> sources;
        for (size_t i = 0; i < piece.sources.size(); ++i)
          sources.push_back({from[size_t(piece.sources[i])] +
                                 (item * plan.elementsFrom(piece.sources[i], rank) + piece.packed[i]) * bytes,
                             nullptr});
        engine.reduce(info.reduction, info.dtype, sources, to + item * info.outElements * bytes,
                      loopsOf(plan, piece, packed, destination, {1, 0, 0}));
      }
      continue;
    }
    const int peer = piece.sources[0];
    if (peer == kept) {
      engine.copy(bytes, {input + piece.source * bytes, nullptr}, to,
                  loopsOf(plan, piece, source, destination, {count, info.inElements, info.outElements}));
      continue;
    }
    auto received =
        std::find_if(receives.begin(), receives.end(), [&](const Message &message) { return message.peer == peer; });
    if (!received->isInPlace)
      engine.copy(bytes, {received->data + piece.packed[0] * bytes, nullptr}, to,
                  loopsOf(plan, piece, packed, destination, {count, plan.elementsFrom(peer, rank), info.outElements}));
  }
  return {};
}

} // namespace shardkit::rt::cuda
