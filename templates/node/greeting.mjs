// The work itself. It knows nothing of ACOR, so that it can be tested and used by itself.

export function greeting(who) {
  return `Hello, ${who}!`;
}
