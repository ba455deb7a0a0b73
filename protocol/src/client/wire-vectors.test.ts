/**
 * Goal: what Apache ZooKeeper 3.8.0 really sent and received is read and written byte for byte.
 * Method: every recorded frame, both ways, is decoded with the codec its opcode names and encoded
 * again; nothing may be left over and nothing may differ.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type Codec,
  ConnectRequest,
  ConnectResponse,
  JuteReader,
  JuteWriter,
  operationOf,
  ReplyHeader,
  RequestHeader,
  WATCH_XID,
  WatcherEvent,
} from '../index.js';

interface Vector {
  readonly name: string;
  readonly request: string;
  readonly response: readonly string[];
}

const file = new URL('../../../test/vectors/wire-vectors.jsonl', import.meta.url);
const vectors = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Vector);

/** Decodes the next value and encodes it into `writer`. */
function copy<T>(codec: Codec<T>, reader: JuteReader, writer: JuteWriter): T {
  const value = codec.read(reader);
  codec.write(writer, value);
  return value;
}

function roundTrip(frame: string, copyAll: (r: JuteReader, w: JuteWriter) => void): string {
  const reader = new JuteReader(Buffer.from(frame, 'hex'));
  const writer = new JuteWriter();
  copyAll(reader, writer);
  expect(reader.remaining).toBe(0);
  return Buffer.from(writer.take()).toString('hex');
}

function copyRequest(reader: JuteReader, writer: JuteWriter): void {
  const header = copy(RequestHeader, reader, writer);
  const operation = operationOf(header.type);
  if (operation !== undefined) copy(operation.request, reader, writer);
}

function copyReply(opcode: number, reader: JuteReader, writer: JuteWriter): void {
  const header = copy(ReplyHeader, reader, writer);
  if (header.error !== 0) return;
  if (header.xid === WATCH_XID) {
    copy(WatcherEvent, reader, writer);
    return;
  }
  const operation = operationOf(opcode);
  expect(operation).toBeDefined();
  if (operation !== undefined) copy(operation.response, reader, writer);
}

const requests = vectors.filter((vector) => !vector.name.startsWith('malformed'));
const isConnect = (vector: Vector) => /^(connect|resume)/.test(vector.name);

describe('the recorded frames of ZooKeeper 3.8.0', () => {
  it('are all there', () => {
    expect(vectors.length).toBeGreaterThan(70);
  });

  it.each(requests)('request of "$name" re-encodes to the same bytes', (vector) => {
    const copyAll = isConnect(vector)
      ? (r: JuteReader, w: JuteWriter) => void copy(ConnectRequest, r, w)
      : copyRequest;
    expect(roundTrip(vector.request, copyAll)).toBe(vector.request);
  });

  it.each(vectors)('responses to "$name" re-encode to the same bytes', (vector) => {
    const opcode = Buffer.from(vector.request, 'hex').readInt32BE(4);
    const copyAll = isConnect(vector)
      ? (r: JuteReader, w: JuteWriter) => void copy(ConnectResponse, r, w)
      : (r: JuteReader, w: JuteWriter) => copyReply(opcode, r, w);
    for (const response of vector.response) expect(roundTrip(response, copyAll)).toBe(response);
  });

  it('names a malformed create a MarshallingError', () => {
    const vector = vectors.find((one) => one.name.startsWith('malformed'));
    const reader = new JuteReader(Buffer.from(vector?.request ?? '', 'hex'));
    const header = RequestHeader.read(reader);
    expect(() => operationOf(header.type)?.request.read(reader)).toThrowError(
      expect.objectContaining({ name: 'MarshallingError' }),
    );
  });
});
