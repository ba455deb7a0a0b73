/**
 * Makes the faults of a run's network, all in the router's namespace, with `ip` and `tc` alone.
 *
 * A cut from one host to another is a policy rule that silently drops packets in that direction;
 * the other direction is not affected. Loss and delay are a queueing discipline on the router's
 * device to a host: netem where the kernel has it. Otherwise a classifier drops packets at random
 * (cls_bpf), and a low bandwidth, at which packets queue up, makes the delay. `healAll` undoes
 * everything, however far a fault had got. Called by nemeses.
 */
import { command } from './command.js';
import type { Host, Layout } from './namespaces.js';

export interface Cut {
  readonly from: Host;
  readonly to: Host;
}

/** What happens to packets on their way to a host. */
export interface Weather {
  /** How many of all packets are lost, from 0 to 100. */
  readonly lossPercent: number;
  /** By how much netem delays each packet. */
  readonly delayMs: number;
  /** The bandwidth where there is no netem, in kbit/s; 0 for no limit. */
  readonly rateKbit: number;
}

/** What makes loss and delay on this machine. */
export type WeatherMaker = 'netem' | 'bpf';

/** A packet that would wait longer than this in the queue of a slow link is lost. */
const QUEUE_LATENCY_MS = 400;

export class Network {
  readonly layout: Layout;
  readonly #maker: WeatherMaker | null;
  readonly #cuts = new Set<string>();
  readonly #stormy = new Set<Host>();
  readonly #down = new Set<Host>();

  constructor(layout: Layout, maker: WeatherMaker | null) {
    this.layout = layout;
    this.#maker = maker;
  }

  /** Null if this machine has no means of making loss and delay. */
  get weatherMaker(): WeatherMaker | null {
    return this.#maker;
  }

  /** Adds these cuts; those that exist stay. */
  async cut(cuts: readonly Cut[]): Promise<void> {
    for (const { from, to } of cuts) {
      const key = `${from}>${to}`;
      if (this.#cuts.has(key)) continue;
      this.#cuts.add(key);
      await this.#ip(['rule', 'add', ...this.#rule({ from, to })]);
    }
  }

  /** Removes these cuts; ignores those that do not exist. */
  async uncut(cuts: readonly Cut[]): Promise<void> {
    for (const cut of cuts) {
      if (!this.#cuts.delete(`${cut.from}>${cut.to}`)) continue;
      await this.#ip(['rule', 'del', ...this.#rule(cut)]);
    }
  }

  /** Sets the weather of everything on its way to the host, in place of the former weather. */
  async storm(to: Host, weather: Weather): Promise<void> {
    if (this.#maker === null) throw new Error('this kernel can make neither loss nor delay');
    await this.calm(to);
    this.#stormy.add(to);
    const device = this.layout.device(to);
    for (const args of weatherCommands(device, weather, this.#maker)) await this.#tc(args);
  }

  async calm(to: Host): Promise<void> {
    if (!this.#stormy.has(to)) return;
    // A storm that failed half-way may have left nothing that could be removed.
    const device = this.layout.device(to);
    const shown = await this.#tc(['qdisc', 'show', 'dev', device, 'root']);
    if (/\b(?:netem|htb|tbf)\b/.test(shown))
      await this.#tc(['qdisc', 'del', 'dev', device, 'root']);
    this.#stormy.delete(to);
  }

  /** Unplugs the host's network device, which loses its carrier. */
  async unplug(host: Host): Promise<void> {
    this.#down.add(host);
    await this.#ip(['link', 'set', this.layout.device(host), 'down']);
  }

  async plug(host: Host): Promise<void> {
    await this.#ip(['link', 'set', this.layout.device(host), 'up']);
    this.#down.delete(host);
  }

  async healAll(): Promise<void> {
    await this.uncut([...this.#cuts].map(cutOf));
    for (const host of [...this.#stormy]) await this.calm(host);
    for (const host of [...this.#down]) await this.plug(host);
  }

  #rule({ from, to }: Cut): string[] {
    return ['from', this.layout.address(from), 'to', this.layout.address(to), 'blackhole'];
  }

  #ip(args: readonly string[]): Promise<string> {
    return command('ip', ['-n', this.layout.router, ...args]);
  }

  #tc(args: readonly string[]): Promise<string> {
    return command('tc', ['-n', this.layout.router, ...args]);
  }
}

function cutOf(key: string): Cut {
  const [from = '', to = ''] = key.split('>');
  return { from: hostOf(from), to: hostOf(to) };
}

function hostOf(text: string): Host {
  return text === 'clients' ? 'clients' : Number(text);
}

/** Returns the arguments of the `tc` commands that make this weather on a device without any. */
export function weatherCommands(device: string, weather: Weather, maker: WeatherMaker): string[][] {
  const { lossPercent, delayMs, rateKbit } = weather;
  if (maker === 'netem') {
    const delay = delayMs > 0 ? ['delay', `${delayMs}ms`, `${Math.ceil(delayMs / 3)}ms`] : [];
    const loss = lossPercent > 0 ? ['loss', `${lossPercent}%`] : [];
    return [['qdisc', 'add', 'dev', device, 'root', 'netem', ...delay, ...loss]];
  }
  const queue =
    rateKbit > 0
      ? ['tbf', 'rate', `${rateKbit}kbit`, 'burst', '3000', 'latency', `${QUEUE_LATENCY_MS}ms`]
      : ['pfifo', 'limit', '1000'];
  const dice = ['bpf', 'bytecode', diceBytecode(lossPercent), 'flowid', LOST];
  return [
    ['qdisc', 'add', 'dev', device, 'root', 'handle', '1:', 'htb', 'default', '1', 'r2q', '1000'],
    ['class', 'add', 'dev', device, 'parent', '1:', 'classid', PASSED, ...UNLIMITED],
    ['class', 'add', 'dev', device, 'parent', '1:', 'classid', LOST, ...UNLIMITED],
    ['qdisc', 'add', 'dev', device, 'parent', PASSED, ...queue],
    ['qdisc', 'add', 'dev', device, 'parent', LOST, 'blackhole'],
    ...(lossPercent > 0
      ? [['filter', 'add', 'dev', device, 'parent', '1:', 'protocol', 'ip', 'prio', '1', ...dice]]
      : []),
  ];
}

const PASSED = '1:1';
/** The class whose queue drops every packet. */
const LOST = '1:2';
const UNLIMITED = ['htb', 'rate', '10gbit', 'quantum', '60000'];

/**
 * Classic BPF that loads a random word (SKF_AD_RANDOM) and matches if it is below the threshold.
 */
function diceBytecode(lossPercent: number): string {
  const threshold = Math.min(0xffffffff, Math.floor((lossPercent / 100) * 2 ** 32));
  const LOAD_RANDOM = '32 0 0 4294963256';
  return `4,${LOAD_RANDOM},53 1 0 ${threshold},6 0 0 4294967295,6 0 0 0`;
}
