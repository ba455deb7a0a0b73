/** For tests: a leader's service on a state of its own; proposals are applied on demand. */
import { makeZxid, RequestBatch } from '@rookery/protocol';
import { LeaderService, ProposalBatcher } from '../../driver/leader.js';
import type { DriverActions, DriverParts } from '../../driver/parts.js';
import { RequestPreparer } from '../../pipeline/request-preparer.js';
import { NO_BOUND } from '../../pipeline/write-room.js';
import { IGNORE_CHANGES, ReplicatedState } from '../../state/replicated-state.js';
import { TxnViews } from '../../state/txn-codec.js';

export class TestLeaderService {
  readonly state = new ReplicatedState();
  readonly service: LeaderService;
  /** The id of the first session that is created. */
  readonly session: number = makeZxid(1, 1);
  nowMs = 0;
  /** How many sessions each line about expired sessions counts. */
  readonly expiryLines: number[] = [];
  readonly #txns = new TxnViews();
  #request = 0;

  constructor(overlaySizeMax = Number.POSITIVE_INFINITY) {
    const ephemerals = { ephemeralsPerSessionMax: 1, ephemeralsPerPartMax: 1 };
    const bounds = { ...ephemerals, multiOpsMax: 4096, pathDepthMax: 2000 };
    const allowed = { skipAcl: true, extendedTypes: true, ...bounds };
    const rules = { ...allowed, enforceQuota: false, reconfigEnabled: false, treeBound: NO_BOUND };
    const reaper = { intervalMs: 60_000, perMinuteMax: 1000, neverUsedMs: 0 };
    const term = { epoch: 1, lastZxid: 0, firstCounter: 1, ages: { ageMs: () => 0 } };
    const random16 = (): Uint8Array => new Uint8Array(16);
    const { state } = this;
    const timers = {
      nowMs: () => this.nowMs,
      wallMs: () => this.nowMs,
      after: () => ({ cancel: () => {} }),
      defer: () => {},
    };
    const batcher = new ProposalBatcher(0, timers, () => {});
    const preparer = new RequestPreparer(
      { ...term, state },
      { ...rules, leaseSlackMs: 500, reaper },
      batcher,
      random16,
      this.#time(),
    );
    const driver = { step: () => {}, answer: () => {} } as unknown as DriverActions;
    const logger = {
      info: (facts: object) =>
        void ('count' in facts && this.expiryLines.push(Number(facts.count))),
      warn: () => {},
    };
    const treeBound = { onRefused: () => {} };
    const limits = { leaderShareMsMax: Number.POSITIVE_INFINITY, overlaySizeMax };
    const parts = { timers, logger, treeBound, options: limits } as unknown as DriverParts;
    this.service = new LeaderService(parts, driver, preparer, batcher, () => this.#time());
  }

  ask(session: number, opcode: number, body: Uint8Array): void {
    const request = ++this.#request;
    const item = { attachment: 0, identities: [], request, session, opcode, body };
    this.service.onMessage(1, { kind: 'requests', batch: RequestBatch.of([item]) });
  }

  /** Applies everything that was prepared since the last call. */
  apply(): void {
    for (const batch of this.service.batcher.takeDue(false, this.nowMs) ?? []) {
      for (const proposal = batch.cursor(); proposal.next(); ) {
        const txn = this.#txns.txnOf(proposal);
        this.state.apply(proposal.zxid, txn, IGNORE_CHANGES);
        this.service.onApplied(proposal.zxid, txn);
      }
    }
  }

  #time() {
    return { nowMs: this.nowMs, wallMs: 1 + this.nowMs };
  }
}
