/**
 * Reads the answers to four-letter words into values. They come from a wire: a text that does not
 * have the form of an answer, such as the sentence about a word that is not allowed, gives null.
 * Pure.
 */
import { plainHexId } from '@rookery/protocol';

/** A connection with a session, of an answer to `cons`. */
export interface Connection {
  /** In hex with 0x. */
  readonly session: string;
  readonly address: string;
  readonly timeoutMs: number;
  readonly established: number;
  readonly received: number;
  readonly sent: number;
  readonly outstanding: number;
  readonly lastOperation: string;
  readonly averageLatencyMs: number;
  readonly maxLatencyMs: number;
}

/** The names and values of the lines that have the separator; null if no line has it. */
export function linesOf(text: string, separator: string): ReadonlyMap<string, string> | null {
  const lines = new Map<string, string>();
  for (const line of text.split('\n')) {
    const end = line.indexOf(separator);
    if (end > 0) lines.set(line.slice(0, end).trim(), line.slice(end + 1).trim());
  }
  return lines.size === 0 ? null : lines;
}

const CONNECTION = /^ ?\/?(?<address>\[?[\w.:%]+\]?:\d+)\[[\da-f]+\]\((?<facts>[^()]*)\)\s*$/i;

/** Null for a text that is no answer to `cons`: an answer always lists the connection that asks. */
export function connectionsIn(text: string): readonly Connection[] | null {
  const connections: Connection[] = [];
  let isAnswer = false;
  for (const line of text.split('\n')) {
    const { address = '', facts = '' } = CONNECTION.exec(line)?.groups ?? {};
    if (address === '') continue;
    isAnswer = true;
    const known = new Map(facts.split(',').map((one) => [one.split('=')[0], one.split('=')[1]]));
    const session = plainHexId(known.get('sid') ?? '');
    if (session === null || session === '0x0') continue;
    const number = (name: string): number => Number(known.get(name) ?? 0) || 0;
    connections.push({
      session,
      address,
      timeoutMs: number('to'),
      established: number('est'),
      received: number('recved'),
      sent: number('sent'),
      outstanding: number('queued'),
      lastOperation: (known.get('lop') ?? '').slice(0, 20),
      averageLatencyMs: number('avglat'),
      maxLatencyMs: number('maxlat'),
    });
  }
  return isAnswer ? connections : null;
}

/** The paths of ephemerals by session, from an answer to `dump`; null for any other text. */
export function ephemeralsIn(text: string): ReadonlyMap<string, readonly string[]> | null {
  const start = text.indexOf('Sessions with Ephemerals');
  if (start < 0) return null;
  const found = new Map<string, string[]>();
  let paths: string[] = [];
  for (const line of text.slice(start).split('\n').slice(1)) {
    const session = plainHexId(/^(0x[\da-f]+):$/i.exec(line.trim())?.[1] ?? '');
    if (session !== null) {
      paths = [];
      found.set(session, paths);
    } else if (line.startsWith('\t/')) paths.push(line.slice(1));
  }
  return found;
}
