#!/usr/bin/env node
/**
 * `node bench/dist/profile.js FILE.cpuprofile [--top 40]`: shows where a member's processor time
 * goes.
 *
 * It prints self time by function, and inclusive time (counted once where a function recurses), as
 * a share of the time that was not idle. It uses nothing else of the profile.
 */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { wholeOption } from './options.js';

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { functionName: string; url: string; lineNumber: number };
  readonly children?: readonly number[];
}
interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const TOP = 40;

new Command('profile')
  .description("Show where a member's processor time went, from a profile that --profile wrote.")
  .argument('<file>', 'a .cpuprofile')
  .option('--top <n>', 'number of functions to show', wholeOption({ min: 1, max: 1000 }), TOP)
  .action((file: string, { top }: { readonly top: number }) => {
    process.stdout.write(report(JSON.parse(readFileSync(file, 'utf8')) as Profile, top));
  })
  .parse();

function report(profile: Profile, top: number): string {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const selfUs = new Map<number, number>();
  for (const [index, id] of profile.samples.entries()) {
    selfUs.set(id, (selfUs.get(id) ?? 0) + (profile.timeDeltas[index] ?? 0));
  }
  const self = new Map<string, number>();
  const inclusive = new Map<string, number>();
  const root = profile.nodes[0];
  if (root === undefined) return 'The profile is empty.\n';
  const walk = (node: ProfileNode, above: readonly string[]): number => {
    const name = nameOf(node);
    const own = selfUs.get(node.id) ?? 0;
    add(self, name, own);
    let total = own;
    for (const child of node.children ?? []) {
      const next = nodes.get(child);
      if (next !== undefined) total += walk(next, [...above, name]);
    }
    if (!above.includes(name)) add(inclusive, name, total);
    return total;
  };
  const totalUs = walk(root, []);
  const idleUs = [...self].reduce((sum, [name, us]) => (name === '(idle)' ? sum + us : sum), 0);
  const busyUs = totalUs - idleUs;
  const head = `busy ${(busyUs / 1e6).toFixed(2)} s of ${(totalUs / 1e6).toFixed(2)} s\n`;
  return `${head}\nself\n${list(self, busyUs, top)}\ninclusive\n${list(inclusive, busyUs, top)}`;
}

function list(times: ReadonlyMap<string, number>, busyUs: number, top: number): string {
  const lines = [...times]
    .filter(([name]) => name !== '(idle)' && name !== '(root)')
    .sort(([, a], [, b]) => b - a)
    .slice(0, top)
    .map(([name, us]) => `${((100 * us) / busyUs).toFixed(1).padStart(6)} %  ${name}\n`);
  return lines.join('');
}

function nameOf({ callFrame }: ProfileNode): string {
  const name = callFrame.functionName === '' ? '(anonymous)' : callFrame.functionName;
  if (callFrame.url === '') return name;
  const file = callFrame.url.split('/').slice(-3).join('/');
  return `${name} ${file}:${callFrame.lineNumber + 1}`;
}

function add(times: Map<string, number>, name: string, us: number): void {
  times.set(name, (times.get(name) ?? 0) + us);
}
