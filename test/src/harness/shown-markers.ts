/**
 * What the timeline of the console shows, and when: the label of each marker, the instant that the
 * member gave its event, and the instant at which the page had the marker among its elements.
 */
import type { Page } from 'playwright-core';

export interface ShownMarker {
  readonly label: string;
  /** By the member's clock, in ms since 1970. */
  readonly eventMs: number;
  /** By the page's clock, in ms since 1970. */
  readonly shownMs: number;
}

/** It runs in the page, for which these sources have no types. */
const RECORDER = `(() => {
  const shown = [];
  globalThis.shownMarkers = shown;
  const note = (element) => {
    const eventMs = Date.parse(element.dataset.time);
    shown.push({ label: element.ariaLabel, eventMs, shownMs: Date.now() });
  };
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const added of addedNodes) {
        if (!(added instanceof Element)) continue;
        if (added.matches('[data-time]')) note(added);
        for (const below of added.querySelectorAll('[data-time]')) note(below);
      }
    }
  }).observe(document.body, { childList: true, subtree: true });
})()`;

/** Records the markers that are added from now on; returns how to read them. */
export async function recordMarkers(page: Page): Promise<() => Promise<readonly ShownMarker[]>> {
  await page.evaluate(RECORDER);
  return () => page.evaluate<readonly ShownMarker[]>('globalThis.shownMarkers');
}
