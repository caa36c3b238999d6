/* The Python in this process: found, or started when it is needed first. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bridge.h"

/* The Python that the library was built with; the build says which. */
#ifndef TL_BUILD_PYTHON
#define TL_BUILD_PYTHON ""
#endif

static pthread_once_t started = PTHREAD_ONCE_INIT;
static pthread_key_t thread_key;
static char problem[1024]; /* why there is no Python; empty if there is one */
static char source_tree[PATH_MAX];
static int is_embedded;

/* --- Where things are ---------------------------------------------------------- */

static int exists(const char* folder, const char* file, char* path) {
  int length = snprintf(path, PATH_MAX, "%s/%s", folder, file);
  return length > 0 && length < PATH_MAX && access(path, R_OK) == 0;
}

static int is_python(const char* folder, char* path) {
  return exists(folder, "bin/python", path) || exists(folder, ".venv/bin/python", path);
}

/* Looks from the library's folder upwards for the source tree and its environment. */
static void look_around(char* python) {
  Dl_info library;
  char folder[PATH_MAX], path[PATH_MAX];
  python[0] = '\0';
  if (dladdr((void*)look_around, &library) == 0 ||
      realpath(library.dli_fname, folder) == NULL)
    return;
  for (char* slash = strrchr(folder, '/'); slash != NULL && slash != folder;
       slash = strrchr(folder, '/')) {
    *slash = '\0';
    if (source_tree[0] == '\0' && exists(folder, "tensorloom/__init__.py", path))
      strcpy(source_tree, folder);
    if (python[0] == '\0' && exists(folder, ".venv/bin/python", path))
      strcpy(python, path);
    /* The library inside of an environment. */
    if (python[0] == '\0' && exists(folder, "pyvenv.cfg", path) &&
        exists(folder, "bin/python", path))
      strcpy(python, path);
  }
}

/* The Python whose environment is used. */
static void find_python(char* python) {
  const char* named = getenv("TENSORLOOM_PYTHON");
  const char* home = getenv("TENSORLOOM_HOME");
  char path[PATH_MAX];
  look_around(python);
  if (named != NULL && *named != '\0') {
    snprintf(python, PATH_MAX, "%s", named);
  } else if (home != NULL && is_python(home, path)) {
    strcpy(python, path);
  } else if (python[0] == '\0') {
    snprintf(python, PATH_MAX, "%s", TL_BUILD_PYTHON);
  }
  if (home != NULL && exists(home, "tensorloom/__init__.py", path))
    snprintf(source_tree, sizeof source_tree, "%s", home);
}

/* --- Starting ------------------------------------------------------------------ */

static int is_same_version(void) {
  char wanted[16];
  int length =
      snprintf(wanted, sizeof wanted, "%d.%d.", PY_MAJOR_VERSION, PY_MINOR_VERSION);
  const char* have = Py_GetVersion();
  if (strncmp(have, wanted, (size_t)length) == 0) return 1;
  snprintf(problem, sizeof problem,
           "libtensorloom was built for Python %s and this process has Python %.20s",
           wanted, have);
  return 0;
}

/* Extension modules find Python's symbols only where all libraries look for theirs,
   also when a program has loaded this library for itself alone. */
static void make_python_global(void) {
  Dl_info python;
  if (dladdr((void*)Py_IsInitialized, &python) != 0)
    dlopen(python.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

/* Python's own end would wait for threads of the program that are inside of it. What
   modules have asked to do at the end is done: temporary files and the like. */
static void run_exit_functions(void) {
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject* module = PyImport_ImportModule("atexit");
  PyObject* result =
      module ? PyObject_CallMethod(module, "_run_exitfuncs", NULL) : NULL;
  if (result == NULL) PyErr_Clear();
  Py_XDECREF(result);
  Py_XDECREF(module);
  PyGILState_Release(gil);
}

static void embed(void) {
  char python[PATH_MAX];
  PyConfig config;
  find_python(python);
  make_python_global();
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0; /* signals are the program's */
  config.parse_argv = 0;
  PyStatus status = PyStatus_Ok();
  if (python[0] != '\0')
    status = PyConfig_SetBytesString(&config, &config.executable, python);
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status)) {
    snprintf(problem, sizeof problem, "Python at '%.500s' does not start: %.400s", python,
             status.err_msg ? status.err_msg : "it asked to exit");
    return;
  }
  is_embedded = 1;
  PyEval_SaveThread();
  atexit(run_exit_functions);
}

/* The end of a thread that made itself known to Python. */
static void end_thread(void* unused) {
  (void)unused;
  tl_turns_leave();
  PyThreadState* state = Py_IsInitialized() ? PyGILState_GetThisThreadState() : NULL;
  if (state == NULL) return;
  PyEval_RestoreThread(state);
  PyGILState_Release(PyGILState_UNLOCKED);
}

static void start(void) {
  pthread_key_create(&thread_key, end_thread);
  tl_turns_start();
  if (Py_IsInitialized()) {
    is_same_version();
    return;
  }
  if (is_same_version()) embed();
}

/* --- Entering ------------------------------------------------------------------ */

/* Makes tensorloom importable. Once, under the lock. */
static int prepare_modules(TF_Status* status) {
  static int is_prepared;
  if (is_prepared) return 1;
  int worked = 1;
  if (is_embedded && source_tree[0] != '\0') {
    PyObject* folder = PyUnicode_DecodeFSDefault(source_tree);
    PyObject* path = PySys_GetObject("path");
    worked = folder != NULL && path != NULL && PyList_Insert(path, 0, folder) == 0;
    Py_XDECREF(folder);
  }
  PyObject* module = worked ? PyImport_ImportModule("tensorloom.capi.statuses") : NULL;
  if (module == NULL) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject* text = value == NULL ? NULL : PyObject_Str(value);
    tl_fail(status, TF_FAILED_PRECONDITION,
            "tensorloom cannot be imported by Python: %s. TENSORLOOM_PYTHON names the "
            "Python of an environment that has it.",
            text == NULL ? "unknown error" : PyUnicode_AsUTF8(text));
    Py_XDECREF(text), Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(trace);
    PyErr_Clear();
    return 0;
  }
  Py_DECREF(module);
  is_prepared = 1;
  return 1;
}

int tl_enter(tl_gil* gil, TF_Status* status) { return tl_enter_step(gil, 0, status); }

int tl_enter_step(tl_gil* gil, unsigned kind, TF_Status* status) {
  pthread_once(&started, start);
  if (problem[0] != '\0') {
    tl_fail(status, TF_FAILED_PRECONDITION, "%s", problem);
    return 0;
  }
  /* A thread that Python does not know stays known to it until its end: to make and
     forget it at every call costs more than many calls do. */
  if (PyGILState_GetThisThreadState() == NULL) {
    PyGILState_Ensure();
    PyEval_SaveThread();
    pthread_setspecific(thread_key, (void*)1);
  }
  /* A thread that has the lock would keep out the one whose turn it is. */
  gil->turn = PyGILState_Check() ? (tl_turn){0} : tl_turn_take(kind);
  gil->state = PyGILState_Ensure();
  if (prepare_modules(status)) return 1;
  tl_leave(*gil);
  return 0;
}

void tl_leave(tl_gil gil) {
  PyGILState_Release(gil.state);
  tl_turn_give(&gil.turn);
}

void tl_drop(PyObject* object) {
  tl_gil gil;
  if (object == NULL || !tl_enter(&gil, NULL)) return;
  Py_DECREF(object);
  tl_leave(gil);
}
