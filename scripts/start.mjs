import process from 'node:process'
import { requireNode } from './node-version.mjs'

requireNode('npm start')
const { main } = await import('./start/main.ts')
await main(process.argv.slice(2))
