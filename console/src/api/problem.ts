/**
 * What went wrong with a request, as one class: a refusal of the API with its sentence, or a
 * member that was not reached.
 */
export interface ProblemFacts {
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** A sentence for people. */
  readonly detail: string;
}

export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;

  constructor({ status, detail }: ProblemFacts) {
    super(detail);
    this.status = status;
  }
}

/** The HTTP status of a refusal; null for anything else that was thrown. */
export function statusOf(error: unknown): number | null {
  return error instanceof ApiProblem ? error.status : null;
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
  return new ApiProblem({ status, detail: detailIn(text) ?? `The server answered ${status}.` });
}

function detailIn(text: string): string | null {
  try {
    const value = JSON.parse(text) as { readonly detail?: unknown } | null;
    return typeof value?.detail === 'string' ? value.detail : null;
  } catch {
    // A proxy in between answers in HTML; the status says enough.
    return null;
  }
}
