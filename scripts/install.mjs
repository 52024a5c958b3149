// Installs the packages when node_modules is missing or does not match package-lock.json. It runs before every command,
// so it needs nothing but Node itself and costs a hash when there is nothing to do.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const LOCK = join(ROOT, 'package-lock.json')
const STAMP = join(ROOT, 'node_modules', '.bellwether-lock.sha256')

const wanted = createHash('sha256').update(readFileSync(LOCK)).digest('hex')

if (stamped() !== wanted) {
  if (!installedByHand()) install()
  writeFileSync(STAMP, `${wanted}\n`)
}

/** @returns {string | null} */
function stamped() {
  return existsSync(STAMP) ? readFileSync(STAMP, 'utf8').trim() : null
}

/**
 * True when `npm ci` or `npm install` was run without us and left exactly what the lock file names: npm keeps a list of
 * what it installed. Packages for other platforms stand in the lock file alone.
 */
function installedByHand() {
  const installedList = join(ROOT, 'node_modules', '.package-lock.json')
  if (!existsSync(installedList)) return false
  const installed = packagesOf(installedList)
  return Object.entries(packagesOf(LOCK)).every(([path, { version, integrity, optional }]) => {
    if (path === '') return true
    const found = installed[path]
    if (found === undefined) return optional === true
    return found.version === version && found.integrity === integrity && existsSync(join(ROOT, path))
  })
}

/**
 * @param {string} file
 * @returns {Record<string, { version?: string, integrity?: string, optional?: boolean }>}
 */
function packagesOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

function install() {
  console.error('Installing packages (node_modules is missing or older than package-lock.json) …')
  const npm = process.env.npm_execpath
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []]
  const result = spawnSync(command, [...first, 'ci', '--no-fund', '--no-audit', '--loglevel=error'], {
    cwd: ROOT,
    // Nothing may ask a question, and the standard output belongs to the command that follows.
    stdio: ['ignore', 2, 2],
  })
  if (result.status === 0) return
  const why =
    result.error?.message ??
    (result.signal === null ? `it ended with ${result.status}` : `it was stopped by ${result.signal}`)
  console.error(`Installing the packages failed: ${why}. What npm said stands above; run "npm ci" to try again.`)
  process.exit(1)
}
