// Authentication, the keys that encrypt stored secrets, and the addresses that requests may go to.

import { z } from 'zod'
import { type AddressPolicy, isPolicyEntry, outboundMarker } from '../lib/address-policy.ts'
import { fromBase64 } from '../lib/crypto.ts'
import { type HostPort, hostPortOf } from '../lib/ip-address.ts'
import { baseUrl, choice, commaList, secret, type ValuesOf, variable, wholeNumber } from '../lib/variables.ts'

const origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text)
const sealingKey = z.string().refine((text) => fromBase64(text)?.length === 32)

/** All entries must be valid, otherwise the start fails. */
function hostPorts(entries: string[], context: z.core.$RefinementCtx): HostPort[] {
  const read = entries.map(hostPortOf)
  const known = read.filter((entry) => entry !== null)
  if (known.length < read.length) context.addIssue('not a host or host:port')
  return known
}

export const ACCESS_VARIABLES = {
  AUTH_MODE: choice(['keys', 'local'], 'keys'),
  ROOT_API_KEY: secret(z.string().min(32).optional(), 'a text of at least 32 characters'),
  SECRETS_KEY: secret(sealingKey.optional(), '32 random bytes in base64 (make one: openssl rand -base64 32)'),
  SECRETS_KEY_PREVIOUS: secret(sealingKey.optional(), '32 bytes in base64: what SECRETS_KEY was before'),
  RUNNER_TOKEN: secret(z.string().min(32).optional(), 'a text of at least 32 characters'),
  KEY_CACHE_SECONDS: wholeNumber(0, 3600, 5),
  CORS_ORIGINS: variable(
    commaList('').pipe(z.array(origin)),
    'a comma-separated list of origins such as https://app.example.com',
  ),
  ALLOW_PRIVATE_NETWORK: variable(
    commaList('').pipe(z.array(z.string().refine(isPolicyEntry))),
    'a comma-separated list of hosts, host:port or blocks such as 10.0.0.0/8',
  ),
  OWN_ORIGINS: variable(
    commaList('').transform(hostPorts),
    'a comma-separated list of hosts or host:port such as bellwether.example.com or 127.0.0.1:8787',
  ),
  PORT_HOST: variable(
    z
      .string()
      .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d{1,5})?$/)
      .optional(),
    'a domain of its own such as bellwether-ports.example.net, whose subdomains lead to this service',
  ),
  LOG_LEVEL: choice(['debug', 'info', 'warn', 'error', 'silent'], 'info'),
  GITHUB_API_URL: baseUrl('https://api.github.com'),
  GITLAB_API_URL: baseUrl('https://gitlab.com/api/v4'),
  BITBUCKET_API_URL: baseUrl('https://api.bitbucket.org/2.0'),
} as const

type Values = ValuesOf<typeof ACCESS_VARIABLES>

export type AccessConfig = {
  authMode: 'keys' | 'local'
  rootApiKey: string | null
  /** 32 bytes in base64; null only in local mode. */
  secretsKey: string | null
  /** The previous `secretsKey`: it still decrypts older values. */
  secretsKeyPrevious: string | null
  keyCacheMs: number
  /** The token of runners in local mode, where other callers need no key; null: no runner is admitted. */
  runnerToken: string | null
  corsOrigins: string[]
  /** The policy for addresses that do not come from the environment. */
  addressPolicy: AddressPolicy
  /** The domain of the hosts for conversations' ports; null: below `localhost`, for a service at loopback. */
  portHost: string | null
  logLevel: Values['LOG_LEVEL']
  githubApiUrl: string
  gitlabApiUrl: string
  bitbucketApiUrl: string
}

export function accessConfig(values: Values): AccessConfig {
  return {
    authMode: values.AUTH_MODE,
    rootApiKey: values.ROOT_API_KEY ?? null,
    secretsKey: values.SECRETS_KEY ?? null,
    secretsKeyPrevious: values.SECRETS_KEY_PREVIOUS ?? null,
    keyCacheMs: values.KEY_CACHE_SECONDS * 1000,
    runnerToken: values.RUNNER_TOKEN ?? null,
    corsOrigins: values.CORS_ORIGINS,
    addressPolicy: {
      allowPrivate: values.ALLOW_PRIVATE_NETWORK,
      personMayUseLoopback: values.AUTH_MODE === 'local',
      ownOrigins: values.OWN_ORIGINS,
      marker: outboundMarker(values.SECRETS_KEY ?? null),
    },
    portHost: values.PORT_HOST ?? null,
    logLevel: values.LOG_LEVEL,
    githubApiUrl: values.GITHUB_API_URL,
    gitlabApiUrl: values.GITLAB_API_URL,
    bitbucketApiUrl: values.BITBUCKET_API_URL,
  }
}

/** The variables that keys mode requires and that are missing, as errors. */
export function missingAccess(values: Values): string[] {
  if (values.AUTH_MODE !== 'keys') return []
  return (['ROOT_API_KEY', 'SECRETS_KEY'] as const)
    .filter((name) => values[name] === undefined)
    .map((name) => `${name}: not set, but AUTH_MODE=keys needs it: ${ACCESS_VARIABLES[name].allowed}`)
}
