/**
 * The types that many settings share, each with the error message for a value of another type, and
 * checks of values that may have any type. Called by config-schema.ts and config-security.ts.
 */
import { isIP } from 'node:net';
import { z } from 'zod';

export function integer(min: number, max: number): z.ZodNumber {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

export function text(what: string): z.ZodString {
  const error = `expected ${what}`;
  return z
    .string({ error })
    .min(1, { error })
    .refine((value) => !value.includes('\0'), { error: `${error} without a NUL character` });
}

export function flag(): z.ZodBoolean {
  return z.boolean({ error: 'expected true or false' });
}

export function host() {
  const expected = 'expected a host name or an IP address';
  const error = ({ input }: { readonly input?: unknown }) =>
    typeof input === 'string' && input.startsWith('[') ? `${expected} without brackets` : expected;
  return z.string({ error }).refine(isHost, { error });
}

export function isHost(name: string): boolean {
  if (isIP(name) !== 0) return true;
  // Digits and dots that are no IPv4 address are a mistyped one, not a host name.
  return name.length <= 253 && !/^[\d.]+$/.test(name) && /^[\w-]+(\.[\w-]+)*\.?$/.test(name);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function validOrNull<T>(schema: z.ZodType<T>, value: unknown): T | null {
  const result = schema.safeParse(value);
  return result.success ? result.data : null;
}
