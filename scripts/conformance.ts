import { requireNode } from './node-version.mjs'

requireNode('npm run conformance')
const { main } = await import('./conformance/main.ts')
await main(process.argv.slice(2))
