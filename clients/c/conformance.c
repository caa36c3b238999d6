/* Runs the cases of clients/conformance on the library that it is linked with.
 *
 * Usage: conformance TABLE... ; prints "ok NAME", "fail NAME: why" or "skip NAME: why"
 * a case. The language of the tables is in clients/conformance/README.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

enum { LONGEST = 1 << 16 };

static const char* const CODES[] = {
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
    "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
    "UNAUTHENTICATED"};

static Step step_of(const char* verb) {
  Step step = graph_step(verb);
  if (!step) step = look_step(verb);
  if (!step) step = function_step(verb);
  return step ? step : session_step(verb);
}

/* [fails CODE] VERB ARGUMENT... */
static void take_step(World* world, char* line) {
  char* words[MOST];
  int count = 0;
  char* rest = NULL;
  for (char* word = strtok_r(line, " ", &rest); word && count < MOST;
       word = strtok_r(NULL, " ", &rest))
    words[count++] = word;
  char** first = words;
  const char* expected = "OK";
  if (strcmp(first[0], "fails") == 0 && count > 2) {
    expected = first[1];
    first += 2;
    count -= 2;
  }
  Step step = step_of(first[0]);
  if (!step) {
    broken(world, "no step \"%s\"", first[0]);
    return;
  }
  TF_SetStatus(world->status, TF_OK, "");
  step(world, count - 1, first + 1);
  const char* code = CODES[TF_GetCode(world->status)];
  world->lacks_gradient = strstr(TF_Message(world->status), "No gradient defined");
  if (strcmp(code, expected) != 0)
    broken(world, "%s, expected %s: %s", code, expected, TF_Message(world->status));
  TF_SetStatus(world->status, TF_OK, "");
}

static bool is_ours(void) { return getenv("CONFORMANCE_PEER") == NULL; }

static int report(World* world, const char* name, int line, bool skipped) {
  if (!*name) return 0;
  /* TensorFlow's C API has gradients of some operations alone. */
  bool lacking = world->lacks_gradient && !is_ours();
  bool failed = is_broken(world) && !lacking;
  if (skipped || lacking)
    printf("skip %s: %s\n", name, lacking ? world->problem : "of tensorloom alone");
  else if (failed)
    printf("fail %s: line %d: %s\n", name, line, world->problem);
  else
    printf("ok %s\n", name);
  fflush(stdout);
  world_end(world);
  return failed;
}

static int run_table(const char* path) {
  FILE* file = fopen(path, "r");
  if (!file) {
    perror(path);
    return 1;
  }
  static char line[LONGEST];
  static World world;
  char name[256] = "";
  int failures = 0, number = 0, failed_at = 0;
  bool skipped = false;
  while (fgets(line, sizeof line, file)) {
    number++;
    line[strcspn(line, "\n")] = '\0';
    char* text = line + strspn(line, " ");
    if (!*text || *text == '#') continue;
    if (strncmp(text, "case ", 5) == 0) {
      failures += report(&world, name, failed_at, skipped);
      skipped = strstr(text, " only=tensorloom") && !is_ours();
      snprintf(name, sizeof name, "%s", strtok(text + 5, " "));
      world_begin(&world);
    } else if (!skipped && !is_broken(&world)) {
      failed_at = number;
      take_step(&world, text);
    }
  }
  failures += report(&world, name, failed_at, skipped);
  fclose(file);
  return failures;
}

int main(int argc, char** argv) {
  int failures = 0;
  for (int i = 1; i < argc; i++) failures += run_table(argv[i]);
  return failures ? 1 : 0;
}
