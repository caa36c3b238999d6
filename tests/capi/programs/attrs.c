/* Attrs of every kind, written and read. */
#include "checks.h"

static void metadata(TF_Operation* oper, const char* name) {
  TF_SetStatus(status, TF_OK, "");
  TF_AttrMetadata m = TF_OperationGetAttrMetadata(oper, name, status);
  printf("%s %s: %d", TF_OperationName(oper), name, TF_GetCode(status));
  if (TF_GetCode(status) == TF_OK) {
    printf(" list %d type %d", m.is_list, m.type);
    if (m.is_list) printf(" size %lld", (long long)m.list_size);
    if (m.type == TF_ATTR_STRING || m.type == TF_ATTR_SHAPE)
      printf(" total %lld", (long long)m.total_size);
  }
  puts("");
}

/* An operation whose attrs that begin with an underscore are of any kind. */
static TF_Operation* with_attrs(void) {
  TF_OperationDescription* desc = TF_NewOperation(graph, "NoOp", "all");
  const char* texts[] = {"one", "", "three"};
  size_t lengths[] = {3, 0, 5};
  int64_t ints[] = {1, -2, INT64_MAX}, dims[] = {2, -1}, one[] = {7};
  float numbers[] = {0.5f, -1e30f};
  unsigned char flags[] = {1, 0, 1, 1};
  TF_DataType types[] = {TF_FLOAT, TF_STRING};
  const int64_t* shapes[] = {dims, NULL, one};
  int ranks[] = {2, -1, 1};
  TF_SetAttrString(desc, "_string", "a\0b", 3);
  TF_SetAttrStringList(desc, "_strings", (const void* const*)texts, lengths, 3);
  TF_SetAttrInt(desc, "_int", -5);
  TF_SetAttrIntList(desc, "_ints", ints, 3);
  TF_SetAttrFloat(desc, "_float", 0.1f);
  TF_SetAttrFloatList(desc, "_floats", numbers, 2);
  TF_SetAttrBool(desc, "_bool", 1);
  TF_SetAttrBoolList(desc, "_bools", flags, 4);
  TF_SetAttrType(desc, "_type", TF_COMPLEX64);
  TF_SetAttrTypeList(desc, "_types", types, 2);
  TF_SetAttrShape(desc, "_shape", dims, 2);
  TF_SetAttrShape(desc, "_no_shape", NULL, -1);
  TF_SetAttrShapeList(desc, "_shapes", shapes, ranks, 3);
  TF_SetAttrFuncName(desc, "_func", "f", 1);
  TF_SetAttrIntList(desc, "_nothing", NULL, 0);
  TF_Tensor* value = number(2.5f);
  TF_Tensor* values[] = {value, value};
  OK(TF_SetAttrTensor(desc, "_tensor", value, status));
  OK(TF_SetAttrTensorList(desc, "_tensors", values, 2, status));
  TF_DeleteTensor(value);
  /* A TensorShapeProto of one dimension of size 3; an AttrValue of the int 9. */
  const void* protos[] = {"\x12\x02\x08\x03", "\x18\x01"};
  size_t sizes[] = {4, 2};
  OK(TF_SetAttrTensorShapeProto(desc, "_proto", protos[0], 4, status));
  OK(TF_SetAttrTensorShapeProtoList(desc, "_protos", protos, sizes, 2, status));
  OK(TF_SetAttrValueProto(desc, "_value", "\x18\x09", 2, status));
  CODE(TF_SetAttrTensorShapeProto(desc, "_bad", "\xff", 1, status));
  CODE(TF_SetAttrValueProto(desc, "_bad", "\xff", 1, status));
  TF_Operation* made;
  OK(made = TF_FinishOperation(desc, status));
  return made;
}

