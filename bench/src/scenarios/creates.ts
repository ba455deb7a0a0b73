/**
 * Znodes that come and go: create, create and delete, multi, and one parent with very many
 * children.
 *
 * The run itself fills the hot parent, in an ensemble of its own; then its names are requested, all
 * at once and, if the server has that opcode, in pages.
 */
import type { Context } from '../run/context.js';
import { LOAD_FIGURES, measureLoad, troublesOf, valuesOf, warmUp } from './load-figures.js';
import { type Measurement, measurement, type Scenario, scenario } from './scenario.js';

const MULTI_OPERATIONS = 10;
const PAGE = 1000;
/** A list of 100,000 names is larger than a megabyte, so a few requests at a time are enough. */
const LIST_CONNECTIONS = 3;

export const createScenarios: readonly Scenario[] = [
  scenario({
    name: 'create-w32',
    title: 'create 100 B, 30 connections x 32',
    group: 'creates',
    figures: LOAD_FIGURES,
    run: (context) => measureLoad(context, { workload: { kind: 'create' } }),
  }),
  scenario({
    name: 'create-delete-w32',
    title: 'create and delete 100 B, 30 connections x 32',
    group: 'creates',
    figures: LOAD_FIGURES,
    run: (context) => measureLoad(context, { workload: { kind: 'createDelete' } }),
  }),
  scenario({
    name: 'multi-10',
    title: `multi of ${MULTI_OPERATIONS} setData 100 B, 30 connections x 8`,
    group: 'creates',
    figures: LOAD_FIGURES,
    run: (context) =>
      measureLoad(context, {
        workload: { kind: 'multi', operations: MULTI_OPERATIONS },
        window: 8,
      }),
  }),
  scenario({
    name: 'hot-parent',
    title: 'one parent with 100,000 children: create, list, page',
    group: 'creates',
    isFresh: true,
    figures: [
      { key: 'createPerSecond', title: 'creates', unit: '1/s', better: 'higher' },
      { key: 'createP99Ms', title: 'create p99', unit: 'ms', better: 'lower' },
      { key: 'listPerSecond', title: 'getChildren of all', unit: '1/s', better: 'higher' },
      { key: 'listP99Ms', title: 'getChildren p99', unit: 'ms', better: 'lower' },
      { key: 'pagePerSecond', title: `pages of ${PAGE}`, unit: '1/s', better: 'higher' },
      { key: 'pageP99Ms', title: 'page p99', unit: 'ms', better: 'lower' },
    ],
    secondsAbout: ({ sizes, seconds }) => sizes.hotChildren / 15_000 + 2 * seconds + 5,
    run: hotParent,
  }),
];

async function hotParent(context: Context): Promise<Measurement> {
  await warmUp(context);
  const children = context.settings.sizes.hotChildren;
  const space = { root: context.newRoot(), keys: 0, valueBytes: 100 };
  const creates = await context.load({
    workload: { kind: 'createHot', children },
    space,
    isSetUp: true,
    seconds: null,
    warmupSeconds: 0,
  });
  context.step('getChildren');
  const few = { space, connections: LIST_CONNECTIONS, window: 1 };
  const lists = await context.load({ workload: { kind: 'getChildren' }, ...few });
  const values: Record<string, number> = {
    createPerSecond: creates.operations / creates.seconds,
    createP99Ms: valuesOf(creates)['p99Ms'] ?? Number.NaN,
    listPerSecond: lists.operations / lists.seconds,
    listP99Ms: valuesOf(lists)['p99Ms'] ?? Number.NaN,
  };
  const troubles = [...troublesOf(creates), ...troublesOf(lists)];
  // ZooKeeper closes the connection of a client that sends an unknown opcode.
  if (context.system.name !== 'zookeeper') {
    context.step('pages');
    const workload = { kind: 'getPage', limit: PAGE, children } as const;
    const pages = await context.load({ workload, ...few });
    const hasPages = pages.operations > 0 && !('Unimplemented' in pages.errors);
    if (hasPages) {
      values['pagePerSecond'] = pages.operations / pages.seconds;
      values['pageP99Ms'] = valuesOf(pages)['p99Ms'] ?? Number.NaN;
      troubles.push(...troublesOf(pages));
    }
  }
  const generatorShare = creates.generator.cpuShare;
  return measurement(values, { latency: lists.latency, troubles, generatorShare });
}
