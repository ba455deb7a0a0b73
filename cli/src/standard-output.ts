/**
 * What becomes of a command whose standard output cannot be written: its reader has gone, as in
 * `rookery inspect du FILE | head`, or the disk of the file is full.
 *
 * For commands that only print and hold nothing open at a server. Those of `shell/` hear of it from
 * their own writes, because they close their session first. Called by `program.ts`.
 */
const EXIT_FAILURE = 1;

/** From now on the process ends when a write fails: quietly with 0 if the reader has gone. */
export function endWithOutput(): void {
  process.stdout.on('error', (error: Error & { readonly code?: string }) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`rookery: standard output cannot be written: ${error.message}\n`);
    process.exit(EXIT_FAILURE);
  });
}

/** Resolves when all that was written before is with the system, or has ended the process. */
export function outputWritten(): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write('', () => setImmediate(resolve));
  });
}
