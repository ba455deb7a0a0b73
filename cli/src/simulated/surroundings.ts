/** For tests: what a command is given of the world, where it may use its output and no more. */
import type { Surroundings } from '../command/command.js';
import type { Output } from '../command/output.js';

export function surroundingsOf(output: Output): Surroundings {
  const never = () => Promise.reject(new Error('the command asks for nothing else'));
  return {
    output,
    client: never,
    other: never,
    connect: () => '',
    tls: () => null,
    directory: '/',
    signal: new AbortController().signal,
    isInteractive: false,
    confirm: never,
    handOver: never,
    readInput: never,
    isShell: false,
    environment: {},
  };
}
