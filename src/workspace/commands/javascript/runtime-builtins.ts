// Where the runtime's own modules know nothing of the workspace's folder, or differ from Node's in what they do. The text
// of a module.

export const BUILTINS_MODULE = String.raw`
import { currentFolder } from '/bellwether/files.js'

/** The modules with what is ours in the place of theirs. */
export function patched(builtins) {
  const own = { ...builtins }
  if (builtins.path) own.path = own['path/posix'] = pathOf(builtins.path)
  if (builtins.url) own.url = { ...builtins.url, pathToFileURL: (path, options) => builtins.url.pathToFileURL(own.path.resolve(path) + (/[^/]\/$/.test(path) ? '/' : ''), options) }
  if (builtins.crypto) own.crypto = cryptoOf(builtins.crypto)
  if (builtins.assert) own.assert = assertOf(builtins.assert)
  return own
}

function pathOf(path) {
  const resolve = (...parts) => path.resolve(currentFolder(), ...parts)
  const posix = { ...path, resolve, relative: (from, to) => path.relative(resolve(from), resolve(to)) }
  posix.posix = posix
  return posix
}

/** The runtime gives this many random bytes at a time. */
const RANDOM_BYTES = 65536
function cryptoOf(crypto) {
  const fill = (buffer, offset = 0, size = buffer.byteLength - offset) => {
    const bytes = new Uint8Array(buffer.buffer ?? buffer, (buffer.byteOffset ?? 0) + offset, size)
    for (let at = 0; at < size; at += RANDOM_BYTES) globalThis.crypto.getRandomValues(bytes.subarray(at, at + RANDOM_BYTES))
    return buffer
  }
  const randomBytes = (size, callback) => {
    if (!(size > RANDOM_BYTES)) return callback ? crypto.randomBytes(size, callback) : crypto.randomBytes(size)
    const bytes = fill(Buffer.alloc(size))
    if (!callback) return bytes
    setTimeout(() => callback(null, bytes), 0)
  }
  const randomFillSync = (buffer, offset, size) => ((size ?? buffer.byteLength) > RANDOM_BYTES ? fill(buffer, offset, size) : crypto.randomFillSync(buffer, offset, size))
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(crypto), ...Object.getOwnPropertyDescriptors({ randomBytes, randomFillSync }) })
}

const isSame = (a, b) => a == b || (a !== a && b !== b)
function assertOf(assert) {
  const check = (operator, holds) => (actual, expected, message) => {
    if (holds(actual, expected)) return
    if (message instanceof Error) throw message
    throw new assert.AssertionError({ actual, expected, message, operator })
  }
  const own = Object.assign((...args) => assert(...args), assert)
  own.equal = check('==', isSame)
  own.notEqual = check('!=', (a, b) => !isSame(a, b))
  return own
}
`
