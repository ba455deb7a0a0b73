/**
 * Bytes in hex, of which only the visible lines are made.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { hexLine, hexLineCount } from './hex.js';

const LINE_HEIGHT = 20;

export function HexView({ bytes }: { readonly bytes: Uint8Array }) {
  const scroller = useRef<HTMLElement>(null);
  const virtualizer = useVirtualizer({
    count: hexLineCount(bytes),
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it
    <section ref={scroller} className="hex-view" aria-label="Data in hex" tabIndex={0}>
      <div className="tree-rows" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => {
          const { offset, hex, text } = hexLine(bytes, index);
          return (
            <div key={key} className="hex-line" style={{ transform: `translateY(${start}px)` }}>
              <span className="faint">{offset}</span>
              <span>{hex}</span>
              <span className="hex-text">{text}</span>
            </div>
          );
        })}
      </div>
    </section>
  );
}
