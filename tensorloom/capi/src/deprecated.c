/* The sessions of the API before TF_NewSession: names to link to. */
#include "memory.h"

static void refuse(const char* function, TF_Status* status) {
  tl_fail(status, TF_UNIMPLEMENTED,
          "%s is of the sessions before TF_NewSession, which this library does not have",
          function);
}

static void clear(TF_Tensor** outputs, int noutputs) {
  for (int i = 0; outputs != NULL && i < noutputs; i++) outputs[i] = NULL;
}

TF_DeprecatedSession* TF_NewDeprecatedSession(const TF_SessionOptions* options,
                                              TF_Status* status) {
  (void)options;
  refuse(__func__, status);
  return NULL;
}

void TF_CloseDeprecatedSession(TF_DeprecatedSession* session, TF_Status* status) {
  (void)session;
  refuse(__func__, status);
}

void TF_DeleteDeprecatedSession(TF_DeprecatedSession* session, TF_Status* status) {
  if (session == NULL) TF_SetStatus(status, TF_OK, "");
  else refuse(__func__, status);
}

void TF_Reset(const TF_SessionOptions* opt, const char** containers, int ncontainers,
              TF_Status* status) {
  (void)opt, (void)containers, (void)ncontainers;
  refuse(__func__, status);
}

void TF_ExtendGraph(TF_DeprecatedSession* session, const void* proto, size_t proto_len,
                    TF_Status* status) {
  (void)session, (void)proto, (void)proto_len;
  refuse(__func__, status);
}

void TF_Run(TF_DeprecatedSession* session, const TF_Buffer* run_options,
            const char** input_names, TF_Tensor** inputs, int ninputs,
            const char** output_names, TF_Tensor** outputs, int noutputs,
            const char** target_oper_names, int ntargets, TF_Buffer* run_metadata,
            TF_Status* status) {
  (void)session, (void)run_options, (void)input_names, (void)inputs, (void)ninputs;
  (void)output_names, (void)target_oper_names, (void)ntargets, (void)run_metadata;
  clear(outputs, noutputs);
  refuse(__func__, status);
}

void TF_PRunSetup(TF_DeprecatedSession* session, const char** input_names, int ninputs,
                  const char** output_names, int noutputs,
                  const char** target_oper_names, int ntargets, const char** handle,
                  TF_Status* status) {
  (void)session, (void)input_names, (void)ninputs, (void)output_names, (void)noutputs;
  (void)target_oper_names, (void)ntargets;
  if (handle != NULL) *handle = NULL;
  refuse(__func__, status);
}

void TF_PRun(TF_DeprecatedSession* session, const char* handle,
             const char** input_names, TF_Tensor** inputs, int ninputs,
             const char** output_names, TF_Tensor** outputs, int noutputs,
             const char** target_oper_names, int ntargets, TF_Status* status) {
  (void)session, (void)handle, (void)input_names, (void)inputs, (void)ninputs;
  (void)output_names, (void)target_oper_names, (void)ntargets;
  clear(outputs, noutputs);
  refuse(__func__, status);
}

TF_DeviceList* TF_DeprecatedSessionListDevices(TF_DeprecatedSession* session,
                                               TF_Status* status) {
  (void)session;
  refuse(__func__, status);
  return NULL;
}
