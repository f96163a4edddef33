#include "starters.h"
#include <signal.h>

enum { MOST_THREADS = 4 };  // more than one, so that a program on a file system that hangs holds up few others

static void add(struct list *list, struct request *r) {
  r->next = NULL;
  *list->end = r;
  list->end = &r->next;
}

static void empty(struct list *list) {
  list->first = NULL;
  list->end = &list->first;
}

static struct request *take(struct list *list) {
  struct request *first = list->first;
  list->first = first->next;
  if (!list->first) empty(list);
  return first;
}

static void *start_them(void *starters) {
  struct starters *all = starters;
  pthread_mutex_lock(&all->lock);
  while (!all->over) {
    if (!all->todo.first) {
      all->idle++;
      pthread_cond_wait(&all->more, &all->lock);
      all->idle--;
      continue;
    }
    struct request *r = take(&all->todo);
    pthread_mutex_unlock(&all->lock);
    start_program(&r->start);
    pthread_mutex_lock(&all->lock);
    add(&all->done, r);
    if (!all->over) uv_async_send(&all->told);
    else if (!r->start.error) abandon_program(&r->start);
  }
  pthread_mutex_unlock(&all->lock);
  return NULL;
}

// Its threads take no signal: they are for the thread that runs JavaScript.
static int add_thread(struct starters *all) {
  pthread_t thread;
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  int failed = pthread_create(&thread, NULL, start_them, all);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed) return -1;
  pthread_detach(thread);
  all->threads++;
  return 0;
}

int open_starters(struct starters *all, uv_loop_t *loop, uv_async_cb on_done) {
  if (uv_async_init(loop, &all->told, on_done)) return -1;
  uv_unref((uv_handle_t *)&all->told);
  pthread_mutex_init(&all->lock, NULL);
  pthread_cond_init(&all->more, NULL);
  empty(&all->todo);
  empty(&all->done);
  return 0;
}

int ask_starters(struct starters *all, struct request *r) {
  pthread_mutex_lock(&all->lock);
  if (all->idle == 0 && all->threads < MOST_THREADS) add_thread(all);
  int failed = all->threads == 0;
  if (!failed) {
    add(&all->todo, r);
    pthread_cond_signal(&all->more);
  }
  pthread_mutex_unlock(&all->lock);
  if (failed) return -1;
  if (all->under_way++ == 0) uv_ref((uv_handle_t *)&all->told);
  return 0;
}

struct request *take_done(struct starters *all) {
  pthread_mutex_lock(&all->lock);
  struct request *first = all->done.first;
  empty(&all->done);
  pthread_mutex_unlock(&all->lock);
  for (struct request *r = first; r; r = r->next)
    if (--all->under_way == 0) uv_unref((uv_handle_t *)&all->told);
  return first;
}

void close_starters(struct starters *all, uv_close_cb on_closed) {
  pthread_mutex_lock(&all->lock);
  all->over = 1;
  for (struct request *r = all->done.first; r; r = r->next)
    if (!r->start.error) abandon_program(&r->start);
  empty(&all->done);
  pthread_cond_broadcast(&all->more);
  pthread_mutex_unlock(&all->lock);
  uv_close((uv_handle_t *)&all->told, on_closed);
}
