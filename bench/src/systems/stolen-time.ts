/**
 * The processor time that a virtual machine was ready to use and its host gave to others ("steal").
 *
 * It slows down whatever is measured, and tail latencies most, so every run says how much it was.
 * Only Linux reports it, in /proc/stat, since the machine started; elsewhere it is unknown, not
 * zero.
 */
import { readFileSync } from 'node:fs';

/** Above this share, the figures depend on the host's other guests as well. */
export const STOLEN_SHARE_MAX = 0.05;

/** In ticks of the kernel, summed over all processors. */
export interface ProcessorTime {
  readonly used: number;
  readonly stolen: number;
}

export function readProcessorTime(): ProcessorTime | null {
  try {
    return parseProcessorTime(readFileSync('/proc/stat', 'utf8'));
  } catch {
    return null;
  }
}

/** Parses the line of all processors: user nice system idle iowait irq softirq steal (proc(5)). */
export function parseProcessorTime(stat: string): ProcessorTime | null {
  const numbers = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ').map(Number) ?? [];
  const [user, nice, system, , , irq, softirq, stolen] = numbers;
  if (stolen === undefined || !numbers.every(Number.isFinite)) return null;
  const parts = [user, nice, system, irq, softirq];
  return { used: parts.reduce<number>((sum, part) => sum + (part ?? 0), 0), stolen };
}

/**
 * Returns the stolen share of the time that was wanted in between, used or not; null if unknown.
 */
export function stolenShare(
  before: ProcessorTime | null,
  after: ProcessorTime | null,
): number | null {
  if (before === null || after === null) return null;
  const stolen = after.stolen - before.stolen;
  const wanted = stolen + after.used - before.used;
  return wanted > 0 ? stolen / wanted : 0;
}
