import process from 'node:process'

const { build } = await import('./build-miniflare.ts')
await build(process.argv[2] ?? '')
