import { lstatAt } from '../../../workspace/stat.ts'
import { type Arguments, parseArguments } from '../arguments.ts'
import { fatal } from '../failure.ts'
import type { IgnoreDecision } from '../ignore-rules.ts'
import type { Invocation } from '../invocation.ts'

const OPTIONS = ['quiet|q', 'verbose|v', 'non-matching|n', 'stdin', 'z', 'no-index']

/** Shows which of the paths are ignored, and by which rule. */
export async function checkIgnore(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('check-ignore', OPTIONS, args)
  if (options.has('stdin') && options.rest.length > 0) throw fatal('cannot specify pathnames with --stdin')
  if (!options.has('stdin') && options.rest.length === 0) throw fatal('no path specified')
  if (options.has('z') && !options.has('stdin')) throw fatal('-z only makes sense with --stdin')
  if (options.has('quiet') && options.rest.length > 1) throw fatal('--quiet is only valid with a single pathname')
  if (options.has('quiet') && options.has('verbose')) throw fatal('cannot have both --quiet and --verbose')
  if (options.has('non-matching') && !options.has('verbose')) throw fatal('--non-matching is only valid with --verbose')
  const end = options.has('z') ? '\0' : '\n'
  const given = options.has('stdin') ? git.stdin.split(end).filter((line) => line !== '') : options.rest
  let exitCode = 1
  for (const name of given) {
    const decision = await decisionOn(git, name, options)
    const isListed = decision !== null && (options.has('verbose') || !decision.rule.startsWith('!'))
    if (isListed) exitCode = 0
    if (options.has('quiet') || !(isListed || options.has('non-matching'))) continue
    git.out(shown(git, options, { name, decision }))
  }
  return exitCode
}

async function decisionOn(git: Invocation, name: string, options: Arguments): Promise<IgnoreDecision | null> {
  const repo = git.repo()
  const full = git.resolve(name)
  const path = full.slice(repo.root === '/' ? 1 : repo.root.length + 1)
  if (!options.has('no-index') && (await repo.index()).get(path)) return null
  return repo.ignored.decision(path, name.endsWith('/') || lstatAt(git.fs, full)?.kind === 'directory')
}

type CheckedName = { name: string; decision: IgnoreDecision | null }

function shown(git: Invocation, options: Arguments, { name, decision }: CheckedName): string {
  if (options.has('z')) {
    if (!options.has('verbose')) return `${name}\0`
    return `${decision?.source ?? ''}\0${decision?.line ?? ''}\0${decision?.rule ?? ''}\0${name}\0`
  }
  const path = git.repo().quoted(name)
  if (!options.has('verbose')) return `${path}\n`
  return `${decision ? `${decision.source}:${decision.line}:${decision.rule}` : '::'}\t${path}\n`
}
