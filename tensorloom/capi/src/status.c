/* TF_Status: a code and a message. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

TF_Status* TF_NewStatus(void) { return calloc(1, sizeof(TF_Status)); }

void TF_DeleteStatus(TF_Status* status) {
  if (status == NULL) return;
  free(status->message);
  free(status);
}

void TF_SetStatus(TF_Status* status, TF_Code code, const char* message) {
  if (status == NULL) return;
  /* The message may be the status's own: it is copied before that is freed. */
  char* copy = code == TF_OK || message == NULL || *message == '\0' ? NULL
                                                                   : strdup(message);
  free(status->message);
  status->code = code;
  status->message = copy;
}

TF_Code TF_GetCode(const TF_Status* status) {
  return status == NULL ? TF_INVALID_ARGUMENT : status->code;
}

const char* TF_Message(const TF_Status* status) {
  if (status == NULL) return "status is NULL";
  return status->message == NULL ? "" : status->message;
}

void tl_ok(TF_Status* status) {
  if (status == NULL) return;
  if (status->message != NULL) {
    free(status->message);
    status->message = NULL;
  }
  status->code = TF_OK;
}

void tl_fail(TF_Status* status, TF_Code code, const char* format, ...) {
  if (status == NULL) return;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  TF_SetStatus(status, code, text);
}

int tl_given(const void* pointer, const char* what, TF_Status* status) {
  if (pointer != NULL) return 1;
  tl_fail(status, TF_INVALID_ARGUMENT, "%s is NULL", what);
  return 0;
}

int tl_array_given(const void* array, int64_t count, const char* what,
                   TF_Status* status) {
  if (count >= 0 && (count == 0 || array != NULL)) return 1;
  if (count < 0)
    tl_fail(status, TF_INVALID_ARGUMENT, "the number of %s is %lld", what,
            (long long)count);
  else
    tl_fail(status, TF_INVALID_ARGUMENT, "the array of %s is NULL", what);
  return 0;
}
