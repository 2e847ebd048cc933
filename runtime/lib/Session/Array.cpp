//===- Array.cpp - Values that stay on the ranks of a session -------------===//

#include "SessionImpl.h"

namespace shardkit::rt {

bool ArrayLayout::Copy::operator==(const Copy &other) const {
  return value.dtype == other.value.dtype && value.globalShape == other.value.globalShape &&
         value.localShape == other.value.localShape && value.extents == other.value.extents && ranks == other.ranks;
}

bool ArrayLayout::operator==(const ArrayLayout &other) const {
  return devices == other.devices && copies == other.copies;
}

int64_t ArrayLayout::bytes() const {
  int64_t bytes = 0;
  for (const Copy &copy : copies)
    bytes += copy.value.localBytes() * int64_t(copy.ranks.size());
  return bytes;
}

std::string ArrayLayout::text() const {
  std::string text = std::string(dtypeName(value().dtype)) + " " + shapeString(value().globalShape) + " on " +
                     std::to_string(devices) + (devices == 1 ? " device" : " devices");
  if (!value().sharding.empty())
    text += ", sharding " + value().sharding;
  for (size_t c = 1; c < copies.size(); ++c)
    text += " and " + copies[c].value.sharding;
  return text;
}

Array::State::State(std::shared_ptr<ArrayRegistry> known, std::shared_ptr<const ArrayLayout> itsLayout,
                    std::string itsName)
    : registry(std::move(known)), layout(std::move(itsLayout)), name(std::move(itsName)) {
  for (const ArrayLayout::Copy &copy : layout->copies)
    shards.emplace_back(copy.ranks.size());
  std::lock_guard lock(registry->mutex);
  next = registry->first;
  if (next)
    next->previous = this;
  registry->first = this;
}

Array::State::~State() {
  std::lock_guard lock(registry->mutex);
  (previous ? previous->next : registry->first) = next;
  if (next)
    next->previous = previous;
}

const std::string &Array::name() const { return state_->name; }
const ArrayLayout &Array::layout() const { return *state_->layout; }

Array SessionImpl::make(std::shared_ptr<const ArrayLayout> layout, const std::string &name) {
  return Array(std::make_shared<Array::State>(registry, std::move(layout), name));
}

void SessionImpl::allocateOnHost(Array::State &array, bool isTemporary) {
  auto make = [&](int64_t bytes) -> std::shared_ptr<void> {
    if (!isTemporary)
      return memory->allocate(bytes);
    auto buffer = std::make_shared<Buffer>(bytes);
    return {buffer, buffer->data()};
  };
  for (size_t c = 0; c < array.layout->copies.size(); ++c) {
    const ArrayLayout::Copy &copy = array.layout->copies[c];
    for (size_t r = 0; r < copy.ranks.size(); ++r)
      if (isLocal(copy.ranks[r], *array.layout))
        array.shards[c][r] = copy.first[r] == r ? make(copy.value.localBytes()) : array.shards[c][copy.first[r]];
  }
}

Expected<std::shared_ptr<void>> SessionImpl::makeShard(int64_t ranks, int64_t rank, int64_t bytes) {
  if (!hasDevices())
    return memory->allocate(bytes);
  return memory->allocateOn(devices.at(ranks), rank, bytes);
}

Status SessionImpl::allocate(Array::State &array) {
  if (!hasDevices()) {
    allocateOnHost(array);
    return {};
  }
  array.isOnDevices = true;
  for (size_t c = 0; c < array.layout->copies.size(); ++c) {
    const ArrayLayout::Copy &copy = array.layout->copies[c];
    for (size_t r = 0; r < copy.ranks.size(); ++r) {
      if (!isLocal(copy.ranks[r], *array.layout))
        continue;
      SK_ASSIGN_OR_RETURN(array.shards[c][r], makeShard(array.layout->devices, copy.ranks[r], copy.value.localBytes()));
    }
  }
  return {};
}

Status SessionImpl::moveToDevices(Array::State &array) {
  if (!hasDevices() || array.isOnDevices)
    return {};
  std::vector<std::vector<std::shared_ptr<void>>> moved;
  for (size_t c = 0; c < array.layout->copies.size(); ++c) {
    const ArrayLayout::Copy &copy = array.layout->copies[c];
    moved.emplace_back(copy.ranks.size());
    for (size_t r = 0; r < copy.ranks.size(); ++r) {
      const void *data = array.shards[c][r].get();
      if (!data)
        continue;
      cuda::Device &device = deviceOf(*array.layout, copy.ranks[r]);
      SK_ASSIGN_OR_RETURN(moved[c][r], makeShard(array.layout->devices, copy.ranks[r], copy.value.localBytes()));
      SK_RETURN_IF_ERROR(device.upload(moved[c][r].get(), data, copy.value.localBytes()));
    }
  }
  auto [begin, end] = localRanks(*array.layout);
  for (int64_t rank = begin; rank < end && array.isBorrowed; ++rank) // Else pinned memory may still be read.
    SK_RETURN_IF_ERROR(deviceOf(*array.layout, rank).wait());
  array.shards = std::move(moved);
  array.isOnDevices = true;
  array.isBorrowed = false;
  return {};
}

Expected<const void *> SessionImpl::bringToHost(const Array::State &array, size_t c, size_t r, Buffer &room) const {
  const void *data = array.shards[c][r].get();
  if (!array.isOnDevices)
    return data;
  const ArrayLayout::Copy &copy = array.layout->copies[c];
  room.reserve(copy.value.localBytes());
  SK_RETURN_IF_ERROR(deviceOf(*array.layout, copy.ranks[r]).download(room.data(), data, copy.value.localBytes()));
  return static_cast<const void *>(room.data());
}

Status SessionImpl::checkComputed(const Array::State &array) {
  if (array.producer && !array.producer->status.ok())
    return array.producer->status.withContext("array '" + array.name + "' is the result of a call that failed");
  return {};
}

Status SessionImpl::inTurn(const std::function<Status()> &work) {
  Status status;
  uint64_t ticket;
  {
    std::lock_guard lock(mutex);
    ticket = queue.takeTicket();
  }
  queue.run(ticket, [&] {
    cuda::ContextGuard guard(hasDevices());
    status = catchExceptions(work);
  });
  return status;
}

} // namespace shardkit::rt
