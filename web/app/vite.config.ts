import { gzipSync } from 'node:zlib'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig, type Plugin } from 'vite'

const OUT = '../../src/majlis/web_dist'
const BUDGET_KB = 200

export default defineConfig({
  plugins: [react(), tailwindcss(), copyDecoders(), compress()],
  // Use the sources of the client, not its last build.
  resolve: { conditions: ['@majlis/source', ...defaultClientConditions] },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    // The content security policy blocks inline scripts and data: fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Browsers since early 2024: light-dark() and nesting need no transform.
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    manifest: 'manifest.json',
  },
  // Same host name as the gateway, because the session cookie is bound to it: localhost would not get the cookie.
  server: { host: '127.0.0.1', proxy: Object.fromEntries(['/api', '/page', '/sign-in', '/invite'].map((path) => [path, process.env['MAJLIS_URL'] ?? 'http://127.0.0.1:8700'])) },
})

/** pdf.js imports the decoders of scanned pages by name, at run time. WebAssembly is blocked by the content security policy. */
function copyDecoders(): Plugin {
  return {
    name: 'majlis-decoders',
    apply: 'build',
    closeBundle() {
      const packaged = createRequire(import.meta.url).resolve('pdfjs-dist/package.json')
      const { version } = JSON.parse(readFileSync(packaged, 'utf8')) as { version: string }
      for (const name of ['jbig2', 'openjpeg']) {
        const file = `${name}_nowasm_fallback.js`
        cpSync(join(packaged, '../wasm', file), join(import.meta.dirname, OUT, `assets/pdf-${version}`, file))
      }
    },
  }
}

/** Adds .gz files for the server, and fails the build if the JavaScript of the first load exceeds its budget. */
function compress(): Plugin {
  return {
    name: 'majlis-compress',
    apply: 'build',
    closeBundle() {
      const folder = join(import.meta.dirname, OUT)
      const assets = join(folder, 'assets')
      for (const name of readdirSync(assets, { recursive: true, encoding: 'utf8' }).filter((each) => /\.(m?js|css|svg)$/.test(each))) {
        writeFileSync(join(assets, `${name}.gz`), gzipSync(readFileSync(join(assets, name)), { level: 9 }))
      }
      const first = firstScripts(folder)
      const size = first.reduce((sum, name) => sum + readFileSync(join(folder, `${name}.gz`)).length, 0) / 1024
      console.log(`web: the first load has ${size.toFixed(1)} KB of JavaScript (gzip), the limit is ${BUDGET_KB} KB`)
      if (size > BUDGET_KB) throw new Error(`The first load has ${size.toFixed(1)} KB of JavaScript (gzip); the limit is ${BUDGET_KB} KB. Load more code on demand.`)
    },
  }
}

interface Chunk {
  file: string
  isEntry?: boolean
  imports?: string[]
}

/** The entry chunk and its static imports. */
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
