/**
 * For tests: members without a network, a log or a core. One leads; all share one list of
 * proposals.
 *
 * Whatever a test does not call does not happen: requests reach the leader in `forward`, proposals
 * are applied at a member by `apply`; `settle` does both until nothing is left. Transactions go
 * through their bytes, as they do between members.
 */
import {
  assert,
  type ConnectResponse,
  type Identity,
  JuteReader,
  type PeerId,
  type Zxid,
} from '@rookery/protocol';
import type { AuditSink } from '../../pipeline/audit.js';
import type { PipelineOptions, RequestPreparerOptions } from '../../pipeline/options.js';
import type { ForLeader } from '../../pipeline/outbox.js';
import { Pipeline } from '../../pipeline/pipeline.js';
import { RequestPreparer } from '../../pipeline/request-preparer.js';
import { NO_BOUND } from '../../pipeline/write-room.js';
import type { SaslServer } from '../../security/sasl.js';
import { LEVEL_MAX } from '../../state/level.js';
import { ReplicatedState } from '../../state/replicated-state.js';
import type { Txn } from '../../state/txn.js';
import { TxnViews } from '../../state/txn-codec.js';
import { encodeTxn, proposalOf } from '../state/encoded-txn.js';
import { TestClient } from './test-client.js';

const LEADER: PeerId = 1;
const FIRST_REQUEST = 1000;

interface LoggedTxn {
  readonly zxid: Zxid;
  readonly body: Uint8Array;
}

type DigestOf = (userAndPassword: string) => string;

export class TestMember {
  readonly id: PeerId;
  readonly state = new ReplicatedState();
  readonly pipeline: Pipeline;
  /** How many proposals of the ensemble's log it has applied. */
  appliedCount = 0;
  #passwords = 100;

  constructor(
    id: PeerId,
    options: Partial<PipelineOptions>,
    {
      digestOf,
      sasl = null,
      audit = null,
    }: {
      digestOf: DigestOf;
      sasl?: SaslServer | null | undefined;
      audit?: AuditSink | null | undefined;
    },
  ) {
    this.id = id;
    this.pipeline = new Pipeline({
      state: this.state,
      options: {
        id,
        minSessionTimeoutMs: 4_000,
        maxSessionTimeoutMs: 40_000,
        outstandingMax: 1_000,
        outstandingBytesMax: 64 << 20,
        leftSessionsMax: 1_000,
        multiOpsMax: 4096,
        watchLimits: { watcherBytesMax: 1 << 20, bytesMax: 2 << 20 },
        firstRequest: FIRST_REQUEST * id,
        skipAcl: false,
        superDigest: fakeDigestOf('super:secret'),
        localSessions: false,
        tickMs: 50,
        ...options,
      },
      digestOf,
      random16: () => new Uint8Array(16).fill(++this.#passwords),
      sasl,
      audit,
    });
    this.pipeline.startServing();
  }
}

interface PreparerOptions extends RequestPreparerOptions {
  readonly firstCounter: number;
}

export interface TestEnsembleOptions {
  readonly size?: number;
  readonly pipeline?: Partial<PipelineOptions>;
  readonly preparer?: Partial<PreparerOptions>;
  readonly digestOf?: DigestOf;
  readonly sasl?: SaslServer;
  readonly audit?: AuditSink;
}

export class TestEnsemble {
  readonly members: readonly TestMember[];
  preparer: RequestPreparer;
  nowMs = 0;
  wallMs = 1_700_000_000_000;
  /** What was prepared, and thereby proposed and committed. */
  readonly #log: LoggedTxn[] = [];
  readonly #txns = new TxnViews();
  #nextConnection = 1;
  #passwords = 0;

  constructor(options: TestEnsembleOptions = {}) {
    const { digestOf = fakeDigestOf, sasl, audit } = options;
    const given = { digestOf, sasl, audit };
    const ids = Array.from({ length: options.size ?? 1 }, (_, index) => index + 1);
    this.members = ids.map((id) => new TestMember(id, options.pipeline ?? {}, given));
    this.preparer = this.newPreparer(1, options.preparer ?? {});
  }

  get leader(): TestMember {
    return this.member(LEADER);
  }

  member(id: PeerId): TestMember {
    const member = this.members[id - 1];
    assert(member !== undefined, () => `member ${id} exists`);
    return member;
  }

