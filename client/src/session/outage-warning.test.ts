import { ConnectionLossError } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { FakeSurroundings } from '../testing/fake-surroundings.js';
import { warningsInto } from '../testing/warnings-into.js';
import { OutageWarning } from './outage-warning.js';

function setUp() {
  const surroundings = new FakeSurroundings();
  const warnings: string[] = [];
  const warning = new OutageWarning({ surroundings, log: warningsInto(warnings) });
  const failRound = (errors: Readonly<Record<string, Error>>) => {
    warning.onRoundStarted();
    for (const [host, error] of Object.entries(errors)) {
      warning.onAttemptFailed({ host, port: 2181 }, error);
    }
    warning.onRoundFailed();
  };
  return { surroundings, warnings, warning, failRound };
}

it('says once what stands in the way, server by server', () => {
  const { surroundings, warnings, failRound } = setUp();
  const cause = new Error('b was not resolved in 10000 ms');
  const reasons = { a: new Error('refused'), b: new ConnectionLossError(undefined, { cause }) };
  failRound(reasons);
  surroundings.advance(4_999);
  failRound(reasons);
  expect(warnings).toEqual([]);
  surroundings.advance(1_000);
  failRound({ a: new Error('unreachable') });
  surroundings.advance(60_000);
  failRound(reasons);
  expect(warnings).toEqual([
    'no server for 6 s, still trying: a:2181: unreachable; ' +
      'b:2181: b was not resolved in 10000 ms',
  ]);
});

it('begins anew with each outage', () => {
  const { surroundings, warnings, warning, failRound } = setUp();
  for (let outage = 1; outage <= 3; outage++) {
    failRound({ a: new Error('refused') });
    surroundings.advance(5_000);
    failRound({});
    expect(warnings).toHaveLength(outage);
    warning.reset();
  }
  failRound({});
  expect(warnings).toHaveLength(3);
});

it('names no more than ten of many servers', () => {
  const { surroundings, warnings, failRound } = setUp();
  failRound({});
  surroundings.advance(5_000);
  failRound(Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`s${n}`, new Error('no')])));
  expect(warnings[0]).toMatch(/: s0:2181: no; .*; s9:2181: no; 2 more$/);
});
