import pino from 'pino';
import { expect, it } from 'vitest';
import { ServiceManager } from './server-command.js';

function manager(environment: NodeJS.ProcessEnv, error: Error | null = null) {
  const lines: { msg: string; message?: string }[] = [];
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  const calls: string[][] = [];
  const tells = new ServiceManager(environment, logger, (file, args, done) => {
    calls.push([file, ...args]);
    done(error);
  });
  return { tells, calls, lines };
}

it('notifies systemd when systemd asks for it', () => {
  const { tells, calls, lines } = manager({ NOTIFY_SOCKET: '/run/systemd/notify' });
  tells.ready();
  tells.stopping();
  expect(calls).toEqual([
    ['systemd-notify', 'READY=1'],
    ['systemd-notify', 'STOPPING=1'],
  ]);
  expect(lines).toEqual([]);
});

it.each([{}, { NOTIFY_SOCKET: '' }])(
  'notifies nobody when nobody asks for it: %j',
  (environment) => {
    const { tells, calls } = manager(environment);
    tells.ready();
    tells.stopping();
    expect(calls).toEqual([]);
  },
);

it('continues when it cannot notify, and logs a line', () => {
  const { tells, lines } = manager({ NOTIFY_SOCKET: '/gone' }, new Error('spawn ENOENT'));
  tells.ready();
  expect(lines).toMatchObject([{ msg: 'server.notify_failed', message: 'READY=1' }]);
});
