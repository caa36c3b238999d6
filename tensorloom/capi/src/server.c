/* TF_Server: a task of a cluster in this process. And the log. */
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

struct TF_Server {
  PyObject* server; /* tf.train.Server */
  char* target;
};

TF_Server* TF_NewServer(const void* proto, size_t proto_len, TF_Status* status) {
  tl_gil gil;
  TF_Server* made = NULL;
  if ((proto_len && !tl_given(proto, "proto", status)) || !tl_enter(&gil, status))
    return NULL;
  PyObject* pair = tl_call(status, "servers.new_server", "(y#)", proto_len ? proto : "",
                           (Py_ssize_t)proto_len);
  const char* target =
      pair == NULL ? NULL : PyUnicode_AsUTF8(PyTuple_GET_ITEM(pair, 1));
  if (target != NULL) made = calloc(1, sizeof *made);
  if (made != NULL) {
    made->server = Py_NewRef(PyTuple_GET_ITEM(pair, 0));
    made->target = strdup(target);
  }
  Py_XDECREF(pair);
  tl_leave(gil);
  return made;
}

static void call(TF_Server* server, const char* function, TF_Status* status) {
  tl_gil gil;
  if (!tl_given(server, "server", status) || !tl_enter(&gil, status)) return;
  tl_do(status, function, "(O)", server->server);
  tl_leave(gil);
}

void TF_ServerStart(TF_Server* server, TF_Status* status) {
  call(server, "servers.start", status);
}

void TF_ServerStop(TF_Server* server, TF_Status* status) {
  call(server, "servers.stop", status);
}

void TF_ServerJoin(TF_Server* server, TF_Status* status) {
  call(server, "servers.join", status);
}

const char* TF_ServerTarget(TF_Server* server) { return server ? server->target : NULL; }

void TF_DeleteServer(TF_Server* server) {
  if (server == NULL) return;
  call(server, "servers.stop", NULL);
  tl_drop(server->server);
  free(server->target);
  free(server);
}

/* --- The log ------------------------------------------------------------------- */

static PyObject* emit(PyObject* capsule, PyObject* line) {
  void (*listener)(const char*);
  void* address = PyCapsule_GetPointer(capsule, "listener");
  const char* text = PyUnicode_AsUTF8(line);
  if (address == NULL || text == NULL) return NULL;
  memcpy(&listener, &address, sizeof listener);
  listener(text);
  Py_RETURN_NONE;
}

static PyMethodDef emit_method = {"emit", emit, METH_O, "Calls a listener of C."};

void TF_RegisterLogListener(void (*listener)(const char*)) {
  tl_gil gil;
  void* address;
  if (listener == NULL || !tl_enter(&gil, NULL)) return;
  memcpy(&address, &listener, sizeof address);
  PyObject* capsule = PyCapsule_New(address, "listener", NULL);
  PyObject* function = capsule ? PyCFunction_New(&emit_method, capsule) : NULL;
  if (function != NULL)
    tl_do(NULL, "servers.listen_to_log", "(O)", function);
  else
    PyErr_Clear();
  Py_XDECREF(function), Py_XDECREF(capsule);
  tl_leave(gil);
}
