import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { LentSetup } from '../../../durable-objects/conversation/repository/on-runner.ts'
import { runSetupScript, type SetupHost } from '../../../durable-objects/conversation/repository/setup-script.ts'
import type { NewEvent } from '../../../src/agent/events.ts'
import { MemoryFileSystem } from '../../support/memory-file-system.ts'

test('a set-up script may take ten minutes, and is stopped with the conversation', async () => {
  const fs = new MemoryFileSystem()
  fs.makeDirectory('/workspace/repo/.bellwether', { recursive: true })
  await fs.write('/workspace/repo/.bellwether/setup.sh', new TextEncoder().encode('sleep 500\n'))
  const stub = env.CONVERSATION.get(env.CONVERSATION.idFromName(`setup-${crypto.randomUUID()}`))
  await runInDurableObject(stub, async (_object, { storage }) => {
    storage.sql.exec('CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)')
    const { signal } = new AbortController()
    const told: NewEvent[] = []
    const runs: Parameters<SetupHost['run']>[] = []
    const host: SetupHost = {
      sql: storage.sql,
      emit: (events) => told.push(...events) - 1,
      choose: async () => ({ kind: 'edge' }),
      isOpen: () => false,
      keyOf: (name) => name,
      filter: () => ({ push: (text) => text, end: () => '' }),
      variables: {},
      run: async (...run) => {
        runs.push(run)
        return { cwd: '/tmp', env: { A: '1' }, variables: {}, output: 'made\n', exitCode: 0 }
      },
    }
    const lent = new LentSetup(host)
    const left = await runSetupScript(host, { fs, folder: '/workspace/repo', lent }, signal)
    expect(runs).toEqual([
      [
        'source .bellwether/setup.sh',
        { cwd: '/workspace/repo', env: {}, variables: {} },
        { signal, timeoutMs: 600_000 },
      ],
    ])
    expect(left).toEqual({ cwd: '/workspace/repo', env: { A: '1' }, variables: {} })
    expect(told).toHaveLength(2)
  })
})
