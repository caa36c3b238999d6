/* Turns of threads at the interpreter; turns.c says what they are for. */
#ifndef TENSORLOOM_CAPI_TURNS_H_
#define TENSORLOOM_CAPI_TURNS_H_

#include <stdint.h>

#include "memory.h"

/* Calls are of one kind if they take about the same time: kind 0 are the functions of
   the API, the others are steps. */
enum { TL_KINDS = 256 };

/* The turn of one call. */
typedef struct tl_turn {
  unsigned long state; /* of the place; 0: the call goes without */
  int64_t start_ns;    /* when it began; 0 where nobody asks */
  unsigned kind;
} tl_turn;

/* Once, before the rest. */
TL_LOCAL void tl_turns_start(void);
/* Waits for a turn. The thread must not have the interpreter's lock. */
TL_LOCAL tl_turn tl_turn_take(unsigned kind);
/* Ends it. The interpreter's lock was given back before. */
TL_LOCAL void tl_turn_give(const tl_turn* turn);
/* At the end of a thread. */
TL_LOCAL void tl_turns_leave(void);

#endif /* TENSORLOOM_CAPI_TURNS_H_ */
