//===- Module.cpp - Calls of a session from Python ------------------------===//

#include "Module.h"

#include "Numpy.h"

namespace shardkit::py {

namespace {

PyObject *errorClass;        ///< shardkit.ShardKitError
PyObject *raised;            ///< What a signal handler raised while the main thread waited in the runtime.
unsigned long signalsThread; ///< The thread that watch_signals was called on; 0: none.

/// The runtime calls it every 50 ms while that thread waits.
int runSignalHandlers(void *) {
  PyGILState_STATE state = PyGILState_Ensure();
  if (!raised && PyErr_CheckSignals() < 0) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback)
      PyException_SetTraceback(value, traceback);
    raised = value;
    Py_XDECREF(type);
    Py_XDECREF(traceback);
  }
  const bool isEnding = raised != nullptr;
  PyGILState_Release(state);
  return isEnding;
}

/// watch_signals(): handlers of signals run while this thread, the main one, waits.
PyObject *watchSignals(PyObject *, PyObject *) {
  signalsThread = PyThread_get_thread_ident();
  sk_set_interrupt(runSignalHandlers, nullptr);
  return Py_NewRef(Py_None);
}

/// check(status): raises the error of a function of the C API that returned it.
PyObject *checkStatus(PyObject *, PyObject *status) {
  const long value = PyLong_AsLong(status);
  if ((value == -1 && PyErr_Occurred()) || !check(int(value)))
    return nullptr;
  return Py_NewRef(Py_None);
}

} // namespace

bool check(int status) {
  if (raised && PyThread_get_thread_ident() == signalsThread) {
    Ref error = std::exchange(raised, nullptr);
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.get())), error.get());
    return false;
  }
  if (status == 0)
    return true;
  const char *reason = sk_last_error();
  if (Ref text = PyUnicode_DecodeUTF8(reason, Py_ssize_t(strlen(reason)), "replace"))
    PyErr_Format(errorClass, "error: %U", text.get());
  return false;
}

} // namespace shardkit::py

PyMODINIT_FUNC PyInit__native() {
  using namespace shardkit::py;
  static PyMethodDef functions[] = {
      {"check", checkStatus, METH_O, nullptr}, {"watch_signals", watchSignals, METH_NOARGS, nullptr}, {}};
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "shardkit._native", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};
  Ref errors = PyImport_ImportModule("shardkit.errors");
  errorClass = errors ? PyObject_GetAttrString(errors.get(), "ShardKitError") : nullptr;
  if (!errorClass || !loadNumpy())
    return nullptr;
  Ref module = PyModule_Create(&definition);
  if (!module || !addArrayTypes(module.get()) || !addFunctionType(module.get()))
    return nullptr;
  return module.release();
}
