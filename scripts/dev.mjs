import process from 'node:process'
import { requireNode } from './node-version.mjs'

requireNode('npm run dev')
const { main } = await import('./dev/main.ts')
await main(process.argv.slice(2))
