/**
 * Changes of everything below a znode, as they happen, newest first.
 */
import { useState } from 'react';
import type { WatchChange } from '../../api/types.js';
import { nodeHref } from '../open-node.js';
import { shown } from '../paths.js';
import { counted, momentInWords } from '../words.js';
import { useChanges } from './use-changes.js';

/** Older ones are forgotten. */
const KEPT_MAX = 500;

interface Heard {
  readonly key: number;
  readonly atMs: number;
  /** Null for a gap, in which changes may have been missed. */
  readonly change: WatchChange | null;
}

const WORDS: Readonly<Record<WatchChange['kind'], string>> = {
  created: 'created',
  deleted: 'deleted',
  dataChanged: 'data changed',
  childrenChanged: 'children changed',
};
const TONES: Readonly<Record<WatchChange['kind'], string>> = {
  created: 'badge badge-good',
  deleted: 'badge badge-bad',
  dataChanged: 'badge badge-accent',
  childrenChanged: 'badge',
};

export function WatchTab({ path }: { readonly path: string }) {
  const [isRecursive, setIsRecursive] = useState(true);
  const [heard, setHeard] = useState<readonly Heard[]>([]);
  const add = (change: WatchChange | null): void =>
    setHeard((before) => {
      const key = (before[0]?.key ?? 0) + 1;
      return [{ key, atMs: Date.now(), change }, ...before].slice(0, KEPT_MAX);
    });
  const isLive = useChanges({ path, isRecursive, onChange: add, onResume: () => add(null) });
  return (
    <div className="watch-tab">
      <div className="data-bar">
        <output className="soft">
          {isLive ? 'Watching' : 'Not watching'}
          {heard.length === 0
            ? ': nothing has changed yet.'
            : `: ${counted(heard.length, 'change')}.`}
        </output>
        <span className="bar-gap" />
        <label className="check">
          <input
            type="checkbox"
            checked={isRecursive}
            onChange={(event) => setIsRecursive(event.target.checked)}
          />
          Everything below it, too
        </label>
        <button type="button" className="button button-small" onClick={() => setHeard([])}>
          Clear
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must scroll it */}
      <section className="watch-list" aria-label="Changes" tabIndex={0}>
        <table className="table">
          <thead>
            <tr>
              <th>Time</th>
              <th>What</th>
              <th>Znode</th>
              <th>zxid</th>
            </tr>
          </thead>
          <tbody>
            {heard.map((one) => (
              <HeardRow key={one.key} heard={one} />
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

function HeardRow({ heard: { atMs, change } }: { readonly heard: Heard }) {
  if (change === null) {
    return (
      <tr>
        <td>{momentInWords(atMs)}</td>
        <td colSpan={3} className="soft">
          The connection was lost, so changes may be missing before this line.
        </td>
      </tr>
    );
  }
  return (
    <tr>
      <td className="faint">{momentInWords(atMs)}</td>
      <td>
        <span className={TONES[change.kind]}>{WORDS[change.kind]}</span>
      </td>
      <td className="watch-path">
        <a className="code" href={nodeHref(change.path)}>
          {shown(change.path)}
        </a>
      </td>
      <td className="code faint">{change.zxid}</td>
    </tr>
  );
}
