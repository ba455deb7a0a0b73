/** Chooses the log level of the core's notes. What needs an operator is at least a warning. */

/** Events that should never happen and need attention. */
const ERRORS: ReadonlySet<string> = new Set([
  'history.disputed',
  'history.diverged',
  'peer.implausible',
  'sync.diverged',
]);
const WARNINGS: ReadonlySet<string> = new Set([
  'disk.hands_over',
  'disk.member_full',
  'disk.spared',
  'disk.stepped_out',
  'election.waiting',
  'leading.violation',
  'role.looking',
]);
/** Frequent events of normal operation, for debugging. */
const QUIET = /\.ignored$/;

export function noteLevel(event: string): 'debug' | 'info' | 'warn' | 'error' {
  if (ERRORS.has(event)) return 'error';
  if (WARNINGS.has(event)) return 'warn';
  return QUIET.test(event) ? 'debug' : 'info';
}
