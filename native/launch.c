// Starts programs for the gateway, on threads of its own: a start holds the thread that asks for it until exec, and the event loop
// serves the others meanwhile. libuv's threads may all wait for a disk. The end of a program is told by a pidfd.
//
//   launch(file, argv, env, cwd, mode, cols, rows, on_started, on_exit)
//     on_started(error, [pid, fd, fd, fd]), once: one of both is undefined; an error has `code` and `stage`
//       mode 0: stdin at EOF  -> [pid, -1, stdout, stderr]
//       mode 1: stdin piped   -> [pid, stdin, stdout, stderr]
//       mode 2: on a terminal -> [pid, terminal, program's side of it, -1]
//     on_exit(code, signal), once, later
//   resize(terminal, cols, rows)
//   limitUnsent(socket, bytes): a TCP socket takes no more while so much of it was not sent yet; anything else is left as it is
//   keepMemory(bytes): this program keeps so much of what it has freed, and smaller blocks than half of it come from there (glibc)
//   lock(fd): whether the file is now this program's alone (flock(2)), until it closes it or ends, however it ends
//   peerUser(socket): the user id of whoever is at the other end of a unix socket; -1 where that cannot be told
//   supported: whether this kernel has pidfds (Linux 5.3)
#define _GNU_SOURCE
#define NAPI_VERSION 8
#include "guard.h"
#include "starters.h"
#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <node_api.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct launcher {
  struct starters starters;  // first: its uv_async_t is what the loop hands back
  napi_env env;
  napi_async_cleanup_hook_handle hook;
};

struct watch {
  uv_poll_t poll;
  napi_env env;
  napi_ref on_exit;
  pid_t pid;
  int pidfd;
};

static char *text(napi_env env, napi_value value) {
  size_t length = 0;
  if (napi_get_value_string_utf8(env, value, NULL, 0, &length) != napi_ok) return NULL;
  char *copy = malloc(length + 1);
  if (copy) napi_get_value_string_utf8(env, value, copy, length + 1, &length);
  return copy;
}

static char **texts(napi_env env, napi_value array) {
  uint32_t length = 0;
  napi_get_array_length(env, array, &length);
  char **list = calloc(length + 1, sizeof *list);
  for (uint32_t i = 0; list && i < length; i++) {
    napi_value item;
    napi_get_element(env, array, i, &item);
    list[i] = text(env, item);
  }
  return list;
}

static void free_texts(char **list) {
  for (char **item = list; item && *item; item++) free(*item);
  free(list);
}

static void release(struct request *r) {
  free(r->start.file);
  free(r->start.cwd);
  free_texts(r->start.argv);
  free_texts(r->start.env);
  free(r->start.script_argv);
  free(r);
}

static struct request *read_request(napi_env env, napi_value *a) {
  struct request *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->start = (struct start){.parent = {-1, -1, -1}, .child = {-1, -1, -1}, .pidfd = -1};
  struct start *s = &r->start;
  s->file = text(env, a[0]);
  s->argv = texts(env, a[1]);
  s->env = texts(env, a[2]);
  s->cwd = text(env, a[3]);
  napi_get_value_int32(env, a[4], &s->mode);
  napi_get_value_int32(env, a[5], &s->cols);
  napi_get_value_int32(env, a[6], &s->rows);
  size_t count = 0;
  while (s->argv && s->argv[count]) count++;
  if (count > 0) s->script_argv = calloc(count + 2, sizeof *s->script_argv);
  if (!s->file || !s->env || !s->cwd || !s->script_argv) {
    release(r);
    return NULL;
  }
  s->script_argv[0] = s->argv[0];
  s->script_argv[1] = s->file;
  memcpy(s->script_argv + 2, s->argv + 1, (count - 1) * sizeof *s->argv);
  napi_create_reference(env, a[7], 1, (napi_ref *)&r->on_started);
  napi_create_reference(env, a[8], 1, (napi_ref *)&r->on_exit);
  return r;
}

static void call(napi_env env, napi_ref callback, napi_value first, napi_value second) {
  napi_value function, receiver, result, arguments[] = {first, second};
  napi_get_reference_value(env, callback, &function);
  napi_get_global(env, &receiver);
  napi_make_callback(env, NULL, receiver, function, 2, arguments, &result);
  napi_delete_reference(env, callback);
}

static void released(uv_handle_t *handle) { free(handle); }

static void ended(uv_poll_t *handle, int poll_status, int events) {
  (void)poll_status;
  (void)events;
  struct watch *w = (struct watch *)handle;
  int status = 0;
  if (waitpid(w->pid, &status, WNOHANG) != w->pid) return;
  uv_poll_stop(handle);
  close(w->pidfd);
  napi_handle_scope scope;
  napi_value code, number;
  napi_open_handle_scope(w->env, &scope);
  napi_create_int32(w->env, WIFEXITED(status) ? WEXITSTATUS(status) : 0, &code);
  napi_create_int32(w->env, WIFSIGNALED(status) ? WTERMSIG(status) : 0, &number);
  call(w->env, w->on_exit, code, number);
  napi_close_handle_scope(w->env, scope);
  uv_close((uv_handle_t *)handle, released);
}

static int watch(napi_env env, struct request *r) {
  struct watch *w = calloc(1, sizeof *w);
  uv_loop_t *loop;
  if (!w || napi_get_uv_event_loop(env, &loop) != napi_ok || uv_poll_init(loop, &w->poll, r->start.pidfd)) {
    free(w);
    return -1;
  }
  w->env = env;
  w->pid = r->start.pid;
  w->pidfd = r->start.pidfd;
  w->on_exit = r->on_exit;
  return uv_poll_start(&w->poll, UV_READABLE, ended);
}

