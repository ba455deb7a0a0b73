/** Blocks of PEM are found whole, in linear time. */
import { expect, it } from 'vitest';
import { pemBlocks } from './pem-blocks.js';

const block = (text: string) => `-----BEGIN A-----${text}-----END A-----`;

it('returns the whole blocks of a label, and no others', () => {
  const other = '-----BEGIN B-----\nb\n-----END B-----';
  const text = `x ${block('\n1\n')}\n${other}${block('2')}${block('3-4')}-----BEGIN A-----5`;
  expect(pemBlocks(text, 'A')).toEqual([block('\n1\n'), block('2')]);
  expect(pemBlocks(`-----BEGIN A-----1${block('2')}`, 'A')).toEqual([block('2')]);
  expect(pemBlocks('', 'A')).toEqual([]);
});
