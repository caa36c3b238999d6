/* An eager context that joins a cluster of servers of this process: ops on the devices of
   other tasks, and what becomes of their values. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/eager/c_api.h"

enum { TASKS = 3 };

static TF_Status* status;
static TFE_Context* context;
static int ports[TASKS];

static void ok(const char* what) {
  if (TF_GetCode(status) == TF_OK) return;
  printf("%s: %d %s\n", what, (int)TF_GetCode(status), TF_Message(status));
  exit(1);
}

static void code(const char* what) {
  printf("%s: code %d\n", what, (int)TF_GetCode(status));
  TF_SetStatus(status, TF_OK, "");
}

/* --- Servers ------------------------------------------------------------------- */

/* Ports that are free now, held until all are known. */
static void find_ports(void) {
  int sockets[TASKS];
  for (int i = 0; i < TASKS; i++) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockets[i] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(sockets[i], (struct sockaddr*)&address, length) != 0) exit(1);
    getsockname(sockets[i], (struct sockaddr*)&address, &length);
    ports[i] = ntohs(address.sin_port);
  }
  for (int i = 0; i < TASKS; i++) close(sockets[i]);
}

/* A field of a message that has bytes: its number, their length, the bytes. */
static size_t field(char* out, int number, const char* bytes, size_t length) {
  out[0] = (char)(number << 3 | 2);
  out[1] = (char)length;
  memcpy(out + 2, bytes, length);
  return length + 2;
}

/* A ServerDef of a task of the cluster, in fewer than 128 bytes; its length. */
static size_t server_def(char* out, const char* job, int task) {
  char tasks[120], cluster[124];
  size_t used = field(tasks, 1, "worker", 6);
  for (int i = 0; i < TASKS; i++) {
    char address[24], entry[28] = {0x08, (char)i};
    int length = snprintf(address, sizeof address, "localhost:%d", ports[i]);
    size_t entry_length = 2 + field(entry + 2, 2, address, (size_t)length);
    used += field(tasks + used, 2, entry, entry_length);
  }
  used = field(cluster, 1, tasks, used);
  used = field(out, 1, cluster, used);
  used += field(out + used, 2, job, strlen(job));
  out[used++] = 0x18;
  out[used++] = (char)task;
  return used + field(out + used, 5, "grpc", 4);
}

static TF_Server* start(int task) {
  char def[256];
  TF_Server* server = TF_NewServer(def, server_def(def, "worker", task), status);
  ok("TF_NewServer");
  TF_ServerStart(server, status);
  ok("TF_ServerStart");
  return server;
}

/* --- Values and ops ------------------------------------------------------------ */

static TFE_TensorHandle* handle(const int64_t* dims, int rank, const float* values,
                                int count) {
  size_t length = sizeof(float) * (size_t)count;
  TF_Tensor* tensor = TF_AllocateTensor(TF_FLOAT, dims, rank, length);
  memcpy(TF_TensorData(tensor), values, length);
  TFE_TensorHandle* made = TFE_NewTensorHandle(tensor, status);
  ok("TFE_NewTensorHandle");
  TF_DeleteTensor(tensor);
  return made;
}

static TFE_Op* op_on(const char* device, const char* name, TFE_TensorHandle* a,
                     TFE_TensorHandle* b) {
  TFE_Op* op = TFE_NewOp(context, name, status);
  ok(name);
  TFE_OpSetDevice(op, device, status);
  if (TF_GetCode(status) != TF_OK) code(device);
  if (a != NULL) TFE_OpAddInput(op, a, status);
  if (b != NULL) TFE_OpAddInput(op, b, status);
  ok("TFE_OpAddInput");
  return op;
}

/* Runs an op with one result or none, and deletes it. NULL with a line if it fails. */
static TFE_TensorHandle* run(TFE_Op* op, const char* what, int results) {
  TFE_TensorHandle* result = NULL;
  TFE_Execute(op, &result, &results, status);
  if (TF_GetCode(status) != TF_OK) code(what);
  TFE_DeleteOp(op);
  return result;
}

static void show(const char* what, TFE_TensorHandle* h) {
  printf("%s: [", what);
  int rank = TFE_TensorHandleNumDims(h, status);
  ok("TFE_TensorHandleNumDims");
  for (int i = 0; i < rank; i++)
    printf(i ? ",%lld" : "%lld", (long long)TFE_TensorHandleDim(h, i, status));
  printf("] on %s:", TFE_TensorHandleDeviceName(h, status));
  /* TensorFlow resolves what is on another task only once it was copied. */
  TFE_TensorHandle* here = TFE_TensorHandleCopyToDevice(
      h, context, "/job:worker/replica:0/task:0/device:CPU:0", status);
  ok("TFE_TensorHandleCopyToDevice");
  TF_Tensor* tensor = TFE_TensorHandleResolve(here, status);
  ok("TFE_TensorHandleResolve");
  for (int64_t i = 0; i < TF_TensorElementCount(tensor); i++)
    printf(" %g", ((const float*)TF_TensorData(tensor))[i]);
  printf("\n");
  TF_DeleteTensor(tensor);
  TFE_DeleteTensorHandle(here);
}

