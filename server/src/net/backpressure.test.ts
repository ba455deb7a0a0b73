/**
 * The share of a turn that clients may use: a port whose handler makes large or slow answers, over
 * the network in memory, with a driver's flush at the end of each turn.
 */
import { describe, expect, it } from 'vitest';
import {
  FarEnd,
  frameOf,
  keptLog,
  memberView,
  RecordingHandler,
} from '../simulated/net/fixtures.js';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { MemoryNetwork } from '../simulated/net/memory-transport.js';
import { InputPace, SharedBudget, TURN_SHARE, type TurnShare } from './backpressure.js';
import type { ClientConnection } from './client-connection.js';
import { CLIENT_PORT_DEFAULTS, ClientPort } from './client-port.js';
import { FourLetterWhitelist } from './four-letter/words.js';
import { ServerStats } from './server-stats.js';

const ADDRESS = { host: 'server', port: 2181 };
const LARGE_BYTES = 300_000;

/** A clock that a handler can let pass inside a turn. */
class SlowTimers extends ManualTimers {
  lateMs = 0;

  override nowMs(): number {
    return super.nowMs() + this.lateMs;
  }
}

const SHARE: TurnShare = { outputBytesMax: 500_000, durationMsMax: 20 };

async function bench(clients: number, share = SHARE) {
  const timers = new SlowTimers();
  const network = new MemoryNetwork(timers);
  const handler = new RecordingHandler();
  const port = new ClientPort({
    options: {
      ...CLIENT_PORT_DEFAULTS,
      address: ADDRESS,
      whitelist: new FourLetterWhitelist('*'),
      share,
    },
    transport: network.transport('server'),
    timers,
    logger: keptLog().logger,
    stats: new ServerStats(),
  });
  await port.listen(handler, memberView());
  const turns: string[][] = [[]];
  /** As the driver does: the first event of a turn has its end put behind everything else. */
  const note = (event: string): void => {
    if (turns.at(-1)?.length === 0) timers.defer(() => endTurn());
    turns.at(-1)?.push(event);
  };
  handler.onFrameDo = (connection, frame) => {
    const asked = Buffer.from(frame).toString('latin1');
    note(`${connection.id} ${asked}`);
    if (asked.startsWith('large')) put(connection, LARGE_BYTES);
    if (asked.startsWith('middling')) put(connection, 5_000);
    if (/^slow|^middling/.test(asked)) timers.lateMs += 30;
  };
  const endTurn = (): void => {
    turns.push([]);
    port.flush();
  };
  const ends: FarEnd[] = [];
  for (let index = 0; index < clients; index++) {
    const dialled = network.transport('client').dial(ADDRESS, 1000);
    await timers.advance(1);
    ends.push(new FarEnd(await dialled));
  }
  /** What each turn delivered, once all have sent these frames at the same moment. */
  const allSend = async (...texts: string[]): Promise<string[][]> => {
    for (const end of ends) end.stream.write(Buffer.concat(texts.map(frameOf)));
    await timers.advance(50);
    return turns.filter((turn) => turn.length > 0);
  };
  return { timers, port, handler, ends, turns, note, allSend };
}

function put(connection: ClientConnection, bytes: number): void {
  const { writer } = connection;
  writer.beginFrame();
  writer.raw(Buffer.alloc(bytes));
  writer.endFrame();
}

