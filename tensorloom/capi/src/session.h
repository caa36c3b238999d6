/* TF_Session, for the files that run it. */
#ifndef TENSORLOOM_CAPI_SESSION_H_
#define TENSORLOOM_CAPI_SESSION_H_

#include "bridge.h"

struct TF_Session {
  PyObject* session; /* capi.sessions.GraphSession */
  TF_Graph* graph;
  PyObject* plans; /* dict: what is fed, fetched and run -> capi.sessions.Plan */
};

/* A handle that takes over the reference to a session of Python. */
TL_LOCAL TF_Session* tl_session(PyObject* session, TF_Graph* graph, TF_Status* status);

/* What a step feeds, fetches and runs. */
typedef struct tl_step {
  const TF_Output* inputs;
  int num_inputs;
  const TF_Output* outputs;
  int num_outputs;
  const TF_Operation* const* targets;
  int num_targets;
} tl_step;

#endif /* TENSORLOOM_CAPI_SESSION_H_ */
