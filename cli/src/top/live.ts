/** The live view of `top`: draws the page with Ink after each look, and takes keys. */
import { Box, render, Text, useInput } from 'ink';
import { createElement, type ReactElement } from 'react';
import { pause } from '../machine/pause.js';
import type { Order } from './columns.js';
import { COLUMNS, frameOf, type Line, type Page, type Screen } from './frame.js';
import { CLIENT_COLUMNS, clientFrame, type HotLook, PATH_COLUMNS, pathFrame } from './hot-frame.js';
import type { Row } from './rows.js';

interface LiveParts {
  readonly intervalS: number;
  /** What is shown first, and by which column it is sorted. */
  readonly page: Page;
  readonly order: Order;
  /** Asks all members once; never rejects. */
  readonly members: () => Promise<readonly Row[]>;
  /** Asks for the hottest paths and clients, until the signal is aborted; never rejects. */
  readonly hot: (signal: AbortSignal) => Promise<HotLook>;
  /** Aborted from outside, as by SIGTERM. */
  readonly signal: AbortSignal;
}

const WIDTH_DEFAULT = 80;
const HEIGHT_DEFAULT = 24;
/** The alternate screen: what the terminal showed before comes back at the end. */
const ENTER_SCREEN = '\x1b[?1049h\x1b[H';
const LEAVE_SCREEN = '\x1b[?1049l';

const STYLES: Readonly<Record<Line['kind'], object>> = {
  title: { bold: true },
  head: { inverse: true },
  row: {},
  down: { color: 'red' },
  foot: { dimColor: true },
};

/** Resolves when the person quits, or the signal is aborted. */
export async function showLive(parts: LiveParts): Promise<void> {
  const { intervalS, signal } = parts;
  const view = new View(parts);
  process.stdout.write(ENTER_SCREEN);
  try {
    const instance = render(view.element());
    // Aborted when the person quits or wants another page: it ends a look and the pause after it.
    let round = new AbortController();
    let isOver = false;
    const over = instance.waitUntilExit().then(() => {
      isOver = true;
      round.abort();
    });
    const redraw = (): void => instance.rerender(view.element());
    const quit = (): void => instance.unmount();
    view.onChange = redraw;
    view.onPage = () => round.abort();
    view.onQuit = quit;
    process.stdout.on('resize', redraw);
    signal.addEventListener('abort', quit, { once: true });
    try {
      while (!isOver && !signal.aborted) {
        round = new AbortController();
        const nextMs = performance.now() + 1000 * intervalS;
        await Promise.race([view.look(parts, round.signal), aborted(round.signal)]);
        if (isOver) break;
        redraw();
        await pause(Math.max(0, nextMs - performance.now()), round.signal);
      }
    } finally {
      process.stdout.off('resize', redraw);
      signal.removeEventListener('abort', quit);
      instance.unmount();
      await over;
    }
  } finally {
    process.stdout.write(LEAVE_SCREEN);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

const COUNTS: Readonly<Record<Page, number>> = {
  members: COLUMNS.length,
  paths: PATH_COLUMNS.length,
  clients: CLIENT_COLUMNS.length,
};
const FIRST: Order = { column: 0, isReversed: false };

class View {
  onChange = (): void => undefined;
  onPage = (): void => undefined;
  onQuit = (): void => undefined;
  readonly #intervalS: number;
  readonly #orders: Record<Page, Order> = { members: FIRST, paths: FIRST, clients: FIRST };
  #page: Page;
  /** The last answer; null before the first one. */
  #rows: readonly Row[] | null = null;
  #hot: HotLook | null = null;

  constructor({ intervalS, page, order }: LiveParts) {
    this.#intervalS = intervalS;
    this.#page = page;
    this.#orders[page] = order;
  }

  /** Asks for what the page shows. Members watch their requests only while a client asks. */
  async look({ members, hot }: LiveParts, signal: AbortSignal): Promise<void> {
    if (this.#page === 'members') {
      this.#rows = await members();
      return;
    }
    const look = await hot(signal);
    if (!signal.aborted) this.#hot = look;
  }

  element(): ReactElement {
    const { columns = WIDTH_DEFAULT, rows: height = HEIGHT_DEFAULT } = process.stdout;
    const lines = this.#lines({
      width: columns,
      // Ink clears the whole screen for every frame that fills it.
      height: height - 1,
      order: this.#orders[this.#page],
      intervalS: this.#intervalS,
      time: new Date().toTimeString().slice(0, 8),
    });
    return createElement(Frame, { lines, onKey: (key) => this.#press(key) });
  }

  #lines(screen: Screen): readonly Line[] {
    const asking: readonly Line[] = [{ kind: 'title', text: 'Asking the members ...' }];
    if (this.#page === 'members') return this.#rows === null ? asking : frameOf(this.#rows, screen);
    if (this.#hot === null) return asking;
    return (this.#page === 'paths' ? pathFrame : clientFrame)(this.#hot, screen);
  }

  #press(key: Key): void {
    const { column, isReversed } = this.#orders[this.#page];
    const count = COUNTS[this.#page];
    const sortBy = (at: number): Order => ({ column: at % count, isReversed: false });
    if (key === 'quit') return this.onQuit();
    if (key === 'reverse') this.#orders[this.#page] = { column, isReversed: !isReversed };
    else if (key === 'left') this.#orders[this.#page] = sortBy(column + count - 1);
    else if (key === 'right') this.#orders[this.#page] = sortBy(column + 1);
    else if (key !== this.#page) {
      this.#page = key;
      this.onPage();
    }
    this.onChange();
  }
}

type Key = 'quit' | 'left' | 'right' | 'reverse' | Page;

const LETTERS: Readonly<Record<string, Key>> = {
  q: 'quit',
  r: 'reverse',
  m: 'members',
  p: 'paths',
  c: 'clients',
};

interface FrameParts {
  readonly lines: readonly Line[];
  readonly onKey: (key: Key) => void;
}

function Frame({ lines, onKey }: FrameParts): ReactElement {
  useInput((input, key) => {
    const pressed = Object.hasOwn(LETTERS, input) ? LETTERS[input] : undefined;
    if (key.escape) onKey('quit');
    else if (key.leftArrow) onKey('left');
    else if (key.rightArrow) onKey('right');
    else if (pressed !== undefined && !key.ctrl) onKey(pressed);
  });
  const children = lines.map(({ kind, text }, at) => {
    // A text without a character takes no line.
    return createElement(Text, { key: at, wrap: 'truncate', ...STYLES[kind] }, text || ' ');
  });
  return createElement(Box, { flexDirection: 'column' }, children);
}
