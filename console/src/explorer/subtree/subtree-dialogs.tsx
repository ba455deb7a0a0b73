/**
 * Delete, copy, move, import and ACLs of parts of the tree, each as a plan.
 */
import { useState } from 'react';
import { statusOf } from '../../api/problem.js';
import type { AclEntry } from '../../api/types.js';
import { useConsole } from '../../console-context.js';
import { readData } from '../node/use-node.js';
import { childOf, nameOf, parentOf, shown, wrongPath } from '../paths.js';
import { counted } from '../words.js';
import { aclPlan } from './acl-plan.js';
import { copyPlan, deletePlan, importPlan, wrongTarget } from './make-plan.js';
import { PlanDialog } from './plan-dialog.js';
import { FILE_BYTES_MAX, type FileNode, placeOf, readFileText } from './subtree-file.js';
import { walk } from './walk.js';

export interface SubtreeDialogProps {
  readonly path: string;
  readonly onClose: () => void;
  /** The tree has changed; `open` is where to go. */
  readonly onChanged: (open: string) => void;
}

export interface DeleteDialogProps {
  /** Siblings; the list stays the same while the dialog is open. */
  readonly paths: readonly string[];
  readonly onClose: () => void;
  /** It ran, and znodes may be gone. */
  readonly onRan: () => void;
}

export function DeleteDialog({ paths, onClose, onRan }: DeleteDialogProps) {
  const { api } = useConsole();
  const [count, setCount] = useState(1);
  const [path = '/', ...others] = paths;
  const isOne = others.length === 0;
  const children = counted(paths.length, 'child', 'children');
  return (
    <PlanDialog
      title={`Delete ${isOne ? shown(path) : `${children} of ${shown(parentOf(path))}`}`}
      verb="Delete"
      isDangerous
      // One znode without children is not worth the typing; of several there is no one name.
      typed={count <= 1 ? null : isOne ? nameOf(path) : String(count)}
      makePlan={async (signal, onProgress) => {
        const walked = await walk(api, paths, { signal, onProgress });
        setCount(walked.nodes.length);
        return deletePlan(api, walked);
      }}
      onClose={onClose}
      onRan={onRan}
    />
  );
}

export interface AclBelowDialogProps {
  readonly path: string;
  readonly acl: readonly AclEntry[];
  readonly onClose: () => void;
}

/** Gives the ACL of a znode to everything below it. */
export function AclBelowDialog({ path, acl, onClose }: AclBelowDialogProps) {
  const { api } = useConsole();
  return (
    <PlanDialog
      title={`Give the ACL of ${shown(path)} to everything below it`}
      verb="Set the ACLs"
      isDangerous
      typed={nameOf(path)}
      makePlan={(signal, onProgress) => aclPlan(api, { path, acl }, { signal, onProgress })}
      onClose={onClose}
      onRan={() => undefined}
    />
  );
}

export function CopyDialog(props: SubtreeDialogProps & { readonly moves: boolean }) {
  const { path, moves, onClose, onChanged } = props;
  const { api } = useConsole();
  const [to, setTo] = useState(moves ? path : `${path}-copy`);
  const [keepsAcls, setKeepsAcls] = useState(true);
  const wrong = to === path ? null : wrongPath(to);
  return (
    <PlanDialog
      title={`${moves ? 'Move' : 'Copy'} ${shown(path)}`}
      verb={moves ? 'Move' : 'Copy'}
      isReady={wrong === null && to !== path}
      form={
        <>
          <PlaceField to={to} isWrong={wrong !== null} onChange={setTo} />
          <AclChoice keepsAcls={keepsAcls} onChange={setKeepsAcls} />
          {moves ? (
            <p className="soft">
              Everything is copied first. The old znodes are deleted only if all of that went well,
              each in the version that was copied.
            </p>
          ) : null}
        </>
      }
      makePlan={async (signal, onProgress) => {
        const refusal = await wrongTarget(api, to, signal);
        if (refusal !== null) return refusal;
        const walked = await walk(api, [path], { signal, onProgress });
        return copyPlan(api, walked, { from: path, to, keepsAcls, moves });
      }}
      onClose={onClose}
      onRan={() => onChanged(to)}
    />
  );
}

