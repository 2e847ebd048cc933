//===- Interrupt.h - Ends waits on request ----------------------*- C++ -*-===//

#ifndef SHARDKIT_RT_SUPPORT_INTERRUPT_H
#define SHARDKIT_RT_SUPPORT_INTERRUPT_H

#include <functional>

namespace shardkit::rt {

/// Seconds between two checks of a thread that waits.
inline constexpr double interruptTick = 0.05;

/// Sets the function that this thread calls while it waits for a session; it returns true to end what it waits for. A
/// language whose signal handlers run on its main thread sets it there. Null: none.
void setInterrupt(std::function<bool()> check);
/// The result of that function; false where this thread has none.
bool isInterrupted();

} // namespace shardkit::rt

#endif // SHARDKIT_RT_SUPPORT_INTERRUPT_H
