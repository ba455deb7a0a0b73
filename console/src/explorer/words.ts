/**
 * Sizes and times in words, as a person says them.
 */
const UNITS = ['B', 'KB', 'MB', 'GB'] as const;

/** Returns for example `812 B` or `1.2 MB`; a KB is 1,000 bytes. */
export function sizeInWords(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit] ?? ''}`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${numberInWords(count)} ${count === 1 ? one : many}`;
}

export function numberInWords(value: number): string {
  return value.toLocaleString('en-US');
}

const STEPS = [
  [60, 'second'],
  [60, 'minute'],
  [24, 'hour'],
  [30.44, 'day'],
  [12, 'month'],
  [Number.POSITIVE_INFINITY, 'year'],
] as const;

/** Returns for example `3 minutes ago`, and `now` for less than a second. */
export function ageInWords(thenMs: number, nowMs: number): string {
  const isPast = thenMs <= nowMs;
  const seconds = Math.abs(nowMs - thenMs) / 1_000;
  if (seconds < 1) return 'now';
  const length = lengthInWords(seconds * 1_000);
  return isPast ? `${length} ago` : `in ${length}`;
}

export function lengthInWords(lengthMs: number): string {
  let value = lengthMs / 1_000;
  if (value < 1) return counted(Math.round(lengthMs), 'millisecond');
  for (const [size, unit] of STEPS) {
    if (value < size) return counted(Math.floor(value), unit);
    value /= size;
  }
  return '';
}

/** Date and time to the second where the person is. */
export function momentInWords(ms: number): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return `${ms} ms`;
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${day} ${time}`;
}
