/* Steps for functions and while loops. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

/* function NAME inputs=A:0,... outputs=B:0,... [names=a,b] [ops=A,B]: of the current
 * graph; without ops= the whole graph is its body */
static void function(World* world, int argc, char** argv) {
  TF_Output inputs[MOST], outputs[MOST];
  TF_Operation* operations[MOST];
  char* names[MOST];
  int num_inputs = outputs_of(world, option(argc, argv, "inputs"), inputs);
  int num_outputs = outputs_of(world, option(argc, argv, "outputs"), outputs);
  int num_names = split(option(argc, argv, "names"), ',', names, MOST);
  char* list = option(argc, argv, "ops");
  int num_operations = list ? operations_of(world, list, operations) : -1;
  if (is_broken(world)) return;
  TF_Function* made = TF_GraphToFunction(
      world->graph, argv[0], 0, num_operations,
      (const TF_Operation* const*)operations, num_inputs, inputs, num_outputs, outputs,
      num_names ? (const char* const*)names : NULL, NULL, NULL, world->status);
  if (!is_ok(world)) return;
  expect_text(world, "the function's name", TF_FunctionName(made), argv[0]);
  world->functions[world->num_functions++] = (NamedFunction){strdup(argv[0]), made};
}

/* copy-function NAME: into the current graph */
static void copy_function(World* world, int argc, char** argv) {
  (void)argc;
  TF_Function* found = function_of(world, argv[0]);
  if (found) TF_GraphCopyFunction(world->graph, found, NULL, world->status);
}

/* reread-function NAME NEW: the function in its FunctionDef, under a name of the table */
static void reread_function(World* world, int argc, char** argv) {
  (void)argc;
  TF_Buffer* def = TF_NewBuffer();
  TF_FunctionToFunctionDef(function_of(world, argv[0]), def, world->status);
  if (is_ok(world)) {
    TF_Function* made =
        TF_FunctionImportFunctionDef(def->data, def->length, world->status);
    if (is_ok(world))
      world->functions[world->num_functions++] =
          (NamedFunction){strdup(argv[1]), made};
  }
  TF_DeleteBuffer(def);
}

/* functions N NAME,...: those of the current graph, in any order */
static void functions(World* world, int argc, char** argv) {
  char* names[MOST];
  int expected = argc ? split(argv[0], ',', names, MOST) : 0;
  TF_Function* found[MOST];
  int count = TF_GraphGetFunctions(world->graph, found, MOST, world->status);
  expect_int(world, "TF_GraphNumFunctions", TF_GraphNumFunctions(world->graph), count);
  expect_int(world, "the number of functions", count, expected);
  for (int i = 0; i < count; i++) {
    bool known = false;
    for (int j = 0; j < expected; j++)
      known |= strcmp(names[j], TF_FunctionName(found[i])) == 0;
    if (!known) broken(world, "function \"%s\" is there", TF_FunctionName(found[i]));
    TF_DeleteFunction(found[i]);
  }
}

static void alias_inputs(World* world, const TF_Output* inputs) {
  for (int i = 0; i < world->loop->ninputs; i++) add_alias(world, "in", i, inputs[i]);
}

/* while NAME IN:0,...: the condition's graph is current; its inputs are in:0 and on */
static void while_begin(World* world, int argc, char** argv) {
  (void)argc;
  TF_Output* inputs = world->loop_inputs; /* the library reads them at the end too */
  int count = outputs_of(world, argv[1], inputs);
  if (is_broken(world)) return;
  TF_WhileParams made = TF_NewWhile(world->graph, inputs, count, world->status);
  if (!is_ok(world)) return;
  world->loop = malloc(sizeof made);
  memcpy(world->loop, &made, sizeof made); /* its members are const */
  world->loop_name = strdup(argv[0]);
  world->loop->name = world->loop_name;
  world->outer = world->graph;
  world->graph = world->loop->cond_graph;
  alias_inputs(world, world->loop->cond_inputs);
}

/* while-cond OUTPUT: the body's graph is current from here on */
static void while_cond(World* world, int argc, char** argv) {
  (void)argc;
  world->loop->cond_output = output_of(world, argv[0]);
  world->graph = world->loop->body_graph;
  alias_inputs(world, world->loop->body_inputs);
}

/* while-body OUTPUT,...: the loop is finished; its results are NAME:0 and on */
static void while_body(World* world, int argc, char** argv) {
  (void)argc;
  TF_Output results[MOST];
  outputs_of(world, argv[0], world->loop->body_outputs);
  world->graph = world->outer;
  int count = world->loop->ninputs;
  TF_FinishWhile(world->loop, world->status, results);
  for (int i = 0; is_ok(world) && i < count; i++)
    add_alias(world, world->loop_name, i, results[i]);
  free(world->loop);
  free(world->loop_name);
  world->loop_name = NULL;
}

static void while_abort(World* world, int argc, char** argv) {
  (void)argc, (void)argv;
  TF_AbortWhile(world->loop);
  world->graph = world->outer;
  free(world->loop);
  free(world->loop_name);
  world->loop_name = NULL;
}

Step function_step(const char* verb) {
  if (strcmp(verb, "function") == 0) return function;
  if (strcmp(verb, "copy-function") == 0) return copy_function;
  if (strcmp(verb, "reread-function") == 0) return reread_function;
  if (strcmp(verb, "functions") == 0) return functions;
  if (strcmp(verb, "while") == 0) return while_begin;
  if (strcmp(verb, "while-cond") == 0) return while_cond;
  if (strcmp(verb, "while-body") == 0) return while_body;
  if (strcmp(verb, "while-abort") == 0) return while_abort;
  return NULL;
}
