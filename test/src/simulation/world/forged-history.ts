/**
 * Makes of a directory what another leadership of its newest epoch would have left: one that a
 * second process led on copied data, or that a wrong list of members elected.
 *
 * The identity of the epoch's leadership is another one, what it proposed has other data, and it
 * may have proposed more. All checksums are right: only the lineage tells that this is not the
 * ensemble's history. SimulatedDisk calls it, on a disk that no process uses.
 */
import {
  COUNTER_MAX,
  counterOf,
  epochOf,
  JuteWriter,
  makeZxid,
  ProposalBatch,
  type Zxid,
} from '@rookery/protocol';
import { addChecksum, type MemoryStore, txnOf, writeTxn } from '../../simulated.js';
import type { StoredLog } from './stored-log.js';

/** Proposals that the other leadership made beyond those that are there. */
const MORE_MAX = 40;
/** What a request was refused with; such a transaction fits every tree. */
const REFUSED = { kind: 'error', code: -101, codes: null } as const;

/** `dice` in [0, 1) choose the identity, and how many proposals it has made. */
export function forgeHistory(
  tree: MemoryStore,
  log: StoredLog,
  dice: readonly [number, number],
): boolean {
  const epoch = currentEpochIn(tree);
  if (epoch === 0) return false;
  log.rewrite((batch) => changeData(batch, epoch));
  const more = Math.floor(dice[1] * MORE_MAX);
  const longer = proposalsAfter(log.last, epoch, more);
  const isLonger = longer !== null && log.append(longer);
  const identity = 1 + Math.floor(dice[0] * 0x7fff_ffff);
  for (const key of ['meta', 'meta-copy']) {
    changeMeta(tree, key, (text) => {
      const other = withIdentity(text, epoch, identity);
      // That process has recorded the end of its log.
      return isLonger
        ? other.replace(/"recordedZxid":\d+/, `"recordedZxid":${longer.last}`)
        : other;
    });
  }
  return true;
}

/** The epoch whose history was taken over whole, as the older of both records says. */
export function currentEpochIn(tree: MemoryStore): number {
  const epochs: number[] = [];
  for (const key of ['meta', 'meta-copy']) {
    changeMeta(tree, key, (text) => {
      epochs.push(Number(/"currentEpoch":(\d+)/.exec(text)?.[1] ?? 0));
      return text;
    });
  }
  return epochs.length < 2 ? 0 : Math.min(...epochs);
}

/** Returns whether anything of that epoch was changed. */
function changeData(batch: ProposalBatch, epoch: number): boolean {
  let isChanged = false;
  for (const proposal of batch) {
    if (epochOf(proposal.zxid) !== epoch) continue;
    const { op } = txnOf(proposal);
    if ((op.kind !== 'setData' && op.kind !== 'create') || op.data === null) continue;
    // A view of the batch.
    const [first] = op.data;
    if (first === undefined) continue;
    op.data[0] = first ^ 1;
    isChanged = true;
  }
  return isChanged;
}

function proposalsAfter(last: Zxid, epoch: number, count: number): ProposalBatch | null {
  const before = epochOf(last) === epoch ? counterOf(last) : 0;
  if (count === 0 || epochOf(last) > epoch || before + count > COUNTER_MAX) return null;
  const proposals = Array.from({ length: count }, (_, at) => {
    const writer = new JuteWriter();
    writeTxn(writer, { origin: 0, request: 0, session: 0, time: 0, op: REFUSED });
    const zxid = makeZxid(epoch, before + at + 1);
    return { zxid, previous: at === 0 ? last : zxid - 1, body: writer.take() };
  });
  return ProposalBatch.of(proposals);
}

function withIdentity(text: string, epoch: number, identity: number): string {
  const known = new RegExp(`\\{"epoch":${epoch},"identity":\\d+\\}`);
  return text.replace(known, `{"epoch":${epoch},"identity":${identity}}`);
}

function changeMeta(tree: MemoryStore, key: string, change: (text: string) => string): void {
  if (!tree.names().includes('meta')) return;
  tree.tamper('meta', (entries) => {
    const stored = entries.get(key);
    if (stored === undefined) return;
    const text = Buffer.from(stored).subarray(4).toString('utf8');
    entries.set(key, addChecksum(Buffer.from(key, 'latin1'), Buffer.from(change(text))));
  });
}
