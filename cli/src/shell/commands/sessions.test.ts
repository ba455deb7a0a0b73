/** What `sessions get` says of a session of which a member does not list everything. */
import { expect, it } from 'vitest';
import { type SessionDetail, UNKNOWN } from '../sessions/session.js';
import { textOf } from './sessions.js';

const DETAIL: SessionDetail = {
  ...UNKNOWN,
  session: '0x1',
  ephemerals: 2,
  ephemeralPaths: ['/a', '/b'],
  ephemeralPathsTruncated: false,
  watched: [{ path: '/c', mode: 'data' }],
  watchedTruncated: false,
};

function headsOf(detail: Partial<SessionDetail>): readonly string[] {
  const lines = textOf({ ...DETAIL, ...detail }).split('\n');
  return lines.filter((line) => line.startsWith('It ') || line.startsWith('The '));
}

it('says whether a session owns and watches more than what is listed', () => {
  expect(headsOf({})).toEqual(['It owns 2 ephemeral znodes:', 'It watches 1 paths:']);
  expect(headsOf({ ephemeralPathsTruncated: true, watchedTruncated: true })).toEqual([
    'It owns 2 ephemeral znodes, and more that are not listed:',
    'It watches 1 paths, and more that are not listed:',
  ]);
  expect(headsOf({ ephemeralPaths: [], watched: null, watchedTruncated: null })).toEqual([
    'It owns nothing.',
    'The server does not list what it watches.',
  ]);
});
