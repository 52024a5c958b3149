import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { config } from '../../config.ts'
import { hostsQuery, type StoredHost } from '../../db/provider-tokens.ts'
import {
  changeSettings,
  ownerSettings,
  readSettings,
  type SettingRow,
  type Settings,
  settingsQuery,
  touchesSecrets,
} from '../../db/settings.ts'
import { type AppEnv, actorOf } from '../../http/app-env.ts'
import { AppError } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { valueError } from '../../http/validation.ts'
import { errorFields, log } from '../../lib/log.ts'
import { chooseModel, type OwnModel, unknownModel } from '../../llm/choose.ts'
import { triedModel } from '../model-trial.ts'
import { changingSecrets } from '../secrets-changed.ts'
import { maskedErrorEnvelope, orDeclared, sealedElsewhere } from './errors.ts'
import {
  GETSettingsModel,
  ModelTest,
  ModelTrial,
  SettingsBody,
  toChange,
  toModel,
  wireNameOf,
} from './settings-schemas.ts'

const MAX_MCP_CHARACTERS = 262_144

const app = router(maskedErrorEnvelope)
const tag = 'Settings'

endpoint(
  app,
  {
    method: 'get',
    path: '/api/settings',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'The settings, without their keys',
    replies: {
      200: { description: 'The settings', schema: GETSettingsModel },
      401: { description: 'Invalid token' },
      404: { description: 'Nothing was stored yet' },
      500: { description: 'What is stored cannot be read or opened' },
    },
  },
  async (c) => {
    const { owner } = c.get('principal')
    const failure = 'Something went wrong reading settings'
    const [rows, hosts] = await orDeclared(
      c.env.DB.batch([settingsQuery(c.env.DB, owner), hostsQuery(c.env.DB, owner)]),
      failure,
    )
    const found = await orDeclared(readSettings(c.env, owner, (rows?.results ?? []) as SettingRow[]), failure)
    if (!found.ok) throw unreadable(found.unreadable)
    if (!found.isStored) throw new AppError('not_found', 'Settings not found')
    return c.json(toModel(found.settings, (hosts?.results ?? []) as StoredHost[]))
  },
)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/settings',
    scope: 'conversations',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Change settings; a field that is absent is kept',
    body: { schema: SettingsBody, required: true },
    replies: {
      200: {
        description: 'Stored; the warning tells of a model that cannot be asked as it is set',
        schema: z.object({ message: z.string(), warning: z.string().optional() }),
      },
      500: { description: 'Could not be stored' },
    },
  },
  async (c, { body }) => {
    const principal = c.get('principal')
    const change = toChange(body)
    if (JSON.stringify(change.mcpServers ?? null).length > MAX_MCP_CHARACTERS) {
      throw valueError(['body', 'mcp_config'], `more than ${MAX_MCP_CHARACTERS} characters of JSON`, null)
    }
    const write = () => changeSettings(c.env, { owner: principal.owner, actor: actorOf(principal), change })
    await orDeclared(
      touchesSecrets(change) ? changingSecrets(c.env, principal.owner, write) : write(),
      'Something went wrong storing settings',
    )
    const warning = namesModel(body) ? await modelWarning(c.env, principal.owner) : null
    return c.json({ message: 'Settings stored', ...(warning === null ? {} : { warning }) })
  },
)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/reset-settings',
    scope: 'conversations',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Was removed; always answers 410',
    deprecated: true,
    replies: { 410: { description: 'Gone', schema: z.object({ error: z.string() }) } },
  },
  (c) => c.json({ error: 'Reset settings functionality has been removed.' }, 410),
)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/settings/model-test',
    scope: 'conversations',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary:
      'Ask the model one short question: with what the body says, and what is stored for the rest. Stores nothing',
    body: { schema: ModelTrial, required: true },
    replies: {
      200: { description: 'What came of it, also where the model could not be asked', schema: ModelTest },
      500: { description: 'What is stored cannot be read or opened' },
    },
  },
  async (c, { body }) =>
    c.json(await triedModel(c.env, { ...(await ownModel(c, body)), owner: c.get('principal').owner })),
)

/** A member that is missing or null in the body is the stored one; an empty text means none. */
async function ownModel(c: Context<AppEnv>, body: ModelTrial): Promise<OwnModel> {
  const { owner } = c.get('principal')
  const found = await orDeclared(ownerSettings(c.env, owner), 'Something went wrong reading settings')
  if (!found.ok) throw unreadable(found.unreadable)
  const { llmModel, llmBaseUrl, llmApiKey } = found.settings
  return {
    llmModel: body.llm_model ?? llmModel,
    llmBaseUrl: body.llm_base_url ?? llmBaseUrl,
    llmApiKey: body.llm_api_key ?? llmApiKey,
  }
}

const namesModel = ({ llm_model: model, llm_base_url: address }: SettingsBody): boolean =>
  model !== undefined || address !== undefined

/** Null unless the current model is unknown. The settings are stored anyway, so this is not a failure. */
async function modelWarning(env: Env, owner: string): Promise<string | null> {
  const { operator } = config(env).models
  try {
    const found = await ownerSettings(env, owner)
    if (!found.ok || filledModel(found.settings) === null) return null
    return chooseModel(found.settings, operator) === 'needs-address' ? unknownModel(found.settings, operator) : null
  } catch (error) {
    log.warn('settings.model_not_checked', { owner, ...errorFields(error) })
    return null
  }
}

/** Null if the owner has set none: then the operator's is used, which the owner cannot change. */
const filledModel = ({ llmModel }: Settings): string | null => llmModel?.trim() || null

function unreadable(names: string[]): AppError {
  return new AppError('declared_failure', sealedElsewhere('settings', names.map(wireNameOf), 'Set them anew'))
}

export { app as settings }
