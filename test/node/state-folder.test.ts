// Whose a state folder is, when two want it in the same moment.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { takeStateFolder } from '../../scripts/start/state-folder.ts'

function rig() {
  const place = mkdtempSync(join(tmpdir(), 'bellwether-state-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  const state = join(place, 'far/state')
  return { place, state, pidFile: join(state, 'start/pid') }
}

/** A process that has the name of a service. */
async function service(place: string): Promise<number> {
  const program = join(place, 'scripts/start.mjs')
  mkdirSync(join(place, 'scripts'))
  writeFileSync(program, 'setInterval(() => {}, 1000); console.log("here")')
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child.pid ?? 0
}

test('one that looks while another one takes the folder waits, and is told who has it', async () => {
  const { place, state, pidFile } = rig()
  mkdirSync(join(state, 'start'), { recursive: true })
  const other = new DatabaseSync(join(state, 'start/lock'))
  other.exec('BEGIN EXCLUSIVE')
  const taking = takeStateFolder(state)
  const outcome = taking.then(
    () => 'taken',
    ({ message }: Error) => message,
  )
  const pid = await service(place)
  expect(existsSync(pidFile)).toBe(false)
  writeFileSync(pidFile, `${pid}\n`)
  other.close()
  expect(await outcome).toContain(`is in use by process ${pid}.`)
  expect(readFileSync(pidFile, 'utf8')).toBe(`${pid}\n`)
})

test('who gives a folder back takes along what was made for it, and nothing else', async () => {
  const { place, state, pidFile } = rig()
  const taken = await takeStateFolder(state)
  expect(readFileSync(pidFile, 'utf8')).toBe(`${process.pid}\n`)
  taken.release()
  expect(readdirSync(place)).toEqual([])
  const again = await takeStateFolder(state)
  writeFileSync(join(state, 'kept'), '')
  again.release()
  expect(readdirSync(state)).toEqual(['kept'])
})
