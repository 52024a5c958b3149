import { requireNode } from './node-version.mjs'

requireNode('npm run dev')
const { buildConsole } = await import('./start/console.ts')
await buildConsole()
