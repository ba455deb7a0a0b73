/**
 * Carries out the faults of a plan on a world: begins, ends, and heals all of them.
 *
 * It counts by kind what was begun and what was left out, and records both in the trace. The run,
 * which moves the time, calls it.
 */
import type { PeerId } from '@rookery/protocol';
import type { PlannedFault, Stage } from '../contract/fault.js';
import type { World } from '../contract/world.js';
import { FAULT_KINDS, roll, StrikeGuard } from '../faults/index.js';
import { Agenda } from './agenda.js';

/** Faults begin this many actions after their time; no kind uses this random number. */
const DELAY_DIE = 6;
const DELAY_ACTIONS_MAX = 100;

export class FaultCourse {
  /** Faults that were begun, by kind. */
  readonly begun = new Map<string, number>();
  /** Faults that the world or the guard refused, by kind. */
  readonly leftOut = new Map<string, number>();
  readonly #world: World;
  readonly #note: (text: string) => void;
  readonly #guard: StrikeGuard;
  readonly #agenda = new Agenda();
  readonly #active = new Map<number, () => void>();
  readonly #stage: Stage;
  #isOver = false;

  constructor(world: World, plan: readonly PlannedFault[], note: (text: string) => void) {
    this.#world = world;
    this.#note = note;
    this.#guard = new StrikeGuard(world);
    this.#stage = {
      later: (delayMs, action) => {
        if (!this.#isOver) this.#agenda.at(world.nowMs + delayMs, action);
      },
      refusesStrike: (victims) => this.#guard.refuses(victims),
    };
    for (const fault of plan) this.#agenda.at(fault.atMs, () => this.#onDue(fault));
  }

  /** When something is due next; infinity if nothing is. */
  get nextMs(): number {
    return this.#agenda.nextMs;
  }

  /** Must be called whenever time has moved. */
  run(): void {
    this.#guard.look();
    this.#agenda.run(this.#world.nowMs);
  }

  /** Ends all faults, repairs whatever they may have left and starts every member. */
  heal(): void {
    this.#stop();
    for (const index of [...this.#active.keys()]) this.#end(index);
    this.#mend(this.#world.ids);
    this.#note('all is healed');
  }

  /**
   * Repairs these members, with the links among them; no fault begins, and none of the others ends.
   */
  healAmong(ids: readonly PeerId[]): void {
    this.#stop();
    this.#mend(ids);
    this.#note(`members ${ids.join(', ')} are healed`);
  }

  /** Every member has served once. */
  get isFounded(): boolean {
    return this.#guard.isFounded;
  }

  #stop(): void {
    this.#isOver = true;
    this.#agenda.clear();
  }

  #mend(ids: readonly PeerId[]): void {
    const world = this.#world;
    for (const id of ids) {
      if (world.misconfigured.has(id)) {
        world.crash(id, { inFlight: false });
        world.setFile(id, null);
      }
      world.hangResolver(id, false);
      world.setClockRate(id, 1);
      world.slowDisk(id, 0);
      world.fillDisk(id, false);
      world.leaveRoom(id, null);
      world.wake(id);
      for (let client = 1; client <= world.clients; client++) {
        world.healClient(client, id, 'toMember');
        world.healClient(client, id, 'toClient');
      }
      for (const other of ids) {
        if (other === id) continue;
        world.heal(id, other);
        world.delay(id, other, 0);
      }
      world.start(id);
    }
  }

  /** Many actions are due at one moment: the fault may fall between any two of them. */
  #onDue(fault: PlannedFault): void {
    const actions = Math.floor(roll(fault, DELAY_DIE) ** 2 * DELAY_ACTIONS_MAX);
    if (actions === 0) this.#begin(fault);
    else this.#world.afterActions(actions, () => this.#begin(fault));
  }

  #begin(fault: PlannedFault): void {
    if (this.#isOver) return;
    const kind = FAULT_KINDS.get(fault.kind);
    if (kind === undefined) throw new Error(`there is no kind of fault ${fault.kind}`);
    const ends = kind.begin(this.#world, fault, this.#stage);
    const name = `fault ${fault.index} ${fault.kind}`;
    if (typeof ends === 'string') {
      count(this.leftOut, fault.kind);
      this.#note(`${name} left out: ${ends}`);
      return;
    }
    count(this.begun, fault.kind);
    this.#note(`${name} for ${fault.forMs} ms`);
    this.#active.set(fault.index, () => {
      this.#note(`${name} ends`);
      ends();
    });
    this.#agenda.at(this.#world.nowMs + fault.forMs, () => this.#end(fault.index));
  }

  #end(index: number): void {
    const end = this.#active.get(index);
    this.#active.delete(index);
    end?.();
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
