/**
 * Writes log lines to standard output, as JSON for programs or formatted for a terminal.
 *
 * The owner of the terminal decides: a member that an ensemble started writes JSON into its pipe,
 * and the ensemble formats it or passes it on. Lines are written synchronously, so that the last
 * line before an exit is never lost.
 */
import { createRequire } from 'node:module';
import { Transform } from 'node:stream';
import { type Logger, pino } from 'pino';

type Format = (line: string) => string;

/** Every line carries `bindings`; a member's bindings contain its id. */
export function createLogger(level: string, bindings: Record<string, unknown>): Logger {
  const options = { level, base: bindings };
  if (!process.stdout.isTTY) return pino(options, pino.destination({ fd: 1, sync: true }));
  const format = readable();
  return pino(options, { write: (line: string) => process.stdout.write(format(line)) });
}

/**
 * Turns a member's output into the ensemble's output, line by line. On a terminal each line begins
 * with the member's id. JSON lines contain it, and it is put before any other line.
 */
export function memberLines(id: number): Transform {
  const format = process.stdout.isTTY ? prefixed(id, readable()) : jsonOrPrefixed(id);
  return lineTransform(format);
}

/**
 * The formatter is loaded only if there is a terminal: a member that starts without one need not
 * wait for it.
 */
function readable(): Format {
  const { prettyFactory }: typeof import('pino-pretty') = createRequire(import.meta.url)(
    'pino-pretty',
  );
  return prettyFactory({
    colorize: process.stdout.hasColors?.() === true,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'member',
  });
}

function prefixed(id: number, format: Format): Format {
  return (line) => `[${id}] ${format(`${line}\n`).trimEnd()}\n`;
}

function jsonOrPrefixed(id: number): Format {
  return (line) => (line.startsWith('{') ? `${line}\n` : `[${id}] ${line}\n`);
}

function lineTransform(format: Format): Transform {
  let rest = '';
  return new Transform({
    encoding: 'utf8',
    decodeStrings: false,
    transform(chunk, _encoding, done) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      done(null, lines.map(format).join(''));
    },
    flush(done) {
      done(null, rest === '' ? '' : format(rest));
    },
  });
}
