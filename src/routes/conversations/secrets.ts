import { z } from '@hono/zod-openapi'
import {
  changeSecret,
  createSecret,
  deleteSecret,
  listSecrets,
  MAX_SECRETS,
  MAX_TOTAL_CHARACTERS,
  type SecretEditor,
} from '../../db/secrets.ts'
import { actorOf, type Principal } from '../../http/app-env.ts'
import { AppError } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { characters } from '../../http/validation.ts'
import { assertNever } from '../../lib/assert.ts'
import { changingSecrets } from '../secrets-changed.ts'
import { maskedErrorEnvelope, orDeclared } from './errors.ts'

// Custom secrets in requests and answers. Each becomes an environment variable of the shell, so its name must be a
// valid one.

/** A valid variable name that the shell does not need itself. */
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const RESERVED =
  /^(PATH|HOME|PWD|OLDPWD|IFS|SHELL|SHLVL|SHELLOPTS|BASHOPTS|BASH_ENV|UID|EUID|PPID|PROMPT_COMMAND|LD_PRELOAD|LD_LIBRARY_PATH)$/

const SecretName = characters({ min: 1, max: 200 })
  .regex(VARIABLE_NAME, { abort: true, error: 'letters, digits and _ are wanted, and no digit first' })
  .refine((name) => !RESERVED.test(name), { error: 'the shell needs this name for itself' })

const Description = characters({ max: 4_096 })

/** An environment variable ends at a NUL, and its text must have a UTF-8 encoding. */
const SecretValue = characters({ min: 1, max: 65_536 })
  .refine((value) => !value.includes('\u0000') && value.isWellFormed(), {
    error: 'a value cannot hold NUL or half a character',
  })
  .openapi({ format: 'password', writeOnly: true })

const CustomSecretWithoutValueModel = z
  .object({ name: SecretName, description: Description.nullish() })
  .openapi('CustomSecretWithoutValueModel')

const CustomSecretModel = z
  .object({ name: SecretName, description: Description.nullish(), value: SecretValue })
  .openapi('CustomSecretModel')

const GETCustomSecrets = z
  .object({ custom_secrets: z.array(CustomSecretWithoutValueModel).nullish() })
  .openapi('GETCustomSecrets')

const SecretPath = z.object({ secret_id: z.string() })

const Message = z.object({ message: z.string() })

const app = router(maskedErrorEnvelope)
const tag = 'Secrets'
const path = '/api/secrets/{secret_id}'
const failed = { 500: { description: 'The store failed' } }
const unknown = { 404: { description: 'No such secret' } }

endpoint(
  app,
  {
    method: 'get',
    path: '/api/secrets',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Names and descriptions; values are never shown',
    replies: { 200: { description: 'In the order of creation', schema: GETCustomSecrets }, ...failed },
  },
  async (c) => {
    const { owner } = c.get('principal')
    const secrets = await orDeclared(listSecrets(c.env.DB, owner), 'Failed to get secret names')
    return c.json({ custom_secrets: secrets })
  },
)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/secrets',
    scope: 'conversations',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Store a secret',
    body: { schema: CustomSecretModel, required: true },
    replies: {
      201: { description: 'Created', schema: Message },
      400: { description: 'The name is taken by a secret that can be opened, or there are too many', schema: Message },
      ...failed,
    },
  },
  async (c, { body: { name, description, value } }) => {
    const secret = { name, description: description ?? '', value }
    const who = by(c.get('principal'))
    const creation = changingSecrets(c.env, who.owner, () => createSecret(c.env, who, secret))
    const created = await orDeclared(creation, FAILED)
    if (created.ok) return c.json({ message: 'Secret created successfully' }, 201)
    switch (created.reason) {
      case 'taken':
        return c.json({ message: `Secret ${name} already exists` }, 400)
      case 'too_many':
        return c.json({ message: `There are ${MAX_SECRETS} secrets, and no more can be stored` }, 400)
      case 'too_large':
        return c.json({ message: `All secrets together may take ${MAX_TOTAL_CHARACTERS} characters when sealed` }, 400)
      default:
        return assertNever(created.reason)
    }
  },
)

endpoint(
  app,
  {
    method: 'put',
    path,
    scope: 'conversations',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Give a secret another name or description; its value stays',
    params: SecretPath,
    body: { schema: CustomSecretWithoutValueModel, required: true },
    replies: {
      200: { description: 'Changed', schema: Message },
      400: { description: 'The new name is taken', schema: Message },
      ...unknown,
      ...failed,
    },
  },
  async (c, { params: { secret_id: id }, body: { name, description } }) => {
    const change = { id, name, description: description ?? '' }
    const who = by(c.get('principal'))
    const changed = await orDeclared(
      changingSecrets(c.env, who.owner, () => changeSecret(c.env, who, change)),
      FAILED,
    )
    if (changed.ok) return c.json({ message: 'Secret updated successfully' })
    switch (changed.reason) {
      case 'unknown':
        throw notFound(id)
      case 'taken':
        return c.json({ message: `Secret ${name} already exists` }, 400)
      case 'unreadable':
        throw new AppError(
          'declared_failure',
          `The value of ${id} cannot be opened: it was changed in the database, or SECRETS_KEY is not the one it was sealed under. Store it anew under its name, or start with that key`,
        )
      case 'contended':
        throw new AppError('declared_failure', 'The secret was changed by others at the same time; try again')
      default:
        return assertNever(changed.reason)
    }
  },
)

endpoint(
  app,
  {
    method: 'delete',
    path,
    scope: 'conversations',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Delete a secret',
    params: SecretPath,
    replies: { 200: { description: 'Deleted', schema: Message }, ...unknown, ...failed },
  },
  async (c, { params: { secret_id: id } }) => {
    const who = by(c.get('principal'))
    const deletion = changingSecrets(c.env, who.owner, () => deleteSecret(c.env, who, id))
    const deleted = await orDeclared(deletion, FAILED)
    if (!deleted) throw notFound(id)
    return c.json({ message: 'Secret deleted successfully' })
  },
)

const FAILED = 'Something went wrong storing secrets'

const by = (principal: Principal): SecretEditor => ({ owner: principal.owner, actor: actorOf(principal) })

const notFound = (id: string): AppError => new AppError('not_found', `Secret with ID ${id} not found`)

export { app as secrets }
