/** Named bugs of snapshots: fuzzy ones, lost ones, and ones that the log had left behind. */
import { type NamedMutant, scenario } from './named-mutant.js';

const EXACT = 'exact-checkpoints';
const DISKS = 'disks';

export const checkpointMutants: readonly NamedMutant[] = [
  {
    name: 'zk-3127-fuzzy-checkpoint',
    area: 'named',
    in: 'Capture.#captureIfFrozen',
    find: 'this.#write(node);',
    replace: 'this.#tree.path(node);',
    also: [
      {
        in: 'Capture.#captureNodes',
        find: 'this.#tree.isLive(node) && this.#tree.mark(node) === this.#generation - 1',
        replace: 'this.#tree.isLive(node)',
      },
    ],
    breaks: 'a checkpoint is exact at one zxid, whatever changes while it is taken',
    scenario: scenario(EXACT, 'ZK-3127: contains each concurrent multi completely or not at all'),
  },
  {
    name: 'zk-3144-sessions-captured-late',
    area: 'named',
    in: 'Capture.freeze',
    find: 'this.#frozenSessions = [...this.#sessions.takeChanges()];',
    replace: 'this.#frozenSessions = [];',
    also: [
      {
        in: 'Capture.captureSome',
        find: 'while (slice.hasRoom) $BODY',
        replace: `this.#frozenSessions.push(...this.#sessions.takeChanges());
          while (slice.hasRoom) $BODY`,
      },
    ],
    breaks: 'sessions and znodes of a checkpoint are of the same zxid',
    scenario: scenario(
      EXACT,
      'ZK-3144: contains the session of each of its ephemerals, and no ephemeral of a closed session',
    ),
  },
  {
    name: 'zk-3249-parent-captured-late',
    area: 'named',
    in: 'ReplicatedState.#create',
    find: `this.#capture.beforeChange(parent);
      const node = this.tree.create(op, parent, at);`,
    replace: `const node = this.tree.create(op, parent, at);
      this.#capture.beforeChange(parent);`,
    breaks: 'a parent is in a checkpoint as it was before the children that came later',
    scenario: scenario(
      EXACT,
      'ZK-3249: gives a parent the cversion and pzxid of its children in the checkpoint, from which replay continues',
    ),
  },
  {
    name: 'zk-3306-shared-acl-dropped',
    area: 'named',
    in: 'AclTable.#useEncoded',
    find: 'this.#interned(known).uses++;',
    replace: '',
    breaks: 'an ACL list stays as long as any znode has it',
    scenario: scenario(
      EXACT,
      'ZK-3306, ZK-4846, ZK-4689: contains every znode with the ACL that it had',
    ),
  },
  {
    name: 'zk-2325-empty-tree-accepted',
    area: 'named',
    in: 'finishRecords',
    find: 'if (found === digest) return;',
    replace: "if (found === digest || zxid > 0 || found === '') return;",
    breaks: 'a tree that is not what was saved is damage, not an empty tree',
    scenario: scenario(
      DISKS,
      'ZK-2325, ZK-3056, ZK-3644: a member whose snapshot is missing, empty or zeroed receives another one, and serves nothing before',
    ),
  },
  {
    name: 'zk-3056-empty-tree-served',
    area: 'named',
    in: 'electorateOf',
    find: "if (!sound) return { kind: 'none', reason: damagedText(member) };",
    replace:
      "if (!sound && votes.length > 0) return { kind: 'none', reason: damagedText(member) };",
    breaks: 'a standalone server without its snapshot does not serve an empty tree',
    scenario: scenario(
      DISKS,
      'ZK-2325, ZK-3056: a standalone server whose snapshot is missing, empty or zeroed serves nobody',
    ),
  },
  {
    name: 'zk-4837-truncated-below-a-checkpoint',
    area: 'named',
    in: 'Storage.truncate',
    find: 'const floor = Math.max(this.checkpointZxid, this.#frozenZxid);',
    replace: 'const floor: Zxid = 0;',
    breaks: 'nothing that a checkpoint contains, or will contain, is ever truncated',
    scenario: scenario(
      DISKS,
      'ZK-4837: nothing that a checkpoint contains, or will contain, is ever truncated',
    ),
  },
];
