// The second format of `git status` for scripts: with modes and ids.

import { byteOrder } from './bytes.ts'
import { isIntended } from './index-file.ts'
import type { Invocation } from './invocation.ts'
import { type FileState, NULL_ID } from './objects.ts'
import { changeKind } from './status.ts'
import type { ShownPath, StatusReport } from './status-report.ts'
import { flatTree } from './tree.ts'
import { stateAt } from './worktree.ts'

type StatusV2Options = { shown: ShownPath; end: '\n' | '\0'; isBranchShown: boolean }

export async function statusV2(git: Invocation, report: StatusReport, how: StatusV2Options): Promise<string> {
  const { shown, end } = how
  const head = how.isBranchShown ? await branchLines(git, report) : []
  const rows = await changedLines(git, report, how)
  const lines = rows.sort(([a], [b]) => byteOrder(a, b)).map(([, line]) => line)
  for (const { path, code } of report.unmerged) lines.push(await unmergedLine(git, { path, code, shown }))
  const others = report.untracked.map((path) => `? ${shown(path)}`)
  const ignored = report.ignored.map((path) => `! ${shown(path)}`)
  return [...head, ...lines, ...others, ...ignored].map((line) => line + end).join('')
}

async function branchLines(git: Invocation, { branch, upstream }: StatusReport): Promise<string[]> {
  const { oid } = await git.repo().refs.head()
  const lines = [`# branch.oid ${oid ?? '(initial)'}`, `# branch.head ${branch ?? '(detached)'}`]
  if (!upstream) return lines
  lines.push(`# branch.upstream ${upstream.name}`)
  const { distance } = upstream
  return distance ? [...lines, `# branch.ab +${distance.ahead} -${distance.behind}`] : lines
}

const octal = (state: FileState | null | undefined): string => (state?.mode ?? 0).toString(8).padStart(6, '0')

async function changedLines(
  git: Invocation,
  report: StatusReport,
  { shown, end }: StatusV2Options,
): Promise<[string, string][]> {
  const repo = git.repo()
  const index = await repo.index()
  const head = await flatTree(repo, await repo.headTree())
  const unstaged = new Map(report.unstaged.map((change) => [change.path, change]))
  const staged = new Map(report.staged.map((change) => [change.path, change]))
  return [...new Set([...staged.keys(), ...unstaged.keys()])].map((path) => {
    const [own, work] = [staged.get(path), unstaged.get(path)]
    const entry = index.get(path)
    const indexed = entry && isIntended(entry) ? null : entry
    const before = own ? own.before : (head.get(path) ?? null)
    const letters = `${own ? (own.from === undefined ? changeKind(own) : 'R') : '.'}${work ? changeKind(work) : '.'}`
    const modes = [before, indexed, work ? work.after : indexed].map(octal).join(' ')
    const ids = `${before?.oid ?? NULL_ID} ${indexed?.oid ?? NULL_ID}`
    const isSubmodule = octal(indexed ?? before) === '160000'
    const kind = isSubmodule ? `S${work && work.after?.oid !== indexed?.oid ? 'C' : '.'}..` : 'N...'
    const from = own?.from
    const name = from === undefined ? shown(path) : `${shown(path)}${end === '\0' ? '\0' : '\t'}${shown(from)}`
    const score = from === undefined ? '' : `R${own?.similarity ?? 100} `
    return [path, `${from === undefined ? 1 : 2} ${letters} ${kind} ${modes} ${ids} ${score}${name}`]
  })
}

type Unmerged = { path: string; code: string; shown: ShownPath }

async function unmergedLine(git: Invocation, { path, code, shown }: Unmerged): Promise<string> {
  const repo = git.repo()
  const index = await repo.index()
  const stages = [1, 2, 3].map((stage) => index.get(path, stage))
  const work = await stateAt(repo, path)
  const modes = [...stages, work].map(octal).join(' ')
  return `u ${code} N... ${modes} ${stages.map((entry) => entry?.oid ?? NULL_ID).join(' ')} ${shown(path)}`
}
