// Threads that start programs, one after another, for one event loop.
#pragma once
#include "start.h"
#include <pthread.h>
#include <uv.h>

struct request {
  struct start start;
  void *on_started, *on_exit;  // whatever the one who asks wants back
  struct request *next;
};

struct list {
  struct request *first, **end;
};

// Never freed: a starter may be at work when all else is over.
struct starters {
  uv_async_t told;  // wakes the loop when something is done; its callback takes it
  pthread_mutex_t lock;
  pthread_cond_t more;
  struct list todo, done;
  int under_way, threads, idle, over;
};

// 0, or -1 when the loop has no place for it. While nothing is under way it does not keep the loop alive.
int open_starters(struct starters *all, uv_loop_t *loop, uv_async_cb on_done);

// Called on the loop's thread. 0, or -1 when there is no thread and none can be had.
int ask_starters(struct starters *all, struct request *r);

// All that is done, in its order; called on the loop's thread.
struct request *take_done(struct starters *all);

// What is under way comes to nothing; on_closed is called when the loop holds nothing of it any more.
void close_starters(struct starters *all, uv_close_cb on_closed);
