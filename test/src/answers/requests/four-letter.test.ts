/**
 * Four-letter words of running members: answers to ZooKeeper's words have the lines of those that
 * were recorded from ZooKeeper 3.8.0, and words that are not whitelisted are refused with exactly
 * its text.
 */
import { readFileSync } from 'node:fs';
import { CreateFlag } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { fourLetterWord, metricsOf } from '../../harness/four-letter.js';
import { create, exists, getChildren } from '../../harness/operations.js';
import { REPOSITORY } from '../../harness/product.js';
import { useClient } from '../../harness/use-client.js';

const TEST_DEADLINE_MS = 60_000;
const recorded: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(`${REPOSITORY}/test/vectors/four-letter-words.json`, 'utf8'),
);
/**
 * The words whose whole answers are compared, with the numbers masked. Of the answers to `stat` and
 * `cons` only the kinds of lines are, because clients come and go.
 */
const COMPARED_WHOLE = ['ruok', 'isro', 'srvr', 'wchs', 'dirs', 'crst', 'srst', 'gtmk', 'conf'];

it(
  'a standalone member answers with the lines of the recorded answers',
  async () => {
    const ensemble = await useServingEnsemble({ size: 1 });
    const port = ensemble.member(1).clientPort;
    for (const word of COMPARED_WHOLE) {
      expect(masked(await fourLetterWord(port, word)), word).toBe(masked(recorded[word] ?? ''));
    }
    const client = await useClient(ensemble.member(1));
    await create(client, '/e', '', CreateFlag.ephemeral);
    const stat = await fourLetterWord(port, 'stat');
    expect(kinds(stat)).toEqual(kinds(recorded['stat'] ?? ''));
    const cons = await fourLetterWord(port, 'cons');
    expect(kinds(cons)).toEqual(kinds(recorded['cons'] ?? ''));
    expect(await fourLetterWord(port, 'envi')).toMatch(
      /^Environment:\nzookeeper\.version=3\.8\.0-/,
    );
  },
  TEST_DEADLINE_MS,
);

it(
  'dump, wchc and wchp show sessions, ephemerals and watches, at a leader and a follower',
  async () => {
    const ensemble = await useServingEnsemble();
    const [leader, [follower]] = [await ensemble.leader(), await ensemble.followers()];
    if (follower === undefined) throw new Error('there is a follower');
    const client = await useClient(follower);
    await create(client, '/e', '', CreateFlag.ephemeral);
    await exists(client, '/watched', true);
    await getChildren(client, '/', true);
    const session = `0x${client.session.id.toString(16)}`;
    const port = follower.clientPort;
    expect(await fourLetterWord(port, 'wchc')).toBe(`${session}\n\t/watched\n\n`);
    expect(await fourLetterWord(port, 'wchp')).toBe(`/watched\n\t${session}\n\n`);
    expect(await fourLetterWord(port, 'wchs')).toBe(
      '1 connections watching 1 paths\nTotal watches:1\n',
    );
    const ephemerals = `Sessions with Ephemerals (1):\n${session}:\n\t/e\nConnections dump:\n`;
    const dump = await fourLetterWord(port, 'dump');
    expect(dump).toContain(`SessionTracker dump:\nGlobal Sessions(1):\n${session}\t10000ms\n`);
    expect(dump).toContain(ephemerals);
    expect(dump).toMatch(new RegExp(`\\tip: /127.0.0.1:\\d+ sessionId: ${session}\\n`));
    const leaders = await fourLetterWord(leader.clientPort, 'dump');
    expect(leaders).toMatch(/^SessionTracker dump:\nSession Sets \(1\)\/\(1\):\n1 expire at /);
    expect(leaders).toContain(`\n\t${session}\nephemeral nodes dump:\n${ephemerals}`);
  },
  TEST_DEADLINE_MS,
);

