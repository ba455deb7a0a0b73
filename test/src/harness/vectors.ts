/**
 * The recorded frames of test/vectors/wire-vectors.jsonl, and how a reply is compared with one.
 *
 * Both frames are decoded by the opcode of the request and described: zxids, times, session ids and
 * passwords become a word that says only whether they are 0, and lists of names are sorted. Lengths
 * are compared as they are, so a mask hides no missing or surplus byte.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ConnectResponse,
  decode,
  JuteReader,
  operationOf,
  ReplyHeader,
  RequestHeader,
  WATCH_XID,
  WatcherEvent,
} from '@rookery/protocol';
import { REPOSITORY } from './product.js';

export interface Exchange {
  readonly name: string;
  /** The frame without the length in front; the responses have none either. */
  readonly request: Uint8Array;
  readonly responses: readonly Uint8Array[];
  /** Whether the server ended the connection after the responses. */
  readonly closed: boolean;
}

const MASKED_NUMBERS = new Set([
  ...['czxid', 'mzxid', 'pzxid', 'zxid', 'ctime', 'mtime'],
  ...['ephemeralOwner', 'sessionId'],
]);
const UNORDERED = new Set(['children', 'ephemerals']);

export function readVectors(): Exchange[] {
  const text = readFileSync(join(REPOSITORY, 'test/vectors/wire-vectors.jsonl'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { name, request, response, closed } = JSON.parse(line);
      const responses = response.map((hex: string) => Buffer.from(hex, 'hex'));
      return { name, request: Buffer.from(request, 'hex'), responses, closed: closed === true };
    });
}

export function isConnect(exchange: Exchange): boolean {
  return /^(connect|resume)/.test(exchange.name);
}

/**
 * Returns a description of the frame in which everything that differs from run to run is masked.
 */
export function describeReply(exchange: Exchange, frame: Uint8Array): unknown {
  const bytes = frame.length;
  if (isConnect(exchange)) return { bytes, ...mask(decode(ConnectResponse, frame)) };
  const reader = new JuteReader(frame);
  const { xid, error } = ReplyHeader.read(reader);
  if (xid === WATCH_XID) return { bytes, event: WatcherEvent.read(reader) };
  const opcode = decode(RequestHeader, exchange.request).type;
  const body = error === 0 ? operationOf(opcode)?.response.read(reader) : undefined;
  return { bytes, xid, error, ...mask({ body }), unread: reader.remaining };
}

function mask(fields: object): Record<string, unknown> {
  const masked = Object.entries(fields).map(([name, value]) => [name, maskField(name, value)]);
  return Object.fromEntries(masked);
}

function maskField(name: string, value: unknown): unknown {
  if (MASKED_NUMBERS.has(name)) return value === 0 ? 'zero' : 'some';
  if (name === 'password') return value instanceof Uint8Array ? value.some((b) => b !== 0) : value;
  if (UNORDERED.has(name) && Array.isArray(value)) return [...value].sort();
  return maskValue(value);
}

function maskValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(maskValue);
  return typeof value === 'object' && value !== null ? mask(value) : value;
}
