/** Quotas accepts what real states say of their quotas, and rejects other statistics. */
import { expect, it } from 'vitest';
import { newQuotas } from './quotas.js';
import { create, stateOf, Told, zxid } from './testing/observations.js';

const MADE = [
  ...['/zookeeper/quota/l', '/zookeeper/quota/l/zookeeper_limits'],
  ...['/zookeeper/quota/l/zookeeper_stats', '/l', '/l/a', '/l/a/b'],
].map((path) => ({ op: create(path) }));
const LAST = MADE.at(-1) ?? {};

it('accepts statistics that are counted, and a path without a quota', () => {
  const told = new Told(newQuotas).applied(1, zxid(1, 6), LAST, stateOf(...MADE));
  told.applied(1, zxid(1, 7), { op: create('/other') }, stateOf(...MADE, { op: create('/other') }));
  new Told(newQuotas).applied(1, zxid(1, 3), LAST, stateOf(...MADE.slice(3)));
});

it('rejects a znode, and data, that are not counted', () => {
  const state = stateOf(...MADE.slice(0, 5));
  const at = { zxid: zxid(1, 6), time: 1, session: 0 };
  state.tree.create(create('/l/a/b'), state.tree.find('/l/a'), at);
  const told = () => new Told(newQuotas).applied(2, zxid(1, 6), LAST, state);
  expect(told).toThrow(/has count=3,bytes=0 in \/l at 0x100000006, and says count=2,bytes=0/);
});
