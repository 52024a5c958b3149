// The configuration document of the analysis page, read and written as the unmodified page does.

import { expect, test } from 'vitest'
import { type Client, client, request } from '../helpers/app.ts'

const PATH = '/api/v1/system/config'
const MASK = '******'
const EN = { 'accept-language': 'en' }

type ConfigItem = { key: string; value: string; raw_value_exists: boolean; is_masked: boolean; schema?: Schema }
type Schema = { category: string; is_editable: boolean; is_sensitive: boolean; ui_control: string; options: string[] }
type Document = { config_version: string; mask_token: string; items: ConfigItem[] }
type Answer = { status: number; body: Record<string, unknown> & { issues: { key: string; code: string }[] } }

const read = (owner: Client, query = '') => owner.json<Document>(`${PATH}${query}`)

const valueAt = async (owner: Client, key: string) => (await read(owner)).items.find((item) => item.key === key)?.value

async function write(owner: Client, values: Record<string, string>, version?: string): Promise<Answer> {
  const config_version = version ?? (await read(owner)).config_version
  const items = Object.entries(values).map(([key, value]) => ({ key, value }))
  const body = { config_version, mask_token: MASK, reload_now: true, items }
  const answer = await owner.ask(PATH, { method: 'PUT', body, headers: EN })
  return { status: answer.status, body: await answer.json() }
}

test('every key has what the page reads, sorted by tabs, with a schema or without', async () => {
  const owner = await client()
  const whole = await read(owner)
  expect(whole).toMatchObject({ mask_token: MASK, config_version: expect.stringMatching(/^[0-9a-f]+$/) })
  for (const { key, value, raw_value_exists, is_masked, schema } of whole.items) {
    expect([key, typeof value, typeof raw_value_exists, is_masked]).toEqual([key, 'string', 'boolean', false])
    expect([key, schema]).toEqual([
      key,
      {
        ...{ key, title: expect.stringMatching(/./), description: expect.stringMatching(/./), is_required: false },
        category: expect.stringMatching(/^(base|ai_model|data_source|notification|system|agent)$/),
        data_type: expect.stringMatching(/^(string|boolean|array)$/),
        ui_control: expect.stringMatching(/^(text|password|number|select|textarea|switch|time)$/),
        ...{ is_sensitive: expect.any(Boolean), is_editable: expect.any(Boolean), options: expect.any(Array) },
        ...{ validation: expect.any(Object), display_order: expect.any(Number), examples: [], docs: [] },
        warning_codes: [],
      },
    ])
  }
  const bare = await read(owner, '?include_schema=false')
  expect(bare).toEqual({ ...whole, items: whole.items.map(({ schema: _, ...item }) => item) })
})

test('the watchlist is the default group, names are read, and one that is not clear stores nothing', async () => {
  const owner = await client()
  await owner.ask('/api/v1/stocks/watchlist/add', { method: 'POST', body: { stock_code: '600519' } })
  expect(await valueAt(owner, 'STOCK_LIST')).toBe('600519')
  expect((await write(owner, { stock_list: '600519, AAPL,贵州茅台' })).body).toMatchObject({
    ...{ success: true, applied_count: 1, updated_keys: ['STOCK_LIST'], warnings: [], skipped_masked_count: 0 },
  })
  const codes = () => owner.json<{ stock_codes: string[] }>('/api/v1/stocks/watchlist')
  expect((await codes()).stock_codes).toEqual(['600519', 'AAPL'])
  const refused = await write(owner, { STOCK_LIST: '600519,no such stock anywhere' })
  expect(refused).toMatchObject({
    status: 400,
    body: { error: 'validation_failed', issues: [{ key: 'STOCK_LIST', code: 'invalid_value', severity: 'error' }] },
  })
  expect((await codes()).stock_codes).toEqual(['600519', 'AAPL'])
  await write(owner, { STOCK_LIST: '' })
  expect((await codes()).stock_codes).toEqual([])
})

