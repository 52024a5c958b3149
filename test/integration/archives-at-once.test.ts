// Exports and imports that several requests begin, delete and read at the same moment.

import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { exportPiecesPrefix } from '../../src/bindings.ts'
import { type Client, client } from '../helpers/app.ts'
import { exported } from '../helpers/archive.ts'
import { archiveOf, importEnd, someone, uploadArchive } from '../helpers/importable.ts'

const ROUNDS = 6

async function anExport(by: Client) {
  expect((await by.ask('/api/export', { method: 'POST' })).status).toBe(202)
  return exported(by)
}

async function statuses(by: Client, path: string, asked: readonly [string, object?][]): Promise<number[]> {
  const replies = await Promise.all(asked.map(([method, body]) => by.ask(path, { method, ...(body && { body }) })))
  await Promise.all(replies.map((reply) => reply.arrayBuffer()))
  return replies.map(({ status }) => status)
}

test('exports that are begun and deleted at the same moment are answered as declared, and the last one is whole', async () => {
  const { by } = await someone()
  for (let round = 0; round < ROUNDS; round++) {
    await anExport(by)
    const found = await statuses(by, '/api/export', [
      ...[['POST'], ['POST'], ['DELETE'], ['GET'], ['POST'], ['DELETE'], ['POST']],
    ] as [string][])
    expect(found.filter((status) => ![200, 202, 404, 409].includes(status))).toEqual([])
  }
  const { entries } = await anExport(by)
  expect(entries.has('manifest.json')).toBe(true)
})

test('an export whose pieces are gone is answered with 404, not broken off', async () => {
  const { by } = await someone()
  const { standing } = await anExport(by)
  const { objects } = await env.FILES.list({ prefix: exportPiecesPrefix(by.owner, standing.export_id) })
  expect(objects.length).toBeGreaterThan(0)
  await env.FILES.delete(objects.map(({ key }) => key))
  expect((await by.ask('/api/export')).status).toBe(404)
})

test('of imports that are begun at the same moment one stands, and what is sent for it arrives', async () => {
  const { by } = await someone()
  const archive = await archiveOf(by)
  const other = await client({ owner: `taker-${crypto.randomUUID()}` })
  for (let round = 0; round < ROUNDS; round++) {
    const begin: [string, object] = ['POST', { bytes: 2_000 }]
    const found = await statuses(other, '/api/import', [begin, begin, ['DELETE'], begin, ['DELETE'], begin])
    expect(found.filter((status) => ![200, 202, 404].includes(status))).toEqual([])
  }
  await uploadArchive(other, archive)
  expect(await importEnd(other)).toMatchObject({ phase: 'done', problem: null, archive_owner: by.owner })
})
