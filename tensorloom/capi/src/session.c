/* TF_Session: a graph with a master that runs it. */
#include "session.h"

#include <stdlib.h>

TF_Session* tl_session(PyObject* session, TF_Graph* graph, TF_Status* status) {
  TF_Session* made = session == NULL ? NULL : calloc(1, sizeof *made);
  if (made == NULL || (made->plans = PyDict_New()) == NULL) {
    if (session != NULL) tl_fail(status, TF_RESOURCE_EXHAUSTED, "no memory");
    free(made);
    Py_XDECREF(session);
    return NULL;
  }
  made->session = session;
  made->graph = graph;
  tl_graph_hold(graph);
  return made;
}

TF_Session* TF_NewSession(TF_Graph* graph, const TF_SessionOptions* opts,
                          TF_Status* status) {
  tl_gil gil;
  if (!tl_given(graph, "graph", status) || !tl_given(opts, "opts", status) ||
      !tl_enter(&gil, status))
    return NULL;
  PyObject* session =
      tl_call(status, "sessions.new_session", "(OzO)", graph->graph, opts->target,
              opts->config ? opts->config : Py_None);
  TF_Session* made = tl_session(session, graph, status);
  tl_leave(gil);
  return made;
}

TF_Session* TF_LoadSessionFromSavedModel(const TF_SessionOptions* options,
                                         const TF_Buffer* run_options,
                                         const char* export_dir,
                                         const char* const* tags, int tags_len,
                                         TF_Graph* graph, TF_Buffer* meta_graph_def,
                                         TF_Status* status) {
  tl_gil gil;
  TF_Session* made = NULL;
  if (!tl_given(options, "session_options", status) ||
      !tl_given(export_dir, "export_dir", status) ||
      !tl_given(graph, "graph", status) ||
      !tl_array_given(tags, tags_len, "tags", status) || !tl_enter(&gil, status))
    return NULL;
  PyObject* names = PyList_New(tags_len);
  for (int i = 0; names != NULL && i < tags_len; i++) {
    PyObject* tag = Py_BuildValue("z", tags[i]);
    if (tag == NULL) Py_CLEAR(names);
    else PyList_SET_ITEM(names, i, tag);
  }
  PyObject* pair = NULL;
  if (names == NULL)
    tl_raised(status);
  else
    pair = tl_call(status, "sessions.load_saved_model", "(OzOy#sN)", graph->graph,
                   options->target, options->config ? options->config : Py_None,
                   run_options && run_options->length ? run_options->data : "",
                   (Py_ssize_t)(run_options ? run_options->length : 0), export_dir,
                   names);
  if (pair != NULL) {
    PyObject* message = PyTuple_GET_ITEM(pair, 1);
    if (meta_graph_def == NULL ||
        tl_fill_buffer(meta_graph_def, PyBytes_AS_STRING(message),
                       (size_t)PyBytes_GET_SIZE(message), status))
      made = tl_session(Py_NewRef(PyTuple_GET_ITEM(pair, 0)), graph, status);
    Py_DECREF(pair);
  }
  tl_leave(gil);
  return made;
}

void TF_CloseSession(TF_Session* session, TF_Status* status) {
  tl_gil gil;
  if (!tl_given(session, "session", status) || !tl_enter(&gil, status)) return;
  tl_do(status, "sessions.close", "(O)", session->session);
  tl_leave(gil);
}

void TF_DeleteSession(TF_Session* session, TF_Status* status) {
  tl_gil gil;
  tl_ok(status);
  if (session == NULL || !tl_enter(&gil, status)) return;
  tl_do(status, "sessions.close", "(O)", session->session);
  Py_DECREF(session->plans);
  Py_DECREF(session->session);
  tl_graph_release(session->graph);
  tl_leave(gil);
  free(session);
}
