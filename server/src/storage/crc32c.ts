/**
 * CRC-32C (Castagnoli), the checksum of LevelDB's files; Node has only the other CRC-32.
 *
 * Eight bytes a step, through eight tables: a start reads whole log files with it. Pure.
 */
const POLYNOMIAL = 0x82f63b78;
const STEP_BYTES = 8;
const MASK_DELTA = 0xa282ead8;

/** Table n, at index n * 256, is for a byte that is followed by n more bytes. */
const TABLES = makeTables();

/** The checksum of the bytes in [start, end), from 0 to 2^32 - 1. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tables = TABLES;
  let crc = -1;
  let at = start;
  for (; at + STEP_BYTES <= end; at += STEP_BYTES) {
    const low = crc ^ view.getInt32(at, true);
    const high = view.getInt32(at + 4, true);
    crc =
      (tables[1792 + (low & 0xff)] ?? 0) ^
      (tables[1536 + ((low >>> 8) & 0xff)] ?? 0) ^
      (tables[1280 + ((low >>> 16) & 0xff)] ?? 0) ^
      (tables[1024 + (low >>> 24)] ?? 0) ^
      (tables[768 + (high & 0xff)] ?? 0) ^
      (tables[512 + ((high >>> 8) & 0xff)] ?? 0) ^
      (tables[256 + ((high >>> 16) & 0xff)] ?? 0) ^
      (tables[high >>> 24] ?? 0);
  }
  for (; at < end; at++) {
    crc = (tables[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

/** The checksum as LevelDB stores it: rotated, because its files contain checksums. */
export function maskedCrc32c(bytes: Uint8Array, start: number, end: number): number {
  const crc = crc32c(bytes, start, end);
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}

function makeTables(): Int32Array {
  const tables = new Int32Array(STEP_BYTES * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? POLYNOMIAL ^ (crc >>> 1) : crc >>> 1;
    tables[byte] = crc;
  }
  for (let at = 256; at < tables.length; at++) {
    const before = tables[at - 256] ?? 0;
    tables[at] = (tables[before & 0xff] ?? 0) ^ (before >>> 8);
  }
  return tables;
}
