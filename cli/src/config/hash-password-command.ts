/**
 * `rookery config hash-password USER` prints what the config file has in place of a user's
 * password: for `adminUsers`, `adminReaders` and `superDigest`.
 *
 * The password comes from standard input, never from the command line, which other users of the
 * machine see: on a terminal it is asked for and not shown, otherwise it is the first line.
 */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { OperatorError, scryptEntry } from '@rookery/server';

interface Streams {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Input that follows the line may come with it. */
const LINE_BYTES_MAX = 1 << 20;

const STANDARD: Streams = {
  stdin: process.stdin,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
};

/** Throws OperatorError for a user or a password that cannot be one. */
export async function runHashPassword(user: string, streams: Streams = STANDARD): Promise<number> {
  if (user === '' || user.includes(':')) {
    throw new OperatorError(`"${user}" cannot be a user: take a name without a colon.`);
  }
  const isTerminal = streams.stdin.isTTY === true;
  if (isTerminal) streams.err(`Password of ${user}: `);
  const password = await firstLine(streams.stdin, isTerminal);
  if (isTerminal) streams.err('\n');
  if (password === null || password === '') {
    throw new OperatorError('There is no password: write it as the first line of standard input.');
  }
  streams.out(`${await scryptEntry(`${user}:${password}`)}\n`);
  return 0;
}

/** Null where there is none. On a terminal, what is typed is not shown. */
function firstLine(input: NodeJS.ReadableStream, isTerminal: boolean): Promise<string | null> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: isTerminal });
  return new Promise((resolve, reject) => {
    let bytes = 0;
    input.on('data', (part: Buffer | string) => {
      bytes += part.length;
      if (bytes <= LINE_BYTES_MAX) return;
      reject(new OperatorError(`The first line has more than ${LINE_BYTES_MAX} bytes.`));
      lines.close();
      input.pause();
    });
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => resolve(null));
  });
}
