//===- Status.h - Errors with context ---------------------------*- C++ -*-===//
//
// Every runtime function that can fail returns a Status, or an Expected value.
// A message is one line: a lower-case fact, what was expected, no trailing
// period. withContext() puts the file, function or argument before the message. Names and
// paths may be of any bytes: a Status escapes the control characters in them.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_SUPPORT_STATUS_H
#define SHARDKIT_RT_SUPPORT_STATUS_H

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <variant>

namespace shardkit::rt {

enum class Code : int32_t {
  Ok = 0,
  Invalid,  ///< The input (manifest, file, option) is wrong.
  NotFound, ///< A file, tensor, function or symbol does not exist.
  IO,       ///< A system call failed.
  Timeout,  ///< A collective waited longer than it may.
  Aborted,  ///< Another rank failed.
  Internal, ///< A library refused something that should have worked.
};

/// Text from a file as it may stand in a message: control characters are
/// escaped ("\x0a").
std::string oneLine(const std::string &text);
/// A name from a file likewise, in quotes, not endless.
std::string quoteName(const std::string &name);

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Code code, const std::string &message) : code_(code), message_(oneLine(message)) {}

  bool ok() const { return code_ == Code::Ok; }
  Code code() const { return code_; }
  const std::string &message() const { return message_; }

  /// Returns the same error with "context: " before its message.
  Status withContext(const std::string &context) const {
    return ok() ? *this : Status(code_, context + ": " + message_);
  }

private:
  Code code_ = Code::Ok;
  std::string message_;
};

inline Status invalid(std::string message) { return {Code::Invalid, std::move(message)}; }
inline Status notFound(std::string message) { return {Code::NotFound, std::move(message)}; }
inline Status ioError(std::string message) { return {Code::IO, std::move(message)}; }
inline Status internalError(std::string message) { return {Code::Internal, std::move(message)}; }

/// The Status that `call` returns. An exception becomes an error.
template <typename Fn> Status catchExceptions(Fn &&call) {
  try {
    return call();
  } catch (const std::bad_alloc &) {
    return internalError("out of memory");
  } catch (const std::exception &error) {
    return internalError(error.what());
  }
}

template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Status status) : state_(std::in_place_index<1>, std::move(status)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  Status status() const { return ok() ? Status() : std::get<1>(state_); }
  T &operator*() { return std::get<0>(state_); }
  const T &operator*() const { return std::get<0>(state_); }
  T *operator->() { return &std::get<0>(state_); }
  const T *operator->() const { return &std::get<0>(state_); }

private:
  std::variant<T, Status> state_;
};

} // namespace shardkit::rt

#define SK_RETURN_IF_ERROR(expr)                                                                                       \
  do {                                                                                                                 \
    if (::shardkit::rt::Status skStatus = (expr); !skStatus.ok())                                                      \
      return skStatus;                                                                                                 \
  } while (false)

#define SK_CONCAT_IMPL(a, b) a##b
#define SK_CONCAT(a, b) SK_CONCAT_IMPL(a, b)
#define SK_ASSIGN_OR_RETURN(lhs, expr)                                                                                 \
  auto SK_CONCAT(skExpected, __LINE__) = (expr);                                                                       \
  if (!SK_CONCAT(skExpected, __LINE__).ok())                                                                           \
    return SK_CONCAT(skExpected, __LINE__).status();                                                                   \
  lhs = std::move(*SK_CONCAT(skExpected, __LINE__))

#endif // SHARDKIT_RT_SUPPORT_STATUS_H
