import { requireNode } from './node-version.mjs'

requireNode('npm run bench')
const { main } = await import('./bench/main.ts')
await main(process.argv.slice(2))
