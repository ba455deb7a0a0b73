/**
 * Two panes with a border between them that can be moved, by mouse and by keyboard. The width is
 * remembered.
 */
import { type PointerEvent, type ReactNode, useRef, useState } from 'react';

const WIDTH_MIN = 200;
const WIDTH_MAX = 900;
const WIDTH = 340;
const STEP = 24;

export interface SplitProps {
  /** Under which the width is remembered. */
  readonly name: string;
  readonly left: ReactNode;
  readonly right: ReactNode;
}

export function Split({ name, left, right }: SplitProps) {
  const [width, setWidth] = useState(() => stored(name));
  const from = useRef<number | null>(null);
  const change = (value: number): void => {
    const bounded = Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, value));
    setWidth(bounded);
    store(name, bounded);
  };
  const onPointerMove = (event: PointerEvent): void => {
    if (from.current !== null) change(event.clientX - from.current);
  };
  return (
    <div className="split">
      <div className="split-left" style={{ ['--split-width' as string]: `${width}px` }}>
        {left}
      </div>
      <div
        className="split-border"
        role="separator"
        aria-orientation="vertical"
        aria-label="Width of the tree"
        aria-valuenow={width}
        aria-valuemin={WIDTH_MIN}
        aria-valuemax={WIDTH_MAX}
        tabIndex={0}
        onKeyDown={({ key }) => {
          if (key === 'ArrowLeft') change(width - STEP);
          if (key === 'ArrowRight') change(width + STEP);
        }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          from.current = event.clientX - width;
        }}
        onPointerMove={onPointerMove}
        onPointerUp={() => {
          from.current = null;
        }}
      />
      <div className="split-right">{right}</div>
    </div>
  );
}

function stored(name: string): number {
  try {
    const width = Number(localStorage.getItem(`rookery-console-${name}-width`));
    return width >= WIDTH_MIN && width <= WIDTH_MAX ? width : WIDTH;
  } catch {
    // The storage may be switched off.
    return WIDTH;
  }
}

function store(name: string, width: number): void {
  try {
    localStorage.setItem(`rookery-console-${name}-width`, String(width));
  } catch {
    // Without storage the width lasts as long as the page.
  }
}
