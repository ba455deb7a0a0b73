/**
 * The data argument of a command: text as it is, `@file`, or `-` for standard input. `@@` stands
 * for text that begins with `@`.
 */
import { readFile } from 'node:fs/promises';
import { errorMessage } from '@rookery/protocol';
import { OperatorError } from '@rookery/server';
import type { Call } from '../command/command.js';

/** Throws OperatorError for a file that cannot be read. */
export async function dataOf(call: Call, text: string): Promise<Uint8Array> {
  if (text === '-') return await call.around.readInput();
  if (text.startsWith('@@')) return Buffer.from(text.slice(1));
  if (!text.startsWith('@')) return Buffer.from(text);
  try {
    return await readFile(text.slice(1));
  } catch (cause) {
    const reason = errorMessage(cause);
    throw new OperatorError(`The data cannot be read: ${reason}.`, { cause });
  }
}
