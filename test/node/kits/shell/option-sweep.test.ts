// Every option of every program: here it does what it does in the real one, or it is an error that names it. A sample of
// fixed seed; `PROOF=1` tries them all.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { gitCommand } from '../../../../src/kits/git/index.ts'
import { runScript, workspaceCommands } from '../../../../src/kits/shell/index.ts'
import { STRANGER } from '../../../../src/lib/address-policy.ts'
import { REVIEWED_OPTIONS } from '../../../fixtures/shell/reviewed-options.ts'
import { CLOSED } from '../../../helpers/policies.ts'
import { compare, type OurReport } from '../../../helpers/shell-verdict.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'
import { missingPrograms, needPrograms } from '../../../support/programs.ts'
import { RealShell } from '../../../support/real-shell-run.ts'
import { type FixtureEntry, SHELL_ENV, type ShellReport } from '../../../support/real-shell-types.ts'
import { isNamed, optionsByProgram, type TriedOption } from '../../../support/shell-options.ts'
import { summaryOf } from '../../../support/shell-tree.ts'

const ROOT = '/workspace'
const IS_PROOF = process.env.PROOF === '1'
/** One of so many, the same in every run. */
const SAMPLE = 100
const PROGRAM_TIMEOUT_MS = 1_200_000
const LIMITS = { timeoutMs: 60_000, maxOutputChars: 4_000_000 }

const folder = await mkdtemp(join(tmpdir(), 'bop-'))
const real = new RealShell(folder)
afterAll(() => rm(folder, { recursive: true, force: true }))

for (const [program, all] of optionsByProgram()) {
  test(`${program}: no option is passed over`, { timeout: PROGRAM_TIMEOUT_MS }, async ({ skip }) => {
    needPrograms(skip, ...all.slice(0, 1).flatMap(({ entry }) => missingPrograms(entry.needs)), 'bash')
    const silent: Record<string, unknown>[] = []
    for (const tried of IS_PROOF ? all : all.filter(isInSample)) {
      if (isReviewed(tried)) continue
      const answer = await real.answer(tried.entry)
      if (!answer.ok) throw new Error(`the real shell lacks ${answer.missing}`)
      const ours = await ourReport(tried)
      const verdict = verdictOf(tried, answer.report, ours)
      if (verdict !== null) silent.push(verdict)
    }
    expect(silent).toEqual([])
  })
}

/** By the sum of the letters, so that a new option changes nothing for the others. */
function isInSample({ entry }: TriedOption): boolean {
  let sum = 0
  for (const char of `${entry.id} ${entry.script}`) sum = (sum * 31 + char.charCodeAt(0)) % 1_000_003
  return sum % SAMPLE === 0
}

function isReviewed({ program, option }: TriedOption): boolean {
  const [name = ''] = option.split(/[ =]/)
  return [`${program} ${option}`, `${program} ${name}`, program].some((key) => Object.hasOwn(REVIEWED_OPTIONS, key))
}

/** Null when both do the same, when ours names what it does not do, or when both refuse it. */
function verdictOf(
  { option, entry }: TriedOption,
  wanted: ShellReport,
  ours: OurReport,
): Record<string, unknown> | null {
  const { verdict, tree } = compare(entry, wanted, ours)
  if (verdict === 'equal' || (verdict === 'other' && wanted.exitCode !== 0 && ours.exitCode !== 0)) return null
  // The option may be named by another one of its names, or the command is not there as a whole.
  const isRefused = /not available here|[Ii]nvalid (option|argument)|unrecognized option/.test(ours.output)
  if (verdict === 'loud' && (isRefused || isNamed(option, ours.output))) return null
  const { exitCode, stdout, stderr } = wanted
  return { script: entry.script, real: { exitCode, stdout, stderr }, ours: ours.output, exitCode: ours.exitCode, tree }
}

async function ourReport({ entry }: TriedOption): Promise<OurReport> {
  const fs = new MemoryFileSystem()
  const files = await real.fixture(entry.fixture)
  for (const file of files) await put(fs, file)
  // What is written into a folder touches it.
  for (const { kind, path, mtimeMs } of files) if (kind !== 'symlink') fs.utimes(`${ROOT}/${path}`, mtimeMs)
  const commands = [
    gitCommand({ policy: CLOSED, chosenBy: STRANGER }),
    ...workspaceCommands({ network: { policy: CLOSED } }),
  ]
  const run = { fs, script: entry.script, cwd: ROOT, env: { ...SHELL_ENV }, commands, limits: LIMITS }
  const { output, exitCode } = await runScript(run)
  const reader = {
    list: async (path: string) =>
      fs.list(path).map(({ name, kind }) => {
        const executable = kind === 'file' && (fs.lstat(`${path}/${name}`).mode & 0o100) !== 0
        return { name, kind, executable }
      }),
    read: (path: string) => fs.read(path),
    readLink: async (path: string) => fs.readLink(path),
  }
  return { output, exitCode, tree: await summaryOf(reader, ROOT) }
}

async function put(fs: MemoryFileSystem, file: FixtureEntry): Promise<void> {
  const path = `${ROOT}/${file.path}`
  if (file.kind === 'directory') fs.makeDirectory(path)
  else if (file.kind === 'symlink') fs.symlink(file.target, path)
  else
    await fs.write(path, new Uint8Array(Buffer.from(file.base64, 'base64')), { mode: file.executable ? 0o755 : 0o644 })
}
