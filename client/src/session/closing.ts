/**
 * A close under way, and its end, which comes once.
 */
export class Closing {
  isDone = false;
  cancelTimer: (() => void) | null = null;
  resolve: () => void = () => undefined;
  readonly done = new Promise<void>((resolve) => {
    this.resolve = resolve;
  });
}
