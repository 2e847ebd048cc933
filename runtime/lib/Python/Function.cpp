//===- Function.cpp - Calls of a function, from Python --------------------===//

#include "Module.h"
#include "Numpy.h"

#include <algorithm>

namespace shardkit::py {

PyTypeObject *functionType;

namespace {

/// In Python the base of `shardkit.Function`:
/// `Function(handle, number, session, array_type, arguments, results, indices, match)`. Arguments and results are lists
/// of values, `indices` are those of arguments by name, and `match(value, given)` gives an array of NumPy of what is
/// passed for an argument in another form.
struct BoundFunction {
  PyObject_HEAD Handle *handle;
  PyTypeObject *arrays; ///< What results are, derived from arrayType.
  int number;
  std::vector<Type *> argumentTypes, resultTypes;
  PyObject *session, *arguments, *results, *indices, *match;
};

constexpr PyObject *BoundFunction::*parts[] = {&BoundFunction::session, &BoundFunction::arguments,
                                               &BoundFunction::results, &BoundFunction::indices, &BoundFunction::match};

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
  PyObject *handle, *session, *arrays, *arguments, *results, *indices, *match;
  int number;
  if (!PyArg_ParseTuple(args, "O!iOO!O!O!O!O", handleType, &handle, &number, &session, &PyType_Type, &arrays,
                        &PyList_Type, &arguments, &PyList_Type, &results, &PyDict_Type, &indices, &match))
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
  made->indices = Py_NewRef(indices);
  made->match = Py_NewRef(match);
  Ref owned(reinterpret_cast<PyObject *>(made));
  const bool isRead = readTypes(arguments, made->argumentTypes) && readTypes(results, made->resultTypes);
  return isRead ? owned.release() : nullptr;
}

int visitFunction(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  for (auto part : parts)
    Py_VISIT(as<BoundFunction>(object)->*part);
  return 0;
}
int clearFunction(PyObject *object) {
  for (auto part : parts)
    Py_CLEAR(as<BoundFunction>(object)->*part);
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
  explicit Arguments(const BoundFunction &function) : function_(function) {}
  /// Of the first ones, or all, in a list or tuple of `count`.
  template <typename Get> bool read(Get &&get, PyObject *given, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; ++i)
      if (!add(size_t(i), get(given, i)))
        return false;
    return true;
  }
  /// None stands for what is bound.
  bool add(size_t i, PyObject *value) {
    if (value == Py_None)
      return true;
    Ref kept = Ref::borrow(value);
    arguments_.resize(std::max(arguments_.size(), i + 1));
    sk_argument &argument = arguments_[i];
    if (Py_TYPE(value) == function_.arrays) {
      argument.array = as<Array>(value)->array;
    } else if (!(argument.data = findElements(value, *function_.argumentTypes[i]))) {
      PyObject *known = PyList_GetItem(function_.arguments, Py_ssize_t(i));
      kept = PyObject_CallFunctionObjArgs(function_.match, known, value, nullptr);
      if (!kept || !(argument.data = getElements(kept.get())))
        return false;
    }
    kept_.push_back(std::move(kept));
    return true;
  }
  /// Up to the last one that is given.
  const std::vector<sk_argument> &get() const { return arguments_; }

private:
  const BoundFunction &function_;
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

PyObject *perform(const BoundFunction &function, const Arguments &arguments, int flags) {
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

/// call(given, flags): arrays of the results; `given` is a list of arrays of NumPy or of the session, or None for what
/// is bound.
PyObject *call(PyObject *object, PyObject *args) {
  PyObject *given;
  int flags = 0;
  if (!PyArg_ParseTuple(args, "O!|i", &PyList_Type, &given, &flags))
    return nullptr;
  const BoundFunction &function = *as<BoundFunction>(object);
  if (size_t(PyList_Size(given)) > function.argumentTypes.size())
    return PyErr_Format(PyExc_TypeError, "%zd values, expected at most %zu", PyList_Size(given),
                        function.argumentTypes.size());
  Arguments arguments(function);
  return arguments.read(PyList_GetItem, given, PyList_Size(given)) ? perform(function, arguments, flags) : nullptr;
}

/// Sets or clears a flag as `value` is true or not.
bool setFlag(int &flags, int flag, PyObject *value, bool isInverse) {
  const int isTrue = PyObject_IsTrue(value);
  if (isTrue >= 0)
    flags = (isTrue != 0) != isInverse ? flags | flag : flags & ~flag;
  return isTrue >= 0;
}

/// The arguments of a call that are given by name, and the options.
bool readKeywords(const BoundFunction &function, PyObject *keywords, Arguments &arguments, int &flags) {
  PyObject *name, *value;
  for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &name, &value);) {
    bool isRead;
    if (PyUnicode_CompareWithASCIIString(name, "donate") == 0)
      isRead = setFlag(flags, SK_DONATE, value, false);
    else if (PyUnicode_CompareWithASCIIString(name, "wait") == 0)
      isRead = setFlag(flags, SK_ASYNC, value, true);
    else
      isRead = arguments.add(PyLong_AsSize_t(PyDict_GetItemWithError(function.indices, name)), value);
    if (!isRead)
      return false;
  }
  return true;
}

/// function(*args, donate=False, wait=True, **by_name)
PyObject *callWithKeywords(PyObject *object, PyObject *args, PyObject *keywords) {
  const BoundFunction &function = *as<BoundFunction>(object);
  if (keywords || size_t(PyTuple_Size(args)) > function.argumentTypes.size()) {
    Ref checked = PyObject_CallMethod(object, "_check_call", "OO", args, keywords ? keywords : Py_None);
    if (!checked)
      return nullptr;
  }
  int flags = 0;
  Arguments arguments(function);
  if (!arguments.read(PyTuple_GetItem, args, PyTuple_Size(args)) ||
      (keywords && !readKeywords(function, keywords, arguments, flags)))
    return nullptr;
  return perform(function, arguments, flags);
}

} // namespace

bool addFunctionType(PyObject *module) {
  static PyMethodDef methods[] = {{"call", call, METH_VARARGS, nullptr}, {}};
  static PyType_Slot slots[] = {{Py_tp_new, slot(newFunction)},
                                {Py_tp_dealloc, slot(freeFunction)},
                                {Py_tp_traverse, slot(visitFunction)},
                                {Py_tp_clear, slot(clearFunction)},
                                {Py_tp_methods, methods},
                                {Py_tp_call, slot(callWithKeywords)},
                                {0, nullptr}};
  PyType_Spec spec = {"shardkit._native.Function", int(sizeof(BoundFunction)), 0,
                      unsigned(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC), slots};
  functionType = as<PyTypeObject>(PyType_FromSpec(&spec));
  return functionType && !PyModule_AddType(module, functionType);
}

} // namespace shardkit::py
