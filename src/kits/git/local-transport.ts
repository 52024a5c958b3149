// A remote that is another repository of the workspace: it is read and written through its folder.

import type { FileSystem } from '../../workspace/file-system.ts'
import { resolvePath } from '../../workspace/paths.ts'
import { lstatAt } from '../../workspace/stat.ts'
import type { Advertisement } from './advertisement.ts'
import { fatal, type GitFailure } from './failure.ts'
import { isAncestor } from './history.ts'
import { parseTag, type Signature } from './objects.ts'
import { objectsBetween } from './pack-writer.ts'
import { localPath } from './remote-address.ts'
import { Repository } from './repository.ts'
import { DEFAULT_TRANSFER_LIMITS, type Service } from './transport.ts'

export interface LocalDeps {
  fs: FileSystem
  /** The base of a relative path. */
  folder: string
  pace?: Repository['pace']
}

/** A change of a ref: `oid` is null for a deletion. */
export interface LocalUpdate {
  ref: string
  before: string | null
  oid: string | null
}

export class LocalTransport {
  readonly url: string
  readonly limits = DEFAULT_TRANSFER_LIMITS
  readonly there: Repository

  constructor(url: string, place: LocalDeps) {
    this.url = url
    const found = localRepository(url, place)
    if (!found) throw noRepository(url)
    this.there = found
  }

  async advertised(_service: Service): Promise<Advertisement> {
    const { refs: kept, objects } = this.there
    const head = await kept.head()
    const all = await kept.list('refs/')
    const refs = new Map(head.oid === null ? all : [['HEAD', head.oid] as const, ...all])
    const peeled = new Map<string, string>()
    for (const [name, oid] of all) {
      let at = await objects.find(oid)
      let target = oid
      while (at?.type === 'tag') {
        target = parseTag(at.bytes).object
        at = await objects.find(target)
      }
      if (target !== oid) peeled.set(name, target)
    }
    return { refs, peeled, capabilities: new Set(['delete-refs', 'shallow']), head: head.ref }
  }

  /** Copies the requested objects, and returns the new boundaries of the history. */
  async bring(to: Repository, wants: readonly string[], depth: number | null): Promise<void> {
    const reach = depth === null ? null : await this.#reach(wants, depth)
    const [own, cut] = [await to.shallow(), reach?.cut ?? (await this.there.shallow())]
    const isDeepened = depth !== null || own.size > 0
    const { fs, root, isBare, objects, pace } = this.there
    const from = new Repository({ fs, root, isBare, objects, pace, shallow: cut })
    const known = isDeepened ? [] : await tips(to)
    const oids = await objectsBetween(from, wants, known)
    for (const oid of oids) await copyObject(from, to, oid)
    const grown = [...own].filter((oid) => oids.has(oid) && !cut.has(oid))
    const kept = [...own, ...[...cut].filter((oid) => oids.has(oid))].filter((oid) => !grown.includes(oid))
    if (kept.length > 0 || own.size > 0) await to.saveShallow(new Set(kept))
  }

