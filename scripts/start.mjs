import process from 'node:process'
import { requireNode } from './node-version.mjs'

requireNode('npm start')
await import('./start/compile-cache.mjs')
const { main } = await import('./start/main.ts')
await main(process.argv.slice(2))
