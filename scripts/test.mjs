import { requireNode } from './node-version.mjs'

requireNode('npm test')
const { main } = await import('./test/main.ts')
await main(process.argv.slice(2))