  /** Commits whose parents are beyond the depth. */
  async #reach(wants: readonly string[], depth: number): Promise<{ cut: Set<string> }> {
    const cut = new Set<string>()
    const seen = new Set<string>()
    let level: string[] = []
    for (const oid of wants) level.push(await this.there.peel(oid, 'commit'))
    for (let left = depth; left > 0 && level.length > 0; left--) {
      const next: string[] = []
      for (const oid of level) {
        if (seen.has(oid)) continue
        seen.add(oid)
        const { parents } = await this.there.commit(oid)
        if (left === 1 && parents.length > 0) cut.add(oid)
        next.push(...parents)
      }
      level = next
    }
    return { cut }
  }

  /** Copies the objects of the new refs, and updates the refs. By ref, null or the reason of the refusal. */
  async receive(
    from: Repository,
    updates: readonly LocalUpdate[],
    { by, onMessage }: { by: Signature; onMessage: (text: string) => void },
  ): Promise<Map<string, string | null>> {
    const wanted = updates.flatMap(({ oid }) => (oid === null ? [] : [oid]))
    for (const oid of await objectsBetween(from, wanted, await tips(this.there)))
      await copyObject(from, this.there, oid)
    const verdicts = new Map<string, string | null>()
    for (const update of updates) {
      const reason = await this.#refusal(update, onMessage)
      verdicts.set(update.ref, reason)
      if (reason === null) await this.there.refs.change(update.ref, { oid: update.oid, by, message: 'push' })
    }
    return verdicts
  }

  async #refusal({ ref, before, oid }: LocalUpdate, onMessage: (text: string) => void): Promise<string | null> {
    const { refs, isBare } = this.there
    const config = await this.there.config()
    const setting = (name: string) => config.get(`receive.${name}`)?.toLowerCase() ?? null
    const isCurrent = (await refs.head()).ref === ref
    if (isCurrent && oid === null && !/^(ignore|warn|false|no|off|0)$/.test(setting('denyDeleteCurrent') ?? '')) {
      onMessage(DELETES_CURRENT.replace('<ref>', ref))
      return 'deletion of the current branch prohibited'
    }
    if (isCurrent && !isBare && oid !== null) {
      const denied = setting('denyCurrentBranch') ?? 'refuse'
      if (denied === 'updateinstead') return 'receive.denyCurrentBranch=updateInstead is not available here'
      if (denied === 'warn') onMessage('warning: updating the current branch\n')
      else if (!/^(ignore|false|no|off|0)$/.test(denied)) {
        onMessage(`error: refusing to update checked out branch: ${ref}\n`)
        if (setting('denyCurrentBranch') === null) onMessage(CHECKED_OUT)
        return 'branch is currently checked out'
      }
    }
    const isOn = (name: string) => /^(true|yes|on|1)$/.test(setting(name) ?? '')
    if (oid === null) return isOn('denyDeletes') && ref.startsWith('refs/heads/') ? 'deletion prohibited' : null
    const isForward = before === null || !ref.startsWith('refs/heads/') || (await isAncestor(this.there, before, oid))
    return isOn('denyNonFastForwards') && !isForward ? 'non-fast-forward' : null
  }
}

const CHECKED_OUT = `error: By default, updating the current branch in a non-bare repository
is denied, because it will make the index and work tree inconsistent
with what you pushed, and will require 'git reset --hard' to match
the work tree to HEAD.

You can set the 'receive.denyCurrentBranch' configuration variable
to 'ignore' or 'warn' in the remote repository to allow pushing into
its current branch; however, this is not recommended unless you
arranged to update its work tree to match what you pushed in some
other way.

To squelch this message and still keep the default behaviour, set
'receive.denyCurrentBranch' configuration variable to 'refuse'.
`

const DELETES_CURRENT = `error: By default, deleting the current branch is denied, because the next
'git clone' won't result in any file checked out, causing confusion.

You can set 'receive.denyDeleteCurrent' configuration variable to
'warn' or 'ignore' in the remote repository to allow deleting the
current branch, with or without a warning message.

To squelch this message, you can set it to 'refuse'.
error: refusing to delete the current branch: <ref>
`

/** The repository of a path: its folder, the one with its working tree, or `<path>.git`. */
export function localRepository(given: string, { fs, folder, pace }: LocalDeps): Repository | null {
  const path = resolvePath(folder, localPath(given) ?? given)
  for (const at of [path, `${path}.git`]) {
    if (lstatAt(fs, at) === null) continue
    const real = fs.realPath(at.endsWith('/.git') ? at.slice(0, -'/.git'.length) || '/' : at)
    const found = Repository.around({ fs, ...(pace && { pace }) }, real)
    if (found?.root === real) return found
  }
  return null
}

function noRepository(url: string): GitFailure {
  const why = `'${url}' does not appear to be a git repository\nfatal: Could not read from remote repository.`
  return fatal(`${why}\n\nPlease make sure you have the correct access rights\nand the repository exists.`, {
    reason: 'not-found',
  })
}

async function tips(repo: Repository): Promise<string[]> {
  const { oid } = await repo.refs.head()
  return [...(await repo.refs.list('refs/')).values(), ...(oid === null ? [] : [oid])]
}

async function copyObject(from: Repository, to: Repository, oid: string): Promise<void> {
  if (await to.objects.has(oid)) return
  const pause = from.pace()
  if (pause) await pause
  const { type, bytes } = await from.objects.read(oid)
  await to.objects.write(type, bytes)
}
