/**
 * Writes the log of one member of `rookery ensemble` to a file, while the terminal shows something
 * else.
 *
 * It is bounded: a file that has reached FILE_BYTES_MAX becomes `<name>.old` and replaces the one
 * before. Lines that cannot be written (a full disk) are dropped, and the member continues.
 */
import { closeSync, fstatSync, mkdirSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { Writable } from 'node:stream';
import { openContinuedFileSync } from '@rookery/server';

const FILE_BYTES_MAX = 10 << 20;

/** Throws the system's error when the file cannot be opened. */
export function memberLogFile(path: string, bytesMax = FILE_BYTES_MAX): Writable {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let file = openContinuedFileSync(path);
  let bytes = fstatSync(file).size;
  const append = (chunk: Uint8Array): void => {
    if (bytes >= bytesMax) {
      closeSync(file);
      renameSync(path, `${path}.old`);
      file = openContinuedFileSync(path);
      bytes = 0;
    }
    bytes += writeSync(file, chunk);
  };
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      try {
        append(chunk);
      } catch {
        // There is no better place to report the failure.
      }
      done();
    },
    final(done) {
      closeSync(file);
      done();
    },
  });
}
