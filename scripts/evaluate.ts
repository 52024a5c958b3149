import { requireNode } from './node-version.mjs'

requireNode('npm run evaluate')
const { main } = await import('./evaluate/main.ts')
const { UsageError } = await import('./evaluate/options.ts')
try {
  await main(process.argv.slice(2))
} catch (error) {
  // A wrong option is told in a sentence; what nobody planned keeps its stack.
  if (!(error instanceof UsageError)) throw error
  console.error(error.message)
  process.exitCode = 2
}
