#!/bin/sh
# What `npm start` runs: sets up what is missing, then becomes the daemon's parent. The shell stays for the sake of Ctrl-C, which may come
# while Node itself is still starting and nothing listens yet: such a start ends with code 0 too, as was asked. A signal is passed on, since
# `npm` tells us alone; the daemon takes what arrives twice for one.

child=
asked=

# Always SIGTERM: a shell starts programs beside itself with SIGINT ignored, until Node takes care of it.
ask() {
  asked=yes
  [ -z "$child" ] || kill -TERM "$child" 2>/dev/null
}
trap ask INT TERM

# Runs a program, waits for its end, and leaves its exit code in `status`.
run() {
  "$@" &
  child=$!
  # A signal may have come before there was a child to pass it on to.
  [ -z "$asked" ] || kill -TERM "$child" 2>/dev/null
  # `wait` also returns when a signal comes.
  while wait "$child"; status=$?; kill -0 "$child" 2>/dev/null; do :; done
  child=
  case "$asked$status" in
    # It ended by the very signal, before it could listen for it.
    yes130 | yes143) exit 0 ;;
  esac
}

run node scripts/setup.mjs
[ -z "$asked" ] || exit 0
[ "$status" -eq 0 ] || exit "$status"
# The second start takes half the time. Where nothing can be written there, Node goes on without.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$PWD/node_modules/.cache/tallyman}"
run node_modules/.bin/node --max-semi-space-size=16 --initial-old-space-size=32 --heap-growing-percent=60 src/main.ts
exit "$status"
