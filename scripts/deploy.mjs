import process from 'node:process'
import { requireNode } from './node-version.mjs'

requireNode('npm run deploy')
const { main } = await import('./deploy/main.ts')
await main(process.argv.slice(2))
