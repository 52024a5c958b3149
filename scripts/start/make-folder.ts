import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes a folder and those above it. Node's own recursion never ends where a parent cannot be made, below /proc for one. */
export function makeFolder(path: string, mode = 0o777): void {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) makeFolder(parent, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process has made it meanwhile.
    if (!existsSync(path)) throw error
  }
}

/** This folder and those above it that are not there yet, the innermost first. */
export function missingFolders(path: string): string[] {
  const parent = dirname(path)
  return existsSync(path) || parent === path ? [] : [path, ...missingFolders(parent)]
}

/** Takes away those that are there and hold nothing, in this order. */
export function removeEmpty(folders: readonly string[]): void {
  for (const folder of folders) if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder)
}
