// The tutorial about backup, upgrade and restore, followed line by line.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { shellBlocks } from '../support/doc-commands.ts'
import { type BlockResult, type DocService, startAsWritten } from '../support/doc-service.ts'
import { needPrograms } from '../support/programs.ts'
import { ROOT } from '../support/source-tree.ts'

const PAGE = 'docs/tutorials/keep-it.md'
const FILE = 'bellwether.tar.gz'

test('the tutorial about backups brings back what was lost', async ({ skip }) => {
  needPrograms(skip, 'bash', 'curl')
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-keep-it-'))
  const state = join(folder, 'state')
  let service: DocService | null = null
  const stop = async () => {
    await service?.stop()
    service = null
  }
  onTestFinished(async () => {
    await stop()
    rmSync(folder, { recursive: true })
  })
  const answers: BlockResult[] = []
  const said: string[] = []
  const steps = ['npm start', ...shellBlocks().flatMap(({ page, text }) => (page === PAGE ? [text.trim()] : []))]
  for (const step of steps) {
    if (step === 'npm start') service = await startAsWritten(step, {}, state)
    else if (step.includes('curl')) {
      const running: DocService | null = service
      if (running === null) throw new Error(`nothing runs for: ${step}`)
      answers.push(await (running as DocService).run(step))
    } else {
      await stop()
      said.push(asked(step.replaceAll(FILE, join(folder, FILE)), state))
    }
  }
  expect(answers).toMatchObject([
    { exitCode: 0, answers: [{ conversation_id: 'kept' }, { uploaded_files: ['/workspace/notes.txt'] }] },
    { exitCode: 0, answers: [true] },
    { exitCode: 0, answers: [{ code: 'precious\n' }] },
  ])
  expect(said).toEqual([expect.stringMatching(/bellwether\.tar\.gz[\s\S]*is whole/), expect.stringContaining(state)])
})

/** What the commands print. */
function asked(script: string, state: string): string {
  const { status, stdout, stderr } = spawnSync('bash', ['-e', '-c', script], {
    cwd: ROOT,
    env: { ...process.env, BELLWETHER_STATE: state },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${script} ended with ${status}: ${stderr}`)
  return stdout
}
