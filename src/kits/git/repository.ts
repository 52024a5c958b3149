// One repository of the workspace: its location, and the data that a single command reads once.

import { type FileSystem, isFileError } from '../../workspace/file-system.ts'
import { lstatAt } from '../../workspace/stat.ts'
import { Attributes } from './attributes.ts'
import { textOf } from './bytes.ts'
import { ConfigFile } from './config-file.ts'
import { fatal } from './failure.ts'
import { IgnoreRules } from './ignore-rules.ts'
import { GitIndex } from './index-file.ts'
import {
  type LineEndSettings,
  type LineEnds,
  lineEndSettings,
  lineEndsOf,
  lineStatistics,
  toFile,
  toStored,
} from './line-endings.ts'
import { ObjectStore } from './object-store.ts'
import { type Commit, NULL_ID, parseCommit, parseTag } from './objects.ts'
import { type Quoting, quoted } from './path-quoting.ts'
import { readText, removeIfThere } from './ref-files.ts'
import { Refs } from './refs.ts'
import type { Pace } from './tree.ts'
import { isBareRepository, isRepository } from './worktree.ts'

export interface RepositoryOptions {
  fs: FileSystem
  /** The top of the working tree, without links; for a bare repository the folder itself. */
  root: string
  /** There is no working tree: the files of `.git` are in the folder itself. */
  isBare?: boolean
  pace?: Pace
  /** Cached objects from an earlier use. */
  objects?: ObjectStore
  /** The commits at which the history is cut off, instead of those in the repository's file. */
  shallow?: ReadonlySet<string>
}

export const MAX_TAGS_FOLLOWED = 10

export class Repository {
  readonly fs: FileSystem
  readonly root: string
  readonly gitDir: string
  readonly isBare: boolean
  readonly objects: ObjectStore
  readonly refs: Refs
  readonly pace: Pace
  readonly ignored: IgnoreRules
  /** Whether non-ASCII characters in paths are shown as numbers: `core.quotePath`. */
  quotesNonAscii = true
  /** The number of displayed digits of an id, from `core.abbrev`; null for git's default. */
  shownIdLength: number | null = null
  /** Called with warnings for the user about the interpretation of arguments. */
  warn: (text: string) => void = () => {}
  readonly attributes: Attributes
  /** The base folder for paths in `commit:./path`; `''` is the top. */
  folder = ''
  /** From the command line or the user's own configuration; otherwise the repository's is used. */
  lineEnds: Promise<LineEndSettings> | null = null
  /** The time of the index file from which `index` was read. */
  indexMtimeMs = 0
  #index: Promise<GitIndex> | null = null
  #config: Promise<ConfigFile> | null = null
  #shallow: Promise<ReadonlySet<string>> | null = null

  constructor({ fs, root, isBare = false, pace = () => null, objects, shallow }: RepositoryOptions) {
    this.fs = fs
    this.root = root
    this.isBare = isBare
    this.gitDir = isBare ? root : `${root === '/' ? '' : root}/.git`
    this.objects = objects ?? new ObjectStore(fs, this.gitDir)
    this.refs = new Refs(fs, this.gitDir, { logs: !isBare })
    if (shallow) this.#shallow = Promise.resolve(shallow)
    this.pace = pace
    this.ignored = new IgnoreRules(fs, root, this.gitDir)
    this.attributes = new Attributes((folder) => this.#attributeText(folder))
  }

  /** The repository that contains the folder, or null. A `.git` that is a link or a file is not followed. */
  static around(place: Omit<RepositoryOptions, 'root'>, folder: string): Repository | null {
    const real = realFolder(place.fs, folder)
    for (let at = real; at !== null; at = at === '/' ? null : at.replace(/\/[^/]*$/, '') || '/') {
      if (isRepository(place.fs, at === '/' ? '' : at)) return new Repository({ ...place, root: at })
      if (isBareRepository(place.fs, at)) return new Repository({ ...place, root: at, isBare: true })
    }
    return null
  }

  /** A path in output. */
  quoted(path: string, quoting: Quoting = {}): string {
    return quoted(path, { nonAscii: this.quotesNonAscii, ...quoting })
  }

  /** The stored form of a file with these bytes. */
  async stored(path: string, bytes: Uint8Array): Promise<Uint8Array> {
    const ends = await this.#lineEndsOf(path)
    if (!ends) return bytes
    const before = (await this.index()).get(path)
    const known = before && ends.isGuessed ? await this.objects.find(before.oid) : null
    return toStored(bytes, ends, () => known !== null && lineStatistics(known.bytes).crlf > 0)
  }

  /** The bytes of a file from its stored form. */
  async unstored(path: string, bytes: Uint8Array): Promise<Uint8Array> {
    const ends = await this.#lineEndsOf(path)
    return ends ? toFile(bytes, ends) : bytes
  }

  async #lineEndsOf(path: string): Promise<LineEnds | null> {
    this.lineEnds ??= lineEndSettings((key) => this.config().then((config) => config.get(key)))
    return lineEndsOf(await this.attributes.of(path), await this.lineEnds)
  }

