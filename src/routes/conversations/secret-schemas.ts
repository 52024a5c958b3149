// Custom secrets as they travel. Each becomes an environment variable of the shell, so its name must be able to be one.

import { z } from '@hono/zod-openapi'
import { characters } from '../../http/text.ts'

/** A legal variable name, and none that the shell cannot do without. */
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const RESERVED =
  /^(PATH|HOME|PWD|OLDPWD|IFS|SHELL|SHLVL|SHELLOPTS|BASHOPTS|BASH_ENV|UID|EUID|PPID|PROMPT_COMMAND|LD_PRELOAD|LD_LIBRARY_PATH)$/

const SecretName = characters({ min: 1, max: 200 })
  .regex(VARIABLE_NAME, { abort: true, error: 'letters, digits and _ are wanted, and no digit first' })
  .refine((name) => !RESERVED.test(name), { error: 'the shell needs this name for itself' })

const Description = characters({ max: 4_096 })

/** An environment variable ends at a NUL and holds text that has an encoding. */
const SecretValue = characters({ min: 1, max: 65_536 })
  .refine((value) => !value.includes('\u0000') && value.isWellFormed(), {
    error: 'a value cannot hold NUL or half a character',
  })
  .openapi({ format: 'password', writeOnly: true })

export const CustomSecretWithoutValueModel = z
  .object({ name: SecretName, description: Description.nullish() })
  .openapi('CustomSecretWithoutValueModel')

export const CustomSecretModel = z
  .object({ name: SecretName, description: Description.nullish(), value: SecretValue })
  .openapi('CustomSecretModel')

export const GETCustomSecrets = z
  .object({ custom_secrets: z.array(CustomSecretWithoutValueModel).nullish() })
  .openapi('GETCustomSecrets')

export const SecretPath = z.object({ secret_id: z.string() })
