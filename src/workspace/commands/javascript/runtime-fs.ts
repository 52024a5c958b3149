// `node:fs` inside the isolate, on the tree of `runtime-files.ts`. The text of a module.

export const FS_MODULE = String.raw`
import { Readable, Writable } from 'node:stream'
import { EventEmitter } from 'node:events'
import { bytesOf, contents, currentFolder, drop, encodingOf, existing, fail, folder, guardOpen, input, mark, markBelow, pathOf, put, walk, writeBytes } from '/bellwether/files.js'

const TYPES = { file: 0o100000, directory: 0o040000, symlink: 0o120000 }
let inodes = new WeakMap()
let lastInode = 1
export class Stats {
  constructor(node, bigint) {
    if (!inodes.has(node)) inodes.set(node, ++lastInode)
    const size = node.kind === 'symlink' ? node.target.length : node.kind === 'directory' ? 4096 : (node.bytes?.length ?? node.size ?? 0)
    const number = bigint ? BigInt : Number
    Object.assign(this, { dev: number(1), mode: number(TYPES[node.kind] | node.mode), nlink: number(1), uid: number(1000), gid: number(1000), rdev: number(0), blksize: number(4096), ino: number(inodes.get(node)), size: number(size), blocks: number(Math.ceil(size / 512)) })
    for (const name of ['atime', 'mtime', 'ctime', 'birthtime']) {
      this[name + 'Ms'] = bigint ? BigInt(Math.floor(node.mtimeMs)) : node.mtimeMs
      this[name] = new Date(node.mtimeMs)
    }
  }
  #type() { return Number(this.mode) & 0o170000 }
  isFile() { return this.#type() === TYPES.file }
  isDirectory() { return this.#type() === TYPES.directory }
  isSymbolicLink() { return this.#type() === TYPES.symlink }
  isFIFO() { return false } isSocket() { return false } isBlockDevice() { return false } isCharacterDevice() { return false }
}
export class Dirent {
  #kind
  constructor(name, kind, parentPath) { this.name = name; this.#kind = kind; this.parentPath = parentPath; this.path = parentPath }
  isFile() { return this.#kind === 'file' }
  isDirectory() { return this.#kind === 'directory' }
  isSymbolicLink() { return this.#kind === 'symlink' }
  isFIFO() { return false } isSocket() { return false } isBlockDevice() { return false } isCharacterDevice() { return false }
}

const descriptors = new Map()
let lastDescriptor = 10
const opened = (fd, syscall) => { const open = descriptors.get(fd); if (!open) throw fail('EBADF', syscall); return open }

const sync = {
  readFile(path, options) {
    if (typeof path === 'number' && !Number.isInteger(path)) pathOf(path)
    const isInput = path === 0 || path === '/dev/stdin'
    const bytes = isInput ? input() : typeof path === 'number' ? contents({ node: opened(path, 'read').place.node, text: '' }, 'read') : contents(existing(path, 'open'), 'read')
    const encoding = encodingOf(options)
    return encoding && encoding !== 'buffer' ? bytes.toString(encoding) : Buffer.from(bytes)
  },
  writeFile(path, data, options) {
    if (typeof path === 'number') return void sync.write(path, bytesOf(data, options))
    if (options?.flag?.startsWith('a')) return sync.appendFile(path, data, options)
    const place = walk(path, 'open')
    if (options?.flag?.includes('x') && place.node) throw fail('EEXIST', 'open', place.text)
    writeBytes(place, bytesOf(data, options), options, 'open')
  },
  appendFile(path, data, options) {
    if (typeof path === 'number') return void sync.write(path, bytesOf(data, options))
    const place = walk(path, 'open')
    const before = place.node ? contents(place, 'open') : Buffer.alloc(0)
    writeBytes(place, Buffer.concat([before, bytesOf(data, options)]), options, 'open')
  },
  truncate(path, length = 0) {
    const place = existing(path, 'open')
    const bytes = Buffer.alloc(length)
    contents(place, 'open').copy(bytes)
    writeBytes(place, bytes, undefined, 'truncate')
  },
  stat(path, options) {
    const { node } = walkMaybe(path, 'stat', options, true)
    return node ? new Stats(node, options?.bigint) : undefined
  },
  lstat(path, options) {
    const { node } = walkMaybe(path, 'lstat', options, false)
    return node ? new Stats(node, options?.bigint) : undefined
  },
  access(path) { existing(path, 'access') },
  readdir(path, options) {
    const { node, real, text } = existing(path, 'scandir')
    if (node.kind !== 'directory') throw fail('ENOTDIR', 'scandir', text)
    const found = []
    const list = (at, prefix, place) => {
      for (const [name, inner] of [...at.entries].sort(([a], [b]) => (a < b ? -1 : 1))) {
        found.push(options?.withFileTypes ? new Dirent(name, inner.kind, place) : prefix + name)
        if (options?.recursive && inner.kind === 'directory') list(inner, prefix + name + '/', place + '/' + name)
      }
    }
    list(node, '', options?.withFileTypes ? (text.length > 1 ? text.replace(/\/+$/, '') : text) : real)
    return found
  },
  mkdir(path, options) {
    const recursive = typeof options === 'object' && options !== null && options.recursive === true
    const mode = typeof options === 'number' ? options : typeof options?.mode === 'number' ? options.mode : 0o755
    if (!recursive) {
      const place = walk(path, 'mkdir')
      if (place.node) throw fail('EEXIST', 'mkdir', place.text)
      return void put(place, folder(mode), 'mkdir')
    }
    const text = pathOf(path)
    let first
    let prefix = text.startsWith('/') ? '' : currentFolder()
    for (const name of text.split('/').filter(Boolean)) {
      prefix += '/' + name
      const place = walk(prefix, 'mkdir')
      if (place.node && place.node.kind !== 'directory') throw fail(prefix.endsWith(text) ? 'EEXIST' : 'ENOTDIR', 'mkdir', text)
      if (!place.node) { put(place, folder(mode), 'mkdir'); first ??= place.real }
    }
    return first
  },
  mkdtemp(prefix) {
    const path = prefix + Math.random().toString(36).slice(2, 8).padEnd(6, '0')
    sync.mkdir(path)
    return path
  },
  rmdir(path, options) {
    const place = existing(path, 'rmdir', false)
    if (place.node.kind !== 'directory') throw fail('ENOTDIR', 'rmdir', place.text)
    if (place.node.entries.size > 0 && !options?.recursive) throw fail('ENOTEMPTY', 'rmdir', place.text)
    drop(place, 'rmdir')
  },
  rm(path, options) {
    let place
    try { place = existing(path, 'lstat', false) } catch (error) { if (options?.force && error.code === 'ENOENT') return; throw error }
    if (place.node.kind === 'directory' && !options?.recursive) throw Object.assign(fail('EISDIR', 'rm', place.text), { code: 'ERR_FS_EISDIR', message: 'Path is a directory: rm returned EISDIR (is a directory) ' + place.text })
    drop(place, 'rm')
  },
  unlink(path) {
    const place = existing(path, 'unlink', false)
    if (place.node.kind === 'directory') throw fail('EPERM', 'unlink', place.text)
    drop(place, 'unlink')
  },
  rename(from, to) {
    const source = existing(from, 'rename', false, to)
    const target = walk(to, 'rename', false)
    if (target.node?.kind === 'directory' && (source.node.kind !== 'directory' || target.node.entries.size > 0)) throw fail(source.node.kind === 'directory' ? 'ENOTEMPTY' : 'EISDIR', 'rename', source.text, target.text)
    if ((target.real + '/').startsWith(source.real + '/') && target.real !== source.real) throw fail('EINVAL', 'rename', source.text, target.text)
    drop(source, 'rename')
    put(target, source.node, 'rename')
    markBelow(source.node, target.real)
  },
  copyFile(from, to) {
    const source = existing(from, 'copyfile', true, to)
    const bytes = contents(source, 'copyfile')
    writeBytes(walk(to, 'copyfile'), Buffer.from(bytes), { mode: source.node.mode }, 'copyfile')
  },
  cp(from, to, options) {
    const source = existing(from, 'cp')
    if (source.node.kind !== 'directory') return sync.copyFile(from, to)
    if (!options?.recursive) throw Object.assign(fail('EISDIR', 'cp', source.text), { code: 'ERR_FS_EISDIR' })
    sync.mkdir(to, { recursive: true })
    for (const name of [...source.node.entries.keys()]) sync.cp(pathOf(from) + '/' + name, pathOf(to) + '/' + name, options)
  },
  chmod(path, mode) {
    const place = existing(path, 'chmod')
    place.node.mode = (typeof mode === 'string' ? Number.parseInt(mode, 8) : mode) & 0o7777
    guardOpen()
    mark(place.real)
  },
  utimes(path, _atime, mtime) {
    existing(path, 'utime').node.mtimeMs = mtime instanceof Date ? mtime.getTime() : Number(mtime) * 1000
  },
  realpath(path) { return existing(path, 'realpath').real },
  readlink(path) {
    const { node, text } = existing(path, 'readlink', false)
    if (node.kind !== 'symlink') throw fail('EINVAL', 'readlink', text)
    return node.target
  },
  symlink(target, path) {
    const place = walk(path, 'symlink', false)
    if (place.node) throw fail('EEXIST', 'symlink', String(target), place.text)
    put(place, { kind: 'symlink', target: pathOf(target), mode: 0o777, mtimeMs: Date.now() }, 'symlink')
  },
  open(path, flags = 'r', mode) {
    const text = String(flags)
    const place = walk(path, 'open')
    if (!place.node && text.startsWith('r')) throw fail('ENOENT', 'open', place.text)
    if (text.includes('x') && place.node) throw fail('EEXIST', 'open', place.text)
    if (!place.node || text.startsWith('w')) writeBytes(place, Buffer.alloc(0), { mode }, 'open')
    descriptors.set(++lastDescriptor, { place: walk(path, 'open'), at: 0, appends: text.startsWith('a') })
    return lastDescriptor
  },
  close(fd) { opened(fd, 'close'); descriptors.delete(fd) },
  fstat(fd, options) { return new Stats(opened(fd, 'fstat').place.node, options?.bigint) },
  read(fd, buffer, offset, length, position) {
    if (typeof offset === 'object' && offset !== null) ({ offset = 0, length = buffer.length - offset, position = null } = offset)
    const open = fd === 0 ? (descriptors.get(0) ?? descriptors.set(0, { place: { node: { kind: 'file', bytes: input() } }, at: 0 }).get(0)) : opened(fd, 'read')
    const from = typeof position === 'number' ? position : open.at
    const count = contents(open.place, 'read').copy(buffer, offset ?? 0, from, from + (length ?? buffer.length))
    if (typeof position !== 'number') open.at += count
    return count
  },
  write(fd, data, ...rest) {
    if (fd === 1 || fd === 2) { (fd === 1 ? process.stdout : process.stderr).write(data); return data.length }
    const open = opened(fd, 'write')
    const isText = typeof data === 'string'
    const bytes = isText ? Buffer.from(data, rest[1]) : Buffer.from(data).subarray(rest[0] ?? 0, rest[1] === undefined ? undefined : (rest[0] ?? 0) + rest[1])
    const position = isText ? rest[0] : rest[2]
    const before = contents(open.place, 'write')
    const from = open.appends ? before.length : typeof position === 'number' ? position : open.at
    const after = Buffer.alloc(Math.max(before.length, from + bytes.length))
    before.copy(after)
    bytes.copy(after, from)
    writeBytes(open.place, after, undefined, 'write')
    open.place = walk(open.place.real, 'write')
    open.at = from + bytes.length
    return bytes.length
  },
}
function walkMaybe(path, syscall, options, follow) {
  if (options?.throwIfNoEntry !== false) return existing(path, syscall, follow)
  try { return existing(path, syscall, follow) } catch (error) { if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return {}; throw error }
}
sync.fsync = sync.fdatasync = (fd) => void opened(fd, 'fsync')
sync.ftruncate = (fd, length) => sync.truncate(opened(fd, 'ftruncate').place.real, length)
sync.lchmod = sync.chmod
sync.lutimes = sync.utimes
sync.link = (from, to) => sync.copyFile(from, to)

const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, S_IFMT: 0o170000, S_IFREG: 0o100000, S_IFDIR: 0o040000, S_IFLNK: 0o120000 }

class FileHandle extends EventEmitter {
  constructor(fd) { super(); this.fd = fd }
  async readFile(options) { return sync.readFile(this.fd, options) }
  async writeFile(data, options) { sync.write(this.fd, bytesOf(data, options)) }
  async appendFile(data, options) { sync.write(this.fd, bytesOf(data, options)) }
  async read(buffer, ...rest) { return { bytesRead: sync.read(this.fd, buffer, ...rest), buffer } }
  async write(data, ...rest) { return { bytesWritten: sync.write(this.fd, data, ...rest), buffer: data } }
  async stat(options) { return sync.fstat(this.fd, options) }
  async truncate(length) { sync.ftruncate(this.fd, length) }
  async close() { sync.close(this.fd) }
}

export const promises = { constants }
const fs = { constants, promises, Stats, Dirent }
for (const [name, run] of Object.entries(sync)) {
  fs[name + 'Sync'] = run
  promises[name] = async (...args) => run(...args)
  fs[name] = (...args) => {
    const callback = args.pop()
    if (typeof callback !== 'function') throw Object.assign(new TypeError('The "cb" argument must be of type function. Received ' + typeof callback), { code: 'ERR_INVALID_ARG_TYPE' })
    let outcome
    try { outcome = [null, run(...args)] } catch (error) { outcome = [error] }
    setTimeout(() => callback(...outcome), 0)
  }
}
class Dir {
  #entries
  constructor(path) { this.path = pathOf(path); this.#entries = sync.readdir(path, { withFileTypes: true }) }
  readSync() { return this.#entries.shift() ?? null }
  closeSync() {}
  async read() { return this.readSync() }
  async close() {}
  async *[Symbol.asyncIterator]() { for (let entry = this.readSync(); entry !== null; entry = this.readSync()) yield entry }
  [Symbol.dispose]() {}
  async [Symbol.asyncDispose]() {}
}
fs.Dir = Dir
fs.opendirSync = (path) => new Dir(path)
promises.opendir = async (path) => new Dir(path)
fs.opendir = (path, ...rest) => { const callback = rest.pop(); promises.opendir(path).then((dir) => callback(null, dir), callback) }
promises.open = async (...args) => new FileHandle(sync.open(...args))
fs.existsSync = (path) => { try { return walk(path, 'access').node !== undefined } catch { return false } }
fs.exists = (path, callback) => setTimeout(() => callback(fs.existsSync(path)), 0)
fs.realpathSync.native = fs.realpathSync
fs.createReadStream = (path, options) => {
  const encoding = encodingOf(options)
  const stream = new Readable({
    encoding: encoding ?? undefined,
    read() {
      try {
        const bytes = sync.readFile(path)
        this.push(bytes.subarray(options?.start ?? 0, options?.end === undefined ? undefined : options.end + 1))
        this.push(null)
      } catch (error) { this.destroy(error) }
    },
  })
  stream.path = path
  return stream
}
fs.createWriteStream = (path, options) => {
  const flag = typeof options === 'object' ? (options?.flags ?? 'w') : 'w'
  if (flag.startsWith('w')) sync.writeFile(path, '')
  const stream = new Writable({ decodeStrings: true, write(chunk, _encoding, done) { try { sync.appendFile(path, chunk); stream.bytesWritten += chunk.length; done() } catch (error) { done(error) } } })
  stream.path = path
  stream.bytesWritten = 0
  return stream
}
fs.watch = fs.watchFile = () => { throw Object.assign(new Error('Nothing can be watched here'), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' }) }
export default fs
`
