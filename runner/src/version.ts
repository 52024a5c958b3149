import { readFileSync } from 'node:fs'

/** Put in by the build; absent when the sources run as they are. */
declare const RUNNER_VERSION: string | undefined

export function ownVersion(): string {
  if (typeof RUNNER_VERSION === 'string') return RUNNER_VERSION
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return String(version)
}
