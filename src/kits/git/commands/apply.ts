import { lstatAt } from '../../../workspace/stat.ts'
import { type Arguments, parseArguments } from '../arguments.ts'
import { textOf } from '../bytes.ts'
import { failed, fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { applyPatch, shownName, writeRejected } from '../patching/apply-patch.ts'
import { type FilePatch, parsePatch, reversed } from '../patching/parse-patch.ts'
import { patchNumbers, patchStat, patchSummary } from '../patching/patch-stat.ts'
import { PatchTarget } from '../patching/patch-target.ts'
import { applyThreeWay } from '../patching/three-way.ts'
import { WhitespaceReport, whitespaceAction } from '../patching/whitespace-errors.ts'

const OPTIONS = [
  'check',
  'stat',
  'numstat',
  'summary',
  'apply',
  'index',
  'cached',
  '3way|3',
  'reverse|R',
  'p=',
  'unidiff-zero',
  'recount',
  'verbose|v',
  'quiet|q',
  'whitespace=',
  'ignore-whitespace|ignore-space-change',
  'include=',
  'exclude=',
  'directory=',
  'allow-empty',
  'binary',
  'reject',
]

export async function apply(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('apply', OPTIONS, args)
  const inputs = options.rest.length > 0 ? options.rest : ['-']
  const action = whitespaceAction(options.value('whitespace') ?? (await git.setting('apply.whitespace')))
  const report = new WhitespaceReport(git, action, options.has('quiet'))
  const shows = ['stat', 'numstat', 'summary'].some((name) => options.has(name))
  const applies = options.has('check') || !shows || options.has('apply')
  // One input after another, like git: the changes of the first one stay if the second does not apply.
  for (const name of inputs) {
    const files = await filesOf(git, name, { options, report, applies })
    if (applies) await put(git, files, { options, report })
    if (shows) show(git, files, options)
  }
  report.conclude()
  return 0
}

type ApplyContext = { options: Arguments; report: WhitespaceReport }

async function filesOf(
  git: Invocation,
  name: string,
  context: ApplyContext & { applies: boolean },
): Promise<FilePatch[]> {
  const { options, report, applies } = context
  const text = name === '-' ? git.stdin : await textFrom(git, name)
  const strip = Number(options.value('p') ?? 1)
  if (!Number.isInteger(strip) || strip < 0) throw fatal(`option -p expects a non-negative integer`)
  const all = parsePatch(text, { strip, recounts: options.has('recount'), applies })
  if (all.length === 0 && !options.has('allow-empty'))
    throw failed('No valid patches in input (allow with "--allow-empty")', 128)
  const turned = options.has('reverse') ? all.map(reversed).reverse() : all
  const source = name === '-' ? '<stdin>' : name
  for (const file of turned) report.checkLines(file, source)
  return turned
    .map((file) => ({ ...moved(file, options.value('directory')), source }))
    .filter((file) => isWanted(git, file, options))
}

async function textFrom(git: Invocation, name: string): Promise<string> {
  const path = git.resolve(name)
  const stat = lstatAt(git.fs, path)
  if (!stat) throw failed(`can't open patch '${name}': No such file or directory`, 128)
  if (stat.kind === 'directory') throw failed(`can't open patch '${name}': Is a directory`, 128)
  return textOf(await git.fs.read(path))
}

function moved(file: FilePatch, folder: string | null): FilePatch {
  if (folder === null) return file
  const below = (path: string | null) => (path === null ? null : `${folder.replace(/\/+$/, '')}/${path}`)
  return { ...file, oldPath: below(file.oldPath), newPath: below(file.newPath) }
}

/** In a subfolder of a repository, paths outside it are ignored. */
function isWanted(git: Invocation, { oldPath, newPath }: FilePatch, options: Arguments): boolean {
  const path = newPath ?? oldPath ?? ''
  const prefix = git.hasRepo() ? git.cwd.slice(git.repo().root.length + 1) : ''
  if (prefix !== '' && !path.startsWith(`${prefix}/`)) return false
  const matches = (pattern: string) =>
    new RegExp(
      `^${pattern
        .replace(/[.+^${}()|[\]\\]/g, '\\$&')
        .replace(/\*+/g, '.*')
        .replaceAll('?', '.')}$`,
    ).test(path)
  for (const name of ['include', 'exclude']) {
    if (options.all(name).some((pattern) => pattern.length > 200)) throw fatal(`the pattern of --${name} is too long`)
  }
  if (options.all('exclude').some(matches)) return false
  return !options.has('include') || options.all('include').some(matches)
}

async function put(git: Invocation, files: readonly FilePatch[], { options, report }: ApplyContext): Promise<void> {
  const isThreeWay = options.has('3way')
  if (isThreeWay && options.has('cached')) throw fatal('--3way with --cached is not available here')
  const place = options.has('cached') ? 'index' : options.has('index') || isThreeWay ? 'both' : 'worktree'
  if (place !== 'worktree') git.repo()
  if (isThreeWay) {
    if (options.has('check')) throw fatal('--3way with --check is not available here')
    await applyThreeWay(git, files)
    return
  }
  const target = new PatchTarget(git, place)
  if (options.has('reject') && (isThreeWay || place === 'index'))
    throw fatal(`--reject with --${isThreeWay ? '3way' : 'cached'} is not available here`)
  const outcome = await applyPatch(target, files, {
    ignoresBlanks: options.has('ignore-whitespace'),
    isWithoutContext: options.has('unidiff-zero'),
    ...(!options.has('check') && { report }),
    isVerbose: options.has('verbose') || options.has('reject'),
    rejects: options.has('reject'),
  })
  const { errors, remarks } = outcome
  if (options.has('reject') && errors.length > 0 && !options.has('check')) {
    await target.write({ isWhole: false })
    await writeRejected(target, outcome)
  }
  if (options.has('verbose')) for (const remark of remarks) git.err(remark)
  // Hunks that would be rejected do not make a check fail.
  if (errors.length > 0 && !(options.has('reject') && options.has('check')))
    throw new GitFailure(options.has('quiet') ? '' : errors.join('\n'), 1)
  if (options.has('check') || report.forbids) return
  await target.write()
  if (options.has('verbose')) for (const file of files) git.err(`Applied patch ${shownName(file)} cleanly.`)
}

function show(git: Invocation, files: readonly FilePatch[], options: Arguments): void {
  if (options.has('stat')) git.out(patchStat(files))
  if (options.has('numstat')) git.out(patchNumbers(files))
  if (options.has('summary')) git.out(patchSummary(files))
}
