/** How loud a note of the core is: what an operator must see at night is a warning. */

const WARNINGS: ReadonlySet<string> = new Set([
  'election.waiting',
  'leading.violation',
  'role.looking',
]);
/** Said in the normal course of things, many times: for who looks for it. */
const QUIET = /\.ignored$/;

export function noteLevel(event: string): 'debug' | 'info' | 'warn' {
  if (WARNINGS.has(event)) return 'warn';
  return QUIET.test(event) ? 'debug' : 'info';
}
