import { requireNode } from './node-version.mjs'

requireNode('npm run test:faults')
const { main } = await import('./faults/main.ts')
await main(process.argv.slice(2))
