// Commands that show or set single refs.

import { type Arguments, parseArguments } from '../arguments.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { removeIfThere } from '../ref-files.ts'
import { abbreviate } from '../revisions.ts'

/** All refs and their values. */
export async function showRef(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments(
    'show-ref',
    ['heads', 'tags', 'head', 'dereference|d', 'hash|s?', 'abbrev?', 'verify', 'quiet|q'],
    args,
  )
  const repo = git.repo()
  if (options.has('verify')) return verifyRefs(git, options)
  const wanted = options.rest
  let found = 1
  const rows: [string, string][] = [...(await repo.refs.list('refs/'))]
  const head = await repo.refs.resolve('HEAD')
  if (options.has('head') && head !== null) rows.unshift(['HEAD', head])
  const kinds = [options.has('heads') ? 'refs/heads/' : '', options.has('tags') ? 'refs/tags/' : ''].filter(Boolean)
  for (const [name, oid] of rows) {
    if (kinds.length > 0 && name !== 'HEAD' && !kinds.some((kind) => name.startsWith(kind))) continue
    if (
      wanted.length > 0 &&
      !(name === 'HEAD' && options.has('head')) &&
      !wanted.some((word) => name === word || name.endsWith(`/${word}`))
    )
      continue
    found = 0
    if (!options.has('quiet')) await showOne(git, options, { name, oid })
  }
  return found
}

async function verifyRefs(git: Invocation, options: Arguments): Promise<number> {
  for (const name of options.rest) {
    const isFull = name === 'HEAD' || name.startsWith('refs/')
    const oid = isFull ? await git.repo().refs.resolve(name) : null
    if (oid === null)
      throw new GitFailure(
        options.has('quiet') ? '' : `fatal: '${name}' - not a valid ref`,
        options.has('quiet') ? 1 : 128,
      )
    if (!options.has('quiet')) await showOne(git, options, { name, oid })
  }
  if (options.rest.length === 0) throw fatal('--verify requires a reference')
  return 0
}

async function showOne(
  git: Invocation,
  options: Arguments,
  { name, oid }: { name: string; oid: string },
): Promise<void> {
  const repo = git.repo()
  const length = Number(options.value('hash') || options.value('abbrev') || (options.has('abbrev') ? 7 : 40))
  const line = async (id: string, ref: string) => {
    const shown = length < 40 ? await abbreviate(repo, id, Math.max(4, length)) : id
    git.line(options.has('hash') ? shown : `${shown} ${ref}`)
  }
  await line(oid, name)
  if (!options.has('dereference')) return
  const { type } = await repo.objects.read(oid)
  if (type === 'tag') await line(await repo.peel(oid, 'commit'), `${name}^{}`)
}

/** The target of HEAD, or of another symbolic ref. */
export async function symbolicRef(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('symbolic-ref', ['short', 'quiet|q', 'delete|d', 'm='], args)
  const repo = git.repo()
  const [name, target] = options.rest
  if (name === undefined || (target !== undefined && options.has('delete')))
    throw new GitFailure('usage: git symbolic-ref [-m <reason>] <name> [<ref>]', 129)
  if (target !== undefined) {
    if (name === 'HEAD' && !target.startsWith('refs/')) throw fatal('Refusing to point HEAD outside of refs/')
    const reason = options.value('m')
    if (reason !== null && name === 'HEAD')
      await repo.refs.moveHead({ ref: target }, await git.signature('committer'), reason)
    else await repo.refs.setSymbolic(name, target)
    return 0
  }
  const found = await repo.refs.symbolicTarget(name)
  const isQuiet = options.has('quiet')
  if (found === null) throw new GitFailure(isQuiet ? '' : `fatal: ref ${name} is not a symbolic ref`, isQuiet ? 1 : 128)
  if (options.has('delete')) {
    if (name === 'HEAD') throw fatal("deleting 'HEAD' is not allowed")
    removeIfThere(repo.fs, `${repo.gitDir}/${name}`)
    return 0
  }
  git.line(options.has('short') ? found.replace(/^refs\/(heads|remotes|tags)\//, '') : found)
  return 0
}
