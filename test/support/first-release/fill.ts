// Creates data of every kind through the API of a service, to fill a state folder of an earlier release.

import type { ScriptedModel } from '../scripted-model.ts'
import { type Ask, eventsOf, say, settled, successOf, until } from './ask.ts'

export type FillTargets = { readonly model: ScriptedModel; readonly hook: string; readonly tick: () => Promise<void> }

export async function fill(ask: Ask, places: FillTargets): Promise<void> {
  await preferences(ask)
  await shellConversations(ask)
  await modelConversations(ask, places.model)
  await analyses(ask, places)
  await successOf(ask, 'POST /api/keys', { owner: 'local', name: 'laptop', scopes: ['conversations', 'analysis'] })
  await successOf(ask, 'POST /api/keys', {
    owner: 'ann',
    name: 'until 2099',
    scopes: ['admin'],
    expires_at: '2099-01-01T00:00:00Z',
  })
  const { id } = await successOf<{ id: string }>(ask, 'POST /api/keys', {
    owner: 'bob',
    name: 'gone',
    scopes: ['analysis'],
  })
  await successOf(ask, `DELETE /api/keys/${id}`)
}

async function preferences(ask: Ask): Promise<void> {
  await successOf(ask, 'POST /api/settings', {
    language: 'en',
    git_user_name: 'Ann',
    git_user_email: 'ann@example.com',
  })
  for (const [name, value] of [
    ['DEPLOY_TOKEN', 'a sealed value'],
    ['OTHER_TOKEN', '另一个值 🔑'],
  ]) {
    await successOf(ask, 'POST /api/secrets', { name, value, description: `what ${name} opens` })
  }
  await successOf(ask, 'POST /api/security/policy', { policy: 'raise "never delete" if:\n  (call: ToolCall)\n' })
  await successOf(ask, 'POST /api/security/settings', { RISK_SEVERITY: 2 })
}

const WORK = `mkdir -p src 'with space' && printf 'one\\ntwo\\nthree\\n' > src/a.txt && printf '价格 😀\\n' > 'with space/ü.md'
git init -q . && git add -A && git commit -q -m 'first' && git checkout -q -b side && echo four >> src/a.txt && git commit -q -am 'second'
git checkout -q - && git merge -q side && git tag v1 && ln -s src/a.txt link && chmod +x src/a.txt && git stash list
echo changed >> src/a.txt && echo new > new.txt && printf '#!/bin/bash\\necho set up\\n' > run.sh && git log --oneline | wc -l`

async function shellConversations(ask: Ask): Promise<void> {
  const made = (body: object) => successOf<{ conversation_id: string }>(ask, 'POST /api/conversations', body)
  const id = 'shell-work'
  await made({ conversation_id: id, initial_user_msg: WORK, conversation_instructions: 'Speak plainly.' })
  await settled(ask, id, 0)
  await upload(ask, id)
  await say(ask, id, 'ls -la; wc -c big.txt small.txt; echo "token: $DEPLOY_TOKEN"; cat no-such-file; false')
  const early = (await eventsOf(ask, id)).at(-1)?.id
  await say(ask, id, 'rm new.txt; echo later > later.txt; node -e "console.log(6*7)"')
  await successOf(ask, `POST /api/conversations/${id}/events`, image())
  await successOf(ask, `POST /api/conversations/${id}/submit-feedback`, {
    email: 'ann@example.com',
    version: '1.0',
    permissions: 'private',
    polarity: 'positive',
    token: '',
    trajectory: [],
  })
  await successOf(ask, `PATCH /api/conversations/${id}`, { title: 'Shell work, renamed' })
  await successOf(ask, `POST /api/conversations/${id}/security/settings`, { RISK_SEVERITY: 0 })
  await successOf(ask, `POST /api/conversations/${id}/fork`, {
    event_id: early,
    title: 'A fork',
    conversation_id: 'forked',
  })
  await say(ask, 'forked', 'cat new.txt; echo forked > fork.txt; git status --short')
  await made({ conversation_id: 'deleted', initial_user_msg: 'echo gone > gone.txt' })
  await settled(ask, 'deleted', 0)
  await successOf(ask, 'DELETE /api/conversations/deleted')
  await made({ conversation_id: 'empty' })
  await rest(ask, [id, 'forked', 'empty'])
}

/** Files that are stored in rows, and one that is large enough to be stored as an object. */
async function upload(ask: Ask, id: string): Promise<void> {
  const form = new FormData()
  form.append('files', new File(['small\n'], 'small.txt'))
  form.append('files', new File(['a line of a large file\n'.repeat(60_000)], 'big.txt'))
  await successOf(ask, `POST /api/conversations/${id}/upload-files`, form)
}

