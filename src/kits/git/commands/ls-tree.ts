import { type Arguments, parseArguments } from '../arguments.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { MODE, parseTree, type TreeEntry } from '../objects.ts'
import { relativeTo } from '../pathspec.ts'
import { abbreviate, revision } from '../revisions.ts'

const OPTIONS = [
  'r',
  't',
  'd',
  'long|l',
  'name-only|name-status',
  'object-only',
  'z',
  'full-name',
  'full-tree',
  'abbrev?',
]

export async function lsTree(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('ls-tree', OPTIONS, args)
  options.assertOne('long', 'name-only', 'object-only')
  const [word, ...paths] = options.rest
  if (word === undefined) throw new GitFailure('usage: git ls-tree [<options>] <tree-ish> [<path>...]', 129)
  const repo = git.repo()
  const oid = await revision(repo, word)
  if (oid === null) throw fatal(`Not a valid object name ${word}`)
  const { type } = await repo.objects.read(oid)
  if (type === 'blob') throw fatal('not a tree object')
  const lister = new Lister(git, options, paths)
  await lister.list(await repo.peel(oid, 'tree'), '')
  return 0
}

class Lister {
  readonly #git: Invocation
  readonly #options: Arguments
  /** From the top; one that ends in a slash means the contents of a folder. */
  readonly #paths: string[]

  constructor(git: Invocation, options: Arguments, paths: readonly string[]) {
    this.#git = git
    this.#options = options
    const { root } = git.repo()
    const prefix = options.has('full-tree') ? '' : git.cwd.slice(root.length + 1)
    const below = (path: string) => {
      if (options.has('full-tree')) return path
      const full = git.resolve(path).slice(root.length + 1)
      return path.endsWith('/') && full !== '' ? `${full}/` : full
    }
    this.#paths = paths.length > 0 ? paths.map(below) : prefix === '' ? [] : [`${prefix}/`]
  }

  async list(tree: string, folder: string): Promise<void> {
    const repo = this.#git.repo()
    const pause = repo.pace()
    if (pause) await pause
    for (const entry of parseTree((await repo.objects.read(tree)).bytes)) {
      const path = folder + entry.name
      const isTree = entry.mode === MODE.tree
      const isOnTheWay = this.#paths.some((wanted) => wanted.startsWith(`${path}/`))
      const isWanted = this.#isWanted(path)
      if (!isWanted && !isOnTheWay) continue
      const opens = isTree && (isOnTheWay || (this.#options.has('r') && !this.#options.has('d')))
      const recurses = isTree && (isOnTheWay || this.#options.has('r'))
      const isShown = isTree
        ? !opens || this.#options.has('t') || (this.#options.has('d') && isWanted)
        : !this.#options.has('d')
      if (isShown && (isWanted || (isTree && this.#options.has('t')))) await this.#show(entry, path)
      if (recurses) await this.list(entry.oid, `${path}/`)
    }
  }

  #isWanted(path: string): boolean {
    if (this.#paths.length === 0) return true
    return this.#paths.some((wanted) => {
      const name = wanted.replace(/\/$/, '')
      if (wanted === '') return true
      return wanted.endsWith('/') ? path.startsWith(wanted) : path === name || path.startsWith(`${name}/`)
    })
  }

  async #show({ mode, oid }: TreeEntry, path: string): Promise<void> {
    const repo = this.#git.repo()
    const options = this.#options
    const isBare = options.has('full-name') || options.has('full-tree')
    const place = isBare ? path : relativeTo(repo, this.#git.cwd, path)
    const name = options.has('z') ? place : repo.quoted(place)
    const end = options.has('z') ? '\0' : '\n'
    const type = mode === MODE.tree ? 'tree' : mode === MODE.gitlink ? 'commit' : 'blob'
    const id = options.has('abbrev') ? await abbreviate(repo, oid, Number(options.value('abbrev')) || undefined) : oid
    if (options.has('name-only')) this.#git.out(name + end)
    else if (options.has('object-only')) this.#git.out(id + end)
    else {
      const size = options.has('long') ? ` ${await this.#size(type, oid)}` : ''
      this.#git.out(`${mode.toString(8).padStart(6, '0')} ${type} ${id}${size}\t${name}${end}`)
    }
  }

  async #size(type: string, oid: string): Promise<string> {
    const size = type === 'blob' ? String((await this.#git.repo().objects.read(oid)).bytes.byteLength) : '-'
    return size.padStart(7)
  }
}
