/**
 * Goal: what json(schema) writes it can read, whatever the schema's library; what it cannot is
 * refused with an error that says where and what, and nothing of it is written.
 */
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { Codec, StandardSchema } from '../api/codec.js';
import { InvalidDataError, OptionError } from '../api/errors.js';
import { bytes, json, text } from './codecs.js';

const data = (value: unknown) => Buffer.from(JSON.stringify(value));

const SCHEMAS: Record<string, Codec<{ host: string; port: number }, never>> = {
  zod: json(z.object({ host: z.string(), port: z.number().int() })),
  valibot: json(v.object({ host: v.string(), port: v.pipe(v.number(), v.integer()) })),
};

it.each(Object.entries(SCHEMAS))('reads and writes what a schema of %s accepts', (_, codec) => {
  const value = { host: 'a', port: 1 };
  expect(codec.parse(Buffer.from(String(codec.format(value as never))), '/a')).toEqual(value);
});

it.each(Object.entries(SCHEMAS))('says where data is not what a schema of %s wants', (_, codec) => {
  const read = () => codec.parse(data({ host: 'a', port: 'x' }), '/a');
  expect(read).toThrow(InvalidDataError);
  expect(read).toThrow(/^the data of \/a is not valid: port: /);
  const write = () => codec.format({ host: 'a', port: 1.5 } as never, '/a');
  expect(write).toThrow(/^the value for \/a is not valid: port: /);
  try {
    write();
  } catch (error) {
    expect(error).toMatchObject({
      name: 'InvalidDataError',
      code: 'INVALID_DATA',
      path: '/a',
      direction: 'write',
      retryable: false,
      ambiguous: false,
      issues: [{ at: 'port' }],
    });
  }
});

it('reads what a schema makes of the data, and writes what it was given', () => {
  const codec = json(
    z.object({ size: z.number().default(3), since: z.string().transform((day) => new Date(day)) }),
  );
  expectTypeOf(codec).toEqualTypeOf<
    Codec<{ size: number; since: Date }, { size?: number | undefined; since: string }>
  >();
  const written = codec.format({ since: '2020-02-02' });
  expect(written).toBe('{"since":"2020-02-02"}');
  const read = codec.parse(Buffer.from(String(written)));
  expect(read).toEqual({ size: 3, since: new Date('2020-02-02') });
});

it('refuses to write what would not be read: checked is the value after its way through JSON', () => {
  const codec = json(z.object({ at: z.date() }));
  expect(() => codec.format({ at: new Date(0) })).toThrow(InvalidDataError);
  const loose = json(z.object({ size: z.any() }));
  expect(() => loose.format({ size: 1n })).toThrow(/cannot be written as JSON/);
  expect(() => json().format(undefined)).toThrow(/cannot be written as JSON/);
});

it('says that there is no data, and that data is no JSON', () => {
  expect(() => json().parse(null, '/a')).toThrow('the data of /a is not valid: there is none');
  const broken = () => json().parse(Buffer.from('{'), '/a');
  expect(broken).toThrow('the data of /a is not valid: it is no JSON');
});

it('gives back any JSON that it was given', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const written = Buffer.from(String(json().format(value)));
      expect(json().parse(written)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

it('names the first of many issues', () => {
  const codec = json(z.array(z.number()));
  const read = () => codec.parse(data(Array.from({ length: 9 }, () => 'x')));
  expect(read).toThrow(/0: .*; 4: [^;]*; 4 more$/);
});

it('takes schemas that are functions, and refuses what is no schema or has to be awaited', () => {
  const validate = (value: unknown) => ({ value });
  const standard = { version: 1, vendor: 'test', validate } as const;
  const callable = Object.assign(() => undefined, { '~standard': standard });
  expect(json(callable).parse(data(1))).toBe(1);
  for (const schema of [{}, null, 'x', { '~standard': { ...standard, version: 2 } }]) {
    expect(() => json(schema as unknown as StandardSchema)).toThrow(OptionError);
  }
  const slow = { '~standard': { ...standard, validate: async (value: unknown) => ({ value }) } };
  expect(() => json(slow).parse(data(1))).toThrow(/validates asynchronously/);
});

it('has text, and bytes as they are', () => {
  expect(text.parse(Buffer.from('é'))).toBe('é');
  expect(text.parse(null)).toBe('');
  expect(text.format('é')).toBe('é');
  expect(bytes.parse(null)).toBeNull();
});
