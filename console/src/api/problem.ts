/**
 * What went wrong with a request, as one class: a refusal of the API with its sentence, or a
 * member that was not reached.
 */
import type { Stat } from './types.js';

export interface ProblemFacts {
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** A sentence for people. */
  readonly detail: string;
  /** The name of ZooKeeper's error, such as `badVersion`; null where there is none. */
  readonly error?: string | null;
  readonly path?: string | null;
  /** With status 412, what the znode is by now. */
  readonly stat?: Stat | null;
}

export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  readonly error: string | null;
  readonly path: string | null;
  readonly stat: Stat | null;

  constructor({ status, detail, error = null, path = null, stat = null }: ProblemFacts) {
    super(detail);
    this.status = status;
    this.error = error;
    this.path = path;
    this.stat = stat;
  }
}

/** The sentence to show for anything that was thrown. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ApiProblem) return error.message;
  if (error instanceof Error) return `The console failed: ${error.message}`;
  return 'The console failed.';
}

export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Reads an answer that is no success; what is no problem in JSON gets a sentence by its status. */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const { status } = response;
  const text = await response.text().catch(() => '');
  const facts = parsed(text);
  const detail = facts['detail'];
  return new ApiProblem({
    status,
    detail: typeof detail === 'string' ? detail : `The server answered ${status}.`,
    error: stringOrNull(facts['error']),
    path: stringOrNull(facts['path']),
    stat: (facts['stat'] as Stat | undefined) ?? null,
  });
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // A proxy in between answers in HTML; the status says enough.
    return {};
  }
}

function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
