/** What is concluded from what members say; the whole command runs in test/src/client/shell. */
import { expect, it } from 'vitest';
import { configurationFindings, digestFindings, digestsIn, versionFindings } from './findings.js';

const CONF = 'clientPort=1\ntickTime=2000\nmembership: \nserver.1=a\nserver.2=b\nversion=0\n';

it('finds nothing where all say the same', () => {
  const same = ['1', '2'].map((name) => ({ name, text: CONF.replace('Port=1', `Port=${name}`) }));
  expect(configurationFindings(same)).toEqual([]);
  expect(versionFindings(same.map(({ name }) => ({ name, text: '3.8.0' })))).toEqual([]);
});

it('names the settings and the members that differ', () => {
  const [finding, ...more] = configurationFindings([
    { name: 'member 1', text: CONF },
    { name: 'member 2', text: CONF.replace('server.2=b', 'server.2=c') },
  ]);
  expect(more).toEqual([]);
  expect(finding?.what).toMatch(/differ in servers: member 1 .*; member 2 .*server\.2=c/);
});

it('finds the member with another tree, at a zxid that all have told', () => {
  const told = (text: string) => new Map(digestsIn(text));
  const known = new Map([
    ['member 1', told('1f: aa\n20: bb\n')],
    ['member 2', told('20: bb\n')],
    ['member 3', told('1f: aa\n20: cc\n')],
  ]);
  const [finding] = digestFindings(known) ?? [];
  expect(finding?.what).toMatch(/^At zxid 0x20 member 3 has another tree/);
  known.set('member 3', told('20: bb\n'));
  expect(digestFindings(known)).toEqual([]);
  known.set('member 3', told('21: dd\n'));
  expect(digestFindings(known)).toBe(null);
});