describe('the share of a turn that clients may use', () => {
  it('holds everything when it is little', async () => {
    const { allSend } = await bench(20);
    expect((await allSend('a', 'b', 'c')).map((turn) => turn.length)).toEqual([60]);
  });

  it('ends when its answers are too large together, and the others come next in order', async () => {
    const { allSend, ends } = await bench(5);
    const turns = await allSend('large');
    expect(turns).toEqual([['1 large', '2 large'], ['3 large', '4 large'], ['5 large']]);
    for (const end of ends) expect(end.text.length).toBe(LARGE_BYTES + 4);
  });

  it('serves the connections round-robin, each in its own order', async () => {
    const { allSend } = await bench(4);
    const turns = await allSend('large 1', 'large 2', 'large 3');
    for (const turn of turns) expect(turn.length).toBeLessThanOrEqual(2);
    const all = turns.flat();
    expect(all.length).toBe(12);
    for (const id of [1, 2, 3, 4]) {
      const own = all.filter((line) => line.startsWith(`${id} `));
      expect(own).toEqual([`${id} large 1`, `${id} large 2`, `${id} large 3`]);
    }
    // A turn of two answers each: nobody gets a second one before the others had their first.
    for (let end = 1; end <= all.length; end++) {
      const counts = [1, 2, 3, 4].map(
        (id) => all.slice(0, end).filter((line) => line.startsWith(`${id} `)).length,
      );
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(3);
    }
  });

  it('ends when it has taken too long, although the answers are small', async () => {
    const { allSend } = await bench(12);
    const turns = await allSend('slow');
    for (const turn of turns) expect(turn.length).toBeLessThanOrEqual(4);
    expect(turns.flat().length).toBe(12);
  });

  it('ends behind the first that took too long, if its answer has the size of many', async () => {
    const { allSend } = await bench(3);
    const turns = await allSend('middling');
    expect(turns).toEqual([['1 middling'], ['2 middling'], ['3 middling']]);
  });

  it('ends behind the first large frame that took too long, if its answer is small', async () => {
    const { handler, turns, allSend } = await bench(3);
    await allSend('hello');
    for (const each of handler.connections) each.bindSession({ id: 1, timeoutMs: 4_000 });
    const before = turns.length;
    await allSend(`slow ${'x'.repeat(16 << 10)}`);
    const lengths = turns.slice(before - 1).map((turn) => turn.length);
    expect(lengths.filter((length) => length > 0)).toEqual([1, 1, 1]);
  });

  it('ends behind the first listing that took too long, if its answer is small', async () => {
    const { handler, allSend } = await bench(1);
    const onFrameDo = handler.onFrameDo;
    handler.onFrameDo = (connection, frame) => {
      expect(connection.isFullFor(LARGE_BYTES)).toBe(false);
      onFrameDo(connection, frame);
    };
    const turns = await allSend('slow', 'slow', 'slow');
    expect(turns.map((turn) => turn.length)).toEqual([1, 1, 1]);
  });

  it('leaves room for small requests while large ones wait', async () => {
    const { timers, ends, turns, allSend } = await bench(8);
    await allSend('large');
    const before = turns.length;
    const [light, ...others] = ends;
    light?.stream.write(frameOf('light'));
    await timers.advance(5);
    for (const end of others) end.stream.write(Buffer.concat([frameOf('large'), frameOf('large')]));
    light?.stream.write(frameOf('lighter'));
    await timers.advance(50);
    const after = turns.slice(before - 1).filter((turn) => turn.length > 0);
    expect(after.findIndex((turn) => turn.includes('1 lighter'))).toBeLessThan(3);
    expect(after.flat().filter((line) => line.endsWith('large')).length).toBe(14);
  });

  it('delivers nothing of a connection that is gone while it was put off', async () => {
    const { handler, allSend } = await bench(3);
    await allSend('hello');
    const onFrameDo = handler.onFrameDo;
    handler.onFrameDo = (connection, frame) => {
      onFrameDo(connection, frame);
      if (connection.id === 2) handler.connections[2]?.close('test', 'state');
    };
    const turns = await allSend('large');
    expect(turns.slice(1)).toEqual([['1 large', '2 large']]);
    expect(handler.events.at(-1)).toBe('closed 3');
  });
});

describe('answers that wait for a later turn', () => {
  it('are asked for again behind the flush, although the client took everything', async () => {
    const { timers, port, handler, allSend } = await bench(2);
    await allSend('hello');
    const [one, two] = handler.connections;
    if (one === undefined || two === undefined) throw new Error('no connections');
    put(one, 600_000);
    expect([one.isFullFor(0), two.isFullFor(0)]).toEqual([true, true]);
    two.hold('room');
    await timers.advance(5);
    expect(handler.events).not.toContain('room 2');
    port.flush();
    expect(handler.events).not.toContain('room 2');
    await timers.advance(5);
    expect(two.isFullFor(0)).toBe(false);
    expect(handler.events.filter((event) => event === 'room 2')).toEqual(['room 2']);
  });
});

