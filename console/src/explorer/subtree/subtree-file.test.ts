import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type FileNode, fileText, readFileText } from './subtree-file.js';

const AT = '2026-01-01T00:00:00Z';
const node = (path: string, data: Uint8Array = new Uint8Array()): FileNode => ({
  path,
  mode: 'persistent',
  ttlMs: null,
  data: Uint8Array.from(data),
  acl: null,
});

it('reads back what it wrote, whatever the data is', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (data) => {
      const acl = [{ scheme: 'world', id: 'anyone', perms: 'r' }];
      const nodes: readonly FileNode[] = [
        { ...node('', data), acl },
        { ...node('/ä"b', data), mode: 'ttl', ttlMs: 5 },
        { ...node('/ä"b/c'), mode: 'container' },
      ];
      expect(readFileText(fileText('/a', nodes, AT))).toEqual({ kind: 'nodes', path: '/a', nodes });
    }),
  );
});

it('puts parents before their children', () => {
  const read = readFileText(fileText('/', [node('/a/b'), node(''), node('/a')], AT));
  expect(read.kind === 'nodes' ? read.nodes.map(({ path }) => path) : read).toEqual([
    ...['', '/a', '/a/b'],
  ]);
});

it('says what is wrong with a file', () => {
  const whole = (nodes: unknown) =>
    JSON.stringify({ format: 'rookery-subtree', version: 1, path: '/', nodes });
  const wrong = [
    ...['', '[]', '{"a":1}', '{"format":"rookery-subtree","version":2}', whole([]), whole({})],
    ...[whole([1]), whole([{ path: 'a' }]), whole([{ path: '' }, { path: '' }])],
    ...[whole([{ path: '' }, { path: '/a/b' }]), whole([{ path: '', mode: 'ephemeral' }])],
    ...[whole([{ path: '', mode: 'ttl' }]), whole([{ path: '', text: 1 }])],
    ...[whole([{ path: '', base64: '*' }]), whole([{ path: '', text: 'a', base64: '' }])],
    ...[whole([{ path: '', acl: [] }]), whole([{ path: '', acl: [{ scheme: 'a', id: 'b' }] }])],
    whole([{ path: '', text: 'x'.repeat(1_000_001) }]),
  ];
  const accepted = wrong.filter((text) => readFileText(text).kind !== 'wrong');
  expect(accepted).toEqual([]);
});
