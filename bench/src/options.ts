/**
 * Reads options of the bench commands: numbers with bounds, hosts, lists.
 *
 * It throws commander's InvalidArgumentError, whose message is for the person who typed the
 * command. It holds no defaults: each command has its own.
 */
import { InvalidArgumentError } from 'commander';
import type { Host } from './load/dial.js';

interface Bounds {
  readonly min: number;
  readonly max: number;
}

export function numberOption({ min, max }: Bounds): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Expected a number from ${min} to ${max}.`);
  };
}

export function wholeOption(bounds: Bounds): (text: string) => number {
  const number = numberOption(bounds);
  return (text) => {
    const value = number(text);
    if (Number.isInteger(value)) return value;
    throw new InvalidArgumentError('Expected a whole number.');
  };
}

/** Has the form `host:port,host:port`. */
export function hostsOption(text: string): readonly Host[] {
  return text.split(',').map((entry) => {
    const at = entry.lastIndexOf(':');
    const port = Number(entry.slice(at + 1));
    if (at > 0 && Number.isInteger(port) && port > 0 && port < 65_536) {
      return { host: entry.slice(0, at), port };
    }
    throw new InvalidArgumentError('Expected host:port, several with commas.');
  });
}

export function listOption(text: string): readonly string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length > 0) return names;
  throw new InvalidArgumentError('Expected names, with commas between them.');
}
