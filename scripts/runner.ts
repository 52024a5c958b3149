// `npm run runner`: the runner of this repository, connected to the local service unless its own options say otherwise.

import { requireNode } from './node-version.mjs'

requireNode('npm run runner')
const { runnerArguments } = await import('./start/local-runner.ts')
process.argv.splice(2, Infinity, ...runnerArguments(process.argv.slice(2), process.env))
await import('../runner/src/main.ts')
