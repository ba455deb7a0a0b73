/**
 * Writes snapshots of ZooKeeper for the tests of their reader: znodes without data, in any order.
 */
import { Adler32 } from '../../zookeeper-files/byte-cursor.js';

const NODE_BYTES = 4 + 8 + 60;

export function adler32Of(bytes: Uint8Array): number {
  const adler = new Adler32();
  adler.update(bytes);
  return adler.value;
}

/** A snapshot of these znodes, the root as '', with a checksum and without trailers. */
export function snapshotOf(paths: readonly string[]): Buffer {
  const header = Buffer.alloc(24);
  header.write('ZKSN');
  header.writeInt32BE(2, 4);
  header.writeBigInt64BE(-1n, 8);
  const nodes = paths.map((path) => Buffer.concat([text(path), node()]));
  const body = Buffer.concat([header, ...nodes, text('/')]);
  const checksum = Buffer.alloc(8);
  checksum.writeBigInt64BE(BigInt(adler32Of(body)));
  return Buffer.concat([body, checksum, text('/')]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** No data, the open ACL, everything else 0. */
function node(): Buffer {
  const bytes = Buffer.alloc(NODE_BYTES);
  bytes.writeInt32BE(-1, 0);
  bytes.writeBigInt64BE(-1n, 4);
  return bytes;
}
