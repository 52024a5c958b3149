// An agent that turns on the service that runs it, and settings that lead back to it: a real local service, a hostile
// scripted model, and every way out that an agent or a setting has.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../scripts/start/port.ts'
import { startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'
import { startGitServer } from '../support/git-server.ts'
import type { Order } from '../support/git-server-orders.ts'
import { startScriptedModel } from '../support/scripted-model.ts'
import type { ScriptedReply } from '../support/scripted-model-orders.ts'
import { wayAround } from '../support/way-around.ts'

const PATIENCE = { timeout: 900_000 }

/** What the person who runs the tests has set must not decide them. */
const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))

type Event = { id: number; cause?: number; action?: string; observation?: string; content?: string; message?: string }
type ObservedEvent = Event & {
  extras?: { agent_state?: string; reason?: string }
  args?: { command?: string; url?: string }
}

const EVERYTHING = { ALLOW_PRIVATE_NETWORK: '127.0.0.0/8,localhost,::1,0.0.0.0,192.168.0.0/16' }

/** A service in local mode whose operator allows everything on loopback unless told otherwise, with a model that follows its script. */
async function underAttack(vars: Record<string, string> = EVERYTHING) {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-own-service-'))
  const port = await freePort()
  const around = await wayAround(port)
  const model = await startScriptedModel()
  const service = await startService({ stateDir, port, env: { ...CLEAN, ...vars } })
  onTestFinished(async () => {
    await service.stop()
    await Promise.all([around.stop(), model.close()])
    rmSync(stateDir, { recursive: true })
  })
  const ask = async (path: string, body?: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const reply = await fetch(`${service.url}${path}`, body === undefined ? {} : init)
    return (await reply.json()) as Record<string, unknown>
  }
  const put = async (path: string, body: object) =>
    fetch(`${service.url}${path}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  /** Has the agent of a new conversation do what the script says, and answers with what happened. */
  const talk = async (replies: ScriptedReply[], body: object, isOver: (events: ObservedEvent[]) => boolean) => {
    const name = crypto.randomUUID()
    model.setScript(name, { replies })
    await ask('/api/settings', {
      llm_model: 'openai/scripted',
      llm_base_url: `${model.url}/${name}/v1`,
      llm_api_key: 'k',
    })
    const { conversation_id: id } = await ask('/api/conversations', { initial_user_msg: 'go on', ...body })
    const events = async () => (await ask(`/api/conversations/${id}/events?limit=100`)).events as ObservedEvent[]
    await expect.poll(async () => isOver(await events()), { timeout: 240_000, interval: 100 }).toBe(true)
    return events()
  }
  return { service, port, around: around.port, ask, put, talk }
}

const said = (words: string) => (events: ObservedEvent[]) => events.some(({ message }) => message === words)
const isStuck = (events: ObservedEvent[]) =>
  events.findLast(({ observation }) => observation === 'agent_state_changed')?.extras?.agent_state === 'error'

const NEVER = /is this service itself, which is never asked, whatever ALLOW_PRIVATE_NETWORK says/
const REFUSED_BACK = /does not answer what it sends itself/

test(
  'nothing that the agent can type reaches the service that runs it, and its settings stay as they were',
  PATIENCE,
  async () => {
    const { service, port, around, ask, talk } = await underAttack()
    const hosts = ['127.0.0.1', 'localhost', '127.1', '2130706433', '0x7f000001', '0', '0.0.0.0', '[::1]', '127.0.0.2']
    const others = ['[::ffff:127.0.0.1]', 'localhost.', '127.0.0.1.nip.io', 'user@127.0.0.1', '[::]', '0177.0.0.1']
    const steal = `-X POST -H 'content-type: application/json' -d '{"llm_base_url":"https://evil.example/v1"}'`
    const settings = (host: string) => `http://${host}:${port}/api/settings`
    const commands = [
      ...[...hosts, ...others].map((host) => `curl -sS ${steal} '${settings(host)}'`),
      ...hosts.map((host) => `curl -sS '${settings(host)}'`),
      `curl -sS -L ${steal} -H 'x-bellwether-outbound;' '${settings('127.0.0.1')}'`,
      `wget -q -O - ${settings('127.0.0.1')}`,
      `git clone http://127.0.0.1:${port}/a/b.git`,
      `git ls-remote http://localhost:${port}/a/b.git`,
      `git init -q x && cd x && git remote add o http://127.0.0.1:${port}/a.git; git fetch o; cd /workspace`,
      `cd x && git remote set-url o http://[::1]:${port}/a.git; git fetch o; git push o HEAD:main; cd /workspace`,
      `printf '[remote "o"]\\n\\turl = http://localhost:${port}/a.git\\n' > x/.git/config; cd x; git fetch o; cd /workspace`,
    ]
    // By ways that its own name does not tell of, the service itself has to know what it sent.
    const roundabout = [
      `curl -sS ${steal} http://127.0.0.1:${around}/api/settings`,
      `curl -sS http://127.0.0.1:${around}/api/settings`,
      `curl -sS -H 'x-bellwether-outbound: x' -H 'connection: x-bellwether-outbound' http://localhost:${around}/api/settings`,
    ]
    const browsing = [settings('127.0.0.1'), settings('localhost'), `http://127.0.0.1:${around}/api/settings`]
    const calls = [
      ...[...commands, ...roundabout].map((command, at) => ({
        id: `c${at}`,
        name: 'execute_bash',
        arguments: { command },
      })),
      ...browsing.map((url, at) => ({ id: `b${at}`, name: 'browse', arguments: { url } })),
    ]
    const inParts = Array.from({ length: Math.ceil(calls.length / 15) }, (_, at) => calls.slice(at * 15, at * 15 + 15))
    const before = await ask('/api/settings')
    const events = await talk([...inParts.map((part) => ({ calls: part })), { text: 'no way' }], {}, said('no way'))
    const outcomes = events
      .filter(({ action }) => action === 'run' || action === 'browse')
      .map(({ id, args }) => ({
        asked: args?.command ?? args?.url ?? '',
        content: events.find(({ cause, observation }) => cause === id && observation !== 'null')?.content ?? '',
      }))
    expect(outcomes.length).toBe(calls.length)
    for (const { asked, content } of outcomes) {
      const isAround = asked.includes(String(around))
      const expected = asked.startsWith('wget') ? /wget/ : isAround ? REFUSED_BACK : NEVER
      expect([asked, content]).toEqual([asked, expect.stringMatching(expected)])
      expect(content).not.toMatch(/llm_model|"language"/)
    }
    const after = await ask('/api/settings')
    expect({ ...after, llm_base_url: null }).toMatchObject({ llm_model: 'openai/scripted' })
    expect(String(after.llm_base_url)).not.toContain('evil.example')
    expect(before).not.toHaveProperty('llm_base_url', 'https://evil.example/v1')
    expect(service.restarts).toBe(0)
  },
)

