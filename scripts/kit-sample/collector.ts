// Writes the recorders' results, one entry per line, to the file that `KIT_SAMPLE_RECORD` names.

import { createWriteStream } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { finished } from 'node:stream/promises'
import type { TestProject } from 'vitest/node'

// biome-ignore lint/style/noDefaultExport: that is how vitest reads a global setup.
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const path = process.env.KIT_SAMPLE_RECORD
  if (path === undefined) throw new Error('KIT_SAMPLE_RECORD names no file')
  const record = createWriteStream(path, { flags: 'a' })
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    record.write(`${Buffer.concat(parts).toString('utf8')}\n`, () => response.end())
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  project.provide('kitCollector', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
    await finished(record.end())
  }
}
