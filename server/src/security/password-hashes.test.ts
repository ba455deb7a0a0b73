import { expect, it } from 'vitest';
import { isScryptEntry, PasswordHashes, scryptEntry } from './password-hashes.js';

const ADDRESS = '10.0.0.1';

it('a password is right for its own hash alone, and the outcome is known from then on', async () => {
  const [ops, other] = await Promise.all([scryptEntry('ops:secret'), scryptEntry('ops:other')]);
  expect(ops).toMatch(/^ops:\$scrypt\$ln=15,r=8,p=1\$/);
  expect(ops).not.toBe(await scryptEntry('ops:secret'));
  const hashes = new PasswordHashes([ops, other]);
  expect(hashes.isRight(ops, 'ops:secret', ADDRESS), 'it is being computed').toBeNull();
  expect(await hashes.prepare('ops:secret', ADDRESS)).toBe(true);
  expect(hashes.isRight(ops, 'ops:secret', ADDRESS)).toBe(true);
  expect(hashes.isRight(other, 'ops:secret', ADDRESS)).toBe(false);
  expect(hashes.prepare('ops:secret', ADDRESS), 'nothing is left to compute').toBeNull();
  await hashes.prepare('ops:wrong', ADDRESS);
  expect(hashes.isRight(ops, 'ops:wrong', ADDRESS)).toBe(false);
});

it('a user without a hash costs nothing', () => {
  const hashes = new PasswordHashes(['ops:1vdFRDCql3UzcxJ7kySyFCmtSF0=']);
  expect(hashes.prepare('ops:secret', ADDRESS)).toBeNull();
  expect(hashes.prepare('nobody:secret', ADDRESS)).toBeNull();
  expect(hashes.isRight('x', 'nobody:secret', ADDRESS)).toBe(false);
});

it('few passwords of an address wait, and few in all, one being computed at a time', async () => {
  const entry = await scryptEntry('ops:secret');
  const hashes = new PasswordHashes([entry]);
  const begun = [];
  for (let count = 0; count < 50; count++) begun.push(hashes.prepare(`ops:${count}`, ADDRESS));
  for (let host = 0; host < 100; host++)
    begun.push(hashes.prepare(`ops:a${host}`, `10.1.0.${host}`));
  const fromOther = hashes.prepare('ops:secret', '10.2.0.1');
  const outcomes = await Promise.all(begun);
  expect(outcomes.slice(0, 50).filter((isDone) => isDone)).toHaveLength(8);
  expect(outcomes.filter((isDone) => isDone)).toHaveLength(64);
  expect(await fromOther, 'it has to come again').toBe(false);
  await hashes.prepare('ops:secret', '10.2.0.1');
  expect(hashes.isRight(entry, 'ops:secret', '10.2.0.1')).toBe(true);
}, 60_000);

it.each([
  'ops:$scrypt$ln=30,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  'ops:$scrypt$ln=15,r=8,p=9$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  'ops:$scrypt$ln=15,r=8,p=1$AAAA$AAAA',
])('parameters that take too long, or are malformed, are no hash: %s', (entry) => {
  expect(isScryptEntry(entry)).toBe(false);
});