test('titles and issues are in the caller’s language, every wrong stock is named, and no word is one that the page replaces', async () => {
  const owner = await client()
  const bad = {
    ...{
      NOPE: 'x',
      REPORT_LANGUAGE: 'en',
      SCHEDULE_TIMES: '25:00',
      SCHEDULE_ENABLED: 'maybe',
      SCHEDULE_TIMEZONE: 'CST',
    },
    ...{ WECHAT_WEBHOOK_URL: 'nowhere', LLM_CHANNELS: 'a,b', LLM_TEMPERATURE: '9', NTFY_URL: 'https://ntfy.sh' },
    ...{ TELEGRAM_BOT_TOKEN: 'abc', VISION_MODEL: 'x/y', LLM_A_BASE_URL: 'ftp://x', LLM_A_EXTRA_HEADERS: '{' },
    ...{ LLM_A_API_KEYS: 'k,l', LLM_A_ENABLED: 'false', CUSTOM_WEBHOOK_URLS: 'https://a.test,https://b.test' },
    STOCK_LIST: '600519,阿里巴巴,龘龘龘',
  }
  const items = Object.entries(bad).map(([key, value]) => ({ key, value }))
  const script = { zh: /\p{Script=Han}/u, ko: /\p{Script=Hangul}/u, en: /^[^\p{Script=Hangul}]+$/u }
  for (const [language, letters] of Object.entries(script)) {
    const headers = { 'accept-language': language }
    const { issues } = await owner.json<{ issues: { key: string; message: string }[] }>(`${PATH}/validate`, {
      ...{ method: 'POST', body: { items }, headers },
    })
    const wanted = [...Object.keys(bad).filter((key) => key !== 'TELEGRAM_BOT_TOKEN'), 'TELEGRAM_CHAT_ID']
    expect(issues.map(({ key }) => key).sort()).toEqual(wanted.sort())
    for (const issue of issues) {
      expect(issue).toMatchObject({ message: expect.stringMatching(letters) })
      expect(issue.message).not.toMatch(/tool call|function call|reasoning|timeout|timed out|dns|proxy|tunnel|50[23]/i)
    }
    const stocks = issues.find(({ key }) => key === 'STOCK_LIST')?.message
    expect(stocks).toContain('阿里巴巴')
    expect(stocks).toContain('龘龘龘')
  }
  type Titled = { items: { key: string; schema: { title: string; description: string } }[] }
  for (const [language, letters] of [
    ['zh-CN', script.zh],
    ['ko', script.ko],
  ] as const) {
    const { items: named } = await owner.json<Titled>(PATH, { headers: { 'accept-language': language } })
    const untold = named.filter(({ schema: { title, description } }) => !letters.test(title + description))
    expect(untold.map(({ key }) => key)).toEqual([])
  }
  const english = await owner.json<Titled>(PATH, { headers: EN })
  expect(english.items.filter(({ schema: { title } }) => /\p{Script=Han}/u.test(title))).toEqual([])
})

test('the model of the settings is one entry; masks keep its key, and taking the entry away clears it', async () => {
  const owner = await client()
  const entry = {
    ...{ LLM_CHANNELS: 'mine', LLM_MINE_PROTOCOL: 'openai', LLM_MINE_BASE_URL: 'https://models.example.com/v1' },
    ...{ LLM_MINE_API_KEY: 'sk-secret-1', LLM_MINE_API_KEYS: '', LLM_MINE_MODELS: 'gpt-5', LLM_MINE_ENABLED: 'true' },
  }
  expect((await write(owner, entry)).status).toBe(200)
  const settings = () => owner.json<Record<string, unknown>>('/api/settings')
  const stored = { llm_model: 'openai/gpt-5', llm_base_url: 'https://models.example.com/v1', llm_api_key_set: true }
  expect(await settings()).toMatchObject(stored)
  const shown = await read(owner)
  expect(JSON.stringify(shown)).not.toContain('sk-secret-1')
  const by = Object.fromEntries(shown.items.map((item) => [item.key, item]))
  expect(by.LLM_MAIN_API_KEY).toMatchObject({ value: MASK, is_masked: true, raw_value_exists: true })
  expect([by.LLM_CHANNELS?.value, by.LLM_MAIN_MODELS?.value, by.LITELLM_MODEL?.value]).toEqual([
    ...['main', 'gpt-5', 'openai/gpt-5'],
  ])
  // The editor sends every key again, and an empty text for the form of the key that it does not use.
  const again = Object.fromEntries(
    shown.items.filter(({ key }) => key.startsWith('LLM_')).map(({ key, value }) => [key, value]),
  )
  const kept = await write(owner, {
    ...again,
    LLM_MAIN_API_KEY: '',
    LLM_MAIN_API_KEYS: `${MASK},${MASK}`,
    LLM_MAIN_MODELS: 'gpt-6',
  })
  expect(kept.body).toMatchObject({ success: true, skipped_masked_count: 2, updated_keys: ['LLM_MAIN_MODELS'] })
  expect(await settings()).toMatchObject({ ...stored, llm_model: 'openai/gpt-6' })
  const gone = Object.fromEntries(Object.keys(again).map((key) => [key, '']))
  expect((await write(owner, gone)).status).toBe(200)
  expect(await settings()).toMatchObject({ llm_model: null, llm_base_url: null, llm_api_key_set: false })
})

