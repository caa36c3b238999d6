/* Steps that run: sessions, partial runs, threads, SavedModels. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tensors.h"

/* session [target=T]: of the current graph */
static void session(World* world, int argc, char** argv) {
  TF_SessionOptions* options = TF_NewSessionOptions();
  const char* target = option(argc, argv, "target");
  if (target) TF_SetTarget(options, target);
  TF_Session* made = TF_NewSession(world->graph, options, world->status);
  TF_DeleteSessionOptions(options);
  if (!is_ok(world)) return;
  if (world->session) TF_DeleteSession(world->session, world->status);
  world->session = made;
}

static void close_session(World* world, int argc, char** argv) {
  (void)argc, (void)argv;
  TF_CloseSession(world->session, world->status);
}

/* load DIRECTORY TAG,...: a session of a SavedModel; $NAME is of the environment */
static void load(World* world, int argc, char** argv) {
  (void)argc;
  const char* directory = *argv[0] == '$' ? getenv(argv[0] + 1) : argv[0];
  if (!directory) {
    broken(world, "%s is not set", argv[0]);
    return;
  }
  char* tags[MOST];
  int count = split(argv[1], ',', tags, MOST);
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Buffer* meta_graph = TF_NewBuffer();
  world->session = TF_LoadSessionFromSavedModel(
      options, NULL, directory, (const char* const*)tags, count, world->graph,
      meta_graph, world->status);
  if (is_ok(world) && argc > 2) {
    size_t length = unescape(argv[2]);
    if (!memmem(meta_graph->data, meta_graph->length, argv[2], length))
      broken(world, "the MetaGraphDef has no bytes \"%s\"", argv[2]);
  }
  TF_DeleteBuffer(meta_graph);
  TF_DeleteSessionOptions(options);
}

/* The tokens of a run: OUTPUT<TENSOR is fed, OUTPUT>TENSOR fetched, !OPERATION a
 * target. Without a tensor after them, only the outputs are read. */
typedef struct {
  TF_Output feeds[MOST], fetches[MOST];
  TF_Operation* targets[MOST];
  TF_Tensor* values[MOST];
  char* expected[MOST];
  int num_feeds, num_fetches, num_targets;
} Run;

static void read_run(World* world, int argc, char** argv, Run* run) {
  memset(run, 0, sizeof *run);
  for (int i = 0; i < argc; i++) {
    char* mark = strpbrk(argv[i], "<>");
    if (argv[i][0] == '!') {
      run->targets[run->num_targets++] = operation_of(world, argv[i] + 1);
    } else if (!mark) {
      broken(world, "\"%s\" is no part of a run", argv[i]);
    } else {
      bool is_feed = *mark == '<';
      *mark++ = '\0';
      TF_Output output = output_of(world, argv[i]);
      if (is_feed) {
        run->feeds[run->num_feeds] = output;
        run->values[run->num_feeds++] = *mark ? parse_tensor(world, mark) : NULL;
      } else {
        run->fetches[run->num_fetches] = output;
        run->expected[run->num_fetches++] = mark;
      }
    }
  }
}

static void free_feeds(Run* run) {
  for (int i = 0; i < run->num_feeds; i++)
    if (run->values[i]) TF_DeleteTensor(run->values[i]);
}

static void check_results(World* world, Run* run, TF_Tensor** results) {
  for (int i = 0; i < run->num_fetches && results[i]; i++) {
    if (is_ok(world) && *run->expected[i])
      expect_tensor(world, TF_OperationName(run->fetches[i].oper), results[i],
                    run->expected[i]);
    TF_DeleteTensor(results[i]);
  }
}

static void run(World* world, int argc, char** argv) {
  Run* run = malloc(sizeof *run);
  TF_Tensor* results[MOST] = {NULL};
  read_run(world, argc, argv, run);
  if (!is_broken(world))
    TF_SessionRun(world->session, NULL, run->feeds, run->values, run->num_feeds,
                  run->fetches, results, run->num_fetches,
                  (const TF_Operation* const*)run->targets, run->num_targets, NULL,
                  world->status);
  check_results(world, run, results);
  free_feeds(run);
  free(run);
}

