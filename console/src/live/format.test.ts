import { expect, it } from 'vitest';
import { bytesText, clockText, countText, millisText, spanText, zxidText } from './format.js';

it('figures keep two or three digits that matter', () => {
  expect([0, 1023, 1536, 200 << 20].map(bytesText)).toEqual([
    '0 B',
    '1023 B',
    '1.5 KiB',
    '200 MiB',
  ]);
  expect([999, 1000, 1_234_567].map(countText)).toEqual([
    '999',
    '1\u202f000',
    '1\u202f234\u202f567',
  ]);
  expect([0.123, 12.34, 999, 1500].map(millisText)).toEqual([
    ...['0.12 ms', '12.3 ms', '999 ms', '1.5 s'],
  ]);
});

it('spans have their two greatest units', () => {
  const spans = [-5, 999, 61_000, 3_600_000, 90_061_000].map(spanText);
  expect(spans).toEqual(['0 s', '0 s', '1 min 1 s', '1 h', '1 d 1 h']);
});

it('times of another day have their date', () => {
  const noon = new Date(2026, 0, 2, 12, 3, 4, 5).getTime();
  expect(clockText(noon, { nowMs: noon, precise: true })).toBe('12:03:04.005');
  expect(clockText(noon, { nowMs: noon + 86_400_000 })).toBe('2026-01-02 12:03:04');
  expect(clockText(Number.NaN)).toBe('-');
});

it('a zxid is its epoch and its counter', () => {
  expect(zxidText('0x30000002a')).toBe('3:2a');
  expect(zxidText('none')).toBe('none');
});
