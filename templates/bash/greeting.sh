# The work itself. It knows nothing of ACOR, so that it can be tested and used by itself.

greeting() {
  printf 'Hello, %s!\n' "$1"
}
