/** What a device of this machine counts, if the directory for temporary files is on one. */
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { deviceNumber, deviceWrittenBytes } from './device-bytes.js';

it('reads the numbers of a device as the kernel names it', () => {
  expect(deviceNumber(0xfe00n)).toBe('254:0');
  expect(deviceNumber(0x10_0803n)).toBe('8:259');
  expect(deviceNumber(0x1000_0000_0801n)).toBe('4104:1');
});

it.skipIf(deviceWrittenBytes(tmpdir()) === null)('counts what was synced', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-device-bytes-'));
  try {
    const before = deviceWrittenBytes(directory) ?? 0;
    const file = openSync(join(directory, 'file'), 'w');
    writeSync(file, Buffer.alloc(1 << 20, 'x'));
    fsyncSync(file);
    closeSync(file);
    expect(deviceWrittenBytes(directory)).toBeGreaterThanOrEqual(before + (1 << 20));
  } finally {
    rmSync(directory, { recursive: true });
  }
});

it('has no figure for a file system without a device', () => {
  expect(deviceWrittenBytes('/proc')).toBeNull();
});
