import { lstatAt } from '../../../workspace/stat.ts'
import { parseArguments } from '../arguments.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { MODE } from '../objects.ts'
import type { Pathspec } from '../pathspec.ts'
import { stage } from '../staging.ts'

const OPTIONS = [
  'all|A|no-ignore-removal',
  'update|u',
  'force|f',
  'verbose|v',
  'dry-run|n',
  'chmod=',
  'intent-to-add|N',
]

export async function add(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('add', OPTIONS, args)
  options.assertOne('all', 'update')
  const repo = git.repo()
  const isEverything = options.has('all') || options.has('update')
  if (options.rest.length === 0 && !isEverything) {
    git.err(
      "Nothing specified, nothing added.\nhint: Maybe you wanted to say 'git add .'?\n" +
        'hint: Turn this message off by running\nhint: "git config advice.addEmptyPathspec false"',
    )
    return 0
  }
  const mode = options.value('chmod')
  if (mode !== null && mode !== '+x' && mode !== '-x') throw fatal(`--chmod param '${mode}' must be either -x or +x`)
  const pathspec = git.pathspec(options.rest)
  const how = { untracked: !options.has('update'), force: options.has('force'), intends: options.has('intent-to-add') }
  const filter = (path: string) => pathspec.matches(path)
  // If one of the paths is invalid, nothing is added.
  await stage(repo, { ...how, filter, dryRun: true })
  const ignored = await checkUnmatched(git, pathspec)
  const { changes, embedded } = await stage(repo, { ...how, filter, dryRun: options.has('dry-run') })
  if (options.has('verbose') || options.has('dry-run')) {
    for (const { path, isRemoval } of changes) git.line(`${isRemoval ? 'remove' : 'add'} '${path}'`)
  }
  for (const path of embedded) git.err(`warning: adding embedded git repository: ${path}`)
  if (mode !== null) await changeModes(git, pathspec, mode)
  if (ignored.length > 0) throw refuseIgnored(ignored)
  return 0
}

/** The given paths that are ignored. A given path that does not exist is an error. */
async function checkUnmatched(git: Invocation, pathspec: Pathspec): Promise<string[]> {
  const repo = git.repo()
  const ignored: string[] = []
  for (const given of pathspec.unmatched()) {
    const full = git.resolve(given)
    const path = full.slice(repo.root === '/' ? 1 : repo.root.length + 1)
    const stat = lstatAt(git.fs, full)
    if (!stat) throw fatal(`pathspec '${given}' did not match any files`)
    if (await repo.ignored.ignores(path, stat.kind === 'directory')) ignored.push(path)
  }
  return ignored
}

function refuseIgnored(paths: string[]): GitFailure {
  return new GitFailure(
    `The following paths are ignored by one of your .gitignore files:\n${paths.join('\n')}\n` +
      'hint: Use -f if you really want to add them.\nhint: Turn this message off by running\n' +
      'hint: "git config advice.addIgnoredFile false"',
    1,
  )
}

async function changeModes(git: Invocation, pathspec: Pathspec, mode: string): Promise<void> {
  const index = await git.repo().index()
  for (const entry of [...index.entries]) {
    if (entry.mode !== MODE.file && entry.mode !== MODE.executable) continue
    if (pathspec.matches(entry.path)) index.set({ ...entry, mode: mode === '+x' ? MODE.executable : MODE.file })
  }
  await git.repo().saveIndex(index)
}
