import { readFileSync } from 'node:fs'

/** Inserted by the build; undefined when the sources run directly. */
declare const RUNNER_VERSION: string | undefined

export function ownVersion(): string {
  if (typeof RUNNER_VERSION === 'string') return RUNNER_VERSION
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return String(version)
}
