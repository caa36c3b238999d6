/* Loops and gradients. */
#include "checks.h"

/* i, x = i + 1, x * w while i < limit; w comes from outside as a variable of the loop */
static void add_loop(TF_Output* inputs, TF_Output* outputs, const char* name) {
  TF_WhileParams params = TF_NewWhile(graph, inputs, 3, status);
  OK((void)0);
  printf("%d inputs\n", params.ninputs);
  TF_Operation* limit = constant(params.cond_graph, "limit", int32(4));
  params.cond_output =
      out(binary(params.cond_graph, "Less", "less", params.cond_inputs[0], out(limit)));
  TF_Operation* one = constant(params.body_graph, "one", int32(1));
  params.body_outputs[0] =
      out(binary(params.body_graph, "Add", "next", params.body_inputs[0], out(one)));
  params.body_outputs[1] = out(binary(params.body_graph, "Mul", "power",
                                      params.body_inputs[1], params.body_inputs[2]));
  params.body_outputs[2] = params.body_inputs[2];
  params.name = name;
  OK(TF_FinishWhile(&params, status, outputs));
}

static void loop_errors(TF_Output* inputs) {
  TF_Output outputs[3];
  CODE(TF_NewWhile(graph, inputs, 0, status));
  TF_WhileParams empty = TF_NewWhile(graph, inputs, 3, status);
  CODE(TF_FinishWhile(&empty, status, outputs)); /* nothing is set */
  TF_WhileParams unused = TF_NewWhile(graph, inputs, 3, status);
  TF_AbortWhile(&unused);
}

static void gradient_errors(TF_Output y, TF_Output x) {
  TF_Output dy;
  CODE(TF_AddGradientsWithPrefix(graph, "x", &y, 1, &x, 1, NULL, status, &dy));
}

int main(void) {
  begin();
  TF_Operation* x = placeholder(graph, "x", TF_FLOAT);
  TF_Operation* w = constant(graph, "w", number(3));
  TF_Operation* start = constant(graph, "start", int32(0));
  TF_Output inputs[] = {out(start), out(x), out(w)}, outputs[3], dy[2];
  add_loop(inputs, outputs, "loop");
  TF_Session* session = session_of(graph);
  TF_Tensor* result;
  for (int i = 0; i < 3; i++) {
    printf("type %d\n", TF_OperationOutputType(outputs[i]));
    OK(result = run(session, outputs[i], out(x), number(2)));
    show("loop", result);
  }
  loop_errors(inputs);
  /* y = x * x + w */
  TF_Operation* square = binary(graph, "Mul", "square", out(x), out(x));
  TF_Operation* y = binary(graph, "Add", "y", out(square), out(w));
  TF_Output ys[] = {out(y)}, xs[] = {out(x), out(w)}, dx[] = {out(w)};
  OK(TF_AddGradients(graph, ys, 1, xs, 2, NULL, status, dy));
  OK(result = run(session, dy[0], out(x), number(5)));
  show("dy/dx", result);
  OK(result = run(session, dy[1], out(x), number(5)));
  show("dy/dw", result);
  OK(TF_AddGradientsWithPrefix(graph, "given", ys, 1, xs, 1, dx, status, dy));
  printf("%.6s\n", TF_OperationName(dy[0].oper));
  OK(result = run(session, dy[0], out(x), number(5)));
  show("3 dy/dx", result);
  gradient_errors(out(y), out(x));
  end_session(session);
  end();
  return 0;
}