test('a key of the analysis alone sees the model and cannot change it', async () => {
  const owner = await client()
  const other = await client({ owner: owner.owner, scopes: ['analysis'] })
  await write(owner, { LITELLM_MODEL: 'openai/gpt-5', LLM_MAIN_API_KEY: 'sk-a' })
  const schema = (await read(other)).items.find(({ key }) => key === 'LITELLM_MODEL')?.schema
  expect(schema?.is_editable).toBe(false)
  const refused = await write(other, { LLM_MAIN_BASE_URL: 'https://elsewhere.example.com', STOCK_LIST: 'AAPL' })
  expect(refused).toMatchObject({ status: 400, body: { issues: [{ key: 'LLM_MAIN_BASE_URL', code: 'read_only' }] } })
  expect(await valueAt(owner, 'STOCK_LIST')).toBe('')
  expect(await owner.json('/api/settings')).toMatchObject({ llm_base_url: null })
})

test('each group of a service is one channel of the owner, with its secrets masked and kept', async () => {
  const owner = await client()
  const values = {
    ...{ TELEGRAM_BOT_TOKEN: '123:abc', TELEGRAM_CHAT_ID: '-100200', NTFY_URL: 'https://ntfy.example.com/a-topic' },
    ...{
      FEISHU_WEBHOOK_URL: 'https://open.feishu.cn/open-apis/bot/v2/hook/x',
      SLACK_WEBHOOK_URL: 'https://hooks.slack.com/services/x',
    },
  }
  expect((await write(owner, values)).status).toBe(200)
  const channels = async () =>
    (
      await owner.json<{ channels: { kind: string; settings: unknown; secrets_set: string[] }[] }>(
        '/api/v1/analysis/channels',
      )
    ).channels
  expect((await channels()).map(({ kind }) => kind).sort()).toEqual(['feishu', 'ntfy', 'slack', 'telegram'])
  const ntfy = (await channels()).find(({ kind }) => kind === 'ntfy')
  expect(ntfy?.settings).toMatchObject({ url: 'https://ntfy.example.com', topic: 'a-topic' })
  expect(await valueAt(owner, 'NTFY_URL')).toBe(values.NTFY_URL)
  expect(JSON.stringify(await read(owner))).not.toMatch(/123:abc|open-apis|services\/x/)
  // The chat changes, the token is a mask: the token stays.
  const changed = await write(owner, { TELEGRAM_BOT_TOKEN: MASK, TELEGRAM_CHAT_ID: '42' })
  expect(changed.body).toMatchObject({ skipped_masked_count: 1, updated_keys: ['TELEGRAM_CHAT_ID'] })
  const telegram = (await channels()).find(({ kind }) => kind === 'telegram')
  expect(telegram).toMatchObject({ settings: { chat_id: '42' }, secrets_set: ['bot_token'] })
  // Half a group is refused with the key that is missing; an emptied one goes.
  const half = await write(owner, { PUSHOVER_USER_KEY: 'u', SLACK_WEBHOOK_URL: '' })
  expect(half).toMatchObject({ status: 400, body: { issues: [{ key: 'PUSHOVER_API_TOKEN' }] } })
  expect((await write(owner, { SLACK_WEBHOOK_URL: '' })).status).toBe(200)
  expect((await channels()).map(({ kind }) => kind).sort()).toEqual(['feishu', 'ntfy', 'telegram'])
  // A mask where nothing is stored is ignored.
  expect((await write(owner, { DISCORD_WEBHOOK_URL: MASK })).body).toMatchObject({ applied_count: 0 })
})

