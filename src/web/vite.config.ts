import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  root: here('.'),
  publicDir: here('./public'),
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: here('../../dist/web'),
    emptyOutDir: true,
    assetsDir: 'assets',
    // Nothing inline: the content security policy allows no data: scripts or fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The API document's bundle is large by nature and loaded on its own page only.
    chunkSizeWarningLimit: 2000,
    reportCompressedSize: false,
    rolldownOptions: { input: { index: here('./index.html'), docs: here('./docs.html') } },
  },
})
