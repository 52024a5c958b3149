// The file with the address and the key. It contains a secret, so only its owner may read it.

import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from './command.ts'

export type Config = { url?: string; key?: string }

export function configPath(): string {
  const { BELLWETHER_CONFIG, XDG_CONFIG_HOME } = process.env
  return BELLWETHER_CONFIG || join(XDG_CONFIG_HOME || join(homedir(), '.config'), 'bellwether', 'config.json')
}

export function readConfig(): Config {
  const path = configPath()
  let text: string
  try {
    text = readFileSync(path, 'utf8')
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
      throw new UsageError(`${path} can be read by others, so it is not used: chmod 600 ${path}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
  try {
    const { url, key } = JSON.parse(text) as Record<string, unknown>
    return { ...(typeof url === 'string' ? { url } : {}), ...(typeof key === 'string' ? { key } : {}) }
  } catch {
    throw new UsageError(`${path} is no JSON; \`bellwether config forget\` removes it`)
  }
}

/** Null deletes everything. The file is always complete, and only its owner may read it, from its first byte on. */
export function changeConfig(change: Config | null): void {
  const path = configPath()
  if (change === null) {
    rmSync(path, { force: true })
    return
  }
  const next = `${JSON.stringify({ ...readConfig(), ...change }, null, 2)}\n`
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(`${path}.new`, next, { mode: 0o600 })
  chmodSync(`${path}.new`, 0o600)
  renameSync(`${path}.new`, path)
}
