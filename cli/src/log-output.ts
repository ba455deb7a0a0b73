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
  const options = { level, base: bindings, formatters: { log: harmless } };
  if (!process.stdout.isTTY) return pino(options, pino.destination({ fd: 1, sync: true }));
  const format = readable();
  return pino(options, { write: (line: string) => process.stdout.write(format(line)) });
}

/**
 * Characters that JSON does not escape and that a terminal obeys or hides: DEL, the second set of
 * control characters, and those that change the direction of a line or end it. Names that clients
 * choose are in log lines.
 */
const HARMFUL = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The fields of a line with such characters written as `\u` and their numbers. */
export function harmless(fields: Record<string, unknown>): Record<string, unknown> {
  let changed: Record<string, unknown> | null = null;
  for (const [key, value] of Object.entries(fields)) {
    if (typeof value !== 'string' || value.search(HARMFUL) === -1) continue;
    changed ??= { ...fields };
    changed[key] = value.replace(HARMFUL, (letter) => {
      return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
    });
  }
  return changed ?? fields;
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
