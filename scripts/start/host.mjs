const { runHost } = await import('./host.ts')
runHost()
