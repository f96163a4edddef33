// Starting one program: what is asked for, and what came of it.
#pragma once
#include <sys/types.h>

enum { STDIN_CLOSED, STDIN_PIPED, TERMINAL };
enum { PARENT_ENDS = 3 };

struct start {
  char *file, *cwd;
  char **argv, **env;
  char **script_argv;  // how sh runs a script that has no first line of its own
  int mode, cols, rows;
  int parent[PARENT_ENDS], child[3];
  pid_t pid;  // 0 until it runs
  int pidfd;
  volatile int error;
  const char *volatile stage;
};

// Starts it, on any thread, or leaves an error with its stage and nothing else.
void start_program(struct start *s);

// Ends what was started, and lets go of it.
void abandon_program(struct start *s);
