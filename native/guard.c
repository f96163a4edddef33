#define _GNU_SOURCE
#include "guard.h"
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <uv.h>

static int descriptor(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value a[1];
  int fd = -1;
  napi_get_cb_info(env, info, &count, a, NULL, NULL);
  if (count == 1) napi_get_value_int32(env, a[0], &fd);
  return fd;
}

napi_value lock(napi_env env, napi_callback_info info) {
  int failed = flock(descriptor(env, info), LOCK_EX | LOCK_NB);
  if (failed && errno != EWOULDBLOCK) {
    napi_throw_error(env, uv_err_name(-errno), strerror(errno));
    return NULL;
  }
  napi_value locked;
  napi_get_boolean(env, !failed, &locked);
  return locked;
}

napi_value peer_user(napi_env env, napi_callback_info info) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  int failed = getsockopt(descriptor(env, info), SOL_SOCKET, SO_PEERCRED, &peer, &length);
  napi_value user;
  napi_create_int64(env, failed ? -1 : (int64_t)peer.uid, &user);
  return user;
}
