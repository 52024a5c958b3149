// The configuration document of the analysis page: one list of keys and values, a view of the owner's settings, default
// watchlist, channels and one schedule.

import { createHash } from 'node:crypto'
import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { config } from '../../../config.ts'
import { recordAudit } from '../../../db/audit.ts'
import { type AppEnv, actorOf } from '../../../http/app-env.ts'
import { type CallerLanguage, callerLanguage } from '../../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { laxBool } from '../../../lib/lax.ts'
import { changingSecrets } from '../../secrets-changed.ts'
import { FIELDS, type Field, fieldOf, MASK, mayChange } from './configuration/fields.ts'
import { type PageState, readState } from './configuration/state.ts'
import { fieldWords } from './configuration/texts.ts'
import { type Issue, type Item, planned, readItems } from './configuration/write.ts'
import { pageTexts } from './texts.ts'

const MAX_ITEMS = 200
const MAX_VALUE = 16_384
const MAX_DOCUMENT = 262_144
const PATH = '/api/v1/system/config'
const HASH_CHARACTERS = 8

const app = router(analysisEnvelope)
const common = { scope: 'analysis', bodyLimit: 'standard', tag: 'Settings' } as const

const ConfigItem = z.object({ key: z.string().min(1).max(200), value: z.string().max(MAX_VALUE) }).openapi('ConfigItem')
const items = z.array(ConfigItem).min(1).max(MAX_ITEMS)

const FieldSchema = z
  .object({
    key: z.string(),
    title: z.string(),
    description: z.string(),
    category: z.enum(['base', 'ai_model', 'data_source', 'notification', 'system', 'agent']),
    data_type: z.enum(['string', 'boolean', 'array']),
    ui_control: z.enum(['text', 'password', 'number', 'select', 'textarea', 'switch', 'time']),
    is_sensitive: z.boolean(),
    is_required: z.literal(false),
    is_editable: z.boolean(),
    options: z.array(z.string()),
    validation: z.record(z.string(), z.unknown()),
    display_order: z.int(),
    examples: z.array(z.string()),
    docs: z.array(z.object({ label: z.string(), href: z.string().describe('An address') })),
    warning_codes: z.array(z.string()),
  })
  .openapi('ConfigFieldSchema')

const ShownItem = z
  .object({
    key: z.string(),
    value: z.string().describe('Never null; what is secret is shown as the mask'),
    raw_value_exists: z.boolean().describe('False: not set, or set by the operator'),
    is_masked: z.boolean(),
    schema: FieldSchema.optional(),
  })
  .openapi('ConfigShownItem')

const version = z.string().max(8192).describe('Opaque; sent back with a change')
const Document = z
  .object({ config_version: version, mask_token: z.literal(MASK), items: z.array(ShownItem) })
  .openapi('ConfigDocument')

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: PATH,
    limit: 'reads',
    summary: 'Your settings as the analysis page reads them',
    query: z.object({ include_schema: laxBool().default(true).describe('Whether each item says what it is') }),
    replies: { 200: { description: 'Every key in the order of its tab', schema: Document } },
  },
  async (c, { query }) => {
    const state = await readState(c)
    const language = callerLanguage(c)
    return c.json({
      config_version: versionOf(c, state),
      mask_token: MASK,
      items: FIELDS.map((field, place) => ({
        ...shown(field, state),
        ...(query.include_schema && { schema: schemaOf(field, { state, place, language }) }),
      })),
    })
  },
)

function shown(field: Field, state: PageState) {
  const value = field.value(state)
  const isMasked = field.isSensitive === true && value !== ''
  return {
    key: field.key,
    value: isMasked ? MASK : value,
    raw_value_exists: field.isOwn?.(state) ?? value !== '',
    is_masked: isMasked,
  }
}

type FieldState = { state: PageState; place: number; language: CallerLanguage }

function schemaOf(field: Field, { state, place, language }: FieldState): z.infer<typeof FieldSchema> {
  const { key, category, control, isSensitive, options = [], validation = {} } = field
  const [title, description] = fieldWords(field, language)
  return {
    ...{ key, title, description, category, ui_control: control, options: [...options], validation: { ...validation } },
    data_type: control === 'switch' ? 'boolean' : control === 'textarea' ? 'array' : 'string',
    is_sensitive: isSensitive === true,
    is_required: false,
    is_editable: mayChange(field, state),
    display_order: place,
    ...{ examples: [], docs: [], warning_codes: [] },
  }
}

