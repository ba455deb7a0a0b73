/**
 * One znode as it is at the moment: facts and data, read when it is opened and whenever it changes.
 *
 * A stream tells of changes while the page is seen. Data and facts are two requests, so the version
 * for an edit is the one that came with the data.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import { type Api, versionOf } from '../../api/api.js';
import { isAborted } from '../../api/problem.js';
import type { NodeFacts } from '../../api/types.js';
import { useConsole } from '../../console-context.js';
import { type Content, contentOf } from '../data/detect.js';
import { useChanges } from '../watch/use-changes.js';

export interface NodeState {
  readonly facts: NodeFacts | null;
  readonly content: Content | null;
  /** The version of the data. */
  readonly version: number;
  readonly error: unknown;
  /** Grows each time that the data was changed by somebody while it was open. */
  readonly changes: number;
}

export interface OpenNode extends NodeState {
  /** Reads it again. */
  readonly reload: () => Promise<void>;
  /** Whether changes are heard as they happen. */
  readonly isLive: boolean;
}

const NOTHING: NodeState = { facts: null, content: null, version: -1, error: null, changes: 0 };

/** `onChildren` is called when the list of its children has changed. */
export function useNode(path: string, onChildren: () => void): OpenNode {
  const { api } = useConsole();
  const [state, setState] = useState(NOTHING);
  const underWay = useRef<AbortController | null>(null);
  const load = useCallback(async (): Promise<void> => {
    underWay.current?.abort();
    const end = new AbortController();
    underWay.current = end;
    try {
      const read = await readNode(api, path, end.signal);
      setState((before) => {
        const isChanged = before.version !== -1 && before.version !== read.version;
        return { ...read, error: null, changes: before.changes + (isChanged ? 1 : 0) };
      });
    } catch (error) {
      if (!isAborted(error)) setState((before) => ({ ...before, error }));
    }
  }, [api, path]);
  useEffect(() => {
    setState(NOTHING);
    load().catch(reportError);
    return () => underWay.current?.abort();
  }, [load]);
  const isReadable = state.facts !== null;
  const isLive = useChanges({
    path: isReadable ? path : null,
    isRecursive: false,
    onChange: ({ kind }) => {
      load().catch(reportError);
      if (kind === 'childrenChanged' || kind === 'deleted') onChildren();
    },
    // What happened in between was not heard.
    onResume: () => {
      load().catch(reportError);
      onChildren();
    },
  });
  return { ...state, reload: load, isLive };
}

async function readNode(
  api: Api,
  path: string,
  signal: AbortSignal,
): Promise<Pick<NodeState, 'facts' | 'content' | 'version'>> {
  const [facts, data] = await Promise.all([
    api.get<NodeFacts>('/node', { path }, signal),
    readData(api, path, signal),
  ]);
  return { facts, content: await contentOf(data.bytes, path), version: data.version };
}

export interface NodeData {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly version: number;
}

export async function readData(api: Api, path: string, signal?: AbortSignal): Promise<NodeData> {
  const response = await api.ask('GET', '/node/data', { query: { path }, signal });
  return { bytes: new Uint8Array(await response.arrayBuffer()), version: versionOf(response) };
}
