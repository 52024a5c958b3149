// Somebody deletes the folder of a conversation under a runner that has it.

import { chownSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NEW_SESSION } from '../src/session/texts.ts'
import { startRunner } from './support/runner-process.ts'
import { sandboxed } from './support/sandboxed.ts'

const WAYS: Record<string, (folder: string) => void> = {
  'all of it': (folder) => rmSync(folder, { recursive: true, maxRetries: 20 }),
  'the files': (folder) => rmSync(join(folder, 'workspace'), { recursive: true }),
  'the files, with an empty folder in their place': (folder) => {
    renameSync(join(folder, 'workspace'), join(folder, 'moved'))
    mkdirSync(join(folder, 'workspace'))
    // A runner that root started is another user.
    const { uid, gid } = statSync(join(folder, 'moved'))
    chownSync(join(folder, 'workspace'), uid, gid)
  },
  'what the session needs': (folder) => rmSync(join(folder, 'run'), { recursive: true }),
}

for (const [kind, only] of [
  ['none', test],
  ['bwrap', sandboxed],
] as const)
  only(`a folder that is deleted between two commands costs no file and no command: isolation ${kind}`, async () => {
    const { service, folder } = await startRunner(['--isolation', kind])
    const session = await service.open('c1')
    session.tree.write('kept.txt', 'kept\n')
    await session.push()
    await session.run('echo mine > mine.txt; var=1')
    for (const [way, destroy] of Object.entries(WAYS)) {
      destroy(join(folder, 'c1'))
      const key = session.newKey()
      await expect(session.start('cat kept.txt mine.txt', { key })).rejects.toThrow('was deleted')
      await session.until(() => session.rpc === null)
      await service.open('c1')
      if (session.lastHello.tree === null) await session.push()
      await session.start('cat kept.txt mine.txt; echo "[$var]"', { key })
      const { output, outcome, tree } = await session.ended(key)
      expect([way, output, outcome.state]).toEqual([way, 'kept\nmine\n[]\n', 'ended'])
      expect([way, outcome.remarks]).toEqual([way, [NEW_SESSION]])
      expect([way, [...tree.keys()].sort()]).toEqual([way, ['kept.txt', 'mine.txt']])
    }
  })

test('a folder that is deleted in a command takes no file of the workspace with it', async () => {
  const { service, folder } = await startRunner(['--isolation', 'none'])
  const session = await service.open('c1')
  session.tree.write('kept.txt', 'kept\n')
  await session.push()
  const go = join(folder, 'go')
  const { key } = await session.start(`echo begun; until [ -e ${go} ]; do sleep 0.05; done; echo over`)
  await session.until(() => session.outputOf(key).includes('begun'))
  renameSync(join(folder, 'c1'), join(folder, 'away'))
  writeFileSync(go, '')
  const { outcome, tree } = await session.ended(key)
  expect(outcome).toMatchObject({ state: 'ended', exitCode: 0 })
  expect(outcome.remarks.join()).toContain('could not be sent')
  expect([...tree.keys()]).toEqual(['kept.txt'])
})
