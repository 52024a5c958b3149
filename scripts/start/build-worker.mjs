import process from 'node:process'

const { build } = await import('./build-worker.ts')
await build(process.argv[2] ?? '')
