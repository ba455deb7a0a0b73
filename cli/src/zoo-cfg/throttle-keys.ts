/**
 * The keys by which ZooKeeper limits how many connections come at once. Its names are those of
 * system properties; its guide writes some of them another way, and both are read.
 */
import {
  isYes,
  type Rule,
  refusedIfOn,
  SWITCHED_OFF,
  taken,
  withNumber,
  without,
} from './outcome.js';

const PER_SECOND_MAX = 1_000_000;

/**
 * The tokens that are there at once. New ones come at ZooKeeper's rate, which is a token for each
 * millisecond unless the file has another one.
 */
export const connectionTokens: Rule = (value, file) =>
  withNumber(value, (number) => {
    if (number <= 0) return SWITCHED_OFF;
    const { textOf } = file;
    const count = numberOr(
      textOf('connection_throttle_fill_count'),
      textOf('connectiontokenfillcount'),
    );
    const timeMs = numberOr(
      textOf('connection_throttle_fill_time'),
      textOf('connectiontokenfilltime'),
    );
    const perSecond = Math.round((1000 * count) / timeMs);
    return taken({
      connectionTokensMax: number,
      connectionTokensPerSecond: Math.min(Math.max(perSecond, 1), PER_SECOND_MAX),
    });
  });

export const connectionFill: Rule = (value, file) =>
  withNumber(value, () => {
    const max = numberOr(
      file.textOf('connection_throttle_tokens'),
      file.textOf('connectionmaxtokens'),
      0,
    );
    return without(
      max > 0 ? 'it is part of connectionTokensPerSecond' : 'there is no limit to refill',
    );
  });

/** A time of -1 or 0 turns off that connections are dropped by chance. */
export const connectionFreeze: Rule = (value) =>
  withNumber(value, (number) => {
    if (number <= 0) return SWITCHED_OFF;
    return {
      kind: 'refused',
      why: 'connections are not dropped by chance before tokens are used up',
    };
  });

export const connectionWeights = refusedIfOn(
  'every connection takes one token, whatever its session',
);

/** What only has an effect together with one of the two above. */
export const connectionDetail: Rule = (_, file, name) => {
  const key = name.includes('weight')
    ? 'connection_throttle_weight_enabled'
    : 'connection_throttle_freeze_time';
  const isUsed = isYes(file.textOf(key)) || numberOr(file.textOf(key), '', 0) > 0;
  return without(isUsed ? `${key} decides` : 'it is switched off');
};

function numberOr(...texts: readonly (string | number)[]): number {
  for (const text of texts) {
    const number = Number(text);
    if (text !== '' && Number.isSafeInteger(number) && (number > 0 || typeof text === 'number')) {
      return number;
    }
  }
  return 1;
}
