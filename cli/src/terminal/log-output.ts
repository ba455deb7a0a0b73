/**
 * Writes log lines to standard output, as JSON for programs or formatted for a terminal.
 *
 * The owner of the terminal decides: a member that an ensemble started writes JSON into its pipe,
 * and the ensemble formats it or passes it on. Lines are written synchronously, so that the last
 * line before an exit is never lost. A member does not depend on its log: a line that cannot be
 * written, because the disk of the log is full or its reader has gone, is lost.
 */
import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Transform } from 'node:stream';
import { type DestinationStream, type Logger, pino } from 'pino';
import { isDeceiving, visible, visibleJson } from './visible-text.js';

const LINE_BREAK = 0x0a;
/** How long the process sleeps when the pipe of its output takes nothing. */
const PAUSE_MS = 10;
const WAITING = new Int32Array(new SharedArrayBuffer(4));

/** As `writeSync` of node:fs: returns how many of the bytes from `at` on are written, or throws. */
type WriteTo = (fd: number, bytes: Uint8Array, at: number) => number;
type Format = (line: string) => string;

/** Every line carries `bindings`; a member's bindings contain its id. */
export function createLogger(level: string, bindings: Record<string, unknown>): Logger {
  const options = { level, base: bindings, formatters: { log: harmless } };
  if (!process.stdout.isTTY) return pino(options, logTo(1));
  const format = readable();
  return pino(options, { write: (line: string) => process.stdout.write(format(line)) });
}

/**
 * Writes lines to a file descriptor and never throws. Pino's own destination would throw, keep what
 * it could not write without a bound, and try forever when a fatal line flushes it.
 */
export function logTo(fd: number, writeTo: WriteTo = writeSync): DestinationStream {
  /** Whether the output ends within a line, of which the rest is lost. */
  let isCut = false;
  return {
    write: (line) => {
      const bytes = Buffer.from(isCut ? `\n${line}` : line);
      const written = writtenOf(bytes, (at) => writeTo(fd, bytes, at));
      if (written > 0) isCut = bytes[written - 1] !== LINE_BREAK;
    },
  };
}

/** Waits for a reader who is slower; otherwise returns how many bytes could be written. */
function writtenOf(bytes: Uint8Array, writeFrom: (at: number) => number): number {
  let written = 0;
  while (written < bytes.length) {
    try {
      const count = writeFrom(written);
      if (count === 0) break;
      written += count;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) break;
      Atomics.wait(WAITING, 0, 0, PAUSE_MS);
    }
  }
  return written;
}

/** The fields of a line, in which names that clients choose deceive no reader. */
export function harmless(fields: Record<string, unknown>): Record<string, unknown> {
  let changed: Record<string, unknown> | null = null;
  for (const [key, value] of Object.entries(fields)) {
    if (typeof value !== 'string' || !isDeceiving(value)) continue;
    changed ??= { ...fields };
    changed[key] = visible(value);
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
  const format = prettyFactory({
    colorize: process.stdout.hasColors?.() === true,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'member',
  });
  // What is nested, as in errors, is not among the fields that `harmless` sees.
  return (line) => format(line.startsWith('{') ? visibleJson(line) : visible(line));
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
