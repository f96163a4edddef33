// Who may be at work on a directory, and who is at the other end of a socket: see launch.c for what callers get.
#pragma once
#define NAPI_VERSION 8
#include <node_api.h>

napi_value lock(napi_env env, napi_callback_info info);
napi_value peer_user(napi_env env, napi_callback_info info);
