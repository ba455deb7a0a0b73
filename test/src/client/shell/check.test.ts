/**
 * Goal: `rookery check` is silent when all is well, and names what is not, on both products; the
 * completion script completes in bash. What members say against each other is in findings.test.ts.
 */
import { expect, it } from 'vitest';
import { newTestDirectory, useServingEnsemble } from '../../harness/ensemble.js';
import { until } from '../../harness/wait.js';
import { ShellUser } from './shell-command.js';

it('check says nothing when all is well, and names the members that are gone', async () => {
  const ensemble = await useServingEnsemble();
  const hosts = ensemble.ports.map((port) => `127.0.0.1:${port}`);
  const user = new ShellUser(hosts.join(','), newTestDirectory());
  const well = await user.run(['check']);
  expect(well).toMatchObject({ code: 0, out: '', said: '' });
  const status = await user.run(['status', '--wait', '10']);
  expect([status.code, status.out]).toEqual([0, expect.stringContaining('All serve.')]);
  const leader = await ensemble.leader();
  const [gone, other] = ensemble.members.filter((member) => member !== leader);
  await gone?.kill();
  const findings = await user.json(['check'], 3);
  expect(findings).toMatchObject([{ kind: 'no-service' }]);
  expect(JSON.stringify(findings)).toContain(`127.0.0.1:${gone?.clientPort} does not serve`);
  await other?.kill();
  await until('the leader has noticed', 30_000, async () => {
    const { out } = await user.run(['check']);
    return out.includes('There is no leader') ? true : undefined;
  });
});

it('bash completes commands, groups and options', async () => {
  const user = new ShellUser('127.0.0.1:1', newTestDirectory());
  const complete = async (...words: readonly string[]) => {
    const list = words.map((word) => `'${word}'`).join(' ');
    const { out, said } = await user.shell(
      `source <("$0" "$1" completion bash); COMP_WORDS=(${list}); ` +
        `COMP_CWORD=${words.length - 1}; _rookery; echo "\${COMPREPLY[*]}"`,
    );
    expect(said).toBe('');
    return out.trim();
  };
  expect(await complete('rookery', 'ch')).toBe('check');
  expect(await complete('rookery', 'acl', '')).toMatch(/^get set/);
  expect(await complete('rookery', 'ls', '--lo')).toBe('--long');
});
