import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { readArguments } from '../../scripts/start/arguments.ts'
import { freePort, HOST, requireForInspector } from '../../scripts/start/port.ts'

test('an inspector that cannot listen is refused in words, with another port to try', async () => {
  const taken = await freePort()
  await requireForInspector(taken, 8787)
  const server = createServer()
  await new Promise<void>((ready) => server.listen(taken, HOST, ready))
  onTestFinished(() => void server.close())
  const advice = `Try another: npm start -- --inspect ${taken + 1}`
  await expect(requireForInspector(taken, 8787)).rejects.toThrow(
    `The inspector cannot listen on port ${taken} (EADDRINUSE). ${advice}`,
  )
  await expect(requireForInspector(8787, 8787)).rejects.toThrow('Port 8787 belongs to the service')
})

test('the port of the inspector is read, and what is none is refused', () => {
  expect(readArguments(['--inspect', '9229']).inspectorPort).toBe(9229)
  expect(readArguments([]).inspectorPort).toBeNull()
  for (const wrong of ['abc', '0', '65536', '']) {
    expect(() => readArguments(['--inspect', wrong])).toThrow(
      `'--inspect' takes a port from 1 to 65535, not '${wrong}'`,
    )
  }
})
