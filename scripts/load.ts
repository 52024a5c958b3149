import { requireNode } from './node-version.mjs'

requireNode('npm run load')
const { main } = await import('./load/main.ts')
await main(process.argv.slice(2))
