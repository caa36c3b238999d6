/* TF_DeviceList: the devices that a session can use. */
#include <stdlib.h>
#include <string.h>

#include "session.h"

typedef struct Device {
  char* name;
  char* type;
  int64_t memory_bytes;
  uint64_t incarnation;
} Device;

struct TF_DeviceList {
  int count;
  Device devices[];
};

static int fill(Device* device, PyObject* facts) {
  const char *name, *type;
  long long memory;
  unsigned long long incarnation;
  if (!PyArg_ParseTuple(facts, "ssLK", &name, &type, &memory, &incarnation)) return 0;
  *device = (Device){strdup(name), strdup(type), memory, incarnation};
  return 1;
}

TF_DeviceList* tl_device_list(PyObject* found, TF_Status* status) {
  Py_ssize_t count = PyList_GET_SIZE(found);
  TF_DeviceList* list = calloc(1, sizeof *list + (size_t)count * sizeof(Device));
  if (list == NULL) tl_fail(status, TF_RESOURCE_EXHAUSTED, "no memory");
  for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
    if (fill(&list->devices[i], PyList_GET_ITEM(found, i))) {
      list->count++;
      continue;
    }
    tl_raised(status);
    TF_DeleteDeviceList(list);
    list = NULL;
  }
  return list;
}

TF_DeviceList* TF_SessionListDevices(TF_Session* session, TF_Status* status) {
  tl_gil gil;
  TF_DeviceList* list = NULL;
  if (!tl_given(session, "session", status) || !tl_enter(&gil, status)) return NULL;
  PyObject* found = tl_call(status, "sessions.devices", "(O)", session->session);
  if (found != NULL) list = tl_device_list(found, status);
  Py_XDECREF(found);
  tl_leave(gil);
  return list;
}

void TF_DeleteDeviceList(TF_DeviceList* list) {
  if (list == NULL) return;
  for (int i = 0; i < list->count; i++) {
    free(list->devices[i].name);
    free(list->devices[i].type);
  }
  free(list);
}

int TF_DeviceListCount(const TF_DeviceList* list) { return list ? list->count : 0; }

static const Device* device_at(const TF_DeviceList* list, int index,
                               TF_Status* status) {
  if (list == NULL) {
    tl_fail(status, TF_INVALID_ARGUMENT, "list is null!");
    return NULL;
  }
  if (index < 0 || index >= list->count) {
    tl_fail(status, TF_INVALID_ARGUMENT, "index out of bounds");
    return NULL;
  }
  tl_ok(status);
  return &list->devices[index];
}

const char* TF_DeviceListName(const TF_DeviceList* list, int index, TF_Status* status) {
  const Device* device = device_at(list, index, status);
  return device ? device->name : NULL;
}

const char* TF_DeviceListType(const TF_DeviceList* list, int index, TF_Status* status) {
  const Device* device = device_at(list, index, status);
  return device ? device->type : NULL;
}

int64_t TF_DeviceListMemoryBytes(const TF_DeviceList* list, int index,
                                 TF_Status* status) {
  const Device* device = device_at(list, index, status);
  return device ? device->memory_bytes : -1;
}

uint64_t TF_DeviceListIncarnation(const TF_DeviceList* list, int index,
                                  TF_Status* status) {
  const Device* device = device_at(list, index, status);
  return device ? device->incarnation : 0;
}
