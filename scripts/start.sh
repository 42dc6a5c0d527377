#!/bin/sh
# What `npm start` runs: sets up what is missing, then becomes the daemon's parent. The shell stays for the sake of Ctrl-C, which may come
# while Node itself is still starting and nothing listens yet: such a start ends with code 0 too, as was asked. A signal is passed on, since
# `npm` tells us alone; the daemon takes what arrives twice for one.

child=
is_daemon=
asked=
terminal=
[ ! -t 0 ] || terminal=yes

# `npm` ends by SIGHUP without telling us: the daemon stops when it is gone.
[ "${npm_lifecycle_event:-}" != start ] || export TALLYMAN_STARTED_BY="$PPID"

# Always SIGTERM: a shell starts programs beside itself with SIGINT ignored, until Node takes care of it.
ask() {
  asked=yes
  [ -z "$child" ] || kill -TERM "$child" 2>/dev/null
}
trap ask INT TERM

# The terminal is closed, which ends what was started in it; or the sellers are to be read again, as a daemon that begins only now does anyway.
hang_up() {
  if [ -n "$terminal" ] && [ ! -t 0 ]; then ask
  elif [ -n "$is_daemon" ] && [ -n "$child" ]; then kill -HUP "$child" 2>/dev/null
  fi
}
trap hang_up HUP

# Runs a program, waits for its end, and leaves its exit code in `status`.
run() {
  while :; do
    "$@" &
    child=$!
    # A signal may have come before there was a child to pass it on to.
    [ -z "$asked" ] || kill -TERM "$child" 2>/dev/null
    # `wait` also returns when a signal comes.
    while wait "$child"; status=$?; kill -0 "$child" 2>/dev/null; do :; done
    child=
    # It ended by the very signal, before it could listen for it.
    case "$asked$status" in
      yes129 | yes130 | yes143) exit 0 ;;
      129) continue ;;
    esac
    return 0
  done
}

run node scripts/setup.mjs
[ -z "$asked" ] || exit 0
[ "$status" -eq 0 ] || exit "$status"
# The second start takes half the time. Where nothing can be written there, Node goes on without.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$PWD/node_modules/.cache/tallyman}"
is_daemon=yes
run node_modules/.bin/node --max-semi-space-size=16 --initial-old-space-size=32 --heap-growing-percent=60 src/main.ts
exit "$status"
