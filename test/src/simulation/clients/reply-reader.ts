/**
 * Replies to simulated clients, read in place: the answer to a request of a known operation.
 *
 * The reader begins after the reply's header and ends at the end of the body; the caller compares
 * that with the end of the frame. Throws MarshallingError for a malformed reply.
 */
import { type JuteReader, MarshallingError, OpCode, unreachable } from '@rookery/protocol';
import type { Operation, PartResult, ReadResult, Result, StatSeen } from '../contract/history.js';
import { asksForStat } from './request-writer.js';

export interface ReplyHead {
  readonly xid: number;
  readonly zxid: number;
  readonly error: number;
}

export function readResult(reader: JuteReader, head: ReplyHead, operation: Operation): Result {
  const { zxid } = head;
  let { error } = head;
  let path: string | null = null;
  let data: string | null = null;
  let stat: StatSeen | null = null;
  let children: readonly string[] | null = null;
  let parts: readonly PartResult[] | null = null;
  if (error === 0) {
    switch (operation.kind) {
      case 'create':
        path = readText(reader);
        if (hasStat(head, operation)) stat = readStat(reader);
        break;
      case 'set':
      case 'setAcl':
      case 'exists':
        stat = readStat(reader);
        break;
      case 'raise':
        data = String(reader.int());
        break;
      case 'get':
        data = reader.string();
        stat = readStat(reader);
        break;
      case 'children':
        children = readTexts(reader);
        stat = readStat(reader);
        break;
      case 'multi':
        parts = readParts(reader);
        error = parts.find((part) => part.error !== 0)?.error ?? 0;
        break;
      case 'addWatch':
        if (reader.int() !== 0) throw new MarshallingError('addWatch is answered by an error 0');
        break;
      case 'multiRead':
        return { error, zxid, path, data, stat, children, parts, reads: readReads(reader) };
      case 'ephemerals':
        children = readTexts(reader);
        break;
      case 'sync':
        path = readText(reader);
        break;
      case 'removeWatches':
      case 'delete':
      case 'ping':
        break;
      default:
        unreachable(operation);
    }
  }
  return { error, zxid, path, data, stat, children, parts };
}

function hasStat({ xid }: ReplyHead, { mode }: Operation & { readonly kind: 'create' }): boolean {
  return asksForStat(xid) || mode === 'ttl' || mode === 'container';
}

/** A long that Rookery created itself, or read from a client: always a safe integer here. */
export function readLong(reader: JuteReader): number {
  const value = reader.long();
  if (typeof value !== 'number') throw new MarshallingError(`${value} is not a safe integer`);
  return value;
}

export function readText(reader: JuteReader): string {
  const text = reader.string();
  if (text === null) throw new MarshallingError('a string must not be null');
  return text;
}

function readStat(reader: JuteReader): StatSeen {
  const czxid = readLong(reader);
  const mzxid = readLong(reader);
  // ctime, mtime
  reader.long();
  reader.long();
  const version = reader.int();
  const cversion = reader.int();
  const aversion = reader.int();
  const ephemeralOwner = readLong(reader);
  // dataLength
  reader.int();
  const numChildren = reader.int();
  const pzxid = readLong(reader);
  return { czxid, mzxid, pzxid, version, cversion, aversion, ephemeralOwner, numChildren };
}

function readTexts(reader: JuteReader): string[] {
  const count = reader.count();
  const texts: string[] = [];
  for (let read = 0; read < count; read++) texts.push(readText(reader));
  return texts;
}

function readReads(reader: JuteReader): ReadResult[] {
  const reads: ReadResult[] = [];
  for (;;) {
    const type = reader.int();
    const isDone = reader.bool();
    const error = reader.int();
    if (isDone) return reads;
    let data: string | null = null;
    let stat: StatSeen | null = null;
    let children: readonly string[] | null = null;
    if (type === OpCode.error) {
      if (reader.int() !== error) throw new MarshallingError('a failed read has two errors');
    } else if (type === OpCode.getData) {
      data = reader.string();
      stat = readStat(reader);
    } else if (type === OpCode.getChildren) {
      children = readTexts(reader);
    } else {
      throw new MarshallingError(`a read of type ${type}`);
    }
    reads.push({ error, data, stat, children });
  }
}

function readParts(reader: JuteReader): PartResult[] {
  const parts: PartResult[] = [];
  for (;;) {
    const type = reader.int();
    const isDone = reader.bool();
    const error = reader.int();
    if (isDone) return parts;
    let path: string | null = null;
    let stat: StatSeen | null = null;
    if (type === OpCode.error) {
      if (reader.int() !== error) throw new MarshallingError('a failed part has two errors');
    } else if (type === OpCode.create) {
      path = readText(reader);
    } else if (type === OpCode.setData) {
      stat = readStat(reader);
    } else if (type !== OpCode.delete && type !== OpCode.check) {
      throw new MarshallingError(`a part of type ${type}`);
    }
    parts.push({ error, path, stat });
  }
}
