/**
 * Formats figures for people. MB are 10^6 bytes, which is the stricter reading of a goal. Pure.
 */
import type { Unit } from '../scenarios/scenario.js';

export const MEGABYTE = 1e6;

/** Three significant digits, with thousands as k or M if the unit is a rate. */
export function formatValue(value: number, unit: Unit): string {
  if (!Number.isFinite(value)) return '-';
  if (unit === '1/s' && Math.abs(value) >= 1e6) return `${significant(value / 1e6)}M/s`;
  if (unit === '1/s' && Math.abs(value) >= 1e3) return `${significant(value / 1e3)}k/s`;
  if (unit === '1/s') return `${significant(value)}/s`;
  // A count is whole, except for the median of an even number of rounds.
  if (unit === '') return Number.isInteger(value) ? String(value) : significant(value);
  return `${significant(value)} ${unit}`;
}

export function significant(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 100) return String(Math.round(value));
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(2);
}
