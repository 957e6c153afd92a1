import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/e2e/**', 'test/browser/**', 'node_modules/**'],
    testTimeout: 20_000,
    // By default one core is left idle, of two as well.
    maxWorkers: '100%',
  },
});
