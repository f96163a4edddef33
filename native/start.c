// Starts a program without copying the gateway's page tables: vfork and exec, in a session of its own, on pipes or on a terminal.
// Every descriptor made here is close-on-exec, and an error is told with its errno and its stage.
#define _GNU_SOURCE
#include "start.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { PIPE_BYTES = 256 * 1024 };

static void close_all(int *fds, int count) {
  for (int i = 0; i < count; i++)
    if (fds[i] >= 0) close(fds[i]);
}

static void reap(pid_t pid) {
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
  }
}

static int fail(struct start *s, const char *stage) {
  s->error = errno;
  s->stage = stage;
  return -1;
}

// One pipe whose end `mine` (0 reads, 1 writes) stays here and does not block.
static int open_pipe(struct start *s, int place, int mine) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return fail(s, "pipe");
  s->parent[place] = ends[mine];
  s->child[place] = ends[!mine];
  if (!mine) fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES);  // where the user may: fewer switches between program and gateway
  return fcntl(ends[mine], F_SETFL, O_NONBLOCK) ? fail(s, "pipe") : 0;
}

static int open_terminal(struct start *s) {
  struct winsize size = {.ws_col = s->cols, .ws_row = s->rows};
  struct termios modes;
  int master = s->parent[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (master < 0 || grantpt(master) || unlockpt(master)) return fail(s, "terminal");
  int side = s->parent[1] = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (side < 0 || tcgetattr(side, &modes)) return fail(s, "terminal");
  modes.c_iflag |= IUTF8;
  if (tcsetattr(side, TCSANOW, &modes) || ioctl(side, TIOCSWINSZ, &size)) return fail(s, "terminal");
  return 0;
}

static int open_ends(struct start *s) {
  if (s->mode == TERMINAL) return open_terminal(s);
  if (s->mode == STDIN_PIPED && open_pipe(s, 0, 1)) return -1;
  if (s->mode == STDIN_CLOSED && (s->child[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0) return fail(s, "stdin");
  return open_pipe(s, 1, 0) || open_pipe(s, 2, 0) ? -1 : 0;
}

// Runs in the child, on the parent's memory: system calls only.
static void become(struct start *s) {
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigset_t none;
  for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
  if (setsid() < 0) {
    fail(s, "session");
    return;
  }
  if (s->mode == TERMINAL && ioctl(s->parent[1], TIOCSCTTY, 0)) {
    fail(s, "terminal");
    return;
  }
  for (int fd = 0; fd < 3; fd++) {
    if (dup2(s->mode == TERMINAL ? s->parent[1] : s->child[fd], fd) < 0) {
      fail(s, "stdio");
      return;
    }
  }
  if (chdir(s->cwd)) {
    fail(s, "cwd");
    return;
  }
  syscall(SYS_close_range, 3, ~0U, 0);  // what the gateway itself inherited; this table of descriptors is the child's own
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execve(s->file, s->argv, s->env);
  if (errno == ENOEXEC) execve("/bin/sh", s->script_argv, s->env);
  fail(s, "exec");
}

static void run(struct start *s) {
  sigset_t all, before;
  if (open_ends(s)) return;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of ours runs in the child
  pid_t pid = vfork();
  if (pid == 0) {
    become(s);
    _exit(127);
  }
  if (pid < 0) fail(s, "fork");
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (pid > 0 && s->error) reap(pid);
  if (pid < 0 || s->error) return;
  s->pid = pid;
  s->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (s->pidfd < 0) fail(s, "watch");
}

void start_program(struct start *s) {
  run(s);
  close_all(s->child, 3);
  if (s->error) abandon_program(s);
}

void abandon_program(struct start *s) {
  if (s->pid > 0) {
    kill(-s->pid, SIGKILL);
    reap(s->pid);
  }
  if (s->pidfd >= 0) close(s->pidfd);
  close_all(s->parent, PARENT_ENDS);
}
