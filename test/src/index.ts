/** Nothing here is imported: this package is its tests. */
export {};
