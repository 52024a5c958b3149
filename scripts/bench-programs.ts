import { requireNode } from './node-version.mjs'

requireNode('npm run bench:programs')
const { main } = await import('./programs/bench.ts')
await main()
