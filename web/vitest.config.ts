import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

export const resolve = { conditions: ['@majlis/source', ...defaultServerConditions] }

export default defineConfig({
  resolve,
  ssr: { resolve },
  test: { isolate: false, include: ['sdk/tests/**/*.test.ts', 'app/src/**/*.test.{ts,tsx}'] },
})
