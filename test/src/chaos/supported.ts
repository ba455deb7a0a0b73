/**
 * Finds out whether a run is possible on this machine, by trying what it needs on a tiny network.
 *
 * The trial leaves nothing behind, whatever happens. Called by main.ts before a run, and by the
 * tests, which say why they are skipped.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command } from './command.js';
import { Layout, makeNamespaces, removeNamespaces, runNameOf } from './namespaces.js';
import { Network, type WeatherMaker, weatherCommands } from './network.js';

export type Support =
  | {
      readonly kind: 'possible';
      readonly weather: WeatherMaker | null;
      /** The faults that cannot be made here, in sentences. */
      readonly without: readonly string[];
    }
  | { readonly kind: 'impossible'; readonly reason: string };

const PROGRAMS = [
  ['ip', ['-V'], 'iproute2'],
  ['tc', ['-V'], 'iproute2'],
  ['setpriv', ['--version'], 'util-linux'],
  ['mount', ['--version'], 'util-linux'],
] as const;

export async function supported(): Promise<Support> {
  if (process.platform !== 'linux') return impossible('network namespaces need Linux');
  if (process.getuid?.() !== 0) return impossible('network namespaces need root');
  for (const [file, args, debianPackage] of PROGRAMS) {
    try {
      await command(file, args);
    } catch (error) {
      return impossible(`${file} (package ${debianPackage}) does not run: ${textOf(error)}`);
    }
  }
  const run = runNameOf(process.pid);
  try {
    return await trial(new Layout(run, 2));
  } catch (error) {
    return impossible(textOf(error));
  } finally {
    await removeNamespaces(run);
  }
}

async function trial(layout: Layout): Promise<Support> {
  await makeNamespaces(layout);
  const network = new Network(layout, null);
  await network.cut([{ from: 1, to: 2 }]);
  await network.unplug(1);
  await network.healAll();
  await tryMount(layout);
  const weather = await tryWeather(layout);
  const without: string[] = [];
  if (weather === null) without.push('no loss and delay: the kernel has neither netem nor cls_bpf');
  if (weather === 'bpf') without.push('no netem in this kernel: delay is a narrow line instead');
  return { kind: 'possible', weather, without };
}

/** Mounts in the mount namespace that `ip netns exec` makes, so it ends with its process. */
async function tryMount(layout: Layout): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-chaos-'));
  try {
    const mount = ['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory];
    await command('ip', ['netns', 'exec', layout.namespace(1), ...mount]);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function tryWeather(layout: Layout): Promise<WeatherMaker | null> {
  const device = layout.device(1);
  const weather = { lossPercent: 5, delayMs: 10, rateKbit: 500 };
  for (const maker of ['netem', 'bpf'] as const) {
    try {
      for (const args of weatherCommands(device, weather, maker)) {
        await command('tc', ['-n', layout.router, ...args]);
      }
      return maker;
    } catch {
      // This kernel lacks something; remove what was made before the next trial.
      await command('tc', ['-n', layout.router, 'qdisc', 'del', 'dev', device, 'root']).catch(
        () => undefined,
      );
    }
  }
  return null;
}

function impossible(reason: string): Support {
  return { kind: 'impossible', reason };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
