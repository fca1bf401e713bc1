# Read by other scripts with `.`: take_lock LOCK waits for the lock of a folder that several starts may build at once.
# The lock is a link whose target is the pid of its owner: it appears whole, so that the lock of a killed owner can be recognised.
take_lock() {
  until ln -s "$$" "$1" 2>/dev/null; do
    if [ ! -w "${1%/*}" ]; then
      echo "acor: this user may not write to ${1%/*}: let its owner start ACOR there once" >&2
      return 1
    fi
    owner=$(readlink "$1" || true)
    if [ -n "$owner" ] && ! is_alive "$owner"; then rm -f "$1"; else sleep 0.2; fi
  done
}

# `kill` may not ask for a process of another user.
is_alive() {
  kill -0 "$1" 2>/dev/null || [ -d "/proc/$1" ] || ps -p "$1" >/dev/null 2>&1
}
