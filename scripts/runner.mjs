import process from 'node:process'
import { requireNode } from './node-version.mjs'

requireNode('npm run runner')
const { main } = await import('./runner/main.ts')
await main(process.argv.slice(2))