it('an answer that will be large waits behind small ones, whatever its client asked before', async () => {
  const { handler, allSend } = await bench(4);
  await allSend('hello');
  const answered: string[] = [];
  const answer = (connection: ClientConnection, bytes: number): void => {
    answered.push(`${connection.id} ${bytes}`);
    put(connection, bytes);
  };
  const onFrameDo = handler.onFrameDo;
  handler.onFrameDo = (connection, frame) => {
    onFrameDo(connection, frame);
    if (connection.id === 4) answer(connection, 10);
    else if (!connection.isFullFor(LARGE_BYTES)) answer(connection, LARGE_BYTES);
    else connection.hold('room', LARGE_BYTES);
  };
  handler.onRoomDo = (connection) => {
    expect(connection.isFullFor(LARGE_BYTES)).toBe(false);
    answer(connection, LARGE_BYTES);
    connection.release('room');
  };
  await allSend('list');
  expect(answered).toEqual(['1 300000', '2 300000', '4 10', '3 300000']);
});

it('large answers that waited are spread over turns as others are', async () => {
  const { handler, note, allSend } = await bench(8);
  await allSend('hello');
  const onFrameDo = handler.onFrameDo;
  handler.onFrameDo = (connection, frame) => {
    onFrameDo(connection, frame);
    if (connection.isFullFor(LARGE_BYTES)) connection.hold('room', LARGE_BYTES);
    else put(connection, LARGE_BYTES);
  };
  handler.onRoomDo = (connection) => {
    note('large answer');
    put(connection, LARGE_BYTES);
    connection.release('room');
  };
  const turns = await allSend('list');
  const counts = turns.map((turn) => turn.filter((event) => event === 'large answer').length);
  expect(counts.filter((count) => count > 0)).toEqual([2, 2, 2]);
});

it('work that is done in parts has a part of each turn, although it writes nothing', async () => {
  const { timers, handler, note, allSend } = await bench(2);
  await allSend('hello');
  const left = new Map([1, 2].map((id) => [id, 4]));
  const work = (connection: ClientConnection): void => {
    connection.release('room');
    for (let parts = left.get(connection.id) ?? 0; parts > 0; parts--) {
      if (connection.isFullFor(LARGE_BYTES)) return connection.hold('room', LARGE_BYTES);
      left.set(connection.id, parts - 1);
      note(`part of ${connection.id}`);
      timers.lateMs += 30;
    }
  };
  handler.onFrameDo = work;
  handler.onRoomDo = work;
  const turns = await allSend('begin');
  const parts = turns.map((turn) => turn.filter((event) => event.startsWith('part')).length);
  expect(parts.filter((count) => count > 0)).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
});

it('work in parts of a millisecond holds a member for 11 ms at most', async () => {
  const { timers, handler, note, allSend } = await bench(2, TURN_SHARE);
  await allSend('hello');
  const left = new Map([1, 2].map((id) => [id, 50]));
  const work = (connection: ClientConnection): void => {
    connection.release('room');
    for (let parts = left.get(connection.id) ?? 0; parts > 0; parts--) {
      if (connection.isFullFor(LARGE_BYTES)) return connection.hold('room', LARGE_BYTES);
      left.set(connection.id, parts - 1);
      note('part');
      timers.lateMs += 1;
    }
  };
  handler.onFrameDo = work;
  handler.onRoomDo = work;
  const turns = await allSend('begin');
  const parts = turns.map((turn) => turn.filter((event) => event === 'part').length);
  expect(parts.reduce((sum, count) => sum + count, 0)).toBe(100);
  expect(Math.max(...parts)).toBeLessThanOrEqual(11);
});

it('a turn that took too long has no room for answers that can wait', async () => {
  const { timers, handler, allSend } = await bench(2);
  await allSend('hello');
  const [, two] = handler.connections;
  expect(two?.isFullFor(0)).toBe(false);
  timers.lateMs += 30;
  // Looked at the clock for some of the questions only.
  expect([1, 2, 3, 4].map(() => two?.isFullFor(0)).at(-1)).toBe(true);
});

it('the largest answer is excused from the limit of output, many events of a turn are not', async () => {
  const { timers, port, handler, ends, allSend } = await bench(1);
  await allSend('watch');
  const [connection] = handler.connections;
  if (connection === undefined) throw new Error('no connection');
  ends[0]?.stream.pause();
  for (let event = 0; event < 300; event++) put(connection, 100_000);
  port.flush();
  await timers.advance(5);
  expect(connection.isOpen).toBe(false);
});