  /** The file in the working tree, or, if it does not exist, the staged version. */
  async #attributeText(folder: string | null): Promise<string | null> {
    if (folder === null) return readText(this.fs, `${this.gitDir}/info/attributes`)
    if (this.isBare) return null
    const path = folder === '' ? '.gitattributes' : `${folder}/.gitattributes`
    const stat = lstatAt(this.fs, `${this.root}/${path}`)
    // A link could lead to rules from anywhere.
    if (stat) return stat.kind === 'file' ? readText(this.fs, `${this.root}/${path}`) : null
    const entry = (await this.index()).get(path)
    const object = entry ? await this.objects.find(entry.oid) : null
    return object?.type === 'blob' ? textOf(object.bytes) : null
  }

  index(): Promise<GitIndex> {
    this.#index ??= this.#readIndex()
    return this.#index
  }

  /** It is read again when it is next needed. */
  forgetIndex(): void {
    this.#index = null
  }

  async saveIndex(index: GitIndex): Promise<void> {
    this.#index = Promise.resolve(index)
    await this.fs.write(`${this.gitDir}/index`, index.format())
    this.indexMtimeMs = lstatAt(this.fs, `${this.gitDir}/index`)?.mtimeMs ?? 0
  }

  /** The repository's own configuration. */
  config(): Promise<ConfigFile> {
    this.#config ??= readText(this.fs, `${this.gitDir}/config`).then((text) => new ConfigFile(text ?? ''))
    return this.#config
  }

  async saveConfig(config: ConfigFile): Promise<void> {
    this.#config = Promise.resolve(config)
    await this.fs.write(`${this.gitDir}/config`, new TextEncoder().encode(config.format()))
  }

  /** Commits whose parents were not fetched. */
  shallow(): Promise<ReadonlySet<string>> {
    this.#shallow ??= readText(this.fs, `${this.gitDir}/shallow`).then(
      (text) => new Set((text ?? '').split('\n').filter((line) => line !== '')),
    )
    return this.#shallow
  }

  async saveShallow(oids: ReadonlySet<string>): Promise<void> {
    this.#shallow = Promise.resolve(oids)
    const path = `${this.gitDir}/shallow`
    if (oids.size === 0) removeIfThere(this.fs, path)
    else await this.fs.write(path, new TextEncoder().encode([...oids].sort().join('\n').concat('\n')))
  }

  async commit(oid: string): Promise<Commit> {
    const { type, bytes } = await this.objects.read(oid)
    if (type !== 'commit') throw fatal(`${oid} is a ${type}, not a commit`)
    const commit = parseCommit(bytes)
    return (await this.shallow()).has(oid) ? { ...commit, parents: [] } : commit
  }

  /** The tree of HEAD's commit; null before the first one. */
  async headTree(): Promise<string | null> {
    const { oid } = await this.refs.head()
    return oid === null ? null : (await this.commit(oid)).tree
  }

  /** The commit or tree of an id: tags are followed. */
  async peel(oid: string, wanted: 'commit' | 'tree'): Promise<string> {
    let at = oid
    for (let hops = 0; hops < MAX_TAGS_FOLLOWED; hops++) {
      const { type, bytes } = await this.objects.read(at)
      if (type === wanted) return at
      if (type === 'tag') at = parseTag(bytes).object
      else if (type === 'commit') at = parseCommit(bytes).tree
      else break
    }
    throw fatal(`${oid === NULL_ID ? 'HEAD' : oid} does not lead to a ${wanted}`)
  }

  async #readIndex(): Promise<GitIndex> {
    const path = `${this.gitDir}/index`
    const stat = lstatAt(this.fs, path)
    if (!stat) return new GitIndex()
    this.indexMtimeMs = stat.mtimeMs
    return GitIndex.parse(await this.fs.read(path))
  }
}

function realFolder(fs: FileSystem, folder: string): string | null {
  try {
    return fs.realPath(folder)
  } catch (error) {
    if (isFileError(error)) return null
    throw error
  }
}