test('the schedule of the page is one of the owner’s schedules, and no other one is touched', async () => {
  const owner = await client()
  const empty = await write(owner, { SCHEDULE_ENABLED: 'true', SCHEDULE_TIMES: '09:00,18:00' })
  expect(empty).toMatchObject({ status: 400, body: { issues: [{ key: 'STOCK_LIST' }] } })
  const what = { kind: 'market_review', region: 'cn' }
  await owner.ask('/api/v1/analysis/schedules', {
    method: 'POST',
    body: { name: 'mine', what, when: { times: ['07:00'], zone: 'UTC' } },
  })
  const on = {
    STOCK_LIST: '600519',
    SCHEDULE_ENABLED: 'true',
    SCHEDULE_TIMES: '9:00, 18:00',
    SCHEDULE_TIMEZONE: 'Asia/Seoul',
  }
  expect((await write(owner, on)).status).toBe(200)
  const plans = async () =>
    (
      await owner.json<{ schedules: { name: string; enabled: boolean; when: unknown; next_run_at: string | null }[] }>(
        '/api/v1/analysis/schedules',
      )
    ).schedules
  expect(await plans()).toMatchObject([
    { name: 'mine', enabled: true },
    { name: 'Analysis page', enabled: true, when: { times: ['09:00', '18:00'], zone: 'Asia/Seoul' } },
  ])
  expect(await valueAt(owner, 'SCHEDULE_TIME')).toBe('09:00')
  await write(owner, { SCHEDULE_ENABLED: 'false' })
  expect(await plans()).toMatchObject([{ name: 'mine' }, { enabled: false, next_run_at: null }])
  await write(owner, { SCHEDULE_TIMES: '' })
  expect(await plans()).toMatchObject([{ name: 'mine', enabled: true }])
  const bad = await write(owner, {
    SCHEDULE_TIMES: '25:00',
    SCHEDULE_TIMEZONE: 'Mars/Base',
    SCHEDULE_ENABLED: 'perhaps',
  })
  expect(bad.body.issues.map(({ key, code }) => [key, code])).toEqual([
    ['SCHEDULE_TIMES', 'invalid_format'],
    ['SCHEDULE_TIMEZONE', 'invalid_timezone'],
    ['SCHEDULE_ENABLED', 'invalid_enum'],
  ])
})

test('a change is refused when its own key was changed meanwhile, and not for another one', async () => {
  const owner = await client()
  const { config_version: version } = await read(owner)
  expect((await write(owner, { AGENT_CONTEXT_COMPRESSION_ENABLED: 'false' }, version)).status).toBe(200)
  expect((await write(owner, { STOCK_LIST: 'AAPL' }, version)).status).toBe(200)
  const late = await write(owner, { STOCK_LIST: 'MSFT' }, version)
  const { config_version: current } = await read(owner)
  expect(late).toMatchObject({
    status: 409,
    body: { error: 'config_version_conflict', message: expect.any(String), current_config_version: current },
  })
  expect([await valueAt(owner, 'STOCK_LIST'), await valueAt(owner, 'AGENT_CONTEXT_COMPRESSION_ENABLED')]).toEqual([
    ...['AAPL', 'false'],
  ])
  expect((await write(owner, { STOCK_LIST: 'MSFT' }, 'nonsense')).status).toBe(409)
})

