//===- SessionArrays.cpp - Arrays from memory, and back -------------------===//

#include "SessionImpl.h"

#include <algorithm>
#include <cstring>

namespace shardkit::rt {

Expected<Array> Session::put(int function, size_t i, const void *data, std::shared_ptr<void> owner) {
  SK_RETURN_IF_ERROR(checkArgument(function, int64_t(i)));
  const ArgumentSlot &slot = impl_->slots[impl_->functions[size_t(function)].slots[i]];
  try {
    Array array = impl_->make(slot.layout, slot.name);
    Array::State &state = *array.state_;
    for (size_t c = 0; c < slot.layout->copies.size(); ++c) {
      const ArrayLayout::Copy &copy = slot.layout->copies[c];
      const int64_t size = dtypeSize(copy.value.dtype);
      const bool isAligned = reinterpret_cast<uintptr_t>(data) % size_t(std::min<int64_t>(size, 8)) == 0;
      for (size_t r = 0; r < copy.ranks.size(); ++r) {
        if (!impl_->isLocal(copy.ranks[r], *slot.layout))
          continue;
        std::shared_ptr<void> &shard = state.shards[c][r];
        if (copy.first[r] != r) {
          shard = state.shards[c][copy.first[r]];
        } else if (!copy.offset.empty() && owner && isAligned) {
          shard = {owner, const_cast<char *>(static_cast<const char *>(data)) + copy.offset[r]};
          state.isBorrowed = true;
        } else {
          shard = impl_->memory->allocate(copy.value.localBytes());
          gatherLocal(copy.value.extents, int64_t(r), size, data, shard.get());
        }
      }
    }
    return array;
  } catch (const std::bad_alloc &) {
    return internalError("argument '" + slot.name + "': out of memory");
  }
}

template <typename Fn> Status SessionImpl::gather(const Array::State &array, Fn &&fn) {
  const ArrayLayout::Copy &copy = array.layout->copies[0];
  const Extents &extents = copy.value.extents;
  std::string mine;
  Buffer room;
  Status status;
  for (size_t r = 0; r < copy.ranks.size() && status.ok(); ++r) {
    if (!array.shards[0][r] || isReplica(extents, int64_t(r)))
      continue;
    auto data = bringToHost(array, 0, r, room);
    if (!(status = data.status()).ok())
      break;
    fn(copy, r, *data);
    if (backend->processes() > 1)
      mine.append(static_cast<const char *>(*data), size_t(copy.value.localBytes()));
  }
  if (backend->processes() == 1)
    return status;
  if (hasDevices())
    SK_RETURN_IF_ERROR(backend->agree(status));
  SK_ASSIGN_OR_RETURN(std::vector<std::string> all, backend->exchange(mine));
  std::vector<size_t> next(all.size());
  for (size_t r = 0; r < copy.ranks.size(); ++r) {
    const int owner = backend->ownerOf(copy.ranks[r], array.layout->devices);
    if (owner == backend->process() || isReplica(extents, int64_t(r)))
      continue;
    fn(copy, r, all[size_t(owner)].data() + next[size_t(owner)]);
    next[size_t(owner)] += size_t(copy.value.localBytes());
  }
  return {};
}

Status Session::read(const Array &array, void *to) {
  SK_RETURN_IF_ERROR(impl_->check(array, "read"));
  return impl_->inTurn([&] {
    SK_RETURN_IF_ERROR(SessionImpl::checkComputed(*array.state_));
    return impl_->gather(*array.state_, [&](const ArrayLayout::Copy &copy, size_t r, const void *data) {
      scatterLocal(copy.value.extents, int64_t(r), dtypeSize(copy.value.dtype), data, to);
    });
  });
}

Status SessionImpl::visitOnFirst(const Array::State &array, size_t c, const std::function<bool(size_t)> &isWanted,
                                 const std::function<void(size_t, const void *)> &fn) const {
  const ArrayLayout::Copy &copy = array.layout->copies[c];
  const int64_t bytes = copy.value.localBytes();
  const bool isFirst = backend->process() == 0;
  Buffer room;
  Status status;
  for (size_t r = 0; r < copy.ranks.size(); ++r) {
    const int owner = backend->ownerOf(copy.ranks[r], array.layout->devices);
    const bool isOwner = owner == backend->process();
    if (!isWanted(r) || (!isFirst && !isOwner))
      continue;
    if (!isOwner || array.isOnDevices)
      room.reserve(bytes);
    const void *data = room.data();
    if (isOwner) {
      auto local = bringToHost(array, c, r, room);
      if (local.ok())
        data = *local;
      else if (status.ok())
        status = local.status();
    }
    if (owner != 0) // Also after an error: the other side waits.
      SK_RETURN_IF_ERROR(backend->transfer(owner, 0, const_cast<void *>(data), bytes));
    if (isFirst && status.ok())
      fn(r, data);
  }
  return status;
}

Status SessionImpl::readOnFirst(const Array::State &array, size_t c, void *to) const {
  const ValueInfo &value = array.layout->copies[c].value;
  return visitOnFirst(
      array, c, [&](size_t r) { return !isReplica(value.extents, int64_t(r)); },
      [&](size_t r, const void *data) { scatterLocal(value.extents, int64_t(r), dtypeSize(value.dtype), data, to); });
}

Status Session::readOnFirst(const Array &array, void *to) {
  SK_RETURN_IF_ERROR(impl_->check(array, "read"));
  return impl_->inTurn([&] {
    SK_RETURN_IF_ERROR(SessionImpl::checkComputed(*array.state_));
    return impl_->backend->agree(impl_->readOnFirst(*array.state_, 0, to));
  });
}

Status Session::readSlice(const Array &array, const Shape &starts, const Shape &sizes, void *to) {
  SK_RETURN_IF_ERROR(impl_->check(array, "read"));
  const Shape &shape = array.shape();
  if (starts.size() != shape.size() || sizes.size() != shape.size())
    return invalid("read: the slice of array '" + array.name() + "' has " + std::to_string(starts.size()) +
                   " starts and " + std::to_string(sizes.size()) + " sizes, expected " + std::to_string(shape.size()) +
                   " of each");
  for (size_t d = 0; d < shape.size(); ++d)
    if (starts[d] < 0 || sizes[d] < 0 || sizes[d] > shape[d] - starts[d])
      return invalid("read: dim " + std::to_string(d) + " of array '" + array.name() + "' has " +
                     std::to_string(shape[d]) + " elements, expected a slice inside of it, not " +
                     std::to_string(sizes[d]) + " from " + std::to_string(starts[d]) + " on");
  const int64_t size = dtypeSize(array.dtype());
  Shape strides(shape.size(), 1), toStrides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * std::max<int64_t>(shape[d], 1);
    toStrides[d - 1] = toStrides[d] * std::max<int64_t>(sizes[d], 1);
  }
  // A run of elements, of which those in the slice are copied one by one, or at once where
  // they follow each other in the last dim.
  auto copyRun = [&](int64_t global, int64_t count, int64_t stride, const char *from, int64_t fromStride) {
    while (count > 0) {
      int64_t rest = global, target = 0, inRow = 1;
      bool isInside = true;
      for (size_t d = 0; d < shape.size(); ++d) {
        const int64_t index = rest / strides[d] - starts[d];
        rest %= strides[d];
        isInside &= index >= 0 && index < sizes[d];
        target += index * toStrides[d];
        if (d + 1 == shape.size() && stride == 1) // Up to the next border of the slice, or of the row.
          inRow = index < 0 ? -index : index < sizes[d] ? sizes[d] - index : shape[d] - starts[d] - index;
      }
      inRow = std::min(inRow, count);
      if (isInside && fromStride == 1)
        std::memcpy(static_cast<char *>(to) + target * size, from, size_t(inRow * size));
      else if (isInside)
        for (int64_t k = 0; k < inRow; ++k)
          std::memcpy(static_cast<char *>(to) + (target + k) * size, from + k * fromStride * size, size_t(size));
      global += inRow * stride;
      from += inRow * fromStride * size;
      count -= inRow;
    }
  };
  return impl_->inTurn([&] {
    SK_RETURN_IF_ERROR(SessionImpl::checkComputed(*array.state_));
    return impl_->gather(*array.state_, [&](const ArrayLayout::Copy &copy, size_t r, const void *data) {
      const Extents &extents = copy.value.extents;
      forEachPiece(coalesceLoops(extents, int64_t(r)), extents.base(int64_t(r)),
                   [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                     copyRun(g, n, gs, static_cast<const char *>(data) + l * size, ls);
                   });
    });
  });
}