const MEGABYTE = 1 << 20;
const READ_BYTES = 64 << 10;

it('lets a client alone send as fast as it can, up to 4 MB in a round', () => {
  const pace = new InputPace(new ManualTimers());
  const reader = { resumeReading: () => {} };
  for (let count = 0; count < 4; count++) expect(pace.mustWait(reader, MEGABYTE)).toBe(false);
  expect(pace.mustWait(reader, 1)).toBe(true);
});

it('reads from hundreds one after the other, in the order in which they were put off', async () => {
  const timers = new ManualTimers();
  const pace = new InputPace(timers);
  const rounds: number[][] = [[]];
  const readers = Array.from({ length: 300 }, (_, index) => ({
    resumeReading: () => void rounds.at(-1)?.push(index),
  }));
  const isPutOff = readers.map((reader) => pace.mustWait(reader, READ_BYTES));
  expect(isPutOff.indexOf(true)).toBe(64);
  pace.forget(readers[70] ?? { resumeReading: () => {} });
  for (let round = 0; round < 4; round++) {
    await timers.advance(0);
    rounds.push([]);
  }
  const order = rounds.flat();
  expect(order).toHaveLength(300 - 64 - 1);
  expect(order).toEqual([...order].sort((one, other) => one - other));
  expect(order).not.toContain(70);
  expect(pace.mustWait({ resumeReading: () => {} }, READ_BYTES)).toBe(false);
});

function budgetOf(bytesMax: number, holders: readonly number[]) {
  const budget = new SharedBudget<number>(bytesMax);
  for (const bytes of holders) budget.add(bytes);
  const excess = () =>
    budget.excess(
      holders,
      (bytes) => bytes,
      (bytes) => bytes,
    );
  return { budget, excess };
}

describe('a budget that many share', () => {
  it('is exceeded by one byte too many and not by all that it has', () => {
    expect(budgetOf(100, [60, 40]).budget.isExceeded).toBe(false);
    expect(budgetOf(100, [60, 41]).budget.isExceeded).toBe(true);
  });

  it('gives up the largest until an eighth is free, the largest that stays not counted', () => {
    const { excess } = budgetOf(100, [10, 80, 20, 60, 30]);
    // Without the largest they hold 120; without 80 and 60, beside the 30 that are not counted, 30.
    expect(excess()).toEqual([80]);
    expect(budgetOf(100, [10, 70, 80, 60, 30]).excess()).toEqual([80, 70]);
  });

  it('gives up nobody while all but the largest fit, and looks again once they no longer do', () => {
    const { budget, excess } = budgetOf(100, [500, 100]);
    expect(budget.isExceeded).toBe(true);
    expect(excess()).toEqual([]);
    expect(budget.isExceeded).toBe(false);
    budget.add(1);
    expect(budget.isExceeded).toBe(true);
  });

  it('looks at its limit again once it was kept', () => {
    const { budget, excess } = budgetOf(100, [500]);
    expect(excess()).toEqual([]);
    budget.add(-450);
    budget.add(51);
    expect(budget.isExceeded).toBe(true);
  });

  it('asks who holds how much now, and passes over who holds nothing', () => {
    const budget = new SharedBudget<string>(10);
    budget.add(40);
    const now: Readonly<Record<string, number>> = { a: 20, b: 0, c: 20 };
    expect(
      budget.excess(
        Object.keys(now),
        (name) => now[name] ?? 0,
        (name) => name,
      ),
    ).toEqual(['a']);
  });

  it('closes many small ones of one address before a larger one of another', () => {
    const budget = new SharedBudget<string>(100);
    const bytesOf = (name: string) => (name === 'large' ? 30 : 10);
    const groupOf = (name: string) => (name === 'large' ? 'other' : 'most');
    const small = Array.from({ length: 12 }, (_, index) => `small ${index}`);
    budget.add(30 + 120);
    const closed = budget.excess(['large', ...small], bytesOf, groupOf);
    // 80 and the largest, which is not counted, stay.
    expect(closed).toEqual(small.slice(0, 4));
  });
});