test('unknown and read-only keys, and one that is wrong among many, store nothing and show no secret', async () => {
  const owner = await client()
  const refused = await write(owner, {
    ...{ STOCK_LIST: 'AAPL', HTTP_PROXY: 'http://10.0.0.1', ADMIN_AUTH_ENABLED: 'false', REPORT_LANGUAGE: 'ko' },
    ...{ LLM_MAIN_API_KEYS: 'sk-one,sk-two', LLM_MAIN_BASE_URL: 'ftp://x' },
  })
  expect(refused.body.issues.map(({ key, code }) => [key, code])).toEqual([
    ['HTTP_PROXY', 'unknown_key'],
    ['ADMIN_AUTH_ENABLED', 'unknown_key'],
    ['REPORT_LANGUAGE', 'read_only'],
    ['LLM_MAIN_API_KEYS', 'invalid_value'],
    ['LLM_MAIN_BASE_URL', 'invalid_url'],
  ])
  expect(JSON.stringify(refused)).not.toMatch(/sk-one|sk-two/)
  expect(refused.body).not.toHaveProperty('detail')
  expect(await valueAt(owner, 'STOCK_LIST')).toBe('')
  const items = [{ key: 'HTTP_PROXY', value: 'x' }]
  const checked = await owner.ask(`${PATH}/validate`, { method: 'POST', body: { items } })
  expect([checked.status, await checked.json()]).toEqual([
    200,
    { valid: false, issues: [expect.objectContaining({ key: 'HTTP_PROXY', severity: 'error' })] },
  ])
  const good = await owner.json(`${PATH}/validate`, {
    method: 'POST',
    body: { items: [{ key: 'STOCK_LIST', value: 'AAPL' }] },
  })
  expect([good, await valueAt(owner, 'STOCK_LIST')]).toEqual([{ valid: true, issues: [] }, ''])
  const many = { config_version: '', items: Array.from({ length: 201 }, () => ({ key: 'A', value: '' })) }
  expect((await owner.ask(PATH, { method: 'PUT', body: many })).status).toBe(422)
  const large = { items: Array.from({ length: 20 }, () => ({ key: 'STOCK_LIST', value: 'A'.repeat(16_000) })) }
  expect((await owner.ask(`${PATH}/validate`, { method: 'POST', body: large })).status).toBe(400)
})

test('what is exported has no secret and comes back; what another service knows besides is left out by name', async () => {
  const owner = await client()
  await write(owner, { STOCK_LIST: '600519,AAPL', SLACK_WEBHOOK_URL: 'https://hooks.slack.com/services/x' })
  const { content, config_version } = await owner.json<{ content: string; config_version: string }>(`${PATH}/export`)
  expect(content).toMatch(/^STOCK_LIST=600519,AAPL$/m)
  expect(content).toMatch(/^# SLACK_WEBHOOK_URL=$/m)
  expect(content).not.toContain('services/x')
  const taken = async (text: string, version = config_version) => {
    const answer = await owner.ask(`${PATH}/import`, {
      method: 'POST',
      body: { config_version: version, content: text },
      headers: EN,
    })
    return [answer.status, await answer.json()] as const
  }
  const lines = `# a comment\nSTOCK_LIST="MSFT"\nexport SLACK_WEBHOOK_URL=${MASK}\nHTTP_PROXY=http://x\nREPORT_LANGUAGE=en\n`
  expect(await taken(lines)).toMatchObject([
    200,
    { updated_keys: ['STOCK_LIST'], warnings: [expect.stringMatching(/HTTP_PROXY/)], skipped_masked_count: 1 },
  ])
  expect(await valueAt(owner, 'STOCK_LIST')).toBe('MSFT')
  expect(await taken('nothing here')).toMatchObject([400, { error: 'invalid_import_file' }])
  const { records } = await owner.json<{ records: { action: string; fields: string[] }[] }>('/api/audit')
  expect(records.find(({ action }) => action === 'configuration.exported')?.fields).toContain('STOCK_LIST')
  const local = await request(`http://localhost:8787${PATH}/export`, {}, { AUTH_MODE: 'local' })
  expect([local.status, await local.json()]).toMatchObject([403, { error: 'env_backup_access_denied' }])
})

test('owners have documents of their own', async () => {
  const [ann, bob] = [await client(), await client()]
  await write(ann, { STOCK_LIST: 'AAPL', TELEGRAM_BOT_TOKEN: '1:a', TELEGRAM_CHAT_ID: '7' })
  expect((await read(bob)).items.filter(({ value }) => /AAPL|^7$|\*/.test(value))).toEqual([])
  const { config_version: version } = await read(ann)
  expect((await write(bob, { STOCK_LIST: 'MSFT' }, version)).status).toBe(409)
})
