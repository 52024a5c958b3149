// The objects of one repository: loose files and packs, in git's format. Objects never change, so they can be cached;
// missing ones are searched again, because a fetch may have added them.

import { deflateSync } from 'node:zlib'
import { joinBytes } from '../../lib/bytes.ts'
import { type FileSystem, isFileError } from '../../workspace/file-system.ts'
import { textOf, utf8 } from './bytes.ts'
import { CorruptObjectError, EMPTY_TREE, type GitObject, type ObjectType, objectId } from './objects.ts'
import { inflateAtMost, MAX_DELTA_CHAIN, MAX_OBJECT_BYTES, Pack, PackIndex } from './pack-file.ts'

export class MissingObjectError extends Error {
  override readonly name = 'MissingObjectError'
  readonly oid: string

  constructor(oid: string) {
    super(`unable to read ${oid}`)
    this.oid = oid
  }
}

interface OpenPack {
  index: PackIndex
  /** Read when its first object is needed. */
  pack: Promise<Pack> | null
  heldBytes: number
}

const TYPES: ReadonlySet<string> = new Set(['commit', 'tree', 'blob', 'tag'])
const NUL = 0
/** Headers are short: the kind, a blank, the size and a NUL. */
const MAX_HEADER_BYTES = 32

export class ObjectStore {
  readonly #fs: FileSystem
  readonly #folder: string
  readonly #packs = new Map<string, OpenPack>()

  constructor(fs: FileSystem, gitDir: string) {
    this.#fs = fs
    this.#folder = `${gitDir}/objects`
  }

  /** The size of the cached files. */
  get heldBytes(): number {
    return [...this.#packs.values()].reduce((sum, { index, heldBytes }) => sum + index.sizeBytes + heldBytes, 0)
  }

  async read(oid: string): Promise<GitObject> {
    const object = await this.#find(oid, 0)
    if (!object) throw new MissingObjectError(oid)
    return object
  }

  async find(oid: string): Promise<GitObject | null> {
    return this.#find(oid, 0)
  }

  async has(oid: string): Promise<boolean> {
    if (oid === EMPTY_TREE || this.#isLoose(oid)) return true
    const isPacked = () => [...this.#packs.values()].some(({ index }) => index.find(oid) !== null)
    return isPacked() || ((await this.#openNewPacks()) && isPacked())
  }

  async write(type: ObjectType, bytes: Uint8Array): Promise<string> {
    const oid = objectId(type, bytes)
    // The empty tree can be read without being stored; but a reference to it requires it.
    if (oid === EMPTY_TREE ? this.#isLoose(oid) : await this.has(oid)) return oid
    const folder = `${this.#folder}/${oid.slice(0, 2)}`
    this.#fs.makeDirectory(folder, { recursive: true })
    const whole = joinBytes([utf8(`${type} ${bytes.byteLength}\0`), bytes])
    await this.#fs.write(`${folder}/${oid.slice(2)}`, new Uint8Array(deflateSync(whole)), { mode: 0o444 })
    return oid
  }

  /** The number of digits of displayed ids, by the number of packed objects: 7 up to 16,383, 8 from there on. */
  async usualIdLength(): Promise<number> {
    await this.#openNewPacks()
    const count = [...this.#packs.values()].reduce((sum, { index }) => sum + index.count, 0)
    return Math.max(7, Math.ceil(count.toString(2).length / 2))
  }

  /** A few at most, enough to detect an ambiguous prefix. */
  async idsStartingWith(prefix: string): Promise<string[]> {
    await this.#openNewPacks()
    const packed = [...this.#packs.values()].flatMap(({ index }) => index.idsStartingWith(prefix))
    const loose = this.#names(`${this.#folder}/${prefix.slice(0, 2)}`).map((name) => prefix.slice(0, 2) + name)
    return [...new Set([...packed, ...loose.filter((oid) => oid.startsWith(prefix) && oid.length === 40)])]
  }

  /** `hops` is the number of deltas with a base given by id that led here. */
  async #find(oid: string, hops: number): Promise<GitObject | null> {
    if (oid === EMPTY_TREE) return { type: 'tree', bytes: new Uint8Array() }
    return (
      (await this.#packed(oid, hops)) ??
      (await this.#loose(oid)) ??
      ((await this.#openNewPacks()) ? this.#packed(oid, hops) : null)
    )
  }

  /** In a manipulated pack, a delta can lead back to itself. */
  async #base(oid: string, hops: number): Promise<GitObject> {
    if (hops > MAX_DELTA_CHAIN) throw new CorruptObjectError('a chain of deltas is too long')
    const object = await this.#find(oid, hops)
    if (!object) throw new MissingObjectError(oid)
    return object
  }

  #isLoose(oid: string): boolean {
    try {
      return this.#fs.stat(this.#loosePath(oid)).kind === 'file'
    } catch (error) {
      if (isFileError(error)) return false
      throw error
    }
  }

  #loosePath(oid: string): string {
    return `${this.#folder}/${oid.slice(0, 2)}/${oid.slice(2)}`
  }

  async #loose(oid: string): Promise<GitObject | null> {
    if (!this.#isLoose(oid)) return null
    const deflated = await this.#fs.read(this.#loosePath(oid))
    // Most files shrink to a third; clearing a buffer of the maximum size for each of thousands would be wasteful.
    const { bytes: whole } = inflateAtMost(deflated, MAX_OBJECT_BYTES + MAX_HEADER_BYTES, 4 * deflated.byteLength)
    const end = whole.indexOf(NUL)
    const [type = '', size] = textOf(whole.subarray(0, Math.max(0, end))).split(' ')
    const bytes = whole.subarray(end + 1)
    if (end < 0 || !TYPES.has(type) || Number(size) !== bytes.byteLength)
      throw new CorruptObjectError(`object ${oid} is corrupt`)
    return { type: type as ObjectType, bytes }
  }

  async #packed(oid: string, hops: number): Promise<GitObject | null> {
    for (const [name, open] of this.#packs) {
      const offset = open.index.find(oid)
      if (offset === null) continue
      open.pack ??= this.#openPack(name, open)
      return (await open.pack).read(offset, (base) => this.#base(base, hops + 1))
    }
    return null
  }

  async #openPack(name: string, open: OpenPack): Promise<Pack> {
    try {
      const pack = new Pack(await this.#fs.read(`${this.#folder}/pack/${name}.pack`))
      open.heldBytes = pack.sizeBytes
      return pack
    } catch (error) {
      // The next read tries again.
      open.pack = null
      throw error
    }
  }

  /** Returns whether there were any. */
  async #openNewPacks(): Promise<boolean> {
    let isNew = false
    for (const file of this.#names(`${this.#folder}/pack`)) {
      const name = /^(pack-.*)\.idx$/.exec(file)?.[1]
      if (name === undefined || this.#packs.has(name)) continue
      const index = new PackIndex(await this.#fs.read(`${this.#folder}/pack/${file}`))
      this.#packs.set(name, { index, pack: null, heldBytes: 0 })
      isNew = true
    }
    return isNew
  }

  #names(folder: string): string[] {
    try {
      return this.#fs.list(folder).map(({ name }) => name)
    } catch (error) {
      if (isFileError(error)) return []
      throw error
    }
  }
}
