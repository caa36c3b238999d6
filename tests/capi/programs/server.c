/* A server in this process, and a session at it. */
#include "checks.h"

static int lines;

static void listen(const char* line) {
  (void)line;
  lines++;
}

int main(void) {
  begin();
  TF_RegisterLogListener(listen);
  /* ServerDef: cluster {job {name: "local" tasks {key: 0 value: "localhost:0"}}}
     job_name: "local" protocol: "grpc" */
  const char def[] =
      "\x0a\x1a\x0a\x18\x0a\x05local\x12\x0f\x08\x00\x12\x0blocalhost:0"
      "\x12\x05local\x2a\x04grpc";
  TF_Server* server;
  CODE(TF_NewServer("\xff", 1, status));
  OK(server = TF_NewServer(def, sizeof def - 1, status));
  printf("%.7s\n", TF_ServerTarget(server));
  OK(TF_ServerStart(server, status));
  TF_Operation* c = constant(graph, "c", number(4));
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_SetTarget(options, TF_ServerTarget(server));
  TF_Session* session;
  OK(session = TF_NewSession(graph, options, status));
  TF_Tensor* result;
  OK(result = fetch(session, c));
  show("c", result);
  end_session(session);
  TF_DeleteSessionOptions(options);
  OK(TF_ServerStop(server, status));
  OK(TF_ServerJoin(server, status));
  TF_DeleteServer(server);
  end();
  return 0;
}
