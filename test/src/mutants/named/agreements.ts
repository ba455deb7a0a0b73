/**
 * What members must agree on before they work together: lists, settings, levels, leases.
 *
 * The simulator gives all members one file, so these bugs show only in scenarios of their own.
 */
import type { NamedMutant } from './named-mutant.js';

const LISTS = 'server/src/simulated/changed-list.test.ts';
const LEVELS = 'server/src/simulated/levels.test.ts';
const TWO_FILES = 'never make two leaders: 1 and 2 of {1,2,3} wait while 3 to 5 of {1..5} serve';

export const agreementMutants: readonly NamedMutant[] = [
  {
    name: 'former-list-not-counted',
    area: 'named',
    in: 'Quorums.constructor',
    find: 'this.#lists = [members, ...former];',
    replace: 'this.#lists = [members];',
    also: [
      {
        in: 'Quorums.include',
        find: 'const all = [this.#members, ...this.#former, ...others];',
        replace: 'const all = [this.#members];',
      },
    ],
    breaks: 'a changed list serves only with a majority of the former list, too',
    scenario: { file: LISTS, name: TWO_FILES },
  },
  {
    name: 'former-list-forgotten-at-start',
    area: 'named',
    in: 'planServing',
    find: '[...former, list]',
    replace: '[list]',
    breaks: 'a directory keeps the list that it served with until another one is served',
    scenario: { file: LISTS, name: TWO_FILES },
  },
  {
    name: 'former-lists-of-others-not-counted',
    area: 'named',
    in: 'Replica.countByAll',
    find: 'others.push(...(vote?.former ?? []));',
    replace: 'others.push(...(vote?.former ?? []).slice(0, 0));',
    breaks: 'a leader has a quorum of each list that its followers may have served with',
    scenario: {
      file: LISTS,
      name: 'lose nothing when one member has given its promise and goes back to the file before',
    },
  },
  {
    name: 'shorter-timeout-at-once',
    area: 'named',
    in: 'electorateOf',
    find: 'if (member.abstains) $BODY',
    replace: 'if (member.abstains && !sound) $BODY',
    breaks: 'nobody is elected with a shorter H while another member may serve with the longer one',
    scenario: {
      file: LISTS,
      name: 'is waited for until nobody serves by the longer one any more',
    },
  },
  {
    name: 'unequal-settings-accepted',
    area: 'named',
    in: 'settingsProblem',
    find: 'if (other === undefined || other === value) return [];',
    replace: 'if (other === undefined || value !== undefined) return [];',
    breaks: 'members that differ in what they must share refuse each other',
    scenario: {
      file: 'server/src/simulated/unequal-settings.test.ts',
      name: 'in {"peerTimeoutMs":12000} is refused on both sides, which name both values',
    },
  },
  {
    name: 'lease-is-the-followers-own',
    area: 'named',
    in: 'Following.#onNewLeader',
    find: 'if (message.leaseMs > 0) this.#leaseMs = message.leaseMs;',
    replace: 'if (message.leaseMs < 0) this.#leaseMs = message.leaseMs;',
    breaks: 'no lease of a follower outlives what its leader grants',
    scenario: {
      file: 'server/src/zab/lease-of-follower.test.ts',
      name: 'that is led with H = 1000 ms ends at 2050 ms',
    },
  },
  {
    name: 'level-raised-before-all-know-it',
    area: 'named',
    in: 'EnsembleLevel.next',
    find: 'next = Math.min(next, this.#agreed.get(peer) ?? 0);',
    replace: 'next = Math.min(next, this.#agreed.get(peer) ?? agreed);',
    breaks: 'the level is raised once every configured member has said that it knows it',
    scenario: {
      file: LEVELS,
      name: 'is not raised while one member is down, and is by the time that it is back',
    },
  },
  {
    name: 'level-not-in-the-meta-record',
    area: 'named',
    in: 'EnsembleLevel.raise',
    find: 'this.#parts.storage.raiseLevel(level);',
    replace: 'if (level < 0) this.#parts.storage.raiseLevel(level);',
    breaks: 'a release that does not know the level refuses the directory at its start',
    scenario: { file: LEVELS, name: 'once raised refuses the release before, at its start' },
  },
];
