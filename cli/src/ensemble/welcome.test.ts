/** What a person sees when an ensemble is ready. */
import { expect, it } from 'vitest';
import { commandOf, welcomeText } from './welcome.js';

const WELCOME = {
  command: 'node cli/dist/main.js',
  members: 3,
  leader: 2,
  elapsedMs: 640,
  connect: 'a:1,b:2',
  console: 'http://127.0.0.1:2981/console/',
  configPath: 'data/ensemble.json',
  dataDir: '/tmp/data',
  logDir: '/tmp/data/logs',
};

it('names the leader, where everything is, and what to try next', () => {
  const text = welcomeText(WELCOME);
  expect(text).toContain('Rookery is ready: 3 members serve, member 2 leads (0.6 s)\n');
  expect(text).toContain('  connect   a:1,b:2\n');
  expect(text).toContain('  console   http://127.0.0.1:2981/console/\n');
  expect(text).toContain('  logs      /tmp/data/logs\n');
  expect(text).toContain('node cli/dist/main.js status --config data/ensemble.json\n');
  expect(text).not.toContain('\n\n\n');
});

it('names the program as the user called it', () => {
  expect(commandOf('/home/me/rookery/cli/dist/main.js', '/home/me/rookery')).toBe(
    'node cli/dist/main.js',
  );
  expect(commandOf('/usr/bin/rookery', '/home/me')).toBe('rookery');
});

it('omits an unknown leader, and omits the log files when logs are shown here', () => {
  const text = welcomeText({ ...WELCOME, leader: null, members: 1, logDir: null, console: null });
  expect(text).toContain('Rookery is ready: 1 member serves (0.6 s)\n');
  expect(text).toContain('  logs      here\n');
  expect(text).not.toMatch(/--logs|console/);
});
