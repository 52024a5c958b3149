import { requireNode } from './node-version.mjs'

requireNode('npm start')
const { main } = await import('./start/main.ts')
await main()
