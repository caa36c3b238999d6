/* Strings as TensorFlow 1.15 lays them out. */
#include "checks.h"

static void codec(void) {
  char encoded[300], text[200];
  const char* decoded;
  size_t length, sizes[] = {0, 1, 127, 128, 200};
  memset(text, 'x', sizeof text);
  for (int i = 0; i < 5; i++) {
    size_t size = TF_StringEncodedSize(sizes[i]);
    size_t wrote = TF_StringEncode(text, sizes[i], encoded, sizeof encoded, status);
    printf("%zu %zu %d\n", size, wrote, TF_GetCode(status));
    size_t read = TF_StringDecode(encoded, wrote, &decoded, &length, status);
    printf("  %zu %zu %d %d\n", read, length, memcmp(decoded, text, length),
           TF_GetCode(status));
  }
  CODE(TF_StringEncode("abcdef", 6, encoded, 6, status));
  TF_StringEncode("abcdef", 6, encoded, 7, status);
  CODE(TF_StringDecode("\x80\x80", 2, &decoded, &length, status));
}

static TF_Tensor* strings(const char** values, int count) {
  int64_t dims[] = {count};
  size_t length = 8 * (size_t)count;
  for (int i = 0; i < count; i++) length += TF_StringEncodedSize(strlen(values[i]));
  TF_Tensor* tensor = TF_AllocateTensor(TF_STRING, dims, 1, length);
  char* table = TF_TensorData(tensor);
  size_t at = 8 * (size_t)count;
  for (int i = 0; i < count; i++) {
    uint64_t start = at - 8 * (size_t)count;
    memcpy(table + 8 * i, &start, 8);
    at += TF_StringEncode(values[i], strlen(values[i]), table + at, length - at, status);
  }
  return tensor;
}

static void show_strings(const char* what, TF_Tensor* tensor) {
  printf("%s: type %d rank %d:", what, TF_TensorType(tensor), TF_NumDims(tensor));
  int64_t count = TF_TensorElementCount(tensor);
  const char* table = TF_TensorData(tensor);
  for (int64_t i = 0; i < count; i++) {
    uint64_t start;
    const char* text;
    size_t length;
    memcpy(&start, table + 8 * i, 8);
    const char* at = table + 8 * count + start;
    size_t rest = TF_TensorByteSize(tensor) - (size_t)(at - table);
    OK(TF_StringDecode(at, rest, &text, &length, status));
    printf(" '%.*s'", (int)length, text);
  }
  printf(" (%zu bytes)\n", TF_TensorByteSize(tensor));
  TF_DeleteTensor(tensor);
}

int main(void) {
  begin();
  codec();
  const char* words[] = {"tensor", "", "a somewhat longer string"};
  TF_Operation* x = placeholder(graph, "x", TF_STRING);
  TF_OperationDescription* desc = TF_NewOperation(graph, "StringJoin", "joined");
  TF_Output both[] = {out(x), out(x)};
  TF_AddInputList(desc, both, 2);
  TF_SetAttrString(desc, "separator", "-", 1);
  TF_Operation* joined;
  OK(joined = TF_FinishOperation(desc, status));
  TF_Operation* kept = constant(graph, "kept", strings(words, 3));
  TF_Session* session = session_of(graph);
  TF_Tensor* result;
  OK(result = run(session, out(joined), out(x), strings(words, 3)));
  show_strings("joined", result);
  OK(result = fetch(session, kept));
  show_strings("constant", result);
  TF_Tensor* value;
  OK(TF_OperationGetAttrTensor(kept, "value", &value, status));
  show_strings("attr", value);
  /* Bytes that are no strings. */
  TF_Tensor* bad = strings(words, 3);
  memset(TF_TensorData(bad), 0x7f, 24);
  CODE(result = run(session, out(joined), out(x), bad));
  int64_t dims[] = {4};
  bad = TF_AllocateTensor(TF_STRING, dims, 1, 8);
  CODE(result = run(session, out(joined), out(x), bad));
  end_session(session);
  end();
  return 0;
}
