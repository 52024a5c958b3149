// The official client and the official conformance suite against the real service, and the suite against our client.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, onTestFinished, test } from 'vitest'
import { startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'
import { startConformanceServer } from '../support/mcp-conformance-server.ts'

const ROOT = join(import.meta.dirname, '../..')
const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
const OUR_CLIENT = join(ROOT, 'test/support/mcp-conformance-client.ts')

/** A service that starts, is killed and starts again, and a process for each scenario of the suite. */
const PATIENCE = { timeout: 300_000 }

/** What the person who runs the tests has set must not decide them. */
const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))

/** Scenarios that are run against `/mcp` of the service itself. */
const OF_THE_SERVICE = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection']
/** Scenarios that call tools of the suite's own names, run against what serves our tools. */
const OF_ITS_TOOLS = ['tools-call-simple-text', 'tools-call-error']

const NO_CAPABILITY = 'the service offers tools, and declares no other capability'
const TEXT_ONLY = 'the tools of the service answer with text'
const ASKS_NOTHING =
  'the service asks its clients nothing and tells them nothing unasked: every answer is one JSON body'

const SERVER_SCENARIOS_THAT_DO_NOT_APPLY: Readonly<Record<string, string>> = {
  'logging-set-level': NO_CAPABILITY,
  'completion-complete': NO_CAPABILITY,
  'tools-call-image': TEXT_ONLY,
  'tools-call-audio': TEXT_ONLY,
  'tools-call-embedded-resource': TEXT_ONLY,
  'tools-call-mixed-content': TEXT_ONLY,
  'tools-call-with-logging': NO_CAPABILITY,
  'tools-call-with-progress': ASKS_NOTHING,
  'tools-call-sampling': ASKS_NOTHING,
  'tools-call-elicitation': ASKS_NOTHING,
  'json-schema-2020-12': 'it looks for one tool with definitions and references in its schema; ours need none',
  'elicitation-sep1034-defaults': ASKS_NOTHING,
  'elicitation-sep1330-enums': ASKS_NOTHING,
  'server-sse-polling': 'there are no event streams to resume',
  'server-sse-multiple-streams': 'there are no event streams',
  'resources-list': NO_CAPABILITY,
  'resources-read-text': NO_CAPABILITY,
  'resources-read-binary': NO_CAPABILITY,
  'resources-templates-read': NO_CAPABILITY,
  'resources-subscribe': NO_CAPABILITY,
  'resources-unsubscribe': NO_CAPABILITY,
  'prompts-list': NO_CAPABILITY,
  'prompts-get-simple': NO_CAPABILITY,
  'prompts-get-with-args': NO_CAPABILITY,
  'prompts-get-embedded-resource': NO_CAPABILITY,
  'prompts-get-with-image': NO_CAPABILITY,
}

const OF_OUR_CLIENT = ['initialize', 'tools_call', 'sse-retry']
/** The rest of its names begin with `auth/`: a server is given a key, and nobody is there to sign in for an agent. */
const CLIENT_SCENARIOS_THAT_DO_NOT_APPLY: Readonly<Record<string, string>> = {
  'elicitation-sep1034-client-defaults': 'the client does not declare elicitation: nobody is there to be asked',
}

type Run = { code: number; output: string }

/** Runs the suite in a folder of its own, where it leaves its results. */
async function suite(...args: string[]): Promise<Run> {
  const cwd = mkdtempSync(join(tmpdir(), 'bellwether-mcp-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  const child = spawn(process.execPath, [SUITE, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text))
  const code = await new Promise<number>((done) => child.on('close', (status) => done(status ?? -1)))
  return { code, output }
}

async function scenarios(kind: 'server' | 'client'): Promise<string[]> {
  const { output } = await suite('list', `--${kind}`)
  const names = [...output.matchAll(/^\s+- (\S+)/gm)].map(([, name = '']) => name)
  expect(names.length).toBeGreaterThan(kind === 'server' ? 20 : 10)
  return names
}

async function passes(scenario: string, ...args: string[]): Promise<void> {
  const { code, output } = await suite(...args, '--scenario', scenario)
  const [, passed, all] = /Passed: (\d+)\/(\d+), 0 failed, 0 warnings/.exec(output) ?? []
  if (code !== 0 || passed === undefined || passed !== all || passed === '0') throw new Error(`${scenario}: ${output}`)
}

async function localService() {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-mcp-state-'))
  const service = await startService({ stateDir, env: CLEAN })
  onTestFinished(async () => {
    await service.stop()
    rmSync(stateDir, { recursive: true, force: true })
  })
  return service
}

test(
  'the official client works with the service over HTTP, and a crash between two calls costs it nothing',
  PATIENCE,
  async () => {
    const service = await localService()
    const client = new Client({ name: 'test', version: '1' })
    onTestFinished(() => client.close())
    const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/mcp/mcp`))
    await client.connect(transport as Parameters<typeof client.connect>[0])
    const call = async (name: string, args: Record<string, unknown>) => {
      const { content, isError } = await client.callTool({ name, arguments: args })
      const [part] = content as { text: string }[]
      if (isError === true || part === undefined) throw new Error(`${name}: ${part?.text}`)
      return part.text
    }
    expect((await client.listTools()).tools.length).toBe(15)
    const created = await call('create_conversation', { initial_user_msg: 'echo from afar' })
    const { conversation_id } = JSON.parse(created) as { conversation_id: string }
    const until = async (text: string) => {
      while (!(await call('read_events', { conversation_id, limit: 100 })).includes(`"content":"${text}"`)) {
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
    await until('from afar')
    expect(service.kill9Runtime()).toBeGreaterThan(0)
    await expect
      .poll(
        () =>
          fetch(`${service.url}/health`).then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 120_000 },
      )
      .toBe(200)
    expect(await call('send_message', { conversation_id, content: 'echo and back' })).toBe('Sent')
    await until('and back')

    // A client that looks for a sign-in finds that there is none, and not the console's page.
    expect((await fetch(`${service.url}/.well-known/oauth-protected-resource/mcp`)).status).toBe(404)

    // Every scenario either passes or has a reason not to be run; a new version of the suite may bring new ones.
    const known = [...OF_THE_SERVICE, ...OF_ITS_TOOLS, ...Object.keys(SERVER_SCENARIOS_THAT_DO_NOT_APPLY)]
    expect((await scenarios('server')).toSorted()).toEqual(known.toSorted())
    for (const scenario of OF_THE_SERVICE) await passes(scenario, 'server', '--url', `${service.url}/mcp`)
  },
)

test('what serves our tools passes the scenarios of the suite that call tools', async () => {
  const server = await startConformanceServer()
  onTestFinished(() => server.stop())
  for (const scenario of OF_ITS_TOOLS) await passes(scenario, 'server', '--url', server.url)
})

test('our client passes every scenario of the suite for clients that applies to it', async () => {
  const known = [...OF_OUR_CLIENT, ...Object.keys(CLIENT_SCENARIOS_THAT_DO_NOT_APPLY)]
  const listed = (await scenarios('client')).filter((name) => !name.startsWith('auth/'))
  expect(listed.toSorted()).toEqual(known.toSorted())
  const command = `${process.execPath} ${OUR_CLIENT}`
  for (const scenario of OF_OUR_CLIENT) await passes(scenario, 'client', '--command', command)
})
