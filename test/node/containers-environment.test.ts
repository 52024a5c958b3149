// The environment `containers` of wrangler.toml: it inherits no bindings, so each is written twice.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ROOT, textOf } from '../support/source-tree.ts'

/** Each table as its name and its lines that say something, without what is the environment's own. */
function tablesOf(text: string): string[] {
  const [, ...tables] = `\n${text.replace(/^\s*#.*$/gm, '')}`.split(/\n(?=\[)/)
  return tables.map((table) => table.replaceAll(/\s*\n\s*/g, ' ').trim())
}

test('it has every binding and migration of the plain one, and its own', () => {
  const tables = tablesOf(textOf('wrangler.toml'))
  const isOwn = (table: string) => /^\[+env\.containers[.\]]/.test(table)
  const INHERITED = /^\[+(build|assets|triggers|observability)\]/
  const plain = tables.filter((table) => !isOwn(table) && !INHERITED.test(table))
  const own = tables.filter(isOwn).map((table) => table.replace('env.containers.', ''))
  const expected = plain.map((table) => table.replace('service = "bellwether"', 'service = "bellwether-containers"'))
  expect(plain.length).toBeGreaterThan(8)
  expect(own).toEqual(expect.arrayContaining(expected))
  expect(plain.join()).not.toContain('RunnerContainer')
})

test('a dry run of its deployment passes without Docker', () => {
  const outdir = mkdtempSync(join(tmpdir(), 'bellwether-containers-'))
  onTestFinished(() => rmSync(outdir, { recursive: true, force: true }))
  const wrangler = join(ROOT, 'node_modules/wrangler/bin/wrangler.js')
  const args = [wrangler, 'deploy', '--dry-run', '--env', 'containers', '--outdir', outdir]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, WRANGLER_DOCKER_BIN: '/nonexistent/docker', WRANGLER_SEND_METRICS: 'false', CI: '1' },
  })
  expect([status, stderr]).toEqual([0, expect.not.stringMatching(/error/i)])
  expect(stdout).toMatch(/RUNNER_CONTAINER \(RunnerContainer\)/)
  expect(stdout).toContain('registry.cloudflare.com/bellwether-runner')
})
