// Which values in the owner's settings are secret: keys, and values at certain places in the configuration of a tool
// server. Values that only configure something ("production", "debug") are not: masking them would make every text
// unreadable.

import { isSecretName } from '../../../src/agent/security/variables.ts'
import type { McpServers, Settings } from '../../../src/db/settings.ts'

export function secretsInSettings(settings: Settings): string[] {
  const { llmApiKey, searchApiKey, sandboxApiKey, llmBaseUrl, mcpServers } = settings
  const keys = [llmApiKey, searchApiKey, sandboxApiKey].filter((key) => key !== null)
  return [...keys, ...secretsInAddress(llmBaseUrl ?? ''), ...(mcpServers === null ? [] : secretsInServers(mcpServers))]
}

export function secretsInServers({ sse, shttp, stdio }: McpServers): string[] {
  return [
    ...[...sse, ...shttp].flatMap(({ url, apiKey }) => [
      ...(apiKey === null ? [] : [apiKey]),
      ...secretsInAddress(url),
    ]),
    ...stdio.flatMap(({ args, env }) => [...secretsInArguments(args), ...secretsInVariables(env)]),
  ]
}

/** With Basic authentication the password may appear alone, so it is masked also without the user name. */
export function secretsInToken(token: string): string[] {
  const colon = token.indexOf(':')
  return colon < 0 ? [] : [token.slice(colon + 1)]
}

/** The password, and the query parameters that are named like keys, both as written and percent-decoded. */
function secretsInAddress(address: string): string[] {
  if (!URL.canParse(address)) return []
  const { password, search } = new URL(address)
  const pairs = search.slice(1).split('&').map(pairOf)
  const written = [password, ...pairs.filter(([name]) => isKeyName(name)).map(([, value]) => value)]
  return written.filter((text) => text !== '').flatMap((text) => [text, meant(text)])
}

function meant(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch (error) {
    // The user wrote the address by hand, with a percent sign that is not an escape.
    if (error instanceof URIError) return text
    throw error
  }
}

/** `--token x`, `--token=x` and `TOKEN=x`; also the token after `Bearer` in a header argument. */
function secretsInArguments(args: readonly string[]): string[] {
  return args.flatMap((arg, i) => {
    const [name, value] = pairOf(arg)
    const isFlag = arg.startsWith('-')
    const bearer = /\bbearer\s+(\S+)/i.exec(arg)?.[1]
    if (bearer !== undefined) return [bearer]
    if (!isKeyName(name.replace(/^-+/, ''))) return []
    if (arg.includes('=')) return [value]
    const next = args[i + 1]
    return isFlag && next !== undefined ? [next] : []
  })
}

const secretsInVariables = (env: Readonly<Record<string, string>>): string[] =>
  Object.entries(env).flatMap(([name, value]) => (isKeyName(name) || isKeyValue(name, value) ? [value] : []))

/**
 * `BRAVE_KEY` names a key, `SORT_KEY` an ordinary word: a short value of letters only, or of a few joined words, is not
 * a key.
 */
const isKeyValue = (name: string, value: string): boolean =>
  /_KEY$/i.test(name) && (value.length >= 16 || !/^[a-z]+([-_.][a-z]+)*$/i.test(value))

const isKeyName = (name: string): boolean =>
  isSecretName(name.replaceAll('-', '_'), []) || /^(key|auth|authorization|sig|signature|pwd|pass|pat)$/i.test(name)

function pairOf(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
