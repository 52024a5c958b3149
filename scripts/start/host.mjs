import './compile-cache.mjs'

const { runHost } = await import('./host.ts')
runHost()
