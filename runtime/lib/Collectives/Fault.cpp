//===- Fault.cpp - One fault, injected for tests --------------------------===//

#include "shardkit/rt/Collectives/Fault.h"

#include "shardkit/rt/Manifest/Manifest.h"

#include <charconv>
#include <cstdlib>

namespace shardkit::rt {

static bool parseNumber(std::string_view text, int64_t &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0;
}

Status Fault::parse(const std::string &text, Fault &fault) {
  fault = Fault();
  if (text.empty())
    return {};
  auto wrong = [&] {
    return invalid("SK_FAULT=" + text +
                   ", expected RANK:[after=][transfer=]ID:KIND, KIND one of kill, stall, error, "
                   "disagree");
  };
  size_t first = text.find(':'), last = text.rfind(':');
  if (first == std::string::npos || first == last)
    return wrong();
  std::string_view rank(text.data(), first), id(text.data() + first + 1, last - first - 1),
      kind(text.data() + last + 1);
  constexpr std::string_view after = "after=";
  fault.after_ = id.substr(0, after.size()) == after;
  if (fault.after_)
    id.remove_prefix(after.size());
  constexpr std::string_view transfer = "transfer=";
  const bool isTransfer = id.substr(0, transfer.size()) == transfer;
  if (isTransfer)
    id.remove_prefix(transfer.size());
  constexpr std::pair<std::string_view, Kind> kinds[] = {
      {"kill", Kind::Kill}, {"stall", Kind::Stall}, {"error", Kind::Error}, {"disagree", Kind::Disagree}};
  for (auto [name, value] : kinds)
    if (kind == name)
      fault.kind_ = value;
  if (fault.kind_ == Kind::None || !parseNumber(rank, fault.rank_) || !parseNumber(id, fault.id_) ||
      fault.id_ >= ChannelInfo::firstId)
    return wrong();
  if (isTransfer)
    fault.id_ += ChannelInfo::firstId;
  return {};
}

Status Fault::fromEnvironment(Fault &fault) {
  const char *text = std::getenv("SK_FAULT");
  return parse(text ? text : "", fault);
}

Fault::Kind Fault::at(int64_t rank, int64_t id, bool after) {
  if (kind_ == Kind::None || rank != rank_ || id != id_ || after != after_ || progress_->happened.exchange(true))
    return Kind::None;
  if (kind_ == Kind::Disagree)
    progress_->disagrees = true;
  return kind_;
}

} // namespace shardkit::rt
