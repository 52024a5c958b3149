// Installs what a command needs: `node scripts/install.mjs serve` the packages that build and serve the product, without an
// argument all of them, those of tests and benchmarks included. It runs before every command, so it needs nothing but Node
// itself and costs a hash when there is nothing to do.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const MODULES = join(ROOT, 'node_modules')
const LOCK = join(ROOT, 'package-lock.json')
const STAMP = join(MODULES, '.bellwether-lock.sha256')

/** Node's own package, apart from the others: only a machine with an older Node has to carry its 120 MB. */
const OWN_NODE = join(ROOT, 'scripts', 'own-node')
/** The first that runs TypeScript without a flag. */
const [NEEDED_MAJOR, NEEDED_MINOR] = [22, 18]

/** Folders of packages that are never imported: a Python, a command line, a test suite. */
const UNREAD = ['just-bash/vendor', 'just-bash/dist/bin', '@mixmark-io/domino/test']

if (process.platform === 'win32') {
  console.error(
    'Bellwether does not run on Windows itself: it starts processes, links and signals as Linux and macOS have them. Run it inside WSL (https://learn.microsoft.com/windows/wsl), from a folder of its own file system.',
  )
  process.exit(1)
}

const isForServing = process.argv[2] === 'serve'
const lockHash = hashOf(LOCK)

const installed = stamped(STAMP)
if (installed !== lockHash && !(isForServing && installed === `${lockHash} serve`)) {
  // Where everything was installed, as for tests, it stays so.
  const isPart = isForServing && (installed === null ? !existsSync(MODULES) : installed.endsWith(' serve'))
  if (isPart) installPart()
  else if (!installedByHand()) install(ROOT, [], 'packages')
  writeFileSync(STAMP, isPart ? `${lockHash} serve\n` : `${lockHash}\n`)
}
bringNode()

/** @param {string} lock */
function hashOf(lock) {
  return createHash('sha256').update(readFileSync(lock)).digest('hex')
}

/**
 * The npm scripts call `node`, and npm looks in `node_modules/.bin` first. It has a link to our Node if the machine's own
 * is too old. `npm ci` empties that folder, so the link is made again, even if this process runs on it.
 */
function bringNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isOwn = !relative(OWN_NODE, process.execPath).startsWith('..')
  if (!isOwn && (major > NEEDED_MAJOR || (major === NEEDED_MAJOR && minor >= NEEDED_MINOR))) return
  const stamp = join(OWN_NODE, 'node_modules', '.bellwether-lock.sha256')
  const wanted = hashOf(join(OWN_NODE, 'package-lock.json'))
  if (stamped(stamp) !== wanted) {
    install(OWN_NODE, [], `a newer Node than ${process.versions.node}`)
    // Headers and manuals are a third of its size.
    const parts = join(OWN_NODE, 'node_modules', 'node', 'node_modules')
    for (const part of readdirSync(parts).filter((name) => name.startsWith('node-'))) {
      for (const unread of ['include', 'share']) rmSync(join(parts, part, unread), { recursive: true, force: true })
    }
    writeFileSync(stamp, `${wanted}\n`)
  }
  const link = join(MODULES, '.bin', 'node')
  if (existsSync(link)) return
  rmSync(link, { force: true })
  mkdirSync(dirname(link), { recursive: true })
  symlinkSync(relative(dirname(link), join(OWN_NODE, 'node_modules', 'node', 'bin', 'node')), link)
}

function installPart() {
  install(ROOT, ['--omit=dev'], 'the packages that serve it')
  for (const folder of UNREAD) rmSync(join(MODULES, folder), { recursive: true, force: true })
  removeUnread(MODULES)
}

/**
 * Files under `node_modules` that neither a bundler nor Node reads: source maps, TypeScript (Node refuses it there), manuals. They are a fifth
 * of the packages; the complete installation, which editors and checks read, keeps it.
 *
 * @param {string} folder
 */
function removeUnread(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) removeUnread(path)
    else if (entry.isFile() && /\.(map|[cm]?ts|tsx|md|markdown)$/.test(entry.name)) rmSync(path)
  }
}

/**
 * @param {string} stamp
 * @returns {string | null}
 */
function stamped(stamp) {
  return existsSync(stamp) ? readFileSync(stamp, 'utf8').trim() : null
}

/**
 * True when `npm ci` or `npm install` was run without us and left exactly what the lock file names: npm keeps a list of
 * what it installed. Packages for other platforms are only in the lock file.
 */
function installedByHand() {
  const list = join(MODULES, '.package-lock.json')
  // The reduced installation for serving lacks files of packages.
  if (!existsSync(list) || installed?.endsWith(' serve')) return false
  const found = packagesOf(list)
  return Object.entries(packagesOf(LOCK)).every(([path, { version, integrity, optional }]) => {
    if (path === '') return true
    const have = found[path]
    if (have === undefined) return optional === true
    return have.version === version && have.integrity === integrity && existsSync(join(ROOT, path))
  })
}

/**
 * @param {string} file
 * @returns {Record<string, { version?: string, integrity?: string, optional?: boolean }>}
 */
function packagesOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

/**
 * @param {string} cwd
 * @param {readonly string[]} options
 * @param {string} what
 */
function install(cwd, options, what) {
  console.error(`Installing ${what} (once, and again when a lock file changes) …`)
  const npm = process.env.npm_execpath
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []]
  const result = spawnSync(command, [...first, 'ci', ...options, '--no-fund', '--no-audit', '--loglevel=error'], {
    cwd,
    // No prompts, and nothing on standard output, which belongs to the following command.
    stdio: ['ignore', 2, 2],
  })
  if (result.status === 0) return
  const why =
    result.error?.message ??
    (result.signal === null ? `it ended with ${result.status}` : `it was stopped by ${result.signal}`)
  console.error(
    `Installing ${what} failed: ${why}. What npm said stands above; run the command again to try once more.`,
  )
  process.exit(1)
}
