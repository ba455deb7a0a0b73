/** What applications import; so far, what the tests need. */
export {};
