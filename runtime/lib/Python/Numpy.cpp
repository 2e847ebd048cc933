//===- Numpy.cpp - NumPy's C API, of versions 1 and 2 ---------------------===//

#include "Numpy.h"

#include <algorithm>

namespace shardkit::py {

namespace {

constexpr int contiguous = 0x1, aligned = 0x100, writeable = 0x400; // NPY_ARRAY_C_CONTIGUOUS, ...

PyTypeObject *arrayClass;
PyObject *(*newFromDescr)(PyTypeObject *, PyObject *dtype, int dims, const intptr_t *shape, const intptr_t *strides,
                          void *data, int flags, PyObject *like);
int (*setBaseObject)(PyObject *array, PyObject *base);

/// Element `index` of the table.
template <typename T> void read(void **table, size_t index, T &out) { out = reinterpret_cast<T>(table[index]); }

Ref make(const Type &type, void *data, int flags) {
  return newFromDescr(arrayClass, Py_NewRef(type.dtype), int(type.shape.size()), type.shape.data(), nullptr, data,
                      flags, nullptr);
}

} // namespace

bool loadNumpy() {
  Ref module = PyImport_ImportModule("numpy._core._multiarray_umath");
  if (!module) { // Version 1.
    PyErr_Clear();
    module = PyImport_ImportModule("numpy.core._multiarray_umath");
  }
  Ref capsule = module ? PyObject_GetAttrString(module.get(), "_ARRAY_API") : nullptr;
  void *address = capsule ? PyCapsule_GetPointer(capsule.get(), nullptr) : nullptr;
  if (!address)
    return false;
  auto **table = static_cast<void **>(address);
  read(table, 2, arrayClass);
  read(table, 94, newFromDescr);
  read(table, 282, setBaseObject);
  return true;
}

const void *findElements(PyObject *object, const Type &type) {
  if (Py_TYPE(object) != arrayClass)
    return nullptr;
  const auto *array = reinterpret_cast<const NumpyArray *>(object);
  const bool isSame = array->dtype == type.dtype && (array->flags & contiguous) &&
                      size_t(array->dims) == type.shape.size() &&
                      std::equal(type.shape.begin(), type.shape.end(), array->shape);
  return isSame ? array->data : nullptr;
}

const void *getElements(PyObject *object) {
  if (Py_TYPE(object) == arrayClass && (reinterpret_cast<const NumpyArray *>(object)->flags & contiguous))
    return reinterpret_cast<const NumpyArray *>(object)->data;
  PyErr_SetString(PyExc_TypeError, "expected a contiguous array of NumPy");
  return nullptr;
}

Ref makeNumpyArray(const Type &type) { return make(type, nullptr, 0); }

Ref makeNumpyArray(const Type &type, void *data, Ref base, bool isReadOnly) {
  Ref array = make(type, data, contiguous | aligned | (isReadOnly ? 0 : writeable));
  if (!array || setBaseObject(array.get(), base.release()) < 0)
    return nullptr;
  return array;
}

} // namespace shardkit::py
