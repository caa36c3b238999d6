/* What the steps of a case share: the graphs, functions and session that it has made.
 *
 * A step reports an error of the library in `status`, and a broken expectation by
 * `broken()`; the runner reads both after the step. */
#ifndef TENSORLOOM_CLIENTS_C_WORLD_H_
#define TENSORLOOM_CLIENTS_C_WORLD_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"

#define MOST 256

typedef struct {
  char* name;
  TF_Graph* graph;
} NamedGraph;

typedef struct {
  char* name;
  TF_Graph* graph; /* a name is of one graph */
  TF_Output output;
} Alias;

typedef struct {
  char* name;
  TF_Function* function;
} NamedFunction;

typedef struct {
  NamedGraph graphs[MOST];
  Alias aliases[MOST];
  NamedFunction functions[MOST];
  int num_graphs, num_aliases, num_functions;
  TF_Graph* graph; /* the current one */
  TF_Graph* outer; /* the one around a while loop that is being built */
  TF_WhileParams* loop;
  TF_Output loop_inputs[MOST];
  char* loop_name;
  TF_Session* session;
  const char* partial_run;
  TF_Status* status;
  bool lacks_gradient; /* the last step failed for want of one */
  char problem[1024];
} World;

typedef void (*Step)(World* world, int argc, char** argv);

/* The step of a verb, or NULL. */
Step graph_step(const char* verb);
Step look_step(const char* verb);
Step function_step(const char* verb);
Step session_step(const char* verb);

void world_begin(World* world);
void world_end(World* world);

/* Says that an expectation does not hold; the first one counts. */
void broken(World* world, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
bool is_broken(const World* world);
bool is_ok(const World* world);

void expect_int(World* world, const char* what, int64_t got, int64_t expected);
void expect_text(World* world, const char* what, const char* got,
                 const char* expected);

/* Of the current graph: "NAME:INDEX", an alias first. */
TF_Output output_of(World* world, const char* reference);
TF_Operation* operation_of(World* world, const char* name);
void add_alias(World* world, const char* name, int index, TF_Output output);
TF_Graph* graph_of(World* world, const char* name);
TF_Function* function_of(World* world, const char* name);

/* "a,b,c" in place; returns how many. An empty text has none. */
int split(char* text, char separator, char** parts, int most);
/* The value of the argument KEY=VALUE, or NULL. */
char* option(int argc, char** argv, const char* key);
int outputs_of(World* world, char* list, TF_Output* outputs);
int operations_of(World* world, char* list, TF_Operation** operations);
/* %20 and the like, in place; returns the length. */
size_t unescape(char* text);
/* "2,?,3", "scalar" or "unknown": the rank, -1 when unknown. */
int parse_shape(char* text, int64_t* dims);

#endif
