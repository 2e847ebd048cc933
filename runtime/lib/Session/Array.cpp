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
  registry->alive.insert(this);
}

Array::State::~State() {
  std::lock_guard lock(registry->mutex);
  registry->alive.erase(this);
}

const std::string &Array::name() const { return state_->name; }
const ArrayLayout &Array::layout() const { return *state_->layout; }

ShardMemory::Block::~Block() {
  if (!memory)
    return;
  std::lock_guard lock(memory->mutex_);
  memory->pool_.giveBack(std::move(buffer));
}

std::shared_ptr<void> ShardMemory::allocate(int64_t bytes) {
  auto block = std::make_shared<Block>();
  {
    std::lock_guard lock(mutex_);
    block->buffer = std::move(*pool_.take(bytes)); // On the host: throws, and is never an error.
  }
  block->memory = shared_from_this();
  void *data = block->buffer.data();
  return {std::move(block), data};
}

Array SessionImpl::make(std::shared_ptr<const ArrayLayout> layout, const std::string &name) {
  return Array(std::make_shared<Array::State>(registry, std::move(layout), name));
}

void SessionImpl::allocate(Array::State &array, bool isTemporary) {
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
  queue.run(ticket, [&] { status = catchExceptions(work); });
  return status;
}

} // namespace shardkit::rt
