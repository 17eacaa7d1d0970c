import { defineConfig } from 'vitest/config'

import { resolve } from './vitest.config.ts'

/** In a real browser against the real gateway: a house of its own for each file, three at a time, since some of them wait. */
export default defineConfig({
  resolve,
  ssr: { resolve },
  test: {
    globalSetup: ['tests/harness/chromium.ts'],
    include: ['tests/**/*.browser.ts'],
    maxWorkers: 3,
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // One second, as it comes, is not enough on a busy machine.
    expect: { poll: { timeout: 30_000 } },
  },
})