static napi_value error_of(napi_env env, int number, const char *stage) {
  napi_value code, message, error, value;
  napi_create_string_utf8(env, uv_err_name(-number), NAPI_AUTO_LENGTH, &code);
  napi_create_string_utf8(env, strerror(number), NAPI_AUTO_LENGTH, &message);
  napi_create_error(env, code, message, &error);
  napi_create_string_utf8(env, stage, NAPI_AUTO_LENGTH, &value);
  napi_set_named_property(env, error, "stage", value);
  return error;
}

static napi_value result_of(napi_env env, struct start *s) {
  napi_value result, number;
  napi_create_array_with_length(env, 1 + PARENT_ENDS, &result);
  napi_create_int32(env, s->pid, &number);
  napi_set_element(env, result, 0, number);
  for (int i = 0; i < PARENT_ENDS; i++) {
    napi_create_int32(env, s->parent[i], &number);
    napi_set_element(env, result, i + 1, number);
  }
  return result;
}

static void tell(napi_env env, struct request *r) {
  struct start *s = &r->start;
  napi_handle_scope scope;
  napi_value none;
  napi_open_handle_scope(env, &scope);
  napi_get_undefined(env, &none);
  if (!s->error && watch(env, r)) {
    s->error = ENOMEM;
    s->stage = "watch";
    abandon_program(s);
  }
  if (s->error) napi_delete_reference(env, r->on_exit);
  call(env, r->on_started, s->error ? error_of(env, s->error, s->stage) : none, s->error ? none : result_of(env, s));
  napi_close_handle_scope(env, scope);
  release(r);
}

static void on_started(uv_async_t *told) {
  struct launcher *l = (struct launcher *)told;
  for (struct request *next, *r = take_done(&l->starters); r; r = next) {
    next = r->next;
    tell(l->env, r);
  }
}

static napi_value launch(napi_env env, napi_callback_info info) {
  size_t count = 9;
  napi_value a[9];
  struct launcher *l;
  napi_get_cb_info(env, info, &count, a, NULL, (void **)&l);
  struct request *r = count == 9 ? read_request(env, a) : NULL;
  if (!r) {
    napi_throw(env, error_of(env, EINVAL, "arguments"));
  } else if (ask_starters(&l->starters, r)) {
    napi_delete_reference(env, r->on_started);
    napi_delete_reference(env, r->on_exit);
    release(r);
    napi_throw(env, error_of(env, EAGAIN, "fork"));
  }
  return NULL;
}

static napi_value resize(napi_env env, napi_callback_info info) {
  size_t count = 3;
  napi_value a[3];
  int fd = -1, cols = 0, rows = 0;
  napi_get_cb_info(env, info, &count, a, NULL, NULL);
  napi_get_value_int32(env, a[0], &fd);
  napi_get_value_int32(env, a[1], &cols);
  napi_get_value_int32(env, a[2], &rows);
  struct winsize size = {.ws_col = cols, .ws_row = rows};
  if (ioctl(fd, TIOCSWINSZ, &size)) napi_throw(env, error_of(env, errno, "resize"));
  return NULL;
}

static napi_value limit_unsent(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value a[2];
  int fd = -1, bytes = 0;
  napi_get_cb_info(env, info, &count, a, NULL, NULL);
  napi_get_value_int32(env, a[0], &fd);
  napi_get_value_int32(env, a[1], &bytes);
  setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
  return NULL;
}

static napi_value keep_memory(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value a[1];
  int bytes = 0;
  napi_get_cb_info(env, info, &count, a, NULL, NULL);
  napi_get_value_int32(env, a[0], &bytes);
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, bytes / 2);
  mallopt(M_TRIM_THRESHOLD, bytes);
#endif
  return NULL;
}

static void closed(uv_handle_t *told) { napi_remove_async_cleanup_hook(((struct launcher *)told)->hook); }

static void close_launcher(napi_async_cleanup_hook_handle hook, void *launcher) {
  struct launcher *l = launcher;
  l->hook = hook;
  close_starters(&l->starters, closed);
}

static struct launcher *open_launcher(napi_env env) {
  struct launcher *l = calloc(1, sizeof *l);
  uv_loop_t *loop;
  if (!l || napi_get_uv_event_loop(env, &loop) != napi_ok || open_starters(&l->starters, loop, on_started)) return NULL;
  l->env = env;
  napi_add_async_cleanup_hook(env, close_launcher, l, NULL);
  return l;
}

static void offer(napi_env env, napi_value exports, const char *name, napi_callback function, void *data) {
  napi_value value;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, function, data, &value);
  napi_set_named_property(env, exports, name, value);
}

NAPI_MODULE_INIT() {
  struct launcher *l = open_launcher(env);
  int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
  napi_value supported;
  napi_get_boolean(env, l && pidfd >= 0, &supported);
  if (pidfd >= 0) close(pidfd);
  napi_set_named_property(env, exports, "supported", supported);
  offer(env, exports, "launch", launch, l);
  offer(env, exports, "resize", resize, NULL);
  offer(env, exports, "limitUnsent", limit_unsent, NULL);
  offer(env, exports, "keepMemory", keep_memory, NULL);
  offer(env, exports, "lock", lock, NULL);
  offer(env, exports, "peerUser", peer_user, NULL);
  return exports;
}
