/* TF_SessionOptions: the target and the config of a session. */
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

TF_SessionOptions* TF_NewSessionOptions(void) {
  return calloc(1, sizeof(TF_SessionOptions));
}

void TF_SetTarget(TF_SessionOptions* options, const char* target) {
  if (options == NULL) return;
  free(options->target);
  options->target = target == NULL ? NULL : strdup(target);
}

void tl_set_config(PyObject** held, const void* proto, size_t proto_len,
                   TF_Status* status) {
  tl_gil gil;
  if ((proto_len != 0 && !tl_given(proto, "proto", status)) || !tl_enter(&gil, status))
    return;
  PyObject* config = tl_call(status, "sessions.checked_config", "(y#)",
                             proto_len ? proto : "", (Py_ssize_t)proto_len);
  if (config != NULL) Py_XSETREF(*held, config);
  tl_leave(gil);
}

void TF_SetConfig(TF_SessionOptions* options, const void* proto, size_t proto_len,
                  TF_Status* status) {
  if (tl_given(options, "options", status))
    tl_set_config(&options->config, proto, proto_len, status);
}

void TF_DeleteSessionOptions(TF_SessionOptions* options) {
  if (options == NULL) return;
  free(options->target);
  tl_drop(options->config);
  free(options);
}
