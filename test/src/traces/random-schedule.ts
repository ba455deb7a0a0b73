/**
 * Random schedules for the property test: any order of any event, all from one seed.
 *
 * Phase 1 is chaos while the checker watches; faults stay within what Zab promises to survive: a
 * member loses its disk only while a quorum of sound members remains. Phase 2 heals everything and
 * requires that all members serve and have the same history within a bounded time. Phase 3 leaves
 * some disks without room, and requires that data is refused exactly if they are too many.
 */
import { assert, epochOf, type PeerId } from '@rookery/protocol';
import type { DiskRoom } from './core.js';
import { Ensemble, HEARTBEAT_MS } from './ensemble.js';

/** mulberry32: small, and good enough to choose among events. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

const CONVERGENCE_MS_MAX = 60_000;

export class RandomSchedule {
  readonly ensemble: Ensemble;
  readonly #random: () => number;
  readonly #ids: readonly PeerId[];
  readonly #faultRate: number;
  readonly #slowDisks: boolean;
  readonly #losses: boolean;
  /** Draws of its own, so that the other events of a seed stay the same. */
  readonly #roomRandom: () => number;
  readonly #roomRate: number;
  #payloads = 0;
  #questions = 0;
  #lastEvent = '';

  constructor(seed: number, size: number, onLine: ((line: string) => void) | null = null) {
    this.#random = randomOf(seed);
    this.#roomRandom = randomOf(~seed);
    this.#roomRate = this.#roomRandom() < 0.5 ? 0 : 0.02 * this.#roomRandom();
    const windowBytesMax = this.#chance(0.5) ? 2 * 401 : 1 << 16;
    const deliveryBytesMax = this.#chance(0.5) ? 1 : 1 << 16;
    const chunkBytesMax = this.#chance(0.5) ? 1 : 1 << 16;
    const bounds = { windowBytesMax, deliveryBytesMax, chunkBytesMax };
    this.ensemble = new Ensemble({ size, pingsApart: false, ...bounds, onLine });
    this.#ids = [...this.ensemble.members.keys()];
    this.#faultRate = this.#pick([0.002, 0.01, 0.04]);
    this.#slowDisks = this.#chance(0.5);
    this.#losses = this.#chance(0.4) && size > 1;
    if (this.#chance(0.2)) this.ensemble.firstCounter = 0xffff_fff0;
    this.#onEvent = onLine;
    for (const id of this.#ids) this.ensemble.start(id);
  }

  readonly #onEvent: ((line: string) => void) | null;

  /** Most schedules begin with a founded ensemble, because founding needs all members at once. */
  chaos(steps: number): void {
    if (this.#chance(0.8)) this.#heal();
    for (let step = 0; step < steps; step += 1) this.#once();
  }

  /** Everything works again: all members must come to serve the same history. */
  converge(): void {
    this.#heal();
  }

  /** Some disks are full, and nothing else is wrong. */
  withoutRoom(): void {
    const full = this.#ids.filter(() => this.#roomRandom() < 0.4);
    for (const id of full) this.#setRoom(id, this.#roomRandom() < 0.3 ? 'scarce' : 'full');
    const isEnough = this.#ids.length - full.length >= this.ensemble.checker.quorum;
    const serving = isEnough ? this.#ids.filter((id) => !full.includes(id)) : this.#ids;
    const refuses = full.length > 0 && !isEnough;
    for (let nowMs = 0; nowMs < CONVERGENCE_MS_MAX; nowMs += HEARTBEAT_MS / 2) {
      this.ensemble.tick(HEARTBEAT_MS / 2);
      this.#drain();
      const members = [...this.ensemble.members.values()];
      const rightOnes = members.every(
        ({ id, serves }) => (serves !== 'looking') === serving.includes(id),
      );
      const leader = members.find(({ serves }) => serves === 'leading');
      if (rightOnes && leader?.refuses === refuses) return;
    }
    assert(false, () => `full: ${full.join()}: ${this.#describe()}`);
  }

  #setRoom(id: PeerId, room: DiskRoom): void {
    this.#event(`room ${id} ${room}`);
    this.ensemble.setRoom(id, room);
  }

  #heal(): void {
    this.#event('--- heal everything');
    for (const [a, b] of this.#pairs()) this.ensemble.network.heal(a, b);
    for (const id of this.#ids) {
      if (this.ensemble.member(id).room !== 'enough') this.#setRoom(id, 'enough');
    }
    const startedAtMs = this.ensemble.nowMs;
    let probe = 0;
    while (this.ensemble.nowMs - startedAtMs < CONVERGENCE_MS_MAX) {
      for (const id of this.#ids) if (this.ensemble.member(id).zab === null) this.#start(id);
      this.#connectAll();
      this.ensemble.tick(HEARTBEAT_MS / 2);
      this.#drain();
      const leader = this.#leaderOfAll();
      if (leader === null) continue;
      if (probe === 2 && this.#agree()) return;
      if (probe < 2) this.ensemble.propose(leader, [`probe${probe}`]);
      probe = Math.min(2, probe + 1);
    }
    assert(false, () => `no convergence within ${CONVERGENCE_MS_MAX} ms: ${this.#describe()}`);
  }

  #once(): void {
    if (this.#roomRandom() < this.#roomRate) this.#changeRoom();
    if (this.#chance(this.#faultRate)) return this.#fault();
    if (this.#chance(0.03)) return this.#repair();
    const roll = this.#random();
    if (roll < 0.55) this.#deliver(1 + Math.floor(this.#random() * 4));
    else if (roll < 0.75) this.#persist();
    else if (roll < 0.8) this.#tick();
    else if (roll < 0.9) this.#client();
    else if (roll < 0.95) this.#transfer();
    else if (roll < 0.98) this.ensemble.apply(this.#pick(this.#ids));
    else this.#maintain();
  }

  /** The room of one member, or of all at once, because they may share a disk. */
  #changeRoom(): void {
    const rolled = this.#roomRandom();
    const room = rolled < 0.5 ? 'enough' : rolled < 0.9 ? 'full' : 'scarce';
    const one = this.#ids[Math.floor(this.#roomRandom() * this.#ids.length)];
    for (const id of this.#roomRandom() < 0.1 ? this.#ids : [one ?? 1]) this.#setRoom(id, room);
  }

  #fault(): void {
    const id = this.#pick(this.#ids);
    const other = this.#pick(this.#ids);
    const roll = this.#random();
    if (roll < 0.3) {
      if (this.ensemble.member(id).zab !== null) this.#crash(id);
    } else if (roll < 0.35) {
      this.#event('restart all');
      for (const each of this.#ids) {
        if (this.ensemble.member(each).zab !== null) this.#crash(each);
        this.#start(each);
      }
    } else if (roll < 0.45) {
      if (this.#losses) this.#loseDisk(id);
    } else if (id !== other && roll < 0.65) {
      this.#event(`cut ${id} ${other}`);
      this.ensemble.network.cut(id, other);
    } else if (roll < 0.7) {
      this.#event(`isolate ${id}`);
      for (const each of this.#ids) if (each !== id) this.ensemble.network.cut(id, each);
    } else if (id !== other) {
      this.#event(`break ${id} ${other}`);
      this.ensemble.breakLink(id, other);
    }
  }

  #repair(): void {
    const down = this.#ids.filter((id) => this.ensemble.member(id).zab === null);
    if (down.length > 0 && this.#chance(0.3)) return this.#start(this.#pick(down));
    const cut = this.#pairs().filter(([a, b]) => this.ensemble.network.isCut(a, b));
    if (cut.length > 0 && this.#chance(0.2)) {
      const [a, b] = this.#pick(cut);
      this.#event(`heal ${a} ${b}`);
      return this.ensemble.network.heal(a, b);
    }
    const idle = this.#pairs().filter(([a, b]) => this.ensemble.canConnect(a, b));
    if (idle.length === 0) return;
    const [a, b] = this.#pick(idle);
    this.#event(`connect ${a} ${b}`);
    this.ensemble.connect(a, b);
  }

  #pairs(): readonly (readonly [PeerId, PeerId])[] {
    return this.#ids.flatMap((a) => this.#ids.filter((b) => a < b).map((b) => [a, b] as const));
  }

  #start(id: PeerId): void {
    this.#event(`start ${id}`);
    this.ensemble.start(id);
  }

  /**
   * Some of what waits for the disk still reaches it, unreported; some packets that were sent are
   * lost.
   */
  #crash(id: PeerId): void {
    this.#event(`crash ${id}`);
    const { disk } = this.ensemble.member(id);
    const written = Math.floor(this.#random() * (disk.queue.length + 1));
    for (let count = 0; count < written; count += 1) {
      if (disk.queue[0]?.kind === 'installSnapshot' && disk.staged === null) break;
      disk.persistOne();
    }
    for (const peer of this.#ids) {
      const sent = this.ensemble.network.direction(id, peer)?.packets.length ?? 0;
      if (sent > 0) this.ensemble.network.lose(id, peer, Math.floor(this.#random() * (sent + 1)));
    }
    this.ensemble.crash(id);
  }

  /** A quorum of members must be left: no rule about votes can compensate for more losses. */
  #loseDisk(id: PeerId): void {
    const { checker } = this.ensemble;
    const others = [...this.ensemble.members.values()].filter((member) => member.id !== id);
    const members = others.filter(({ disk }) => !disk.damaged && disk.founded).length;
    const founding = others.every(
      ({ disk, zab }) => disk.ensembleId + (zab?.replica.ensembleId ?? '') === '',
    );
    if (members < checker.quorum && !founding) return;
    if (this.ensemble.member(id).zab !== null) this.#crash(id);
    const how = founding || this.#chance(0.5) ? 'wipe' : 'damage';
    this.#event(`${how} ${id}`);
    this.ensemble.lose(id, how);
  }

  #deliver(count: number): void {
    const waiting = this.ensemble.network
      .directions()
      .filter(
        ({ from, to, packets }) => packets.length > 0 && !this.ensemble.network.isCut(from, to),
      );
    if (waiting.length === 0) return;
    const { from, to } = this.#pick(waiting);
    for (let done = 0; done < count; done += 1) if (!this.ensemble.deliver(from, to)) return;
  }

  #persist(): void {
    const id = this.#pick(this.#ids);
    if (this.#slowDisks && this.#chance(0.7)) return;
    const most = this.#chance(0.5) ? 1 : 10;
    for (let done = 0; done < most; done += 1) if (!this.ensemble.persist(id)) return;
  }

  #tick(): void {
    this.ensemble.tick(this.#pick([1, 20, 50, 100, 100, 300]));
  }

  #client(): void {
    const leading = this.#ids.filter((id) => this.ensemble.member(id).serves === 'leading');
    if (leading.length === 0) return;
    const id = this.#pick(leading);
    if (this.#chance(0.2)) {
      this.#questions += 1;
      this.ensemble.confirm(id, this.#questions);
      return;
    }
    const payloads: string[] = [];
    for (let count = 0; count <= this.#random() * 3; count += 1) {
      this.#payloads += 1;
      payloads.push(`p${this.#payloads}`);
    }
    this.ensemble.propose(id, payloads);
  }

  #transfer(): void {
    this.ensemble.transfer(this.#pick(this.#ids));
  }

  #maintain(): void {
    const id = this.#pick(this.#ids);
    const { disk, zab } = this.ensemble.member(id);
    if (zab === null || disk.damaged || disk.queue.length > 0) return;
    if (this.#chance(0.6)) {
      this.ensemble.checkpoint(id);
      return;
    }
    const purgeable = disk.log.filter(({ zxid }) => zxid <= disk.checkpoint.zxid);
    if (purgeable.length > 0) this.ensemble.purge(id, this.#pick(purgeable).zxid);
  }

  #connectAll(): void {
    for (const [a, b] of this.#pairs()) {
      if (this.ensemble.canConnect(a, b)) this.ensemble.connect(a, b);
    }
  }

  /** Delivers and persists until nothing moves; bounded, because a message storm is a bug. */
  #drain(): void {
    for (let round = 0; round < 2000; round += 1) {
      let moved = false;
      for (const id of this.#ids) {
        while (this.ensemble.persist(id)) moved = true;
        while (this.ensemble.apply(id)) moved = true;
        while (this.ensemble.transfer(id) !== null) moved = true;
      }
      for (const { from, to } of this.ensemble.network.directions()) {
        if (this.ensemble.deliver(from, to)) moved = true;
      }
      if (!moved) return;
    }
    assert(false, () => `messages without end: ${this.#describe()}`);
  }

  #leaderOfAll(): PeerId | null {
    const members = [...this.ensemble.members.values()];
    const leaders = members.filter(({ serves }) => serves === 'leading');
    const followers = members.filter(({ serves }) => serves === 'following');
    if (leaders.length !== 1 || followers.length !== members.length - 1) return null;
    return leaders[0]?.id ?? null;
  }

  #agree(): boolean {
    const members = [...this.ensemble.members.values()];
    const newest = this.ensemble.checker.newest;
    const digest = members[0]?.tree.digest;
    return members.every(({ tree }) => tree.zxid === newest && tree.digest === digest);
  }

  #describe(): string {
    const members = [...this.ensemble.members.values()].map(({ id, zab, tree }) => {
      const epochs = `${zab?.replica.acceptedEpoch}/${zab?.replica.currentEpoch}`;
      return `${id} ${zab?.role} epochs ${epochs} at ${epochOf(tree.zxid)}:${tree.zxid >>> 0}`;
    });
    return `${members.join(', ')}; ${this.#lastEvent}`;
  }

  #event(text: string): void {
    this.#lastEvent = text;
    this.#onEvent?.(`> ${text}`);
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.#random() * from.length)];
    assert(picked !== undefined, 'nothing to pick from');
    return picked;
  }
}
