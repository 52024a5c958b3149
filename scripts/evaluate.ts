import { requireNode } from './node-version.mjs'

requireNode('npm run evaluate')
const { main } = await import('./evaluate/main.ts')
await main(process.argv.slice(2))
