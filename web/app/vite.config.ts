import { gzipSync } from 'node:zlib'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig, type Plugin } from 'vite'

const OUT = '../../src/majlis/web_dist'
const BUDGET_KB = 250

export default defineConfig({
  plugins: [react(), tailwindcss(), squeezed()],
  // The client as it is written, not as it was last built.
  resolve: { conditions: ['@majlis/source', ...defaultClientConditions] },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    // The gateway's policy allows neither inline scripts nor data: fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // light-dark() and nesting stay as written; browsers have had them since early 2024.
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    manifest: 'manifest.json',
  },
  // Where the gateway is, too: a session's cookie belongs to the name in the address, and localhost is another one.
  server: { host: '127.0.0.1', proxy: Object.fromEntries(['/api', '/page', '/sign-in'].map((path) => [path, process.env['MAJLIS_URL'] ?? 'http://127.0.0.1:8700'])) },
})

/** Puts a .gz beside every file that gains by it, and holds the page's first JavaScript to its budget. */
function squeezed(): Plugin {
  return {
    name: 'majlis-squeezed',
    apply: 'build',
    closeBundle() {
      const folder = join(import.meta.dirname, OUT)
      const assets = join(folder, 'assets')
      for (const name of readdirSync(assets).filter((each) => /\.(js|css|svg)$/.test(each))) {
        writeFileSync(join(assets, `${name}.gz`), gzipSync(readFileSync(join(assets, name)), { level: 9 }))
      }
      const first = firstScripts(folder)
      const size = first.reduce((sum, name) => sum + readFileSync(join(folder, `${name}.gz`)).length, 0) / 1024
      console.log(`web: first JavaScript ${size.toFixed(1)} KB gzip of ${BUDGET_KB}`)
      if (size > BUDGET_KB) throw new Error(`the first JavaScript has ${size.toFixed(1)} KB gzip; at most ${BUDGET_KB} are allowed`)
    },
  }
}

interface Chunk {
  file: string
  isEntry?: boolean
  imports?: string[]
}

/** The entry and everything it imports at once; what is loaded on demand does not count. */
function firstScripts(folder: string): string[] {
  const chunks = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Record<string, Chunk>
  const found = new Set<string>()
  const visit = (chunk: Chunk | undefined) => {
    if (!chunk || found.has(chunk.file)) return
    found.add(chunk.file)
    chunk.imports?.forEach((name) => visit(chunks[name]))
  }
  Object.values(chunks).filter((chunk) => chunk.isEntry).forEach(visit)
  return [...found]
}