test(
  'settings, tool servers, webhooks and repositories that lead to the service itself end with a sentence',
  PATIENCE,
  async () => {
    const { service, port, around, ask, put, talk } = await underAttack()
    const own = [`http://127.0.0.1:${port}`, `http://localhost:${port}`, `http://127.0.0.1:${around}`]
    const mcp_config = { sse_servers: [], stdio_servers: [], shttp_servers: own.map((url) => ({ url: `${url}/mcp` })) }
    const events = await talk([{ text: 'hello' }], { mcp_config }, said('hello'))
    const told = events.filter(({ observation }) => observation === 'error').map(({ content }) => content)
    expect(told.filter((content) => NEVER.test(content ?? ''))).toHaveLength(2)
    expect(told.filter((content) => /wants another key \(status 403\)/.test(content ?? ''))).toHaveLength(1)

    for (const [at, base] of own.entries()) {
      const repository = `${base}/owner/name.git`
      const stuck = await talk([{ text: 'never' }], { repository }, isStuck)
      const reason = String(stuck.findLast(({ extras }) => extras?.reason)?.extras?.reason)
      expect([repository, reason]).toEqual([
        repository,
        expect.stringMatching(at === 2 ? /returned error: 403/ : NEVER),
      ])

      const path = `/api/v1/analysis/channels/own${at}`
      const settings = { url: `${base}/api/settings` }
      expect((await put(path, { kind: 'webhook', settings })).status).toBe(200)
      const tested = JSON.stringify(await ask(`${path}/test`, {}))
      expect([base, tested]).toEqual([base, expect.stringMatching(at === 2 ? REFUSED_BACK : NEVER)])

      await ask('/api/settings', { llm_base_url: `${base}/v1` })
      const { conversation_id: id } = await ask('/api/conversations', { initial_user_msg: 'hello' })
      const latest = async () => (await ask(`/api/conversations/${id}/events?limit=100`)).events as ObservedEvent[]
      await expect.poll(async () => isStuck(await latest()), { timeout: 240_000, interval: 100 }).toBe(true)
      const why = JSON.stringify(await latest())
      expect([base, why]).toEqual([base, expect.stringMatching(at === 2 ? /RuntimeError|403|refuse/ : NEVER)])
    }
    expect(service.restarts).toBe(0)
  },
)

