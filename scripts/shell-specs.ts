// Runs spec files of the Oils project, and of the interpreter that carries them, in the shell of the workspace, and prints how
// many cases end as in bash. The files are not part of this repository: they are at `packages/just-bash/src/spec-tests` of
// vercel-labs/just-bash and at `spec` of oils-for-unix/oils.
//
//   SHELL_SPECS=<folder of *.test.sh> node scripts/shell-specs.ts [part of a file's name]
//
// `SHELL_SPECS_DETAILS` names a file for the cases that fail.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runScript } from '../src/kits/shell/index.ts'
import { MemoryFileSystem } from '../test/support/memory-file-system.ts'
import { SPEC_COMMANDS } from './shell-specs/commands.ts'
import { casesOf, type SpecCase } from './shell-specs/format.ts'

const CASE_TIMEOUT_MS = 5000
const ENVIRONMENT = { HOME: '/tmp', TMP: '/tmp', TMPDIR: '/tmp', SH: 'bash' }

interface Result {
  file: string
  spec: SpecCase
  passed: boolean
  output: string
  exitCode: number
}

const folder = process.env.SHELL_SPECS
if (!folder) {
  console.error('SHELL_SPECS=<folder of *.test.sh> node scripts/shell-specs.ts [part of a file name]')
  process.exit(2)
}
const part = process.argv[2] ?? ''
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.test.sh') && name.includes(part))
  .sort()
const results: Result[] = []
for (const file of files) {
  const own: Result[] = []
  for (const spec of casesOf(readFileSync(join(folder, file), 'utf8'))) own.push(await run(file, spec))
  console.log(`${file.padEnd(36)} ${rate(own)}`)
  results.push(...own)
}
console.log(`\nall                                  ${rate(results)}`)
console.log(`without those marked as skipped      ${rate(results.filter(({ spec }) => !spec.isSkipped))}`)
const details = process.env.SHELL_SPECS_DETAILS
if (details)
  writeFileSync(
    details,
    `${JSON.stringify(
      results.filter(({ passed }) => !passed),
      null,
      1,
    )}\n`,
  )

/** Runs the case as a file, so that its error output, whose texts differ between shells, is separate. */
async function run(file: string, spec: SpecCase): Promise<Result> {
  const fs = new MemoryFileSystem()
  await fs.write('/home/user/spec.sh', new TextEncoder().encode(`${spec.script}\n`))
  // The spec files assume this.
  fs.makeDirectory('/tmp/_tmp')
  const { output, exitCode } = await runScript({
    fs,
    script: 'bash /home/user/spec.sh 2>/dev/null',
    cwd: '/tmp',
    env: ENVIRONMENT,
    commands: SPEC_COMMANDS,
    limits: { timeoutMs: CASE_TIMEOUT_MS, maxOutputChars: 1_000_000 },
  })
  const isRight = spec.outputs.length === 0 || spec.outputs.map(plain).includes(plain(output))
  const passed = isRight && (spec.statuses.length === 0 || spec.statuses.includes(exitCode))
  return { file, spec, passed, output, exitCode }
}

/** The expected lines contain comments; trailing spaces are ignored there. */
function plain(text: string): string {
  const lines = text.split('\n').filter((line) => !line.startsWith('#'))
  return lines
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n+$/, '')
}

function rate(some: readonly Result[]): string {
  const passed = some.filter((one) => one.passed).length
  return `${passed} of ${some.length}, ${some.length === 0 ? '-' : ((100 * passed) / some.length).toFixed(1)} %`
}
