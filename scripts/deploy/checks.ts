// Checks the requirements of a deployment: in wrangler.toml, parsed by wrangler itself, and in the account.

import { readdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Unstable_Config, unstable_readConfig } from 'wrangler'
import { parseConfig } from '../../src/config.ts'
import { ConfigError } from '../../src/lib/variables.ts'
import { Fault, messageOf } from '../start/fault.ts'
import type { Wrangler } from './ask-wrangler.ts'

export type Finding = {
  /** `unknown`: the check failed to run. `told`: it cannot be checked, or needs no action. */
  kind: 'fine' | 'missing' | 'unknown' | 'told'
  what: string
  /** The command or the change that mends it. */
  mend?: string
}

export type Deployment = { config: Unstable_Config; environment: string | undefined; path: string }

const fine = (what: string): Finding => ({ kind: 'fine', what })
const told = (what: string): Finding => ({ kind: 'told', what })
const missing = (what: string, mend: string): Finding => ({ kind: 'missing', what, mend })
const unknown = (what: string, why: string): Finding => ({ kind: 'unknown', what: `${what}: ${why}` })

/** Throws a `Fault` for a file that wrangler would not take. */
export async function readDeployment(path: string, environment: string | undefined): Promise<Deployment> {
  try {
    const options = { config: path, ...(environment === undefined ? {} : { env: environment }) }
    return { config: unstable_readConfig(options, { hideWarnings: true }), environment, path }
  } catch (error) {
    throw new Fault(`${path} cannot be read: ${messageOf(error)}`)
  }
}

// Checks of the file.

const NO_ID = /^[0-]*$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The names that the code knows its surroundings by; a test compares them with the types of the environment. */
export const BINDINGS = {
  databases: ['DB'],
  buckets: ['FILES'],
  objects: ['CONVERSATION', 'TASK_QUEUE', 'LIMITER', 'OWNER'],
  others: ['ASSETS', 'LOADER', 'ANALYSIS_RUNNER'],
} as const

export function looksAtConfig(deployment: Deployment): Finding[] {
  return [
    looksAtDatabase(deployment),
    looksAtBindings(deployment),
    looksAtObjects(deployment),
    looksAtCrons(deployment),
    ...looksAtVariables(deployment),
    ...plan(deployment),
  ]
}

/** The one that the code uses: an account's own may stand beside it. */
const databaseOf = (config: Unstable_Config) => config.d1_databases.find(({ binding }) => binding === 'DB')
const bucketOf = (config: Unstable_Config) => config.r2_buckets.find(({ binding }) => binding === 'FILES')

function looksAtDatabase({ config, path }: Deployment): Finding {
  const database = databaseOf(config)
  const id = database?.database_id ?? ''
  const name = database?.database_name ?? 'bellwether'
  const mend = `npx wrangler d1 create ${name}\nand put the database_id that it prints into ${path}`
  if (database === undefined) return missing('A database that is bound as DB', mend)
  if (NO_ID.test(id)) return missing('The id of the database is not set: database_id is the placeholder of zeros', mend)
  if (!UUID.test(id)) return missing(`The id of the database is no id: ${JSON.stringify(id)}`, mend)
  return fine(`The id of the database ${name} is set`)
}

function looksAtBindings({ config, path }: Deployment): Finding {
  const services = (config.services ?? []).map(({ binding }) => binding)
  const there = new Set([
    ...config.d1_databases.map(({ binding }) => binding),
    ...config.r2_buckets.map(({ binding }) => binding),
    ...config.durable_objects.bindings.map(({ name }) => name),
    ...(config.worker_loaders ?? []).map(({ binding }) => binding),
    ...services,
    config.assets?.binding,
  ])
  const absent = Object.values(BINDINGS).flatMap((names) => names.filter((name) => !there.has(name)))
  if (absent.length > 0) return missing(`Bindings: ${absent.join(', ')}`, `take them over from the release's ${path}`)
  const runner = (config.services ?? []).find(({ binding }) => binding === 'ANALYSIS_RUNNER')
  if (runner?.service === config.name) return fine('All bindings are there')
  const what = `ANALYSIS_RUNNER leads to the Worker ${runner?.service}, and this one is called ${config.name}`
  return missing(what, `service = "${config.name}" under [[services]] in ${path}`)
}

function looksAtObjects({ config, path }: Deployment): Finding {
  const made = new Set(config.migrations.flatMap(({ new_sqlite_classes: names = [] }) => names))
  const absent = config.durable_objects.bindings.filter(({ class_name: name }) => !made.has(name))
  if (absent.length === 0) return fine('Every class of objects is made by a migration')
  const names = absent.map(({ class_name: name }) => name).join(', ')
  const mend = `a further [[migrations]] with new_sqlite_classes in ${path}`
  return missing(`A migration that makes the classes ${names}`, mend)
}

function looksAtCrons({ config, path }: Deployment): Finding {
  const { crons = [] } = config.triggers
  if (crons.length > 0) return fine(`The cron trigger is set: ${crons.join(', ')}`)
  return missing(
    'A cron trigger: no schedule and no upkeep would run',
    `crons = ["*/5 * * * *"] under [triggers] in ${path}`,
  )
}

/** Secrets, which must not be in a file that is part of the code. */
export const SECRETS = ['ROOT_API_KEY', 'SECRETS_KEY'] as const

