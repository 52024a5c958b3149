import process from 'node:process'
import { requireNode } from './node-version.mjs'

const [, , command, ...args] = process.argv
requireNode(`npm run ${command}`)
const { main } = await import('./backup/main.ts')
await main(command, args)
