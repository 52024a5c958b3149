// The official conformance suite of the Model Context Protocol: our service as its server, what serves our tools with the tools that
// it wants to call, and our client.

import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { availableParallelism } from 'node:os'
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
/** A scenario is ended after this time and counts as different. The suite's own limit for the client is shorter. */
const SCENARIO_MS = 30_000
const CLIENT_MS = 20_000
/** Most of a scenario is waiting for a program to start. */
const LANES = Math.max(1, Math.min(4, availableParallelism()))
const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))

/** `folder`: where the suite may leave its results. */
export async function mcpCases(folder: string): Promise<Case[]> {
  const service = await startService({ stateDir: mkdtempSync(join(folder, 'state-')), env: CLEAN })
  const tools = await startConformanceServer()
  try {
    const ofServer = (name: string) => ['server', '--url', OF_ITS_TOOLS.test(name) ? tools.url : `${service.url}/mcp`]
    const ofClient = ['client', '--command', `${process.execPath} ${OUR_CLIENT}`, '--timeout', String(CLIENT_MS)]
    const [server, client] = [await scenarios(folder, 'server'), await scenarios(folder, 'client')]
    return await inLanes([
      ...server.map((name) => () => run(folder, name, ofServer(name))),
      ...client.map((name) => () => run(folder, name, ofClient)),
    ])
  } finally {
    await tools.stop()
    await service.stop()
  }
}

/** The results in the order of the works, of which a few run at a time. */
async function inLanes<T>(works: readonly (() => Promise<T>)[]): Promise<T[]> {
  const left = works.entries()
  const results: T[] = []
  const lane = async () => {
    for (const [at, work] of left) results[at] = await work()
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return results
}

async function scenarios(folder: string, kind: 'server' | 'client'): Promise<string[]> {
  const { output } = await suite(folder, ['list', `--${kind}`])
  return [...output.matchAll(/^\s+- (\S+)/gm)].map(([, name = '']) => name)
}

async function run(folder: string, name: string, args: readonly string[]): Promise<Case> {
  const { code, isOver, output } = await suite(folder, [...args, '--scenario', name])
  const [, passed, all] = /Passed: (\d+)\/(\d+), 0 failed, 0 warnings/.exec(output) ?? []
  const isWhole = passed !== undefined && passed === all && passed !== '0'
  return {
    name,
    passed: code === 0 && isWhole,
    detail: isOver ? output.slice(-300).replaceAll('\n', ' ') : `not over after ${SCENARIO_MS / 1000} s`,
  }
}

type Ended = { code: number; isOver: boolean; output: string }

async function suite(folder: string, args: readonly string[]): Promise<Ended> {
  const cwd = mkdtempSync(join(folder, 'run-'))
  // A separate process group: the suite starts our client, which must end with it.
  const child = spawn(process.execPath, [SUITE, ...args], { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let isOver = true
  const limit = setTimeout(() => {
    isOver = false
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }, SCENARIO_MS)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => {
      output += text
    })
  const code = await new Promise<number>((done) => child.on('close', (status) => done(status ?? -1)))
  clearTimeout(limit)
  return { code, isOver, output }
}
