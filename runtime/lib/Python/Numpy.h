//===- Numpy.h - NumPy's C API, of versions 1 and 2 -------------*- C++ -*-===//
//
// NumPy's headers are those of one version: what is built with those of 1 does not run with 2.
// The functions here are at the same place in the tables of both, and arrays begin alike.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_PYTHON_NUMPY_H
#define SHARDKIT_RT_PYTHON_NUMPY_H

#include "Module.h"

namespace shardkit::py {

/// The begin of a NumPy array.
struct NumpyArray {
  PyObject_HEAD char *data;
  int dims;
  intptr_t *shape;
  intptr_t *strides;
  PyObject *base;
  PyObject *dtype;
  int flags;
};

/// An error if NumPy is not there.
bool loadNumpy();
/// The elements of an array of that very type that are contiguous; null if it is anything else.
const void *findElements(PyObject *object, const Type &type);
/// Those of a contiguous array; null with an exception if it is anything else.
const void *getElements(PyObject *object);
/// An array of NumPy's own memory.
Ref makeNumpyArray(const Type &type);
/// An array of the memory of `base`.
Ref makeNumpyArray(const Type &type, void *data, Ref base, bool isReadOnly);

} // namespace shardkit::py

#endif // SHARDKIT_RT_PYTHON_NUMPY_H
