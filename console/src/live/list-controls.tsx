/**
 * What is above a list, with its keys: the field that filters it, and the button that asks again.
 */
import { type KeyboardEvent, useRef } from 'react';
import { useShortcuts } from '../keyboard/use-shortcuts.js';
import { Icon } from '../ui/icon.js';

export interface FilterFieldProps {
  /** The heading of its key in the help. */
  readonly group: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** What Enter does, if it does something. */
  readonly onEnter?: () => void;
}

/** The key `/` leads to it, and the arrow down from it to the first row of the list. */
export function FilterField(props: FilterFieldProps) {
  const { group, placeholder, value, onChange, onEnter } = props;
  const field = useRef<HTMLInputElement>(null);
  useShortcuts([{ keys: '/', title: 'Filter', group, run: () => field.current?.focus() }]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') onEnter?.();
    const row = document.querySelector<HTMLElement>('[data-row]');
    if (event.key !== 'ArrowDown' || row === null) return;
    event.preventDefault();
    row.focus();
  };
  return (
    <input
      ref={field}
      className="input"
      type="search"
      placeholder={placeholder}
      aria-label="Filter"
      value={value}
      onChange={(event) => onChange(event.target.value)}
      onKeyDown={onKeyDown}
    />
  );
}

export interface RefreshButtonProps {
  readonly title: string;
  readonly group: string;
  readonly onRefresh: () => void;
}

/** The key `r` does the same. */
export function RefreshButton({ title, group, onRefresh }: RefreshButtonProps) {
  useShortcuts([{ keys: 'r', title, group, run: onRefresh }]);
  return (
    <button
      type="button"
      className="button button-icon"
      aria-label={title}
      title={`${title} (r)`}
      onClick={onRefresh}
    >
      <Icon name="refresh" />
    </button>
  );
}
