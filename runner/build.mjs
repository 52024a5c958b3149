// The package's program: one file, with the wire's schema of the service in it; the dependencies stay outside.

import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const folder = dirname(fileURLToPath(import.meta.url))
const { version, dependencies } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))

await build({
  entryPoints: [`${folder}/src/main.ts`],
  outfile: `${folder}/dist/main.js`,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  external: Object.keys(dependencies),
  define: { RUNNER_VERSION: JSON.stringify(version) },
  banner: { js: '#!/usr/bin/env node' },
  legalComments: 'none',
  logLevel: 'warning',
})
