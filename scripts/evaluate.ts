import { requireNode } from './node-version.mjs'

requireNode('npm run evaluate')
const { main } = await import('./evaluate/main.ts')
const { UsageError } = await import('./evaluate/options.ts')
try {
  await main(process.argv.slice(2))
} catch (error) {
  // An invalid option is reported in one line; an unexpected error keeps its stack.
  if (!(error instanceof UsageError)) throw error
  console.error(error.message)
  process.exitCode = 2
}
