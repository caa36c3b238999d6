/* Ops, kernels, and how ops are shown. */
#include "checks.h"

/* Whether the bytes of a message have a text in them. */
static int has(const TF_Buffer* buffer, const char* text) {
  const char* bytes = buffer->data;
  size_t length = strlen(text);
  for (size_t i = 0; i + length <= buffer->length; i++)
    if (memcmp(bytes + i, text, length) == 0) return 1;
  return 0;
}

int main(void) {
  begin();
  TF_Buffer* ops = TF_GetAllOpList();
  printf("ops: %d\n", ops->length > 100000);
  TF_Buffer* kernels;
  OK(kernels = TF_GetRegisteredKernelsForOp("MatMul", status));
  printf("kernels of MatMul: %d\n", kernels->length > 20);
  TF_DeleteBuffer(kernels);
  OK(kernels = TF_GetRegisteredKernelsForOp("NoSuchOp", status));
  printf("kernels of nothing: %zu\n", kernels->length);
  TF_DeleteBuffer(kernels);
  OK(kernels = TF_GetAllRegisteredKernels(status));
  printf("kernels: %d\n", kernels->length > 10000);
  TF_DeleteBuffer(kernels);
  TF_ApiDefMap* map;
  CODE(TF_NewApiDefMap(&(TF_Buffer){"\xff", 1, NULL}, status));
  OK(map = TF_NewApiDefMap(ops, status));
  const char* text =
      "op {\n"
      "  graph_op_name: \"MatMul\"\n"
      "  summary: \"A product of `a`.\"\n"
      "  in_arg {\n"
      "    name: \"a\"\n"
      "    rename_to: \"left\"\n"
      "    description: <<END\n"
      "the `a` side\n"
      "END\n"
      "  }\n"
      "  endpoint { name: \"Product\" }\n"
      "}\n";
  CODE(TF_ApiDefMapPut(map, text, strlen(text), status));
  text = "op { graph_op_name: \"MatMul\" in_arg { name: \"no\" } }";
  CODE(TF_ApiDefMapPut(map, text, strlen(text), status));
  text = "op { nonsense }";
  CODE(TF_ApiDefMapPut(map, text, strlen(text), status));
  TF_Buffer* api_def;
  OK(api_def = TF_ApiDefMapGet(map, "MatMul", 6, status));
  printf("%d\n", has(api_def, "A product of `left`."));
  printf("%d\n", has(api_def, "the `left` side"));
  TF_DeleteBuffer(api_def);
  printf("%d\n", TF_ApiDefMapGet(map, "NoSuchOp", 8, status) == NULL);
  text = "op { graph_op_name: \"MatMul\" }";
  CODE(TF_ApiDefMapPut(map, text, strlen(text), status)); /* too late */
  TF_DeleteApiDefMap(map);
  TF_DeleteBuffer(ops);
  CODE(TF_LoadLibrary("/no/such/library.so", status));
  end();
  return 0;
}
