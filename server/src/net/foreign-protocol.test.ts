/** The bytes of ZooKeeper are those that release 3.9.5 and kazoo send. */
import { encodePeerFrame } from '@rookery/protocol/peer';
import { expect, it } from 'vitest';
import { foreignAtClientPort, foreignAtPeerPort, speaksNoTls } from './foreign-protocol.js';

const hex = (text: string) => Buffer.from(text, 'hex');
const TLS = hex('160301012401000120030380664683f4');
const TLS_ALERT = hex('15030300020246');
const ELECTION = hex('ffffffffffff000000000000000000020000000f');
const OLDER_ELECTION = hex('ffffffffffff00010000000000000002');
const FOLLOWER = hex('0000000b00000000000000000000000c');
const OBSERVER = hex('0000001000000001000000000000000c');
const CLIENT = hex(`0000002d000000000000000000000000000007d0${'00'.repeat(8)}00000010`);
const OLD_CLIENT = hex('0000002c00000000000000000000000000000bb8');
const CLAIM = encodePeerFrame({ kind: 'claim', id: 2, to: 1, nonce: Buffer.alloc(32, 7) });
const REQUEST = Buffer.from('GET / HTTP/1.1\r\n\r\n');

it.each([
  ['a TLS handshake', TLS, 'a TLS handshake', 'a TLS handshake'],
  ['a TLS alert', TLS_ALERT, 'a TLS alert', 'a TLS alert'],
  ['HTTP', REQUEST, 'HTTP', 'HTTP'],
  ['an answer of HTTP', Buffer.from('HTTP/1.1 400 '), 'HTTP', 'HTTP'],
  ['a four-letter word', Buffer.from('ruok'), 'a four-letter word', null],
  ['an election', ELECTION, 'an election of Apache', 'an election of Apache'],
  ['an election of 3.8', OLDER_ELECTION, 'an election of Apache', 'an election of Apache'],
  ['a follower', FOLLOWER, 'follower of Apache', 'follower of Apache'],
  ['an observer', OBSERVER, 'follower of Apache', 'follower of Apache'],
  ['a client', CLIENT, 'a request for a session', null],
  ['an older client', OLD_CLIENT, 'a request for a session', null],
  ['a member', CLAIM, null, 'a message of a member'],
  ['a length alone', hex('0000002d'), null, null],
  ['nothing', hex(''), null, null],
  ['a long frame', hex('00ffffff92'), null, null],
  ['a negative length', hex('ffffffff92'), null, null],
])('tells what %s is at each port, and what to do', (_name, first, atPeerPort, atClientPort) => {
  const texts = [foreignAtPeerPort(first), foreignAtClientPort(first)];
  for (const [index, part] of [atPeerPort, atClientPort].entries()) {
    if (part === null) expect(texts[index]).toBeNull();
    else expect(texts[index]).toMatch(new RegExp(`^what came is .*${part}.*[:.] `));
  }
});

it('knows the errors of a handshake with whoever speaks no TLS', () => {
  const failed = (code: string) => Object.assign(new Error('no'), { code });
  expect(speaksNoTls(failed('ERR_SSL_WRONG_VERSION_NUMBER'))).toBe(true);
  expect(speaksNoTls(failed('ERR_SSL_HTTP_REQUEST'))).toBe(true);
  expect(speaksNoTls(failed('CERT_HAS_EXPIRED'))).toBe(false);
  expect(speaksNoTls(new Error('no'))).toBe(false);
});
