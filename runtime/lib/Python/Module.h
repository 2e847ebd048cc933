//===- Module.h - Calls of a session from Python ----------------*- C++ -*-===//
//
// What runs in every call, without ctypes and with little of Python's own code: after a step
// that has read all weights none of it is in a cache. Everything else of a session is called by
// python/shardkit/session.py through the C API.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_PYTHON_MODULE_H
#define SHARDKIT_RT_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "shardkit/rt/session.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace shardkit::py {

/// An owned reference; null where an exception is set.
class Ref {
public:
  Ref(PyObject *object = nullptr) : object_(object) {}
  Ref(Ref &&other) noexcept : object_(other.release()) {}
  Ref &operator=(Ref &&other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  static Ref borrow(PyObject *object) { return Ref(Py_NewRef(object)); }

  PyObject *get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  PyObject *release() { return std::exchange(object_, nullptr); }

private:
  PyObject *object_;
};

template <typename Object> Object *as(PyObject *object) { return reinterpret_cast<Object *>(object); }
/// A function as a slot of a type has it.
template <typename Result, typename... Arguments> void *slot(Result (*function)(Arguments...)) {
  return reinterpret_cast<void *>(function);
}

/// Other threads of Python run while it lives.
class WithoutGil {
public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { PyEval_RestoreThread(state_); }
  WithoutGil(const WithoutGil &) = delete;
  WithoutGil &operator=(const WithoutGil &) = delete;

private:
  PyThreadState *state_;
};

/// False, and an exception is set, if `status` is an error or a signal handler has raised one meanwhile.
bool check(int status);

/// Frees an object of a heap type, after its own parts.
void freeObject(PyObject *object);
template <typename Object> Object *allocate(PyTypeObject *type) {
  auto make = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  return reinterpret_cast<Object *>(make(type, 0));
}

/// Element type and shape of the elements of an argument or result. In Python: `Type(dtype, shape, nbytes)`.
struct Type {
  PyObject_HEAD PyObject *dtype; ///< NumPy's.
  std::vector<intptr_t> shape;
  int64_t bytes;
};

/// The handle of a session; null once it is closed. In Python: `Handle(address)`.
struct Handle {
  PyObject_HEAD sk_session *session;
};

/// A value on the devices. In Python the base of `shardkit.Array`: `Array(address, session, value)`.
struct Array {
  PyObject_HEAD sk_array *array;
  PyObject *session; ///< Python's, which closes it when nothing needs it any more.
  PyObject *value;   ///< Its type and layout, a `shardkit.session.Value`.
  Type *type;        ///< That of `value`.
};

extern PyTypeObject *typeType, *handleType, *arrayType, *functionType;

/// Array of a type derived from arrayType; takes `array`.
Ref makeArray(PyTypeObject *type, sk_array *array, PyObject *session, PyObject *value, Type *elements);

/// Make the types above, and add them to the module.
bool addArrayTypes(PyObject *module);
bool addFunctionType(PyObject *module);

} // namespace shardkit::py

#endif // SHARDKIT_RT_PYTHON_MODULE_H
