//===- DeviceBuffers.h - Buffers of a rank on a device ---------*- C++ -*--===//

#ifndef SHARDKIT_RT_DEVICEBUFFERS_H
#define SHARDKIT_RT_DEVICEBUFFERS_H

#include "Context.h"

namespace shardkit::rt {

/// The buffers of a collective of a rank on a device: where they are, or on the host
/// (`staged`) where messages carry them (World::isPacked). Null ones stay null.
class DeviceBuffers {
public:
  DeviceBuffers(sk_context &ctx, std::pair<Buffer, Buffer> &staged, const CollectiveInfo &info, int64_t count)
      : device_(*ctx.device), isStaged_(ctx.world->isPacked()),
        inBytes_(count * info.inElements * dtypeSize(info.dtype)),
        outBytes_(count * info.outElements * dtypeSize(info.dtype)), staged_(staged) {}
  CopyEngine &copyEngine() { return isStaged_ ? hostCopyEngine() : device_.copyEngine(); }
  const void *in(const void *in) { return isStaged_ && in ? staged_.first.data() : in; }
  void *out(void *out) { return isStaged_ && out ? staged_.second.data() : out; }
  Status before(const void *in) {
    if (!isStaged_)
      return device_.startCommunication();
    staged_.first.reserve(inBytes_);
    staged_.second.reserve(outBytes_);
    return in ? device_.download(staged_.first.data(), in, inBytes_) : Status();
  }
  Status after(void *out) {
    if (!isStaged_)
      return device_.endCommunication();
    return out ? device_.upload(out, staged_.second.data(), outBytes_) : Status();
  }

private:
  cuda::Device &device_;
  const bool isStaged_;
  const int64_t inBytes_, outBytes_;
  std::pair<Buffer, Buffer> &staged_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_DEVICEBUFFERS_H