static void read_back(TF_Operation* oper) {
  char text[16] = "";
  void* texts[3];
  size_t lengths[3];
  char storage[16];
  int64_t ints[3], dims[3], shape_storage[3];
  int64_t* shapes[3];
  int ranks[3];
  float numbers[2];
  unsigned char flags[4];
  TF_DataType types[2];
  TF_Tensor* tensors[2];
  TF_Buffer* buffers[2];
  CODE(TF_OperationGetAttrString(oper, "_string", text, sizeof text, status));
  printf("%d\n", memcmp(text, "a\0b", 3));
  CODE(TF_OperationGetAttrStringList(oper, "_strings", texts, lengths, 3, storage, 16,
                                     status));
  printf("%.*s %.*s\n", (int)lengths[0], (char*)texts[0], (int)lengths[2],
         (char*)texts[2]);
  CODE(TF_OperationGetAttrStringList(oper, "_strings", texts, lengths, 3, storage, 4,
                                     status));
  CODE(TF_OperationGetAttrInt(oper, "_int", ints, status));
  printf("%lld\n", (long long)ints[0]);
  CODE(TF_OperationGetAttrIntList(oper, "_ints", ints, 3, status));
  printf("%lld %lld %lld\n", (long long)ints[0], (long long)ints[1],
         (long long)ints[2]);
  CODE(TF_OperationGetAttrFloat(oper, "_float", numbers, status));
  printf("%.9g\n", (double)numbers[0]);
  CODE(TF_OperationGetAttrFloatList(oper, "_floats", numbers, 2, status));
  printf("%.9g %.9g\n", (double)numbers[0], (double)numbers[1]);
  CODE(TF_OperationGetAttrBool(oper, "_bool", flags, status));
  printf("%d\n", flags[0]);
  CODE(TF_OperationGetAttrBoolList(oper, "_bools", flags, 4, status));
  printf("%d%d%d%d\n", flags[0], flags[1], flags[2], flags[3]);
  CODE(TF_OperationGetAttrType(oper, "_type", types, status));
  printf("%d\n", types[0]);
  CODE(TF_OperationGetAttrTypeList(oper, "_types", types, 2, status));
  printf("%d %d\n", types[0], types[1]);
  CODE(TF_OperationGetAttrShape(oper, "_shape", dims, 2, status));
  printf("%lld %lld\n", (long long)dims[0], (long long)dims[1]);
  CODE(TF_OperationGetAttrShapeList(oper, "_shapes", shapes, ranks, 3, shape_storage, 3,
                                    status));
  printf("%d %d %d: %lld %lld\n", ranks[0], ranks[1], ranks[2],
         (long long)shapes[0][1], (long long)shapes[2][0]);
  CODE(TF_OperationGetAttrShapeList(oper, "_shapes", shapes, ranks, 3, shape_storage, 1,
                                    status));
  CODE(TF_OperationGetAttrTensor(oper, "_tensor", tensors, status));
  show("tensor", tensors[0]);
  CODE(TF_OperationGetAttrTensorList(oper, "_tensors", tensors, 2, status));
  show("tensors", tensors[0]);
  show("tensors", tensors[1]);
  CODE(TF_OperationGetAttrTensorShapeProtoList(oper, "_protos", buffers, 2, status));
  printf("%zu %zu\n", buffers[0]->length, buffers[1]->length);
  TF_DeleteBuffer(buffers[0]);
  TF_DeleteBuffer(buffers[1]);
  buffers[0] = TF_NewBuffer();
  CODE(TF_OperationGetAttrTensorShapeProto(oper, "_proto", buffers[0], status));
  printf("%zu\n", buffers[0]->length);
  TF_DeleteBuffer(buffers[0]);
  buffers[0] = TF_NewBuffer();
  CODE(TF_OperationGetAttrValueProto(oper, "_value", buffers[0], status));
  printf("%zu\n", buffers[0]->length);
  TF_DeleteBuffer(buffers[0]);
}

static void errors(TF_Operation* oper) {
  int64_t number;
  float real;
  char text[4];
  TF_Tensor* tensor;
  CODE(TF_OperationGetAttrInt(oper, "absent", &number, status));
  CODE(TF_OperationGetAttrInt(oper, "_float", &number, status));
  CODE(TF_OperationGetAttrFloat(oper, "_int", &real, status));
  CODE(TF_OperationGetAttrIntList(oper, "_int", &number, 1, status));
  CODE(TF_OperationGetAttrString(oper, "absent", text, 4, status));
  CODE(TF_OperationGetAttrString(oper, "_int", text, 4, status));
  CODE(TF_OperationGetAttrTensor(oper, "_int", &tensor, status));
}

int main(void) {
  begin();
  TF_Operation* oper = with_attrs();
  const char* names[] = {"_string", "_strings", "_int",  "_ints",     "_float",
                         "_floats", "_bool",    "_bools", "_type",    "_types",
                         "_shape",  "_no_shape", "_shapes", "_func",  "_tensor",
                         "_tensors", "_proto",  "_protos", "_value",  "absent"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) metadata(oper, names[i]);
  read_back(oper);
  errors(oper);
  /* Attrs that the op has defaults for, and that inputs tell. */
  TF_Operation* x = placeholder(graph, "x", TF_FLOAT);
  metadata(x, "shape");
  metadata(x, "dtype");
  TF_Operation* product = binary(graph, "MatMul", "product", out(x), out(x));
  metadata(product, "transpose_a");
  metadata(product, "T");
  end();
  return 0;
}
