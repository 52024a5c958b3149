// Branches, tags and HEAD: small files, or lines of one packed file; and the log of their previous values.

import type { FileSystem } from '../../workspace/file-system.ts'
import { byteOrder, utf8 } from './bytes.ts'
import { fatal } from './failure.ts'
import { isFile } from './git-files.ts'
import { formatSignature, NULL_ID, type Signature } from './objects.ts'
import { ID, RefFiles, readText } from './ref-files.ts'
import { isRefName } from './ref-names.ts'

const MAX_HOPS = 5
/** Refs that have a log by default: not tags, nor temporary refs of commands. */
const LOGGED = /^(HEAD$|refs\/(heads|remotes|notes)\/)/

export interface Head {
  /** `refs/heads/main`, or null if HEAD contains a commit itself. */
  ref: string | null
  /** Null before the first commit. */
  oid: string | null
}

export interface ReflogEntry {
  before: string
  after: string
  by: string
  message: string
}

export interface RefChange {
  /** Null deletes the ref. */
  oid: string | null
  by: Signature
  /** For the reflog. */
  message: string
}

export class Refs extends RefFiles {
  /** Whether refs without a log get one. */
  readonly #logs: boolean

  constructor(fs: FileSystem, gitDir: string, { logs = true } = {}) {
    super(fs, gitDir)
    this.#logs = logs
  }

  async head(): Promise<Head> {
    const target = await this.symbolicTarget('HEAD')
    return target === null
      ? { ref: null, oid: await this.resolve('HEAD') }
      : { ref: target, oid: await this.resolve(target) }
  }

  /** The final value of the ref, or null. */
  async resolve(name: string): Promise<string | null> {
    let at = name
    for (let hops = 0; hops < MAX_HOPS; hops++) {
      const text = await this.read(at)
      if (text === null) return (await this.packed()).get(at) ?? null
      if (ID.test(text)) return text
      const target = symbolic(text)
      if (target === null) return null
      at = target
    }
    return null
  }

  async symbolicTarget(name: string): Promise<string | null> {
    const text = await this.read(name)
    return text === null ? null : symbolic(text)
  }

  /** All refs below a prefix such as `refs/heads/`, by name. */
  async list(prefix: string): Promise<Map<string, string>> {
    const found = new Map([...(await this.packed())].filter(([name]) => name.startsWith(prefix)))
    for (const name of this.looseBelow(prefix.replace(/\/$/, ''))) {
      const oid = await this.resolve(name)
      if (oid !== null) found.set(name, oid)
    }
    return new Map([...found].sort(([a], [b]) => byteOrder(a, b)))
  }

  async change(name: string, { oid, by, message }: RefChange): Promise<void> {
    assertRefName(name)
    const before = await this.resolve(name)
    if (oid === null) {
      await this.delete(name)
      return
    }
    if (before === null) await this.#refuseClash(name)
    // An unchanged ref gets no log entry, but HEAD's log contains every move.
    const isSame = before === oid
    if (isSame && name === 'HEAD') return
    await this.write(name, oid)
    if (name !== 'HEAD') {
      if (!isSame) await this.#log(name, { before, after: oid, by, message })
      if ((await this.symbolicTarget('HEAD')) !== name) return
    }
    await this.#log('HEAD', { before, after: oid, by, message })
  }

