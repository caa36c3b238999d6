/* Calls of the library's Python side, and its errors as statuses. */
#include <string.h>

#include "bridge.h"

PyObject* tl_function(const char* name) {
  static PyObject* known; /* by "module.function" */
  if (known == NULL && (known = PyDict_New()) == NULL) return NULL;
  PyObject* found = PyDict_GetItemString(known, name);
  if (found != NULL) return found;
  const char* dot = strrchr(name, '.');
  char path[128];
  snprintf(path, sizeof path, "tensorloom.capi.%.*s", (int)(dot - name), name);
  PyObject* module = PyImport_ImportModule(path);
  if (module == NULL) return NULL;
  found = PyObject_GetAttrString(module, dot + 1);
  Py_DECREF(module);
  if (found == NULL || PyDict_SetItemString(known, name, found) < 0) return NULL;
  Py_DECREF(found); /* the dict has it */
  return found;
}

void tl_raised(TF_Status* status) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != NULL && value != NULL) PyException_SetTraceback(value, trace);
  PyObject* describe = tl_function("statuses.of");
  PyObject* pair = describe && value ? PyObject_CallOneArg(describe, value) : NULL;
  int code = TF_INTERNAL;
  const char* message = "an error in Python that cannot be said";
  if (pair != NULL) PyArg_ParseTuple(pair, "is", &code, &message);
  if (status != NULL) TF_SetStatus(status, (TF_Code)code, message);
  Py_XDECREF(pair), Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(trace);
  PyErr_Clear();
}

static PyObject* call(TF_Status* status, const char* name, const char* format,
                      va_list values) {
  PyObject* function = tl_function(name);
  PyObject* arguments = function == NULL ? NULL : Py_VaBuildValue(format, values);
  PyObject* result = arguments == NULL ? NULL : PyObject_CallObject(function, arguments);
  Py_XDECREF(arguments);
  if (result == NULL)
    tl_raised(status);
  else
    tl_ok(status);
  return result;
}

PyObject* tl_call(TF_Status* status, const char* function, const char* format, ...) {
  va_list values;
  va_start(values, format);
  PyObject* result = call(status, function, format, values);
  va_end(values);
  return result;
}

int tl_do(TF_Status* status, const char* function, const char* format, ...) {
  va_list values;
  va_start(values, format);
  PyObject* result = call(status, function, format, values);
  va_end(values);
  Py_XDECREF(result);
  return result != NULL;
}

long long tl_number(TF_Status* status, long long otherwise, const char* function,
                    const char* format, ...) {
  va_list values;
  va_start(values, format);
  PyObject* result = call(status, function, format, values);
  va_end(values);
  if (result == NULL) return otherwise;
  long long number = PyLong_AsLongLong(result);
  Py_DECREF(result);
  if (number == -1 && PyErr_Occurred()) {
    tl_raised(status);
    return otherwise;
  }
  return number;
}

void tl_message(TF_Status* status, TF_Buffer* buffer, const char* function,
                const char* format, ...) {
  va_list values;
  va_start(values, format);
  PyObject* result = call(status, function, format, values);
  va_end(values);
  char* data;
  Py_ssize_t length;
  if (result == NULL) return;
  if (PyBytes_AsStringAndSize(result, &data, &length) < 0)
    tl_raised(status);
  else
    tl_fill_buffer(buffer, data, (size_t)length, status);
  Py_DECREF(result);
}