/** A digest of each value, so that changes of different keys do not conflict. */
const versionOf = (c: Context<AppEnv>, state: PageState): string =>
  FIELDS.map((field) => digest(c, field, state)).join('')

function digest(c: Context<AppEnv>, field: Field, state: PageState): string {
  const text = JSON.stringify([c.get('principal').owner, field.key, field.value(state)])
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARACTERS)
}

/** Whether a submitted key was changed by another client since that version. */
function isOutdated(c: Context<AppEnv>, { config_version, items: asked, state }: Submitted): boolean {
  if (config_version.length !== FIELDS.length * HASH_CHARACTERS) return true
  const keys = new Set(asked.flatMap(({ key }) => fieldOf(key.trim().toUpperCase())?.key ?? []))
  return FIELDS.some((field, place) => {
    const then = config_version.slice(place * HASH_CHARACTERS, (place + 1) * HASH_CHARACTERS)
    return keys.has(field.key) && then !== digest(c, field, state)
  })
}

type Submitted = { config_version: string; items: readonly Item[]; state: PageState }

const Write = z
  .object({
    config_version: version,
    mask_token: z.string().max(100).optional(),
    reload_now: laxBool().default(true),
    items,
  })
  .openapi('ConfigWrite')
const WriteResult = z
  .object({
    success: z.literal(true),
    config_version: version,
    applied_count: z.int(),
    skipped_masked_count: z.int().describe('Masks, which keep what is stored'),
    reload_triggered: z.literal(false).describe('A change holds at once'),
    updated_keys: z.array(z.string()),
    warnings: z.array(z.string()),
  })
  .openapi('ConfigWritten')
const ConfigIssue = z
  .object({
    key: z.string(),
    code: z.string(),
    message: z.string(),
    severity: z.literal('error'),
    expected: z.string().optional(),
  })
  .openapi('ConfigIssue')
const refusals = {
  400: {
    description: 'Nothing is stored, and `issues` says why, key by key',
    schema: z.object({
      error: z.string(),
      message: z.string(),
      issues: z.array(ConfigIssue).optional().describe('What is wrong'),
    }),
  },
  409: {
    description: 'One of the keys was changed since that version',
    schema: z.object({ error: z.string(), message: z.string(), current_config_version: version }),
  },
}

endpoint(
  app,
  {
    ...common,
    method: 'put',
    path: PATH,
    limit: 'writes',
    summary: 'Change some of them, all or nothing; an empty value takes a setting away, the mask keeps it',
    body: { schema: Write, required: true },
    replies: { 200: { description: 'Stored', schema: WriteResult }, ...refusals },
  },
  async (c, { body }) => c.json(await written(c, body)),
)

async function written(
  c: Context<AppEnv>,
  body: { config_version: string; items: readonly Item[] },
  warnings: string[] = [],
): Promise<z.infer<typeof WriteResult>> {
  refuseLarge(c, body.items)
  const state = await readState(c)
  if (isOutdated(c, { ...body, state })) throw outdated(c, state)
  const { draft, issues, taken, masked } = readItems(state, body.items, callerLanguage(c))
  const plan = await planned(c, state, draft)
  const all = [...issues, ...plan.issues]
  if (all.length > 0) throw invalid(c, all)
  const { owner } = c.get('principal')
  const store = async () => {
    if (plan.statements.length > 0) await c.env.DB.batch(plan.statements)
  }
  await (plan.touchesSecrets ? changingSecrets(c.env, owner, store) : store())
  return {
    success: true,
    config_version: versionOf(c, await readState(c)),
    applied_count: taken.length,
    skipped_masked_count: masked,
    reload_triggered: false,
    updated_keys: taken,
    warnings: [...warnings, ...draft.notes],
  }
}

function refuseLarge(c: Context<AppEnv>, all: readonly Item[]): void {
  const size = all.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
  if (size > MAX_DOCUMENT) throw new AppError('bad_request', pageTexts(callerLanguage(c)).config.tooLarge)
}

const outdated = (c: Context<AppEnv>, state: PageState) =>
  new AppError('conflict', pageTexts(callerLanguage(c)).config.outdated, {
    word: 'config_version_conflict',
    extra: { current_config_version: versionOf(c, state) },
  })

