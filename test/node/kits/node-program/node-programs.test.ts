// The shell's `node` beside the real one, which is the one that runs this.

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ShellRig, startShellRig } from '../../../../scripts/programs/shell-rig.ts'
import { type NodeProgram, PLACES_AND_MODULES } from '../../../support/node-programs.ts'
import { BEHAVIOUR } from '../../../support/node-programs-behaviour.ts'

type Answer = { code: number | null; output: string; errors: string }

const AT_A_TIME = 3
const OUTPUT = '/tmp/compared/output'
const ERRORS = '/tmp/compared/errors'

let rig: ShellRig
beforeAll(async () => {
  rig = await startShellRig()
})
afterAll(() => rig.stop())

async function askNode({ files, args, cwd = '', stdin = '' }: NodeProgram): Promise<Answer> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bellwether-node-')))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const env = { HOME: '/home/user', PATH: '/usr/bin:/bin' }
  const child = spawn(process.execPath, args, { cwd: join(folder, cwd), env, argv0: 'node' })
  const texts = { output: '', errors: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.errors += text
  })
  // One that does not read its input may be gone before it is written.
  child.stdin.on('error', () => undefined).end(stdin)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  rmSync(folder, { recursive: true })
  const placed = (text: string) => text.replaceAll(folder, '/workspace')
  return { code, output: placed(texts.output), errors: placed(texts.errors) }
}

async function askShell({ files, args, cwd = '', stdin = '' }: NodeProgram): Promise<Answer> {
  const command = `printf %s ${quoted(stdin)} | node ${args.map(quoted).join(' ')} >${OUTPUT} 2>${ERRORS}`
  const { output, files: left } = await rig.run({
    script: `mkdir -p ${dirname(OUTPUT)}; cd /workspace/${cwd}; ${command}; echo $?`,
    files: Object.fromEntries(Object.entries(files).map(([name, text]) => [`/workspace/${name}`, text])),
    wanted: [OUTPUT, ERRORS],
  })
  return { code: Number(output), output: left[OUTPUT] ?? '', errors: left[ERRORS] ?? '' }
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

/** What is to be the same of an answer. */
function compared({ code, output, errors }: Answer, wanted: NodeProgram['errors']) {
  if (wanted === 'same') return { code, output, errors }
  return { code, output, errors: wanted === undefined ? errors !== '' : (wanted.exec(errors)?.length ?? errors) }
}

for (const [what, programs] of [
  ['where files and modules are', PLACES_AND_MODULES],
  ['endings, order, output and files', BEHAVIOUR],
] as const) {
  test(`the shell's node and the real one answer alike: ${what}`, async () => {
    const waiting = [...programs]
    const differences: unknown[] = []
    const compareNext = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [real, ours] = await Promise.all([askNode(next), askShell(next)])
        const [wanted, got] = [compared(real, next.errors), compared(ours, next.errors)]
        if (JSON.stringify(wanted) !== JSON.stringify(got)) differences.push({ program: next.name, real, ours })
      }
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, compareNext))
    expect(programs.length).toBeGreaterThan(45)
    expect(differences).toEqual([])
  }, 300_000)
}