  /** A ref is a file, so there cannot be a folder with the same name. */
  async #refuseClash(name: string): Promise<void> {
    const parts = name.split('/')
    const above = parts.slice(2).map((_, i) => parts.slice(0, i + 2).join('/'))
    const [below] = (await this.list(`${name}/`)).keys()
    const isRef = await Promise.all(above.slice(1).map((ref) => this.resolve(ref)))
    const clash = below ?? above.slice(1).find((_, i) => isRef[i] !== null)
    if (clash !== undefined) throw fatal(`cannot lock ref '${name}': '${clash}' exists; cannot create '${name}'`)
  }

  /** Writes many at once, into a repository without refs; `peeled` contains the targets of annotated tags. */
  async fill(refs: ReadonlyMap<string, string>, peeled: ReadonlyMap<string, string>): Promise<void> {
    for (const name of refs.keys()) assertRefName(name)
    const lines = [...refs]
      .sort(([a], [b]) => byteOrder(a, b))
      .flatMap(([name, oid]) => {
        const target = peeled.get(name)
        return target === undefined ? [`${oid} ${name}\n`] : [`${oid} ${name}\n`, `^${target}\n`]
      })
    await this.writeFile('packed-refs', `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`)
  }

  /** Sets HEAD to a branch or, with an id, to a commit. */
  async moveHead(to: { ref: string } | { oid: string }, by: Signature, message: string): Promise<void> {
    const before = await this.resolve('HEAD')
    // A detached HEAD with the same commit did not move.
    if ('oid' in to && before === to.oid && (await this.symbolicTarget('HEAD')) === null) return
    await this.write('HEAD', 'ref' in to ? `ref: ${to.ref}` : to.oid)
    const after = await this.resolve('HEAD')
    if (before !== null || after !== null) await this.#log('HEAD', { before, after, by, message })
  }

  async setSymbolic(name: string, target: string): Promise<void> {
    await this.write(name, `ref: ${target}`)
  }

  hasLog(name: string): boolean {
    return isRefName(name) && isFile(this.fs, `${this.gitDir}/logs/${name}`)
  }

  /** The newest first. */
  async log(name: string): Promise<ReflogEntry[]> {
    const text = await readText(this.fs, `${this.gitDir}/logs/${name}`)
    const lines = (text ?? '').split('\n').filter((line) => line !== '')
    return lines.reverse().flatMap((line) => {
      const match = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\t]*)(?:\t(.*))?$/.exec(line)
      return match
        ? [{ before: match[1] ?? '', after: match[2] ?? '', by: match[3] ?? '', message: match[4] ?? '' }]
        : []
    })
  }

  /** Renames the ref. Its log is moved and gets an entry, and so does HEAD's if it names the ref. */
  async rename(from: string, to: string, { by, message }: Omit<RefChange, 'oid'>): Promise<void> {
    const oid = await this.resolve(from)
    const log = await this.log(from)
    const isHead = (await this.symbolicTarget('HEAD')) === from
    if (oid === null) return
    await this.delete(from)
    if (isHead) await this.#log('HEAD', { before: oid, after: null, by, message })
    if ((await this.resolve(to)) === null) await this.#refuseClash(to)
    else await this.delete(to)
    await this.write(to, oid)
    await this.setLog(to, log)
    await this.#log(to, { before: oid, after: oid, by, message })
    if (!isHead) return
    await this.write('HEAD', `ref: ${to}`)
    await this.#log('HEAD', { before: null, after: oid, by, message })
  }

  /** Replaces the whole log, given newest first. */
  async setLog(name: string, entries: readonly ReflogEntry[]): Promise<void> {
    const lines = [...entries]
      .reverse()
      .map(({ before, after, by, message }) => `${before} ${after} ${by}${message === '' ? '' : `\t${message}`}\n`)
    await this.writeFile(`logs/${name}`, lines.join(''))
  }

  async #log(
    name: string,
    entry: { before: string | null; after: string | null; by: Signature; message: string },
  ): Promise<void> {
    const isUsual = this.#logs && LOGGED.test(name)
    if (!isUsual && (await readText(this.fs, `${this.gitDir}/logs/${name}`)) === null) return
    const { before, after, by, message } = entry
    const said = message.replace(/\s+/g, ' ').trim()
    const line = `${before ?? NULL_ID} ${after ?? NULL_ID} ${formatSignature(by)}${said === '' ? '' : `\t${said}`}\n`
    this.makeFolderFor(`logs/${name}`)
    await this.fs.append(`${this.gitDir}/logs/${name}`, utf8(line))
  }
}

function symbolic(text: string): string | null {
  return text.startsWith('ref: ') ? text.slice(5).trim() : null
}

function assertRefName(name: string): void {
  if (name !== 'HEAD' && name !== 'ORIG_HEAD' && !isRefName(name)) throw fatal(`'${name}' is not a valid ref name`)
}