/** The page reads `issues` next to the message, and shows `detail` first, so `detail` is absent. */
function invalid(c: Context<AppEnv>, issues: readonly Issue[]): AppError {
  const [first] = issues
  const message = `${pageTexts(callerLanguage(c)).config.invalid}: ${first?.key}: ${first?.message}`
  return new AppError('bad_request', message, { word: 'validation_failed', extra: { issues, detail: undefined } })
}

endpoint(
  app,
  {
    ...common,
    method: 'post',
    path: `${PATH}/validate`,
    limit: 'reads',
    summary: 'What would be wrong with a change; nothing is stored',
    body: { schema: z.object({ items }).openapi('ConfigValidation'), required: true },
    replies: {
      200: {
        description: 'Each thing that is wrong',
        schema: z.object({ valid: z.boolean(), issues: z.array(ConfigIssue) }).openapi('ConfigValidated'),
      },
      400: { description: 'Too large' },
    },
  },
  async (c, { body }) => {
    refuseLarge(c, body.items)
    const state = await readState(c)
    const { draft, issues } = readItems(state, body.items, callerLanguage(c))
    const all = [...issues, ...(await planned(c, state, draft)).issues]
    return c.json({ valid: all.length === 0, issues: all })
  },
)

const withheld = { 403: { description: 'Local mode: the state folder is the copy' } }

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: `${PATH}/export`,
    limit: 'reads',
    summary: 'Your settings as lines of KEY=value, without what is secret',
    replies: {
      200: {
        description: 'The lines',
        schema: z.object({ content: z.string(), config_version: version }).openapi('ConfigExport'),
      },
      ...withheld,
    },
  },
  async (c) => {
    refuseLocal(c)
    const state = await readState(c)
    const lines = FIELDS.filter((field) => mayChange(field, state) && field.value(state) !== '').map((field) =>
      field.isSensitive ? `# ${field.key}=` : `${field.key}=${field.value(state).replace(/[\r\n]+/g, ',')}`,
    )
    const { owner } = c.get('principal')
    const keys = lines.map((line) => line.replace(/^# |=.*$/g, ''))
    await recordAudit(c.env.DB, {
      ...{ owner, actor: actorOf(c.get('principal')), action: 'configuration.exported', subject: null, fields: keys },
    })
    return c.json({ content: `${lines.join('\n')}\n`, config_version: versionOf(c, state) })
  },
)

const Import = z
  .object({ config_version: version, content: z.string().max(MAX_DOCUMENT), reload_now: laxBool().default(true) })
  .openapi('ConfigImport')

endpoint(
  app,
  {
    ...common,
    method: 'post',
    path: `${PATH}/import`,
    limit: 'writes',
    summary: 'Take over lines of KEY=value; what is not known here is left out and named',
    body: { schema: Import, required: true },
    replies: { 200: { description: 'Stored', schema: WriteResult }, ...refusals, ...withheld },
  },
  async (c, { body }) => {
    refuseLocal(c)
    const lines = linesOf(body.content)
    const known = lines.filter(({ key }) => fieldOf(key) !== null)
    const say = pageTexts(callerLanguage(c)).config
    if (known.length === 0) throw new AppError('bad_request', say.nothingRead, { word: 'invalid_import_file' })
    const unknown = lines.filter(({ key }) => fieldOf(key) === null).map(({ key }) => say.leftOut(key))
    // Every export of the other service contains values that only the operator can set.
    const state = await readState(c)
    const mine = known.filter(({ key }) => mayChange(fieldOf(key) as Field, state))
    return c.json(await written(c, { ...body, items: mine }, unknown))
  },
)

/** The last line of a key is used; enclosing quotes are not part of the value. */
function linesOf(content: string): Item[] {
  const found = new Map<string, string>()
  for (const line of content.split(/\r?\n/)) {
    const [, key, value = ''] = /^\s*(?:export\s+)?([A-Za-z][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (key !== undefined) found.set(key.toUpperCase(), value.replace(/^(["'])(.*)\1$/, '$2'))
  }
  return [...found].map(([key, value]) => ({ key, value }))
}

function refuseLocal(c: Context<AppEnv>): void {
  if (config(c.env).authMode !== 'local') return
  throw new AppError('forbidden', pageTexts(callerLanguage(c)).config.localMode, { word: 'env_backup_access_denied' })
}

export { app as configuration }