static void show_and_delete(const char* what, TFE_TensorHandle* h) {
  show(what, h);
  TFE_DeleteTensorHandle(h);
}

#define TASK_1 "/job:worker/replica:0/task:1/device:CPU:0"
#define TASK_2 "/job:worker/replica:0/task:2/device:CPU:0"

static void list_devices(void) {
  TF_DeviceList* list = TFE_ContextListDevices(context, status);
  ok("TFE_ContextListDevices");
  for (int i = 0; i < TF_DeviceListCount(list); i++)
    if (strcmp(TF_DeviceListType(list, i, status), "CPU") == 0)
      printf("device %s\n", TF_DeviceListName(list, i, status));
  TF_DeleteDeviceList(list);
}

static void variables(TFE_TensorHandle* value) {
  TFE_Op* op = op_on(TASK_1, "VarHandleOp", NULL, NULL);
  int64_t dims[] = {2, 2};
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  TFE_OpSetAttrShape(op, "shape", dims, 2, status);
  TFE_OpSetAttrString(op, "container", "", 0);
  TFE_OpSetAttrString(op, "shared_name", "v", 1);
  TFE_TensorHandle* variable = run(op, "VarHandleOp", 1);
  op = op_on(TASK_1, "ReadVariableOp", variable, NULL);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  run(op, "ReadVariableOp before a value", 1);
  run(op_on(TASK_1, "AssignVariableOp", variable, value), "AssignVariableOp", 0);
  run(op_on(TASK_1, "AssignAddVariableOp", variable, value), "AssignAddVariableOp", 0);
  op = op_on(TASK_1, "ReadVariableOp", variable, NULL);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  show_and_delete("the variable", run(op, "ReadVariableOp", 1));
  TFE_DeleteTensorHandle(variable);
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  char def[256];
  const int64_t square[] = {2, 2}, row[] = {3};
  const float values[] = {1, 2, 3, 4};
  status = TF_NewStatus();
  find_ports();
  TF_Server* servers[] = {NULL, start(1), start(2)};
  TFE_ContextOptions* options = TFE_NewContextOptions();
  context = TFE_NewContext(options, status);
  ok("TFE_NewContext");
  TFE_DeleteContextOptions(options);

  TFE_ContextSetServerDef(context, 0, "\xff", 1, status);
  code("no ServerDef");
  size_t length = server_def(def, "worker", 0);
  TFE_ContextSetServerDef(context, 0, def, length, status);
  ok("TFE_ContextSetServerDef");
  list_devices();

  TFE_TensorHandle* x = handle(square, 2, values, 4);
  TFE_TensorHandle* short_row = handle(row, 1, values, 3);
  TFE_TensorHandle* on_1 = run(op_on(TASK_1, "MatMul", x, x), "MatMul", 1);
  show("of values here", on_1);
  TFE_TensorHandle* again = run(op_on(TASK_1, "MatMul", on_1, x), "MatMul", 1);
  show_and_delete("of one there", again);
  TFE_TensorHandle* on_2 = run(op_on(TASK_2, "Mul", on_1, on_1), "Mul", 1);
  show("of another task's", on_2);
  TFE_TensorHandle* moved = TFE_TensorHandleCopyToDevice(x, context, TASK_2, status);
  ok("TFE_TensorHandleCopyToDevice");
  show("sent", moved);
  show_and_delete("of both", run(op_on(TASK_2, "Sub", on_2, moved), "Sub", 1));
  TFE_TensorHandle* local = run(
      op_on("/job:worker/replica:0/task:0/device:CPU:0", "Add", x, x), "Add", 1);
  show_and_delete("here", local);
  variables(x);

  /* What fails there, and goes on afterwards. */
  run(op_on(TASK_1, "MatMul", x, short_row), "shapes that do not fit", 1);
  run(op_on("/job:worker/replica:0/task:7/device:CPU:0", "Neg", x, NULL), "no such task",
      1);
  show_and_delete("after them", run(op_on(TASK_1, "Neg", on_1, NULL), "Neg", 1));

  TFE_DeleteTensorHandle(x), TFE_DeleteTensorHandle(short_row);
  TFE_DeleteTensorHandle(on_1), TFE_DeleteTensorHandle(on_2);
  TFE_DeleteTensorHandle(moved);
  puts("end");
  fflush(stdout);
  _exit(servers[1] == NULL); /* TensorFlow's servers cannot be stopped */
}
