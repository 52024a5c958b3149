// The official conformance suite of the Model Context Protocol: our service as its server, what serves our tools with the tools that
// it wants to call, and our client.

import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { VARIABLES } from '../../src/config.ts'
import { startConformanceServer } from '../../test/support/mcp-conformance-server.ts'
import { ROOT } from '../start/paths.ts'
import { startService } from '../start/service.ts'
import type { Case } from './case.ts'

const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
const OUR_CLIENT = join(ROOT, 'test/support/mcp-conformance-client.ts')
/** Scenarios that call tools of the suite's own names. */
const OF_ITS_TOOLS = /^tools-call-/
const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))

/** `folder`: where the suite may leave its results. */
export async function mcpCases(folder: string): Promise<Case[]> {
  const service = await startService({ stateDir: mkdtempSync(join(folder, 'state-')), env: CLEAN })
  const tools = await startConformanceServer()
  try {
    const cases: Case[] = []
    for (const name of await scenarios(folder, 'server')) {
      const url = OF_ITS_TOOLS.test(name) ? tools.url : `${service.url}/mcp`
      cases.push(await run(folder, name, ['server', '--url', url]))
    }
    for (const name of await scenarios(folder, 'client'))
      cases.push(await run(folder, name, ['client', '--command', `${process.execPath} ${OUR_CLIENT}`]))
    return cases
  } finally {
    await tools.stop()
    await service.stop()
  }
}

async function scenarios(folder: string, kind: 'server' | 'client'): Promise<string[]> {
  const { output } = await suite(folder, ['list', `--${kind}`])
  return [...output.matchAll(/^\s+- (\S+)/gm)].map(([, name = '']) => name)
}

async function run(folder: string, name: string, args: readonly string[]): Promise<Case> {
  const { code, output } = await suite(folder, [...args, '--scenario', name])
  const [, passed, all] = /Passed: (\d+)\/(\d+), 0 failed, 0 warnings/.exec(output) ?? []
  const isWhole = passed !== undefined && passed === all && passed !== '0'
  return { name, passed: code === 0 && isWhole, detail: output.slice(-300).replaceAll('\n', ' ') }
}

async function suite(folder: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  const cwd = mkdtempSync(join(folder, 'run-'))
  const child = spawn(process.execPath, [SUITE, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => {
      output += text
    })
  const code = await new Promise<number>((done) => child.on('close', (status) => done(status ?? -1)))
  return { code, output }
}