interface PlaceFieldProps {
  readonly to: string;
  readonly isWrong: boolean;
  readonly onChange: (to: string) => void;
}

function PlaceField({ to, isWrong, onChange }: PlaceFieldProps) {
  return (
    <label className="field">
      <span>To</span>
      <input
        className="input input-code"
        aria-invalid={isWrong}
        spellCheck={false}
        value={to}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

function AclChoice(props: {
  readonly keepsAcls: boolean;
  readonly onChange: (keeps: boolean) => void;
}) {
  const { keepsAcls, onChange } = props;
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={keepsAcls}
        onChange={(event) => onChange(event.target.checked)}
      />
      With their ACLs; otherwise anyone may do anything
    </label>
  );
}

export function ImportDialog({ path, onClose, onChanged }: SubtreeDialogProps) {
  const { api } = useConsole();
  const [file, setFile] = useState<readonly FileNode[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [to, setTo] = useState(path);
  const [keepsAcls, setKeepsAcls] = useState(true);
  const [replaces, setReplaces] = useState(false);
  const wrong = wrongPath(to);
  const take = async (chosen: File | undefined): Promise<void> => {
    if (chosen === undefined) return;
    setFile(null);
    if (chosen.size > FILE_BYTES_MAX) return setProblem('This file has more than 100 MB.');
    const read = readFileText(await chosen.text());
    setProblem(read.kind === 'wrong' ? read.sentence : null);
    if (read.kind !== 'nodes') return;
    setFile(read.nodes);
    setTo(childOf(path, read.path === '/' || read.path === '' ? 'imported' : nameOf(read.path)));
  };
  return (
    <PlanDialog
      title={`Import below ${shown(path)}`}
      verb="Import"
      isReady={file !== null && wrong === null}
      form={
        <>
          <label className="field">
            <span>A file that the console has exported</span>
            <input
              type="file"
              accept=".json,application/json"
              onClick={(event) => {
                // Otherwise the browser says nothing when a file is chosen again that was mended.
                event.currentTarget.value = '';
                setFile(null);
                setProblem(null);
              }}
              onChange={(event) => {
                take(event.target.files?.[0]).catch(reportError);
              }}
            />
          </label>
          {problem === null ? null : <p className="form-problem">{problem}</p>}
          {file === null ? null : <p className="soft">It has {counted(file.length, 'znode')}.</p>}
          <PlaceField to={to} isWrong={wrong !== null} onChange={setTo} />
          <AclChoice keepsAcls={keepsAcls} onChange={setKeepsAcls} />
          <label className="check">
            <input
              type="checkbox"
              checked={replaces}
              onChange={(event) => setReplaces(event.target.checked)}
            />
            Replace data that is different there
          </label>
        </>
      }
      makePlan={async (signal, onProgress) => {
        const nodes = file ?? [];
        const there = new Map<string, { version: number; data: Uint8Array }>();
        for (const [index, node] of nodes.entries()) {
          const at = placeOf(node, to);
          // What is below a znode that is not there is not there either.
          if (node.path !== '' && !there.has(parentOf(at))) continue;
          const known = await dataThere(api, at, signal);
          if (known !== null) there.set(at, known);
          onProgress(index + 1);
        }
        return importPlan(api, nodes, { to, keepsAcls, there, replaces });
      }}
      onClose={onClose}
      onRan={() => onChanged(to)}
    />
  );
}

async function dataThere(
  api: Parameters<typeof readData>[0],
  path: string,
  signal: AbortSignal,
): Promise<{ version: number; data: Uint8Array } | null> {
  try {
    const { bytes, version } = await readData(api, path, signal);
    return { version, data: bytes };
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}
