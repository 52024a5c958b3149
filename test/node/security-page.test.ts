// Each promise of docs/security.md names the test that shows it, and the bill of materials names what is installed.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ROOT, textOf } from '../support/source-tree.ts'

const PAGE = 'docs/security.md'
const HEADING = '## What holds, and the test that shows it'
const ROW = /^\| (.+?) \| (.+?) \| `([^`]+)`: (.+) \|$/

/** The title as it stands in the file: in any kind of quotes. */
const declares = (text: string, title: string) =>
  ["'", '"', '`'].some((quote) => text.includes(`(${quote}${title.replaceAll(quote, `\\${quote}`)}${quote}`)) ||
  // A long one stands on a line of its own.
  ["'", '"', '`'].some((quote) => text.includes(`(\n  ${quote}${title}${quote}`))

test('every promise of the security page names a test that is there, and none of the ten risks is without one', () => {
  const [, table = ''] = textOf(PAGE).split(HEADING)
  const lines = table.split('\n').filter((line) => line.startsWith('| '))
  const rows = lines.slice(2).map((line) => ({ line, found: ROW.exec(line) }))
  expect(rows.filter(({ found }) => found === null).map(({ line }) => line)).toEqual([])
  expect(rows.length).toBeGreaterThan(35)
  const named = rows.map(({ found }) => ({ risk: found?.[1] ?? '', file: found?.[3] ?? '', title: found?.[4] ?? '' }))
  const absent = named.filter(({ file, title }) => !existsSync(join(ROOT, file)) || !declares(textOf(file), title))
  expect(absent).toEqual([])
  for (let risk = 1; risk <= 10; risk += 1)
    expect([risk, named.some((row) => new RegExp(`^API${risk}\\b`).test(row.risk))]).toEqual([risk, true])
  for (const subject of ['cookies', 'sign-out', 'runners', 'supply chain'])
    expect([subject, named.some((row) => row.risk === subject)]).toEqual([subject, true])
})

type Locked = { version?: string; dev?: boolean; link?: boolean; dependencies?: Record<string, string> }
type Bom = {
  bomFormat: string
  specVersion: string
  metadata: { component: { name: string; version: string; type: string } }
  components: { name: string; version: string; hashes?: { alg: string; content: string }[]; licenses?: unknown[] }[]
}

test('the bill of materials has every package that the lock file installs for the service, the runner and the client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-sbom-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  execFileSync(process.execPath, [join(ROOT, 'scripts/sbom.mjs'), folder], { stdio: 'pipe' })
  expect(readdirSync(folder).toSorted()).toEqual(['bellwether.cdx.json', 'client.cdx.json', 'runner.cdx.json'])
  const read = (name: string) => JSON.parse(readFileSync(join(folder, `${name}.cdx.json`), 'utf8')) as Bom
  const { packages } = JSON.parse(textOf('package-lock.json')) as { packages: Record<string, Locked> }
  const named = (one: string) => one.slice(one.lastIndexOf('node_modules/') + 'node_modules/'.length)
  for (const [name, own] of [
    ['bellwether', ''],
    ['runner', 'runner'],
    ['client', 'client'],
  ] as const) {
    const { bomFormat, specVersion, metadata, components } = read(name)
    const manifest = JSON.parse(textOf(join(own, 'package.json'))) as { name: string; version: string }
    expect([bomFormat, specVersion, metadata.component]).toMatchObject([
      'CycloneDX',
      '1.5',
      { name: manifest.name, version: manifest.version, type: 'application' },
    ])
    const listed = new Set(components.map((one) => `${one.name}@${one.version}`))
    // The empty stand-in for packages that are never loaded has a name of its own.
    const direct = Object.keys(packages[own]?.dependencies ?? {}).filter(
      (one) => packages[`node_modules/${one}`]?.link !== true,
    )
    const versions = direct.map((one) => {
      const locked = packages[`${own === '' ? '' : `${own}/`}node_modules/${one}`] ?? packages[`node_modules/${one}`]
      return `${one}@${locked?.version}`
    })
    expect([name, versions.filter((one) => !listed.has(one))]).toEqual([name, []])
    // Whatever is listed is locked at that version, and for more than tests.
    const locked = new Map<string, Locked[]>()
    for (const [path, one] of Object.entries(packages).filter(([path]) => path.includes('node_modules/'))) {
      const key = `${named(path)}@${one.version}`
      locked.set(key, [...(locked.get(key) ?? []), one])
    }
    const strange = [...listed].filter(
      (one) => !one.startsWith('absent-package@') && !locked.get(one)?.some(({ dev }) => dev !== true),
    )
    expect([name, strange]).toEqual([name, []])
    const bare = components.filter((one) => one.name !== 'absent-package' && one.hashes?.[0]?.alg !== 'SHA-512')
    expect([name, bare.map((one) => one.name)]).toEqual([name, []])
  }
  expect(read('bellwether').components.length).toBeGreaterThan(200)
})
