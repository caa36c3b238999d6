/* TFE_Context: devices, functions and steps of ops that run one at a time. */
#include <stdlib.h>

#include "eager.h"

struct TFE_ContextOptions {
  PyObject* config; /* bytes; NULL if there is none */
  int policy;
};

/* --- Options ------------------------------------------------------------------- */

TFE_ContextOptions* TFE_NewContextOptions(void) {
  TFE_ContextOptions* options = calloc(1, sizeof *options);
  if (options != NULL) options->policy = TFE_DEVICE_PLACEMENT_SILENT;
  return options;
}

void TFE_ContextOptionsSetConfig(TFE_ContextOptions* options, const void* proto,
                                 size_t proto_len, TF_Status* status) {
  if (tl_given(options, "options", status))
    tl_set_config(&options->config, proto, proto_len, status);
}

void TFE_ContextOptionsSetAsync(TFE_ContextOptions* options, unsigned char enable) {
  (void)options, (void)enable;
}

void TFE_ContextOptionsSetDevicePlacementPolicy(
    TFE_ContextOptions* options, TFE_ContextDevicePlacementPolicy policy) {
  if (options != NULL) options->policy = policy;
}

void TFE_DeleteContextOptions(TFE_ContextOptions* options) {
  if (options == NULL) return;
  tl_drop(options->config);
  free(options);
}

/* --- Contexts ------------------------------------------------------------------ */

TFE_Context* TFE_NewContext(const TFE_ContextOptions* opts, TF_Status* status) {
  tl_gil gil;
  if (!tl_given(opts, "opts", status)) return NULL;
  TFE_Context* made = calloc(1, sizeof *made);
  if (made == NULL) {
    tl_fail(status, TF_RESOURCE_EXHAUSTED, "no memory");
    return NULL;
  }
  if (tl_enter(&gil, status)) {
    made->context = tl_call(status, "eager.new_context", "(Oi)",
                            opts->config ? opts->config : Py_None, opts->policy);
    tl_leave(gil);
  }
  if (made->context != NULL) return made;
  free(made);
  return NULL;
}

/* Calls a function of Python with the context alone, where nothing can go wrong. */
static void do_with(TFE_Context* ctx, const char* function) {
  tl_gil gil;
  if (ctx == NULL || !tl_enter(&gil, NULL)) return;
  tl_do(NULL, function, "(O)", ctx->context);
  tl_leave(gil);
}

void TFE_DeleteContext(TFE_Context* ctx) {
  if (ctx == NULL) return;
  do_with(ctx, "eager.close");
  tl_drop(ctx->context);
  free(ctx);
}

TF_DeviceList* TFE_ContextListDevices(TFE_Context* ctx, TF_Status* status) {
  tl_gil gil;
  TF_DeviceList* list = NULL;
  if (!tl_given(ctx, "ctx", status) || !tl_enter(&gil, status)) return NULL;
  PyObject* devices = tl_call(status, "eager.devices", "(O)", ctx->context);
  if (devices != NULL) list = tl_device_list(devices, status);
  Py_XDECREF(devices);
  tl_leave(gil);
  return list;
}

void TFE_ContextClearCaches(TFE_Context* ctx) { do_with(ctx, "eager.clear_caches"); }

void TFE_ContextSetThreadLocalDevicePlacementPolicy(
    TFE_Context* ctx, TFE_ContextDevicePlacementPolicy policy) {
  tl_gil gil;
  if (ctx == NULL || !tl_enter(&gil, NULL)) return;
  tl_do(NULL, "eager.set_thread_policy", "(Oi)", ctx->context, (int)policy);
  tl_leave(gil);
}

TFE_ContextDevicePlacementPolicy TFE_ContextGetDevicePlacementPolicy(TFE_Context* ctx) {
  tl_gil gil;
  long long policy = TFE_DEVICE_PLACEMENT_SILENT;
  if (ctx != NULL && tl_enter(&gil, NULL)) {
    policy = tl_number(NULL, policy, "eager.policy", "(O)", ctx->context);
    tl_leave(gil);
  }
  return (TFE_ContextDevicePlacementPolicy)policy;
}

void TFE_ContextSetServerDef(TFE_Context* ctx, int keep_alive_secs, const void* proto,
                             size_t proto_len, TF_Status* status) {
  tl_gil gil;
  (void)keep_alive_secs; /* the session lasts as long as the context */
  if (!tl_given(ctx, "ctx", status) || (proto_len && !tl_given(proto, "proto", status)) ||
      !tl_enter(&gil, status))
    return;
  tl_do(status, "eager.join_cluster", "(Oy#)", ctx->context, proto_len ? proto : "",
        (Py_ssize_t)proto_len);
  tl_leave(gil);
}

/* --- Functions ----------------------------------------------------------------- */

void TFE_ContextAddFunctionDef(TFE_Context* ctx, const char* serialized_function_def,
                               size_t size, TF_Status* status) {
  tl_gil gil;
  if (!tl_given(ctx, "ctx", status) ||
      !tl_given(serialized_function_def, "serialized_function_def", status) ||
      !tl_enter(&gil, status))
    return;
  tl_do(status, "eager.add_function", "(Oy#)", ctx->context, serialized_function_def,
        (Py_ssize_t)size);
  tl_leave(gil);
}

void TFE_ContextAddFunction(TFE_Context* ctx, TF_Function* function, TF_Status* status) {
  if (!tl_given(ctx, "ctx", status) || !tl_given(function, "function", status)) return;
  TF_Buffer* definition = TF_NewBuffer();
  TF_FunctionToFunctionDef(function, definition, status);
  if (TF_GetCode(status) == TF_OK)
    TFE_ContextAddFunctionDef(ctx, definition->data, definition->length, status);
  TF_DeleteBuffer(definition);
}

void TFE_ContextRemoveFunction(TFE_Context* ctx, const char* name, TF_Status* status) {
  tl_gil gil;
  if (!tl_given(ctx, "ctx", status) || !tl_given(name, "name", status) ||
      !tl_enter(&gil, status))
    return;
  tl_do(status, "eager.remove_function", "(Oy)", ctx->context, name);
  tl_leave(gil);
}

unsigned char TFE_ContextHasFunction(TFE_Context* ctx, const char* name) {
  tl_gil gil;
  long long found = 0;
  if (ctx != NULL && name != NULL && tl_enter(&gil, NULL)) {
    found = tl_number(NULL, 0, "eager.has_function", "(Oy)", ctx->context, name);
    tl_leave(gil);
  }
  return found != 0;
}

/* --- Steps and records --------------------------------------------------------- */

void TFE_ContextEnableRunMetadata(TFE_Context* ctx) { do_with(ctx, "eager.record"); }

void TFE_ContextDisableRunMetadata(TFE_Context* ctx) {
  do_with(ctx, "eager.stop_recording");
}

void TFE_ContextExportRunMetadata(TFE_Context* ctx, TF_Buffer* buf, TF_Status* status) {
  tl_gil gil;
  if (!tl_given(ctx, "ctx", status) || !tl_given(buf, "buf", status) ||
      !tl_enter(&gil, status))
    return;
  tl_message(status, buf, "eager.run_metadata", "(O)", ctx->context);
  tl_leave(gil);
}

void TFE_ContextStartStep(TFE_Context* ctx) { do_with(ctx, "eager.start_step"); }

void TFE_ContextEndStep(TFE_Context* ctx) { do_with(ctx, "eager.end_step"); }
