/**
 * What a block device has written, by its own count.
 *
 * `write_bytes` of a process is another figure: it counts the pages of memory that a write makes
 * dirty, and Linux 6.16 and later count all pages of a large folio of which one byte has changed,
 * so small writes to a log appear half as large again as what reaches the disk.
 */
import { readFileSync, statSync } from 'node:fs';

/** The unit of /sys/dev/block/<device>/stat, whatever the size of the device's own sectors is. */
const SECTOR_BYTES = 512;
const SECTORS_WRITTEN_FIELD = 6;

/**
 * The bytes that the device of this path has written since the machine was started, whoever
 * wrote them; null where the kernel does not tell, as with a file system that has no device.
 */
export function deviceWrittenBytes(path: string): number | null {
  const device = deviceNumber(statSync(path, { bigint: true }).dev);
  try {
    const fields = readFileSync(`/sys/dev/block/${device}/stat`, 'utf8').trim().split(/\s+/);
    return Number(fields[SECTORS_WRITTEN_FIELD]) * SECTOR_BYTES;
  } catch {
    return null;
  }
}

/** The major and the minor number, from how glibc packs them into 64 bits. */
export function deviceNumber(dev: bigint): string {
  const major = ((dev >> 32n) & 0xffff_f000n) | ((dev >> 8n) & 0xfffn);
  const minor = ((dev >> 12n) & 0xffff_ff00n) | (dev & 0xffn);
  return `${major}:${minor}`;
}
