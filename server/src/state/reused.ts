/**
 * The type of an object that is overwritten for each request or transaction: what happens a million
 * times a second makes no garbage. Others get it as `T`, which they cannot change.
 */
export type Reused<T> = { -readonly [Field in keyof T]: T[Field] };