ShardView SessionImpl::findFull(const Array::State &array) {
  ShardView view;
  const ArrayLayout::Copy &copy = array.layout->copies[0];
  if (array.isOnDevices)
    return view;
  const auto &shards = array.shards[0];
  // The shards of this process, from offset 0 on, if they lie in one piece of memory.
  int64_t bytes = 0;
  for (size_t r = 0; r < copy.offset.size(); ++r) {
    if (!shards[r] || copy.first[r] != r)
      continue;
    if (copy.offset[r] == 0)
      view = {shards[r].get(), copy.value.globalShape, copy.value.dtype, copy.ranks[r], -1, shards[r]};
    if (view.data && isSameMemory(view.owner, shards[r]) &&
        static_cast<char *>(view.data) + copy.offset[r] == shards[r].get())
      bytes += copy.value.localBytes();
  }
  return bytes < copy.value.globalBytes() ? ShardView() : view;
}

Expected<ShardView> Session::readInPlace(const Array &array) {
  SK_RETURN_IF_ERROR(impl_->check(array, "read"));
  ShardView view;
  SK_RETURN_IF_ERROR(impl_->inTurn([&] {
    SK_RETURN_IF_ERROR(SessionImpl::checkComputed(*array.state_));
    view = SessionImpl::findFull(*array.state_);
    return Status();
  }));
  return view;
}

