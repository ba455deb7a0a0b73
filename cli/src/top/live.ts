/** The live view of `top`: draws the frame with Ink after each look, and takes keys. */
import { Box, render, Text, useInput } from 'ink';
import { createElement, type ReactElement } from 'react';
import { COLUMNS, frameOf, type Line, type Order } from './frame.js';
import type { Row } from './rows.js';

export interface LiveParts {
  readonly intervalS: number;
  readonly order: Order;
  /** Asks all members once; never rejects. */
  readonly look: () => Promise<readonly Row[]>;
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
  member: {},
  down: { color: 'red' },
  foot: { dimColor: true },
};

/** Resolves when the person quits, or the signal is aborted. */
export async function showLive({ intervalS, order, look, signal }: LiveParts): Promise<void> {
  const view = new View(intervalS, order);
  process.stdout.write(ENTER_SCREEN);
  try {
    const instance = render(view.element());
    let wake = (): void => undefined;
    let isOver = false;
    const over = instance.waitUntilExit().then(() => {
      isOver = true;
      wake();
    });
    const redraw = (): void => instance.rerender(view.element());
    const quit = (): void => instance.unmount();
    view.onChange = redraw;
    view.onQuit = quit;
    process.stdout.on('resize', redraw);
    signal.addEventListener('abort', quit, { once: true });
    try {
      while (!isOver && !signal.aborted) {
        const nextMs = performance.now() + 1000 * intervalS;
        const rows = await Promise.race([look(), over]);
        if (rows === undefined || isOver) break;
        view.rows = rows;
        redraw();
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.max(0, nextMs - performance.now()));
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
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

class View {
  rows: readonly Row[] = [];
  onChange = (): void => undefined;
  onQuit = (): void => undefined;
  readonly #intervalS: number;
  #order: Order;

  constructor(intervalS: number, order: Order) {
    this.#intervalS = intervalS;
    this.#order = order;
  }

  element(): ReactElement {
    const { columns = WIDTH_DEFAULT, rows: height = HEIGHT_DEFAULT } = process.stdout;
    const lines =
      this.rows.length === 0
        ? [{ kind: 'title', text: 'Asking the members ...' } as const]
        : frameOf(this.rows, {
            width: columns,
            // Ink clears the whole screen for every frame that fills it.
            height: height - 1,
            order: this.#order,
            intervalS: this.#intervalS,
            time: new Date().toTimeString().slice(0, 8),
          });
    return createElement(Frame, { lines, onKey: (key) => this.#press(key) });
  }

  #press(key: Key): void {
    const { column, isReversed } = this.#order;
    const count = COLUMNS.length;
    if (key === 'quit') return this.onQuit();
    if (key === 'reverse') this.#order = { column, isReversed: !isReversed };
    if (key === 'left') this.#order = { column: (column + count - 1) % count, isReversed: false };
    if (key === 'right') this.#order = { column: (column + 1) % count, isReversed: false };
    this.onChange();
  }
}

type Key = 'quit' | 'left' | 'right' | 'reverse';

interface FrameParts {
  readonly lines: readonly Line[];
  readonly onKey: (key: Key) => void;
}

function Frame({ lines, onKey }: FrameParts): ReactElement {
  useInput((input, key) => {
    if (input === 'q' || key.escape) onKey('quit');
    else if (input === 'r') onKey('reverse');
    else if (key.leftArrow) onKey('left');
    else if (key.rightArrow) onKey('right');
  });
  const children = lines.map(({ kind, text }, at) => {
    // A text without a character takes no line.
    return createElement(Text, { key: at, wrap: 'truncate', ...STYLES[kind] }, text || ' ');
  });
  return createElement(Box, { flexDirection: 'column' }, children);
}
