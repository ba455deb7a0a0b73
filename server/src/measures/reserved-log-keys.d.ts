/**
 * The keys that pino itself writes into every line: what is logged may have none of them, or the
 * line has the key twice, and each reader takes another one of the two. The compiler refuses it.
 */
import 'pino';

declare module 'pino' {
  namespace pino {
    interface LogFnFields {
      readonly level?: never;
      readonly time?: never;
      readonly pid?: never;
      readonly hostname?: never;
      readonly msg?: never;
    }
  }
}
