/**
 * Asks whether a session is to end, says what goes with it, and ends it.
 */
import { useState } from 'react';
import { useConsole } from '../console-context.js';
import { Dialog } from '../ui/dialog.js';
import { ProblemNotice } from '../ui/notice.js';
import { clientOf, type SessionDetail } from './session.js';

export interface EndSessionProps {
  readonly detail: SessionDetail;
  readonly onClose: () => void;
  /** The leader has taken it; it takes effect with its next tick. */
  readonly onEnded: () => void;
}

const PATHS_SHOWN = 10;

export function EndSession({ detail, onClose, onEnded }: EndSessionProps) {
  const { api } = useConsole();
  const [error, setError] = useState<unknown>(null);
  const [isUnderWay, setIsUnderWay] = useState(false);
  const { session } = detail;
  const ephemeralPaths = detail.ephemeralPaths ?? [];
  const owned = Math.max(detail.ephemerals ?? 0, ephemeralPaths.length);
  const shown = ephemeralPaths.slice(0, PATHS_SHOWN);
  const end = async (): Promise<void> => {
    setIsUnderWay(true);
    try {
      await api.write('DELETE', `/sessions/${encodeURIComponent(session)}`, {});
      onEnded();
      onClose();
    } catch (problem) {
      setError(problem);
      setIsUnderWay(false);
    }
  };
  const foot = (
    <>
      <button type="button" className="button" onClick={onClose}>
        Keep it
      </button>
      <button
        type="button"
        className="button button-danger"
        disabled={isUnderWay}
        onClick={() => end().catch(reportError)}
      >
        End the session
      </button>
    </>
  );
  return (
    <Dialog title={`End session ${session}?`} onClose={onClose} foot={foot}>
      <ProblemNotice error={error} />
      <p>
        {detail.address === null
          ? 'Its client is not connected. '
          : `The client at ${clientOf(detail)} is told that its session has expired. `}
        {owned === 0
          ? 'It owns no ephemeral znode.'
          : `${owned === 1 ? 'The znode' : `All ${owned} znodes`} that it owns will be deleted, and locks that it holds pass to the next in their order:`}
      </p>
      {owned === 0 ? null : (
        <ul className="path-list">
          {shown.map((path) => (
            <li key={path} className="path">
              {path}
            </li>
          ))}
          {owned > shown.length ? <li>and {owned - shown.length} more</li> : null}
        </ul>
      )}
    </Dialog>
  );
}