function looksAtVariables({ config, path }: Deployment): Finding[] {
  const { vars } = config
  const open = SECRETS.filter((name) => name in vars)
  const findings = open.map((name) =>
    missing(
      `${name} stands in ${path} for everyone to read`,
      `take it out, and: npx wrangler secret put ${name}${name === 'ROOT_API_KEY' ? ' (a new one)' : ''}`,
    ),
  )
  try {
    const settings = parseConfig({ ROOT_API_KEY: 'x'.repeat(32), SECRETS_KEY: btoa('x'.repeat(32)), ...vars })
    if (settings.authMode === 'local')
      findings.push(missing('AUTH_MODE is "local": anybody could do anything', `take AUTH_MODE out of ${path}`))
    else findings.push(fine('The variables are as the service reads them'))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    findings.push(missing('Variables that the service does not take', `mend them in ${path}:\n${error.message}`))
  }
  if (!('OWN_ORIGINS' in vars))
    findings.push(told('OWN_ORIGINS is not set: put the host names of the service there once they are known'))
  return findings
}

function plan({ config, environment }: Deployment): Finding[] {
  const needs = [
    'Workers Paid: the Worker is larger than the 3 MB of the free plan, and worker_loaders are not part of that',
    'Durable Objects over SQLite, D1, R2, cron triggers: part of that plan, with limits of their own',
  ]
  const containers = (config.containers ?? []).length > 0
  if (containers) needs.push(`containers (--env ${environment ?? ''}): part of Workers Paid, billed by use`)
  const findings = [told(`The plan that this needs, which wrangler cannot be asked about: ${needs.join('; ')}`)]
  const address = String(config.vars.RUNNER_SERVICE_URL ?? '')
  if (containers && (address === '' || /\.example\./.test(address))) {
    const mend = 'RUNNER_SERVICE_URL = "https://<the address of this Worker>" under [env.containers.vars]'
    findings.push(missing('The address under which the runners in containers find this service', mend))
  }
  return findings
}

// Checks of the account.

export async function looksAtAccount(deployment: Deployment, wrangler: Wrangler): Promise<Finding[]> {
  const login = await wrangler.isSignedIn()
  if (!login.ok) return [unknown('The account could not be looked at', login.why)]
  if (!login.value) {
    const mend = 'npx wrangler login\nor set CLOUDFLARE_API_TOKEN where there is no browser'
    return [missing('wrangler is not signed in, so the account could not be looked at', mend)]
  }
  const [secrets, database, bucket] = await Promise.all([
    looksAtSecrets(deployment, wrangler),
    looksAtRemoteDatabase(deployment, wrangler),
    looksAtBucket(deployment, wrangler),
  ])
  return [fine('wrangler is signed in'), ...secrets, ...database, bucket]
}

async function looksAtSecrets({ environment }: Deployment, wrangler: Wrangler): Promise<Finding[]> {
  const secrets = await wrangler.secrets()
  if (!secrets.ok) return [unknown('The secrets of the Worker could not be listed', secrets.why)]
  const there = new Set(secrets.value ?? [])
  return SECRETS.map((name) => {
    if (there.has(name)) return fine(`The secret ${name} is set`)
    const made = name === 'SECRETS_KEY' ? 'openssl rand -base64 32' : 'openssl rand -hex 32'
    const env = environment === undefined ? '' : ` --env ${environment}`
    return missing(`The secret ${name}`, `${made} | npx wrangler secret put ${name}${env}`)
  })
}

async function looksAtRemoteDatabase({ config, path }: Deployment, wrangler: Wrangler): Promise<Finding[]> {
  const { database_id: id, database_name: name = '' } = databaseOf(config) ?? {}
  if (id === undefined || !UUID.test(id) || NO_ID.test(id)) return []
  const databases = await wrangler.databases()
  if (!databases.ok) return [unknown('The databases of the account could not be listed', databases.why)]
  if (!databases.value.some(({ uuid }) => uuid === id)) {
    const namesake = databases.value.find((one) => one.name === name)
    const mend =
      namesake === undefined
        ? `npx wrangler d1 create ${name}\nand put the database_id that it prints into ${path}`
        : `database_id = "${namesake.uuid}" in ${path}`
    return [missing(`The account has no database with the id ${id}`, mend)]
  }
  return [fine('The database is there'), await looksAtMigrations(config, { path, wrangler })]
}

async function looksAtMigrations(
  config: Unstable_Config,
  { path, wrangler }: { path: string; wrangler: Wrangler },
): Promise<Finding> {
  const open = await wrangler.openMigrations()
  if (!open.ok) return unknown('The migrations of the database could not be listed', open.why)
  const folder = resolve(dirname(path), databaseOf(config)?.migrations_dir ?? 'migrations')
  const all = readdirSync(folder).filter((name) => name.endsWith('.sql')).length
  if (open.value.length === 0) return fine(`All ${all} migrations of the database are applied`)
  return told(`${open.value.length} of ${all} migrations of the database are open: the deployment applies them first`)
}

async function looksAtBucket({ config }: Deployment, wrangler: Wrangler): Promise<Finding> {
  const name = bucketOf(config)?.bucket_name ?? ''
  const buckets = await wrangler.buckets()
  if (!buckets.ok) return unknown('The buckets of the account could not be listed', buckets.why)
  if (buckets.value.includes(name)) return fine(`The bucket ${name} is there`)
  return missing(`The bucket ${name}`, `npx wrangler r2 bucket create ${name}`)
}