/** A message that is larger than one row can hold. */
function image(): object {
  const url = `data:image/png;base64,${'iVBORw0KGgoAAAANSUhEUg'.repeat(120_000)}`
  return { action: 'message', args: { content: 'echo seen', image_urls: [url] } }
}

/** Stops the conversations, so that no timer changes them later. */
async function rest(ask: Ask, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await until(`${id} quiet`, async () => {
      const last = (await eventsOf(ask, id)).findLast(({ observation }) => observation === 'agent_state_changed')
      return last?.extras?.agent_state !== 'running' && last?.extras?.agent_state !== 'loading'
    })
    await successOf(ask, `POST /api/conversations/${id}/stop`)
  }
}

async function modelConversations(ask: Ask, model: ScriptedModel): Promise<void> {
  const call = (command: string) => ({ id: crypto.randomUUID(), name: 'execute_bash', arguments: { command } })
  const usage = { prompt: 900, completion: 40, cost: 0.002 }
  model.setScript('first', {
    title: 'What the model called it',
    replies: [
      {
        text: 'I look around.',
        reasoning: 'First look.',
        calls: [call('pwd; ls'), call('echo made > made.txt')],
        usage,
      },
      { text: 'All is there.', usage },
      { calls: [call('echo "$OTHER_TOKEN" > token.txt; wc -c token.txt')], usage },
      { calls: [{ id: 'end', name: 'finish', arguments: { message: 'It is done.', task_completed: 'true' } }], usage },
      {
        calls: [{ id: 'rm', name: 'execute_bash', arguments: { command: 'rm -rf /workspace', security_risk: 'HIGH' } }],
        usage,
      },
    ],
  })
  await successOf(ask, 'POST /api/settings', {
    llm_model: 'openai/scripted',
    llm_base_url: `${model.url}/first/v1`,
    llm_api_key: 'a sealed model key',
    max_iterations: 20,
    max_budget_per_task: 5,
    mcp_config: {
      sse_servers: [],
      stdio_servers: [],
      shttp_servers: [{ url: 'https://tools.example/mcp', api_key: 'sealed' }],
    },
  })
  await successOf(ask, 'POST /api/conversations', { conversation_id: 'model-work', initial_user_msg: 'Look around.' })
  await settled(ask, 'model-work', 0)
  await say(ask, 'model-work', 'Now finish.')
  await successOf(ask, 'POST /api/settings', { confirmation_mode: true })
  await say(ask, 'model-work', 'Now ask me before you act.')
  await rest(ask, ['model-work'])
}

async function analyses(ask: Ask, { hook, tick }: FillTargets): Promise<void> {
  const api = '/api/v1/analysis'
  await successOf(ask, `PUT ${api}/channels/desk`, { kind: 'webhook', settings: { url: hook, token: 'sealed-token' } })
  await successOf(ask, `PUT ${api}/channels/off`, {
    kind: 'gotify',
    enabled: false,
    settings: { url: hook, token: 'Agotify' },
  })
  await successOf(ask, `POST ${api}/analyze`, { stock_code: '600519' })
  await successOf(ask, `POST ${api}/analyze`, { stock_code: 'AAPL', report_type: 'simple', report_language: 'en' })
  await successOf(ask, `POST ${api}/analyze`, {
    stock_codes: ['600519', '00700', 'NVDA'],
    async_mode: true,
    notify: true,
  })
  await successOf(ask, `POST ${api}/market-review`, { region: 'cn' })
  const list = await successOf<{ watchlist_id: string }>(ask, `POST ${api}/watchlists`, {
    name: 'tech',
    stock_codes: ['NVDA', 'MSFT'],
  })
  for (const stock_code of ['600519', 'AAPL']) await successOf(ask, 'POST /api/v1/stocks/watchlist/add', { stock_code })
  const plan = {
    name: 'Every day',
    what: { kind: 'watchlist', watchlist_id: list.watchlist_id },
    when: { times: [nextMinute()], zone: 'UTC', days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] },
    channels: ['desk'],
  }
  const { schedule_id: id } = await successOf<{ schedule_id: string }>(ask, `POST ${api}/schedules`, plan)
  await until('the schedule run', async () => {
    await tick()
    const { runs } = await successOf<{ runs: { status: string }[] }>(ask, `GET ${api}/schedule-runs`)
    return runs.some(({ status }) => status !== 'claimed' && status !== 'waiting')
  })
  await successOf(ask, `PUT ${api}/schedules/${id}`, { ...plan, enabled: false })
  await successOf(ask, `POST ${api}/channels/desk/test`)
  await until('all tasks done', async () => {
    const { tasks } = await successOf<{ tasks: { status: string }[] }>(ask, `GET ${api}/tasks?limit=100`)
    return tasks.length > 3 && tasks.every(({ status }) => status === 'completed')
  })
}

/** In UTC. */
const nextMinute = (): string => new Date(Date.now() + 60_000).toISOString().slice(11, 16)