it(
  "mntr counts events under ZooKeeper's names",
  async () => {
    const ensemble = await useServingEnsemble();
    const [leader, [follower]] = [await ensemble.leader(), await ensemble.followers()];
    if (follower === undefined) throw new Error('there is a follower');
    const client = await useClient(follower);
    await create(client, '/n');
    await exists(client, '/n', true);
    const seen = await metricsOf(follower.clientPort);
    const facts = { zk_server_state: 'follower', zk_watch_count: '1', zk_quorum_size: '3' };
    expect(Object.fromEntries(seen)).toMatchObject(facts);
    expect(Number(seen.get('zk_cnt_updatelatency'))).toBeGreaterThanOrEqual(1);
    expect(Number(seen.get('zk_open_file_descriptor_count'))).toBeGreaterThan(10);
    expect(seen.has('zk_synced_followers')).toBe(false);
    const led = await metricsOf(leader.clientPort);
    expect(led.get('zk_synced_followers')).toBe('2');
    expect(Number(led.get('zk_proposal_count'))).toBeGreaterThanOrEqual(2);
  },
  TEST_DEADLINE_MS,
);

it(
  'mntr measures the disk, the elections, the proposals and the watches of each member',
  async () => {
    const ensemble = await useServingEnsemble();
    const [leader, [follower]] = [await ensemble.leader(), await ensemble.followers()];
    if (follower === undefined) throw new Error('there is a follower');
    const client = await useClient(follower);
    await exists(client, '/seen', true);
    await create(client, '/seen');
    const everywhere = ['fsynctime', 'dbinittime', 'election_time', 'unavailable_time'];
    const measured = [
      [
        leader,
        [...everywhere, 'proposal_latency', 'quorum_ack_latency', 'leader_unavailable_time'],
      ],
      [follower, [...everywhere, 'follower_sync_time', 'node_created_watch_count']],
    ] as const;
    for (const [member, names] of measured) {
      const seen = await metricsOf(member.clientPort);
      for (const name of [...names, 'propagation_latency', 'jvm_pause_time_ms']) {
        expect(Number(seen.get(`zk_cnt_${name}`)), name).toBeGreaterThan(0);
      }
    }
    const seen = await metricsOf(follower.clientPort);
    expect(Number(seen.get('zk_watch_bytes'))).toBeGreaterThan(0);
    expect(Number(seen.get('zk_learner_proposal_received_count'))).toBeGreaterThan(0);
    expect(Number(seen.get('zk_learner_commit_received_count'))).toBeGreaterThan(0);
  },
  TEST_DEADLINE_MS,
);

it(
  'only whitelisted words are answered, and anything else is read as a frame',
  async () => {
    const ensemble = await useServingEnsemble({ size: 1, settings: { fourLetterWords: 'srvr' } });
    const port = ensemble.member(1).clientPort;
    for (const word of ['ruok', 'dump', 'isro', 'stmk', 'wchc']) {
      const refusal = `${word} is not executed because it is not in the whitelist.\n`;
      expect(await fourLetterWord(port, word)).toBe(refusal);
    }
    // Commands of ZooKeeper's admin server and meaningless words: the connection is closed without
    // an answer.
    for (const word of ['orst', 'lsnp', 'abcd']) expect(await fourLetterWord(port, word)).toBe('');
  },
  TEST_DEADLINE_MS,
);

/** The answer without what differs from run to run. */
function masked(answer: string): string {
  return answer
    .replace(/3\.8\.0-.*/g, 'VERSION')
    .replace(/(Dir|LogDir)=.*/g, '$1=PATH')
    .replace(/0x[\da-f]+/g, 'N')
    .replace(/-?[\d.]*\d\b/g, 'N');
}

/** The kinds of lines, each once, because several clients produce the same line. */
function kinds(answer: string): string[] {
  const lines = masked(answer)
    .replace(/lop=\w+/g, 'lop=NAME')
    .split('\n');
  return [...new Set(lines)];
}
