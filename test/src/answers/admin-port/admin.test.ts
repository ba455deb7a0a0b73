/**
 * The admin port of real members is compared with the admin server of a real ZooKeeper 3.8.0: every
 * command, by its name and by each alias, with the same keys and kinds of values, standalone and in
 * an ensemble, with a session that owns and watches something.
 */
import { CreateFlag } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { type Ensemble, useServingEnsemble } from '../../harness/ensemble.js';
import { mayLack } from '../../harness/foreign.js';
import { httpGet } from '../../harness/http.js';
import type { Member } from '../../harness/member.js';
import { create, exists } from '../../harness/operations.js';
import { productNamed } from '../../harness/product.js';
import { useClient } from '../../harness/use-client.js';

const TEST_DEADLINE_MS = 240_000;
const ZOOKEEPER = '/usr/share/java/zookeeper.jar';

const ALIASES: Readonly<Record<string, readonly string[]>> = {
  configuration: ['conf', 'config'],
  connection_stat_reset: ['crst'],
  connections: ['cons'],
  dirs: [],
  dump: [],
  environment: ['env', 'envi'],
  get_trace_mask: ['gtmk'],
  hash: [],
  initial_configuration: ['icfg'],
  is_read_only: ['isro'],
  last_snapshot: ['lsnp'],
  leader: ['lead'],
  monitor: ['mntr'],
  observer_connection_stat_reset: ['orst'],
  observers: ['obsr'],
  ruok: [],
  server_stats: ['srvr'],
  stat_reset: ['srst'],
  stats: ['stat'],
  system_properties: ['sysp'],
  voting_view: [],
  watch_summary: ['wchs'],
  watches: ['wchc'],
  watches_by_path: ['wchp'],
  zabstate: [],
  'set_trace_mask?traceMask=306': [],
};

/** Their keys depend on the process: environment variables, and properties of Java. */
const OF_THE_PROCESS = new Set(['environment', 'system_properties']);
/** The comment at mntr's names explains what it leaves out. */
const WITH_FIGURES_OF_ITS_OWN = new Set(['monitor']);

const NO_SNAPSHOT: unknown = expect.stringContaining('rookery backup save');
const NO_RESTORE: unknown = expect.stringContaining('into empty directories');
/** ZooKeeper 3.9 has these, or answers them 200 with the error. */
const NOT_DONE: readonly (readonly [string, number, unknown])[] = [
  ['snapshot?streaming=true', 501, NO_SNAPSHOT],
  ['snap', 501, NO_SNAPSHOT],
  ['restore', 501, NO_RESTORE],
  ['rest', 501, NO_RESTORE],
  ['nosuch', 404, 'Unknown command: nosuch'],
  ['shed', 404, 'Unknown command: shed'],
  ['constructor', 404, 'Unknown command: constructor'],
];

async function answersOf(ensemble: Ensemble): Promise<Map<string, unknown>> {
  const [member] = ensemble.members;
  if (member === undefined) throw new Error('there is a member');
  const client = await useClient(member);
  await exists(client, '/owned', true);
  await create(client, '/owned', 'x', CreateFlag.ephemeral);
  await exists(client, '/owned', true);
  const answers = new Map<string, unknown>();
  for (const [name, aliases] of Object.entries(ALIASES)) {
    const answer = await commandOf(member, name);
    answers.set(name, answer);
    for (const alias of aliases) {
      const byAlias = await commandOf(member, alias);
      expect(shapeOf(byAlias), `${alias} for ${name}`).toEqual(shapeOf(answer));
    }
  }
  return answers;
}

async function commandOf(member: Member, name: string): Promise<unknown> {
  const reply = await httpGet(member.adminPort, `/commands/${name}`);
  expect([reply.status, reply.type], name).toEqual([200, 'application/json']);
  return JSON.parse(reply.text);
}

/** Keys with kinds of values: of a list its first element, of a map by ids any of its values. */
function shapeOf(value: unknown): unknown {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== 'object') return typeof value;
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
    return [/^-?\d+$/.test(key) ? 'ID' : key, shapeOf(inner)];
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

