import { z } from '@hono/zod-openapi'
import { hostsQuery, type StoredHost } from '../../db/provider-tokens.ts'
import { changeSettings, readSettings, type SettingRow, settingsQuery } from '../../db/settings.ts'
import { actorOf } from '../../http/actor.ts'
import { AppError } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { valueError } from '../../http/validation.ts'
import { orDeclared, sealedElsewhere } from './declared.ts'
import { maskedErrorEnvelope } from './masked-errors.ts'
import { GETSettingsModel, SettingsBody } from './settings-schemas.ts'
import { toChange, toModel, wireNameOf } from './settings-wire.ts'

const MAX_MCP_CHARACTERS = 262_144

const app = router(maskedErrorEnvelope)
const tag = 'Settings'

endpoint(
  app,
  {
    method: 'get',
    path: '/api/settings',
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
    tag,
    summary: 'Change settings; a field that is absent is kept',
    body: { schema: SettingsBody, required: true },
    replies: {
      200: { description: 'Stored', schema: z.object({ message: z.string() }) },
      500: { description: 'Could not be stored' },
    },
  },
  async (c, { body }) => {
    const principal = c.get('principal')
    const change = toChange(body)
    if (JSON.stringify(change.mcpServers ?? null).length > MAX_MCP_CHARACTERS) {
      throw valueError(['body', 'mcp_config'], `more than ${MAX_MCP_CHARACTERS} characters of JSON`, null)
    }
    await orDeclared(
      changeSettings(c.env, { owner: principal.owner, actor: actorOf(principal), change }),
      'Something went wrong storing settings',
    )
    return c.json({ message: 'Settings stored' })
  },
)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/reset-settings',
    tag,
    summary: 'Was removed; always answers 410',
    deprecated: true,
    replies: { 410: { description: 'Gone', schema: z.object({ error: z.string() }) } },
  },
  (c) => c.json({ error: 'Reset settings functionality has been removed.' }, 410),
)

function unreadable(names: string[]): AppError {
  return new AppError('declared_failure', sealedElsewhere('settings', names.map(wireNameOf), 'Set them anew'))
}

export { app as settings }
