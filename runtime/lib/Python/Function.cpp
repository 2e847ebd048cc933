//===- Function.cpp - Calls of a function, from Python --------------------===//

#include "Module.h"
#include "Numpy.h"

namespace shardkit::py {

PyTypeObject *functionType;

namespace {

/// In Python: `Function(handle, number, session, array_type, arguments, results, match)`: arguments and results are lists
/// of values, and `match(value, given)` gives an array of NumPy of what is passed for an argument in another form.
struct BoundFunction {
  PyObject_HEAD
  Handle *handle;
  PyObject *session;
  PyTypeObject *arrays; ///< What results are, derived from arrayType.
  int number;
  std::vector<Type *> argumentTypes, resultTypes;
  PyObject *arguments, *results;
  PyObject *match;
};

/// The types of values in a list; false with an exception.
bool readTypes(PyObject *values, std::vector<Type *> &types) {
  const Py_ssize_t count = PyList_Size(values);
  for (Py_ssize_t i = 0; i < count; ++i) {
    Ref type = PyObject_GetAttrString(PyList_GetItem(values, i), "type");
    if (!type)
      return false;
    if (!PyObject_TypeCheck(type.get(), typeType)) {
      PyErr_SetString(PyExc_TypeError, "a value of a function has no type");
      return false;
    }
    types.push_back(as<Type>(type.release()));
  }
  return true;
}

PyObject *newFunction(PyTypeObject *type, PyObject *args, PyObject *) {
  PyObject *handle, *session, *arrays, *arguments, *results, *match;
  int number;
  if (!PyArg_ParseTuple(args, "O!iOO!O!O!O", handleType, &handle, &number, &session, &PyType_Type, &arrays,
                        &PyList_Type, &arguments, &PyList_Type, &results, &match))
    return nullptr;
  auto *made = allocate<BoundFunction>(type);
  if (!made)
    return nullptr;
  new (&made->argumentTypes) std::vector<Type *>();
  new (&made->resultTypes) std::vector<Type *>();
  made->handle = as<Handle>(Py_NewRef(handle));
  made->session = Py_NewRef(session);
  made->arrays = as<PyTypeObject>(Py_NewRef(arrays));
  made->number = number;
  made->arguments = Py_NewRef(arguments);
  made->results = Py_NewRef(results);
  made->match = Py_NewRef(match);
  Ref owned(reinterpret_cast<PyObject *>(made));
  const bool isRead = readTypes(arguments, made->argumentTypes) && readTypes(results, made->resultTypes);
  return isRead ? owned.release() : nullptr;
}

int visitFunction(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(as<BoundFunction>(object)->session);
  Py_VISIT(as<BoundFunction>(object)->arguments);
  Py_VISIT(as<BoundFunction>(object)->results);
  Py_VISIT(as<BoundFunction>(object)->match);
  return 0;
}
int clearFunction(PyObject *object) {
  Py_CLEAR(as<BoundFunction>(object)->session);
  Py_CLEAR(as<BoundFunction>(object)->arguments);
  Py_CLEAR(as<BoundFunction>(object)->results);
  Py_CLEAR(as<BoundFunction>(object)->match);
  return 0;
}
void freeFunction(PyObject *object) {
  auto *function = as<BoundFunction>(object);
  PyObject_GC_UnTrack(object);
  (void)clearFunction(object);
  for (const auto *types : {&function->argumentTypes, &function->resultTypes})
    for (Type *type : *types)
      Py_DECREF(reinterpret_cast<PyObject *>(type));
  function->argumentTypes.~vector();
  function->resultTypes.~vector();
  Py_XDECREF(reinterpret_cast<PyObject *>(function->handle));
  Py_XDECREF(reinterpret_cast<PyObject *>(function->arrays));
  freeObject(object);
}

/// The arguments of a call, with references to what they are read from.
class Arguments {
public:
  bool read(const BoundFunction &function, PyObject *given) {
    const Py_ssize_t count = PyList_Size(given);
    if (size_t(count) > function.argumentTypes.size()) {
      PyErr_SetString(PyExc_TypeError, "more values than the function has arguments");
      return false;
    }
    for (Py_ssize_t i = 0; i < count; ++i)
      if (PyObject *value = PyList_GetItem(given, i); value != Py_None && !add(function, size_t(i), value))
        return false;
    return true;
  }
  /// Up to the last one that is given.
  const std::vector<sk_argument> &get() const { return arguments_; }

private:
  bool add(const BoundFunction &function, size_t i, PyObject *value) {
    Ref kept = Ref::borrow(value);
    arguments_.resize(i + 1);
    sk_argument &argument = arguments_[i];
    if (Py_TYPE(value) == function.arrays) {
      argument.array = as<Array>(value)->array;
    } else if (!(argument.data = findElements(value, *function.argumentTypes[i]))) {
      PyObject *known = PyList_GetItem(function.arguments, Py_ssize_t(i));
      kept = PyObject_CallFunctionObjArgs(function.match, known, value, nullptr);
      if (!kept || !(argument.data = getElements(kept.get())))
        return false;
    }
    kept_.push_back(std::move(kept));
    return true;
  }

  std::vector<sk_argument> arguments_;
  std::vector<Ref> kept_;
};

Ref makeResults(const BoundFunction &function, const std::vector<sk_array *> &arrays) {
  Ref list = PyList_New(Py_ssize_t(arrays.size()));
  bool isMade = bool(list);
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!isMade) {
      sk_array_release(arrays[i]);
      continue;
    }
    PyObject *value = PyList_GetItem(function.results, Py_ssize_t(i));
    Ref array = makeArray(function.arrays, arrays[i], function.session, value, function.resultTypes[i]);
    isMade = array && !PyList_SetItem(list.get(), Py_ssize_t(i), array.release());
  }
  return isMade ? std::move(list) : nullptr;
}

/// call(given, flags): arrays of the results; `given` is a list of arrays of NumPy or of the session, or None for what is
/// bound.
PyObject *call(PyObject *object, PyObject *args) {
  PyObject *given;
  int flags = 0;
  if (!PyArg_ParseTuple(args, "O!|i", &PyList_Type, &given, &flags))
    return nullptr;
  const BoundFunction &function = *as<BoundFunction>(object);
  Arguments arguments;
  if (!arguments.read(function, given))
    return nullptr;
  sk_session *session = function.handle->session;
  if (!session) { // With the message for that.
    Ref closed = PyObject_CallMethod(function.session, "_get_handle", nullptr);
    return nullptr;
  }
  std::vector<sk_array *> results(function.resultTypes.size());
  int status;
  {
    WithoutGil without;
    status = sk_session_call(session, function.number, arguments.get().data(), int32_t(arguments.get().size()), flags,
                             results.data());
  }
  if (check(status))
    return makeResults(function, results).release();
  for (sk_array *array : results)
    sk_array_release(array);
  return nullptr;
}

} // namespace

bool addFunctionType(PyObject *module) {
  static PyMethodDef methods[] = {{"call", call, METH_VARARGS, nullptr}, {}};
  static PyType_Slot slots[] = {{Py_tp_new, slot(newFunction)},       {Py_tp_dealloc, slot(freeFunction)},
                                {Py_tp_traverse, slot(visitFunction)}, {Py_tp_clear, slot(clearFunction)},
                                {Py_tp_methods, methods},              {0, nullptr}};
  PyType_Spec spec = {"shardkit._native.Function", int(sizeof(BoundFunction)), 0,
                      unsigned(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC), slots};
  functionType = as<PyTypeObject>(PyType_FromSpec(&spec));
  return functionType && !PyModule_AddType(module, functionType);
}

} // namespace shardkit::py