static void partial_setup(World* world, int argc, char** argv) {
  Run* run = malloc(sizeof *run);
  read_run(world, argc, argv, run);
  if (!is_broken(world))
    TF_SessionPRunSetup(world->session, run->feeds, run->num_feeds, run->fetches,
                        run->num_fetches, (const TF_Operation* const*)run->targets,
                        run->num_targets, &world->partial_run, world->status);
  free(run);
}

static void partial_run(World* world, int argc, char** argv) {
  Run* run = malloc(sizeof *run);
  TF_Tensor* results[MOST] = {NULL};
  read_run(world, argc, argv, run);
  if (!is_broken(world))
    TF_SessionPRun(world->session, world->partial_run, run->feeds, run->values,
                   run->num_feeds, run->fetches, results, run->num_fetches,
                   (const TF_Operation* const*)run->targets, run->num_targets,
                   world->status);
  check_results(world, run, results);
  free_feeds(run);
  free(run);
}

typedef struct {
  World world; /* the session is the caller's, status and problem are its own */
  int repeats, argc;
  char** argv;
} Worker;

static void* work(void* argument) {
  Worker* worker = argument;
  for (int i = 0; i < worker->repeats && is_ok(&worker->world); i++) {
    char* argv[MOST]; /* a step alters its arguments */
    for (int j = 0; j < worker->argc; j++) argv[j] = strdup(worker->argv[j]);
    run(&worker->world, worker->argc, argv);
    for (int j = 0; j < worker->argc; j++) free(argv[j]);
  }
  return NULL;
}

/* threads N REPEATS and a run's tokens: each thread runs them so often */
static void threads(World* world, int argc, char** argv) {
  int count = atoi(argv[0]);
  Worker* workers = calloc((size_t)count, sizeof *workers);
  pthread_t* ids = calloc((size_t)count, sizeof *ids);
  for (int i = 0; i < count; i++) {
    memcpy(&workers[i].world, world, sizeof *world);
    workers[i].repeats = atoi(argv[1]);
    workers[i].argc = argc - 2;
    workers[i].argv = argv + 2;
    workers[i].world.status = TF_NewStatus();
    pthread_create(&ids[i], NULL, work, &workers[i]);
  }
  for (int i = 0; i < count; i++) {
    pthread_join(ids[i], NULL);
    if (is_broken(&workers[i].world)) broken(world, "%s", workers[i].world.problem);
    if (TF_GetCode(workers[i].world.status) != TF_OK)
      TF_SetStatus(world->status, TF_GetCode(workers[i].world.status),
                   TF_Message(workers[i].world.status));
    TF_DeleteStatus(workers[i].world.status);
  }
  free(ids);
  free(workers);
}

/* devices TYPE: the session has a device of it */
static void devices(World* world, int argc, char** argv) {
  (void)argc;
  TF_DeviceList* list = TF_SessionListDevices(world->session, world->status);
  if (!is_ok(world)) return;
  bool found = false;
  for (int i = 0; i < TF_DeviceListCount(list); i++)
    found |= strcmp(TF_DeviceListType(list, i, world->status), argv[0]) == 0 &&
             strstr(TF_DeviceListName(list, i, world->status), "/device:");
  if (!found) broken(world, "the session has no device of type %s", argv[0]);
  TF_DeleteDeviceList(list);
}

Step session_step(const char* verb) {
  if (strcmp(verb, "session") == 0) return session;
  if (strcmp(verb, "close") == 0) return close_session;
  if (strcmp(verb, "load") == 0) return load;
  if (strcmp(verb, "run") == 0) return run;
  if (strcmp(verb, "partial-setup") == 0) return partial_setup;
  if (strcmp(verb, "partial-run") == 0) return partial_run;
  if (strcmp(verb, "threads") == 0) return threads;
  if (strcmp(verb, "devices") == 0) return devices;
  return NULL;
}
