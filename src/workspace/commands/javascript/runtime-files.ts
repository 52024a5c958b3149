// The tree of files inside the isolate, as it was when the program began, in memory. What it changes is told to the
// workspace while it runs. This is the text of a module: it is run in the isolate and nowhere else.

export const FILES_MODULE = String.raw`
const ERRNO = { ENOENT: -2, EIO: -5, EBADF: -9, EACCES: -13, EEXIST: -17, ENOTDIR: -20, EISDIR: -21, EINVAL: -22, EFBIG: -27, ELOOP: -40, ENOTEMPTY: -39, EPERM: -1 }
const WORDS = { ENOENT: 'no such file or directory', EIO: 'i/o error', EBADF: 'bad file descriptor', EACCES: 'permission denied', EEXIST: 'file already exists', ENOTDIR: 'not a directory', EISDIR: 'illegal operation on a directory', EINVAL: 'invalid argument', EFBIG: 'file too large', ELOOP: 'too many symbolic links encountered', ENOTEMPTY: 'directory not empty', EPERM: 'operation not permitted' }
function fail(code, syscall, path, dest) {
  const error = new Error(code + ': ' + WORDS[code] + ', ' + syscall + (path === undefined ? '' : " '" + path + "'") + (dest === undefined ? '' : " -> '" + dest + "'"))
  Object.assign(error, { errno: ERRNO[code], code, syscall })
  if (path !== undefined) error.path = path
  if (dest !== undefined) error.dest = dest
  return error
}

const MAX_BYTES = 64 * 1024 * 1024
// A report crosses to the workspace in one call, which takes 32 MiB.
const MAX_FILE_BYTES = 24 * 1024 * 1024
const REPORT_BYTES = 4 * 1024 * 1024
const folder = (mode = 0o755, mtimeMs = Date.now()) => ({ kind: 'directory', mode, mtimeMs, entries: new Map() })
const root = folder()
let dirty = new Set()
let cwd = '/'
let written = 0
let closed = () => false
let stdin = Buffer.alloc(0)

export function mount(files, options) {
  for (const { path, kind, bytes, mode, mtimeMs, target, size } of files) {
    const names = path.split('/').filter(Boolean)
    const name = names.pop()
    let at = root
    for (const part of names) {
      if (!at.entries.has(part)) at.entries.set(part, folder())
      at = at.entries.get(part)
    }
    if (name === undefined) continue
    if (kind === 'directory') { if (!at.entries.has(name)) at.entries.set(name, folder(mode, mtimeMs)) }
    else at.entries.set(name, { kind, bytes: bytes === undefined ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), mode, mtimeMs, target, size })
  }
  cwd = options.cwd
  closed = options.closed
  stdin = Buffer.from(options.stdin)
}
export const currentFolder = () => cwd
export function changeFolder(path) {
  const { node, real } = walk(path, 'chdir')
  if (!node) throw fail('ENOENT', 'chdir', String(path))
  if (node.kind !== 'directory') throw fail('ENOTDIR', 'chdir', String(path))
  cwd = real
}

export const hasChanges = () => dirty.size > 0

/** What has changed since it was last asked: the state of each path now. What is too much for one report waits for the next. */
export function takeChanges() {
  const changes = []
  let size = 0
  for (const path of [...dirty].sort()) {
    const change = stateOf(path)
    size += change.bytes?.length ?? 0
    if (size > REPORT_BYTES && changes.length > 0) break
    dirty.delete(path)
    changes.push(change)
  }
  return changes
}

function stateOf(path) {
    let node = root
    for (const name of path.split('/').filter(Boolean)) node = node?.kind === 'directory' ? node.entries.get(name) : undefined
    if (!node) return { path, kind: 'gone' }
    if (node.kind === 'directory') return { path, kind: 'directory', mode: node.mode }
    if (node.kind === 'symlink') return { path, kind: 'symlink', target: node.target }
    return { path, kind: 'file', mode: node.mode, bytes: new Uint8Array(node.bytes ?? []) }
}

function pathOf(given) {
  if (given instanceof URL) {
    if (given.protocol !== 'file:') throw Object.assign(new TypeError('The URL must be of scheme file'), { code: 'ERR_INVALID_URL_SCHEME' })
    return decodeURIComponent(given.pathname)
  }
  if (given instanceof Uint8Array) return Buffer.from(given).toString()
  if (typeof given !== 'string') throw Object.assign(new TypeError('The "path" argument must be of type string or an instance of Buffer or URL. Received ' + (given === null || given === undefined ? given : 'type ' + typeof given + (typeof given === 'object' || typeof given === 'function' ? '' : ' (' + String(given) + ')'))), { code: 'ERR_INVALID_ARG_TYPE' })
  if (given.includes('\0')) throw Object.assign(new TypeError("The argument 'path' must be a string without null bytes"), { code: 'ERR_INVALID_ARG_VALUE' })
  return given
}

/** Where a path leads: the node or undefined, the folder that holds it, and the path without links. */
function walk(given, syscall, follow = true) {
  const text = pathOf(given)
  if (text === '') throw fail('ENOENT', syscall, text)
  const names = ((text.startsWith('/') ? '' : cwd) + '/' + text).split('/').filter((name) => name !== '' && name !== '.')
  let trail = []
  let links = 0
  const nodeAt = () => trail.at(-1)?.node ?? root
  while (names.length > 0) {
    const name = names.shift()
    if (name === '..') { trail.pop(); continue }
    const parent = nodeAt()
    if (parent.kind !== 'directory') throw fail('ENOTDIR', syscall, text)
    const node = parent.entries.get(name)
    if (node?.kind === 'symlink' && (follow || names.length > 0)) {
      if (++links > 40) throw fail('ELOOP', syscall, text)
      if (node.target.startsWith('/')) trail = []
      names.unshift(...node.target.split('/').filter((part) => part !== '' && part !== '.'))
      continue
    }
    if (!node && names.length > 0) throw fail('ENOENT', syscall, text)
    trail.push({ name, node })
  }
  const last = trail.at(-1)
  const parent = trail.at(-2)?.node ?? root
  return { node: last ? last.node : root, parent, name: last?.name ?? '', real: '/' + trail.map(({ name }) => name).join('/'), text }
}

function existing(given, syscall, follow = true, dest = undefined) {
  const place = walk(given, syscall, follow)
  if (!place.node) throw fail('ENOENT', syscall, place.text, dest === undefined ? undefined : pathOf(dest))
  return place
}

function guardOpen() { if (closed()) throw fail('EIO', 'write') }
function put({ parent, name, real, text }, node, syscall) {
  guardOpen()
  if (name === '') throw fail('EPERM', syscall, text)
  parent.entries.set(name, node)
  parent.mtimeMs = Date.now()
  dirty.add(real)
}
function drop({ parent, name, real, text }, syscall) {
  guardOpen()
  if (name === '') throw fail('EPERM', syscall, text)
  parent.entries.delete(name)
  dirty.add(real)
}
function markBelow(node, path) {
  dirty.add(path)
  if (node.kind === 'directory') for (const [name, inner] of node.entries) markBelow(inner, path + '/' + name)
}

const encodingOf = (options) => (typeof options === 'string' ? options : options?.encoding)
function bytesOf(data, options) {
  if (typeof data === 'string') return Buffer.from(data, encodingOf(options) ?? 'utf8')
  if (ArrayBuffer.isView(data)) return Buffer.from(Buffer.from(data.buffer, data.byteOffset, data.byteLength))
  if (data instanceof ArrayBuffer) return Buffer.from(Buffer.from(data))
  throw Object.assign(new TypeError('The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received ' + (data === null ? 'null' : typeof data)), { code: 'ERR_INVALID_ARG_TYPE' })
}
function contents({ node, text }, syscall) {
  if (node.kind === 'directory') throw fail('EISDIR', syscall)
  if (node.bytes === null) throw Object.assign(fail('EFBIG', syscall, text), { message: 'EFBIG: the file is too large to be read by a script here, ' + syscall + " '" + text + "'" })
  return node.bytes
}
function writeBytes(place, bytes, options, syscall) {
  if (place.node?.kind === 'directory') throw fail('EISDIR', syscall, place.text)
  written += bytes.length
  if (written > MAX_BYTES || bytes.length > MAX_FILE_BYTES) throw fail('EFBIG', syscall, place.text)
  const mode = place.node?.mode ?? (typeof options === 'object' && options !== null && typeof options.mode === 'number' ? options.mode : 0o644)
  put(place, { kind: 'file', bytes, mode, mtimeMs: Date.now() }, syscall)
}

export { bytesOf, contents, drop, encodingOf, existing, fail, folder, guardOpen, markBelow, pathOf, put, walk, writeBytes }
export const mark = (path) => void dirty.add(path)
export const input = () => stdin
`
