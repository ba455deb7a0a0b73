/**
 * What went wrong with a request, as one class: a refusal of the API with its sentence, or a
 * member that was not reached.
 */
export interface ProblemFacts {
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** A sentence for people. */
  readonly detail: string;
  /** ZooKeeper's code, where servers have refused the operation itself. */
  readonly code?: number | null;
}

export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  readonly code: number | null;

  constructor({ status, detail, code = null }: ProblemFacts) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** The HTTP status of a refusal; null for anything else that was thrown. */
export function statusOf(error: unknown): number | null {
  return error instanceof ApiProblem ? error.status : null;
}

/** The znode is missing, closed by its ACL, of another version by now, or has children. */
const OF_ONE_ZNODE: readonly number[] = [403, 404, 409, 412];

/** Whether what failed was refused because of this one znode, so that others may go well. */
export function isRefusalOfOne(error: unknown): boolean {
  if (!(error instanceof ApiProblem) || error.code === null) return false;
  return OF_ONE_ZNODE.includes(error.status);
}

/** The sentence to show for anything that was thrown; a string is the sentence itself. */
export function sentenceOf(error: unknown): string {
  if (typeof error === 'string') return error;
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
  const { detail = `The server answered ${status}.`, code = null } = factsIn(text);
  return new ApiProblem({ status, detail, code });
}

function factsIn(text: string): { readonly detail?: string; readonly code?: number } {
  try {
    const value = JSON.parse(text) as { readonly detail?: unknown; readonly code?: unknown } | null;
    return {
      ...(typeof value?.detail === 'string' ? { detail: value.detail } : {}),
      ...(typeof value?.code === 'number' ? { code: value.code } : {}),
    };
  } catch {
    // A proxy in between answers in HTML; the status says enough.
    return {};
  }
}
