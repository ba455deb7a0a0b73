import { expect, it } from 'vitest';
import { ListenError } from './listen-error.js';

function told(code: string, purpose: 'client' | 'peer' = 'client'): string {
  const cause = Object.assign(new Error(`listen ${code}`), { code });
  const error = new ListenError(purpose, { host: 'zk-1.example', port: 2181 }, cause);
  expect(error).toMatchObject({ code, port: 2181, cause });
  return error.message;
}

it.each([
  ['EADDRINUSE', /it is in use .* change this server's clientPort/],
  ['EACCES', /not permitted .* above 1023/],
  ['EADDRNOTAVAIL', /this machine does not have that address .* host/],
  ['ENOTFOUND', /the name cannot be resolved .* host/],
  ['EAI_AGAIN', /the name cannot be resolved .* host/],
  ['EWHATEVER', /: listen EWHATEVER$/],
])('a port that fails with %s is named, with the way on', (code, advice) => {
  expect(told(code)).toMatch(/^cannot listen on client port 2181 on zk-1\.example: /);
  expect(told(code)).toMatch(advice);
});

it('the setting that is told is that of the port', () => {
  expect(told('EADDRINUSE', 'peer')).toMatch(/^cannot listen on peer port .* peerPort$/);
});

it('a cause without a code is told as it is', () => {
  const error = new ListenError('peer', { host: 'a', port: 1 }, 'odd');
  expect(error).toMatchObject({
    code: 'UNKNOWN',
    message: 'cannot listen on peer port 1 on a: odd',
  });
});