  /** The transaction that was prepared last, and its encoded bytes. */
  get lastProposed(): { readonly txn: Txn; readonly bytes: number } {
    const last = this.#log.at(-1);
    assert(last !== undefined, 'something was prepared');
    return { txn: this.#txns.txnOf(proposalOf(last.body)), bytes: last.body.length };
  }

  newPreparer(epoch: number, given: Partial<PreparerOptions> = {}): RequestPreparer {
    const { firstCounter = 1, ...options } = given;
    const { state } = this.leader;
    return new RequestPreparer(
      {
        epoch,
        firstCounter,
        lastZxid: state.lastZxid,
        state,
        ages: { ageMs: (_, mtimeMs) => this.wallMs - mtimeMs },
      },
      {
        leaseSlackMs: 500,
        skipAcl: false,
        extendedTypes: true,
        enforceQuota: true,
        ephemeralsPerSessionMax: 1_000_000,
        ephemeralsPerPartMax: 256,
        multiOpsMax: 4096,
        pathDepthMax: 2000,
        reconfigEnabled: false,
        treeBound: NO_BOUND,
        reaper: { intervalMs: 60_000, perMinuteMax: 10_000, neverUsedMs: 0 },
        ...options,
      },
      { add: (zxid, txn) => void this.#log.push({ zxid, body: encodeTxn(txn) }) },
      () => new Uint8Array(16).fill(++this.#passwords),
      this.time,
    );
  }

  get time(): { readonly nowMs: number; readonly wallMs: number } {
    return { nowMs: this.nowMs, wallMs: this.wallMs };
  }

  /** A connection that has not sent its ConnectRequest. */
  open(
    memberId: PeerId = LEADER,
    address = '127.0.0.1',
    proven: readonly Identity[] = [],
  ): TestClient {
    const { pipeline } = this.member(memberId);
    const deliver = (frame: Uint8Array) =>
      pipeline.onFrame(client.id, new JuteReader(frame), this.nowMs);
    const client = new TestClient(this.#nextConnection++, deliver, { address, proven });
    pipeline.onOpen(client.id, client, this.nowMs);
    return client;
  }

  /** A connection with a new session. */
  connect(
    memberId: PeerId = LEADER,
    address = '127.0.0.1',
    proven: readonly Identity[] = [],
  ): TestClient {
    const client = this.open(memberId, address, proven);
    client.connect();
    this.settle();
    client.takeConnectResponse();
    return client;
  }

  /** What the members want goes to the leader; its answers come back. */
  forward(): void {
    for (const { id, pipeline } of this.members) {
      const { preparer } = this;
      const { requests, syncs, attaches } = taken(pipeline);
      for (const request of requests) preparer.onRequest(id, request, this.time);
      for (const attach of attaches) {
        const attached = preparer.onAttach(id, attach, this.time);
        this.sendDetaches();
        if (attached === null) continue;
        pipeline.onAttached(attached, this.nowMs);
      }
      const committed = this.#log.at(-1)?.zxid ?? 0;
      for (const { request } of syncs) {
        pipeline.onSynced({ request, zxid: committed }, this.nowMs);
      }
      this.sendDetaches();
    }
  }

  sendDetaches(): void {
    for (const { member, ...detach } of this.preparer.takeDetaches()) {
      this.member(member).pipeline.onDetach(detach);
    }
  }

  touch(): void {
    for (const { id, pipeline } of this.members) {
      this.preparer.onTouch(id, pipeline.takeTouches(), this.time);
    }
  }

  tick(): void {
    this.preparer.onTick(this.time, 1_000);
  }

  /** Time passes, a tick comes, and what it proposes is applied. */
  tickIn(ms: number): void {
    this.nowMs += ms;
    this.tick();
    this.settle();
  }

  /** The member applies up to `count` of the proposals that it has not applied. */
  apply(memberId: PeerId = LEADER, count = Number.POSITIVE_INFINITY): void {
    const member = this.member(memberId);
    const end = Math.min(this.#log.length, member.appliedCount + count);
    for (const { zxid, body } of this.#log.slice(member.appliedCount, end)) {
      const txn = this.#txns.txnOf(proposalOf(body));
      member.appliedCount += 1;
      member.pipeline.apply(zxid, txn, this.nowMs);
      if (memberId === LEADER) this.preparer.onApplied(zxid, txn);
    }
  }

  /** To the highest level that there is. */
  raiseLevel(): void {
    this.preparer.raiseLevel(LEVEL_MAX, this.time);
    this.settle();
  }

  /** Parts of the ends of sessions, as many as may be in flight. Returns how many there were. */
  continueEnds(): number {
    let parts = 0;
    while (this.preparer.nextOfEnds(this.time)) parts += 1;
    return parts;
  }

  settle(): void {
    // An answer may let held requests go, so that only a second round without news is the end.
    for (let quiet = 0; quiet < 2; quiet++) {
      const before = this.#log.length;
      this.forward();
      for (const { id } of this.members) this.apply(id);
      this.continueEnds();
      if (this.#log.length > before) quiet = -1;
    }
  }
}

/** Takes what the pipeline has for the leader. */
export function taken(pipeline: { takeForLeader(): readonly ForLeader[] }) {
  const messages = pipeline.takeForLeader();
  return {
    requests: messages.flatMap((one) => (one.kind === 'requests' ? one.batch.items : [])),
    syncs: messages.flatMap((one) => (one.kind === 'sync' ? [one] : [])),
    attaches: messages.flatMap((one) => (one.kind === 'attach' ? [one] : [])),
  };
}

/** Not a secret, but of the right form. The super user's password is `secret`. */
export function fakeDigestOf(userAndPassword: string): string {
  const [user = ''] = userAndPassword.split(':');
  return `${user}:${Buffer.from(userAndPassword).toString('base64')}`;
}

/** A new connection at a member that asks for the session of another client. */
export function resume(ensemble: TestEnsemble, memberId: number, of: TestClient): TestClient {
  const client = ensemble.open(memberId);
  client.connect({ sessionId: of.session, password: of.password });
  return client;
}
export function isExpired(response: ConnectResponse): boolean {
  return response.timeoutMs === 0 && response.sessionId === 0;
}
