import { defineConfig } from 'vitest/config'

import { resolve } from './vitest.config.ts'

/** A real browser and a real gateway per file. Three files run at a time, because some mostly wait. */
export default defineConfig({
  resolve,
  ssr: { resolve },
  test: {
    globalSetup: ['tests/harness/chromium.ts'],
    include: ['tests/**/*.browser.ts'],
    maxWorkers: 3,
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // The default of one second is too short on a busy machine.
    expect: { poll: { timeout: 30_000 } },
  },
})
