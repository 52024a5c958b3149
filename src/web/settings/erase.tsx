// Everything of the owner that can be deleted, kind by kind. What must outlive its owner's wish is named (docs/privacy.md).

import { useState } from 'preact/hooks'
import { deleteConversation, listConversations, messageOf, request, sendJson } from '../api.ts'
import { noteChange } from '../frame/tabs.ts'
import { say, type Text } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { Field, Input } from './fields.tsx'
import {
  deleteChannel,
  deleteSchedule,
  deleteSecret,
  listChannels,
  listSchedules,
  listSecrets,
  saveSettings,
  unsetTokens,
} from './settings-api.ts'

/** Deletes some of its kind and answers how many; it is called until there are none. */
type Kind = { name: Text; some: () => Promise<number> }

const each = async <Item,>(items: readonly Item[], remove: (item: Item) => Promise<unknown>): Promise<number> => {
  for (const item of items) await remove(item)
  return items.length
}

const DELETE: RequestInit = { method: 'DELETE' }
const SESSIONS = '/api/v1/agent/chat/sessions'
const WATCHLISTS = '/api/v1/analysis/watchlists'
const ALERT_RULES = '/api/v1/alerts/rules'
const SCREENS = '/api/v1/screening/screens'

const KINDS: readonly Kind[] = [
  {
    name: 'Conversations',
    some: async () => each((await listConversations(null)).results, (one) => deleteConversation(one.conversation_id)),
  },
  {
    name: 'Reports',
    some: async () => {
      const { items } = await request<{ items: { id: number }[] }>('/api/v1/history?limit=100')
      if (items.length === 0) return 0
      const body = { record_ids: items.map(({ id }) => id) }
      return (await request<{ deleted: number }>('/api/v1/history', { ...sendJson('POST', body), ...DELETE })).deleted
    },
  },
  {
    name: 'Talks',
    some: async () => {
      const { sessions } = await request<{ sessions: { session_id: string }[] }>(SESSIONS)
      return each(sessions, (one) => request(`${SESSIONS}/${encodeURIComponent(one.session_id)}`, DELETE))
    },
  },
  { name: 'Schedules', some: async () => each(await listSchedules(), (one) => deleteSchedule(one.schedule_id)) },
  {
    name: 'Watchlists',
    some: async () => {
      const { watchlists } = await request<{ watchlists: { watchlist_id: string }[] }>(WATCHLISTS)
      return each(watchlists, (one) => request(`${WATCHLISTS}/${encodeURIComponent(one.watchlist_id)}`, DELETE))
    },
  },
  {
    name: 'Alerts',
    some: async () => {
      const { items } = await request<{ items: { id: number }[] }>(`${ALERT_RULES}?page_size=100`)
      return each(items, (one) => request(`${ALERT_RULES}/${one.id}`, DELETE))
    },
  },
  {
    name: 'Screening',
    some: async () => (await request<{ deleted: number }>(SCREENS, DELETE)).deleted,
  },
  {
    name: 'Notifications',
    some: async () => {
      const own = (await listChannels()).filter((one) => !one.from_environment)
      return each(own, (one) => deleteChannel(one.channel_id))
    },
  },
  { name: 'Secrets', some: async () => each(await listSecrets(), (one) => deleteSecret(one.name)) },
]

/** What has no list of its own: it is set back at once. */
async function setBack(): Promise<void> {
  await unsetTokens()
  const none = { llm_model: '', llm_base_url: '', llm_api_key: '', mcp_config: null, agent: null }
  await saveSettings({ ...none, git_user_name: null, git_user_email: null, runtime: null, runner_labels: null })
}

type Standing = { kind: 'asking' | 'working' | 'done'; problem: string | null; counts: ReadonlyMap<Text, number> }

const ASKING: Standing = { kind: 'asking', problem: null, counts: new Map() }

function useErasing() {
  const [standing, setStanding] = useState<Standing>(ASKING)
  const add = (name: Text, count: number) =>
    setStanding((before) => ({
      ...before,
      counts: new Map(before.counts).set(name, (before.counts.get(name) ?? 0) + count),
    }))
  const erase = async () => {
    setStanding({ ...ASKING, kind: 'working' })
    try {
      for (const { name, some } of KINDS) {
        // What cannot be deleted must not keep this going for ever: a round without one ends it.
        for (let count = await some(); count > 0; count = await some()) add(name, count)
      }
      await setBack()
      setStanding((before) => ({ ...before, kind: 'done' }))
    } catch (error) {
      setStanding((before) => ({ ...before, kind: 'asking', problem: messageOf(error) }))
    }
    noteChange('conversations')
  }
  return { standing, erase }
}

const What = () => (
  <>
    <p>
      {say(
        'Deletes your conversations with their workspaces, reports, talks, watchlists, rules of alerts, saved screens, schedules, channels, secrets, tokens and settings.',
      )}
    </p>
    <p class="hint">
      {say('The ledger of advice, the audit log, the portfolio and API keys stay. It cannot be taken back.')}
    </p>
  </>
)

export function EraseAll() {
  const [typed, setTyped] = useState('')
  const { standing, erase } = useErasing()
  const word = say('delete')
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    setTyped('')
    void erase()
  }
  return (
    <>
      <What />
      <form class="card settings-form" onSubmit={submit}>
        <Field label={say('To delete everything, type the word')} hint={<code>{word}</code>}>
          {(attributes) => (
            <Input kind="text" {...attributes} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
          )}
        </Field>
        <div class="form-actions">
          <button type="submit" class="danger" disabled={typed.trim() !== word || standing.kind === 'working'}>
            {standing.kind === 'working' ? say('Deleting…') : say('Delete everything')}
          </button>
        </div>
      </form>
      <Told standing={standing} />
    </>
  )
}

const Told = ({ standing: { kind, problem, counts } }: { standing: Standing }) => (
  <>
    {problem !== null && <Notice kind="error">{problem}</Notice>}
    {kind === 'done' && <Notice kind="info">{say('Everything is deleted.')}</Notice>}
    {counts.size > 0 && (
      <ul class="rows">
        {[...counts].map(([name, count]) => (
          <li key={name} class="settings-row settings-row-head">
            <span class="row-title">{say(name)}</span> <span>{count}</span>
          </li>
        ))}
      </ul>
    )}
  </>
)
