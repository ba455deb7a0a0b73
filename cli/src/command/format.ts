/**
 * The formats that `-o` takes.
 */
export type Format = 'table' | 'json' | 'yaml' | 'raw';
export const FORMATS: readonly Format[] = ['table', 'json', 'yaml', 'raw'];
