/**
 * A close() in progress. Its end is reported once.
 */
export class Closing {
  isDone = false;
  cancelTimer: (() => void) | null = null;
  resolve: () => void = () => undefined;
  readonly done = new Promise<void>((resolve) => {
    this.resolve = resolve;
  });
}
