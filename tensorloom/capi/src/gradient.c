/* TF_AddGradients*: the gradients of every op, for every language. */
#include "bridge.h"

void TF_AddGradientsWithPrefix(TF_Graph* graph, const char* prefix, TF_Output* y,
                               int ny, TF_Output* x, int nx, TF_Output* dx,
                               TF_Status* status, TF_Output* dy) {
  tl_gil gil;
  if (!tl_given(graph, "g", status) || !tl_array_given(dy, nx, "dy", status) ||
      !tl_enter(&gil, status))
    return;
  PyObject* ys = tl_output_list(y, ny, "y", status);
  PyObject* xs = ys ? tl_output_list(x, nx, "x", status) : NULL;
  PyObject* given = NULL;
  if (xs != NULL)
    given = dx ? tl_output_list(dx, ny, "dx", status) : Py_NewRef(Py_None);
  if (given != NULL) {
    PyObject* found = tl_call(status, "gradients.add_gradients", "(OzOOO)",
                              graph->graph, prefix, ys, xs, given);
    if (found != NULL) tl_put_outputs(graph, found, dy, nx, status);
    Py_XDECREF(found);
  }
  Py_XDECREF(ys), Py_XDECREF(xs), Py_XDECREF(given);
  tl_leave(gil);
}

void TF_AddGradients(TF_Graph* graph, TF_Output* y, int ny, TF_Output* x, int nx,
                     TF_Output* dx, TF_Status* status, TF_Output* dy) {
  TF_AddGradientsWithPrefix(graph, NULL, y, ny, x, nx, dx, status, dy);
}
