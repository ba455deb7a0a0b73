/**
 * The content of a member's disk, as far as it is visible from outside: what its core gave to
 * storage, and what storage reported as durable. Tickets are executed in order; the model assumes
 * nothing else.
 *
 * `log` and `epochs` are what the core has emitted, `durable` and `durableEpochs` what is certainly
 * on disk. Each checker has its own model.
 */
import { Fifo } from '@rookery/protocol';
import type {
  Recovered,
  StorageOutput,
  Ticket,
  ZabInput,
  ZabOutput,
} from '../../../../simulated.js';
import { ZxidRanges } from './zxid-ranges.js';

export interface SavedEpochs {
  readonly accepted: number;
  readonly current: number;
  readonly ensembleId: string;
  readonly founded: boolean;
}

const NO_EPOCHS: SavedEpochs = { accepted: 0, current: 0, ensembleId: '', founded: false };

export class DiskModel {
  log = new ZxidRanges();
  durable = new ZxidRanges();
  epochs: SavedEpochs = NO_EPOCHS;
  durableEpochs: SavedEpochs = NO_EPOCHS;
  readonly #pending = new Fifo<StorageOutput>();

  /** The member starts with this state: whatever was assumed before, this is what exists. */
  start(recovered: Recovered): void {
    const { acceptedEpoch, currentEpoch, ensembleId, founded } = recovered;
    this.log = ZxidRanges.of(recovered.history);
    this.durable = this.log.clone();
    this.epochs = { accepted: acceptedEpoch, current: currentEpoch, ensembleId, founded };
    this.durableEpochs = this.epochs;
    this.#pending.clear();
  }

  /** Nothing is left: the disk is new. */
  wipe(): void {
    this.log = new ZxidRanges();
    this.durable = new ZxidRanges();
    this.epochs = NO_EPOCHS;
    this.durableEpochs = NO_EPOCHS;
    this.#pending.clear();
  }

  /** Processes what the disk reports to the core. */
  onInput(input: ZabInput): void {
    if (input.kind === 'persisted') {
      this.#onPersisted(input.ticket);
    } else if (input.kind === 'purged') {
      this.log.purge(input.base);
      this.durable.purge(input.base);
    }
  }

  /** Processes what the core gives to the disk; other outputs are ignored. */
  take(output: ZabOutput): void {
    switch (output.kind) {
      case 'append':
        this.log.append([...output.batch]);
        break;
      case 'truncate':
        this.log.cut(output.after);
        break;
      case 'installSnapshot':
        this.log.reset(output.zxid);
        break;
      case 'saveEpochs':
        this.epochs = output;
        break;
      case 'giveUp':
        this.epochs = { ...this.epochs, ensembleId: '', founded: false };
        this.log.reset(0);
        break;
      default:
        return;
    }
    this.#pending.push(output);
  }

  /** Whether everything that was given is durable. */
  get isIdle(): boolean {
    return this.#pending.length === 0;
  }

  /** The outputs that were given and are not known to be durable, in order. */
  pending(): readonly StorageOutput[] {
    return this.#pending.toArray();
  }

  #onPersisted(ticket: Ticket): void {
    const pending = this.#pending;
    for (let output = pending.first; output !== undefined; output = pending.first) {
      if (output.ticket > ticket) return;
      pending.shift();
      if (output.kind === 'saveEpochs') this.durableEpochs = output;
      else if (output.kind === 'giveUp') {
        this.durableEpochs = { ...this.durableEpochs, ensembleId: '', founded: false };
        this.durable.reset(0);
      } else applyTo(this.durable, output);
    }
  }
}

/** Applies a storage output to a log. */
export function applyTo(log: ZxidRanges, output: StorageOutput): void {
  switch (output.kind) {
    case 'append':
      return log.append([...output.batch]);
    case 'truncate':
      return log.cut(output.after);
    case 'installSnapshot':
      return log.reset(output.zxid);
    case 'giveUp':
      return log.reset(0);
    case 'saveEpochs':
      return;
  }
}
