/**
 * The types of settings that many rules share, each with the sentence for a value of another type.
 * Called by config-schema.ts and the files of single subjects, such as audit-settings.ts.
 */
import { z } from 'zod';

export function integer(min: number, max: number): z.ZodNumber {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

export function text(what: string): z.ZodString {
  const error = `expected ${what}`;
  return z.string({ error }).min(1, { error });
}

export function flag(): z.ZodBoolean {
  return z.boolean({ error: 'expected true or false' });
}
