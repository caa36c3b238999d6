/* Ops, kernels, libraries of them, and how ops are shown. */
#include <stdlib.h>

#include "bridge.h"

/* A buffer with the bytes that a function of Python gives; NULL for None. */
static TF_Buffer* new_buffer(PyObject* bytes, TF_Status* status) {
  TF_Buffer* buffer = NULL;
  if (bytes != NULL && bytes != Py_None) {
    buffer = TF_NewBuffer();
    if (buffer != NULL &&
        !tl_fill_buffer(buffer, PyBytes_AS_STRING(bytes),
                        (size_t)PyBytes_GET_SIZE(bytes), status)) {
      TF_DeleteBuffer(buffer);
      buffer = NULL;
    }
  }
  Py_XDECREF(bytes);
  return buffer;
}

TF_Buffer* TF_GetAllOpList(void) {
  tl_gil gil;
  if (!tl_enter(&gil, NULL)) return NULL;
  TF_Buffer* buffer = new_buffer(tl_call(NULL, "registries.all_ops", "()"), NULL);
  tl_leave(gil);
  return buffer;
}

TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status) {
  tl_gil gil;
  if (!tl_enter(&gil, status)) return NULL;
  TF_Buffer* buffer =
      new_buffer(tl_call(status, "registries.all_kernels", "()"), status);
  tl_leave(gil);
  return buffer;
}

TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status) {
  tl_gil gil;
  if (!tl_given(name, "name", status) || !tl_enter(&gil, status)) return NULL;
  TF_Buffer* buffer =
      new_buffer(tl_call(status, "registries.kernels_of", "(s)", name), status);
  tl_leave(gil);
  return buffer;
}

/* --- Libraries ----------------------------------------------------------------- */

struct TF_Library {
  TF_Buffer* op_list;
};

TF_Library* TF_LoadLibrary(const char* library_filename, TF_Status* status) {
  tl_gil gil;
  TF_Library* library = NULL;
  if (!tl_given(library_filename, "library_filename", status) ||
      !tl_enter(&gil, status))
    return NULL;
  TF_Buffer* ops = new_buffer(
      tl_call(status, "registries.load_library", "(s)", library_filename), status);
  if (ops != NULL) library = calloc(1, sizeof *library);
  if (library != NULL)
    library->op_list = ops;
  else
    TF_DeleteBuffer(ops);
  tl_leave(gil);
  return library;
}

TF_Buffer TF_GetOpList(TF_Library* library) {
  return TF_GetBuffer(library == NULL ? NULL : library->op_list);
}

void TF_DeleteLibraryHandle(TF_Library* library) {
  if (library == NULL) return;
  TF_DeleteBuffer(library->op_list);
  free(library);
}

/* --- ApiDefs ------------------------------------------------------------------- */

struct TF_ApiDefMap {
  PyObject* map; /* capi.api_defs.ApiDefMap */
};

TF_ApiDefMap* TF_NewApiDefMap(TF_Buffer* op_list_buffer, TF_Status* status) {
  tl_gil gil;
  TF_ApiDefMap* made = NULL;
  if (!tl_given(op_list_buffer, "op_list_buffer", status) || !tl_enter(&gil, status))
    return NULL;
  PyObject* map =
      tl_call(status, "api_defs.ApiDefMap", "(y#)",
              op_list_buffer->length ? op_list_buffer->data : "",
              (Py_ssize_t)op_list_buffer->length);
  if (map != NULL) made = calloc(1, sizeof *made);
  if (made != NULL)
    made->map = map;
  else
    Py_XDECREF(map);
  tl_leave(gil);
  return made;
}

void TF_DeleteApiDefMap(TF_ApiDefMap* map) {
  if (map == NULL) return;
  tl_drop(map->map);
  free(map);
}

void TF_ApiDefMapPut(TF_ApiDefMap* map, const char* text, size_t text_len,
                     TF_Status* status) {
  tl_gil gil;
  if (!tl_given(map, "api_def_map", status) ||
      (text_len && !tl_given(text, "text", status)) || !tl_enter(&gil, status))
    return;
  tl_do(status, "api_defs.put", "(Oy#)", map->map, text_len ? text : "",
        (Py_ssize_t)text_len);
  tl_leave(gil);
}

TF_Buffer* TF_ApiDefMapGet(TF_ApiDefMap* map, const char* name, size_t name_len,
                           TF_Status* status) {
  tl_gil gil;
  if (!tl_given(map, "api_def_map", status) || !tl_given(name, "name", status) ||
      !tl_enter(&gil, status))
    return NULL;
  TF_Buffer* buffer =
      new_buffer(tl_call(status, "api_defs.get", "(Os#)", map->map, name,
                         (Py_ssize_t)name_len),
                 status);
  tl_leave(gil);
  return buffer;
}
