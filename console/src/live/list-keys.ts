/**
 * The arrow keys in a list of rows: they move the focus from row to row, Home and End to its ends.
 * Rows are the elements with `data-row` in the element that has this handler.
 */
import type { KeyboardEvent } from 'react';

export function onListKeys(event: KeyboardEvent<HTMLElement>): void {
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const last = rows.length - 1;
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: Math.min(last, at + 1),
    ArrowUp: Math.max(0, at - 1),
    Home: 0,
    End: last,
  };
  const next = steps[event.key];
  if (next === undefined || at === -1) return;
  event.preventDefault();
  rows[next]?.focus();
}
