//===- Array.cpp - Values on the devices of a session, in Python ----------===//

#include "Module.h"
#include "Numpy.h"

namespace shardkit::py {

PyTypeObject *typeType, *handleType, *arrayType;

namespace {

/// Values of at most so many bytes are copied faster than their memory can be shown in place.
constexpr int64_t smallBytes = 64;

/// Memory of the runtime that NumPy arrays are made of.
struct Memory {
  PyObject_HEAD sk_view view;
};
PyTypeObject *memoryType;

//===----------------------------------------------------------------------===//
// Type, Handle, Memory
//===----------------------------------------------------------------------===//

PyObject *newType(PyTypeObject *type, PyObject *args, PyObject *) {
  PyObject *dtype, *shape;
  long long bytes;
  if (!PyArg_ParseTuple(args, "OO!L", &dtype, &PyTuple_Type, &shape, &bytes))
    return nullptr;
  auto *made = allocate<Type>(type);
  if (!made)
    return nullptr;
  new (&made->shape) std::vector<intptr_t>(size_t(PyTuple_Size(shape)));
  made->dtype = Py_NewRef(dtype);
  made->bytes = bytes;
  for (size_t d = 0; d < made->shape.size(); ++d)
    made->shape[d] = PyLong_AsSsize_t(PyTuple_GetItem(shape, Py_ssize_t(d)));
  Ref owned(reinterpret_cast<PyObject *>(made));
  return PyErr_Occurred() ? nullptr : owned.release();
}
void freeType(PyObject *object) {
  Py_XDECREF(as<Type>(object)->dtype);
  as<Type>(object)->shape.~vector();
  freeObject(object);
}

PyObject *newHandle(PyTypeObject *type, PyObject *args, PyObject *) {
  unsigned long long address;
  if (!PyArg_ParseTuple(args, "K", &address))
    return nullptr;
  auto *made = allocate<Handle>(type);
  if (made)
    made->session = reinterpret_cast<sk_session *>(address);
  return reinterpret_cast<PyObject *>(made);
}
PyObject *getSession(PyObject *object, void *) { return PyLong_FromVoidPtr(as<Handle>(object)->session); }
/// Waits for queued calls and frees everything.
PyObject *close(PyObject *object, PyObject *) {
  if (sk_session *session = std::exchange(as<Handle>(object)->session, nullptr)) {
    WithoutGil without;
    sk_session_close(session);
  }
  return check(0) ? Py_NewRef(Py_None) : nullptr;
}

void freeMemory(PyObject *object) {
  sk_view_release(&as<Memory>(object)->view);
  freeObject(object);
}

//===----------------------------------------------------------------------===//
// Array
//===----------------------------------------------------------------------===//

PyObject *newArray(PyTypeObject *type, PyObject *args, PyObject *) {
  unsigned long long address;
  PyObject *session, *value;
  if (!PyArg_ParseTuple(args, "KOO", &address, &session, &value))
    return nullptr;
  auto *array = reinterpret_cast<sk_array *>(address);
  Ref elements = PyObject_GetAttrString(value, "type");
  if (!elements || !PyObject_TypeCheck(elements.get(), typeType)) {
    sk_array_release(array);
    return PyErr_Occurred() ? nullptr : PyErr_Format(PyExc_TypeError, "the value of an array has no type");
  }
  return makeArray(type, array, session, value, as<Type>(elements.get())).release();
}

int visitArray(PyObject *object, visitproc visit, void *arg) {
  auto *array = as<Array>(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(array->session);
  Py_VISIT(array->value);
  return 0;
}
int clearArray(PyObject *object) {
  auto *array = as<Array>(object);
  Py_CLEAR(array->session);
  Py_CLEAR(array->value);
  return 0;
}
void freeArray(PyObject *object) {
  auto *array = as<Array>(object);
  PyObject_GC_UnTrack(object);
  sk_array_release(array->array);
  Py_XDECREF(reinterpret_cast<PyObject *>(array->type));
  (void)clearArray(object);
  freeObject(object);
}

PyObject *getHandle(PyObject *object, void *) { return PyLong_FromVoidPtr(as<Array>(object)->array); }
PyObject *getValue(PyObject *object, void *) { return Py_NewRef(as<Array>(object)->value); }

/// The full value in the memory that it is in; null, without an exception: nowhere in one piece.
Ref viewInPlace(const Array &array, bool isReadOnly) {
  auto *memory = allocate<Memory>(memoryType);
  Ref owned(reinterpret_cast<PyObject *>(memory));
  if (!memory)
    return nullptr;
  int status;
  {
    WithoutGil without; // It may still be computed.
    status = sk_array_view(array.array, &memory->view);
  }
  if (!check(status) || !memory->view.data)
    return nullptr;
  return makeNumpyArray(*array.type, memory->view.data, std::move(owned), isReadOnly);
}

Ref readCopy(const Array &array) {
  Ref copy = makeNumpyArray(*array.type);
  if (!copy)
    return nullptr;
  int status;
  {
    WithoutGil without;
    status = sk_array_read(array.array, as<NumpyArray>(copy.get())->data, array.type->bytes);
  }
  return check(status) ? std::move(copy) : nullptr;
}

PyObject *numpy(PyObject *object, PyObject *args, PyObject *keywords) {
  static char readOnly[] = "is_read_only";
  static char *names[] = {readOnly, nullptr};
  int isReadOnly = 1;
  if ((PyTuple_Size(args) || keywords) && !PyArg_ParseTupleAndKeywords(args, keywords, "|p", names, &isReadOnly))
    return nullptr;
  const Array &array = *as<Array>(object);
  if (array.type->bytes > smallBytes)
    if (Ref view = viewInPlace(array, isReadOnly); view || PyErr_Occurred())
      return view.release();
  return readCopy(array).release();
}

PyTypeObject *makeType(const char *name, size_t size, unsigned flags, PyType_Slot *slots) {
  PyType_Spec spec = {name, int(size), 0, unsigned(Py_TPFLAGS_DEFAULT) | flags, slots};
  return reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
}

} // namespace

void freeObject(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(reinterpret_cast<PyObject *>(type));
}

Ref makeArray(PyTypeObject *type, sk_array *array, PyObject *session, PyObject *value, Type *elements) {
  auto *made = allocate<Array>(type);
  if (!made) {
    sk_array_release(array);
    return nullptr;
  }
  made->array = array;
  made->session = Py_NewRef(session);
  made->value = Py_NewRef(value);
  made->type = as<Type>(Py_NewRef(reinterpret_cast<PyObject *>(elements)));
  return reinterpret_cast<PyObject *>(made);
}

bool addArrayTypes(PyObject *module) {
  static PyType_Slot ofType[] = {{Py_tp_new, slot(newType)}, {Py_tp_dealloc, slot(freeType)}, {0, nullptr}};
  static PyMethodDef handleMethods[] = {{"close", close, METH_NOARGS, nullptr}, {}};
  static PyGetSetDef handleGetters[] = {{"address", getSession, nullptr, nullptr, nullptr}, {}};
  static PyType_Slot ofHandle[] = {{Py_tp_new, slot(newHandle)},
                                   {Py_tp_dealloc, slot(freeObject)},
                                   {Py_tp_methods, handleMethods},
                                   {Py_tp_getset, handleGetters},
                                   {0, nullptr}};
  static PyType_Slot ofMemory[] = {{Py_tp_dealloc, slot(freeMemory)}, {0, nullptr}};
  static PyMethodDef arrayMethods[] = {
      {"numpy", reinterpret_cast<PyCFunction>(slot(numpy)), METH_VARARGS | METH_KEYWORDS,
       "The full value. Elements that are written where it is not read-only may be those of the array itself."},
      {}};
  static PyGetSetDef arrayGetters[] = {
      {"_handle", getHandle, nullptr, nullptr, nullptr}, {"value", getValue, nullptr, nullptr, nullptr}, {}};
  static PyType_Slot ofArray[] = {{Py_tp_new, slot(newArray)},
                                  {Py_tp_dealloc, slot(freeArray)},
                                  {Py_tp_traverse, slot(visitArray)},
                                  {Py_tp_clear, slot(clearArray)},
                                  {Py_tp_methods, arrayMethods},
                                  {Py_tp_getset, arrayGetters},
                                  {0, nullptr}};
  typeType = makeType("shardkit._native.Type", sizeof(Type), 0, ofType);
  handleType = makeType("shardkit._native.Handle", sizeof(Handle), 0, ofHandle);
  memoryType = makeType("shardkit._native.Memory", sizeof(Memory), 0, ofMemory);
  arrayType = makeType("shardkit._native.Array", sizeof(Array), Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, ofArray);
  return typeType && handleType && memoryType && arrayType && !PyModule_AddType(module, typeType) &&
         !PyModule_AddType(module, handleType) && !PyModule_AddType(module, arrayType);
}

} // namespace shardkit::py
