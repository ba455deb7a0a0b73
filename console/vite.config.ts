/**
 * Builds the console into static files with hashed names, which work below any path.
 *
 * Nothing is inlined: the page runs under a Content-Security-Policy that allows files of its own
 * origin alone. Code that few people need (editors, charts) is in chunks of its own.
 */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig(({ command }) => {
  // A build within a test has another NODE_ENV, with which React would be a third larger and slow.
  if (command === 'build') process.env['NODE_ENV'] = 'production';
  return {
    base: './',
    plugins: [react()],
    build: {
      outDir: 'dist/web',
      emptyOutDir: true,
      assetsInlineLimit: 0,
      target: ['chrome111', 'firefox114', 'safari16.4'],
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  };
});
