/**
 * A request that is refused, with the status and one sentence for whoever asked.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Fields for programs beside the sentence; only `/api/v1` sends them. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    facts: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.facts = facts;
  }
}
