/**
 * For tests of faults: a world that only records the calls, and a stage without a clock, whose
 * later actions run when the test says so.
 */
import type { PeerId } from '@rookery/protocol';
import type { Stage } from '../contract/fault.js';
import type { ClientWay, FileChange, World } from '../contract/world.js';
import { StrikeGuard } from './guard.js';

export class FakeWorld implements World {
  nowMs = 0;
  leader: PeerId = 1;

  leads(id: PeerId): boolean {
    const isOvertaken = this.cuts.size > 0 || !this.up.has(this.leader);
    return (id === this.leader) !== isOvertaken;
  }

  readonly ids: readonly PeerId[];
  readonly clients = 3;
  readonly misconfigured = new Set<PeerId>();
  readonly hanging = new Set<PeerId>();
  readonly struck = new Set<PeerId>();
  readonly up: Set<PeerId>;
  readonly serving: Set<PeerId>;
  /** `from>to`. */
  readonly cuts = new Set<string>();
  /** `client way member`. */
  readonly clientCuts = new Set<string>();
  readonly delays = new Map<string, number>();
  readonly full = new Set<PeerId>();
  readonly low = new Set<PeerId>();
  readonly slow = new Map<PeerId, number>();
  readonly rates = new Map<PeerId, number>();
  /** Every call of a method that changes something. */
  readonly calls: string[] = [];

  constructor(members: number) {
    this.ids = Array.from({ length: members }, (_, at) => at + 1);
    this.up = new Set(this.ids);
    this.serving = new Set(this.ids);
  }

  /** It runs at once, because there are no actions here. */
  afterActions(_count: number, action: () => void): void {
    action();
  }

  isUp(id: PeerId): boolean {
    return this.up.has(id);
  }
  serves(id: PeerId): boolean {
    return this.serving.has(id);
  }
  crash(id: PeerId): boolean {
    return this.#down(`crash ${id}`, id);
  }
  stop(id: PeerId): boolean {
    return this.#down(`stop ${id}`, id);
  }
  crashAtChange(id: PeerId, count: number, when: 'before' | 'after'): boolean {
    this.calls.push(`crash ${id} ${when} change ${count}`);
    return this.up.has(id);
  }
  start(id: PeerId): boolean {
    this.calls.push(`start ${id}`);
    const wasDown = !this.up.has(id);
    this.up.add(id);
    return wasDown;
  }
  stall(id: PeerId, durationMs: number, monotonic: 'runs' | 'stands' = 'runs'): boolean {
    const how = monotonic === 'stands' ? ' with its clock' : '';
    this.calls.push(`stall ${id} ${Math.round(durationMs)}${how}`);
    return this.up.has(id);
  }
  wake(id: PeerId): boolean {
    this.calls.push(`wake ${id}`);
    return false;
  }
  jumpWallClock(id: PeerId, byMs: number): void {
    this.calls.push(`jump ${id} ${byMs}`);
  }
  setClockRate(id: PeerId, rate: number): void {
    this.rates.set(id, rate);
  }
  cut(from: PeerId, to: PeerId): void {
    this.cuts.add(`${from}>${to}`);
  }
  heal(from: PeerId, to: PeerId): void {
    this.cuts.delete(`${from}>${to}`);
  }
  resetLink(a: PeerId, b: PeerId): void {
    this.calls.push(`reset ${a} ${b}`);
  }
  delay(from: PeerId, to: PeerId, byMs: number): void {
    this.delays.set(`${from}>${to}`, byMs);
  }
  cutClient(client: number, id: PeerId, way: ClientWay): void {
    this.clientCuts.add(`${client} ${way} ${id}`);
  }
  healClient(client: number, id: PeerId, way: ClientWay): void {
    this.clientCuts.delete(`${client} ${way} ${id}`);
  }
  slowDisk(id: PeerId, byMs: number): void {
    this.slow.set(id, byMs);
  }
  failNextSync(id: PeerId): void {
    this.calls.push(`fail sync ${id}`);
  }
  leaveRoom(id: PeerId, shareOfReserve: number | null): void {
    this.calls.push(`room ${id} ${shareOfReserve}`);
    if (shareOfReserve !== null) this.low.add(id);
    else this.low.delete(id);
  }
  fillDisk(id: PeerId, full: boolean): void {
    if (full) this.full.add(id);
    else this.full.delete(id);
  }
  flipLast(id: PeerId): boolean {
    return this.#strike(`flip last ${id}`, id);
  }
  wipe(id: PeerId): boolean {
    return this.#strike(`wipe ${id}`, id);
  }
  flipBit(id: PeerId): boolean {
    return this.#strike(`flip ${id}`, id);
  }
  cutLog(id: PeerId): boolean {
    return this.#strike(`cut log ${id}`, id);
  }

  keepCopy(id: PeerId): boolean {
    this.calls.push(`keep copy ${id}`);
    return !this.up.has(id);
  }
  isLastStartKnown(): boolean {
    return true;
  }
  failWrite(id: PeerId, count: number): void {
    this.calls.push(`fail write ${count} of ${id}`);
  }
  decay(id: PeerId): boolean {
    this.calls.push(`decay ${id}`);
    this.struck.add(id);
    return this.up.has(id);
  }
  othersHaveAllOf(): boolean {
    return true;
  }
  forgeHistory(id: PeerId): boolean {
    return this.#strike(`forge ${id}`, id);
  }
  restoreCopy(id: PeerId): boolean {
    return this.#strike(`restore ${id}`, id);
  }
  setFile(id: PeerId, differs: FileChange | null): boolean {
    this.calls.push(`file ${id} ${JSON.stringify(differs)}`);
    if (this.up.has(id)) return false;
    if (differs === null) this.misconfigured.delete(id);
    else this.misconfigured.add(id);
    return true;
  }
  hangResolver(id: PeerId, hangs: boolean): void {
    if (hangs) this.hanging.add(id);
    else this.hanging.delete(id);
  }

  #down(call: string, id: PeerId): boolean {
    this.calls.push(call);
    this.serving.delete(id);
    return this.up.delete(id);
  }

  #strike(call: string, id: PeerId): boolean {
    this.calls.push(call);
    if (this.up.has(id)) return false;
    this.struck.add(id);
    return true;
  }
}

export class FakeStage implements Stage {
  readonly guard: StrikeGuard;
  #later: (() => void)[] = [];

  constructor(world: World) {
    this.guard = new StrikeGuard(world);
  }

  later(_delayMs: number, action: () => void): void {
    this.#later.push(action);
  }

  refusesStrike(victims: readonly PeerId[]): string | null {
    return this.guard.refuses(victims);
  }

  /** Runs what was postponed so far. */
  runLater(): void {
    const later = this.#later;
    this.#later = [];
    for (const action of later) action();
  }
}
