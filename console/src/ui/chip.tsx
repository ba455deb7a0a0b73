/**
 * A button that switches a filter on or off.
 */
import type { ReactNode } from 'react';

export interface ChipProps {
  readonly isOn: boolean;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

export function Chip({ isOn, onClick, children }: ChipProps) {
  return (
    <button type="button" className="chip" aria-pressed={isOn} onClick={onClick}>
      {children}
    </button>
  );
}
