/* Turns: which threads may try for the interpreter's lock.

   That lock is given away at the end of each call, and each time it wakes a thread that
   waits for it. Where calls take a microsecond, threads would do little else than to wake
   each other. So a thread first takes a place, of which there is one. Threads that wait
   for it sleep, and the thread that has it keeps it over many calls:

     - A thread that comes back at once gives the place back without waking anybody. The
       first of the waiting threads looks for it now and then. When it has done so
       TURN_POLLS times, the other one leaves it the place.
     - A thread that usually does something else between its calls wakes the next one.
     - A call that is long, because its kernels run without the interpreter's lock or
       because it waits for something, does not keep others out: the first that waits
       takes the place from a call that it sees twice. Kinds of calls that are long most
       of the time do without a place.

   Nothing here decides who may touch objects of Python: that is the interpreter's lock,
   which every thread takes after its turn has come. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "turns.h"

enum {
  POLL_NS = 100 * 1000,
  SHORT_POLLS = 3, /* after each of them, it waits twice as long for the next */
  TURN_POLLS = 9,  /* about five milliseconds, as Python's own threads have */
  HANDED_NS = 50 * 1000, /* how long a thread stays awake for the place */
  LONG_NS = 100 * 1000,  /* a call that takes longer than this is long */
  BACK_NS = 5 * 1000,    /* a thread that is away for less is back at once */
  MOSTLY_LONG = 4,       /* so many more calls of a kind were long than were not */
  LONGEST = 8,           /* how far that is counted */
  TIMED_EACH = 32,       /* only each so many'th call is timed where all is as it was */
};

static struct {
  atomic_ulong state; /* changes with each call; odd while one has the place */
  atomic_int waiting; /* threads */
  atomic_int wanted;  /* whether the first of them has waited for long enough */
  pthread_mutex_t mutex;
  pthread_cond_t first; /* wakes the first of them */
  pthread_cond_t next;  /* wakes the one that becomes the first */
  int has_first;
} place;

static atomic_schar long_calls[TL_KINDS]; /* of each kind, up to LONGEST */

static _Thread_local int64_t left_ns; /* when the thread left the place; 0: unknown */
static _Thread_local int comes_back;  /* whether it was back at once the last time */
static _Thread_local unsigned calls;  /* that it has made while others waited */

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Nobody waits: at the start, and in a process that was forked from others' waiting. */
static void begin(void) {
  pthread_condattr_t attributes;
  atomic_store(&place.state, 0);
  atomic_store(&place.waiting, 0);
  atomic_store(&place.wanted, 0);
  place.has_first = 0;
  pthread_mutex_init(&place.mutex, NULL);
  pthread_cond_init(&place.next, NULL);
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&place.first, &attributes);
  pthread_condattr_destroy(&attributes);
}

void tl_turns_start(void) {
  begin();
  pthread_atfork(NULL, NULL, begin);
}

/* Makes the state one that the place is taken in, if it still is `seen`. */
static int take(unsigned long seen, tl_turn* turn) {
  turn->state = seen + (seen % 2 == 0 ? 1 : 2);
  return atomic_compare_exchange_strong(&place.state, &seen, turn->state);
}

/* Sleeps until somebody wakes the first thread, or it is time to look. */
static void sleep_first(int64_t ns) {
  int64_t until = now_ns() + ns;
  struct timespec at = {until / 1000000000LL, until % 1000000000LL};
  pthread_cond_timedwait(&place.first, &place.mutex, &at);
}

static void wake_first(void) {
  pthread_mutex_lock(&place.mutex);
  pthread_cond_signal(&place.first);
  pthread_mutex_unlock(&place.mutex);
}

/* Waits awake for the end of the call that has the place, for a short time: to be woken
   takes longer than most calls do. */
static void await_end(void) {
  int64_t start = now_ns();
  while (atomic_load(&place.state) % 2 != 0 && now_ns() - start < HANDED_NS)
    sched_yield();
}

static void wait_for_turn(tl_turn* turn) {
  pthread_mutex_lock(&place.mutex);
  atomic_fetch_add(&place.waiting, 1);
  while (place.has_first) pthread_cond_wait(&place.next, &place.mutex);
  place.has_first = 1;
  unsigned long before = 0; /* what was seen the last time; 0 is no call */
  for (int polls = 0;; polls++) {
    unsigned long seen = atomic_load(&place.state);
    int may_take = seen % 2 == 0 || seen == before;
    if (may_take && take(seen, turn)) break;
    before = seen;
    if (polls != TURN_POLLS) {
      sleep_first((int64_t)POLL_NS << (polls < SHORT_POLLS ? polls : SHORT_POLLS));
    } else {
      atomic_store(&place.wanted, 1);
      await_end();
    }
  }
  atomic_store(&place.wanted, 0);
  place.has_first = 0;
  atomic_fetch_sub(&place.waiting, 1);
  pthread_cond_signal(&place.next);
  pthread_mutex_unlock(&place.mutex);
}

tl_turn tl_turn_take(unsigned kind) {
  tl_turn turn = {0, 0, kind % TL_KINDS};
  if (atomic_load_explicit(&long_calls[turn.kind], memory_order_relaxed) >=
      MOSTLY_LONG) {
    if (++calls % TIMED_EACH == 0) turn.start_ns = now_ns();
    return turn;
  }
  if (left_ns != 0) {
    turn.start_ns = now_ns();
    comes_back = turn.start_ns - left_ns < BACK_NS;
    left_ns = 0;
  }
  unsigned long seen = atomic_load(&place.state);
  if (atomic_load(&place.wanted) || seen % 2 != 0 || !take(seen, &turn)) {
    wait_for_turn(&turn);
    turn.start_ns = now_ns();
  }
  return turn;
}

/* Remembers whether a call was long. */
static void note(unsigned kind, int is_long) {
  signed char count = atomic_load_explicit(&long_calls[kind], memory_order_relaxed);
  signed char now = is_long ? count + (count < LONGEST) : count / 2;
  if (now != count)
    atomic_store_explicit(&long_calls[kind], now, memory_order_relaxed);
}

void tl_turn_give(const tl_turn* turn) {
  int64_t now = turn->start_ns == 0 ? 0 : now_ns();
  if (now != 0) note(turn->kind, now - turn->start_ns > LONG_NS);
  unsigned long state = turn->state;
  if (state == 0) return;
  if (!atomic_compare_exchange_strong(&place.state, &state, state + 1)) {
    if (now == 0) note(turn->kind, 1); /* it was taken from this thread */
    return;
  }
  if (atomic_load(&place.waiting) == 0) return;
  if (!comes_back || ++calls % TIMED_EACH == 0) left_ns = now != 0 ? now : now_ns();
  if (!comes_back || atomic_load(&place.wanted)) wake_first();
}

void tl_turns_leave(void) {
  if (comes_back && atomic_load(&place.waiting) != 0) wake_first();
}
