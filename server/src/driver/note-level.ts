/** How loud a note of the core is: what an operator must see at night is a warning at least. */

/** What should never happen, and needs somebody's eyes. */
const ERRORS: ReadonlySet<string> = new Set([
  'history.disputed',
  'history.diverged',
  'peer.implausible',
  'sync.diverged',
]);
const WARNINGS: ReadonlySet<string> = new Set([
  'election.waiting',
  'leading.violation',
  'role.looking',
]);
/** Said in the normal course of things, many times: for who looks for it. */
const QUIET = /\.ignored$/;

export function noteLevel(event: string): 'debug' | 'info' | 'warn' | 'error' {
  if (ERRORS.has(event)) return 'error';
  if (WARNINGS.has(event)) return 'warn';
  return QUIET.test(event) ? 'debug' : 'info';
}
