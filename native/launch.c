// Starts a program without copying the gateway's page tables: vfork and exec, in a session of its own, on pipes or on a terminal.
// Every descriptor made here is close-on-exec, an error is told with its errno and its stage, and the end is told by a pidfd.
//
//   launch(file, argv, env, cwd, mode, cols, rows, on_exit) -> [pid, fd, fd, fd]
//     mode 0: stdin at EOF  -> [pid, -1, stdout, stderr]
//     mode 1: stdin piped   -> [pid, stdin, stdout, stderr]
//     mode 2: on a terminal -> [pid, terminal, program's side of it, -1]
//     on_exit(code, signal), once
//   resize(terminal, cols, rows)
//   limitUnsent(socket, bytes): a TCP socket takes no more while so much of it was not sent yet; anything else is left as it is
//   supported: whether this kernel has pidfds (Linux 5.3)
#define _GNU_SOURCE
#define NAPI_VERSION 8
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <node_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <uv.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { STDIN_CLOSED, STDIN_PIPED, TERMINAL };
enum { PARENT_ENDS = 3, PIPE_BYTES = 256 * 1024 };

struct request {
  char *file, *cwd;
  char **argv, **env;
  char **script_argv;  // how sh runs a script that has no first line of its own
  int mode, cols, rows;
  int parent[PARENT_ENDS], child[3];
  volatile int error;
  const char *volatile stage;
};

struct watch {
  uv_poll_t poll;
  napi_env env;
  napi_ref callback;
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

// A NULL-terminated list with `before` free places in front.
static char **texts(napi_env env, napi_value array, int before) {
  uint32_t length = 0;
  napi_get_array_length(env, array, &length);
  char **list = calloc(length + before + 1, sizeof *list);
  for (uint32_t i = 0; list && i < length; i++) {
    napi_value item;
    napi_get_element(env, array, i, &item);
    list[before + i] = text(env, item);
  }
  return list;
}

static void free_texts(char **list, int before) {
  if (!list) return;
  for (char **item = list + before; *item; item++) free(*item);
  free(list);
}

static void close_all(int *fds, int count) {
  for (int i = 0; i < count; i++)
    if (fds[i] >= 0) close(fds[i]);
}

static int fail(struct request *r, const char *stage) {
  r->error = errno;
  r->stage = stage;
  return -1;
}

// One pipe whose end `mine` (0 reads, 1 writes) stays here and does not block.
static int open_pipe(struct request *r, int place, int mine) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return fail(r, "pipe");
  r->parent[place] = ends[mine];
  r->child[place] = ends[!mine];
  if (!mine) fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES);  // where the user may: fewer switches between program and gateway
  return fcntl(ends[mine], F_SETFL, O_NONBLOCK) ? fail(r, "pipe") : 0;
}

