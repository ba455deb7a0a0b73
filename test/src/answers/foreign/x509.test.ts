/**
 * Names of certificates in Java's text: random ones, with every string type and every letter that
 * is escaped, against the class that ZooKeeper asks.
 */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { mayLack } from '../../harness/foreign.js';
import { Random } from '../../harness/random.js';
import { nameText } from '../../simulated.js';

const JAVA = '/usr/bin/java';
const PROGRAM = new URL('../../foreign/java/PrincipalNames.java', import.meta.url).pathname;
const NAMES = 3_000;
/** CN, C, L, ST, STREET, O, OU, DC, UID, and three that Java writes by their numbers. */
const TYPES = [
  ...['550403', '550406', '550407', '550408', '550409', '55040a', '55040b'],
  ...['0992268993f22c640119', '0992268993f22c640101', '2a864886f70d010901', '550405', '2b06010401'],
];
/** UTF8String, PrintableString, T61String, IA5String, BMPString, OctetString. */
const STRING_TAGS = [0x0c, 0x0c, 0x0c, 0x13, 0x14, 0x16, 0x1e, 0x04];
const LETTERS = [...'ab C1 ,,=+<>#;"\\\\ \r\n\t\0/@é€😀'];

function value(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), content]);
}

it.skipIf(mayLack(JAVA))('a name has the text that X500Principal gives it', () => {
  const random = Random.forTest('names of certificates');
  const below = (count: number) => random.below(count);
  const one = <T>(list: readonly T[]): T => random.pick(list);
  const attribute = () => {
    const text = Array.from({ length: below(12) }, () => one(LETTERS)).join('');
    const type = value(0x06, Buffer.from(one(TYPES), 'hex'));
    return value(0x30, type, value(one(STRING_TAGS), Buffer.from(text)));
  };
  const names = Array.from({ length: NAMES }, () => {
    const parts = Array.from({ length: below(5) }, () => {
      return value(0x31, ...Array.from({ length: 1 + below(2) * below(2) }, attribute));
    });
    return value(0x30, ...parts);
  });
  const input = names.map((name) => name.toString('hex')).join('\n');
  const { stdout, stderr } = spawnSync(JAVA, [PROGRAM], { input, maxBuffer: 1 << 26 });
  // Each text is a line, and a name without parts is an empty one.
  const texts = stdout.toString().replace(/\n$/, '').split('\n');
  expect(texts.length, stderr.toString()).toBe(NAMES);
  const differing = names.flatMap((name, index) => {
    const expected = Buffer.from(texts[index] ?? '', 'hex').toString();
    const actual = nameText(name);
    return actual === expected ? [] : [{ der: name.toString('hex'), expected, actual }];
  });
  expect(differing.slice(0, 5)).toEqual([]);
});
