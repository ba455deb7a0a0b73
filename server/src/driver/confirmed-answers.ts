/**
 * Answers of a leader that need a confirmation by a quorum: to syncs, and that a session is gone.
 *
 * One confirmation serves all that were asked for when it begins. Some of the answers also wait
 * until everything proposed before the question is applied here. Owned by the leader's service.
 */
import type { Attached, Detach, PeerId, Synced, Zxid } from '@rookery/protocol';

export type Answer = Attached | Detach | Synced;

interface Unconfirmed {
  readonly origin: PeerId;
  /** Also wait until everything proposed before the question is applied here. */
  readonly afterApply: boolean;
  answer(zxid: Zxid): Answer;
}

interface Unapplied {
  readonly origin: PeerId;
  readonly zxid: Zxid;
  readonly answer: Answer;
}

export interface ConfirmingHooks {
  /** Asks the core to confirm with a quorum that this member still leads. */
  confirm(id: number): void;
  /** Sends an answer to another member by its link, or to this one's pipeline. */
  answer(member: PeerId, answer: Answer): void;
}

export class ConfirmedAnswers {
  readonly #hooks: ConfirmingHooks;
  /** Answers whose confirmation was asked for, by its id. */
  readonly #asked = new Map<number, Unconfirmed[]>();
  #gathering: Unconfirmed[] = [];
  /** Confirmed answers that wait to be applied, in the order of their zxids. */
  #unapplied: Unapplied[] = [];
  #nextConfirm = 1;
  #applied: Zxid;

  /** `applied` is the last zxid that is applied here. */
  constructor(hooks: ConfirmingHooks, applied: Zxid) {
    this.#hooks = hooks;
    this.#applied = applied;
  }

  /** The number of answers that wait for a quorum or for being applied. */
  get pending(): number {
    let pending = this.#gathering.length + this.#unapplied.length;
    for (const answers of this.#asked.values()) pending += answers.length;
    return pending;
  }

  /** The answer is sent once the next confirmation has come. */
  add(unconfirmed: Unconfirmed): void {
    this.#gathering.push(unconfirmed);
  }

  /** Asks for one confirmation for all that were added since the last call. */
  ask(): void {
    if (this.#gathering.length === 0) return;
    const id = this.#nextConfirm++;
    this.#asked.set(id, this.#gathering);
    this.#gathering = [];
    this.#hooks.confirm(id);
  }

  /** `zxid` is the newest that was proposed when the confirmation with this id was asked for. */
  onConfirmed(id: number, zxid: Zxid): void {
    const waiting = this.#asked.get(id) ?? [];
    this.#asked.delete(id);
    for (const { origin, afterApply, answer } of waiting) {
      if (!afterApply || zxid <= this.#applied) this.#hooks.answer(origin, answer(zxid));
      else this.#unapplied.push({ origin, zxid, answer: answer(zxid) });
    }
  }

  onApplied(zxid: Zxid): void {
    this.#applied = zxid;
    if (this.#unapplied.length === 0) return;
    const waiting = this.#unapplied;
    const still = waiting.findIndex((one) => one.zxid > zxid);
    const ready = still < 0 ? waiting.length : still;
    this.#unapplied = waiting.slice(ready);
    for (const { origin, answer } of waiting.slice(0, ready)) this.#hooks.answer(origin, answer);
  }
}
