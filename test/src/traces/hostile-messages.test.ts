/**
 * No message ends a member's process, or makes it write an invalid state to its disk. Honest cores
 * run under faults, in every role; between their messages the test sends others with arbitrary
 * fields, and real ones with one field changed. The assertions of the cores and of the disk are the
 * judges.
 *
 * `HOSTILE_SEEDS=2000 npx vitest run test/src/traces/hostile` tries many more seeds.
 */
import { type CoreMessage, epochOf, type PeerId } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { Checker } from './checker.js';
import { Ensemble, HEARTBEAT_MS } from './ensemble.js';
import { type Around, RandomMessages } from './random-messages.js';
import { randomOf } from './random-schedule.js';

const SEEDS = Number(process.env['HOSTILE_SEEDS'] ?? 40);
const STEPS = 500;
/** The maximum by which one message may raise an epoch. */
const EPOCH_JUMP_MAX = 1 << 16;

/** A member that lies may make others disagree: this test does not check that they agree. */
class NoDemands extends Checker {
  override onDelivered(): void {}
  override onInstalled(): void {}
  override onLeads(): void {}
  override onConfirmed(): void {}
  override onSend(): void {}
  override check(): void {}
}

class HostileSchedule {
  readonly #random: () => number;
  readonly #messages: RandomMessages;
  readonly #ensemble: Ensemble;
  readonly #ids: readonly PeerId[];
  roles = new Set<string>();

  constructor(seed: number) {
    this.#random = randomOf(seed);
    this.#messages = new RandomMessages(this.#random);
    const checker = new NoDemands(3);
    this.#ensemble = new Ensemble({ size: 3, pingsApart: false, checker, onLine: null });
    this.#ids = [...this.#ensemble.members.keys()];
    for (const id of this.#ids) this.#ensemble.start(id);
  }

  run(): void {
    for (let step = 0; step < STEPS; step++) {
      for (const [a, b] of [[1, 2] as const, [1, 3] as const, [2, 3] as const]) {
        if (this.#ensemble.canConnect(a, b)) this.#ensemble.connect(a, b);
      }
      if (step > 40 && this.#random() < 0.4) this.#attack();
      if (this.#random() < 0.01) this.#restart();
      if (this.#random() < 0.2) this.#write();
      this.#work();
      this.#ensemble.tick(HEARTBEAT_MS / 2);
    }
  }

  /** Sends one message from a member that is up, on its present link. */
  #attack(): void {
    const from = this.#pick(this.#ids);
    const to = this.#pick(this.#ids.filter((id) => id !== from));
    const direction = this.#ensemble.network.direction(from, to);
    const member = this.#ensemble.member(to);
    if (direction === undefined || member.links.get(from) !== direction.link) return;
    const sent = direction.packets.find((packet) => packet.kind === 'message');
    const message =
      sent?.kind === 'message' && this.#random() < 0.5
        ? this.#messages.changed(sent.message, this.#around)
        : this.#messages.any(this.#around);
    if (!this.#mayReach(to, message)) return;
    this.roles.add(`${message.kind} while ${member.zab?.role}`);
    const accepted = member.zab?.replica.acceptedEpoch ?? 0;
    this.#ensemble.network.send(from, to, direction.link, { kind: 'message', message });
    while (direction.packets.length > 0) if (!this.#ensemble.deliver(from, to)) break;
    const grown = (member.zab?.replica.acceptedEpoch ?? 0) - accepted;
    expect(grown, JSON.stringify(message)).toBeLessThanOrEqual(EPOCH_JUMP_MAX + 1);
    expect(epochOf(member.zab?.replica.history.last ?? 0)).toBeLessThanOrEqual(
      member.zab?.replica.acceptedEpoch ?? 0,
    );
  }

  /**
   * The driver's receiver passes no SnapshotDone on without the complete snapshot that it names.
   */
  #mayReach(to: PeerId, message: CoreMessage): boolean {
    if (message.kind !== 'snapshotDone') return true;
    return this.#ensemble.member(to).disk.staged?.zxid === message.zxid;
  }

  get #around(): Around {
    const cores = this.#ids.flatMap((id) => this.#ensemble.member(id).zab ?? []);
    return {
      zxids: cores.flatMap((zab) => [
        zab.replica.history.last,
        zab.replica.committed,
        zab.replica.delivered,
      ]),
      epochs: cores.flatMap((zab) => [zab.replica.acceptedEpoch, zab.replica.currentEpoch]),
      rounds: cores.map((zab) => zab.replica.round),
      ids: this.#ids,
    };
  }

  #restart(): void {
    const id = this.#pick(this.#ids);
    this.#ensemble.crash(id);
    this.#ensemble.start(id);
  }

  #write(): void {
    const leader = this.#ids.find((id) => this.#ensemble.member(id).serves === 'leading');
    if (leader !== undefined) this.#ensemble.propose(leader, ['one', 'two']);
  }

  #work(): void {
    for (let round = 0; round < 6; round++) {
      for (const id of this.#ids) {
        while (this.#ensemble.persist(id));
        while (this.#ensemble.apply(id));
        while (this.#ensemble.transfer(id) !== null);
      }
      for (const { from, to } of this.#ensemble.network.directions()) {
        this.#ensemble.deliver(from, to);
      }
    }
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.#random() * from.length)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }
}

it('ends no member and writes no epoch without an election, whatever is sent', {
  timeout: 600_000,
}, () => {
  const roles = new Set<string>();
  for (let seed = 1; seed <= SEEDS; seed++) {
    const schedule = new HostileSchedule(seed);
    try {
      schedule.run();
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      });
    }
    for (const role of schedule.roles) roles.add(role);
  }
  // Every kind of message arrived in every role (15 kinds, 3 roles), except for the snapshot's end.
  expect(roles.size).toBeGreaterThanOrEqual(42);
});
