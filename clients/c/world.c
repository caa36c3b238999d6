#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void world_begin(World* world) {
  memset(world, 0, sizeof *world);
  world->status = TF_NewStatus();
  world->graph = world->graphs[0].graph = TF_NewGraph();
  world->graphs[0].name = strdup("main");
  world->num_graphs = 1;
}

void world_end(World* world) {
  if (world->loop_name) {
    TF_AbortWhile(world->loop);
    free(world->loop);
    free(world->loop_name);
  }
  if (world->partial_run) TF_DeletePRunHandle(world->partial_run);
  if (world->session) TF_DeleteSession(world->session, world->status);
  for (int i = 0; i < world->num_aliases; i++) free(world->aliases[i].name);
  for (int i = 0; i < world->num_functions; i++) {
    TF_DeleteFunction(world->functions[i].function);
    free(world->functions[i].name);
  }
  for (int i = 0; i < world->num_graphs; i++) {
    TF_DeleteGraph(world->graphs[i].graph);
    free(world->graphs[i].name);
  }
  TF_DeleteStatus(world->status);
}

void broken(World* world, const char* format, ...) {
  if (is_broken(world)) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(world->problem, sizeof world->problem, format, arguments);
  va_end(arguments);
}

bool is_broken(const World* world) { return world->problem[0] != '\0'; }

bool is_ok(const World* world) {
  return TF_GetCode(world->status) == TF_OK && !is_broken(world);
}

void expect_int(World* world, const char* what, int64_t got, int64_t expected) {
  if (got != expected)
    broken(world, "%s is %lld, expected %lld", what, (long long)got,
           (long long)expected);
}

void expect_text(World* world, const char* what, const char* got,
                 const char* expected) {
  if (strcmp(got, expected) != 0)
    broken(world, "%s is \"%s\", expected \"%s\"", what, got, expected);
}

TF_Output output_of(World* world, const char* reference) {
  for (int i = 0; i < world->num_aliases; i++)
    if (world->aliases[i].graph == world->graph &&
        strcmp(world->aliases[i].name, reference) == 0)
      return world->aliases[i].output;
  TF_Output output = {NULL, 0};
  char* name = strdup(reference);
  char* colon = strrchr(name, ':');
  if (colon) {
    *colon = '\0';
    output.index = atoi(colon + 1);
  }
  output.oper = operation_of(world, name);
  free(name);
  return output;
}

TF_Operation* operation_of(World* world, const char* name) {
  TF_Operation* found = TF_GraphOperationByName(world->graph, name);
  if (!found) broken(world, "the graph has no operation \"%s\"", name);
  return found;
}

void add_alias(World* world, const char* name, int index, TF_Output output) {
  if (world->num_aliases == MOST) {
    broken(world, "more than %d aliases", MOST);
    return;
  }
  char reference[256];
  snprintf(reference, sizeof reference, "%s:%d", name, index);
  world->aliases[world->num_aliases++] =
      (Alias){strdup(reference), world->graph, output};
}

TF_Graph* graph_of(World* world, const char* name) {
  for (int i = 0; i < world->num_graphs; i++)
    if (strcmp(world->graphs[i].name, name) == 0) return world->graphs[i].graph;
  return NULL;
}

TF_Function* function_of(World* world, const char* name) {
  for (int i = 0; i < world->num_functions; i++)
    if (strcmp(world->functions[i].name, name) == 0)
      return world->functions[i].function;
  broken(world, "no function \"%s\"", name);
  return NULL;
}

int split(char* text, char separator, char** parts, int most) {
  int count = 0;
  while (text && *text && count < most) {
    parts[count++] = text;
    text = strchr(text, separator);
    if (text) {
      *text++ = '\0';
      if (!*text && count < most) parts[count++] = text;
    }
  }
  return count;
}

char* option(int argc, char** argv, const char* key) {
  size_t length = strlen(key);
  for (int i = 0; i < argc; i++)
    if (strncmp(argv[i], key, length) == 0 && argv[i][length] == '=')
      return argv[i] + length + 1;
  return NULL;
}

int outputs_of(World* world, char* list, TF_Output* outputs) {
  char* parts[MOST];
  int count = split(list, ',', parts, MOST);
  for (int i = 0; i < count; i++) outputs[i] = output_of(world, parts[i]);
  return count;
}

int operations_of(World* world, char* list, TF_Operation** operations) {
  char* parts[MOST];
  int count = split(list, ',', parts, MOST);
  for (int i = 0; i < count; i++) operations[i] = operation_of(world, parts[i]);
  return count;
}

size_t unescape(char* text) {
  char* to = text;
  for (char* from = text; *from; from++) {
    unsigned byte;
    if (*from == '%' && sscanf(from + 1, "%2x", &byte) == 1) {
      *to++ = (char)byte;
      from += 2;
    } else {
      *to++ = *from;
    }
  }
  *to = '\0';
  return (size_t)(to - text);
}

int parse_shape(char* text, int64_t* dims) {
  if (strcmp(text, "unknown") == 0) return -1;
  if (strcmp(text, "scalar") == 0) return 0;
  char* parts[MOST];
  int rank = split(text, ',', parts, MOST);
  for (int i = 0; i < rank; i++)
    dims[i] = strcmp(parts[i], "?") == 0 ? -1 : atoll(parts[i]);
  return rank;
}
