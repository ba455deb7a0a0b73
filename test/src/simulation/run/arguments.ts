/**
 * A run's options as arguments of a command, and back: a failure prints what replays it.
 *
 * Only what differs from the seed's own draw is printed: common changes by options of their own,
 * any other as `--set clients.readShare=0.5`, its value in JSON. `optionsOf(argumentsOf(o))` equals
 * `o`.
 */
import { drawOptions, type RunOptions } from './options.js';

/** What the command line may state about one run. */
export interface RunArguments {
  readonly seed: number;
  readonly only?: readonly number[] | undefined;
  readonly members?: number | undefined;
  readonly clients?: number | undefined;
  readonly durationMs?: number | undefined;
  /** `path=json`. */
  readonly set?: readonly string[] | undefined;
}

export function optionsOf(given: RunArguments): RunOptions {
  const drawn = drawOptions(given.seed);
  const options = {
    ...drawn,
    only: given.only ?? drawn.only,
    members: given.members ?? drawn.members,
    durationMs: given.durationMs ?? drawn.durationMs,
    clients: { ...drawn.clients, count: given.clients ?? drawn.clients.count },
  };
  return (given.set ?? []).reduce((current, setting) => withSetting(current, setting), options);
}

/** As words of a shell command; only those of `--set` need quotes. */
export function argumentsOf(options: RunOptions): readonly string[] {
  const drawn = drawOptions(options.seed);
  const words = ['--seed', `${options.seed}`];
  // An empty list means that there are no faults; every shell keeps a dash.
  if (options.only !== null) words.push('--only', options.only.join(',') || '-');
  if (options.members !== drawn.members) words.push('--members', `${options.members}`);
  if (options.clients.count !== drawn.clients.count) {
    words.push('--clients', `${options.clients.count}`);
  }
  if (options.durationMs !== drawn.durationMs) words.push('--duration', `${options.durationMs}`);
  const usual = { ...options, clients: { ...options.clients, count: drawn.clients.count } };
  for (const setting of differences(drawn, usual)) words.push('--set', `'${setting}'`);
  return words;
}

/** `3,5` or, for no faults at all, `-`. */
export function readOnly(text: string): readonly number[] {
  if (text === '-' || text === '') return [];
  return text.split(',').map((word) => {
    const index = Number(word);
    if (!Number.isSafeInteger(index) || index < 1)
      throw new Error(`${word} is not the number of a fault`);
    return index;
  });
}

const OWN_OPTIONS: ReadonlySet<string> = new Set(['seed', 'only', 'members', 'durationMs']);

function differences(drawn: RunOptions, options: RunOptions): readonly string[] {
  const before = new Map(flat(drawn));
  const after = new Map(flat(options));
  const changed = [...after].filter(([path, json]) => before.get(path) !== json);
  const gone = [...before.keys()].filter((path) => !after.has(path));
  const settings = [...changed.map(([path, json]) => `${path}=${json}`), ...gone];
  return settings.filter((setting) => !OWN_OPTIONS.has(setting.replace(/=.*/, '')));
}

/** The path and the JSON of every field; fields of nested objects, never of lists. */
function flat(options: RunOptions): readonly (readonly [string, string])[] {
  return Object.entries(options).flatMap(([name, value]: [string, unknown]) => {
    if (!isRecord(value)) return [[name, JSON.stringify(value)] as const];
    return Object.entries(value).map(
      ([inner, part]) => [`${name}.${inner}`, JSON.stringify(part)] as const,
    );
  });
}

/** Without `=json`, the field is removed. */
function withSetting(options: RunOptions, setting: string): RunOptions {
  const [, path = '', json] = /^([^=]+)(?:=(.*))?$/.exec(setting) ?? [];
  const [name = '', inner] = path.split('.');
  if (!(name in options)) throw new Error(`${setting}: a run has no option ${name}`);
  const value: unknown = json === undefined ? undefined : JSON.parse(json);
  if (inner === undefined) return { ...options, [name]: value };
  const group: unknown = Object.entries(options).find(([key]) => key === name)?.[1];
  if (!isRecord(group)) throw new Error(`${setting}: ${name} has no fields`);
  const fields = { ...group, [inner]: value };
  if (value === undefined) delete fields[inner];
  return { ...options, [name]: fields };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
