// Small packages of the registry that bring their own tests, as repositories of a git host on loopback.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Order, Report } from '../../../test/support/git-server-orders.ts'

/** Each with its tests in its tarball, and with few packages to install for them. */
export const PACKAGES: readonly string[] = [
  'isarray@1.0.0',
  'concat-map@0.0.1',
  'defined@1.0.0',
  'array-filter@1.0.0',
  'deep-equal@1.0.1',
  'camelize@1.0.0',
  'duplexer@0.1.1',
  'shell-quote@1.4.3',
  'json-stable-stringify@1.0.1',
  'typedarray@0.0.6',
]

export type Repository = { readonly url: string; readonly folder: string; readonly main: string }

/** Throws when the registry cannot be reached. */
export async function hostPackage(spec: string, host: string): Promise<Repository> {
  const place = mkdtempSync(join(tmpdir(), 'bellwether-package-'))
  try {
    execFileSync('npm', ['pack', spec, '--silent'], { cwd: place, stdio: 'pipe' })
    const [tarball = ''] = readdirSync(place).filter((name) => name.endsWith('.tgz'))
    execFileSync('tar', ['xf', tarball], { cwd: place })
    return await hostFolder(join(place, 'package'), spec.replace(/@.*/, ''), host)
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

async function hostFolder(from: string, name: string, host: string): Promise<Repository> {
  const folder = `${name}.git`
  const work = `${folder}.work`
  const paths = readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const files = paths.map((path) => ({
    path: `${work}/${path.slice(from.length + 1)}`,
    base64: readFileSync(path).toString('base64'),
  }))
  const ignored = { path: `${work}/.gitignore`, base64: Buffer.from('node_modules\n').toString('base64') }
  await order(host, { cwd: work, files: [...files, ignored] })
  const add = [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    ['commit', '-q', '-m', 'As it was published'],
  ]
  await order(host, { cwd: work, git: [...add, ['clone', '-q', '--bare', '.', `../${folder}`]] })
  await order(host, { cwd: folder, git: [['config', 'http.receivepack', 'true']] })
  const { main = 'index.js' } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as { main?: string }
  return { url: `${host}/git/${folder}`, folder, main: main.endsWith('.js') ? main : `${main}.js` }
}

/** The outputs of git commands on the host; all of them must succeed. */
export async function order(host: string, wanted: Order): Promise<string[]> {
  const response = await fetch(`${host}/order`, { method: 'POST', body: JSON.stringify(wanted) })
  if (!response.ok) throw new Error(await response.text())
  const reports = (await response.json()) as Report[]
  const failed = reports.find(({ exitCode }) => exitCode !== 0)
  if (failed !== undefined) throw new Error(failed.stderr)
  return reports.map(({ stdoutBase64 }) => Buffer.from(stdoutBase64, 'base64').toString())
}
