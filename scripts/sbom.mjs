// `npm run sbom -- [FOLDER]`: a bill of materials of the service, of the runner and of the client, in CycloneDX, as npm makes it from
// package-lock.json, without the packages that only tests and checks use. It installs nothing and sends no requests.

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {{ 'bom-ref': string, name: string, type: string }} Component
 * @typedef {{ ref: string, dependsOn: string[] }} Edges
 * @typedef {{ serialNumber: string, metadata: { component: Component }, components: Component[], dependencies: Edges[] }} Bom
 * @typedef {{ name: string, version: string, description: string, license: string, devDependencies?: Record<string, string> }} Package
 */

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const FOLDERS = ['', 'runner', 'client']
const into = resolve(process.env.INIT_CWD ?? process.cwd(), process.argv[2] ?? join(ROOT, 'dist', 'sbom'))

// One bill of all: with `--omit dev` or `--workspace`, npm leaves out packages that a test or another workspace uses as well.
const words = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx']
/** @type {Bom} */
const whole = JSON.parse(execFileSync('npm', words, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }))
const packages = FOLDERS.map((folder) => packageIn(folder))
mkdirSync(into, { recursive: true })
for (const [at, one] of packages.entries()) {
  const bom = billOf(one)
  const file = join(into, `${FOLDERS[at] || 'bellwether'}.cdx.json`)
  writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`)
  console.log(`${file}: ${bom.components.length} packages`)
}

/**
 * @param {string} folder
 * @returns {Package}
 */
function packageIn(folder) {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
}

/**
 * What the package leads to, but for what only its tests use and the packages beside it.
 *
 * @param {Package} of
 * @returns {Bom}
 */
function billOf({ name, version, description, license, devDependencies = {} }) {
  const ref = `${name}@${version}`
  const edges = new Map(whole.dependencies.map((one) => [one.ref, one.dependsOn]))
  const ours = new Set(packages.map((one) => `${one.name}@${one.version}`))
  const isLeftOut = (/** @type {string} */ next) =>
    ours.has(next) || Object.hasOwn(devDependencies, next.slice(0, next.lastIndexOf('@')))
  const direct = (edges.get(ref) ?? []).filter((next) => !isLeftOut(next))
  const reached = new Set(direct)
  for (const one of reached) for (const next of edges.get(one) ?? []) reached.add(next)
  const component = {
    'bom-ref': ref,
    type: 'application',
    name,
    version,
    description,
    licenses: [{ license: { id: license } }],
  }
  return {
    ...whole,
    serialNumber: `urn:uuid:${crypto.randomUUID()}`,
    metadata: { ...whole.metadata, component },
    components: whole.components.filter((one) => reached.has(one['bom-ref'])),
    dependencies: [
      { ref, dependsOn: direct },
      ...whole.dependencies.filter((one) => one.ref !== ref && reached.has(one.ref)),
    ],
  }
}
