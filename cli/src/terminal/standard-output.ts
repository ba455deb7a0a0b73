/**
 * Ends a command whose standard output cannot be written because its reader has gone, as in
 * `rookery inspect du FILE | head`, or because the disk of the file is full; errors of standard
 * error are ignored.
 *
 * `endWithOutput` is for commands that hold nothing open at a server while they print. Those of
 * `shell/` notice it by their own writes, because they close their session first. Called by
 * `program.ts`.
 */
const EXIT_FAILURE = 1;
/**
 * What a shell reports of a program that SIGPIPE ended, 128 + 13. No other code says that the
 * reader has gone: 0 would be a verdict of such commands as `inspect diff`.
 */
export const EXIT_BROKEN_PIPE = 141;

/** From now on the process ends when a write fails: without a word if the reader has gone. */
export function endWithOutput(): void {
  process.stdout.on('error', (error) => {
    if (isBrokenPipe(error)) process.exit(EXIT_BROKEN_PIPE);
    process.stderr.write(`rookery: ${unwritable(error)}\n`);
    process.exit(EXIT_FAILURE);
  });
}

/**
 * From now on a standard error that cannot be written changes nothing: what the command does and
 * its exit code do not depend on who reads its messages.
 */
export function continueWithoutErrors(): void {
  process.stderr.on('error', () => undefined);
}

/** Resolves when all that was written before is with the system, or its error was emitted. */
export function outputWritten(stdout: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    stdout.write('', () => setImmediate(resolve));
  });
}

export function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

/** Says to people why it cannot be written. Not called when the reader has gone. */
export function unwritable(error: Error): string {
  return `standard output cannot be written: ${error.message}`;
}
