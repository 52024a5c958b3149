// A state folder that the first release made, with something of everything in it, opens in this one: all of it reads as it
// read then, and all of it goes on. `test/support/first-release/make.ts` made the folder and wrote down what that release
// answered. Nothing in it ends with time but finished tasks, which leave the queue after seven days: they are not read.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { backUp } from '../../scripts/backup/back-up.ts'
import { restore } from '../../scripts/backup/restore.ts'
import { startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'
import { keptAnswers, unpackState } from '../support/first-release/archive.ts'
import { type Ask, askerOf, type Happened, say, successOf } from '../support/first-release/ask.ts'
import { type Answers, readAll, timeless } from '../support/first-release/read.ts'
import { startScriptedModel } from '../support/scripted-model.ts'

/** What the person who runs the tests has set must not decide them. */
const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))

test('a state folder of the first release reads as it did there, and everything in it goes on', async () => {
  const place = mkdtempSync(join(tmpdir(), 'bellwether-first-release-'))
  const stateDir = join(place, 'restored')
  await throughBackup(place, stateDir)
  const env = { ...CLEAN, MARKET_DATA: 'sample', ALLOW_PRIVATE_NETWORK: '127.0.0.1', RATE_LIMIT_WRITES: 'off' }
  const service = await startService({ stateDir, env })
  onTestFinished(() => service.stop())
  const ask = askerOf(service.url)
  const [then, now] = [newestFirst(keptAnswers()), await readAll(ask)]
  expect(Object.keys(now).toSorted()).toEqual(Object.keys(then).toSorted())
  expect(Object.keys(then).length).toBeGreaterThan(80)
  // Answers have grown since.
  for (const [path, answer] of Object.entries(then)) {
    expect([path, sameCharts(now[path])]).toMatchObject([
      path,
      CHANGED[path] ?? sameCharts(asToldNow(timeless(answer))),
    ])
  }

  await shellGoesOn(ask)
  await modelGoesOn(ask)
  await analysisGoesOn(ask)
  await service.stop()
  rmSync(place, { recursive: true })
})

/** What is served is a folder that was backed up, lost and restored. */
async function throughBackup(place: string, stateDir: string): Promise<void> {
  const [lost, file] = [join(place, 'lost'), join(place, 'backup.tar.gz')]
  unpackState(lost)
  expect((await backUp({ stateDir: lost, file, overwrite: false })).damaged).toEqual([])
  rmSync(lost, { recursive: true })
  await restore({ stateDir, file, overwrite: false })
}

/** The first release drew no chart of a review at an address. */
const CHANGED: Readonly<Record<string, object>> = {
  '/api/v1/history/4/chart.svg': { status: 200, type: 'image/svg+xml', isEmpty: false },
}

/** A chart stood in the text of a review and has an address now; it is drawn from what is stored. */
const CHART = /(?<=!\[[^\]]*\]\()(data:image\/svg\+xml;base64,|\/api\/v1\/history\/[^)]*\/chart\.svg)[^)]*(?=\))/g

function sameCharts(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null).replace(CHART, 'the chart'))
}

/** How the first release told of a model that failed, and how it is told now: with the reason. */
const REFUSED: Readonly<Record<string, string>> = { 失败: '失败（模型拒绝）', failed: 'failed (it refused)' }

/** The first release knew no times of a model's runs, and did not say why one failed; now both are told. */
function asToldNow(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.replace(/(?<=^ ?llm: failed \()[^)]+(?=\)$)/m, (told) => REFUSED[told] ?? told)
  }
  if (Array.isArray(value)) return value.map(asToldNow)
  if (typeof value !== 'object' || value === null) return value
  if ('key' in value && value.key === 'llm' && 'message' in value) {
    return { ...value, message: REFUSED[String(value.message)] ?? value.message }
  }
  const isOfModel = ('kind' in value && value.kind === 'model') || ('type' in value && value.type === 'llm_run')
  const members = Object.entries(value).filter(
    ([name]) => name !== 'elapsed_ms' && !(isOfModel && /^(attempts|started_at|ended_at|timestamp)$/.test(name)),
  )
  return Object.fromEntries(members.map(([name, member]) => [name, asToldNow(member)]))
}

type History = { body: { items: { id: number; created_at: string }[] } }

/** The first release listed reports as they were stored, which of two that ran at once is not the order of their times. */
function newestFirst(answers: Answers): Answers {
  const path = '/api/v1/history?limit=100'
  const { body, ...rest } = answers[path] as History
  const items = body.items.toSorted((a, b) => b.created_at.localeCompare(a.created_at) || b.id - a.id)
  return { ...answers, [path]: { ...rest, body: { ...body, items } } }
}

const output = (events: readonly Happened[]) => events.find(({ observation }) => observation === 'run')?.content ?? ''

async function shellGoesOn(ask: Ask): Promise<void> {
  await successOf(ask, 'POST /api/settings', { llm_model: '', llm_api_key: '', confirmation_mode: false })
  await successOf(ask, 'POST /api/conversations/shell-work/start', {})
  const command = 'git add -A && git commit -q -m third && git log --format=%s && wc -c < big.txt && echo $DEPLOY_TOKEN'
  const said = output(await say(ask, 'shell-work', command))
  expect(said).toContain('third\nsecond\nfirst\n1380000\n')
  // What is sealed opens: the mask knows its value.
  expect(said).toContain('<secret_hidden>')
  const file = 'GET /api/conversations/shell-work/select-file?file=src/a.txt'
  expect(await successOf(ask, file)).toEqual({ code: 'one\ntwo\nthree\nfour\nchanged\n' })
  await successOf(ask, 'POST /api/conversations/shell-work/fork', { event_id: 5, conversation_id: 'fork-of-old' })
  expect(output(await say(ask, 'fork-of-old', 'echo a fork lives'))).toContain('a fork lives')
  expect(await successOf(ask, 'DELETE /api/conversations/forked')).toBe(true)
  expect(await successOf(ask, 'GET /api/conversations/forked')).toBeNull()
  expect(await successOf(ask, 'POST /api/conversations', { conversation_id: 'deleted' })).toMatchObject({
    status: 'ok',
  })
}

async function modelGoesOn(ask: Ask): Promise<void> {
  const model = await startScriptedModel()
  onTestFinished(() => model.close())
  model.setScript('again', { replies: [{ text: 'I am back.' }] })
  const address = `${model.url}/again/v1`
  await successOf(ask, 'POST /api/settings', { llm_model: 'openai/scripted', llm_base_url: address, llm_api_key: 'k' })
  await successOf(ask, 'POST /api/conversations/model-work/start', {})
  const events = await say(ask, 'model-work', 'Are you there?')
  expect(events.some(({ message }) => message === 'I am back.')).toBe(true)
  // The model was told what had happened before.
  expect(JSON.stringify(model.requests('again')[0]?.body)).toContain('Look around.')
}

async function analysisGoesOn(ask: Ask): Promise<void> {
  const count = async () => (await successOf<{ total: number }>(ask, 'GET /api/v1/history')).total
  const before = await count()
  await successOf(ask, 'POST /api/settings', { llm_model: '', llm_api_key: '' })
  await successOf(ask, 'POST /api/v1/analysis/analyze', { stock_code: '600519' })
  expect(await count()).toBe(before + 1)
  await successOf(ask, 'POST /api/v1/stocks/watchlist/add', { stock_code: 'MSFT' })
  await successOf(ask, 'POST /api/secrets', { name: 'LATER', value: 'sealed now' })
}
