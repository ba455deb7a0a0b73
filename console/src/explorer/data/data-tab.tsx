/**
 * The data of a znode: what it is found to be, in the form that reads best, or any other one; and
 * the way to change it.
 */
import { lazy, Suspense, useState } from 'react';
import { useConsole } from '../../console-context.js';
import { useShortcuts } from '../../keyboard/use-shortcuts.js';
import { Icon } from '../../ui/icon.js';
import { Notice } from '../../ui/notice.js';
import { saveAs } from '../../ui/save-as.js';
import { type Draft, draftOf } from '../edit/draft.js';
import { useDrafts } from '../edit/drafts.js';
import { EditPanel } from '../edit/edit-panel.js';
import type { OpenNode } from '../node/use-node.js';
import { nameOf } from '../paths.js';
import { sizeInWords } from '../words.js';
import type { Content, Language } from './detect.js';
import { HexView } from './hex-view.js';
import { PayloadView } from './payload-view.js';

const CodeView = lazy(async () => ({ default: (await import('../edit/code-view.js')).CodeView }));

type View = 'laid out' | 'text' | 'hex';

const LANGUAGES: Readonly<Record<Language, string>> = {
  json: 'JSON',
  yaml: 'YAML',
  xml: 'XML',
  properties: 'Properties',
  text: 'Text',
};

export interface DataTabProps {
  readonly path: string;
  readonly node: OpenNode;
}

export function DataTab({ path, node }: DataTabProps) {
  const { can } = useConsole();
  const drafts = useDrafts();
  const [draft, setDraft] = useState<Draft | null>(() => drafts.get(path) ?? null);
  const { content, version, facts } = node;
  const canEdit = can('PUT', '/node/data');
  const mayEdit = canEdit && facts?.may.write === true;
  const keep = (changed: Draft | null): void => {
    setDraft(changed);
    if (changed === null) drafts.delete(path);
    else drafts.set(path, changed);
  };
  const edit = (): void => {
    if (content !== null && mayEdit && draft === null) keep(draftOf(content, version));
  };
  useShortcuts(canEdit ? [{ keys: 'e', title: 'Edit the data', group: 'Znode', run: edit }] : []);
  if (content === null) return null;
  if (draft !== null && canEdit) {
    return (
      <EditPanel
        path={path}
        draft={draft}
        newestVersion={version}
        onChange={keep}
        onEnd={(isSaved) => {
          keep(null);
          if (isSaved) node.reload().catch(reportError);
        }}
      />
    );
  }
  const editButton = canEdit ? (
    <button
      type="button"
      className="button button-small"
      disabled={!mayEdit}
      title={mayEdit ? 'Edit (e)' : 'The ACL does not let you write'}
      onClick={edit}
    >
      <Icon name="pencil" /> Edit
    </button>
  ) : null;
  return <ShownData path={path} content={content} action={editButton} />;
}

interface ShownDataProps {
  readonly path: string;
  readonly content: Content;
  readonly action: React.ReactNode;
}

function ShownData({ path, content, action }: ShownDataProps) {
  const { bytes, unzipped, zipProblem, body, payload } = content;
  const inside = unzipped ?? bytes;
  const views = viewsOf(content);
  const [chosen, setChosen] = useState<View | null>(null);
  const view = views.find((one) => one === chosen) ?? views[0] ?? 'hex';
  return (
    <div className="data-tab">
      <div className="data-bar">
        <span className="badge badge-accent">{nameOfKind(content)}</span>
        {unzipped === null ? null : <span className="badge">gzip</span>}
        <span className="soft">
          {unzipped === null
            ? sizeInWords(bytes.length)
            : `${sizeInWords(bytes.length)}, ${sizeInWords(unzipped.length)} unzipped`}
        </span>
        <span className="bar-gap" />
        <ViewChoice views={views} view={view} onChoose={setChosen} />
        <CopyButton text={body.kind === 'text' ? body.text : null} />
        <button
          type="button"
          className="button button-quiet button-small"
          onClick={() => saveAs(bytes, nameOf(path))}
        >
          <Icon name="download" /> Save as
        </button>
        {action}
      </div>
      {zipProblem === null ? null : <Notice kind="warn">{zipProblem}</Notice>}
      {payload === null ? null : <PayloadView payload={payload} />}
      <div className="data-body">
        {inside.length === 0 ? (
          <p className="empty">It has no data.</p>
        ) : body.kind === 'binary' || view === 'hex' ? (
          <HexView bytes={inside} />
        ) : (
          <Suspense fallback={<output className="asking">Loading the viewer …</output>}>
            <CodeView
              key={view}
              text={view === 'laid out' ? (body.pretty ?? body.text) : body.text}
              language={body.isTooDeep ? 'text' : body.language}
              label="Data"
            />
          </Suspense>
        )}
      </div>
    </div>
  );
}

function viewsOf({ body }: Content): readonly View[] {
  if (body.kind === 'binary') return ['hex'];
  return body.pretty === null ? ['text', 'hex'] : ['laid out', 'text', 'hex'];
}

function nameOfKind({ body, unzipped, bytes }: Content): string {
  if ((unzipped ?? bytes).length === 0) return 'Empty';
  return body.kind === 'binary' ? 'Binary' : LANGUAGES[body.language];
}

interface ViewChoiceProps {
  readonly views: readonly View[];
  readonly view: View;
  readonly onChoose: (view: View) => void;
}

function ViewChoice({ views, view, onChoose }: ViewChoiceProps) {
  if (views.length < 2) return null;
  return (
    <fieldset className="segments">
      <legend className="visually-hidden">Shown as</legend>
      {views.map((one) => (
        <label key={one} className={one === view ? 'segment is-chosen' : 'segment'}>
          <input
            type="radio"
            name="view"
            className="visually-hidden"
            checked={one === view}
            onChange={() => onChoose(one)}
          />
          {one}
        </label>
      ))}
    </fieldset>
  );
}

/** The clipboard is there only where the page comes by HTTPS, or from this machine. */
function CopyButton({ text }: { readonly text: string | null }) {
  const [isCopied, setIsCopied] = useState(false);
  if (text === null || navigator.clipboard === undefined) return null;
  return (
    <button
      type="button"
      className="button button-quiet button-small"
      onClick={() => {
        navigator.clipboard
          .writeText(text)
          .then(() => setIsCopied(true))
          // The browser may refuse; then nothing says that it was copied.
          .catch(() => setIsCopied(false));
      }}
    >
      <Icon name={isCopied ? 'check' : 'copy'} /> {isCopied ? 'Copied' : 'Copy text'}
    </button>
  );
}
