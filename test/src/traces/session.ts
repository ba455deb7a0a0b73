/** One run of a trace: the ensemble on which its commands work, and the lines that they print. */
import { assert } from '@rookery/protocol';
import { Ensemble, type EnsembleSetup } from './ensemble.js';

/** The context of a command: the ensemble, its words, and where to write. */
export class Session {
  #ensemble: Ensemble | null = null;
  #lines: string[] = [];

  get ensemble(): Ensemble {
    assert(this.#ensemble !== null, 'a trace begins with `cluster N`');
    return this.#ensemble;
  }

  create(setup: Omit<EnsembleSetup, 'pingsApart' | 'onLine'>): Ensemble {
    const onLine = (line: string) => this.print(line);
    this.#ensemble = new Ensemble({ ...setup, pingsApart: true, onLine });
    return this.#ensemble;
  }

  print(line: string): void {
    this.#lines.push(line);
  }

  /** Returns what was printed while `run` ran. */
  capture(run: () => void): readonly string[] {
    const before = this.#lines;
    this.#lines = [];
    try {
      run();
      return this.#lines;
    } finally {
      this.#lines = before;
    }
  }
}

export type Command = (session: Session, words: readonly string[]) => void;
