/** The test cases are in Java's format of properties, as java.util.Properties documents it. */
import { expect, it } from 'vitest';
import { readProperties } from './convert.js';

it.each([
  ['a=1\nb:2\nc 3', { a: '1', b: '2', c: '3' }],
  ['  a  =  1  \n\t b\t:\t2\t', { a: '1', b: '2' }],
  ['# a=1\n! b=2\nc=3 # no comment', { c: '3 # no comment' }],
  ['a=1,\\\n   2,\\\n   3', { a: '1,2,3' }],
  ['a=1\\\\\nb=2', { a: '1\\', b: '2' }],
  ['a\\=b=c\\:d', { 'a=b': 'c:d' }],
  ['a=\\u0041\\tb', { a: 'A\tb' }],
  ['a=1\r\nb=2\rc=3', { a: '1', b: '2', c: '3' }],
  ['a=1\na=2', { a: '2' }],
  ['a', { a: '' }],
  ['a==b', { a: '=b' }],
  ['path=C:\\\\zk=x', { path: 'C:\\zk=x' }],
  ['', {}],
])('%j', (text, expected) => {
  expect(Object.fromEntries(readProperties(text))).toEqual(expected);
});