for (const size of [1, 3]) {
  it.skipIf(mayLack(ZOOKEEPER))(
    `has ZooKeeper's commands with their keys, in an ensemble of ${size}`,
    async () => {
      const theirs = await answersOf(
        await useServingEnsemble({ size, operated: true, product: productNamed('apache') }),
      );
      const product = productNamed('rookery');
      const ours = await answersOf(await useServingEnsemble({ size, operated: true, product }));
      for (const [name, answer] of theirs) {
        const own = ours.get(name);
        if (OF_THE_PROCESS.has(name) || WITH_FIGURES_OF_ITS_OWN.has(name)) {
          expect(own, name).toMatchObject({ command: name, error: null });
          continue;
        }
        // ZooKeeper's value is null in an ensemble, and it keeps a digest every 128 transactions
        // only.
        if (name === 'initial_configuration' || name === 'hash') continue;
        expect(shapeOf(own), name).toEqual(shapeOf(answer));
      }
      const figures = Object.keys(theirs.get('monitor') ?? {});
      const known = Object.keys(ours.get('monitor') ?? {});
      expect(known.filter((name) => figures.includes(name)).length).toBeGreaterThan(100);
    },
    TEST_DEADLINE_MS,
  );
}

it(
  'shows recent events, and refuses users without credentials',
  async () => {
    const adminUsers = ['ops:1vdFRDCql3UzcxJ7kySyFCmtSF0='];
    const ensemble = await useServingEnsemble({
      size: 1,
      operated: true,
      settings: { adminUsers },
    });
    const [member] = ensemble.members;
    if (member === undefined) throw new Error('there is a member');
    const { adminPort } = member;
    const authorization = 'digest ops:hunter2';
    const ruok = await httpGet(adminPort, '/commands/ruok');
    expect([ruok.status, JSON.parse(ruok.text)]).toEqual([200, { command: 'ruok', error: null }]);
    for (const name of ['stat', 'snapshot', 'restore', 'nosuch', 'ruokx', 'ruok/x']) {
      expect((await httpGet(adminPort, `/commands/${name}`)).status, name).toBe(401);
    }
    expect((await httpGet(adminPort, '/livez')).status).toBe(200);
    expect((await httpGet(adminPort, '/commands/ruok', { authorization })).status).toBe(200);
    const foreign = { authorization, origin: 'http://evil.example' };
    expect((await httpGet(adminPort, '/commands/stat_reset', foreign)).status).toBe(403);
    // A link or an image on any page, followed by a browser that keeps the password: over HTTP it
    // need not name the page.
    for (const browser of [
      { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' },
      { referer: 'http://evil.example/' },
    ]) {
      const reply = await httpGet(adminPort, '/commands/srst', { authorization, ...browser });
      expect(reply.status, JSON.stringify(browser)).toBe(405);
    }
    expect((await httpGet(adminPort, '/commands/srst', { authorization })).status).toBe(200);
    const posted = await fetch(`http://127.0.0.1:${adminPort}/commands/stmk?traceMask=3`, {
      method: 'POST',
      headers: { authorization, 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' },
    });
    expect(await posted.json()).toMatchObject({ tracemask: 3, error: null });
    for (const [name, status, error] of NOT_DONE) {
      const reply = await httpGet(adminPort, `/commands/${name}`, { authorization });
      expect([reply.status, reply.type], name).toEqual([status, 'application/json']);
      const [command] = name.split('?');
      expect(JSON.parse(reply.text), name).toEqual({ command, error });
    }
    const restore = await fetch(`http://127.0.0.1:${adminPort}/commands/restore`, {
      method: 'POST',
      headers: { authorization },
      body: new Uint8Array(1 << 16),
    });
    expect(restore.status).toBe(501);
    const { text } = await httpGet(adminPort, '/api/v1/events', { authorization });
    const { events } = JSON.parse(text) as { events: { event: string; number: number }[] };
    const names = events.map(({ event }) => event);
    expect(names).toContain('role.serving');
    expect(names).toContain('server.recovered');
    const newest = events.at(-1)?.number ?? 0;
    const later = await httpGet(adminPort, `/api/v1/events?after=${newest}`, { authorization });
    // There may be newer events by now, but none of the old ones again.
    const since = JSON.parse(later.text) as { lost: number; events: { number: number }[] };
    expect(since.lost).toBe(0);
    expect(since.events.filter(({ number }) => number <= newest)).toEqual([]);
    const text2 = (await httpGet(adminPort, '/commands/icfg', { authorization })).text;
    expect(text2).not.toContain(adminUsers[0]);
  },
  TEST_DEADLINE_MS,
);
