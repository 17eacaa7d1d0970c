import { join } from 'node:path'

import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const HERE = import.meta.dirname
const APP = join(HERE, '../app')

export default defineConfig({
  // Tailwind looks for class names here.
  root: APP,
  plugins: [replaceParts(), react(), tailwindcss()],
  build: {
    outDir: join(HERE, 'dist'),
    emptyOutDir: true,
    lib: { entry: join(HERE, 'src/index.tsx'), formats: ['es'], fileName: 'index' },
    rollupOptions: { external: [/^react($|\/)/, /^react-dom($|\/)/, /^@majlis\/client/] },
  },
})

/** The app's modules get the router and the portals of an embedded space. Its fonts would double the size; the page's
 * fonts are used if they have the same names. */
export function replaceParts(): Plugin {
  const own = { router: join(HERE, 'src/router.ts'), radix: join(HERE, 'src/radix.tsx'), pdf: join(HERE, 'src/PdfPages.tsx') }
  return {
    name: 'majlis-embed',
    enforce: 'pre',
    resolveId(source, importer) {
      if (importer === own.router || importer === own.radix) return null
      if (source === 'radix-ui') return own.radix
      if (source.endsWith('/PdfPages.tsx')) return own.pdf
      return source.endsWith('/router.ts') && importer?.startsWith(APP) ? own.router : null
    },
    transform: (code, id) => (id.includes('/styles/app.css') ? code.replace('@import "./fonts.css";', '') : null),
  }
}