static int open_terminal(struct request *r) {
  struct winsize size = {.ws_col = r->cols, .ws_row = r->rows};
  struct termios modes;
  int master = r->parent[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (master < 0 || grantpt(master) || unlockpt(master)) return fail(r, "terminal");
  int side = r->parent[1] = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (side < 0 || tcgetattr(side, &modes)) return fail(r, "terminal");
  modes.c_iflag |= IUTF8;
  if (tcsetattr(side, TCSANOW, &modes) || ioctl(side, TIOCSWINSZ, &size)) return fail(r, "terminal");
  return 0;
}

static int open_ends(struct request *r) {
  if (r->mode == TERMINAL) return open_terminal(r);
  if (r->mode == STDIN_PIPED && open_pipe(r, 0, 1)) return -1;
  if (r->mode == STDIN_CLOSED && (r->child[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0) return fail(r, "stdin");
  return open_pipe(r, 1, 0) || open_pipe(r, 2, 0) ? -1 : 0;
}

// Runs in the child, on the parent's memory: system calls only.
static void become(struct request *r) {
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigset_t none;
  for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
  if (setsid() < 0) {
    fail(r, "session");
    return;
  }
  if (r->mode == TERMINAL && ioctl(r->parent[1], TIOCSCTTY, 0)) {
    fail(r, "terminal");
    return;
  }
  for (int fd = 0; fd < 3; fd++) {
    if (dup2(r->mode == TERMINAL ? r->parent[1] : r->child[fd], fd) < 0) {
      fail(r, "stdio");
      return;
    }
  }
  if (chdir(r->cwd)) {
    fail(r, "cwd");
    return;
  }
  syscall(SYS_close_range, 3, ~0U, 0);  // what the gateway itself inherited; this table of descriptors is the child's own
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execve(r->file, r->argv, r->env);
  if (errno == ENOEXEC) execve("/bin/sh", r->script_argv, r->env);
  fail(r, "exec");
}

static pid_t start(struct request *r) {
  sigset_t all, before;
  if (open_ends(r)) return -1;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of ours runs in the child
  pid_t pid = vfork();
  if (pid == 0) {
    become(r);
    _exit(127);
  }
  if (pid < 0) fail(r, "fork");
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (pid > 0 && r->error) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    return -1;
  }
  return pid;
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
  napi_env env = w->env;
  napi_handle_scope scope;
  napi_value callback, receiver, arguments[2], result;
  napi_open_handle_scope(env, &scope);
  napi_get_reference_value(env, w->callback, &callback);
  napi_create_int32(env, WIFEXITED(status) ? WEXITSTATUS(status) : 0, &arguments[0]);
  napi_create_int32(env, WIFSIGNALED(status) ? WTERMSIG(status) : 0, &arguments[1]);
  napi_get_global(env, &receiver);
  napi_make_callback(env, NULL, receiver, callback, 2, arguments, &result);
  napi_delete_reference(env, w->callback);
  napi_close_handle_scope(env, scope);
  uv_close((uv_handle_t *)handle, released);
}

static int watch(napi_env env, napi_value callback, pid_t pid, int pidfd) {
  struct watch *w = calloc(1, sizeof *w);
  uv_loop_t *loop;
  if (!w || napi_get_uv_event_loop(env, &loop) != napi_ok || uv_poll_init(loop, &w->poll, pidfd)) {
    free(w);
    return -1;
  }
  w->env = env;
  w->pid = pid;
  w->pidfd = pidfd;
  napi_create_reference(env, callback, 1, &w->callback);
  return uv_poll_start(&w->poll, UV_READABLE, ended);
}

static napi_value throw_errno(napi_env env, int number, const char *stage) {
  napi_value code, message, error, value;
  napi_create_string_utf8(env, uv_err_name(-number), NAPI_AUTO_LENGTH, &code);
  napi_create_string_utf8(env, strerror(number), NAPI_AUTO_LENGTH, &message);
  napi_create_error(env, code, message, &error);
  napi_create_string_utf8(env, stage, NAPI_AUTO_LENGTH, &value);
  napi_set_named_property(env, error, "stage", value);
  napi_throw(env, error);
  return NULL;
}

static void release(struct request *r) {
  free(r->file);
  free(r->cwd);
  free_texts(r->argv, 0);
  free_texts(r->env, 0);
  free(r->script_argv);
}

static int read_request(napi_env env, napi_value *a, struct request *r) {
  r->file = text(env, a[0]);
  r->argv = texts(env, a[1], 0);
  r->env = texts(env, a[2], 0);
  r->cwd = text(env, a[3]);
  napi_get_value_int32(env, a[4], &r->mode);
  napi_get_value_int32(env, a[5], &r->cols);
  napi_get_value_int32(env, a[6], &r->rows);
  if (!r->file || !r->argv || !r->env || !r->cwd || !r->argv[0]) return -1;
  size_t count = 0;
  while (r->argv[count]) count++;
  r->script_argv = calloc(count + 2, sizeof *r->script_argv);
  if (!r->script_argv) return -1;
  r->script_argv[0] = r->argv[0];
  r->script_argv[1] = r->file;
  memcpy(r->script_argv + 2, r->argv + 1, (count - 1) * sizeof *r->argv);
  return 0;
}

static napi_value launch(napi_env env, napi_callback_info info) {
  size_t count = 8;
  napi_value a[8], result, number;
  struct request r = {.parent = {-1, -1, -1}, .child = {-1, -1, -1}};
  napi_get_cb_info(env, info, &count, a, NULL, NULL);
  if (count < 8 || read_request(env, a, &r)) {
    release(&r);
    return throw_errno(env, EINVAL, "arguments");
  }
  pid_t pid = start(&r);
  close_all(r.child, 3);
  release(&r);
  int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
  if (pid > 0 && (pidfd < 0 || watch(env, a[7], pid, pidfd))) {
    fail(&r, "watch");
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (pidfd >= 0) close(pidfd);
  }
  if (r.error) {
    close_all(r.parent, PARENT_ENDS);
    return throw_errno(env, r.error, r.stage);
  }
  napi_create_array_with_length(env, 1 + PARENT_ENDS, &result);
  napi_create_int32(env, pid, &number);
  napi_set_element(env, result, 0, number);
  for (int i = 0; i < PARENT_ENDS; i++) {
    napi_create_int32(env, r.parent[i], &number);
    napi_set_element(env, result, i + 1, number);
  }
  return result;
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
  return ioctl(fd, TIOCSWINSZ, &size) ? throw_errno(env, errno, "resize") : NULL;
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

NAPI_MODULE_INIT() {
  napi_value function;
  napi_create_function(env, "launch", NAPI_AUTO_LENGTH, launch, NULL, &function);
  napi_set_named_property(env, exports, "launch", function);
  napi_create_function(env, "resize", NAPI_AUTO_LENGTH, resize, NULL, &function);
  napi_set_named_property(env, exports, "resize", function);
  napi_create_function(env, "limitUnsent", NAPI_AUTO_LENGTH, limit_unsent, NULL, &function);
  napi_set_named_property(env, exports, "limitUnsent", function);
  int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
  napi_value supported;
  napi_get_boolean(env, pidfd >= 0, &supported);
  napi_set_named_property(env, exports, "supported", supported);
  if (pidfd >= 0) close(pidfd);
  return exports;
}
