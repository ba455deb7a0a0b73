/** Figures and times for people. Pure. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

const GROUPED = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** With thin groups of three digits: 12 345. */
export function countText(count: number): string {
  return GROUPED.format(Math.round(count)).replaceAll(',', '\u202f');
}

export function millisText(ms: number): string {
  if (ms < 10) return `${ms.toFixed(2)} ms`;
  return ms < 1000 ? `${ms.toFixed(ms < 100 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

const STEPS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** The two greatest units: 3 h 12 min. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const first = STEPS.findIndex(([, size]) => seconds >= size);
  const [name, size] = STEPS[first] ?? ['s', 1];
  const [next, nextSize] = STEPS[first + 1] ?? [null, 1];
  const rest = Math.floor((seconds % size) / nextSize);
  const whole = `${Math.floor(seconds / size)} ${name}`;
  return next === null || rest === 0 ? whole : `${whole} ${rest} ${next}`;
}

/** The time of day to the second, or to the millisecond; with the date if it is another day. */
export function clockText(ms: number, { precise = false, nowMs = Date.now() } = {}): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return '-';
  const pad = (value: number, size = 2) => String(value).padStart(size, '0');
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()].map((one) => pad(one));
  const time = `${parts.join(':')}${precise ? `.${pad(date.getMilliseconds(), 3)}` : ''}`;
  if (date.toDateString() === new Date(nowMs).toDateString()) return time;
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${time}`;
}

/** Epoch and counter of a zxid in hex, which people compare: `3:2a`. */
export function zxidText(zxid: string): string {
  if (!/^0x[\da-f]{1,16}$/.test(zxid)) return zxid;
  const value = BigInt(zxid);
  return `${value >> 32n}:${(value & 0xffff_ffffn).toString(16)}`;
}