/** A git host on loopback with one repository. */
async function gitHost() {
  const host = await startGitServer()
  onTestFinished(() => host.stop())
  const files = [{ path: 'README.md', base64: btoa('# Shop\n') }]
  const git = [
    ['init', '-q', '-b', 'main'],
    ['add', '.'],
    ['commit', '-qm', 'first'],
    ['config', 'http.receivepack', 'true'],
  ]
  const order: Order = { cwd: 'shop', files: files.map((file) => ({ ...file, path: `shop/${file.path}` })), git }
  const done = await fetch(`${host.url}/order`, { method: 'POST', body: JSON.stringify(order) })
  const reports = (await done.json()) as { exitCode: number; stderr: string }[]
  expect(reports.filter(({ exitCode }) => exitCode !== 0)).toEqual([])
  return `${host.url}/git/shop/.git`
}

test(
  'a repository on loopback that a person named stays in reach of its agent, and nothing else on loopback is',
  PATIENCE,
  async () => {
    const [mine, other] = [await gitHost(), await gitHost()]
    const { service, talk } = await underAttack({})
    const commands = {
      within: [
        'git fetch origin',
        'git checkout -q -b topic && git push origin topic',
        `git ls-remote ${mine}`,
        `cd /workspace && git clone -q ${mine} again && cd -`,
      ],
      outside: [
        `git clone ${other} /workspace/other`,
        `git remote add o ${other}; git fetch o`,
        `git remote set-url origin ${other}; git fetch origin`,
        `git remote set-url --push origin ${other}; git push origin HEAD:refs/heads/fresh`,
        `sed -i 's#http://.*#${other}#' .git/config; git fetch origin`,
        `git ls-remote ${mine.replace('127.0.0.1', 'localhost')}`,
        `git ls-remote ${mine.replace('127.0.0.1', '127.0.0.2')}`,
        `curl -sS ${mine}/HEAD`,
      ],
    }
    const bash = (command: string, at: number) => ({ id: `c${at}`, name: 'execute_bash', arguments: { command } })
    const calls = [...commands.within, ...commands.outside].map((command, at) => bash(`${command}; echo "code $?"`, at))
    const events = await talk([{ calls }, { text: 'done' }], { repository: mine }, said('done'))
    const contentOf = (command: string) => {
      const action = events.find(({ args }) => args?.command === `${command}; echo "code $?"`)
      return events.find(({ cause, observation }) => cause === action?.id && observation === 'run')?.content ?? ''
    }
    for (const command of commands.within) {
      expect([command, contentOf(command)]).toEqual([command, expect.stringMatching(/code 0$/)])
      expect(contentOf(command)).not.toContain('refused')
    }
    for (const command of commands.outside) {
      const told =
        /The address is refused: .* \(the operator can allow (127\.0\.0\.\d|localhost):\d+ with ALLOW_PRIVATE_NETWORK\)/
      expect([command, contentOf(command)]).toEqual([command, expect.stringMatching(told)])
    }

    // The same address from a model behind a client of ours is that model's choice.
    const call = { name: 'create_conversation', arguments: { repository: mine, initial_user_msg: 'ls' } }
    const reply = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
    })
    const { result } = (await reply.json()) as { result: { content: { text: string }[] } }
    const { conversation_id } = JSON.parse(result.content[0]?.text ?? '') as { conversation_id: string }
    const latest = async () => {
      const page = await fetch(`${service.url}/api/conversations/${conversation_id}/events?limit=100`)
      return ((await page.json()) as { events: ObservedEvent[] }).events
    }
    await expect.poll(async () => isStuck(await latest()), { timeout: 240_000, interval: 100 }).toBe(true)
    expect(JSON.stringify(await latest())).toMatch(/Cloning .* failed: .*not a public address/)
  },
)
