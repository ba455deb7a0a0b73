import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    alias: {
      '@rookery/protocol': new URL('./protocol/src/index.ts', import.meta.url).pathname,
    },
  },
  test: { include: ['{protocol,server,client,cli,test,bench}/src/**/*.test.ts'] },
});