Expected<ShardView> Session::shard(const Array &array, int64_t rank) {
  SK_RETURN_IF_ERROR(impl_->check(array, "shard"));
  ShardView view;
  SK_RETURN_IF_ERROR(impl_->inTurn([&]() -> Status {
    SK_RETURN_IF_ERROR(SessionImpl::checkComputed(*array.state_));
    SK_RETURN_IF_ERROR(impl_->moveToDevices(*array.state_));
    for (size_t c = 0; c < array.layout().copies.size(); ++c) {
      const ArrayLayout::Copy &copy = array.layout().copies[c];
      for (size_t r = 0; r < copy.ranks.size(); ++r)
        if (const std::shared_ptr<void> &shard = array.state_->shards[c][r]; copy.ranks[r] == rank && shard)
          view = {shard.get(), copy.value.localShape, copy.value.dtype, rank, -1, shard};
    }
    auto [begin, end] = impl_->localRanks(array.layout());
    if (!view.data)
      return notFound("shard: rank " + std::to_string(rank) + " has no shard of array '" + array.name() +
                      "' in this process, which has ranks " + std::to_string(begin) + " to " + std::to_string(end - 1));
    if (!impl_->hasDevices())
      return {};
    cuda::Device &device = impl_->deviceOf(array.layout(), rank);
    view.gpu = device.ordinal();
    return device.wait(); // Other streams may read it.
  }));
  return view;
}

Expected<Array> Session::reshard(const Array &array, int function, size_t i) {
  SK_RETURN_IF_ERROR(checkArgument(function, int64_t(i)));
  SK_RETURN_IF_ERROR(impl_->check(array, "reshard"));
  const ValueInfo &wanted = argument(function, i).value();
  if (wanted.dtype != array.dtype() || wanted.globalShape != array.shape())
    return invalid("reshard: array '" + array.name() + "' is " + array.layout().text() + ", argument '" + wanted.name +
                   "' is " + argument(function, i).text() + ", expected the same type and shape");
  Buffer full(array.bytes());
  SK_RETURN_IF_ERROR(read(array, full.data()));
  return put(function, i, full.data());
}

Status SessionImpl::reshard(const Array::State &from, Array::State &to, bool isTemporary) {
  const ArrayLayout::Copy &source = from.layout->copies[0];
  const int64_t size = dtypeSize(source.value.dtype);
  ShardView view = findFull(from);
  Buffer full;
  if (!view.data) {
    full = Buffer(source.value.globalBytes());
    auto scatter = [&](const ArrayLayout::Copy &copy, size_t r, const void *data) {
      scatterLocal(copy.value.extents, int64_t(r), size, data, full.data());
    };
    if (backend->processes() > 1)
      SK_RETURN_IF_ERROR(gather(from, scatter));
    else
      SK_RETURN_IF_ERROR(executor.forEachRank(from.layout->devices, [&](int64_t rank) -> Status {
        Buffer room;
        for (size_t r = 0; r < source.ranks.size(); ++r)
          if (source.ranks[r] == rank && !isReplica(source.value.extents, int64_t(r))) {
            SK_ASSIGN_OR_RETURN(const void *data, bringToHost(from, 0, r, room));
            scatter(source, r, data);
          }
        return {};
      }));
  }
  const void *elements = view.data ? view.data : full.data();
  allocateOnHost(to, isTemporary);
  SK_RETURN_IF_ERROR(executor.forEachRank(to.layout->devices, [&](int64_t rank) {
    forEachShard(to, [&](const ArrayLayout::Copy &copy, size_t r, void *data) {
      if (copy.ranks[r] == rank)
        gatherLocal(copy.value.extents, int64_t(r), size, elements, data);
    });
    return Status();
  }));
  return moveToDevices(to);
}

Status Session::wait(const Array &array) {
  SK_RETURN_IF_ERROR(impl_->check(array, "wait"));
  return impl_->inTurn([&] { return SessionImpl::checkComputed(*array.state_); });
}

bool Session::isReady(const Array &array) const {
  const std::shared_ptr<Call> &call = array.state_->producer;
  return !call || call->isDone.load(std::memory_order_acquire);
}

} // namespace shardkit::rt
