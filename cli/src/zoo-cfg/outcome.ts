/**
 * The outcomes of a key of zoo.cfg, and the facts that a rule may use to decide one. The rules are
 * in `keys.ts` and in the files of single subjects, such as `tls-keys.ts`.
 */

/** What the config gets. */
interface Taken {
  /** For the config file; objects and lists of several keys are joined. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** For each entry of `servers`. */
  readonly eachServer?: Readonly<Record<string, unknown>>;
  /** Files with secrets that have to be made, by path. */
  readonly secrets?: Readonly<Record<string, string>>;
}

export type Outcome =
  /** `note` is what the operator must know about it. */
  | ({ readonly kind: 'taken'; readonly note?: string } & Taken)
  /** The config has the setting, and `todo` is what the operator must do before it works. */
  | ({ readonly kind: 'incomplete'; readonly todo: string } & Taken)
  | { readonly kind: 'noEffect'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };

export interface ZooFile {
  /** The value of a key, by its name in lower case without `zookeeper.`; '' if it has none. */
  textOf(name: string): string;
  /** Whether that key has a value that switches something on. */
  isOn(name: string): boolean;
  /** The path of a file for a secret; null if the caller named no directory for such files. */
  secretPath(name: string): string | null;
  /** Whether the users of SASL come from a JAAS file. */
  readonly hasJaas: boolean;
}

/** `name` is that of the key, as `nameOf` gives it, for a rule that serves several keys. */
export type Rule = (value: string, file: ZooFile, name: string) => Outcome;
/** A rule that needs no more than the value of its key. */
type ValueRule = (value: string) => Outcome;

export const taken = (settings: NonNullable<Taken['settings']>, note?: string): Outcome => ({
  kind: 'taken',
  settings,
  ...(note === undefined ? {} : { note }),
});

export const incomplete = (settings: NonNullable<Taken['settings']>, todo: string): Outcome => ({
  kind: 'incomplete',
  settings,
  todo,
});

export const refused = (why: string): Outcome => ({ kind: 'refused', why });
export const without = (why: string): Outcome => ({ kind: 'noEffect', why });
/** For a key whose value switches nothing on. */
export const SWITCHED_OFF = without('it is switched off');

export const noEffect =
  (why: string): ValueRule =>
  () =>
    without(why);

export const always =
  (why: string): ValueRule =>
  () =>
    refused(why);

/** For a key that is harmful only when it is switched on. */
export function refusedIfOn(why: string): ValueRule {
  return (value) => (isYes(value) ? refused(why) : SWITCHED_OFF);
}

export function isYes(value: string): boolean {
  return ['yes', 'true', 'on'].includes(value.toLowerCase());
}

/**
 * Parses numbers as Java's Integer.decode does, as far as files use it: decimal, or hex with 0x.
 */
function numberOf(value: string): number | null {
  return /^-?(\d+|0x[0-9a-f]+)$/i.test(value) ? Number(value) : null;
}

/** What `use` makes of the value, which has to be a whole number. */
export function withNumber(value: string, use: (number: number) => Outcome): Outcome {
  const number = numberOf(value);
  return number === null ? refused(`${value} is not a whole number`) : use(number);
}

/** The name by which rules know a key. */
export function nameOf(key: string): string {
  return key.toLowerCase().replace(/^zookeeper\./, '');
}
